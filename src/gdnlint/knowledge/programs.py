"""Programs in rule files: ordered steps that write engine settings, and the expressions they use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gdnlint.knowledge import conditions
from gdnlint.knowledge.conditions import ALWAYS, Condition, ConditionError
from gdnlint.knowledge.reading import Table


class Literal(NamedTuple):
    """Data as it stands; mappings hold expressions."""

    data: object


class Declared(NamedTuple):
    """A default that the user's own checkout declares: a class attribute in a Python file."""

    file: str
    owner: str
    field: str


class Ref(NamedTuple):
    """A reference, and what stands in for it when it is absent."""

    name: str
    default: Expression | None = None
    declared: Declared | None = None
    map: dict[str, object] | None = None
    strip: tuple[str, ...] = ()
    """Beginnings that the program takes off a text (``hf://``)."""


class Choice(NamedTuple):
    """``{if: COND, then: X, else: Y}``."""

    condition: Condition
    then: Expression
    otherwise: Expression


class Members(NamedTuple):
    """A mapping whose members are expressions; an absent reference leaves its member out."""

    members: tuple[tuple[str, Expression], ...]


class Unknown(NamedTuple):
    """``{unknown: WHY}``: what the files cannot say, or what nobody has read."""

    reason: str


Expression = Literal | Ref | Choice | Members | Unknown


class Step(NamedTuple):
    """One step of a program."""

    operator: str
    assignments: tuple[tuple[str, Expression], ...]
    """Of set, fill, under, assume: each field with its expression."""
    operand: Expression | None
    """Of update and argv: what is spread or appended."""
    text: str
    """Of refuse: the reason; of mark: its name; of propagate: the key that is copied; of allow: the setting."""
    copies: tuple[str, ...]
    """Of propagate: the keys that are copied to."""
    when: Condition
    revisions: frozenset[str]
    """Only for these revisions of the framework; empty: for all."""
    source: str
    note: str
    options: tuple[tuple[str, str], ...]
    key: str
    words: tuple[tuple[str, Condition, str], ...] = ()
    """Of allow: each word that the setting takes, the test of the release that knows it, and which those are."""
    each: tuple[tuple[str, str], ...] = ()
    """Names and references: the step runs once for each member, with ``$NAME`` standing for it. A later reference may
    use the names before it."""

    def option(self, name: str) -> str:
        return dict(self.options).get(name, "")


OPERATORS: dict[str, dict[str, tuple[str, ...]]] = {
    "set": {},
    "fill": {},
    "update": {"null": ("keep", "drop"), "duplicate": ("override", "refuse"), "text": ("json", "pairs", "pair")},
    "under": {"null": ("keep", "drop")},
    "argv": {
        "true": ("flag",), "false": ("omit", "negative", "unknown"), "null": ("omit",), "mapping": ("json", "text"),
    },
    "emit": {
        "true": ("flag",), "false": ("omit", "negative", "keep"), "null": ("omit", "keep"),
        "absent": ("omit", "negative"), "mapping": ("keep", "text"),
    },
    "propagate": {"conflict": ("keep", "refuse")},
    "refuse": {},
    "assume": {},
    "allow": {},
    "mark": {},
}  # fmt: skip
"""Every operator with its options and their values; the first value is the default."""


def parse_steps(table: Table, key: str, revisions: frozenset[str] = frozenset()) -> tuple[Step, ...]:
    return tuple(_step(step, revisions) for step in table.tables(key))


def _step(table: Table, known: frozenset[str]) -> Step:
    names = [name for name in table.data if name in OPERATORS]
    if len(names) != 1:
        raise table.error(
            "", f"a step has exactly one operator of {', '.join(OPERATORS)}; this one has {names or 'none'}"
        )
    operator = names[0]
    options = []
    for name, values in OPERATORS[operator].items():
        value = table.text(name, values[0])
        if value not in values:
            raise table.error(name, f"must be {' or '.join(values)}")
        options.append((name, value))
    revisions = frozenset(table.texts("in"))
    if revisions - known:
        raise table.error("in", f"unknown revision {', '.join(sorted(revisions - known))}")
    if operator == "emit":
        options += [(name, " ".join(table.texts(name))) for name in ("fields", "except")]
    if operator == "argv":
        named = table.table("flags").data
        options.append(("flags", " ".join(f"{name}={flag}" for name, flag in named.items())))
    if operator == "mark":
        options += [("text", table.text("text")), ("field", table.text("field", ""))]
    words: tuple[tuple[str, Condition, str], ...] = ()
    if operator == "allow":
        options.append(("what", table.text("what")))
        words = tuple(_words(table))
    if operator == "assume":
        options.append(("because", table.text("because")))
    assignments, operand, text, copies = _operands(table, operator)
    step = Step(
        operator=operator,
        assignments=assignments,
        operand=operand,
        text=text,
        copies=copies,
        when=condition(table, "when"),
        revisions=revisions,
        source=table.text("source"),
        note=table.text("note", ""),
        options=tuple(options),
        key=table.key,
        words=words,
        each=tuple((name, _each(table, name)) for name in table.table("each").data),
    )
    table.raw("each")
    table.done()
    return step


def _words(table: Table) -> Iterator[tuple[str, Condition, str]]:
    """The words of an allow step: ``{since, until, words}`` for those that came and went together."""
    for item in table.tables("words"):
        since, until = (item.text(name, "") for name in ("since", "until"))
        known = _parse_condition(table.path, {"engine:version": {"within": f"{since}..{until}"}}, item.key)
        spoken = " ".join(part for part in (since and f"from {since} on", until and f"up to {until}") if part)
        for word in item.texts("words"):
            yield word, known, spoken
        item.done()


def _each(table: Table, name: str) -> str:
    """The reference whose members a step runs over."""
    reference = table.table("each").text(name)
    if not reference.startswith("key:"):
        raise table.error(f"each.{name}", "must be a `key:` reference")
    return reference


def bind(step: Step, name: str, member: str) -> Step:
    """A step with ``$NAME`` replaced by a member, in its references, texts and conditions."""
    pattern = re.compile(rf"\${re.escape(name)}(?!\w)")

    def text(written: str) -> str:
        return pattern.sub(lambda _: member, written)

    def in_expression(found: Expression) -> Expression:
        if isinstance(found, Unknown):
            return found
        if isinstance(found, Literal):
            return Literal(text(found.data)) if isinstance(found.data, str) else found
        if isinstance(found, Choice):
            return Choice(in_condition(found.condition), in_expression(found.then), in_expression(found.otherwise))
        if isinstance(found, Members):
            return Members(tuple((key, in_expression(value)) for key, value in found.members))
        default = in_expression(found.default) if found.default is not None else None
        return found._replace(name=text(found.name), default=default)

    def in_condition(found: Condition) -> Condition:
        if isinstance(found, conditions.Test):
            operand = text(found.operand) if isinstance(found.operand, str) else found.operand
            return found._replace(reference=text(found.reference), operand=operand)
        return found._replace(parts=tuple(map(in_condition, found.parts)))

    return step._replace(
        assignments=tuple((text(key), in_expression(value)) for key, value in step.assignments),
        operand=in_expression(step.operand) if step.operand is not None else None,
        when=in_condition(step.when),
        note=text(step.note),
        each=tuple((other, text(reference)) for other, reference in step.each if other != name),
    )


_Operands = tuple[tuple[tuple[str, "Expression"], ...], "Expression | None", str, tuple[str, ...]]


def _operands(table: Table, operator: str) -> _Operands:
    """(assignments, operand, text, copies) of a step; those that its operator does not have are empty."""
    data = table.raw(operator)
    key = table.at(operator)
    if operator in ("set", "fill", "under", "assume"):
        if not isinstance(data, dict) or not data:
            raise table.error(operator, "takes a mapping of field to expression")
        pairs = tuple((str(name), expression(table, value, f"{key}.{name}")) for name, value in data.items())
        return pairs, None, "", ()
    if operator == "propagate":
        if not isinstance(data, dict) or set(data) != {"from", "to"}:
            raise table.error(operator, "takes {from: KEY, to: [KEY, ...]}")
        to = data["to"] if isinstance(data["to"], list) else [data["to"]]
        return (), None, str(data["from"]), tuple(map(str, to))
    if operator in ("update", "argv"):
        return (), expression(table, data, key), "", ()
    if operator == "emit":
        return (), None, "", ()
    if not isinstance(data, str):
        raise table.error(operator, "takes a text")
    return (), None, data, ()


def expression(table: Table, data: object, key: str) -> Expression:
    """YAML data to an expression. Raises KnowledgeError."""
    if isinstance(data, str):
        kind = data.partition(":")[0]
        if kind in conditions.REFERENCE_KINDS and ":" in data:
            return Ref(data)
        return Literal(data)
    if not isinstance(data, dict):
        return Literal(data)
    if "ref" in data:
        return _ref(table, data, key)
    if set(data) == {"unknown"}:
        return Unknown(str(data["unknown"]))
    if "if" in data:
        if set(data) != {"if", "then", "else"}:
            raise table._error(table.path, key, "takes {if: COND, then: X, else: Y}")
        test = _parse_condition(table.path, data["if"], f"{key}.if")
        return Choice(
            test, expression(table, data["then"], f"{key}.then"), expression(table, data["else"], f"{key}.else")
        )
    return Members(tuple((str(name), expression(table, value, f"{key}.{name}")) for name, value in data.items()))


def _ref(table: Table, data: dict[str, object], key: str) -> Ref:
    inner = Table(data, table.path, key)
    name = inner.text("ref")
    if not isinstance(expression(table, name, key), Ref):
        raise inner.error(
            "ref", f"{name!r} is no reference; it starts with one of {', '.join(conditions.REFERENCE_KINDS)}"
        )
    declared, default = None, None
    if "default" in inner:
        value = inner.raw("default")
        if isinstance(value, dict) and "declared" in value:
            where = Table(value["declared"], table.path, f"{key}.default.declared")
            declared = Declared(where.text("file"), where.text("class"), where.text("field"))
            default = expression(table, where.raw("else"), f"{key}.default.declared.else")
            where.done()
        else:
            default = expression(table, value, f"{key}.default")
    mapping = inner.raw("map")
    if mapping is not None and not isinstance(mapping, dict):
        raise inner.error("map", "must be a mapping")
    strip = inner.texts("strip")
    inner.done()
    return Ref(name, default, declared, mapping, strip)


def condition(table: Table, key: str) -> Condition:
    """The condition at a key; absent: always."""
    data = table.raw(key)
    return ALWAYS if data is None else _parse_condition(table.path, data, table.at(key))


def _parse_condition(path: Path, data: object, key: str) -> Condition:
    try:
        return conditions.parse(data, key)
    except ConditionError as error:
        raise Table._error(path, error.key, str(error)) from error
