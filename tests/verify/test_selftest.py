"""The self-test's own bookkeeping. The self-test itself needs a real vLLM: ``scripts/self-test``."""

from __future__ import annotations

import ast

import pytest

from gdnlint.verify import selftest
from gdnlint.verify.drive import ENGINE_SIDE
from gdnlint.verify.selftest import CACHING, CASES, SPECULATION, Row


def row(expected: str, got: str) -> Row:
    return Row("qwen3_next", 1, "case", expected, got, [])


def test_rates_have_intervals_and_count_the_axis() -> None:
    rows = [row(CACHING, CACHING)] * 9 + [row(CACHING, SPECULATION)] + [row("equivalent", "equivalent")] * 19
    rows += [row("equivalent", CACHING), row("inconclusive", "inconclusive")]
    assert selftest.rates(rows) == [
        "injected faults found, on their axis: 9 of 10 (95 % interval 55.5% to 99.7%)",
        "healthy engines called corrupt: 1 of 20 (95 % interval 0.1% to 24.9%)",
    ]


@pytest.mark.parametrize("case", [case for case in CASES if case.expected.startswith("corrupt")], ids=lambda c: c.name)
def test_a_fault_is_there_and_touches_the_arms_of_its_axis(case: selftest.Case) -> None:
    defined = {node.name for node in ast.parse((ENGINE_SIDE / "faults.py").read_text("utf-8")).body
               if isinstance(node, ast.ClassDef)}  # fmt: skip
    for name in case.engine.values():
        module, _, attribute = str(name).partition(".")
        assert (module, attribute in defined) == ("faults", True)
    assert case.touched == (("both",) if case.expected == CACHING else ("spec", "both"))
