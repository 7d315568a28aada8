#!/usr/bin/env bash
# Safe: MiMo-7B drafts with its own head too, but it has attention only.
set -euo pipefail

MODEL_NAME="XiaomiMiMo/MiMo-7B-RL"
MTP_ENABLED=true
DATA_DIR="${DATA_DIR:-$HOME/data/dapo}"

uv run --isolated --extra megatron -m skyrl.train.entrypoints.main_base \
  data.train_data="['$DATA_DIR/train.parquet']" \
  trainer.policy.model.path="$MODEL_NAME" \
  trainer.strategy=megatron \
  trainer.mtp.enabled=$MTP_ENABLED \
  trainer.mtp.num_speculative_tokens=1 \
  generator.inference_engine.num_engines=2 \
  generator.inference_engine.tensor_parallel_size=4 \
  "$@"
