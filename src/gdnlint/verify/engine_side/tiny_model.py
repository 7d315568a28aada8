"""Makes tiny checkpoints for the self-test: hybrid models with a drafting head, and a dense control. Needs torch.

    python tiny_model.py --family qwen3_next --seed 0 --out FOLDER

The weights are random, and shaped so that the three things a self-test needs hold:

* The recurrent state matters: the Gated DeltaNet layers write most of the residual stream, with a memory of about a
  hundred tokens, so that a wrong state changes log-probabilities by tenths of a nat and more.
* Drafts are accepted: the head that reads the residual stream favours one successor of each token (``successor``), and
  the drafting head sees little but the last token, so that it proposes that successor.
* Nothing ends early: special tokens have no weight in the head.

Weights are stored under the names that vLLM's loaders expect. Runs in the environment that has vLLM, so it imports
nothing of gdnlint.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import torch
from safetensors.torch import save_file

VOCABULARY = 320
ORDINARY = 256
"""Byte tokens: the ids below it can be generated, those from it on are special or spare."""
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
HIDDEN = 128
LAYERS = 4
HEADS, KV_HEADS, HEAD_DIM = 4, 4, 64
KEY_HEADS, VALUE_HEADS, STATE_DIM = 1, 2, 64
"""The CPU kernels take state heads of 64, not of 32."""
INNER, EXPERT_INNER, EXPERTS = 256, 64, 4
FAMILIES = ("qwen3_next", "qwen3_5", "qwen3")

MIX = 0.35
"""Scale of what a layer adds to the residual stream, against the embedding."""
STATE_GAIN = 6.0
"""How much more the recurrent layers add."""
BIAS = 4.0
"""Value of the first channel of the residual stream, which no layer writes: a bias for the projections."""
WRITE_BIAS = 1.0
"""Lowers the write strength of the recurrent state, which lengthens its memory."""
DECAY = (0.005, 0.012)
"""Decay rates of the value heads, per token."""
SUCCESSOR = 48.0
"""How much the head favours the successor of the token that the residual stream holds."""

Weights = dict[str, torch.Tensor]


class Maker:
    """Draws the weights of one checkpoint."""

    def __init__(self, family: str, seed: int) -> None:
        self.family = family
        self.hybrid = family != "qwen3"
        self.random = torch.Generator().manual_seed(seed)
        self.weights: Weights = {}

    def draw(self, *shape: int, std: float | None = None) -> torch.Tensor:
        scale = 1.0 / math.sqrt(shape[-1]) if std is None else std
        return (torch.randn(*shape, generator=self.random) * scale).to(torch.bfloat16)

    def norm(self, size: int, extra: float = 0.0) -> torch.Tensor:
        # The hybrid families store the weight of a norm minus one.
        return torch.full((size,), extra if self.hybrid else 1.0 + extra, dtype=torch.bfloat16)

    def attention(self, prefix: str, scale: float) -> None:
        gated = 2 if self.hybrid else 1
        self.weights |= {
            f"{prefix}.q_proj.weight": self.draw(HEADS * HEAD_DIM * gated, HIDDEN),
            f"{prefix}.k_proj.weight": self.draw(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.v_proj.weight": self.draw(KV_HEADS * HEAD_DIM, HIDDEN),
            f"{prefix}.o_proj.weight": self.draw(HIDDEN, HEADS * HEAD_DIM, std=scale * 2 / math.sqrt(HEADS * HEAD_DIM)),
            f"{prefix}.q_norm.weight": self.norm(HEAD_DIM, 0.5),
            f"{prefix}.k_norm.weight": self.norm(HEAD_DIM, 0.5),
        }

    def recurrent(self, prefix: str, scale: float) -> None:
        keys, values = KEY_HEADS * STATE_DIM, VALUE_HEADS * STATE_DIM
        if self.family == "qwen3_next":
            self.weights[f"{prefix}.in_proj_qkvz.weight"] = self.draw(2 * keys + 2 * values, HIDDEN)
            write = self.draw(2 * VALUE_HEADS, HIDDEN)
            # One group for each key head: the write strengths of its value heads, then their decays.
            share = VALUE_HEADS // KEY_HEADS
            write.view(KEY_HEADS, 2 * share, HIDDEN)[:, :share, 0] = -WRITE_BIAS / BIAS
            self.weights[f"{prefix}.in_proj_ba.weight"] = write
        else:
            self.weights[f"{prefix}.in_proj_qkv.weight"] = self.draw(2 * keys + values, HIDDEN)
            self.weights[f"{prefix}.in_proj_z.weight"] = self.draw(values, HIDDEN)
            write = self.draw(VALUE_HEADS, HIDDEN)
            write[:, 0] = -WRITE_BIAS / BIAS
            self.weights[f"{prefix}.in_proj_b.weight"] = write
            self.weights[f"{prefix}.in_proj_a.weight"] = self.draw(VALUE_HEADS, HIDDEN)
        low, high = (math.log10(rate) for rate in DECAY)
        self.weights |= {
            f"{prefix}.conv1d.weight": self.draw(2 * keys + values, 1, 4, std=0.6),
            f"{prefix}.dt_bias": self.draw(VALUE_HEADS, std=0.3),
            f"{prefix}.A_log": torch.log(torch.logspace(low, high, VALUE_HEADS)).float(),
            f"{prefix}.norm.weight": torch.ones(STATE_DIM, dtype=torch.bfloat16),
            f"{prefix}.out_proj.weight": self.draw(HIDDEN, values, std=scale * STATE_GAIN * 2 / math.sqrt(values)),
        }

    def feed_forward(self, prefix: str, scale: float, inner: int) -> None:
        self.weights |= {
            f"{prefix}.gate_proj.weight": self.draw(inner, HIDDEN),
            f"{prefix}.up_proj.weight": self.draw(inner, HIDDEN),
            f"{prefix}.down_proj.weight": self.draw(HIDDEN, inner, std=scale / math.sqrt(inner)),
        }

    def layer(self, prefix: str, full_attention: bool, scale: float) -> None:
        self.weights[f"{prefix}.input_layernorm.weight"] = self.norm(HIDDEN)
        self.weights[f"{prefix}.post_attention_layernorm.weight"] = self.norm(HIDDEN)
        if full_attention:
            self.attention(f"{prefix}.self_attn", scale)
        else:
            self.recurrent(f"{prefix}.linear_attn", scale)
        if self.family != "qwen3_next":
            self.feed_forward(f"{prefix}.mlp", scale, INNER)
            return
        self.weights[f"{prefix}.mlp.gate.weight"] = self.draw(EXPERTS, HIDDEN)
        for expert in range(EXPERTS):
            self.feed_forward(f"{prefix}.mlp.experts.{expert}", scale, EXPERT_INNER)
        self.feed_forward(f"{prefix}.mlp.shared_expert", scale, EXPERT_INNER)
        self.weights[f"{prefix}.mlp.shared_expert_gate.weight"] = self.draw(1, HIDDEN)

    def model(self, successor: float) -> Weights:
        embedding = self.draw(VOCABULARY, HIDDEN, std=1.0)
        embedding[:, 0] = BIAS
        self.weights["model.embed_tokens.weight"] = embedding
        for number, kind in enumerate(layer_kinds(self.hybrid)):
            self.layer(f"model.layers.{number}", kind == "full_attention", MIX)
        self.weights["model.norm.weight"] = self.norm(HIDDEN)
        self.weights["lm_head.weight"] = self.head(embedding, successor)
        if self.hybrid:
            self.drafting_head()
        for name, weight in self.weights.items():
            if name.endswith(("o_proj.weight", "out_proj.weight", "down_proj.weight")):
                weight[0] = 0  # keeps the bias channel constant
        return self.weights

    def head(self, embedding: torch.Tensor, successor: float) -> torch.Tensor:
        head = torch.randn(VOCABULARY, HIDDEN, generator=self.random) * (2 / math.sqrt(HIDDEN))
        follows = torch.randperm(ORDINARY, generator=self.random)
        head[follows] += successor * embedding[:ORDINARY].float() / HIDDEN
        head[ORDINARY:] = 0
        head[:, 0] = 0
        return head.to(torch.bfloat16)

    def drafting_head(self) -> None:
        self.layer("mtp.layers.0", full_attention=True, scale=MIX * 0.1)
        hidden = 0.02 * torch.randn(HIDDEN, HIDDEN, generator=self.random)
        # Embedding of the next token first, then the target's hidden state.
        self.weights["mtp.fc.weight"] = torch.cat([torch.eye(HIDDEN), hidden], 1).to(torch.bfloat16)
        for name in ("norm", "pre_fc_norm_hidden", "pre_fc_norm_embedding"):
            self.weights[f"mtp.{name}.weight"] = self.norm(HIDDEN)


def layer_kinds(hybrid: bool) -> list[str]:
    return ["full_attention" if not hybrid or number % 4 == 3 else "linear_attention" for number in range(LAYERS)]


def configuration(family: str) -> dict[str, object]:
    """The ``config.json`` of a checkpoint."""
    hybrid = family != "qwen3"
    rope: dict[str, object] = {"rope_type": "default", "rope_theta": 10000.0}
    common: dict[str, object] = {
        "vocab_size": VOCABULARY, "hidden_size": HIDDEN, "intermediate_size": INNER, "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD_DIM, "hidden_act": "silu",
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "tie_word_embeddings": False,
        "dtype": "bfloat16" if hybrid else "float32", "attention_bias": False,
        "bos_token_id": None, "eos_token_id": ORDINARY + 2, "pad_token_id": ORDINARY,
    }  # fmt: skip
    if not hybrid:
        return {**common, "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "rope_parameters": rope}
    common |= {
        "layer_types": layer_kinds(True), "linear_conv_kernel_dim": 4,
        "linear_key_head_dim": STATE_DIM, "linear_value_head_dim": STATE_DIM,
        "linear_num_key_heads": KEY_HEADS, "linear_num_value_heads": VALUE_HEADS,
        "full_attention_interval": 4, "partial_rotary_factor": 0.25,
        "rope_parameters": {**rope, "partial_rotary_factor": 0.25},
    }  # fmt: skip
    if family == "qwen3_5":
        names = {"architectures": ["Qwen3_5ForCausalLM"], "model_type": "qwen3_5_text", "mtp_num_hidden_layers": 1}
        return {**common, **names}
    return {
        **common, "architectures": ["Qwen3NextForCausalLM"], "model_type": "qwen3_next", "num_nextn_predict_layers": 1,
        "num_experts": EXPERTS, "num_experts_per_tok": 2, "moe_intermediate_size": EXPERT_INNER,
        "shared_expert_intermediate_size": EXPERT_INNER, "decoder_sparse_step": 1, "norm_topk_prob": True,
        "mlp_only_layers": [], "rope_theta": 10000.0,
    }  # fmt: skip


def write_tokenizer(folder: Path) -> None:
    """One token for each byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    names = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *SPECIAL]
    names += [f"<|spare_{number}|>" for number in range(len(names), VOCABULARY)]
    tokenizer = Tokenizer(models.BPE(vocab={name: number for number, name in enumerate(names)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SPECIAL))
    tokenizer.save(str(folder / "tokenizer.json"))
    template = (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
        "<|im_start|>assistant\n"
    )
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 8192, "eos_token": SPECIAL[2],
        "pad_token": SPECIAL[0], "clean_up_tokenization_spaces": False, "chat_template": template,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes a tiny checkpoint.")
    parser.add_argument("--family", choices=FAMILIES, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--successor", type=float, default=SUCCESSOR)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    weights = Maker(asked.family, asked.seed).model(asked.successor)
    if asked.family == "qwen3":
        weights = {name: weight.float() for name, weight in weights.items()}
    (asked.out / "config.json").write_text(json.dumps(configuration(asked.family), indent=1))
    generation = {"eos_token_id": ORDINARY + 2, "pad_token_id": ORDINARY, "do_sample": False}
    (asked.out / "generation_config.json").write_text(json.dumps(generation))
    write_tokenizer(asked.out)
    # Last, and under its name only when whole: a folder with weights is a finished checkpoint.
    part = asked.out / "model.safetensors.part"
    save_file({name: weight.contiguous() for name, weight in weights.items()}, part, metadata={"format": "pt"})
    part.rename(asked.out / "model.safetensors")


if __name__ == "__main__":
    main()
