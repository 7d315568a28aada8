"""A launch as it is found: what the engine or framework will read, before anything is resolved."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from gdnlint.knowledge.schema import Framework, OtherEngine
from gdnlint.source import Span
from gdnlint.values import Text, Value, Word


@dataclass(frozen=True, slots=True)
class VersionHint:
    """A place in the launch itself that names the engine's version."""

    text: Text
    """An image, ``vllm==0.27.1``, a tag."""
    span: Span
    kind: str
    """``image``, ``requirement`` (a package that the command installs), ``installed`` (one that the script
    has installed before), ``latest`` (one that it brought up to date), ``requirements`` (a file of them),
    ``dockerfile`` (one that the image is built from), ``variable`` and ``commit`` (a variable that is named for
    the version, for the commit that is built), ``minimum`` (a requirement of the configuration)."""
    name: str = ""
    """Of a variable."""
    arguments: tuple[tuple[str, Text], ...] = ()
    """Of a build: variables and their values."""

    def signature(self) -> tuple[object, ...]:
        """Equal for hints that say the same."""
        given = tuple((name, text.marked()) for name, text in self.arguments)
        return self.kind, self.text.marked(), self.name, given


@dataclass(frozen=True, slots=True)
class ModelHint:
    """A place in the launch that tells what a path in it is, where the path itself says nothing."""

    path: str
    """A path that the launch's program sees (``/model``)."""
    text: Text
    """What lies there: a path of the host."""
    span: Span
    why: str
    """``/srv/Qwen3.6-27B is mounted at /model``."""
    directory: Path | None = None
    """Where a relative ``text`` is looked up; None: where the launch's file lies."""


@dataclass(frozen=True, slots=True)
class Written:
    """A file that the launch's own files spell out (a here-document, an inline config)."""

    path: str
    """Where its program sees it."""
    text: Text
    span: Span


@dataclass(frozen=True, slots=True)
class Insertion:
    """Where words or keys can be added to a launch, and in which form."""

    form: str
    """``flag``, ``override``, ``key``, ``keyword``."""
    span: Span
    """The last thing of the launch that stays before what is added."""
    style: str = ""
    """Kind of the text around: ``shell``, ``yaml``, ``python``."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What one run of the file gives for a launch."""

    when: dict[str, str] = field(default_factory=dict)
    """The scenario: environment and other switches that differ from the default."""
    choice: dict[str, str] = field(default_factory=dict)
    """What the script must be given, in this scenario: it has no default. Part of ``when`` if that is not empty."""
    guards: dict[str, str] = field(default_factory=dict)
    """Answers to conditions that the file does not decide."""
    guard_text: str = ""
    words: tuple[Word, ...] = ()
    """The engine's own command line (framework launches: the overrides that were applied)."""
    tree: Value | None = None
    """The configuration with its overrides applied."""
    base: Value | None = None
    """The configuration before the overrides of the command line."""
    own: Value | None = None
    """The launch's own file, without what it inherits: where keys can be added."""
    config: Value | None = None
    """The file that a flag of the command line names."""
    arguments: Value | None = None
    """Keyword arguments of a call."""
    env: dict[str, Text] = field(default_factory=dict)
    features: dict[str, str] = field(default_factory=dict)
    """Switches of the configuration that somebody turns on (``feature:NAME``)."""
    entry: str = ""
    """The module, script or subcommand that runs."""
    unknown_keys: str = ""
    """Why keys that are absent may be set all the same."""
    open_reason: str = ""
    hints: tuple[VersionHint, ...] = ()
    mounts: tuple[ModelHint, ...] = ()
    extras: tuple[str, ...] = ()
    """Optional dependencies that the launch installs, by name."""
    insertion: Insertion | None = None
    refused: str = ""

    def without_edits(self) -> Variant:
        """As it is, but with no place where words or keys can be added or changed."""
        return replace(self, insertion=None)

    def signature(self) -> tuple[object, ...]:
        """Equal for variants that configure the same thing."""
        return (
            tuple((w.text.marked(), w.spread, w.text.holes) for w in self.words),
            _shape(self.tree), _shape(self.config), _shape(self.arguments),
            tuple(sorted((name, text.marked()) for name, text in self.env.items())),
            tuple(sorted(self.features.items())),
            self.entry, tuple(hint.signature() for hint in self.hints), tuple(self.extras),
        )  # fmt: skip


def _shape(value: Value | None) -> object:
    if value is None:
        return None
    if isinstance(value.data, Text):
        return value.data.marked(), value.data.holes
    if isinstance(value.data, dict):
        return tuple((key, _shape(member)) for key, member in value.data.items())
    if isinstance(value.data, list):
        return tuple(_shape(member) for member in value.data)
    return type(value.data).__name__, value.data


@dataclass(slots=True)
class Launch:
    """One place that configures one engine."""

    span: Span
    kind: str
    """``shell command``, ``recipe``, ``config file``, ``python call``, ``markdown fence``."""
    framework: Framework | None
    other: OtherEngine | None
    directory: Path
    """Where the version pins are searched from."""
    variants: list[Variant] = field(default_factory=list)
    note: str = ""
