"""A stand-in with the few names of vLLM that the runner uses, so that processes, records and reports can be tested quickly.

It is no model: log-probabilities are a hash of the context, plus noise that depends on the arm, as rounding does. The last
part of the model's name says what goes wrong: ``healthy``, ``corrupt-cache``, ``corrupt-spec``, ``no-hits``, ``no-drafts``,
``unreadable``, ``broken``, ``dies``, ``hangs``, ``garbage``. The last four do so in the arm with both features alone.
"""

import hashlib
import math
import os
import random
import signal
import sys
import time
from types import SimpleNamespace

__version__ = "0.0.1"

BLOCK = 16
VOCABULARY = 64


class SamplingParams:
    def __init__(self, max_tokens, **_named):
        self.max_tokens = max_tokens


class LLM:
    def __init__(
        self, model, enable_prefix_caching=False, speculative_config=None, max_num_batched_tokens=64, **_named
    ):
        self.kind = os.path.basename(model)
        self.caches, self.speculates = enable_prefix_caching, bool(speculative_config)
        if self.kind == "unreadable":
            raise OSError(f"{model} is no model")
        self.both = self.caches and self.speculates
        if self.both and self.kind == "broken":
            raise ValueError("the checkpoint has no drafting head")
        self.noise = f"{enable_prefix_caching}{self.speculates}{max_num_batched_tokens}"
        self.seen, self.counts, self.answered = set(), {"drafts": 0, "accepted": 0, "queries": 0, "hits": 0}, 0
        cache = SimpleNamespace(
            block_size=BLOCK, enable_prefix_caching=enable_prefix_caching, num_gpu_blocks=100, cache_dtype="auto"
        )
        scheduler = SimpleNamespace(max_num_batched_tokens=max_num_batched_tokens, max_num_seqs=8)
        model_config = SimpleNamespace(
            max_model_len=1024, dtype="bfloat16", architecture="StandIn", get_vocab_size=lambda: VOCABULARY
        )
        config = SimpleNamespace(cache_config=cache, scheduler_config=scheduler, model_config=model_config)
        self.llm_engine = SimpleNamespace(vllm_config=config)

    def generate(self, prompts, params, use_tqdm):
        print("the engine's own chatter")
        return [self._one(p["prompt_token_ids"], s.max_tokens, len(prompts)) for p, s in zip(prompts, params)]

    def _one(self, prompt, length, together):
        self.answered += 1
        if self.both and self.answered == 40:
            self._end()
        cached = self._cached(prompt)
        wrong = self.kind == "corrupt-cache" and self.both and cached and together > 1 and _unit(prompt) < 0.3
        wrong = wrong or (self.kind == "corrupt-spec" and self.speculates and _unit(prompt) < 0.3)
        context, positions = list(prompt), []
        for _ in range(length):
            scores = _scores(context, "wrong" if wrong else "", self.noise)
            positions.append({token: SimpleNamespace(logprob=value) for token, value in scores})
            context.append(scores[0][0])
        if self.speculates and self.kind != "no-drafts":
            self.counts["drafts"] += length
            self.counts["accepted"] += length // 2
        ids = context[len(prompt) :]
        answer = SimpleNamespace(token_ids=ids, logprobs=positions, finish_reason="length")
        return SimpleNamespace(outputs=[answer], num_cached_tokens=cached)

    def _cached(self, prompt):
        blocks = [tuple(prompt[: end + BLOCK]) for end in range(0, len(prompt) - BLOCK, BLOCK)]
        hit = sum(block in self.seen for block in blocks) * BLOCK if self.caches and self.kind != "no-hits" else 0
        self.seen.update(blocks)
        self.counts["queries"] += len(prompt)
        self.counts["hits"] += hit
        return hit

    def _end(self):
        if self.kind == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind == "hangs":
            time.sleep(600)
        if self.kind == "garbage":
            for descriptor in range(3, 20):
                try:
                    os.write(descriptor, b"Traceback (most recent call last):\n")
                except OSError:
                    continue
            sys.stdout.flush()

    def get_metrics(self):
        names = {
            "vllm:spec_decode_num_draft_tokens": "drafts", "vllm:spec_decode_num_accepted_tokens": "accepted",
            "vllm:prefix_cache_queries": "queries", "vllm:prefix_cache_hits": "hits",
        }  # fmt: skip
        return [SimpleNamespace(name=name, value=self.counts[key]) for name, key in names.items()]

    def reset_prefix_cache(self):
        self.seen.clear()
        return True

    def get_tokenizer(self):
        return Tokenizer()


class Tokenizer:
    all_special_ids = ()

    def encode(self, text, add_special_tokens=True):
        return [ord(letter) % VOCABULARY for letter in text]

    def decode(self, ids, skip_special_tokens=True):
        return " ".join(map(str, ids))

    def apply_chat_template(self, messages, tokenize, add_generation_prompt, tools=None):
        return "".join(message["content"] for message in messages)


def _scores(context, state, noise):
    """The five likeliest tokens. The state changes them a lot, the noise by a few hundredths."""
    base = random.Random(_seed(context, state))
    shake = random.Random(_seed(context, noise))
    values = sorted(
        (
            (token, -0.9 * rank - base.random() + shake.gauss(0, 0.02))
            for rank, token in enumerate(base.sample(range(VOCABULARY), 5))
        ),
        key=lambda pair: -pair[1],
    )
    total = math.log(sum(math.exp(value) for _, value in values))
    return [(token, value - total) for token, value in values]


def _seed(context, salt):
    return hashlib.sha256(f"{salt}{context[-48:]}".encode()).digest()


def _unit(prompt):
    return hashlib.sha256(str(prompt).encode()).digest()[0] / 256
