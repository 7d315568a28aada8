"""The rules of single defects, just inside and just outside the releases that have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import HYBRID, launch, report, rules

NEXT = "Qwen/Qwen3-Next-80B-A3B-Instruct"
ON, OFF = "--enable-prefix-caching", "--no-enable-prefix-caching"


def serve(*flags: str, model: str = HYBRID, method: str = "mtp", tokens: int = 2, env: str = "", **spec: Any) -> str:
    drafts = json.dumps({"method": method, "num_speculative_tokens": tokens, **spec})
    return f"{env} vllm serve {model} {' '.join(flags)} --speculative-config '{drafts}'\n".lstrip()


def connector(name: str, role: str = "kv_both", **more: Any) -> str:
    return f"--kv-transfer-config '{json.dumps({'kv_connector': name, 'kv_role': role, **more})}'"


def found(folder: Path, text: str, release: str = "") -> Any:
    return launch(folder, {"serve.sh": text}, *(["--vllm-version", release] if release else []))


def severity(found: Any, rule: str) -> str:
    """The severity of a rule's only finding; empty without one."""
    severities = [finding["severity"] for finding in found["findings"] if finding["rule"] == rule]
    assert len(severities) <= 1
    return "".join(severities)


def message(found: Any, rule: str) -> str:
    return next(finding["message"] for finding in found["findings"] if finding["rule"] == rule)


# -- GDN007: a KV connector with speculation --------------------------------------------------------------------------

NIXL = connector("NixlConnector", "kv_consumer")


@pytest.mark.parametrize(
    ("release", "expected"),
    [("0.22.0", "error"), ("0.25.1", "error"), ("0.26.0", ""), ("0.33.0", "")],
)
def test_received_cache_is_erased_up_to_0_25_1(release: str, expected: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, serve(OFF, NIXL), release), "GDN007") == expected


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(f"{OFF} --no-async-scheduling {NIXL}", id="no async scheduling"),
        pytest.param(f"{OFF} {connector('NixlConnector', 'kv_producer')}", id="the side that sends"),
        pytest.param(f"{OFF} {connector('MooncakeConnector')}", id="a connector of which it is not known"),
        pytest.param(OFF, id="no connector"),
    ],
)
def test_received_cache_is_not_erased_without_an_ingredient(flags: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, serve(flags), "0.25.1"), "GDN007") == ""


def test_with_an_unknown_release_the_erased_cache_is_a_note_that_names_the_releases(tmp_path: Path) -> None:
    told = found(tmp_path, serve(OFF, NIXL))
    assert severity(told, "GDN007") == "note"
    assert "0.17.1 to 0.25.1" in message(told, "GDN007")


@pytest.mark.parametrize(("release", "expected"), [("0.22.0", True), ("0.22.1", True), ("0.23.0", False)])
def test_an_external_hit_stops_the_engine_up_to_0_22_1(release: str, expected: bool, tmp_path: Path) -> None:
    told = found(tmp_path, serve(ON, connector("OffloadingConnector")), release)
    assert (severity(told, "GDN007") == "warning") is expected
    assert told["combination"] == "present"


@pytest.mark.parametrize(
    ("release", "expected"), [("0.25.1", ""), ("0.26.0", "warning"), ("0.33.0", "warning"), ("", "note")]
)
def test_shared_prefixes_of_lmcache_are_reported_from_0_26_0(release: str, expected: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, serve(ON, connector("LMCacheMPConnector")), release), "GDN007") == expected


def test_the_offloading_flag_is_a_connector_too(tmp_path: Path) -> None:
    told = found(tmp_path, serve(ON, "--kv-offloading-backend lmcache --kv-offloading-size 8"), "0.27.1")
    assert "LMCacheMPConnector" in message(told, "GDN007")


@pytest.mark.parametrize(
    ("flags", "release", "refused"),
    [
        (connector("NixlConnector"), "0.21.0", True),
        (connector("NixlConnector"), "0.22.0", False),
        (f"--no-disable-hybrid-kv-cache-manager {connector('NixlConnector')}", "0.21.0", False),
        (connector("LMCacheConnectorV1"), "0.22.0", True),
        (connector("LMCacheConnectorV1"), "0.33.0", True),
        (connector("LMCacheConnectorV1", kv_connector_module_path="my.connector"), "0.33.0", False),
        (connector("MooncakeConnector"), "0.33.0", False),
        (connector("AConnectorOfTheirOwn"), "0.33.0", False),
    ],
)
def test_a_connector_without_the_hybrid_manager_is_refused(
    flags: str, release: str, refused: bool, tmp_path: Path
) -> None:
    told = found(tmp_path, serve(ON, flags), release)
    assert (told["startup"] == "refused") is refused
    assert ("GDN005" in rules(told)) is refused
    assert not (refused and "GDN007" in rules(told))


# -- GDN008: accepted-token counts that race --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "expected"),
    [("0.16.0", ""), ("0.17.0", "error"), ("0.23.0", "error"), ("0.24.0", ""), ("0.28.0", "")],
)
def test_counts_race_without_prefix_caching_from_0_17_0_to_0_23_0(release: str, expected: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, serve(OFF, model=NEXT), release), "GDN008") == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(serve(OFF, "--no-async-scheduling"), id="no async scheduling"),
        pytest.param(serve(ON), id="prefix caching on: GDN001 says it"),
        pytest.param(serve(OFF, model="Qwen/Qwen3-8B"), id="no hybrid model"),
        pytest.param(f"vllm serve {HYBRID} {OFF}\n", id="no speculation"),
    ],
)
def test_counts_do_not_race_without_an_ingredient(text: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, text, "0.23.0"), "GDN008") == ""


def test_an_unknown_release_is_not_held_against_a_launch_with_prefix_caching_off(tmp_path: Path) -> None:
    assert rules(found(tmp_path, serve(OFF))) == []


@pytest.mark.parametrize(
    ("text", "release", "because"),
    [
        pytest.param(serve(env="VLLM_USE_V2_MODEL_RUNNER=0"), "0.29.0", "VLLM_USE_V2_MODEL_RUNNER=0", id="variable"),
        pytest.param(serve(env="VLLM_USE_V2_MODEL_RUNNER=0"), "0.33.0", "VLLM_USE_V2_MODEL_RUNNER=0", id="newest"),
        pytest.param(serve(ON, method="ngram_gpu"), "0.31.0", "drafting method before 0.32.0", id="ngram_gpu"),
        pytest.param(serve(parallel_drafting=True), "0.30.0", "parallel drafting", id="parallel drafting"),
        pytest.param(serve("--enable-dbo"), "0.29.0", "--enable-dbo", id="dual batches"),
        pytest.param(serve("--logits-processors my.Own"), "0.30.0", "custom logits processors", id="logits processors"),
    ],
)
def test_what_brings_the_old_runner_back_is_named(text: str, release: str, because: str, tmp_path: Path) -> None:
    told = found(tmp_path, text, release)
    assert severity(told, "GDN008") == "warning"
    assert because in message(told, "GDN008")
    assert severity(told, "GDN001") == "error"


@pytest.mark.parametrize(
    ("text", "release"),
    [
        pytest.param(serve(ON, env="VLLM_USE_V2_MODEL_RUNNER=0"), "0.28.0", id="V1 was the default: GDN001 says it"),
        pytest.param(serve(), "0.29.0", id="V2 by default"),
        pytest.param(serve("--logits-processors my.Own"), "0.31.0", id="V2 has them by then"),
        pytest.param(serve("--no-async-scheduling", env="VLLM_USE_V2_MODEL_RUNNER=0"), "0.29.0", id="no race"),
        pytest.param(serve(OFF, env="VLLM_USE_V2_MODEL_RUNNER=0"), "0.29.0", id="prefix caching off"),
    ],
)
def test_nothing_is_said_of_the_runner_where_it_brings_nothing(text: str, release: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, text, release), "GDN008") == ""


# -- GDN009: DFlash drafters ------------------------------------------------------------------------------------------


def dflash(*flags: str) -> str:
    drafts = '{"method": "dflash", "model": "z-lab/Qwen3.5-9B-DFlash", "num_speculative_tokens": 15}'
    return f"vllm serve {HYBRID} {' '.join(flags)} --speculative-config '{drafts}'\n"


@pytest.mark.parametrize(
    ("text", "release", "expected"),
    [
        (dflash(ON), "0.20.0", "warning"),
        (dflash(ON), "0.27.1", "warning"),
        (dflash(), "0.28.0", "warning"),
        (dflash(), "0.33.0", "warning"),
        (dflash(), "0.27.1", ""),
        (dflash(OFF), "0.33.0", ""),
        (serve(ON), "0.33.0", ""),
    ],
)
def test_a_dflash_drafter_with_prefix_caching_is_reported_in_every_release(
    text: str, release: str, expected: str, tmp_path: Path
) -> None:
    assert severity(found(tmp_path, text, release), "GDN009") == expected


# -- GDN010: pipeline stages ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("release", "expected"), [("0.29.0", ""), ("0.30.0", "warning"), ("0.31.0", "warning"), ("0.32.0", "")]
)
def test_pipeline_stages_are_reported_where_they_start_and_are_not_fixed(
    release: str, expected: str, tmp_path: Path
) -> None:
    told = found(tmp_path, serve(ON, "-pp 2"), release)
    assert severity(told, "GDN010") == expected
    assert (told["startup"] == "refused") is (release == "0.29.0")


def test_a_drafting_head_that_knows_stages_starts_with_them_and_is_reported(tmp_path: Path) -> None:
    told = found(tmp_path, serve("-pp 2", model="Qwen/Qwen3.8-Flash-Next"), "0.29.0")
    assert (told["startup"], severity(told, "GDN010")) == ("ok", "warning")


@pytest.mark.parametrize("flags", [f"{ON} -pp 1", ON, f"{OFF} -pp 2"])
def test_one_stage_or_no_prefix_caching_is_not_reported(flags: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, serve(flags), "0.31.0"), "GDN010") == ""


def test_with_an_unknown_release_pipeline_stages_are_reported(tmp_path: Path) -> None:
    assert severity(found(tmp_path, serve(ON, "-pp 2")), "GDN010") == "warning"


# -- GDN011: prefix caching that cannot hit ---------------------------------------------------------------------------

PRIORITY = "--scheduling-policy priority"


@pytest.mark.parametrize(
    ("text", "release", "expected"),
    [
        pytest.param(serve(ON, PRIORITY), "0.26.0", "", id="priority before the report"),
        pytest.param(serve(ON, PRIORITY), "0.27.0", "note", id="priority"),
        pytest.param(serve(OFF, PRIORITY), "0.27.1", "", id="priority, prefix caching off"),
        pytest.param(f"vllm serve {HYBRID} {ON} {PRIORITY}\n", "0.27.1", "", id="priority without speculation"),
        pytest.param(serve(ON, env="VLLM_PREFIX_CACHE_RETENTION_INTERVAL=0"), "0.22.1", "", id="no such variable yet"),
        pytest.param(serve(ON, env="VLLM_PREFIX_CACHE_RETENTION_INTERVAL=0"), "0.23.0", "note", id="retention"),
        pytest.param(serve("--prefix-cache-retention-interval 0"), "0.29.0", "note", id="retention by flag"),
        pytest.param(serve("--prefix-cache-retention-interval 0"), "0.30.0", "", id="retention that knows drafts"),
        pytest.param(serve(), "0.28.0", "", id="the default keeps every state"),
        pytest.param(serve(), "0.29.0", "", id="the default of 0.29.0"),
    ],
)
def test_prefix_caching_that_cannot_hit(text: str, release: str, expected: str, tmp_path: Path) -> None:
    assert severity(found(tmp_path, text, release), "GDN011") == expected


@pytest.mark.parametrize(
    ("model", "env", "backend", "release", "expected"),
    [
        (HYBRID, "1", "FLASHINFER", "0.33.0", "note"),
        (HYBRID, "1", "FLASH_ATTN", "0.33.0", ""),
        (HYBRID, "0", "FLASHINFER", "0.33.0", ""),
        (HYBRID, "1", "FLASHINFER", "0.27.1", ""),
        ("Qwen/Qwen3-8B", "1", "FLASHINFER", "0.33.0", ""),
    ],
)
def test_batch_invariance_switches_prefix_caching_off(
    model: str, env: str, backend: str, release: str, expected: str, tmp_path: Path
) -> None:
    text = f"VLLM_BATCH_INVARIANT={env} vllm serve {model} --attention-backend {backend}\n"
    assert severity(found(tmp_path, text, release), "GDN011") == expected


# -- GDN012: a draft length that crashes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "model", "release", "expected"),
    [
        (5, NEXT, "0.16.0", ""),
        (5, NEXT, "0.17.0", "warning"),
        (5, NEXT, "0.28.0", "warning"),
        (5, NEXT, "0.29.0", "note"),
        (5, NEXT, "", "warning"),
        (4, NEXT, "0.20.1", ""),
        (5, HYBRID, "0.20.1", ""),
    ],
)
def test_five_draft_tokens_on_qwen3_next(tokens: int, model: str, release: str, expected: str, tmp_path: Path) -> None:
    told = found(tmp_path, serve(OFF, model=model, tokens=tokens), release)
    assert severity(told, "GDN012") == expected


# -- GDN014: a role that a setting does not reach ---------------------------------------------------------------------

TEACHER = "+distillation.teacher_models.t"


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        pytest.param("actor_rollout_ref.rollout.enable_prefix_caching=False", "warning", id="only the rollout's"),
        pytest.param("actor_rollout_ref.rollout.enable_prefix_caching=True", "", id="no opt-out"),
        pytest.param(
            "actor_rollout_ref.rollout.enable_prefix_caching=False "
            f"{TEACHER}.inference.engine_kwargs.vllm.enable_prefix_caching=False",
            "",
            id="the teacher's own",
        ),
    ],
)
def test_an_opt_out_of_the_rollout_does_not_reach_a_teacher(overrides: str, expected: str, tmp_path: Path) -> None:
    text = (
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B "
        "actor_rollout_ref.rollout.name=vllm "
        f"distillation.enabled=True {TEACHER}.model_path={HYBRID} {overrides} "
        f"{TEACHER}.inference.engine_kwargs.vllm.speculative_config.method=mtp\n"
    )
    told = report(tmp_path, {"train.sh": text}, "--vllm-version", "0.27.1")
    assert severity(told, "GDN014") == expected
