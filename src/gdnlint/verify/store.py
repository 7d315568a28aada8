"""Requests, answers, and the file of JSON lines that keeps them for each arm.

A file starts with ``{"arm", "engine", "environment"}``. Then come ``{"facts"}``, ``{"batch", "results"}`` for each
batch of each pass, ``{"metrics"}`` after each pass, and at last ``{"end": status}``. Only a file with the end ``done``
and the same start is reused when a run resumes; what stands in any other is still shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TextIO

Json = dict[str, object]


class Request(NamedTuple):
    """One prompt. Its id is the same in every arm."""

    id: str
    phase: str
    """``sequential``, ``concurrent``, ``reprobe``, ``short`` or ``prompts``."""
    prompt: tuple[int, ...]
    max_tokens: int
    ignore_eos: bool = True
    session: str = ""
    depth: int = 0
    """Turn of the session, from 0."""
    reference: str | None = None

    def data(self) -> Json:
        return {**self._asdict(), "prompt": list(self.prompt)}

    @classmethod
    def of(cls, data: Json) -> Request:
        return cls(**{**data, "prompt": tuple(data["prompt"])})  # type: ignore[arg-type]


Batch = tuple[Request, ...]
"""Requests that are submitted together."""


class Answer(NamedTuple):
    id: str
    ids: tuple[int, ...]
    top: tuple[tuple[tuple[int, float], ...], ...]
    """For each position the likeliest tokens with their log-probabilities (nats), the likeliest first."""
    cached: int
    """Prompt tokens that came from the cache."""
    finish: str

    @classmethod
    def of(cls, data: Json) -> Answer:
        """Raises KeyError, TypeError or ValueError for what is no answer."""
        top = data["top"]
        assert isinstance(top, list)
        positions = tuple(tuple((int(token), float(value)) for token, value in position) for position in top)
        ids = data["ids"]
        assert isinstance(ids, list)
        return cls(
            str(data["id"]), tuple(map(int, ids)), positions, _whole(data.get("cached")),
            str(data.get("finish") or ""),
        )  # fmt: skip


@dataclass(slots=True)
class Recorded:
    """What an arm did."""

    name: str
    status: str = "missing"
    """``done``, ``failed`` (vLLM said why), ``died``, ``hung``, ``interrupted``, ``missing``."""
    error: str = ""
    facts: Json = field(default_factory=dict)
    passes: list[dict[str, Answer]] = field(default_factory=list)
    """Answers by request, once for each pass; the passes after the first show the noise."""
    metrics: list[Json] = field(default_factory=list)
    """Counters at the end of each pass, since the engine started."""
    requests: dict[str, Request] = field(default_factory=dict)
    batches: list[Batch] = field(default_factory=list)
    seconds: float = 0.0
    reset: bool | None = None
    """Whether the cache could be emptied between passes."""
    texts: dict[str, str] = field(default_factory=dict)
    """Answers to the user's prompts as text, by request."""

    @property
    def answers(self) -> dict[str, Answer]:
        return self.passes[0] if self.passes else {}


class Writer:
    """Appends to an arm's file, line by line, each of them flushed."""

    def __init__(self, path: Path, start: Json) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = path.open("w", encoding="utf-8")
        self.put(start)

    def put(self, line: Json) -> None:
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def read(path: Path, name: str) -> Recorded:
    """What an arm's file holds; of a broken file, what stands before the break."""
    found = Recorded(name)
    if not path.exists():
        return found
    found.status, found.error = "died", "the record ends early"
    for line in _lines(path):
        if "facts" in line:
            found.facts = _table(line["facts"])
        elif "batch" in line:
            _add(found, line)
        elif "metrics" in line:
            found.metrics.append(_table(line["metrics"]))
        elif "texts" in line:
            found.texts = {name: str(text) for name, text in _table(line["texts"]).items()}
        elif "reset" in line:
            found.reset = bool(line["reset"])
        elif "end" in line:
            found.status, found.error = str(line["end"]), str(line.get("error", ""))
            found.seconds = float(line.get("seconds", 0.0))  # type: ignore[arg-type]
    return found


def start_of(path: Path) -> Json:
    """The first line of an arm's file; empty if there is none."""
    return next(_lines(path), {}) if path.exists() else {}


def _lines(path: Path) -> Iterator[Json]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                found = json.loads(line)
            except ValueError:
                return
            if isinstance(found, dict):
                yield found


def _add(found: Recorded, line: Json) -> None:
    number = _whole(line.get("pass"))
    while len(found.passes) <= number:
        found.passes.append({})
    batch = tuple(Request.of(item) for item in _tables(line["batch"]))
    answers = [Answer.of(item) for item in _tables(line["results"])]
    found.passes[number] |= {answer.id: answer for answer in answers}
    if number == 0:
        found.batches.append(batch)
        found.requests |= {request.id: request for request in batch}


def _whole(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


def _table(value: object) -> Json:
    return value if isinstance(value, dict) else {}


def _tables(value: object) -> Sequence[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
