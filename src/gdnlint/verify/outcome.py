"""A run as one JSON document, ``gdnlint-verify/1``. Within version 1 members are added, never renamed or removed.

Log-probabilities, drifts, gaps and tolerances are in nats, times in seconds, lengths in tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gdnlint import __version__
from gdnlint.verify import evidence as evidences
from gdnlint.verify import statistics, verdict
from gdnlint.verify.campaign import Run
from gdnlint.verify.compare import FAR, Difference, compare
from gdnlint.verify.evidence import Evidence
from gdnlint.verify.matrix import TITLES, Subject
from gdnlint.verify.scorers import Score
from gdnlint.verify.store import Recorded, Request
from gdnlint.verify.verdict import Tested, Verdict

SCHEMA = "gdnlint-verify/1"

Json = dict[str, object]


@dataclass(slots=True)
class Outcome:
    """Everything that a report shows."""

    subject: Subject
    run: Run
    evidence: dict[str, Evidence]
    differences: dict[tuple[str, str], list[Difference]]
    verdict: Verdict
    scores: dict[str, list[Score]] = field(default_factory=dict)
    """By arm; empty without a scorer."""
    reproducer: Json | None = None
    date: str = ""


def conclude(subject: Subject, run: Run, date: str, scores: dict[str, list[Score]] | None = None) -> Outcome:
    """Judges a run."""
    records = run.records
    found = {name: evidences.gather(record) for name, record in records.items()}
    done = {name for name, record in records.items() if record.status == "done"}
    plain = records.get("plain")
    requests: Mapping[str, Request] = plain.requests if plain is not None else {}
    differences = {
        pair: compare(requests, records[pair[1]].answers, records[pair[0]].answers)
        for pair in (*verdict.PAIRS, verdict.NOISE_PAIR)
        if set(pair) <= done
    }
    lacking = evidences.missing(
        {arm.name: arm for arm in run.arms}, found, {name: record.facts for name, record in records.items()}
    )
    ended = {name: f"{record.status}: {record.error}" for name, record in records.items() if name not in done}
    dtype = str(plain.facts.get("dtype", "")) if plain is not None else ""
    judged = verdict.judge(differences, lacking, ended, dtype)
    return Outcome(subject, run, found, differences, judged, scores or {}, None, date)


def document(outcome: Outcome) -> Json:
    """The document as Python data."""
    records = outcome.run.records
    judged = outcome.verdict
    return {
        "schema": SCHEMA,
        "tool": {"name": "gdnlint", "version": __version__},
        "date": outcome.date,
        "subject": {
            "title": outcome.subject.title,
            "engine": outcome.subject.engine,
            "speculative_config": outcome.subject.speculation,
            "notes": [*outcome.subject.notes, *_ignored(records)],
        },
        "verdict": judged.outcome,
        "axes": list(judged.axes),
        "title": judged.title,
        "reasons": judged.reasons,
        "interrupted": outcome.run.interrupted,
        "statistics": {
            "test": "one-sided Fisher exact test on exceedances of a tolerance (precedence test), Bonferroni",
            "alpha": statistics.ALPHA,
            "tests": verdict.TESTS,
            "multiple_of_noise": statistics.MULTIPLE,
        },
        "arms": [_arm(name, outcome.evidence[name], records[name], outcome.scores.get(name)) for name in records],
        "pairs": [_pair(pair, found) for pair, found in outcome.differences.items()],
        "tests": [_test(item) for item in judged.tests],
        "workload": _workload(records.get("plain")),
        "requests": _requests(outcome),
        "worst": judged.worst[:20],
        "reproducer": outcome.reproducer,
    }


def _ignored(records: Mapping[str, Recorded]) -> list[str]:
    """What an engine could not take, once for all arms."""
    names = dict.fromkeys(record.facts["ignored"] for record in records.values() if record.facts.get("ignored"))
    return [f"this vLLM has no such argument, and ran without: {name}" for name in names]


def _arm(name: str, found: Evidence, record: Recorded, scores: Sequence[Score] | None) -> Json:
    arm: Json = {
        "name": name,
        "title": TITLES.get(name, name),
        "status": found.status,
        "error": found.error,
        "seconds": found.seconds,
        "facts": record.facts,
        "requests": found.answered,
        "requests_with_hit": found.hits,
        "cached_tokens": found.cached_tokens,
        "prompt_tokens": found.prompt_tokens,
        "hit_rate": round(found.hit_rate, 4),
        "draft_tokens": found.drafts,
        "accepted_tokens": found.accepted,
        "acceptance": round(found.acceptance, 4),
        "accepted_by_position": found.by_position,
        "generated_tokens": found.generated,
        "mean_generated": round(found.generated / found.answered, 2) if found.answered else None,
        "early_stops": found.early_stops,
        "ended_by_model": found.ended_by_model,
        "invalid": found.invalid,
        "preemptions": found.preemptions,
        "cache_reset": record.reset,
        "repeat": None,
        "score": None,
        "counters": record.metrics[0] if record.metrics else {},
    }
    if found.repeat:
        arm["repeat"] = {
            "requests": len(found.repeat),
            "identical": sum(item.identical for item in found.repeat),
            "largest_drift": max(item.path for item in found.repeat),
        }
    if scores:
        right = sum(score.right for score in scores)
        low, high = statistics.interval(right, len(scores))
        arm["score"] = {
            "right": right, "of": len(scores), "share": right / len(scores), "low": low, "high": high,
            "invalid": sum(score.invalid for score in scores),
        }  # fmt: skip
    return arm


def _pair(pair: tuple[str, str], found: Sequence[Difference]) -> Json:
    parted = [item for item in found if item.position is not None]
    return {
        "tested": pair[0],
        "reference": pair[1],
        "noise": pair == verdict.NOISE_PAIR,
        "requests": len(found),
        "identical": sum(item.identical for item in found),
        "parted": len(parted),
        "token_agreement": round(sum(item.agreement for item in found) / len(found), 4) if found else None,
        "quantiles": {
            measure: _quantiles([getattr(i, measure) for i in found]) for measure in ("first", "path", "gap")
        },
        "differences": [
            [i.id, i.phase, i.prompt, i.cached, round(i.first, 5), round(i.path, 5), round(i.gap, 5), i.position]
            for i in found
        ],
        "difference_columns": ["request", "phase", "prompt", "cached", "first", "path", "gap", "position"],
    }


def _quantiles(values: Sequence[float]) -> Json:
    ranked = sorted(values)
    if not ranked:
        return {}
    last = len(ranked) - 1
    return {
        "median": round(ranked[last // 2], 5), "p90": round(ranked[int(last * 0.9)], 5), "max": round(ranked[last], 5),
    }  # fmt: skip


def _test(item: Tested) -> Json:
    return {
        **item.test._asdict(), "tested_count": item.test.tested, "tested": item.pair[0], "reference": item.pair[1],
        "phases": item.phases, "measure": item.measure, "rejects": item.rejects,
    }  # fmt: skip


def _workload(plain: Recorded | None) -> Json:
    requests = list(plain.requests.values()) if plain is not None else []
    phases: dict[str, int] = {}
    for request in requests:
        phases[request.phase] = phases.get(request.phase, 0) + 1
    return {
        "requests": len(requests),
        "phases": phases,
        "transitions": max(len(requests) - 1, 0),
        "deepest_turn": max((request.depth for request in requests), default=0),
        "longest_prompt": max((len(request.prompt) for request in requests), default=0),
        "at_once": max((len(batch) for batch in plain.batches), default=0) if plain is not None else 0,
    }


def _finite(value: float) -> float:
    """A log-probability as JSON can say it."""
    return value if math.isfinite(value) else -FAR


def _requests(outcome: Outcome) -> list[Json]:
    """The worst requests with what each arm answered, for a reader who wants to see it."""
    records = outcome.run.records
    plain = records.get("plain")
    if plain is None:
        return []
    found: list[Json] = []
    for name in outcome.verdict.worst[:5]:
        request = plain.requests[name]
        answers: Json = {}
        for arm, record in records.items():
            answer = record.answers.get(name)
            if answer is not None:
                answers[arm] = {
                    "ids": list(answer.ids),
                    "cached": answer.cached,
                    "first": [[token, _finite(value)] for token, value in answer.top[0]],
                }
        found.append({"id": name, "phase": request.phase, "prompt_tokens": len(request.prompt), "answers": answers})
    return found
