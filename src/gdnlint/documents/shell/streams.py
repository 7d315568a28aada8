"""What redirections feed to a command and take from it."""

from __future__ import annotations

from collections.abc import Sequence

from gdnlint.documents.shell import expand
from gdnlint.documents.shell.state import Shell, file_key
from gdnlint.documents.shell.syntax import Redirect
from gdnlint.values import Piece, Text, Word

MOST_FILES = 100
"""Files that a script writes and that are kept."""

_OUTPUT = frozenset((">", ">>", ">|", "&>", "&>>", ">&"))


def writes_elsewhere(redirects: Sequence[Redirect]) -> bool:
    return any(r.operator in _OUTPUT and r.descriptor in ("", "1") for r in redirects)


def target(shell: Shell, redirects: Sequence[Redirect]) -> tuple[Word, bool] | None:
    """The file that the standard output goes to, and whether it is continued."""
    found = None
    for redirect in redirects:
        if redirect.target is not None and redirect.operator in _OUTPUT and redirect.descriptor in ("", "1"):
            made = expand.expand(shell, redirect.target)
            found = (made[0], redirect.operator.endswith(">>")) if made and redirect.operator != ">&" else None
    return found


def write(shell: Shell, file: Word, text: Text | None, appends: bool) -> None:
    """Notes that a file is written. What it held before the script is not known."""
    if file.spread or file.known == "/dev/null" or len(shell.files) >= MOST_FILES:
        return
    key = file_key(file.text, shell.cwd)
    if appends:
        before = shell.files.get(key)
        text = before + text if before is not None and text is not None else None
    shell.files = {**shell.files, key: shell.bounded(text, file.span) if text is not None else None}


def fed_text(shell: Shell, redirects: Sequence[Redirect]) -> Text | None:
    """The text of the last here-document or here-string."""
    out: Text | None = None
    for redirect in redirects:
        if redirect.operator in ("<<", "<<-"):
            out = expand.text_of(shell, redirect.body)
        elif redirect.operator == "<<<" and redirect.target is not None:
            text = expand.text_of(shell, redirect.target.parts)
            out = Text((*text.pieces, Piece("\n")))
        elif redirect.operator == "<" and redirect.descriptor in ("", "0"):
            out = None
    return out
