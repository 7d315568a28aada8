"""``a.b=VALUE`` words against OmegaConf.from_cli."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from gdnlint.documents.overrides import Applied, merge, split_key
from gdnlint.documents.overrides.omegaconf_cli import apply
from gdnlint.documents.yaml import load_text
from gdnlint.source import Source
from gdnlint.values import Hole, Piece, Place, Text, Value, Word

SCRIPT = Source("run.sh", "x" * 10)
X = Hole("the environment variable X", "X")


def word(*parts: str | Hole, spread: bool = False) -> Word:
    return Word(Text(tuple(Piece(part) for part in parts)), SCRIPT.span(2, 8), spread)


def data(value: Value) -> Any:
    if isinstance(value.data, dict):
        return {key: data(member) for key, member in value.data.items()}
    if isinstance(value.data, list):
        return [data(item) for item in value.data]
    if isinstance(value.data, Text):
        return f"<{value.data.show()}>"
    return "NaN" if isinstance(value.data, float) and math.isnan(value.data) else value.data


def theirs(found: Any) -> Any:
    if isinstance(found, dict):
        return {str(key): theirs(member) for key, member in found.items()}
    if isinstance(found, list):
        return [theirs(item) for item in found]
    return "NaN" if isinstance(found, float) and math.isnan(found) else found


def typed(found: Any) -> Any:
    """Data in which true, 1 and 1.0 differ."""
    if isinstance(found, dict):
        return {key: typed(member) for key, member in found.items()}
    if isinstance(found, list):
        return [typed(item) for item in found]
    return type(found).__name__, found


def applied(*words: str, tree: Value | None = None) -> Applied:
    return apply(tree or Value({}), [word(text) for text in words])


@pytest.mark.parametrize(
    "words",
    [
        ["a=1", "a=2"],
        ["a={x: 1}", "a.y=2"],
        ["a.y=2", "a={x: 1, y: {z: 3}}"],
        ["a=1", "a.b=2"],
        ["a.b=2", "a=null", "a.c=1"],
        ["a=off", "b=on", "c=No", "d=TRUE", "e=0", "f=y"],
        ["a=", "b", "c=~", "d='False'", 'e="1"'],
        ["a={method:mtp}", "b={method: mtp, n: 3}"],
        ["~a", "~b=1"],
        ["a[b]=1", "[c].d=2", "e[f][g]=3", ".h=4"],
        ["l=[1, {x: 2}]", "l[0]=5", "l[1].x=6", "l.1.y=7", "l[-1].z=8"],
        ["a=1e-6", "b=1e5", "c=0o17", "d=017", "e=12:30:45", "f=2024-01-01", "g=1_000", "h=.5"],
        ["a=b=c", "a.b=c: d", "x=foo # bar"],
        ["a=[1,2]", "a=[3]"],
        ["a=${b.c}", "b={c: '${a}'}"],
        ["--flag", "--key=value"],
        ["a=-", "b=- x", "c=---"],
    ],
)
def test_as_omegaconf_reads_them(words: list[str]) -> None:
    found = applied(*words)
    assert found.problems == []
    assert typed(data(found.tree)) == typed(theirs(OmegaConf.to_container(OmegaConf.from_cli(words))))


KEYS = st.sampled_from(["a", "b", "a.b", "a.b.c", "a[b]", "a[0]", "a.0", "a[1].c", "[a].b", ".a"])
PARTS = st.sampled_from(
    ["a", "b", "{", "}", "[", "]", ", ", ",", ": ", ":", "- ", "'", '"', "1", "1e5", ".5", "on", "~", " #", "|",
     "\n", "  ", "0x1F"]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(KEYS, st.lists(PARTS, max_size=6)).map(lambda kv: f"{kv[0]}={''.join(kv[1])}"), max_size=3))
def test_any_words(words: list[str]) -> None:
    found = applied(*words)
    try:
        expected = OmegaConf.to_container(OmegaConf.from_cli(words))
    except OmegaConfBaseException as error:
        assert found.problems or "key type" in str(error)  # null as a key
        return
    except (YAMLError, TypeError, ValueError, IndexError, AssertionError):
        assert found.problems
        return
    assert found.problems == []
    if has_text_keys(expected):
        assert typed(data(found.tree)) == typed(theirs(expected))


def has_text_keys(found: Any) -> bool:
    """Keys that are no strings are kept as their text, which OmegaConf does not keep."""
    if isinstance(found, dict):
        return all(isinstance(key, str) for key in found) and all(has_text_keys(v) for v in found.values())
    return all(has_text_keys(item) for item in found) if isinstance(found, list) else True


BASE = "a: {x: 1, y: {z: 2}}\nl: [1, 2]\ni: ${a}\nn: null\nm: ???\n"


@pytest.mark.parametrize(
    "words", [["a.x=3"], ["a={w: 4}"], ["a=5"], ["a=null"], ["l=[3]"], ["n.k=1"], ["m=2"], ["a.y=???"], ["new.key=x"]]
)
def test_merging_into_a_tree(words: list[str]) -> None:
    found = applied(*words, tree=load_text(BASE, "omegaconf").documents[0])
    expected = OmegaConf.merge(OmegaConf.create(BASE), OmegaConf.from_cli(words))
    assert data(found.tree) == OmegaConf.to_container(expected)


def test_a_mapping_into_an_interpolation_needs_to_know_what_it_is() -> None:
    tree = load_text(BASE, "omegaconf").documents[0]
    assert not apply(tree, [word("i.x=9")]).tree.at(["i"]).is_known  # type: ignore[union-attr]
    followed = apply(tree, [word("i.x=9")], follow=lambda text: tree.at(["a"])).tree
    expected = OmegaConf.merge(OmegaConf.create(BASE), OmegaConf.from_cli(["i.x=9"]))
    assert data(followed) == OmegaConf.to_container(expected)


@pytest.mark.parametrize("text", ["+a=1", "++a=1", "+a.b={c: 1}"])
def test_a_leading_plus_is_refused_or_part_of_the_key(text: str) -> None:
    refused = applied(text)
    assert [problem.code for problem in refused.problems] == ["override"]
    assert refused.tree.data == {}
    kept = apply(Value({}), [word(text)], plus="key")
    assert kept.problems == []
    assert data(kept.tree) == OmegaConf.to_container(OmegaConf.from_cli([text]))


@pytest.mark.parametrize("text", ["a=[1", "a={b: 1, b: 2}", "a='x", "a=x\n--- \ny"])
def test_values_that_are_no_yaml_are_refused(text: str) -> None:
    found = applied(text)
    assert [problem.code for problem in found.problems] == ["override"]
    assert found.problems[0].span == SCRIPT.span(2, 8)


def test_holes() -> None:
    words = [
        word("a.model=", X),
        word("a.n=Qwen/", X, "-8B"),
        word("a.spec={method: mtp, num: ", X, "}"),
        word("a.keys={", X, ": 1}"),
        word(X, spread=True),
        word("a.", X, "=1"),
    ]
    found = apply(Value({}), words)
    assert data(found.tree) == {
        "a": {"model": "<<X>>", "n": "<Qwen/<X>-8B>", "spec": {"method": "mtp", "num": "<<X>>"}, "keys": "<{<X>: 1}>"}
    }
    assert found.unknown == (X,)


def test_where_a_value_comes_from() -> None:
    source = Source("run.sh", "MODEL=x; run a.b=$MODEL")
    place = Place(source.span(0, 7), "MODEL is set")
    text = Text((Piece("a.b={c: ", source.span(13, 17)), Piece("x}", source.span(6, 7), (place,))))
    value = apply(Value({}), [Word(text, source.span(13, 23))]).tree.at(["a", "b", "c"])
    assert value is not None
    assert (value.data, value.span, value.places, value.route, value.name) == (
        "x", source.span(13, 23), (place,), "override", "a.b.c",
    )  # fmt: skip


@pytest.mark.parametrize("key", ["a", "a.b", "a[b]", ".a.b[c].d", "[a].b", "..[a]", "a.", "a[0][1]", "a[b", ""])
def test_split_key(key: str) -> None:
    from omegaconf._utils import split_key as expected

    assert split_key(key) == expected(key)


def test_merging_into_a_hole_leaves_a_hole() -> None:
    base = Value({"a": Value.unknown("something")})
    assert not merge(base, Value({"a": Value({"b": Value(1)})})).is_known
    assert merge(base, Value({"a": Value(1)})).plain() == {"a": 1}
