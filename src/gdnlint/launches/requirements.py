"""Releases that a file asks for beside its launches: packages of an image or of an environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from gdnlint.knowledge.schema import Engine, Knowledge
from gdnlint.launches.model import VersionHint
from gdnlint.launches.scalars import Scalars
from gdnlint.source import Fragment
from gdnlint.values import Hole, Piece, Text, Value, members_of

SOMEWHERE = "somewhere"
"""The name of what stands in a file without a place in an order: such places must agree."""

_MOST = 20
"""Places of one file or mapping."""
_DEEPEST = 4
"""Mappings and lists inside of a list of packages."""

_PACKAGES = frozenset(
    {
        "conda", "dependencies", "packages", "pip", "pip_install", "pip_packages", "python_packages", "requirements",
        "runtime_env", "uv",
    }
)  # fmt: skip
"""Keys below which packages are listed."""


def in_python(fragment: Fragment, knowledge: Knowledge) -> tuple[VersionHint, ...]:
    """What the string literals of a Python text say: ``.pip_install("vllm==0.28.0")``, a list of packages, an image,
    the inline metadata of a script (PEP 723), an installation in a command."""
    text = fragment.text
    found: list[VersionHint] = []
    for engine in knowledge.engines.values():
        if engine.package in text:
            found += islice(_literals(fragment, engine), _MOST)
    return tuple(found)


def _literals(fragment: Fragment, engine: Engine) -> Iterator[VersionHint]:
    package = re.escape(engine.package)
    forms = (
        rf"[\"'](?P<asked>{package}(?:\[[^\]\"'\n]{{0,200}}\])?\s?(?:[=<>~!]=|[<>]|@ )[^\"'\n]{{1,300}})[\"']",
        rf"[\"'](?P<image>[\w./-]{{0,100}}{package}[\w./-]{{0,100}}:[\w.{{}}-]{{1,100}})[\"']",
        rf"\binstall\b[^\"'\n]{{0,300}}?[ \"'](?P<installed>{package}(?:\[[^\]\"'\n]{{0,200}}\])?==[\w.+{{}}]{{1,60}})",
    )
    for match in re.finditer("|".join(forms), fragment.text):
        kind = match.lastgroup or ""
        start, end = match.span(kind)
        if _commented(fragment.text, start):
            continue
        words = _filled(fragment, start, end)
        yield VersionHint(words, fragment.span(start, end), "image" if kind == "image" else "installed", SOMEWHERE)


def _commented(text: str, at: int) -> bool:
    """Whether a place is in a comment, the block of a script's own metadata excepted."""
    begin = text.rfind("\n", 0, at) + 1
    line = text[begin:at]
    if not line.lstrip().startswith("#"):
        return False
    block = text.rfind("\n# /// script", 0, at) if not text.startswith("# /// script") else 0
    return block < 0 or "\n# ///\n" in text[block + 1 : at]


def _filled(fragment: Fragment, start: int, end: int) -> Text:
    """A literal with the fields that a constant of the module fills."""
    pieces: list[Piece] = []
    at = start
    for field in re.finditer(r"\{(\w+)\}", fragment.text[start:end]):
        begin, stop = start + field.start(), start + field.end()
        span = fragment.span(begin, stop)
        constant = rf"^{field.group(1)}(?:[ \t]*:[^=\n]{{1,60}})?[ \t]*=[ \t]*[\"']([^\"'\n]*)[\"']"
        given = re.search(constant, fragment.text, re.MULTILINE)
        content = given.group(1) if given else Hole(f"the value of {field.group(1)}")
        pieces += [Piece(fragment.text[at:begin], fragment.span(at, begin)), Piece(content, span)]
        at = stop
    return Text((*pieces, Piece(fragment.text[at:end], fragment.span(at, end))))


def in_mapping(mapping: Value, scalars: Scalars, knowledge: Knowledge) -> Iterator[VersionHint]:
    """Packages that a mapping around a launch lists: below ``pip:``, ``runtime_env:`` and their kind."""
    members = members_of(mapping)
    for name in sorted(_PACKAGES & members.keys()):
        yield from _listed(members[name], scalars, knowledge, 0)


def _listed(value: Value, scalars: Scalars, knowledge: Knowledge, depth: int) -> Iterator[VersionHint]:
    if isinstance(value.data, dict | list) and depth < _DEEPEST:
        for item in islice(value.data.values() if isinstance(value.data, dict) else value.data, 100):
            yield from _listed(item, scalars, knowledge, depth + 1)
    if not isinstance(value.data, str) or value.span is None:
        return
    text = scalars.text(value)
    for engine in knowledge.engines.values():
        package = re.escape(engine.package)
        form = rf"{package}\s*(?:\[[^\]]*\])?\s*(?:[=<>~!]=|[<>@]).*|.*/{package}-[^/]*\.whl"
        if text is not None and len(value.data) < 1_000 and re.fullmatch(form, value.data.strip()):
            yield VersionHint(text, value.span, "installed")
