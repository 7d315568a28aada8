"""Bash arithmetic on 64-bit integers of which some are not known."""

from __future__ import annotations

import re
from collections.abc import Callable

from gdnlint.values import has_mark

DEEPEST = 40
LONGEST = 4_000
"""Characters of an expression; a longer one is not computed."""

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+#[0-9a-zA-Z@_]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*(?:\[[^\[\]]*\])?)"
    r"|(\*\*|<<=|>>=|\+\+|--|&&|\|\||<<|>>|<=|>=|==|!=|[-+*/%&|^]=|[-+*/%<>=!~&|^?:(),])|(.))",
    re.DOTALL,
)
_ASSIGN = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="))
_LEVELS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8,
    "+": 9, "-": 9, "*": 10, "/": 10, "%": 10, "**": 11,
}  # fmt: skip


class NotArithmetic(Exception):
    """The text is no expression, or one that bash would stop at (a division by zero)."""


def calculate(text: str, read: Callable[[str], int | None], write: Callable[[str, int | None], None]) -> int | None:
    """The value of an expression, None if it is not known.

    ``read`` gives a variable's value, ``write`` sets one. A hole's mark stands for an unknown number.
    Raises NotArithmetic.
    """
    if len(text) > LONGEST:
        return None
    tokens: list[tuple[str, str]] = []
    for found in _TOKEN.finditer(text.rstrip()):
        number, name, operator, other = found.groups()
        if number is not None:
            tokens.append(("number", number))
        elif name is not None:
            tokens.append(("name", name))
        elif operator is not None:
            tokens.append(("operator", operator))
        elif has_mark(other):
            if not tokens or tokens[-1][0] != "hole":
                tokens.append(("hole", ""))
        else:
            raise NotArithmetic(other)
    if not tokens:
        return 0
    machine = _Machine(tokens, read, write)
    value = machine.comma()
    if machine.at < len(tokens):
        raise NotArithmetic(tokens[machine.at][1])
    return value


class _Machine:
    def __init__(
        self,
        tokens: list[tuple[str, str]],
        read: Callable[[str], int | None],
        write: Callable[[str, int | None], None],
    ) -> None:
        self.tokens, self.read, self.write = tokens, read, write
        self.at = 0
        self.depth = 0
        self.idle = 0
        """Above 0 inside of a branch that is not taken: nothing is written there."""
        self.doubt = 0
        """Above 0 inside of a branch that may be taken: what is written there is not known."""

    def peek(self) -> str:
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "operator":
            return self.tokens[self.at][1]
        return ""

    def set(self, name: str, value: int | None) -> None:
        if not self.idle:
            self.write(name, None if self.doubt else value)

    def comma(self) -> int | None:
        value = self.assignment()
        while self.peek() == ",":
            self.at += 1
            value = self.assignment()
        return value

    def assignment(self) -> int | None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotArithmetic("too deep")
        try:
            if self.at + 1 < len(self.tokens) and self.tokens[self.at][0] == "name":
                kind, operator = self.tokens[self.at + 1]
                if kind == "operator" and operator in _ASSIGN:
                    name = self.tokens[self.at][1]
                    self.at += 2
                    value = self.assignment()
                    if operator != "=":
                        value = apply(operator[:-1], self.read(name), value)
                    self.set(name, value)
                    return value
            return self.choice()
        finally:
            self.depth -= 1

    def choice(self) -> int | None:
        test = self.binary(1)
        if self.peek() != "?":
            return test
        self.at += 1
        first = self.branch(test != 0 if test is not None else None)
        if self.peek() != ":":
            raise NotArithmetic("?")
        self.at += 1
        second = self.branch(test == 0 if test is not None else None)
        if test is None:
            return first if first == second else None
        return first if test else second

    def branch(self, taken: bool | None) -> int | None:
        self.idle += taken is False
        self.doubt += taken is None
        try:
            return self.assignment()
        finally:
            self.idle -= taken is False
            self.doubt -= taken is None

    def binary(self, lowest: int) -> int | None:
        self.depth += 1
        if self.depth > DEEPEST * 2:
            raise NotArithmetic("too deep")
        left = self.unary()
        while True:
            operator = self.peek()
            level = _LEVELS.get(operator, 0)
            if level < lowest or not level:
                break
            self.at += 1
            if operator in ("&&", "||"):
                decided = left is not None and (left == 0) == (operator == "&&")
                self.idle += decided
                self.doubt += left is None
                right = self.binary(level + 1)
                self.idle -= decided
                self.doubt -= left is None
            else:
                right = self.binary(level if operator == "**" else level + 1)
            left = 0 if self.idle else apply(operator, left, right)
        self.depth -= 1
        return left

    def unary(self) -> int | None:
        operator = self.peek()
        if operator in ("++", "--") and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][0] == "name":
            name = self.tokens[self.at + 1][1]
            self.at += 2
            value = apply(operator[0], self.read(name), 1)
            self.set(name, value)
            return value
        if operator in ("++", "--"):
            self.at += 1
            return self.nested_unary(operator[0]) if operator == "++" else self.nested_unary("+")
        if operator in ("-", "+", "!", "~"):
            self.at += 1
            return self.nested_unary(operator)
        return self.primary()

    def nested_unary(self, operator: str) -> int | None:
        self.depth += 1
        if self.depth > DEEPEST * 2:
            raise NotArithmetic("too deep")
        value = self.unary()
        self.depth -= 1
        if value is None:
            return None
        if operator == "-":
            return _wrap(-value)
        if operator == "!":
            return int(value == 0)
        return ~value if operator == "~" else value

    def primary(self) -> int | None:
        if self.at >= len(self.tokens):
            raise NotArithmetic("end")
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "hole":
            return None
        if kind == "number":
            return number(text)
        if kind == "name":
            value = self.read(text) if not self.idle else 0
            if self.peek() in ("++", "--"):
                self.set(text, apply(self.peek()[0], value, 1))
                self.at += 1
            return value
        if text != "(":
            raise NotArithmetic(text)
        value = self.comma()
        if self.peek() != ")":
            raise NotArithmetic("(")
        self.at += 1
        return value


def number(text: str) -> int:
    """An integer literal of bash. Raises NotArithmetic."""
    try:
        if "#" in text:
            base, digits = text.split("#")
            return _wrap(int(digits, int(base))) if 2 <= int(base) <= 36 else _fail(text)
        if text[:2] in ("0x", "0X"):
            return _wrap(int(text, 16))
        return _wrap(int(text, 8)) if text[0] == "0" and len(text) > 1 else _wrap(int(text))
    except ValueError:
        return _fail(text)


def apply(operator: str, left: int | None, right: int | None) -> int | None:
    """Raises NotArithmetic for what bash stops at."""
    if (operator == "&&" and (left == 0 or right == 0)) or (operator == "*" and 0 in (left, right)):
        return 0
    if operator == "||" and (left or right):
        return 1
    if left is None or right is None:
        return None
    if operator in ("/", "%"):
        if right == 0:
            return _fail("division by zero")
        quotient = abs(left) // abs(right)
        quotient = -quotient if (left < 0) != (right < 0) else quotient
        return _wrap(quotient if operator == "/" else left - quotient * right)
    if operator == "**":
        return _wrap(pow(left, right, 1 << 64)) if right >= 0 else _fail("negative exponent")
    if operator in ("<<", ">>"):
        return _wrap(left << (right & 63)) if operator == "<<" else left >> (right & 63)
    return _wrap(
        {
            "+": left + right, "-": left - right, "*": left * right, "&": left & right, "|": left | right,
            "^": left ^ right, "==": int(left == right), "!=": int(left != right), "<": int(left < right),
            ">": int(left > right), "<=": int(left <= right), ">=": int(left >= right),
            "&&": int(bool(left and right)), "||": int(bool(left or right)),
        }[operator]
    )  # fmt: skip


def _wrap(value: int) -> int:
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def _fail(text: str) -> int:
    raise NotArithmetic(text)
