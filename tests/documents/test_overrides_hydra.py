"""Hydra's override grammar against Hydra's own parser."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Glob, OverrideType, Sweep
from hydra.errors import HydraException
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gdnlint.documents.overrides.hydra import apply, parse, parse_element
from gdnlint.documents.yaml import load_text
from gdnlint.source import Source
from gdnlint.values import Hole, Piece, Place, Text, Value, Word

SCRIPT = Source("run.sh", "x" * 10)
X = Hole("the environment variable X", "X")
PARSER = OverridesParser.create()
KINDS = {
    OverrideType.CHANGE: "change",
    OverrideType.ADD: "add",
    OverrideType.FORCE_ADD: "force",
    OverrideType.DEL: "delete",
}


def word(*parts: str | Hole, spread: bool = False) -> Word:
    return Word(Text(tuple(Piece(part) for part in parts)), SCRIPT.span(2, 8), spread)


def typed(found: Any) -> Any:
    """Data in which true, 1 and 1.0 differ and a float that is not a number equals itself."""
    found = found.data if isinstance(found, Value) else found
    if isinstance(found, dict):
        return {str(key): typed(member) for key, member in found.items()}
    if isinstance(found, list):
        return [typed(item) for item in found]
    if isinstance(found, Text):
        return f"<{found.show()}>"
    return type(found).__name__, "NaN" if isinstance(found, float) and math.isnan(found) else found


def compare(text: str, reject: bool = False) -> None:
    mine = parse(Text.of(text))
    try:
        expected = PARSER.parse_override(text)
    except (HydraException, ValueError):
        # A sweep that Hydra refuses may be a hole here: its arguments are not checked.
        assert mine is None or (mine.value is not None and not mine.value.is_known), text
        return
    assert not reject, text
    assert mine is not None, text
    assert (mine.kind, mine.key, mine.package) == (KINDS[expected.type], expected.key_or_group, expected.package)
    if isinstance(expected._value, Sweep | Glob):
        assert mine.sweep and mine.value is not None and not mine.value.is_known
    elif expected.value_type is None:
        assert mine.value is None
    elif mine.value is not None and "shuffle" not in text and has_text_keys(expected.value()):
        assert typed(mine.value) == typed(expected.value()), text


def has_text_keys(found: Any) -> bool:
    """Keys that are no strings are kept as their text, which Hydra does not keep."""
    if isinstance(found, dict):
        return all(isinstance(key, str) for key in found) and all(has_text_keys(v) for v in found.values())
    return all(has_text_keys(item) for item in found) if isinstance(found, list) else True


VALUES = r"""
1 -1 +1 1_000 1__0 01 0x1F 1.5 .5 5. 1e-6 1E5 -1.5e+3 inf -inf +NaN nan info 1_0.5_0 1.2.3 true True TRUE tRuE
false null NULL on off yes no None none ~ nulls truex a a-b a/b /a/b a.b a:b a::b :a http://x:80/y?z=1 a@b a%b
a*b a+b a|b $a $ {} [] [1,2] [a,b,[c]] {a:b} {a: b, c:{d:1}} {method:mtp,num_speculative_tokens:3} {a:b:c} {a}
[1,] [,1] {a:1,} {1:2,true:x} 'a' "a" 'a b' "it's" 'it\'s' '\\' "\\\"x" 'a\b' '' "" 'a'b a'b' '[1,2]' "${a.b}"
${a.b} ${a:b,c} x${a}y ${a ${} ${a.${b}} a\ b a\,b \[x\] \\ a\b \= a=b a==b 1,2 a,b,c [1,2],[3] choice(a,b)
range(1,10) range(1,3,step=2) interval(0,1) glob(*) tag(a,choice(1,2)) shuffle([1,2]) sort([3,1,2])
sort([3,1,2],reverse=true) sort(3,1) sort(list=[2,1]) int(3.7) int('12') int(a) float(3) str(true)
str([1,2.5]) bool(0) bool(on) bool({a:0,b:'true'}) int(value=3) int(1,2) int() foo(1) int(null) str(${a}) int(
3 ) é 'é' # ! & ; < > ^ a b a\tb
"""

KEYS = """
a a=1 +a=1 ++a=1 +++a=1 ~a ~a= ~a=1 +a ++a a.b.c=1 a.0.b=1 a.01=1 a-b=1 -a=1 --a=1 --a $a.b=1 a$b=1 a/b=c
a/b/c=d +a/b=c ~a/b a@b=c a@b.c=d a/b@c=d a@=b a@b:c=d a@b@c=d a@b a.b/c=1 a/b.c=1 a/0=1 0=1 0.a=1 =1 a..b=1
.a=1 a.=1 a[0]=1 a b=1 é=1 a:b=1 ~ + hydra.run.dir=x
"""


@pytest.mark.parametrize(
    "value", [*VALUES.split(), "", " ", " a ", "a b", "[ 1 , 2 ]", "{ a : b }", "'a' ", "a\nb", "a\tb", "int (3)"]
)
def test_values_as_hydra_reads_them(value: str) -> None:
    for head in ("k=", "a.b=", "++a="):
        compare(head + value)


@pytest.mark.parametrize("text", KEYS.split())
def test_keys_as_hydra_reads_them(text: str) -> None:
    compare(text)


PIECES = [
    "a",
    "b.c",
    "+",
    "~",
    "=",
    ",",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    ":",
    " ",
    "'",
    '"',
    "\\",
    "\\'",
    "\\,",
    "1",
    "0",
]
PIECES += ["-", "1e5", ".5", "inf", "true", "null", "on", "$", "${a}", "/", "@", "*", "é", "int(", "str(", "a="]


@settings(max_examples=700, deadline=None)
@given(st.sampled_from(["a=", "a.b=", "+a=", "~a=", "", "a@b=", "g/h="]), st.lists(st.sampled_from(PIECES), max_size=8))
def test_any_override(head: str, pieces: list[str]) -> None:
    compare(head + "".join(pieces))


TREE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab01 .,:=[]{}()'\"\\${}/-éx", max_size=8),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text("ab_", min_size=1), below, max_size=3),
    max_leaves=6,
)


def written(found: Any) -> str:
    if isinstance(found, dict):
        return "{" + ",".join(f"{key}:{written(member)}" for key, member in found.items()) + "}"
    if isinstance(found, list):
        return "[" + ", ".join(map(written, found)) + "]"
    if isinstance(found, str):
        return "'" + found.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "null" if found is None else str(found).lower() if isinstance(found, bool) else str(found)


@settings(max_examples=150, deadline=None)
@given(TREE)
def test_written_values(tree: Any) -> None:
    compare(f"a.b={written(tree)}")


def test_holes() -> None:
    def value(*parts: str | Hole) -> Any:
        found = parse(Text(tuple(Piece(part) for part in parts)))
        assert found is not None and found.value is not None
        return typed(found.value)

    assert value("a=", X) == "<<X>>"
    assert value("a=Qwen/", X, "-8B") == "<Qwen/<X>-8B>"
    assert value("a=1", X) == "<1<X>>"
    assert value("+a={method:mtp,n:", X, "}") == {"method": ("str", "mtp"), "n": "<<X>>"}
    assert value("a='x ", X, "'") == "<x <X>>"
    assert value("a=[1,", X, "]") == [("int", 1), "<<X>>"]
    assert value("a={", X, ":1}") == "<<the keys of a mapping>>"
    assert value("a=int(", X, ")") == "<<X>>"
    assert parse(Text((Piece("a."), Piece(X), Piece("=1")))) is None


@pytest.mark.parametrize(
    "text", ["a=" + "[" * 50_000, "a=" + "{a:" * 30_000, "a='" + "\\" * 90_000, "a=" + "9" * 5000,
     "a=" + "int(" * 20_000,
     "a=" + "x" * 200_000],
)  # fmt: skip
def test_hostile_text_is_rejected_in_time(text: str) -> None:
    assert parse(Text.of(text)) is None


def test_elements() -> None:
    assert typed(parse_element("[1,2]")) == [("int", 1), ("int", 2)]
    assert parse_element("[1") is None


CONFIG = "a: {x: 1, y: {z: 2}, e: {}}\nl: [1, {k: 2}]\nn: null\nm: ???\ns: text\n"


def both(words: list[str]) -> tuple[Any, Any, Any]:
    mine = apply(load_text(CONFIG, "omegaconf").documents[0], [word(text) for text in words])
    config = OmegaConf.create(CONFIG)
    OmegaConf.set_struct(config, True)
    try:
        ConfigLoaderImpl._apply_overrides_to_config(PARSER.parse_overrides(words), config)
        return mine, OmegaConf.to_container(config), None
    except (HydraException, OmegaConfBaseException, TypeError, ValueError) as error:
        return mine, None, error


@pytest.mark.parametrize(
    "words",
    [
        ["a.x=3"], ["a={x:4}"], ["a=5"], ["a.y=null"], ["l=[3]"], ["l.0=7"], ["l.1.k=8"], ["n=1"], ["m=x"], ["s="],
        ["+a.w=1"], ["+a={w:1,x:2}"], ["++a.x=5"], ["++b.c.d=6"], ["+n=3"], ["+n.k=4"], ["+l=[1]"], ["~a.x"],
        ["~a.x=1"],
        ["~a"], ["~s=text"], ["++a.e={p:1}", "a.e.p=2"], ["+b={c:1}", "+b.d=2"], ["+s.k=1"], ["a.x=1", "a.x=2"],
    ],
)  # fmt: skip
def test_applying(words: list[str]) -> None:
    mine, expected, error = both(words)
    assert error is None
    assert (mine.problems, mine.missing) == ([], [])
    assert typed(mine.tree) == typed(expected)


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        (["a.w=1"], ["a.w"]),
        (["b.c=1"], ["b.c"]),
        (["a={q:1,x:2}"], ["a.q"]),
        (["n.k=1"], ["n.k"]),
        (["a.e={p:{q:1}}"], ["a.e.p"]),
    ],
)
def test_a_change_of_an_absent_key_is_told(words: list[str], missing: list[str]) -> None:
    mine, _, error = both(words)
    assert error is not None
    assert (mine.problems, mine.missing) == ([], missing)


@pytest.mark.parametrize(
    "words", [["+a.x=1"], ["~b"], ["~n"], ["~m"], ["~a.x=2"], ["a=[1]"], ["l={a:1}"], ["l.5=1"], ["l.k=1"],
     ["g@p=1"], ["é=1"], ["a/b=c"]],
)  # fmt: skip
def test_what_hydra_refuses_is_a_problem(words: list[str]) -> None:
    mine, _, error = both(words)
    assert error is not None
    assert [problem.code for problem in mine.problems] == ["override"]
    assert mine.problems[0].span == SCRIPT.span(2, 8)


def test_a_sweep_is_a_hole_and_a_problem() -> None:
    mine = apply(load_text(CONFIG, "omegaconf").documents[0], [word("a.x=1,2")])
    assert [problem.code for problem in mine.problems] == ["override"]
    assert typed(mine.tree.at(["a", "x"])) == "<<a sweep>>"


def test_words_that_may_set_anything() -> None:
    mine = apply(Value({}), [word(X, spread=True), word(X), word("a.", X, "=1"), word("++b=", X)])
    assert mine.unknown == (X,)
    assert typed(mine.tree) == {"b": "<<X>>"}


def test_choices_of_groups_are_left_out() -> None:
    mine = apply(Value({}), [word("db=mysql"), word("+db={port:1}"), word("+x=1")], is_group=lambda key: key == "db")
    assert typed(mine.tree) == {"db": {"port": ("int", 1)}, "x": ("int", 1)}


def test_where_a_value_comes_from() -> None:
    source = Source("run.sh", "MODEL=x; run +a.b=$MODEL")
    place = Place(source.span(0, 7), "MODEL is set")
    text = Text((Piece("+a.b={c:", source.span(13, 18)), Piece("x}", source.span(6, 7), (place,))))
    tree = apply(Value({}), [Word(text, source.span(13, 24))]).tree
    value = tree.at(["a", "b", "c"])
    assert value is not None
    assert (value.data, value.span, value.places, value.route, value.name) == (
        "x", source.span(13, 24), (place,), "override", "a.b.c",
    )  # fmt: skip
