#!/usr/bin/env bash
# Safe: Qwen3-8B has attention only, so there is no recurrent state to restore wrongly.
set -euo pipefail

vllm serve Qwen/Qwen3-8B \
  --enable-prefix-caching \
  --speculative-config '{"method": "eagle3", "model": "RedHatAI/Qwen3-8B-speculator.eagle3", "num_speculative_tokens": 3}'
