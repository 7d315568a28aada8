#!/usr/bin/env bash
# Safe: prefix caching is off, and it says so on every vLLM release.
set -euo pipefail

MODEL="Qwen/Qwen3.6-27B"

vllm serve "$MODEL" \
  --tensor-parallel-size 4 \
  --max-model-len 65536 \
  --no-enable-prefix-caching \
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
