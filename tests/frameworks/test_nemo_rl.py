"""NeMo-RL: recipes that inherit through ``defaults:``, prefix caching by the GPU, and passthrough keyword arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, fixed, history, launch, related, report, rules, value

VLLM = "policy.generation.vllm_cfg"
KWARGS = "policy.generation.vllm_kwargs"
SPECULATIVE = "++policy.generation.vllm_kwargs.speculative_config={method:mtp,num_speculative_tokens:2}"

BASE = f"""\
policy:
  model_name: {DENSE}
  generation:
    backend: vllm
    vllm_cfg:
      tensor_parallel_size: 1
    vllm_kwargs: {{}}
    mcore_generation_config:
      enable_prefix_caching: false
      num_speculative_tokens: 0
"""
"""A base as the framework ships it: it says nothing of prefix caching under vllm_cfg."""


def recipe(model: str = HYBRID, **sections: str) -> str:
    """A recipe on top of the base; ``vllm_cfg``, ``vllm_kwargs`` and ``more`` in flow style."""
    lines = ["defaults: ../base.yaml", "policy:", f"  model_name: {model}", "  generation:"]
    lines += [f"    {name}: {text}" for name, text in sections.items()] or ["    colocated: {enabled: true}"]
    return "\n".join(lines) + "\n"


SPEC = "{speculative_config: {method: mtp, num_speculative_tokens: 2}}"

LEFT_ALONE = {
    "default: nothing drafts": recipe(),
    "prefix caching on, nothing drafts": recipe(vllm_cfg="{enable_prefix_caching: true}"),
    "off": recipe(vllm_cfg="{enable_prefix_caching: false}", vllm_kwargs=SPEC),
    "no is a boolean in YAML": recipe(vllm_cfg="{enable_prefix_caching: no}", vllm_kwargs=SPEC),
    "no draft tokens means off here": recipe(
        vllm_kwargs="{speculative_config: {method: mtp, num_speculative_tokens: 0}}"
    ),
    "a null drafter": recipe(vllm_kwargs="{speculative_config: null}"),
    "a dense model": recipe(model=DENSE, vllm_kwargs=SPEC),
    "the other backend's keys": recipe(
        vllm_cfg="{enable_prefix_caching: false}",
        vllm_kwargs=SPEC,
        mcore_generation_config="{enable_prefix_caching: true, num_speculative_tokens: 4}",
    ),
    "drafting keys of the other backend": recipe(mcore_generation_config="{num_speculative_tokens: 4}"),
    "the other backend": recipe(backend="megatron", vllm_kwargs=SPEC),
    "SGLang": recipe(backend="sglang", vllm_kwargs=SPEC),
    "training heads": recipe() + "  megatron_cfg: {mtp_num_layers: 5}\n",
    "a judge's engine is not the rollout": recipe(vllm_cfg="{enable_prefix_caching: false}", vllm_kwargs=SPEC)
    + f"env: {{judge: {{vllm_serve_kwargs: {{model: {HYBRID}, enable_prefix_caching: true}}}}}}\n",
    "interpolated": recipe(vllm_cfg="{enable_prefix_caching: '${my.caching}'}", vllm_kwargs=SPEC)
    + "my: {caching: false}\n",
}

REPORTED = {
    "default: the GPU decides, and it is on": recipe(vllm_kwargs=SPEC),
    "explicit": recipe(vllm_cfg="{enable_prefix_caching: true}", vllm_kwargs=SPEC),
    "null is the default again": recipe(vllm_cfg="{enable_prefix_caching: null}", vllm_kwargs=SPEC),
    "false for the other backend only": recipe(
        vllm_kwargs=SPEC, mcore_generation_config="{enable_prefix_caching: false}"
    ),
    "interpolated": recipe(vllm_kwargs="{speculative_config: '${my.drafts}'}")
    + "my: {drafts: {method: mtp, num_speculative_tokens: 1}}\n",
    "the model interpolated": recipe(model="${my.model}", vllm_kwargs=SPEC) + f"my: {{model: {HYBRID}}}\n",
    "relative interpolation": recipe(vllm_cfg="{a: true, enable_prefix_caching: '${.a}'}", vllm_kwargs=SPEC),
}


def around(text: str) -> dict[str, str]:
    return {"examples/recipes/grpo.yaml": text, "examples/base.yaml": BASE}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(text: str, tmp_path: Path) -> None:
    found = report(tmp_path, around(text))
    assert [item["combination"] for item in found["launches"]] == ["absent"]
    assert (found["findings"], found["diagnostics"]) == ([], [])


@pytest.mark.parametrize("text", REPORTED.values(), ids=REPORTED)
def test_reported(text: str, tmp_path: Path) -> None:
    found = launch(tmp_path, around(text))
    assert (found["combination"], rules(found)) == ("present", ["GDN001"])


# -- where prefix caching comes from -----------------------------------------------------------------------------------


def test_the_default_is_assumed_of_the_gpu_and_said(tmp_path: Path) -> None:
    found = launch(tmp_path, around(recipe(vllm_kwargs=SPEC)))
    (finding,) = found["findings"]
    assert "Assumed: bf16 rollouts need Ampere or newer." in finding["notes"]
    assert history(found, "enable_prefix_caching") == [
        ("without vllm_cfg.enable_prefix_caching NeMo-RL passes true on Ampere and newer GPUs", "won")
    ]
    older = launch(tmp_path, around(recipe(vllm_kwargs=SPEC)), "--assume", "fact:gpu_capability=7")
    assert (older["combination"], value(older, "enable_prefix_caching")) == ("absent", False)


def test_it_is_on_at_any_version_of_vllm_because_true_is_passed(tmp_path: Path) -> None:
    for version in ("0.20.0", "0.27.1", "0.33.0"):
        found = launch(tmp_path, around(recipe(vllm_kwargs=SPEC)), "--vllm-version", version)
        assert (found["combination"], rules(found)) == ("present", ["GDN001"])


def test_an_argument_that_is_passed_twice_stops_it_at_start(tmp_path: Path) -> None:
    text = recipe(vllm_kwargs="{enable_prefix_caching: false, speculative_config: {method: mtp}}")
    found = launch(tmp_path, around(text))
    assert (found["startup"], found["combination"], rules(found)) == ("refused", "absent", ["GDN005"])
    assert "TypeError, multiple values (enable_prefix_caching)" in found["startup_reason"]
    assert found["findings"][0]["line"] == 5


@pytest.mark.parametrize("place", ["policy.generation", "policy"])
def test_an_opt_out_where_nothing_reads_it_is_named(tmp_path: Path, place: str) -> None:
    text = recipe(vllm_kwargs=SPEC, **({"enable_prefix_caching": "false"} if "." in place else {}))
    text += "" if "." in place else "  enable_prefix_caching: false\n"
    found = launch(tmp_path, around(text))
    assert (found["combination"], rules(found)) == ("present", ["GDN001", "GDN003"])
    ineffective = next(finding for finding in found["findings"] if finding["rule"] == "GDN003")
    assert f"{place}.enable_prefix_caching is read by nothing" in ineffective["message"]
    assert ineffective["line"] == 6


# -- inheritance -------------------------------------------------------------------------------------------------------

MIDDLE = f"""\
defaults: ../base.yaml
policy:
  model_name: {HYBRID}
  generation:
    vllm_cfg: {{enable_prefix_caching: false}}
    vllm_kwargs:
      speculative_config: {{method: mtp, num_speculative_tokens: 2}}
"""


def chain(child: str) -> dict[str, str]:
    return {"examples/recipes/child.yaml": child, "examples/recipes/middle.yaml": MIDDLE, "examples/base.yaml": BASE}


CHAINS = {
    "a child says nothing": ("grpo: {epochs: 1}\n", "absent"),
    "a child turns it on": ("policy: {generation: {vllm_cfg: {enable_prefix_caching: true}}}\n", "present"),
    "a child takes the key back": ("policy: {generation: {vllm_cfg: {enable_prefix_caching: null}}}\n", "present"),
    "a child replaces the section": (
        f"policy: {{_override_: true, model_name: {HYBRID}, generation: {{vllm_kwargs: {SPEC}}}}}\n", "present",
    ),
    "the marker works on sections of the top only": (
        "policy: {generation: {vllm_cfg: {_override_: true, precision: bf16}}}\n", "absent",
    ),
    "a child drops the drafter": ("policy: {generation: {vllm_kwargs: {speculative_config: null}}}\n", "absent"),
    "a child's other model": (f"policy: {{model_name: {DENSE}}}\n", "absent"),
}  # fmt: skip


@pytest.mark.parametrize(("child", "expected"), CHAINS.values(), ids=CHAINS)
def test_a_chain_of_parents(tmp_path: Path, child: str, expected: str) -> None:
    found = launch(tmp_path, chain("defaults: middle.yaml\n" + child))
    assert found["combination"] == expected


def test_a_list_of_parents_is_merged_in_its_order(tmp_path: Path) -> None:
    files = chain("defaults: [middle.yaml, last.yaml]\ngrpo: {epochs: 1}\n")
    files["examples/recipes/last.yaml"] = "policy: {generation: {vllm_cfg: {enable_prefix_caching: true}}}\n"
    found = launch(tmp_path, files)
    assert found["combination"] == "present"
    assert {"examples/recipes/last.yaml:1", "examples/recipes/middle.yaml:3"} <= set(related(found["findings"][0]))


def test_only_the_launchs_own_file_is_edited(tmp_path: Path) -> None:
    files = chain("defaults: middle.yaml\npolicy:\n  generation:\n    vllm_cfg:\n      enable_prefix_caching: true\n")
    found = launch(tmp_path, files)
    text = fixed(tmp_path, found["findings"][0])
    assert text.endswith("enable_prefix_caching: false\n")
    assert launch(tmp_path, chain(text))["combination"] == "absent"


def test_a_key_without_effect_is_replaced_and_not_repeated(tmp_path: Path) -> None:
    text = recipe(vllm_kwargs=SPEC) + "    vllm_cfg:\n      enable_prefix_caching: null\n"
    found = launch(tmp_path, around(text))
    assert fixed(tmp_path, found["findings"][0]) == text.replace("caching: null", "caching: false")


def test_a_parent_that_is_missing_leaves_it_open(tmp_path: Path) -> None:
    found = launch(tmp_path, {"grpo.yaml": recipe(vllm_kwargs=SPEC)})
    assert found["combination"] == "undecided"
    assert "base.yaml" in found["decided_by"]


# -- the command line --------------------------------------------------------------------------------------------------


def run(words: str, config: str = "examples/recipes/middle.yaml") -> str:
    return f"uv run examples/run_grpo.py --config {config} {words}\n"


COMMANDS = {
    "the recipe alone": (run(""), "absent"),
    "forced": (run(f"++{VLLM}.enable_prefix_caching=true"), "present"),
    "changed": (run(f"{VLLM}.enable_prefix_caching=true"), "present"),
    "deleted": (run(f"~{VLLM}.enable_prefix_caching"), "present"),
    "null": (run(f"{VLLM}.enable_prefix_caching=null"), "present"),
    "the section deleted": (run(f"~{VLLM}"), "present"),
    "on, and no draft tokens": (
        run(f"{VLLM}.enable_prefix_caching=true {KWARGS}.speculative_config.num_speculative_tokens=0"),
        "absent",
    ),
    "on, and the drafter deleted": (run(f"{VLLM}.enable_prefix_caching=true ~{KWARGS}.speculative_config"), "absent"),
    "the base with a drafter": (run(f"policy.model_name={HYBRID} '{SPECULATIVE}'", "examples/base.yaml"), "present"),
    "the base with a dense model": (run(f"'{SPECULATIVE}'", "examples/base.yaml"), "absent"),
    "overrides in one string": (f'ARGS="{VLLM}.enable_prefix_caching=true"\n{run("${ARGS}")}', "present"),
}


@pytest.mark.parametrize(("script", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_overrides_on_top_of_a_recipe(tmp_path: Path, script: str, expected: str) -> None:
    files = {"run.sh": script, "examples/recipes/middle.yaml": MIDDLE, "examples/base.yaml": BASE}
    found = launch(tmp_path, files)
    assert found["combination"] == expected


def test_a_recipe_that_is_not_there_leaves_it_open(tmp_path: Path) -> None:
    found: Any = launch(tmp_path, {"run.sh": run(f"'{SPECULATIVE}'", "gone.yaml")})
    assert found["combination"] == "undecided"
    assert "gone.yaml" in found["decided_by"]


def test_an_override_behind_a_switch_is_a_scenario(tmp_path: Path) -> None:
    script = (
        'if [[ "${ENABLE_MTP_INFERENCE:-0}" == 1 ]]; then\n'
        f'  EXTRA="++{VLLM}.enable_prefix_caching=true {SPECULATIVE}"\nfi\n' + run("${EXTRA}", "examples/mine.yaml")
    )
    files = {"run.sh": script, "examples/mine.yaml": f"defaults: base.yaml\npolicy: {{model_name: {HYBRID}}}\n"}
    found = launch(tmp_path, {**files, "examples/base.yaml": BASE})
    assert found["combination"] == "absent"
    assert found["scenarios"] == [{"when": {"ENABLE_MTP_INFERENCE": "1"}, "combination": "present"}]
    assert rules(found) == ["GDN001"]
