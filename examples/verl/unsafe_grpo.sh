#!/usr/bin/env bash
# Unsafe: verl drops a False on the way to vLLM's command line, and vLLM 0.28.0 then takes its own default, which is on.
set -euo pipefail

MODEL=(
  actor_rollout_ref.model.path=Qwen/Qwen3.5-9B
  actor_rollout_ref.model.mtp.enable=True
  actor_rollout_ref.model.mtp.enable_rollout=True
)
ROLLOUT=(
  actor_rollout_ref.rollout.name=vllm
  actor_rollout_ref.rollout.tensor_model_parallel_size=4
  actor_rollout_ref.rollout.enable_prefix_caching=False
)

python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo "${MODEL[@]}" "${ROLLOUT[@]}"
