"""A mistake in a folder of one's own rules: the message names the file, the line, the key and what is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from gdnlint.cli import cli
from support import inside, write

FRAMEWORK = """\
schema: gdnlint-framework/1
name: mine
title: Mine
engine: vllm
source: me
recognise:
  modules: [mine.*]
dialect: omegaconf_cli
launches:
  engine:
    steps:
      - set: {model: "key:model"}
        source: mine.py:1
      - fill: {enable_prefix_caching: true}
        when: {"key:fast": true}
        source: mine.py:2
"""

MODEL = """\
schema: gdnlint-model/1
family: mine
title: Mine
mechanism: gdn
recurrent: true
architectures:
  MineForCausalLM: {since: 0.20.0, source: me}
model_types: {mine: me}
names:
  - {pattern: 'mine-\\d+b'}
"""

RULE = """\
schema: gdnlint-rule/1
id: MINE001
slug: mine
name: Mine
since: 1.0.0
precision: high
summary: s
description: d
remediation: r
evidence: e
when:
  all:
    - {"launch:combination": present}
severity:
  - is: error
message: m
bad:
  - {title: t, file: a.sh, text: x}
good:
  - {title: t, file: a.sh, text: x}
"""


def message(folder: Path, text: str) -> str:
    """What the command line says of a rule file; it must refuse it."""
    write(folder, {"serve.sh": "vllm serve Qwen/Qwen3-8B\n", "rules/mine.yaml": text})
    with inside(folder):
        done = CliRunner().invoke(cli, ["check", "serve.sh", "--rules", "rules"])
    assert done.exit_code == 2
    assert done.stdout == ""
    return done.stderr


@pytest.mark.parametrize("text", [FRAMEWORK, MODEL, RULE], ids=["framework", "model", "rule"])
def test_the_files_that_the_mistakes_are_made_in_are_valid(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"serve.sh": "vllm serve Qwen/Qwen3-8B\n", "rules/mine.yaml": text})
    with inside(tmp_path):
        assert CliRunner().invoke(cli, ["check", "serve.sh", "--rules", "rules"]).exit_code == 0


# the file, what is replaced, by what, then the line and the words of the message
MISTAKES = {
    "a key that is misspelt": (
        FRAMEWORK,
        "title: Mine",
        "titel: Mine\ntitle: M",
        3,
        "titel: unknown key; did you mean `title`?",
    ),
    "a key that is not known": (FRAMEWORK, "source: me", "source: me\nzzz: 1", 6, "zzz: unknown key; known: "),
    "a key of a step": (
        FRAMEWORK,
        "        when:",
        "        wehn:",
        15,
        "launches.engine.steps[1].wehn: unknown key; did you mean `when`?",
    ),
    "no operator": (FRAMEWORK, "- fill:", "- fil:", 14, "a step has exactly one operator of set, fill, "),
    "two operators": (
        FRAMEWORK,
        "        source: mine.py:1",
        "        source: mine.py:1\n        refuse: no",
        12,
        "a step has exactly one operator",
    ),
    "an operator of a condition": (
        FRAMEWORK,
        '{"key:fast": true}',
        '{"key:fast": {matches: x}}',
        15,
        "unknown operator 'matches'; one of equals, ",
    ),
    "a step without its source": (
        FRAMEWORK,
        "        source: mine.py:2\n",
        "",
        14,
        "launches.engine.steps[1].source: is missing",
    ),
    "a reference of no kind": (
        FRAMEWORK,
        '"key:fast"',
        '"kee:fast"',
        15,
        "'kee:fast' is no reference; it starts with one of key, set, ",
    ),
    "a reference without a kind": (FRAMEWORK, '{"key:fast": true}', "fast", 15, "'fast' is no reference"),
    "a ref that is none": (FRAMEWORK, '"key:model"', "{ref: model}", 12, "'model' is no reference"),
    "a range of releases": (
        FRAMEWORK,
        '{"key:fast": true}',
        '{"engine:version": {within: "0.20 to 0.21"}}',
        15,
        "'0.20 to 0.21' is no range of releases",
    ),
    "a dialect": (FRAMEWORK, "omegaconf_cli", "toml", 8, "dialect: must be one of omegaconf_cli, hydra, "),
    "a revision that is not declared": (
        FRAMEWORK,
        "        source: mine.py:2",
        "        source: mine.py:2\n        in: [old]",
        17,
        "unknown revision old",
    ),
    "a style of inheritance": (
        FRAMEWORK,
        "dialect:",
        "inherits: {style: magic}\ndialect:",
        8,
        "inherits.style: must be one of none, ",
    ),
    "a regular expression": (MODEL, "mine-\\d+b", "mine-(", 10, "names[0].pattern: is no regular expression: "),
    "a mechanism": (MODEL, "mechanism: gdn", "mechanism: rnn", 4, "mechanism: must be one of gdn, kda, "),
    "a release": (MODEL, "since: 0.20.0", "since: soon", 7, "'soon' is no release"),
    "a model without its family": (MODEL, "family: mine\n", "", 1, "family: is missing"),
    "a severity": (RULE, "is: error", "is: fatal", 15, "severity[0].is: must be error, warning or note"),
    "a rule without a condition": (
        RULE,
        'when:\n  all:\n    - {"launch:combination": present}\n',
        "",
        1,
        "when: is missing",
    ),
    "an id that is taken": (RULE, "MINE001", "GDN001", 2, "id: GDN001 is taken by "),
    "a condition deep down": (
        RULE,
        '{"launch:combination": present}',
        '{any: {"set:model": x}}',
        13,
        "any takes a list of conditions",
    ),
    "a schema": (RULE, "gdnlint-rule/1", "gdnlint-rule/9", 1, "schema: 'gdnlint-rule/9' is unknown; one of "),
    "no schema": (RULE, "schema: gdnlint-rule/1\n", "", 1, "schema: is missing"),
    "not YAML": (RULE, "summary: s", "summary: [s", 8, "is not YAML: "),
    "a list": (RULE, RULE, "- a\n", None, "must hold one mapping"),
}


@pytest.mark.parametrize(("text", "old", "new", "line", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, text: str, old: str, new: str, line: int | None, told: str
) -> None:
    assert text.count(old) == 1
    said = message(tmp_path, text.replace(old, new))
    assert said.startswith(f"Error: {Path('rules', 'mine.yaml')}:" + (f"{line}: " if line else " "))
    assert told in said


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "mine.yaml").write_bytes(b"schema: \xff\xfe")
    with inside(tmp_path):
        done = CliRunner().invoke(cli, ["check", ".", "--rules", "rules"])
    assert done.exit_code == 2
    assert "mine.yaml" in done.stderr
    assert "is not YAML" in done.stderr
