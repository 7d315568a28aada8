"""Effective configurations against rules: findings, each with one primary place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdnlint import fixes
from gdnlint.knowledge.conditions import Truth
from gdnlint.knowledge.releases import Release
from gdnlint.knowledge.schema import Defect, Engine, Knowledge, PullRequest, Rule, SeverityCase
from gdnlint.launches.model import ModelHint
from gdnlint.resolve import describe
from gdnlint.resolve.evaluate import APC, SPECULATION, evaluate_all
from gdnlint.resolve.outcome import WORDS, Outcome, Resolved
from gdnlint.resolve.patches import patches
from gdnlint.resolve.pins import Pin
from gdnlint.resolve.program import Mark
from gdnlint.results import (
    Confidence,
    Finding,
    Fix,
    Ingredient,
    LaunchResult,
    Reference,
    Related,
    Scenario,
    Version,
)
from gdnlint.source import Span
from gdnlint.values import Value


@dataclass(slots=True)
class View:
    """What a rule sees: one outcome of a launch, with the launch's verdict."""

    resolved: Resolved
    outcome: Outcome
    combination: str
    mark: Mark | None = None

    def lookup(self, reference: str) -> Value | None:
        """``launch:`` names the verdict; everything else is as the engine's program left it.

        ``defect:D8`` holds for what the report speaks of, ``defect:D8.somewhere`` on some release that may run it.
        ``launch:release`` is the release that the report speaks of, also where no pin says it: ``engine:version`` is
        absent then.
        """
        kind, _, name = reference.partition(":")
        if kind == "launch":
            return self._launch(name)
        if kind == "defect":
            identity, _, where = name.partition(".")
            spoken_of = self.outcome.evaluations if where == "somewhere" else [self.outcome.shown]
            return Value(any(d.id == identity for e in spoken_of for d in e.defects))
        if kind == "engine":
            return Value(self.outcome.pin.value) if self.outcome.pin.exact else None
        if kind == "mark" and self.mark is not None:
            return Value(self.mark.field if name == "field" else self.mark.name == name)
        return self.outcome.shown.state.lookup(reference)

    def patches(self, applied: bool) -> list[ModelHint]:
        """The mounts that change the engine, or those that are there to change it and that nothing here uses."""
        setting = self.resolved.setting
        if setting is None:
            return []
        found = patches(self.resolved.launch, self.outcome.variant, setting.engine)
        return [patch.mount for patch in found if patch.applied is applied]

    def _launch(self, name: str) -> Value | None:
        shown = self.outcome.shown
        if name in ("hybrid", "speculation", "prefix_caching"):
            truth: Truth = getattr(shown, name)
            return Value(truth) if truth is not None else Value.unknown(name)
        facts: dict[str, object] = {
            "combination": self.combination,
            "refused": bool(refused_everywhere(self.outcome)),
            "version_known": self.outcome.pin.exact,
            "release": str(shown.release),
            "prefix_caching_set": is_set(self.outcome),
            "corrupting": any(d.corrupts for d in shown.defects),
            "corrupting_somewhere": any(
                d.corrupts for e in self.outcome.evaluations if e.combination for d in e.defects
            ),
            "flips": flips(self.resolved, self.outcome) if name == "flips" else False,
            "unused_patch": bool(self.patches(applied=False)) if name == "unused_patch" else False,
        }
        return Value(facts[name]) if name in facts else None  # type: ignore[arg-type]


def refused_everywhere(outcome: Outcome) -> str:
    """Why no release it may run on starts it; empty if one does."""
    if not outcome.pin.covered:
        return ""
    reasons = [e.refused for e in outcome.evaluations]
    return reasons[-1] if reasons and all(reasons) else ""


def flips(resolved: Resolved, outcome: Outcome) -> bool:
    """Whether prefix caching is left to the engine, and another release decides it otherwise."""
    setting = resolved.setting
    if setting is None or outcome.shown.model.hybrid is False or is_set(outcome):
        return False
    releases = [r for r in setting.engine.releases if r in outcome.shown.model.known]
    ends = (releases[:1] + releases[-1:]) if releases else []
    seen = {e.prefix_caching for e in evaluate_all(outcome.variant, setting, ends, outcome.shown)}
    return len(seen) > 1


def is_set(outcome: Outcome) -> bool:
    """Whether anyone but the engine's own default gave prefix caching a value that reaches the engine."""
    slot = outcome.shown.state.settings.get(APC)
    if slot is None:
        return False
    return any(
        a.value is not None
        and a.outcome == "won"
        and (a.value.span is not None or a.value.route in ("default", "declared", "framework"))
        for a in slot.history
    )


def launch_result(resolved: Resolved, number: int) -> LaunchResult:
    """A launch as reports list it. ``number`` makes the id unique among launches at one place."""
    span = resolved.launch.span
    identity = f"{span.source.path}:{span.line}" + (f"#{number}" if number > 1 else "")
    outcome = resolved.outcome
    framework = resolved.launch.framework
    engine = (
        resolved.setting.engine.name
        if resolved.setting
        else (resolved.launch.other.name if resolved.launch.other else "")
    )
    scenarios = tuple(
        Scenario(o.variant.when, WORDS[o.combination])
        for o in resolved.scenarios
        if WORDS[o.combination] != resolved.combination and not _follows(o, resolved.scenarios)
    )
    if outcome is None:
        unknown = Ingredient(False, resolved.note or "no engine is launched here")
        named = {"hybrid": unknown, "speculation": unknown, "prefix_caching": unknown}
        return LaunchResult(
            identity, span, resolved.launch.kind, engine, framework.name if framework else "",
            resolved.combination, named, Version(None, "not looked for"), {}, note=resolved.note, scenarios=scenarios,
        )  # fmt: skip
    open_reason = outcome.shown.state.open_reason
    note = resolved.note or (f"later words may change this: it depends on {open_reason}" if open_reason else "")
    return LaunchResult(
        identity, span, resolved.launch.kind, engine, framework.name if framework else "", resolved.combination,
        describe.ingredients(outcome), describe.version(resolved, outcome), describe.settings(resolved, outcome),
        resolved.decided_by, refused_everywhere(outcome), note, scenarios,
    )  # fmt: skip


def _follows(scenario: Outcome, others: Sequence[Outcome]) -> bool:
    """Whether some of a scenario's switches alone come to the same."""
    when = scenario.variant.when.items()
    return any(o.variant.when.items() < when and o.combination is scenario.combination for o in others)


def findings(resolved: Resolved, launch: LaunchResult, knowledge: Knowledge) -> Iterator[Finding]:
    """What the rules report of a launch, in the default scenario and in those that make it worse."""
    outcome = resolved.outcome
    if outcome is not None:
        for rule in knowledge.rules:
            if _always(rule, resolved):
                yield from _apply(rule, View(resolved, outcome, resolved.combination), launch, {})
    seen: list[tuple[str, set[str]]] = []
    for rule, scenario in _worse(resolved, knowledge):
        view = View(resolved, scenario, WORDS[scenario.combination])
        names = set(scenario.variant.when)
        if any(rule.id == told and some <= names for told, some in seen):
            continue
        found = list(_apply(rule, view, launch, scenario.variant.when))
        if found:
            seen.append((rule.id, names))
        yield from found


def _always(rule: Rule, resolved: Resolved) -> bool:
    """Whether a rule holds whatever is chosen where the launch must be given something."""
    chosen = [o for o in resolved.default if o.variant.choice]
    return all(holds(rule, View(resolved, o, resolved.combination)) for o in chosen)


def _worse(resolved: Resolved, knowledge: Knowledge) -> Iterator[tuple[Rule, Outcome]]:
    """The rules that a switch may make hold, with the scenarios: those that do not hold by default."""
    scenarios = [scenario for scenario in resolved.scenarios if scenario.evaluations]
    for rule in knowledge.rules if scenarios else ():
        outcome = resolved.outcome
        default = View(resolved, outcome, resolved.combination) if outcome is not None else None
        if not rule.scenarios or (default is not None and _always(rule, resolved) and holds(rule, default)):
            continue
        yield from ((rule, scenario) for scenario in scenarios)


def holds(rule: Rule, view: View) -> bool:
    """Whether a rule has anything to report of an outcome."""
    return next(_held(rule, view), None) is not None


def _held(rule: Rule, view: View) -> Iterator[View]:
    """What a rule reports of: the outcome, or each mark of it that the rule is about."""
    if not rule.each:
        if rule.when.evaluate(view.lookup):
            yield view
        return
    for mark in view.outcome.shown.state.marks:
        marked = View(view.resolved, view.outcome, view.combination, mark)
        if mark.name == rule.each and rule.when.evaluate(marked.lookup):
            yield marked


def _apply(rule: Rule, view: View, launch: LaunchResult, when: dict[str, str]) -> Iterator[Finding]:
    for held in _held(rule, view):
        yield _finding(rule, held, launch, when)


def _finding(rule: Rule, view: View, launch: LaunchResult, when: dict[str, str]) -> Finding:
    named = describe.ingredients(view.outcome)
    case = _case(rule, view)
    words = _words(view, named)
    words["says"] = case.says.format_map(words)
    span, label = _anchor(rule, view, named)
    related = _related(rule, view, named, span)
    message = rule.message.format_map(words)
    return Finding(
        rule=rule.id,
        name=rule.slug,
        # A switch that nobody has turned yet is worth a warning, never more.
        severity="warning" if when and case.severity == "error" else case.severity,
        confidence=_confidence(rule, view),
        message=message,
        span=span,
        label=label,
        launch=launch.id,
        when=when,
        related=tuple(related),
        notes=tuple(_notes(rule, view, words)),
        fixes=tuple(_fixes(rule, view)),
        references=tuple(Reference(link.title, link.url) for link in rule.references),
        chain=tuple(_chain(view)),
    )


def _case(rule: Rule, view: View) -> SeverityCase:
    """The first severity whose condition holds; the last one stands for the rest."""
    return next((case for case in rule.severities if case.when.evaluate(view.lookup)), rule.severities[-1])


def _confidence(rule: Rule, view: View) -> Confidence:
    order: tuple[Confidence, ...] = ("low", "medium", "high")
    # What a changed engine does, its release does not tell.
    changed: Confidence = "medium" if view.patches(applied=True) else "high"
    model, pin = view.outcome.shown.model.confidence, view.outcome.pin.confidence
    return min(rule.precision, model, pin, changed, key=order.index)


class _Words(dict[str, "str | _Settings"]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


class _Settings(dict[str, str]):
    """``{set[FIELD]}`` in a text: the value of a setting; ``{why[FIELD]}``: what gave it."""

    def __init__(self, outcome: Outcome, why: bool) -> None:
        super().__init__()
        self.outcome, self.why = outcome, why

    def __missing__(self, field: str) -> str:
        state = self.outcome.shown.state
        if not self.why:
            return describe.show(state.value_of(field))
        slot = state.settings.get(field)
        last = next((a for a in reversed(slot.history) if a.outcome == "won"), None) if slot is not None else None
        return describe.how(last) if last is not None else "unset"


def _words(view: View, named: dict[str, Ingredient]) -> _Words:
    """What a rule's texts may name."""
    outcome, shown = view.outcome, view.outcome.shown
    engine = view.resolved.setting.engine if view.resolved.setting else None
    speculative = shown.state.value_of(SPECULATION)
    method = (
        describe.drafting(speculative)
        if speculative is not None and isinstance(speculative.data, dict)
        else "speculative decoding"
    )
    mark = view.mark
    return _Words(
        model=shown.model.name or "the model",
        mechanism=shown.model.family.mechanism_title if shown.model.family else "recurrent state",
        drafting=method,
        method=method.partition(",")[0],
        version=_spoken_version(outcome.pin, engine),
        refused_by=_refuser(view),
        pin=outcome.pin.text,
        set=_Settings(outcome, why=False),
        why=_Settings(outcome, why=True),
        hybrid=named["hybrid"].sentence,
        speculation=named["speculation"].sentence,
        prefix_caching=named["prefix_caching"].sentence,
        refused=refused_everywhere(outcome),
        mark=mark.text if mark else "",
        field=mark.field if mark else "",
        value=describe.show(mark.value) if mark else "",
        other=describe.show(mark.other) if mark else "",
        decided_by=view.resolved.decided_by,
        patch=describe.mounts(view.patches(applied=False)),
    )


def _spoken_version(pin: Pin, engine: Engine | None) -> str:
    """``vLLM 0.28.0``, ``vLLM 0.30.0 or later``, ``vLLM 0.26.0 to 0.27.1``, ``an unknown vLLM version``."""
    title, releases = (engine.title, engine.releases) if engine is not None else ("", ())
    if pin.value:
        return f"{title} {pin.value}"
    if not pin.releases or pin.releases == releases:
        return f"an unknown {title} version"
    first, last = pin.releases[0], pin.releases[-1]
    if last == releases[-1]:
        return f"{title} {first} or later"
    return f"{title} {first} to {last}" if len(pin.releases) > 2 else f"{title} {' or '.join(map(str, pin.releases))}"


def _refuser(view: View) -> str:
    """Who stops at start: the framework, or the engine, with its release where one is pinned."""
    setting, outcome = view.resolved.setting, view.outcome
    if setting is None:
        return ""
    if outcome.shown.state.refused_by == "framework":
        return setting.framework.title
    return f"{setting.engine.title} {outcome.pin.value}" if outcome.pin.value else setting.engine.title


def _anchor(rule: Rule, view: View, named: dict[str, Ingredient]) -> tuple[Span, str]:
    """The primary place: the first of the rule's anchors that stands in the launch's own file."""
    launch = view.resolved.launch.span
    for anchor in rule.anchor:
        for span, label in _places_of(anchor, view, named):
            if span.source is launch.source:
                return span, label
    end = min(launch.end, launch.start + len(launch.source.line(launch.line)) - launch.column + 1)
    return Span(launch.source, launch.start, max(end, launch.start)), "this launch"


def _places_of(anchor: str, view: View, named: dict[str, Ingredient]) -> Iterator[describe.Labelled]:
    kind, _, name = anchor.partition(":")
    if kind == "ingredient":
        yield from named[name].places
    elif kind == "set":
        slot = view.outcome.shown.state.settings.get(name)
        if slot is not None:
            yield from describe.assigned(slot, name)
    elif kind == "mark" and view.mark is not None:
        value = view.mark.other if name == "other" else view.mark.value
        label = {
            "other": "the typed setting, which is replaced",
            "value": "this has no effect",
            "bypassed": "this does not reach the engine of this role",
        }.get(name, view.mark.field)
        yield from describe.places(value, "this one wins" if name == "winner" else label)
    elif kind == "refused":
        yield from describe.places(view.outcome.shown.state.refused_at, "refused")
    elif kind == "patch":
        yield from ((mount.span, "nothing in this launch uses it") for mount in view.patches(applied=False))


def _related(rule: Rule, view: View, named: dict[str, Ingredient], primary: Span) -> list[Related]:
    seen = {primary.key()}
    found: list[Related] = []
    for anchor in (*rule.anchor, *rule.related):
        for span, label in _places_of(anchor, view, named):
            if span.key() not in seen:
                seen.add(span.key())
                found.append(Related(span, label))
    pin = view.outcome.pin
    if pin.span is not None and pin.span.key() not in seen:
        title = view.resolved.setting.engine.title if view.resolved.setting is not None else ""
        found.append(Related(pin.span, f"{title} {pin.value}, {pin.text}" if pin.value else pin.text))
    return found


def _chain(view: View) -> Iterator[Related]:
    for name in ("model", SPECULATION, APC):
        slot = view.outcome.shown.state.settings.get(name)
        for step in describe.steps(slot) if slot is not None else ():
            if step.span is not None:
                yield Related(step.span, f"{name}: {step.what}")


def _notes(rule: Rule, view: View, words: _Words) -> Iterator[str]:
    setting = view.resolved.setting
    for note in rule.notes:
        if note == "ingredients":
            yield from _ingredient_notes(view)
        elif note == "version":
            yield f"The version: {words['version']}, {words['pin']}."
        elif note == "defects" and setting is not None:
            yield from _defect_notes(view.outcome, setting.engine)
        elif note == "patches" and setting is not None:
            yield from _patch_notes(view, setting.engine)
        elif note == "pull_requests" and setting is not None:
            yield _pull_request_note(view.outcome, setting.engine)
        else:
            text = note.format_map(words)
            if text:
                yield text
    open_reason = view.outcome.shown.state.open_reason
    if open_reason:
        yield f"Later words may change this: the command also takes {open_reason}."
    state = view.outcome.shown.state
    for name, value in state.facts.items():
        if name in state.facts_used and value.route == "assumed":
            yield f"Assumed: {value.name}."


def _patch_notes(view: View, engine: Engine) -> Iterator[str]:
    applied = view.patches(applied=True)
    if applied:
        yield (
            f"{engine.title} is changed here: {describe.mounts(applied)}. Defects of its release may be gone, and the "
            "files do not say which."
        )


def _ingredient_notes(view: View) -> Iterator[str]:
    """Why each ingredient is there, where the code frame alone does not say it."""
    for ingredient in describe.ingredients(view.outcome).values():
        sentence = ingredient.sentence
        if ": " in sentence:
            named = sentence.startswith(view.outcome.shown.model.name)
            yield f"{sentence}." if named else f"{sentence[0].upper()}{sentence[1:]}."


def _defect_notes(outcome: Outcome, engine: Engine) -> Iterator[str]:
    if outcome.pin.exact:
        defects = [d for d in outcome.shown.defects if d.corrupts]
        if defects:
            yield (
                f"Known defects of {engine.title} {outcome.pin.value} with these settings: "
                + "; ".join(map(_defect, defects))
                + "."
            )
        else:
            yield (
                f"No defect is known for {engine.title} {outcome.pin.value} with these settings, and nobody has proved "
                "the combination safe: verify it before you rely on it."
            )
        possible = [d for d in outcome.shown.possible_defects if d.corrupts]
        if possible:
            yield "Not decided by the files: " + "; ".join(map(_defect, possible)) + "."
        return
    seen: dict[str, tuple[Defect, list[Release]]] = {}
    for evaluation in outcome.evaluations:
        for defect in evaluation.defects:
            if defect.corrupts and evaluation.combination:
                seen.setdefault(defect.id, (defect, []))[1].append(evaluation.release)
    if seen:
        spoken = "; ".join(
            f"{_defect(d)} in {r[0]} to {r[-1]}" if len(r) > 1 else f"{_defect(d)} in {r[0]}" for d, r in seen.values()
        )
        yield f"The {engine.title} version is not known ({outcome.pin.text}). Defects by version: {spoken}."
    else:
        yield (
            f"The {engine.title} version is not known ({outcome.pin.text}). No defect is known for any that it may be, "
            "and nobody has proved the combination safe: verify it before you rely on it."
        )


def _defect(defect: Defect) -> str:
    links = ", ".join(reference.rpartition("/")[2] for reference in defect.references)
    return f"{defect.id} {defect.title} ({links})" if links else f"{defect.id} {defect.title}"


def _pull_request_note(outcome: Outcome, engine: Engine) -> str:
    release = outcome.shown.release if outcome.pin.exact else None
    spoken = ", ".join(f"#{p.number} {_stands(p, release)}" for p in engine.pull_requests)
    return f"Pull requests that people name as fixes: {spoken}. None of them alone clears the combination."


def _stands(pull_request: PullRequest, release: Release | None) -> str:
    if pull_request.state == "open":
        return "not in (open)"
    if pull_request.state == "unknown" or release is None or pull_request.released is None:
        return "unknown"
    return "in" if release >= pull_request.released else f"not in (first in {pull_request.released})"


def _fixes(rule: Rule, view: View) -> Iterator[Fix]:
    for way in rule.ways_out:
        if way.when.evaluate(view.lookup) is False:
            continue
        text, edits = fixes.edits(view.resolved, view.outcome, way.setting, way.value) if way.setting else ("", ())
        title = f"{way.title}: {text}" if text else way.title
        yield Fix(title, way.applicability if edits else "manual", edits, way.cost, way.setting)
