"""The user's configuration: ``gdnlint.toml``, ``.gdnlint.toml`` or ``[tool.gdnlint]`` in ``pyproject.toml``.

``keys`` describes every option once; ``reading``, ``schema`` and the documentation come from it. ``search`` finds the
file that holds for a linted one. Nothing heavy is imported before there is a configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gdnlint.results import Confidence, Severity
    from gdnlint.settings.patterns import Patterns


@dataclass(frozen=True, slots=True)
class PerPath:
    """What holds for some files only. Of several entries that fit a file, ignores add up and later values win."""

    paths: Patterns
    ignore: frozenset[str] = frozenset()
    """Ids of rules."""
    reason: str = ""
    vllm_version: str | None = None
    severity: dict[str, Severity] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Config:
    """One configuration file, read. The default is what holds without one."""

    file: Path | None = None
    folder: Path = Path()
    """What patterns are relative to."""
    include: Patterns | None = None
    exclude: Patterns | None = None
    select: frozenset[str] | None = None
    """Ids of rules; None for all."""
    ignore: frozenset[str] = frozenset()
    severity: dict[str, Severity] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    """Names of models, or patterns of them, -> a family or a known name."""
    vllm_version: str | None = None
    assume: dict[str, str] = field(default_factory=dict)
    rules: tuple[Path, ...] = ()
    fail_on: str | None = None
    min_severity: Severity | None = None
    min_confidence: Confidence | None = None
    format: str | None = None
    per_path: tuple[PerPath, ...] = ()

    def skips(self, relative: str, named: bool, force: bool) -> str:
        """Why a file (relative to ``folder``) is not checked, or an empty text. A named file is, unless ``force``."""
        if named and not force:
            return ""
        if self.exclude is not None and self.exclude.fits(relative):
            return "exclude"
        if self.include is not None and not named and not self.include.fits(relative):
            return "include"
        return ""
