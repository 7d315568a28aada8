"""Requests that the known defects need. A workload is a generator: it yields a batch and is sent the answers to it.

The plain arm runs it once, and what it yielded is replayed word for word in every other arm, turns of a conversation
included. Sizes follow from the engine's own facts: its block size, its token budget for a step, its longest context.

========== ==========================================================================================================
phase      what it does
========== ==========================================================================================================
sequential A -> B -> A over two long shared prefixes, one request at a time. On a deterministic engine nothing may
           differ along the axis of prefix caching.
concurrent Conversations over one shared prefix, a turn of all of them at once: prompt + answer + more. What is new in
           a turn exceeds the token budget, so that prefill chunks end off the grid of blocks, and later turns hit them.
reprobe    Hold: prompts over a fresh prefix. Poison: a burst of ragged prompts over the same one. Then the held prompts
           again, with their answers and more.
short      Prompts of less than two blocks, in bursts, and again.
prompts    What the user brought, twice, the second time in bursts.
========== ==========================================================================================================

Tokens are random, but for the user's prompts: every request has its own last words, so that answers differ.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from typing import NamedTuple

from gdnlint.verify.store import Answer, Batch, Request

Workload = Generator[Batch, list[Answer], None]


class Sizes(NamedTuple):
    """Numbers of tokens and requests."""

    block: int
    budget: int
    longest: int
    """Tokens that fit into the context, prompt and answer."""
    answer: int
    """Tokens to generate for each request."""
    sessions: int
    vocabulary: tuple[int, ...]
    """Token ids that prompts may hold."""
    requests: int
    """About how many requests the synthetic phases make together."""

    @property
    def prefix(self) -> int:
        """Five blocks, or what leaves room for two more and the answer."""
        return self.block * max(min(5, (self.longest - self.answer) // self.block - 2), 1)


def sizes_of(facts: Mapping[str, object], requests: int, answer: int, sessions: int) -> Sizes:
    """Sizes for an engine. A fact that it did not tell gets a common value."""
    special = facts.get("special_ids")
    banned = set(special) if isinstance(special, list) else set()
    longest = _number(facts, "max_model_len", 4096)
    top = min(_number(facts, "vocabulary", 32000), 1 << 18)
    if banned:
        # Ids behind the first special one are special or unused in most vocabularies.
        top = max(min(top, *(number for number in banned if number >= top // 2)) if top // 2 <= max(banned) else top, 2)
    allowed = tuple(number for number in range(top) if number not in banned)
    budget = _number(facts, "max_num_batched_tokens", 2048)
    answer = max(min(answer, longest // 8), 1)
    return Sizes(
        max(_number(facts, "block_size", 16), 1), budget, longest, answer,
        max(min(sessions, _number(facts, "max_num_seqs", 8)), 1), allowed, requests,
    )  # fmt: skip


def synthetic(sizes: Sizes, seed: int) -> Workload:
    """The four synthetic phases, one after another."""
    draw = _Draw(random.Random(seed), sizes)  # noqa: S311
    yield from _sequential(draw, sizes.requests // 4)
    yield from _concurrent(draw, sizes.requests * 11 // 20)
    yield from _reprobe(draw, sizes.requests // 8)
    yield from _short(draw, sizes.requests // 13)


def replay(batches: Sequence[Batch]) -> Workload:
    """The batches of another run."""
    for batch in batches:  # noqa: UP028 - the answers that are sent in must not reach the list's iterator
        yield batch


class Prompt(NamedTuple):
    """A prompt of the user's, as token ids."""

    ids: tuple[int, ...]
    reference: str | None
    max_tokens: int


def users(prompts: Sequence[Prompt], sessions: int) -> Workload:
    """Each prompt alone, then all of them again in bursts: the second time they can hit."""
    for number, prompt in enumerate(prompts):
        yield (_users_request(f"p{number}", prompt, 0),)
    for start in range(0, len(prompts), sessions):
        group = prompts[start : start + sessions]
        yield tuple(_users_request(f"p{start + n}again", prompt, 1) for n, prompt in enumerate(group))


def _users_request(name: str, prompt: Prompt, depth: int) -> Request:
    return Request(
        name, "prompts", prompt.ids, prompt.max_tokens, False, name.removesuffix("again"), depth, prompt.reference
    )


class _Draw:
    """Draws token ids and makes requests."""

    def __init__(self, source: random.Random, sizes: Sizes) -> None:
        self.source, self.sizes, self.number = source, sizes, 0

    def tokens(self, count: int) -> tuple[int, ...]:
        return tuple(self.source.choices(self.sizes.vocabulary, k=max(count, 1)))

    def between(self, low: int, high: int) -> int:
        return self.source.randint(low, max(low, high))

    def request(self, phase: str, prompt: tuple[int, ...], session: str, depth: int = 0) -> Request:
        self.number += 1
        fitting = prompt[: self.sizes.longest - self.sizes.answer - 1]
        return Request(f"r{self.number}", phase, fitting, self.sizes.answer, True, session, depth)


def _sequential(draw: _Draw, count: int) -> Workload:
    prefixes = {name: draw.tokens(draw.sizes.prefix) for name in "AB"}
    for number in range(count):
        name = "ABA"[number % 3]
        tail = draw.tokens(draw.between(3, draw.sizes.block))
        yield (draw.request("sequential", prefixes[name] + tail, name, number),)


def _concurrent(draw: _Draw, count: int) -> Workload:
    sizes = draw.sizes
    shared = draw.tokens(sizes.prefix)
    # All sessions together add more in a turn than one step may take.
    more = max(int(1.2 * sizes.budget / sizes.sessions) - sizes.block // 2 - sizes.answer, 3)
    longest = min(sizes.longest - sizes.answer - 1, sizes.prefix + 24 * sizes.block + 4 * more)
    contexts = [shared + draw.tokens(draw.between(sizes.block, 2 * sizes.block)) for _ in range(sizes.sessions)]
    depths = [0] * sizes.sessions
    for _ in range(count // sizes.sessions):
        batch = tuple(draw.request("concurrent", context, f"S{n}", depths[n]) for n, context in enumerate(contexts))
        answers = yield batch
        for n, answer in enumerate(answers):
            contexts[n] = (
                contexts[n] + answer.ids + draw.tokens(draw.between(max(more // 2, 3), max(more * 3 // 2, 40)))
            )
            depths[n] += 1
            if len(contexts[n]) > longest:
                contexts[n], depths[n] = shared + draw.tokens(draw.between(3, 2 * sizes.block)), 0


def _reprobe(draw: _Draw, count: int) -> Workload:
    sizes = draw.sizes
    for _ in range(max(count // (4 * sizes.sessions), 1)):
        prefix = draw.tokens(sizes.prefix)
        held = [
            draw.request("reprobe", prefix + draw.tokens(draw.between(3, 2 * sizes.block)), f"H{n}")
            for n in range(sizes.sessions)
        ]
        answers = []
        for request in held:
            answers += yield (request,)
        for _ in range(2):
            yield tuple(
                draw.request("reprobe", prefix + draw.tokens(draw.between(3, 3 * sizes.block)), f"P{n}")
                for n in range(sizes.sessions)
            )
        yield tuple(
            draw.request("reprobe", request.prompt + answer.ids + draw.tokens(draw.between(3, sizes.block)), f"H{n}", 1)
            for n, (request, answer) in enumerate(zip(held, answers, strict=True))
        )


def _short(draw: _Draw, count: int) -> Workload:
    sizes = draw.sizes
    for _ in range(max(count // (2 * sizes.sessions), 1)):
        stem = draw.tokens(sizes.block)
        for depth in range(2):
            yield tuple(
                draw.request("short", stem + draw.tokens(draw.between(1, sizes.block - 1)), f"K{n}", depth)
                for n in range(sizes.sessions)
            )


def _number(facts: Mapping[str, object], name: str, otherwise: int) -> int:
    value = facts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise
