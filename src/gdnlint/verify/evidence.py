"""What an arm's record proves: that the cache was hit, that drafts were accepted, that the engine repeats itself.

A run whose caching arms did not hit, or whose speculating arms accepted no draft, proves nothing, however equal its
answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gdnlint.verify.compare import Difference, compare
from gdnlint.verify.matrix import Arm
from gdnlint.verify.store import Recorded

MIN_HITS = 20
"""Requests with a cache hit that a caching arm needs."""
MIN_ACCEPTED = 50
"""Accepted draft tokens that a speculating arm needs."""

Json = dict[str, object]


@dataclass(slots=True)
class Evidence:
    arm: str
    status: str
    error: str
    answered: int
    hits: int
    """Requests of which some prompt tokens came from the cache."""
    cached_tokens: int
    prompt_tokens: int
    drafts: int
    accepted: int
    by_position: list[int]
    """Accepted draft tokens by position in the draft."""
    generated: int
    early_stops: int
    """Answers that ended before their length, where that was not asked for (``ignore_eos``)."""
    ended_by_model: int
    """Answers to the user's prompts that the model itself ended."""
    invalid: int
    """Empty answers."""
    preemptions: int
    repeat: list[Difference] = field(default_factory=list)
    """The arm against its own second pass; empty if there was none."""
    seconds: float = 0.0

    @property
    def acceptance(self) -> float:
        return self.accepted / self.drafts if self.drafts else 0.0

    @property
    def hit_rate(self) -> float:
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def gather(recorded: Recorded) -> Evidence:
    """The evidence in what an arm recorded."""
    answers, requests = recorded.answers, recorded.requests
    counters = recorded.metrics[0] if recorded.metrics else {}
    repeat = []
    if len(recorded.passes) > 1 and len(recorded.passes[1]) == len(recorded.passes[0]):
        repeat = compare(requests, recorded.passes[0], recorded.passes[1])
    positions = counters.get("vllm:spec_decode_num_accepted_tokens_per_pos")
    return Evidence(
        recorded.name, recorded.status, recorded.error, len(answers),
        sum(answer.cached > 0 for answer in answers.values()),
        sum(answer.cached for answer in answers.values()),
        sum(len(requests[name].prompt) for name in answers),
        _count(counters, "vllm:spec_decode_num_draft_tokens"),
        _count(counters, "vllm:spec_decode_num_accepted_tokens"),
        [int(number) for number in positions] if isinstance(positions, list) else [],
        sum(len(answer.ids) for answer in answers.values()),
        sum(requests[n].ignore_eos and len(a.ids) < requests[n].max_tokens for n, a in answers.items()),
        sum(not requests[n].ignore_eos and a.finish == "stop" for n, a in answers.items()),
        sum(not answer.ids for answer in answers.values()),
        _count(counters, "vllm:num_preemptions"), repeat, recorded.seconds,
    )  # fmt: skip


def missing(arms: Mapping[str, Arm], found: Mapping[str, Evidence], facts: Mapping[str, Json]) -> list[str]:
    """Why the run proves nothing, each with what to change; empty if it proves something."""
    reasons = []
    for name, evidence in found.items():
        arm = arms.get(name)
        if arm is None or evidence.status != "done":
            continue
        if arm.caches and evidence.hits < MIN_HITS:
            reasons.append(_no_hits(name, evidence, facts.get(name, {})))
        if arm.speculates and evidence.accepted < MIN_ACCEPTED:
            reasons.append(_no_drafts(name, evidence))
    return reasons


def _no_hits(name: str, evidence: Evidence, facts: Json) -> str:
    block = facts.get("block_size")
    longest = facts.get("max_model_len")
    said = f"{name}: {evidence.hits} of {evidence.answered} requests hit the prefix cache, and {MIN_HITS} are needed"
    if facts.get("enable_prefix_caching") is False:
        return f"{said}. The engine switched prefix caching off; its log says why."
    if isinstance(block, int) and isinstance(longest, int) and longest < 4 * block:
        return f"{said}. A hit needs more than two blocks of {block} tokens: raise max_model_len (now {longest})."
    return (
        f"{said}. A hit needs more than two blocks of {block} tokens and a cache that keeps them: use longer prompts "
        "or more requests (--requests), give the cache more memory, and look at prefix_cache_retention_interval."
    )


def _no_drafts(name: str, evidence: Evidence) -> str:
    said = f"{name}: {evidence.accepted} of {evidence.drafts} draft tokens were accepted, and {MIN_ACCEPTED} are needed"
    if not evidence.drafts:
        return f"{said}. Nothing was drafted: check the speculative configuration and the engine's log."
    return f"{said}. Run more requests (--requests, --max-tokens), or prompts that the drafter can predict (--prompts)."


def _count(counters: Json, name: str) -> int:
    value = counters.get(name, 0)
    return int(value) if isinstance(value, int | float) else 0
