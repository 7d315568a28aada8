"""Flags of a program around the engine, as the tree of settings that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gdnlint.documents.overrides import flags
from gdnlint.source import Source
from gdnlint.values import Hole, Text, Value, Word

ARGPARSE: dict[str, tuple[list[str], dict[str, Any]]] = {
    "a value": (["--model", "a/b"], {"model": "a/b"}),
    "behind an equals sign": (["--model=a=b"], {"model": "a=b"}),
    "a switch": (["--use_vllm", "--x", "1"], {"use_vllm": True, "x": 1}),
    "at the end": (["--use-vllm"], {"use_vllm": True}),
    "numbers and booleans": (["--a", "0.5", "--b", "False", "--c", "true"], {"a": 0.5, "b": False, "c": True}),
    "None": (["--a", "None", "--b", "null"], {"a": None, "b": None}),
    "a negative number is a value": (["--a", "-1", "--b"], {"a": -1, "b": True}),
    "dashes are underscores": (["--no-x-y", "1"], {"no_x_y": 1}),
    "dots lead deeper": (["--a.b", "1", "--a.c-d"], {"a": {"b": 1, "c_d": True}}),
    "several values": (["--a", "x", "y", "--b"], {"a": ["x", "y"], "b": True}),
    "the last one wins": (["--a", "1", "--a", "2"], {"a": 2}),
    "JSON": (["--a", '{"b": {"c": null}}'], {"a": {"b": {"c": None}}}),
    "JSON takes the place of JSON": (["--a", '{"b": 1}', "--a", '{"c": 1}'], {"a": {"c": 1}}),
    "a list in JSON": (["--a", "[1, 2]"], {"a": [1, 2]}),
    "a brace that is no JSON": (["--a", "{b}"], {"a": "{b}"}),
    "words before the flags": (["train.yaml", "--a", "1"], {"a": 1}),
    "a switch with no in its name": (["--no_cache"], {"no_cache": True}),
    "one dash": (["-m", "x"], {"m": "x"}),
}


def words(given: list[str | Hole]) -> list[Word]:
    text = " ".join(part if isinstance(part, str) else "$X" for part in given)
    source, at, made = Source("run.sh", text, Path("run.sh")), 0, []
    for part in given:
        size = len(part) if isinstance(part, str) else 2
        span = source.span(at, at + size)
        made.append(Word(Text.of(part, span), span, isinstance(part, Hole) and not part.one_word))
        at += size + 1
    return made


@pytest.mark.parametrize(("given", "expected"), ARGPARSE.values(), ids=ARGPARSE)
def test_the_tree(given: list[str], expected: dict[str, Any]) -> None:
    applied = flags.apply(Value({}), words(list(given)))
    assert applied.tree.plain() == expected
    assert (applied.problems, applied.unknown) == ([], ())


def test_mappings_may_merge_and_a_prefix_may_turn_off() -> None:
    base = Value({"a": Value({"x": Value(1)}), "b": Value({"on": Value(True)})})
    applied = flags.apply(base, words(["--a", '{"y": 2}', "--b.no-on"]), negative="no_", merges=True)
    assert applied.tree.plain() == {"a": {"x": 1, "y": 2}, "b": {"on": False}}


def test_a_flag_stands_with_its_value() -> None:
    applied = flags.apply(Value({}), words(["--model", "a/b", "--x"]))
    found = applied.tree.at(["model"])
    assert found is not None and found.span is not None
    assert (found.span.text, found.route, found.name) == ("--model a/b", "flag", "--model")


@pytest.mark.parametrize(
    ("given", "tree", "unknown"),
    [
        (["--a", Hole("$X", one_word=True), "--b"], {"b": True}, 0),
        (["--a", "1", Hole("$X")], {"a": 1}, 1),
        ([Hole("$X"), "--b"], {"b": True}, 1),
        (["--a", Hole("$X")], {}, 1),
    ],
)
def test_what_nobody_knows_stays_open(given: list[str | Hole], tree: dict[str, Any], unknown: int) -> None:
    applied = flags.apply(Value({}), words(given))
    assert isinstance(applied.tree.data, dict)
    assert {name: value.plain() for name, value in applied.tree.data.items() if value.is_known} == tree
    assert len(applied.unknown) == unknown
