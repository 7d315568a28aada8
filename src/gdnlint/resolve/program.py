"""Runs the programs of rule files: ordered steps over three-valued values.

The only interpreter there is. It knows operators and references, and no framework.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal as OneOf
from typing import Protocol

from gdnlint.knowledge.conditions import Condition, Truth
from gdnlint.knowledge.programs import Choice, Declared, Expression, Literal, Members, Ref, Step, Unknown, bind
from gdnlint.values import Hole, Text, Value, Word

Outcome = OneOf["won", "lost", "dropped", "via"]
Party = OneOf["framework", "engine"]
UNREAD = "unread"
"""The route of a key that stands in no file here and may stand in one that was not read."""


@dataclass(slots=True)
class Assignment:
    """A setting got a value (None: it was made unset)."""

    value: Value | None
    source: str
    note: str
    outcome: Outcome = "won"
    because: tuple[Value, ...] = ()
    """Values with a place that the step's condition read: why it applied."""
    conditional: bool = False
    """The step's condition could not be decided; this is its value if it holds."""


@dataclass(slots=True)
class Slot:
    """One setting: its value now and every assignment, oldest first."""

    value: Value | None = None
    history: list[Assignment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Mark:
    """Something a step noticed that a rule may report (an opt-out without effect, a silent override)."""

    name: str
    text: str
    field: str = ""
    value: Value | None = None
    other: Value | None = None


class Grammar(Protocol):
    """How an engine reads words of a command line."""

    def read(self, words: Sequence[Word], state: State) -> Iterable[tuple[str, Value]]:
        """The (field, value) assignments in order; refusals and open ends go to the state."""

    def takes_no_value(self, field: str) -> bool:
        """Whether the flag of a setting stands alone (``--enable-prefix-caching``)."""


@dataclass(slots=True)
class Surroundings:
    """What references outside the settings mean for one launch."""

    lookup: Callable[[str], Value | None]
    """``key:``, ``env:``, ``entry:``, ``engine:``, ``model:``, ``launch:``, ``file:``, ``call:``, ``defect:``."""
    words: Sequence[Word]
    """The engine's own command line, for ``words:argv``."""
    declared: Callable[[Declared], Value | None]
    """A default in the user's checkout; None if it is not declared there."""
    grammar: Grammar
    revision: str
    unknown_keys: str = ""
    """Why keys that are not there may still be set (a parent that was not found); empty if they are absent."""
    pinned: bool = False
    """Whether a pin names the release, and it is one that the knowledge has."""


@dataclass(slots=True)
class State:
    """The settings of a launch while its programs run."""

    surroundings: Surroundings
    settings: dict[str, Slot] = field(default_factory=dict)
    facts: dict[str, Value] = field(default_factory=dict)
    propagated: dict[str, Value] = field(default_factory=dict)
    """Keys that a step copied from other keys."""
    marks: list[Mark] = field(default_factory=list)
    positional: Word | None = None
    """The first word of a command line (a file of one comes before the typed one) that no flag takes."""
    refused: str = ""
    refused_at: Value | None = None
    refused_by: Party = "framework"
    """Who stops at start, where ``refused`` says why."""
    running: Party = "framework"
    """Whose program runs now."""
    unread: str = ""
    """Why settings that nobody has set here may be set in a mapping that the files do not show."""
    open_reason: str = ""
    """Why later words may change any setting (``"$@"``); empty if none can."""
    reads: list[Value] = field(default_factory=list)
    doubts: list[Value] = field(default_factory=list)
    """What the last condition read without learning its value."""
    facts_used: set[str] = field(default_factory=set)
    """The facts outside the files that a step asked for."""
    flags_read: set[str] = field(default_factory=set)
    """Words whose meaning as a flag of the release was asked for."""
    release_conditions: list[Condition] = field(default_factory=list)
    """Conditions that asked for the release."""
    reads_release: bool = False
    """Whether something else than a condition asked for the release."""

    # -- references ----------------------------------------------------------------------------------------------------

    def lookup(self, reference: str) -> Value | None:
        """The value of a reference; absent is None."""
        kind, _, name = reference.partition(":")
        if kind == "set":
            value = self.value_of(name)
        elif kind == "fact":
            self.facts_used.add(name)
            value = self.facts.get(name) or Value.unknown(f"a fact outside the files ({name})", name=name)
        elif kind == "mark":
            value = Value(any(mark.name == name for mark in self.marks))
        else:
            self.reads_release = self.reads_release or kind == "engine"
            value = self.propagated.get(reference) or self.surroundings.lookup(reference)
        if value is not None and value.span is not None:
            self.reads.append(value)
        if value is not None and isinstance(value.data, Text) and value.data.known is None:
            self.doubts.append(value)
        return value

    def value_of(self, name: str) -> Value | None:
        """A setting, or with dots a member of one; None if it is unset."""
        field_name, _, rest = name.partition(".")
        slot = self.settings.get(field_name)
        if self.unread and (slot is None or slot.value is None):
            return Value.unknown(self.unread)
        if slot is None or slot.value is None:
            return None
        return slot.value.at(rest.split(".")) if rest else slot.value

    def refuse(self, text: str, at: Value | None = None, by: Party | None = None) -> None:
        """The launch stops at start; the first reason counts."""
        if not self.refused:
            self.refused, self.refused_at, self.refused_by = text, at, by or self.running

    def hide(self, reason: str, source: str) -> None:
        """A mapping that the files do not show may set anything that nobody has written here.

        What is written stays: of two places that set one thing, the one that can be read counts, with a note.
        """
        self.open_reason = self.open_reason or reason
        self.unread = self.unread or reason
        for name, slot in self.settings.items():
            if slot.value is None or (slot.value.span is None and not isinstance(slot.value.data, dict)):
                self.assign(name, Value.unknown(reason), Assignment(Value.unknown(reason), source, ""))

    def test(self, condition: Condition) -> tuple[Truth, tuple[Value, ...]]:
        """A condition's truth and the values with a place that it read."""
        self.reads, self.doubts = [], []
        truth = self._truth(condition)
        # What is not so is passed over, whatever it read.
        return truth, _distinct(self.reads) if truth is not False else ()

    def _truth(self, condition: Condition) -> Truth:
        before, self.reads_release = self.reads_release, False
        truth = condition.evaluate(self.lookup)
        if self.reads_release:
            self.release_conditions.append(condition)
        self.reads_release = before
        return truth

    def evaluate(self, expression: Expression) -> Value | None:
        """An expression's value; None leaves the setting unset."""
        if isinstance(expression, Literal):
            value = _plain(expression.data)
            # What a framework passes by itself is asked for, whatever the engine's default is.
            given = self.running == "framework" and not isinstance(value.data, dict | list)
            return replace(value, route="framework") if given else value
        if isinstance(expression, Unknown):
            return Value.unknown(expression.reason)
        if isinstance(expression, Choice):
            truth = self._truth(expression.condition)
            if truth is None:
                return Value.unknown(self.doubt())
            return self.evaluate(expression.then if truth else expression.otherwise)
        if isinstance(expression, Members):
            found = {name: self.evaluate(member) for name, member in expression.members}
            return Value({name: value for name, value in found.items() if value is not None}, route="rule")
        return self._reference(expression)

    def _reference(self, expression: Ref) -> Value | None:
        value = self.lookup(expression.name)
        if value is None:
            return self._default(expression)
        if expression.strip:
            value = _without(value, expression.strip)
        if expression.map is not None and not isinstance(value.data, dict | list | Text):
            return replace(value, data=expression.map.get(str(value.data), value.data))  # type: ignore[arg-type]
        return value

    def _default(self, expression: Ref) -> Value | None:
        if expression.declared is not None:
            found = self.surroundings.declared(expression.declared)
            if found is not None:
                return found
        if expression.default is None:
            return None
        value = self.evaluate(expression.default)
        if value is None or value.span is not None:
            return value
        return replace(value, route="default", name=expression.name.partition(":")[2])

    def doubt(self) -> str:
        """What a condition that could not be decided depends on."""
        return next((hole.reason for value in self.doubts for hole in value.holes()), "what the files do not show")

    # -- assignments ---------------------------------------------------------------------------------------------------

    def assign(self, name: str, value: Value | None, assignment: Assignment) -> None:
        """Give a setting (or, with dots, a member of one) a value; what stood there is lost."""
        field_name, _, rest = name.partition(".")
        there = self.settings.get(field_name)
        if rest and self.unread and (there is None or there.value is None):
            # What the files do not show may set the whole mapping; one of its members alone says nothing.
            return
        slot = self.settings.setdefault(field_name, Slot())
        if rest:
            if value is None:
                return
            base = (
                slot.value if slot.value is not None and isinstance(slot.value.data, dict) else Value({}, route="rule")
            )
            if isinstance(slot.value, Value) and isinstance(slot.value.data, Text):
                return
            slot.value = base.with_(rest.split("."), value)
            slot.history.append(replace(assignment, value=slot.value, outcome="won"))
            return
        for earlier in slot.history:
            if earlier.outcome == "won":
                earlier.outcome = "lost"
        slot.value = value
        slot.history.append(assignment)


def _without(value: Value, beginnings: Sequence[str]) -> Value:
    """A text without the first of some beginnings that it has."""
    text = value.data.marked() if isinstance(value.data, Text) else value.data
    size = next((len(b) for b in beginnings if isinstance(text, str) and text.startswith(b)), 0)
    if isinstance(value.data, Text):
        return replace(value, data=value.data.cut(size))
    return replace(value, data=value.data[size:]) if isinstance(value.data, str) else value


def _distinct(values: Iterable[Value]) -> tuple[Value, ...]:
    found: dict[tuple[object, ...], Value] = {}
    for value in values:
        if value.span is not None:
            found.setdefault(value.span.key(), value)
    return tuple(found.values())


def _plain(data: object) -> Value:
    if isinstance(data, dict):
        return Value({str(key): _plain(member) for key, member in data.items()}, route="rule")
    if isinstance(data, list):
        return Value([_plain(member) for member in data], route="rule")
    assert data is None or isinstance(data, bool | int | float | str)
    return Value(data, route="rule")


def run(steps: Sequence[Step], state: State, to_the_end: bool = False) -> None:
    """Run a program; a refusal ends it, unless its settings are wanted all the same."""
    for step in steps:
        if state.refused and not to_the_end:
            return
        if step.each:
            run(list(_each_member(step, state)), state, to_the_end)
            continue
        if step.revisions and state.surroundings.revision not in step.revisions:
            continue
        truth, because = state.test(step.when)
        if truth is False:
            continue
        _OPERATIONS[step.operator](step, state, because, truth is None)


_MOST_MEMBERS = 200
_MOST_WORDS = 2_000
"""Words that a mapping of settings becomes."""
_MOST_SETTINGS = 500
"""Members of a mapping of settings that are read; engines know fewer."""


def _each_member(step: Step, state: State) -> Iterator[Step]:
    """A step that runs over members, once for each of them: the keys of a mapping, the texts of a list."""
    name, reference = step.each[0]
    found = state.lookup(reference)
    data = found.data if found is not None else None
    if isinstance(data, Text):
        state.open_reason = state.open_reason or _reason(Value(data), "what the files do not show")
    members = data if isinstance(data, dict) else [v.data for v in data] if isinstance(data, list) else []
    for member in [m for m in members if isinstance(m, str)][:_MOST_MEMBERS]:
        yield bind(step, name, member)


def _assignment(step: Step, value: Value | None, because: tuple[Value, ...], conditional: bool) -> Assignment:
    return Assignment(value, step.source, step.note, because=because, conditional=conditional)


def _undecided(value: Value | None, state: State, name: str) -> Value:
    """What a setting is worth when the step's condition is not decided: unknown, unless both ways agree."""
    now = state.value_of(name)
    if now is not None and value is not None and now.plain() == value.plain() and now.is_known and value.is_known:
        return now
    return _doubtful(state)


def _doubtful(state: State) -> Value:
    """A value that hangs on the condition that could not be decided."""
    doubt = next((value.data for value in state.doubts if isinstance(value.data, Text)), None)
    holes = [piece for piece in doubt.pieces if isinstance(piece.content, Hole)] if doubt is not None else []
    return Value(Text(tuple(holes[:1]))) if holes else Value.unknown(state.doubt())


def _evaluated(expression: Expression, state: State) -> Value | None:
    """An expression's value; what its step's condition read stays what counts as read."""
    reads, doubts = list(state.reads), list(state.doubts)
    value = state.evaluate(expression)
    state.reads, state.doubts = reads, doubts
    return value


def _set(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    for name, expression in step.assignments:
        value = _evaluated(expression, state)
        if conditional:
            value = _undecided(value, state, name)
        if value is None and state.value_of(name) is None:
            continue
        state.assign(name, value, _assignment(step, value, because, conditional))


def _fill(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    for name, expression in step.assignments:
        now = state.value_of(name)
        if now is not None and now.data is not None:
            continue
        value = _evaluated(expression, state)
        if value is None:
            continue
        if conditional:
            value = _undecided(value, state, name)
        state.assign(name, value, _assignment(step, value, because, conditional))


def _update(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    value = _evaluated(step.operand, state) if step.operand is not None else None
    if value is None or value.data is None:
        return
    value = _as_mapping(value) if step.option("text") == "json" else _pairs(value, step, state)
    if isinstance(value.data, Text):
        state.hide(_reason(value, "a mapping that the files do not show"), step.source)
    if not isinstance(value.data, dict):
        return
    if _is_key(step.operand) and state.surroundings.unknown_keys:
        state.hide(state.surroundings.unknown_keys, step.source)
    if len(value.data) > _MOST_SETTINGS:
        state.hide(f"more than {_MOST_SETTINGS} settings", step.source)
    for name, member in islice(value.data.items(), _MOST_SETTINGS):
        if member.data is None and step.option("null") == "drop":
            continue
        before = state.value_of(name)
        if before is not None and before.data is not None and step.option("duplicate") == "refuse":
            if before.is_known and not conditional:
                state.refuse(f"{step.note or 'the program passes this argument twice'} ({name})", member)
                return
        elif before is not None and before.span is not None and before.plain() != member.plain():
            state.marks.append(Mark("overridden", step.note, name, member, before))
        if conditional:
            member = _undecided(member, state, name)
        state.assign(name, member, _assignment(step, member, because, conditional))


def _pairs(value: Value, step: Step, state: State) -> Value:
    """``a=1,b=2`` (``pairs``) or ``a=1`` (``pair``), or a list of such texts, as the mapping.

    A name without a value is true. A comma ends a pair even in braces; a whole text in braces is the JSON it holds.
    """
    data: dict[str, Value] = {}
    for given in value.data if isinstance(value.data, list) else [value]:
        item = _as_mapping(given)
        if isinstance(item.data, dict):
            data.update(item.data)
        elif isinstance(item.data, str | Text):
            text = item.data if isinstance(item.data, Text) else Text.of(item.data, item.span)
            data.update(_pairs_of(text, item, step, state))
    return replace(value, data=data)


def _pairs_of(text: Text, item: Value, step: Step, state: State) -> Iterator[tuple[str, Value]]:
    from gdnlint.documents.yaml import resolve_scalar

    at = 0
    marked = text.marked()
    for part in marked.split(",") if step.option("text") == "pairs" else [marked]:
        name, equals, _ = part.partition("=")
        given = text.cut(at + len(name) + len(equals), at + len(part))
        named = text.cut(at, at + len(name))
        at += len(part) + 1
        if named.known is None:
            state.hide(_reason(Value(named), "words that the files do not show"), step.source)
        elif name.strip():
            known = given.known
            data = True if not equals else given if known is None else resolve_scalar(known, "pyyaml")
            yield name.strip(), _as_mapping(Value(data, item.span, item.places, item.route, name.strip()))


def _is_key(expression: Expression | None) -> bool:
    return isinstance(expression, Ref) and expression.name.startswith("key:")


def _as_mapping(value: Value) -> Value:
    """A text that holds a JSON mapping (``--engine_kwargs '{"a": 1}'``) as the mapping."""
    if not isinstance(value.data, str | Text):
        return value
    from gdnlint.documents import json_text

    text = value.data if isinstance(value.data, Text) else Text.of(value.data, value.span)
    parsed = json_text.parse(text, value.span, route=value.route, name=value.name)
    return replace(value, data=parsed.data) if parsed is not None and isinstance(parsed.data, dict) else value


def _under(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    for name, expression in step.assignments:
        value = state.evaluate(expression)
        if value is None:
            continue
        now = state.value_of(name)
        if now is not None:
            now = _as_mapping(now)
        if now is not None and isinstance(now.data, dict) and step.option("null") == "drop":
            now = replace(now, data={key: member for key, member in now.data.items() if member.data is not None})
        if now is not None and isinstance(now.data, dict) and isinstance(value.data, dict):
            merged = value.merged(now)
        else:
            merged = now if now is not None and now.data is not None else value
        if conditional:
            merged = _undecided(merged, state, name)
        state.assign(name, merged, _assignment(step, merged, because, conditional))


def _argv(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    expression = step.operand
    if isinstance(expression, Ref) and expression.name == "words:argv":
        words: Sequence[Word] = state.surroundings.words
    else:
        value = state.evaluate(expression) if expression is not None else None
        if value is None or value.data is None:
            return
        words = words_of(value, step, state)[:_MOST_WORDS]
        if step.option("false") == "unknown":
            _leave_open(value, step, state)
    for name, value in state.surroundings.grammar.read(_renamed(words, step), state):
        if conditional:
            value = _undecided(value, state, name)
        state.assign(name, value, _assignment(step, value, because, conditional))


def _renamed(words: Sequence[Word], step: Step) -> Sequence[Word]:
    """Words with the program's own names of flags as the engine spells them."""
    names = dict(part.partition("=")[::2] for part in step.option("flags").split())
    if not names:
        return words
    out = []
    for word in words:
        name = word.text.marked().partition("=")[0]
        if name in names:
            head = Text.of(names[name], word.span)
            word = replace(word, text=head + word.text.cut(len(name)))
        out.append(word)
    return out


def _leave_open(mapping: Value, step: Step, state: State) -> None:
    """Nobody has read what becomes of a false member."""
    for name, member in mapping.data.items() if isinstance(mapping.data, dict) else ():
        if member.data is False:
            value = replace(member, data=Value.unknown(step.note).data)
            state.assign(name.replace("-", "_"), value, Assignment(value, step.source, step.note))


def words_of(value: Value, step: Step, state: State) -> list[Word]:
    """A mapping, list or text as command line words; options of the step say how booleans and mappings are written."""
    import json

    from gdnlint.launches.scalars import is_hole, split

    def word(text: str | Text, at: Value) -> Word:
        span = at.span or value.span
        assert span is not None
        return Word(text if isinstance(text, Text) else Text.of(text, at.span), span)

    if isinstance(value.data, list):
        items = value.data[:_MOST_WORDS]
        return [word(item.data if isinstance(item.data, Text) else str(item.plain()), item) for item in items]
    if isinstance(value.data, Text) and value.span is not None and is_hole(value.data):
        # Nothing is known of it: it may be any number of words.
        return [Word(value.data, value.span, spread=True)]
    if isinstance(value.data, str | Text) and value.span is not None:
        return list(split(value.data if isinstance(value.data, Text) else Text.of(value.data, value.span), value.span))
    if not isinstance(value.data, dict):
        return []
    out: list[Word] = []
    for name, member in islice(value.data.items(), _MOST_WORDS):
        flag = "--" + name
        if member.data is True:
            out.append(word(flag, member))
        elif member.data is False:
            if step.option("false") == "negative":
                out.append(word("--no-" + name, member))
            elif step.option("false") == "omit":
                state.marks.append(Mark("ineffective", step.note, name.replace("-", "_"), member))
        elif isinstance(member.data, dict):
            text = json.dumps(member.plain()) if step.option("mapping") == "json" else str(member.plain())
            out += [word(flag, member), word(text, member)]
        elif isinstance(member.data, list):
            out.append(word(flag, member))
            out += [word(str(item.plain()), item) for item in member.data]
        elif member.data is not None:
            out += [
                word(flag, member),
                word(member.data if isinstance(member.data, Text) else str(member.data), member),
            ]
    return out


def _emit(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    wanted, left = step.option("fields").split(), step.option("except").split()
    for name in wanted or [name for name in state.settings if name not in left]:
        slot = state.settings.get(name)
        value = slot.value if slot is not None else None
        data = value.data if value is not None else None
        dropped = data is False and step.option("false") == "omit"
        negative = data is None and name in wanted and step.option("absent") == "negative"
        if conditional and (dropped or negative):
            state.assign(name, _doubtful(state), _assignment(step, _doubtful(state), because, conditional))
        elif dropped:
            assert slot is not None and value is not None
            _drop(slot)
            state.marks.append(Mark("ineffective", step.note, name, value))
        elif negative:
            state.assign(name, Value(False, route="rule"), _assignment(step, Value(False), because, conditional))
        elif isinstance(data, int | str) and not isinstance(data, bool):
            # A boolean flag takes no value: the parser does not know the word behind it.
            if not conditional and state.surroundings.grammar.takes_no_value(name):
                state.refuse(f"--{name} takes no value: unrecognized arguments: {data}", value, "engine")
        elif data is None and slot is not None and step.option("null") == "omit":
            slot.value = None
        elif isinstance(data, dict) and value is not None and value.span and step.option("mapping") == "text":
            # Written in one piece; what flags of its members (`--a.b`) are made of stands nowhere as a whole.
            state.assign(name, replace(value, data=str(value.plain())), _assignment(step, value, because, conditional))


def _drop(slot: Slot) -> None:
    """The value never reaches the engine: the setting is unset again, and its history says so."""
    for assignment in slot.history:
        if assignment.outcome == "won":
            assignment.outcome = "dropped"
    slot.value = None


def _propagate(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    del because
    value = state.lookup(step.text)
    refuses = step.option("conflict") == "refuse"
    for target in step.copies:
        there = state.lookup(target)
        if value is None or value.data is None:
            continue
        if there is None or there.data is None:
            state.propagated[target] = _doubtful(state) if conditional else value
        elif not conditional and refuses and there.route == UNREAD:
            # A run that starts has the same there, or nothing.
            state.propagated[target] = value
        elif not conditional and refuses and there.is_known and value.is_known and there.plain() != value.plain():
            state.refuse(step.note or f"{step.text} and {target} differ")


def _refuse(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    if not conditional:
        state.refuse(step.text, because[0] if because else None)


def _allow(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    """A setting takes some words only, and each since a release."""
    del because
    value = state.value_of(step.text)
    if conditional or value is None or not isinstance(value.data, str):
        return
    found = next((item for item in step.words if item[0] == value.data), None)
    if found is None:
        # A release that the knowledge does not have may know it.
        if state.surroundings.pinned:
            state.refuse(f"{value.data} is no {step.option('what')} of any release", value)
        return
    truth, _ = state.test(found[1])
    if truth is False:
        state.refuse(f"this release has no {step.option('what')} {value.data}, which is known {found[2]}", value)


def _assume(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    del because
    if conditional:
        return
    for name, expression in step.assignments:
        fact = name.removeprefix("fact:")
        if fact not in state.facts:
            value = state.evaluate(expression)
            if value is not None:
                state.facts[fact] = replace(value, route="assumed", name=step.option("because"))


def _mark(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    if not conditional:
        value = next(iter(because), None)
        state.marks.append(Mark(step.text, step.option("text"), step.option("field"), value))


def _reason(value: Value, otherwise: str) -> str:
    return next((hole.reason for hole in value.holes()), otherwise)


_OPERATIONS: dict[str, Callable[[Step, State, tuple[Value, ...], bool], None]] = {
    "set": _set,
    "fill": _fill,
    "update": _update,
    "under": _under,
    "argv": _argv,
    "emit": _emit,
    "propagate": _propagate,
    "refuse": _refuse,
    "allow": _allow,
    "assume": _assume,
    "mark": _mark,
}

__all__ = ["Assignment", "Mark", "Slot", "State", "Surroundings", "run"]
