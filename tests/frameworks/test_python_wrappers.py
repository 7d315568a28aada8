"""Wrappers that make a `vllm.LLM` out of their own arguments: LangChain, LlamaIndex."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, launch, report, rules, value

DRAFTS = '"speculative_config": {"method": "mtp", "num_speculative_tokens": 2}'
ON, OFF = '"enable_prefix_caching": True', '"enable_prefix_caching": False'

LANGCHAIN = "from langchain_community.llms import VLLM\n\nllm = VLLM(model={model!r}, vllm_kwargs={{{kwargs}}})\n"
LLAMA_INDEX = "from llama_index.llms.vllm import Vllm\n\nllm = Vllm(model={model!r}, vllm_kwargs={{{kwargs}}})\n"
BOTH = pytest.mark.parametrize(("text", "framework"), [(LANGCHAIN, "langchain"), (LLAMA_INDEX, "llama_index")])


@BOTH
def test_reported_and_fixed(tmp_path: Path, text: str, framework: str) -> None:
    found = launch(tmp_path, {"app.py": text.format(model=HYBRID, kwargs=f"{ON}, {DRAFTS}")})
    assert (found["framework"], found["combination"], rules(found)) == (framework, "present", ["GDN001"])
    after = fixed(tmp_path, found["findings"][0])
    assert after == text.format(model=HYBRID, kwargs=f"{OFF}, {DRAFTS}")


@BOTH
@pytest.mark.parametrize(("model", "kwargs"), [(HYBRID, f"{OFF}, {DRAFTS}"), (HYBRID, ON), (DENSE, f"{ON}, {DRAFTS}")])
def test_left_alone(tmp_path: Path, text: str, framework: str, model: str, kwargs: str) -> None:
    found = launch(tmp_path, {"app.py": text.format(model=model, kwargs=kwargs)})
    assert (found["framework"], found["combination"], rules(found)) == (framework, "absent", [])


@BOTH
@pytest.mark.parametrize(("version", "on"), [("0.27.1", False), ("0.28.0", True)])
def test_unset_is_vllms_own_default(tmp_path: Path, text: str, framework: str, version: str, on: bool) -> None:
    # libs/community/langchain_community/llms/vllm.py:86-93@07d55478, and LlamaIndex's
    # llama_index/llms/vllm/base.py:219-226@0a2c2603: model, parallelism, dtype, and vllm_kwargs as they are
    found = launch(tmp_path, {"app.py": text.format(model=HYBRID, kwargs=DRAFTS)}, "--vllm-version", version)
    assert (found["framework"], value(found, "enable_prefix_caching")) == (framework, on)


def test_a_client_of_a_server_starts_nothing(tmp_path: Path) -> None:
    text = LLAMA_INDEX.format(model=HYBRID, kwargs=ON).replace("(model", "(api_url='http://gpu:8000', model")
    assert "a server runs already" in launch(tmp_path, {"app.py": text})["note"]


def test_a_class_of_the_same_name_from_elsewhere_is_none(tmp_path: Path) -> None:
    text = LANGCHAIN.format(model=HYBRID, kwargs=ON).replace("langchain_community.llms", "mine.models")
    assert report(tmp_path, {"app.py": text})["launches"] == []
