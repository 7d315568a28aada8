"""The verdict on what real engines answered (``tests/data/verify/README.md`` says how it was recorded)."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gdnlint.verify import evidence, outcome, store
from gdnlint.verify.campaign import Run
from gdnlint.verify.matrix import ARMS, Arm, Subject, arms_of
from gdnlint.verify.store import Recorded

RECORDS = Path(__file__).parent.parent / "data" / "verify" / "records"
SUBJECT = Subject("recorded", {"model": "tiny"}, {"method": "mtp", "num_speculative_tokens": 1})

HEALTHY = {name: f"healthy-{name}" for name in ARMS}


def load(folder: Path, file: str) -> Recorded:
    path = folder / f"{file}.jsonl"
    path.write_bytes(gzip.decompress((RECORDS / f"{file}.jsonl.gz").read_bytes()))
    return store.read(path, file.partition("-")[2])


def arms() -> list[Arm]:
    return arms_of(SUBJECT, ARMS, {})


def concluded(folder: Path, files: dict[str, str]) -> outcome.Outcome:
    records = {name: load(folder, file) for name, file in {**HEALTHY, **files}.items()}
    return outcome.conclude(SUBJECT, Run(arms(), records), "2026-12-01")


@pytest.mark.parametrize(
    ("files", "title"),
    [
        ({}, "equivalent"),
        ({"both": "D1-both"}, "corrupt (prefix caching)"),
        ({"both": "D2-both"}, "corrupt (prefix caching)"),
        ({"both": "D3-both"}, "corrupt (prefix caching)"),
        ({"spec": "D11-spec", "both": "D11-both"}, "corrupt (speculation alone)"),
    ],
    ids=["healthy", "D1", "D2", "D3", "D11"],
)
def test_the_verdict_names_the_axis(tmp_path: Path, files: dict[str, str], title: str) -> None:
    assert concluded(tmp_path, files).verdict.title == title


def test_prefix_caching_changes_no_bit_of_one_request_at_a_time(tmp_path: Path) -> None:
    found = concluded(tmp_path, {})
    for pair in (("apc", "plain"), ("both", "spec")):
        alone = [item for item in found.differences[pair] if item.phase == "sequential"]
        assert len(alone) == 40
        assert all(item.identical for item in alone)
    speculated = [item for item in found.differences["spec", "plain"] if item.phase == "sequential"]
    assert not any(item.identical for item in speculated)


def test_the_evidence_is_what_the_engine_counted(tmp_path: Path) -> None:
    found = evidence.gather(load(tmp_path, "healthy-both"))
    assert (found.answered, found.hits) == (144, 132)
    assert (found.drafts, found.accepted) == (3389, 1126)
    assert found.by_position == [1126]
    assert found.acceptance > 0.3


@pytest.mark.parametrize(("arm", "missing"), [("both", "hits"), ("spec", "accepted")])
def test_without_evidence_equal_answers_prove_nothing(tmp_path: Path, arm: str, missing: str) -> None:
    found = concluded(tmp_path, {})
    thin = {**found.evidence}
    setattr(thin[arm], missing, 0)
    reasons = evidence.missing({item.name: item for item in arms()}, thin, {})
    assert len(reasons) == 1
    assert reasons[0].startswith(f"{arm}: 0 of ")


def test_a_missing_arm_is_no_clean_run(tmp_path: Path) -> None:
    records = {name: load(tmp_path, file) for name, file in HEALTHY.items()}
    records["both"] = Recorded("both", "died", "the engine was killed by SIGKILL (to start)")
    found = outcome.conclude(SUBJECT, Run(arms(), records), "")
    assert found.verdict.title == "failed"
    assert found.verdict.reasons == ["both: died: the engine was killed by SIGKILL (to start)"]


def test_corruption_that_is_seen_stands_even_if_another_arm_failed(tmp_path: Path) -> None:
    records = {name: load(tmp_path, file) for name, file in {**HEALTHY, "spec": "D11-spec"}.items()}
    records["both"] = Recorded("both", "hung", "no answer")
    assert outcome.conclude(SUBJECT, Run(arms(), records), "").verdict.title == "corrupt (speculation alone)"


def test_a_record_that_breaks_off_is_read_to_the_break(tmp_path: Path) -> None:
    load(tmp_path, "healthy-both")
    path = tmp_path / "healthy-both.jsonl"
    lines = path.read_text("utf-8").splitlines(keepends=True)
    path.write_text("".join(lines[:10]) + lines[10][: len(lines[10]) // 2], "utf-8")
    found = store.read(path, "both")
    assert (found.status, found.error) == ("died", "the record ends early")
    assert len(found.answers) == 8
