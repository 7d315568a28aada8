"""The command behind its wrappers: ``uv run``, ``python -m``, ``docker run IMAGE``, ``srun`` and their kind."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gdnlint.knowledge.schema import Engine, Framework, Knowledge, OtherEngine, Wrapper
from gdnlint.launches.model import ModelHint, VersionHint
from gdnlint.source import Span
from gdnlint.values import Hole, Text, Word

_DEEPEST = 12
_PYTHON = re.compile(r"(?:pypy|python)[\d.]*")
_SERVE = "serve"
_MODEL = re.compile(r"[\w-][\w.-]*/[\w.-]*(?<!\.sh)(?<!\.py)")
"""A model as a hub names it, and no path of a program."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line without what wraps it."""

    words: tuple[Word, ...]
    """Its own words, the command (or ``-m module``, script) first."""
    entry: str = ""
    """The module of ``python -m``, or the script."""
    is_module: bool = False
    env: Mapping[str, Text] = field(default_factory=dict)
    hints: tuple[VersionHint, ...] = ()
    extras: tuple[str, ...] = ()
    mounts: tuple[ModelHint, ...] = ()
    script: Word | None = None
    """A shell script in a string (``bash -c``), to be read in its own right."""
    script_args: tuple[Word, ...] = ()
    image: Text | None = None
    program: str = ""
    """The framework that the image starts by itself; its only word stands for it."""


def unwrap(words: Sequence[Word], env: Mapping[str, Text], knowledge: Knowledge) -> Command | None:
    """The command behind wrappers. None if nothing is left of it."""
    return unwrap_command(Command(tuple(words), env=dict(env)), knowledge)


def unwrap_command(command: Command, knowledge: Knowledge) -> Command | None:
    """As ``unwrap``, for a command of which an image or an environment is known already."""
    for _ in range(_DEEPEST):
        inner = _step(command, knowledge)
        if inner is None:
            return None
        if inner is command:
            return _as_command(command, knowledge)
        command = inner
    return command


def _as_command(command: Command, knowledge: Knowledge) -> Command:
    """``python -m package.cli serve`` as the command that the package installs for it."""
    name = knowledge.module_commands.get(command.entry) if command.is_module else None
    if name is None:
        return command
    head = Word(Text.of(name), command.words[0].span)
    return replace(command, words=(head, *command.words[1:]), entry="", is_module=False)


def _step(command: Command, knowledge: Knowledge) -> Command | None:
    """One wrapper less; the same command if there is none."""
    if not command.words or command.script is not None or command.entry or command.program:
        return command
    name = base_name(command.words[0])
    if name is None:
        return command
    if name.endswith(".py") and name not in knowledge.wrappers:
        # `uv run train.py`, `./train.py`: the file itself is the program.
        return replace(command, entry=command.words[0].text.marked())
    if _PYTHON.fullmatch(name):
        name = "python"
    for wrapper in knowledge.wrappers.get(name, ()):
        rest = _after_subcommand(command.words[1:], wrapper)
        if rest is not None:
            return _unwrap_one(command, wrapper, rest, knowledge)
    return command


def base_name(word: Word) -> str | None:
    """The file name of a command (``/opt/venv/bin/vllm`` -> ``vllm``); None if it is not known."""
    text = word.text.marked() if not word.spread else ""
    name = text.rpartition("/")[2]
    return name if name and (name.isascii() or not any(ord(c) >= 0xF0000 for c in name)) else None


def _after_subcommand(words: Sequence[Word], wrapper: Wrapper) -> Sequence[Word] | None:
    if not wrapper.subcommands:
        return words
    for subcommand in wrapper.subcommands:
        # Global options may stand before the subcommand (`uv --quiet run`).
        start = 0
        while start < len(words) and (words[start].known or "").startswith("-"):
            start += 1
        if tuple(w.known for w in words[start : start + len(subcommand)]) == subcommand:
            return words[start + len(subcommand) :]
    return None


def _unwrap_one(command: Command, wrapper: Wrapper, words: Sequence[Word], knowledge: Knowledge) -> Command | None:
    env = dict(command.env)
    hints, extras = list(command.hints), list(command.extras)
    entrypoint: Word | None = None
    left = wrapper.positionals
    image: Text | None = None
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text.marked()
        if wrapper.separator and not text.startswith("-"):
            at += 1
            continue
        if wrapper.separator and text == wrapper.separator:
            inner = _last_of_chain(words[at + 1 :])
            return replace(command, words=inner, env=env, hints=tuple(hints), extras=tuple(extras))
        if word.spread and not wrapper.separator:
            at += 1
            continue
        if text == "--":
            at += 1
            break
        if text.startswith("-") and len(text) > 1:
            name, equals, _ = text.partition("=")
            if name in wrapper.module_flags or (
                wrapper.module_flags
                and not equals
                and text[:2] in wrapper.module_flags
                and len(text) > 2
                and text[1] != "-"
            ):
                return _module(command, words, at, env, hints, extras, equals != "")
            if wrapper.string and _is_string_flag(text, wrapper.string):
                if at + 1 >= len(words):
                    return None
                return replace(
                    command,
                    script=words[at + 1],
                    script_args=tuple(words[at + 2 :]),
                    env=env,
                    hints=tuple(hints),
                    words=(),
                )
            value, used = _flag_value(words, at, name, equals != "", wrapper)
            if value is not None:
                _note_flag(name, value, wrapper, env, hints, extras)
                if name in wrapper.mount_flags and (mount := mounted(value, word.span)) is not None:
                    command = replace(command, mounts=(*command.mounts, mount))
                if name == wrapper.entrypoint_flag and wrapper.entrypoint_flag:
                    entrypoint = replace(word, text=value)
            at += used
            continue
        if wrapper.assignments and _ASSIGNMENT.match(text):
            name, _, _ = text.partition("=")
            env[name.rstrip("+")] = word.text.cut(len(name) + 1)
            at += 1
            continue
        if left:
            left -= 1
            at += 1
            continue
        if wrapper.image and image is None:
            image = word.text
            hints.append(VersionHint(word.text, word.span, "image"))
            at += 1
            break
        break
    rest = tuple(words[at:])
    if wrapper.versioned and rest and (named := _versioned(rest[0])) is not None:
        hints.append(named[1])
        rest = (named[0], *rest[1:])
    made = replace(command, words=rest, env=env, hints=tuple(hints), extras=tuple(extras), image=image or command.image)
    if wrapper.image:
        return None if image is None else in_container(made, (entrypoint,) if entrypoint else None, image, knowledge)
    if wrapper.name == "python" and rest:
        script = rest[0].text.marked()
        return replace(made, entry=script, words=rest)
    return made if rest else None


def _versioned(word: Word) -> tuple[Word, VersionHint] | None:
    """``name@1.2.3`` or ``name==1.2.3`` as the command and the requirement; None for a plain name."""
    match = re.fullmatch(r"([\w.-]+)(?:\[[^\]]*\])?(@|==)(.+)", word.text.marked())
    if match is None:
        return None
    name, sign = match.group(1), match.group(2)
    # A version that nothing says (`@latest`) stays as it is written: it is no release.
    version = word.text.cut(match.start(3))
    requirement = Text((*Text.of(f"{name}{sign.replace('@', '==')}", word.span).pieces, *version.pieces))
    return replace(word, text=word.text.cut(0, len(name))), VersionHint(requirement, word.span, "requirement")


def _last_of_chain(words: Sequence[Word]) -> tuple[Word, ...]:
    r"""The last command of words that join several with a quoted ``\&\&``: those before it only prepare."""
    ends = [at for at, word in enumerate(words) if word.known in ("&&", ";")]
    return tuple(words[ends[-1] + 1 :] if ends else words)


def _module(
    command: Command,
    words: Sequence[Word],
    at: int,
    env: dict[str, Text],
    hints: list[VersionHint],
    extras: list[str],
    inline: bool,
) -> Command | None:
    text = words[at].text.marked()
    if inline:
        name, rest = text.partition("=")[2], words[at + 1 :]
    elif text[:2] == "-m" and len(text) > 2 and text[1] != "-":
        name, rest = text[2:], words[at + 1 :]
    elif at + 1 < len(words):
        name, rest = words[at + 1].text.marked(), words[at + 2 :]
    else:
        return None
    head = words[at] if inline or at + 1 >= len(words) else words[at + 1]
    return replace(
        command, words=(head, *rest), entry=name, is_module=True, env=env, hints=tuple(hints), extras=tuple(extras)
    )


def _is_string_flag(text: str, flag: str) -> bool:
    """``-c``, or short flags bundled with it (``-lc``, ``-exc``)."""
    return text == flag or (text[:1] == "-" and text[:2] != "--" and text.endswith(flag[1:]) and text[1:].isalpha())


def _flag_value(words: Sequence[Word], at: int, name: str, inline: bool, wrapper: Wrapper) -> tuple[Text | None, int]:
    """The value of a wrapper's own flag and how many words it takes."""
    if inline:
        return words[at].text.cut(len(name) + 1), 1
    if name in wrapper.value_flags and at + 1 < len(words):
        return words[at + 1].text, 2
    short = next(
        (f for f in wrapper.value_flags if len(f) == 2 and name.startswith(f) and not name.startswith("--")), None
    )
    if short and len(name) > 2:
        return words[at].text.cut(2), 1
    return None, 1


def _note_flag(
    name: str, value: Text, wrapper: Wrapper, env: dict[str, Text], hints: list[VersionHint], extras: list[str]
) -> None:
    span = next((piece.span for piece in value.pieces if piece.span is not None), None)
    if name in wrapper.environment_flags:
        variable, equals, _ = value.marked().partition("=")
        if equals:
            env[variable] = value.cut(len(variable) + 1)
        else:
            env[variable] = Text.of(Hole(f"the environment variable {variable}", variable), span)
    if name in ("--with", "--from") and span is not None:
        hints.append(VersionHint(value, span, "requirement"))
    if name == "--container-image" and span is not None:
        hints.append(VersionHint(value, span, "image"))
    if name == "--with-requirements" and span is not None:
        hints.append(VersionHint(value, span, "requirements"))
    if name in ("--extra", "--group", "--only-group") and value.known:
        extras.append(value.known)


def mounted(text: Text, span: Span) -> ModelHint | None:
    """``HOST:PATH`` or ``HOST:PATH:ro``; None for a volume without a host path."""
    match = re.match(r"([^:]+):(/[^:]*)", text.marked())
    if match is None:
        return None
    path = match.group(2).rstrip("/") or "/"
    host = text.cut(0, match.end(1))
    return ModelHint(path, host, span, f"{host.show()} is mounted at {path}")


def in_container(
    command: Command, entrypoint: Sequence[Word] | None, image: Text | None, knowledge: Knowledge
) -> Command | None:
    """The command that a container runs: its words, behind the entrypoint given (None: the image's own)."""
    if entrypoint is not None:
        # An empty entrypoint takes the image's own away.
        words = (*(word for word in entrypoint if word.known != ""), *command.words)
        return replace(command, words=words) if words else None
    framework = framework_of_image(image, knowledge) if image is not None else None
    hint = next((hint for hint in reversed(command.hints) if hint.kind == "image"), None)
    if framework is not None and hint is not None:
        # What stands behind the image are arguments of its own program, which reads variables.
        word = Word(Text.of(framework.name), hint.span)
        return replace(command, words=(word,), program=framework.name)
    first = command.words[0].text.marked() if command.words else "-"
    engine = _serving_engine(command, image, knowledge) if image is not None else None
    if engine is not None and (first.startswith("-") or not _is_command(command.words[0], knowledge)):
        span = command.hints[-1].span if command.hints else command.words[0].span
        verb = () if first == _SERVE else (Word(Text.of(_SERVE), span),)
        return replace(command, words=(Word(Text.of(engine.name), span), *verb, *command.words))
    return command if command.words else None


def _serving_engine(command: Command, image: Text, knowledge: Knowledge) -> Engine | None:
    """The engine whose command line a container's words are, where the image starts it by itself.

    A published image does; one that only bears the engine's name does if the words read as its command line.
    """
    engine = engine_of_image(image, knowledge)
    if engine is not None or not command.words:
        return engine
    name = image_name(image.marked()).lower()
    for engine in knowledge.engines.values():
        if engine.package in name and _is_command_line(command.words, engine):
            return engine
    return None


def _is_command_line(words: Sequence[Word], engine: Engine) -> bool:
    """Whether words can only be what stands behind an engine's own command: flags of it that name the model, or
    ``serve`` or a model's name (``owner/name``) before flags of it."""
    flags = {word.known.partition("=")[0].partition(".")[0].replace("_", "-") for word in words if word.known}
    first = words[0].text.marked()
    if first.startswith("--"):
        return f"--{engine.positional}" in flags
    if first != _SERVE and _MODEL.fullmatch(first) is None:
        return False
    return any(name in flags for flag in engine.flags.values() for name, _ in flag.names if name.startswith("--"))


def _is_command(word: Word, knowledge: Knowledge) -> bool:
    """Whether a container's first word replaces the image's own command line (an image with an entrypoint takes it
    as an argument, but people who write ``bash`` there use an image without one)."""
    name = base_name(word) or ""
    names = {command[0] for framework in knowledge.frameworks for command in framework.recognise.commands}
    return name in knowledge.wrappers or name in names or _PYTHON.fullmatch(name) is not None


def engine_of_image(image: Text, knowledge: Knowledge) -> Engine | None:
    """The engine whose published image this is."""
    name = image_name(image.marked())
    for engine in knowledge.engines.values():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in engine.images):
            return engine
    return None


def framework_of_image(image: Text, knowledge: Knowledge) -> Framework | None:
    """The framework that an image starts by itself."""
    name = image_name(image.marked())
    for framework in knowledge.frameworks:
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in framework.recognise.images):
            return framework
    return None


def image_name(image: str) -> str:
    """An image without its tag and digest."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return head if colon and "/" not in tag else name


# -- which program it is -----------------------------------------------------------------------------------------------


def recognise(command: Command, knowledge: Knowledge) -> Framework | OtherEngine | None:
    """The framework or other engine that a command starts; None: something else."""
    if not command.words:
        return None
    if command.program:
        return next(framework for framework in knowledge.frameworks if framework.name == command.program)
    name = "" if command.entry else base_name(command.words[0])
    for framework in knowledge.frameworks:
        if name and any(p[0] == name and _starts_with(command, p) for p in framework.recognise.commands):
            return framework
    for other in knowledge.other_engines:
        if name and any(p[0] == name and _starts_with(command, p) for p in other.commands):
            return other
        if command.is_module and _globs(command.entry, other.modules):
            return other
    if not command.entry:
        return None
    for other in knowledge.other_engines:
        if other.flags and any(_globs(word.text.marked().partition("=")[0], other.flags) for word in command.words):
            return other
    texts = [word.text.marked().lstrip("+~") for word in command.words[1:]]
    scored = [(sum(_has_key(text, f.recognise.keys) for text in texts), f) for f in knowledge.frameworks]
    # Of two that know the same words, the one whose program it is; else the one that has fewer words of its own.
    best = max(scored, key=lambda pair: (pair[0], _runs(command, pair[1]), -len(pair[1].recognise.keys)), default=None)
    if best is not None and best[0]:
        return best[1]
    return next((framework for framework in knowledge.frameworks if _runs(command, framework)), None)


def _runs(command: Command, framework: Framework) -> bool:
    """Whether the module or script of a command is one of the framework's."""
    recognised = framework.recognise
    return _globs(command.entry, recognised.modules if command.is_module else recognised.scripts)


def _starts_with(command: Command, prefix: tuple[str, ...]) -> bool:
    if command.entry or len(command.words) < len(prefix):
        return False
    if base_name(command.words[0]) != prefix[0]:
        return False
    return all(word.known == part for word, part in zip(command.words[1:], prefix[1:], strict=False))


def _globs(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def _has_key(text: str, keys: tuple[str, ...]) -> bool:
    return text.startswith(keys) and any(
        text.startswith(key) and text[len(key) : len(key) + 1] in (".", "=", "@") for key in keys
    )


def command_length(framework: Framework, command: Command) -> int:
    """How many words name the program itself."""
    for prefix in framework.recognise.commands:
        if _starts_with(command, prefix):
            return len(prefix)
    return 1


def walk(words: Sequence[Word], flags: Sequence[str]) -> Iterator[tuple[str, Word, Word | None, int]]:
    """Each of some flags with its value: (flag, word, value word or None, index), both ``--f v`` and ``--f=v``."""
    for at, word in enumerate(words):
        text = word.text.marked()
        name, equals, _ = text.partition("=")
        if name not in flags:
            continue
        if equals:
            yield name, word, replace(word, text=word.text.cut(len(name) + 1)), at
        else:
            yield name, word, words[at + 1] if at + 1 < len(words) else None, at
