"""Which vLLM release a launch runs with: the nearest pin, and what is no pin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import HYBRID, MTP, launch, report, rules, value

SERVE = f"vllm serve {HYBRID} {MTP}\n"
"""Prefix caching unset: absent up to 0.27.1, present from 0.28.0, undecided where the release is not known."""


def docker(image: str) -> str:
    return f"docker run --gpus all {image} --model {HYBRID} {MTP}\n"


def lock(*versions: str) -> str:
    blocks = [f'[[package]]\nname = "vllm"\nversion = "{version}"\nsource = {{}}\n' for version in versions]
    return 'version = 1\n\n[[package]]\nname = "vllm-flash"\nversion = "9.9.9"\n\n' + "\n".join(blocks)


EXTRAS = """\
[project]
name = "trainer"
dependencies = ["torch"]

[project.optional-dependencies]
old = ["vllm==0.25.1", "ray"]
new = [
  "ray",
  "vllm==0.28.0 ; sys_platform == 'linux'",
]
"""

# name -> (files, the release that is found, a part of how it is told)
PINNED: dict[str, tuple[dict[str, str], str, str]] = {
    "image tag": ({"serve.sh": docker("vllm/vllm-openai:v0.27.1")}, "0.27.1", "image tag v0.27.1"),
    "image tag with a suffix": ({"serve.sh": docker("vllm/vllm-openai:v0.24.0-ubuntu2404")}, "0.24.0", "image tag"),
    "image tag without v": ({"serve.sh": docker("docker.io/vllm/vllm-openai:0.28.0")}, "0.28.0", "image tag"),
    "image tag and digest": (
        {"serve.sh": docker("vllm/vllm-openai:v0.28.0@sha256:" + "a" * 64)},
        "0.28.0",
        "image tag",
    ),
    "image in a variable": (
        {"serve.sh": "TAG=v0.25.1\n" + docker('"${IMAGE:-vllm/vllm-openai:$TAG}"')},
        "0.25.1",
        "image tag",
    ),
    "uv.lock": ({"serve.sh": SERVE, "uv.lock": lock("0.26.0")}, "0.26.0", "uv.lock"),
    "uv.lock with a local version": ({"serve.sh": SERVE, "uv.lock": lock("0.26.0+cu129")}, "0.26.0", "uv.lock"),
    "uv.lock beats requirements": (
        {"serve.sh": SERVE, "uv.lock": lock("0.28.0"), "requirements.txt": "vllm==0.20.0\n"},
        "0.28.0",
        "uv.lock",
    ),
    "two locked, the project says which": (
        {
            "serve.sh": SERVE,
            "uv.lock": lock("0.24.0", "0.28.0"),
            "pyproject.toml": '[project]\ndependencies = ["vllm==0.28.0"]\n',
        },
        "0.28.0",
        "uv.lock",
    ),
    "the extra that is run: old": (
        {"serve.sh": f"uv run --extra old {SERVE}", "pyproject.toml": EXTRAS},
        "0.25.1",
        "pyproject.toml",
    ),
    "the extra that is run: new": (
        {"serve.sh": f"uv run --isolated --extra new {SERVE}", "pyproject.toml": EXTRAS},
        "0.28.0",
        "pyproject.toml",
    ),
    "two locked, the extra says which": (
        {"serve.sh": f"uv run --extra=new {SERVE}", "uv.lock": lock("0.25.1", "0.28.0"), "pyproject.toml": EXTRAS},
        "0.28.0",
        "uv.lock",
    ),
    "requirement": (
        {"serve.sh": SERVE, "requirements.txt": "torch\nvllm==0.27.1  # pinned\n"},
        "0.27.1",
        "requirements.txt",
    ),
    "requirement with extras": (
        {"serve.sh": SERVE, "requirements-gpu.txt": "vllm[flashinfer]==0.27.1\n"},
        "0.27.1",
        "requirements-gpu.txt",
    ),
    "wheel URL": (
        {
            "serve.sh": SERVE,
            "requirements.txt": "vllm @ https://x.org/v0.25.1/vllm-0.25.1+cu129-cp38-abi3-manylinux1_x86_64.whl\n",
        },
        "0.25.1",
        "requirements.txt",
    ),
    "wheel URL alone": (
        {"serve.sh": SERVE, "requirements.txt": "https://x.org/vllm-0.28.0-cp38-abi3-manylinux1_x86_64.whl\n"},
        "0.28.0",
        "requirements.txt",
    ),
    "uv run --with": ({"serve.sh": f"uv run --with vllm==0.28.0 {SERVE}"}, "0.28.0", "in the command"),
    "Dockerfile, base image": (
        {"serve.sh": SERVE, "Dockerfile": "FROM vllm/vllm-openai:v0.27.1\n"},
        "0.27.1",
        "Dockerfile",
    ),
    "Dockerfile, argument": (
        {"serve.sh": SERVE, "Dockerfile.gpu": "FROM x\nARG VLLM_VERSION=0.28.0\n"},
        "0.28.0",
        "Dockerfile.gpu",
    ),
    "Dockerfile, installed": (
        {"serve.sh": SERVE, "Dockerfile": "FROM x\nRUN pip install vllm==0.26.0\n"},
        "0.26.0",
        "Dockerfile",
    ),
    "setup.py": ({"serve.sh": SERVE, "setup.py": 'setup(install_requires=["vllm==0.27.1"])\n'}, "0.27.1", "setup.py"),
    "the nearest folder upwards": (
        {"a/b/serve.sh": SERVE, "a/requirements.txt": "vllm==0.28.0\n", "requirements.txt": "vllm==0.20.0\n"},
        "0.28.0",
        "a/requirements.txt",
    ),
    "the launch before the folder": (
        {"serve.sh": docker("vllm/vllm-openai:v0.28.0"), "requirements.txt": "vllm==0.20.0\n"},
        "0.28.0",
        "image tag",
    ),
}


@pytest.mark.parametrize(("files", "release", "told"), PINNED.values(), ids=PINNED)
def test_a_pin_decides(tmp_path: Path, files: dict[str, str], release: str, told: str) -> None:
    found = launch(tmp_path, files)
    assert found["vllm_version"]["value"] == release
    assert told in found["vllm_version"]["provenance"]
    assert found["combination"] == ("present" if release == "0.28.0" else "absent")


# name -> (files, a part of how it is told)
UNKNOWN: dict[str, tuple[dict[str, str], str]] = {
    "nothing": ({"serve.sh": SERVE}, "no version found"),
    "latest": ({"serve.sh": docker("vllm/vllm-openai:latest")}, "names no vLLM release"),
    "no tag": ({"serve.sh": docker("vllm/vllm-openai")}, "names no vLLM release"),
    "nightly": ({"serve.sh": docker("vllm/vllm-openai:nightly-0123abc")}, "names no vLLM release"),
    "a digest": ({"serve.sh": docker("vllm/vllm-openai@sha256:" + "a" * 64)}, "names no vLLM release"),
    "a release candidate": ({"serve.sh": docker("vllm/vllm-openai:v0.28.0rc1")}, "names no vLLM release"),
    "a fork's image": (
        {"serve.sh": f"docker run me/vllm-fork:v0.28.0 vllm serve {HYBRID} {MTP}\n"},
        "names no vLLM release",
    ),
    "a tag that the environment decides": ({"serve.sh": docker("vllm/vllm-openai:$TAG")}, "names no vLLM release"),
    "a lower bound": ({"serve.sh": SERVE, "requirements.txt": "vllm>=0.20\n"}, "vllm>=0.20, no single release"),
    "two locked versions": (
        {"serve.sh": SERVE, "uv.lock": lock("0.24.0", "0.28.0")},
        "several versions (0.24.0, 0.28.0)",
    ),
    "two extras and none is named": ({"serve.sh": SERVE, "pyproject.toml": EXTRAS}, ""),
    "a sibling folder": ({"a/serve.sh": SERVE, "b/requirements.txt": "vllm==0.28.0\n"}, "no version found"),
    "a folder below": ({"serve.sh": SERVE, "sub/requirements.txt": "vllm==0.28.0\n"}, "no version found"),
    "a comment": ({"serve.sh": f"# vllm==0.28.0\n{SERVE}", "requirements.txt": "# vllm==0.28.0\n"}, "no version found"),
    "another package": ({"serve.sh": SERVE, "requirements.txt": "vllm-ascend==0.28.0\n"}, "no version found"),
}


@pytest.mark.parametrize(("files", "told"), UNKNOWN.values(), ids=UNKNOWN)
def test_no_release_is_known(tmp_path: Path, files: dict[str, str], told: str) -> None:
    found = launch(tmp_path, files)
    assert found["vllm_version"]["value"] is None
    assert told in found["vllm_version"]["provenance"]
    assert (found["combination"], rules(found)) == ("undecided", ["GDN002"])


BOUNDS = [
    ("vllm<0.28", "absent"),
    ("vllm>=0.28", "present"),
    ("vllm>=0.17.0,<=0.25.1", "absent"),
    ("vllm~=0.28", "present"),
    ("vllm==0.28.*", "present"),
    ("vllm>=0.27,<0.30", "undecided"),
    ("vllm!=0.27.1", "undecided"),
]


@pytest.mark.parametrize(("requirement", "expected"), BOUNDS)
def test_bounds_decide_where_all_releases_inside_agree(tmp_path: Path, requirement: str, expected: str) -> None:
    found = launch(tmp_path, {"serve.sh": SERVE, "requirements.txt": f"{requirement}\n"})
    assert found["combination"] == expected


@pytest.mark.parametrize("files", [PINNED["image tag"][0], PINNED["uv.lock"][0], UNKNOWN["latest"][0]])
def test_the_option_beats_every_pin(tmp_path: Path, files: dict[str, str]) -> None:
    found = launch(tmp_path, files, "--vllm-version", "0.28.0")
    assert found["vllm_version"] == {"value": "0.28.0", "provenance": "given on the command line"}
    assert found["combination"] == "present"


@pytest.mark.parametrize("text", ["0.28.0+cu129", "v0.28", "0.28.0.post1", "0.28.0+precompiled.g01ab"])
def test_a_local_version_is_its_release(tmp_path: Path, text: str) -> None:
    found = launch(tmp_path, {"serve.sh": SERVE, "requirements.txt": "vllm==0.26.0\n"}, "--vllm-version", text)
    assert found["vllm_version"]["value"] == "0.28.0"
    assert found["combination"] == "present"


def test_a_release_that_is_newer_than_the_knowledge_is_judged_as_the_newest_and_says_so(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": SERVE}, "--vllm-version", "0.99.0")
    assert found["vllm_version"]["value"] == "0.99.0"
    assert "judged as 0.33.0" in found["vllm_version"]["provenance"]
    assert found["combination"] == "present"


def test_the_place_of_a_pin_is_related(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": SERVE, "requirements.txt": "torch\nvllm==0.28.0\n"})
    (finding,) = found["findings"]
    place = finding["related"][-1]
    assert (place["path"], place["line"]) == ("requirements.txt", 2)
    assert place["message"] == "vLLM 0.28.0, pinned in requirements.txt"
    assert found["vllm_version"]["path"] == "requirements.txt"


def test_launches_of_one_file_have_their_own_pins(tmp_path: Path) -> None:
    script = docker("vllm/vllm-openai:v0.27.1") + docker("vllm/vllm-openai:v0.28.0") + SERVE
    found: Any = report(tmp_path, {"serve.sh": script})
    assert [item["combination"] for item in found["launches"]] == ["absent", "present", "undecided"]


# -- an unknown release ------------------------------------------------------------------------------------------------


def test_unset_is_undecided_with_the_sentence_that_decides_it(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": f"vllm serve Qwen/Qwen3.6-27B {MTP}\n"})
    assert found["combination"] == "undecided"
    assert found["decided_by"] == "prefix caching is off up to vLLM 0.27.1 and on from 0.28.0; no version found"
    assert found["ingredients"] == {"hybrid": True, "speculation": True, "prefix_caching": None}
    (finding,) = found["findings"]
    assert (finding["rule"], finding["severity"]) == ("GDN002", "warning")
    assert "off before 0.28.0 and on from it" in finding["message"]


def test_explicitly_on_is_present_whatever_runs(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": f"vllm serve Qwen/Qwen3.6-27B --enable-prefix-caching {MTP}\n"})
    assert (found["combination"], found["decided_by"]) == ("present", "")
    (finding,) = found["findings"]
    assert (finding["rule"], finding["severity"]) == ("GDN001", "error")
    assert "an unknown vLLM version" in finding["message"]
    defects = next(note for note in finding["notes"] if "Defects by version" in note)
    assert "D1 " in defects
    assert "in 0.20.0 to 0.25.1" in defects


@pytest.mark.parametrize("model", ["Qwen/Qwen3.8-Flash-Next", "zai-org/GLM-5.3-Flash"])
def test_unset_is_present_where_all_releases_that_know_the_model_have_it_on(tmp_path: Path, model: str) -> None:
    found = launch(tmp_path, {"serve.sh": f"vllm serve {model} {MTP}\n"})
    assert (found["combination"], value(found, "enable_prefix_caching")) == ("present", True)


def test_unset_is_decided_by_a_flag_that_only_new_releases_have(tmp_path: Path) -> None:
    words = f"vllm serve {HYBRID} {MTP} --prefix-cache-retention-interval 4\n"
    found = launch(tmp_path, {"serve.sh": words})
    assert (found["combination"], value(found, "enable_prefix_caching")) == ("present", True)


SEVERITIES = [
    ("0.16.0", "absent", None, set()),
    ("0.20.0", "present", "error", {"D1", "D2", "D3"}),
    ("0.25.1", "present", "error", {"D1", "D2", "D3", "D4"}),
    ("0.26.0", "present", "error", {"D2", "D3", "D4"}),
    ("0.27.1", "present", "error", {"D2", "D4"}),
    ("0.28.0", "present", "error", {"D2", "D4"}),
    ("0.29.0", "present", "warning", set()),
    ("0.33.0", "present", "warning", set()),
]


@pytest.mark.parametrize(("version", "combination", "severity", "defects"), SEVERITIES)
def test_severity_follows_the_defects_of_the_release(
    tmp_path: Path, version: str, combination: str, severity: str | None, defects: set[str]
) -> None:
    script = {"serve.sh": f"vllm serve Qwen/Qwen3-Next-80B-A3B-Instruct --enable-prefix-caching {MTP}\n"}
    found = launch(tmp_path, script, "--vllm-version", version)
    assert found["combination"] == combination
    present = [finding for finding in found["findings"] if finding["rule"] == "GDN001"]
    assert [finding["severity"] for finding in present] == ([severity] if severity else [])
    for finding in present:
        notes = " ".join(finding["notes"])
        assert {word for word in notes.replace(";", " ").split() if word[:1] == "D" and word[1:].isdigit()} == defects
        assert ("nobody has proved the combination safe" in notes) is (severity == "warning")
        for number in ("#43650", "#45100", "#47466", "#50021"):
            assert number in notes


def test_the_old_runner_keeps_the_error_on_new_releases(tmp_path: Path) -> None:
    script = {"serve.sh": f"VLLM_USE_V2_MODEL_RUNNER=0 vllm serve {HYBRID} {MTP}\n"}
    found = launch(tmp_path, script, "--vllm-version", "0.33.0")
    assert ("GDN001", "error") in [(finding["rule"], finding["severity"]) for finding in found["findings"]]
    assert value(found, "model_runner") == "v1"
