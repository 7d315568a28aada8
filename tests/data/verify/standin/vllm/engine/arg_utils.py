"""The arguments that the stand-in takes, where the runner looks for them."""

import dataclasses


@dataclasses.dataclass
class EngineArgs:
    model: str
    enable_prefix_caching: bool = False
    speculative_config: object = None
    max_num_batched_tokens: int = 64
    max_num_seqs: int = 8
    disable_log_stats: bool = True
