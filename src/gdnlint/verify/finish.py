"""What follows the arms: scores, the search for a reproducer, and the files of the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gdnlint.report._terminal import harmless_json
from gdnlint.verify import pages_html
from gdnlint.verify.campaign import Plan, Told, Watch
from gdnlint.verify.drive import ArmEnded, Process
from gdnlint.verify.outcome import Json, Outcome
from gdnlint.verify.scorers import Score, Scorer
from gdnlint.verify.shrink import Reproducer, shrink
from gdnlint.verify.store import Recorded


def find_reproducer(plan: Plan, found: Outcome, watch: Watch) -> None:
    """Searches for the smallest reproducer of a corrupt run, and notes it and its file in the outcome."""
    judged = found.verdict
    targets = _targets(found)
    if judged.outcome != "corrupt" or not targets:
        return
    tested, reference = judged.worst_pair
    arm = next(item for item in found.run.arms if item.name == tested)
    watch(Told(tested, "searches for a reproducer"))
    try:
        engine = Process(plan.python, arm, plan.folder / "arms" / "shrink.log", plan.start_limit, plan.request_limit)
    except ArmEnded:
        return  # the verdict stands without it
    try:
        small = shrink(engine, found.run.records[tested], found.run.records[reference], targets)
    except ArmEnded:
        return
    except KeyboardInterrupt:
        engine.grace = 1.0
        return  # whoever stops the search still wants the verdict
    finally:
        engine.close()
    if small is not None:
        path = plan.folder / "reproducer.json"
        path.write_text(json.dumps(_reproducer(small, found), indent=1), "utf-8")
        found.reproducer = {
            "file": str(path), "requests": small.requests, "of": small.of, "target": small.target, "drift": small.drift,
            "measure": small.measure, "trials": small.trials,
            "prompt_tokens": sum(len(request.prompt) for batch in small.batches for request in batch),
        }  # fmt: skip


def _targets(found: Outcome) -> list[tuple[str, str, float]]:
    """Requests beyond the tolerance. Early ones first, as they need few others, unless they are off by much less."""
    differences = {item.id: item for item in found.differences.get(found.verdict.worst_pair, [])}
    tests = [
        item
        for item in found.verdict.tests
        if item.pair == found.verdict.worst_pair and item.rejects and item.measure != "identity"
    ]
    targets: dict[str, tuple[str, float, float]] = {}
    for name in found.verdict.worst:
        for item in tests:
            value = getattr(differences[name], item.measure)
            if value > item.test.tolerance and name not in targets:
                targets[name] = item.measure, item.test.tolerance, value
    most = max((value for _, _, value in targets.values()), default=0.0)
    order = list(differences)
    ranked = sorted(targets, key=lambda name: (targets[name][2] < most / 3, order.index(name)))
    return [(name, *targets[name][:2]) for name in ranked]


def _reproducer(small: Reproducer, found: Outcome) -> Json:
    tested, reference = found.verdict.worst_pair
    arm = next(item for item in found.run.arms if item.name == tested)
    return {
        "schema": "gdnlint-reproducer/1",
        "engine": arm.engine,
        "target": small.target,
        "expected": list(found.run.records[reference].answers[small.target].ids),
        "drift": small.drift,
        "measure": small.measure,
        "batches": [
            [
                {"id": r.id, "prompt": list(r.prompt), "max_tokens": r.max_tokens, "ignore_eos": r.ignore_eos}
                for r in batch
            ]
            for batch in small.batches
        ],
    }


def score_all(records: Mapping[str, Recorded], scorer: Scorer) -> dict[str, list[Score]]:
    """Scores of the answers to the user's prompts, by arm."""
    return {
        name: [scorer(text, record.requests[request].reference) for request, text in record.texts.items()]
        for name, record in records.items()
    }


def write(folder: Path, document: Json) -> None:
    """Writes ``report.json`` and ``report.html``. Raises OSError."""
    text = harmless_json(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)) + "\n"
    (folder / "report.json").write_text(text, "utf-8")
    (folder / "report.html").write_text(pages_html.render(document), "utf-8")
