"""Releases that a file asks for beside its launches: an image's packages, an environment's, steps that come before."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import HYBRID, launch

OTHER = {"requirements.txt": "vllm==0.26.0\n"}
CALL = f'''LLM("{HYBRID}", speculative_config={{"method": "mtp", "num_speculative_tokens": 2}})
'''
SPAWN = f'''subprocess.Popen(["vllm", "serve", "{HYBRID}", "-sc.method", "mtp", "-sc.num_speculative_tokens", "2"])
'''
IMPORTS = "import subprocess\nfrom vllm import LLM\n"
METADATA = '# /// script\n# dependencies = [\n#   "vllm==0.28.0",\n# ]\n# ///\n'

PYTHON = {
    "an image's packages": f'image = modal.Image.debian_slim().pip_install("vllm==0.28.0", "torch")\n{SPAWN}',
    "with extras": f'image = base.uv_pip_install("vllm[flashinfer]==0.28.0")\n{CALL}',
    "a constant": f'VERSION = "0.28.0"\nimage = base.pip_install(f"vllm=={{VERSION}}")\n{CALL}',
    "a registry's image": f'image = modal.Image.from_registry("vllm/vllm-openai:v0.28.0", add_python="3.12")\n{SPAWN}',
    "an environment": f'ray.init(runtime_env={{"pip": ["torch", "vllm==0.28.0"]}})\n{CALL}',
    "commands": f'image = base.run_commands("uv pip install --system vllm==0.28.0")\n{SPAWN}',
    "an argument list": f'subprocess.run([python, "-m", "pip", "install", "vllm==0.28.0"])\n{CALL}',
    "the script's own metadata": CALL,
}


@pytest.mark.parametrize("name", PYTHON)
def test_a_module_says_what_it_runs_with(tmp_path: Path, name: str) -> None:
    text = (METADATA if "metadata" in name else "") + IMPORTS + PYTHON[name]
    found = launch(tmp_path, {"serve.py": text, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == ("0.28.0", "present")
    assert found["vllm_version"]["path"] == "serve.py"


SILENT = {
    "a comment": f'# "vllm==0.28.0"\n{CALL}',
    "prose": f'print("vllm needs vllm==0.28.0")\n{CALL}',
    "another package": f'base.pip_install("vllm-ascend==0.28.0")\n{CALL}',
}


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT)
def test_what_a_module_does_not_install_is_no_pin(tmp_path: Path, text: str) -> None:
    found = launch(tmp_path, {"serve.py": IMPORTS + text, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == ("0.26.0", "absent")


@pytest.mark.parametrize(
    "text",
    [
        f'a.pip_install("vllm==0.28.0")\nb.pip_install("vllm==0.20.0")\n{CALL}',
        f'import os\nbase.pip_install(f"vllm=={{VERSION}}")\n{CALL}',
    ],
)
def test_what_a_module_leaves_open_is_open(tmp_path: Path, text: str) -> None:
    found = launch(tmp_path, {"serve.py": IMPORTS + text, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == (None, "undecided")


WORDS = f"vllm serve {HYBRID} -sc.method mtp -sc.num_speculative_tokens 2"
TASK = f"resources: {{}}\nrun: |\n  {WORDS}\n"

YAML = {
    "a setup": f"setup: |\n  uv pip install vllm==0.28.0\n{TASK}",
    "packages": f"pip:\n  - torch\n  - vllm==0.28.0\nentrypoint: {WORDS}\n",
    "an environment": f"runtime_env:\n  pip:\n    packages: ['vllm==0.28.0']\nentrypoint: {WORDS}\n",
    "a step before": "jobs:\n  test:\n    steps:\n      - run: pip install vllm==0.28.0\n"
    f"      - name: serve\n        run: {WORDS}\n      - run: pip install vllm==0.20.0\n",
}


@pytest.mark.parametrize("text", YAML.values(), ids=YAML)
def test_what_stands_around_a_command_is_installed(tmp_path: Path, text: str) -> None:
    found = launch(tmp_path, {"task.yaml": text, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == ("0.28.0", "present")
    assert found["vllm_version"]["path"] == "task.yaml"


APART = {
    "another job": "jobs:\n  old:\n    steps:\n      - run: pip install vllm==0.28.0\n"
    f"  test:\n    steps:\n      - run: {WORDS}\n",
    "a step behind": f"jobs:\n  test:\n    steps:\n      - run: {WORDS}\n      - run: pip install vllm==0.28.0\n",
    "a description": f"description: install vllm==0.28.0\n{TASK}",
}


@pytest.mark.parametrize("text", APART.values(), ids=APART)
def test_what_stands_apart_is_not(tmp_path: Path, text: str) -> None:
    found = launch(tmp_path, {"task.yaml": text, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == ("0.26.0", "absent")


DOCKERFILE = {
    "Dockerfile": f"FROM x\nARG V=0.20.0\nRUN pip install vllm==$V\nENTRYPOINT {WORDS}\n",
    "serve/gpu.dockerfile": "FROM vllm/vllm-openai:v0.28.0\n",
}
BUILT = {
    "with an argument": f"docker build --build-arg V=0.28.0 -t mine/vllm:1 .\ndocker run mine/vllm:1 {WORDS}\n",
    "from another file": f"docker build -f serve/gpu.dockerfile -t mine . && docker run --gpus all mine {WORDS}\n",
}


@pytest.mark.parametrize("script", BUILT.values(), ids=BUILT)
def test_an_image_that_a_script_builds_is_known_by_its_dockerfile(tmp_path: Path, script: str) -> None:
    found = launch(tmp_path, {"serve.sh": script, **DOCKERFILE})
    assert (found["vllm_version"]["value"], found["combination"]) == ("0.28.0", "present")


def test_an_image_of_another_name_is_not_the_one_that_was_built(tmp_path: Path) -> None:
    script = f"docker build --build-arg V=0.28.0 -t mine/vllm:1 .\ndocker run --gpus all mine/vllm:2 {WORDS}\n"
    found = launch(tmp_path, {"serve.sh": script, **DOCKERFILE})
    assert (found["vllm_version"]["value"], found["combination"]) == (None, "undecided")


SERVICES = {
    "a folder": (f"    build: .\n    command: {WORDS}\n", "0.20.0"),
    "with an argument": (f"    build: {{context: ., args: {{V: 0.28.0}}}}\n    command: {WORDS}\n", "0.28.0"),
    "arguments as a list": (f"    build:\n      args: [V=0.28.0]\n    command: {WORDS}\n", "0.28.0"),
    "another file": (f"    build: {{context: serve, dockerfile: gpu.dockerfile}}\n    command: {WORDS}\n", "0.28.0"),
    "and an image's name": (f"    build: .\n    image: mine/vllm:1\n    command: {WORDS}\n", "0.20.0"),
}


@pytest.mark.parametrize(("service", "release"), SERVICES.values(), ids=SERVICES)
def test_a_service_that_is_built_is_known_by_its_dockerfile(tmp_path: Path, service: str, release: str) -> None:
    found = launch(tmp_path, {"compose.yaml": f"services:\n  s:\n{service}", **DOCKERFILE})
    assert found["vllm_version"]["value"] == release
    assert found["combination"] == ("present" if release == "0.28.0" else "absent")
