"""The JSON Schema of the configuration file, draft 7 as SchemaStore takes it, made from ``keys``."""

from __future__ import annotations

from collections.abc import Sequence

from gdnlint.settings.keys import KEYS, Key
from gdnlint.settings.patterns import LONGEST, MOST

Json = dict[str, object]


def document() -> Json:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:gdnlint:configuration:1",
        "title": "gdnlint configuration",
        "description": "gdnlint.toml, .gdnlint.toml, or the table tool.gdnlint of pyproject.toml",
        **_table(KEYS),
    }


def _table(keys: Sequence[Key]) -> Json:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {key.name: {"description": key.help, **_type(key)} for key in keys},
    }


def _type(key: Key) -> Json:
    if key.kind == "choice":
        return {"type": "string", "enum": list(key.choices)}
    if key.kind == "patterns":
        return {"type": "array", "maxItems": MOST, "items": {"type": "string", "minLength": 1, "maxLength": LONGEST}}
    if key.kind in ("rules", "folders"):
        return {"type": "array", "items": {"type": "string", "minLength": 1}}
    if key.kind == "severities":
        return {"type": "object", "additionalProperties": {"type": "string", "enum": list(key.choices)}}
    if key.kind == "aliases":
        return {"type": "object", "additionalProperties": {"type": "string", "minLength": 1}}
    if key.kind == "answers":
        return {"type": "object", "additionalProperties": {"type": ["string", "integer"]}}
    if key.kind == "entries":
        entry = {**_table(key.members), "required": list(key.required)}
        return {"type": "array", "items": {**entry, "dependencies": {name: [other] for name, other in key.needs}}}
    return {"type": "string", "minLength": 1}
