"""Launches in TOML files: a framework's recipe."""

from __future__ import annotations

from gdnlint.configs import inherit
from gdnlint.launches import recipes
from gdnlint.launches.context import Context
from gdnlint.launches.model import Insertion, Launch, Variant
from gdnlint.source import Source


def launches(source: Source, context: Context) -> list[Launch]:
    """The launch that a TOML file is, if it is one: what the framework would read with this file alone."""
    found = inherit.toml_file(context.project, source.file)
    framework = recipes.recognise(found.tree, context, toml=True)
    if framework is None:
        # A file that is no TOML is only worth a word to its owner when a command names it.
        return []
    context.report(found.problems)
    span = recipes.whole(source)
    variant = Variant(
        tree=found.tree,
        base=found.tree,
        own=found.tree,
        features=recipes.features(context),
        insertion=Insertion("key", span, "toml"),
    )
    return [Launch(span, "recipe", framework, None, source.file.parent, [variant])]
