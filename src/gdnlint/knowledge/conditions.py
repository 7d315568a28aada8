"""Conditions of rules: parsed once, evaluated in three-valued logic (unknown in, unknown out).

Written as YAML: a bare reference (it is true), ``{REF: VALUE}`` (it equals), ``{REF: {gt: 1}}``, and
``all``, ``any``, ``not``. A reference is ``kind:name``; what it means is the context's affair.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, TypeVar

from gdnlint.knowledge.releases import Release, ReleaseRange
from gdnlint.values import Text, Value

Truth = bool | None
"""True, False, or None: unknown."""

Lookup = Callable[[str], Value | None]
"""A reference to its value; None if it is absent."""

REFERENCE_KINDS = (
    "key", "set", "env", "entry", "engine", "model", "fact", "launch", "mark", "defect", "words", "file", "call",
    "feature",
)  # fmt: skip

_OPERATORS = (
    "equals", "gt", "ge", "lt", "le", "in", "absent", "null", "glob", "has", "empty", "within", "first", "truthy",
)  # fmt: skip


class ConditionError(ValueError):
    """A condition that cannot be read; ``key`` leads to the place."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class Test(NamedTuple):
    """One reference against one operator."""

    reference: str
    operator: str
    operand: object

    def evaluate(self, lookup: Lookup) -> Truth:
        value = lookup(self.reference)
        return _TESTS[self.operator](value, self.operand)


class Combined(NamedTuple):
    how: Literal["all", "any", "not"]
    parts: tuple[Condition, ...]

    def evaluate(self, lookup: Lookup) -> Truth:
        if self.how == "not":
            truth = self.parts[0].evaluate(lookup)
            return None if truth is None else not truth
        decisive = self.how == "any"
        unknown = False
        for part in self.parts:
            truth = part.evaluate(lookup)
            if truth is decisive:
                return decisive
            unknown = unknown or truth is None
        return None if unknown else not decisive


Condition = Test | Combined
ALWAYS: Condition = Combined("all", ())


def references(condition: Condition) -> Iterator[str]:
    """Every reference a condition reads."""
    return (test.reference for test in tests(condition))


def tests(condition: Condition) -> Iterator[Test]:
    """Every test in a condition."""
    if isinstance(condition, Test):
        yield condition
        return
    for part in condition.parts:
        yield from tests(part)


def parse(data: object, key: str = "when") -> Condition:
    """YAML data to a condition. Raises ConditionError with the key that is wrong."""
    if isinstance(data, str):
        return Test(_reference(data, key), "equals", True)
    if isinstance(data, list):
        return Combined("all", tuple(parse(part, f"{key}[{i}]") for i, part in enumerate(data)))
    if not isinstance(data, dict) or not data:
        raise ConditionError(
            key, "a condition is a reference, a list, or a mapping with one reference, all, any or not"
        )
    parts = [_member(name, operand, f"{key}.{name}") for name, operand in data.items()]
    return parts[0] if len(parts) == 1 else Combined("all", tuple(parts))


def _member(name: object, operand: object, key: str) -> Condition:
    if name in ("all", "any"):
        if not isinstance(operand, list):
            raise ConditionError(key, f"{name} takes a list of conditions")
        parts = tuple(parse(part, f"{key}[{i}]") for i, part in enumerate(operand))
        return Combined("all" if name == "all" else "any", parts)
    if name == "not":
        return Combined("not", (parse(operand, key),))
    reference = _reference(name, key)
    if not isinstance(operand, dict):
        return Test(reference, "equals", operand)
    tests: list[Condition] = []
    for written, value in operand.items():
        operator = "null" if written is None else written  # a bare `null` key is YAML's null
        if operator not in _OPERATORS:
            raise ConditionError(f"{key}.{operator}", f"unknown operator {operator!r}; one of {', '.join(_OPERATORS)}")
        tests.append(Test(reference, operator, _operand(operator, value, f"{key}.{operator}")))
    if not tests:
        raise ConditionError(key, "an empty mapping tests nothing")
    return tests[0] if len(tests) == 1 else Combined("all", tuple(tests))


def _reference(name: object, key: str) -> str:
    kind = name.partition(":")[0] if isinstance(name, str) else ""
    if kind not in REFERENCE_KINDS or not isinstance(name, str) or ":" not in name:
        raise ConditionError(
            key, f"{name!r} is no reference; it starts with one of {', '.join(REFERENCE_KINDS)}, then a colon"
        )
    return name


def _operand(operator: str, value: object, key: str) -> object:
    if operator == "within":
        parts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        ranges = [ReleaseRange.parse(part) if isinstance(part, str) else None for part in parts]
        if not ranges or any(found is None for found in ranges):
            raise ConditionError(key, f"{value!r} is no range of releases (0.17.0..0.25.1, 0.28.0.., ..0.16.0)")
        return tuple(ranges)
    if operator == "in" and not isinstance(value, list):
        raise ConditionError(key, "in takes a list")
    return value


def _scalar(value: Value | None) -> object:
    """The plain data of a value, ``UNKNOWN`` if it has a hole, None if absent."""
    if value is None:
        return None
    if isinstance(value.data, Text):
        known = value.data.known
        return _UNKNOWN if known is None else known
    return value.data


_UNKNOWN = object()


def _equals(value: Value | None, operand: object) -> Truth:
    data = _scalar(value)
    if data is _UNKNOWN:
        return None
    if isinstance(operand, bool) or isinstance(data, bool):
        return data is operand
    return bool(data == operand)


def _compares(operator: str) -> Callable[[Value | None, object], Truth]:
    def test(value: Value | None, operand: object) -> Truth:
        data = _scalar(value)
        if data is _UNKNOWN:
            return None
        if isinstance(operand, str):
            left, right = Release.parse(str(data)), Release.parse(operand)
            if left is None or right is None:
                return None if data is not None else False
            return _ordered(left, right, operator)
        if isinstance(data, bool) or not isinstance(data, int | float) or not isinstance(operand, int | float):
            return False
        return _ordered(data, operand, operator)

    return test


_Ordered = TypeVar("_Ordered", Release, float)


def _ordered(left: _Ordered, right: _Ordered, operator: str) -> bool:
    order = (left > right) - (left < right)
    return {"gt": order > 0, "ge": order >= 0, "lt": order < 0, "le": order <= 0}[operator]


def _in(value: Value | None, operand: object) -> Truth:
    assert isinstance(operand, list)
    data = _scalar(value)
    if data is _UNKNOWN:
        return None
    return any(data is item if isinstance(item, bool) else data == item for item in operand)


def _within(value: Value | None, operand: object) -> Truth:
    assert isinstance(operand, tuple)
    data = _scalar(value)
    if data is _UNKNOWN:
        return None
    release = Release.parse(str(data))
    return None if release is None else any(release in part for part in operand)


def _null(value: Value | None, operand: object) -> Truth:
    data = _scalar(value)
    return None if data is _UNKNOWN else (data is None) is operand


def _empty(value: Value | None, operand: object) -> Truth:
    data = _scalar(value)
    return None if data is _UNKNOWN else (data in (None, "") or data == {} or data == []) is operand


def _absent(value: Value | None, operand: object) -> Truth:
    # What stands in no file here may stand in one that was not read.
    return None if value is not None and value.route == "unread" else (value is None) is operand


def _truthy(value: Value | None, operand: object) -> Truth:
    """As ``if x`` of the program that reads it: any text but the empty one holds, "false" too."""
    data = _scalar(value)
    return None if data is _UNKNOWN else bool(data) is operand


def _glob(value: Value | None, operand: object) -> Truth:
    data = _scalar(value)
    if data is _UNKNOWN:
        return None
    patterns = operand if isinstance(operand, list) else [operand]
    return isinstance(data, str) and any(fnmatch.fnmatchcase(data, str(pattern)) for pattern in patterns)


def _has(value: Value | None, operand: object) -> Truth:
    data = _scalar(value)
    if data is _UNKNOWN:
        return None
    if isinstance(data, dict):
        return operand in data
    if isinstance(data, list):
        items = [_scalar(item) for item in data]
        return True if operand in items else (None if _UNKNOWN in items else False)
    return isinstance(data, str) and isinstance(operand, str) and operand in data


def _first(value: Value | None, operand: object) -> Truth:
    data = _scalar(value)
    if data is _UNKNOWN:
        return None
    if isinstance(data, dict):
        return next(iter(data), None) == operand
    return isinstance(data, list) and bool(data) and _equals(data[0], operand)


_TESTS: dict[str, Callable[[Value | None, object], Truth]] = {
    "equals": _equals,
    "gt": _compares("gt"),
    "ge": _compares("ge"),
    "lt": _compares("lt"),
    "le": _compares("le"),
    "in": _in,
    "within": _within,
    "absent": _absent,
    "null": _null,
    "glob": _glob,
    "has": _has,
    "empty": _empty,
    "first": _first,
    "truthy": _truthy,
}
