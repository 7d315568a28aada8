"""SkyRL's older layout: Hydra overrides with flat ``generator.*`` keys and no typed speculative keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, history, launch, rules, value, verdict

KWARGS = "generator.engine_init_kwargs"
SPECULATIVE = f"'+{KWARGS}.speculative_config={{method: mtp, num_speculative_tokens: 1}}'"


def run(words: str, model: str = HYBRID, module: str = "skyrl_train.entrypoints.main_base") -> str:
    return f"uv run --isolated --extra vllm -m {module} trainer.policy.model.path={model} {words}\n"


NEWER = "skyrl.train.entrypoints.main_base"
"""The module's name did not change when the keys did: flat keys say which layout it is."""

LEFT_ALONE = {
    "default: nothing drafts": run(""),
    "prefix caching on, nothing drafts": run("generator.enable_prefix_caching=true"),
    "off": run(f"{SPECULATIVE} generator.enable_prefix_caching=false"),
    "False": run(f"{SPECULATIVE} generator.enable_prefix_caching=False"),
    "off through the passthrough": run(f"{SPECULATIVE} +{KWARGS}.enable_prefix_caching=False"),
    "a null drafter": run(f"+{KWARGS}.speculative_config=null"),
    "the drafter deleted": run(f"{SPECULATIVE} ~{KWARGS}.speculative_config"),
    "a dense model": run(SPECULATIVE, model=DENSE),
    "the reference model is not the engine's": run(f"{SPECULATIVE} trainer.ref.model.path={HYBRID}", model=DENSE),
    "remote engines": run(f"{SPECULATIVE} generator.run_engines_locally=False"),
    "SGLang": run(f"{SPECULATIVE} generator.backend=sglang"),
    "there is no trainer's switch yet": run("+trainer.mtp.enabled=true generator.num_inference_engines=2"),
    "flat keys under the newer module": run(f"{SPECULATIVE} generator.enable_prefix_caching=false", module=NEWER),
}

REPORTED = {
    "default: prefix caching is on": run(SPECULATIVE),
    "explicit": run(f"{SPECULATIVE} generator.enable_prefix_caching=true"),
    "through the passthrough": run(f"{SPECULATIVE} +{KWARGS}.enable_prefix_caching=true"),
    "a mapping without blanks": run(f"'+{KWARGS}={{speculative_config:{{method:mtp,num_speculative_tokens:1}}}}'"),
    "dotted members": run(
        f"+{KWARGS}.speculative_config.method=mtp ++{KWARGS}.speculative_config.num_speculative_tokens=1"
    ),
    "a model through the passthrough": run(f"{SPECULATIVE} +{KWARGS}.model={HYBRID}", model=DENSE),
    "derived from variables": f"APC=true\n{run(SPECULATIVE + ' generator.enable_prefix_caching=$APC')}",
    "interpolated from another key": run(f"{SPECULATIVE} '+x={HYBRID}' generator.backend=vllm", model="'${x}'"),
    "flat keys under the newer module": run(f"{SPECULATIVE} generator.enable_prefix_caching=true", module=NEWER),
}


@pytest.mark.parametrize("script", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(script: str, tmp_path: Path) -> None:
    combination, found = verdict(tmp_path, {"train.sh": script})
    assert combination == "absent"
    assert "GDN001" not in found


@pytest.mark.parametrize("script", REPORTED.values(), ids=REPORTED)
def test_reported(script: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, {"train.sh": script}) == ("present", "GDN001")


@pytest.mark.parametrize("written", ["off", "'False'", "no"])
def test_off_is_a_text_for_hydra_and_nothing_here_decides_it(tmp_path: Path, written: str) -> None:
    found = launch(tmp_path, {"train.sh": run(f'{SPECULATIVE} "generator.enable_prefix_caching={written}"')})
    assert found["combination"] == "undecided"
    assert "where vLLM expects true or false" in found["decided_by"]


def test_the_passthrough_wins_over_the_typed_setting(tmp_path: Path) -> None:
    words = f"{SPECULATIVE} generator.enable_prefix_caching=false +{KWARGS}.enable_prefix_caching=true"
    found = launch(tmp_path, {"train.sh": run(words)})
    assert (found["combination"], rules(found)) == ("present", ["GDN001", "GDN006"])
    assert history(found, "enable_prefix_caching")[-2:] == [
        ("override generator.enable_prefix_caching=false", "lost"),
        (f"override {KWARGS}.enable_prefix_caching=true", "won"),
    ]


def test_the_fix_is_an_override_of_this_layout(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": run(SPECULATIVE)})
    text = fixed(tmp_path, found["findings"][0])
    assert text == run(SPECULATIVE).rstrip() + " generator.enable_prefix_caching=false\n"
    assert launch(tmp_path, {"train.sh": text})["combination"] == "absent"


def test_the_base_configuration_of_the_users_checkout_is_read(tmp_path: Path) -> None:
    base = "generator:\n  enable_prefix_caching: false\n  engine_init_kwargs: {}\n"
    files = {"run.sh": run(SPECULATIVE.replace("+", "++")), "skyrl_train/config/ppo_base_config.yaml": base}
    found = launch(tmp_path, files)
    assert (found["combination"], value(found, "enable_prefix_caching")) == ("absent", False)
    assert (
        found["settings"]["enable_prefix_caching"]["provenance"][-1]["path"]
        == "skyrl_train/config/ppo_base_config.yaml"
    )


def test_pipeline_stages_reach_the_engine(tmp_path: Path) -> None:
    script = run(f"{SPECULATIVE} generator.inference_engine_pipeline_parallel_size=2")
    found = launch(tmp_path, {"train.sh": script, "requirements.txt": "vllm==0.30.0\n"})
    assert (value(found, "pipeline_parallel_size"), rules(found)) == (2, ["GDN001", "GDN010"])
