"""A configuration file to a ``Config``. Mistakes are errors that say where, and what was perhaps meant."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gdnlint.options import ConfigError
from gdnlint.settings import Config, PerPath
from gdnlint.settings.keys import KEYS, Key
from gdnlint.settings.patterns import Patterns
from gdnlint.source import Source
from gdnlint.values import Value

if TYPE_CHECKING:
    from gdnlint.knowledge.schema import Knowledge

LONGEST_NAME = 512
"""Characters of a model's alias or an assumption's name."""


def parsed(source: Source) -> Value | None:
    """The table of options; None if ``pyproject.toml`` holds none. Raises ConfigError if the file is no TOML."""
    from gdnlint.documents import toml

    root, problems = toml.load(source)
    if root is None:
        raise ConfigError("; ".join(problem.message for problem in problems))
    if source.file.name != "pyproject.toml":
        return root
    for name in ("tool", "gdnlint"):
        found = root.data.get(name) if root is not None and isinstance(root.data, dict) else None
        if found is None:
            return None
        root = found
    return root


def read(table: Value, source: Source, folder: Path, root: Path) -> Config:
    """The options of a table. Patterns are relative to ``folder``; folders of rules must lie below ``root``."""
    reader = _Reader(source, root)
    found = reader.table(table, KEYS, "")
    knowledge = reader.knowledge(found)
    return Config(
        file=source.file,
        folder=folder,
        include=found.get("include"),
        exclude=found.get("exclude"),
        select=frozenset(reader.rule_ids(found["select"], knowledge)) if "select" in found else None,
        ignore=frozenset(reader.rule_ids(found.get("ignore", ()), knowledge)),
        severity=reader.severities(found, knowledge),
        models=found.get("models", {}),
        vllm_version=found.get("vllm-version"),
        assume=found.get("assume", {}),
        rules=found.get("rules", ()),
        fail_on=found.get("fail-on"),
        min_severity=found.get("min-severity"),
        min_confidence=found.get("min-confidence"),
        format=found.get("format"),
        per_path=tuple(
            PerPath(
                paths=entry["paths"],
                ignore=frozenset(reader.rule_ids(entry.get("ignore", ()), knowledge)),
                reason=entry.get("reason", ""),
                vllm_version=entry.get("vllm-version"),
                severity=reader.severities(entry, knowledge),
            )
            for entry in found.get("per-path", ())
        ),
    )


class _Reader:
    def __init__(self, source: Source, root: Path) -> None:
        self.source = source
        self.root = root

    def error(self, value: Value | None, message: str) -> ConfigError:
        line = value.span.line if value is not None and value.span is not None else 1
        return ConfigError(f"{self.source.path}:{line}: {message}")

    def table(self, table: Value, keys: Sequence[Key], prefix: str) -> dict[str, Any]:
        """The values of a table by name, each checked."""
        members = self.members(table, prefix or "the configuration")
        known = {key.name: key for key in keys}
        for name, value in members.items():
            if name not in known:
                raise self.error(value, f"`{prefix}{name}` is no option. {_near(name, list(known))}")
        return {name: self.value(value, known[name], f"{prefix}{name}") for name, value in members.items()}

    def members(self, value: Value, name: str) -> dict[str, Value]:
        if not isinstance(value.data, dict):
            raise self.error(value, f"`{name}` must be a table, not {_type_of(value)}.")
        return value.data

    def value(self, value: Value, key: Key, name: str) -> object:
        if key.kind in ("severities", "aliases", "answers"):
            found = {member: self.member(item, key, f"{name}.{member}")
                     for member, item in self.members(value, name).items()}  # fmt: skip
            for member in found:
                if not member or len(member) > LONGEST_NAME:
                    raise self.error(value, f"`{name}` has a name of {len(member)} characters; 1 to {LONGEST_NAME}.")
            return found
        if key.kind in ("text", "version", "choice"):
            return self.member(value, key, name)
        if not isinstance(value.data, list):
            raise self.error(value, f"`{name}` must be a list, not {_type_of(value)}. For example: {key.example}")
        if key.kind == "entries":
            return [self.entry(item, key, name) for item in value.data]
        texts = [self.text(item, f"an item of `{name}`") for item in value.data]
        if key.kind == "patterns":
            return self.patterns(value, texts, name)
        if key.kind == "folders":
            return tuple(self.folder(item, text) for item, text in zip(value.data, texts, strict=True))
        return [(text, item) for text, item in zip(texts, value.data, strict=True)]

    def entry(self, value: Value, key: Key, name: str) -> dict[str, Any]:
        found = self.table(value, key.members, f"{name}.")
        for wanted in key.required:
            if wanted not in found:
                raise self.error(value, f"an entry of `{name}` needs `{wanted}`.")
        for given, wanted in key.needs:
            if given in found and not str(found.get(wanted, "")).strip():
                raise self.error(value, f"an entry of `{name}` with `{given}` needs `{wanted}`: say why.")
        return found

    def patterns(self, value: Value, texts: list[str], name: str) -> Patterns:
        try:
            return Patterns.of(texts)
        except ValueError as error:
            raise self.error(value, f"`{name}`: {error}.") from error

    def folder(self, value: Value, text: str) -> Path:
        """A folder of rules. The file may come from anyone, so it cannot lead out of the project."""
        path = self.source.file.parent / text
        root = os.path.realpath(self.root)
        if os.path.isabs(text) or not f"{os.path.realpath(path)}/".startswith(f"{root.rstrip('/')}/"):
            raise self.error(value, f"{text!r} lies outside the project; `--rules {text}` takes it.")
        if not path.is_dir():
            raise self.error(value, f"{text!r} is no folder (looked for {os.path.relpath(path)}).")
        return Path(os.path.relpath(path))

    def member(self, value: Value, key: Key, name: str) -> str:
        if key.kind == "answers" and isinstance(value.data, int) and not isinstance(value.data, bool):
            return str(value.data)
        text = self.text(value, f"`{name}`")
        if key.choices and text not in key.choices:
            raise self.error(value, f"`{name}` is {text!r}; one of {', '.join(key.choices)}.")
        if key.kind == "version":
            from gdnlint.knowledge.releases import final_release

            try:
                return final_release(text)
            except ValueError as error:
                raise self.error(value, f"`{name}`: {error}") from error
        return text

    def text(self, value: Value, name: str) -> str:
        if not isinstance(value.data, str):
            raise self.error(value, f"{name} must be a text, not {_type_of(value)}: put it in quotes.")
        return value.data

    def knowledge(self, found: Mapping[str, Any]) -> Knowledge | None:
        """What the names of rules are looked up in; loaded only where there are some."""
        entries = found.get("per-path", ())
        named = ("select", "ignore", "severity")
        if not any(key in table for table in (found, *entries) for key in named):
            return None
        from gdnlint import knowledge

        return knowledge.load(found.get("rules", ()))

    def rule_ids(self, given: Sequence[tuple[str, Value]], knowledge: Knowledge | None) -> list[str]:
        return [self.rule_id(text, value, knowledge) for text, value in given]

    def rule_id(self, text: str, value: Value | None, knowledge: Knowledge | None) -> str:
        names = {name.lower(): r.id for r in (knowledge.rules if knowledge else ()) for name in (r.id, r.slug)}
        if text.lower() not in names:
            raise self.error(value, f"{text!r} is no rule. {_near(text.lower(), list(names))}")
        return names[text.lower()]

    def severities(self, found: Mapping[str, Any], knowledge: Knowledge | None) -> dict[str, Any]:
        return {self.rule_id(name, None, knowledge): level for name, level in found.get("severity", {}).items()}


def _near(name: str, known: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, known, 1, 0.5)
    return f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(known[:20])}."


def _type_of(value: Value) -> str:
    for kind, word in ((bool, "true or false"), (int, "a number"), (float, "a number"), (str, "a text"),
                       (list, "a list"), (dict, "a table")):  # fmt: skip
        if isinstance(value.data, kind):
            return word
    return "this"
