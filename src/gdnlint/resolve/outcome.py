"""A launch over all its variants and the releases it may run on: one verdict, and the sentence that decides it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from gdnlint.configs.interpolate import lookup as lookup_key
from gdnlint.knowledge.conditions import Truth
from gdnlint.knowledge.releases import Release, runs_of
from gdnlint.knowledge.schema import Engine, Framework, Knowledge, NamedLaunch
from gdnlint.launches.installs import named_for_the_version
from gdnlint.launches.model import Launch, Variant, VersionHint
from gdnlint.project import Project, Unreadable
from gdnlint.resolve import versions
from gdnlint.resolve.evaluate import APC, Evaluation, Names, Setting, evaluate, evaluate_all, locate, path_of
from gdnlint.resolve.pin_files import Search
from gdnlint.resolve.pins import Pin
from gdnlint.results import Combination
from gdnlint.source import Source
from gdnlint.values import Piece, Problem, Text, Value

WORDS: dict[Truth, Combination] = {True: "present", False: "absent", None: "undecided"}


@dataclass(slots=True)
class Outcome:
    """One variant: what it comes to on every release it may run on."""

    variant: Variant
    pin: Pin
    evaluations: list[Evaluation]
    combination: Truth
    decided_by: str = ""

    @property
    def shown(self) -> Evaluation:
        """The evaluation that reports speak of: the newest that has the outcome's combination."""
        fits = (e for e in reversed(self.evaluations) if e.combination is self.combination)
        return next(fits, self.evaluations[-1])


@dataclass(slots=True)
class Resolved:
    """One engine of a launch, resolved."""

    launch: Launch
    setting: Setting | None
    """None for an engine that is left alone."""
    name: str
    default: list[Outcome] = field(default_factory=list)
    """The default scenario, once for each way its undecided conditions can go."""
    scenarios: list[Outcome] = field(default_factory=list)
    combination: Combination = "absent"
    decided_by: str = ""
    note: str = ""

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of the default scenario that reports speak of: the worst."""
        rank = {True: 0, None: 1, False: 2}
        return min(self.default, key=lambda o: rank[o.combination], default=None)


MOST_OUTCOMES = 160
"""Outcomes of one file after which no more scenario of it is tried; the default scenario always is."""


@dataclass(slots=True)
class Effort:
    """What the launches of one file took so far."""

    outcomes: int = 0
    problems: list[Problem] = field(default_factory=list)
    """What of them was not judged."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the user said about everything: options and configuration. Of one file at a time."""

    vllm_version: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    """Model names and patterns of them (``fnmatch``) -> a family or another model's name."""
    cache: Path | None = None
    """The Hugging Face cache that is looked at."""
    effort: Effort = field(default_factory=Effort)


def resolve(launch: Launch, knowledge: Knowledge, project: Project, settings: Settings) -> Iterator[Resolved]:
    """Each engine that a launch starts."""
    if launch.framework is None:
        title = launch.other.title if launch.other else "another program"
        because = launch.other.because if launch.other else launch.note
        yield Resolved(launch, None, "", note=f"{title}, left alone: {because}")
        return
    framework = launch.framework
    revision = _revision(framework, project, launch.directory)
    for named in framework.launches:
        members = _members(named, launch)
        if len(members) > MOST_MEMBERS:
            message = f"more than {MOST_MEMBERS} engines in {named.per}; the rest are not judged"
            settings.effort.problems.append(Problem("too-large", message, launch.span))
        for member in members[:MOST_MEMBERS]:
            setting = Setting(
                knowledge, project, launch.directory, knowledge.engines[framework.engine], framework, named, revision,
                member, settings.aliases, settings.cache, settings.facts,
            )  # fmt: skip
            resolved = _one(_at_member(launch, named, member), setting, settings)
            if resolved.note != _not_started(named) or resolved.default or len(framework.launches) == 1:
                yield resolved


def _at_member(launch: Launch, named: NamedLaunch, member: tuple[str, ...]) -> Launch:
    """A launch that is one of several in a file stands at its own lines of it."""
    tree = launch.variants[0].tree if launch.variants else None
    if not member or launch.kind not in ("recipe", "manifest") or tree is None:
        return launch
    value = lookup_key(tree, path_of(named, member), {})
    if value is None or value.span is None or value.span.source is not launch.span.source:
        return launch
    from gdnlint.launches.scalars import block

    return replace(launch, span=block(value))


MOST_MEMBERS = 100
"""Engines of one configuration that are judged."""


def _members(named: NamedLaunch, launch: Launch) -> list[tuple[str, ...]]:
    """The paths to the members that each make one launch, one more than are judged at most; without ``per`` there is
    one, unnamed."""
    if not named.per:
        return [()]
    found: dict[tuple[str, ...], None] = {}
    for variant in launch.variants:
        below = lookup_key(variant.tree, named.at, {}) if variant.tree is not None and named.at else variant.tree
        if below is not None:
            fits = _fitting(below, tuple(named.per.split(".")), ())
            found.update(dict.fromkeys(islice(fits, MOST_MEMBERS + 1)))
    return list(found)


def _fitting(value: Value, pattern: tuple[str, ...], path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of the mappings below a value that fit a pattern."""
    if not pattern:
        if isinstance(value.data, dict):
            yield path
        return
    if isinstance(value.data, dict):
        below = iter(value.data.items())
    elif isinstance(value.data, list):
        below = iter((str(number), item) for number, item in enumerate(value.data))
    else:
        return
    for name, member in below:
        if pattern[0] in ("*", name):
            yield from _fitting(member, pattern[1:], (*path, name))


def _one(launch: Launch, setting: Setting, settings: Settings) -> Resolved:
    resolved = Resolved(launch, setting, setting.named.name if len(setting.framework.launches) > 1 else "")
    made: dict[tuple[object, ...], Outcome | str] = {}
    notes: list[str] = []
    for variant in _with_switches(launch.variants, setting):
        signature = variant.signature()
        if signature not in made:
            if (variant.when or variant.guards) and settings.effort.outcomes >= MOST_OUTCOMES:
                continue
            settings.effort.outcomes += 1
            made[signature] = _outcome(variant, setting, settings, launch.span.source)
        found = made[signature]
        if isinstance(found, str):
            notes.append(found)
            if not variant.when:
                continue
            found = Outcome(variant, _no_pin(setting.engine), [], False)
        outcome = replace(found, variant=variant)
        (resolved.scenarios if variant.when else resolved.default).append(outcome)
    if notes:
        resolved.note = notes[0]
    resolved.default = [o for o in resolved.default if o.evaluations]
    _conclude(resolved)
    return resolved


def _with_switches(variants: Sequence[Variant], setting: Setting) -> Iterator[Variant]:
    """The variants, and the default ones once more with each switch that the program or its configuration has."""
    yield from variants
    for variant in variants:
        if variant.when or variant.guards:
            continue
        for name, value in setting.framework.switches:
            if name not in variant.env:
                yield replace(variant, when={**variant.choice, name: value}, env={**variant.env, name: Text.of(value)})
        for name in _features(variant, setting):
            if name not in variant.features:
                when = {**variant.choice, f"feature:{name}": "on"}
                yield replace(variant, when=when, features={**variant.features, name: "on"})


_MOST_FEATURES = 24


def _features(variant: Variant, setting: Setting) -> list[str]:
    """The switches that a configuration lists."""
    names = Names(variant, setting, setting.engine.releases[-1])
    found: dict[str, None] = {}
    for reference in setting.named.features:
        value = names.lookup(reference)
        data = value.data if value is not None else None
        items = [item.data for item in data] if isinstance(data, list) else list(data) if isinstance(data, dict) else []
        found.update(dict.fromkeys(name for name in items if isinstance(name, str)))
    return list(found)[:_MOST_FEATURES]


def _pins(variant: Variant, setting: Setting) -> Iterator[VersionHint]:
    """What the configuration itself says of the release."""
    names = Names(variant, setting, setting.engine.releases[-1])
    for kind, text in setting.named.pins:
        pieces: list[Piece] = []
        for part in re.split(r"\{(key:[^{}]+)\}", text):
            value = names.lookup(part) if part.startswith("key:") else Value(part)
            data = value.data if value is not None else None
            if isinstance(data, Text):
                pieces += data.pieces
            elif isinstance(data, bool | int | float | str):
                pieces.append(Piece(str(data), value.span if value is not None else None))
            else:
                break
        else:
            made = Text(tuple(piece for piece in pieces if piece.content))
            span = next((piece.span for piece in reversed(made.pieces) if piece.span is not None), None)
            if span is None:
                continue
            if kind == "image":
                yield VersionHint(made, span, "image")
            else:
                yield VersionHint(Text.of(f"{setting.engine.package}>={made.show()}"), span, "minimum")


def _no_pin(engine: Engine) -> Pin:
    return Pin(engine.releases, False, "no version found")


def _outcome(variant: Variant, setting: Setting, settings: Settings, source: Source) -> Outcome | str:
    """The outcome of a variant, or why no engine of ours is launched."""
    engine = setting.engine
    newest = engine.releases[-1]
    reason = _not_launched(variant, setting, newest)
    if reason:
        return reason
    pin = None
    if settings.vllm_version is not None:
        pin = versions.given(engine, settings.vllm_version)
    if pin is None:
        hints = [*variant.hints, *_pins(variant, setting), *named_for_the_version(engine, variant.env)]
        search = Search(engine, setting.project, setting.knowledge, variant.extras)
        pin = versions.find(search, setting.directory, hints, source)
    setting = replace(setting, pinned=pin.exact and _is_known(pin, engine))
    first = evaluate(variant, setting, pin.releases[-1])
    if not pin.exact and first.hybrid and not any(release in first.model.known for release in pin.releases):
        # Of several pins side by side, those that cannot run the model are for other launches.
        pin = Pin(engine.releases, False, f"{pin.text}, none of which knows the model's architecture", None, pin.span)
        first = evaluate(variant, setting, pin.releases[-1])
    if pin.exact or (first.hybrid is False and not first.refused):
        outcome = Outcome(variant, pin, [first], first.combination)
    else:
        releases = [r for r in pin.releases if first.model.hybrid is None or r in first.model.known] or list(
            pin.releases
        )
        evaluations = evaluate_all(variant, setting, releases, first)
        # A release that does not know the launch's flags, or that refuses it otherwise, is not the one that runs it.
        usable = [e for e in evaluations if not e.refused] or evaluations
        outcome = Outcome(variant, pin, usable, _over_releases(usable))
    outcome.decided_by = _decided_by(outcome)
    return outcome


def _is_known(pin: Pin, engine: Engine) -> bool:
    """Whether a pin is a release that the knowledge has read, and not one that it stands in for."""
    release = Release.parse(pin.value.partition("+")[0]) if pin.value is not None else None
    return release in engine.releases


def _over_releases(evaluations: Sequence[Evaluation]) -> Truth:
    """The combination when the release is open: prefix caching that is asked for counts, a default must agree."""
    truths = {e.combination for e in evaluations}
    if len(truths) == 1:
        return truths.pop()
    if True in truths and any(_asked_for(e) for e in evaluations if e.combination):
        return True
    return None


def _asked_for(evaluation: Evaluation) -> bool:
    """Whether prefix caching is on because somebody said so, not by the engine's default."""
    slot = evaluation.state.settings.get(APC)
    return bool(slot and any(a.outcome == "won" and _by_user(a.value) for a in slot.history))


def _by_user(value: Value | None) -> bool:
    return (
        value is not None
        and value.data is True
        and (value.span is not None or value.route in ("default", "declared", "framework"))
    )


def _decided_by(outcome: Outcome) -> str:
    if outcome.combination is not None:
        return ""
    shown = outcome.shown
    parts = []
    if shown.hybrid is None:
        parts.append(f"whether it is a hybrid model is not known: {shown.model.how}")
    if shown.speculation is None:
        parts.append("speculative decoding depends on " + _why(shown, "speculative_config"))
    apc = {e.prefix_caching for e in outcome.evaluations}
    if apc == {None}:
        parts.append("prefix caching depends on " + _why(shown, APC))
    if len({e.combination for e in outcome.evaluations}) > 1:
        parts.append(f"{over_releases(outcome)}; {outcome.pin.text}")
    return "; ".join(parts) or "the files do not decide it"


def over_releases(outcome: Outcome) -> str:
    """``prefix caching is off up to vLLM 0.27.1 and on from 0.28.0``."""
    releases = [e.release for e in outcome.evaluations]
    on = [e.release for e in outcome.evaluations if e.prefix_caching and not e.refused]
    runs = runs_of(on, releases)
    if not runs:
        return "prefix caching is on in no release that starts"
    spoken = []
    for first, last in runs:
        if last == releases[-1]:
            spoken.append(f"from {first}")
        else:
            spoken.append(f"in {first}" if first == last else f"in {first} to {last}")
    before = [r for r in releases if r < runs[0][0]]
    off = f"off up to vLLM {before[-1]} and " if before else ""
    return f"prefix caching is {off}on {', '.join(spoken)}"


def _why(evaluation: Evaluation, name: str) -> str:
    value = evaluation.state.value_of(name)
    holes = [hole.reason for hole in value.holes()] if value is not None else []
    return holes[0] if holes else "something outside the files"


def _conclude(resolved: Resolved) -> None:
    """The verdict of the default scenario, over the ways its undecided conditions can go."""
    truths = {o.combination for o in resolved.default}
    if not truths:
        resolved.combination = "absent"
        return
    if len(truths) == 1:
        resolved.combination = WORDS[truths.pop()]
        outcome = resolved.outcome
        resolved.decided_by = outcome.decided_by if outcome is not None else ""
        return
    resolved.combination = "undecided"
    if _over_choices(resolved):
        return
    texts = [o.variant.guard_text for o in resolved.default if o.variant.guard_text]
    present = [o for o in resolved.default if o.combination]
    verb = "present" if present else "undecided"
    shown = next(
        (o.variant.guard_text for o in resolved.default if o.combination is not False and o.variant.guard_text), None
    )
    text = shown or (texts[0] if texts else "a condition")
    resolved.decided_by = f"{verb} or absent, as the condition {text} goes"


def _over_choices(resolved: Resolved) -> bool:
    """What differs by what the launch must be given is told as scenarios; whether that is all that differs."""
    chosen = [o for o in resolved.default if o.variant.choice and not o.variant.guards]
    if len({o.combination for o in chosen}) < 2:
        return False
    told = {tuple(when.items()): replace(o, variant=replace(o.variant, when=when)) for o, when in _reduced(chosen)}
    resolved.scenarios = [*told.values(), *resolved.scenarios]
    names = {name for o in told.values() for name in o.variant.when}
    parts = []
    for name in (name for name in chosen[0].variant.choice if name in names):
        values = list(dict.fromkeys(o.variant.choice[name] for o in chosen))
        parts.append(f"{spoken(name)} ({', '.join(values[:-1])} or {values[-1]})")
    resolved.decided_by = f"it depends on {' and '.join(parts)}, which has no default"
    return True


def _reduced(chosen: Sequence[Outcome]) -> Iterator[tuple[Outcome, dict[str, str]]]:
    """Each outcome with the part of its choice that its combination follows from."""
    for outcome in chosen:
        when = dict(outcome.variant.choice)
        for name in outcome.variant.choice:
            rest = {key: value for key, value in when.items() if key != name}.items()
            same = [o for o in chosen if rest <= o.variant.choice.items()]
            if len(when) > 1 and all(o.combination is outcome.combination for o in same):
                del when[name]
        yield outcome, when


def spoken(name: str) -> str:
    """What decides, for people: ``argument 1``, ``the environment variable MODE``."""
    if name.startswith("arg:-"):
        return f"the option {name[4:]}"
    return f"argument {name[4:]}" if name.startswith("arg:") else f"the environment variable {name}"


def _not_launched(variant: Variant, setting: Setting, release: Release) -> str:
    """Why this run starts no engine of ours; empty if it does."""
    names = Names(variant, setting, release)
    named = setting.named
    if named.when.evaluate(names.lookup) is not True:
        return _not_started(named)
    for case in setting.framework.not_launched:
        if case.when.evaluate(names.lookup):
            return f"not judged: {case.because}"
    if named.engine:
        value = names.lookup(named.engine) or (names.lookup(named.engine_else) if named.engine_else else None)
        name = str(value.plain()) if value is not None and value.is_known else ""
        engine = _engine_of(named, name) if name and name != "???" else named.default_engine
        if engine and engine != setting.engine.name:
            other = next((o for o in setting.knowledge.other_engines if o.name == engine), None)
            because = f": {other.because}" if other else ""
            return f"{other.title if other else engine}, left alone{because}"
    return ""


def _not_started(named: NamedLaunch) -> str:
    return f"the {named.name} engine is not started"


def _engine_of(named: NamedLaunch, name: str) -> str:
    """The engine that a configuration's word for it means."""
    fits = (engine for pattern, engine in named.engines.items() if fnmatchcase(name, pattern))
    return named.engines.get(name) or next(fits, name)


def _revision(framework: Framework, project: Project, directory: Path) -> str:
    """The revision of the framework in the user's checkout; without one, the newest."""
    for revision in framework.revisions:
        path = locate(project, directory, revision.file) if revision.file else None
        if path is None:
            continue
        try:
            text = project.source(path).text
        except Unreadable:
            continue
        if (not revision.contains or revision.contains in text) and (not revision.lacks or revision.lacks not in text):
            return revision.id
    return framework.revisions[0].id if framework.revisions else ""
