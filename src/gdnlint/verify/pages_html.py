"""The document of a run as one HTML file: no script, no reference to anything outside, plots as SVG in the page."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

WIDTH, HEIGHT = 760, 240
LEFT, BOTTOM, TOP = 64, 36, 12
COLORS = {"noise": "#9aa0a6", "both": "#c5221f", "apc": "#1a73e8", "spec": "#188038"}
LEAST = 1e-3
"""Drifts below it (nats) are drawn on the lower edge of a logarithmic plot."""

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:820px;margin:2em auto;padding:0 1em;color:#202124;background:#fff}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:collapse;font-size:.9em;margin:.6em 0}
th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid #dadce0}
th:first-child,td:first-child{text-align:left;white-space:nowrap}
.v{padding:.6em 1em;border-radius:6px;color:#fff;display:inline-block;font-weight:600}
.corrupt,.failed{background:#c5221f}.inconclusive{background:#b06000}.equivalent{background:#188038}
.note{color:#5f6368;font-size:.9em}pre{background:#f1f3f4;padding:.8em;overflow:auto;font-size:.85em}
svg{width:100%;height:auto}svg text{font:11px system-ui,sans-serif;fill:#5f6368}.scroll{overflow-x:auto}
"""


def render(document: Mapping[str, Any]) -> str:
    """The page."""
    subject = document["subject"]
    parts = [
        f"<h1>gdnlint verify: {_text(subject['title'])}</h1>",
        f'<p class="v {document["verdict"]}">{_text(document["title"])}</p>',
        "<ul>", *(f"<li>{_text(reason)}</li>" for reason in document["reasons"]), "</ul>",
        f'<p class="note">{_text(document["date"])} &middot; gdnlint {_text(document["tool"]["version"])} &middot; '
        f"{_text(_engine(document))}</p>",
        _explained(document),
        "<h2>Arms</h2>", _arms(document),
        "<h2>How far the arms are apart</h2>", _pairs(document),
        _legend(), _plot_requests(document),
        "<h3>By cached length</h3>", _plot_cached(document),
        "<h3>Where tokens first differ</h3>", _plot_positions(document),
        "<h2>Accepted drafts by position</h2>", _plot_acceptance(document),
        *_accuracy(document),
        "<h2>Tests</h2>", _tests(document),
        *_worst(document),
        "<h2>Configuration</h2>", _configuration(document),
    ]  # fmt: skip
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>gdnlint verify: {_text(document['title'])}</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body></html>\n"
    )


def _text(value: object) -> str:
    return html.escape(str(value))


def _engine(document: Mapping[str, Any]) -> str:
    facts: Mapping[str, Any] = next((arm["facts"] for arm in document["arms"] if arm["facts"]), {})
    if not facts:
        return "no engine started"
    words = [f"vLLM {facts.get('vllm')}", str(facts.get("device", "")), str(facts.get("architecture", ""))]
    return ", ".join(word for word in words if word)


def _explained(document: Mapping[str, Any]) -> str:
    work, numbers = document["workload"], document["statistics"]
    return (
        f"<p>The same {work['requests']} prompts ({work['transitions']} transitions, up to {work['at_once']} at once, "
        f"conversations up to turn {work['deepest_turn']}, prompts up to {work['longest_prompt']} tokens) went to one "
        "configuration in several arms, which differ in speculative decoding and prefix caching alone, with greedy "
        "decoding. Both are meant to change speed and never tokens. Drift is how much the log-probability of the "
        "likeliest token changed where both arms see the same context, in nats. The noise pair has neither feature and "
        f"differs in its prefill chunks: what exceeds {numbers['multiple_of_noise']:g} times its drift counts "
        "against a pair.</p>"
        f'<p class="note">{_text(numbers["test"])}, {numbers["tests"]} tests together at alpha {numbers["alpha"]}.</p>'
    )


def _arms(document: Mapping[str, Any]) -> str:
    header = (
        "arm", "status", "requests", "with hit", "cached tokens", "drafts accepted", "mean length", "early stops",
        "ended by model", "invalid", "preemptions", "repeat identical", "seconds",
    )  # fmt: skip
    rows = []
    for arm in document["arms"]:
        repeat = arm["repeat"]
        rows.append((
            arm["name"], arm["status"], arm["requests"], arm["requests_with_hit"],
            f"{arm['hit_rate']:.1%}", f"{arm['accepted_tokens']} of {arm['draft_tokens']} ({arm['acceptance']:.1%})",
            arm["mean_generated"], arm["early_stops"], arm["ended_by_model"], arm["invalid"], arm["preemptions"],
            f"{repeat['identical']} of {repeat['requests']}" if repeat else "-", arm["seconds"],
        ))  # fmt: skip
    errors = [f"<pre>{_text(arm['name'])}: {_text(arm['error'])}</pre>" for arm in document["arms"] if arm["error"]]
    what = "; ".join(f"{arm['name']}: {arm['title']}" for arm in document["arms"])
    return f'<p class="note">{_text(what)}.</p>' + _table(header, rows) + "".join(errors)


def _pairs(document: Mapping[str, Any]) -> str:
    rows = []
    for pair in document["pairs"]:
        measured = [
            f"{pair['quantiles'][name].get('p90', 0):.3f} / {pair['quantiles'][name].get('max', 0):.3f}"
            for name in ("first", "path", "gap")
        ]
        rows.append((
            f"{pair['tested']} against {pair['reference']}{' (noise)' if pair['noise'] else ''}", pair["requests"],
            pair["identical"], f"{pair['token_agreement'] or 0:.1%}", pair["parted"], *measured,
        ))  # fmt: skip
    header = (
        "pair", "requests", "bit-identical", "tokens agree", "tokens part", "first-token drift p90 / max",
        "largest drift p90 / max", "gap at the parting p90 / max",
    )  # fmt: skip
    return _table(header, rows)


def _tests(document: Mapping[str, Any]) -> str:
    header = (
        "pair",
        "phases",
        "measure",
        "tolerance",
        "beyond",
        "noise beyond",
        "p",
        "rejects from",
        "finds a share of",
        "",
    )
    rows = [
        (
            f"{t['tested']} against {t['reference']}", t["phases"], t["measure"], f"{t['tolerance']:.3f}",
            f"{t['exceeding']} of {t['tested_count']}", f"{t['noise_exceeding']} of {t['noise']}", f"{t['p']:.2g}",
            t["critical"], f"{t['detectable']:.0%}", "rejects" if t["rejects"] else "",
        )
        for t in sorted(document["tests"], key=lambda item: float(item["p"]))
    ]  # fmt: skip
    return _table(header, rows)


def _worst(document: Mapping[str, Any]) -> Iterable[str]:
    if not document["requests"]:
        return
    yield "<h2>The requests that are furthest off</h2>"
    for request in document["requests"]:
        lines = [f"{request['id']} ({request['phase']}, prompt of {request['prompt_tokens']} tokens)"]
        for name, answer in request["answers"].items():
            first = ", ".join(f"{token}: {value:.3f}" for token, value in answer["first"][:3])
            lines.append(f"{name:>10}  cached {answer['cached']:>6}  first {first}  tokens {answer['ids'][:12]}")
        yield f"<pre>{_text(chr(10).join(lines))}</pre>"
    found = document.get("reproducer")
    if found:
        yield (
            f"<p>Smallest reproducer found: {found['requests']} of {found['of']} requests, {found['prompt_tokens']} "
            f"prompt tokens, in <code>{_text(found['file'])}</code>.</p>"
        )


def _configuration(document: Mapping[str, Any]) -> str:
    subject = document["subject"]
    lines = [f"{name} = {value}" for name, value in sorted(subject["engine"].items())]
    lines.append(f"speculative_config = {subject['speculative_config']}")
    lines += [f"note: {note}" for note in subject["notes"]]
    for arm in document["arms"]:
        facts = {name: value for name, value in arm["facts"].items() if name != "special_ids"}
        lines.append(f"{arm['name']}: {facts}")
    return f"<pre>{_text(chr(10).join(lines))}</pre>"


def _accuracy(document: Mapping[str, Any]) -> Iterable[str]:
    scored = [arm for arm in document["arms"] if arm["score"]]
    if not scored:
        return
    yield "<h2>Accuracy (95 % intervals)</h2>"
    axis = _Axes([0, len(scored)], [0, 1], lambda value: value, "", "share right")
    marks = []
    for number, arm in enumerate(scored):
        score, x = arm["score"], axis.x(number + 0.5)
        y = axis.y(score["share"])
        marks += [
            _line(x, axis.y(score["low"]), x, axis.y(score["high"]), "#5f6368"),
            _dot(x, y, 5, "#1a73e8"),
            _label(x + 8, y, f"{arm['name']} {score['right']} of {score['of']}", "start"),
        ]
    yield axis.drawn(marks, [0, 0.25, 0.5, 0.75, 1], [])


def _line(x: float, y: float, to_x: float, to_y: float, color: str, dashes: str = "") -> str:
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{color}"{dashed}/>'


def _dot(x: float, y: float, radius: float, color: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}" fill-opacity=".65"/>'


def _label(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="11" text-anchor="{anchor}">{_text(text)}</text>'


class _Axes:
    """Where numbers lie in a plot."""

    def __init__(
        self, xs: Sequence[float], ys: Sequence[float], scale: Callable[[float], float], x_title: str, y_title: str
    ) -> None:
        self.scale, self.x_title, self.y_title = scale, x_title, y_title
        self.x_low, self.x_high = min(xs), max(max(xs), min(xs) + 1e-9)
        self.y_low, self.y_high = scale(min(ys)), max(scale(max(ys)), scale(min(ys)) + 1e-9)

    def x(self, value: float) -> float:
        return LEFT + (value - self.x_low) / (self.x_high - self.x_low) * (WIDTH - LEFT - 12)

    def y(self, value: float) -> float:
        share = (self.scale(value) - self.y_low) / (self.y_high - self.y_low)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def drawn(self, marks: Iterable[str], y_ticks: Iterable[float], x_ticks: Iterable[float]) -> str:
        lines = []
        for tick in y_ticks:
            y = self.y(tick)
            lines += [_line(LEFT, y, WIDTH - 12, y, "#e8eaed"), _label(LEFT - 6, y + 4, f"{tick:g}", "end")]
        lines += [_label(min(self.x(tick), WIDTH - 14), HEIGHT - BOTTOM + 15, f"{tick:g}") for tick in x_ticks]
        titles = f'<g transform="rotate(-90 14 {HEIGHT / 2})">{_label(14, HEIGHT / 2, self.y_title)}</g>' + _label(
            (WIDTH + LEFT) / 2, HEIGHT - 4, self.x_title
        )
        return (
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_text(self.y_title)}">'
            + "".join(lines) + titles + "".join(marks) + "</svg>"
        )  # fmt: skip


def _series(document: Mapping[str, Any]) -> list[tuple[str, list[list[Any]]]]:
    return [("noise" if pair["noise"] else pair["tested"], pair["differences"]) for pair in document["pairs"]]


def _logarithm(value: float) -> float:
    return math.log10(max(value, LEAST))


def _legend() -> str:
    names = {
        "noise": "noise pair",
        "apc": "apc against plain",
        "spec": "spec against plain",
        "both": "both against spec",
    }
    return (
        "<p>" + " ".join(f'<b style="color:{COLORS[key]}">&#9679;</b> {title}' for key, title in names.items()) + "</p>"
    )


def _scatter(document: Mapping[str, Any], column: int | None, x_title: str) -> str:
    series = _series(document)
    points = [
        (name, number if column is None else row[column], row[4])
        for name, rows in series
        for number, row in enumerate(rows)
    ]
    if not points:
        return '<p class="note">Nothing could be compared.</p>'
    top = max(1.0, *(drift for _, _, drift in points))
    axis = _Axes([x for _, x, _ in points], [LEAST, top], _logarithm, x_title, "first-token drift (nat)")
    marks = [_dot(axis.x(x), axis.y(drift), 2.6, COLORS.get(name, "#000")) for name, x, drift in points]
    limits = [t["tolerance"] for t in document["tests"] if t["measure"] == "first" and t["tested"] == "both"]
    if limits:
        y = axis.y(max(limits))
        marks += [
            _line(LEFT, y, WIDTH - 12, y, "#c5221f", "4 3"),
            _label(WIDTH - 14, y - 4, "tolerance of both against spec", "end"),
        ]
    ticks = [10.0**power for power in range(-3, math.ceil(math.log10(top)) + 1) if 10.0**power <= top]
    high = max(x for _, x, _ in points)
    return axis.drawn(marks, ticks, [round(high * part / 4) for part in range(5)])


def _plot_requests(document: Mapping[str, Any]) -> str:
    return _scatter(document, None, "request, in the order in which they ran")


def _plot_cached(document: Mapping[str, Any]) -> str:
    return _scatter(document, 3, "prompt tokens from the cache")


def _plot_positions(document: Mapping[str, Any]) -> str:
    found = {name: [row[7] for row in rows if row[7] is not None] for name, rows in _series(document)}
    positions = [position for rows in found.values() for position in rows]
    if not positions:
        return '<p class="note">No tokens differ in any pair.</p>'
    last = max(positions)
    counts = {name: [sum(p <= limit for p in rows) for limit in range(last + 1)] for name, rows in found.items()}
    top = max(max(numbers) for numbers in counts.values())
    axis = _Axes([0, max(last, 1)], [0, top], lambda value: value, "generated position", "requests parted by then")
    marks = []
    for name, numbers in counts.items():
        path = " ".join(f"{axis.x(n):.1f},{axis.y(count):.1f}" for n, count in enumerate(numbers))
        marks.append(f'<polyline points="{path}" fill="none" stroke="{COLORS.get(name, "#000")}" stroke-width="1.8"/>')
    return axis.drawn(marks, sorted({0, top // 2, top}), sorted({0, last // 2, last}))


def _plot_acceptance(document: Mapping[str, Any]) -> str:
    arms = [arm for arm in document["arms"] if arm["draft_tokens"]]
    if not arms:
        return '<p class="note">No arm drafted anything.</p>'
    bars = []
    for arm in arms:
        positions = arm["accepted_by_position"] or [arm["accepted_tokens"]]
        each = arm["draft_tokens"] / len(positions)
        bars += [(f"{arm['name']}, position {n + 1}", count / each) for n, count in enumerate(positions)]
    axis = _Axes([0, len(bars)], [0, 1], lambda value: value, "", "share accepted")
    marks = []
    for number, (title, share) in enumerate(bars):
        x, y = axis.x(number + 0.2), axis.y(min(share, 1))
        width = axis.x(number + 0.8) - x
        box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{axis.y(0) - y:.1f}"'
        marks += [
            f'<rect {box} fill="#188038" fill-opacity=".7"/>',
            _label(x + width / 2, y - 4, f"{share:.1%}"),
            _label(x + width / 2, HEIGHT - BOTTOM + 16, title),
        ]
    return axis.drawn(marks, [0, 0.5, 1], [])


def _table(header: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{_text(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>{body}</table></div>'
