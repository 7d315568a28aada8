"""Launches in Dockerfiles: the process of each stage that says what runs."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gdnlint.documents.dockerfile import Heredoc, Instruction, instructions
from gdnlint.documents.shell import Script, run_script
from gdnlint.knowledge.schema import Knowledge
from gdnlint.launches import containers, scripts
from gdnlint.launches.commands import framework_of_image, mounted, unwrap
from gdnlint.launches.containers import Container
from gdnlint.launches.context import Context
from gdnlint.launches.installs import installed, named_for_the_version
from gdnlint.launches.model import Launch, ModelHint, VersionHint, Written
from gdnlint.launches.scalars import runs, split
from gdnlint.launches.scripts import Found
from gdnlint.launches.variables import interpolate
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Hole, Text, Word, World

_MOST_PIECES = 200
"""Pieces of a variable's value."""

_MOST_PINS = 32
"""Packages that a stage installs."""
_LONGEST_STEP = 20_000
"""Characters of a RUN step that is read as a script."""

_WRITES = re.compile(r">\s*[\"']?[\w./-]+\.(?:sh|bash)\b|>\s*/(?:usr/(?:local/)?bin/)?[\w-]+(?:\s|$)")
"""In a RUN step that may write a script."""
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stage:
    """What a stage has come to."""

    image: Text
    span: Span
    env: dict[str, Text] = field(default_factory=dict)
    entrypoint: tuple[Word, ...] | None = None
    command: tuple[Word, ...] = ()
    files: tuple[ModelHint, ...] = ()
    """What is copied into it, the last first."""
    written: tuple[Written, ...] = ()
    """Files in it that the Dockerfile itself spells out."""
    folder: str = "/"
    """Its working directory."""
    shell: tuple[str, ...] = ("/bin/sh", "-c")
    said: tuple[Span, ...] = ()
    """Its own ENTRYPOINT and CMD."""
    installed: tuple[VersionHint, ...] = ()
    """What its steps install, the last first."""
    name: str = ""
    """What other stages, and ``target``, call it."""
    arguments: Mapping[str, Text] = field(default_factory=dict)
    """The build's arguments at its end."""


def launches(source: Source, context: Context) -> list[Launch]:
    """The engines that a Dockerfile's stages start."""
    parsed = list(instructions(source))
    directory = source.file.parent

    def find(inner: Context) -> Iterator[Found]:
        outside = {name: Text.of(value) for name, value in inner.env.items()}
        stages = list(_stages(parsed, outside, inner.knowledge, directory))
        for number, stage in enumerate(stages, 1):
            # The last stage is what is built; it runs what its image does.
            if not stage.said and (number < len(stages) or framework_of_image(stage.image, inner.knowledge) is None):
                continue
            said = stage.said or (stage.span,)
            span = Span(source, min(s.start for s in said), max(s.end for s in said))
            made = Container(
                span, stage.command, stage.entrypoint, stage.image, stage.span, stage.env, mounts=stage.files,
                installed=stage.installed, written=stage.written,
            )  # fmt: skip
            yield from containers.found(made, inner, directory)

    return scripts.explore(find, context, directory, containers.KIND)


def pins(source: Source, outside: Mapping[str, Text], knowledge: Knowledge) -> Iterator[list[VersionHint]]:
    """What each stage says of the engine's release, the last stage first; ``outside``: arguments given to the build."""
    for stage in reversed(list(_stages(list(instructions(source)), outside, knowledge, source.file.parent))):
        hints = [*stage.installed, VersionHint(stage.image, stage.span, "image")]
        for engine in knowledge.engines.values():
            hints += named_for_the_version(engine, {**stage.arguments, **stage.env})
        yield hints


def image(
    path: Path, directory: Path, context: Context, arguments: Mapping[str, Text], target: str = ""
) -> Stage | None:
    """What a Dockerfile builds in the context ``directory``: its stage ``target``, or the last one.

    None if it is not in the project or has no such stage. ``arguments`` are those of ``--build-arg``.
    """
    if not context.project.exists(path):
        return None
    source = context.source(path)
    if source is None or not context.may_read(len(source.text)):
        return None
    outside = {**arguments, **{name: Text.of(value) for name, value in context.env.items()}}
    found = list(_stages(list(instructions(source)), outside, context.knowledge, directory))
    if target.isdigit():
        return found[int(target)] if int(target) < len(found) else None
    wanted = [stage for stage in found if not target or stage.name == target.lower()]
    return wanted[-1] if wanted else None


def _stages(
    parsed: list[Instruction], outside: Mapping[str, Text], knowledge: Knowledge, directory: Path
) -> Iterator[Stage]:
    """Each stage; ``directory`` is the one that it copies from, ``outside`` are arguments given to the build."""
    arguments: dict[str, Text] = {}
    named: dict[str, Stage] = {}
    stage: Stage | None = None
    name = ""
    for instruction in parsed:
        text = Text(tuple(runs(instruction.body)))
        if instruction.name == "ARG":
            key, value = _assigned(text)
            default = value if value is not None else arguments.get(key)
            if key in outside:
                arguments[key] = outside[key]
            elif default is not None:
                arguments[key] = _bounded(_filled(default, arguments, stage), key)
            continue
        if instruction.name == "FROM":
            if stage is not None:
                named[name] = stage
                yield replace(stage, name=name, arguments=dict(arguments))
            stage, name = _from(text, instruction, arguments, named)
            continue
        if stage is not None:
            stage = _after(stage, instruction, text, arguments, knowledge, directory)
    if stage is not None:
        yield replace(stage, name=name, arguments=dict(arguments))


def _from(
    text: Text, instruction: Instruction, arguments: dict[str, Text], named: dict[str, Stage]
) -> tuple[Stage, str]:
    words = [w for w in split(_filled(text, arguments, None), instruction.span) if not (w.known or "").startswith("--")]
    image = words[0].text if words else Text()
    name = (words[2].known or "") if len(words) > 2 else ""
    parent = named.get(image.marked())
    if parent is not None:
        return replace(parent, said=()), name.lower()
    return Stage(image, words[0].span if words else instruction.span), name.lower()


def _after(
    stage: Stage,
    instruction: Instruction,
    text: Text,
    arguments: dict[str, Text],
    knowledge: Knowledge,
    directory: Path,
) -> Stage:
    if instruction.name == "RUN":
        return _with_run(stage, instruction, arguments, knowledge)
    if instruction.name == "ENV":
        given = {n: _bounded(v, n) for n, v in _variables(text, instruction.span, arguments, stage)}
        return replace(stage, env={**stage.env, **given})
    if instruction.name == "SHELL":
        words = _exec(instruction.body)
        return replace(stage, shell=tuple(w.known or "" for w in words)) if words else stage
    if instruction.name in ("COPY", "ADD"):
        return _with_copies(stage, instruction, text, arguments, directory)
    if instruction.name == "WORKDIR":
        known = _trimmed(_filled(text, arguments, stage)).known
        return replace(stage, folder=_joined(stage.folder, known.strip())) if known else stage
    if instruction.name not in ("ENTRYPOINT", "CMD"):
        return stage
    words = _exec(instruction.body)
    shell = words is None
    if words is None:
        at = instruction.span
        words = (*(Word(Text.of(word), at) for word in stage.shell), Word(_trimmed(text), at))
    if instruction.name == "CMD":
        return replace(stage, command=words, said=(*stage.said, instruction.span))
    # A new entrypoint resets the command of the parent; one in shell form takes no command at all.
    kept = stage.command if stage.said and not shell else ()
    return replace(stage, entrypoint=words, command=kept, said=(*stage.said, instruction.span))


def _bounded(value: Text, name: str) -> Text:
    """A variable's value, unless it is made of very many others."""
    return value if len(value.pieces) <= _MOST_PIECES else Text.of(Hole(f"the variable {name}, which grows too large"))


def _with_copies(
    stage: Stage, instruction: Instruction, text: Text, arguments: dict[str, Text], directory: Path
) -> Stage:
    """A stage with the files that COPY or ADD brings from the project."""
    span = instruction.span
    words = [*(_exec(instruction.body) or split(_filled(text, arguments, stage), span))]
    if any((word.known or "").startswith("--from") for word in words):
        return stage
    words = [word for word in words if not (word.known or "").startswith("--")]
    target = words[-1].known if len(words) > 1 else None
    if target is None:
        return stage
    into_folder = target.endswith(("/", ".")) or len(words) > 2
    target = _joined(stage.folder, target)
    written = {heredoc.word: heredoc for heredoc in instruction.heredocs}
    files, texts = list[ModelHint](), list[Written]()
    for word in words[:-1]:
        heredoc = written.get(word.text.marked()) or _unquoted(written, word)
        if heredoc is not None:
            body = Text(tuple(runs(heredoc.body)))
            path = f"{target.rstrip('/')}/{heredoc.word.strip('<-')}" if into_folder else target
            texts.append(Written(path, body if heredoc.literal else _filled(body, arguments, stage), span))
            continue
        hint = mounted(word.text + Text.of(f":{target}"), span)
        if hint is not None:
            files.append(replace(hint, directory=directory))
    return replace(stage, files=(*reversed(files), *stage.files), written=(*reversed(texts), *stage.written))


def _unquoted(written: Mapping[str, Heredoc], word: Word) -> Heredoc | None:
    """A here-document whose delimiter is quoted, by its word without the quotes."""
    return next((h for name, h in written.items() if re.sub("[\"']", "", name) == word.text.marked()), None)


def _with_run(stage: Stage, instruction: Instruction, arguments: Mapping[str, Text], knowledge: Knowledge) -> Stage:
    """A stage with what a RUN step installs, the last first, and the files that it writes."""
    text = instruction.body.text
    options = re.match(r"(?:\s*--\w[\w-]*(?:=\S*)?)*\s*", text)
    body = instruction.body.cut(options.end() if options else 0, len(text))
    if instruction.heredocs and body.text.strip() == instruction.heredocs[0].word:
        body = instruction.heredocs[0].body
    installs = any(engine.package in body.text for engine in knowledge.engines.values())
    if len(body.text) > _LONGEST_STEP or not (installs or _WRITES.search(body.text)):
        return stage
    run = run_script(Script(body), World(texts={**arguments, **stage.env}), cwd=stage.folder)
    hints: list[VersionHint] = []
    for invocation in reversed(run.invocations):
        command = unwrap(invocation.words, invocation.env, knowledge)
        if command is not None:
            hints += installed(command, knowledge)
    written = [
        Written(name, made, instruction.span)
        for (name, holes), made in run.files.items()
        if made is not None and not holes
    ]
    return replace(
        stage,
        installed=(*hints, *stage.installed)[:_MOST_PINS],
        written=(*reversed(written), *stage.written)[:_MOST_PINS],
    )


def _joined(folder: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path))


def _exec(body: Fragment) -> tuple[Word, ...] | None:
    """The words of a JSON array; None for the shell form."""
    text = body.text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        data = json.loads(text.replace("\n", " "))
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, list) or not all(isinstance(item, str) for item in data):
        return None
    out = []
    for item, match in zip(data, _STRING.finditer(body.text), strict=False):
        span = body.span(match.start(), match.end())
        inner = body.cut(match.start() + 1, match.end() - 1)
        pieces = tuple(runs(inner)) if inner.text == item else ()
        out.append(Word(Text(pieces) if pieces or not item else Text.of(item, span), span))
    return tuple(out)


def _trimmed(text: Text) -> Text:
    marked = text.marked()
    return text.cut(len(marked) - len(marked.lstrip()))


def _assigned(text: Text) -> tuple[str, Text | None]:
    marked = text.marked()
    name, equals, _ = marked.partition("=")
    value = text.cut(len(name) + 1) if equals else None
    if value is not None and value.pieces:
        words = split(value, value.pieces[0].span) if value.pieces[0].span is not None else ()
        value = words[0].text if words else Text()
    return name.strip(), value


def _variables(text: Text, span: Span, arguments: dict[str, Text], stage: Stage) -> Iterator[tuple[str, Text]]:
    """``A=1 B=2``, and the old ``A 1``."""
    words = split(_filled(text, arguments, stage), span)
    if words and "=" not in words[0].text.marked():
        marked = text.marked().strip()
        name, _, _ = marked.partition(" ")
        at = text.marked().find(name) + len(name)
        yield name, _trimmed(_filled(text.cut(at), arguments, stage))
        return
    for word in words:
        name, equals, _ = word.text.marked().partition("=")
        if equals:
            yield name, word.text.cut(len(name) + 1)


def _filled(text: Text, arguments: dict[str, Text], stage: Stage | None) -> Text:
    """``$X`` and ``${X:-default}`` as the builder replaces them."""

    def variable(name: str, _span: Span | None, _default: Text | None) -> Text | None:
        found = stage.env.get(name) if stage is not None else None
        return found if found is not None else arguments.get(name)

    return interpolate(text, variable)
