"""What holds for one file in the end: the command line, then its configuration, then the defaults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gdnlint.options import Options
from gdnlint.results import SEVERITIES, Confidence, Finding, Severity
from gdnlint.settings import Config, PerPath

CONFIDENCES: tuple[Confidence, ...] = ("low", "medium", "high")
FAIL_ON = "warning"


@dataclass(frozen=True, slots=True)
class Judgement:
    options: Options
    """With what the configuration adds."""
    aliases: dict[str, str]
    select: frozenset[str] | None
    ignore: frozenset[str]
    severity: dict[str, Severity]
    fail_on: str
    min_severity: Severity
    min_confidence: Confidence

    def of(self, finding: Finding) -> Finding | None:
        """A finding with the severity that it has here; None if it does not count."""
        if finding.rule in self.ignore or (self.select is not None and finding.rule not in self.select):
            return None
        severity = self.severity.get(finding.rule, finding.severity)
        rank = SEVERITIES.index(severity)
        if rank < SEVERITIES.index(self.min_severity):
            return None
        if CONFIDENCES.index(finding.confidence) < CONFIDENCES.index(self.min_confidence):
            return None
        fails = self.fail_on in SEVERITIES and rank >= SEVERITIES.index(self.fail_on)
        return replace(finding, severity=severity, fails=fails)


def combined(options: Options, config: Config, entries: Sequence[PerPath]) -> Judgement:
    """``entries`` are those that fit the file, in their order."""
    version, severity = config.vllm_version, dict(config.severity)
    ignore = options.ignore if options.select is not None else options.ignore | config.ignore
    for entry in entries:
        version = entry.vllm_version or version
        severity |= entry.severity
        ignore |= entry.ignore
    return Judgement(
        options=replace(
            options,
            vllm_version=options.vllm_version or version,
            assume={**config.assume, **options.assume},
            rules=tuple(dict.fromkeys((*config.rules, *options.rules))),
        ),
        aliases=config.models,
        select=options.select if options.select is not None else config.select,
        ignore=ignore,
        severity=severity,
        fail_on=options.fail_on or config.fail_on or FAIL_ON,
        min_severity=options.min_severity or config.min_severity or "note",
        min_confidence=options.min_confidence or config.min_confidence or "low",
    )
