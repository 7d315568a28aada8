"""How far the answers of two arms to the same prompts are apart. All numbers are log-probabilities in nats.

Two answers share their context up to and including the first position where the tokens differ. There, and only there,
log-probabilities can be compared, and three numbers say how far apart they are:

* ``first``: the change of the likeliest token's log-probability at the first generated token. Every arm sees the same
  context there, whatever happened before. It shows a wrong state that came from the cache.
* ``path``: the largest such change on the shared context. It shows a state that goes wrong while tokens are generated.
* ``gap``: how clearly the reference preferred its own token where the tokens first differ; 0 if they never do. A near
  tie of the two likeliest tokens has a small gap, and flips in healthy engines too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from gdnlint.verify.store import Answer, Request

FAR = 99.0
"""Nats that stand for a difference without a number: a log-probability that is none, or minus infinity in one arm."""

MEASURES = ("first", "path", "gap")


class Difference(NamedTuple):
    id: str
    phase: str
    cached: int
    """Prompt tokens that the other arm took from its cache."""
    prompt: int
    """Length of the prompt in tokens."""
    first: float
    path: float
    gap: float
    position: int | None
    """First position where the tokens differ; None if they never do."""
    agreement: float
    """Share of positions with the same token, up to the shorter answer."""
    identical: bool
    """The same tokens and the same log-probabilities."""


def compare(
    requests: Mapping[str, Request], reference: Mapping[str, Answer], other: Mapping[str, Answer]
) -> list[Difference]:
    """One difference for each request that both arms answered, in the order of the requests."""
    shared = [request for name, request in requests.items() if name in reference and name in other]
    return [_difference(request, reference[request.id], other[request.id]) for request in shared]


def _difference(request: Request, one: Answer, two: Answer) -> Difference:
    common = min(len(one.ids), len(two.ids))
    position = next((n for n in range(common) if one.ids[n] != two.ids[n]), None)
    if position is None and len(one.ids) != len(two.ids):
        position = common  # one of them stopped earlier
    changes = [
        change(one.top[n], two.top[n])
        for n in range(min(len(one.top), len(two.top)))
        if position is None or n <= position
    ]
    gap = 0.0
    if position is not None and position < len(one.top) and len(one.top[position]) > 1:
        gap = one.top[position][0][1] - one.top[position][1][1]
        gap = FAR if math.isnan(gap) else min(gap, FAR)
    same = sum(a == b for a, b in zip(one.ids, two.ids, strict=False))
    return Difference(
        request.id, request.phase, two.cached, len(request.prompt), changes[0] if changes else 0.0,
        max(changes, default=0.0), gap, position, same / common if common else 1.0,
        one.ids == two.ids and one.top == two.top,
    )  # fmt: skip


def change(one: tuple[tuple[int, float], ...], two: tuple[tuple[int, float], ...]) -> float:
    """The larger change of the two likeliest tokens' log-probabilities, where both positions have the same context.

    A token that is not among those that the other arm lists has at most the least of theirs: then the change is at
    least the difference to it, and that is what counts.
    """
    return max(_lost(one, two), _lost(two, one))


def _lost(one: tuple[tuple[int, float], ...], two: tuple[tuple[int, float], ...]) -> float:
    if not one or not two:
        return 0.0
    token, value = one[0]
    listed = dict(two)
    if any(math.isnan(number) for number in (value, *listed.values())):
        return FAR
    other = listed.get(token)
    if value == other:
        return 0.0
    lost = value - min(listed.values()) if other is None else abs(value - other)
    return min(max(lost, 0.0), FAR)
