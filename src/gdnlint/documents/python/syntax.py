"""A parsed Python text: its tree, and where each node lies in the file.

libcst reads and keeps positions slowly (0.8 and 0.3 MB/s), so a text is parsed once and the positions of a
top-level statement are computed when a node in it is first asked for.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, CodeSpan, MetadataWrapper

from gdnlint.documents.python.mentions import (
    DEEPEST,
    MOST_NODES,
    TooDeep,
    TooLarge,
    check_depth,
    levels,
    parse_ast,
)
from gdnlint.source import Fragment, Span
from gdnlint.values import Problem

if TYPE_CHECKING:
    from gdnlint.documents.python.outline import Outline
    from gdnlint.documents.python.slicing import Facts

LARGEST = 400_000
"""Characters of a text that is read; libcst takes seconds for so many."""


class Tree:
    """``module`` is None if the text could not be parsed; ``problem`` says why."""

    def __init__(self, fragment: Fragment) -> None:
        text = fragment.text
        self.fragment = fragment.cut(1, len(text)) if text.startswith("\ufeff") else fragment
        self.text = self.fragment.text
        self.module: cst.Module | None = None
        self.problem: Problem | None = None
        self._shown: dict[int, str] = {}
        self.strings: dict[int, str | None] = {}
        """What string literals say, by the id of their node."""
        self._ast: ast.Module | None = None
        self._tops: list[int] = []
        self._ranges: dict[int, dict[int, tuple[int, int]]] = {}
        self._owner: dict[int, int] = {}
        self._facts: Facts | None = None
        self._outline: Outline | None = None
        self._lines: list[int] | None = None
        self._has_lines = False
        self._parse()

    @property
    def facts(self) -> Facts:
        """What its statements mention."""
        if self._facts is None:
            from gdnlint.documents.python.slicing import Facts

            with uncollected():
                self._facts = Facts(self)
        return self._facts

    @property
    def outline(self) -> Outline:
        """What is kept of single nodes, those of imported modules included."""
        if self._outline is None:
            from gdnlint.documents.python.outline import Outline

            self._outline = Outline()
        return self._outline

    def _parse(self) -> None:
        start = self.fragment.span(0, 0)
        if len(self.text) > LARGEST:
            message = f"this Python has more than {LARGEST:,} characters and was not read; split it up or exclude it"
            self.problem = Problem("too-large", message, start)
            return
        try:
            self._ast = parse_ast(self.text)
            check_depth(self.text, self._ast)
            if self._ast is not None and sum(map(len, levels(self._ast))) > MOST_NODES:
                raise TooLarge
            with uncollected():
                self.module = cst.parse_module(self.text)
        except (TooDeep, RecursionError, MemoryError):
            message = f"this Python is nested more than {DEEPEST} levels deep and was not read; split it up"
            self.problem = Problem("too-deep", message, start)
        except TooLarge:
            message = "this Python has too many statements and expressions and was not read; split it up or exclude it"
            self.problem = Problem("too-large", message, start)
        except cst.ParserSyntaxError as error:
            self.problem = self._syntax_problem(error.raw_line)
        except Exception:  # libcst raises many kinds for texts that are no Python
            self.problem = self._syntax_problem(1)

    def _syntax_problem(self, line: int) -> Problem:
        starts = [0]
        for part in self.text.splitlines(keepends=True):
            starts.append(starts[-1] + len(part))
        at = starts[max(0, min(line - 1, len(starts) - 1))]
        span = self.fragment.span(at, at)
        message = (
            f"line {span.line} is not Python 3 that can be parsed, so the launches in this file were not read; "
            "correct it (`python -m py_compile` shows the error) or exclude the file"
        )
        return Problem("syntax", message, span)

    def span(self, node: cst.CSTNode, low: int = 0, high: int | None = None) -> Span:
        """Where a node lies in the file; or its characters ``low`` to ``high``."""
        start, end = self.range(node)
        return self.fragment.span(start + low, end if high is None else start + high)

    def short(self, node: cst.CSTNode) -> str:
        """A node as written, on one line of at most 40 characters, the arguments of a call left out."""
        text = self._shown.get(id(node))
        if text is None:
            text = self._shown[id(node)] = self._short(node)
        return text

    def _short(self, node: cst.CSTNode) -> str:
        assert self.module is not None
        if isinstance(node, cst.Await):
            node = node.expression
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name | cst.Attribute):
            head = self.short(node.func)
            return head if head.endswith("...") else f"{head[:34]}({'...' if node.args else ''})"
        text = " ".join(self.module.code_for_node(node)[:400].split())
        return text if len(text) <= 40 else text[:37] + "..."

    def range(self, node: cst.CSTNode) -> tuple[int, int]:
        """Characters of ``self.text``; parentheses around an expression do not count."""
        top = self._owner.get(id(node))
        if top is None:
            top = self._find_owner(node)
        if top not in self._ranges:
            with uncollected():
                self._measure(top)
        return self._ranges[top].get(id(node), (0, 0))

    def _find_owner(self, node: cst.CSTNode) -> int:
        for number in range(len(self._tops), len(self.module.body) if self.module else 0):
            self._tops.append(number)
            for inner in walk(self.module.body[number]):  # type: ignore[union-attr]
                self._owner[id(inner)] = number
            if id(node) in self._owner:
                return self._owner[id(node)]
        return self._owner.get(id(node), -1)

    def _measure(self, top: int) -> None:
        module = self.module
        assert module is not None
        statements = [module.body[top]] if top >= 0 else list(module.body)
        base = self._base(top)
        if base is None:
            # `ast` could not read the file, or reads its lines differently: measure everything at once.
            if -1 not in self._ranges:
                self._ranges[-1] = _measured(module, self.text, 0)
            self._ranges[top] = self._ranges[-1]
            return
        part = module.with_changes(header=(), footer=(), body=statements, has_trailing_newline=True)
        self._ranges[top] = _measured(part, self.text, base, statements[0])

    def _base(self, top: int) -> int | None:
        """The offset of the first character (blank lines and comments left out) of a top-level statement."""
        if top < 0 or self._ast is None or self.module is None or "\r" in self.text or "\f" in self.text:
            return None
        if not self._has_lines:
            self._has_lines, self._lines = True, self._first_lines()
        return self._lines[top] if self._lines is not None else None

    def _first_lines(self) -> list[int] | None:
        assert self._ast is not None and self.module is not None
        starts = [0]
        at = self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        bodies = self._ast.body
        offsets: list[int] = []
        number = 0
        for statement in self.module.body:
            if number >= len(bodies):
                return None
            node = bodies[number]
            line = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            offsets.append(starts[line - 1])
            number += len(statement.body) if isinstance(statement, cst.SimpleStatementLine) else 1
        return offsets if number == len(bodies) else None


def _measured(module: cst.Module, text: str, base: int, first: cst.CSTNode | None = None) -> dict[int, tuple[int, int]]:
    spans: dict[cst.CSTNode, CodeSpan] = dict(
        MetadataWrapper(module, unsafe_skip_copy=True).resolve(ByteSpanPositionProvider)
    )
    if first is not None:
        decorators = getattr(first, "decorators", ())
        head = spans[decorators[0] if decorators else first].start
    else:
        head = 0
    if text.isascii():
        shift = base - head
        return {id(n): (s.start + shift, s.start + s.length + shift) for n, s in spans.items()}
    points = {0: 0}
    position = 0
    size = max((s.start + s.length for s in spans.values()), default=0) - head
    # Byte offsets of this part, counted from its first token; those before it (comments) are not asked for.
    for index in range(base, len(text)):
        position += len(text[index].encode("utf-8", "surrogatepass"))
        points[position] = index + 1 - base
        if position > size:
            break
    out = {}
    for node, span in spans.items():
        low = points.get(span.start - head)
        high = points.get(span.start + span.length - head)
        if low is not None and high is not None:
            out[id(node)] = (base + low, base + high)
    return out


_FIELDS: dict[type, tuple[str, ...]] = {}
_NODES: set[type] = set()
_TRIVIA = (
    "whitespace",
    "lpar",
    "rpar",
    "lbra",
    "rbra",
    "semicolon",
    "comma",
    "colon",
    "dot",
    "equal",
    "leading_lines",
    "lines_after",
    "header",
    "footer",
)


def walk(node: cst.CSTNode) -> list[cst.CSTNode]:
    """A node and all below it, white space and punctuation left out."""
    if not _NODES:
        todo: list[type] = [cst.CSTNode]
        for cls in todo:
            todo.extend(cls.__subclasses__())
        _NODES.update(todo)
    out = [node]
    for item in out:
        kind = type(item)
        names = _FIELDS.get(kind)
        if names is None:
            names = tuple(n for n in kind.__dataclass_fields__ if not n.startswith(_TRIVIA))
            _FIELDS[kind] = names
        for name in names:
            child = getattr(item, name)
            # A set of types: `isinstance` of an abstract class costs five times as much.
            if type(child) in _NODES:
                out.append(child)
            elif type(child) is tuple or type(child) is list:
                out.extend(c for c in child if type(c) in _NODES)
    return out


@contextmanager
def uncollected() -> Iterator[None]:
    """Build a large tree without the garbage collector, which would look at all of it again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
