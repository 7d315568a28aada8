"""TOML: what tomllib reads, and where each key stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdnlint.documents import toml
from gdnlint.source import Source
from gdnlint.values import Value


def load(text: str) -> Value:
    root, problems = toml.load(Source("a.toml", text, Path("a.toml")))
    assert problems == []
    assert root is not None
    return root


def place(root: Value, *path: str) -> str:
    found = root.at(path)
    assert found is not None and found.span is not None
    return found.span.text


PLACES = {
    "a key": ("x = 1\n", ["x"], "x = 1"),
    "behind a table's header": ("[a]\n# x = 2\n  x = true # on\n", ["a", "x"], "x = true"),
    "a dotted header": ("[a.b]\nx = 1\n[a]\ny = 2\n", ["a", "b", "x"], "x = 1"),
    "a dotted key": ('a."b c".d = "x"\n', ["a", "b c", "d"], 'a."b c".d = "x"'),
    "a quoted header": ('["a b".c]\nx = 1\n', ["a b", "c", "x"], "x = 1"),
    "an inline table": ("x = { y = 1, z = { w = [1, 2] } }\n", ["x", "z"], "z = { w = [1, 2] }"),
    "a member of one": ("x = { y = 1, z = 'a}' }\n", ["x", "z"], "z = 'a}'"),
    "a text of several lines": ('a = """\nx = 1\n[b]\n"""\nb = 2\n', ["b"], "b = 2"),
    "quotes at its end": ('a = """x\\"""""\nb = 2\n', ["b"], "b = 2"),
    "a literal text": ("a = '''\n\"\"\"\n'''\nb = 2\n", ["b"], "b = 2"),
    "an array of several lines": ('a = [\n  "]", # ]\n  { x = 1 },\n]\nb = 2\n', ["b"], "b = 2"),
    "a date with a blank": ("a = 2026-01-02 03:04:05\nb = 2\n", ["b"], "b = 2"),
    "line ends of Windows": ("[a]\r\nx = 1\r\n", ["a", "x"], "x = 1"),
    "behind a byte order mark": ("\ufeffx = 1\n", ["x"], "x = 1"),
    "a table's header": ("[a]\nx = 1\n\n[a.b]\ny = 1\n", ["a", "b"], "[a.b]"),
    "a table that a header below it makes": ("[a.b]\ny = 1\n", ["a"], "[a.b]"),
}


@pytest.mark.parametrize(("text", "path", "written"), PLACES.values(), ids=PLACES)
def test_places(text: str, path: list[str], written: str) -> None:
    assert place(load(text), *path) == written


def test_tables_of_an_array_have_their_own_places() -> None:
    root = load("[[a]]\nx = 1\n[[a.b]]\ny = 1\n[[a]]\nx = 2\n[[a.b]]\ny = 2\n")
    tables = root.data["a"].data  # type: ignore[index, call-overload]
    assert [place(table, "x") for table in tables] == ["x = 1", "x = 2"]
    assert [place(table.data["b"].data[0], "y") for table in tables] == ["y = 1", "y = 2"]


def test_names_are_dotted_paths() -> None:
    found = load("[[a]]\nb = { c = 1 }\n").data["a"].data[0].at(["b", "c"])  # type: ignore[index, call-overload]
    assert (found.name, found.route) == ("a[0].b.c", "key")


@pytest.mark.parametrize(
    "text", ["x = \n", "[a\n", "x = 1\nx = 2\n", "x = " + "[" * 5000, "x = {a = " * 3000, 'x = "', "x = 1 2\n"]
)
def test_what_is_no_toml_is_a_problem(text: str) -> None:
    root, problems = toml.load(Source("a.toml", text, Path("a.toml")))
    assert root is None
    assert [problem.code for problem in problems] == ["syntax"]
