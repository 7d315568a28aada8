"""How far two answers are apart, on answers small enough to check by hand."""

from __future__ import annotations

import pytest

from gdnlint.verify.compare import FAR, change, compare
from gdnlint.verify.store import Answer, Request

REQUEST = Request("r1", "concurrent", (1, 2, 3), 3)


def answer(*positions: dict[int, float], cached: int = 0) -> Answer:
    top = tuple(tuple(sorted(p.items(), key=lambda pair: -pair[1])) for p in positions)
    return Answer("r1", tuple(p[0][0] for p in top), top, cached, "length")


def difference(one: Answer, two: Answer):  # type: ignore[no-untyped-def]
    return compare({"r1": REQUEST}, {"r1": one}, {"r1": two})[0]


def test_equal_answers_do_not_differ() -> None:
    found = difference(answer({5: -0.1, 6: -3.0}), answer({5: -0.1, 6: -3.0}, cached=64))
    assert (found.first, found.path, found.gap, found.position) == (0.0, 0.0, 0.0, None)
    assert (found.identical, found.agreement, found.cached) == (True, 1.0, 64)


def test_a_near_tie_that_flips_has_a_small_gap() -> None:
    one = answer({5: -0.10, 6: -3.0}, {7: -0.69, 8: -0.70}, {9: -0.1, 5: -4.0})
    two = answer({5: -0.12, 6: -3.0}, {8: -0.69, 7: -0.71}, {4: -0.1, 5: -4.0})
    found = difference(one, two)
    assert found.position == 1
    assert found.first == pytest.approx(0.02)
    assert found.gap == pytest.approx(0.01)
    assert found.path == pytest.approx(0.02), "what follows the difference has another context and does not count"
    assert found.agreement == pytest.approx(1 / 3)


def test_a_clear_preference_that_flips_has_a_large_gap() -> None:
    found = difference(answer({5: -0.1, 6: -3.0}), answer({6: -0.2, 5: -2.5}))
    assert (found.position, found.gap) == (0, pytest.approx(2.9))
    assert found.first == pytest.approx(2.8)


def test_a_token_that_is_not_listed_counts_at_least_what_is_known() -> None:
    one, two = ((5, -0.1), (6, -3.0)), ((7, -0.5), (8, -2.0))
    assert change(one, two) == pytest.approx(
        2.5
    )  # 7 is at most -3.0 in the first: 2.5; 5 at most -2.0 in the second: 1.9


@pytest.mark.parametrize("value", [float("nan"), float("-inf")], ids=str)
def test_what_is_no_number_is_as_far_as_can_be(value: float) -> None:
    healthy, broken = answer({5: -0.1, 6: -3.0}), answer({5: value, 6: -3.0})
    broken = broken._replace(top=(((5, value), (6, -3.0)),), ids=(5,))
    for found in (difference(healthy, broken), difference(broken, healthy)):
        assert (found.first, found.path) == (FAR, FAR)


def test_an_answer_that_ends_early_parts_there() -> None:
    found = difference(answer({5: -0.1}, {6: -0.1}), answer({5: -0.1}))
    assert (found.position, found.agreement) == (1, 1.0)


def test_requests_that_one_arm_did_not_answer_are_left_out() -> None:
    assert compare({"r1": REQUEST}, {"r1": answer({5: -0.1})}, {}) == []
