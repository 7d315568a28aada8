"""From evidence and comparisons to one of four verdicts.

Speculation is held fixed along the axis of prefix caching, because speculation alone changes batches and so the last
bits of a log-probability: ``both`` is compared with ``spec``, and ``apc`` with ``plain``. ``spec`` is compared with
``plain`` too, since some defects corrupt speculation with or without the cache. The noise is measured on ``rechunked``
against ``plain``, two arms with neither feature; pairs that pass are healthy, and join the noise against which
``both`` is tested.

Each pair is tested in each class of phases (one request at a time, and several at once) and by each measure of
:mod:`gdnlint.verify.compare`, with the exact test of :mod:`gdnlint.verify.statistics`. All tests of a run together
call a healthy engine corrupt with a chance of at most ``ALPHA``, as long as healthy pairs are no further apart than
``MULTIPLE`` times the noise pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gdnlint.verify import statistics
from gdnlint.verify.compare import MEASURES, Difference
from gdnlint.verify.statistics import Test

Outcome = Literal["corrupt", "equivalent", "inconclusive", "failed"]

CACHING, SPECULATION = "prefix caching", "speculation alone"

PAIRS = (("apc", "plain"), ("spec", "plain"), ("both", "spec"))
"""(tested, reference), in the order of judgement."""
NOISE_PAIR = ("rechunked", "plain")

CLASSES = {"one at a time": ("sequential",), "several at once": ("concurrent", "reprobe", "short", "prompts")}
"""Phases by whether a batch holds one request or several."""

FLOORS = {
    "half": {"first": 0.15, "path": 0.3, "gap": 0.3},
    "full": {"first": 0.01, "path": 0.02, "gap": 0.02},
}
"""Least tolerances in nats, for 16-bit and for 32-bit activations. A bfloat16 logit has steps of 0.03 to 0.06 near 8,
and a few of them separate healthy arms; the measured noise raises the tolerance, and never lowers it."""

MAX_DETECTABLE = 0.25
"""A clean run counts as equivalent only if it would have found this share of wrong requests."""

TESTS = len(PAIRS) * len(CLASSES) * len(MEASURES) + 1
"""How many tests share ``ALPHA``: all of the above and the one of identity."""


class Tested(NamedTuple):
    pair: tuple[str, str]
    phases: str
    measure: str
    test: Test

    @property
    def rejects(self) -> bool:
        return self.test.p < statistics.ALPHA / TESTS


@dataclass(slots=True)
class Verdict:
    outcome: Outcome
    axes: tuple[str, ...] = ()
    """If corrupt: ``prefix caching``, ``speculation alone``."""
    reasons: list[str] = field(default_factory=list)
    """Sentences, the most telling first."""
    tests: list[Tested] = field(default_factory=list)
    worst: list[str] = field(default_factory=list)
    """If corrupt: ids of requests beyond the tolerance, the furthest first."""
    worst_pair: tuple[str, str] = ("both", "spec")

    @property
    def title(self) -> str:
        return f"{self.outcome} ({', '.join(self.axes)})" if self.axes else self.outcome


def judge(
    differences: Mapping[tuple[str, str], Sequence[Difference]],
    lacking: Sequence[str],
    ended: Mapping[str, str],
    dtype: str,
) -> Verdict:
    """The verdict of a run.

    ``differences`` holds each pair that both arms finished; ``lacking`` says why the evidence is thin
    (:func:`gdnlint.verify.evidence.missing`); ``ended`` says of each arm that did not finish what became of it.
    """
    tests: list[Tested] = []
    noise = list(differences.get(NOISE_PAIR, ()))
    floors = FLOORS["full" if "float32" in dtype else "half"]
    healthy = [noise]
    guilty: list[tuple[str, str]] = []
    for pair in PAIRS:
        if pair not in differences or not noise:
            continue
        pool = [item for group in healthy for item in group] if pair == PAIRS[-1] else noise
        made = _tests(pair, differences[pair], pool, floors)
        if pair == ("both", "spec") and ("apc", "plain") in differences:
            made += _identity(differences[pair], differences["apc", "plain"])
        tests += made
        if any(item.rejects for item in made):
            guilty.append(pair)
        elif pair != PAIRS[-1]:
            healthy.append(list(differences[pair]))
    if guilty:
        return _corrupt(guilty, differences, tests)
    if ended or not noise or any(pair not in differences for pair in PAIRS):
        reasons = [f"{name}: {message}" for name, message in ended.items()]
        return Verdict("failed", reasons=reasons or ["not every arm ran"], tests=tests)
    reasons = [*lacking, *_weak(tests)]
    if reasons:
        return Verdict("inconclusive", reasons=reasons, tests=tests)
    return Verdict("equivalent", reasons=_clean(differences, tests), tests=tests)


def _tests(
    pair: tuple[str, str], tested: Sequence[Difference], noise: Sequence[Difference], floors: Mapping[str, float]
) -> list[Tested]:
    made = []
    for title, phases in CLASSES.items():
        ours = [item for item in tested if item.phase in phases]
        theirs = [item for item in noise if item.phase in phases]
        if not ours or not theirs:
            continue
        for measure in MEASURES:
            numbers, against = ([getattr(item, measure) for item in group] for group in (ours, theirs))
            test = statistics.exceedance_test(numbers, against, floors[measure], statistics.ALPHA / TESTS)
            made.append(Tested(pair, title, measure, test))
    return made


def _identity(both: Sequence[Difference], apc: Sequence[Difference]) -> list[Tested]:
    """Where prefix caching changes no bit of one request at a time without speculation, it must not with it either."""
    phases = CLASSES["one at a time"]
    ours = [float(not item.identical) for item in both if item.phase in phases]
    theirs = [float(not item.identical) for item in apc if item.phase in phases]
    if not ours or not theirs or any(theirs):
        return []
    test = statistics.exceedance_test(ours, theirs, 0.0, statistics.ALPHA / TESTS)
    return [Tested(("both", "spec"), "one at a time", "identity", test)]


def _corrupt(
    guilty: Sequence[tuple[str, str]],
    differences: Mapping[tuple[str, str], Sequence[Difference]],
    tests: list[Tested],
) -> Verdict:
    # Where speculation alone is wrong, both against spec compares wrong with wrong, and says nothing of the cache.
    axes = []
    if ("spec", "plain") in guilty:
        axes.append(SPECULATION)
    if ("apc", "plain") in guilty or (("both", "spec") in guilty and not axes):
        axes.append(CACHING)
    pair = guilty[-1] if SPECULATION not in axes else ("spec", "plain")
    rejected = sorted((item for item in tests if item.rejects), key=lambda item: item.test.p)
    reasons = [_sentence(item) for item in rejected]
    beyond: dict[str, float] = {}
    for item in rejected:
        if item.pair != pair or item.measure == "identity":
            continue
        for difference in differences[pair]:
            value = getattr(difference, item.measure)
            if difference.phase in CLASSES[item.phases] and value > item.test.tolerance:
                beyond[difference.id] = max(beyond.get(difference.id, 0.0), value)
    worst = sorted(beyond, key=lambda name: -beyond[name])
    return Verdict("corrupt", tuple(axes), reasons, tests, worst, pair)


def _sentence(item: Tested) -> str:
    test, (tested, reference) = item.test, item.pair
    what = {
        "first": "the first token's log-probability is off by more than",
        "path": "a log-probability on the shared context is off by more than",
        "gap": "the tokens part where the reference was sure by more than",
        "identity": "the answer is not bit-identical, tolerance",
    }[item.measure]
    return (
        f"{tested} against {reference}, {item.phases}: in {test.exceeding} of {test.tested} requests {what} "
        f"{test.tolerance:.3f} nat (noise: {test.noise_exceeding} of {test.noise}; p = {test.p:.1e})"
    )


def _weak(tests: Sequence[Tested]) -> list[str]:
    """Why tests that did not reject do not clear the run either."""
    reasons = []
    for item in tests:
        near = item.test.p < 0.05 / TESTS * 2
        if near and not item.rejects:
            reasons.append(f"close to the threshold: {_sentence(item)}. Run more requests (--requests).")
    for title in CLASSES:
        shares = [t.test.detectable for t in tests if t.pair == ("both", "spec") and t.phases == title]
        if shares and min(shares) > MAX_DETECTABLE:
            reasons.append(
                f"{title}: too few requests to find fewer than {min(shares):.0%} wrong ones. Run more (--requests)."
            )
    return reasons


def _clean(differences: Mapping[tuple[str, str], Sequence[Difference]], tests: Sequence[Tested]) -> list[str]:
    sentences = []
    for pair in (("both", "spec"), ("apc", "plain"), ("spec", "plain")):
        found = differences[pair]
        same = sum(item.identical for item in found)
        top = max((item.first for item in found), default=0.0)
        sentences.append(
            f"{pair[0]} against {pair[1]}: {same} of {len(found)} answers bit-identical, "
            f"first-token drift at most {top:.3f} nat"
        )
    shares = [item.test.detectable for item in tests if item.pair == ("both", "spec") and item.measure != "identity"]
    if shares:
        sentences.append(
            f"the run would have found {max(shares):.0%} of wrong requests with a chance of 90 %, and calls a healthy "
            f"engine corrupt with a chance of at most {statistics.ALPHA:.0%}"
        )
    return sentences
