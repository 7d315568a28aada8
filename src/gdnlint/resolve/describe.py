"""Resolved launches in words and places: provenance, ingredients, versions. Judges nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from gdnlint.launches.model import ModelHint
from gdnlint.resolve.evaluate import APC, SPECULATION, Evaluation
from gdnlint.resolve.outcome import Outcome, Resolved, over_releases
from gdnlint.resolve.patches import patches
from gdnlint.resolve.program import Assignment, Slot
from gdnlint.results import Ingredient, Setting, State, Step, Version
from gdnlint.source import Span
from gdnlint.values import Text, Value

Labelled = tuple[Span, str]


def show(value: Value | None, limit: int = 60) -> str:
    """A value as people write it, shortened."""
    if value is None:
        return "unset"
    if isinstance(value.data, Text):
        text = value.data.show()
    elif isinstance(value.data, str):
        text = value.data
    elif isinstance(value.data, dict | list):
        text = json.dumps(_shown(value), ensure_ascii=False)
    elif value.data is None:
        text = "null"
    else:
        text = str(value.data).lower() if isinstance(value.data, bool) else str(value.data)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _shown(value: Value) -> object:
    if isinstance(value.data, Text):
        return value.data.show()
    if isinstance(value.data, dict):
        return {key: _shown(member) for key, member in value.data.items()}
    if isinstance(value.data, list):
        return [_shown(member) for member in value.data]
    return value.data


def how(assignment: Assignment) -> str:
    """How a setting got its value: ``override trainer.mtp.enabled=true``, ``default of InferenceEngineConfig``."""
    value = assignment.value
    if assignment.conditional:
        # What a step does is no fact while nobody knows whether its condition holds.
        return f"it depends on {_doubt(value)}"
    if value is None:
        return assignment.note or "unset"
    if value.route == "positional":
        return f"{value.name} {show(value)}, named on the command line"
    if value.route in ("flag", "override", "key", "keyword"):
        joined = "=" if value.route in ("override", "keyword") else " "
        word = {"flag": "flag", "override": "override", "key": "key", "keyword": "argument"}[value.route]
        tail = (
            ""
            if value.route == "flag" and value.data is True
            else f"{joined if value.route != 'key' else ': '}{show(value)}"
        )
        return f"{word} {value.name}{tail}"
    if value.route == "default":
        read = f" (read in {assignment.source})" if assignment.source else ""
        return f"{assignment.note or value.name} defaults to {show(value)}{read}"
    if value.route == "declared":
        return f"default declared by {value.name} = {show(value)}"
    return assignment.note or (f"default of {value.name}" if value.name else "set by the program")


def _doubt(value: Value | None) -> str:
    holes = value.holes() if value is not None else iter(())
    return next((hole.reason for hole in holes), "a condition that the files do not decide")


def steps(slot: Slot) -> tuple[Step, ...]:
    """The provenance of a setting, oldest first."""
    found: list[Step] = []
    for assignment in slot.history:
        value = assignment.value
        for cause in assignment.because:
            if cause.span is not None and cause.name:
                found.append(Step(f"because {cause.name} is {show(cause)}", cause.plain(), "via", cause.span))
            found += [Step(place.what, None, "via", place.span) for place in cause.places]
        if value is not None:
            found += [Step(place.what, None, "via", place.span) for place in reversed(value.places)]
        span = value.span if value is not None else None
        plain = value.plain() if value is not None else None
        found.append(Step(how(assignment), plain, assignment.outcome, span, assignment.source))
    return tuple(found)


def settings(resolved: Resolved, outcome: Outcome) -> dict[str, Setting]:
    """The effective settings of the default scenario."""
    shown = outcome.shown
    others = [e for o in resolved.default for e in o.evaluations]
    found: dict[str, Setting] = {}
    for name, slot in sorted(shown.state.settings.items()):
        if slot.value is None and not slot.history:
            continue
        values = [e.state.value_of(name) for e in others]
        found[name] = _setting(slot, values)
    if APC in found and found[APC].state == "conditional" and len({e.prefix_caching for e in outcome.evaluations}) > 1:
        found[APC] = found[APC]._replace(reason=over_releases(outcome))
    for name in (APC, SPECULATION):
        if name not in found:
            found[name] = Setting(None, "known" if name == SPECULATION else "unknown", ())
    return found


def _setting(slot: Slot, values: list[Value | None]) -> Setting:
    provenance = steps(slot)
    known = [v for v in values if v is None or v.is_known]
    plain = {json.dumps(v.plain() if v is not None else None, sort_keys=True) for v in known}
    state: State
    if len(known) < len(values):
        reason = next((hole.reason for v in values if v is not None for hole in v.holes()), "")
        state = "conditional" if plain else "unknown"
        return Setting(None, state, provenance, reason)
    if len(plain) > 1:
        return Setting(None, "conditional", provenance, "it differs by release or by a condition in the file")
    return Setting(slot.value.plain() if slot.value is not None else None, "known", provenance)


def version(resolved: Resolved, outcome: Outcome) -> Version:
    """The release, where it is pinned, and what is laid over it."""
    found = patches(resolved.launch, outcome.variant, resolved.setting.engine) if resolved.setting else ()
    changed = mounts([patch.mount for patch in found if patch.applied])
    text = f"{outcome.pin.text}; changed: {changed}" if changed else outcome.pin.text
    return Version(outcome.pin.value, text, outcome.pin.span)


_MOST_SPOKEN = 3


def mounts(found: Sequence[ModelHint]) -> str:
    """``patches/x.py is mounted at /x.py``; of many, the first."""
    spoken = "; ".join(mount.why for mount in found[:_MOST_SPOKEN])
    return f"{spoken}; and {len(found) - _MOST_SPOKEN} more" if len(found) > _MOST_SPOKEN else spoken


def ingredients(outcome: Outcome) -> dict[str, Ingredient]:
    shown = outcome.shown
    return {
        "hybrid": _hybrid(shown),
        "speculation": _speculation(shown),
        "prefix_caching": _prefix_caching(shown, outcome),
    }


def _hybrid(evaluation: Evaluation) -> Ingredient:
    model = evaluation.model
    name = model.name or "the model"
    if model.hybrid is None:
        return Ingredient(
            None, f"whether it is a hybrid model is not known: {model.how}", tuple(places(model.value, "the model"))
        )
    if not model.hybrid:
        return Ingredient(False, f"{name} is no hybrid model ({model.how})", tuple(places(model.value, "the model")))
    kind = f" ({model.family.mechanism_title})" if model.family else ""
    sentence = f"{name} is a hybrid model{kind}"
    if model.how != "by its name":
        sentence += f": {model.how}"
    return Ingredient(True, sentence, tuple(places(model.value, f"hybrid model{kind}")))


def _speculation(evaluation: Evaluation) -> Ingredient:
    slot = evaluation.state.settings.get(SPECULATION)
    value = slot.value if slot is not None else None
    if slot is None or value is None or value.data is None:
        last = slot.history[-1] if slot is not None and slot.history else None
        why = f" ({how(last)})" if last is not None and last.value is not None else ""
        return Ingredient(False, f"speculative decoding is off{why}", tuple(assigned(slot, "off")))
    if isinstance(value.data, Text):
        reason = next((hole.reason for hole in value.holes()), "something outside the files")
        return Ingredient(
            None, f"speculative decoding depends on {reason}", tuple(assigned(slot, "speculative decoding"))
        )
    label = f"speculative decoding: {drafting(value)}"
    told = (a for a in reversed(slot.history) if a.because and a.outcome == "won" and not a.conditional)
    note = next((a.note for a in told if a.note), "")
    sentence = f"speculative decoding is on ({drafting(value)})" + (f": {note}" if note else "")
    return Ingredient(True, sentence, tuple(assigned(slot, label)))


def drafting(value: Value) -> str:
    """``mtp, 3 draft tokens``."""
    method, count = value.at(["method"]), value.at(["num_speculative_tokens"])
    name = show(method) if method is not None and method.data is not None else "a draft model"
    if count is None or count.data is None or not count.is_known:
        return name
    return f"{name}, {count.plain()} draft token{'s' * (count.plain() != 1)}"


def _prefix_caching(evaluation: Evaluation, outcome: Outcome) -> Ingredient:
    slot = evaluation.state.settings.get(APC)
    truths = {e.prefix_caching for e in outcome.evaluations}
    if len(truths) > 1 and outcome.combination is None:
        return Ingredient(
            None, f"{over_releases(outcome)}; {outcome.pin.text}", tuple(assigned(slot, "prefix caching"))
        )
    value = slot.value if slot is not None else None
    if slot is None or value is None or isinstance(value.data, Text) or value.data is None:
        reason = (
            next((hole.reason for hole in value.holes()), "something outside the files")
            if value is not None
            else "the model"
        )
        return Ingredient(None, f"prefix caching depends on {reason}", tuple(assigned(slot, "prefix caching")))
    last = next((a for a in reversed(slot.history) if a.outcome == "won"), slot.history[-1])
    state = "on" if value.data else "off"
    return Ingredient(
        bool(value.data),
        f"prefix caching is {state}: {how(last)}",
        tuple(assigned(slot, f"prefix caching is {state}")),
    )


def assigned(slot: Slot | None, label: str) -> Iterator[Labelled]:
    """The places of a setting's winning assignments, then what led to them."""
    if slot is None:
        return
    won = [a for a in slot.history if a.outcome == "won"] or slot.history[-1:]
    for assignment in reversed(won):
        if assignment.value is not None and assignment.value.span is not None:
            yield from places(assignment.value, label)
        elif assignment.value is not None and isinstance(assignment.value.data, dict):
            members = [m for m in assignment.value.data.values() if m.span is not None]
            causes = [c for c in assignment.because if c.span is not None]
            for cause in causes:
                yield from places(cause, label)
            for member in members:
                yield from places(member, member.name or label)
            continue
        for cause in assignment.because:
            if cause.span is not None:
                yield from places(
                    cause, label if assignment.value is None or assignment.value.span is None else cause.name
                )


def places(value: Value | None, label: str) -> Iterator[Labelled]:
    if value is None:
        return
    if value.span is not None:
        yield value.span, label
    for place in value.places:
        yield place.span, place.what
