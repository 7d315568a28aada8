"""verl: Hydra overrides, MTP by two switches, and a False that is dropped on the way to the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, fixed, history, launch, related, report, rules, value

ROLLOUT = "actor_rollout_ref.rollout"
KWARGS = f"{ROLLOUT}.engine_kwargs.vllm"
SWITCHES = "actor_rollout_ref.model.mtp.enable=True actor_rollout_ref.model.mtp.enable_rollout=True"
SPECULATIVE = f"'+{KWARGS}.speculative_config={{method: mtp, num_speculative_tokens: 3}}'"
OLD, NEW = {"requirements.txt": "vllm==0.24.0\n"}, {"requirements.txt": "vllm==0.28.0\n"}


def run(words: str, model: str = HYBRID, name: str = "vllm", module: str = "verl.trainer.main_ppo") -> str:
    return f"python3 -m {module} actor_rollout_ref.model.path={model} {ROLLOUT}.name={name} {words}\n"


LEFT_ALONE = {
    "default: nothing drafts": run(""),
    "one switch is not enough": run("actor_rollout_ref.model.mtp.enable=True"),
    "training with the head is not drafting": run(
        "actor_rollout_ref.model.mtp.enable=True actor_rollout_ref.model.mtp.enable_train=True"
    ),
    "rollout without the main switch": run("actor_rollout_ref.model.mtp.enable_rollout=True"),
    "a dense model": run(SWITCHES, model=DENSE),
    "the critic's model is not the rollout's": run(f"{SWITCHES} critic.model.path={HYBRID}", model=DENSE),
    "the negative flag through the passthrough": run(f"{SWITCHES} +{KWARGS}.no_enable_prefix_caching=True"),
    "the same, forced": run(f"{SWITCHES} ++{KWARGS}.no_enable_prefix_caching=true"),
    "SGLang": run(SWITCHES, name="sglang"),
    "TensorRT-LLM": run(SWITCHES, name="trtllm"),
    "supervised fine-tuning starts no engine": run(SWITCHES, module="verl.trainer.sft_trainer"),
    "a null drafter is dropped": run(f"+{KWARGS}.speculative_config=null"),
    "the drafter deleted again": run(f"{SPECULATIVE} ~{KWARGS}.speculative_config"),
    "another engine's kwargs": run(
        f"'+{ROLLOUT}.engine_kwargs.sglang.speculative_config={{method: mtp, num_speculative_tokens: 1}}'"
    ),
    "a derived name of another engine": f"BACKEND=sglang\n{run(SWITCHES, name='$BACKEND')}",
}

REPORTED = {
    "default: prefix caching is on": run(SWITCHES),
    "explicit": run(f"{SWITCHES} {ROLLOUT}.enable_prefix_caching=True"),
    "through the passthrough": run(f"{SWITCHES} +{KWARGS}.enable_prefix_caching=True"),
    "a drafter through the passthrough alone": run(SPECULATIVE),
    "dotted members of it": run(f"+{KWARGS}.speculative_config.method=mtp +{KWARGS}.speculative_config.model=x/mtp"),
    "a null in the passthrough is dropped": run(f"{SWITCHES} +{KWARGS}.enable_prefix_caching=null"),
    "derived from variables": f"INFER=${{INFER:-vllm}}\nMODEL={HYBRID}\n{run(SWITCHES, '$MODEL', '$INFER')}",
    "arrays": f'MODEL_ARGS=({SWITCHES})\n{run(chr(34) + "${MODEL_ARGS[@]}" + chr(34))}',
    "interpolated": run(f"{SWITCHES} critic.model.path={HYBRID}", model="'${critic.model.path}'"),
    "another entry": run(SWITCHES, module="verl.experimental.fully_async_policy.fully_async_main"),
}  # fmt: skip


@pytest.mark.parametrize("script", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(script: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"train.sh": script, **NEW})
    assert [item["combination"] for item in found["launches"]] == ["absent"]
    assert found["findings"] == []


@pytest.mark.parametrize("script", REPORTED.values(), ids=REPORTED)
def test_reported(script: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": script, **OLD})
    assert (found["combination"], rules(found)) == ("present", ["GDN001"])


def test_which_engine_runs_is_told_when_it_is_not_vllm(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": run(SWITCHES, name="sglang")})
    assert "SGLang, left alone" in found["note"]


# -- a False that is dropped -------------------------------------------------------------------------------------------

FALSE = f"{ROLLOUT}.enable_prefix_caching=False"


@pytest.mark.parametrize(
    ("pin", "on", "combination", "found_by"),
    [
        ("vllm==0.24.0", False, "absent", ["GDN002", "GDN003"]),
        ("vllm==0.27.1", False, "absent", ["GDN002", "GDN003"]),
        ("vllm==0.28.0", True, "present", ["GDN001", "GDN003"]),
        ("vllm==0.33.0", True, "present", ["GDN001", "GDN003"]),
    ],
)
@pytest.mark.parametrize("word", [FALSE, f"+{KWARGS}.enable_prefix_caching=False"], ids=["typed", "passthrough"])
def test_a_False_is_dropped_and_vllms_default_decides(
    tmp_path: Path, word: str, pin: str, on: bool, combination: str, found_by: list[str]
) -> None:
    found = launch(tmp_path, {"train.sh": run(f"{SWITCHES} {word}"), "requirements.txt": f"{pin}\n"})
    assert (value(found, "enable_prefix_caching"), found["combination"], rules(found)) == (on, combination, found_by)
    assert (f"override {word.lstrip('+').replace('False', 'false')}", "dropped") in history(
        found, "enable_prefix_caching"
    )


def test_a_dropped_False_without_a_version_is_undecided(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": run(f"{SWITCHES} {FALSE}")})
    assert (found["combination"], rules(found)) == ("undecided", ["GDN002", "GDN003"])
    assert "off up to vLLM 0.27.1 and on from 0.28.0; no version found" in found["decided_by"]


def test_the_opt_out_that_does_nothing_is_named_with_the_words_that_work(tmp_path: Path) -> None:
    script = "\\\n    ".join(run(f"{SWITCHES} {FALSE}").split(" "))
    found = launch(tmp_path, {"train.sh": script, **NEW})
    ineffective = next(finding for finding in found["findings"] if finding["rule"] == "GDN003")
    assert ineffective["severity"] == "error"
    line = script.splitlines().index("    " + FALSE) + 1
    assert (ineffective["line"], ineffective["column"]) == (line, 5)
    assert "train.sh:4" in related(ineffective)
    text = fixed(tmp_path, ineffective)
    assert text.endswith(f"{FALSE} \\\n    ++{KWARGS}.no_enable_prefix_caching=True\n")
    after = launch(tmp_path, {"train.sh": text, **NEW})
    assert (after["combination"], value(after, "enable_prefix_caching")) == ("absent", False)


@pytest.mark.parametrize("written", ["off", "'False'"])
def test_off_is_a_text_for_hydra(tmp_path: Path, written: str) -> None:
    found = launch(tmp_path, {"train.sh": run(f'{SWITCHES} "{ROLLOUT}.enable_prefix_caching={written}"'), **OLD})
    # A text is written as a word behind the flag, and the flag takes none.
    assert (found["combination"], found["startup"]) == ("absent", "refused")
    assert "--enable_prefix_caching takes no value" in found["startup_reason"]


# -- two revisions -----------------------------------------------------------------------------------------------------

SERVER = "verl/workers/rollout/vllm_rollout/vllm_async_server.py"
UTILS = "verl/workers/rollout/vllm_rollout/utils.py"
REPLACES = {SERVER: "if mtp.enable:\n    args.speculative_config = {}\n"}
MERGES = {
    SERVER: "from .utils import build_mtp_speculative_config\n",
    UTILS: "def build_mtp_speculative_config(): ...\n",
}
BOTH = f"{SWITCHES} actor_rollout_ref.model.mtp.num_speculative_tokens=2 {SPECULATIVE}"


@pytest.mark.parametrize(
    ("checkout", "tokens"), [(MERGES, 3), (REPLACES, 2), ({}, 3)], ids=["merge", "replace", "none: the newest"]
)
def test_the_revision_of_the_checkout_decides_how_the_two_drafters_meet(
    tmp_path: Path, checkout: dict[str, str], tokens: int
) -> None:
    found = launch(tmp_path, {"examples/train.sh": run(BOTH), **checkout})
    assert value(found, "speculative_config") == {"method": "mtp", "num_speculative_tokens": tokens}
    assert found["combination"] == "present"


# -- other engines of the same run -------------------------------------------------------------------------------------


def test_a_teacher_is_a_launch_of_its_own(tmp_path: Path) -> None:
    teacher = "distillation.teacher_models.big"
    words = (
        f"distillation.enabled=True +{teacher}.model_path={HYBRID} "
        f"'+{teacher}.inference.engine_kwargs.vllm.speculative_config={{method: mtp, num_speculative_tokens: 1}}'"
    )
    found: Any = report(tmp_path, {"train.sh": run(words, model=DENSE), **OLD})
    assert {item["settings"]["model"]["value"]: item["combination"] for item in found["launches"]} == {
        DENSE: "absent",
        HYBRID: "present",
    }


def test_a_teachers_key_is_not_the_rollouts(tmp_path: Path) -> None:
    words = f"{SWITCHES} distillation.enabled=True +distillation.teacher_models.big.model_path={DENSE} " + (
        "+distillation.teacher_models.big.inference.enable_prefix_caching=False"
    )
    found: Any = report(tmp_path, {"train.sh": run(words), **OLD})
    assert {item["settings"]["model"]["value"]: item["combination"] for item in found["launches"]} == {
        HYBRID: "present",
        DENSE: "absent",
    }


def test_the_base_configuration_of_the_checkout_is_read(tmp_path: Path) -> None:
    base = (
        "actor_rollout_ref:\n  model:\n    path: ~/models/x\n    mtp: {enable: false, enable_rollout: false}\n"
        "  rollout:\n    name: ???\n    enable_prefix_caching: true\n    engine_kwargs: {vllm: {}}\n"
    )
    files = {"train.sh": run(SWITCHES), "verl/trainer/config/ppo_trainer.yaml": base, **OLD}
    found = launch(tmp_path, files)
    assert (found["combination"], rules(found)) == ("present", ["GDN001"])
    assert (
        found["settings"]["enable_prefix_caching"]["provenance"][-1]["path"] == "verl/trainer/config/ppo_trainer.yaml"
    )
    (finding,) = found["findings"]
    assert finding["path"] == "train.sh"
    assert "verl/trainer/config/ppo_trainer.yaml:7" in related(finding)


def test_a_configuration_whose_name_is_not_known_leaves_no_word_behind(tmp_path: Path) -> None:
    found = launch(tmp_path, {"run.sh": run(f"{SWITCHES} --config-name $CFG"), **NEW})
    assert found["combination"] == "undecided"
    assert "the configuration <CFG>" in found["decided_by"]
    # The value of the flag is no override: only the file behind it is open.
    assert found["note"] == "later words may change this: it depends on the configuration <CFG>"


# -- what reaches the engine, and what does not ------------------------------------------------------------------------


def test_any_other_False_is_dropped_too(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": run(f"{SWITCHES} +{KWARGS}.async_scheduling=False"), **NEW})
    assert value(found, "async_scheduling") is True
    assert any("D2 " in note for finding in found["findings"] for note in finding["notes"])


@pytest.mark.parametrize("pin", ["0.28.0", "0.30.0"])
def test_pipeline_stages_of_the_rollout_never_reach_vllm(tmp_path: Path, pin: str) -> None:
    script = run(f"{SWITCHES} {ROLLOUT}.pipeline_model_parallel_size=2")
    found = launch(tmp_path, {"train.sh": script, "requirements.txt": f"vllm=={pin}\n"})
    assert (found["startup"], found["combination"], rules(found)) == ("ok", "present", ["GDN001"])
    assert [finding["severity"] for finding in found["findings"]] == ["error" if pin == "0.28.0" else "warning"]


MERGED = {
    "a JSON text": f"""'+{KWARGS}.speculative_config="{{\\"num_speculative_tokens\\": 3}}"'""",
    "a null member": f"'+{KWARGS}.speculative_config={{method: null, num_speculative_tokens: 3}}'",
}


@pytest.mark.parametrize("words", MERGED.values(), ids=MERGED)
def test_the_passthrough_is_merged_over_the_switches(tmp_path: Path, words: str) -> None:
    found = launch(tmp_path, {"train.sh": run(f"{SWITCHES} {words}"), **NEW})
    assert value(found, "speculative_config") == {"method": "mtp", "num_speculative_tokens": 3}


TEACHER = "+distillation.teacher_models.t1"
TEACHES = (
    f"distillation.enabled=true {TEACHER}.model_path={HYBRID} "
    f"{TEACHER}.inference.engine_kwargs.vllm.speculative_config.method=mtp "
    f"{TEACHER}.inference.engine_kwargs.vllm.speculative_config.num_speculative_tokens=1"
)


@pytest.mark.parametrize(
    ("words", "rollout", "combination"),
    [
        ("", "vllm", "present"),
        (f"{TEACHER}.inference.name=vllm", "sglang", "present"),
        (f"{TEACHER}.inference.name=sglang", "vllm", "absent"),
        ("", "sglang", "absent"),
        (f"{TEACHER}.inference.engine_kwargs.vllm.no_enable_prefix_caching=True", "vllm", "absent"),
    ],
)
def test_a_teacher_has_its_own_engine(words: str, rollout: str, combination: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"train.sh": run(f"{TEACHES} {words}", model=DENSE, name=rollout), **NEW})
    assert [item["combination"] for item in found["launches"]] == ["absent", combination]


def test_evaluation_of_results_starts_no_engine(tmp_path: Path) -> None:
    found = launch(tmp_path, {"eval.sh": run(SWITCHES, module="verl.trainer.main_eval"), **NEW})
    assert "starts no engine" in found["note"] and "fine-tuning" not in found["note"]
