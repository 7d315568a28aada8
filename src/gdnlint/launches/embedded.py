"""Launches in strings and argument lists of YAML files: ``run: |``, ``command:``, ``server_cmd: [...]``, guides."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from gdnlint.documents.shell import Script, run_script
from gdnlint.documents.yaml import Loaded
from gdnlint.knowledge.schema import Knowledge
from gdnlint.launches import requirements, scripts, workflows
from gdnlint.launches.commands import Command, engine_of_image, unwrap
from gdnlint.launches.context import Context
from gdnlint.launches.installs import installed
from gdnlint.launches.model import Launch, VersionHint
from gdnlint.launches.scalars import Scalars, block
from gdnlint.launches.scripts import Found
from gdnlint.launches.templates import filled, without_placeholders
from gdnlint.source import Source, Span
from gdnlint.values import Text, Value, Word, World, members_of

KIND = "embedded command"

_PROSE = re.compile(
    r"(?:.*_)?(?:descr\w*|notes?|summary|title|comments?|help|docs?|documentation|messages?|reasons?|caveats?|warnings?"
    r"|tips?|changelog|question|answer|details|rationale|about)",
    re.IGNORECASE,
)
"""Keys whose strings are for people."""

_VARIABLES = ("env", "envs", "environment", "env_vars", "environment_variables", "variables")
_ARGUMENTS = ("args", "arguments")
_COMMANDS = ("command", "cmd", "entrypoint", "executable", "script")
_PROGRAMS = {"module": ("python", "-m"), "program": ("python",)}
"""Keys of what an editor runs as a Python module or file, with ``args`` beside them."""
_MORE = ("_extra", "_extra_args", "_append", "_args")
"""What follows the key of a command in the key of the words that are added to it."""

_MOST_COMMANDS = 200
_MOST_MEMBERS = 1_000
"""Variables of a mapping that are read."""
_MOST_IMAGES = 50
"""Images that one mapping names."""
_INSTALLS = re.compile(r"\b(?:install|add|sync)\b")
_MOST_INSTALLS = 4
"""Texts before a command that are run for what they install."""
_MOST_STEPS = 50
"""Steps of a job that are looked at."""
_MOST_FIELDS = 8
"""Values of one name that are tried for a template's field."""


def heads(context: Context) -> re.Pattern[str]:
    """What a text that starts an engine or framework must hold."""
    found = context.project.memory.get("command heads")
    if found is None:
        found = context.project.memory["command heads"] = _heads(context.knowledge)
    assert isinstance(found, re.Pattern)
    return found


def _heads(knowledge: Knowledge) -> re.Pattern[str]:
    parts: set[str] = set()
    gap = r"[\s\\'\",]+"
    for framework in knowledge.frameworks:
        recognised = framework.recognise
        parts |= {gap.join(re.escape(word) for word in command) for command in recognised.commands}
        parts |= {re.escape(name.strip("*")) for name in (*recognised.modules, *recognised.scripts) if name.strip("*")}
        parts |= {re.escape(name.strip("*/")) for name in recognised.images}
    for engine in knowledge.engines.values():
        parts |= {re.escape(name.strip("*/")) for name in engine.images}
    for other in knowledge.other_engines:
        parts |= {gap.join(re.escape(word) for word in command) for command in other.commands}
        parts |= {re.escape(name.strip("*")) for name in other.modules if name.strip("*")}
    parts |= {re.escape(module) for module in knowledge.module_commands}
    return re.compile("|".join(sorted(parts, key=len, reverse=True)))


@dataclass(frozen=True, slots=True)
class _Site:
    """A string or list that may be a command, with the mappings around it, the outermost first."""

    value: Value
    extra: Value | None
    """Words that are added to it."""
    around: tuple[Value, ...]
    key: str


def launches(
    loaded: Loaded, root: Value, source: Source, context: Context, skip: frozenset[str] = frozenset()
) -> list[Launch]:
    """The launches in one YAML document's strings and lists; ``skip`` are keys that somebody else reads."""
    from gdnlint.launches import fences

    scalars = Scalars([loaded])
    mappings = _Mappings(scalars, context.knowledge)
    out: list[Launch] = []
    sites: list[_Site] = []
    for site in _sites(root, heads(context), skip):
        fragment = loaded.fragment(site.value)
        if fragment is not None and fences.has_fences(fragment.text):
            hints = _Reading(context, scalars, mappings, site, source).images()
            out += fences.in_fragment(fragment, source, context, hints)
        elif not _PROSE.fullmatch(site.key) and len(sites) < _MOST_COMMANDS:
            sites.append(site)
    if not sites:
        return out

    def find(inner: Context) -> Iterator[Found]:
        for site in sites:
            if not inner.may_read(0):
                return
            yield from _Reading(inner, scalars, mappings, site, source).found()

    return out + scripts.explore(find, context, source.file.parent, KIND)


def _sites(root: Value, wanted: re.Pattern[str], skip: frozenset[str]) -> Iterator[_Site]:
    """Every string and argument list that holds the beginning of a command, in order, each place once."""
    seen: set[tuple[str, int, int]] = set()
    # An alias gives the same string again.
    known: dict[int, bool] = {}
    used = _used_by_alias(root)
    stack: list[tuple[Value, tuple[Value, ...], str, Value | None]] = [(root, (), "", None)]
    while stack:
        value, around, key, extra = stack.pop()
        if isinstance(value.data, dict):
            joined = _joined(value)
            if joined is not None:
                command, arguments = joined
                stack.append((command, (*around, value), _last(command.name), arguments))
            for name, member in reversed(value.data.items()):
                if joined is not None and any(member.span == part.span for part in joined):
                    continue
                if name in skip or _is_anchor(name, member, used):
                    continue
                more = next((found for tail in _MORE if (found := value.data.get(name + tail)) is not None), None)
                stack.append((member, (*around, value), name, more))
            continue
        if isinstance(value.data, list):
            plain = not any(isinstance(item.data, dict | list) for item in value.data)
            if extra is not None and plain:
                # One command in two lists: neither of them may hold all of its beginning.
                if wanted.search(f"{_flat(value)} {_flat(extra)}"):
                    yield _Site(value, extra, around, key)
                continue
            text = _flat(value)
            if plain and wanted.search(text):
                if not any(isinstance(item.data, str) and wanted.search(item.data) for item in value.data):
                    yield _Site(value, extra, around, key)
                    continue
                if extra is not None or _is_argv(value):
                    yield _Site(value, extra, around, key)
                    continue
            stack += [(item, around, key, None) for item in reversed(value.data)]
            continue
        if isinstance(value.data, str | Text) and value.span is not None:
            text = value.data if isinstance(value.data, str) else value.data.marked()
            begins = known.get(id(value.data)) if extra is None else None
            if begins is None:
                whole = text if extra is None else f"{text} {_flat(extra)}"
                begins = wanted.search(whole) is not None
            if extra is None:
                known[id(value.data)] = begins
            if begins:
                place = _use(value).key()
                if place not in seen:
                    seen.add(place)
                    yield _Site(value, extra, around, key)


def _flat(value: Value) -> str:
    """The scalars of a list in one line; a scalar as it is."""
    items = value.data if isinstance(value.data, list) else [value]
    return " ".join(str(item.plain()) for item in items if not isinstance(item.data, dict | list))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _joined(mapping: Value) -> tuple[Value, Value] | None:
    """A command and its arguments under keys of their own."""
    assert isinstance(mapping.data, dict)
    for name in (*_COMMANDS, *_PROGRAMS):
        command = mapping.data.get(name)
        if command is None or isinstance(command.data, dict):
            continue
        if name in _PROGRAMS and isinstance(command.data, str):
            words = [Value(word, command.span) for word in _PROGRAMS[name]]
            command = replace(command, data=[*words, replace(command)])
        for more in _ARGUMENTS:
            arguments = mapping.data.get(more)
            if arguments is not None and isinstance(arguments.data, list | str):
                return command, arguments
    return None


def _is_argv(value: Value) -> bool:
    """Whether the items of a list are words of one command (and not commands of their own)."""
    items = [item.data for item in value.data] if isinstance(value.data, list) else []
    words = [item for item in items if isinstance(item, str)]
    if not words:
        return False
    flags = [word for word in words if word.startswith("-")]
    return bool(flags) and " " not in words[0].strip()


def _used_by_alias(root: Value) -> set[tuple[str, int, int]]:
    """Places of values that are used through an alias."""
    used: set[tuple[str, int, int]] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if value.places and value.span is not None:
            used.add(value.span.key())
        if isinstance(value.data, dict):
            stack += value.data.values()
        elif isinstance(value.data, list):
            stack += value.data
    return used


def _is_anchor(name: str, value: Value, used: set[tuple[str, int, int]]) -> bool:
    """Whether a member is only there to be used elsewhere (``_cmd: &cmd ...``)."""
    return (
        name.startswith(("_", ".", "x-")) and value.span is not None and not value.places and value.span.key() in used
    )


def _use(value: Value) -> Span:
    """Where a value is used: the alias, or its own lines."""
    place = value.places[0] if value.places else None
    if place is not None and place.what.startswith("taken from anchor"):
        return place.span
    return block(value)


class _Mappings:
    """What the mappings around commands say; each is looked at once, however many commands it holds."""

    def __init__(self, scalars: Scalars, knowledge: Knowledge) -> None:
        self.scalars = scalars
        self.knowledge = knowledge
        self._variables: dict[int, dict[str, Text]] = {}
        self._images: dict[int, tuple[VersionHint, ...]] = {}
        self._fields: dict[int, dict[str, list[Value]]] = {}
        self.matrices: dict[int, workflows.Matrix] = {}
        self.installs: dict[int, tuple[VersionHint, ...]] = {}
        """What the texts that were run install, by text."""

    def variables(self, mapping: Value) -> dict[str, Text]:
        """The environment that a mapping sets, its templates as they stand."""
        found = self._variables.get(id(mapping))
        if found is None:
            found = self._variables[id(mapping)] = {}
            for key in _VARIABLES:
                given = members_of(mapping).get(key)
                for name, value in islice(variables_of(given), _MOST_MEMBERS) if given is not None else ():
                    text = self.scalars.text(value)
                    if text is not None:
                        found[name] = text
        return found

    def images(self, mapping: Value) -> tuple[VersionHint, ...]:
        """What a mapping installs, and images that it names, itself or in a mapping in it."""
        if id(mapping) not in self._images:
            named = islice(self._named_images(members_of(mapping)), _MOST_IMAGES)
            asked = islice(requirements.in_mapping(mapping, self.scalars, self.knowledge), _MOST_IMAGES)
            self._images[id(mapping)] = (*asked, *named)
        return self._images[id(mapping)]

    def _named_images(self, members: dict[str, Value]) -> Iterator[VersionHint]:
        for key, member in members.items():
            inner = member.data.values() if isinstance(member.data, dict) and len(member.data) < 20 else ()
            for value in (member, *inner):
                if not isinstance(value.data, str) or value.span is None or ":" not in value.data:
                    continue
                text = self.scalars.text(value)
                if text is None:
                    continue
                if value.data.startswith("docker:"):
                    text = text.cut(len("docker:"))
                if "image" in key or "image" in _last(value.name) or engine_of_image(text, self.knowledge):
                    yield VersionHint(text, value.span, "image")

    def fields(self, mapping: Value, name: str) -> Iterator[Value]:
        """The values of a name in a mapping, and in the mappings in it."""
        members = members_of(mapping)
        if name in members:
            yield members[name]
        found = self._fields.get(id(mapping))
        if found is None:
            found = self._fields[id(mapping)] = {}
            for member in members.values():
                for key, value in members_of(member).items():
                    found.setdefault(key, []).append(value)
        yield from found.get(name, ())[:_MOST_FIELDS]


@dataclass(slots=True)
class _Reading:
    """One site in one scenario."""

    context: Context
    scalars: Scalars
    mappings: _Mappings
    site: _Site
    source: Source
    env: dict[str, Text] = field(default_factory=dict)
    used: str = ""
    """What the command and the variables around it say, as written."""

    def found(self) -> Iterator[Found]:
        self.env = self.variables()
        value, extra = self.site.value, self.site.extra
        hints = self.images() or self.installs()
        if isinstance(value.data, list) or (extra is not None and isinstance(extra.data, list)):
            yield from self.looks(self.argv(value, extra, hints))
            return
        text = self.scalars.text(value)
        if text is None or value.span is None:
            return
        span = value.span
        if extra is not None and (more := self.scalars.text(extra)) is not None:
            text = text + Text.of(" ") + more
            span = _both(span, extra.span) if extra.span is not None else span
        yield from self.looks(self.script(text, span, hints))

    def argv(self, value: Value, extra: Value | None, hints: tuple[VersionHint, ...]) -> Iterator[Found]:
        words = self.scalars.words(value, self.change) or ()
        if extra is not None:
            words += self.scalars.words(extra, self.change) or ()
        span = _use(value)
        if extra is not None and extra.span is not None:
            span = _both(span, _use(extra))
        command = Command(words, env=self.env, hints=hints)
        yield from scripts.in_process(command, span, self.context, self.source.file.parent)

    def script(self, text: Text, span: Span, hints: tuple[VersionHint, ...]) -> Iterator[Found]:
        directory = self.source.file.parent
        if not self.context.may_read(len(text.marked())):
            return
        script = Script.of(self.change(text), span)
        run = run_script(
            script, self.context.world(World(texts=self.env)), project=self.context.project, directory=directory
        )
        self.context.ran(run.steps)
        self.context.ask(q for q in run.questions if q.name not in self.env)
        for found in scripts.in_run(run, self.context, directory):
            env = {**self.env, **found.command.env}
            yield replace(found, command=replace(found.command, env=env, hints=found.command.hints + hints))

    def looks(self, everything: Iterator[Found]) -> Iterator[Found]:
        """Commands that are more than a mention: at least one flag, override or word that nothing decides."""
        for found in everything:
            if any(_is_setting(word) for word in found.command.words):
                yield found

    def change(self, text: Text) -> Text:
        return without_placeholders(filled(text, self.default, self.expression))

    def default(self, name: str) -> Text | None:
        """The value that a template's field has in a mapping beside the template, the nearest first."""
        for mapping in reversed(self.site.around):
            for value in self.mappings.fields(mapping, name):
                found = self.plain(value)
                if found is not None:
                    return found
        return None

    def plain(self, value: Value | None) -> Text | None:
        """A scalar that is not itself the template, or what a description of a field says its default is."""
        if value is None or value.span is self.site.value.span:
            return None
        if isinstance(value.data, dict):
            return self.plain(value.data.get("default"))
        text = self.scalars.text(value)
        if text is None:
            return None
        marked = text.marked()
        return None if "{" in marked and not marked.lstrip().startswith('{"') else text

    def variables(self) -> dict[str, Text]:
        """The environment that the mappings around a command set."""
        env: dict[str, Text] = {}
        for mapping in self.site.around:
            env.update(self.mappings.variables(mapping))
        self.used = "\n".join([_flat(self.site.value), *(text.marked() for text in env.values())])
        env.update(workflows.variables(self.job()))
        return {name: filled(text, None, self.expression) for name, text in env.items() if name not in self.context.env}

    def expression(self, inner: str) -> Text | None:
        return workflows.value_of(inner, self.job(), self.env)

    def job(self) -> workflows.Job:
        return workflows.Job(self.site.around, self.used, self.scalars, self.context, self.mappings.matrices)

    def images(self) -> tuple[VersionHint, ...]:
        """Packages that the mappings around a command list, and images that they name, the nearest first."""
        return tuple(hint for mapping in reversed(self.site.around) for hint in self.mappings.images(mapping))

    def installs(self) -> tuple[VersionHint, ...]:
        """What texts before the command install, in the mappings around it and in their lists (the steps of a job)."""
        start = self.site.value.span.start if self.site.value.span is not None else 0
        texts = (text for mapping in reversed(self.site.around) for text in _texts(mapping))
        before = [t for t in texts if t.span is not None and t.span.start < start and _INSTALLS.search(str(t.data))]
        return tuple(hint for text in before[:_MOST_INSTALLS] for hint in reversed(self.installed(text)))

    def installed(self, value: Value) -> tuple[VersionHint, ...]:
        made = self.mappings.installs.get(id(value))
        if made is None:
            text = self.scalars.text(value)
            found: list[VersionHint] = []
            if text is not None and value.span is not None and self.context.may_read(len(text.marked())):
                world = self.context.world(World(texts=self.env))
                directory = self.source.file.parent
                run = run_script(
                    Script.of(self.change(text), value.span), world, project=self.context.project, directory=directory
                )
                self.context.ran(run.steps)
                for invocation in run.invocations:
                    command = unwrap(invocation.words, invocation.env, self.context.knowledge)
                    if command is not None and command.image is None:
                        found += installed(command, self.context.knowledge)
            made = self.mappings.installs[id(value)] = tuple(found)
        return made


def _texts(mapping: Value) -> Iterator[Value]:
    """The strings of a mapping, the last first, and those of the mappings in its lists."""
    for member in reversed(members_of(mapping).values()):
        items = member.data if isinstance(member.data, list) else ()
        inner = [text for item in reversed(items[-_MOST_STEPS:]) for text in members_of(item).values()]
        yield from (value for value in (member, *inner) if isinstance(value.data, str))


def variables_of(given: Value) -> Iterator[tuple[str, Value]]:
    """``X: 1`` or ``- {name: X, value: 1}``."""
    if isinstance(given.data, dict):
        yield from ((name, value) for name, value in given.data.items() if re.fullmatch(r"[A-Za-z_]\w*", name))
        return
    for item in given.data if isinstance(given.data, list) else []:
        name, value = item.at(["name"]), item.at(["value"])
        if isinstance(item.data, dict) and name is not None and isinstance(name.data, str) and value is not None:
            yield name.data, value


def _is_setting(word: Word) -> bool:
    text = word.text.marked()
    return word.spread or (text.startswith("-") and len(text) > 1) or "=" in text or bool(word.text.holes)


def _both(first: Span, second: Span) -> Span:
    if first.source is not second.source:
        return first
    return Span(first.source, min(first.start, second.start), max(first.end, second.end))
