"""rLLM: keys of its own in front of another trainer's rollout."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, launch, rules, value

MTP = "actor_rollout_ref.model.mtp.enable=True actor_rollout_ref.model.mtp.enable_rollout=True"


def run(*words: str, model: str = HYBRID, backend: str = "verl") -> str:
    return " ".join(
        ("python -u train.py", f"rllm/backend={backend} rllm.algorithm.use_rllm=true", f"+model.name={model}",
         f"actor_rollout_ref.model.path={model} actor_rollout_ref.rollout.name=vllm", *words)
    ) + "\n"  # fmt: skip


def test_the_rollouts_prefix_caching_is_on_by_default(tmp_path: Path) -> None:
    # rllm/trainer/config/rllm/backend/verl.yaml:9-11@9beb6e0f loads /ppo_trainer, whose rollout has it true
    # (verl/trainer/config/rollout/rollout.yaml:90@1dda039b)
    found = launch(tmp_path, {"run.sh": run(MTP)}, "--vllm-version", "0.22.1")
    assert (found["framework"], found["combination"]) == ("rllm", "present")
    assert value(found, "enable_prefix_caching") is True
    assert "GDN001" in rules(found)


@pytest.mark.parametrize(
    "script",
    [
        run(),
        run(MTP, model=DENSE),
        run(MTP, "+actor_rollout_ref.rollout.engine_kwargs.vllm.no_enable_prefix_caching=True"),
        run(MTP, backend="tinker"),
        run(MTP).replace("rollout.name=vllm", "rollout.name=sglang"),
    ],
    ids=["nothing drafts", "a dense model", "off", "a hosted backend", "another engine"],
)
def test_left_alone(tmp_path: Path, script: str) -> None:
    found = launch(tmp_path, {"run.sh": script}, "--vllm-version", "0.24.0")
    assert (found["framework"], found["combination"], found["findings"]) == ("rllm", "absent", [])


def test_its_module_without_a_key_of_its_own(tmp_path: Path) -> None:
    words = f"actor_rollout_ref.model.path={HYBRID} {MTP}"
    ours = launch(tmp_path, {"a.sh": f"python3 -m rllm.trainer.verl.train_agent_ppo {words}\n"})
    theirs = launch(tmp_path, {"b.sh": f"python3 -m verl.trainer.main_ppo {words}\n"})
    assert (ours["framework"], theirs["framework"]) == ("rllm", "verl")
    assert ours["combination"] == theirs["combination"] == "present"
