"""Reports made by hand: what the renderers get from a run."""

from __future__ import annotations

from dataclasses import dataclass

from gdnlint.results import (
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Ingredient,
    LaunchResult,
    Reference,
    Related,
    Report,
    Scenario,
    Setting,
    Step,
    Version,
)
from gdnlint.source import Source, Span

SCRIPT = """\
#!/usr/bin/env bash
set -e
MODEL=Qwen/Qwen3.5-9B
PORT=8000

echo "starting"
vllm serve "$MODEL" --port $PORT \\
  --enable-prefix-caching \\
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
"""

BASE = """\
defaults: {}
policy:
  model_name: Qwen/Qwen3.5-9B
"""


def cut(source: Source, text: str) -> Span:
    """The span of the first place where a text stands."""
    start = source.text.index(text)
    return source.span(start, start + len(text))


def finding(span: Span, message: str = "Prefix caching is on.", label: str = "here", **more: object) -> Finding:
    """A finding with as little as a renderer needs."""
    given: dict[str, object] = {
        "rule": "GDN001",
        "name": "hybrid-speculation-prefix-caching",
        "severity": "error",
        "confidence": "high",
        "launch": "serve.sh:7",
    }
    return Finding(message=message, span=span, label=label, **{**given, **more})  # type: ignore[arg-type]


def serve() -> Report:
    """A shell script with the combination, found in one file of three, and an undecided launch in another."""
    script, base = Source("serve.sh", SCRIPT), Source("conf/base.yaml", BASE)
    flag = cut(script, "--enable-prefix-caching")
    speculation = cut(script, """--speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'""")
    model = cut(script, "MODEL=Qwen/Qwen3.5-9B")
    found = finding(
        flag,
        "Qwen/Qwen3.5-9B runs with MTP and prefix caching on vLLM 0.28.0, which gives wrong tokens. "
        "The draft steps write the recurrent state that later requests read from the cache.",
        "prefix caching is switched on here",
        when={"ENABLE_MTP": "1"},
        related=(
            Related(model, "the hybrid model is chosen here"),
            Related(speculation, "speculation is switched on here"),
            Related(cut(base, "model_name: Qwen/Qwen3.5-9B"), "the same model in the recipe"),
        ),
        notes=("Known for this version: D1, D3.",),
        fixes=(
            Fix(
                "Turn prefix caching off",
                "safe",
                (Edit(flag, "--no-enable-prefix-caching"),),
                "a prompt that was seen before is computed again",
            ),
            Fix("Turn speculation off", "unsafe", (Edit(speculation, ""),), "decode speed"),
            Fix("Move to a build without the defect", "manual", (), "a test of that build"),
        ),
        references=(Reference("vLLM issue 43650", "https://github.com/vllm-project/vllm/issues/43650"),),
        chain=(Related(model, "model = Qwen/Qwen3.5-9B"), Related(flag, "enable_prefix_caching = true")),
    )
    hybrid = Ingredient(True, "Qwen/Qwen3.5-9B is a hybrid model (Gated DeltaNet)", ((model, "MODEL is set"),))
    launch = LaunchResult(
        id="serve.sh:7",
        span=script.span(script.text.index("vllm serve"), len(script.text) - 1),
        kind="shell",
        engine="vllm",
        framework="",
        combination="present",
        ingredients={
            "hybrid": hybrid,
            "speculation": Ingredient(True, "method mtp, 2 tokens", ((speculation, "the flag"),)),
            "prefix_caching": Ingredient(True, "switched on", ((flag, "the flag"),)),
        },
        version=Version("0.28.0", "pinned in requirements.txt", cut(base, "policy")),
        settings={
            "model": Setting("Qwen/Qwen3.5-9B", "known", (Step("MODEL", "Qwen/Qwen3.5-9B", "won", model),)),
            "enable_prefix_caching": Setting(
                True,
                "known",
                (
                    Step("default of vLLM from 0.28.0", True, "lost", None, "vllm/config/cache.py:71@v0.28.0"),
                    Step("the flag --enable-prefix-caching", True, "won", flag),
                ),
            ),
            "max_model_len": Setting(None, "unknown", (), "it depends on the environment variable MAX_LEN"),
        },
        scenarios=(Scenario({"ENABLE_MTP": "0"}, "absent"),),
    )
    other = LaunchResult(
        id="conf/base.yaml:1",
        span=base.span(0, len(base.text)),
        kind="recipe",
        engine="vllm",
        framework="example",
        combination="undecided",
        ingredients={
            "hybrid": hybrid,
            "speculation": Ingredient(True, "method mtp"),
            "prefix_caching": Ingredient(None, "not set"),
        },
        version=Version(None, "no version found"),
        settings={},
        decided_by="prefix caching is off before vLLM 0.28.0, on from it; no version found",
        note="nothing in this project starts it",
    )
    syntax = Diagnostic("syntax", "2 lines could not be parsed", "conf/base.yaml", cut(base, "defaults"))
    return Report([found], [other, launch], [syntax, Diagnostic("unreadable", "it is a pipe", "a pipe")], 3)


@dataclass(frozen=True)
class Rule:
    id: str = "GDN001"
    slug: str = "hybrid-speculation-prefix-caching"
    name: str = "HybridSpeculationPrefixCaching"
    summary: str = "A hybrid model runs with speculation and prefix caching."
    description: str = "The **recurrent** state goes wrong.\n\nMore of `it`."
    remediation: str = "Turn [one](https://example.org/) of the three off."
    severity: str = "error"
    precision: str = "high"
    tags: tuple[str, ...] = ("vllm",)
    ways_out: tuple[object, ...] = ()
    evidence: str = ""
    references: tuple[Reference, ...] = (Reference("issue", "https://github.com/vllm-project/vllm/issues/43650"),)
    examples: tuple[object, ...] = ()
