"""Jupyter notebooks: their cells, each character mapped to its place in the JSON of the file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from gdnlint.documents import jsonc
from gdnlint.documents.yaml import Loaded, load
from gdnlint.source import Fragment, Source
from gdnlint.values import Problem, Value

MOST_CELLS = 2_000
MOST_LINES = 20_000
"""Lines of a notebook that are read."""


@dataclass(frozen=True, slots=True)
class Cell:
    number: int
    """From 1, as people and other linters count: cells of every kind."""
    kind: str
    """``code``, ``markdown``, ``raw``."""
    body: Fragment


def cells(source: Source) -> tuple[list[Cell], list[Problem]]:
    """The cells of a notebook in order, and what could not be read."""
    loaded = load(jsonc.plain(Fragment.whole(source)), "yaml12")
    root = next(iter(loaded.documents), None)
    found = root.at(["cells"]) if root is not None else None
    items = found.data if found is not None and isinstance(found.data, list) else []
    made: list[Cell] = []
    for number, item in enumerate(items[:MOST_CELLS], 1):
        kind, text = item.at(["cell_type"]), item.at(["source"])
        if kind is None or text is None or not isinstance(kind.data, str):
            continue
        made.append(Cell(number, kind.data, joined(list(_parts(loaded, text)), source)))
    problems = [problem for problem in loaded.problems if problem.code != "duplicate-key"]
    source.cells = Places(made)
    return made, problems


def _parts(loaded: Loaded, text: Value) -> Iterator[Fragment]:
    for part in text.data[:MOST_LINES] if isinstance(text.data, list) else [text]:
        fragment = loaded.fragment(part)
        if fragment is not None:
            yield fragment


def joined(parts: list[Fragment], source: Source) -> Fragment:
    """Fragments of one file as one text."""
    offsets = [part.offset(at) for part in parts for at in range(len(part.text))]
    return Fragment("".join(part.text for part in parts), source, offsets)


class Places:
    """Where an offset of the file is for a reader of the notebook."""

    def __init__(self, found: list[Cell]) -> None:
        self._cells = [cell for cell in found if cell.body.text]
        self._starts = [cell.body.offset(0) for cell in self._cells]

    def where(self, offset: int) -> str:
        """``cell 3:4:1``: cell, line and column in it; empty outside of every cell's text."""
        at = bisect_right(self._starts, offset) - 1
        if at < 0:
            return ""
        body = self._cells[at].body
        if offset > body.offset(len(body.text)):
            return ""
        low, high = 0, len(body.text)
        while low < high:
            middle = (low + high) // 2
            if body.offset(middle) < offset:
                low = middle + 1
            else:
                high = middle
        line = body.text.count("\n", 0, low) + 1
        column = low - (body.text.rfind("\n", 0, low) + 1) + 1
        return f"cell {self._cells[at].number}:{line}:{column}"
