"""JSON files, with or without comments, as text that a YAML reader takes: nearly all JSON is YAML."""

from __future__ import annotations

import re

from gdnlint.source import Fragment

_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/|\t', re.DOTALL)
_SURROGATE = re.compile(r"(?<!\\)((?:\\\\)*)\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?")


def plain(fragment: Fragment) -> Fragment:
    """The text without comments and tabs, which YAML does not have, each character where it was.

    A character beyond the first plane, which JSON writes as two escapes, becomes question marks.
    """
    text = _PART.sub(_blank, fragment.text)
    return Fragment(text, fragment.source, [fragment.offset(at) for at in range(len(text))])


def _blank(match: re.Match[str]) -> str:
    part = match.group()
    if part[0] == '"':
        if "\\u" not in part:
            return part
        return _SURROGATE.sub(lambda found: found[1] + "?" * (len(found[0]) - len(found[1])), part)
    return re.sub(r"[^\n]", " ", part)
