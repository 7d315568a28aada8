"""Matrices and inputs of jobs in continuous integration: what ``${{ matrix.model }}`` stands for.

A job runs once for each combination of its matrix. The first one is the default scenario, each other one a scenario
``matrix:NAME+NAME=value, value`` of the names that the command uses; of values that are mappings the number is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from gdnlint.launches.context import MOST_SCENARIOS, Context
from gdnlint.launches.scalars import Scalars
from gdnlint.source import Span
from gdnlint.values import Question, Text, Value, members_of

MOST_VALUES = 32
"""Values of a name that are read."""
MOST_COMBINATIONS = 256
"""Combinations of a matrix that are looked at; GitHub runs no more."""

_MATRIX = re.compile(r"matrix\.([\w-]+)((?:\.[\w-]+)*)")
_INPUT = re.compile(r"(?:github\.event\.)?inputs\.([\w-]+)")
_VARIABLE = re.compile(r"env\.([A-Za-z_]\w*)")
_LITERAL = re.compile(r"'([^']*)'")
_TRIGGERS = ("workflow_dispatch", "workflow_call")

Row = dict[str, Value]
"""One combination."""


class Matrix:
    """The combinations of a job."""

    def __init__(self, value: Value, rows: Sequence[Row]) -> None:
        self.value = value
        """Where it stands; kept, so that it stays what its id says."""
        self.rows = rows
        self.names = tuple(dict.fromkeys(name for row in rows for name in row))
        self.span = next((value.span for row in rows for value in row.values() if value.span is not None), None)
        self._different: dict[tuple[str, ...], dict[str, Row]] = {}

    def different(self, names: tuple[str, ...]) -> dict[str, Row]:
        """The combinations that differ in some names, by their values."""
        found = self._different.get(names)
        if found is None:
            found = self._different[names] = {}
            numbers: dict[str, int] = {}
            for row in self.rows:
                found.setdefault(", ".join(_shown(row.get(name), numbers) for name in names), row)
        return found


@dataclass(frozen=True, slots=True)
class Job:
    """What stands around a command, in one scenario."""

    around: Sequence[Value]
    """The mappings, the outermost first."""
    used: str
    """All text that the command uses."""
    scalars: Scalars
    context: Context
    matrices: dict[int, Matrix]
    """Those that were looked at."""

    def matrix(self, key: str) -> Value | None:
        """The nearest matrix below a key."""
        return next((m for job in reversed(self.around) if (m := job.at([key, "matrix"])) is not None), None)


def value_of(inner: str, job: Job, env: Mapping[str, Text]) -> Text | None:
    """The value of an expression in a scenario; None if the file does not say it."""
    expression, alternative, otherwise = (part.strip() for part in inner.partition("||"))
    found: Text | None = None
    if match := _MATRIX.fullmatch(expression):
        found = _in_matrix(match.group(1), match.group(2).split(".")[1:], job)
    elif match := _INPUT.fullmatch(expression):
        found = _input(match.group(1), job)
        if found is None and alternative and (literal := _LITERAL.fullmatch(otherwise)):
            # Without the input (another event started it) it is empty.
            return Text.of(literal.group(1))
    elif match := _VARIABLE.fullmatch(expression):
        found = env.get(match.group(1))
    return found if not alternative or (found is not None and found.known) else None


def variables(job: Job) -> Iterator[tuple[str, Text]]:
    """The variables that a job of ``parallel: {matrix: [{NAME: [value, ...]}]}`` gets in a scenario."""
    value = job.matrix("parallel")
    if value is None:
        return
    matrix = job.matrices.get(id(value))
    if matrix is None:
        parts = [{name: _items(v) or [v] for name, v in members_of(part).items()} for part in _items(value)]
        rows = [row for part in parts for row in _product(part)]
        matrix = job.matrices[id(value)] = Matrix(value, rows[:MOST_COMBINATIONS])
    names = tuple(name for name in matrix.names if name in job.used)
    row = _chosen(matrix, names, job.context) or {}
    for name in names:
        text = job.scalars.text(row[name]) if name in row else None
        if text is not None:
            yield name, text


def _in_matrix(name: str, rest: list[str], job: Job) -> Text | None:
    above = job.matrix("strategy")
    if above is None:
        return None
    matrix = job.matrices.get(id(above))
    if matrix is None:
        matrix = job.matrices[id(above)] = Matrix(above, list(_rows(members_of(above))))
    names = tuple(found for found in matrix.names if f"matrix.{found}" in job.used)
    row = _chosen(matrix, names, job.context) if name in names else None
    if row is None:
        return None
    value = row.get(name)
    value = value.at(rest) if value is not None and rest else value
    return _known(value, job.scalars) if value is not None else Text()


def _rows(members: Mapping[str, Value]) -> Iterator[Row]:
    """The combinations of a matrix without those of ``exclude`` and with what ``include`` adds to them."""
    values = {name: _items(value) for name, value in members.items() if name not in ("include", "exclude")}
    if not all(values.values()):
        # A name whose values are not written here (`fromJSON(...)`).
        return
    excluded = [members_of(item) for item in _items(members.get("exclude"))]
    rows = [row for row in _product(values) if not any(_agrees(row, item, item) for item in excluded)] if values else []
    added: list[Row] = []
    for item in map(members_of, _items(members.get("include"))):
        fitting = [row for row in rows if _agrees(row, item, [name for name in item if name in values])]
        for row in fitting:
            row.update(item)
        if not fitting:
            added.append(dict(item))
    yield from rows
    yield from added


def _product(values: Mapping[str, Sequence[Value]]) -> list[Row]:
    return [dict(zip(values, row, strict=True)) for row in islice(product(*values.values()), MOST_COMBINATIONS)]


def _agrees(row: Row, item: Mapping[str, Value], names: Sequence[str] | Mapping[str, Value]) -> bool:
    return all(name in row and row[name].plain() == item[name].plain() for name in names)


def _chosen(matrix: Matrix, names: tuple[str, ...], context: Context) -> Row | None:
    """The combination of a scenario; the others are asked for, each once."""
    if not matrix.rows or not names:
        return None
    different = matrix.different(names)
    question = f"matrix:{'+'.join(names)}"
    _ask(question, list(islice(different, 1, MOST_SCENARIOS + 1)), matrix.span, context)
    answer = context.world().answers.get(question)
    return different.get(answer, matrix.rows[0]) if answer is not None else matrix.rows[0]


def _shown(value: Value | None, numbers: dict[str, int]) -> str:
    """A scalar as it is, a mapping as the number of those before it."""
    if value is None:
        return ""
    plain = value.plain()
    return str(plain) if not isinstance(plain, dict | list) else str(numbers.setdefault(str(plain), len(numbers) + 1))


def _input(name: str, job: Job) -> Text | None:
    """The default of an input, or its first option; the others that it offers are scenarios."""
    for trigger in _TRIGGERS if job.around else ():
        given = members_of(job.around[0].at(["on", trigger, "inputs", name]))
        options = {str(item.plain()): item for item in _items(given.get("options"))}
        default = given.get("default")
        choices = {str(default.plain()): default, **options} if default is not None else options
        if not choices:
            continue
        question = f"input:{name}"
        first = next(iter(choices))
        _ask(question, list(choices)[1:], choices[first].span, job.context)
        answer = job.context.world().answers.get(question)
        if answer is not None and answer not in choices:
            return Text.of(answer)
        return _known(choices[answer or first], job.scalars)
    return None


def _known(value: Value, scalars: Scalars) -> Text | None:
    text = scalars.text(value)
    return None if text is None or "${{" in text.marked() else text


def _ask(name: str, others: Sequence[str], span: Span | None, context: Context) -> None:
    if others and span is not None:
        context.ask([Question(name, tuple(others), span)])


def _items(value: Value | None) -> list[Value]:
    return value.data[:MOST_VALUES] if value is not None and isinstance(value.data, list) else []
