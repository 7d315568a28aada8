"""prime-rl: TOML files composed on the command line, vLLM's own names below one table."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, history, launch, report, rules, value

SPEC = 'speculative_config = { method = "mtp", num_speculative_tokens = 2 }\n'
ON, OFF = "enable_prefix_caching = true\n", "enable_prefix_caching = false\n"


def recipe(vllm: str, model: str = HYBRID, inference: str = "", more: str = "") -> str:
    return (
        f'max_steps = 10 # a comment with [brackets]\n\n[model]\nname = "{model}"\n\n[orchestrator]\nbatch_size = 8\n'
        f'\n[[orchestrator.train.source]]\nname = "x"\n\n[inference]\n{inference}\n[inference.vllm]\n{vllm}{more}'
    )


LEFT_ALONE = {
    "nothing drafts": recipe(ON),
    "off": recipe(OFF + SPEC),
    "a drafter in comments": recipe(f"{ON}# {SPEC}"),
    "a dense model": recipe(ON + SPEC, DENSE),
    "another table": recipe("", more=f"\n[evals.vllm]\n{ON}{SPEC}"),
    "refused at start": recipe(OFF + SPEC, inference="kv_cache_offload = { size = 1 }\n"),
}

REPORTED = {
    "explicit": recipe(ON + SPEC),
    "a table of its own": recipe(
        ON, more='\n[inference.vllm.speculative_config]\nmethod = "mtp"\nnum_speculative_tokens = 2\n'
    ),
    "JSON in a text": recipe(ON + """speculative_config = '{"method": "mtp", "num_speculative_tokens": 2}'\n"""),
    "the offload switches it on": recipe(SPEC, inference="kv_cache_offload = { size = 1 }\n"),
    "the flat layout": f'[model]\nname = "{HYBRID}"\n[orchestrator]\nx = 1\n'
    f"[inference]\n{ON}vllm_extra = {{ {SPEC.strip()} }}\n",
    "an inference server": f'[vllm]\nmodel = "{HYBRID}"\n{ON}{SPEC}',
}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(text: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"rl.toml": text}, "--vllm-version", "0.26.0")
    assert {item["combination"] for item in found["launches"]} == {"absent"}
    assert [f for f in found["findings"] if f["rule"] == "GDN001"] == []


@pytest.mark.parametrize("text", REPORTED.values(), ids=REPORTED)
def test_reported(text: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"rl.toml": text})
    assert (found["framework"], found["combination"]) == ("prime_rl", "present")
    assert "GDN001" in rules(found)


@pytest.mark.parametrize(("version", "on"), [("0.26.0", False), ("0.28.0", True)])
def test_unset_is_vllms_own_default(tmp_path: Path, version: str, on: bool) -> None:
    # packages/prime-rl-configs/src/prime_rl/configs/inference.py:105@559b4477: bool | None = None
    found = launch(tmp_path, {"rl.toml": recipe(SPEC)}, "--vllm-version", version)
    assert (value(found, "enable_prefix_caching"), found["combination"]) == (on, "present" if on else "absent")


def test_a_model_of_neither_table_is_the_default(tmp_path: Path) -> None:
    found = launch(tmp_path, {"rl.toml": f"[orchestrator]\nx = 1\n[trainer]\n[inference.vllm]\n{ON}"})
    assert value(found, "model") == "Qwen/Qwen3-0.6B"
    assert "inference.py:57@559b4477" in history(found, "model")[-1][0]


FILES = {"base.toml": recipe(ON), "spec.toml": f"[inference.vllm]\n{SPEC}"}

COMMANDS = {
    "one file": ("uv run rl @ base.toml", "absent"),
    "two files, left to right": ("uv run rl @ base.toml @ spec.toml", "present"),
    "glued": ("rl @base.toml @spec.toml", "absent"),
    "the command line wins": ("uv run rl @ base.toml @ spec.toml --inference.vllm.no-enable-prefix-caching", "absent"),
    "and with a value": ("uv run rl @ base.toml @ spec.toml --inference.vllm.enable-prefix-caching false", "absent"),
    "a drafter in JSON": (
        """rl @ base.toml --inference.vllm.speculative-config '{"method": "mtp", "num_speculative_tokens": 1}'""",
        "present",
    ),
    "a file below a key": ("uv run rl @ base.toml --inference.vllm @ vllm.toml", "present"),
    "derived from variables": ("CONFIG=spec.toml\nuv run rl @ base.toml @ $CONFIG", "present"),
    "the module": ("python -m prime_rl.entrypoints.rl @ base.toml @ spec.toml", "present"),
}


@pytest.mark.parametrize(("script", "combination"), COMMANDS.values(), ids=COMMANDS)
def test_files_are_composed_on_the_command_line(tmp_path: Path, script: str, combination: str) -> None:
    found = report(tmp_path, {"run.sh": f"{script}\n", **FILES, "vllm.toml": SPEC})
    assert {item["combination"] for item in found["launches"]} <= {combination}
    assert found["launches"] or ("glued" in COMMANDS and "@base" in script)


def test_a_file_that_is_not_there_leaves_it_open(tmp_path: Path) -> None:
    found = launch(tmp_path, {"run.sh": "uv run rl @ missing.toml @ spec.toml\n", **FILES})
    assert found["combination"] == "undecided"
    assert "missing.toml" in found["decided_by"]


def test_a_role_may_differ(tmp_path: Path) -> None:
    roles = f'\n[inference.deployment]\ntype = "disaggregated"\n[inference.deployment.decode_vllm_overrides]\n{SPEC}'
    found = report(tmp_path, {"rl.toml": recipe(ON, more=roles)})
    assert [item["combination"] for item in found["launches"]] == ["absent", "present"]


def test_the_fix_is_a_value_or_a_line_of_the_table(tmp_path: Path) -> None:
    text = recipe(ON + SPEC)
    (finding,) = launch(tmp_path, {"rl.toml": text})["findings"]
    assert finding["line"] == text.splitlines().index(ON.strip()) + 1
    assert fixed(tmp_path, finding) == text.replace(ON, OFF)
    text = recipe(SPEC)
    finding = launch(tmp_path, {"rl.toml": text}, "--vllm-version", "0.28.0")["findings"][0]
    assert fixed(tmp_path, finding) == text.replace("[inference.vllm]\n", f"[inference.vllm]\n{OFF}")


def test_the_fix_of_a_command_replaces_its_flag(tmp_path: Path) -> None:
    flag = "--inference.vllm.enable-prefix-caching"
    files = {"base.toml": recipe(""), "spec.toml": FILES["spec.toml"]}
    (finding,) = launch(tmp_path, {"run.sh": f"uv run rl @ base.toml @ spec.toml {flag}\n", **files})["findings"]
    assert fixed(tmp_path, finding).endswith("--inference.vllm.no-enable-prefix-caching\n")


@pytest.mark.parametrize(
    "text",
    ["[model\nname = 1\n[inference.vllm]\n", "inference.vllm = [\n" + "[" * 5000, "[inference.vllm]\nx = 1\nx = 2\n"],
)
def test_a_file_that_is_no_toml_holds_no_launch(tmp_path: Path, text: str) -> None:
    found = report(tmp_path, {"rl.toml": text})
    assert found["launches"] == []


def test_a_project_file_is_no_recipe(tmp_path: Path) -> None:
    text = '[project]\nname = "x"\ndependencies = ["vllm==0.28.0"]\n[model]\nname = "y"\n[orchestrator]\n'
    assert report(tmp_path, {"pyproject.toml": text})["launches"] == []
