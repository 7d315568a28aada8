"""One variant of a launch under one release: the effective settings and the three ingredients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from gdnlint.configs.interpolate import lookup as lookup_key
from gdnlint.documents import json_text
from gdnlint.documents.overrides import split_key
from gdnlint.knowledge.conditions import Condition, Truth, tests
from gdnlint.knowledge.programs import Declared
from gdnlint.knowledge.releases import Release
from gdnlint.knowledge.schema import Defect, Engine, Framework, Knowledge, NamedLaunch
from gdnlint.launches.model import Variant, VersionHint
from gdnlint.project import Project, Unreadable
from gdnlint.resolve import models, program
from gdnlint.resolve.argv import CommandLine, Spellings, spellings_of
from gdnlint.resolve.models import Asked, Catalogue, Model
from gdnlint.resolve.program import UNREAD, Assignment, State, Surroundings
from gdnlint.values import Hole, Text, Value

APC = "enable_prefix_caching"
SERVED = "served_model_name"
SPECULATION = "speculative_config"


@dataclass(slots=True)
class Evaluation:
    """What one release makes of a launch."""

    release: Release
    state: State
    model: Model
    hybrid: Truth
    speculation: Truth
    prefix_caching: Truth
    defects: tuple[Defect, ...] = ()
    possible_defects: tuple[Defect, ...] = ()
    """Their condition is not decided by the files."""

    @property
    def refused(self) -> str:
        return self.state.refused

    @property
    def combination(self) -> Truth:
        """Whether all three are there; None is undecided. A launch that is refused at start runs nothing."""
        parts = (self.hybrid, self.speculation, self.prefix_caching)
        if self.refused or False in parts:
            return False
        return None if None in parts else True


@dataclass(slots=True)
class Setting:
    """What evaluation needs to know besides the variant."""

    knowledge: Knowledge
    project: Project
    directory: Path
    engine: Engine
    framework: Framework
    named: NamedLaunch
    revision: str
    member: tuple[str, ...] = ()
    """The path to the member that fits ``named.per`` and that this launch is."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    cache: Path | None = None
    """The Hugging Face cache; None: it is not looked at."""
    facts: dict[str, str] = field(default_factory=dict)
    pinned: bool = False
    """Whether a pin names the release, and it is one that the knowledge has."""

    @property
    def catalogue(self) -> Catalogue:
        """Where its models are looked up."""
        return Catalogue(self.knowledge, self.project, self.directory, self.aliases, self.cache)


def grammar_of(setting: Setting, release: Release) -> CommandLine:
    """The command line grammar of a release, made once in a run."""
    memory, engine = setting.project.memory, setting.engine
    found = memory.get(("grammar", engine.name, release))
    if found is None:
        spellings = memory.get(("spellings", engine.name)) or spellings_of(engine)
        memory["spellings", engine.name] = spellings
        found = CommandLine(engine, release, cast("Spellings", spellings))
        memory["grammar", engine.name, release] = found
    assert isinstance(found, CommandLine)
    return found


def evaluate_all(
    variant: Variant, setting: Setting, releases: Sequence[Release], known: Evaluation | None = None
) -> list[Evaluation]:
    """``evaluate`` for each of some releases. ``known``: an evaluation of the variant that is there already.

    Most releases do the same with a launch: an evaluation asks little of its release, and stands for every
    release that gives the same answers.
    """
    made: list[tuple[Evaluation, tuple[object, ...]]] = []
    if known is not None:
        made.append((known, _answers(known, setting, known.release)))
    out = []
    for release in releases:
        # Neighbouring releases are the most alike.
        same = next((e for e, answers in reversed(made) if _gives(e, setting, release, answers)), None)
        if same is None:
            same = evaluate(variant, setting, release)
            made.append((same, _answers(same, setting, release)))
        out.append(same if same.release == release else replace(same, release=release))
    return out


def _gives(evaluation: Evaluation, setting: Setting, release: Release, answers: tuple[object, ...]) -> bool:
    return release == evaluation.release or (
        not evaluation.state.reads_release and _answers(evaluation, setting, release) == answers
    )


def _answers(evaluation: Evaluation, setting: Setting, release: Release) -> tuple[object, ...]:
    """What a release answers to all that an evaluation asked of its own."""
    state, model, grammar = evaluation.state, evaluation.model, grammar_of(setting, release)
    return (
        [grammar.meaning(name) for name in state.flags_read],
        _truths(state.release_conditions, setting.project, release),
        # The text of this refusal differs from release to release.
        release if model.hybrid and release not in model.known else None,
        model.caches(release),
        model.is_plain(release),
        [release in d.affected for d in setting.engine.defects] if _may_have_defects(evaluation) else [],
    )


_MOST_TRUTHS = 10_000

_Truths = dict[tuple[tuple[int, ...], Release], tuple[list[Condition], tuple[Truth, ...]]]


def _truths(conditions: Sequence[Condition], project: Project, release: Release) -> tuple[Truth, ...]:
    """What the tests of the release in some conditions say."""
    memory = cast("_Truths", project.memory.setdefault("release tests", {}))
    key = (tuple(map(id, conditions)), release)
    found = memory.get(key)
    if found is None:
        version = Value(str(release))
        asked = (test for condition in conditions for test in tests(condition) if test.reference.startswith("engine:"))
        # The conditions are kept with it: an id may come again once its object is gone.
        found = list(conditions), tuple(test.evaluate(lambda _: version) for test in asked)
        if len(memory) >= _MOST_TRUTHS:
            memory.clear()
        memory[key] = found
    return found[1]


def evaluate(variant: Variant, setting: Setting, release: Release) -> Evaluation:
    """Run the framework's program, then the engine's, as a release would."""
    names = Names(variant, setting, release)
    state = State(
        Surroundings(
            lookup=names.lookup,
            words=variant.words,
            declared=lambda declared: declared_default(setting.project, setting.directory, declared),
            grammar=grammar_of(setting, release),
            revision=setting.revision,
            unknown_keys=variant.unknown_keys,
            pinned=setting.pinned,
        ),
        facts={
            name: Value(value, route="assumed", name=f"--assume {name}={value}")
            for name, value in setting.facts.items()
        },
        open_reason=variant.open_reason,
        refused=variant.refused,
    )
    names.state = state
    program.run(setting.named.steps, state)
    if state.unread and state.settings.get(SPECULATION) is None:
        unread = Value.unknown(state.unread)
        state.assign(SPECULATION, unread, Assignment(unread, "", f"it depends on {state.unread}"))
    _normalise(state, setting.engine)
    model = _model(state, variant, setting)
    if model.is_plain(release):
        model = replace(model, hybrid=False)
    names.model = model
    if not state.refused and model.family is not None and model.hybrid and release not in model.known:
        since, until = model.known.since, model.known.until
        edge = f"it came with {since}" if since and release < since else f"it was removed after {until}"
        text = f"this release does not know the architecture of {model.name} ({edge})"
        state.refuse(text, model.value, "engine")
    # The settings of a launch that is refused are still worth showing.
    state.running = "engine"
    program.run(setting.engine.steps, state, to_the_end=True)
    evaluation = Evaluation(
        release, state, model, model.hybrid, _speculation(state), _truth(state, APC)
    )  # fmt: skip
    _add_defects(evaluation, setting.engine)
    return evaluation


def path_of(named: NamedLaunch, member: tuple[str, ...]) -> list[str]:
    """The keys below which a launch's references start; a member's name may hold dots."""
    return [*(split_key(named.at) if named.at else ()), *member]


class Names:
    """What references mean outside the settings."""

    def __init__(self, variant: Variant, setting: Setting, release: Release) -> None:
        self.variant = variant
        self.setting = setting
        self.release = release
        self.model: Model | None = None
        self.state: State | None = None
        self.env = {name: text.known for name, text in variant.env.items() if text.known is not None}

    def lookup(self, reference: str) -> Value | None:
        kind, _, name = reference.partition(":")
        reader = _READERS.get(kind)
        return reader(self, name) if reader is not None else None

    def key(self, name: str) -> Value | None:
        tree, unknown = self.variant.tree, self.variant.unknown_keys
        if tree is None:
            return None
        if "/" in name[1:] and self.setting.framework.dialect == "hydra":
            return self._chosen(name)
        above = path_of(self.setting.named, self.setting.member)
        path = name[1:] if name.startswith("/") else [*above, *split_key(name)]
        path = [] if name == "/" else path
        found = lookup_key(tree, path, self.env)
        return replace(Value.unknown(unknown), route=UNREAD) if found is None and unknown else found

    def _chosen(self, group: str) -> Value | None:
        """What the command line chooses in a config group that is not in the project (``group/of=choice``)."""
        words = (w for w in self.variant.words if w.text.marked().lstrip("+").startswith(f"{group}="))
        word = next(words, None)
        if word is None:
            return None
        text = word.text.cut(word.text.marked().index("=") + 1)
        return Value(text if text.known is None else text.known, word.span, text.places, "override", group)

    def environment(self, name: str) -> Value | None:
        text = self.variant.env.get(name)
        if text is None:
            return None
        known = text.known
        span = next((piece.span for piece in text.pieces if piece.span is not None), None)
        return Value(text if known is None else known, span, text.places, "environment", name)

    def entry(self, _name: str) -> Value | None:
        return Value(self.variant.entry) if self.variant.entry else None

    def engine(self, _name: str) -> Value | None:
        return Value(str(self.release))

    def of_model(self, name: str) -> Value | None:
        model = self.model
        if model is None:
            return Value.unknown("the model")
        if name == "basename":
            return _basename(model)
        if name == "hybrid":
            unknown = Value.unknown("whether the model is a hybrid one")
            return Value(model.hybrid) if model.hybrid is not None else unknown
        if name == "caches_state":
            return Value(model.caches(self.release))
        if name == "attention_free":
            return Value(bool(model.family and model.family.attention_free))
        if name == "brings_drafter":
            return Value(model.brings_drafter)
        if name == "pooling":
            return Value(model.pooling)
        if model.family is None:
            return Value.unknown("which model it is") if model.hybrid is not False else None
        facts: dict[str, str | bool] = {
            "family": model.family.name,
            "mechanism": model.family.mechanism,
            "own_head": model.family.own_head,
        }
        return Value(facts[name]) if name in facts else None

    def launch(self, name: str) -> Value | None:
        if self.state is None:
            return None
        drafter, target = self.state.value_of(f"{SPECULATION}.model"), self.state.value_of("model")
        if name == "plain_drafter" and drafter is not None:
            return self._plain_drafter(drafter)
        if name == "image":
            return next((_image(hint) for hint in self.variant.hints if hint.kind == "image"), None)
        if name != "drafts_with_itself":
            return None
        return Value(drafter is not None and target is not None and drafter.plain() == target.plain())

    def _plain_drafter(self, drafter: Value) -> Value:
        """Whether a drafter is a language model without a drafting head; a path or an open name may be anything."""
        setting = self.setting
        found = models.identify(drafter, setting.catalogue)
        if found.hybrid is None or found.confidence != "high":
            return Value.unknown(f"what kind of drafter {found.name or 'it'} is", drafter.span)
        if found.family is not None and found.family.own_head:
            return Value.unknown(f"whether {found.name} drafts by its own head", drafter.span)
        return Value(True)

    def feature(self, name: str) -> Value | None:
        given = self.variant.features.get(name)
        return Value(given.lower() not in ("off", "false", "0", "")) if given is not None else None

    def file(self, _name: str) -> Value | None:
        return self.variant.config

    def call(self, _name: str) -> Value | None:
        return self.variant.arguments


_READERS = {
    "key": Names.key,
    "env": Names.environment,
    "entry": Names.entry,
    "engine": Names.engine,
    "model": Names.of_model,
    "launch": Names.launch,
    "feature": Names.feature,
    "file": Names.file,
    "call": Names.call,
}


def _image(hint: VersionHint) -> Value:
    """The container image of a launch, with its tag."""
    known = hint.text.known
    return Value(hint.text if known is None else known, hint.span)


def _basename(model: Model) -> Value | None:
    """The last part of the model's path, without what the files do not decide of it.

    A name that is not known at all is taken for an ordinary one: the special ones are rare and say so.
    """
    value = model.value
    if value is None or not isinstance(value.data, str | Text):
        return None
    text = value.data if isinstance(value.data, Text) else Text.of(value.data, value.span)
    last = text.cut(text.marked().rfind("/") + 1)
    return Value("".join(piece.content for piece in last.pieces if isinstance(piece.content, str)), value.span)


def _normalise(state: State, engine: Engine) -> None:
    """Values as the engine's argument types make them: JSON texts become mappings, 0 and 1 booleans."""
    for name, slot in state.settings.items():
        flag, value = engine.flags.get(name), slot.value
        if flag is None or value is None:
            continue
        if flag.kind == "json" and isinstance(value.data, str | Text):
            text = value.data if isinstance(value.data, Text) else Text.of(value.data, value.span)
            parsed = json_text.parse(text, value.span)
            if parsed is not None and isinstance(parsed.data, dict | None):
                slot.value = replace(value, data=parsed.data)
        elif flag.kind == "bool" and isinstance(value.data, int) and not isinstance(value.data, bool):
            slot.value = replace(value, data=bool(value.data))
        elif flag.kind == "bool" and isinstance(value.data, str):
            reason = f"the text {value.data!r} where {engine.title} expects true or false"
            slot.value = replace(value, data=Text.of(Hole(reason), value.span))


def _model(state: State, variant: Variant, setting: Setting) -> Model:
    value = state.value_of("model")
    model = models.identify(value, setting.catalogue, _asked(state))
    if model.hybrid is not None:
        return model
    hinted = models.by_hints(value, model, variant.mounts, state.value_of(SERVED), setting.catalogue)
    if hinted is not None:
        return hinted
    slot = state.settings.get("model")
    for earlier in reversed(_earlier_models(variant, slot.history if slot else [], setting)):
        found = models.identify(earlier, setting.catalogue)
        if found.hybrid is not None and value is not None and not value.is_known:
            how = f"{model.how}; the recipe itself names {found.name}"
            return replace(found, how=how, confidence="medium", value=value)
    method = state.value_of(f"{SPECULATION}.method")
    if method is not None and isinstance(method.data, str):
        family = next((f for f in setting.knowledge.families if method.data in f.methods), None)
        if family is not None:
            how = f"{model.how}, but only {family.title} has the drafting method {method.data}"
            return replace(models.of_family(model.name, family, how, "medium", value), value=value)
    for name in setting.engine.implies_hybrid:
        given = state.value_of(name)
        if given is not None and given.span is not None and given.data is not None:
            return replace(
                model,
                hybrid=True,
                how=f"{model.how}, but {name} is set, which only hybrid models have",
                confidence="medium",
            )
    return model


def _asked(state: State) -> Asked:
    """What the settings say of the model besides its name; what is not known of it is left out."""
    overrides = state.value_of("hf_overrides")
    plain = overrides.plain() if overrides is not None and isinstance(overrides.data, dict) else {}
    named = [value.data if value is not None else None for value in map(state.value_of, ("revision", "hf_config_path"))]
    revision, config = (name if isinstance(name, str) else "" for name in named)
    return Asked(revision, plain if isinstance(plain, dict) else {}, config)


def _earlier_models(variant: Variant, history: Sequence[program.Assignment], setting: Setting) -> list[Value]:
    """Models that the launch's own recipe names and an unknown value replaces."""
    found = [a.value for a in history if a.value is not None and a.outcome == "lost"]
    if variant.base is not None:
        names = Names(replace(variant, tree=variant.base), setting, setting.engine.releases[-1])
        state = State(
            Surroundings(
                names.lookup,
                (),
                lambda _: None,
                grammar_of(setting, setting.engine.releases[-1]),
                setting.revision,
            )
        )
        program.run([s for s in setting.named.steps if s.operator in ("set", "fill")], state)
        value = state.value_of("model")
        found += [value] if value is not None else []
    return [value for value in found if value.span is not None]


def _truth(state: State, name: str) -> Truth:
    value = state.value_of(name)
    if value is None or value.data is None:
        return None
    if isinstance(value.data, Text):
        return None
    return bool(value.data)


def _speculation(state: State) -> Truth:
    value = state.value_of(SPECULATION)
    if value is None or value.data is None:
        return False
    if isinstance(value.data, Text):
        return None
    return bool(value.data)


def _may_have_defects(evaluation: Evaluation) -> bool:
    return evaluation.hybrid is not False and evaluation.speculation is not False


def _add_defects(evaluation: Evaluation, engine: Engine) -> None:
    if not _may_have_defects(evaluation):
        return
    certain, possible = [], []
    for defect in engine.defects:
        if evaluation.release not in defect.affected:
            continue
        truth, _ = evaluation.state.test(defect.when)
        if truth:
            certain.append(defect)
        elif truth is None:
            possible.append(defect)
    evaluation.defects, evaluation.possible_defects = tuple(certain), tuple(possible)


def declared_default(project: Project, directory: Path, declared: Declared) -> Value | None:
    """The default that a class in the user's own checkout gives an attribute; None if it is not there.

    The file is read, never imported. ``ast`` is enough: an annotated assignment in a class body.
    """
    key = ("declared", declared)
    if key not in project.memory:
        project.memory[key] = _read_declared(project, directory, declared)
    found = project.memory[key]
    assert found is None or isinstance(found, Value)
    return found


def _read_declared(project: Project, directory: Path, declared: Declared) -> Value | None:
    path = locate(project, directory, declared.file)
    if path is None:
        return None
    import ast

    try:
        source = project.source(path)
        tree = ast.parse(source.text)
    except (Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in tree.body:
        if not isinstance(node, ast.ClassDef) or node.name != declared.owner:
            continue
        for statement in node.body:
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            if statement.target.id == declared.field and isinstance(statement.value, ast.Constant):
                line = source.line(statement.lineno)
                start = source.starts[statement.lineno - 1] + len(line) - len(line.lstrip())
                data = statement.value.value
                if data is None or isinstance(data, bool | int | float | str):
                    span = source.span(start, source.starts[statement.lineno - 1] + len(line.rstrip()))
                    return Value(data, span, route="declared", name=f"{declared.owner}.{declared.field}")
    return None


def locate(project: Project, directory: Path, name: str) -> Path | None:
    """A file of a framework's source tree in the user's checkout: below the root, or a directory on the way to it."""
    folder = directory
    for _ in range(64):
        if project.exists(folder / name):
            return folder / name
        if folder == project.root or folder == folder.parent:
            break
        folder = folder.parent
    return project.root / name if project.exists(project.root / name) else None
