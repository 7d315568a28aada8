"""The words that OmegaConf.from_cli reads: ``a.b=VALUE``, the value being YAML.

Facts checked against OmegaConf 2.3: later words win, mappings merge, ``k=`` and a bare ``k`` are
null, ``off`` is false, ``'False'`` in quotes is a string, ``{a:b}`` is the key ``a:b`` with null;
``~k`` is a key, not an operator.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from gdnlint.documents.overrides import Applied, Follow, Refused, merge, split_key, update
from gdnlint.documents.yaml import load_text, resolve_scalar
from gdnlint.values import Data, Hole, Problem, Text, Value, Word, has_mark

_SIMPLE = re.compile(r"[A-Za-z0-9_/][A-Za-z0-9_./\-]*")
"""Values that are one plain scalar whatever YAML has to say."""


def apply(
    tree: Value, words: Sequence[Word], *, plus: Literal["refuse", "key"] = "refuse", follow: Follow | None = None
) -> Applied:
    """``tree`` with the settings of ``words`` merged into it.

    ``plus="refuse"``: the program rejects a word that begins with ``+``. ``follow`` says what an
    interpolation in ``tree`` stands for, should a mapping be merged into it.
    """
    applied = Applied(tree)
    unknown: list[Hole] = []
    given = Value({})
    for word in words:
        marked = word.text.marked()
        key, equals, _ = marked.partition("=")
        if word.spread or (word.text.holes and has_mark(key)):
            unknown.extend(word.text.holes)
            continue
        if plus == "refuse" and key.startswith("+"):
            message = f"{word.text.show()}: the program rejects a leading + (it is no Hydra override)"
            applied.problems.append(Problem("override", message, word.span))
            continue
        try:
            value = _value(word, key, word.text.cut(len(key) + 1) if equals else Text())
            given = update(given, split_key(key), value, word.span)
        except Refused as error:
            applied.problems.append(Problem("override", f"{word.text.show()}: {error}", word.span))
    applied.tree = merge(tree, given, follow, applied.problems)
    applied.unknown = tuple(dict.fromkeys(unknown))
    return applied


def _value(word: Word, key: str, text: Text) -> Value:
    marked = text.marked()
    if _SIMPLE.fullmatch(marked):
        return Value(resolve_scalar(marked, "omegaconf"), word.span, word.text.places, "override", key)
    loaded = load_text(marked, "omegaconf")
    if loaded.problems:
        raise Refused(loaded.problems[0].message)
    if len(loaded.documents) > 1:
        raise Refused("it holds more than one YAML document")
    found = loaded.documents[0] if loaded.documents else Value(None)
    return found.map_places(lambda value: _written(value, word, key, text))


def _written(value: Value, word: Word, key: str, text: Text) -> Value:
    data: Data = value.data
    if isinstance(data, str):
        data = text.unmark(data)
    elif text.holes and isinstance(data, dict) and any(has_mark(name) for name in data):
        data = text
    name = f"{key}.{value.name}" if value.name and not value.name.startswith("[") else key + value.name
    return replace(value, data=data, span=word.span, places=word.text.places, route="override", name=name)
