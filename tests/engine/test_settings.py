"""What a release makes of settings: drafting methods, what is forced, what is refused, what does nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import HYBRID, MTP, launch, rules, value

APC, NO_APC = "--enable-prefix-caching", "--no-enable-prefix-caching"
NEXT = "Qwen/Qwen3-Next-80B-A3B-Instruct"
MAMBA = "nvidia/NVIDIA-Nemotron-Nano-9B-v2"


def serve(words: str, model: str = HYBRID) -> str:
    return f"vllm serve {model} {words}\n"


def drafts(text: str) -> str:
    return f"--speculative-config '{{{text}}}'"


# -- refused at start --------------------------------------------------------------------------------------------------

# words, the releases around an edge: (release, refused or not)
REFUSED = {
    "drafting with prefix caching": (
        serve(f"{APC} {MTP}", NEXT),
        "AssertionError",
        {"0.15.0": True, "0.16.0": True, "0.17.0": False},
    ),
    "the same without it": (serve(f"{NO_APC} {MTP}", NEXT), "", {"0.15.0": False, "0.16.0": False}),
    "drafting on other recurrent models": (
        serve(f"{NO_APC} {MTP}", MAMBA),
        "NotImplementedError",
        {"0.16.0": True, "0.17.0": False},
    ),
    "chunked prefill off": (
        serve(f"{APC} --no-enable-chunked-prefill", NEXT),
        "chunked prefill is required",
        {"0.14.1": False, "0.15.0": True, "0.33.0": True},
    ),
    "chunked prefill off, and prefix caching": (
        serve(f"{NO_APC} --no-enable-chunked-prefill", NEXT),
        "",
        {"0.15.0": False, "0.33.0": False},
    ),
    "multimodal input in one piece": (
        serve(f"{APC} --disable-chunked-mm-input"),
        "--disable-chunked-mm-input",
        {"0.17.0": True, "0.33.0": True},
    ),
    "a state block without prefix caching": (
        serve(f"{NO_APC} --mamba-block-size 1024"),
        "can only be set with",
        {"0.17.0": True, "0.33.0": True},
    ),
    "the all mode": (
        serve(f"{APC} --mamba-cache-mode all", MAMBA),
        "removed in vLLM 0.32.0",
        {"0.31.0": False, "0.32.0": True},
    ),
    "an architecture that is not there yet": (serve(APC), "it came with 0.17.0", {"0.16.0": True, "0.17.0": False}),
    "an architecture that is gone": (
        serve(APC, "ibm-ai-platform/Bamba-9B-v2"),
        "it was removed after 0.23.0",
        {"0.23.0": False, "0.24.0": True},
    ),
    "mtp by its name": (
        serve(MTP, NEXT),
        "no speculative method mtp, which is known from 0.11.0 on",
        {"0.10.2": True, "0.11.0": False},
    ),
    "the older name": (
        serve(drafts('"method": "qwen3_next_mtp", "num_speculative_tokens": 1'), NEXT),
        "",
        {"0.10.2": False, "0.33.0": False},
    ),
    "dflash": (
        serve(drafts('"method": "dflash", "model": "a/b", "num_speculative_tokens": 4')),
        "dflash",
        {"0.19.1": True, "0.20.0": False},
    ),
    "dspark": (
        serve(drafts('"method": "dspark", "num_speculative_tokens": 4')),
        "dspark",
        {"0.24.0": True, "0.25.0": False},
    ),
    "suffix": (
        serve(drafts('"method": "suffix", "num_speculative_tokens": 4'), NEXT),
        "suffix",
        {"0.11.0": True, "0.11.1": False},
    ),
    "medusa": (
        serve(drafts('"method": "medusa", "model": "a/b", "num_speculative_tokens": 4')),
        "medusa",
        {"0.32.0": False, "0.33.0": True},
    ),
    "a drafter without its model": (
        serve(drafts('"method": "eagle3", "num_speculative_tokens": 4')),
        "needs a model",
        {"0.20.0": True, "0.33.0": True},
    ),
    "no draft tokens": (
        serve(drafts('"method": "mtp", "num_speculative_tokens": 0')),
        "greater than 0",
        {"0.17.0": True, "0.33.0": True},
    ),
    "fewer than none": (
        serve(drafts('"method": "mtp", "num_speculative_tokens": -1')),
        "greater than 0",
        {"0.33.0": True},
    ),
}


@pytest.mark.parametrize(
    ("script", "reason", "release", "refused"),
    [(script, reason, *edge) for script, reason, edges in REFUSED.values() for edge in edges.items()],
    ids=[f"{name}-{release}" for name, (_, _, edges) in REFUSED.items() for release in edges],
)
def test_a_release_refuses(tmp_path: Path, script: str, reason: str, release: str, refused: bool) -> None:
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", release)
    assert found["startup"] == ("refused" if refused else "ok"), found["startup_reason"]
    if refused:
        assert reason in found["startup_reason"]
        assert found["combination"] == "absent"
        assert rules(found) == ["GDN005"]


def test_what_only_some_releases_refuse_is_judged_by_the_others(tmp_path: Path) -> None:
    script = serve(drafts('"method": "qwen4_exp_mtp", "num_speculative_tokens": 2'))
    found = launch(tmp_path, {"serve.sh": script})
    assert (found["combination"], found["startup"]) == ("present", "ok")


# -- drafting methods --------------------------------------------------------------------------------------------------

METHODS = {
    "given": ('"method": "eagle", "model": "a/b", "num_speculative_tokens": 2', "eagle"),
    "an mtp of a family": ('"method": "qwen3_5_mtp", "num_speculative_tokens": 2', "mtp"),
    "the model is ngram": ('"model": "ngram", "num_speculative_tokens": 2', "ngram"),
    "the drafter's name: eagle-": ('"model": "a/EAGLE-Qwen", "num_speculative_tokens": 2', "eagle"),
    "the drafter's name: eagle3": ('"model": "a/Qwen-eagle3", "num_speculative_tokens": 2', "eagle3"),
    "the drafter's name: dflash": ('"model": "a/Qwen-DFlash", "num_speculative_tokens": 2', "dflash"),
    "the drafter's name: dspark": ('"model": "a/Qwen-dspark", "num_speculative_tokens": 2', "dspark"),
    "its own drafter": (f'"model": "{HYBRID}", "num_speculative_tokens": 2', "mtp"),
    "a draft model": ('"model": "Qwen/Qwen3-0.6B", "num_speculative_tokens": 2', "draft_model"),
}


@pytest.mark.parametrize(("text", "method"), METHODS.values(), ids=METHODS)
def test_the_drafting_method(tmp_path: Path, text: str, method: str | None) -> None:
    found = launch(tmp_path, {"serve.sh": serve(f"{APC} {drafts(text)}")}, "--vllm-version", "0.28.0")
    assert value(found, "speculative_config").get("method") == method
    assert found["combination"] == "present"


def test_a_repository_of_a_speculator_drafts_without_a_flag(tmp_path: Path) -> None:
    script = serve(APC, "RedHatAI/Qwen3.6-35B-A3B-speculator.dspark")
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.28.0")
    assert (found["ingredients"]["speculation"], found["combination"]) == (True, "present")
    assert "switches speculative decoding on by itself" in found["evidence"]["speculation"]["sentence"]


@pytest.mark.parametrize(("method", "extra"), [("ngram", ', "prompt_lookup_max": 4'), ("suffix", "")])
@pytest.mark.parametrize(("release", "found_by"), [("0.31.0", ["GDN004"]), ("0.32.0", [])])
def test_drafting_that_can_draft_nothing(
    tmp_path: Path, method: str, extra: str, release: str, found_by: list[str]
) -> None:
    words = drafts(f'"method": "{method}", "num_speculative_tokens": 4{extra}')
    found = launch(tmp_path, {"serve.sh": serve(f"{NO_APC} {words}")}, "--vllm-version", release)
    assert (found["combination"], rules(found)) == ("absent", found_by)


def test_drafting_that_can_draft_nothing_without_a_version_is_a_warning(tmp_path: Path) -> None:
    words = drafts('"method": "ngram", "num_speculative_tokens": 4')
    (finding,) = launch(tmp_path, {"serve.sh": serve(f"{NO_APC} {words}")})["findings"]
    assert (finding["rule"], finding["severity"]) == ("GDN004", "warning")


def test_other_recurrent_layers_are_not_meant(tmp_path: Path) -> None:
    words = drafts('"method": "ngram", "num_speculative_tokens": 4')
    found = launch(tmp_path, {"serve.sh": serve(f"{NO_APC} {words}", MAMBA)}, "--vllm-version", "0.28.0")
    assert rules(found) == []


# -- the mode of the state cache ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["0.17.0", "0.28.0", "0.33.0"])
def test_cache_mode_none_does_not_switch_prefix_caching_off(tmp_path: Path, release: str) -> None:
    script = serve(f"{APC} {MTP} --mamba-cache-mode none")
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", release)
    assert (found["combination"], value(found, "mamba_cache_mode")) == ("present", "align")
    assert "GDN003" in rules(found)
    ineffective = next(finding for finding in found["findings"] if finding["rule"] == "GDN003")
    assert "--mamba-cache-mode none does not switch prefix caching off" in ineffective["message"]


@pytest.mark.parametrize("mode", ["align", "all"])
def test_a_cache_mode_does_not_switch_prefix_caching_on(tmp_path: Path, mode: str) -> None:
    script = serve(f"{MTP} --mamba-cache-mode {mode}")
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.25.1")
    assert (found["combination"], value(found, "mamba_cache_mode")) == ("absent", "none")


# -- runner and scheduling ---------------------------------------------------------------------------------------------

V1, V2 = "v1", "v2"
RUNNERS = {
    "0.28.0": ("", MTP, V1),
    "0.29.0": ("", MTP, V2),
    "0.29.0 told to": ("VLLM_USE_V2_MODEL_RUNNER=0 ", MTP, V1),
    "0.25.1 told to": ("VLLM_USE_V2_MODEL_RUNNER=1 ", MTP, V2),
    "0.31.0 ngram": ("", drafts('"method": "ngram", "num_speculative_tokens": 2'), V1),
    "0.32.0 ngram": ("", drafts('"method": "ngram", "num_speculative_tokens": 2'), V2),
    "0.33.0 suffix": ("", drafts('"method": "suffix", "num_speculative_tokens": 2'), V1),
    "0.25.0 dspark": ("", drafts('"method": "dspark", "num_speculative_tokens": 2'), V2),
}


@pytest.mark.parametrize("name", RUNNERS)
def test_the_model_runner(tmp_path: Path, name: str) -> None:
    before, words, runner = RUNNERS[name]
    found = launch(tmp_path, {"serve.sh": before + serve(words)}, "--vllm-version", name.partition(" ")[0])
    assert value(found, "model_runner") == runner


SCHEDULING = [
    ("0.13.0", MTP, False),
    ("0.14.0", MTP, True),
    ("0.28.0", MTP, True),
    ("0.28.0", f"{MTP} --no-async-scheduling", False),
    ("0.28.0", drafts('"method": "ngram", "num_speculative_tokens": 2'), False),
]


@pytest.mark.parametrize(("release", "words", "expected"), SCHEDULING)
def test_async_scheduling(tmp_path: Path, release: str, words: str, expected: bool) -> None:
    found = launch(tmp_path, {"serve.sh": serve(words, NEXT)}, "--vllm-version", release)
    assert value(found, "async_scheduling") is expected


def test_async_scheduling_off_takes_one_defect_away_and_no_more(tmp_path: Path) -> None:
    script = serve(f"{APC} {MTP} --no-async-scheduling")
    (finding,) = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.28.0")["findings"]
    notes = " ".join(finding["notes"])
    assert (finding["severity"], "D2 " in notes, "D4 " in notes) == ("error", False, True)


def test_pipeline_stages_keep_the_error_until_0_31(tmp_path: Path) -> None:
    script = serve(f"{APC} {MTP} -pp 2")
    for release, severity in {"0.31.0": "error", "0.32.0": "warning"}.items():
        findings = launch(tmp_path, {"serve.sh": script}, "--vllm-version", release)["findings"]
        assert [f["severity"] for f in findings if f["rule"] == "GDN001"] == [severity]


@pytest.mark.parametrize("method", ["mtp", "eagle3", "draft_model"])
def test_defects_that_need_a_drafter_like_eagle(tmp_path: Path, method: str) -> None:
    model = "" if method == "mtp" else ', "model": "a/b"'
    words = drafts(f'"method": "{method}", "num_speculative_tokens": 2{model}')
    found = launch(tmp_path, {"serve.sh": serve(f"{APC} {words}")}, "--vllm-version", "0.20.0")
    assert found["combination"] == "present"
    assert any("D1 " in note for note in found["findings"][0]["notes"]) is (method != "draft_model")


# -- what depends on the model or the drafter --------------------------------------------------------------------------

SUPER = "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4"


@pytest.mark.parametrize(("release", "severity"), [("0.26.0", "warning"), ("0.28.0", "error")])
def test_state_cached_at_every_block_has_no_truncated_state(tmp_path: Path, release: str, severity: str) -> None:
    found = launch(tmp_path, {"serve.sh": serve(f"{APC} {MTP}", SUPER)}, "--vllm-version", release)
    assert value(found, "mamba_cache_mode") == ("all" if release == "0.26.0" else "align")
    assert [finding["severity"] for finding in found["findings"]] == [severity]


def state(found: dict[str, Any], setting: str) -> str:
    return str(found["settings"][setting]["state"])


DFLASH = drafts('"method": "dflash", "model": "z-lab/Qwen3.6-27B-DFlash", "num_speculative_tokens": 8')


@pytest.mark.parametrize(("release", "expected"), [("0.25.1", "known"), ("0.27.1", "unknown"), ("0.29.0", "known")])
def test_the_runner_of_a_dflash_drafter(tmp_path: Path, release: str, expected: str) -> None:
    found = launch(tmp_path, {"serve.sh": serve(f"{APC} {DFLASH}")}, "--vllm-version", release)
    assert (found["combination"], state(found, "model_runner")) == ("present", expected)
    assert state(found, "async_scheduling") == "unknown"


@pytest.mark.parametrize(("release", "runner", "racing"), [("0.27.0", "v2", False), ("0.28.0", "v2", False)])
def test_kimi_k3_runs_on_the_new_runner(tmp_path: Path, release: str, runner: str, racing: bool) -> None:
    found = launch(tmp_path, {"serve.sh": serve(f"{APC} {MTP}", "moonshotai/Kimi-K3")}, "--vllm-version", release)
    assert value(found, "model_runner") == runner
    assert any("D2 " in note for finding in found["findings"] for note in finding["notes"]) is racing


@pytest.mark.parametrize(("release", "expected"), [("0.20.0", "ok"), ("0.23.0", "refused"), ("0.25.0", "ok")])
def test_the_new_runner_does_not_start_with_align_before_0_25(tmp_path: Path, release: str, expected: str) -> None:
    script = f"VLLM_USE_V2_MODEL_RUNNER=1 {serve(f'{APC} {MTP}')}"
    assert launch(tmp_path, {"serve.sh": script}, "--vllm-version", release)["startup"] == expected


@pytest.mark.parametrize(("release", "expected"), [("0.24.0", "known"), ("0.25.1", "unknown"), ("0.29.0", "known")])
def test_the_runner_of_other_models_is_not_guessed(tmp_path: Path, release: str, expected: str) -> None:
    found = launch(tmp_path, {"serve.sh": serve("", "Qwen/Qwen3-8B")}, "--vllm-version", release)
    assert state(found, "model_runner") == expected


@pytest.mark.parametrize(
    ("method", "release", "expected"),
    [
        ("ngram_gpu", "0.18.0", False),
        ("ngram_gpu", "0.19.0", True),
        ("dspark", "0.27.1", False),
        ("dspark", "0.28.0", True),
    ],
)
def test_async_scheduling_came_later_for_some_methods(
    tmp_path: Path, method: str, release: str, expected: bool
) -> None:
    words = drafts(f'"method": "{method}", "num_speculative_tokens": 2')
    found = launch(tmp_path, {"serve.sh": serve(f"{NO_APC} {words}")}, "--vllm-version", release)
    assert value(found, "async_scheduling") is expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (serve("", "athrael-soju/ColQwen3_5-v1"), False),
        (serve("--runner pooling --convert embed"), False),
        (serve("--runner generate"), True),
        (serve(""), True),
    ],
)
def test_pooling_on_a_hybrid_backbone_caches_no_prefixes(tmp_path: Path, script: str, expected: bool) -> None:
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.28.0")
    assert value(found, "enable_prefix_caching") is expected


def test_what_a_dense_pooling_model_does_is_not_guessed(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": serve("--runner pooling", "Qwen/Qwen3-8B")}, "--vllm-version", "0.28.0")
    assert state(found, "enable_prefix_caching") == "unknown"


def test_the_drafter_in_a_speculators_repository_is_not_guessed(tmp_path: Path) -> None:
    script = serve(APC, "RedHatAI/Qwen3.6-35B-A3B-speculator.dspark")
    (finding,) = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.25.1")["findings"]
    known = next(note for note in finding["notes"] if note.startswith("Known defects"))
    assert "D4 " in known and "D1 " not in known and "D3 " not in known


# -- config.json -------------------------------------------------------------------------------------------------------

CONFIGS = {
    "an architecture that nobody knows": ('{"architectures": ["NewHybridForCausalLM"]}', "0.28.0", "undecided"),
    "the same with recurrent layers": (
        '{"architectures": ["NewHybridForCausalLM"], "layer_types": ["conv", "full_attention"]}', "0.28.0", "present",
    ),
    "a known dense one": ('{"architectures": ["LlamaForCausalLM"]}', "0.28.0", "absent"),
    "a known hybrid one": ('{"architectures": ["GraniteMoeHybridForCausalLM"]}', "0.28.0", "present"),
    "with attention layers alone": (
        '{"architectures": ["GraniteMoeHybridForCausalLM"], "layer_types": ["attention"]}', "0.28.0", "absent",
    ),
    "with full attention before 0.29.0": (
        '{"architectures": ["GraniteMoeHybridForCausalLM"], "layer_types": ["full_attention"]}', "0.28.0", "present",
    ),
    "with full attention from 0.29.0": (
        '{"architectures": ["GraniteMoeHybridForCausalLM"], "layer_types": ["full_attention"]}', "0.29.0", "absent",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFIGS)
def test_what_config_json_says_of_the_layers(tmp_path: Path, name: str) -> None:
    config, release, combination = CONFIGS[name]
    words = drafts('"method": "eagle3", "model": "a/b", "num_speculative_tokens": 2')
    files = {"serve.sh": serve(f"{APC} {words}", "./model"), "model/config.json": config}
    assert launch(tmp_path, files, "--vllm-version", release)["combination"] == combination
