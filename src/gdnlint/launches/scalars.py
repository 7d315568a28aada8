"""The text of YAML scalars with its places, words of lists and strings, and the lines that a block takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gdnlint.documents.yaml import Loaded
from gdnlint.source import Fragment, Span
from gdnlint.values import Cuts, Hole, Piece, Text, Value, Word, has_mark

MOST_WORDS = 4_096

_BEHIND_FLOW = re.compile(r"\s*[,\]}]")

Change = Callable[[Text], Text]
"""What the program that reads a file does to every text in it (interpolation)."""


def unchanged(text: Text) -> Text:
    return text


@dataclass(slots=True)
class Scalars:
    """The texts of the YAML files that one launch is read from."""

    loaded: list[Loaded]

    def text(self, value: Value) -> Text | None:
        """A scalar as text, every character with its place; None for null and for collections."""
        if isinstance(value.data, Text):
            return value.data
        if isinstance(value.data, dict | list) or value.data is None:
            return None
        if not isinstance(value.data, str):
            return Text.of(_spelled(value), value.span)
        for loaded in self.loaded:
            fragment = loaded.fragment(value)
            if fragment is not None:
                return Text(tuple(runs(fragment)))
        return Text.of(value.data, value.span)

    def words(self, value: Value, change: Change = unchanged) -> tuple[Word, ...] | None:
        """An argument list: the items of a list, or the words of a string as a shell would split it.

        None if it is neither. An item that is wholly a hole may stand for no word at all.
        """
        if isinstance(value.data, list):
            out: list[Word] = []
            for item in value.data[:MOST_WORDS]:
                text = self.text(item)
                if text is None:
                    continue
                made = change(text)
                span = item.span or value.span
                assert span is not None
                out.append(Word(made, span, is_hole(made) and _may_be_none(out)))
            return tuple(out)
        text = self.text(value)
        if text is None or value.span is None:
            return None
        return split(change(text), value.span)


def _spelled(value: Value) -> str:
    """A number or boolean as it is written."""
    written = value.span.text if value.span is not None else ""
    match = re.fullmatch(r"(?:[\"']?[^\s\"':]+[\"']?\s*:\s+)?(?:[&!]\S+\s+)*([^\s\"']+)", written)
    if match:
        return match.group(1)
    return str(value.data).lower() if isinstance(value.data, bool) else str(value.data)


def runs(fragment: Fragment) -> Iterator[Piece]:
    """The characters of a fragment as pieces that lie unbroken in the file."""
    for first, end in fragment.runs():
        yield Piece(fragment.text[first:end], fragment.span(first, end))


def is_hole(text: Text) -> bool:
    """Whether a text is one unknown that may be several words, or none."""
    content = text.pieces[0].content if len(text.pieces) == 1 else ""
    return isinstance(content, Hole) and not content.one_word


def _may_be_none(before: Sequence[Word]) -> bool:
    """Whether a word that nothing decides may be no word: behind a flag's value or switch, not behind a verb."""
    return any(word.text.marked().startswith("-") for word in before[-2:])


def split(text: Text, span: Span) -> tuple[Word, ...]:
    """The words of a string, quotes and escapes undone as a shell does, with nothing expanded."""
    marked, cuts = text.marked(), Cuts(text)
    out: list[Word] = []
    pieces: list[Piece] = []
    started = quoted = False
    at, size = 0, len(marked)

    def close() -> None:
        nonlocal pieces, started, quoted
        if started and len(out) < MOST_WORDS:
            made = _joined(pieces)
            spread = not quoted and is_hole(made) and _may_be_none(out)
            out.append(Word(made, _place(pieces, span), spread))
        pieces, started, quoted = [], False, False

    quote = ""
    while at < size and len(out) < MOST_WORDS:
        char = marked[at]
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and marked[at + 1 : at + 2] in ('"', "\\", "$", "`", "\n"):
                if marked[at + 1] != "\n":
                    pieces += cuts.cut(at + 1, at + 2).pieces
                at += 1
            else:
                pieces += cuts.cut(at, at + 1).pieces
        elif char in "'\"":
            quote, started, quoted = char, True, True
        elif char == "\\" and at + 1 < size:
            if marked[at + 1] == "\n":
                close()
            else:
                pieces += cuts.cut(at + 1, at + 2).pieces
                started = True
            at += 1
        elif char in " \t\r\n":
            close()
        elif char == "#" and not started and (at == 0 or marked[at - 1] in " \t\r\n"):
            newline = marked.find("\n", at)
            at = size if newline < 0 else newline
            continue
        else:
            end = at + 1
            while end < size and marked[end] not in " \t\r\n'\"\\" and not has_mark(marked[end - 1]):
                end += 1
            pieces += cuts.cut(at, end).pieces
            started = True
            at = end
            continue
        at += 1
    close()
    return tuple(out)


def _joined(pieces: Sequence[Piece]) -> Text:
    """Pieces that lie side by side as one."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if (
            last is not None
            and isinstance(last.content, str)
            and isinstance(piece.content, str)
            and last.span is not None
            and piece.span is not None
            and last.span.source is piece.span.source
            and last.span.end == piece.span.start
            and last.span.end - last.span.start == len(last.content)
            and last.via == piece.via
        ):
            joined = Span(last.span.source, last.span.start, piece.span.end)
            out[-1] = last._replace(content=last.content + piece.content, span=joined)
        else:
            out.append(piece)
    return Text(tuple(out))


def _place(pieces: Sequence[Piece], span: Span) -> Span:
    """Where a word is written in a string of the file ``span`` lies in."""
    spans = [p.span for p in pieces if p.span is not None and p.span.source is span.source]
    spans = [s for s in spans if span.start <= s.start and s.end <= span.end]
    if not spans:
        return span
    return Span(span.source, min(s.start for s in spans), max(s.end for s in spans))


def block(value: Value) -> Span:
    """All lines of a member or item, from its key to its last line that is no comment."""
    span = value.span
    assert span is not None
    source = span.source
    text = source.text
    if isinstance(value.data, dict | list) and text[span.end - 1 : span.end] in ("}", "]"):
        return span
    if _BEHIND_FLOW.match(text, span.end):
        # A member or item between brackets ends where it ends.
        return span
    indent = source.position(span.start)[1] - 1
    items = isinstance(value.data, list)
    first = indent if value.name.endswith("]") else indent + 1
    """The least indent of a line inside: the keys of an item are as deep as the item."""
    end = max(span.end, span.start)
    number = source.position(max(span.end - 1, span.start))[0] + 1
    while number <= len(source.starts):
        content = source.line(number)
        stripped = content.lstrip(" ")
        depth = len(content) - len(stripped)
        if stripped and not stripped.startswith("#"):
            inside = depth >= first or (items and depth == indent and re.match(r"-(\s|$)", stripped) is not None)
            if not inside or (stripped.startswith(("---", "...")) and not depth):
                break
            end = source.starts[number - 1] + len(content.rstrip())
        number += 1
    return Span(source, span.start, end)
