"""The arms of a launch: the same engine arguments, but for speculation and prefix caching.

An arm is data: a name, the arguments of vLLM's ``LLM``, environment variables. ``plain`` comes first, because it
decides the prompts that all others replay. ``rechunked`` is ``plain`` with another token budget for each step: neither
feature is on, so what differs between the two is the noise that other chunks and batches make, and the tests measure
against it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import NamedTuple

from gdnlint.results import LaunchResult, Setting

ARMS = ("plain", "rechunked", "apc", "spec", "both")
"""In the order in which they run."""

TITLES = {
    "plain": "neither",
    "rechunked": "neither, other prefill chunks (noise)",
    "apc": "prefix caching only",
    "spec": "speculation only",
    "both": "speculation and prefix caching",
}

_AXES = frozenset({"enable_prefix_caching", "speculative_config"})
_OURS = frozenset({"model_runner"})
"""Settings that gdnlint resolves and that are no argument of the engine."""

Json = dict[str, object]


class Arm(NamedTuple):
    name: str
    engine: Json
    """Keyword arguments of ``LLM``."""
    environment: dict[str, str]
    """On top of the environment of the command."""

    @property
    def speculates(self) -> bool:
        return bool(self.engine.get("speculative_config"))

    @property
    def caches(self) -> bool:
        return self.engine.get("enable_prefix_caching") is True


class Subject(NamedTuple):
    """What is verified."""

    title: str
    """``examples/serve.sh:9``, or the model."""
    engine: Json
    """Arguments that all arms share, without the two axes."""
    speculation: Json
    notes: tuple[str, ...] = ()
    """What could not be taken over from the launch."""


class NoSubject(Exception):
    """The launch cannot be verified. The message says why and what to do."""


def subject_of(launch: LaunchResult, overrides: Mapping[str, object], sources: Collection[str]) -> Subject:
    """The engine arguments of a resolved launch. Raises NoSubject where the model or the drafting method is not known.

    ``sources`` are those of the engine's own steps: what they decided is left to the engine that really runs.
    """
    settings = launch.settings
    given = {name: value for name, value in overrides.items() if name not in _AXES}
    speculation = overrides.get("speculative_config", _known(settings.get("speculative_config")))
    model = given.get("model", _known(settings.get("model")))
    if not isinstance(model, str):
        raise NoSubject(
            f"{launch.id}: the model is not known ({_reason(settings.get('model'))}). Give it with --model."
        )
    if not isinstance(speculation, dict):
        raise NoSubject(
            f"{launch.id}: the launch does not speculate, or how is not known "
            f"({_reason(settings.get('speculative_config'))}). Give it with --speculative METHOD:TOKENS."
        )
    engine: Json = {"model": model}
    notes = []
    for name, setting in settings.items():
        if name in _AXES | _OURS or name in given or _engine_decided(setting, sources):
            continue
        if setting.state == "known" and setting.value is not None:
            engine[name] = setting.value
        elif setting.state != "known":
            notes.append(f"{name} is left to vLLM's default: {_reason(setting)}")
    return Subject(launch.id, {**engine, **given}, speculation, tuple(notes))


def arms_of(subject: Subject, names: tuple[str, ...], environment: Mapping[str, str]) -> list[Arm]:
    """The arms with some names. ``rechunked`` gets its budget when ``plain`` has told its own (see ``rechunked``)."""
    made = []
    for name in names:
        engine = {**subject.engine, "enable_prefix_caching": name in ("apc", "both")}
        if name in ("spec", "both"):
            engine["speculative_config"] = subject.speculation
        made.append(Arm(name, engine, dict(environment)))
    return made


def rechunked(arm: Arm, facts: Mapping[str, object]) -> Arm:
    """The arm with another token budget for a step: three quarters of the engine's own, and at most three blocks.

    A budget that no prompt exceeds would change no chunk, and the noise would look like none.
    """
    budget, block, sequences = (
        _number(facts.get(name)) for name in ("max_num_batched_tokens", "block_size", "max_num_seqs")
    )
    if budget < 8:
        return arm
    # Odd, so that chunks end elsewhere than on a grid of blocks. The engine wants a token for each sequence.
    less = min(budget * 3 // 4, block * 3 or budget) | 1
    return arm._replace(engine={**arm.engine, "max_num_batched_tokens": max(less, sequences, 8)})


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def speculation_named(text: str) -> Json:
    """``mtp:1`` as a speculative configuration; a JSON object is taken as it is. Raises ValueError."""
    if text.lstrip().startswith("{"):
        found = json.loads(text)
        assert isinstance(found, dict)
        return found
    method, colon, tokens = text.partition(":")
    if not method or not colon or not tokens.isdigit() or int(tokens) < 1:
        raise ValueError("give METHOD:TOKENS, such as mtp:1, or the JSON of vLLM's --speculative-config")
    found = {"method": method, "num_speculative_tokens": int(tokens)}
    if method == "ngram":
        found |= {"prompt_lookup_max": 4, "prompt_lookup_min": 1}
    return found


def _known(setting: Setting | None) -> object:
    return setting.value if setting is not None and setting.state == "known" else None


def _reason(setting: Setting | None) -> str:
    return (setting.reason if setting is not None else "") or "it is not set"


def _engine_decided(setting: Setting, sources: Collection[str]) -> bool:
    """Whether the engine itself came to this value, and may come to another one in another arm."""
    won = [step for step in setting.provenance if step.outcome == "won"]
    return not won or (won[-1].span is None and won[-1].source in sources)


def on_cpu(subject: Subject) -> Subject:
    """The subject for vLLM's CPU package, which needs help with the copies of recurrent state (``cpu_worker.py``)."""
    return subject._replace(engine={"worker_cls": "cpu_worker.InterpretedWorker", **subject.engine})
