"""The vLLM project's recipes: a command a variant, and features that are on or offered."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, launch, report, rules, value

SPEC = """["--speculative-config", '{"method": "mtp", "num_speculative_tokens": 1}']"""
ON, OFF = '["--enable-prefix-caching"]', '["--no-enable-prefix-caching"]'
MINIMUM = "0.17.0"


def recipe(
    base: str = ON, features: str = f"  spec: {{args: {SPEC}}}\n", opt_in: str = "[]",
    variants: str = "  default: {precision: bf16}\n", model: str = HYBRID, more: str = "",
) -> str:  # fmt: skip
    return (
        f'meta: {{title: x}}\nmodel:\n  model_id: {model}\n  min_vllm_version: "{MINIMUM}"\n  base_args: {base}\n'
        f"features:\n{features}opt_in_features: {opt_in}\nvariants:\n{variants}{more}"
    )


LEFT_ALONE = {
    "an offered feature is off": recipe(opt_in="[spec]"),
    "no drafter": recipe(features="  tools: {args: [--enable-auto-tool-choice]}\n"),
    "off": recipe(base=OFF),
    "a dense model": recipe(model=DENSE),
    "the last word counts": recipe(variants=f"  default: {{extra_args: {OFF}}}\n"),
    "blackwell only": recipe(base="[]", opt_in="[]", more=f"hardware_overrides: {{hopper: {{extra_args: {OFF}}}}}\n"),
}

REPORTED = {
    "a feature that is on": recipe(),
    "the variant's words": recipe(base="[]", variants=f"  default: {{extra_args: {ON}}}\n"),
    "the variant's model": recipe(model=DENSE, variants=f"  default: {{model_id: {HYBRID}}}\n"),
    "the default hardware's words": recipe(base="[]", more=f"hardware_overrides: {{hopper: {{extra_args: {ON}}}}}\n"),
    "a mode of a feature": recipe(
        features=f"  spec: {{default_mode: b, modes: {{a: {{args: []}}, b: {{args: {SPEC}}}}}}}\n"
    ),
    "the first mode": recipe(features=f"  spec: {{modes: {{b: {{args: {SPEC}}}, a: {{args: []}}}}}}\n"),
    "a variant switches the feature on": recipe(
        opt_in="[spec]",
        features=f"  spec: {{modes: {{a: {{args: []}}, b: {{args: {SPEC}}}}}}}\n",
        variants="  default: {default_modes: {spec: b}}\n",
    ),
}


@pytest.mark.parametrize("text", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(text: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"model.yaml": text})
    assert [item["combination"] for item in found["launches"]] == ["absent"]
    assert [f for f in found["findings"] if not f["when"]] == []


@pytest.mark.parametrize("text", REPORTED.values(), ids=REPORTED)
def test_reported(text: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"model.yaml": text})
    assert (found["framework"], found["combination"], rules(found)) == ("vllm_recipes", "present", ["GDN001"])


def test_an_offered_feature_is_a_scenario(tmp_path: Path) -> None:
    found = launch(tmp_path, {"model.yaml": recipe(opt_in="[spec, text_only]")})
    assert found["scenarios"] == [{"when": {"feature:spec": "on"}, "combination": "present"}]
    assert [(f["rule"], f["when"]) for f in found["findings"]] == [("GDN001", {"feature:spec": "on"})]
    assumed = launch(tmp_path, {"model.yaml": recipe(opt_in="[spec]")}, "--assume", "feature:spec=on")
    assert assumed["combination"] == "present"


def test_each_variant_is_a_launch_at_its_own_lines(tmp_path: Path) -> None:
    variants = f"  default:\n    precision: bf16\n  dense:\n    model_id: {DENSE}\n"
    found = report(tmp_path, {"model.yaml": recipe(variants=variants)})
    assert [(item["line"], item["settings"]["model"]["value"], item["combination"]) for item in found["launches"]] == [
        (10, HYBRID, "present"),
        (12, DENSE, "absent"),
    ]


def test_a_minimum_leaves_the_default_open(tmp_path: Path) -> None:
    # vllm-project/recipes@8959cf64, src/lib/command-synthesis.js:1018-1022: nothing but these words is passed
    found = launch(tmp_path, {"model.yaml": recipe(base="[]")})
    assert found["combination"] == "undecided"
    assert f"the recipe asks for vllm>={MINIMUM}" in found["decided_by"]
    newer = launch(tmp_path, {"model.yaml": recipe(base="[]").replace(MINIMUM, "0.28.0")})
    assert (newer["combination"], value(newer, "enable_prefix_caching")) == ("present", True)


def test_the_fix_replaces_the_word(tmp_path: Path) -> None:
    text = recipe()
    (finding,) = launch(tmp_path, {"model.yaml": text})["findings"]
    assert fixed(tmp_path, finding) == text.replace(ON, OFF)


ONLY_HOPPER = f"  spec: {{args: {SPEC}, hardware_overrides: {{hopper: {{args: [--seed, '1']}}}}}}\n"
ONLY_BLACKWELL = f"  spec: {{args: {SPEC}, hardware_overrides: {{blackwell: {{args: [--seed, '1']}}}}}}\n"
A_MODE = f"  spec: {{modes: {{a: {{args: {SPEC}, hardware_overrides: {{hopper: {{args: []}}}}}}}}}}\n"
BESIDE = f"  spec: {{args: {SPEC}, modes: {{a: {{args: []}}}}}}\n"


@pytest.mark.parametrize(
    ("features", "variants", "combination"),
    [
        (ONLY_HOPPER, "  default: {precision: bf16}\n", "absent"),
        (ONLY_HOPPER, "  default: {precision: nvfp4}\n", "present"),
        (ONLY_BLACKWELL, "  default: {precision: bf16}\n", "present"),
        (ONLY_BLACKWELL, "  default: {precision: nvfp4}\n", "absent"),
        (A_MODE, "  default: {precision: bf16}\n", "absent"),
        (A_MODE, "  default: {precision: nvfp4}\n", "present"),
        (BESIDE, "  default: {precision: bf16}\n", "absent"),
    ],
)
def test_words_for_a_generation_stand_in_for_the_features(
    tmp_path: Path, features: str, variants: str, combination: str
) -> None:
    # src/lib/command-synthesis.js:1277-1310@8959cf64: `featHo?.args ?? feat.args`, and a mode's args alone
    assert launch(tmp_path, {"model.yaml": recipe(features=features, variants=variants)})["combination"] == combination


def test_other_hardware_is_a_choice_of_the_reader(tmp_path: Path) -> None:
    text = recipe(base="[]", variants=f"  default: {{hardware_overrides: {{dgx_spark_gb10: {{extra_args: {ON}}}}}}}\n")
    found = launch(tmp_path, {"model.yaml": text}, "--vllm-version", "0.26.0")
    assert found["combination"] == "absent"
    assert found["scenarios"] == [{"when": {"feature:dgx_spark_gb10": "on"}, "combination": "present"}]
    given = text.replace("meta: {title: x}", "meta: {title: x, default_hardware: dgx_spark_gb10}")
    assert launch(tmp_path, {"model.yaml": given}, "--vllm-version", "0.26.0")["combination"] == "present"
