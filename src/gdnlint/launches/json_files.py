"""Launches in JSON files: command lines in strings and lists, services, pods; an editor's launch configurations."""

from __future__ import annotations

from gdnlint.documents import jsonc
from gdnlint.documents.yaml import load
from gdnlint.launches import embedded, manifests
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch
from gdnlint.source import Fragment, Source


def launches(source: Source, context: Context) -> list[Launch]:
    """The launches in a JSON file."""
    if not embedded.heads(context).search(source.text) and '"args"' not in source.text:
        # Most JSON is data.
        return []
    return in_fragment(Fragment.whole(source), source, context)


def in_fragment(fragment: Fragment, source: Source, context: Context) -> list[Launch]:
    """The launches in JSON text, wherever it stands."""
    loaded = load(jsonc.plain(fragment), "yaml12")
    if fragment.text == source.text:
        context.report(problem for problem in loaded.problems if problem.code in manifests.LEFT_OUT)
    return manifests.in_documents(loaded, source, context)
