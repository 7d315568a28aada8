"""Helm charts: templates with the chart's own values, and values files over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, checked, history, report, rules, value, write

CHART = 'apiVersion: v2\nname: server\nversion: 0.1.0\nappVersion: "v0.28.0"\n'
VALUES = f"""\
model: {HYBRID}
image: {{repository: vllm/vllm-openai, tag: v0.28.0}}
caching: true
draft: 2
extraArgs: [--max-model-len, "8192"]
"""
DEPLOYMENT = """\
{{- if .Values.model }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "server.name" . }}
  labels:
    {{- include "server.labels" . | nindent 4 }}
spec:
  template:
    spec:
      {{- with .Values.tolerations }}
      tolerations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: vllm
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
          args:
%s
{{- end }}
"""
ARGS = """\
            - --model
            - {{ .Values.model | quote }}
            {{- if .Values.draft }}
            - --speculative-config
            - '{"method": "mtp", "num_speculative_tokens": {{ .Values.draft }}}'
            {{- end }}
            {{- if .Values.caching }}
            - --enable-prefix-caching
            {{- else }}
            - --no-enable-prefix-caching
            {{- end }}
            {{- toYaml .Values.extraArgs | nindent 12 }}"""


def chart(args: str = ARGS, values: str = VALUES, **more: str) -> dict[str, str]:
    return {
        "chart/templates/deployment.yaml": DEPLOYMENT % args,
        "chart/Chart.yaml": CHART,
        "chart/values.yaml": values,
        **{f"chart/{name.replace('_', '-')}.yaml": text for name, text in more.items()},
    }


def args(*lines: str) -> str:
    return "\n".join(f"            {line}" for line in (*lines, *FIXED))


FIXED = ["- --speculative-config", '- \'{"method":"mtp","num_speculative_tokens":1}\'']
MODEL = "- --model={{ .Values.model }}"


def verdict(found: Any) -> str:
    (launch,) = found["launches"]
    return str(launch["combination"])


def test_a_template_is_read_with_the_charts_own_values(tmp_path: Path) -> None:
    found = report(tmp_path, chart())
    (launch,) = found["launches"]
    assert (launch["combination"], launch["line"], launch["kind"]) == ("present", 16, "container")
    assert (value(launch, "model"), value(launch, "max_model_len")) == (HYBRID, 8192)
    assert launch["vllm_version"]["value"] == "0.28.0"
    assert ("set in chart/values.yaml", "via") in history(launch, "model")
    assert rules(found) == ["GDN001"]
    assert [fix["edits"] for fix in found["findings"][0]["fixes"] if fix["edits"]] == []


OFF = "- --no-enable-prefix-caching"
END = "{{- end }}"

TEMPLATES = {
    # Go's text/template: an absent value is nil, and nil, false, 0, "" and empty collections are false.
    "an absent value is empty": ("absent", [MODEL, "{{- if not .Values.cache }}", OFF, END]),
    "a default": ("present", ["- --model={{ .Values.other | default .Values.model }}"]),
    "a default in front": ("absent", [f'- --model={{{{ default "{DENSE}" .Values.other }}}}']),
    "a call in parentheses": ("present", ['- --model={{ (printf "%s" .Values.model) | trim }}']),
    "eq": ("absent", [MODEL, '{{- if eq .Values.image.tag "v0.28.0" }}', OFF, END]),
    "else if": (
        "absent", [MODEL, "{{ if .Values.a }}", "- --a", "{{ else if gt .Values.draft 1 }}", OFF, "{{ end }}"]
    ),
    "and, or": ("absent", [MODEL, "{{- if and .Values.caching (or .Values.a .Values.draft) }}", OFF, END]),
    "a loop": ("present", [MODEL, "{{- range .Values.extraArgs }}", "- {{ . | quote }}", END]),
    "a loop over pairs": (
        "absent", [MODEL, '{{- range $k, $v := .Values.image }}{{ if eq $k "tag" }}', OFF, "{{ end }}{{ end }}"]
    ),
    "a variable": ("present", ["{{- $name := .Values.model }}", "- --model", "- {{ $name }}"]),
    "the dot of a with": ("present", ["- --model", "{{- with .Values }}", "- {{ .model }} {{- /* the name */}}", END]),
    "the root in a with": ("present", ["- --model", "{{- with .Values.image }}", "- {{ $.Values.model }}", END]),
    "a range over nothing": ("present", [MODEL, "{{- range .Values.off }}", OFF, END]),
    "what another template gives is not known": ("undecided", ['- --model={{ include "server.model" . }}']),
    "tpl is not known": ("undecided", ["- --model={{ tpl .Values.model . }}"]),
    "a function that nobody knows": ("undecided", ["- --model={{ .Values.model | sha256sum }}"]),
    "a condition that is not known": ("undecided", [MODEL, '{{- if include "server.off" . }}', OFF, END]),
}  # fmt: skip


@pytest.mark.parametrize(("expected", "text"), TEMPLATES.values(), ids=TEMPLATES)
def test_what_a_template_comes_to(tmp_path: Path, expected: str, text: list[str]) -> None:
    found = report(tmp_path, chart(args(*text), VALUES.replace("caching: true", "caching: 1")))
    assert verdict(found) == expected
    assert ("GDN001" in rules(found)) is (expected == "present")


def test_arguments_that_are_not_known_are_said(tmp_path: Path) -> None:
    found = report(tmp_path, chart(args(MODEL, '{{- include "server.args" . | nindent 12 }}')))
    assert verdict(found) == "present"
    assert any("Later words may change this" in note for note in found["findings"][0]["notes"])


def test_a_condition_that_is_not_known_is_named(tmp_path: Path) -> None:
    text = args(MODEL, '{{- if include "server.off" . }}', "- --no-enable-prefix-caching", "{{- end }}")
    (launch,) = report(tmp_path, chart(text))["launches"]
    assert "include" in launch["decided_by"]


def test_values_beside_a_chart_are_read_with_its_templates(tmp_path: Path) -> None:
    files = chart(values=VALUES.replace("caching: true", "caching: false"), values_prod="caching: true\n")
    found = report(tmp_path, {"chart/values-prod.yaml": files["chart/values-prod.yaml"], **files})
    assert verdict(found) == "present"
    assert [finding["path"] for finding in found["findings"]] == ["chart/templates/deployment.yaml"]
    steps = history(found["launches"][0], "model")
    assert steps[:2] == [("inherited from chart/values.yaml", "via"), ("set in chart/values.yaml", "via")]


def test_each_values_file_of_a_chart_is_a_launch_of_its_own(tmp_path: Path) -> None:
    files = chart(values_dense=f"model: {DENSE}\n", values_same="draft: 2\n", values_plain="draft: 0\n")
    write(tmp_path, files)
    found = checked(tmp_path, "chart")
    assert sorted(item["combination"] for item in found["launches"]) == ["absent", "absent", "present", "present"]


def test_a_list_of_values_gives_several_objects(tmp_path: Path) -> None:
    template = (
        "{{- range .Values.models }}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: {{ .name | quote }}}\nspec:\n"
        "  containers:\n  - name: s\n    image: vllm/vllm-openai:v0.28.0\n    args:\n    - --model={{ .name }}\n"
        "    {{- range .args }}\n    - {{ . | quote }}\n    {{- end }}\n{{- end }}\n"
    )
    values = (
        f"models:\n- name: {HYBRID}\n  args:\n  - --speculative-config\n"
        '  - \'{"method":"mtp","num_speculative_tokens":1}\'\n'
        f"- name: {DENSE}\n"
    )
    files = {"chart/templates/pods.yaml": template, "chart/Chart.yaml": CHART, "chart/values.yaml": values}
    found = report(tmp_path, files)
    assert [item["combination"] for item in found["launches"]] == ["present", "absent"]


@pytest.mark.parametrize("name", ["Chart.yaml", "templates"])
def test_a_template_outside_a_chart_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    files = chart(args(MODEL))
    if name == "Chart.yaml":
        del files["chart/Chart.yaml"]
    else:
        files = {"chart/manifests/deployment.yaml": files["chart/templates/deployment.yaml"], **files}
    assert {item["combination"] for item in report(tmp_path, files)["launches"]} <= {"undecided"}


BROKEN = ["{{ if .Values.a }}", "{{ end }}", "{{ .Values.model", '{{ "a }}', "{{ if }}{{ else }}"]


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_template_is_read_to_the_end(tmp_path: Path, text: str) -> None:
    found = report(tmp_path, chart(args(MODEL, text)))
    assert {item["combination"] for item in found["launches"]} <= {"undecided", "present"}
