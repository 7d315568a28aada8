#!/usr/bin/env bash
# Safe: engine_kwargs carry the negative flag itself, which reaches vLLM.
set -euo pipefail

MODEL=(
  actor_rollout_ref.model.path=Qwen/Qwen3.5-9B
  actor_rollout_ref.model.mtp.enable=True
  actor_rollout_ref.model.mtp.enable_rollout=True
)
ROLLOUT=(
  actor_rollout_ref.rollout.name=vllm
  actor_rollout_ref.rollout.tensor_model_parallel_size=4
  +actor_rollout_ref.rollout.engine_kwargs.vllm.no_enable_prefix_caching=True
)

python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo "${MODEL[@]}" "${ROLLOUT[@]}"
