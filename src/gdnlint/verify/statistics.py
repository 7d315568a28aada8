"""The exact test behind a verdict, its critical values and its power. Standard library alone.

A comparison yields one number for each request (a drift or a gap, in nats). The question is whether the numbers of the
tested pair of arms are too large against those of a pair that is healthy by construction, the noise pair. Let a
tolerance be given, a multiple of a high order statistic of the noise (:func:`tolerance`). Count how many of the ``n``
tested numbers exceed it (``k``), and how many of the ``m`` noise numbers, multiplied alike, do (``s``). If tested
numbers are no larger than that multiple of the noise, every arrangement of the ``k + s`` exceedances among the ``n +
m`` requests is at least as likely as the hypergeometric law says, and the chance of ``k`` or more among the tested is
its upper tail: Fisher's exact test, one-sided; as the tolerance is an order statistic of one sample, it is a
precedence test (Rosenbaum 1954). It assumes nothing about the shape of the noise, and holds for any sample size.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import NamedTuple

ALPHA = 0.01
"""Largest chance of calling a healthy engine corrupt in one run, all tests together (Bonferroni)."""

MULTIPLE = 2.0
"""How much larger than the noise pair's numbers those of a healthy pair may be: both change chunks and batches, but not
the same ones."""

TRIM = 0.01
"""Share of the noise numbers that may lie above the order statistic, so that one outlier does not blind the test."""


class Test(NamedTuple):
    """One exceedance test."""

    tolerance: float
    """Nats."""
    exceeding: int
    tested: int
    noise_exceeding: int
    noise: int
    p: float
    critical: int
    """Exceedances from which the test rejects; ``tested + 1`` if it never can."""
    detectable: float
    """Smallest share of wrong requests that is found with a chance of 90 %; 1.0 if none is."""


def tolerance(noise: Sequence[float], floor: float) -> float:
    """``MULTIPLE`` times the largest noise number, after ``TRIM``; at least ``floor``. Nats."""
    if not noise:
        return floor
    ranked = sorted(noise, reverse=True)
    return max(MULTIPLE * ranked[int(TRIM * len(ranked))], floor)


def exceedance_test(tested: Sequence[float], noise: Sequence[float], floor: float, alpha: float) -> Test:
    """Whether too many of the tested numbers lie above the tolerance that the noise gives."""
    limit = tolerance(noise, floor)
    above = sum(value > limit for value in tested)
    noise_above = sum(MULTIPLE * value > limit for value in noise)
    n, m = len(tested), len(noise)
    critical = critical_value(n, noise_above, m, alpha)
    return Test(
        limit, above, n, noise_above, m, upper_tail(above, n, noise_above, m), critical, detectable(critical, n)
    )


@functools.lru_cache(maxsize=1024)
def critical_value(n: int, s: int, m: int, alpha: float) -> int:
    """Fewest exceedances among ``n`` that reject when ``s`` of ``m`` noise numbers exceed; ``n + 1`` if none do."""
    return next((k for k in range(1, n + 1) if upper_tail(k, n, s, m) < alpha), n + 1)


@functools.lru_cache(maxsize=4096)
def upper_tail(k: int, n: int, s: int, m: int) -> float:
    """Chance that at least ``k`` of ``k + s`` exceedances fall among ``n`` of ``n + m`` numbers."""
    if k == 0:
        return 1.0
    if m == 0:
        return 1.0  # nothing is known of the noise
    drawn = k + s
    ways = sum(math.comb(n, j) * math.comb(m, drawn - j) for j in range(k, min(n, drawn) + 1))
    return ways / math.comb(n + m, drawn)


@functools.lru_cache(maxsize=1024)
def detectable(critical: int, n: int, power: float = 0.9) -> float:
    """Smallest share of wrong requests with which at least ``critical`` of ``n`` are wrong with chance ``power``."""
    if critical > n:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if binomial_tail(critical, n, middle) >= power:
            high = middle
        else:
            low = middle
    return high


def binomial_tail(k: int, n: int, share: float) -> float:
    """Chance of at least ``k`` of ``n`` where each has chance ``share``."""
    return math.fsum(math.comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(k, n + 1))


def interval(k: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of a share, of which ``k`` of ``n`` were seen."""
    if n == 0:
        return 0.0, 1.0
    half = (1 - level) / 2
    low = 0.0 if k == 0 else _solve(lambda share: binomial_tail(k, n, share) < half)
    high = 1.0 if k == n else _solve(lambda share: 1 - binomial_tail(k + 1, n, share) > half)
    return low, high


def _solve(below: object) -> float:
    """Where a condition that holds for small shares stops holding."""
    assert callable(below)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return high
