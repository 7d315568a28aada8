"""What may go to a terminal: colours, cell widths, and the text of hostile files made harmless."""

from __future__ import annotations

import os
import re
import textwrap
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TextIO

TAB = 4
"""Cells between tab stops, counted from the start of the line."""

NARROWEST = 80
"""Nothing is cut to fewer cells than this, however narrow the terminal says it is."""

WITHOUT_TERMINAL = 120
"""Cells of a line in a log or a file."""

_ROLES: dict[str, dict[str, Any]] = {
    "error": {"fg": "red", "bold": True},
    "warning": {"fg": "yellow", "bold": True},
    "note": {"fg": "cyan", "bold": True},
    "help": {"fg": "green", "bold": True},
    "related": {"fg": "blue", "bold": True},
    "gutter": {"fg": "blue"},
    "strong": {"bold": True},
    "faint": {"dim": True},
    "removed": {"fg": "red"},
    "added": {"fg": "green"},
}


@dataclass(frozen=True, slots=True)
class Style:
    """How a text report looks: ANSI colours or none, and the cells of a line."""

    color: bool = False
    width: int = WITHOUT_TERMINAL

    def paint(self, text: str, role: str) -> str:
        if not self.color or not text:
            return text
        from click import style

        return style(text, **_ROLES[role])


def style_for(stream: TextIO | None, choice: str = "auto", environ: Mapping[str, str] = os.environ) -> Style:
    """The style for a stream. ``choice`` is auto, always or never; NO_COLOR and FORCE_COLOR decide only for auto."""
    terminal = stream is not None and not stream.closed and stream.isatty()
    return Style(_colored(terminal, choice, environ), _width(terminal, environ))


def _colored(terminal: bool, choice: str, environ: Mapping[str, str]) -> bool:
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return terminal and environ.get("TERM") != "dumb"


def _width(terminal: bool, environ: Mapping[str, str]) -> int:
    if terminal or environ.get("COLUMNS", "").isdecimal():
        import shutil

        return max(NARROWEST, shutil.get_terminal_size((NARROWEST, 24)).columns)
    return WITHOUT_TERMINAL


def harmless(char: str) -> str:
    """A character as a terminal may get it.

    Control characters, bidirectional marks, unassigned and private code points come out as escapes: they
    could move the cursor, rewrite what was printed, or make code look like other code.
    """
    if " " <= char <= "~":
        return char
    if unicodedata.category(char)[0] != "C" and char not in "\u2028\u2029":
        return char
    number = ord(char)
    if 0xDC80 <= number <= 0xDCFF:
        # A byte of a file's name that is not UTF-8.
        number &= 0xFF
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


_UNSAFE_IN_JSON = re.compile(
    "[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\uf8ff\ufeff\ufff0-\ufffb\U000e0000-\U0010ffff]"
)


def harmless_json(text: str) -> str:
    """A JSON text that means the same, with what a terminal may not get as escapes.

    Half a surrogate pair is no character: most readers of JSON refuse it. It becomes a backslash and its number, as
    does a byte of a file's name that is not UTF-8.
    """
    return _UNSAFE_IN_JSON.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    number = ord(match.group())
    if 0xDC80 <= number <= 0xDCFF:
        return f"\\\\x{number & 0xFF:02x}"
    if 0xD800 <= number <= 0xDFFF:
        return f"\\\\u{number:04x}"
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def clean(text: str) -> str:
    """One line of harmless text."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(harmless, text))


def cells(char: str) -> int:
    """Terminal cells of one printable character: 0 for combining marks, 2 for wide ones."""
    if char < "\u0300":
        return 1
    if unicodedata.category(char) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def width_of(text: str) -> int:
    return len(text) if text.isascii() else sum(map(cells, text))


def wrap(text: str, width: int, first: str = "", indent: int | None = None) -> list[str]:
    """Harmless lines of at most ``width`` cells where words allow it; the later ones hang under the first."""
    hang = " " * (width_of(first) if indent is None else indent)
    lines = textwrap.wrap(
        clean(" ".join(text.split())),
        width=max(width, 40),
        initial_indent=first,
        subsequent_indent=hang,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [first.rstrip()]
