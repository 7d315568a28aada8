"""Which model family a launch runs, and what that means: hybrid or not, and in which releases."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gdnlint.knowledge.releases import Release, ReleaseRange
from gdnlint.knowledge.schema import Family, Knowledge, NamePattern, compiled
from gdnlint.launches.model import ModelHint
from gdnlint.project import Project, Unreadable
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

    def caches(self, release: Release) -> bool:
        """Whether its class supports caching recurrent state in every mode, in a release."""
        return self.caches_state is not None and release in self.caches_state

    def is_plain(self, release: Release) -> bool:
        """Whether a release takes it for an ordinary model although its class is a hybrid one."""
        return self.attention_only is not None and release in self.attention_only


def identify(
    value: Value | None,
    knowledge: Knowledge,
    project: Project,
    directory: Path,
    aliases: Mapping[str, str] | None = None,
) -> Model:
    """The model of a launch: the user's alias, a config.json on disk, then its name."""
    if value is None or value.data is None:
        return Model("", None, None, "the launch names no model", "low", value=value)
    text = value.data if isinstance(value.data, Text) else Text.of(str(value.plain()), value.span)
    shown = text.show()
    known = text.known
    if known is not None:
        if aliases and known in aliases:
            family = next((f for f in knowledge.families if f.name == aliases[known]), None)
            if family is not None:
                return of_family(shown, family, "by an alias of the settings", "high", value)
        found = _from_config(known, shown, knowledge, project, directory, value)
        if found is not None:
            return found
    named = by_name(text.marked(), knowledge.families)
    if named is not None:
        family, pattern = named
        made = of_family(shown, family, "by its name", "high" if known is not None else "medium", value)
        return replace(made, known=pattern.known) if pattern.known.since is not None else made
    if known is None:
        reason = next((hole.reason for hole in text.holes), "something outside the files")
        return Model(shown, None, None, f"the model depends on {reason}", "low", value=value)
    return Model(shown, None, None, f"no model family is known by the name {shown}", "low", value=value)


def of_family(shown: str, family: Family, how: str, confidence: Confidence, value: Value | None) -> Model:
    ranges = [a.caches_state for a in family.architectures if a.caches_state is not None]
    caches = ranges[0] if ranges else None
    return Model(
        shown, family, family.hybrid, how, confidence, family.known, caches, pooling=family.pooling, value=value
    )


def _from_config(
    name: str, shown: str, knowledge: Knowledge, project: Project, directory: Path, value: Value
) -> Model | None:
    """What ``config.json`` in a model directory inside the project says."""
    if not re.match(r"[./~\w]", name) or "\0" in name or len(name) > 1024:
        return None
    path = (directory / name / "config.json") if not name.startswith("~") else None
    if path is None or not project.exists(path):
        return None
    try:
        data = json.loads(project.source(path).text)
    except (Unreadable, ValueError, RecursionError):
        return None
    return from_config(data, shown, project.display(path), knowledge, value) if isinstance(data, dict) else None


def from_config(
    data: Mapping[str, object], shown: str, where: str, knowledge: Knowledge, value: Value | None
) -> Model | None:
    """The model that a parsed ``config.json`` describes; None if neither its architecture nor its type is known."""
    architectures = data.get("architectures")
    names = [str(item) for item in architectures] if isinstance(architectures, list) else []
    inner = data.get("text_config")
    types = [str(data.get("model_type")), *([str(inner.get("model_type"))] if isinstance(inner, dict) else [])]
    layers = data.get("layer_types") or (inner.get("layer_types") if isinstance(inner, dict) else None)
    for family in knowledge.families:
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
    for family in knowledge.families:
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
    value: Value | None, model: Model, mounts: Sequence[ModelHint], served: Value | None, knowledge: Knowledge
) -> Model | None:
    """What a launch says elsewhere of a local path or an open name: a mount, the name that it is served under."""
    if value is None or not isinstance(value.data, str | Text):
        return None
    text = value.data if isinstance(value.data, Text) else Text.of(value.data)
    name = text.marked()
    if text.known is not None and not name.startswith(("/", ".", "~")):
        return None
    for hint in sorted(mounts, key=lambda hint: -len(hint.path)):
        if name != hint.path and not name.startswith(hint.path.rstrip("/") + "/"):
            continue
        found = by_name(hint.text.marked() + name[len(hint.path) :], knowledge.families)
        if found is not None:
            return replace(of_family(model.name, found[0], hint.why, "medium", value), known=_known(found))
        break
    names = served.data if served is not None and isinstance(served.data, list) else [served] if served else []
    for item in names:
        found = by_name(item.data, knowledge.families) if isinstance(item.data, str) else None
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
