"""Which model family a launch runs, and what that means: hybrid or not, and in which releases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from gdnlint.knowledge.releases import Release, ReleaseRange
from gdnlint.knowledge.schema import Family, Knowledge, NamePattern, compiled
from gdnlint.launches.model import ModelHint
from gdnlint.project import Project
from gdnlint.resolve import checkpoints
from gdnlint.results import Confidence
from gdnlint.values import Text, Value

_LONGEST_PART = 255
"""Characters of a file name, and so of a part of a model's path."""
_MOST_PARTS = 32

ANY_RELEASE = ReleaseRange()


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of a launch's model."""

    name: str
    """As written; holes as ``<NAME>``."""
    family: Family | None
    hybrid: bool | None
    """None: the files do not say."""
    how: str
    """Why: ``by its name``, ``config.json says qwen3_next``, ``no model family is known by this name``."""
    confidence: Confidence
    known: ReleaseRange = ANY_RELEASE
    """The releases that can run it."""
    caches_state: ReleaseRange | None = None
    attention_only: ReleaseRange | None = None
    """The releases that see nothing but attention layers in its ``config.json``, and therefore no hybrid."""
    pooling: bool = False
    """Whether it gives vectors or scores and generates nothing."""
    value: Value | None = None
    brings_drafter: bool = False
    """Whether it is a repository in the speculators format, which switches speculative decoding on by itself."""

    def caches(self, release: Release) -> bool:
        """Whether its class supports caching recurrent state in every mode, in a release."""
        return self.caches_state is not None and release in self.caches_state

    def is_plain(self, release: Release) -> bool:
        """Whether a release takes it for an ordinary model although its class is a hybrid one."""
        return self.attention_only is not None and release in self.attention_only


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Where models are looked up."""

    knowledge: Knowledge
    project: Project
    directory: Path
    """Of the launch."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Names and patterns of them (``fnmatch``) -> a family or another name."""
    cache: Path | None = None
    """The Hugging Face cache; None: it is not looked at."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a launch says of its model besides the name."""

    revision: str = ""
    overrides: Mapping[str, object] = field(default_factory=dict)
    """``--hf-overrides``."""
    config: str = ""
    """``--hf-config-path``: where the configuration is read instead."""


PLAIN = Asked()


def identify(value: Value | None, catalogue: Catalogue, asked: Asked = PLAIN) -> Model:
    """The model of a launch: the user's alias, its config.json (in the project, then in the cache), then its name."""
    if value is None or value.data is None:
        return Model("", None, None, "the launch names no model", "low", value=value)
    text = value.data if isinstance(value.data, Text) else Text.of(str(value.plain()), value.span)
    return _aliased(text, catalogue, value) or _as_named(text, _shown(text, catalogue), catalogue, asked, value)


def _shown(text: Text, catalogue: Catalogue) -> str:
    """A name as people are told it: a path that a script makes of its own folder is told from where they are."""
    known = text.known
    if known is None or "\0" in known or not known.startswith(f"{catalogue.project.root}/"):
        return text.show()
    return catalogue.project.display(Path(known))


def _as_named(text: Text, shown: str, catalogue: Catalogue, asked: Asked, value: Value) -> Model:
    known = text.known
    found = _described(known, shown, catalogue, asked, value) if known is not None or asked.config else None
    if found is None and asked.overrides:
        found = from_config(asked.overrides, shown, "hf_overrides", catalogue, value)
        found = found if found is not None and found.hybrid is not None else None
    if found is not None:
        return found
    named = by_name(text.marked(), catalogue.knowledge.families)
    if named is not None:
        family, pattern = named
        made = of_family(shown, family, "by its name", "high" if known is not None else "medium", value)
        return replace(made, known=pattern.known) if pattern.known.since is not None else made
    if known is None:
        reason = next((hole.reason for hole in text.holes), "something outside the files")
        return Model(shown, None, None, f"the model depends on {reason}", "low", value=value)
    if _PLACEHOLDER.search(known):
        return Model(shown, None, None, f"the name {shown} is a placeholder", "low", value=value)
    return Model(shown, None, None, f"no model family is known by the name {shown}", "low", value=value)


_PLACEHOLDER = re.compile(
    r"<[^<>]{0,200}>|\{[^{}]{0,200}\}|\[[A-Za-z_ -]{1,200}\]"
    r"|(?:^|/)(?:your|path/to|YOUR|MODEL_NAME|model_name)(?![a-z])"
)
"""What a template's or a guide's reader is to fill in."""


def _aliased(text: Text, catalogue: Catalogue, value: Value) -> Model | None:
    """What the user's settings say that a name is: a family, or another model."""
    shown = text.show()
    name = shown if shown in catalogue.aliases else None
    if name is None:
        name = next((pattern for pattern in catalogue.aliases if fnmatchcase(shown, pattern)), None)
    if name is None:
        return None
    target = catalogue.aliases[name]
    family = next((family for family in catalogue.knowledge.families if family.name == target), None)
    if family is not None:
        return of_family(shown, family, f"an alias of the settings says {target}", "high", value)
    found = _as_named(Text.of(target), target, replace(catalogue, aliases={}), PLAIN, Value(target))
    return replace(found, name=shown, how=f"an alias of the settings says {target}; {found.how}", value=value)


def of_family(shown: str, family: Family, how: str, confidence: Confidence, value: Value | None) -> Model:
    ranges = [a.caches_state for a in family.architectures if a.caches_state is not None]
    caches = ranges[0] if ranges else None
    return Model(
        shown, family, family.hybrid, how, confidence, family.known, caches, pooling=family.pooling, value=value
    )


def _described(known: str | None, shown: str, catalogue: Catalogue, asked: Asked, value: Value) -> Model | None:
    """What a model's ``config.json`` says, with what the launch overrides in it."""
    name = asked.config or known or ""
    found = checkpoints.in_project(catalogue.project, catalogue.directory, name) or checkpoints.in_cache(
        catalogue.project, catalogue.cache, name, asked.revision if not asked.config else ""
    )
    if found is None:
        return None
    data = checkpoints.overridden(found.data, asked.overrides)
    target = checkpoints.verifier(data)
    if target is None:
        where = f"{found.where} with hf_overrides" if asked.overrides else found.where
        return from_config(data, shown, where, catalogue, value)
    made = identify(Value(target), catalogue) if target else None
    if made is None or target == known:
        made = Model(shown, None, None, "it does not name the model that it drafts for", "low")
    how = f"{found.where} is in the speculators format, for {target or 'another model'}; {made.how}"
    return replace(made, name=shown, how=how, value=value, brings_drafter=True)


def from_config(
    data: Mapping[str, object], shown: str, where: str, catalogue: Catalogue, value: Value | None
) -> Model | None:
    """The model that a parsed ``config.json`` describes; None if neither its architecture nor its type is known."""
    architectures = data.get("architectures")
    names = [str(item) for item in architectures] if isinstance(architectures, list) else []
    inner = data.get("text_config")
    types = [str(data.get("model_type")), *([str(inner.get("model_type"))] if isinstance(inner, dict) else [])]
    layers = data.get("layer_types") or (inner.get("layer_types") if isinstance(inner, dict) else None)
    families = catalogue.knowledge.families
    for family in families:
        for architecture in family.architectures:
            if architecture.name in names:
                made = of_family(shown, family, f"{where} says {architecture.name}", "high", value)
                return replace(
                    made,
                    known=architecture.known,
                    caches_state=architecture.caches_state,
                    attention_only=_attention_only(layers, family),
                    pooling=family.pooling or architecture.pooling,
                )
    for family in families:
        if any(kind in family.model_types for kind in types):
            made = of_family(shown, family, f"{where} says model_type {types[0]}", "high", value)
            return replace(made, attention_only=_attention_only(layers, family))
    if names or types[0] != "None":
        if isinstance(layers, list) and any(str(layer) in RECURRENT_LAYERS for layer in layers):
            return Model(shown, None, True, f"{where} lists recurrent layers", "high", value=value)
        said = names[0] if names else types[0]
        return Model(shown, None, None, f"{where} says {said}, which no model family lists", "low", value=value)
    return None


RECURRENT_LAYERS = frozenset(
    {"linear_attention", "mamba", "mamba1", "mamba2", "conv", "short_conv", "kda", "recurrent"}
)
"""Names of ``layer_types`` that stand for layers with a recurrent state."""


def _attention_only(layers: object, family: Family) -> ReleaseRange | None:
    """The releases that take a model of a hybrid class for an ordinary one, by its list of layers."""
    if not family.hybrid or not isinstance(layers, list) or not layers:
        return None
    attention = dict(family.attention_only)
    ranges = [attention.get(str(layer)) for layer in layers]
    sinces = [found.since for found in ranges if found is not None and found.since is not None]
    return ReleaseRange(max(sinces)) if len(sinces) == len(layers) else None


def by_hints(
    value: Value | None, model: Model, mounts: Sequence[ModelHint], served: Value | None, catalogue: Catalogue
) -> Model | None:
    """What a launch says elsewhere of a local path or an open name: a mount, the name that it is served under."""
    if value is None or not isinstance(value.data, str | Text):
        return None
    text = value.data if isinstance(value.data, Text) else Text.of(value.data)
    name = text.marked()
    if text.known is not None and not name.startswith(("/", ".", "~")):
        return None
    families = catalogue.knowledge.families
    for hint in sorted(mounts, key=lambda hint: -len(hint.path)):
        if name != hint.path and not name.startswith(hint.path.rstrip("/") + "/"):
            continue
        rest = name[len(hint.path) :]
        if hint.text.known is not None:
            described = _described(hint.text.known + rest, model.name, replace(catalogue, cache=None), PLAIN, value)
            if described is not None and described.hybrid is not None:
                return replace(described, how=f"{hint.why}; {described.how}")
        found = by_name(hint.text.marked() + rest, families)
        if found is not None:
            return replace(of_family(model.name, found[0], hint.why, "medium", value), known=_known(found))
        break
    names = served.data if served is not None and isinstance(served.data, list) else [served] if served else []
    for item in names:
        found = by_name(item.data, families) if isinstance(item.data, str) else None
        if found is not None:
            how = f"{model.how}, but it is served as {item.data}"
            return replace(of_family(model.name, found[0], how, "low", value), known=_known(found))
    return None


def _known(found: tuple[Family, NamePattern]) -> ReleaseRange:
    family, pattern = found
    return pattern.known if pattern.known.since is not None else family.known


def by_name(name: str, families: Sequence[Family]) -> tuple[Family, NamePattern] | None:
    """The family that a model's name or path points to, and the pattern that says so.

    The last part of the path that is not generic (``checkpoint-310``) decides, alone. Where it fits the
    patterns of two families, neither counts.
    """
    generic = [pattern for family in families for pattern in family.generic_components]
    flat = name.strip().replace("\\", "/").replace("--", "/")
    for part in reversed(flat.rsplit("/", _MOST_PARTS)[-_MOST_PARTS:]):
        if len(part) > _LONGEST_PART:
            return None
        fits = [(family, pattern) for family in families if (pattern := _matching(part, family)) is not None]
        if fits:
            return fits[0] if len(fits) == 1 else None
        if not any(compiled(pattern).search(part) for pattern in generic):
            return None
    return None


def _matching(part: str, family: Family) -> NamePattern | None:
    return next((pattern for pattern in family.names if pattern.fits(part)), None)
