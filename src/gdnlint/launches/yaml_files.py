"""Launches in YAML files: recipes of frameworks, templates of charts, manifests and commands in strings."""

from __future__ import annotations

from gdnlint.launches import charts, manifests, recipes
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch
from gdnlint.source import Source


def launches(source: Source, context: Context) -> list[Launch]:
    """All of them, in no order."""
    # Where a framework says what a chart's values mean, its templates say the same once more.
    found = recipes.launches(source, context) or charts.with_values(source, context)
    return found + manifests.launches(source, context)
