"""What the reports need to know of a rule, and a rule as a page of Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Protocol

from gdnlint.results import Severity


class ReferenceInfo(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def url(self) -> str: ...


class ExampleInfo(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def finds(self) -> bool:
        """Whether the rule reports it."""
        ...


class WayOutInfo(Protocol):
    @property
    def title(self) -> str: ...
    @property
    def cost(self) -> str:
        """What it costs; empty if nothing."""
        ...


class RuleInfo(Protocol):
    """The members of a rule that ``rules``, ``explain`` and SARIF print; the knowledge's own rules have them."""

    @property
    def id(self) -> str:
        """``GDN001``. Never renamed, never used again."""
        ...

    @property
    def slug(self) -> str:
        """``hybrid-speculation-prefix-caching``."""
        ...

    @property
    def name(self) -> str:
        """The slug in PascalCase, as SARIF wants it."""
        ...

    @property
    def summary(self) -> str:
        """One sentence of plain text."""
        ...

    @property
    def description(self) -> str:
        """Markdown: what goes wrong and why."""
        ...

    @property
    def remediation(self) -> str:
        """Markdown: the ways out and what each costs."""
        ...

    @property
    def severity(self) -> Severity:
        """The highest that a finding of the rule can have."""
        ...

    @property
    def precision(self) -> str:
        """``very-high``, ``high``, ``medium`` or ``low``: how often a finding is right."""
        ...

    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def ways_out(self) -> Sequence[WayOutInfo]: ...
    @property
    def evidence(self) -> str:
        """What the rule rests on, and how it was checked."""
        ...

    @property
    def references(self) -> Sequence[ReferenceInfo]: ...
    @property
    def examples(self) -> Sequence[ExampleInfo]: ...


_LANGUAGES = {".sh": "bash", ".bash": "bash", ".yaml": "yaml", ".yml": "yaml", ".py": "python"}


def markdown(rule: RuleInfo) -> str:
    """The page of a rule, the same for ``explain``, SARIF readers and the documentation."""
    parts = [f"# {rule.slug} ({rule.id})", rule.summary.strip(), rule.description.strip()]
    if rule.remediation.strip() or rule.ways_out:
        costs = (f"* {way.title}{way.cost and f': {way.cost}'}" for way in rule.ways_out)
        parts += ["## Ways out", rule.remediation.strip(), "\n".join(costs)]
    for heading, finds in (("## Bad", True), ("## Good", False)):
        shown = [example for example in rule.examples if example.finds is finds]
        parts += [heading] * bool(shown)
        parts += [part for example in shown for part in (f"{example.title} (`{example.file}`):", _fenced(example))]
    if rule.evidence.strip():
        parts += ["## Evidence", " ".join(rule.evidence.split())]
    if rule.references:
        links = (f"* [{reference.title}]({reference.url})" for reference in rule.references)
        parts += ["## References", "\n".join(links)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _fenced(example: ExampleInfo) -> str:
    fence = "```"
    while fence in example.text:
        fence += "`"
    language = _LANGUAGES.get(PurePosixPath(example.file).suffix, "")
    return f"{fence}{language}\n{example.text.rstrip()}\n{fence}"
