"""The exact test: against counting by hand, and its false-alarm rate and power by simulation."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from gdnlint.verify import statistics
from gdnlint.verify.compare import Difference
from gdnlint.verify.verdict import CLASSES, NOISE_PAIR, PAIRS, judge


@pytest.mark.parametrize(("k", "n", "s", "m"), [(1, 3, 0, 3), (2, 3, 0, 3), (2, 4, 1, 3), (3, 5, 2, 4), (4, 4, 0, 5)])
def test_the_tail_is_what_counting_all_arrangements_gives(k: int, n: int, s: int, m: int) -> None:
    places = range(n + m)  # the first n are the tested ones
    arrangements = list(itertools.combinations(places, k + s))
    many = sum(sum(place < n for place in chosen) >= k for chosen in arrangements)
    assert statistics.upper_tail(k, n, s, m) == pytest.approx(float(Fraction(many, len(arrangements))))


def test_nothing_is_rejected_without_exceedances_or_without_noise() -> None:
    assert statistics.upper_tail(0, 10, 0, 10) == 1.0
    assert statistics.upper_tail(5, 10, 0, 0) == 1.0


def test_the_tolerance_follows_the_noise_and_never_falls_below_the_floor() -> None:
    assert statistics.tolerance([], 0.1) == 0.1
    assert statistics.tolerance([0.01] * 50, 0.1) == 0.1
    assert statistics.tolerance([0.2] * 50, 0.1) == 0.4
    # One outlier of two hundred is left out, of fifty it is not.
    assert statistics.tolerance([0.2] * 199 + [9.0], 0.1) == 0.4
    assert statistics.tolerance([0.2] * 49 + [9.0], 0.1) == 18.0


def test_the_critical_value_is_the_first_that_rejects() -> None:
    noise, alpha = [0.05] * 100, 0.001
    critical = statistics.exceedance_test([0.0] * 100, noise, 0.2, alpha).critical
    below = statistics.exceedance_test([1.0] * (critical - 1) + [0.0] * (101 - critical), noise, 0.2, alpha)
    at = statistics.exceedance_test([1.0] * critical + [0.0] * (100 - critical), noise, 0.2, alpha)
    assert below.p >= alpha > at.p
    assert at.exceeding == critical


def test_a_test_that_can_never_reject_says_so() -> None:
    few = statistics.exceedance_test([1.0] * 5, [0.0] * 5, 0.2, 0.0005)
    assert (few.critical, few.detectable) == (6, 1.0)


def test_the_detectable_share_is_found_as_often_as_it_says() -> None:
    noise, alpha, n = [0.05] * 150, 0.0005, 150
    share = statistics.exceedance_test([0.0] * n, noise, 0.2, alpha).detectable
    source = random.Random(1)
    found = 0
    for _ in range(2000):
        tested = [1.0 if source.random() < share else 0.0 for _ in range(n)]
        found += statistics.exceedance_test(tested, noise, 0.2, alpha).p < alpha
    assert 0.87 < found / 2000 < 0.93


@pytest.mark.parametrize(
    ("k", "n", "low", "high"), [(0, 20, 0.0, 0.1684), (20, 20, 0.8316, 1.0), (5, 20, 0.0866, 0.4910)]
)
def test_intervals_are_those_of_clopper_and_pearson(k: int, n: int, low: float, high: float) -> None:
    assert statistics.interval(k, n) == pytest.approx((low, high), abs=2e-4)


def healthy(source: random.Random, scale: float) -> list[Difference]:
    """Differences of a healthy pair, with the long tail that near ties give."""
    made = []
    for number in range(200):
        drift = abs(source.gauss(0, 1)) * scale * (4 if source.random() < 0.03 else 1)
        gap = 3 * drift if source.random() < 0.4 else 0.0
        phase = "sequential" if number < 50 else "concurrent"
        made.append(Difference(f"r{number}", phase, 64, 300, drift, drift * 1.5, gap, None, 1.0, False))
    return made


@pytest.mark.parametrize("scale", [0.02, 0.2], ids=["below the floors", "above the floors"])
def test_a_healthy_engine_is_seldom_called_corrupt(scale: float) -> None:
    """At the edge of what counts as healthy: the tested pairs are ``MULTIPLE`` times as noisy as the noise pair."""
    source = random.Random(7)
    runs, alarms = 400, 0
    for _ in range(runs):
        differences = {NOISE_PAIR: healthy(source, scale)}
        differences |= {pair: healthy(source, scale * statistics.MULTIPLE) for pair in PAIRS}
        alarms += judge(differences, [], {}, "bfloat16").outcome == "corrupt"
    assert alarms / runs <= statistics.ALPHA


@pytest.mark.parametrize("phases", CLASSES)
def test_corruption_of_a_tenth_of_the_requests_at_once_is_found(phases: str) -> None:
    source = random.Random(3)
    differences = {pair: healthy(source, 0.02) for pair in (NOISE_PAIR, *PAIRS)}
    wrong = [item for item in differences["both", "spec"] if item.phase in CLASSES[phases]]
    share = {"one at a time": 0.3, "several at once": 0.1}[phases]
    names = {item.id for item in wrong[: int(share * len(wrong))]}
    differences["both", "spec"] = [
        item._replace(first=1.0, path=1.2) if item.id in names else item for item in differences["both", "spec"]
    ]
    verdict = judge(differences, [], {}, "bfloat16")
    assert verdict.title == "corrupt (prefix caching)"
    assert set(verdict.worst) == names
