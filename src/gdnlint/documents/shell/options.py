"""The options of a script: what a loop over its arguments takes (``while [ $# -gt 0 ]; do case $1 in --mtp) ...``).

By default a script is read as if it were called without arguments. Each option that stands in such a loop
is a question ``arg:--mtp``: ``on`` for one that takes no value, else what its value is compared with later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdnlint.documents.shell.expand import text_of_constant
from gdnlint.documents.shell.state import Shell
from gdnlint.documents.shell.syntax import Case, Chain, Group, If, Node, Simple
from gdnlint.source import Span
from gdnlint.values import Text, Word

ON = "on"
"""The answer for an option that takes no value."""
MOST = 64
"""Options of a loop."""
_NAME = re.compile(r"--?[A-Za-z][\w-]*")
_TAKES_NEXT = re.compile(r"\$\{?2\b|\bshift[ \t]+2\b|\bshift\b[\s;&]+[^\n]{0,80}\$\{?1\b")
_OF_THE_VALUE = re.compile(r"\$\{?(?:[12]\b|OPTARG\b|[A-Za-z_]\w*#)")


@dataclass(frozen=True, slots=True)
class Option:
    """One branch of the ``case``."""

    name: str
    value: str
    """``""``: it takes none; ``next``: the next word; ``=``: behind an equals sign in the same word."""
    body: Sequence[Node]
    span: Span

    @property
    def question(self) -> str:
        return f"arg:{self.name}"

    def words(self, answer: str) -> list[Word]:
        """As a person types it."""
        texts = [self.name] if not self.value else [self.name, answer]
        texts = [f"{self.name}={answer}"] if self.value == "=" else texts
        return [Word(Text.of(text), self.span) for text in texts]


def note(shell: Shell, body: Sequence[Node]) -> None:
    """Asks about every option of a loop, and remembers the variables that take an option's value."""
    for option in _options(shell, body):
        ask(shell, option.question, option.span, bool(option.value))
        if option.value:
            note_value(shell, option.question, option.body)


def ask(shell: Shell, question: str, span: Span, takes_value: bool) -> None:
    """A question about an option, with its witness if it takes no value."""
    asked = shell.ask(question, span)
    if not takes_value:
        asked.witnesses.setdefault(ON)


def note_value(shell: Shell, question: str, body: Sequence[Node]) -> None:
    """The variables that a branch sets to the value of its option are copies of that."""
    for node in _flat(body):
        for assignment in node.assignments if isinstance(node, Simple) and not node.words else ():
            if assignment.items is not None or not _OF_THE_VALUE.search(shell.script.text, node.start, node.end):
                continue
            shell.optional[assignment.name] = shell.optional.get(assignment.name, frozenset()) | {question}
            before = shell.find(assignment.name)
            known = before.scalar.known if before is not None and before.scalar is not None else None
            if known:
                shell.asked[question].defaults.add(known)


def given(shell: Shell, body: Sequence[Node]) -> list[Word]:
    """The words of the options that this world gives to a loop, each once a run."""
    if not any(name.startswith("arg:-") for name in shell.world.answers):
        return []
    words: list[Word] = []
    for option in _options(shell, body):
        answer = shell.world.answers.get(option.question)
        if answer is not None and option.question not in shell.given:
            shell.given.add(option.question)
            words += option.words(answer)
    return words


def _options(shell: Shell, body: Sequence[Node]) -> Iterator[Option]:
    count = 0
    for node in _flat(body):
        for patterns, inner, _ in node.items if isinstance(node, Case) else ():
            texts = [text_of_constant(pattern.parts) or "" for pattern in patterns]
            names = [text for text in texts if _NAME.fullmatch(text.removesuffix("=*"))]
            if count >= MOST:
                return
            if not names:
                continue
            count += 1
            name = max(names, key=lambda text: (text.startswith("--"), not text.endswith("=*")))
            span = shell.script.span(patterns[0].start, patterns[-1].end)
            reads = bool(inner) and _TAKES_NEXT.search(shell.script.text, inner[0].start, inner[-1].end)
            value = "=" if name.endswith("=*") else "next" if reads else ""
            yield Option(name.removesuffix("=*"), value, inner, span)


def _flat(body: Sequence[Node], depth: int = 0) -> Iterator[Node]:
    """Statements, and those inside of groups and conditions."""
    if depth > 6:
        return
    for node in body:
        yield node
        if isinstance(node, If):
            for _, inner in node.clauses:
                yield from _flat(inner, depth + 1)
            yield from _flat(node.otherwise, depth + 1)
        elif isinstance(node, Group):
            yield from _flat(node.body, depth + 1)
        elif isinstance(node, Chain):
            yield from _flat([item for _, item in node.items], depth + 1)


def letters(layout: str) -> list[tuple[str, bool]]:
    """The options of ``getopts`` and whether each takes a value: ``m:s`` gives m with one, s without."""
    found = re.findall(r"([A-Za-z0-9])(:?)", layout.lstrip(":"))
    return [(letter, bool(colon)) for letter, colon in found[:MOST]]


def branch(body: Sequence[Node], letter: str) -> Sequence[Node]:
    """What a loop over ``getopts`` does for one letter."""
    for node in _flat(body):
        for patterns, inner, _ in node.items if isinstance(node, Case) else ():
            if any(text_of_constant(pattern.parts) == letter for pattern in patterns):
                return inner
    return ()
