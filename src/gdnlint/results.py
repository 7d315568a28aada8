"""What a run found: the model that ``check`` makes and every report format reads.

Nothing here knows how a value was resolved or how it is printed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from gdnlint.source import Span

Combination = Literal["present", "absent", "undecided"]
Severity = Literal["error", "warning", "note"]
Confidence = Literal["high", "medium", "low"]
Applicability = Literal["safe", "unsafe", "manual"]
State = Literal["known", "conditional", "unknown"]

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
"""From the mildest."""


class Step(NamedTuple):
    """One assignment in the provenance of a setting, oldest first; the last ``won`` one is the value."""

    what: str
    """A sentence fragment: ``the override trainer.mtp.enabled=true``, ``default of InferenceEngineConfig``."""
    value: object
    """JSON; None if unknown."""
    outcome: Literal["won", "lost", "dropped", "via"]
    """``lost``: a later assignment replaced it. ``dropped``: it never reaches the engine. ``via``: a hop on the way."""
    span: Span | None = None
    source: str = ""
    """Evidence for a step of a program: ``path:line@commit``."""


class Setting(NamedTuple):
    """The effective value of one engine setting."""

    value: object
    state: State
    provenance: tuple[Step, ...] = ()
    reason: str = ""
    """Why it is not known."""


class Ingredient(NamedTuple):
    """One of the three: is it there, and the sentence and places that say so."""

    present: bool | None
    """None: undecided."""
    sentence: str
    """``Qwen/Qwen3.5-9B is a hybrid model (Gated DeltaNet)``."""
    places: tuple[tuple[Span, str], ...] = ()
    """Where a person looks, the most telling first, each with a label for the code frame."""


class Version(NamedTuple):
    """The engine version a launch runs with."""

    value: str | None
    provenance: str
    """``pinned in uv.lock``, ``no version found``."""
    span: Span | None = None


class Scenario(NamedTuple):
    when: dict[str, str]
    combination: Combination


class LaunchResult(NamedTuple):
    """One launch, resolved and judged in the default scenario."""

    id: str
    span: Span
    kind: str
    engine: str
    framework: str
    combination: Combination
    ingredients: dict[str, Ingredient]
    """Keys ``hybrid``, ``speculation``, ``prefix_caching``."""
    version: Version
    settings: dict[str, Setting]
    decided_by: str = ""
    """If undecided: the sentence that decides it."""
    refused: str = ""
    """Why the engine or framework stops at start; empty if it starts."""
    note: str = ""
    """What else a reader must know: not launched here, another engine and why it is left alone, open ``$@``."""
    scenarios: tuple[Scenario, ...] = ()


class Edit(NamedTuple):
    span: Span
    text: str


class Fix(NamedTuple):
    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()
    """Empty when a person has to do it."""
    cost: str = ""
    """What this way out costs."""
    setting: str = ""
    """The engine setting that the edits change; nothing else may change with it."""


class Related(NamedTuple):
    span: Span
    message: str


class Reference(NamedTuple):
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    name: str
    """The rule's slug: ``hybrid-speculation-prefix-caching``."""
    severity: Severity
    confidence: Confidence
    message: str
    """The first sentence is the diagnosis and stands alone."""
    span: Span
    label: str
    """What the code frame says at ``span``."""
    launch: str
    """The id of the launch."""
    when: dict[str, str] = field(default_factory=dict)
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    """More sentences: the defects known for the version, where open pull requests stand."""
    fixes: tuple[Fix, ...] = ()
    references: tuple[Reference, ...] = ()
    chain: tuple[Related, ...] = ()
    """The resolution, place by place, for readers that show a path."""
    fails: bool = True
    """Whether it makes the run fail (``--fail-on``)."""


class Skipped(NamedTuple):
    """A file that was found or named and is not checked."""

    path: str
    reason: str


class Diagnostic(NamedTuple):
    """A file or part of one that could not be read, parsed or followed."""

    code: str
    message: str
    path: str
    span: Span | None = None
    level: Literal["error", "warning", "note"] = "warning"


@dataclass(slots=True)
class Report:
    """Everything one run found, in the order path, line."""

    findings: list[Finding] = field(default_factory=list)
    launches: list[LaunchResult] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    files: int = 0
    """Files that were looked at."""
    read_from: dict[str, str] = field(default_factory=dict)
    """A launch's id -> the file that was read when it was found (a script finds launches in what it sources)."""
    skipped: list[Skipped] = field(default_factory=list)
