"""Releases that something beside the command installs: a container that the module describes, the steps before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import HYBRID, MTP, launch, report

APP = """\
import json
import subprocess

import modal

MODEL = "{model}"
image = (
    {image}
    .env({{"HF_XET_HIGH_PERFORMANCE": "1"}})
)
app = modal.App("serve")


@app.function(image=image, gpu="H100:1")
@modal.web_server(port=8000)
def serve():
    cmd = ["vllm", "serve", "--uvicorn-log-level=info", MODEL, "--enable-prefix-caching"]
    cmd += ["--speculative-config", json.dumps({{"method": "mtp", "num_speculative_tokens": 2}})]
    {start}
"""
BASE = 'modal.Image.from_registry("nvidia/cuda:12.8.0-devel-ubuntu22.04", add_python="3.12")'
LIST = "subprocess.Popen(cmd)"


def app(image: str, start: str = LIST) -> dict[str, str]:
    return {"app.py": APP.format(model=HYBRID, image=image, start=start)}


@pytest.mark.parametrize(
    ("image", "version"),
    [
        (f'{BASE}.uv_pip_install("vllm==0.28.0", "huggingface_hub[hf_transfer]==0.35.0")', "0.28.0"),
        ('modal.Image.debian_slim(python_version="3.12").pip_install("torch", "vllm==0.26.0")', "0.26.0"),
        ('modal.Image.debian_slim().pip_install(["vllm==0.26.0"])', "0.26.0"),
        ('modal.Image.from_registry("vllm/vllm-openai:v0.27.1").pip_install("numpy==2.0")', "0.27.1"),
        (f'{BASE}.pip_install("torch==2.9.0")', None),
    ],
)
def test_an_image_of_the_module(tmp_path: Path, image: str, version: str | None) -> None:
    found = launch(tmp_path, app(image))
    assert (found["kind"], found["combination"], found["vllm_version"]["value"]) == (
        "python command",
        "present",
        version,
    )


def test_of_two_images_neither_is_taken(tmp_path: Path) -> None:
    other = 'old = modal.Image.debian_slim().pip_install("vllm==0.26.0")\n'
    files = app(f'{BASE}.pip_install("vllm==0.28.0")')
    files["app.py"] = files["app.py"].replace("app = modal", f"{other}app = modal")
    assert launch(tmp_path, files)["vllm_version"]["value"] is None


def test_words_joined_without_quotes_lose_those_of_the_json(tmp_path: Path) -> None:
    # What a shell makes of `" ".join(cmd)` is no JSON: vLLM does not start.
    found = launch(tmp_path, app(f'{BASE}.pip_install("vllm==0.28.0")', 'subprocess.Popen(" ".join(cmd), shell=True)'))
    assert (found["combination"], found["startup"]) == ("absent", "refused")


SETUP = """\
resources: {{accelerators: H100:1}}
envs:
  MODEL: {model}
setup: |
  {setup}
run: |
  vllm serve $MODEL --enable-prefix-caching {mtp}
"""

JOB = """\
on: push
jobs:
  other:
    steps:
      - run: pip install vllm==0.19.1
  serve:
    runs-on: gpu
    env: {{EXTRA: --enable-prefix-caching}}
    steps:
      - uses: actions/checkout@v4
      - run: {first}
      - name: serve
        run: |
          vllm serve {model} $EXTRA {mtp} &
      - run: pip install vllm==0.30.0
"""


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (SETUP.format(setup="uv pip install vllm==0.28.0", model=HYBRID, mtp=MTP), "0.28.0"),
        (SETUP.format(setup="pip install torch==2.9.0", model=HYBRID, mtp=MTP), None),
        (SETUP.format(setup="echo pip install vllm==0.28.0", model=HYBRID, mtp=MTP), None),
        (JOB.format(first="pip install vllm==0.28.0", model=HYBRID, mtp=MTP), "0.28.0"),
        (JOB.format(first="make", model=HYBRID, mtp=MTP), None),
    ],
)
def test_strings_before_the_command_install_it(tmp_path: Path, text: str, version: str | None) -> None:
    found = launch(tmp_path, {"task.yaml": text})
    assert (found["combination"], found["vllm_version"]["value"]) == ("present", version)


def test_a_container_of_its_own_has_what_its_image_has(tmp_path: Path) -> None:
    run = f"docker run --gpus all vllm/vllm-openai:v0.27.1 --model {HYBRID} --enable-prefix-caching {MTP}"
    text = f"setup: |\n  pip install vllm==0.19.1\nrun: |\n  {run}\n"
    assert [item["vllm_version"]["value"] for item in report(tmp_path, {"t.yaml": text})["launches"]] == ["0.27.1"]
