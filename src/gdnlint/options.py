"""What a person asks of one run. The command line fills it, the engine reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


class ConfigError(Exception):
    """The run cannot start: a mistake in the options, in a rules folder or in a configuration file.

    The message names what is wrong, where, and what to do. The command line prints it and exits 2.
    """


@dataclass(frozen=True, slots=True)
class Options:
    vllm_version: str | None = None
    """Beats every pin in the files. Without a leading ``v``."""
    assume: dict[str, str] = field(default_factory=dict)
    """Answers by name: an environment variable, ``arg:1``, ``param:function.name``, ``feature:name``."""
    rules: tuple[Path, ...] = ()
    """Folders of knowledge on top of what gdnlint ships."""
    hf_cache: bool = True
    """Whether a model's configuration is read in the Hugging Face cache that the environment names."""
