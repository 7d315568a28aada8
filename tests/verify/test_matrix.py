"""What differs between the arms, and what does not."""

from __future__ import annotations

import pytest

from gdnlint.verify.matrix import ARMS, Arm, Subject, arms_of, rechunked, speculation_named

SUBJECT = Subject("s", {"model": "m", "max_model_len": 4096}, {"method": "mtp", "num_speculative_tokens": 2})


def test_arms_differ_in_the_two_axes_alone() -> None:
    arms = {arm.name: arm for arm in arms_of(SUBJECT, ARMS, {"A": "1"})}
    assert list(arms) == list(ARMS)
    for arm in arms.values():
        rest = {k: v for k, v in arm.engine.items() if k not in ("enable_prefix_caching", "speculative_config")}
        assert (rest, arm.environment) == (SUBJECT.engine, {"A": "1"})
    assert [(arm.caches, arm.speculates) for arm in arms.values()] == [
        (False, False), (False, False), (True, False), (False, True), (True, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "budget"),
    [
        ({"max_num_batched_tokens": 128, "block_size": 64, "max_num_seqs": 8}, 97),
        ({"max_num_batched_tokens": 8192, "block_size": 64, "max_num_seqs": 8}, 193),
        ({"max_num_batched_tokens": 8192, "block_size": 1056, "max_num_seqs": 256}, 3169),
        ({"max_num_batched_tokens": 512, "block_size": 16, "max_num_seqs": 256}, 256),
        ({"max_num_batched_tokens": 2048}, 1537),
        ({}, None),
    ],
)
def test_the_noise_arm_cuts_prompts_elsewhere(facts: dict[str, object], budget: int | None) -> None:
    made = rechunked(Arm("rechunked", {"model": "m"}, {}), facts)
    assert made.engine.get("max_num_batched_tokens") == budget


def test_a_drafting_method_by_name_or_as_json() -> None:
    assert speculation_named("mtp:1") == {"method": "mtp", "num_speculative_tokens": 1}
    assert speculation_named('{"method": "eagle3", "model": "d"}') == {"method": "eagle3", "model": "d"}
    assert speculation_named("ngram:3")["prompt_lookup_max"] == 4
