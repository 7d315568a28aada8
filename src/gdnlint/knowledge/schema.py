"""What rule files hold, as typed data. Every word of the vocabulary is declared here, once."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gdnlint.knowledge.conditions import ALWAYS, Condition
from gdnlint.knowledge.programs import Step, condition, parse_steps
from gdnlint.knowledge.reading import Table
from gdnlint.knowledge.releases import Release, ReleaseRange
from gdnlint.results import Applicability, Confidence, Severity

if TYPE_CHECKING:
    from gdnlint.documents.yaml import Scalars

DIALECTS = ("omegaconf_cli", "hydra", "engine_argv", "flags", "pydantic_toml", "kwargs", "none")
INHERITANCE = ("none", "defaults_chain", "hydra_defaults", "file", "at_files", "chart_values")


class Flag(NamedTuple):
    """One command line flag of an engine and the field it sets."""

    field: str
    kind: str
    """``bool`` (has a ``--no-`` form), ``true`` (takes no value), ``value``, ``values``, ``optional``, ``json``."""
    names: tuple[tuple[str, ReleaseRange], ...]
    inverse: str = ""
    """A spelling of its own with the opposite sense (``--disable-X`` of ``--enable-X``)."""


class Defect(NamedTuple):
    """A known fault of the engine under a combination of settings."""

    id: str
    title: str
    corrupts: bool
    """Whether it gives wrong tokens (an error) and is not only latent or slow."""
    affected: ReleaseRange
    when: Condition
    references: tuple[str, ...]
    note: str


class PullRequest(NamedTuple):
    """Where a fix that people name stands."""

    number: int
    title: str
    state: str
    """``open``, ``merged``, ``closed`` or ``unknown``."""
    released: Release | None
    note: str


class Vendor(NamedTuple):
    """Images that others build with the engine in it."""

    image: str
    """A pattern of their names."""
    what: str
    tags: tuple[tuple[str, Release], ...]
    """Patterns of their tags, and the engine's release in such an image; the first that fits counts."""


class Engine(NamedTuple):
    name: str
    title: str
    releases: tuple[Release, ...]
    flags: dict[str, Flag]
    abbreviations: bool
    negative_prefixes: tuple[tuple[str, ReleaseRange], ...]
    """Every form of a ``bool`` flag with one of these means the opposite."""
    inverse_known: ReleaseRange
    """The releases that read the inverse spellings of flags."""
    inverse_prefixes: tuple[str, ...]
    """How inverse spellings begin; a flag that has none is not known by such a word."""
    removed_flags: tuple[str, ...]
    positional: str
    config_flag: str
    steps: tuple[Step, ...]
    defects: tuple[Defect, ...]
    pull_requests: tuple[PullRequest, ...]
    package: str
    images: tuple[str, ...]
    """Patterns of container images whose tag is the engine's version."""
    vendors: tuple[Vendor, ...]
    """Images that others build under versions of their own."""
    repository: str
    """``owner/name`` of its source, whose tags are releases."""
    dates: dict[Release, str]
    """The day of each release's upload (``2026-08-26``), where it is known."""
    patch_words: tuple[str, ...]
    """Words in the path of what people mount to change the engine (``patch``)."""
    patch_suffixes: tuple[str, ...]
    """Suffixes of files that can change it (``.py``)."""
    implies_hybrid: tuple[str, ...]
    """Settings that only mean something for hybrid models."""


class OtherEngine(NamedTuple):
    """An engine that is recognised and left alone."""

    name: str
    title: str
    commands: tuple[tuple[str, ...], ...]
    modules: tuple[str, ...]
    because: str
    flags: tuple[str, ...] = ()
    """Patterns of flags by which a program that nothing else tells hands settings to it."""


class Architecture(NamedTuple):
    name: str
    known: ReleaseRange
    """The releases that know it."""
    caches_state: ReleaseRange | None
    """The releases in which it supports every mode of caching its recurrent state (SupportsMambaPrefixCaching)."""
    pooling: bool = False
    """Whether it gives vectors or scores and generates nothing."""


_NAME_START = re.compile(r"\(\?<!\[a-z0-9\]\)([a-z0-9]{2,})")
"""How most patterns of model names begin: no letter before, then letters as they stand."""


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of names. Compiled on first use: most launches ask for few of the many families."""
    return re.compile(pattern, re.IGNORECASE)


@cache
def _needed(pattern: str) -> str:
    """Letters that stand in every name a pattern fits; empty if that is not plain to see."""
    match = _NAME_START.match(pattern)
    if match is None or "\\" in pattern or "|" in re.sub(r"\([^()]*\)|\[[^\]]*\]", "", pattern):
        return ""
    return match[1][:-1] if pattern[match.end() : match.end() + 1] in ("?", "*", "{") else match[1]


class NamePattern(NamedTuple):
    pattern: str
    """A regular expression, as ``unless``; upper and lower case are the same."""
    unless: str
    known: ReleaseRange
    """Narrower than the family's where a spelling means newer checkpoints."""

    def fits(self, name: str) -> bool:
        """Whether it is found in a name and ``unless`` is not."""
        if name.isascii() and _needed(self.pattern) not in name.lower():
            return False
        return compiled(self.pattern).search(name) is not None and not (
            self.unless and compiled(self.unless).search(name)
        )


class Family(NamedTuple):
    """Models of one architecture family."""

    name: str
    title: str
    hybrid: bool
    mechanism: str
    mechanism_title: str
    architectures: tuple[Architecture, ...]
    model_types: tuple[str, ...]
    names: tuple[NamePattern, ...]
    own_head: bool
    """Whether checkpoints carry their own drafting head, so that ``method: mtp`` needs no model."""
    known: ReleaseRange
    methods: tuple[str, ...] = ()
    """Speculative methods that only models of this family have."""
    attention_free: bool = False
    """Recurrent without any attention layer, which the engine does not call hybrid."""
    pooling: bool = False
    """Whether its models give vectors or scores and generate nothing."""
    attention_only: tuple[tuple[str, ReleaseRange], ...] = ()
    """Names of attention layers in ``layer_types``, and the releases that see no hybrid where there are no others."""
    generic_components: tuple[str, ...] = ()
    """Parts of a path that say nothing of a model (``checkpoint-310``): its parent is looked at instead."""


class Revision(NamedTuple):
    id: str
    file: str
    contains: str
    lacks: str


class NotLaunched(NamedTuple):
    when: Condition
    because: str


class NamedLaunch(NamedTuple):
    """One engine that a run of a framework starts."""

    name: str
    at: str
    """Keys below which its references start; empty: the whole configuration."""
    per: str
    """A path below it with ``*`` for any key or item: what fits it each makes one launch."""
    when: Condition
    engine: str
    """A reference whose value names the engine; empty: the framework's."""
    engine_else: str
    """The reference that is asked where that one is absent; empty: none."""
    engines: dict[str, str]
    """Patterns of such values and the engines they name."""
    default_engine: str
    steps: tuple[Step, ...]
    features: tuple[str, ...] = ()
    """References to a list or mapping of switches that people turn on: each is a scenario ``feature:NAME=on``."""
    pins: tuple[tuple[str, str], ...] = ()
    """(``image`` or ``minimum``, text with references in braces): where the configuration says which release runs
    it."""


class FixText(NamedTuple):
    """Words that give a setting a value, for one form of launch."""

    setting: str
    value: object
    form: str
    """``flag``, ``override``, ``key`` or ``keyword``."""
    text: str
    when: Condition
    replaces: tuple[str, ...] = ()
    launches: tuple[str, ...] = ()
    """The named launches that it is for; empty: all. ``$at`` in its text is a launch's own path of keys."""
    at: str = ""
    """Of a keyword: the argument whose mapping takes it (``engine_kwargs``); empty: the call itself."""


class CallForm(NamedTuple):
    """A Python callable whose arguments configure an engine."""

    name: str
    positional: tuple[str, ...]


class Manifest(NamedTuple):
    """A kind of object in a cluster that a controller turns into a launch."""

    api: str
    """A pattern of its ``apiVersion``."""
    kind: str
    completes: bool
    """Whether the controller gives a command to the containers in it that have none."""
    texts: tuple[str, ...] = ()
    """Keys whose texts are YAML that is read as a part of the object."""


class Recognise(NamedTuple):
    modules: tuple[str, ...]
    scripts: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    keys: tuple[str, ...]
    """Prefixes of overrides that only this framework has."""
    recipe: tuple[tuple[str, ...], ...]
    """Alternatives; a YAML file that holds all keys of one of them is a recipe."""
    not_recipe: tuple[str, ...]
    """Keys whose presence says that the YAML file is something else."""
    calls: tuple[CallForm, ...]
    manifests: tuple[Manifest, ...] = ()
    images: tuple[str, ...] = ()
    """Patterns of container images that start it by themselves, and read its settings from variables."""


class Inherits(NamedTuple):
    style: str
    key: str
    override_marker: str
    search: tuple[str, ...]
    config_name: str
    file_flag: tuple[str, ...]
    name_flag: tuple[str, ...]
    directory_flag: tuple[str, ...]


class Framework(NamedTuple):
    name: str
    title: str
    path: Path
    engine: str
    recognise: Recognise
    dialect: str
    scalars: Scalars
    plus: str
    """What a leading ``+`` of an override does: ``operator``, ``refuse`` or ``key``."""
    negative: str
    """What makes a flag of the program false, before the last part of its name (``no_``); empty: nothing."""
    positional: tuple[str, ...]
    """Of flags: the keys that the words in front of all flags are."""
    repeats: tuple[str, ...]
    """Of flags: the keys of which every flag counts."""
    inherits: Inherits
    revisions: tuple[Revision, ...]
    switches: tuple[tuple[str, str], ...]
    """Environment variables that the program reads, with the value that flips it."""
    not_launched: tuple[NotLaunched, ...]
    launches: tuple[NamedLaunch, ...]
    fixes: tuple[FixText, ...]
    run: dict[str, str]
    source: str


class SeverityCase(NamedTuple):
    severity: Severity
    when: Condition
    says: str
    """What the rule's message adds in this case (``{says}``)."""


class WayOut(NamedTuple):
    """A fix that a rule offers: a setting and the value it should get."""

    title: str
    setting: str
    value: object
    applicability: Applicability
    cost: str
    when: Condition


class Example(NamedTuple):
    title: str
    file: str
    text: str
    finds: bool
    options: tuple[str, ...]


class Link(NamedTuple):
    title: str
    url: str


class Rule(NamedTuple):
    """One unsafe combination or misleading setting. Its examples are its tests and its documentation."""

    id: str
    slug: str
    name: str
    """PascalCase, as SARIF wants it."""
    path: Path
    summary: str
    description: str
    remediation: str
    when: Condition
    severities: tuple[SeverityCase, ...]
    message: str
    anchor: tuple[str, ...]
    """Where it stands: the first with a place of ``set:FIELD``, ``ingredient:NAME``, ``mark:NAME``, ``launch``."""
    related: tuple[str, ...]
    notes: tuple[str, ...]
    ways_out: tuple[WayOut, ...]
    references: tuple[Link, ...]
    evidence: str
    tags: tuple[str, ...]
    precision: Confidence
    since: str
    examples: tuple[Example, ...]
    each: str
    """A mark name: one finding for each such mark."""
    scenarios: bool
    """Whether it is also reported where it only holds under a switch (``METHOD=mtp``)."""

    @property
    def severity(self) -> Severity:
        """The highest it can have: what readers that know only one severity a rule show."""
        return self.severities[0].severity


class Wrapper(NamedTuple):
    """A command that runs another command."""

    name: str
    subcommands: tuple[tuple[str, ...], ...]
    value_flags: frozenset[str]
    positionals: int
    """Positional words of its own before the command."""
    separator: str
    """A word after which the command starts, wherever it is; empty: at the first word that is not its own."""
    image: bool
    """Whether its first positional word is a container image."""
    module_flags: tuple[str, ...]
    string: str
    """A flag whose value is a shell script (``-c``)."""
    environment_flags: tuple[str, ...]
    entrypoint_flag: str
    assignments: bool
    mount_flags: tuple[str, ...] = ()
    """Flags that show a path of the host under another one (``-v HOST:PATH``)."""
    versioned: bool = False
    """Whether the command may carry the version that is installed for it (``uvx name@1.2.3``)."""


class CommandTable(NamedTuple):
    """A YAML file of a program that starts a command for each name, with macros (``${NAME}``) in it."""

    name: str
    recipe: tuple[tuple[str, ...], ...]
    """Alternatives; a file that holds all keys of one of them is such a file."""
    commands: str
    """Where they stand (``models.*.cmd``): words as a shell splits them, on as many lines as one likes."""
    environment: str
    """The member of the command's own mapping that lists ``NAME=value``."""
    macros: str
    """The mapping of macros at the top of the file, and in the command's own mapping, which wins."""
    variables: str
    """How the name of a macro that is an environment variable begins (``env.``)."""
    names: tuple[str, ...]
    """Macros that are the command's name."""
    given: dict[str, str]
    """Macros that the program fills in -> what they are."""


@dataclass(frozen=True)
class Knowledge:
    """Everything that rule files say."""

    engines: dict[str, Engine]
    other_engines: tuple[OtherEngine, ...]
    frameworks: tuple[Framework, ...]
    families: tuple[Family, ...]
    rules: tuple[Rule, ...]
    wrappers: dict[str, tuple[Wrapper, ...]]
    words: tuple[str, ...]
    """A file that holds none of these words holds no launch."""
    silent_commands: frozenset[str] = frozenset()
    """Commands whose words are text, never a command line (``echo "vllm serve ..."``)."""
    shells: frozenset[str] = frozenset()
    """Commands that run what they are given on standard input."""
    scenario_words: tuple[str, ...] = ()
    """Where none of these words stands, no environment variable can switch the combination on or off."""
    package_calls: tuple[str, ...] = ()
    """Patterns of Python calls whose arguments are requirements that a container gets."""
    image_calls: tuple[str, ...] = ()
    """Patterns of Python calls whose first argument is a container's image."""
    command_tables: tuple[CommandTable, ...] = ()
    module_commands: dict[str, str] = field(default_factory=dict)
    """Modules that are the body of an installed command: ``python -m MODULE`` is that command."""

    @property
    def models(self) -> tuple[Family, ...]:
        return self.families


# -- parsing -----------------------------------------------------------------------------------------------------------


def parse_range(table: Table, since: str = "since", until: str = "until") -> ReleaseRange:
    return ReleaseRange(_release(table, since), _release(table, until))


def _release(table: Table, key: str) -> Release | None:
    value = table.raw(key)
    if value is None:
        return None
    release = Release.parse(str(value))
    if release is None:
        raise table.error(key, f"{value!r} is no release (0.27.1)")
    return release


_FLAG_NOTES = (
    "note",
    "source",
    "choices",
    "server",
    "was",
    "repeat",
    "choices_since",
    "count",
    "text",
    "deprecated",
)
"""What is kept of a flag for readers, and judged by nothing."""


def parse_flags(table: Table) -> dict[str, Flag]:
    flags = {}
    for name, entry in table.named("flags").items():
        known = parse_range(entry)
        names = []
        for item in entry.raw("flags", []):
            if isinstance(item, str):
                names.append((item, known))
            else:
                one = Table(item, entry.path, entry.at("flags"))
                own = parse_range(one)
                names.append((one.text("flag"), ReleaseRange(own.since or known.since, own.until or known.until)))
                one.done()
        kind = entry.text("kind")
        if kind not in ("bool", "true", "value", "values", "optional", "json"):
            raise entry.error("kind", "must be bool, true, value, values, optional or json")
        inverse = entry.text("inverse", "")
        entry.done(_FLAG_NOTES)
        flags[name] = Flag(name, kind, tuple(names), inverse)
    return flags


def parse_engine(
    table: Table, flags: dict[str, Flag], removed: tuple[str, ...], releases: dict[Release, str]
) -> Engine:
    """``releases``: each with the day of its upload, or with an empty text; oldest first."""
    command = table.table("command_line")
    prefixes = tuple((item.text("prefix"), parse_range(item)) for item in command.tables("negative"))
    inverse = command.table("inverse")
    inverse_known, inverse_prefixes = parse_range(inverse), inverse.texts("prefixes")
    inverse.done()
    positional, config_flag = command.text("positional", ""), command.text("config_flag", "")
    abbreviations = command.flag("abbreviations")
    command.done()
    patches = table.table("patches")
    engine = Engine(
        name=table.text("name"),
        title=table.text("title"),
        releases=tuple(releases),
        flags=flags,
        abbreviations=abbreviations,
        negative_prefixes=prefixes,
        inverse_known=inverse_known,
        inverse_prefixes=inverse_prefixes,
        removed_flags=removed,
        positional=positional,
        config_flag=config_flag,
        steps=parse_steps(table, "steps"),
        defects=tuple(_defect(item) for item in table.tables("defects")),
        pull_requests=tuple(_pull_request(item) for item in table.tables("pull_requests")),
        package=table.text("package"),
        images=table.texts("images"),
        vendors=tuple(_vendor(item) for item in table.tables("vendors")),
        repository=table.text("repository", ""),
        dates={release: day for release, day in releases.items() if day},
        patch_words=patches.texts("words"),
        patch_suffixes=patches.texts("suffixes"),
        implies_hybrid=table.texts("implies_hybrid"),
    )
    table.done(("schema",))
    return engine


def _vendor(table: Table) -> Vendor:
    tags = table.table("tags")
    releases = ((tag, _release(tags, tag)) for tag in tags.data)
    found = Vendor(
        table.text("image"), table.text("what"), tuple((str(t), found) for t, found in releases if found is not None)
    )
    table.raw("tags")
    if found.tags:
        table.text("source")
    table.done()
    return found


def _defect(table: Table) -> Defect:
    found = Defect(
        id=table.text("id"),
        title=table.text("title"),
        corrupts=table.flag("corrupts"),
        affected=parse_range(table),
        when=condition(table, "when"),
        references=table.texts("references"),
        note=table.text("note", ""),
    )
    table.text("source")
    table.done()
    return found


def _pull_request(table: Table) -> PullRequest:
    number = table.raw("number")
    if not isinstance(number, int):
        raise table.error("number", "must be a number")
    state = table.text("state")
    if state not in ("open", "merged", "closed", "unknown"):
        raise table.error("state", "must be open, merged, closed or unknown")
    found = PullRequest(number, table.text("title"), state, _release(table, "released"), table.text("note", ""))
    table.done()
    return found


def parse_other_engine(table: Table) -> OtherEngine:
    recognise = table.table("recognise")
    commands = tuple(tuple(item.split()) for item in recognise.texts("commands"))
    modules = recognise.texts("modules")
    flags = recognise.texts("flags")
    recognise.done()
    found = OtherEngine(table.text("name"), table.text("title"), commands, modules, table.text("because"), flags)
    table.done(("schema",))
    return found


MECHANISMS = {
    "gdn": "Gated DeltaNet",
    "kda": "Kimi Delta Attention",
    "mamba1": "Mamba",
    "mamba2": "Mamba-2",
    "linear_attention": "linear attention",
    "lightning_attention": "lightning attention",
    "short_conv": "short convolution",
    "none": "full attention",
}


def _pattern(table: Table, key: str) -> str:
    return _as_pattern(str(table.raw(key) or ""), table, key)


def _as_pattern(text: str, table: Table, key: str) -> str:
    """A regular expression. Raises KnowledgeError: it is none, or one that may search for very long."""
    if table.checked:
        return text
    try:
        compiled(text)
    except re.error as error:
        raise table.error(key, f"is no regular expression: {error}") from error
    if _may_take_forever(text):
        raise table.error(
            key, "may take very long: a repeat in a repeated group, over 4 of * and +, or over 20 repeats"
        )
    return text


_PARTS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?[:=!<]*|[()]|[*+?]|\{\d*,?\d*\}|.", re.DOTALL)


def _may_take_forever(pattern: str) -> bool:
    """Whether a regular expression may search a short name for a very long time, as far as its form tells."""
    repeats = unbounded = 0
    inside = [False]
    """For each open group: whether something in it repeats or alternates."""
    last = ""
    closed = False
    for part in _PARTS.findall(pattern):
        if part[0] == "(":
            inside.append(False)
        elif part == ")" and len(inside) > 1:
            closed = inside.pop()
            inside[-1] = inside[-1] or closed
        elif part == "|":
            inside[-1] = True
        elif part in "*+?" or (part[0] == "{" and len(part) > 2):
            if last == ")" and closed and part != "?":
                return True
            # A mark behind a repeat only says how greedy it is.
            if not (part in "+?" and (last in ("*", "+", "?") or (last[-1:] == "}" and len(last) > 2))):
                repeats += 1
                unbounded += part in "*+" or part.endswith(",}")
                inside[-1] = True
        last = part
    return repeats > 20 or unbounded > 4


def _architecture(name: str, table: Table) -> Architecture:
    smpc = table.raw("smpc")
    caches = parse_range(Table(smpc, table.path, table.at("smpc"))) if isinstance(smpc, dict) else None
    found = Architecture(name, parse_range(table), caches, table.flag("pooling", False))
    table.done(("source", "note", "draft", "is_hybrid"))
    return found


def parse_family(table: Table) -> Family:
    architectures = tuple(_architecture(name, item) for name, item in table.named("architectures").items())
    patterns = []
    for item in table.tables("names"):
        pattern = _pattern(item, "pattern")
        if not pattern:
            raise item.error("pattern", "is missing (a regular expression)")
        patterns.append(NamePattern(pattern, _pattern(item, "unless"), parse_range(item)))
        item.done(("note", "evidence"))
    mechanism = table.text("mechanism", "none")
    if mechanism not in MECHANISMS:
        raise table.error("mechanism", f"must be one of {', '.join(MECHANISMS)}")
    sinces = [a.known.since for a in architectures if a.known.since]
    untils = [a.known.until for a in architectures]
    known = ReleaseRange(
        min(sinces, default=None),
        None if any(u is None for u in untils) else max((u for u in untils if u), default=None),
    )
    recurrent = table.flag("recurrent", False)
    attention_free = table.flag("attention_free", False)
    found = Family(
        name=table.text("family"),
        title=table.text("title"),
        hybrid=recurrent and not attention_free,
        attention_free=attention_free,
        pooling=table.flag("pooling", False),
        attention_only=tuple(
            (str(kind), parse_range(Table({"since": since}, table.path, table.at("attention_only_layer_types"))))
            for kind, since in table.table("attention_only_layer_types").data.items()
        ),
        mechanism=mechanism,
        mechanism_title=MECHANISMS[mechanism],
        architectures=architectures,
        model_types=tuple(map(str, table.table("model_types").data)),
        names=tuple(patterns),
        own_head=table.flag("own_mtp_head", False),
        known=known,
        methods=table.texts("methods"),
        generic_components=tuple(
            _as_pattern(text, table, "generic_components") for text in table.texts("generic_components")
        ),
    )
    table.done(
        (
            "schema",
            "examples",
            "draft_architectures",
            "note",
            "source",
            "hybrid",
        )
    )
    return found


def _recognise(table: Table) -> Recognise:
    calls = tuple(CallForm(item.text("name"), item.texts("positional")) for item in table.tables("calls"))
    found = Recognise(
        modules=table.texts("modules"),
        scripts=table.texts("scripts"),
        commands=tuple(tuple(item.split()) for item in table.texts("commands")),
        keys=table.texts("keys"),
        recipe=_recipe(table),
        not_recipe=table.texts("not_recipe"),
        calls=calls,
        manifests=tuple(_manifest(item) for item in table.tables("manifests")),
        images=table.texts("images"),
    )
    table.done()
    return found


def _recipe(table: Table) -> tuple[tuple[str, ...], ...]:
    recipe = table.raw("recipe", [])
    if not isinstance(recipe, list) or not all(isinstance(item, list) for item in recipe):
        raise table.error("recipe", "must be a list of lists of keys")
    return tuple(tuple(map(str, item)) for item in recipe)


def _manifest(table: Table) -> Manifest:
    found = Manifest(table.text("api"), table.text("kind"), table.flag("completes_containers"), table.texts("texts"))
    table.done()
    return found


def _inherits(table: Table) -> Inherits:
    style = table.text("style", "none")
    if style not in INHERITANCE:
        raise table.error("style", f"must be one of {', '.join(INHERITANCE)}")
    found = Inherits(
        style=style,
        key=table.text("key", "defaults"),
        override_marker=table.text("override_marker", ""),
        search=table.texts("search"),
        config_name=table.text("config_name", ""),
        file_flag=table.texts("file_flag"),
        name_flag=table.texts("name_flag"),
        directory_flag=table.texts("directory_flag"),
    )
    table.done()
    return found


def _named_launch(name: str, table: Table, revisions: frozenset[str]) -> NamedLaunch:
    engine = table.table("engine") if isinstance(table.raw("engine"), dict) else None
    found = NamedLaunch(
        name=name,
        at=table.text("at", ""),
        per=table.text("per", ""),
        when=condition(table, "when"),
        engine=engine.text("ref") if engine else "",
        engine_else=engine.text("or", "") if engine else "",
        engines={str(k): str(v) for k, v in (engine.raw("map", {}) if engine else {}).items()},
        default_engine=engine.text("default", "") if engine else "",
        steps=parse_steps(table, "steps", revisions),
        features=table.texts("features"),
        pins=tuple(_pin(item) for item in table.tables("pins")),
    )
    if engine:
        engine.done()
    table.done()
    return found


def _pin(table: Table) -> tuple[str, str]:
    kind = table.text("as")
    if kind not in ("image", "minimum"):
        raise table.error("as", "must be image or minimum")
    text = "{" + table.text("ref") + "}" if "ref" in table else table.text("text")
    if not re.search(r"\{key:[^{}]+\}", text):
        raise table.error("ref", "must be a `key:` reference, or `text` with references in braces")
    table.done()
    return kind, text


def _fix_text(table: Table) -> FixText:
    form = table.text("form")
    if form not in ("flag", "override", "key", "keyword"):
        raise table.error("form", "must be flag, override, key or keyword")
    found = FixText(
        setting=table.text("setting"),
        value=table.raw("value"),
        form=form,
        text=table.text("text"),
        when=condition(table, "when"),
        replaces=table.texts("replaces"),
        launches=table.texts("launches"),
        at=table.text("at", ""),
    )
    table.done()
    return found


def parse_framework(table: Table) -> Framework:
    revisions = []
    for item in table.tables("revisions"):
        marker = item.table("marker")
        revisions.append(
            Revision(item.text("id"), marker.text("file", ""), marker.text("contains", ""), marker.text("lacks", ""))
        )
        marker.done()
        item.done(("note",))
    ids = frozenset(revision.id for revision in revisions)
    dialect = table.text("dialect")
    if dialect not in DIALECTS:
        raise table.error("dialect", f"must be one of {', '.join(DIALECTS)}")
    switches = []
    for name, item in table.named("env").items():
        switches.append((name, item.text("equals")))
        item.done()
    not_launched = []
    for item in table.tables("not_launched"):
        not_launched.append(NotLaunched(condition(item, "when"), item.text("because")))
        item.done(("source",))
    found = Framework(
        name=table.text("name"),
        title=table.text("title"),
        path=table.path,
        engine=table.text("engine"),
        recognise=_recognise(table.table("recognise")),
        dialect=dialect,
        scalars=_scalars(table),
        plus=table.text("plus", "operator"),
        negative=table.text("negative", ""),
        positional=table.texts("positional"),
        repeats=table.texts("repeats"),
        inherits=_inherits(table.table("inherits")),
        revisions=tuple(revisions),
        switches=tuple(switches),
        not_launched=tuple(not_launched),
        launches=tuple(_named_launch(name, item, ids) for name, item in table.named("launches").items()),
        fixes=tuple(_fix_text(item) for item in table.tables("fix")),
        run={str(k): str(v) for k, v in table.table("run").data.items()},
        source=table.text("source", ""),
    )
    table.done(("schema",))
    return found


def parse_rule(table: Table) -> Rule:
    severities = []
    for item in table.tables("severity"):
        severities.append(SeverityCase(_severity(item, "is"), condition(item, "when"), item.text("says", "")))
        item.done()
    if not severities:
        raise table.error("severity", "is missing (a list of {is: error, when: COND})")
    ways = [_way_out(item) for item in table.tables("ways_out")]
    links = []
    for item in table.tables("references"):
        links.append(Link(item.text("title"), item.text("url")))
        item.done()
    examples = [_example(item, True) for item in table.tables("bad")] + [
        _example(item, False) for item in table.tables("good")
    ]
    found = Rule(
        id=table.text("id"),
        slug=table.text("slug"),
        name=table.text("name"),
        path=table.path,
        summary=table.text("summary"),
        description=table.text("description"),
        remediation=table.text("remediation"),
        when=condition(table, "when"),
        severities=tuple(severities),
        message=table.text("message"),
        anchor=table.texts("anchor"),
        related=table.texts("related"),
        notes=table.texts("notes"),
        ways_out=tuple(ways),
        references=tuple(links),
        evidence=table.text("evidence"),
        tags=table.texts("tags"),
        precision=_confidence(table),
        since=table.text("since"),
        examples=tuple(examples),
        each=table.text("each", ""),
        scenarios=table.flag("scenarios"),
    )
    if found.when == ALWAYS and not found.each:
        raise table.error("when", "is missing (a condition), or `each`: a mark")
    table.done(("schema",))
    return found


_SEVERITIES: dict[str, Severity] = {"error": "error", "warning": "warning", "note": "note"}
_CONFIDENCES: dict[str, Confidence] = {"high": "high", "medium": "medium", "low": "low"}
_SCALARS: dict[str, Scalars] = {"omegaconf": "omegaconf", "pyyaml": "pyyaml", "yaml12": "yaml12"}


def _scalars(table: Table) -> Scalars:
    found = _SCALARS.get(table.text("scalars", "omegaconf"))
    if found is None:
        raise table.error("scalars", f"must be one of {', '.join(_SCALARS)}")
    return found


def _severity(table: Table, key: str) -> Severity:
    found = _SEVERITIES.get(table.text(key))
    if found is None:
        raise table.error(key, "must be error, warning or note")
    return found


def _confidence(table: Table) -> Confidence:
    found = _CONFIDENCES.get(table.text("precision"))
    if found is None:
        raise table.error("precision", "must be high, medium or low")
    return found


def _way_out(table: Table) -> WayOut:
    applicability: Any = table.text("applicability")
    if applicability not in ("safe", "unsafe", "manual"):
        raise table.error("applicability", "must be safe, unsafe or manual")
    found = WayOut(
        title=table.text("title"),
        setting=table.text("setting", ""),
        value=table.raw("value"),
        applicability=applicability,
        cost=table.text("cost", ""),
        when=condition(table, "when"),
    )
    table.done()
    return found


def _example(table: Table, finds: bool) -> Example:
    found = Example(table.text("title"), table.text("file"), table.text("text"), finds, table.texts("options"))
    table.done()
    return found


def parse_wrapper(name: str, table: Table) -> Wrapper:
    positionals = table.raw("positionals", 0)
    if not isinstance(positionals, int):
        raise table.error("positionals", "must be a number")
    found = Wrapper(
        name=name,
        subcommands=tuple(tuple(item.split()) for item in table.texts("subcommands")),
        value_flags=frozenset(table.texts("value_flags")),
        positionals=positionals,
        separator=table.text("separator", ""),
        image=table.flag("image"),
        module_flags=table.texts("module_flags"),
        string=table.text("string", ""),
        environment_flags=table.texts("environment_flags"),
        entrypoint_flag=table.text("entrypoint_flag", ""),
        assignments=table.flag("assignments"),
        mount_flags=table.texts("mount_flags"),
        versioned=table.flag("versioned"),
    )
    table.done()
    return found


def parse_command_table(name: str, table: Table) -> CommandTable:
    commands = table.text("commands")
    if not re.fullmatch(r"[^*]+\.\*\.[^*.]+", commands):
        raise table.error("commands", "must be a path with one `*` before its last key (`models.*.cmd`)")
    found = CommandTable(
        name=name,
        recipe=_recipe(table),
        commands=commands,
        environment=table.text("environment", ""),
        macros=table.text("macros", ""),
        variables=table.text("variables", ""),
        names=table.texts("names"),
        given={str(macro): str(what) for macro, what in table.table("given").data.items()},
    )
    table.text("source")
    table.done()
    return found
