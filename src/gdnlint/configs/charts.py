"""Values files of Helm charts: what they inherit from the chart's own values.yaml, merged as ``helm -f`` does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gdnlint.configs.inherit import Inherited, Loader, behind
from gdnlint.project import Unreadable
from gdnlint.source import Source, Span
from gdnlint.values import Cuts, Hole, Joined, Piece, Place, Text, Value

CHART, VALUES = "Chart.yaml", "values.yaml"

_EXPRESSION = re.compile(r"\{\{-?\s*(.*?)\s*-?\}\}", re.DOTALL)
_OF_VALUES = re.compile(r"\$?\.Values((?:\.[\w-]+)+)")
_DEEPEST = 8
"""Values that are texts with expressions in them, one within the other."""
_MOST_FOLDERS = 64
_MOST_EXPRESSIONS = 10_000
"""Expressions of one file that are filled in."""


def chart_values(loader: Loader, file: Path, root: Value, *, name: str = "", search: Sequence[str] = ()) -> Inherited:
    """A values file over the values.yaml of its chart: the nearest folder above it with a Chart.yaml, or one of
    ``search`` below the project root; with ``name``, only a chart of that name.

    Mappings merge, a null takes a key away, anything else is replaced (Helm's CoalesceTables).
    """
    folder = _chart_of(loader, file, name, search)
    base = folder / VALUES if folder is not None else None
    if base is None or base == file or not loader.project.exists(base):
        return Inherited(_filled(root), files=(file,))
    below, problems = loader.document(base)
    shown = loader.project.display(base)
    if below is None:
        return Inherited(_filled(root), problems, f"{shown}, which could not be read", (file, base))
    hop = Place(_first_line(root), f"inherited from {shown}") if root.span is not None else None
    tree = _over(behind(below, hop) if hop is not None else below, root)
    return Inherited(_filled(tree), problems, "", (file, base))


def _chart_of(loader: Loader, file: Path, name: str, search: Sequence[str]) -> Path | None:
    project, folder = loader.project, file.parent
    for _ in range(_MOST_FOLDERS):
        if project.exists(folder / CHART):
            return folder if not name or _name_of(loader, folder) == name else None
        if folder == project.root or folder == folder.parent or not project.inside(folder.parent):
            break
        folder = folder.parent
    beside = (project.root / path for path in search)
    return next((f for f in beside if project.exists(f / CHART) and (not name or _name_of(loader, f) == name)), None)


def _name_of(loader: Loader, folder: Path) -> str:
    try:
        text = loader.project.source(folder / CHART).text
    except Unreadable:
        return ""
    match = re.search(r"^name:\s*[\"']?([\w.-]+)", text, re.MULTILINE)
    return match.group(1) if match else ""


def _first_line(root: Value) -> Span:
    assert root.span is not None
    source: Source = root.span.source
    end = source.text.find("\n", root.span.start)
    return Span(source, root.span.start, max(root.span.start, end if end >= 0 else root.span.end))


def _over(base: Value, over: Value) -> Value:
    if not isinstance(base.data, dict) or not isinstance(over.data, dict):
        return over
    data = dict(base.data)
    for key, member in over.data.items():
        if member.data is None:
            data.pop(key, None)
        else:
            data[key] = _over(data[key], member) if key in data else member
    return replace(over, data=data)


def _filled(tree: Value) -> Value:
    """Texts with template expressions (charts render them with ``tpl``): values filled in, all else a hole."""
    filling = _Filling(tree)

    def change(value: Value) -> Value:
        if not isinstance(value.data, str) or "{{" not in value.data:
            return value
        text = filling.text(value.data, value.span, 0)
        known = text.known
        return replace(value, data=text if known is None else known)

    return tree.map_places(change)


class _Filling:
    def __init__(self, tree: Value) -> None:
        self.tree = tree
        self.left = _MOST_EXPRESSIONS

    def text(self, data: str, span: Span | None, depth: int) -> Text:
        made, cuts, plain = Joined(), Cuts(Text.of(data, span)), 0
        for match in _EXPRESSION.finditer(data, 0, data.rfind("}}") + 2):
            self.left -= 1
            if made.is_full or self.left < 0:
                break
            made.add(cuts.cut(plain, match.start()).pieces)
            made.add(self.looked_up(match.group(1), span, depth))
            plain = match.end()
        made.add(cuts.cut(plain).pieces)
        return made.text() if self.left >= 0 else Text.of(Hole("a text with too many expressions"), span)

    def looked_up(self, expression: str, span: Span | None, depth: int) -> tuple[Piece, ...]:
        named = _OF_VALUES.fullmatch(expression)
        found = self.tree.at(named.group(1)[1:].split(".")) if named is not None else None
        if found is not None and depth < _DEEPEST:
            if isinstance(found.data, str) and "{{" in found.data:
                return self.text(found.data, found.span, depth + 1).pieces
            if isinstance(found.data, bool | int | float | str):
                data = str(found.data).lower() if isinstance(found.data, bool) else str(found.data)
                return (Piece(data, found.span),)
        shown = expression if len(expression) <= 50 else expression[:49] + "\u2026"
        return (Piece(Hole(f"the template value {shown}", one_word=True), span),)
