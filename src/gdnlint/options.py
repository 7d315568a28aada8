"""What a person asks of one run. The command line fills it, the engine reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gdnlint.results import Confidence, Severity


class ConfigError(Exception):
    """The run cannot start: a mistake in the options, in a rules folder or in a configuration file.

    The message names what is wrong, where, and what to do. The command line prints it and exits 2.
    """


@dataclass(frozen=True, slots=True)
class Options:
    vllm_version: str | None = None
    """Beats every pin in the files. Without a leading ``v``."""
    assume: dict[str, str] = field(default_factory=dict)
    """Answers by name: an environment variable, ``arg:1``, ``param:function.name``, ``feature:name``, ``matrix:name``,
    ``input:name``."""
    rules: tuple[Path, ...] = ()
    """Folders of knowledge on top of what gdnlint ships."""
    config: Path | None = None
    """The configuration file for everything; None: the nearest one to each file."""
    use_config: bool = True
    """Whether configuration files are read at all."""
    select: frozenset[str] | None = None
    """Ids of rules; replaces what a configuration selects and ignores. None: as it says."""
    ignore: frozenset[str] = frozenset()
    """Ids of rules, besides those that a configuration ignores."""
    fail_on: str | None = None
    min_severity: Severity | None = None
    min_confidence: Confidence | None = None
    force_exclude: bool = False
    """Whether a file that is named is left out as well where a configuration excludes it."""
    hf_cache: bool = True
    """Whether a model's configuration is read in the Hugging Face cache that the environment names."""
