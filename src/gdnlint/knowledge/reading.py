"""Rule files to plain data, and the errors that name file, line and key."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


class KnowledgeError(Exception):
    """A rule file that cannot be used: ``file:line: key: what is wrong``."""


def load(path: Path) -> dict[str, Any]:
    """The mapping in a rule file. Raises KnowledgeError: unreadable, not YAML, not a mapping."""
    return parse(read(path), path)


def read(path: Path) -> bytes:
    """The bytes of a rule file. Raises KnowledgeError."""
    from gdnlint.project import read_bounded

    try:
        return read_bounded(path)
    except OSError as error:
        raise KnowledgeError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise KnowledgeError(f"{path}: cannot be read: {error}") from error


def parse(text: bytes, path: Path) -> dict[str, Any]:
    """The mapping that a rule file holds. Raises KnowledgeError: not YAML, not a mapping."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data = yaml.load(text, loader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        raise KnowledgeError(f"{place}: is not YAML: {getattr(error, 'problem', None) or error}") from error
    if not isinstance(data, dict):
        raise KnowledgeError(f"{path}: must hold one mapping with a `schema` key")
    return data


def line_of(path: Path, key: str) -> int | None:
    """The 1-based line of a key path (``launches.rollout.steps[2].when``), as deep as it can be followed."""
    import yaml

    try:
        node = yaml.compose(read(path), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (KnowledgeError, yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return None
    line: int | None = node.start_mark.line + 1 if node else None
    for part in re.findall(r"\[\d+\]|[^.\[\]]+", key):
        child = None
        if isinstance(node, yaml.SequenceNode) and part[0] == "[" and int(part[1:-1]) < len(node.value):
            child = node.value[int(part[1:-1])]
            line = child.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            # Keys may hold dots themselves, so the longest key that the rest of the path starts with wins.
            rest = key[key.index(part) :]
            fits = [(k, v) for k, v in node.value if rest == k.value or rest.startswith((f"{k.value}.", f"{k.value}["))]
            if fits:
                name, child = max(fits, key=lambda pair: len(pair[0].value))
                line = name.start_mark.line + 1
        if child is None:
            return line
        key, node = key[key.index(part) + len(part) :], child
    return line


class Table:
    """A mapping in a rule file that is read key by key; what is left over is an error."""

    def __init__(self, data: object, path: Path, key: str = "", checked: bool = False) -> None:
        """``checked``: these bytes were read before and hold no mistake."""
        if not isinstance(data, Mapping):
            raise self._error(path, key, "must be a mapping")
        self.data = data
        self.path = path
        self.key = key
        self.checked = checked
        self._seen: set[str] = set()

    @staticmethod
    def _error(path: Path, key: str, message: str) -> KnowledgeError:
        line = line_of(path, key)
        return KnowledgeError(f"{path}:{line or 1}: {key + ': ' if key else ''}{message}")

    def error(self, key: str, message: str) -> KnowledgeError:
        return self._error(self.path, self.at(key), message)

    def at(self, key: str) -> str:
        return f"{self.key}.{key}" if self.key and key else self.key or key

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def raw(self, key: str, default: object = None) -> Any:
        self._seen.add(key)
        return self.data.get(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.raw(key, default)
        if not isinstance(value, str):
            raise self.error(key, "must be a text" if key in self.data else "is missing (a text)")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "must be true or false")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; one text counts as a list of one, absent as none."""
        value = self.raw(key, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(key, "must be a text or a list of texts")
        return tuple(value)

    def table(self, key: str) -> Table:
        return Table(self.raw(key, {}), self.path, self.at(key), self.checked)

    def tables(self, key: str) -> list[Table]:
        value = self.raw(key, [])
        if not isinstance(value, list):
            raise self.error(key, "must be a list")
        return [Table(item, self.path, f"{self.at(key)}[{i}]", self.checked) for i, item in enumerate(value)]

    def named(self, key: str) -> dict[str, Table]:
        """A mapping of name to mapping."""
        inner = self.table(key)
        return {
            str(name): Table(value or {}, self.path, inner.at(str(name)), self.checked)
            for name, value in inner.data.items()
        }

    def done(self, allowed: Iterable[str] = ()) -> None:
        """Raises KnowledgeError for a key that nothing has read."""
        if self.checked:
            return
        for key in self.data:
            if key in self._seen or key in allowed:
                continue
            import difflib

            close = difflib.get_close_matches(str(key), self._seen, 1)
            hint = f"; did you mean `{close[0]}`?" if close else f"; known: {', '.join(sorted(self._seen))}"
            raise self.error(str(key), f"unknown key{hint}")
