"""Launches in the code fences of documentation: each fence is a launch of its own, never joined with another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gdnlint.documents.markdown import Fence, fences
from gdnlint.documents.shell import Script, run_script
from gdnlint.launches import scripts, unit
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch, VersionHint
from gdnlint.launches.scalars import runs
from gdnlint.launches.scripts import Found
from gdnlint.launches.templates import without_placeholders
from gdnlint.source import Fragment, Source
from gdnlint.values import Text

KIND = "markdown fence"

SHELL = frozenset(
    {
        "",
        "bash",
        "sh",
        "shell",
        "console",
        "zsh",
        "shell-session",
        "shellsession",
        "text",
        "txt",
        "terminal",
        "ini",
        "plaintext",
    }
)
YAML = frozenset({"yaml", "yml", "docker-compose", "compose"})
PYTHON = frozenset({"python", "py", "python3"})
UNIT = frozenset({"", "ini", "systemd", "service", "conf", "text", "txt", "toml", "desktop", "unit"})
JSON = frozenset({"json", "jsonc", "json5"})

_PYTHON_FENCE = 5_000

_PROMPTED = re.compile(r"^[ \t]*\$[ \t]+\S", re.MULTILINE)
_ELIDED = re.compile(r"(?:^|\s)(?:\.\.\.|\u2026)(?:\s|\\|$)", re.MULTILINE)
_PROMPT = re.compile(r"^([ \t]*)((?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+[:~/\w.-]*)?[$#%>][ \t]+)(?=\S)", re.MULTILINE)


def has_fences(text: str) -> bool:
    """Whether a text is Markdown with code in it."""
    return re.search(r"^[ \t>]*(?:```|~~~)", text, re.MULTILINE) is not None


def launches(source: Source, context: Context) -> list[Launch]:
    """The launches in a page's fences."""
    return in_fragment(Fragment.whole(source), source, context)


def in_fragment(
    fragment: Fragment, source: Source, context: Context, hints: tuple[VersionHint, ...] = ()
) -> list[Launch]:
    """The launches in the fences of Markdown text, wherever it stands; ``hints`` come behind those of a launch."""
    found: list[Launch] = []
    for fence in fences(fragment):
        if any(word in fence.body.text for word in context.knowledge.words):
            if not context.may_read(len(fence.body.text)):
                break
            found += in_fence(fence, source, context)
    for launch in found if hints else ():
        launch.variants = [replace(variant, hints=variant.hints + hints) for variant in launch.variants]
    return found


def in_fence(fence: Fence, source: Source, context: Context) -> list[Launch]:
    """The launches in one fence."""
    if fence.language in YAML:
        return _yaml(fence, source, context)
    if fence.language in PYTHON:
        return _python(fence, source, context)
    if fence.language in JSON:
        return _json(fence, source, context)
    if fence.language in ("", "text", "txt", "js", "javascript") and re.match(r"\s*\{\s*(?:\"|//)", fence.body.text):
        return _json(fence, source, context)
    if fence.language in UNIT and unit.is_unit(fence.body.text):
        return _unit(fence, source, context)
    if fence.language not in SHELL:
        return []
    if fence.language in ("", "text", "txt", "ini", "plaintext") and re.match(
        r"\s*(?:services:|apiVersion:)", fence.body.text
    ):
        return _yaml(fence, source, context)
    return _shell(fence, source, context)


def _shell(fence: Fence, source: Source, context: Context) -> list[Launch]:
    directory = source.file.parent
    body = _without_notes(_without_prompts(fence.body))
    text = without_placeholders(Text(tuple(runs(body))))
    script = Script.of(text, body.span(0, len(body.text)))

    def find(inner: Context) -> Iterator[Found]:
        run = run_script(script, inner.world(), project=inner.project, directory=directory, name=source.path)
        inner.ran(run.steps)
        # An example is no script: what of it is not shell is left alone.
        inner.ask(run.questions)
        yield from scripts.in_run(run, inner, directory)

    return [_with_gaps(launch) for launch in scripts.explore(find, context, directory, KIND)]


def _with_gaps(launch: Launch) -> Launch:
    """A launch of an example that leaves something out says so."""
    reason = "what ... stands for in the example"
    if _ELIDED.search(launch.span.text) or any(v.open_reason == reason for v in launch.variants):
        launch.variants = [
            replace(v, open_reason=v.open_reason or reason, unknown_keys=v.unknown_keys or reason)
            for v in launch.variants
        ]
    return launch


def _yaml(fence: Fence, source: Source, context: Context) -> list[Launch]:
    from gdnlint.documents.yaml import load
    from gdnlint.launches import manifests

    loaded = load(fence.body, "yaml12")
    return manifests.in_documents(loaded, source, context)


def _unit(fence: Fence, source: Source, context: Context) -> list[Launch]:
    directory = source.file.parent
    # What stands in brackets on a line of its own is a section and no placeholder.
    lines = [fence.body.cut(*match.span()) for match in re.finditer(r"[^\n]*\n|[^\n]+$", fence.body.text)]
    texts = [Text(tuple(runs(line))) for line in lines]
    texts = [
        text if line.text.lstrip().startswith("[") else without_placeholders(text)
        for text, line in zip(texts, lines, strict=True)
    ]
    text = Text(tuple(piece for part in texts for piece in part.pieces))
    span = fence.body.span(0, len(fence.body.text))

    def find(inner: Context) -> Iterator[Found]:
        return unit.written(text, span, inner, directory)

    return scripts.explore(find, context, directory, KIND)


def _json(fence: Fence, source: Source, context: Context) -> list[Launch]:
    from gdnlint.launches import json_files

    return json_files.in_fragment(fence.body, source, context)


def _python(fence: Fence, source: Source, context: Context) -> list[Launch]:
    from gdnlint.launches import calls

    # To parse it costs more than its few lines.
    if not context.may_read(_PYTHON_FENCE):
        return []
    body = _dedented(fence.body)
    if is_python(body.text):
        return calls.in_fragment(body, source, context)
    # An example that is no program is left alone, unless it shows what to type.
    return _shell(fence, source, context) if _PROMPTED.search(body.text) else []


def is_python(text: str) -> bool:
    """Whether a text is a program, or a cell of one (which may await at its top)."""
    import ast

    try:
        compile(text, "text", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _dedented(fragment: Fragment) -> Fragment:
    """Without the indentation that all lines share."""
    lines = fragment.text.splitlines(keepends=True)
    indents = [len(line) - len(line.lstrip(" \t")) for line in lines if line.strip()]
    common = min(indents, default=0)
    if not common:
        return fragment
    kept: list[int] = []
    at = 0
    for line in lines:
        kept += range(at + min(common, len(line) - len(line.lstrip(" \t"))), at + len(line))
        at += len(line)
    return Fragment("".join(fragment.text[i] for i in kept), fragment.source, [fragment.offset(i) for i in kept])


def _without_notes(fragment: Fragment) -> Fragment:
    r"""``--flag \  # why`` as ``--flag \``: a shell would end the command there, a reader does not."""
    text = fragment.text
    cuts = [match.span(1) for match in re.finditer(r"\\([ \t]+(?:#[^\n]*)?)$", text, re.MULTILINE)]
    if not cuts:
        return fragment
    kept: list[int] = []
    at = 0
    for start, end in cuts:
        kept += range(at, start)
        at = end
    kept += range(at, len(text))
    return Fragment("".join(text[i] for i in kept), fragment.source, [fragment.offset(i) for i in kept])


def _without_prompts(fragment: Fragment) -> Fragment:
    """``$ vllm serve`` without its prompt; the characters keep their places."""
    if not re.search(
        r"^[ \t]*(?:\([\w.-]+\)[ \t]*)?(?:[\w.-]+@[\w.-]+[:~/\w.-]*)?[$%>][ \t]+\S", fragment.text, re.MULTILINE
    ):
        return fragment
    text = _PROMPT.sub(
        lambda m: m.group(1) + (m.group(2) if m.group(2).lstrip().startswith("#") else " " * len(m.group(2))),
        fragment.text,
    )
    return Fragment(text, fragment.source, [fragment.offset(i) for i in range(len(text))])
