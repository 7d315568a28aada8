"""Values worth trying for a variable of the environment, seen from its default."""

from __future__ import annotations

from gdnlint.knowledge.schema import Knowledge
from gdnlint.values import Text

_OPPOSITES = {
    "0": "1", "1": "0", "true": "false", "false": "true", "True": "False", "False": "True", "yes": "no", "no": "yes",
    "on": "off", "off": "on",
}  # fmt: skip


def of_default(default: Text | None, knowledge: Knowledge) -> tuple[str, ...]:
    """The opposite of a default that is a switch: of a word of that kind, or of an engine's flag."""
    known = default.known.strip() if default is not None and default.known is not None else ""
    if known in _OPPOSITES:
        return (_OPPOSITES[known],)
    opposite = opposite_flag(known, knowledge)
    return (opposite,) if opposite else ()


def opposite_flag(word: str, knowledge: Knowledge) -> str:
    """``--no-enable-prefix-caching`` for ``--enable-prefix-caching`` and the other way round; else empty."""
    if not word.startswith("--") or " " in word or "=" in word:
        return ""
    stem = word[2:].replace("_", "-")
    for engine in knowledge.engines.values():
        prefix = engine.negative_prefixes[0][0] if engine.negative_prefixes else ""
        for flag in engine.flags.values():
            if flag.kind != "bool" or not prefix:
                continue
            for name, _ in flag.names:
                if stem == name[2:]:
                    return f"--{prefix}{stem}"
                if stem == f"{prefix}{name[2:]}":
                    return name
    return ""
