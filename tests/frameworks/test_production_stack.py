"""vLLM production-stack: values of its chart, and the VLLMRuntime of its operator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, fixed, history, launch, report, rules, value

DRAFT = '{"method": "mtp", "num_speculative_tokens": 1}'
EXTRA = f"extraArgs: [--speculative-config, '{DRAFT}'%s]"


def values(*config: str, model: str = HYBRID, tag: str = "v0.28.0", more: str = "") -> str:
    head = f"servingEngineSpec:\n  modelSpec:\n  - name: m\n    repository: vllm/vllm-openai\n    tag: {tag}\n"
    return head + f"    modelURL: {model}\n{more}" + "".join(f"    {line}\n" for line in config)


def config(*lines: str, extra: str = "") -> tuple[str, ...]:
    return "vllmConfig:", *(f"  {line}" for line in lines), f"  {EXTRA % extra}"


def runtime(*lines: str, extra: str = "", image: str = "vllm/vllm-openai:v0.28.0") -> str:
    inner = "".join(f"    {line}\n" for line in (*lines, EXTRA % extra))
    return (
        "apiVersion: production-stack.vllm.ai/v1alpha1\nkind: VLLMRuntime\nmetadata: {name: m}\nspec:\n"
        f"  model: {{modelURL: {HYBRID}}}\n  vllmConfig:\n{inner}"
        f"  deploymentConfig:\n    image: {{registry: docker.io, name: '{image}'}}\n"
    )


@pytest.mark.parametrize(
    ("verdict", "text"),
    [
        # helm/templates/deployment-vllm-multi.yaml:149-161@a6c01db0
        pytest.param("absent", values(*config()), id="an absent key is an opt-out"),
        pytest.param("absent", values(*config("enablePrefixCaching: false")), id="false is an opt-out"),
        pytest.param("absent", values(*config("enablePrefixCaching: null")), id="null is an opt-out"),
        pytest.param("present", values(*config("enablePrefixCaching: true")), id="true is the flag"),
        # :194-198, behind the flags of vllmConfig
        pytest.param("present", values(*config(extra=", --enable-prefix-caching")), id="extraArgs turn it on again"),
        pytest.param(
            "absent",
            values(*config("enablePrefixCaching: true", extra=", --no-enable-prefix-caching")),
            id="extraArgs turn it off again",
        ),
        pytest.param(
            "absent", values(*config("enablePrefixCaching: true"), model=DENSE), id="a dense model is left alone"
        ),
        # :3
        pytest.param(
            "absent", values(*config("enablePrefixCaching: true"), more="    enabled: false\n"), id="a disabled model"
        ),
        # operator/internal/controller/vllmruntime_controller.go:467-510@a6c01db0
        pytest.param("absent", runtime(), id="a runtime without the key opts out"),
        pytest.param("present", runtime("enablePrefixCaching: true"), id="a runtime with the key"),
        pytest.param("present", runtime(extra=", --enable-prefix-caching"), id="extraArgs of a runtime come later"),
    ],
)
def test_what_the_values_come_to(tmp_path: Path, verdict: str, text: str) -> None:
    found = report(tmp_path, {"values.yaml": text})
    assert max((item["combination"] for item in found["launches"]), default="absent") == verdict
    assert rules(found) == (["GDN001"] if verdict == "present" else [])


@pytest.mark.parametrize(("tag", "verdict"), [("v0.27.1", "absent"), ("v0.28.0", "absent")])
def test_without_a_vllm_config_nothing_is_passed(tmp_path: Path, tag: str, verdict: str) -> None:
    """deployment-vllm-multi.yaml:149@a6c01db0: the flags stand inside ``with $modelSpec.vllmConfig``."""
    found = launch(tmp_path, {"values.yaml": values(tag=tag)})
    assert (found["combination"], found["vllm_version"]["value"]) == (verdict, tag[1:])
    assert value(found, "enable_prefix_caching") is (tag == "v0.28.0")


def test_each_model_is_a_launch_at_its_own_lines(tmp_path: Path) -> None:
    text = values(*config("enablePrefixCaching: true")) + values(*config()).partition("modelSpec:\n")[2]
    found: Any = report(tmp_path, {"values.yaml": text})
    assert [(i["line"], i["end_line"], i["combination"]) for i in found["launches"]] == [
        (3, 9, "present"),
        (10, 15, "absent"),
    ]


def test_the_edit_changes_the_key_or_the_argument(tmp_path: Path) -> None:
    text = values(*config("enablePrefixCaching: true"))
    (finding,) = launch(tmp_path, {"values.yaml": text})["findings"]
    assert fixed(tmp_path, finding) == text.replace("Caching: true", "Caching: false")
    text = values(*config(extra=", --enable-prefix-caching"))
    (finding,) = launch(tmp_path, {"values.yaml": text})["findings"]
    assert fixed(tmp_path, finding) == text.replace("--enable", "--no-enable")


CHART = "apiVersion: v2\nname: %s\nversion: 0.1.0\n"


@pytest.mark.parametrize(
    ("name", "verdict"), [("vllm-stack", "present"), ("another", "absent")], ids=["the chart", "another chart"]
)
def test_a_values_file_inherits_its_charts_own(tmp_path: Path, name: str, verdict: str) -> None:
    files = {
        "chart/values-prod.yaml": "servingEngineSpec:\n  enableEngine: true\n  modelSpec: []\n".replace(
            "  modelSpec: []\n", "" if verdict == "present" else "  modelSpec: []\n"
        ),
        "chart/values.yaml": values(*config("enablePrefixCaching: true")),
        "chart/Chart.yaml": CHART % name,
    }
    found = report(tmp_path, files)
    assert max((item["combination"] for item in found["launches"]), default="absent") == verdict


def test_the_hop_to_the_charts_values_is_shown(tmp_path: Path) -> None:
    files = {
        "chart/values-prod.yaml": "servingEngineSpec: {enableEngine: true}\n",
        "chart/values.yaml": values(*config("enablePrefixCaching: true")),
        "chart/Chart.yaml": CHART % "vllm-stack",
    }
    found = launch(tmp_path, files)
    assert ("inherited from chart/values.yaml", "via") in history(found, "enable_prefix_caching")
    assert found["path"] == "chart/values-prod.yaml"


def test_a_tag_that_is_no_release_leaves_the_version_open(tmp_path: Path) -> None:
    found = launch(tmp_path, {"values.yaml": values(tag="latest")})
    assert found["vllm_version"]["value"] is None
    assert "vllm/vllm-openai:latest" in str(found["vllm_version"]["provenance"])


@pytest.mark.parametrize(("model", "verdict"), [(HYBRID, "present"), ("${model_path}", "undecided")])
def test_a_terraform_template_of_values_is_read_but_for_its_variables(tmp_path: Path, model: str, verdict: str) -> None:
    text = values(*config("enablePrefixCaching: true"), model=model)
    found = launch(tmp_path, {"values.tpl": text})
    assert (found["combination"], rules(found)) == (verdict, ["GDN001"] if verdict == "present" else [])


def test_more_engines_than_are_judged_are_said_to_be_left(tmp_path: Path) -> None:
    many = "servingEngineSpec:\n  modelSpec:\n" + "  - {name: m, modelURL: x, repository: vllm/vllm-openai}\n" * 101
    found = report(tmp_path, {"values.yaml": many})
    assert [(item["code"], item["path"]) for item in found["diagnostics"]] == [("too-large", "values.yaml")]
    assert "more than 100 engines" in found["diagnostics"][0]["message"]
    assert len(found["launches"]) == 100
    fewer = report(tmp_path, {"values.yaml": many[: many.rindex("  - ")]})
    assert (len(fewer["launches"]), fewer["diagnostics"]) == (100, [])
