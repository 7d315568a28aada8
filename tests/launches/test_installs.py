"""Releases that a script installs before it launches, and those that the command brings."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import HYBRID, MTP, launch, report

SERVE = f"vllm serve {HYBRID} {MTP}\n"
OTHER = {"requirements.txt": "vllm==0.26.0\n", "reqs/serve.txt": "# what serves\nvllm==0.28.0\n"}
DRAFT = "-sc.method mtp -sc.num_speculative_tokens 2"
WHEEL = "https://example.org/vllm-0.28.0+cu129-cp38-abi3-manylinux1_x86_64.whl"

INSTALLS = {
    "pip": f"pip install vllm==0.28.0\n{SERVE}",
    "pip, quoted with extras": f"pip install -U 'vllm[flashinfer]==0.28.0' torch\n{SERVE}",
    "pip3, sudo": f"sudo pip3 install --no-cache-dir vllm==0.28.0\n{SERVE}",
    "python -m pip": f"python3 -m pip install vllm==0.28.0\n{SERVE}",
    "uv pip": f"uv pip install --system vllm==0.28.0 --torch-backend=auto\n{SERVE}",
    "a wheel": f"pip install {WHEEL}\n{SERVE}",
    "a variable": f"V=0.28.0\npip install vllm==$V\n{SERVE}",
    "in a function": f"setup() {{\n  pip install vllm==0.28.0\n}}\nsetup\n{SERVE}",
    "the last one": f"pip install vllm==0.20.0\npip install vllm==0.28.0\n{SERVE}",
    "in one string": f'bash -c "pip install vllm==0.28.0 && vllm serve {HYBRID} {DRAFT}"\n',
    "uv add": f"uv add vllm==0.28.0\n{SERVE}",
    "conda": f"conda install -c conda-forge vllm=0.28.0\n{SERVE}",
    "a file of requirements": f"pip install -r reqs/serve.txt\n{SERVE}",
    "a constraint": f"pip install vllm -c reqs/serve.txt\n{SERVE}",
    "a git tag": f"pip install git+https://github.com/vllm-project/vllm.git@v0.28.0\n{SERVE}",
    "uv run --with-requirements": f"uv run --with-requirements reqs/serve.txt {SERVE}",
    "uvx --from": f"uvx --from vllm==0.28.0 {SERVE}",
    "uvx name@version": f"uvx vllm@0.28.0 serve {HYBRID} {MTP}\n",
    "uv tool run": f"uv tool run vllm@0.28.0 serve {HYBRID} {MTP}\n",
    "uvx with a variable": f"V=0.28.0\nuvx vllm@$V serve {HYBRID} {MTP}\n",
}


@pytest.mark.parametrize("script", INSTALLS.values(), ids=INSTALLS)
def test_what_the_script_installs_is_the_nearest_pin(tmp_path: Path, script: str) -> None:
    found = launch(tmp_path, {"serve.sh": script, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == ("0.28.0", "present")
    assert found["vllm_version"]["path"] == ("reqs/serve.txt" if "reqs/" in script else "serve.sh")


@pytest.mark.parametrize(
    "script",
    [
        f"{SERVE}pip install vllm==0.28.0\n",
        f"pip uninstall vllm==0.28.0\n{SERVE}",
        f"pip install vllm-ascend==0.28.0 torch\n{SERVE}",
        f"echo pip install vllm==0.28.0\n{SERVE}",
        f"# pip install vllm==0.28.0\n{SERVE}",
        f"docker run x pip install vllm==0.28.0\n{SERVE}",
    ],
)
def test_what_is_not_installed_before_it_is_no_pin(tmp_path: Path, script: str) -> None:
    found = launch(tmp_path, {"serve.sh": script, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == ("0.26.0", "absent")


@pytest.mark.parametrize(
    "script",
    [
        f"pip install vllm==$VLLM_VERSION\n{SERVE}",
        f"pip install 'vllm @ git+https://github.com/vllm-project/vllm.git'\n{SERVE}",
        f"pip install vllm==0.28.0rc1\n{SERVE}",
        f"uvx vllm@latest serve {HYBRID} {MTP}\n",
        f"pip install vllm==0.28.0\npip install -U vllm\n{SERVE}",
        f"pip install vllm\n{SERVE}",
    ],
)
def test_an_install_of_no_release_leaves_the_version_open(tmp_path: Path, script: str) -> None:
    found = launch(tmp_path, {"serve.sh": script, **OTHER})
    assert (found["vllm_version"]["value"], found["combination"]) == (None, "undecided")
    said = found["vllm_version"]["provenance"]
    assert "no single release" in said or "is no release" in said or "without a version" in said


def test_an_install_outside_says_nothing_of_a_container(tmp_path: Path) -> None:
    image = f"docker run vllm/vllm-openai:v0.26.0 --model {HYBRID} {MTP}\n"
    found = report(tmp_path, {"serve.sh": f"pip install vllm==0.28.0\n{image}{SERVE}"})
    assert [item["vllm_version"]["value"] for item in found["launches"]] == ["0.26.0", "0.28.0"]


@pytest.mark.parametrize(
    "dockerfile",
    [
        "FROM x\nRUN pip install vllm==0.28.0rc1\n",
        "FROM x\nARG VLLM_VERSION=0.28.0rc2\n",
        "FROM vllm/vllm-openai:v0.28.0-rc1\n",
    ],
)
def test_a_release_candidate_is_no_release(tmp_path: Path, dockerfile: str) -> None:
    found = launch(tmp_path, {"serve.sh": SERVE, "Dockerfile": dockerfile})
    assert (found["vllm_version"]["value"], found["combination"]) == (None, "undecided")
