"""Ray Serve LLM: ``LLMConfig`` in Python, whose ``engine_kwargs`` are vLLM's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, launch, report, rules, value

DRAFTS = '"speculative_config": {"method": "mtp", "num_speculative_tokens": 2}'
ON, OFF = '"enable_prefix_caching": True', '"enable_prefix_caching": False'


def module(kwargs: str, loading: str = f'"model_id": "{HYBRID}"', before: str = "") -> str:
    return (
        f"from ray.serve.llm import LLMConfig, build_openai_app\n\n{before}config = LLMConfig(\n"
        f"    model_loading_config={{{loading}}},\n    engine_kwargs={{{kwargs}}},\n)\n"
        "app = build_openai_app({'llm_configs': [config]})\n"
    )


LEFT_ALONE = {
    "default: nothing drafts": module('"max_model_len": 4096'),
    "prefix caching on, nothing drafts": module(ON),
    "off": module(f"{OFF}, {DRAFTS}"),
    "a null drafter": module(f'{ON}, "speculative_config": None'),
    "a dense model": module(f"{ON}, {DRAFTS}", f'"model_id": "{DENSE}"'),
    "the source beats the served name": module(f"{ON}, {DRAFTS}", f'"model_id": "{HYBRID}", "model_source": "{DENSE}"'),
    "derived: a constant is False": module(f'"enable_prefix_caching": ON, {DRAFTS}', before="ON = False\n"),
    "keys beside engine_kwargs are not the engine's": module(OFF + ", " + DRAFTS).replace(
        "engine_kwargs=",
        'accelerator_type="H100",\n    experimental_configs={"enable_prefix_caching": True},\n    engine_kwargs=',
    ),
    "another class of that name": module(f"{ON}, {DRAFTS}").replace("ray.serve.llm", "my.serve"),
}

REPORTED = {
    "explicit": module(f"{ON}, {DRAFTS}"),
    "the source": module(f"{ON}, {DRAFTS}", f'"model_id": "qwen", "model_source": "{HYBRID}"'),
    "a null source is the served name": module(f"{ON}, {DRAFTS}", f'"model_id": "{HYBRID}", "model_source": None'),
    "derived from constants": module(
        '**COMMON, "speculative_config": SPEC',
        before=f"COMMON = {{{ON}}}\nSPEC = dict(method='mtp', num_speculative_tokens=1)\n",
    ),
    "dict()": module("").replace(
        "engine_kwargs={}",
        "engine_kwargs=dict(enable_prefix_caching=True, "
        "speculative_config=dict(method='mtp', num_speculative_tokens=1))",
    ),
    "a path to the class": "import ray.serve.llm\n\n"
    f'ray.serve.llm.LLMConfig(model_loading_config=dict(model_id="{HYBRID}"), engine_kwargs={{{ON}, {DRAFTS}}})\n',
    "a mapping that is filled": module(
        "**kwargs", before=f"kwargs = {{{DRAFTS}}}\nkwargs['enable_prefix_caching'] = True\n"
    ),
    "through the package's name": module(f"{ON}, {DRAFTS}")
    .replace("from ray.serve.llm import LLMConfig, build_openai_app", "from ray.serve import llm")
    .replace("LLMConfig(", "llm.LLMConfig("),
}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(text: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"app.py": text})
    assert {item["combination"] for item in found["launches"]} <= {"absent"}
    assert found["findings"] == []


@pytest.mark.parametrize("text", REPORTED.values(), ids=REPORTED)
def test_reported(text: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"app.py": text})
    assert (found["framework"], found["combination"], rules(found)) == ("ray_serve_llm", "present", ["GDN001"])


def test_the_fix_is_a_member_of_the_mapping(tmp_path: Path) -> None:
    text = module(f"{ON}, {DRAFTS}")
    (finding,) = launch(tmp_path, {"app.py": text})["findings"]
    assert finding["line"] == 5
    assert fixed(tmp_path, finding) == module(f"{OFF}, {DRAFTS}")


@pytest.mark.parametrize(("version", "expected"), [("0.27.1", "absent"), ("0.28.0", "present")])
def test_unset_is_vllms_own_default(tmp_path: Path, version: str, expected: str) -> None:
    found = launch(tmp_path, {"app.py": module(DRAFTS)}, "--vllm-version", version)
    assert (found["combination"], value(found, "enable_prefix_caching")) == (expected, expected == "present")


SERVE = """\
applications:
- name: app
  route_prefix: /
  import_path: ray.serve.llm:build_openai_app
  args:
    llm_configs:
    - model_loading_config:
        model_id: qwen
        model_source: %s
      engine_kwargs:
        enable_prefix_caching: %s
        speculative_config: {method: mtp, num_speculative_tokens: 1}
    - model_loading_config: {model_id: Qwen/Qwen3-8B}
      engine_kwargs: {enable_prefix_caching: true}
"""
RAY_SERVICE = "apiVersion: ray.io/v1\nkind: RayService\nmetadata: {name: m}\nspec:\n  serveConfigV2: |\n"


@pytest.mark.parametrize("service", [False, True], ids=["a Serve config", "a RayService"])
@pytest.mark.parametrize(
    ("model", "caching", "expected"),
    [(HYBRID, "true", "present"), (HYBRID, "false", "absent"), (DENSE, "true", "absent")],
)
def test_each_model_of_a_serve_config_is_a_launch(
    tmp_path: Path, model: str, caching: str, expected: str, service: bool
) -> None:
    text = SERVE % (model, caching)
    if service:
        text = RAY_SERVICE + "".join(f"    {line}\n" for line in text.splitlines())
    found = report(tmp_path, {"serve.yaml": text})
    first = 12 if service else 7
    assert [(i["line"], i["combination"]) for i in found["launches"]] == [(first, expected), (first + 6, "absent")]
    assert rules(found) == (["GDN001"] if expected == "present" else [])
    if expected == "present":
        assert found["findings"][0]["line"] == first + 4
