"""What a launch comes to where a file was not read, a value is no plain one, or only a switch makes it unsafe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support import HYBRID, MTP, fixed, launch, report, rules, value, verdict

GRPO = f"uv run examples/run_grpo.py --config {{}} policy.model_name={HYBRID} {{}}\n"
PPO = (
    f"python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm actor_rollout_ref.model.path={HYBRID} {{}}\n"
)
ROLLOUT, DRAFTS = "actor_rollout_ref.rollout", "actor_rollout_ref.model.mtp"
BOTH = f"{DRAFTS}.enable=True {DRAFTS}.enable_rollout=True"
SKYRL = f"uv run -m skyrl.train.entrypoints.main_base trainer.policy.model.path={HYBRID} {{}}\n"


def pinned(requirement: str) -> dict[str, str]:
    return {"requirements.txt": f"vllm{requirement}\n"}


def serve(text: str, more: str = "--enable-prefix-caching") -> dict[str, str]:
    return {"serve.sh": f"vllm serve {HYBRID} {more} --speculative-config '{text}'\n"}


# -- files that were not read ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["recipes/mine.yaml", '"$CFG"'])
@pytest.mark.parametrize("more", ["", "policy.generation.backend=vllm"])
def test_a_configuration_that_was_not_read_decides(tmp_path: Path, name: str, more: str) -> None:
    found = launch(tmp_path, {"run.sh": GRPO.format(name, more)})
    assert (found["combination"], found["findings"]) == ("undecided", [])
    assert f"speculative decoding depends on the file {'<CFG>' if '$' in name else name}" in found["decided_by"]
    assert {found["settings"][name]["state"] for name in ("speculative_config", "enable_prefix_caching")} == {"unknown"}


def test_what_the_launch_says_counts_beside_a_file_that_was_not_read(tmp_path: Path) -> None:
    generation = "policy.generation"
    words = (
        f"++{generation}.vllm_cfg.enable_prefix_caching=true ++{generation}.vllm_kwargs.speculative_config.method=mtp"
        f" ++{generation}.vllm_kwargs.speculative_config.num_speculative_tokens=2"
    )
    found = launch(tmp_path, {"run.sh": GRPO.format('"$CFG"', words)})
    assert found["combination"] == "present"
    assert "later words may change this" in found["note"]


def test_a_model_that_is_no_hybrid_needs_no_file(tmp_path: Path) -> None:
    script = "uv run examples/run_grpo.py --config $CFG policy.model_name=Qwen/Qwen3-8B\n"
    assert launch(tmp_path, {"run.sh": script})["combination"] == "absent"


def test_a_mapping_that_is_not_known_may_set_what_nobody_wrote(tmp_path: Path) -> None:
    words = "trainer.mtp.enabled=true generator.inference_engine.engine_init_kwargs=$KWARGS"
    assert launch(tmp_path, {"run.sh": SKYRL.format(words)})["combination"] == "undecided"
    typed = f"{words} generator.inference_engine.enable_prefix_caching=true"
    assert launch(tmp_path, {"run.sh": SKYRL.format(typed)})["combination"] == "present"


# -- values as the program reads them ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "on"), [("1", True), ("0", False), ("true", True), ("null", False)])
def test_a_number_is_as_true_as_the_program_takes_it(tmp_path: Path, written: str, on: bool) -> None:
    found = launch(tmp_path, {"run.sh": SKYRL.format(f"trainer.mtp.enabled={written}"), **pinned("==0.26.0")})
    assert found["combination"] == ("present" if on else "absent")


@pytest.mark.parametrize("words", [f"{DRAFTS}.enable=on {DRAFTS}.enable_rollout=1", BOTH.replace("=True", "=off")])
def test_any_text_is_true_where_the_program_only_asks_if(tmp_path: Path, words: str) -> None:
    assert launch(tmp_path, {"run.sh": PPO.format(words), **pinned("==0.28.0")})["combination"] == "present"


@pytest.mark.parametrize("written", ["0", "1", "off"])
def test_a_value_behind_a_flag_that_takes_none_is_refused(tmp_path: Path, written: str) -> None:
    words = f"{BOTH} {ROLLOUT}.enable_prefix_caching={written}"
    found = launch(tmp_path, {"run.sh": PPO.format(words), **pinned("==0.28.0")})
    assert (found["combination"], found["startup"], rules(found)) == ("absent", "refused", ["GDN005"])
    message = found["findings"][0]["message"]
    assert message.startswith("This launch is refused at start by vLLM 0.28.0: --enable_prefix_caching takes no value")


# -- rules under a switch ----------------------------------------------------------------------------------------------

SWITCH = f"""case "${{METHOD:-none}}" in
  mtp) A=({MTP});;
  *) A=();;
esac
vllm serve {HYBRID} --enable-prefix-caching "${{A[@]}}"
"""
OWN_RULE = """schema: gdnlint-rule/1
id: AAA001
slug: own
name: Own
since: 1.0.0
precision: high
summary: Any launch.
description: Any launch.
remediation: None.
when: "launch:prefix_caching"
severity: [{is: note}]
message: "prefix caching is on"
evidence: none
"""


def test_a_rule_of_ones_own_does_not_hide_what_a_switch_does(tmp_path: Path) -> None:
    files = {"serve.sh": SWITCH, "own/aaa.yaml": OWN_RULE, **pinned("==0.26.0")}
    found = report(tmp_path, files, "--rules", "own")
    assert [(f["rule"], f["when"]) for f in found["findings"]] == [("AAA001", {}), ("GDN001", {"METHOD": "mtp"})]


def test_a_switch_that_another_rule_is_about_is_reported(tmp_path: Path) -> None:
    script = SWITCH.replace('"mtp"', '"ngram"').replace("--enable", "--no-enable")
    found = report(tmp_path, {"serve.sh": script, **pinned("==0.28.0")})
    assert [(f["rule"], f["when"], f["severity"]) for f in found["findings"]] == [
        ("GDN004", {"METHOD": "mtp"}, "warning")
    ]


# -- releases ----------------------------------------------------------------------------------------------------------

TWO = '{"method": "mtp", "num_speculative_tokens": 2}'


def test_a_range_without_a_defect_is_a_warning(tmp_path: Path) -> None:
    (finding,) = report(tmp_path, {**serve(TWO), **pinned(">=0.30")})["findings"]
    assert (finding["rule"], finding["severity"]) == ("GDN001", "warning")
    assert "on vLLM 0.30.0 or later, which nobody has proved safe" in finding["message"]
    (finding,) = report(tmp_path, {**serve(TWO), **pinned(">=0.25,<0.26")})["findings"]
    assert finding["severity"] == "error"


@pytest.mark.parametrize(("requirement", "found"), [(">=0.32", ""), (">=0.31", "GDN004"), ("", "GDN004")])
def test_a_fixed_defect_is_not_reported_of_a_range(tmp_path: Path, requirement: str, found: str) -> None:
    files = serve(TWO.replace("mtp", "ngram"), "--no-enable-prefix-caching")
    assert verdict(tmp_path, {**files, **pinned(requirement)}) == ("absent", found)


# -- drafting configurations that the engine refuses -------------------------------------------------------------------

REFUSED = {
    "no tokens and no model": ('{"method": "mtp"}', "without num_speculative_tokens"),
    "neither method nor model": ('{"num_speculative_tokens": 2}', "without method and model"),
    "a method of no release": ('{"method": "mpt", "num_speculative_tokens": 2}', "mpt is no speculative method"),
    "a method of a later release": (
        '{"method": "glm5_next_mtp", "num_speculative_tokens": 2}', "which is known from 0.30.0 on",
    ),
    "a method that is gone": ('{"method": "medusa", "model": "a/b", "num_speculative_tokens": 2}', "up to 0.32.0"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_drafting_configuration_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    version = "0.33.0" if "medusa" in text else "0.28.0"
    found = launch(tmp_path, serve(text), "--vllm-version", version)
    assert (found["combination"], found["startup"]) == ("absent", "refused")
    assert reason in found["startup_reason"]
    assert f"refused at start by vLLM {version}: " in found["findings"][0]["message"]


def test_a_member_of_its_own_replaces_the_json(tmp_path: Path) -> None:
    files = serve(TWO)
    files["serve.sh"] = files["serve.sh"].rstrip("\n") + " --speculative-config.num_speculative_tokens 3\n"
    found = launch(tmp_path, {**files, **pinned("==0.28.0")})
    assert (found["combination"], found["startup"]) == ("absent", "refused")


def test_a_method_that_nobody_knows_may_be_newer_than_the_knowledge(tmp_path: Path) -> None:
    files = serve('{"method": "new_kind", "num_speculative_tokens": 2}')
    assert launch(tmp_path, files)["startup"] == "ok"
    assert launch(tmp_path, files, "--vllm-version", "99.0.0")["startup"] == "ok"


@pytest.mark.parametrize(
    ("drafter", "method"), [("Qwen/Qwen3-0.6B", "draft_model"), ("/models/drafter", None), ("a/no-one-knows", None)]
)
def test_the_kind_of_a_drafter_without_method(tmp_path: Path, drafter: str, method: str | None) -> None:
    files = serve(json.dumps({"model": drafter, "num_speculative_tokens": 2}))
    found = launch(tmp_path, {**files, **pinned("==0.26.0")})
    assert found["combination"] == "present"
    notes = " ".join(note for finding in found["findings"] for note in finding["notes"] if "Known defects" in note)
    assert "D2" not in notes
    if method is None:
        assert (found["settings"]["async_scheduling"]["value"], found["settings"]["speculative_config"]["value"]) == (
            None, None,
        )  # fmt: skip
        assert f"what kind of drafter {drafter} is" in found["settings"]["async_scheduling"]["reason"]
    else:
        assert value(found, "speculative_config")["method"] == method
        assert value(found, "async_scheduling") is False


# -- opt-outs ----------------------------------------------------------------------------------------------------------


def test_an_opt_out_that_another_word_makes_good_is_no_finding(tmp_path: Path) -> None:
    config = f"model: {HYBRID}\nenable-prefix-caching: false\nspeculative-config: {TWO}\n"
    files = {"serve.sh": "vllm serve --config conf.yaml\n", "conf.yaml": config, **pinned("==0.28.0")}
    finding = next(f for f in report(tmp_path, files)["findings"] if f["rule"] == "GDN001")
    assert verdict(tmp_path, {**files, "serve.sh": fixed(tmp_path, finding)}) == ("absent", "")


def test_an_opt_out_that_the_release_grants_anyway_is_a_note(tmp_path: Path) -> None:
    words = f"{BOTH} {ROLLOUT}.enable_prefix_caching=False"
    found = report(tmp_path, {"run.sh": PPO.format(words), **pinned("==0.24.0")})
    assert [(f["rule"], f["severity"]) for f in found["findings"] if f["rule"] == "GDN003"] == [("GDN003", "note")]
    found = report(tmp_path, {"run.sh": PPO.format(words), **pinned("==0.28.0")})
    assert [f["severity"] for f in found["findings"] if f["rule"] == "GDN003"] == ["error"]


def test_the_words_that_work_are_taken_beside_the_ones_that_are_there(tmp_path: Path) -> None:
    name = f"+{ROLLOUT}.engine_kwargs.vllm.no_enable_prefix_caching"
    files = {"run.sh": PPO.format(f"{BOTH} {name}=False"), **pinned("==0.28.0")}
    finding = next(f for f in report(tmp_path, files)["findings"] if f["rule"] == "GDN001")
    text = fixed(tmp_path, finding)
    assert text.endswith(f"{name}=False +{name}=True\n")
    assert launch(tmp_path, {**files, "run.sh": text})["combination"] == "absent"


# -- what is said ------------------------------------------------------------------------------------------------------


def test_what_hangs_on_a_variable_is_not_told_as_a_fact(tmp_path: Path) -> None:
    files = {
        "serve.sh": f"""vllm serve {HYBRID} --enable-prefix-caching \
--speculative-config "{{\\"method\\": \\"$METHOD\\", \\"num_speculative_tokens\\": 2}}"\n"""
    }
    found = launch(tmp_path, {**files, **pinned("==0.26.0")})
    setting = found["settings"]["speculative_config"]
    assert (setting["value"], setting["state"]) == (None, "unknown")
    assert setting["reason"] == "the environment variable METHOD"
    assert "every *_mtp method" not in json.dumps(found)


def test_a_setting_hangs_on_the_model(tmp_path: Path) -> None:
    script = f'vllm serve "$1" --enable-prefix-caching {MTP}\n'
    setting = launch(tmp_path, {"serve.sh": script, **pinned("==0.26.0")})["settings"]["mamba_cache_mode"]
    assert (setting["state"], setting["reason"]) == ("unknown", "whether the model is a hybrid one")


def test_a_positional_model_is_no_flag(tmp_path: Path) -> None:
    steps = launch(tmp_path, serve(TWO))["settings"]["model"]["provenance"]
    assert [step["what"] for step in steps] == [f"model {HYBRID}, named on the command line"]


def test_the_framework_that_refuses_is_named(tmp_path: Path) -> None:
    config = f"""defaults: []
policy:
  model_name: {HYBRID}
  generation:
    backend: vllm
    vllm_cfg: {{enable_prefix_caching: true}}
    vllm_kwargs: {{enable_prefix_caching: true}}
"""
    (finding,) = report(tmp_path, {"grpo.yaml": config})["findings"]
    assert finding["message"].startswith("This launch is refused at start by NeMo-RL: vllm_kwargs repeats an argument")
