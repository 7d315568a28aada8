"""The document of a run as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from gdnlint.report._terminal import Style, clean

ROLES = {"corrupt": "error", "failed": "error", "inconclusive": "warning", "equivalent": "help"}


def render(document: Mapping[str, Any], style: Style) -> str:
    """The summary. Every number of it stands in the document."""
    lines = [
        f"{clean(document['subject']['title'])}: {style.paint(document['title'], ROLES[document['verdict']])}",
        *(line for reason in document["reasons"] for line in _wrapped(reason, style)),
        "",
        *_arms(document, style),
        "",
        *_pairs(document, style),
        "",
        *_workload(document),
    ]
    lines += [line for note in document["subject"]["notes"] for line in _wrapped(f"note: {note}", style)]
    if document.get("reproducer"):
        lines += ["", *_reproducer(document["reproducer"], style)]
    return "\n".join(lines) + "\n"


def _wrapped(text: str, style: Style) -> list[str]:
    return textwrap.wrap(clean(text), style.width - 4, initial_indent="  ", subsequent_indent="    ") or [""]


def _arms(document: Mapping[str, Any], style: Style) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("arm", "status", "requests", "with hit", "cached", "accepted drafts", "repeat", "score")
    ]
    for arm in document["arms"]:
        repeat, score = arm["repeat"], arm["score"]
        rows.append((
            arm["name"], arm["status"], str(arm["requests"]), str(arm["requests_with_hit"]), f"{arm['hit_rate']:.1%}",
            f"{arm['accepted_tokens']} of {arm['draft_tokens']}" if arm["draft_tokens"] else "-",
            "-" if not repeat else "identical" if repeat["identical"] == repeat["requests"]
            else f"{repeat['identical']} of {repeat['requests']} identical",
            f"{score['right']} of {score['of']}" if score else "-",
        ))  # fmt: skip
    lines = _table(rows, style)
    for arm in document["arms"]:
        if arm["error"]:
            lines += _wrapped(f"{arm['name']}: {arm['error']}", style)
    return lines


def _pairs(document: Mapping[str, Any], style: Style) -> list[str]:
    rows: list[tuple[str, ...]] = [
        ("compared", "identical", "tokens agree", "first-token drift: median", "p90", "max", "tokens part in")
    ]
    for pair in document["pairs"]:
        first = pair["quantiles"]["first"]
        rows.append((
            f"{pair['tested']} - {pair['reference']}{' (noise)' if pair['noise'] else ''}",
            f"{pair['identical']} of {pair['requests']}", f"{pair['token_agreement'] or 0:.1%}",
            *(f"{first.get(name, 0):.3f}" for name in ("median", "p90", "max")), str(pair["parted"]),
        ))  # fmt: skip
    return _table(rows, style) if len(rows) > 1 else ["  nothing could be compared"]


def _workload(document: Mapping[str, Any]) -> list[str]:
    work, numbers = document["workload"], document["statistics"]
    return [
        f"  {work['requests']} requests, {work['transitions']} transitions, up to {work['at_once']} at once, turns "
        f"up to depth {work['deepest_turn']}; drifts in nats",
        f"  {numbers['test']}; alpha {numbers['alpha']} over {numbers['tests']} tests",
    ]


def _reproducer(found: Mapping[str, Any], style: Style) -> list[str]:
    return _wrapped(
        f"reproducer: {found['requests']} of {found['of']} requests, {found['prompt_tokens']} prompt tokens; "
        f"request {found['target']} is off by {found['drift']:.3f} nat ({found['file']})",
        style,
    )


def _table(rows: list[tuple[str, ...]], style: Style) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return [style.paint(lines[0], "faint"), *lines[1:]]
