"""Makefiles as statements (GNU make): assignments, rules with their recipes, conditionals, includes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gdnlint.source import Fragment, Source, Span

MOST = 10_000
"""Statements of a file that are read."""

_ASSIGNED = re.compile(
    r"[ \t]*((?:(?:export|override|private)[ \t]+)*)([^\s:#=?+!]+)[ \t]*(:::=|::=|:=|\?=|\+=|!=|=)[ \t]*"
)
_DEFINED = re.compile(r"[ \t]*((?:(?:export|override)[ \t]+)*)define[ \t]+(\S+)[ \t]*(:=|::=|\?=|\+=|=)?[ \t]*$")
_WORD = re.compile(
    r"[ \t]*(ifeq|ifneq|ifdef|ifndef|else|endif|include|-include|sinclude|export|unexport)(?=[\s(\"']|$)"
)


@dataclass(frozen=True, slots=True)
class Statement:
    kind: str
    """``set``, ``rule``, ``recipe``, ``ifeq`` and its kin, ``else``, ``endif``, ``include``, ``export``."""
    name: str
    """Of the variable that is set."""
    operator: str
    body: Fragment
    """The value, the line of a recipe with its continued lines as they are, what follows a keyword."""
    span: Span
    targets: Fragment | None = None
    """Of a rule, and of a variable that is set for targets only; the body of a rule is its prerequisites."""
    exported: bool = False


def statements(source: Source) -> Iterator[Statement]:
    """Every statement of a file in order; what is none is skipped."""
    number, count, total = 1, 0, len(source.starts)
    in_rule = False
    while number <= total and count < MOST:
        first = number
        while number < total and _goes_on(source.line(number)):
            number += 1
        number += 1
        start = source.starts[first - 1]
        line = source.line(first)
        recipe = in_rule and line.startswith("\t")
        if not line.strip() or (not recipe and line.lstrip().startswith("#")):
            continue
        count += 1
        if recipe:
            end = source.starts[number - 2] + len(source.line(number - 1))
            body = Fragment(source.text[start + 1 : end], source, None, start + 1)
            yield Statement("recipe", "", "", body, source.span(start + 1, end))
            continue
        defined = _DEFINED.match(line)
        if defined is not None:
            begin = number
            while number <= total and source.line(number).strip() != "endef":
                number += 1
            end = max(source.starts[begin - 1], source.starts[number - 1] - 1) if number <= total else len(source.text)
            at = source.starts[begin - 1] if begin <= total else len(source.text)
            body = Fragment(source.text[at:end], source, None, at)
            operator = defined.group(3) or "="
            span = source.span(start, start + len(line))
            yield Statement("set", defined.group(2), operator, body, span, None, "export" in defined.group(1))
            number += 1
            continue
        statement = _statement(_logical(source, first, number - 1))
        if statement is not None:
            in_rule = statement.kind == "rule" or (in_rule and statement.kind not in ("set", "include", "export"))
            yield statement
            if statement.kind == "rule" and statement.operator:
                inline = statement.body.text.find(";")
                command = statement.body.cut(inline + 1, len(statement.body.text))
                yield Statement("recipe", "", "", command, statement.span)


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _logical(source: Source, first: int, last: int) -> Fragment:
    """Continued lines as one, each break and the blanks around it as one blank; without its comment."""
    offsets: list[int] = []
    chars: list[str] = []
    for number in range(first, last + 1):
        line, start = source.line(number), source.starts[number - 1]
        if number < last:
            line = line[:-1].rstrip()
        begin = len(line) - len(line.lstrip()) if number > first else 0
        chars += line[begin:]
        offsets += range(start + begin, start + len(line))
        if number < last:
            chars.append(" ")
            offsets.append(start + len(line))
    text = "".join(chars)
    end = _comment(text)
    text = text[:end].rstrip()
    return Fragment(text, source, offsets[: len(text)], source.starts[first - 1])


def _comment(text: str) -> int:
    """Where a comment begins: a ``#`` without a backslash before it, outside of ``$(...)``."""
    depth = 0
    for at, char in enumerate(text):
        if char in "({" and text[at - 1 : at] == "$":
            depth += 1
        elif char in ")}" and depth:
            depth -= 1
        elif char == "#" and not depth and text[at - 1 : at] != "\\":
            return at
    return len(text)


def _statement(line: Fragment) -> Statement | None:
    text = line.text
    span = line.span(len(text) - len(text.lstrip()), len(text))
    word = _WORD.match(text)
    assigned = _ASSIGNED.match(text)
    if word is not None and assigned is None:
        body = line.cut(word.end(), len(text))
        kind = "include" if "include" in word.group(1) else word.group(1)
        return Statement(kind, "", "", body, span)
    if assigned is not None:
        return _set(line, assigned, span, None)
    colon = _colon(text)
    if colon < 0:
        return None
    targets = line.cut(0, colon)
    at = colon + 2 if text[colon : colon + 2] == "::" else colon + 1
    assigned = _ASSIGNED.match(text, at)
    if assigned is not None:
        return _set(line, assigned, span, targets)
    body = line.cut(at, len(text))
    return Statement("rule", "", ";" if ";" in body.text else "", body, span, targets)


def _set(line: Fragment, match: re.Match[str], span: Span, targets: Fragment | None) -> Statement:
    body = line.cut(match.end(), len(line.text))
    return Statement("set", match.group(2), match.group(3), body, span, targets, "export" in match.group(1))


def _colon(text: str) -> int:
    """The colon of a rule: the first outside of ``$(...)``."""
    depth = 0
    for at, char in enumerate(text):
        if char in "({":
            depth += 1
        elif char in ")}":
            depth = max(depth - 1, 0)
        elif char == ":" and not depth:
            return at
    return -1
