"""YAML against PyYAML, OmegaConf and ruamel.yaml: the same data, and spans that say where it stands."""

from __future__ import annotations

import datetime
import math
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from ruamel.yaml import YAML

from gdnlint.documents.yaml import DEEPEST, Loaded, load, load_text, resolve_scalar
from gdnlint.source import Fragment, Source
from gdnlint.values import Text, Value


def data(value: Value | None) -> Any:
    """A value as plain data; a float that is not a number as a string, so that it compares."""
    assert value is not None
    found = value.data
    if isinstance(found, dict):
        return {key: data(member) for key, member in found.items()}
    if isinstance(found, list):
        return [data(item) for item in found]
    return "NaN" if isinstance(found, float) and math.isnan(found) else found


def plain(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: plain(member) for key, member in found.items()}
    if isinstance(found, list):
        return [plain(item) for item in found]
    if isinstance(found, float) and math.isnan(found):
        return "NaN"
    return "DATE" if isinstance(found, datetime.date) else found


def read(text: str, scalars: Any = "omegaconf") -> Loaded:
    return load(Fragment.whole(Source("a.yaml", text)), scalars)


def root(text: str, scalars: Any = "omegaconf") -> Value:
    loaded = read(text, scalars)
    assert loaded.problems == []
    return loaded.documents[0]


def spans(value: Value) -> dict[str, str]:
    """Dotted path -> the text that its span covers."""
    found = {value.name: value.span.text if value.span else ""}
    below = value.data.values() if isinstance(value.data, dict) else value.data if isinstance(value.data, list) else ()
    for member in below:
        found.update(spans(member))
    return found


_SCALARS = """
~ null Null NULL nuLL true True TRUE tRue false on On ON off yes No n y Y
0 1 -1 +7 1_000 017 0o17 018 0x1F 0X1F 0b101 -0b1 0b_ 12:30 12:30:45 1:60 190:20:30.15
1.5 .5 5. -.5 1e5 1e-6 1E+5 1.e3 1.5e3 1.5e+3 .5e-3 .5e3 1_0.5 1_ .inf -.inf +.Inf .INF .nan .NaN inf nan
2024-01-01 1e 0x -- +.5 . .. 1.2.3 12e03 00 0_7 _1
"""
SCALARS = _SCALARS.split()


@pytest.mark.parametrize("scalar", SCALARS)
def test_scalars_of_omegaconf(scalar: str) -> None:
    found = resolve_scalar(scalar, "omegaconf")
    try:
        expected = OmegaConf.create(f"a: {scalar}").a
    except ValueError:
        expected = scalar  # no number although it looks like one: the program stops, a string here
    assert plain(found) == plain(expected)
    assert type(found) is type(expected)


@pytest.mark.parametrize("scalar", SCALARS)
def test_scalars_of_pyyaml(scalar: str) -> None:
    found = resolve_scalar(scalar, "pyyaml")
    try:
        expected = yaml.safe_load(scalar)
    except ValueError:
        expected = scalar
    if isinstance(expected, datetime.date):
        assert found == scalar
        return
    assert plain(found) == plain(expected)
    assert type(found) is type(expected)


@pytest.mark.parametrize("scalar", [word for word in SCALARS if word not in ("0X1F", "1_", "_1", "0b_", "0x")])
def test_scalars_of_yaml_12(scalar: str) -> None:
    found = resolve_scalar(scalar, "yaml12")
    expected = YAML(typ="safe", pure=True).load(scalar)
    if isinstance(expected, datetime.date):
        assert found == scalar
        return
    assert plain(found) == plain(expected)
    assert type(found) is type(expected)


PARTS = [
    "a",
    "b",
    "on",
    "1",
    "1e5",
    "0o7",
    ".5",
    "~",
    ": ",
    ":",
    "- ",
    "\n",
    "\n  ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "'",
    '"',
]
PARTS += [" #", "#", "&x ", "*x", "!!str ", "|\n", ">\n", "?", "é", "\\n", "---\n", "<<: "]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
def test_reads_what_pyyaml_reads(text: str) -> None:
    loaded = read(text, "pyyaml")
    try:
        expected = list(yaml.load_all(text, yaml.CSafeLoader))
    except yaml.constructor.ConstructorError:
        return
    except (yaml.YAMLError, ValueError):
        assert loaded.problems
        return
    if not loaded.problems:
        assert len(loaded.documents) == len(expected)
        for mine, theirs in zip(loaded.documents, expected, strict=True):
            assert yaml_keys_as_text(theirs) in (None, data(mine))


def yaml_keys_as_text(found: Any) -> Any:
    """None where a key is no string, since its text is not kept by PyYAML."""
    if isinstance(found, dict):
        if any(not isinstance(key, str) for key in found):
            return None
        members = {key: yaml_keys_as_text(member) for key, member in found.items()}
        return None if any(members[key] is None and found[key] is not None for key in found) else members
    if isinstance(found, list):
        items = [yaml_keys_as_text(item) for item in found]
        return None if any(a is None and b is not None for a, b in zip(items, found, strict=True)) else items
    return plain(found)


TREE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec="utf-8"), max_size=30),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("abcé.- ", min_size=1), below, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(TREE, st.booleans(), st.sampled_from([None, '"', "'", "|", ">"]), st.sampled_from(["\n", "\r\n"]))
def test_dumped_trees_come_back_with_the_text_of_their_strings(tree: Any, flow: bool, style: Any, end: str) -> None:
    text = yaml.safe_dump({"k": tree}, default_flow_style=flow, default_style=style, allow_unicode=True, line_break=end)
    loaded = read(text, "pyyaml")
    assert loaded.problems == []
    assert data(loaded.documents[0]) == plain(yaml.safe_load(text))
    for value in strings(loaded.documents[0]):
        fragment = loaded.fragment(value)
        assert fragment is not None
        assert fragment.text == value.data
        for index, char in enumerate(fragment.text):
            there = text[fragment.offset(index)]
            assert there == char or there in "\\\r\n\x85"


def strings(value: Value) -> list[Value]:
    if isinstance(value.data, dict):
        return [found for member in value.data.values() for found in strings(member)]
    if isinstance(value.data, list):
        return [found for item in value.data for found in strings(item)]
    return [value] if isinstance(value.data, str) else []


def test_spans_and_names() -> None:
    text = (
        "\ufeff# head\r\n"
        "policy:   # the policy\r\n"
        "  é: '😀 x'  # c\r\n"
        "  cfg: {a: 1, b: [x, y]}\r\n"
        "  list:\r\n"
        "    - one\r\n"
        "    - k: v\r\n"
        "      l: w\r\n"
        "  script: |\r\n"
        "    vllm serve\r\n"
        "\r\n"
        "  none:\r\n"
    )
    tree = root(text)
    found = spans(tree)
    assert found == {
        "": text[text.index("policy") :].rstrip(),
        "policy": "policy:",
        "policy.é": "é: '😀 x'",
        "policy.cfg": "cfg: {a: 1, b: [x, y]}",
        "policy.cfg.a": "a: 1",
        "policy.cfg.b": "b: [x, y]",
        "policy.cfg.b[0]": "x",
        "policy.cfg.b[1]": "y",
        "policy.list": "list:",
        "policy.list[0]": "one",
        "policy.list[1]": "k: v",
        "policy.list[1].k": "k: v",
        "policy.list[1].l": "l: w",
        "policy.script": "script: |\r\n    vllm serve",
        "policy.none": "none:",
    }
    member = tree.at(["policy", "é"])
    assert member is not None and member.span is not None
    assert (member.span.line, member.span.column, member.route) == (3, 3, "key")


def test_spans_inside_a_fragment_point_into_the_file() -> None:
    outer = read("script: |\n  a: 1\n  b:\n    - x\n")
    value = outer.documents[0].at(["script"])
    assert value is not None
    inner = outer.fragment(value)
    assert inner is not None
    tree = load(inner, "pyyaml").documents[0]
    assert spans(tree)["a"] == "a: 1"
    assert [(v.span.line, v.span.column) for v in strings(tree) if v.span] == [(4, 7)]


def test_aliases_keep_the_anchor_and_say_where_they_stand() -> None:
    tree = root("base: &b\n  x: {y: 1}\nuse: *b\nlist: [*b]\nmerged:\n  <<: *b\n  z: 2\n")
    assert data(tree)["merged"] == {"x": {"y": 1}, "z": 2}
    for path in (["use", "x", "y"], ["merged", "x", "y"]):
        value = tree.at(path)
        assert value is not None and value.span is not None
        assert value.name == ".".join(path)
        assert (value.span.text, value.span.line) == ("y: 1", 2)
        assert [(place.span.text, place.what) for place in value.places] == [("*b", "taken from anchor b")]


def test_merge_keys_give_way_to_the_keys_beside_them() -> None:
    text = "a: &a {x: 1, y: 1}\nb: &b {x: 1, z: 2}\nc: {y: 3, <<: [*a, *b]}\nd:\n  <<: *a\n  w: 4\n  <<: *b\n"
    assert data(root(text, "pyyaml")) == yaml.safe_load(text)


def test_which_merge_wins_depends_on_the_release_of_pyyaml() -> None:
    text = "a: &a {key: 1, y: 1}\nb: &b {key: 2}\nc: {<<: [*a, *b]}\n"
    assert data(root(text, "yaml12").at(["c"])) == {"key": 1, "y": 1}
    member = root(text, "pyyaml").at(["c"])
    assert member is not None
    assert member.plain() == {"key": None, "y": 1}
    assert [hole.reason for hole in member.holes()] == ["the order of merges, which PyYAML releases differ in"]


def test_duplicate_keys() -> None:
    loaded = read("a: 1\nb: 2\na: 3\n", "omegaconf")
    assert [(p.code, p.span.line if p.span else 0) for p in loaded.problems] == [("duplicate-key", 3)]
    assert read("a: 1\na: 3\n", "pyyaml").problems == []
    assert data(root("a: 1\na: 3\n", "pyyaml")) == {"a": 3}


def test_tags() -> None:
    tree = root("a: !!str 1\nb: !!int '3'\nc: !custom x\nd: !Ref {k: 1}\ne: !!float 2\nf: !!binary aGk=\n")
    assert {key: data(tree.at([key])) for key in "abe"} == {"a": "1", "b": 3, "e": 2.0}
    reasons = {key: [hole.reason for hole in member.holes()] for key, member in tree.data.items()}  # type: ignore[union-attr]
    assert reasons["c"] == ["the tag !custom"]
    assert reasons["d"] == ["the tag !Ref"]
    assert reasons["f"] == ["the tag !!binary"]


LAUGHS = "l0: &l0 [1, 1]\n" + "".join(f"l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]\n" for i in range(1, 9))


@pytest.mark.parametrize(
    ("text", "code", "documents"),
    [
        ("a: 1\n---\nb: [2\nc: 3\n", "syntax", 1),
        ("a: *nothing\n", "syntax", 0),
        ("a: \x01\n", "syntax", 0),
        ("a: \ud800\n", "syntax", 0),
        ("? [a, b]\n: 1\n", "syntax", 1),
        ("{{- if .Values.x }}\na: 1\n{{- end }}\n", "template", 0),
        ("a: {{ .Values.x }}\n", "template", 1),
        ("[" * 100_000, "syntax", 0),
        ("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1), "too-deep", 0),
        ("- " * 50_000, "too-deep", 0),
        ("{a: " * 50_000, "too-deep", 0),
        ("a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 300)), "too-deep", 0),
        (LAUGHS, "too-large", 0),
    ],
)  # fmt: skip
def test_problems(text: str, code: str, documents: int) -> None:
    loaded = read(text)
    assert [problem.code for problem in loaded.problems] == [code]
    assert len(loaded.documents) == documents
    assert loaded.problems[0].span is not None


def test_an_alias_inside_its_own_anchor_is_a_hole() -> None:
    tree = root("a: &a [1, *a]\n")
    assert [hole.reason for hole in tree.holes()] == ["an alias inside its own anchor"]


def test_the_message_of_a_syntax_error_has_its_place() -> None:
    problem = read("a: 1\nb: [2\nc: 3\n").problems[0]
    assert "line 3, column 2" in problem.message


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_any_text_is_read_without_an_exception(text: str) -> None:
    for scalars in ("omegaconf", "pyyaml", "yaml12"):
        loaded = load_text(text, scalars)  # type: ignore[arg-type]
        assert all(isinstance(document.data, Text | object) and document.span for document in loaded.documents)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: |\n  x\n   y\n\n  z\n", "x\n y\n\nz\n"),
        ("a: |-\n  x\n", "x"),
        ("a: |+\n  x\n\n\n", "x\n\n\n"),
        ("a: |2-\n    x\n   y\n", "  x\n y"),
        ("a: >\n  x\n  y\n\n  z\n    more\n  w\n", "x y\nz\n  more\nw\n"),
        ("a: >-\n\n  x\n", "\nx"),
        ("b:\n  c:\n    a: |1\n      x\n", " x\n"),
        ('a: "x\\n\\u00e9\\x41 \\\n   y\n   z\n\n   w"', "x\néA y z\nw"),
        ("a: 'it''s\n\n  y'", "it's\ny"),
        ("a: x\n   y\n\n   z # c\n", "x y\nz"),
        ('a: "\\U0001F600\\t"', "😀\t"),
    ],
)
def test_fragments_of_each_style(text: str, expected: str) -> None:
    loaded = read(text)
    [value] = strings(loaded.documents[0])
    fragment = loaded.fragment(value)
    assert value.data == expected == (fragment and fragment.text)
    assert fragment is not None
    last = max(index for index, char in enumerate(expected) if not char.isspace() or index == 0)
    assert text[fragment.offset(last)] in (expected[last], "\\")
