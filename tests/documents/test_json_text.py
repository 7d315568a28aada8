"""JSON with holes against Python's json."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gdnlint.documents.json_text import parse
from gdnlint.source import Source
from gdnlint.values import Hole, Piece, Place, Text, Value

N = Hole("the environment variable N", "N")


def data(value: Value) -> Any:
    if isinstance(value.data, dict):
        return {key: data(member) for key, member in value.data.items()}
    if isinstance(value.data, list):
        return [data(item) for item in value.data]
    if isinstance(value.data, Text):
        return f"<{value.data.show()}>"
    return "NaN" if isinstance(value.data, float) and math.isnan(value.data) else value.data


def text(*parts: str | Hole) -> Text:
    return Text(tuple(Piece(part) for part in parts))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(JSON, st.sampled_from([None, 1]), st.booleans())
def test_reads_what_json_writes(value: Any, indent: int | None, ascii_only: bool) -> None:
    found = parse(Text.of(json.dumps(value, indent=indent, ensure_ascii=ascii_only)))
    assert found is not None
    assert data(found) == value


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from([*'{}[],:"', '"a"', "1", "-", "0", ".5", "e3", " ", "null", "true", "NaN", "\\n", "\n"]))
)
def test_accepts_what_json_accepts(parts: list[str]) -> None:
    source = "".join(parts)
    found = parse(Text.of(source))
    try:
        expected = json.loads(source)
    except ValueError:
        assert found is None
        return
    assert found is not None
    if "NaN" not in source:
        assert data(found) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (('{"method": "mtp", "n": ', N, "}"), {"method": "mtp", "n": "<<N>>"}),
        (('{"model": "Qwen/', N, '"}'), {"model": "<Qwen/<N>>"}),
        (('{"n": 1', N, ', "m": [', N, ", 2]}"), {"n": "<1<N>>", "m": ["<<N>>", 2]}),
        ((N,), "<<N>>"),
        (('{"', N, '": 1}'), '<{"<N>": 1}>'),
        (('{"a": 1, ', N, "}"), '<{"a": 1, <N>}>'),
        (('{"in": {', N, ': 2}, "b": 3}'), {"in": "<{<N>: 2}>", "b": 3}),
    ],
)
def test_holes(parts: tuple[str | Hole, ...], expected: Any) -> None:
    found = parse(text(*parts))
    assert found is not None
    assert data(found) == expected
    assert N in list(found.holes())


@pytest.mark.parametrize("source", ["", " ", "{", "[1,]", "{'a': 1}", '{"a" 1}', "01", "nul", '"\\x"', "9" * 5000])
def test_what_is_no_json(source: str) -> None:
    assert parse(Text.of(source)) is None


def test_what_nests_too_deeply_is_unknown() -> None:
    found = parse(Text.of("[" * 100_000))
    assert found is not None
    assert [hole.reason for hole in found.holes()] == ["a JSON text that is too large or nested too deeply"]


def test_holes_do_not_make_wrong_text_right() -> None:
    assert parse(text('{"a": ', N)) is None
    assert parse(text("{a", N, "b 1}")) is None


def test_spans_names_and_places() -> None:
    source = Source("a.sh", """VAR='{"a": {"b": [1, 2]}}'""")
    at = source.text.index("{")
    written = source.text[at:-1]
    place = Place(source.span(0, 3), "VAR is set")
    found = parse(Text((Piece(written, source.span(at, at + len(written)), (place,)),)), name="--speculative-config")
    assert found is not None and found.span is not None
    member = found.at(["a", "b"])
    assert member is not None and member.span is not None
    assert (member.span.text, member.name, member.route) == ('"b": [1, 2]', "--speculative-config.a.b", "key")
    assert member.places == (place,)
    assert [item.span.text for item in member.data if item.span] == ["1", "2"]  # type: ignore[union-attr]


def test_the_given_span_stands_for_what_is_not_mapped() -> None:
    word = Source("a.sh", '"{\\"a\\": 1}"').span(0, 12)
    found = parse(Text((Piece('{"a": 1}', word),)), word)
    assert found is not None
    assert found.at(["a"]).span == word  # type: ignore[union-attr]
