"""Faults to inject into a healthy vLLM, for the self-test: each does again what a known defect did.

They go in through vLLM's own seams, ``scheduler_cls`` and ``worker_cls``, and are written from descriptions of the
defects (the ids are those of ``rules/engines/vllm.yaml``). ``Harmless`` is the control: it changes when things happen
and in which order, and no result. Seen to work with vLLM 0.32.0.

Runs in a process of the environment that has vLLM, on its CPU build.
"""

from __future__ import annotations

import time
from typing import Any

from cpu_worker import InterpretedWorker
from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.kv_cache_interface import MambaSpec


class ChunkEndsOffGrid(Scheduler):
    """D3. Behind the last cacheable boundary a prefill chunk may end inside a block, and the next one crosses the
    boundary: the block then holds a state of fewer tokens than its hash says."""

    def _mamba_block_aligned_split(
        self, request: Any, num_new_tokens: int, num_new_local_computed_tokens: int = 0, *others: Any, **named: Any
    ) -> int:
        start = request.num_computed_tokens + num_new_local_computed_tokens + sum(others) + sum(named.values())
        if start >= max(request.num_prompt_tokens, request.num_tokens - 1):
            return num_new_tokens
        block = self.cache_config.block_size
        last = request.num_tokens // block * block
        if self.vllm_config.speculative_config is not None:
            last = max(last - block, 0)
        end = start + num_new_tokens
        if end < last:
            return max(end // block * block - start, 0)
        if start < last:
            return last - start
        return num_new_tokens


class HitTooLong(Scheduler):
    """D1. With a drafter, a hit may grow to the next boundary whose state is cached although full attention has one
    block less there: that block's keys and values are never computed."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if self.vllm_config.speculative_config is None:
            return
        coordinator = self.kv_cache_manager.coordinator
        healthy = coordinator.find_longest_cache_hit
        groups = self.kv_cache_config.kv_cache_groups
        recurrent = [n for n, group in enumerate(groups) if isinstance(group.kv_cache_spec, MambaSpec)]
        block, pool = self.cache_config.block_size, self.kv_cache_manager.block_pool

        def longer(block_hashes: Any, max_cache_hit_length: int) -> Any:
            blocks, length, *rest = healthy(block_hashes, max_cache_hit_length)
            if length == 0 or length + block > max_cache_hit_length:
                return (blocks, length, *rest)
            found = [pool.get_cached_block(block_hashes[length // block], [number]) for number in recurrent]
            if not all(found):
                return (blocks, length, *rest)
            grown = list(blocks)
            for number, states in zip(recurrent, found):  # noqa: B905
                grown[number] = [pool.null_block] * (length // block) + list(states)
            return (tuple(grown), length + block, *rest)

        coordinator.find_longest_cache_hit = longer


class SkipsDrafts(Scheduler):
    """Every third time, a request's drafts are thrown away: its next step verifies nothing.

    Not harmless by itself: the convolution of vLLM's CPU build stops at such a step after an accepted draft."""

    steps = 0

    def update_draft_token_ids(self, draft_token_ids: Any) -> None:
        super().update_draft_token_ids(draft_token_ids)
        self.steps += 1
        if self.steps % 3 == 0:
            for name in draft_token_ids.req_ids:
                request = self.requests.get(name)
                if request is not None:
                    request.spec_token_ids = []


class Harmless(Scheduler):
    """The control: slower, and in another order."""

    def schedule(self, *arguments: Any, **named: Any) -> Any:
        time.sleep(0.001)
        if len(self.waiting) > 1:
            self.waiting.rotate(1)
        return super().schedule(*arguments, **named)


def _rebuilt(change: Any) -> None:
    """Lets ``change`` alter the arguments with which the metadata of the recurrent layers is built."""
    from vllm.v1.attention.backends.gdn_attn import GDNAttentionMetadataBuilder as Builder

    healthy = Builder.build

    def build(self: Any, *arguments: Any, **named: Any) -> Any:
        return healthy(self, *arguments, **change(self, named))

    Builder.build = build


def _next_row(_builder: Any, named: dict[str, Any]) -> dict[str, Any]:
    counts = named.get("num_accepted_tokens")
    if counts is None or len(counts) < 2:
        return named
    return {**named, "num_accepted_tokens": counts.roll(1)}


def _next_row_with_cache(builder: Any, named: dict[str, Any]) -> dict[str, Any]:
    aligned = builder.vllm_config.cache_config.mamba_cache_mode == "align"
    return _next_row(builder, named) if aligned else named


def _first_slot(_builder: Any, named: dict[str, Any]) -> dict[str, Any]:
    drafts, counts = named.get("num_decode_draft_tokens_cpu"), named.get("num_accepted_tokens")
    if drafts is None or counts is None:
        return named
    return {**named, "num_accepted_tokens": counts.masked_fill(drafts[: len(counts)] == 0, 1)}


class WrongRow(InterpretedWorker):
    """D11. A request gets the count of accepted tokens of its neighbour in the batch, with or without prefix
    caching."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        _rebuilt(_next_row)
        super().__init__(*arguments, **named)


class WrongRowWithCache(InterpretedWorker):
    """D2. The same, only where prefix caching aligns the recurrent state to blocks."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        _rebuilt(_next_row_with_cache)
        super().__init__(*arguments, **named)


class StaleState(InterpretedWorker):
    """D9. A row without drafts reads its state where plain decoding keeps it, as it was before the accepted tokens.

    Shows with ``SkipsDrafts``. (The defect took the plain decoding path itself, which the CPU build cannot run here.)
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        _rebuilt(_first_slot)
        super().__init__(*arguments, **named)
