"""What a Python module asks for: the calls that matter, with their arguments as values."""

from __future__ import annotations

from dataclasses import dataclass, field

from gdnlint.source import Fragment, Span
from gdnlint.values import Hole, Problem, Question, Text, Value

REST = "**"
"""The key under which a mapping admits that it may have entries which are not known."""
SPREAD = "spread"
"""The route of a list item that stands for any number of items which are not known."""


class Written(str):
    """A known string that remembers where its characters are written."""

    __slots__ = ("text",)
    text: Text

    @classmethod
    def of(cls, content: str, text: Text) -> Written:
        made = cls(content)
        made.text = text
        return made


@dataclass(slots=True)
class Call:
    """One call that was asked for, on the way that the world decides."""

    callee: str
    """Dotted, imports resolved (``vllm.LLM``); as written when nothing in the file says what it is."""
    args: tuple[Value, ...]
    """Positional arguments; one whose route is ``spread`` stands for any number."""
    kwargs: dict[str, Value]
    """By keyword, later attribute writes on the result folded in. ``a.b.c = 1`` is a mapping under ``a``."""
    open_reason: str
    """Why there may be more arguments than these; empty if there are none."""
    span: Span
    name_span: Span
    """The callee as written."""
    guards: tuple[str, ...] = ()
    """The undecided guard questions it lies under, the outermost first."""
    function: str = ""
    """The qualified name of the function around it."""
    target: str = ""
    """The variable or attribute that its result is assigned to."""
    env: dict[str, Value] = field(default_factory=dict)
    """What the module had put into ``os.environ`` by then."""


@dataclass(slots=True)
class Run:
    """One reading of a module in one world."""

    calls: list[Call] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    steps: int = 0
    """What it took: expressions and statements that were evaluated."""


def fragment_of(value: Value) -> Fragment | None:
    """A known string as text that another grammar can read, each character mapped to the file.

    None if it is not a string, not wholly known, or its characters lie in more than one file or nowhere.
    A character whose exact place is lost (escapes, ``str()`` of a number) maps to the start of what made it.
    """
    data = value.data
    text = data.text if isinstance(data, Written) else data
    if isinstance(text, str):
        text = Text.of(text, value.span)
    if not isinstance(text, Text) or not text.pieces:
        return None
    offsets: list[int] = []
    parts: list[str] = []
    source = None
    for piece in text.pieces:
        content, span = piece.content, piece.span or value.span
        if isinstance(content, Hole) or span is None:
            return None
        if source is None:
            source = span.source
        elif span.source is not source:
            if value.span is None or value.span.source is not source:
                return None
            span = value.span
        exact = span.end - span.start == len(content) and span.text == content
        offsets.extend(range(span.start, span.end) if exact else [span.start] * len(content))
        parts.append(content)
    return None if source is None else Fragment("".join(parts), source, offsets)
