"""Launches in the templates of a Helm chart, with the chart's own values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from gdnlint.configs.charts import CHART, VALUES, chart_values
from gdnlint.documents import go_template
from gdnlint.documents.go_template import Rendered, TemplateError
from gdnlint.documents.yaml import Loaded, load
from gdnlint.launches import containers, embedded, kubernetes, scripts
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch
from gdnlint.launches.scalars import Scalars
from gdnlint.launches.scripts import Found
from gdnlint.project import Project, Unreadable
from gdnlint.source import Source
from gdnlint.values import Value

TEMPLATES = "templates"
_DEEPEST = 8
_MOST_TEMPLATES = 50
"""Templates of one chart that are read with each of its values files."""
_CONTAINER = re.compile(r"\bcontainers:|\bimage:")


def chart_of(source: Source, context: Context) -> Path | None:
    """The chart that a file is a template of; None for any other file."""
    if "{{" not in source.text:
        return None
    folder = source.file.parent
    for _ in range(_DEEPEST):
        if folder.name == TEMPLATES and context.project.exists(folder.parent / CHART):
            return folder.parent
        if folder == folder.parent or not context.project.inside(folder.parent):
            return None
        folder = folder.parent
    return None


def launches(source: Source, chart: Path, context: Context) -> list[Launch] | None:
    """The engines that a template starts with the chart's own values; None if it is no template that can be read."""
    return _with_values(source, _values(chart / VALUES, context), chart, context)


def with_values(source: Source, context: Context) -> list[Launch]:
    """The engines that a chart's templates start with a values file of it, over the chart's own values.

    They stand in the templates; what the values file says of them is in their provenance.
    """
    chart, project = source.file.parent, context.project
    if not is_values(source.file, project):
        return []
    root, _ = context.loader("pyyaml").document(source.file)
    if root is None:
        return []
    found = chart_values(context.loader("pyyaml"), source.file, root)
    context.report(found.problems)
    values = Value.unknown(found.missing) if found.missing else found.tree
    out: list[Launch] = []
    for path in islice(_templates(chart / TEMPLATES, project), _MOST_TEMPLATES):
        try:
            template = project.source(path)
        except Unreadable:
            continue
        if _CONTAINER.search(template.text) and "{{" in template.text and context.may_read(len(template.text)):
            out += _with_values(template, values, chart, context) or []
    return out


def is_values(path: Path, project: Project) -> bool:
    """Whether a file is one of values that lies beside a Chart.yaml."""
    return "values" in path.name.lower() and path.suffix in (".yaml", ".yml") and project.exists(path.parent / CHART)


def _templates(folder: Path, project: Project, depth: int = 0) -> Iterator[Path]:
    if not project.inside(folder):
        return
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for path in entries:
        if path.is_dir() and not path.is_symlink() and depth < _DEEPEST:
            yield from _templates(path, project, depth + 1)
        elif path.suffix in (".yaml", ".yml"):
            yield path


def _with_values(source: Source, values: Value, chart: Path, context: Context) -> list[Launch] | None:
    data = {
        "Values": values,
        "Chart": Value({name[:1].upper() + name[1:]: v for name, v in _members(chart / CHART, context).items()}),
    }
    if not context.may_read(len(source.text)):
        return []
    try:
        default = go_template.render(source, data, {})
    except TemplateError as error:
        context.ran(error.steps)
        return None
    context.ran(default.steps)
    directory = source.file.parent

    def find(inner: Context) -> Iterator[Found]:
        if not inner.may_read(len(source.text)):
            return
        try:
            rendered = go_template.render(source, data, inner.world().answers)
        except TemplateError:
            return
        inner.ran(rendered.steps)
        inner.ask(rendered.questions)
        loaded = load(rendered.fragment, "yaml12")
        for tree in _documents(loaded, rendered):
            if kubernetes.is_manifest(tree):
                yield from kubernetes.found(tree, loaded, inner, directory)

    out = scripts.explore(find, context, directory, containers.KIND)
    loaded = load(default.fragment, "yaml12")
    for tree in _documents(loaded, default):
        if kubernetes.is_manifest(tree):
            out += kubernetes.controlled(tree, source, context, loaded)
        out += embedded.launches(loaded, tree, source, context, kubernetes.CONTAINERS)
    for launch in out:
        # An edit of a template, or of the values that it is one use of, is for a person.
        launch.variants = [variant.without_edits() for variant in launch.variants]
    return out


def _documents(loaded: Loaded, rendered: Rendered) -> Iterator[Value]:
    """What the text holds, its texts as the values have them."""
    for root in loaded.documents:
        yield go_template.without_marks(root, rendered, Scalars([loaded]).text)


def _values(path: Path, context: Context) -> Value:
    """The chart's values; unknown if they cannot be read, empty if there are none."""
    if not context.project.exists(path):
        return Value({})
    root, problems = context.loader("pyyaml").document(path)
    if root is None:
        context.report(problems)
        return Value.unknown(f"the values in {context.project.display(path)}, which could not be read")
    return root


def _members(path: Path, context: Context) -> dict[str, Value]:
    root, _ = context.loader("pyyaml").document(path)
    return root.data if root is not None and isinstance(root.data, dict) else {}
