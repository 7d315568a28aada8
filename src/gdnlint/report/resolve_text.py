"""What ``resolve`` prints for people: each launch with the value of every setting and where it came from."""

from __future__ import annotations

import json
from collections.abc import Iterator

from gdnlint.report._terminal import Style, clean, width_of, wrap
from gdnlint.report._words import count, row, when_words
from gdnlint.report.json_v1 import plain
from gdnlint.results import Ingredient, LaunchResult, Report, Setting, Step
from gdnlint.source import Span

INGREDIENTS = {"hybrid": "hybrid model", "speculation": "speculation", "prefix_caching": "prefix caching"}
_ANSWER = {True: "yes", False: "no", None: "?"}
_ROLE = {"present": "error", "undecided": "warning", "absent": "help"}
_FIRST = ("model", "speculative_config", "enable_prefix_caching")


def render(report: Report, style: Style) -> str:
    """All launches, a blank line between them."""
    if not report.launches:
        return f"No launch in {count(report.files, 'file')}.\n"
    return "\n".join("".join(line.rstrip() + "\n" for line in _launch(launch, style)) for launch in report.launches)


def _launch(launch: LaunchResult, style: Style) -> Iterator[str]:
    yield f"{style.paint(_at(launch.span), 'strong')}  {clean(_about(launch))}"
    yield f"  combination: {style.paint(launch.combination, _ROLE[launch.combination])}"
    for name, ingredient in launch.ingredients.items() if not _is_left_alone(launch) else ():
        yield from _ingredient(INGREDIENTS.get(name, name), ingredient, style)
    for word, text in (
        ("decided by", launch.decided_by),
        ("refused at start", launch.refused),
        ("note", launch.note),
    ):
        if text:
            yield from wrap(text, style.width, f"  {word}: ")
    for scenario in launch.scenarios:
        yield f"  {clean(when_words(scenario.when))}: {style.paint(scenario.combination, _ROLE[scenario.combination])}"
    if launch.settings:
        yield "  settings:"
    first = [name for name in _FIRST if name in launch.settings]
    for name in first + sorted(launch.settings.keys() - set(first)):
        yield from _setting(name, launch.settings[name], style)


def _about(launch: LaunchResult) -> str:
    """``shell, framework x, vllm 0.28.0 (pinned in uv.lock:12)``."""
    version = launch.version
    engine = f"{launch.engine} {version.value}" if version.value else launch.engine
    pin = f"{version.provenance}, {_at(version.span)}" if version.span is not None else version.provenance
    pin = "" if _is_left_alone(launch) else pin
    framework = f"framework {launch.framework}" if launch.framework not in ("", launch.engine) else ""
    parts = [launch.kind, framework, f"{engine} ({pin})" if pin else engine]
    return ", ".join(filter(None, parts))


def _is_left_alone(launch: LaunchResult) -> bool:
    """Whether nothing is judged here: the note says why, and each ingredient would only repeat it."""
    return bool(launch.note) and all(ingredient.sentence == launch.note for ingredient in launch.ingredients.values())


def _ingredient(name: str, ingredient: Ingredient, style: Style) -> Iterator[str]:
    yield from wrap(ingredient.sentence, style.width, f"    {name:<15} {_ANSWER[ingredient.present]:<4}")
    for place in dict.fromkeys(f"{_at(span)}  {clean(label)}" for span, label in ingredient.places):
        yield style.paint(f"    {'':<15} {'':<4}{place}", "faint")


def _setting(name: str, setting: Setting, style: Style) -> Iterator[str]:
    if setting.state == "unknown" or (setting.state == "conditional" and setting.value is None):
        yield from wrap(setting.reason or "not known", style.width, f"    {clean(name)} = ? ", 8)
    else:
        value = f"    {style.paint(clean(name), 'strong')} = {shown(setting.value)}"
        yield f"{value}  ({clean(setting.reason or 'under a condition')})" if setting.state == "conditional" else value
    rows = [(step, _step(step)) for step in setting.provenance]
    longest = max((width_of(text) for _, text in rows), default=0)
    for step, text in rows:
        place = _at(step.span) if step.span is not None else clean(step.source)
        place = "" if place and f"(read in {place})" in text else place
        gap = " " * (min(longest, style.width // 2) - width_of(text))
        line = f"      {step.outcome:<8}{text}{gap}  {place}"
        yield line if step.outcome == "won" else style.paint(line.rstrip(), "faint")


def _step(step: Step) -> str:
    """What a step is, and its value unless the words hold it."""
    what, value = clean(" ".join(step.what.split())), shown(step.value)
    return what if step.value is None or value.strip('"') in what else f"{what}: {value}"


def shown(value: object) -> str:
    """A value as JSON in one harmless line."""
    return clean(json.dumps(plain(value), ensure_ascii=False))


def _at(span: Span) -> str:
    return f"{clean(span.source.path)}:{row(span)}"
