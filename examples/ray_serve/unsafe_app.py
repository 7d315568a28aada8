"""Unsafe: engine_kwargs go to vLLM 0.28.0 as they are, and its default for prefix caching is on."""

from ray import serve
from ray.serve.llm import LLMConfig, build_openai_app

config = LLMConfig(
    model_loading_config={"model_id": "qwen", "model_source": "Qwen/Qwen3.5-35B-A3B"},
    engine_kwargs={
        "tensor_parallel_size": 4,
        "speculative_config": {"method": "mtp", "num_speculative_tokens": 1},
    },
)

serve.run(build_openai_app({"llm_configs": [config]}))
