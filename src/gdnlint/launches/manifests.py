"""Launches in YAML files that no framework's recipe is: services, pods, and commands in strings."""

from __future__ import annotations

from gdnlint.documents.yaml import Loaded
from gdnlint.launches import charts, command_tables, compose, embedded, kubernetes
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch
from gdnlint.launches.templates import filled
from gdnlint.source import Source
from gdnlint.values import Problem

LEFT_OUT = ("syntax", "too-large", "too-deep")
"""Problems behind which a file may hold more than was read."""


def launches(source: Source, context: Context) -> list[Launch]:
    """The launches in a YAML file."""
    chart = charts.chart_of(source, context)
    found = charts.launches(source, chart, context) if chart is not None else None
    if found is not None:
        return found
    loaded = context.loader("yaml12").loaded(source.file)
    if isinstance(loaded, Problem):
        context.report([loaded])
        return []
    if embedded.heads(context).search(source.text):
        context.report([problem for problem in loaded.problems if problem.code in LEFT_OUT])
    return in_documents(loaded, source, context)


def in_documents(loaded: Loaded, source: Source, context: Context) -> list[Launch]:
    """The launches in YAML text, wherever it stands."""
    out: list[Launch] = []
    for root in loaded.documents:
        if not context.may_read(0):
            break
        if compose.is_compose(root):
            out += compose.launches(loaded, root, source, context)
        elif kubernetes.is_manifest(root):
            out += kubernetes.launches(loaded, root, source, context, filled)
            out += embedded.launches(loaded, root, source, context, kubernetes.CONTAINERS)
        elif (table := command_tables.table_of(root, context)) is not None:
            out += command_tables.launches(loaded, root, table, source, context)
        elif isinstance(root.data, dict | list):
            out += embedded.launches(loaded, root, source, context)
    return out
