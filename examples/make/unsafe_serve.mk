# Unsafe: `make serve` runs the drafting head, and prefix caching is on by default for hybrid models from vLLM 0.28.0.
IMAGE := vllm/vllm-openai:v0.28.0
MODEL ?= Qwen/Qwen3.6-27B
TOKENS ?= 2

.PHONY: serve
serve:
	docker run --gpus all --ipc=host -p 8000:8000 $(IMAGE) \
	  --model $(MODEL) \
	  --speculative-config '{"method": "mtp", "num_speculative_tokens": $(TOKENS)}'
