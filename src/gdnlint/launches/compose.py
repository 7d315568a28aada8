"""Launches in Compose files: each service that starts an engine is one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from gdnlint.documents import dotenv
from gdnlint.documents.yaml import Loaded
from gdnlint.launches import containers, scripts
from gdnlint.launches.commands import mounted
from gdnlint.launches.containers import Container
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch, ModelHint
from gdnlint.launches.scalars import Scalars, block
from gdnlint.launches.scripts import Found
from gdnlint.launches.templates import filled
from gdnlint.launches.witnesses import of_default
from gdnlint.project import Unreadable
from gdnlint.source import Source, Span
from gdnlint.values import Cuts, Hole, Joined, Piece, Problem, Question, Text, Value, Word

MOST_VARIABLES = 1_000
"""Variables of a service that are read."""
_DEEPEST = 8
"""Defaults inside of defaults, services that extend services."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_compose(root: Value) -> bool:
    """Whether a mapping is a Compose file: services that have an image, a build, a command or a parent."""
    services = root.at(["services"])
    if services is None or not isinstance(services.data, dict) or "apiVersion" in _members(root):
        return False
    return any(
        key in _members(service)
        for service in services.data.values()
        for key in ("image", "build", "command", "extends")
    )


def _members(value: Value | None) -> dict[str, Value]:
    return value.data if value is not None and isinstance(value.data, dict) else {}


def launches(loaded: Loaded, root: Value, source: Source, context: Context) -> list[Launch]:
    """The engines that a Compose file's services start."""
    directory = source.file.parent

    def find(inner: Context) -> Iterator[Found]:
        reader = _Reader(inner, directory, Scalars([loaded]))
        for service in reader.services(loaded, root):
            yield from containers.found(service, inner, directory)

    return scripts.explore(find, context, directory, containers.KIND)


@dataclass(slots=True)
class _Reader:
    """One reading of a Compose file, in one scenario."""

    context: Context
    directory: Path
    scalars: Scalars
    dotenv: Mapping[str, Text] | None = None
    read: dict[str, Text] = field(default_factory=dict)

    def services(self, loaded: Loaded, root: Value) -> Iterator[Container]:
        for service in _members(root.at(["services"])).values():
            if (
                isinstance(service.data, dict)
                and service.span is not None
                and service.span.source is loaded.text.source
            ):
                if not self.context.may_read(0):
                    return
                made = self.service(self.extended(service, root, 0))
                if made is not None:
                    yield made

    def service(self, service: Value) -> Container | None:
        assert service.span is not None
        members = _members(service)
        entrypoint, command = members.get("entrypoint"), members.get("command")
        image = members.get("image")
        text = self.scalars.text(image) if image is not None else None
        env, passed = self.environment(service)
        return Container(
            span=block(service),
            command=(self.words(command) if command is not None else None) or (),
            entrypoint=self.words(entrypoint) if entrypoint is not None else None,
            image=self.interpolated(text) if text is not None else None,
            image_span=image.span if image is not None else None,
            env=env,
            mounts=tuple(self.mounts(members.get("volumes"))),
            passed=passed,
        )

    def mounts(self, volumes: Value | None) -> Iterator[ModelHint]:
        """``- HOST:PATH``, ``- {source: HOST, target: PATH}``."""
        for item in volumes.data if volumes is not None and isinstance(volumes.data, list) else []:
            source, target = item.at(["source"]), item.at(["target"])
            if isinstance(item.data, dict):
                texts = [self.scalars.text(v) for v in (source, target) if v is not None]
                if len(texts) < 2 or texts[0] is None or texts[1] is None:
                    continue
                text = self.interpolated(texts[0] + Text.of(":") + texts[1])
            else:
                plain = self.scalars.text(item)
                text = self.interpolated(plain) if plain is not None else Text()
            found = mounted(text, item.span) if item.span is not None else None
            if found is not None:
                yield found

    def words(self, value: Value) -> tuple[Word, ...] | None:
        return self.scalars.words(value, self.interpolated)

    def interpolated(self, text: Text) -> Text:
        return interpolate(filled(text) if "{{" in text.marked() else text, self.variable)

    # The environment

    def environment(self, service: Value) -> tuple[dict[str, Text], dict[str, str]]:
        """The variables that a service sets, and which of them are copies of variables outside."""
        env: dict[str, Text] = {}
        passed: dict[str, str] = {}
        files = service.at(["env_file"])
        for file in self.env_files(files) if files is not None else []:
            env.update({name: self.interpolated(text) for name, text in file.items()})
        given = service.at(["environment"])
        for name, text, value in self.entries(given) if given is not None else []:
            passed.pop(name, None)
            if text is None:
                outside = self.variable(name, value.span, None)
                passed[name] = name
                if outside is not None:
                    env[name] = outside
                else:
                    env.pop(name, None)
                continue
            env[name] = self.interpolated(text)
            copied = re.fullmatch(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?:[:?+-].*)?\})", text.marked(), re.DOTALL)
            if copied:
                passed[name] = copied.group(1) or copied.group(2)
        return env, passed

    def entries(self, given: Value) -> Iterator[tuple[str, Text | None, Value]]:
        """(name, value as written, where): ``X: 1``, ``- X=1``; without a value it comes from outside."""
        if isinstance(given.data, dict):
            for name, value in islice(given.data.items(), MOST_VARIABLES):
                yield name, self.scalars.text(value), value
            return
        for item in given.data[:MOST_VARIABLES] if isinstance(given.data, list) else []:
            text = self.scalars.text(item)
            if text is None:
                continue
            name, equals, _ = text.marked().partition("=")
            yield name.strip(), text.cut(len(name) + 1) if equals else None, item

    def env_files(self, given: Value) -> Iterator[Mapping[str, Text]]:
        for item in given.data if isinstance(given.data, list) else [given]:
            path = item.at(["path"]) if isinstance(item.data, dict) else item
            text = self.scalars.text(path) if path is not None else None
            known = self.interpolated(text).known if text is not None else None
            found = self.env_file(self.directory / known) if known and "\0" not in known else None
            if found is not None:
                yield found

    def env_file(self, path: Path) -> Mapping[str, Text] | None:
        if not self.context.project.exists(path):
            return None
        try:
            return dotenv.read(self.context.project.source(path))
        except Unreadable as error:
            self.context.report([error.problem])
            return None

    def variable(self, name: str, span: Span | None, default: Text | None) -> Text | None:
        """A variable of the environment that Compose itself runs in; None if it is unset."""
        if span is not None:
            self.context.ask([Question(name, of_default(default, self.context.knowledge), span)])
        world = self.context.world()
        if name in world.env:
            return Text.of(world.env[name], span)
        if self.dotenv is None:
            self.dotenv = self.env_file(self.directory / ".env") or {}
        return self.dotenv.get(name)

    # Inheritance

    def extended(self, service: Value, root: Value, depth: int) -> Value:
        """A service with what it extends."""
        extends = service.at(["extends"])
        if extends is None or depth >= _DEEPEST:
            return service
        name = extends if isinstance(extends.data, str) else extends.at(["service"])
        file = extends.at(["file"]) if isinstance(extends.data, dict) else None
        if name is None or not isinstance(name.data, str):
            return service
        if file is not None:
            other = self.file(file)
            if other is None:
                return service
            root = other
        base = root.at(["services", name.data])
        if base is None or not isinstance(base.data, dict):
            return service
        base = self.extended(base, root, depth + 1)
        return _over(base, service)

    def file(self, file: Value) -> Value | None:
        text = self.scalars.text(file)
        known = self.interpolated(text).known if text is not None else None
        path = self.directory / known if known and "\0" not in known else None
        if path is None or not self.context.project.exists(path):
            return None
        loaded = self.context.loader("yaml12").loaded(path)
        if isinstance(loaded, Problem):
            self.context.report([loaded])
            return None
        self.scalars.loaded.append(loaded)
        return next((d for d in loaded.documents if isinstance(d.data, dict)), None)


def _over(base: Value, service: Value) -> Value:
    """A service over the one it extends: mappings merge, variables by their names, anything else is replaced."""
    merged = Value({k: v for k, v in _members(base).items() if k != "extends"}, service.span).merged(
        Value({k: v for k, v in _members(service).items() if k != "extends"}, service.span)
    )
    below, above = base.at(["environment"]), service.at(["environment"])
    if below is not None and above is not None and not (isinstance(below.data, dict) and isinstance(above.data, dict)):
        both = [*_as_items(below), *_as_items(above)]
        merged = merged.with_(["environment"], Value(list(both), above.span))
    return Value(merged.data, service.span, service.places, service.route, service.name)


def _as_items(value: Value) -> list[Value]:
    if isinstance(value.data, list):
        return value.data
    out = []
    for name, member in _members(value).items():
        if isinstance(member.data, dict | list):
            continue
        plain = name if member.data is None else f"{name}={member.plain()}"
        out.append(Value(plain, member.span, member.places))
    return out


# -- interpolation -----------------------------------------------------------------------------------------------------

Variable = Callable[[str, "Span | None", "Text | None"], "Text | None"]
"""(name, where, default) -> the variable's value; None if it is unset."""


def interpolate(text: Text, variable: Variable, depth: int = 0) -> Text:
    """``$X``, ``${X}``, ``${X:-default}``, ``${X-default}``, ``${X:?message}``, ``${X:+other}``; ``$$`` is ``$``.

    As the Compose specification has it; what is unset and has no default is a hole.
    """
    marked = text.marked()
    if "$" not in marked:
        return text
    made, cuts, closing = Joined(), Cuts(text), _closing(marked)
    at, plain = 0, 0
    while (at := marked.find("$", at)) >= 0 and not made.is_full:
        made.add(cuts.cut(plain, at).pieces)
        end = at + 1
        if marked[end : end + 1] == "$":
            made.add(cuts.cut(end, end + 1).pieces)
            end += 1
        elif (match := _NAME.match(marked, end)) is not None:
            end = match.end()
            made.add(_value(match.group(), "", None, _span(cuts.cut(at, end)), variable, depth))
        elif marked[end : end + 1] == "{" and end in closing:
            close = closing[end]
            inner = _NAME.match(marked, end + 1)
            if inner is None:
                made.add(cuts.cut(at, close + 1).pieces)
            else:
                operator = re.compile(r":?[-?+]?").match(marked, inner.end(), close)
                used = operator.group() if operator else ""
                argument = cuts.cut(inner.end() + len(used), close)
                made.add(_value(inner.group(), used, argument, _span(cuts.cut(at, close + 1)), variable, depth))
            end = close + 1
        else:
            made.add(cuts.cut(at, end).pieces)
        at = plain = end
    made.add(cuts.cut(plain).pieces)
    return made.text()


def _closing(marked: str) -> dict[int, int]:
    """Each brace that opens -> the one that closes it, where one does."""
    found: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"[{}]", marked):
        if match.group() == "{":
            opened.append(match.start())
        elif opened:
            found[opened.pop()] = match.start()
    return found


def _span(text: Text) -> Span | None:
    spans = [p.span for p in text.pieces if p.span is not None]
    if not spans or spans[0].source is not spans[-1].source:
        return spans[0] if spans else None
    return Span(spans[0].source, spans[0].start, max(spans[-1].end, spans[0].start))


def _value(
    name: str, operator: str, argument: Text | None, span: Span | None, variable: Variable, depth: int
) -> tuple[Piece, ...]:
    default = argument if operator in (":-", "-") else None
    found = variable(name, span, default)
    missing = found is None or (operator.startswith(":") and found.known == "")
    if operator in (":+", "+"):
        return _inner(argument, variable, depth) if not missing else ()
    if not missing:
        assert found is not None
        return found.pieces
    if default is not None:
        return _inner(default, variable, depth)
    return (Piece(Hole(f"the environment variable {name}", name), span),)


def _inner(argument: Text | None, variable: Variable, depth: int) -> tuple[Piece, ...]:
    if argument is None:
        return ()
    return interpolate(argument, variable, depth + 1).pieces if depth < _DEEPEST else argument.pieces
