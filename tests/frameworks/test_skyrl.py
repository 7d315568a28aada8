"""SkyRL's typed layout: OmegaConf overrides, ``engine_init_kwargs`` last, MTP installed by the trainer's switch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, fixed, history, launch, related, report, rules, value, verdict

ENGINE = "generator.inference_engine"
MTP = "trainer.mtp.enabled=true"
SPECULATIVE = f"""'{ENGINE}.speculative_config={{method: mtp, num_speculative_tokens: 2}}'"""


def run(words: str, model: str = HYBRID, entry: str = "main_base", before: str = "") -> str:
    head = f"{before} uv run -m skyrl.train.entrypoints.{entry}".strip()
    return f"{head} trainer.policy.model.path={model} {words}\n"


LEFT_ALONE = {
    "no MTP: nothing drafts": run(""),
    "MTP said to be off": run("trainer.mtp.enabled=false"),
    "a training head is not drafting": run("trainer.policy.megatron_config.mtp_num_layers=1"),
    "a draft length alone installs nothing": run("trainer.mtp.num_speculative_tokens=3"),
    "a dense model": run(MTP, model=DENSE),
    "prefix caching typed off": run(f"{MTP} {ENGINE}.enable_prefix_caching=false"),
    "off is a YAML boolean in this dialect": run(f"{MTP} {ENGINE}.enable_prefix_caching=off"),
    "no and FALSE are booleans too": run(
        f"{MTP} {ENGINE}.enable_prefix_caching=True {ENGINE}.enable_prefix_caching=no"
    ),
    "off through the passthrough": run(f"{MTP} {ENGINE}.engine_init_kwargs.enable_prefix_caching=false"),
    "off in a mapping": run(f"{MTP} '{ENGINE}.engine_init_kwargs={{enable_prefix_caching: false}}'"),
    "the last one wins": run(f"trainer.mtp.enabled=true trainer.mtp.enabled=false {ENGINE}.enable_prefix_caching=true"),
    "the passthrough takes the drafter away": run(f"{MTP} {ENGINE}.engine_init_kwargs.speculative_config=null"),
    "an empty value is null": run(f"{MTP} {ENGINE}.engine_init_kwargs.speculative_config="),
    "SKYRL_DISABLE_SPEC=1 in front": run(MTP, before="SKYRL_DISABLE_SPEC=1"),
    "SKYRL_DISABLE_SPEC=1 exported": "export SKYRL_DISABLE_SPEC=1\n" + run(MTP),
    "serve never installs the trainer's drafter": run(MTP, entry="serve"),
    "nor does main_generate": run(MTP, entry="main_generate"),
    "another model through the passthrough": run(f"{MTP} {ENGINE}.engine_init_kwargs.model={DENSE}"),
    "the critic's model is not the engine's": run(f"{MTP} trainer.critic.model.path={HYBRID}", model=DENSE),
    "external servers run elsewhere": run(f"{MTP} '{ENGINE}.external_server_urls=[http://a:8000]'"),
    "an external proxy": run(f"{MTP} {ENGINE}.external_proxy_url=http://a:8000"),
    "engines that are not run here": run(f"{MTP} {ENGINE}.run_engines_locally=false"),
    "an integration parses the keys": run(f"{MTP} trainer.override_entrypoint=integrations.arctic_rl.main"),
    "derived: the switch is off by a variable": f"ON=false\n{run('trainer.mtp.enabled=$ON')}",
    "SGLang": run(f"{MTP} {ENGINE}.backend=sglang"),
}

REPORTED = {
    "nobody wrote prefix caching on": run(MTP),
    "prefix caching typed on": run(f"{MTP} {ENGINE}.enable_prefix_caching=true"),
    "on through the passthrough": run(f"{MTP} {ENGINE}.engine_init_kwargs.enable_prefix_caching=true"),
    "an explicit drafter without the switch": run(SPECULATIVE),
    "an explicit drafter with the switch off": run(f"{SPECULATIVE} trainer.mtp.enabled=false"),
    "a drafter through the passthrough": run(
        f"'{ENGINE}.engine_init_kwargs={{speculative_config: {{method: mtp, num_speculative_tokens: 1}}}}'"
    ),
    "dotted members of the passthrough": run(
        f"{ENGINE}.engine_init_kwargs.speculative_config.method=mtp "
        f"{ENGINE}.engine_init_kwargs.speculative_config.num_speculative_tokens=1"
    ),
    "a null drafter counts as not set": run(f"{MTP} {ENGINE}.speculative_config=null"),
    "the switch reads exactly 1": run(MTP, before="SKYRL_DISABLE_SPEC=true"),
    "an explicit drafter is not the switch's to remove": run(SPECULATIVE, before="SKYRL_DISABLE_SPEC=1"),
    "serve takes an explicit drafter": run(SPECULATIVE, entry="serve"),
    "main_generate too": run(SPECULATIVE, entry="main_generate"),
    "a hybrid through the passthrough": run(f"{MTP} {ENGINE}.engine_init_kwargs.model={HYBRID}", model=DENSE),
    "derived: the values come from variables": f'MODEL={HYBRID}\n: "${{ON:=true}}"\n'
    + run("trainer.mtp.enabled=$ON", "$MODEL"),
    "a string of arguments": f'ARGS="{MTP}"\n{run("$ARGS")}',
    "an array that grows": f"ARGS=({MTP})\nARGS+=(trainer.epochs=1)\n{run(chr(34) + '${ARGS[@]}' + chr(34))}",
    "behind a continued line": run(f"\\\n  {MTP} \\\n  trainer.epochs=1"),
}


@pytest.mark.parametrize("script", LEFT_ALONE.values(), ids=LEFT_ALONE)
def test_left_alone(script: str, tmp_path: Path) -> None:
    combination, found = verdict(tmp_path, {"train.sh": script})
    assert combination == "absent"
    assert "GDN001" not in found


@pytest.mark.parametrize("script", REPORTED.values(), ids=REPORTED)
def test_reported(script: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, {"train.sh": script}) == ("present", "GDN001")


def test_the_default_is_read_in_the_users_own_checkout(tmp_path: Path) -> None:
    config = "@dataclass\nclass InferenceEngineConfig:\n    enable_prefix_caching: bool = False\n"
    files = {"examples/train.sh": run(MTP), "skyrl/train/config/config.py": config}
    found = launch(tmp_path, files)
    assert (found["combination"], value(found, "enable_prefix_caching")) == ("absent", False)
    assert history(found, "enable_prefix_caching") == [
        ("default declared by InferenceEngineConfig.enable_prefix_caching = false", "won")
    ]
    assert found["settings"]["enable_prefix_caching"]["provenance"][0]["line"] == 3


def test_a_finding_names_the_places_and_the_words_that_end_it(tmp_path: Path) -> None:
    script = f"MODEL={HYBRID}\nMTP_ENABLED=true\n\n" + run("\\\n  trainer.mtp.enabled=$MTP_ENABLED", "$MODEL")
    found = launch(tmp_path, {"train.sh": script})
    (finding,) = found["findings"]
    assert (finding["rule"], finding["severity"], finding["line"]) == ("GDN001", "error", 5)
    assert {"train.sh:1", "train.sh:2", "train.sh:4"} <= set(related(finding))
    assert value(found, "speculative_config") == {"method": "mtp", "num_speculative_tokens": 1}
    assert fixed(tmp_path, finding).splitlines()[-2:] == [
        "  trainer.mtp.enabled=$MTP_ENABLED \\",
        "  generator.inference_engine.enable_prefix_caching=false",
    ]
    assert launch(tmp_path, {"train.sh": fixed(tmp_path, finding)})["combination"] == "absent"


def test_the_fix_replaces_the_word_that_sets_it_where_it_wins(tmp_path: Path) -> None:
    key = f"{ENGINE}.engine_init_kwargs.enable_prefix_caching"
    found = launch(tmp_path, {"train.sh": run(f"{MTP} {key}=true trainer.epochs=1")})
    (finding,) = found["findings"]
    assert fixed(tmp_path, finding) == run(f"{MTP} {key}=false trainer.epochs=1")


def test_a_passthrough_that_overrides_a_typed_setting_is_said(tmp_path: Path) -> None:
    words = f"{MTP} {ENGINE}.enable_prefix_caching=false {ENGINE}.engine_init_kwargs.enable_prefix_caching=true"
    found = launch(tmp_path, {"train.sh": run(words)})
    assert (found["combination"], rules(found)) == ("present", ["GDN001", "GDN006"])
    assert history(found, "enable_prefix_caching") == [
        (f"override {ENGINE}.enable_prefix_caching=false", "lost"),
        (f"override {ENGINE}.engine_init_kwargs.enable_prefix_caching=true", "won"),
    ]


def test_a_quoted_False_is_a_text_that_nothing_here_decides(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": run(f"""{MTP} "{ENGINE}.enable_prefix_caching='False'" """)})
    assert found["combination"] == "undecided"
    assert "the text 'False' where vLLM expects true or false" in found["decided_by"]


@pytest.mark.parametrize("word", [f"+{MTP}", f"++{ENGINE}.enable_prefix_caching=false"])
def test_hydras_operators_stop_it_at_start(word: str, tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": run(f"{MTP} {word}")})
    assert (found["startup"], found["combination"]) == ("refused", "absent")
    assert "GDN005" in rules(found)


def test_the_switch_of_the_environment_is_a_scenario(tmp_path: Path) -> None:
    script = 'if [ "$WITH_MTP" = 1 ]; then ARGS="trainer.mtp.enabled=true"; fi\n' + run("$ARGS")
    found = launch(tmp_path, {"train.sh": script})
    assert found["combination"] == "absent"
    assert found["scenarios"] == [{"when": {"WITH_MTP": "1"}, "combination": "present"}]
    assert [(finding["rule"], finding["when"]) for finding in found["findings"]] == [("GDN001", {"WITH_MTP": "1"})]
    assert launch(tmp_path, {"train.sh": script}, "--assume", "WITH_MTP=1")["combination"] == "present"


def test_an_open_end_may_change_it_and_is_told(tmp_path: Path) -> None:
    found = launch(tmp_path, {"train.sh": run(f'{MTP} "$@"')})
    assert found["combination"] == "present"
    assert "later words may change this" in found["note"]


RECIPE = """\
trainer:
  policy:
    model:
      path: {model}
  mtp:
    enabled: {mtp}
generator:
  inference_engine:
    num_engines: 1
    enable_prefix_caching: {caching}
"""


@pytest.mark.parametrize(
    ("model", "mtp", "caching", "expected"),
    [
        (HYBRID, "true", "true", "present"),
        (HYBRID, "yes", "on", "present"),
        (HYBRID, "true", "off", "absent"),
        (HYBRID, "false", "true", "absent"),
        (DENSE, "true", "true", "absent"),
    ],
)
def test_a_recipe_file(tmp_path: Path, model: str, mtp: str, caching: str, expected: str) -> None:
    recipe = RECIPE.format(model=model, mtp=mtp, caching=caching)
    assert launch(tmp_path, {"recipe.yaml": recipe})["combination"] == expected


@pytest.mark.parametrize(("version", "expected"), [("0.26.0", "absent"), ("0.28.0", "present")])
def test_a_null_leaves_it_to_vllms_own_default(tmp_path: Path, version: str, expected: str) -> None:
    recipe = RECIPE.format(model=HYBRID, mtp="true", caching="null")
    assert launch(tmp_path, {"recipe.yaml": recipe}, "--vllm-version", version)["combination"] == expected


def test_the_fix_of_a_recipe_is_the_value_of_its_key(tmp_path: Path) -> None:
    found = launch(tmp_path, {"recipe.yaml": RECIPE.format(model=HYBRID, mtp="true", caching="true  # fast")})
    (finding,) = found["findings"]
    assert fixed(tmp_path, finding) == RECIPE.format(model=HYBRID, mtp="true", caching="false  # fast")


def test_two_launches_never_mix(tmp_path: Path) -> None:
    script = run(f"{MTP} {ENGINE}.enable_prefix_caching=false") + run(f"{ENGINE}.enable_prefix_caching=true")
    found: Any = report(tmp_path, {"train.sh": script})
    assert [item["combination"] for item in found["launches"]] == ["absent", "absent"]
    assert found["findings"] == []


# -- stages, heads that are off, and the Tinker server -----------------------------------------------------------------


def test_pipeline_stages_reach_the_engine(tmp_path: Path) -> None:
    script = run(f"{MTP} {ENGINE}.pipeline_parallel_size=2")
    found = launch(tmp_path, {"train.sh": script, "requirements.txt": "vllm==0.30.0\n"})
    assert (value(found, "pipeline_parallel_size"), rules(found)) == (2, ["GDN001", "GDN010"])
    assert [f["severity"] for f in found["findings"] if f["rule"] == "GDN001"] == ["error"]


NO_HEADS = "trainer.policy.megatron_config.mtp_num_layers=0"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (f"{MTP} {NO_HEADS}", "refused"),
        (f"{MTP} trainer.policy.megatron_config.mtp_num_layers=1", "ok"),
        (f"trainer.mtp.enabled=false {NO_HEADS}", "ok"),
    ],
)
def test_drafting_without_heads_does_not_start(words: str, expected: str, tmp_path: Path) -> None:
    assert launch(tmp_path, {"train.sh": run(words)})["startup"] == expected


def tinker(config: str, backend: str = "--backend fsdp", model: str = HYBRID) -> str:
    return f"uv run --extra tinker -m skyrl.tinker.api --base-model {model} {backend} --backend-config '{config}'\n"


DRAFTS = f'"{ENGINE}.speculative_config": {{"method": "mtp", "num_speculative_tokens": 1}}'
TINKER = {
    "drafting in the backend's configuration": (tinker(f"{{{DRAFTS}}}"), "present", ["GDN001"]),
    "with prefix caching off": (tinker(f'{{{DRAFTS}, "{ENGINE}.enable_prefix_caching": false}}'), "absent", []),
    "off through the passthrough": (
        tinker(f'{{{DRAFTS}, "{ENGINE}.engine_init_kwargs.enable_prefix_caching": false}}'), "absent", [],
    ),
    "its trainer's switch installs nothing": (tinker('{"trainer.mtp.enabled": true}'), "absent", []),
    "a dense model": (tinker(f"{{{DRAFTS}}}", model=DENSE), "absent", []),
    "the jax backend": (tinker(f"{{{DRAFTS}}}", "--backend jax"), "absent", []),
    "no backend means jax": (tinker(f"{{{DRAFTS}}}", ""), "absent", []),
    "a configuration of the environment": (tinker("'$CONFIG'"), "undecided", []),
}  # fmt: skip


@pytest.mark.parametrize("name", TINKER)
def test_the_tinker_server(name: str, tmp_path: Path) -> None:
    script, combination, found_by = TINKER[name]
    found = launch(tmp_path, {"serve.sh": script})
    assert (found["framework"], found["combination"], rules(found)) == ("skyrl_tinker", combination, found_by)
