"""Launches in files of programs that start a command for each name, where macros stand for parts of the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from gdnlint.documents.yaml import Loaded
from gdnlint.knowledge.schema import CommandTable
from gdnlint.launches import scripts
from gdnlint.launches.commands import Command
from gdnlint.launches.context import CHARACTERS_OF_A_WORD, Context
from gdnlint.launches.embedded import KIND
from gdnlint.launches.model import Launch
from gdnlint.launches.recipes import has_key
from gdnlint.launches.scalars import Scalars, block, split
from gdnlint.launches.scripts import Found
from gdnlint.launches.templates import replaced
from gdnlint.source import Source, Span
from gdnlint.values import Cuts, Hole, Joined, Piece, Place, Text, Value, Word

MOST_COMMANDS = 200
MOST_MACROS = 1_000
"""Macros of a mapping that are read."""
_DEEPEST = 64
"""Macros in macros."""
_MOST_HOPS = 16
"""Places of macros in macros that are kept."""

_REFERENCE = re.compile(r"\$\{([A-Za-z0-9_.-]+)\}")
_BETWEEN = re.compile(r"^[ \t]*#[^\n]*$|\\[ \t]*$", re.MULTILINE)
"""Comments, which are taken out before macros are filled in, and the ends of lines that go on."""


def table_of(root: Value, context: Context) -> CommandTable | None:
    """The kind of file that a document is; None if it is none of them."""
    for table in context.knowledge.command_tables:
        if any(all(has_key(root, key) for key in keys) for keys in table.recipe):
            return table
    return None


def launches(loaded: Loaded, root: Value, table: CommandTable, source: Source, context: Context) -> list[Launch]:
    """The engines that the commands of a file start."""
    scalars = Scalars([loaded])
    above, _, key = table.commands.partition(".*.")
    members = root.at(above.split("."))
    everything = members.data if members is not None and isinstance(members.data, dict) else {}
    shared = _macros(root, table)
    entries: list[_Entry] = []
    for name, member in islice(everything.items(), MOST_COMMANDS):
        command = member.at([key]) if isinstance(member.data, dict) else None
        if command is not None and command.span is not None and isinstance(command.data, str):
            entries.append(_Entry(name, member, command, {**shared, **_macros(member, table)}))

    def find(inner: Context) -> Iterator[Found]:
        for entry in entries:
            if not inner.may_read(len(str(entry.command.data))):
                return
            yield from _Reader(scalars, table, inner, entry).found(source)

    return scripts.explore(find, context, source.file.parent, KIND) if entries else []


def _macros(mapping: Value, table: CommandTable) -> dict[str, Value]:
    found = mapping.at([table.macros]) if table.macros else None
    return dict(islice(found.data.items(), MOST_MACROS)) if found is not None and isinstance(found.data, dict) else {}


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    member: Value
    command: Value
    macros: Mapping[str, Value]


@dataclass(slots=True)
class _Reader:
    """One command in one scenario."""

    scalars: Scalars
    table: CommandTable
    context: Context
    entry: _Entry
    order: dict[str, int] = field(default_factory=dict)
    """Macros by name, in the order of the file."""
    made: dict[str, Text] = field(default_factory=dict)
    """What macros stand for, as far as it was asked for."""
    depth: int = 0
    """Macros in which the one stands that is filled in."""

    def found(self, source: Source) -> Iterator[Found]:
        self.order = {name: number for number, name in enumerate(self.entry.macros)}
        value = self.entry.command
        text = self.scalars.text(value)
        assert text is not None and value.span is not None
        made = self.filled(replaced(text, _BETWEEN, lambda _: Text.of(" ")))
        if not self.context.may_read(len(made.marked()) + CHARACTERS_OF_A_WORD * len(made.pieces)):
            return
        span = block(value)
        words = tuple(_used(word) for word in split(made, span))
        if words:
            command = Command(words, env=self.environment())
            yield from scripts.in_process(command, span, self.context, source.file.parent)

    def environment(self) -> dict[str, Text]:
        """``[NAME=value]``."""
        listed = self.entry.member.at([self.table.environment]) if self.table.environment else None
        env: dict[str, Text] = {}
        for item in listed.data[:MOST_MACROS] if listed is not None and isinstance(listed.data, list) else []:
            text = self.scalars.text(item)
            made = self.filled(text) if text is not None else Text()
            name, equals, _ = made.marked().partition("=")
            if equals:
                env[name] = made.cut(len(name) + 1)
        return env

    def filled(self, text: Text, before: int = MOST_MACROS * 2) -> Text:
        """A text with its macros replaced, each piece of them with the place where the macro is used.

        In a macro only those ``before`` it are known: the program fills in the last one first, each once.
        """
        marked = text.marked()
        if "${" not in marked:
            return text
        made, cuts = Joined(), Cuts(text)
        plain = 0
        for match in _REFERENCE.finditer(marked):
            if made.is_full:
                break
            made.add(cuts.cut(plain, match.start()).pieces)
            plain = match.end()
            written = cuts.cut(match.start(), match.end()).pieces[0]
            used = (Place(written.span, "used here"),) if written.span is not None else ()
            for piece in self.macro(match.group(1), before).pieces:
                made.add([Piece(piece.content, piece.span or written.span, (*piece.via, *used)[-_MOST_HOPS:])])
        made.add(cuts.cut(plain).pieces)
        return made.text()

    def macro(self, name: str, before: int) -> Text:
        """What a macro stands for; a hole where the file does not say it."""
        table = self.table
        if table.variables and name.startswith(table.variables):
            variable = name.removeprefix(table.variables)
            given = self.context.world().env.get(variable)
            return Text.of(given if given is not None else Hole(f"the environment variable {variable}", variable))
        if name in table.names:
            return Text.of(self.entry.name)
        if name in table.given:
            return Text.of(Hole(table.given[name], one_word=True))
        place = self.order.get(name)
        if place is None or place >= before:
            return Text.of(Hole(f"the macro {name}, which the file does not define before it is used"))
        if self.depth >= _DEEPEST:
            return Text.of(Hole(f"the macro {name}, which stands for too many others"))
        if name not in self.made:
            text = self.scalars.text(self.entry.macros[name])
            self.depth += 1
            self.made[name] = self.filled(text, place) if text is not None else Text()
            self.depth -= 1
        return self.made[name]


def _used(word: Word) -> Word:
    """A word that a macro brings stands where the macro is used."""
    first = word.text.pieces[0] if word.text.pieces else None
    if first is None or not first.via or _is_within(first.span, word.span):
        return word
    return replace(word, span=first.via[-1].span)


def _is_within(inner: Span | None, outer: Span) -> bool:
    return (
        inner is not None and inner != outer and outer.source is inner.source and outer.start <= inner.start < outer.end
    )
