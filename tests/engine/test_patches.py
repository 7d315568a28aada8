"""What a launch mounts over the engine: said where it is in force, reported where nothing applies it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import HYBRID, MTP, launch

PACKAGE = "/usr/local/lib/python3.12/dist-packages/vllm"
FLAGS = f"{HYBRID} --enable-prefix-caching {MTP}"


def compose(volume: str, script: str = f"vllm serve {FLAGS}", environment: str = "{}") -> dict[str, str]:
    text = (
        "services:\n  vllm:\n    image: vllm/vllm-openai:v0.28.0\n"
        f"    environment: {environment}\n    volumes:\n{volume}"
        f"    entrypoint: [bash, -c]\n    command:\n      - |\n        {script}\n"
    )
    return {"compose.yaml": text}


def short(host: str, path: str) -> str:
    return f"      - {host}:{path}:ro\n"


def docker(volume: str, image: str = "vllm/vllm-openai:v0.28.0") -> dict[str, str]:
    return {"run.sh": f"docker run --gpus all -v {volume}:ro {image} --model {FLAGS}\n"}


def said(found: Any) -> tuple[bool, bool]:
    """Whether an patch is reported as not applied, and whether GDN001 says that vLLM is changed."""
    notes = [note for finding in found["findings"] if finding["rule"] == "GDN001" for note in finding["notes"]]
    return "GDN013" in [f["rule"] for f in found["findings"]], any("vLLM is changed here" in note for note in notes)


UNUSED = {
    "a folder": compose(short("./patches/state", "/opt/state")),
    "a folder with a version in its name": compose(short("../vllm-backport-v0.22.0", "/opt/state")),
    "a file": compose(short("./overlay/state.py", "/opt/state.py")),
    "the long form": compose("      - {type: bind, source: ./patches/state, target: /opt/state}\n"),
    "another path that begins alike": compose(
        short("./patches/state", "/opt/state"), f"sh /opt/state2.sh; vllm serve {FLAGS}"
    ),
    "docker run": docker("./patches/state.py:/opt/state.py"),
}

APPLIED = {
    "a file of the package": compose(short("./fixes/mamba_utils.py", f"{PACKAGE}/v1/worker/mamba_utils.py")),
    "a script that runs it": compose(
        short("./patches/state", "/opt/state"), f"bash /opt/state/install.sh; vllm serve {FLAGS}"
    ),
    "a module of the package": compose(
        short("./patches/_fixes", f"{PACKAGE}/_fixes"), f"python3 -m vllm._fixes.apply; vllm serve {FLAGS}"
    ),
    "its folder": compose(short("./patches/a.py", "/opt/fixes/a.py"), f"python3 /opt/fixes/run.py; vllm serve {FLAGS}"),
    "an environment variable": compose(short("./patches/state", "/opt/state"), environment="{PYTHONPATH: /opt/state}"),
    "docker run": docker(f"./mamba_utils.py:{PACKAGE}/v1/worker/mamba_utils.py"),
}

NEITHER = {
    "no word of a patch": compose(short("./state", "/opt/state")),
    "no code": compose(short("./patches/template.jinja", "/opt/template.jinja")),
    "a folder of the package that may be a new one": compose(short("./patches/_fixes", f"{PACKAGE}/_fixes")),
    "another package": compose(short("./x.py", "/usr/lib/python3.12/dist-packages/flash_attn/x.py")),
}


@pytest.mark.parametrize("files", UNUSED.values(), ids=UNUSED)
def test_nothing_applies_it(files: dict[str, str], tmp_path: Path) -> None:
    assert said(launch(tmp_path, files)) == (True, False)


@pytest.mark.parametrize("files", APPLIED.values(), ids=APPLIED)
def test_it_is_in_force(files: dict[str, str], tmp_path: Path) -> None:
    found = launch(tmp_path, files)
    assert said(found) == (False, True)
    assert "changed: ./" in found["vllm_version"]["provenance"]
    assert {finding["confidence"] for finding in found["findings"]} == {"medium"}


@pytest.mark.parametrize("files", NEITHER.values(), ids=NEITHER)
def test_left_alone(files: dict[str, str], tmp_path: Path) -> None:
    found = launch(tmp_path, files)
    assert said(found) == (False, False)
    assert "changed" not in found["vllm_version"]["provenance"]


def test_without_the_combination_a_mount_is_nobodys_business(tmp_path: Path) -> None:
    script = f"vllm serve {HYBRID} --no-enable-prefix-caching {MTP}"
    found = launch(tmp_path, compose(short("./patches/state", "/opt/state"), script))
    assert (found["combination"], said(found)) == ("absent", (False, False))


def test_many_are_counted(tmp_path: Path) -> None:
    many = "".join(short(f"./patches/p{n}", f"/opt/p{n}") for n in range(5))
    found = launch(tmp_path, compose(many))
    (finding,) = [f for f in found["findings"] if f["rule"] == "GDN013"]
    assert finding["severity"] == "note"
    assert finding["message"].startswith("./patches/p0 is mounted at /opt/p0; ") and "and 2 more" in finding["message"]
