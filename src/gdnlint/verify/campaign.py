"""One run from arms to records: drives each arm through the workload and keeps what it does.

Arms run one after another, ``plain`` first. An arm that ends early is a result, and the others still run; only without
``plain`` there are no prompts to replay. A folder holds the run: an arm whose record is whole is not run again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from gdnlint.verify import matrix, store, workloads
from gdnlint.verify.drive import ArmEnded, Driver, Process
from gdnlint.verify.matrix import Arm
from gdnlint.verify.store import Recorded
from gdnlint.verify.workloads import Prompt, Sizes, Workload

Json = dict[str, object]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, and how."""

    folder: Path
    python: str
    requests: int = 240
    max_tokens: int = 32
    sessions: int = 4
    seed: int = 1
    repeats: bool = True
    """Whether each arm runs its requests a second time, with an emptied cache, to measure its own noise."""
    start_limit: float = 1800.0
    request_limit: float = 900.0
    prompts: tuple[Json, ...] = ()
    """The user's prompts as they stand in the file."""


class Told(NamedTuple):
    """Progress, for whoever watches."""

    arm: str
    what: str
    done: int = 0
    total: int = 0


Watch = Callable[[Told], None]


@dataclass(slots=True)
class Run:
    arms: list[Arm]
    records: dict[str, Recorded] = field(default_factory=dict)
    interrupted: bool = False


def run(plan: Plan, arms: Sequence[Arm], watch: Watch) -> Run:
    """Runs every arm. Raises OSError if the folder cannot be written at all."""
    done = Run(list(arms))
    plan.folder.mkdir(parents=True, exist_ok=True)
    batches: Sequence[store.Batch] = ()
    for number, planned in enumerate(arms):
        arm = planned
        if arm.name != "plain" and not batches:
            done.records[arm.name] = Recorded(arm.name, "missing", "there are no prompts without the plain arm")
            continue
        if arm.name == "rechunked":
            arm = done.arms[number] = matrix.rechunked(arm, done.records["plain"].facts)
        try:
            record = run_arm(plan, arm, batches, watch)
        except KeyboardInterrupt:
            done.records[arm.name] = store.read(_file(plan, arm.name), arm.name)
            done.records[arm.name].status = "interrupted"
            done.records[arm.name].error = "stopped by hand; run the same command again to go on"
            done.interrupted = True
            return done
        done.records[arm.name] = record
        if arm.name == "plain":
            batches = record.batches if record.status == "done" else ()
    return done


def run_arm(plan: Plan, arm: Arm, batches: Sequence[store.Batch], watch: Watch) -> Recorded:
    """One arm: what stands in the folder, or a run of it."""
    path = _file(plan, arm.name)
    start: Json = {
        "arm": arm.name, "engine": arm.engine, "environment": arm.environment, "python": plan.python,
        "workload": [plan.requests, plan.max_tokens, plan.sessions, plan.seed, plan.repeats, list(plan.prompts)],
    }  # fmt: skip
    found = store.read(path, arm.name)
    if found.status == "done" and store.start_of(path) == start:
        watch(Told(arm.name, "kept from an earlier run", len(found.answers), len(found.answers)))
        return found
    began = time.monotonic()
    try:
        writer = store.Writer(path, start)
        try:
            status, error = _drive(plan, arm, batches, writer, watch)
            writer.put({"end": status, "error": error, "seconds": round(time.monotonic() - began, 1)})
        finally:
            writer.close()
    except OSError as failure:
        record = store.read(path, arm.name)
        record.status, record.error = "failed", f"cannot write {path}: {failure.strerror}"
        return record
    return store.read(path, arm.name)


def _drive(plan: Plan, arm: Arm, batches: Sequence[store.Batch], writer: store.Writer, watch: Watch) -> tuple[str, str]:
    engine: Process | None = None
    watch(Told(arm.name, "starts"))
    try:
        engine = Process(plan.python, arm, _log(plan, arm.name), plan.start_limit, plan.request_limit)
        writer.put({"facts": engine.facts})
        work = workloads.replay(batches) if batches else _fresh(plan, engine)
        made = _pass(engine, work, 0, writer, arm.name, watch, sum(map(len, batches)) or _expected(plan))
        writer.put({"metrics": engine.metrics()})
        _texts(engine, writer, _file(plan, arm.name), arm.name)
        if plan.repeats:
            writer.put({"reset": engine.reset()})
            _pass(engine, workloads.replay(made), 1, writer, arm.name, watch, sum(map(len, made)))
            writer.put({"metrics": engine.metrics()})
    except KeyboardInterrupt:
        if engine is not None:
            engine.grace = 1.0
        raise
    except ArmEnded as ended:
        watch(Told(arm.name, ended.status))
        return ended.status, str(ended)
    finally:
        if engine is not None:
            engine.close()
    watch(Told(arm.name, "done"))
    return "done", ""


def _pass(
    engine: Driver, work: Workload, number: int, writer: store.Writer, name: str, watch: Watch, total: int
) -> list[store.Batch]:
    made: list[store.Batch] = []
    answered = 0
    batch = next(work, None)
    while batch is not None:
        answers, raw = engine.generate(batch)
        # Prompts are kept once, with the first pass.
        listed = [request.data() for request in batch] if number == 0 else []
        writer.put({"pass": number, "batch": listed, "results": raw})
        made.append(batch)
        answered += len(batch)
        watch(Told(name, "again" if number else "runs", answered, total))
        try:
            batch = work.send(answers)
        except StopIteration:
            batch = None
    return made


def _fresh(plan: Plan, engine: Process) -> Workload:
    """The workload of the plain arm."""
    sizes = workloads.sizes_of(engine.facts, plan.requests, plan.max_tokens, plan.sessions)
    yield from workloads.synthetic(sizes, plan.seed)
    if plan.prompts:
        yield from workloads.users(_prompts(plan, engine, sizes), sizes.sessions)


def _prompts(plan: Plan, engine: Process, sizes: Sizes) -> list[Prompt]:
    items: list[Json] = [
        {name: item[name] for name in ("text", "messages", "tools") if name in item} for item in plan.prompts
    ]
    found = []
    for item, ids in zip(plan.prompts, engine.encode(items), strict=True):
        reference = item.get("reference")
        limit = item.get("max_tokens", plan.max_tokens)
        limit = limit if isinstance(limit, int) else plan.max_tokens
        kept = tuple(ids)[: sizes.longest - limit - 1]
        found.append(Prompt(kept, None if reference is None else str(reference), limit))
    return found


def _texts(engine: Process, writer: store.Writer, path: Path, name: str) -> None:
    """Keeps the answers to the user's prompts as text, for the scorers."""
    so_far = store.read(path, name)
    asked = [request.id for request in so_far.requests.values() if request.phase == "prompts"]
    if asked:
        texts = engine.decode([so_far.answers[request].ids for request in asked])
        writer.put({"texts": dict(zip(asked, texts, strict=True))})


def _expected(plan: Plan) -> int:
    return plan.requests + 2 * len(plan.prompts)


def _file(plan: Plan, name: str) -> Path:
    return plan.folder / "arms" / f"{name}.jsonl"


def _log(plan: Plan, name: str) -> Path:
    return plan.folder / "arms" / f"{name}.log"
