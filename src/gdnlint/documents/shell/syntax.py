"""What a bash script is made of once it is read: statements, words and the parts of words.

Offsets are indexes into the text of the script (see ``source.Fragment``), ends exclusive.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False, repr=False)
class Literal:
    """Characters that stand for themselves."""

    start: int
    end: int
    text: str
    quoted: bool
    """Written in quotes or behind a backslash: not split, no pattern, no brace expansion."""


@dataclass(slots=True, eq=False, repr=False)
class Parameter:
    """``$name``, ``${name}`` and everything else that starts with ``${``."""

    start: int
    end: int
    name: str
    quoted: bool
    operator: str = ""
    """``:-`` ``-`` ``:=`` ``=`` ``:+`` ``+`` ``:?`` ``?`` ``#`` ``##`` ``%`` ``%%`` ``/`` ``//`` ``/#`` ``/%``
    ``^`` ``^^`` ``,`` ``,,`` ``:`` (substring) ``@`` (transformation), ``names``
    (``${!prefix*}``), or ``bad`` for what bash would reject."""
    argument: list[Part] = field(default_factory=list)
    replacement: list[Part] = field(default_factory=list)
    """What stands behind ``/`` in a replacement, behind the second ``:`` in a substring."""
    has_replacement: bool = False
    subscript: list[Part] | None = None
    length: bool = False
    indirect: bool = False


@dataclass(slots=True, eq=False, repr=False)
class Substitution:
    """``$(...)`` or backquotes."""

    start: int
    end: int
    body: list[Node]
    quoted: bool


@dataclass(slots=True, eq=False, repr=False)
class Arithmetic:
    """``$((...))``."""

    start: int
    end: int
    body: list[Part]
    quoted: bool


@dataclass(slots=True, eq=False, repr=False)
class Process:
    """``<(...)`` or ``>(...)``: the name of a pipe."""

    start: int
    end: int
    quoted: bool = False


Part = Literal | Parameter | Substitution | Arithmetic | Process


@dataclass(slots=True, eq=False, repr=False)
class Written:
    """A word as it is written."""

    start: int
    end: int
    parts: list[Part]
    braces: list[list[Part]] | None = None
    """What brace expansion makes of it; filled in on first use."""
    constant: object = None
    """The expanded word where it is always the same; filled in on first use."""


@dataclass(slots=True, eq=False, repr=False)
class Assignment:
    start: int
    end: int
    name: str
    subscript: list[Part] | None
    append: bool
    value: Written | None
    items: list[Element] | None
    """The members of ``name=(...)``."""


@dataclass(slots=True, eq=False, repr=False)
class Element:
    """A member of an array: ``value`` or ``[subscript]=value``."""

    subscript: list[Part] | None
    value: Written


@dataclass(slots=True, eq=False, repr=False)
class Redirect:
    start: int
    end: int
    operator: str
    descriptor: str
    target: Written | None
    """None for a here-document."""
    body: list[Part] = field(default_factory=list)
    """A here-document's text."""
    literal: bool = False
    """A here-document whose delimiter is quoted: nothing in it is expanded."""


@dataclass(slots=True, eq=False, repr=False)
class Simple:
    start: int
    end: int
    assignments: list[Assignment]
    words: list[Written | Assignment]
    """An Assignment among the words is an array in the arguments of ``declare`` and its kin."""
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class Chain:
    """``first && second || third``."""

    start: int
    end: int
    items: list[tuple[str, Node]]
    """The operator of the first one is empty."""


@dataclass(slots=True, eq=False, repr=False)
class Pipeline:
    start: int
    end: int
    items: list[Node]
    negated: bool


@dataclass(slots=True, eq=False, repr=False)
class Background:
    start: int
    end: int
    body: Node


@dataclass(slots=True, eq=False, repr=False)
class Group:
    """``{ ...; }`` or ``( ... )``."""

    start: int
    end: int
    body: list[Node]
    subshell: bool
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class If:
    start: int
    end: int
    clauses: list[tuple[list[Node], list[Node]]]
    otherwise: list[Node]
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class For:
    start: int
    end: int
    name: str
    head: tuple[int, int]
    words: list[Written] | None
    """None iterates over the positional parameters."""
    body: list[Node]
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class Count:
    """``for ((a; b; c))``."""

    start: int
    end: int
    first: list[Part]
    test: list[Part]
    step: list[Part]
    body: list[Node]
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class While:
    start: int
    end: int
    test: list[Node]
    until: bool
    body: list[Node]
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class Case:
    start: int
    end: int
    word: Written
    items: list[tuple[list[Written], list[Node], str]]
    """Patterns, statements, and what ends them: ``;;``, ``;&`` or ``;;&``."""
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class Function:
    start: int
    end: int
    name: str
    body: Node


@dataclass(slots=True, eq=False, repr=False)
class Test:
    """``[[ ... ]]``."""

    start: int
    end: int
    test: Condition | None
    """None where it could not be read."""
    redirects: list[Redirect]


@dataclass(slots=True, eq=False, repr=False)
class Calculation:
    """``((...))``."""

    start: int
    end: int
    body: list[Part]
    redirects: list[Redirect]


Node = Simple | Chain | Pipeline | Background | Group | If | For | Count | While | Case | Function | Test | Calculation


@dataclass(slots=True, eq=False, repr=False)
class Unary:
    operator: str
    operand: Written


@dataclass(slots=True, eq=False, repr=False)
class Binary:
    operator: str
    left: Written
    right: Written


@dataclass(slots=True, eq=False, repr=False)
class Not:
    operand: Condition


@dataclass(slots=True, eq=False, repr=False)
class Both:
    left: Condition
    right: Condition


@dataclass(slots=True, eq=False, repr=False)
class Either:
    left: Condition
    right: Condition


Condition = Unary | Binary | Not | Both | Either
