"""Evaluation tools that start vLLM themselves: lm-evaluation-harness, LightEval, Inspect."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, history, launch, report, rules, value

# A comma ends a pair, so a drafter only fits into the JSON form.
DRAFTS = '"speculative_config": {"method": "mtp", "num_speculative_tokens": 2}'
ON = '"enable_prefix_caching": true'
DOTTED = "-M speculative_config.method=mtp -M speculative_config.num_speculative_tokens=2"


def harness(arguments: str, backend: str = "vllm") -> str:
    return f"lm_eval --model {backend} --model_args {arguments} --tasks gsm8k --batch_size auto\n"


def json_harness(*members: str, model: str = HYBRID) -> str:
    return harness("'{" + ", ".join((f'"pretrained": "{model}"', *members)) + "}'")


def inspect(words: str, model: str = f"vllm/{HYBRID}") -> str:
    return f"inspect eval task.py --model {model} {words}\n"


LEFT_ALONE = {
    "nothing drafts": harness(f"pretrained={HYBRID},enable_prefix_caching=True,tensor_parallel_size=2"),
    "off": json_harness(DRAFTS, '"enable_prefix_caching": false'),
    "a dense model": json_harness(DRAFTS, ON, model=DENSE),
    "another backend": harness(f"pretrained={HYBRID},enable_prefix_caching=True", "hf"),
    "no drafter reaches the engine": f'lighteval vllm "model_name={HYBRID},enable_prefix_caching=True" gsm8k\n',
    "Inspect without a drafter": inspect("-M enable_prefix_caching=true"),
    "Inspect with a server that runs": f"VLLM_BASE_URL=http://gpu:8000/v1 {inspect(DOTTED)}",
    "Inspect with another provider": inspect("", "openai/gpt-5"),
    # What Inspect makes of a mapping is no JSON, and vLLM does not start.
    "Inspect with a mapping": inspect('-M enable_prefix_caching=true -M speculative_config=\'{"method": "mtp"}\''),
}

REPORTED = {
    "JSON arguments": json_harness(DRAFTS, ON),
    "the subcommand": json_harness(DRAFTS, ON).replace("lm_eval", "lm-eval run"),
    "the module": "accelerate launch -m " + json_harness(DRAFTS, ON),
    "two flags": json_harness(DRAFTS).replace(" --tasks", " --model_args enable_prefix_caching=True --tasks"),
    "Inspect's dotted arguments": inspect(f"-M enable_prefix_caching=true {DOTTED}"),
    "Inspect's environment": "VLLM_DEFAULT_SERVER_ARGS='{\"enable_prefix_caching\": true}' " + inspect(DOTTED),
}


@pytest.mark.parametrize("script", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(script: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"run.sh": script}, "--vllm-version", "0.28.0")
    assert [item["combination"] for item in found["launches"]] == ["absent"]
    assert [rule for rule in rules(found) if rule in ("GDN001", "GDN002")] == []


@pytest.mark.parametrize("script", REPORTED.values(), ids=REPORTED)
def test_reported(script: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"run.sh": script}, "--vllm-version", "0.28.0")
    assert (found["combination"], value(found, "model")) == ("present", HYBRID)
    assert "GDN001" in rules(found)


@pytest.mark.parametrize(
    ("script", "framework"),
    [
        # lm_eval/models/vllm_causallms.py:131-147@4e7e0d47: no key of its own, kwargs are spread into LLM(...)
        (harness(f"pretrained={HYBRID}"), "lm_eval"),
        # src/lighteval/models/vllm/vllm_model.py:177@3fd15266: enable_prefix_caching: bool = None
        (f'lighteval vllm "model_name={HYBRID}" gsm8k\n', "lighteval"),
        # src/inspect_ai/_util/local_server.py:318-330@499e6152: only what is given becomes a flag
        (inspect(""), "inspect_ai"),
    ],
)
@pytest.mark.parametrize(("version", "on"), [("0.27.1", False), ("0.28.0", True)])
def test_unset_is_vllms_own_default(tmp_path: Path, script: str, framework: str, version: str, on: bool) -> None:
    found = launch(tmp_path, {"run.sh": script}, "--vllm-version", version)
    assert (found["framework"], value(found, "enable_prefix_caching")) == (framework, on)


def test_inspect_drops_a_false(tmp_path: Path) -> None:
    found = launch(
        tmp_path, {"run.sh": inspect(f"-M enable_prefix_caching=false {DOTTED}")}, "--vllm-version", "0.28.0"
    )
    assert (found["combination"], rules(found)) == ("present", ["GDN001", "GDN003"])
    assert ("flag enable_prefix_caching false", "dropped") in history(found, "enable_prefix_caching")


def test_inspects_way_out_is_the_negative_flag(tmp_path: Path) -> None:
    found = launch(tmp_path, {"run.sh": inspect(DOTTED)}, "--vllm-version", "0.28.0")
    script = fixed(tmp_path, next(finding for finding in found["findings"] if finding["rule"] == "GDN001"))
    assert script == inspect(f"{DOTTED} -M no_enable_prefix_caching=true")
    after = launch(tmp_path, {"run.sh": script}, "--vllm-version", "0.28.0")
    assert (after["combination"], value(after, "enable_prefix_caching")) == ("absent", False)


@pytest.mark.parametrize(
    ("arguments", "combination"),
    [
        ("pretrained=$MODEL,enable_prefix_caching=True,speculative_config=$SPEC", "undecided"),
        ("$ARGS", "undecided"),
        (f"pretrained={HYBRID},enable_prefix_caching=${{APC:-False}}", "absent"),
    ],
)
def test_what_a_variable_hides_stays_open(tmp_path: Path, arguments: str, combination: str) -> None:
    found = launch(tmp_path, {"run.sh": harness(arguments)}, "--vllm-version", "0.28.0")
    assert found["combination"] == combination


def test_lighteval_reads_the_file_that_its_first_word_names(tmp_path: Path) -> None:
    text = f"model_parameters:\n  model_name: {HYBRID}\n  enable_prefix_caching: true\n"
    found = launch(tmp_path, {"run.sh": "lighteval vllm config.yaml gsm8k\n", "config.yaml": text})
    assert (value(found, "model"), value(found, "enable_prefix_caching")) == (HYBRID, True)


CALLS = {
    "a mapping": (
        "import lm_eval",
        f'lm_eval.simple_evaluate(model="vllm", model_args={{"pretrained": "{HYBRID}", %s}})',
    ),
    "the class": (
        "from lm_eval.models.vllm_causallms import VLLM",
        f'VLLM("{HYBRID}", **{{%s}})',
    ),
}


@pytest.mark.parametrize(("imported", "call"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("cached", "combination"), [("True", "present"), ("False", "absent")])
def test_calls_of_the_harness(tmp_path: Path, imported: str, call: str, cached: str, combination: str) -> None:
    members = f'"enable_prefix_caching": {cached}, {DRAFTS}'
    found = launch(tmp_path, {"run.py": f"{imported}\n\nr = {call % members}\n"})
    assert (found["framework"], found["combination"]) == ("lm_eval", combination)
