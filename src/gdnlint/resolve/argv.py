"""Reads an engine's command line as its argument parser would: last flag wins, dotted members, refusals.

Python's argparse is the grammar; what an engine adds to it (underscores, ``--flag.member``) was executed on
its own parser, release by release.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from gdnlint.documents import json_text
from gdnlint.knowledge.releases import Release, ReleaseRange
from gdnlint.knowledge.schema import Engine, Flag
from gdnlint.resolve.program import State
from gdnlint.values import Hole, Text, Value, Word, has_mark


@dataclass(frozen=True, slots=True)
class Found:
    """A flag that a word names."""

    flag: Flag
    spelling: str
    negative: bool
    member: str
    """The dotted part: ``method`` in ``--speculative-config.method``."""


_MOST_MEMBERS = 200
"""Dotted members of one flag that are read."""

MOST_MEANINGS = 4_096
"""Words of a release that are remembered: linted files may hold any number of them."""

Spellings = dict[str, list[tuple[Flag, bool, ReleaseRange, ReleaseRange]]]
"""Every spelling of every release: its flag, whether it is a negative form, when the flag and the form are known."""


def spellings_of(engine: Engine) -> Spellings:
    """The flags of all releases of an engine by spelling."""
    found: Spellings = {}
    for flag in engine.flags.values():
        for name, known in flag.names:
            found.setdefault(name, []).append((flag, False, known, known))
            if flag.inverse:
                found.setdefault(flag.inverse, []).append((flag, True, known, engine.inverse_known))
            if flag.kind != "bool" or not name.startswith("--"):
                continue
            for prefix, since in engine.negative_prefixes:
                found.setdefault(f"--{prefix}{name[2:]}", []).append((flag, True, known, since))
    return found


class CommandLine:
    """The grammar of one release."""

    def __init__(self, engine: Engine, release: Release, spellings: Spellings) -> None:
        self.engine = engine
        self.release = release
        self.spellings = spellings
        self._sorted = sorted(spellings)
        self._meanings: dict[str, Found | str | None] = {}

    def read(self, words: Sequence[Word], state: State) -> Iterator[tuple[str, Value]]:
        """The (field, value) assignments of a command line in order; the first positional word is the model."""
        members: dict[str, Value] = {}
        positional: list[Word] = []
        typed, named, guessed = words is state.surroundings.words, False, False
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word.spread:
                state.open_reason = state.open_reason or _spread_reason(word)
                continue
            text = word.text.marked()
            if text == "--":
                continue
            if not text.startswith("-") or text == "-" or _is_number(text):
                positional.append(word)
                continue
            name, equals, _ = text.partition("=")
            if has_mark(name):
                state.open_reason = state.open_reason or _spread_reason(word)
                continue
            found = self.meaning(name)
            state.flags_read.add(name)
            if isinstance(found, str):
                self._refuse(state, word, found)
            if not isinstance(found, Found):
                guessed = True
                glued = not name.startswith("--") and len(name) > 2
                if not equals and not glued and at < len(words) and not _looks_like_flag(words[at]):
                    at += 1
                continue
            inline = word.text.cut(len(name) + 1) if equals else None
            takes = 0 if inline is not None else self._arity(found, words, at)
            values = list(words[at : at + takes])
            at += takes
            named = named or (typed and found.flag.field == self.engine.positional)
            yield from self._assign(found, word, inline, values, members, state)
        yield from members.items()
        yield from self._positional(positional, state, named, guessed)

    def _positional(
        self, words: Sequence[Word], state: State, named: bool, guessed: bool
    ) -> Iterator[tuple[str, Value]]:
        """The model among the words that no flag takes. A command that is a module of its own has none there."""
        if not words or not self.engine.positional or state.surroundings.lookup("entry:module") is not None:
            return
        earlier, first = state.positional, words[0]
        state.positional = first
        # The program takes one. A typed model flag is moved to that place, and the words of a file come behind it.
        extra = words[1] if len(words) > 1 else first if named and earlier is None else earlier
        # Not where the words are only an example, or a flag that nobody knows may have taken it.
        if extra is not None and extra.known and not guessed and not state.open_reason:
            self._refuse(state, extra, f"unrecognized arguments: {extra.known}")
        named_so = _scalar(first, first.text, self.engine.positional)
        yield self.engine.positional, replace(named_so, route="positional")

    def meaning(self, name: str) -> Found | str | None:
        """The flag a word names (exact, with underscores, or abbreviated), or why the release refuses it.

        None: no release has such a flag.
        """
        if name not in self._meanings:
            if len(self._meanings) >= MOST_MEANINGS:
                return self._meaning(name)
            self._meanings[name] = self._meaning(name)
        return self._meanings[name]

    def _meaning(self, name: str) -> Found | str | None:
        stem, _, member = name.partition(".")
        if stem.startswith("--"):
            stem = "--" + stem[2:].replace("_", "-")
        spelled = self._spelled(stem)
        if spelled is not None:
            return Found(spelled[0], stem, spelled[1], member)
        if stem in self.engine.removed_flags:
            return f"there is no {stem}: unrecognized arguments"
        if stem.startswith("--") and self.engine.abbreviations:
            flags = {s: self._spelled(s) for s in self._begins_with(stem)}
            fits = {s: flag for s, flag in flags.items() if flag is not None}
            if len(fits) == 1:
                ((spelling, (flag, negative)),) = fits.items()
                return Found(flag, spelling, negative, member)
            if len({id(flag) for flag, _ in fits.values()}) > 1:
                return f"ambiguous option: {stem} could match {', '.join(list(fits)[:4])}"
        # Where another release knows the spelling, or the flag by another, its absence here is a fact and not a gap.
        if stem in self.spellings or self._is_no_inverse(stem):
            return f"this release has no {stem}: unrecognized arguments"
        return None

    def _is_no_inverse(self, stem: str) -> bool:
        """Whether a word is built like the inverse of a flag that has none (``--disable-async-scheduling``)."""
        bare = next((stem[2 + len(p) :] for p in self.engine.inverse_prefixes if stem.startswith(f"--{p}")), "")
        return any(flag.kind == "bool" for flag, *_ in self.spellings.get(f"--{bare}", []))

    def _begins_with(self, stem: str) -> Iterator[str]:
        """The spellings that a stem may be an abbreviation of, in order."""
        for at in range(bisect_left(self._sorted, stem), len(self._sorted)):
            if not self._sorted[at].startswith(stem):
                return
            yield self._sorted[at]

    def _spelled(self, spelling: str) -> tuple[Flag, bool] | None:
        """The flag that a spelling is in this release; the last one that claims it."""
        for flag, negative, known, since in reversed(self.spellings.get(spelling, [])):
            if self.release in known and self.release in since:
                return flag, negative
        return None

    def takes_no_value(self, field: str) -> bool:
        """Whether the flag of a setting stands alone (``--enable-prefix-caching``)."""
        flag = self.engine.flags.get(field)
        return flag is not None and flag.kind in ("bool", "true")

    @staticmethod
    def _refuse(state: State, word: Word, text: str) -> None:
        state.refuse(text, Value(None, word.span), "engine")

    @staticmethod
    def _arity(found: Found, words: Sequence[Word], at: int) -> int:
        if found.member:
            return 1
        kind = found.flag.kind
        if kind in ("bool", "true"):
            return 0
        if kind in ("value", "json"):
            return 1 if at < len(words) else 0
        count = 0
        while at + count < len(words) and not _looks_like_flag(words[at + count]):
            count += 1
            if kind == "optional":
                break
        return count

    def _assign(
        self, found: Found, word: Word, inline: Text | None, values: list[Word], members: dict[str, Value], state: State
    ) -> Iterator[tuple[str, Value]]:
        flag = found.flag
        if found.member:
            source = inline if inline is not None else values[0].text if values else None
            if source is None:
                self._refuse(state, word, f"{found.spelling}.{found.member}: expected one argument")
                return
            base = members.get(flag.field, Value({}, word.span, route="flag", name=found.spelling))
            if isinstance(base.data, dict) and len(base.data) >= _MOST_MEMBERS:
                base = Value.unknown(f"more than {_MOST_MEMBERS} members of one flag", word.span, found.spelling)
            if isinstance(base.data, Text):
                members[flag.field] = base
                return
            member = _loose(_whole(word, values), source, f"{found.spelling}.{found.member}")
            members[flag.field] = base.with_(found.member.replace("-", "_").split("."), member)
            return
        if flag.kind in ("bool", "true"):
            if inline is not None:
                self._refuse(
                    state,
                    word,
                    f"{found.spelling} takes no value: argument {found.spelling}: ignored explicit argument",
                )
                return
            yield flag.field, Value(not found.negative, word.span, word.text.places, "flag", found.spelling)
            return
        if flag.kind == "values" and inline is None:
            items = [_scalar(v, v.text, found.spelling) for v in values]
            yield flag.field, Value(list(items), _whole(word, values).span, word.text.places, "flag", found.spelling)
            return
        source = inline if inline is not None else values[0].text if values else None
        if source is None:
            if flag.kind != "optional":
                self._refuse(state, word, f"{found.spelling}: expected one argument")
            return
        whole = _whole(word, values)
        if values and values[0].spread:
            yield flag.field, Value(source, whole.span, source.places, "flag", found.spelling)
            return
        if flag.kind != "json":
            yield flag.field, _typed(whole, source, found.spelling)
            return
        value = _json(whole, source, found.spelling)
        if value is None:
            self._refuse(state, word, f"{found.spelling} is not valid JSON: {_short(source.show())}")
            return
        yield flag.field, value


def _whole(word: Word, values: Sequence[Word]) -> Word:
    """The flag with its value as one word: what a person would edit."""
    if not values or values[-1].span.source is not word.span.source or values[-1].span.end < word.span.end:
        return Word(word.text, word.span)
    from gdnlint.source import Span

    places = Text(tuple(p for w in (word, *values) for p in w.text.pieces))
    return Word(places, Span(word.span.source, word.span.start, values[-1].span.end))


def _scalar(word: Word, text: Text, name: str) -> Value:
    known = text.known
    return Value(text if known is None else known, word.span, text.places, "flag", name)


def _typed(word: Word, text: Text, name: str) -> Value:
    """A flag's value; digits become numbers as argparse types them."""
    known = text.known
    if known is not None and known.isdecimal() and len(known) < 19:
        return Value(int(known), word.span, text.places, "flag", name)
    return _scalar(word, text, name)


def _loose(word: Word, text: Text, name: str) -> Value:
    """A dotted member: JSON where it is JSON, else a string."""
    parsed = json_text.parse(text, word.span)
    if parsed is not None and not isinstance(parsed.data, Text):
        return Value(parsed.data, word.span, text.places, "flag", name)
    return _scalar(word, text, name)


def _json(word: Word, text: Text, name: str) -> Value | None:
    parsed = json_text.parse(text, word.span)
    if parsed is None and text.known is None:
        return Value(text, word.span, text.places, "flag", name)
    if parsed is None:
        return None
    return Value(parsed.data, word.span, text.places, "flag", name)


def _looks_like_flag(word: Word) -> bool:
    text = word.text.marked()
    return text.startswith("-") and len(text) > 1 and not _is_number(text) and " " not in text.partition("=")[0]


def _is_number(text: str) -> bool:
    return text[:1] == "-" and text[1:].replace(".", "", 1).isdecimal()


def _spread_reason(word: Word) -> str:
    hole = next(iter(word.text.holes), Hole("words that the files do not show"))
    return hole.reason


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
