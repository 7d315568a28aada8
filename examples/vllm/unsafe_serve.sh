#!/usr/bin/env bash
# Unsafe: nothing here says "prefix caching", and vLLM 0.28.0 (see requirements.txt) has it on by default for this model.
set -euo pipefail

MODEL="Qwen/Qwen3.6-27B"

vllm serve "$MODEL" \
  --tensor-parallel-size 4 \
  --max-model-len 65536 \
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
