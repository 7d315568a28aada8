# Safe: as the twin, with prefix caching off.
IMAGE := vllm/vllm-openai:v0.28.0
MODEL ?= Qwen/Qwen3.6-27B
TOKENS ?= 2

.PHONY: serve
serve:
	docker run --gpus all --ipc=host -p 8000:8000 $(IMAGE) \
	  --model $(MODEL) \
	  --speculative-config '{"method": "mtp", "num_speculative_tokens": $(TOKENS)}' \
	  --no-enable-prefix-caching
