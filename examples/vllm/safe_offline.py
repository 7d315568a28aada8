"""Safe: the engine drafts, and caches no prefixes."""

from vllm import LLM, SamplingParams

ENGINE = {"tensor_parallel_size": 4, "enable_prefix_caching": False}
DRAFTING = {"method": "mtp", "num_speculative_tokens": 2}


def main() -> None:
    llm = LLM(model="Qwen/Qwen3.6-27B", speculative_config=DRAFTING, **ENGINE)
    print(llm.generate(["Why is the sky blue?"], SamplingParams(temperature=0.0)))


if __name__ == "__main__":
    main()
