"""A framework's run from its command line: the configuration that its overrides make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gdnlint.configs import inherit
from gdnlint.configs.inherit import Inherited
from gdnlint.configs.interpolate import Lookup
from gdnlint.documents.overrides import flags as flag_words
from gdnlint.documents.overrides import hydra, omegaconf_cli
from gdnlint.knowledge.schema import Framework
from gdnlint.launches.commands import Command, command_length, walk
from gdnlint.launches.context import Context
from gdnlint.launches.model import Variant
from gdnlint.values import Value, Word

EMPTY = Value({})

_LONGEST_PATH = 4_096


@dataclass(frozen=True, slots=True)
class Base:
    """The configuration before overrides."""

    tree: Value
    words: tuple[Word, ...]
    """The overrides that are left to apply."""
    unknown: str = ""


def variant_of(framework: Framework, command: Command, context: Context, directory: Path) -> Variant:
    """What a command line of a framework configures."""
    words = command.words[1:]
    if framework.dialect == "engine_argv":
        return _engine(framework, command, context, directory)
    if framework.dialect in ("flags", "pydantic_toml"):
        return _flags(framework, command, context, directory)
    base = _base(framework, command, words, context, directory)
    plain = [w for w in base.words if not (w.known or "").startswith("-")]
    if framework.dialect == "omegaconf_cli":
        applied = omegaconf_cli.apply(
            base.tree,
            plain,
            plus="key" if framework.plus == "key" else "refuse",
            follow=Lookup(base.tree, {}).stands_for,
        )
    else:
        applied = hydra.apply(base.tree, plain)
    refused = ""
    if framework.dialect == "omegaconf_cli" and framework.plus == "refuse":
        bad = next((w for w in plain if w.text.marked().startswith("+")), None)
        if bad is not None:
            refused = f"{framework.title} rejects {bad.text.show()}: its overrides take no leading +"
    open_reason = next((w.text.holes[0].reason for w in base.words if w.spread and w.text.holes), "")
    if not open_reason and applied.unknown:
        open_reason = applied.unknown[0].reason
    return Variant(
        tree=applied.tree,
        base=base.tree,
        words=tuple(plain),
        env=dict(command.env),
        entry=command.entry,
        unknown_keys=base.unknown,
        open_reason=open_reason,
        hints=command.hints,
        mounts=command.mounts,
        extras=command.extras,
        refused=refused,
    )


def _flags(framework: Framework, command: Command, context: Context, directory: Path) -> Variant:
    """A command line of flags over the configuration that it names."""
    at_files = framework.inherits.style == "at_files"
    words = command.words[1 if at_files else command_length(framework, command) :]
    base = _base(framework, command, words, context, directory)
    merges = framework.dialect == "pydantic_toml"
    applied = flag_words.apply(
        base.tree,
        base.words,
        negative=framework.negative,
        merges=merges,
        positional=framework.positional if base.words == tuple(words) else (),
        repeats=framework.repeats,
    )
    context.report(applied.problems)
    subcommand = " ".join(word.text.marked() for word in command.words[: command_length(framework, command)])
    return Variant(
        tree=applied.tree,
        base=base.tree,
        words=base.words,
        env=dict(command.env),
        entry=command.entry or subcommand,
        unknown_keys=base.unknown or (applied.unknown[0].reason if applied.unknown else ""),
        open_reason=applied.unknown[0].reason if applied.unknown else "",
        hints=command.hints,
        mounts=command.mounts,
        extras=command.extras,
    )


def _engine(framework: Framework, command: Command, context: Context, directory: Path) -> Variant:
    """A command line of the engine itself, with the file that its config flag names."""
    engine = context.knowledge.engines[framework.engine]
    words = command.words[command_length(framework, command) :]
    config, kept, open_reason = None, list(words), ""
    for name, _word, value, at in walk(words, [engine.config_flag]):
        if value is None or "=" in words[at].text.marked():
            # `--config=f.yaml` is accepted and the file is not read (executed on 0.11.1, 0.28.0, 0.33.0).
            kept[at : at + 1] = []
            break
        kept[at : at + 2] = []
        known = value.known
        path = _inside(context, directory, known) if known is not None else None
        found = inherit.none(context.loader("pyyaml"), path) if path is not None else None
        if found is None or found.missing:
            open_reason = f"the file {value.text.show()} that {name} names, which is not in the project"
        else:
            context.report(found.problems)
            config = found.tree
        break
    return Variant(
        words=tuple(kept),
        config=config,
        env=dict(command.env),
        entry=command.entry,
        open_reason=open_reason,
        hints=command.hints,
        mounts=command.mounts,
        extras=command.extras,
    )


def _inside(context: Context, directory: Path, name: str) -> Path | None:
    """A file that a command names: relative to the script's directory or to the project root, where people run it."""
    if not name or "\0" in name or len(name) > _LONGEST_PATH:
        return None
    where_run = [Path(context.cwd)] if context.cwd is not None else []
    for folder in (*where_run, context.project.root, directory, context.project.start):
        path = folder / name
        if context.project.exists(path):
            return path
    # Launchers that run below a copy of the tree (`/opt/app/examples/x.yaml`) still mean the file with that tail.
    parts = [part for part in name.split("/") if part not in ("", ".", "..")]
    for start in range(1, len(parts) - 1):
        path = context.project.root.joinpath(*parts[start:])
        if context.project.exists(path):
            return path
    return None


def _base(framework: Framework, command: Command, words: Sequence[Word], context: Context, directory: Path) -> Base:
    inherits = framework.inherits
    if inherits.style == "defaults_chain":
        return _chain(framework, words, context, directory)
    if inherits.style == "hydra_defaults":
        return _hydra(framework, command, words, context, directory)
    if inherits.style == "file":
        return _file(framework, words, context, directory)
    if inherits.style == "at_files":
        return _at_files(words, context, directory)
    return Base(EMPTY, tuple(words))


def _file(framework: Framework, words: Sequence[Word], context: Context, directory: Path) -> Base:
    """A file of settings that a flag, or the first word of the command line, names."""
    for name, _, value, at in walk(words, framework.inherits.file_flag):
        used = 1 if "=" in words[at].text.marked() else 2
        rest = tuple(words[:at]) + tuple(words[at + used :])
        return _named_file(framework, value, f"the file that {name} names", rest, context, directory)
    first = words[0].text.marked() if words and not words[0].spread else ""
    if first and not first.startswith("-") and first.endswith((".yaml", ".yml", ".json")):
        return _named_file(framework, words[0], "the file", tuple(words[1:]), context, directory)
    return Base(EMPTY, tuple(words))


def _named_file(
    framework: Framework, value: Word | None, what: str, rest: tuple[Word, ...], context: Context, directory: Path
) -> Base:
    path = _inside(context, directory, value.known) if value is not None and value.known else None
    if path is None:
        shown = value.text.show() if value is not None else ""
        return Base(EMPTY, rest, f"{what} {shown}, which is not in the project".replace("  ", " "))
    return _inherited(inherit.none(context.loader(framework.scalars), path), rest, context)


def _at_files(words: Sequence[Word], context: Context, directory: Path) -> Base:
    """The TOML files behind each ``@`` of a command line, merged from left to right; ``--a @ FILE`` is below ``a``."""
    tree, unknown = EMPTY, ""
    rest: list[Word] = []
    at = 0
    while at < len(words):
        word, text = words[at], words[at].text.marked()
        if text != "@" and not (text.startswith("@") and len(text) > 1):
            rest.append(word)
            at += 1
            continue
        below: list[str] = []
        if rest and rest[-1].text.marked().startswith("--") and "=" not in rest[-1].text.marked():
            below = rest.pop().text.marked()[2:].replace("-", "_").split(".")
        name = replace(word, text=word.text.cut(1)) if text != "@" else words[at + 1] if at + 1 < len(words) else None
        at += 2 if text == "@" else 1
        known = name.known if name is not None else None
        path = _inside(context, directory, known) if known else None
        if path is None:
            shown = name.text.show() if name is not None else "@"
            tree, unknown = EMPTY, f"the file {shown}, which is not in the project"
            continue
        found = inherit.toml_file(context.project, path)
        context.report(found.problems)
        unknown = found.missing or unknown
        tree = tree.merged(EMPTY.with_(below, found.tree))
    return Base(tree, tuple(rest), unknown)


def _chain(framework: Framework, words: Sequence[Word], context: Context, directory: Path) -> Base:
    inherits = framework.inherits
    for name, _, value, at in walk(words, inherits.file_flag):
        used = 1 if "=" in words[at].text.marked() else 2
        rest = tuple(words[:at]) + tuple(words[at + used :])
        path = _inside(context, directory, value.known) if value is not None and value.known else None
        if path is None:
            shown = value.text.show() if value is not None else name
            return Base(EMPTY, rest, f"the file {shown} that {name} names")
        found = inherit.defaults_chain(
            context.loader(framework.scalars), path, key=inherits.key, override_marker=inherits.override_marker
        )
        return _inherited(found, rest, context)
    return Base(EMPTY, tuple(words), "the default configuration of the script, which is not read")


def _hydra(framework: Framework, command: Command, words: Sequence[Word], context: Context, directory: Path) -> Base:
    """Hydra's primary config: ``--config-path`` is relative to the module's own directory."""
    inherits = framework.inherits
    name, folder = inherits.config_name, None
    rest = list(words)
    named = False
    for flags in (inherits.name_flag, inherits.directory_flag):
        for _, _, value, at in walk(rest, flags):
            if value is None:
                continue
            known = value.known
            if flags is inherits.name_flag:
                name, named = known or "", True
                if known is None:
                    used = 1 if "=" in rest[at].text.marked() else 2
                    return Base(EMPTY, tuple(rest[:at] + rest[at + used :]), f"the configuration {value.text.show()}")
            else:
                folder = known
            rest[at : at + (1 if "=" in rest[at].text.marked() else 2)] = []
            break
    search = [context.project.root / path for path in inherits.search]
    places = [*_config_directories(command, context, directory, folder), *search]
    file = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
    for place in places:
        if context.project.exists(place / file):
            found = inherit.hydra_defaults(
                context.loader(framework.scalars), place / file, search=search, directory=place, words=rest
            )
            return replace(_inherited(found, found.rest, context), unknown="")
    own = any(context.project.exists(path / f"{inherits.config_name}.yaml") for path in search)
    unknown = f"the configuration {name}, which is not in the project" if named and own else ""
    return Base(EMPTY, tuple(rest), unknown)


def _config_directories(command: Command, context: Context, directory: Path, folder: str | None) -> list[Path]:
    module = context.project.root.joinpath(*command.entry.split(".")[:-1]) if command.is_module else None
    script = (context.project.root / command.entry).parent if command.entry and not command.is_module else None
    beside = [path for path in (module, script, directory, context.project.root) if path is not None]
    if folder is not None:
        return [path / folder for path in beside]
    return [path / "config" for path in beside]


def _inherited(found: Inherited, rest: tuple[Word, ...], context: Context) -> Base:
    context.report([p for p in found.problems if p.code != "duplicate-key"])
    return Base(found.tree, rest, found.missing)
