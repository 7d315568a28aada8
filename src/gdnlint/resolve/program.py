"""Runs the programs of rule files: ordered steps over three-valued values.

The only interpreter there is. It knows operators and references, and no framework.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf
from typing import Protocol

from gdnlint.knowledge.conditions import Condition, Truth
from gdnlint.knowledge.programs import Choice, Declared, Expression, Literal, Members, Ref, Step, bind
from gdnlint.values import Text, Value, Word

Outcome = OneOf["won", "lost", "dropped", "via"]


RELEASE = "\U000f1fff"
"""Stands in a refusal for the release that refuses: releases that differ in nothing else share an evaluation."""


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
    open_reason: str = ""
    """Why later words may change any setting (``"$@"``); empty if none can."""
    reads: list[Value] = field(default_factory=list)
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
        return value

    def value_of(self, name: str) -> Value | None:
        field_name, _, rest = name.partition(".")
        slot = self.settings.get(field_name)
        if slot is None or slot.value is None:
            return None
        return slot.value.at(rest.split(".")) if rest else slot.value

    def test(self, condition: Condition) -> tuple[Truth, tuple[Value, ...]]:
        """A condition's truth and the values with a place that it read."""
        self.reads = []
        truth = self._truth(condition)
        return truth, _distinct(self.reads)

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
            return _plain(expression.data)
        if isinstance(expression, Choice):
            truth = self._truth(expression.condition)
            if truth is None:
                return Value.unknown("a condition that the files do not decide")
            return self.evaluate(expression.then if truth else expression.otherwise)
        if isinstance(expression, Members):
            found = {name: self.evaluate(member) for name, member in expression.members}
            return Value({name: value for name, value in found.items() if value is not None}, route="rule")
        return self._reference(expression)

    def _reference(self, expression: Ref) -> Value | None:
        value = self.lookup(expression.name)
        if value is None:
            if expression.name.startswith("key:") and self.surroundings.unknown_keys:
                return Value.unknown(self.surroundings.unknown_keys)
            return self._default(expression)
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

    # -- assignments ---------------------------------------------------------------------------------------------------

    def assign(self, name: str, value: Value | None, assignment: Assignment) -> None:
        """Give a setting (or, with dots, a member of one) a value; what stood there is lost."""
        field_name, _, rest = name.partition(".")
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


def _undecided(step: Step, value: Value | None, state: State, name: str) -> Value | None:
    """What a setting is worth when the step's condition is not decided: unknown, unless both ways agree."""
    now = state.value_of(name)
    if now is not None and value is not None and now.plain() == value.plain() and now.is_known and value.is_known:
        return now
    reason = step.note or "a condition that the files do not decide"
    holes = [hole for read in state.reads for hole in read.holes()]
    if holes:
        return Value(
            Text(tuple(piece for read in state.reads if isinstance(read.data, Text) for piece in read.data.pieces))
        )
    return Value.unknown(reason)


def _set(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    for name, expression in step.assignments:
        reads = list(state.reads)
        value = state.evaluate(expression)
        state.reads = reads
        if conditional:
            value = _undecided(step, value, state, name)
        if value is None and state.value_of(name) is None:
            continue
        state.assign(name, value, _assignment(step, value, because, conditional))


def _fill(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    for name, expression in step.assignments:
        now = state.value_of(name)
        if now is not None and now.data is not None:
            continue
        reads = list(state.reads)
        value = state.evaluate(expression)
        state.reads = reads
        if value is None:
            continue
        if conditional:
            value = _undecided(step, value, state, name)
        state.assign(name, value, _assignment(step, value, because, conditional))


def _update(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    value = state.evaluate(step.operand) if step.operand is not None else None
    if value is None or value.data is None:
        return
    value = _as_mapping(value)
    if not isinstance(value.data, dict):
        if isinstance(value.data, Text):
            state.open_reason = state.open_reason or _reason(value, "a mapping that the files do not show")
        return
    for name, member in value.data.items():
        if member.data is None and step.option("null") == "drop":
            continue
        before = state.value_of(name)
        if before is not None and step.option("duplicate") == "refuse":
            state.refused = f"{step.note or 'the program passes this argument twice'} ({name})"
            state.refused_at = member
            return
        if before is not None and before.span is not None and before.plain() != member.plain():
            state.marks.append(Mark("overridden", step.note, name, member, before))
        if conditional:
            member = _undecided(step, member, state, name) or member
        state.assign(name, member, _assignment(step, member, because, conditional))


def _as_mapping(value: Value) -> Value:
    """A text that holds a JSON mapping (``--engine_kwargs '{"a": 1}'``) as the mapping."""
    if not isinstance(value.data, str | Text):
        return value
    from gdnlint.documents import json_text

    text = value.data if isinstance(value.data, Text) else Text.of(value.data, value.span)
    parsed = json_text.parse(text, value.span, route=value.route, name=value.name)
    return replace(value, data=parsed.data) if parsed is not None and isinstance(parsed.data, dict) else value


def _merge(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    for name, expression in step.assignments:
        value = state.evaluate(expression)
        if value is None:
            continue
        now = state.value_of(name)
        if now is not None and isinstance(now.data, dict) and isinstance(value.data, dict):
            merged = value.merged(now) if step.operator == "under" else now.merged(value)
        else:
            merged = now if now is not None and now.data is not None and step.operator == "under" else value
        if conditional:
            merged = _undecided(step, merged, state, name) or merged
        state.assign(name, merged, _assignment(step, merged, because, conditional))


def _argv(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    expression = step.operand
    if isinstance(expression, Ref) and expression.name == "words:argv":
        words: Sequence[Word] = state.surroundings.words
    else:
        value = state.evaluate(expression) if expression is not None else None
        if value is None or value.data is None:
            return
        words = words_of(value, step, state)
    for name, value in state.surroundings.grammar.read(words, state):
        if conditional:
            value = _undecided(step, value, state, name) or value
        state.assign(name, value, _assignment(step, value, because, conditional))


def words_of(value: Value, step: Step, state: State) -> list[Word]:
    """A mapping or list as command line words; options of the step say how booleans and mappings are written."""
    import json

    def word(text: str | Text, at: Value) -> Word:
        span = at.span or value.span
        assert span is not None
        return Word(text if isinstance(text, Text) else Text.of(text, at.span), span)

    if isinstance(value.data, list):
        return [word(item.data if isinstance(item.data, Text) else str(item.plain()), item) for item in value.data]
    if not isinstance(value.data, dict):
        return []
    out: list[Word] = []
    for name, member in value.data.items():
        flag = "--" + name
        if member.data is True:
            out.append(word(flag, member))
        elif member.data is False:
            if step.option("false") == "negative":
                out.append(word("--no-" + name, member))
            else:
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
    del because, conditional
    wanted = step.option("fields").split()
    for name in wanted or list(state.settings):
        slot = state.settings.get(name)
        value = slot.value if slot is not None else None
        data = value.data if value is not None else None
        if data is False and step.option("false") == "omit":
            assert slot is not None and value is not None
            _drop(slot)
            state.marks.append(Mark("ineffective", step.note, name, value))
        elif data is None and (name in wanted) and step.option("absent") == "negative":
            state.assign(name, Value(False, route="rule"), Assignment(Value(False), step.source, step.note))
        elif data is None and slot is not None and step.option("null") == "omit":
            slot.value = None


def _drop(slot: Slot) -> None:
    """The value never reaches the engine: the setting is unset again, and its history says so."""
    for assignment in slot.history:
        if assignment.outcome == "won":
            assignment.outcome = "dropped"
    slot.value = None


def _propagate(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    del because, conditional
    value = state.lookup(step.text)
    for target in step.copies:
        there = state.lookup(target)
        if value is None or value.data is None:
            continue
        if there is not None and there.data is not None:
            if step.option("conflict") == "refuse" and there.plain() != value.plain():
                state.refused = step.note or f"{step.text} and {target} differ"
            continue
        state.propagated[target] = value


def _refuse(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    if conditional or state.refused:
        return
    state.refused = step.text
    state.refused_at = because[0] if because else None


def _assume(step: Step, state: State, because: tuple[Value, ...], conditional: bool) -> None:
    del because, conditional
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
    "under": _merge,
    "over": _merge,
    "argv": _argv,
    "emit": _emit,
    "propagate": _propagate,
    "refuse": _refuse,
    "assume": _assume,
    "mark": _mark,
}

__all__ = ["Assignment", "Mark", "Slot", "State", "Surroundings", "run"]
