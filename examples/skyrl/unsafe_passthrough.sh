#!/usr/bin/env bash
# Unsafe: the typed `false` is dead, because engine_init_kwargs are applied last.
set -euo pipefail

uv run --isolated --extra megatron -m skyrl.train.entrypoints.main_base \
  trainer.policy.model.path=Qwen/Qwen3.5-9B \
  trainer.mtp.enabled=true \
  generator.inference_engine.enable_prefix_caching=false \
  generator.inference_engine.engine_init_kwargs.enable_prefix_caching=true
