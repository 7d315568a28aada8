"""Reads an engine's command line as its argument parser would: last flag wins, dotted members, refusals.

Python's argparse is the grammar; what an engine adds to it (underscores, ``--flag.member``) was executed on
its own parser, release by release.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdnlint.documents import json_text
from gdnlint.knowledge.releases import Release
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


class CommandLine:
    """The grammar of one release."""

    def __init__(self, engine: Engine, release: Release) -> None:
        self.engine = engine
        self.release = release
        self.spellings: dict[str, tuple[Flag, bool]] = {}
        for flag in engine.flags.values():
            for name, known in flag.names:
                if release not in known:
                    continue
                self.spellings[name] = (flag, False)
                if flag.kind != "bool" or not name.startswith("--"):
                    continue
                for prefix, since in engine.negative_prefixes:
                    if release in since:
                        self.spellings[f"--{prefix}{negative_stem(name, prefix)}"] = (flag, True)

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
            found = self.find(name, state, word)
            if found is None:
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
        yield self.engine.positional, _scalar(first, first.text, self.engine.positional)

    def find(self, name: str, state: State | None = None, word: Word | None = None) -> Found | None:
        """The flag a word names: exact, with underscores, or abbreviated. None: not a flag of this release."""
        stem, _, member = name.partition(".")
        if stem.startswith("--"):
            stem = "--" + stem[2:].replace("_", "-")
        spelled = self.spellings.get(stem)
        if spelled is not None:
            return Found(spelled[0], stem, spelled[1], member)
        if stem in self.engine.removed_flags:
            self._refuse(state, word, f"vLLM has no {stem}: unrecognized arguments")
            return None
        if stem.startswith("--") and self.engine.abbreviations:
            fits = sorted({s for s in self.spellings if s.startswith(stem)})
            if len(fits) == 1:
                flag, negative = self.spellings[fits[0]]
                return Found(flag, fits[0], negative, member)
            if len(fits) > 1 and len({id(self.spellings[s][0]) for s in fits}) > 1:
                shown = ", ".join(fits[:4])
                self._refuse(state, word, f"ambiguous option: {stem} could match {shown}")
                return None
        known = self._any_release(stem)
        if known:
            self._refuse(state, word, f"{self.engine.title} {self.release} has no {stem}: unrecognized arguments")
        return None

    def _any_release(self, stem: str) -> bool:
        """Whether another release knows this spelling, so that its absence here is a fact and not a gap."""
        for flag in self.engine.flags.values():
            for name, _ in flag.names:
                if name == stem:
                    return True
                if flag.kind == "bool" and name.startswith("--"):
                    for prefix, _since in self.engine.negative_prefixes:
                        if stem == f"--{prefix}{negative_stem(name, prefix)}":
                            return True
        return False

    @staticmethod
    def _refuse(state: State | None, word: Word | None, text: str) -> None:
        if state is not None and not state.refused:
            state.refused = text
            state.refused_at = Value(None, word.span) if word is not None else None

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


def negative_stem(name: str, prefix: str) -> str:
    """``--enable-prefix-caching`` without its dashes; for the prefix ``disable-`` also without ``enable-``."""
    stem = name[2:]
    return stem.removeprefix("enable-") if prefix == "disable-" else stem


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
