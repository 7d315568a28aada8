"""What gdnlint knows, for people and for programs: the lists of ``rules`` and the pages of ``explain``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from gdnlint import __version__
from gdnlint.report._terminal import Style, clean, width_of, wrap
from gdnlint.report.rule_info import RuleInfo, markdown

SCHEMA = "gdnlint-rules/1"


class Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...


class Catalog(Protocol):
    """The members of the knowledge that are listed."""

    @property
    def rules(self) -> Sequence[RuleInfo]: ...
    @property
    def engines(self) -> Mapping[str, Named]: ...
    @property
    def frameworks(self) -> Sequence[Named]: ...
    @property
    def models(self) -> Sequence[Named]: ...


def explanation(rule: RuleInfo, style: Style) -> str:
    """The page of a rule with its headings painted."""
    lines = markdown(rule).splitlines()
    inside = False
    shown = []
    for line in lines:
        inside ^= line.startswith("```")
        shown.append(style.paint(clean(line), "strong") if line.startswith("#") and not inside else clean(line))
    return "\n".join(shown) + "\n"


def as_text(catalog: Catalog, style: Style) -> str:
    lines: list[str] = []
    for heading, rows in (
        ("Rules", [(f"{rule.id}  {rule.slug}", f"{rule.severity}: {rule.summary}") for rule in catalog.rules]),
        ("Engines", _rows(catalog.engines.values())),
        ("Frameworks", _rows(catalog.frameworks)),
        ("Model families", _rows(catalog.models)),
    ):
        lines += [style.paint(heading, "strong"), *_table(rows, style), ""]
    return "\n".join(lines[:-1]) + "\n"


def as_json(catalog: Catalog) -> str:
    document = {
        "schema": SCHEMA,
        "tool": {"name": "gdnlint", "version": __version__},
        "rules": [
            {
                "id": rule.id,
                "slug": rule.slug,
                "name": rule.name,
                "severity": rule.severity,
                "precision": rule.precision,
                "summary": rule.summary,
                "tags": list(rule.tags),
                "references": [{"title": link.title, "url": link.url} for link in rule.references],
            }
            for rule in catalog.rules
        ],
        "engines": [{"name": name, "title": title} for name, title in _rows(catalog.engines.values())],
        "frameworks": [{"name": name, "title": title} for name, title in _rows(catalog.frameworks)],
        "models": [{"name": name, "title": title} for name, title in _rows(catalog.models)],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _rows(named: Iterable[Named]) -> list[tuple[str, str]]:
    return sorted((item.name, item.title) for item in named)


def _table(rows: Sequence[tuple[str, str]], style: Style) -> Iterator[str]:
    longest = max((width_of(left) for left, _ in rows), default=0)
    for left, right in rows:
        yield from wrap(right, style.width, f"  {clean(left):<{longest}}  ")
