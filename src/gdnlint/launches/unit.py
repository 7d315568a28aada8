"""Launches in systemd units (``systemd.service``) and in the container units of Podman (``podman-systemd.unit``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from gdnlint.documents import dotenv
from gdnlint.documents.shell import Invocation, Run
from gdnlint.documents.unit import Entry, entries, words
from gdnlint.launches import containers, scripts
from gdnlint.launches.commands import mounted, unwrap
from gdnlint.launches.containers import Container
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch
from gdnlint.launches.scalars import runs, split
from gdnlint.launches.scripts import Found
from gdnlint.launches.started import SCRIPT
from gdnlint.launches.templates import replaced
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Cuts, Hole, Piece, Place, Text, Word

KIND = "unit"

_PREFIX = re.compile(r"[-@:+!|]*")
_UNIT = re.compile(r"(?:[ \t]*(?:[#;][^\n]*)?\n)*[ \t]*\[(?:Unit|Service|Container)\][ \t]*\n")
_STARTS = re.compile(r"^[ \t]*(?:ExecStart|Image)[ \t]*=", re.MULTILINE)
_SPECIFIER = re.compile(r"%([A-Za-z%])")
_VARIABLE = re.compile(r"\$\$|\$\{([A-Za-z_]\w*)\}")
_WHOLE = re.compile(r"\$([A-Za-z_]\w*)")
_DEEPEST = 20
"""Folders on the way to a file."""
_MOST_COMMANDS = 200
_RUNS = ("ExecStartPre", "ExecStart")

_SPECIFIERS = {
    "h": Hole("the home directory of the unit's user (%h)", "HOME", one_word=True),
    "i": Hole("the name of the unit's instance (%i)", one_word=True),
    "I": Hole("the name of the unit's instance (%I)", one_word=True),
}


def launches(source: Source, context: Context) -> list[Launch]:
    """The engines that a unit starts, with the drop-ins that lie beside it; for a drop-in, those of its unit."""
    directory = source.file.parent

    def find(inner: Context) -> Iterator[Found]:
        reader = _Reader(inner, directory)
        reader.read(source)
        yield from reader.container()
        yield from reader.service()

    return scripts.explore(find, context, directory, KIND)


def written(text: Text, span: Span, context: Context, directory: Path) -> Iterator[Found]:
    """The engines that a unit starts whose text stands in another file: a script writes it, a page shows it.

    ``span`` is where the text is, for what in it has no place of its own.
    """
    if not context.may_read(len(text.marked())):
        return
    reader = _Reader(context, directory, cuts=Cuts(text), place=span)
    reader.entries = list(entries(Source(span.source.path, text.marked(), span.source.file)))
    yield from reader.container()
    yield from reader.service()


def is_unit(text: str) -> bool:
    """Whether a text that has no name is a unit that starts something."""
    return _UNIT.match(text) is not None and _STARTS.search(text) is not None


@dataclass(slots=True)
class _Reader:
    """One reading of a unit, in one scenario."""

    context: Context
    directory: Path
    """Where the unit lies; its drop-ins lie below."""
    entries: list[Entry] = field(default_factory=list)
    env: dict[str, Text] = field(default_factory=dict)
    """What the process gets."""
    cuts: Cuts | None = None
    """Of a unit that stands in another file: its text. The entries' offsets are those of this text."""
    place: Span | None = None

    def words(self, value: Fragment) -> Iterator[tuple[Text, Span, str]]:
        """The words of a value with their places, specifiers replaced; and each as it is written."""
        for word, span in words(value):
            yield specified(self.text(word)), self.span(span), span.text

    def text(self, fragment: Fragment) -> Text:
        if self.cuts is None:
            return Text(tuple(runs(fragment)))
        found = (self.cuts.cut(fragment.offset(first), fragment.offset(end - 1) + 1) for first, end in fragment.runs())
        return Text(tuple(piece for part in found for piece in part.pieces))

    def span(self, span: Span) -> Span:
        if self.cuts is None:
            return span
        assert self.place is not None
        source = self.place.source
        spans = [piece.span for piece in self.cuts.cut(span.start, span.end).pieces if piece.span is not None]
        own = [one for one in spans if one.source is source]
        return Span(source, own[0].start, max(own[-1].end, own[0].start)) if own else self.place

    def read(self, source: Source) -> None:
        """The unit's entries and those of its drop-ins behind them, in the order of their names."""
        main = source.file
        if source.file.suffix == ".conf":
            self.directory = source.file.parent.parent
            main = self.directory / source.file.parent.name.removesuffix(".d")
        drop_ins = main.parent / f"{main.name}.d"
        names = [name for name in self.context.project.names(drop_ins) if name.endswith(".conf")]
        for path in (main, *(drop_ins / name for name in names)):
            if path == source.file:
                self.entries += entries(source)
            elif self.context.project.exists(path):
                self.entries += self.entries_of(path)

    def entries_of(self, path: Path) -> Iterator[Entry]:
        source = self.context.source(path)
        if source is not None:
            yield from entries(source)

    def all(self, section: str, *names: str) -> list[Entry]:
        """The entries of some names; an empty one takes those of its name before it away."""
        found: list[Entry] = []
        for entry in self.entries:
            if entry.section != section or entry.name not in names:
                continue
            if not entry.value.text:
                found = [one for one in found if one.name != entry.name]
            else:
                found.append(entry)
        return found

    # Processes

    def service(self) -> Iterator[Found]:
        self.env = self.environment("Service")
        entries = (entry for name in _RUNS for entry in self.all("Service", name))
        commands = list(islice((one for entry in entries for one in self.commands(entry)), _MOST_COMMANDS))
        for found in scripts.in_run(Run(commands, [], []), self.context, self.directory):
            yield replace(found, command=replace(found.command, env={**self.env, **found.command.env}))
        for invocation in commands:
            yield from self.script(invocation)

    def commands(self, entry: Entry) -> Iterator[Invocation]:
        """The command lines of an entry: one, or several with ``;`` as a word between them."""
        lines: list[list[tuple[Text, Span]]] = [[]]
        for word, span, raw in self.words(entry.value):
            if raw == ";":
                lines.append([])
            else:
                lines[-1].append((word, span))
        for line in lines:
            if line:
                yield Invocation(self.command(line), dict(self.env), self.span(entry.span))

    def command(self, line: Sequence[tuple[Text, Span]]) -> tuple[Word, ...]:
        first, span = line[0]
        match = _PREFIX.match(first.marked())
        prefix = match.group() if match is not None else ""
        program = Word(first.cut(len(prefix)), span)
        # Behind `@` comes what the process is called.
        rest = line[2:] if "@" in prefix else line[1:]
        made = [program]
        for text, place in rest:
            made += [Word(text, place)] if ":" in prefix else self.expanded(text, place)
        return tuple(made)

    def expanded(self, text: Text, span: Span) -> list[Word]:
        """``${X}`` in a word as what it is, ``$X`` as a word of its own as all its words; any other ``$`` is one."""
        whole = _WHOLE.fullmatch(text.marked())
        if whole is None:
            return [Word(replaced(text, _VARIABLE, self.variable), span)]
        value = self.env.get(whole.group(1))
        if value is None:
            return [Word(Text.of(_unset(whole.group(1)), span), span, spread=True)]
        return [replace(word, span=span) for word in split(value, span)]

    def variable(self, name: str) -> Text:
        if not name:
            return Text.of("$")
        return self.env[name] if name in self.env else Text.of(_unset(name))

    def script(self, invocation: Invocation) -> Iterator[Found]:
        """The engines that a script of the project starts, where the unit runs it."""
        command = unwrap(invocation.words, invocation.env, self.context.knowledge)
        if command is None or not command.words or command.entry or command.script is not None:
            return
        name = command.words[0].text.marked()
        path = self.file(name) if SCRIPT.search(name) else None
        if path is not None:
            yield from scripts.in_file(path, command, invocation, self.context)

    def file(self, name: str) -> Path | None:
        """The file of the project that a path on the machine is a copy of: the one with the longest same end."""
        parts = [part for part in name.split("/") if part]
        if "\0" in name or ".." in parts or len(parts) > _DEEPEST:
            return None
        for at in range(len(parts)):
            for folder in (self.directory, self.context.project.root):
                path = folder.joinpath(*parts[at:])
                if self.context.project.exists(path):
                    return path
        return None

    # Containers

    def container(self) -> Iterator[Found]:
        images = self.all("Container", "Image")
        if not images:
            return
        self.env = self.environment("Container")
        image = images[-1]
        run, entrypoint = self.all("Container", "Exec"), self.all("Container", "Entrypoint")
        mounts = (mounted(t, s) for entry in self.all("Container", "Volume") for t, s, _ in self.words(entry.value))
        made = Container(
            span=self.span((run[-1] if run else image).span),
            command=self.container_words(run),
            entrypoint=self.container_words(entrypoint) if entrypoint else None,
            image=specified(self.text(image.value)),
            image_span=self.span(image.span),
            env=self.env,
            mounts=tuple(mount for mount in mounts if mount is not None),
        )
        yield from containers.found(made, self.context, self.directory)

    def container_words(self, found: Sequence[Entry]) -> tuple[Word, ...]:
        if not found:
            return ()
        return tuple(Word(text, span) for text, span, _ in self.words(found[-1].value))

    # The environment

    def environment(self, section: str) -> dict[str, Text]:
        """``Environment=``, then what its files set, which wins."""
        env: dict[str, Text] = {}
        for entry in self.all(section, "Environment"):
            for text, _, _ in self.words(entry.value):
                name, equals, _ = text.marked().partition("=")
                if equals:
                    place = Place(self.span(entry.span), f"{name} is set here")
                    value = text.cut(len(name) + 1).pieces or (Piece(""),)
                    env[name] = Text(tuple(piece._replace(via=(*piece.via, place)) for piece in value))
        for entry in self.all(section, "EnvironmentFile"):
            for text, _, _ in self.words(entry.value):
                path = self.file(text.marked().removeprefix("-"))
                env.update(self.variables(path) if path is not None else {})
        env.update({name: Text.of(value) for name, value in self.context.env.items() if name in env})
        return env

    def variables(self, path: Path) -> dict[str, Text]:
        source = self.context.source(path)
        return {name: found.text for name, found in dotenv.read(source, "unit").items()} if source is not None else {}


def _unset(name: str) -> Hole:
    return Hole(f"the environment variable {name}", name)


def specified(text: Text) -> Text:
    """A text with its specifiers replaced: ``%%`` is ``%``, what the machine decides is a hole."""
    return replaced(text, _SPECIFIER, _specifier)


def _specifier(letter: str) -> Text:
    if letter == "%":
        return Text.of("%")
    return Text.of(_SPECIFIERS.get(letter) or Hole(f"what %{letter} stands for in the unit", one_word=True))
