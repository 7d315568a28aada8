"""Launches in Kubernetes manifests: each container that starts an engine, in whatever kind of object it stands, and
objects that a controller turns into such containers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from gdnlint.documents.yaml import Loaded, load
from gdnlint.knowledge.schema import Framework, Manifest
from gdnlint.launches import containers, scripts
from gdnlint.launches.containers import Container
from gdnlint.launches.context import Context
from gdnlint.launches.model import Insertion, Launch, Variant
from gdnlint.launches.scalars import MOST_WORDS, Scalars, block
from gdnlint.launches.scripts import Found
from gdnlint.source import Source
from gdnlint.values import MOST_PIECES, Cuts, Hole, Joined, Piece, Place, Text, Value, members_of

MOST_VARIABLES = 1_000
"""Variables of a container that are read."""
MOST_HOPS = 16
"""Variables of variables whose places are kept."""

CONTAINERS = frozenset({"containers", "initContainers", "ephemeralContainers"})

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)")

Change = Callable[[Text], Text]


def is_manifest(root: Value) -> bool:
    """Whether a document is an object of a Kubernetes API."""
    return isinstance(root.data, dict) and {"apiVersion", "kind"} <= root.data.keys()


def launches(
    loaded: Loaded, root: Value, source: Source, context: Context, change: Change | None = None
) -> list[Launch]:
    """The engines that an object's containers start; ``change`` is what a template does to every text."""
    directory = source.file.parent
    scalars = Scalars([loaded])
    change = change or (lambda text: text)
    out = _controlled(root, source, context, _Reader(scalars, change))
    theirs = {id(value) for value in _completed(root, context)}
    inside = [value for value in _containers(root) if value.span is not None and id(value) not in theirs]
    if not inside:
        return out

    def find(inner: Context) -> Iterator[Found]:
        yield from _in_containers(inside, _Reader(scalars, change), inner, directory)

    return out + scripts.explore(find, context, directory, containers.KIND)


def controlled(root: Value, source: Source, context: Context, loaded: Loaded) -> list[Launch]:
    """The launches that controllers make of a document's objects, its texts as they are."""
    return _controlled(root, source, context, _Reader(Scalars([loaded]), lambda text: text))


def found(root: Value, loaded: Loaded, context: Context, directory: Path) -> Iterator[Found]:
    """What the containers of an object start in one scenario, its texts as they are."""
    theirs = {id(value) for value in _completed(root, context)}
    inside = [value for value in _containers(root) if value.span is not None and id(value) not in theirs]
    yield from _in_containers(inside, _Reader(Scalars([loaded]), lambda text: text), context, directory)


def _in_containers(inside: list[Value], reader: _Reader, context: Context, directory: Path) -> Iterator[Found]:
    for value in inside:
        if not context.may_read(0):
            return
        yield from containers.found(reader.container(value), context, directory)


def objects(root: Value) -> Iterator[Value]:
    """The objects of a document: itself, or the items of a list."""
    items = root.at(["items"])
    if is_manifest(root) and items is not None and isinstance(items.data, list):
        yield from (item for item in items.data if is_manifest(item))
    else:
        yield root


def _controlled(root: Value, source: Source, context: Context, reader: _Reader) -> list[Launch]:
    """The launches that controllers make of objects."""
    out: list[Launch] = []
    for item in objects(root):
        controller = _controller(item, context)
        if controller is None or item.span is None or not context.has_room(item.span.key()):
            continue
        span = block(item) if item is not root else item.span
        tree = reader.with_texts(item, reader.filled(item), controller[1].texts)
        variant = Variant(tree=tree, base=tree, own=item, insertion=Insertion("key", span, "yaml"))
        out.append(Launch(span, "manifest", controller[0], None, source.file.parent, [variant]))
    return out


def _completed(root: Value, context: Context) -> Iterator[Value]:
    """The containers of objects that get their command from a controller."""
    for item in objects(root):
        controller = _controller(item, context)
        if controller is not None and controller[1].completes:
            yield from (value for value in _containers(item) if value.at(["command"]) is None)


def _controller(item: Value, context: Context) -> tuple[Framework, Manifest] | None:
    """The framework whose controller reads an object, and the kind of object that it is."""
    assert isinstance(item.data, dict)
    api, kind = item.data.get("apiVersion"), item.data.get("kind")
    if api is None or kind is None or not isinstance(api.data, str):
        return None
    for framework in context.knowledge.frameworks:
        for manifest in framework.recognise.manifests:
            if kind.data == manifest.kind and fnmatchcase(api.data, manifest.api):
                return framework, manifest
    return None


def _containers(root: Value) -> Iterator[Value]:
    """Every container, in the order of the file."""
    stack: list[tuple[str, Value]] = [("", root)]
    while stack:
        name, value = stack.pop()
        if isinstance(value.data, dict):
            stack += reversed([(key, member) for key, member in value.data.items()])
        elif isinstance(value.data, list):
            if name in CONTAINERS:
                yield from (item for item in value.data if isinstance(item.data, dict))
            else:
                stack += [("", item) for item in reversed(value.data)]


@dataclass(frozen=True, slots=True)
class _Reader:
    scalars: Scalars
    change: Change

    def container(self, value: Value) -> Container:
        env = self.environment(value)
        members = members_of(value)

        def changed(text: Text) -> Text:
            return expanded(self.change(text), env)

        command, arguments, image = members.get("command"), members.get("args"), members.get("image")
        text = self.scalars.text(image) if image is not None else None
        return Container(
            span=block(value),
            command=(self.scalars.words(arguments, changed) if arguments is not None else None) or (),
            entrypoint=self.scalars.words(command, changed) if command is not None and command.data else None,
            image=self.change(text) if text is not None else None,
            image_span=image.span if image is not None else None,
            env=env,
        )

    def filled(self, value: Value, env: dict[str, Text] | None = None, key: str = "") -> Value:
        """An object with its texts as the container sees them: templates filled in, variables in arguments expanded."""
        if isinstance(value.data, dict):
            given = value.data.get("env")
            env = self.environment(value) if given is not None and isinstance(given.data, list) else env
            return replace(value, data={name: self.filled(member, env, name) for name, member in value.data.items()})
        if isinstance(value.data, list):
            return replace(value, data=[self.filled(item, env, key) for item in value.data[:MOST_WORDS]])
        text = self.scalars.text(value) if isinstance(value.data, str) else None
        if text is None:
            return value
        made = self.change(text)
        if key in ("args", "command"):
            made = expanded(made, env or {})
        known = made.known
        return value if known == value.data else replace(value, data=made if known is None else known)

    def with_texts(self, item: Value, tree: Value, keys: tuple[str, ...]) -> Value:
        """An object with the YAML that stands in some of its texts as a part of it."""
        for key in keys:
            path = key.split(".")
            value = item.at(path)
            fragments = (loaded.fragment(value) for loaded in self.scalars.loaded) if value is not None else iter(())
            fragment = next((found for found in fragments if found is not None), None)
            inner = load(fragment, "yaml12") if fragment is not None else None
            if inner is not None and inner.documents:
                tree = tree.with_(path, inner.documents[0])
        return tree

    def environment(self, value: Value) -> dict[str, Text]:
        env: dict[str, Text] = {}
        pieces = 0
        given = value.at(["env"])
        for item in given.data[:MOST_VARIABLES] if given is not None and isinstance(given.data, list) else []:
            name, plain = item.at(["name"]), item.at(["value"])
            if name is None or not isinstance(name.data, str):
                continue
            if plain is not None:
                text = self.scalars.text(plain)
                made = expanded(self.change(text), env) if text is not None else Text()
                pieces += len(made.pieces)
                if pieces > MOST_PIECES:
                    made = Text.of(Hole(f"the variable {name.data}, which grows too large"), plain.span)
                env[name.data] = made
            elif item.at(["valueFrom"]) is not None:
                env[name.data] = Text.of(Hole(f"the variable {name.data}, whose value stands elsewhere in the cluster"))
        return env


def expanded(text: Text, env: dict[str, Text]) -> Text:
    """``$(NAME)`` replaced by a container's variable; ``$$`` is ``$``; a name that is not set stays as it is.

    As the API has it for command, args and env (EnvVar.value, Container.command).
    """
    marked = text.marked()
    if "$" not in marked:
        return text
    made, cuts = Joined(), Cuts(text)
    plain = 0
    for match in _REFERENCE.finditer(marked):
        name = match.group(1)
        if name is not None and name not in env:
            continue
        if made.is_full:
            break
        made.add(cuts.cut(plain, match.start()).pieces)
        if name is None:
            made.add(cuts.cut(match.start(), match.start() + 1).pieces)
        else:
            made.add(_hop(piece, name) for piece in env[name].pieces)
        plain = match.end()
    made.add(cuts.cut(plain).pieces)
    return made.text()


def _hop(piece: Piece, name: str) -> Piece:
    if len(piece.via) >= MOST_HOPS:
        return piece
    place = (Place(piece.span, f"{name} is set here"),) if piece.span is not None else ()
    return Piece(piece.content, piece.span, (*place, *piece.via))
