"""One arm in a process of its own: starts ``engine_side/runner.py`` under the Python that has vLLM, and talks to it.

An engine that does not start, dies, hangs or answers nonsense is a result (:class:`ArmEnded`), not a traceback.
Whatever the engine prints is in the arm's log.

Anything with the methods of :class:`Driver` can take the place of a process, such as a server that already runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Protocol

from gdnlint.verify.matrix import Arm
from gdnlint.verify.store import Answer, Batch

ENGINE_SIDE = Path(__file__).parent / "engine_side"

Json = dict[str, object]


class ArmEnded(Exception):
    """The arm is over before its work is done."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        """``failed``, ``died`` or ``hung``."""


class Driver(Protocol):
    """What an arm's requests are sent through."""

    facts: Json
    """What the engine really runs with (see ``runner.py``)."""

    def generate(self, batch: Batch) -> tuple[list[Answer], list[Json]]:
        """The answers, and as they came. Raises ArmEnded."""

    def metrics(self) -> Json:
        """Counters since the engine started."""

    def reset(self) -> bool:
        """Empties the prefix cache, and says whether that worked."""

    def close(self) -> None:
        """Ends the engine."""


def probe(python: str) -> Json:
    """Which vLLM an interpreter has: ``{"vllm": version or None, "cpu": bool, ...}``. Raises ArmEnded."""
    try:
        done = subprocess.run(
            [python, str(ENGINE_SIDE / "runner.py"), "--probe"],
            capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        found = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ArmEnded("failed", f"cannot run {python}: {error}") from error
    except ValueError as error:
        last = done.stderr.strip().splitlines()[-1:] or ["it printed nothing"]
        raise ArmEnded("failed", f"{python} is no usable Python: {last[0]}") from error
    assert isinstance(found, dict)
    return found


def environment_for(probed: Json) -> dict[str, str]:
    """Environment variables that an engine needs on top of those of the command."""
    found = {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "PYTHONUNBUFFERED": "1"}
    if probed.get("cpu"):
        # One process and one thread: then the engine is deterministic, and arms side by side do not fight for cores.
        found |= {
            "PYTHONPATH": str(ENGINE_SIDE), "TRITON_INTERPRET": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
            "OMP_NUM_THREADS": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_HOST_IP": "127.0.0.1",
        }  # fmt: skip
    return found


class Process:
    """An engine in a process. ``start`` and ``request`` limit how long it may take to start and to answer, in
    seconds."""

    def __init__(self, python: str, arm: Arm, log: Path, start: float, request: float) -> None:
        self.request = request
        self.grace = 20.0
        """Seconds that the engine gets to end by itself."""
        self._log: IO[bytes] = log.open("wb")
        self._left = b""
        environment = {**os.environ, **arm.environment}
        if "PYTHONPATH" in arm.environment and os.environ.get("PYTHONPATH"):
            environment["PYTHONPATH"] = os.pathsep.join([arm.environment["PYTHONPATH"], os.environ["PYTHONPATH"]])
        try:
            self._process = subprocess.Popen(
                [python, str(ENGINE_SIDE / "runner.py")],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, env=environment,
                start_new_session=True,  # so that its workers end with it, and Ctrl-C is ours to handle
            )  # fmt: skip
        except OSError as error:
            raise ArmEnded("failed", f"cannot run {python}: {error}") from error
        told = self._ask({"engine": arm.engine}, start, "to start")
        if told.get("event") != "ready":
            raise ArmEnded("failed", _start_message(python, told))
        facts = told["facts"]
        assert isinstance(facts, dict)
        self.facts: Json = facts

    def generate(self, batch: Batch) -> tuple[list[Answer], list[Json]]:
        asked = [
            {"id": r.id, "prompt": list(r.prompt), "max_tokens": r.max_tokens, "ignore_eos": r.ignore_eos}
            for r in batch
        ]
        told = self._asked({"op": "generate", "batch": asked})
        try:
            results = told["results"]
            assert isinstance(results, list)
            return [Answer.of(item) for item in results], results
        except (KeyError, TypeError, ValueError, AssertionError) as error:
            raise ArmEnded("died", f"the engine's answer makes no sense ({error!r}): {str(told)[:200]}") from error

    def metrics(self) -> Json:
        found = self._asked({"op": "metrics"}).get("metrics")
        return found if isinstance(found, dict) else {}

    def reset(self) -> bool:
        try:
            return self._asked({"op": "reset"}).get("reset") is True
        except ArmEnded as error:
            if error.status == "failed":
                return False
            raise

    def encode(self, items: Sequence[Json]) -> list[list[int]]:
        """Token ids of texts or chats, by the model's own tokenizer."""
        found = self._asked({"op": "encode", "items": list(items)})["prompts"]
        assert isinstance(found, list)
        return found

    def decode(self, items: Sequence[Sequence[int]]) -> list[str]:
        found = self._asked({"op": "decode", "items": [list(ids) for ids in items]})["texts"]
        assert isinstance(found, list)
        return found

    def close(self) -> None:
        """Ends the engine and all that it started; asks first, then kills."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=self.grace)
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._log.close()

    def _asked(self, message: Json) -> Json:
        told = self._ask(message, self.request, f"to {message['op']}")
        if "error" in told:
            raise ArmEnded("failed", str(told["error"]))
        return told

    def _ask(self, message: Json, limit: float, what: str) -> Json:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise self._died(what) from None
        line = self._line(time.monotonic() + limit)
        if line is None:
            self.grace = 0.0
            raise ArmEnded("hung", f"no answer within {limit:g} seconds ({what})")
        if not line:
            raise self._died(what)
        try:
            told = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise ArmEnded("died", f"the engine answered garbage ({what}): {line[:200]!r}")
        return told

    def _line(self, until: float) -> bytes | None:
        """The next line; empty at the end of output, None when the time is over."""
        stream = self._process.stdout
        assert stream is not None
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while b"\n" not in self._left:
                if not selector.select(max(until - time.monotonic(), 0)):
                    return None
                data = os.read(stream.fileno(), 1 << 20)
                if not data:
                    return b""
                self._left += data
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _died(self, what: str) -> ArmEnded:
        try:
            code = self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            return ArmEnded("died", f"the engine closed its output ({what})")
        if code < 0:
            with contextlib.suppress(ValueError):
                return ArmEnded("died", f"the engine was killed by {signal.Signals(-code).name} ({what})")
        return ArmEnded("died", f"the engine ended with exit code {code} ({what})")


def _start_message(python: str, told: Json) -> str:
    error = str(told.get("error", "no reason given"))
    if told.get("stage") == "import":
        return f"{python} cannot import vllm ({error}). Give an environment that has it with --python."
    return f"vLLM did not start: {error}"
