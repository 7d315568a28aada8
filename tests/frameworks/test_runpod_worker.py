"""RunPod's worker: an image that starts itself, and takes every setting from a variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, launch, report, value, verdict

NEW = "runpod/worker-v1-vllm:v2.25.1"
OLD = "runpod/worker-v1-vllm:v2.22.0"
DRAFT = '{"method":"mtp","num_speculative_tokens":1}'
ON = {"MODEL_NAME": HYBRID, "SPECULATIVE_CONFIG": DRAFT, "ENABLE_PREFIX_CACHING": "true"}


def dockerfile(image: str, env: dict[str, str], more: str = "") -> dict[str, str]:
    return {"Dockerfile": f"FROM {image}\n" + "".join(f"ENV {n}='{v}'\n" for n, v in env.items()) + more}


def compose(image: str, env: dict[str, str], more: str = "") -> dict[str, str]:
    lines = "".join(f"      {name}: '{text}'\n" for name, text in env.items())
    return {"compose.yaml": f"services:\n  w:\n    image: {image}\n{more}    environment:\n{lines}"}


def pod(image: str, env: dict[str, str], more: str = "") -> dict[str, str]:
    lines = "".join(f"    - {{name: {name}, value: '{text}'}}\n" for name, text in env.items())
    head = f"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: {image}\n{more}    env:\n"
    return {"pod.yaml": head + lines}


def script(image: str, env: dict[str, str], more: str = "") -> dict[str, str]:
    flags = " ".join(f"-e {name}='{text}'" for name, text in env.items())
    return {"run.sh": f"docker run {flags} {more} {image}\n"}


FORMS = {"Dockerfile": dockerfile, "Compose": compose, "Kubernetes": pod, "docker run": script}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_container_and_its_twin_that_opts_out(tmp_path: Path, form: str) -> None:
    assert verdict(tmp_path / "on", FORMS[form](NEW, ON)) == ("present", "GDN001")
    off = ON | {"ENABLE_PREFIX_CACHING": "False"}
    combination, found = verdict(tmp_path / "off", FORMS[form](NEW, off))
    assert (combination, "GDN001" in found) == ("absent", False)


OTHER_PROGRAMS = {
    "Dockerfile": dockerfile(NEW, ON, 'ENTRYPOINT ["python3", "/x.py"]\n'),
    "Compose": compose(NEW, ON, "    entrypoint: [python3, /x.py]\n"),
    "Kubernetes": pod(NEW, ON, "    command: [python3, /x.py]\n"),
    "docker run": script(NEW, ON, "--entrypoint /x.py"),
    "another image": pod("acme/worker-v1:v2.25.1", ON),
    "a stage that another file comes from": dockerfile(NEW, ON, "FROM scratch\nCOPY --from=0 /a /b\n"),
}


@pytest.mark.parametrize("files", OTHER_PROGRAMS.values(), ids=OTHER_PROGRAMS)
def test_a_container_that_runs_something_else_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    assert report(tmp_path, files)["launches"] == []


UNSET = {name: text for name, text in ON.items() if name != "ENABLE_PREFIX_CACHING"}
PARTS = {"MODEL_NAME": HYBRID, "SPECULATIVE_METHOD": "mtp", "NUM_SPECULATIVE_TOKENS": "2", "ENABLE_PREFIX_CACHING": "1"}
DOCKER = "runpod/worker-v1-vllm"
CASES = {
    # src/args_builder.py:312-321@7a92503: what nobody sets, nobody passes (0.23.0: off on hybrids).
    "unset": ("absent", NEW, UNSET),
    "another release of it": ("undecided", f"{DOCKER}:latest", UNSET),
    "its digest": ("undecided", f"{DOCKER}@sha256:{'a' * 64}", UNSET),
    # src/engine_args.py:34@fcdc799
    "unset in an older worker": ("absent", OLD, UNSET),
    "set in an older worker": ("present", OLD, ON),
    # src/engine_args.py:189-278@fcdc799: put together, which newer workers do not.
    "parts of speculation in an older worker": ("present", OLD, PARTS),
    "parts of speculation in a newer worker": ("absent", NEW, PARTS),
    "a dense model": ("absent", NEW, ON | {"MODEL_NAME": DENSE}),
    "no speculation": ("absent", NEW, ON | {"SPECULATIVE_CONFIG": ""}),
    # src/args_builder.py:341-343@7a92503: last, so it wins.
    "extra arguments opt out": ("absent", NEW, ON | {"VLLM_EXTRA_ARGS": "--no-enable-prefix-caching"}),
    "extra arguments turn it on": ("present", NEW, UNSET | {"VLLM_EXTRA_ARGS": "--enable-prefix-caching"}),
    "a file that nobody sees": ("undecided", NEW, {"MODEL_NAME": HYBRID, "VLLM_CONFIG_FILE": "/c.yaml"}),
}


@pytest.mark.parametrize(("combination", "image", "env"), CASES.values(), ids=CASES)
def test_what_variables_come_to(tmp_path: Path, combination: str, image: str, env: dict[str, str]) -> None:
    found = launch(tmp_path, compose(image, env))
    assert found["combination"] == combination


def test_the_release_is_that_of_the_worker(tmp_path: Path) -> None:
    assert launch(tmp_path / "a", pod(NEW, ON))["vllm_version"]["value"] == "0.23.0"
    assert launch(tmp_path / "b", pod(OLD, ON))["vllm_version"]["value"] == "0.22.1"


def test_a_variable_that_is_passed_on_leaves_the_model_as_it_is(tmp_path: Path) -> None:
    found = launch(tmp_path, script(NEW, ON, "-e VLLM_EXTRA_ARGS"))
    assert value(found, "model") == HYBRID
    assert "VLLM_EXTRA_ARGS" in found["note"]
