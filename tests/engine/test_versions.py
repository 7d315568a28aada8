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
    "Dockerfile, an image in an argument": (
        {"serve.sh": SERVE, "Dockerfile": "ARG BASE=vllm/vllm-openai:v0.28.0\nFROM ${BASE} AS run\n"},
        "0.28.0",
        "image tag v0.28.0 in Dockerfile",
    ),
    "Dockerfile, what is installed beats the base image": (
        {"serve.sh": SERVE, "Dockerfile": "FROM vllm/vllm-openai:v0.20.0\nRUN uv pip install -U vllm==0.28.0\n"},
        "0.28.0",
        "Dockerfile",
    ),
    "Dockerfile, a variable in what is installed": (
        {"serve.sh": SERVE, "Dockerfile": "FROM x\nARG V=0.28.0\nRUN pip install \\\n  torch vllm==${V}\n"},
        "0.28.0",
        "Dockerfile",
    ),
    "Dockerfile, requirements": (
        {"serve.sh": SERVE, "Dockerfile": "FROM x\nRUN pip install -r r/vllm.txt\n", "r/vllm.txt": "vllm==0.28.0\n"},
        "0.28.0",
        "r/vllm.txt",
    ),
    "an environment variable": ({"serve.sh": f"VLLM_VERSION=v0.28.0 {SERVE}"}, "0.28.0", "VLLM_VERSION in serve.sh"),
    "poetry.lock": (
        {
            "serve.sh": SERVE,
            "poetry.lock": lock("0.28.0"),
            "pyproject.toml": '[tool.poetry.dependencies]\nvllm = "*"\n',
        },
        "0.28.0",
        "poetry.lock",
    ),
    "pixi.lock": (
        {
            "serve.sh": SERVE,
            "pixi.lock": "packages:\n- pypi: https://x.org/vllm-0.28.0-cp38-abi3-linux.whl\n  name: vllm\n",
        },
        "0.28.0",
        "pixi.lock",
    ),
    "Pipfile.lock": (
        {
            "serve.sh": SERVE,
            "Pipfile.lock": '{"default": {"vllm": {"hashes": ["sha256:00"], "version": "==0.28.0"}}}',
        },
        "0.28.0",
        "Pipfile.lock",
    ),
    "two locked, the lock's own entry says which": (
        {
            "serve.sh": f"uv run --extra old {SERVE}",
            "uv.lock": lock("0.25.1", "0.28.0")
            + '[[package]]\nname = "trainer"\nversion = "0.1"\nsource = { virtual = "." }\n'
            "\n[package.optional-dependencies]\n"
            'new = [\n    { name = "vllm", version = "0.28.0", source = { registry = "x" } },\n]\n'
            'old = [\n    { name = "vllm", version = "0.25.1", source = { registry = "x" } },\n]\n',
        },
        "0.25.1",
        "uv.lock",
    ),
    "an extra that takes another": (
        {
            "serve.sh": f"uv run --extra all {SERVE}",
            "pyproject.toml": EXTRAS.replace("[project.opt", "x = 1\n[project.opt") + 'all = ["trainer[new]"]\n',
        },
        "0.28.0",
        "pyproject.toml",
    ),
    "an extra that pip installs": (
        {"serve.sh": f"pip install -e '.[old]'\n{SERVE}", "pyproject.toml": EXTRAS},
        "0.25.1",
        "pyproject.toml",
    ),
    "a dependency group": (
        {
            "serve.sh": f"uv run --group serve {SERVE}",
            "pyproject.toml": '[dependency-groups]\nserve = ["vllm==0.28.0"]\ndev = ["vllm==0.20.0"]\n',
        },
        "0.28.0",
        "pyproject.toml",
    ),
    "a source of uv": (
        {
            "serve.sh": SERVE,
            "pyproject.toml": '[project]\ndependencies = ["vllm"]\n[tool.uv.sources]\n'
            'vllm = { git = "https://github.com/vllm-project/vllm", tag = "v0.28.0" }\n',
        },
        "0.28.0",
        "git tag v0.28.0",
    ),
    "Poetry's caret": (
        {"serve.sh": SERVE, "pyproject.toml": '[tool.poetry.dependencies]\nvllm = "^0.28.0"\n'},
        "0.28.0",
        "pyproject.toml",
    ),
    "pixi.toml": (
        {"serve.sh": SERVE, "pixi.toml": '[pypi-dependencies]\nvllm = { version = "==0.28.0", extras = ["x"] }\n'},
        "0.28.0",
        "pixi.toml",
    ),
    "an included requirements file": (
        {"serve.sh": SERVE, "requirements.txt": "vllm\n-r reqs/gpu.txt\n", "reqs/gpu.txt": "vllm==0.28.0\n"},
        "0.28.0",
        "reqs/gpu.txt",
    ),
    "constraints": (
        {"serve.sh": SERVE, "requirements.txt": "vllm\n", "constraints.txt": "vllm==0.28.0\n"},
        "0.28.0",
        "constraints.txt",
    ),
    "a marker of another system": (
        {
            "serve.sh": SERVE,
            "requirements.txt": "vllm==0.9.2 ; sys_platform == 'darwin'\nvllm==0.28.0; sys_platform != 'darwin'\n",
        },
        "0.28.0",
        "requirements.txt",
    ),
    "hashes": (
        {"serve.sh": SERVE, "requirements.txt": "vllm==0.28.0 \\\n    --hash=sha256:00\n"},
        "0.28.0",
        "requirements.txt",
    ),
    "a tag in a git reference": (
        {"serve.sh": SERVE, "requirements.txt": "vllm @ git+https://github.com/vllm-project/vllm.git@v0.28.0\n"},
        "0.28.0",
        "git tag v0.28.0",
    ),
    "a conda environment": (
        {
            "serve.sh": SERVE,
            "environment.yml": "dependencies:\n  - python=3.12\n  - conda-forge::vllm=0.28.0=cuda_py312\n",
        },
        "0.28.0",
        "environment.yml",
    ),
    "pip in a conda environment": (
        {"serve.sh": SERVE, "environment.yml": "dependencies:\n  - pip:\n    - vllm==0.28.0\n"},
        "0.28.0",
        "environment.yml",
    ),
    "setup.cfg": (
        {"serve.sh": SERVE, "setup.cfg": "[options]\ninstall_requires =\n  vllm==0.28.0\n"},
        "0.28.0",
        "setup",
    ),
    "a comment names the image": (
        {"serve.sh": f"# Container: vllm/vllm-openai:v0.28.0-ubuntu2404\n{SERVE}"},
        "0.28.0",
        "as only a comment in serve.sh says",
    ),
    "a comment behind a digest": (
        {"serve.sh": f"IMAGE=vllm/vllm-openai@sha256:{'a' * 64} # v0.28.0\n" + docker("$IMAGE")},
        "0.28.0",
        "as only a comment in serve.sh says",
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
    "NVIDIA's image": (
        {"serve.sh": docker("nvcr.io/nvidia/vllm:25.09-py3")},
        "NVIDIA's build with versions of its own",
    ),
    "AMD's image": ({"serve.sh": docker("rocm/vllm:rocm7.0_vllm_0.28.0_20260901")}, "AMD's build"),
    "a fork with its own versions": (
        {"serve.sh": docker("quay.io/ascend/vllm-ascend:v0.28.0")},
        "the build for Ascend with versions of its own",
    ),
    "an image of one's own": ({"serve.sh": docker("vllm-node:latest")}, "names no vLLM release"),
    "a wheel of a development build": (
        {"serve.sh": SERVE, "requirements.txt": "https://x.org/vllm-0.28.1.dev5+g0ab-cp38-abi3-linux.whl\n"},
        "0.28.1.dev5+g0ab, which is no release",
    ),
    "a commit": (
        {"serve.sh": SERVE, "requirements.txt": "vllm @ git+https://github.com/vllm-project/vllm@0123abcd\n"},
        "the branch or commit 0123abcd, which is no release",
    ),
    "a tag of a fork": (
        {"serve.sh": SERVE, "requirements.txt": "vllm @ git+https://github.com/me/vllm@v0.28.0\n"},
        "the repository me/vllm, a fork",
    ),
    "a commit beside a version": (
        {"serve.sh": SERVE, "Dockerfile": "FROM x\nARG VLLM_VERSION=0.28.0\nARG VLLM_COMMIT=0123abcd\n"},
        "VLLM_COMMIT in Dockerfile is 0123abcd, which is no release",
    ),
    "a lock of a development build": (
        {"serve.sh": SERVE, "uv.lock": lock("0.28.1.dev5+g0ab"), "requirements.txt": "vllm==0.20.0\n"},
        "uv.lock holds vllm 0.28.1.dev5+g0ab, which is no release",
    ),
    "no version beside a pinned file": (
        {"serve.sh": SERVE, "requirements.txt": "vllm\n", "requirements-old.txt": "vllm==0.20.0\n"},
        "requirements.txt asks for vllm without a version, beside",
    ),
    "comments that differ": (
        {"serve.sh": f"# vllm/vllm-openai:v0.20.0\n# vllm/vllm-openai:v0.28.0\n{SERVE}"},
        "comments in serve.sh name several (0.20.0, 0.28.0)",
    ),
    "a requirements file outside": (
        {"a/serve.sh": f"pip install -r ../../reqs.txt\n{SERVE}"},
        "no version found",
    ),
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


BUILDS = {
    "before it is on": ("nightly-2026-07-20", "absent", "later than 0.25.0"),
    "after it is on": ("nightly-20261001", "present", "later than 0.30.0"),
    "in between": ("nightly-2026-08-20", "undecided", "later than 0.27.0"),
}


@pytest.mark.parametrize(("tag", "combination", "told"), BUILDS.values(), ids=BUILDS)
def test_a_nightly_build_lies_between_the_releases_around_its_day(
    tmp_path: Path, tag: str, combination: str, told: str
) -> None:
    found = launch(tmp_path, {"serve.sh": docker(f"vllm/vllm-openai:{tag}")})
    assert (found["vllm_version"]["value"], found["combination"]) == (None, combination)
    assert told in found["vllm_version"]["provenance"]


def test_what_only_a_comment_says_is_said_with_low_confidence(tmp_path: Path) -> None:
    comment = "# Container: vllm/vllm-openai:v0.28.0\n"
    for name, files in {
        "comment": {"serve.sh": comment + SERVE},
        "pin": {"serve.sh": docker("vllm/vllm-openai:v0.28.0")},
    }.items():
        (finding,) = launch(tmp_path / name, files)["findings"]
        assert (finding["rule"], finding["confidence"]) == ("GDN001", "low" if name == "comment" else "high")


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
