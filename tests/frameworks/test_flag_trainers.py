"""Trainers with flags of their own and no way to draft: OpenRLHF, open-instruct, and TRL's and axolotl's servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import DENSE, HYBRID, fixed, history, launch, report, rules, value

MTP_JSON = """'{"method": "mtp", "num_speculative_tokens": 2}'"""

OPENRLHF = f"python3 -m openrlhf.cli.train_ppo_ray --vllm.num_engines 4 --actor.model_name_or_path {HYBRID}"
OPEN_INSTRUCT = f"python open_instruct/grpo_fast.py --model_name_or_path {HYBRID} --vllm_num_engines 4"


@pytest.mark.parametrize(
    ("command", "framework", "source"),
    [
        (OPENRLHF, "openrlhf", "openrlhf/cli/train_ppo_ray.py:242@3c3be623"),
        (OPEN_INSTRUCT, "open_instruct", "open_instruct/data_loader.py:401@e6c3044a"),
    ],
)
def test_off_by_default_and_passed_as_false(tmp_path: Path, command: str, framework: str, source: str) -> None:
    found = launch(tmp_path, {"run.sh": f"{command}\n"}, "--vllm-version", "0.28.0")
    assert (found["framework"], found["combination"]) == (framework, "absent")
    assert value(found, "enable_prefix_caching") is False
    assert source in history(found, "enable_prefix_caching")[-1][0]


@pytest.mark.parametrize(
    ("command", "value_of"),
    [
        (f"{OPENRLHF} --vllm.enable_prefix_caching", True),
        (f"{OPENRLHF} --enable_prefix_caching", True),
        (
            OPENRLHF.replace("--vllm.num_engines", "--vllm_num_engines").replace(
                "--actor.model_name_or_path", "--pretrain"
            ),
            False,
        ),
        (f"{OPEN_INSTRUCT} --vllm_enable_prefix_caching", True),
        (f"{OPEN_INSTRUCT} --vllm_enable_prefix_caching False", False),
    ],
)
def test_a_switch_turns_it_on(tmp_path: Path, command: str, value_of: bool) -> None:
    found = launch(tmp_path, {"run.sh": f"{command}\n"}, "--vllm-version", "0.28.0")
    assert (value(found, "model"), value(found, "enable_prefix_caching")) == (HYBRID, value_of)
    assert rules(found) == []


def test_the_command_behind_a_cluster_launcher(tmp_path: Path) -> None:
    script = f"uv run mason.py --gpus 8 -- source setup.sh \\&\\& uv run {OPEN_INSTRUCT} --vllm_enable_prefix_caching\n"
    found = launch(tmp_path, {"run.sh": script})
    assert (found["framework"], value(found, "enable_prefix_caching")) == ("open_instruct", True)


def test_without_engines_nothing_is_launched(tmp_path: Path) -> None:
    found = launch(tmp_path, {"run.sh": OPENRLHF.replace(" --vllm.num_engines 4", "") + "\n"})
    assert "no engine is started" in found["note"]


# -- TRL ---------------------------------------------------------------------------------------------------------------


def serve(words: str, model: str = HYBRID) -> str:
    return f"trl vllm-serve --model {model} --tensor-parallel-size 2 {words}\n"


LEFT_ALONE = {
    "nothing drafts": serve("--enable_prefix_caching True"),
    "off": serve(f"--enable_prefix_caching False --speculative_config {MTP_JSON}"),
    "a dense model": serve(f"--enable_prefix_caching True --speculative_config {MTP_JSON}", DENSE),
    "the trainer's engine gets neither": f"trl grpo --model_name_or_path {HYBRID} --use_vllm --vllm_mode colocate\n",
    "the trainer of a server": f"trl grpo --model_name_or_path {HYBRID} --use_vllm --vllm_mode server\n",
}

REPORTED = {
    "explicit": serve(f"--enable_prefix_caching True --speculative_config {MTP_JSON}"),
    "dashes": serve(f"--enable-prefix-caching=true --speculative-config {MTP_JSON}"),
    "the module": serve(f"--enable_prefix_caching True --speculative_config {MTP_JSON}").replace(
        "trl vllm-serve", "python -m trl.scripts.vllm_serve"
    ),
    "behind a launcher": "srun --nodes=1 " + serve(f"--enable_prefix_caching true --speculative_config {MTP_JSON}"),
}


@pytest.mark.parametrize("script", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(script: str, tmp_path: Path) -> None:
    found = report(tmp_path, {"run.sh": script})
    assert {item["combination"] for item in found["launches"]} == {"absent"}
    assert found["findings"] == []


@pytest.mark.parametrize("script", REPORTED.values(), ids=REPORTED)
def test_reported(script: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"run.sh": script})
    assert (found["framework"], found["combination"], rules(found)) == ("trl", "present", ["GDN001"])
    (finding,) = found["findings"]
    after = launch(tmp_path, {"run.sh": fixed(tmp_path, finding)})
    assert after["combination"] == "absent"


@pytest.mark.parametrize(("version", "expected"), [("0.25.1", "absent"), ("0.28.0", "present")])
def test_trls_server_leaves_it_to_vllm(tmp_path: Path, version: str, expected: str) -> None:
    # trl/scripts/vllm_serve.py:272@f2cd5771: enable_prefix_caching: bool | None, None by default
    found = launch(tmp_path, {"run.sh": serve(f"--speculative_config {MTP_JSON}")}, "--vllm-version", version)
    assert (found["combination"], value(found, "enable_prefix_caching")) == (expected, expected == "present")


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        ("use_vllm=True, vllm_mode='colocate'", ""),
        ("use_vllm=True, vllm_mode='server'", "the engine is the server's"),
        ("output_dir='x'", "generates without vLLM"),
    ],
)
def test_a_trainers_configuration_in_python(tmp_path: Path, arguments: str, note: str) -> None:
    text = f"from trl import GRPOConfig\n\nargs = GRPOConfig({arguments})\n"
    found = launch(tmp_path, {"train.py": text})
    assert (found["framework"], found["combination"]) == ("trl", "absent")
    assert note in found["note"]


# -- axolotl -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "words", "expected"),
    [
        ("  port: 8000\n", "", False),  # src/axolotl/utils/schemas/vllm.py:39@067b021c: None, so vLLM 0.25.1's default
        ("  enable_prefix_caching: true\n", "", True),
        ("  enable_prefix_caching: true\n", " --enable-prefix-caching False", False),
    ],
)
def test_axolotls_block_and_its_command_line(tmp_path: Path, block: str, words: str, expected: bool) -> None:
    config = f"base_model: {HYBRID}\nvllm:\n{block}rl: grpo\n"
    files = {"run.sh": f"axolotl vllm-serve grpo.yaml{words}\n", "grpo.yaml": config}
    found = launch(tmp_path, files, "--vllm-version", "0.25.1")
    assert (found["framework"], value(found, "enable_prefix_caching")) == ("axolotl", expected)
    assert found["combination"] == "absent"
    assert launch(tmp_path, {"grpo.yaml": config})["framework"] == "axolotl"
