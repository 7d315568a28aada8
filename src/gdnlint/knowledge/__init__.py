"""Loads ``rules/``: what is known of engines, frameworks, models and unsafe combinations."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path

from gdnlint.knowledge import reading, schema, stored
from gdnlint.knowledge.reading import KnowledgeError, Table
from gdnlint.knowledge.releases import Release
from gdnlint.knowledge.schema import Knowledge

__all__ = ["Knowledge", "KnowledgeError", "builtin_directory", "load"]


def builtin_directory() -> Path:
    """Where the rules lie: in the package of a wheel, at the top of a checkout."""
    package = Path(__file__).resolve().parent.parent
    for candidate in (package / "rules", package.parent.parent / "rules"):
        if candidate.is_dir():
            return candidate
    raise KnowledgeError(f"the rules are missing (looked in {package / 'rules'}); reinstall gdnlint")


def load(extra: Iterable[Path] = ()) -> Knowledge:
    """The built-in knowledge and directories of the user's own. Raises KnowledgeError."""
    # The directories as given stand in messages; where they lead to from here tells them apart.
    return _load(tuple((Path(directory), os.path.abspath(directory)) for directory in extra))


@lru_cache(maxsize=8)
def _load(extra: tuple[tuple[Path, str], ...]) -> Knowledge:
    collected = _Collected()
    keep = collected.add_shipped(builtin_directory())
    for directory in (given for given, _ in extra):
        if not directory.is_dir():
            raise KnowledgeError(f"{directory}: is no directory of rules")
        for path in _rule_files(directory):
            collected.add(Table(reading.load(path), path))
    loaded = collected.finish()
    if not extra:
        keep()
    return loaded


def _rule_files(directory: Path) -> list[Path]:
    found: list[Path] = []
    for folder, _, names in os.walk(directory):
        found += [Path(folder, name) for name in names if name.endswith(".yaml")]
    return sorted(path for path in found if path.is_file())


class _Collected:
    """Rule files by schema; engines are put together last, from their parts."""

    def __init__(self) -> None:
        self.engines: list[Table] = []
        self.flags: dict[Path, Table] = {}
        self.releases: dict[Path, Table] = {}
        self.others: list[schema.OtherEngine] = []
        self.frameworks: dict[str, schema.Framework] = {}
        self.alike: list[Table] = []
        self.written: dict[str, Table] = {}
        self.families: dict[str, schema.Family] = {}
        self.rules: dict[str, schema.Rule] = {}
        self.wrappers: dict[str, list[schema.Wrapper]] = {}
        self.words: list[str] = []
        self.scenario_words: list[str] = []
        self.silent: list[str] = []
        self.shells: list[str] = []
        self.module_commands: dict[str, str] = {}
        self.package_calls: list[str] = []
        self.image_calls: list[str] = []
        self.command_tables: dict[str, schema.CommandTable] = {}

    def add_shipped(self, directory: Path) -> Callable[[], None]:
        """The rules of gdnlint itself, from what is kept of them where that is the same.

        The result keeps them for the next run; to be called once they have proved to hold no mistake.
        """
        paths = {path.relative_to(directory).as_posix(): path for path in _rule_files(directory)}
        texts = {name: reading.read(path) for name, path in paths.items()}
        key = stored.digest(texts)
        kept = stored.fetch(key)
        known = kept is not None and kept.keys() == texts.keys()
        data = kept if known and kept else {name: reading.parse(text, paths[name]) for name, text in texts.items()}
        for name, path in paths.items():
            self.add(Table(data[name], path, checked=known))
        return (lambda: None) if known else partial(stored.keep, key, data)

    def add(self, table: Table) -> None:
        kind = table.text("schema")
        readers = {
            "gdnlint-engine/1": self._engine,
            "gdnlint-flags/1": self._flags,
            "gdnlint-releases/1": self._releases,
            "gdnlint-other-engine/1": self._other,
            "gdnlint-framework/1": self._framework,
            "gdnlint-model/1": self._family,
            "gdnlint-rule/1": self._rule,
            "gdnlint-commands/1": self._commands,
        }
        if kind not in readers:
            raise table.error("schema", f"{kind!r} is unknown; one of {', '.join(readers)}")
        readers[kind](table)

    def _engine(self, table: Table) -> None:
        self.engines.append(table)

    def _flags(self, table: Table) -> None:
        self.flags[table.path.parent] = table

    def _releases(self, table: Table) -> None:
        self.releases[table.path.parent] = table

    def _other(self, table: Table) -> None:
        self.others.append(schema.parse_other_engine(table))

    def _framework(self, table: Table) -> None:
        if "like" in table:
            self.alike.append(table)
            return
        found = schema.parse_framework(table)
        self.frameworks[found.name] = found
        self.written[found.name] = table

    def _add_alike(self) -> None:
        """Frameworks that are another one behind a front of their own: what they do not say is as there."""
        for table in self.alike:
            base = self.written.get(table.text("like"))
            if base is None:
                raise table.error("like", f"{table.text('like')!r} is no framework with steps of its own")
            data = {**base.data, **{key: value for key, value in table.data.items() if key != "like"}}
            found = schema.parse_framework(Table(data, table.path, checked=table.checked))
            self.frameworks[found.name] = found

    def _family(self, table: Table) -> None:
        found = schema.parse_family(table)
        self.families[found.name] = found

    def _rule(self, table: Table) -> None:
        found = schema.parse_rule(table)
        if found.id in self.rules:
            raise table.error("id", f"{found.id} is taken by {self.rules[found.id].path}")
        self.rules[found.id] = found

    def _commands(self, table: Table) -> None:
        for name, items in table.table("wrappers").data.items():
            many = items if isinstance(items, list) else [items]
            for item in many:
                one = schema.parse_wrapper(str(name), Table(item or {}, table.path, table.at(f"wrappers.{name}")))
                self.wrappers.setdefault(str(name), []).append(one)
        self.words += table.texts("words")
        self.scenario_words += table.texts("scenario_words")
        self.silent += table.texts("silent")
        self.shells += table.texts("shells")
        self.module_commands |= {str(name): str(command) for name, command in table.table("modules").data.items()}
        calls = table.table("container_calls")
        self.package_calls += calls.texts("packages")
        self.image_calls += calls.texts("images")
        calls.done()
        for name, item in table.named("command_tables").items():
            self.command_tables[name] = schema.parse_command_table(name, item)
        table.raw("wrappers")
        table.done(("schema",))

    def _candidate_words(self) -> Iterator[str]:
        """What a file that starts one of the programs must hold, one word for each way to recognise it."""
        for framework in self.frameworks.values():
            recognised = framework.recognise
            yield from (command[0] for command in recognised.commands)
            yield from map(_literal, (*recognised.modules, *recognised.scripts, *recognised.images))
            yield from recognised.keys
            yield from (max(".".join(keys).split("."), key=len) for keys in recognised.recipe)
            yield from (form.name.rpartition(".")[2] for form in recognised.calls)
        for other in self.others:
            yield from (command[0] for command in other.commands)
            yield from map(_literal, other.modules)

    def finish(self) -> Knowledge:
        self._add_alike()
        engines = {}
        for table in self.engines:
            flags, releases = self.flags.get(table.path.parent), self.releases.get(table.path.parent)
            if flags is None or releases is None:
                raise table.error("", "an engine needs flags.yaml and releases.yaml beside it")
            engine = schema.parse_engine(table, schema.parse_flags(flags), _removed(flags), _release_list(releases))
            engines[engine.name] = engine
        return Knowledge(
            engines=engines,
            other_engines=tuple(self.others),
            frameworks=tuple(self.frameworks.values()),
            families=tuple(self.families.values()),
            rules=tuple(sorted(self.rules.values(), key=lambda rule: rule.id)),
            wrappers={name: tuple(items) for name, items in self.wrappers.items()},
            words=_shortest([*self.words, *self._candidate_words()]),
            silent_commands=frozenset(self.silent),
            shells=frozenset(self.shells),
            scenario_words=tuple(dict.fromkeys(self.scenario_words)),
            module_commands=self.module_commands,
            package_calls=tuple(self.package_calls),
            image_calls=tuple(self.image_calls),
            command_tables=tuple(self.command_tables.values()),
        )


def _shortest(words: Iterable[str]) -> tuple[str, ...]:
    """The words without those that hold another of them."""
    kept: list[str] = []
    for word in sorted(dict.fromkeys(words), key=len):
        if word and not any(shorter in word for shorter in kept):
            kept.append(word)
    return tuple(kept)


def _literal(pattern: str) -> str:
    """The longest part of a glob that stands in every text it fits."""
    return max(re.split(r"\*|\?|\[.*?\]", pattern), key=len)


def _removed(table: Table) -> tuple[str, ...]:
    removed = table.raw("removed", [])
    names = list(removed) if isinstance(removed, dict | list) else []
    return tuple(str(name.get("flag")) if isinstance(name, dict) else str(name) for name in names)


def _release_list(table: Table) -> dict[Release, str]:
    """Each release with the day of its upload; an empty text where that is not known."""
    found: dict[Release, str] = {}
    for item in table.raw("releases", []):
        text = str(item.get("release", item.get("version"))) if isinstance(item, dict) else str(item)
        release = Release.parse(text)
        if release is None:
            raise table.error("releases", f"{text!r} is no release")
        found[release] = str(item.get("date") or "") if isinstance(item, dict) else ""
    return found
