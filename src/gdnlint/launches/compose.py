"""Launches in Compose files: each service that starts an engine is one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from gdnlint.configs import compose as files
from gdnlint.documents import dotenv
from gdnlint.documents.yaml import Loaded
from gdnlint.launches import containers, dockerfile, scripts
from gdnlint.launches.commands import mounted
from gdnlint.launches.containers import Container
from gdnlint.launches.context import Context
from gdnlint.launches.dockerfile import Stage
from gdnlint.launches.model import Launch, ModelHint, VersionHint, Written
from gdnlint.launches.scalars import Scalars, block
from gdnlint.launches.scripts import Found
from gdnlint.launches.templates import filled
from gdnlint.launches.variables import interpolate
from gdnlint.launches.witnesses import of_default
from gdnlint.source import Source, Span
from gdnlint.values import Problem, Question, Text, Value, Word, members_of

MOST_VARIABLES = 1_000
"""Variables of a service that are read."""
_DEEPEST = 8
"""Services that extend services, files that include files."""
_MOST_FILES = 32
"""Files that one file includes."""

_TOP = frozenset({"name", "version", "services", "include", "networks", "volumes", "configs", "secrets", "models"})
"""Keys of a Compose file, beside those that begin with ``x-``."""
_SERVICE = frozenset({"image", "build", "command", "extends", "entrypoint", "environment", "env_file"})
"""Keys that tell a service of a Compose file from what else may be called so."""


def is_compose(root: Value) -> bool:
    """Whether a mapping is a Compose file: it has services with an image, a build or a command, or includes others."""
    members = members_of(root)
    if "apiVersion" in members:
        return False
    services = members.get("services")
    if services is None:
        return "include" in members and all(key in _TOP or key.startswith("x-") for key in members)
    return any(_SERVICE & members_of(service).keys() for service in members_of(services).values())


def launches(loaded: Loaded, root: Value, source: Source, context: Context) -> list[Launch]:
    """The engines that a Compose file's services start, with the override file that Compose merges over it.

    For an override file: the services that it changes, as the two files make them.
    """
    directory = source.file.parent
    group = files.together(source.file, context.project)
    only = set(members_of(root.at(["services"]))) if source.file == group[-1] != group[0] else None

    def find(inner: Context) -> Iterator[Found]:
        reader = _Reader(inner, directory)
        roots = [reader.use(loaded, root) if path == source.file else reader.document(path) for path in group]
        for service in reader.services([one for one in roots if one is not None]):
            if only is None or service.name in only:
                yield from containers.found(service, inner, directory)

    return scripts.explore(find, context, directory, containers.KIND)


@dataclass(frozen=True, slots=True)
class _Home:
    """What the relative paths and the variables of a file go by."""

    directory: Path
    dotenvs: tuple[Path, ...] = ()


@dataclass(slots=True)
class _Reader:
    """One reading of Compose files, in one scenario."""

    context: Context
    directory: Path
    """Of the project: what relative paths go by, and where its ``.env`` lies."""
    scalars: Scalars = field(default_factory=lambda: Scalars([]))
    homes: dict[int, _Home] = field(default_factory=dict)
    """By the identity of a source; those of included and extended files."""
    built: dict[str, Stage] = field(default_factory=dict)
    """Images that services build, by their names."""
    texts: dict[Path, Mapping[str, Text]] = field(default_factory=dict)
    """What files of variables set."""
    configs: Mapping[str, Value] = field(default_factory=dict)
    secrets: Mapping[str, Value] = field(default_factory=dict)

    # Files

    def use(self, loaded: Loaded, root: Value, home: _Home | None = None) -> Value:
        if not any(loaded is one for one in self.scalars.loaded):
            self.scalars.loaded.append(loaded)
        if home is not None:
            self.homes[id(loaded.text.source)] = home
        return root

    def document(self, path: Path, home: _Home | None = None) -> Value | None:
        """The mapping that another file holds; None, and a problem, if it cannot be read."""
        if not self.context.project.exists(path):
            return None
        loaded = self.context.loader("yaml12").loaded(path)
        if isinstance(loaded, Problem):
            self.context.report([loaded])
            return None
        root = next((d for d in loaded.documents if isinstance(d.data, dict)), None)
        return self.use(loaded, root, home) if root is not None else None

    def tag(self, value: Value) -> str:
        return next((tag for loaded in self.scalars.loaded if (tag := loaded.merge_tag(value))), "")

    def path(self, value: Value | None) -> Path | None:
        """The file or folder that a path names, from the directory that its own file goes by."""
        text = self.scalars.text(value) if value is not None else None
        known = self.interpolated(text).known if text is not None else None
        if not known or "\0" in known or value is None:
            return None
        return self.home(value.span).directory / known

    def home(self, span: Span | None) -> _Home:
        found = self.homes.get(id(span.source)) if span is not None else None
        return found or _Home(self.directory)

    # Services

    def services(self, roots: Sequence[Value]) -> Iterator[Container]:
        """The containers of files that are merged, the first one below."""
        count = len(roots)
        roots = [*roots, *self.included(roots, 0)]
        whole = Value({})
        for root in [*roots[count:], *roots[:count]]:
            whole = files.merged(whole, root, self.tag)
        self.configs = members_of(whole.at(["configs"]))
        self.secrets = members_of(whole.at(["secrets"]))
        merged = members_of(whole.at(["services"]))
        whole = whole.with_(["services"], Value({n: self.extended(s, whole, 0) for n, s in merged.items()}))
        for service in members_of(whole.at(["services"])).values():
            self.note_build(service)
        for name, service in members_of(whole.at(["services"])).items():
            place = self.place(name, roots)
            if isinstance(service.data, dict) and place is not None:
                if not self.context.may_read(0):
                    return
                yield self.service(name, service, place)

    def place(self, name: str, roots: Sequence[Value]) -> Span | None:
        """Where a service is written: in the first file that has it."""
        found = (root.at(["services", name]) for root in roots)
        return next((block(one) for one in found if one is not None and one.span is not None), None)

    def included(self, roots: Iterable[Value], depth: int) -> Iterator[Value]:
        """The files that files include, with what those include below them."""
        for root in roots:
            given = root.at(["include"])
            items = given.data if given is not None and isinstance(given.data, list) else []
            for item in items[:_MOST_FILES] if depth < _DEEPEST else []:
                paths = _listed(item.at(["path"]) if isinstance(item.data, dict) else item)
                found = [path for path in map(self.path, paths) if path is not None]
                if not found or not self.context.may_read(0):
                    continue
                home = self.included_home(item, found[0])
                read = [one for one in (self.document(path, home) for path in found) if one is not None]
                yield from self.included(read, depth + 1)
                yield from read

    def included_home(self, item: Value, first: Path) -> _Home:
        directory = self.path(item.at(["project_directory"])) if isinstance(item.data, dict) else None
        directory = directory or first.parent
        given = _listed(item.at(["env_file"])) if isinstance(item.data, dict) else []
        dotenvs = [path for path in map(self.path, given) if path is not None]
        return _Home(directory, tuple(dotenvs) or (directory / ".env",))

    def extended(self, service: Value, root: Value, depth: int) -> Value:
        """A service over the one that it extends."""
        extends = service.at(["extends"])
        if extends is None or depth >= _DEEPEST:
            return service
        name = extends if isinstance(extends.data, str) else extends.at(["service"])
        file = extends.at(["file"]) if isinstance(extends.data, dict) else None
        if name is None or not isinstance(name.data, str):
            return service
        if file is not None:
            path = self.path(file)
            other = self.document(path, _Home(path.parent, self.home(file.span).dotenvs)) if path is not None else None
            if other is None:
                return service
            root = other
        base = root.at(["services", name.data])
        if base is None or not isinstance(base.data, dict):
            return service
        base = self.extended(base, root, depth + 1).without(["extends"])
        made = files.merged(base, service.without(["extends"]), self.tag)
        return replace(made, span=service.span, places=service.places, route=service.route, name=service.name)

    def service(self, name: str, service: Value, place: Span) -> Container:
        members = {key: value for key, value in members_of(service).items() if self.tag(value) != "!reset"}
        entrypoint, command = self.given(members.get("entrypoint")), self.given(members.get("command"))
        image = members.get("image")
        text = self.scalars.text(image) if image is not None else None
        named = self.interpolated(text) if text is not None else None
        span = image.span if image is not None else None
        env, passed = self.environment(service)
        stage = self.stage(members.get("build"), named)
        files_of_stage: tuple[ModelHint, ...] = ()
        written: tuple[Written, ...] = ()
        hints: tuple[VersionHint, ...] = ()
        if stage is not None:
            named, span, env = stage.image, stage.span, {**stage.env, **env}
            if entrypoint is None:
                entrypoint, command = stage.entrypoint, stage.command if command is None else command
            files_of_stage, written, hints = stage.files, stage.written, stage.installed
        return Container(
            span=place,
            command=command or (),
            entrypoint=entrypoint,
            image=named,
            image_span=span,
            env=env,
            mounts=(
                *reversed(list(self.mounts(members.get("volumes")))),
                *self.mounted_files(members),
                *files_of_stage,
            ),
            passed=passed,
            written=(*self.contents(members), *written),
            installed=hints,
            name=name,
        )

    def given(self, value: Value | None) -> tuple[Word, ...] | None:
        return self.scalars.words(value, self.interpolated) if value is not None else None

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
                yield replace(found, directory=self.home(item.span).directory)

    def words(self, value: Value) -> tuple[Word, ...] | None:
        return self.scalars.words(value, self.interpolated)

    def interpolated(self, text: Text) -> Text:
        return interpolate(filled(text) if "{{" in text.marked() else text, self.variable)

    # What a service finds in its container

    def uses(self, members: Mapping[str, Value]) -> Iterator[tuple[Value, str, Span]]:
        """Each config and secret of a service: what it is, the path where it lies, where it is named."""
        for key, table, folder in (("configs", self.configs, "/"), ("secrets", self.secrets, "/run/secrets/")):
            for item in _listed(members.get(key))[:MOST_VARIABLES]:
                name = item.data if isinstance(item.data, str) else _plain(item.at(["source"]))
                what = table.get(name) if name is not None else None
                if what is None or name is None or item.span is None:
                    continue
                target = (_plain(item.at(["target"])) if isinstance(item.data, dict) else None) or name
                yield what, target if target.startswith("/") else folder + target, item.span

    def mounted_files(self, members: Mapping[str, Value]) -> Iterator[ModelHint]:
        for what, target, span in self.uses(members):
            path = self.path(what.at(["file"]))
            if path is not None:
                shown = self.context.project.display(path)
                yield ModelHint(target, Text.of(str(path)), span, f"{shown} is mounted at {target}")

    def contents(self, members: Mapping[str, Value]) -> Iterator[Written]:
        for what, target, _ in self.uses(members):
            content = what.at(["content"])
            text = self.scalars.text(content) if content is not None else None
            if text is not None and content is not None and content.span is not None:
                yield Written(target, self.interpolated(text), content.span)

    # Images

    def note_build(self, service: Value) -> None:
        image = service.at(["image"])
        text = self.scalars.text(image) if image is not None else None
        known = self.interpolated(text).known if text is not None else None
        if known and service.at(["build"]) is not None and known not in self.built:
            stage = self.stage(service.at(["build"]), None)
            if stage is not None:
                self.built[known] = stage

    def stage(self, build: Value | None, image: Text | None) -> Stage | None:
        """What a service builds, or what another one of the project builds under the name of its image."""
        if build is None or build.data is None:
            return self.built.get(image.known) if image is not None and image.known else None
        detailed = isinstance(build.data, dict)
        context = build.at(["context"]) if detailed else build
        folder = self.path(context) if context is not None else self.home(build.span).directory
        if folder is None:
            return None
        name = _plain(build.at(["dockerfile"])) if detailed else None
        arguments: dict[str, Text] = {}
        given = build.at(["args"]) if detailed else None
        for key, text, value in self.entries(given) if given is not None else []:
            found = self.interpolated(text) if text is not None else self.variable(key, value.span, None)
            if found is not None:
                arguments[key] = found
        target = build.at(["target"]) if detailed else None
        wanted = self.scalars.text(target) if target is not None else None
        known = self.interpolated(wanted).known if wanted is not None else ""
        if known is None:
            return None
        return dockerfile.image(folder / (name or "Dockerfile"), folder, self.context, arguments, known)

    # The environment

    def environment(self, service: Value) -> tuple[dict[str, Text], dict[str, str]]:
        """The variables that a service sets, and which of them are copies of variables outside."""
        env: dict[str, Text] = {}
        passed: dict[str, str] = {}
        for file in _listed(service.at(["env_file"])):
            env.update(self.env_file(file))
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
                if self.tag(value) != "!reset":
                    yield name, self.scalars.text(value), value
            return
        for item in given.data[:MOST_VARIABLES] if isinstance(given.data, list) else []:
            text = self.scalars.text(item)
            if text is None:
                continue
            name, equals, _ = text.marked().partition("=")
            yield name.strip(), text.cut(len(name) + 1) if equals else None, item

    def env_file(self, item: Value) -> Mapping[str, Text]:
        """The variables of an item of ``env_file``: a path, or ``{path, required, format}``."""
        detailed = isinstance(item.data, dict)
        path = self.path(item.at(["path"]) if detailed else item)
        if path is None:
            return {}
        return self.variables_in(path, raw=detailed and _plain(item.at(["format"])) == "raw")

    def variables_in(self, path: Path, raw: bool = False) -> Mapping[str, Text]:
        """What a file of variables sets; it may use the environment, and what it has set before."""
        if path in self.texts:
            return self.texts[path]
        made: dict[str, Text] = {}
        self.texts[path] = made
        if not self.context.project.exists(path):
            return made
        source = self.context.source(path)
        if source is None:
            return made
        found = dotenv.read(source, "raw" if raw else "compose")

        def variable(name: str, _span: Span | None, _default: Text | None) -> Text | None:
            given = self.outside(name, None)
            return given if given is not None else made.get(name)

        for name, (text, literal) in found.items():
            made[name] = text if literal else interpolate(text, variable)
        return made

    def outside(self, name: str, span: Span | None) -> Text | None:
        """A variable of the environment that Compose is started in."""
        world = self.context.world()
        return Text.of(world.env[name], span) if name in world.env else None

    def variable(self, name: str, span: Span | None, default: Text | None) -> Text | None:
        """A variable as Compose replaces it: of the environment, else of files of variables; None if it is unset."""
        if span is not None:
            self.context.ask([Question(name, of_default(default, self.context.knowledge), span)])
        found = self.outside(name, span)
        if found is not None:
            return found
        for path in (self.directory / ".env", *reversed(self.home(span).dotenvs)):
            texts = self.variables_in(path)
            if name in texts:
                return texts[name]
        return None


def _listed(value: Value | None) -> list[Value]:
    if value is None or value.data is None:
        return []
    return value.data if isinstance(value.data, list) else [value]


def _plain(value: Value | None) -> str | None:
    return value.data if value is not None and isinstance(value.data, str) else None
