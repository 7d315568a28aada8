"""vLLM without a framework: commands, ``--config`` files and Python calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, MTP, fixed, history, launch, related, report, rules, value

APC, NO_APC = "--enable-prefix-caching", "--no-enable-prefix-caching"


def serve(words: str, model: str = HYBRID) -> str:
    return f"vllm serve {model} {words}\n"


SHELL_LEFT_ALONE = {
    "no drafter": serve(APC),
    "prefix caching off": serve(f"{NO_APC} {MTP}"),
    "the last one wins": serve(f"{APC} {MTP} {NO_APC}"),
    "a null drafter": serve(f"{APC} {MTP} --speculative-config null"),
    "a dense model": serve(f"{APC} {MTP}", model=DENSE),
    "the drafter's name is not the model": serve(
        f"""{APC} --speculative-config '{{"model": "{HYBRID}", "num_speculative_tokens": 2}}'""", model=DENSE
    ),
    "the served name is not the model": serve(f"{APC} {MTP} --served-model-name {HYBRID}", model=DENSE),
    "a comment": f"# {serve(f'{APC} {MTP}')}" + serve(NO_APC),
    "an echo": f"echo {serve(f'{APC} {MTP}')}" + serve(NO_APC),
    "a variable nobody reads": f"ARGS='{APC} --speculative-config.method mtp'\n" + serve(NO_APC),
    "derived: the variable is off": f"CACHE={NO_APC}\n" + serve(f"$CACHE {MTP}"),
    "an array without it": f"ARGS=({NO_APC})\nARGS+=(--port 8000)\n" + serve(f'"${{ARGS[@]}}" {MTP}'),
    "two servers do not mix": serve(f"{NO_APC} {MTP} &") + serve(APC, model=DENSE),
    "another engine with similar flags": f"python3 -m sglang.launch_server --model {HYBRID} --enable-prefix-caching\n",
}

SHELL_REPORTED = {
    "explicit": serve(f"{APC} {MTP}"),
    "underscores": serve("--enable_prefix_caching " + MTP.replace("-config", "_config")),
    "dotted": serve(f"{APC} --speculative-config.method mtp --speculative-config.num_speculative_tokens 2"),
    "through a variable": f"MODEL={HYBRID}\nvllm serve $MODEL {APC} {MTP}\n",
    "through a default": f"vllm serve ${{MODEL:-{HYBRID}}} {APC} {MTP}\n",
    "through an array": f"ARGS=({APC})\nARGS+=({MTP})\n" + serve('"${ARGS[@]}"'),
    "a computed number": "N=$((1 + 2))\n"
    + serve(f'{APC} --speculative-config "{{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": $N}}"'),
    "the module": f"python3 -m vllm.entrypoints.openai.api_server --model {HYBRID} {APC} {MTP}\n",
    "in a container": f"docker run --gpus all vllm/vllm-openai:v0.25.1 --model {HYBRID} {APC} {MTP}\n",
    "under wrappers": f"nohup env CUDA_VISIBLE_DEVICES=0 uv run vllm serve {HYBRID} {APC} {MTP} &\n",
    "in a string for another shell": "bash -c '"
    + serve(f"{APC} -sc.method mtp -sc.num_speculative_tokens 2").replace("\n", "'\n"),
    "a local path that names it": serve(f"{APC} {MTP}", model="/models/Qwen3.6-27B-FP8"),
}


@pytest.mark.parametrize("script", SHELL_LEFT_ALONE.values(), ids=SHELL_LEFT_ALONE)
def test_a_command_is_left_alone(script: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"serve.sh": script})
    assert {item["combination"] for item in found["launches"]} == {"absent"}
    assert found["findings"] == []


@pytest.mark.parametrize("script", SHELL_REPORTED.values(), ids=SHELL_REPORTED)
def test_a_command_is_reported(script: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": script})
    assert (found["combination"], rules(found)) == ("present", ["GDN001"])


# -- Python ------------------------------------------------------------------------------------------------------------


def call(words: str, model: str = f'"{HYBRID}"', name: str = "LLM") -> str:
    return f"from vllm import LLM, EngineArgs, AsyncEngineArgs\n\nllm = {name}({model}, {words})\n"


DRAFTS = 'speculative_config={"method": "mtp", "num_speculative_tokens": 2}'

PYTHON_LEFT_ALONE = {
    "no drafter": call("enable_prefix_caching=True"),
    "prefix caching off": call(f"enable_prefix_caching=False, {DRAFTS}"),
    "a null drafter": call("enable_prefix_caching=True, speculative_config=None"),
    "a dense model": call(f"enable_prefix_caching=True, {DRAFTS}", model=f'"{DENSE}"'),
    "derived": "ON = False\n" + call(f"enable_prefix_caching=ON, {DRAFTS}"),
    "in a mapping": f"args = dict(enable_prefix_caching=False, {DRAFTS})\n" + call("**args"),
    "another class of that name": "from my.models import LLM\n\n"
    f'LLM("{HYBRID}", enable_prefix_caching=True, {DRAFTS})\n',
    "in a string": f"from vllm import LLM\nTEXT = '''LLM(\"{HYBRID}\", enable_prefix_caching=True, {DRAFTS})'''\n",
}

PYTHON_REPORTED = {
    "explicit": call(f"enable_prefix_caching=True, {DRAFTS}"),
    "the model by keyword": call(f'model="{HYBRID}", enable_prefix_caching=True, {DRAFTS}', model="*[]"),
    "engine arguments": call(f"enable_prefix_caching=True, {DRAFTS}", name="EngineArgs"),
    "asynchronous engine arguments": call(f"enable_prefix_caching=True, {DRAFTS}", name="AsyncEngineArgs"),
    "through the package": f'import vllm\n\nvllm.LLM("{HYBRID}", enable_prefix_caching=True, {DRAFTS})\n',
    "under another name": "from vllm import LLM as Engine\n\n"
    f'Engine("{HYBRID}", enable_prefix_caching=True, {DRAFTS})\n',
    "from constants": f'MODEL = "{HYBRID}"\nDRAFTS = {{"method": "mtp"}}\nDRAFTS["num_speculative_tokens"] = 2\n'
    + call("enable_prefix_caching=True, speculative_config=DRAFTS", model="MODEL"),
    "from a mapping": f"args = dict(enable_prefix_caching=True, {DRAFTS})\n" + call("**args"),
    "in a function": "def main(model):\n    from vllm import LLM\n\n"
    f"    return LLM(model, enable_prefix_caching=True, {DRAFTS})\n\n\nmain('{HYBRID}')\n",
    "a command that it runs": "import subprocess\n\n"
    f'subprocess.run(["vllm", "serve", "{HYBRID}", "{APC}", "-sc.method", "mtp", "-sc.num_speculative_tokens", "2"])\n',
}


@pytest.mark.parametrize("module", PYTHON_LEFT_ALONE.values(), ids=PYTHON_LEFT_ALONE)
def test_a_call_is_left_alone(module: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"offline.py": module})
    assert {item["combination"] for item in found["launches"]} <= {"absent"}
    assert found["findings"] == []


@pytest.mark.parametrize("module", PYTHON_REPORTED.values(), ids=PYTHON_REPORTED)
def test_a_call_is_reported(module: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"offline.py": module})
    assert (found["combination"], rules(found)) == ("present", ["GDN001"])


# -- configuration files -----------------------------------------------------------------------------------------------

SPEC = "speculative-config: {method: mtp, num_speculative_tokens: 2}\n"

FILES = {
    "on": (f"model: {HYBRID}\nenable-prefix-caching: true\n{SPEC}", "present", ["GDN001"]),
    "off with the key that works": (f"model: {HYBRID}\nno-enable-prefix-caching: true\n{SPEC}", "absent", []),
    "no drafter": (f"model: {HYBRID}\nenable-prefix-caching: true\n", "absent", []),
    "a null drafter": (f"model: {HYBRID}\nenable-prefix-caching: true\nspeculative-config: null\n", "absent", []),
    "a dense model": (f"model: {DENSE}\nenable-prefix-caching: true\n{SPEC}", "absent", []),
    "unset": (f"model: {HYBRID}\n{SPEC}", "undecided", ["GDN002"]),
    "false": (f"model: {HYBRID}\nenable-prefix-caching: false\n{SPEC}", "undecided", ["GDN002", "GDN003"]),
    "underscores": (
        f"model: {HYBRID}\nenable_prefix_caching: true\nmax_model_len: 4096\n{SPEC.replace('-', '_')}",
        "present",
        ["GDN001"],
    ),
    "JSON in a text": (
        f"model: {HYBRID}\nenable-prefix-caching: true\n"
        """speculative-config: '{"method": "mtp", "num_speculative_tokens": 1}'\n""",
        "present",
        ["GDN001"],
    ),
}


@pytest.mark.parametrize(("text", "combination", "found_by"), FILES.values(), ids=FILES)
def test_a_file_is_judged_as_for_the_command(tmp_path: Path, text: str, combination: str, found_by: list[str]) -> None:
    found = launch(tmp_path, {"serve.yaml": text})
    assert (found["combination"], rules(found)) == (combination, found_by)
    found = launch(tmp_path, {"serve.sh": "vllm serve --config serve.yaml\n"})
    assert (found["combination"], rules(found)) == (combination, found_by)


@pytest.mark.parametrize("version", ["0.27.1", "0.33.0"])
def test_a_false_in_a_file_is_dropped_in_every_release(tmp_path: Path, version: str) -> None:
    text = f"model: {HYBRID}\nenable-prefix-caching: false  # slow\n{SPEC}"
    found = launch(tmp_path, {"serve.yaml": text}, "--vllm-version", version)
    ineffective = next(finding for finding in found["findings"] if finding["rule"] == "GDN003")
    assert (ineffective["line"], ineffective["severity"]) == (2, "error" if version == "0.33.0" else "note")
    assert fixed(tmp_path, ineffective) == f"model: {HYBRID}\nno-enable-prefix-caching: true  # slow\n{SPEC}"


def test_a_files_key_and_a_commands_flag_meet(tmp_path: Path) -> None:
    files = {
        "serve.sh": f"vllm serve --config serve.yaml {NO_APC}\n",
        "serve.yaml": f"model: {HYBRID}\nenable-prefix-caching: true\n{SPEC}",
    }
    found = launch(tmp_path, files)
    assert (found["combination"], value(found, "enable_prefix_caching")) == ("absent", False)
    steps = found["settings"]["enable_prefix_caching"]["provenance"]
    assert [(step["outcome"], step["path"], step["line"]) for step in steps] == [
        ("lost", "serve.yaml", 2),
        ("won", "serve.sh", 1),
    ]


def test_a_file_that_is_not_there_leaves_it_open_and_is_told(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": f"vllm serve {HYBRID} --config gone.yaml {APC} {MTP}\n"})
    assert found["combination"] == "present"
    assert "gone.yaml" in found["note"]


# -- the fixes ---------------------------------------------------------------------------------------------------------

FIXES = {
    "a flag is added": (serve(MTP), serve(f"{MTP} {NO_APC}")),
    "a flag is replaced": (serve(f"{APC} {MTP}"), serve(f"{NO_APC} {MTP}")),
    "behind a continued line": (serve(f"\\\n    {MTP}"), serve(f"\\\n    {MTP} \\\n    {NO_APC}")),
    "a variable that others may use is left alone": (
        f"CACHE={APC}\n" + serve(f"$CACHE {MTP}"),
        f"CACHE={APC}\n" + serve(f"$CACHE {MTP} {NO_APC}"),
    ),
}


@pytest.mark.parametrize(("script", "expected"), FIXES.values(), ids=FIXES)
def test_a_fix_of_a_command(tmp_path: Path, script: str, expected: str) -> None:
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.28.0")
    assert fixed(tmp_path, found["findings"][0], "prefix caching off") == expected
    assert launch(tmp_path, {"serve.sh": expected}, "--vllm-version", "0.28.0")["combination"] == "absent"


PYTHON_FIXES = {
    "replaced": (call(f"enable_prefix_caching=True, {DRAFTS}"), call(f"enable_prefix_caching=False, {DRAFTS}")),
    "added": (call(DRAFTS), call(f"{DRAFTS}, enable_prefix_caching=False")),
    "added on a line of its own": (
        f'from vllm import LLM\n\nllm = LLM(\n    model="{HYBRID}",\n    {DRAFTS},\n)\n',
        f'from vllm import LLM\n\nllm = LLM(\n    model="{HYBRID}",\n    {DRAFTS},\n'
        "    enable_prefix_caching=False,\n)\n",
    ),
}


@pytest.mark.parametrize(("module", "expected"), PYTHON_FIXES.values(), ids=PYTHON_FIXES)
def test_a_fix_of_a_call(tmp_path: Path, module: str, expected: str) -> None:
    found = launch(tmp_path, {"offline.py": module}, "--vllm-version", "0.28.0")
    assert fixed(tmp_path, found["findings"][0]) == expected
    assert launch(tmp_path, {"offline.py": expected}, "--vllm-version", "0.28.0")["combination"] == "absent"


# -- provenance --------------------------------------------------------------------------------------------------------


def test_what_lost_to_what_is_told(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": serve(f"{NO_APC} \\\n  {APC} {MTP}")})
    assert history(found, "enable_prefix_caching") == [
        ("flag --no-enable-prefix-caching false", "lost"),
        ("flag --enable-prefix-caching", "won"),
    ]
    (finding,) = found["findings"]
    assert (finding["line"], finding["column"]) == (2, 3)
    assert related(finding) == ["serve.sh:2", "serve.sh:1"]


@pytest.mark.parametrize(
    ("release", "combination", "dropped"), [("0.27.1", "absent", True), ("0.28.0", "undecided", False)]
)
def test_a_false_in_a_file_of_the_flat_parser_is_not_guessed(
    tmp_path: Path, release: str, combination: str, dropped: bool
) -> None:
    files = {
        "serve.sh": "python -m vllm.entrypoints.openai.api_server --config conf.yaml\n",
        "conf.yaml": f"model: {HYBRID}\nenable-prefix-caching: false\n{SPEC}",
    }
    found = launch(tmp_path, files, "--vllm-version", release)
    assert (found["combination"], "GDN003" in rules(found)) == (combination, dropped)
    assert "vllm serve" not in " ".join(finding["message"] for finding in found["findings"])
