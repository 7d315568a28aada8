"""The shortest list of requests that still gives the wrong answer, by delta debugging on one running engine.

The cache is emptied between trials, so that each trial starts as the run did. What counts as still wrong is the drift
of one request, the target, from the reference arm's answer in the full run: its prompt is the same there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gdnlint.verify.compare import compare
from gdnlint.verify.drive import Driver
from gdnlint.verify.store import Batch, Recorded

TRIALS = 40
"""Most trials of one search."""
SECONDS = 600.0
"""A search starts no trial after this time."""
TARGETS = 3
"""How many of the worst requests are tried."""


class Reproducer(NamedTuple):
    target: str
    measure: str
    drift: float
    batches: list[Batch]
    of: int
    """Requests of the full run."""
    trials: int

    @property
    def requests(self) -> int:
        return sum(map(len, self.batches))


def shrink(
    engine: Driver, recorded: Recorded, reference: Recorded, targets: Sequence[tuple[str, str, float]]
) -> Reproducer | None:
    """The smallest reproducer found, or None if no target shows again. Raises ArmEnded if the engine ends.

    ``targets`` are (request, measure, tolerance in nats), the most telling first. ``recorded`` is the wrong arm.
    """
    total = len(recorded.requests)
    until = time.monotonic() + SECONDS
    for name, measure, limit in targets[:TARGETS]:
        end = next(n for n, batch in enumerate(recorded.batches) if any(r.id == name for r in batch))
        batches = recorded.batches[: end + 1]
        search = _Search(engine, reference, name, measure, limit, until)
        if not search.wrong(batches):
            continue
        batches = _fewer(batches, search.wrong, name)
        batches = _thinner(batches, search.wrong, name)
        return Reproducer(name, measure, search.last, batches, total, search.trials)
    return None


class _Search:
    def __init__(
        self, engine: Driver, reference: Recorded, name: str, measure: str, limit: float, until: float
    ) -> None:
        self.engine, self.reference, self.name = engine, reference, name
        self.measure, self.limit = measure, limit
        self.trials = 0
        self.until = until
        self.last = 0.0
        """Drift of the last trial that was wrong."""

    def wrong(self, batches: Sequence[Batch]) -> bool:
        if self.trials >= TRIALS or time.monotonic() > self.until or not self.engine.reset():
            return False
        self.trials += 1
        for batch in batches:
            for answer in self.engine.generate(batch)[0]:
                if answer.id != self.name:
                    continue
                requests = {r.id: r for r in batch if r.id == self.name}
                value = getattr(compare(requests, self.reference.answers, {self.name: answer})[0], self.measure)
                if value > self.limit:
                    self.last = value
                    return True
        return False


def _fewer(batches: list[Batch], wrong: Callable[[Sequence[Batch]], bool], name: str) -> list[Batch]:
    """Leaves out ever smaller runs of batches, as long as the rest is still wrong."""
    size = max(len(batches) // 2, 1)

    def kept(batch: Batch) -> bool:
        return any(request.id == name for request in batch)

    while True:
        start = 0
        while start < len(batches):
            rest = [b for n, b in enumerate(batches) if not start <= n < start + size or kept(b)]
            if len(rest) < len(batches) and wrong(rest):
                batches = rest
            else:
                start += size
        if size == 1:
            return batches
        size //= 2


def _thinner(batches: list[Batch], wrong: Callable[[Sequence[Batch]], bool], name: str) -> list[Batch]:
    """Leaves out single requests of batches."""
    for number in range(len(batches)):
        for request in batches[number]:
            if request.id == name or len(batches[number]) < 2:
                continue
            thin = tuple(r for r in batches[number] if r.id != request.id)
            rest = [*batches[:number], thin, *batches[number + 1 :]]
            if wrong(rest):
                batches = rest
    return batches
