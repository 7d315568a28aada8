"""Whether an answer to one of the user's prompts is right.

============= =====================================================================================================
``exact``     the answer is the reference, apart from white space around it
``numeric``   the last number in the answer is the last number in the reference
``needle``    the reference stands somewhere in the answer
``tool-call`` the answer holds a JSON object that has a name and arguments (and the reference's name, if there is one)
``module:f``  ``f(answer, reference)`` returns a number; above 0.5 is right. It is your own code, and it runs here.
============= =====================================================================================================
"""

from __future__ import annotations

import importlib
import json
import math
import re
from collections.abc import Callable
from typing import NamedTuple

NAMES = ("exact", "numeric", "needle", "tool-call")

_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


class Score(NamedTuple):
    right: bool
    invalid: bool
    """The answer is not of the kind that was asked for at all: no number, no tool call, nothing."""


Scorer = Callable[[str, "str | None"], Score]


def named(name: str) -> Scorer:
    """The scorer with a name. Raises ValueError with what is wrong."""
    known: dict[str, Scorer] = {"exact": exact, "numeric": numeric, "needle": needle, "tool-call": tool_call}
    if name in known:
        return known[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ValueError(f"'{name}' is no scorer: give one of {', '.join(NAMES)}, or module:function")
    try:
        function = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"cannot load the scorer {name}: {error}") from error
    if not callable(function):
        raise ValueError(f"the scorer {name} is no function")

    def own(answer: str, reference: str | None) -> Score:
        value = float(function(answer, reference))
        return Score(value > 0.5, math.isnan(value) or not answer.strip())

    return own


def exact(answer: str, reference: str | None) -> Score:
    return Score(reference is not None and answer.strip() == reference.strip(), not answer.strip())


def numeric(answer: str, reference: str | None) -> Score:
    ours, theirs = _last_number(answer), _last_number(reference or "")
    if ours is None:
        return Score(False, True)
    return Score(theirs is not None and math.isclose(ours, theirs, rel_tol=1e-9), False)


def needle(answer: str, reference: str | None) -> Score:
    return Score(bool(reference) and str(reference).strip() in answer, not answer.strip())


def tool_call(answer: str, reference: str | None) -> Score:
    for call in _objects(answer):
        name = call.get("name")
        arguments = call.get("arguments", call.get("parameters"))
        if isinstance(name, str) and isinstance(arguments, dict):
            return Score(reference is None or name == reference.strip(), False)
    return Score(False, True)


def _last_number(text: str) -> float | None:
    found = _NUMBER.findall(text)
    return float(found[-1].replace(",", "")) if found else None


def _objects(text: str) -> list[dict[str, object]]:
    """JSON objects that stand in a text, the outermost ones."""
    decoder = json.JSONDecoder()
    found, start = [], text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict):
            found.append(value)
        start = text.find("{", end)
    return found
