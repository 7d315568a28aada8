"""What redirections feed to a command and take from it."""

from __future__ import annotations

from collections.abc import Sequence

from gdnlint.documents.shell import expand
from gdnlint.documents.shell.state import Shell
from gdnlint.documents.shell.syntax import Redirect
from gdnlint.values import Piece, Text

_OUTPUT = frozenset((">", ">>", ">|", "&>", "&>>", ">&"))


def writes_elsewhere(redirects: Sequence[Redirect]) -> bool:
    return any(r.operator in _OUTPUT and r.descriptor in ("", "1") for r in redirects)


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
