"""Launches in YAML files: a framework's recipe, an engine's own configuration file."""

from __future__ import annotations

from pathlib import Path

from gdnlint.configs import charts, inherit
from gdnlint.documents.yaml import load
from gdnlint.knowledge.schema import Framework
from gdnlint.launches.context import Context
from gdnlint.launches.model import Insertion, Launch, Variant
from gdnlint.source import Fragment, Source, Span
from gdnlint.values import Problem, Value


def launches(source: Source, context: Context) -> list[Launch]:
    """The launch that a YAML file is, if it is one."""
    loaded = context.loader("omegaconf").loaded(source.file)
    if isinstance(loaded, Problem):
        context.report([loaded])
        return []
    root = next((d for d in loaded.documents if isinstance(d.data, dict)), None)
    # The file is only worth a word to its owner when it is one that gdnlint would have read.
    if root is None:
        return []
    framework = recognise(root, context)
    if framework is None:
        return []
    context.report([p for p in loaded.problems if p.code not in ("duplicate-key", "template")])
    if framework.dialect == "engine_argv":
        return _config_file(source, framework)
    return _recipe(source, root, framework, context)


def recognise(root: Value, context: Context, toml: bool = False) -> Framework | None:
    """The framework whose recipe a mapping is: all keys of one of its alternatives are there."""
    for framework in context.knowledge.frameworks:
        if (framework.dialect == "pydantic_toml") is not toml:
            continue
        recognised = framework.recognise
        if any(has_key(root, key) for key in recognised.not_recipe):
            continue
        if any(all(has_key(root, key) for key in keys) for keys in recognised.recipe):
            return framework
    return None


def has_key(root: Value, key: str) -> bool:
    """Whether a dotted key is there; a key that holds dots itself counts too. A part ``*`` is any key, or any
    item of a list."""
    if isinstance(root.data, dict) and key in root.data:
        return True
    head, star, rest = key.partition("*.")
    if not star:
        return root.at(key.split(".")) is not None
    above = root.at(head.rstrip(".").split(".")) if head else root
    data = above.data if above is not None else None
    members = list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []
    return any(has_key(member, rest) for member in members)


def _config_file(source: Source, framework: Framework) -> list[Launch]:
    """A file for the engine's ``--config``, judged as if it were started with it."""
    found = load(Fragment.whole(source), "pyyaml")
    root = next((d for d in found.documents if isinstance(d.data, dict)), None)
    if root is None:
        return []
    variant = Variant(config=root, own=root, insertion=_insertion(root))
    return [Launch(whole(source), "config file", framework, None, source.file.parent, [variant])]


def _recipe(source: Source, root: Value, framework: Framework, context: Context) -> list[Launch]:
    inherits = framework.inherits
    if inherits.style == "defaults_chain":
        loader = context.loader("omegaconf")
        found = inherit.defaults_chain(loader, source.file, key=inherits.key, override_marker=inherits.override_marker)
    elif inherits.style == "hydra_defaults":
        search = [context.project.root / path for path in inherits.search]
        place = _config_root(source.file, search)
        found = inherit.hydra_defaults(context.loader("omegaconf"), source.file, search=search, directory=place)
    elif inherits.style == "chart_values":
        loader = context.loader("omegaconf")
        found = charts.chart_values(loader, source.file, root, name=inherits.config_name, search=inherits.search)
    else:
        found = inherit.Inherited(root)
    tree = found.tree
    if framework.recognise.keys and not any(has_key(tree, key) for key in framework.recognise.keys):
        # Its keys alone looked like a recipe, but with all it inherits it is none of this framework.
        return []
    context.report(found.problems)
    variant = Variant(
        tree=tree, base=tree, own=root, features=features(context), unknown_keys=found.missing,
        insertion=_insertion(root),
    )  # fmt: skip
    return [Launch(whole(source), "recipe", framework, None, source.file.parent, [variant])]


def features(context: Context) -> dict[str, str]:
    """The switches of recipes that the user said are on."""
    given = context.answers.items()
    return {name.removeprefix("feature:"): value for name, value in given if name.startswith("feature:")}


def _config_root(file: Path, search: list[Path]) -> Path | None:
    """The framework's config directory that a file lies in: group files are named relative to it."""
    return next((place for place in search if place in file.parents and file.parent == place), None)


def whole(source: Source) -> Span:
    """The file without blank lines and comments at its start and end."""
    text = source.text
    start = 0
    for line in text.splitlines(keepends=True):
        stripped = line.strip().lstrip("\ufeff")
        if stripped and not stripped.startswith("#") and stripped != "---":
            break
        start += len(line)
    end = len(text.rstrip())
    return source.span(min(start, end), end)


def _insertion(root: Value) -> Insertion:
    assert root.span is not None
    return Insertion("key", root.span, "yaml")
