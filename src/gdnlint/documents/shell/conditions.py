"""``[ ... ]``, ``[[ ... ]]`` and ``((...))``: true, false, or not decided by the files.

What the environment and the command line leave unset counts as empty here; every comparison is
remembered as a witness of what it compares, a value worth trying.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gdnlint.documents.shell import patterns
from gdnlint.documents.shell.arithmetic import NotArithmetic, number
from gdnlint.documents.shell.expand import arithmetic, expand, is_null, origins, pattern_of, text_of
from gdnlint.documents.shell.state import Shell, Variable
from gdnlint.documents.shell.syntax import (
    Binary,
    Both,
    Condition,
    Either,
    Literal,
    Not,
    Parameter,
    Part,
    Unary,
    Written,
)
from gdnlint.source import Span
from gdnlint.values import Hole, Text

_STRINGS = frozenset(("=", "==", "!=", "<", ">"))
_NUMBERS = frozenset(("-eq", "-ne", "-lt", "-le", "-gt", "-ge"))
_FILES = frozenset(("-ef", "-nt", "-ot"))
_UNARY = frozenset("-" + letter for letter in "abcdefghknoprstuvwxzGLNORS")
_COMPARED = re.compile(r"\$?\{?([A-Za-z_][A-Za-z0-9_]*|[0-9])(?::?-[^{}$]{0,40})?\}?\s*(==|!=|>=|<=|>|<)\s*(\d+)")
_ALONE = re.compile(r"\s*\$?\{?([A-Za-z_][A-Za-z0-9_]*|[0-9])(?::?-[^{}$]{0,40})?\}?\s*\Z")
_SAFE_EXPRESSION = re.compile(
    r"\^?(?:[A-Za-z0-9_,:;@%/ =-]|\[[^\]\[\\]{1,60}\]|\\\.|\.|[+*?](?![+*?])|\([A-Za-z0-9_|.-]*\)|\|)*\$?"
)
"""Regular expressions without nested repetition."""
_WORDS_ONLY = re.compile(r"\^?\(?([A-Za-z0-9_.|-]+)\)?\$?")


@dataclass(frozen=True, slots=True)
class Operand:
    text: Text
    written: Written | None


# [ ... ]


def bracket(shell: Shell, written: Sequence[Written]) -> bool | None:
    """The operands of ``[`` or ``test``, without the closing bracket."""
    operands: list[Operand] = []
    shell.deciding += 1
    try:
        for one in written:
            operands.extend(Operand(shell.settled(word.text), one) for word in expand(shell, one))
    finally:
        shell.deciding -= 1
    if len(operands) > 256:
        return None
    reader = _Bracket(shell, operands)
    value = reader.either(0)
    return False if reader.at < len(operands) and not reader.unknown else None if reader.unknown else value


class _Bracket:
    def __init__(self, shell: Shell, operands: list[Operand]) -> None:
        self.shell, self.operands = shell, operands
        self.at = 0
        self.unknown = False

    def known(self, ahead: int = 0) -> str | None:
        at = self.at + ahead
        return self.operands[at].text.known if at < len(self.operands) else None

    def either(self, depth: int) -> bool | None:
        value = self.both(depth)
        while self.known() == "-o":
            self.at += 1
            value = any_true(value, self.both(depth))
        return value

    def both(self, depth: int) -> bool | None:
        value = self.term(depth)
        while self.known() == "-a":
            self.at += 1
            value = all_true(value, self.term(depth))
        return value

    def term(self, depth: int) -> bool | None:
        left = len(self.operands) - self.at
        if left == 0:
            return False
        middle = self.known(1)
        if left >= 3 and middle is not None and (middle in _STRINGS or middle in _NUMBERS or middle in _FILES):
            first, second = self.operands[self.at], self.operands[self.at + 2]
            self.at += 3
            return compare(self.shell, middle, first, second)
        word = self.known()
        if word == "!" and left >= 2:
            self.at += 1
            if depth > 20:
                self.unknown = True
                return None
            return negate(self.term(depth + 1))
        if word == "(" and left >= 3 and depth <= 20:
            self.at += 1
            value = self.either(depth + 1)
            if self.known() == ")":
                self.at += 1
            return value
        if word in _UNARY and left >= 2:
            operand = self.operands[self.at + 1]
            self.at += 2
            return unary(self.shell, word or "", operand)
        self.at += 1
        return unary(self.shell, "-n", self.operands[self.at - 1])


# [[ ... ]]


def double_bracket(shell: Shell, condition: Condition | None) -> bool | None:
    shell.deciding += 1
    try:
        return _evaluate(shell, condition)
    finally:
        shell.deciding -= 1


def _evaluate(shell: Shell, condition: Condition | None) -> bool | None:
    if condition is None:
        return None
    if isinstance(condition, Not):
        return negate(_evaluate(shell, condition.operand))
    if isinstance(condition, Both):
        left, right = _sides(shell, condition, False)
        return all_true(left, right)
    if isinstance(condition, Either):
        left, right = _sides(shell, condition, True)
        return any_true(left, right)
    if isinstance(condition, Unary):
        operand = Operand(shell.settled(text_of(shell, condition.operand.parts)), condition.operand)
        return unary(shell, condition.operator, operand)
    return _binary(shell, condition)


def _sides(shell: Shell, condition: Both | Either, decides: bool) -> tuple[bool | None, bool | None]:
    """Both sides. The right one is looked at even where bash would not, for what it compares."""
    left = _evaluate(shell, condition.left)
    relied = shell.relied
    right = _evaluate(shell, condition.right)
    if left is decides:
        shell.relied = relied
    return left, right


def _binary(shell: Shell, condition: Binary) -> bool | None:
    left = Operand(shell.settled(text_of(shell, condition.left.parts)), condition.left)
    if condition.operator in ("=", "==", "!="):
        found = matches(shell, left, condition.right)
        return found if condition.operator != "!=" else negate(found)
    if condition.operator == "=~":
        return _expression(shell, left, condition.right)
    right = Operand(shell.settled(text_of(shell, condition.right.parts)), condition.right)
    if condition.operator in _NUMBERS:
        return compare(shell, condition.operator, left, right, calculated=True)
    return compare(shell, condition.operator, left, right)


def matches(shell: Shell, subject: Operand, pattern: Written) -> bool | None:
    """Whether a text matches a pattern of ``case`` or ``[[ x == pattern ]]``."""
    right = shell.settled(text_of(shell, pattern.parts))
    if is_plain(pattern):
        _witness(shell, subject, Operand(right, pattern))
        _witness(shell, Operand(right, pattern), subject)
    compiled = pattern_of(shell, pattern.parts)
    known = subject.text.known
    if compiled is None:
        return None
    if all(one is patterns.STAR for one in compiled) and compiled:
        return True
    if known is None:
        return None
    return patterns.matches(compiled, known)


def is_plain(pattern: Written) -> bool:
    """Whether a pattern is a plain text."""
    return not any(isinstance(p, Literal) and not p.quoted and any(c in p.text for c in "*?[") for p in pattern.parts)


def is_star(pattern: Written) -> bool:
    """Whether a pattern is ``*``."""
    parts = pattern.parts
    return len(parts) == 1 and isinstance(parts[0], Literal) and parts[0].text == "*" and not parts[0].quoted


def _expression(shell: Shell, left: Operand, right: Written) -> bool | None:
    shell.put("BASH_REMATCH", Variable(hole=Hole("the result of matching a regular expression")))
    parts = right.parts
    if not all(isinstance(p, Literal) for p in parts):
        return None
    quoted = any(isinstance(p, Literal) and p.quoted for p in parts)
    text = "".join(p.text for p in parts if isinstance(p, Literal))
    words = _WORDS_ONLY.fullmatch(text)
    if words is not None and not quoted:
        for word in words.group(1).split("|"):
            _witness(shell, left, Operand(Text.of(word), None))
    known = left.text.known
    if known is None or len(known) > 200 or len(text) > 100 or quoted:
        return None
    if not _SAFE_EXPRESSION.fullmatch(text) or sum(text.count(c) for c in "+*?") > 3:
        return None
    try:
        return re.search(text[:-1] + r"\Z" if text.endswith("$") else text, known) is not None
    except re.error:
        return None


# Primaries


def unary(shell: Shell, operator: str, operand: Operand) -> bool | None:
    text = operand.text
    if operator in ("-n", "-z"):
        shell.presence(names_of(shell, operand))
        empty = is_null(shell, text)
        return negate(empty) if operator == "-n" else empty
    if operator == "-v":
        return _is_set(shell, text, operand)
    if text.known == "":
        return False
    return None


def _is_set(shell: Shell, text: Text, operand: Operand) -> bool | None:
    name = text.known
    if name is None or operand.written is None or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return None
    found = shell.find(name)
    if found is not None:
        return found.scalar is not None
    value = shell.environment(name, shell.script.span(operand.written.start, operand.written.end))
    if value is None:
        shell.presence((name,))
        shell.relied = True
    return value is not None


def compare(shell: Shell, operator: str, left: Operand, right: Operand, *, calculated: bool = False) -> bool | None:
    """``calculated``: numbers are arithmetic expressions (``[[``)."""
    first, second = left.text.known, right.text.known
    if operator in _NUMBERS:
        for subject, value, op in ((left, second, operator), (right, first, _MIRRORED[operator])):
            _witness_number(shell, subject, value, op)
        return _compare_numbers(shell, operator, left, right, calculated)
    if operator in _FILES:
        return None
    _witness(shell, left, right)
    _witness(shell, right, left)
    if first is None or second is None:
        return None
    if operator == "!=":
        return first != second
    if operator in ("<", ">"):
        return first < second if operator == "<" else first > second
    return first == second


_MIRRORED = {"-eq": "-eq", "-ne": "-ne", "-lt": "-gt", "-le": "-ge", "-gt": "-lt", "-ge": "-le"}


def _compare_numbers(shell: Shell, operator: str, left: Operand, right: Operand, calculated: bool) -> bool | None:
    values: list[int] = []
    for operand in (left, right):
        value: int | Hole | None
        if calculated:
            assert operand.written is not None
            value = arithmetic(shell, operand.text, shell.script.span(operand.written.start, operand.written.end))
        else:
            known = operand.text.known
            if known is None:
                return None
            try:
                value = int(known.strip()) if re.fullmatch(r"[-+]?[0-9]{1,18}", known.strip()) else None
            except NotArithmetic:
                value = None
            if value is None:
                return False
        if isinstance(value, Hole) or value is None:
            return None
        values.append(value)
    first, second = values
    return {
        "-eq": first == second, "-ne": first != second, "-lt": first < second, "-le": first <= second,
        "-gt": first > second, "-ge": first >= second,
    }[operator]  # fmt: skip


# ((...))


def calculation(shell: Shell, body: Sequence[Part], span: Span) -> bool | None:
    shell.deciding += 1
    try:
        for part in body:
            if isinstance(part, Parameter):
                text_of(shell, [part])
        text = text_of(shell, body)
        value = arithmetic(shell, text, span)
        _witness_calculation(shell, "".join(shell.script.text[p.start : p.end] for p in body))
    finally:
        shell.deciding -= 1
    return None if isinstance(value, Hole) else value != 0


def _witness_calculation(shell: Shell, raw: str) -> None:
    if len(raw) > 1000:
        return
    alone = _ALONE.match(raw)
    if alone is not None:
        shell.presence(_named(shell, alone.group(1)))
    operators = {"==": "-eq", "!=": "-ne", ">": "-gt", "<": "-lt", ">=": "-ge", "<=": "-le"}
    for found in _COMPARED.finditer(raw):
        _number(shell, _named(shell, found.group(1)), found.group(3), operators[found.group(2)])


def _named(shell: Shell, name: str) -> frozenset[str]:
    return origins(shell, Parameter(0, 0, name, False))


# Witnesses


def subject(shell: Shell, written: Written | None) -> tuple[str, frozenset[str], str]:
    """The text before, the names of, and the text behind the one variable in a word (``"x$FOO"``)."""
    if written is None:
        return "", frozenset(), ""
    found = [p for p in written.parts if isinstance(p, Parameter)]
    if len(found) != 1 or not all(isinstance(p, Literal | Parameter) for p in written.parts):
        return "", frozenset(), ""
    at = written.parts.index(found[0])
    before = "".join(p.text for p in written.parts[:at] if isinstance(p, Literal))
    behind = "".join(p.text for p in written.parts[at + 1 :] if isinstance(p, Literal))
    if found[0].operator not in ("", ":-", "-", ":=", "=", ",,", "^^", ",", "^", ":?", "?"):
        return "", frozenset(), ""
    if found[0].subscript is not None or found[0].length or found[0].indirect:
        return "", frozenset(), ""
    return before, origins(shell, found[0]), behind


def names_of(shell: Shell, operand: Operand) -> frozenset[str]:
    """The environment variables and arguments whose value an operand is."""
    return subject(shell, operand.written)[1]


def _witness(shell: Shell, operand: Operand, other: Operand) -> None:
    value = other.text.known
    if value is None or len(value) > 400:
        return
    before, names, behind = subject(shell, operand.written)
    literal = other.written is None or all(isinstance(p, Literal) for p in other.written.parts)
    if (
        not names
        or not value.startswith(before)
        or not value.endswith(behind)
        or len(value) < len(before) + len(behind)
    ):
        return
    value = value[len(before) : len(value) - len(behind)]
    if value:
        shell.witness(names, value)
        shell.compared |= names
    elif literal:
        shell.presence(names)


def _witness_number(shell: Shell, operand: Operand, value: str | None, operator: str) -> None:
    names = names_of(shell, operand)
    if value is not None and names:
        _number(shell, names, value.strip(), operator)


def _number(shell: Shell, names: frozenset[str], value: str, operator: str) -> None:
    if not re.fullmatch(r"-?\d{1,18}", value):
        return
    try:
        limit = number(value) if value[0] != "-" else -number(value[1:])
    except NotArithmetic:
        return
    shell.witness(names, str(limit + {"-gt": 1, "-lt": -1}.get(operator, 0)))


# Three-valued logic


def negate(value: bool | None) -> bool | None:
    return None if value is None else not value


def all_true(left: bool | None, right: bool | None) -> bool | None:
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def any_true(left: bool | None, right: bool | None) -> bool | None:
    if left is True or right is True:
        return True
    return None if left is None or right is None else False
