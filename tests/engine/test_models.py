"""Which model a launch runs: the user's alias, its config.json in the project or in a cache, its name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gdnlint import knowledge
from gdnlint.resolve.models import by_name
from support import MTP, checked, launch, value, write

ON = f"--enable-prefix-caching {MTP}\n"
HYBRID = json.dumps({"architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5"})
DENSE = json.dumps({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"})
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NAMES: dict[str, str] = json.loads(Path(__file__, "../../data/model_names.json").resolve().read_text(encoding="utf-8"))


def hybrid(found: Any) -> Any:
    return found["ingredients"]["hybrid"]


def why(folder: Path) -> str:
    """What ``check`` says of the model of serve.sh."""
    return str(checked(folder, "serve.sh", "--vllm-version", "0.28.0"))


# -- names -------------------------------------------------------------------------------------------------------------


def test_real_names_of_hybrid_models_and_of_their_near_misses() -> None:
    families = knowledge.load(()).families
    wrong = {}
    for name, expected in NAMES.items():
        found = by_name(name, families)
        if (found[0].name if found else "unknown") != expected:
            wrong[name] = found[0].name if found else "unknown"
    assert wrong == {}
    assert sum(family not in ("not_hybrid", "unknown") for family in NAMES.values()) > 250


# name -> why it is not known
OPEN = {
    "'<model>'": "the name <model> is a placeholder",
    "'{model}'": "the name {model} is a placeholder",
    "path/to/your-model": "the name path/to/your-model is a placeholder",
    "'/models/<MODEL>'": "the name /models/<MODEL> is a placeholder",
    '"$MODEL"': "the model depends on the environment variable MODEL",
    "me/my-finetune": "no model family is known by the name me/my-finetune",
}


@pytest.mark.parametrize(("name", "told"), OPEN.items())
def test_a_name_that_says_nothing_is_undecided(tmp_path: Path, name: str, told: str) -> None:
    found = launch(tmp_path, {"serve.sh": f"vllm serve {name} {ON}"}, "--vllm-version", "0.28.0")
    assert (found["combination"], hybrid(found)) == ("undecided", None)
    assert found["decided_by"] == f"whether it is a hybrid model is not known: {told}"


# -- config.json in the project ----------------------------------------------------------------------------------------

# name -> (the launch, the place of config.json)
PLACES = {
    "relative to the script": ("vllm serve ./mine", "run/mine/config.json"),
    "relative to the project": ("vllm serve checkpoints/mine", "checkpoints/mine/config.json"),
    "a mount": (
        "docker run -v ./mine:/model vllm/vllm-openai:v0.28.0 --model /model",
        "run/mine/config.json",
    ),
    "below a mount": (
        "docker run -v ./all:/models vllm/vllm-openai:v0.28.0 --model /models/mine",
        "run/all/mine/config.json",
    ),
    "another configuration": ("vllm serve me/mine --hf-config-path ./mine", "run/mine/config.json"),
}


@pytest.mark.parametrize(("command", "place"), PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(("config", "expected"), [(HYBRID, True), (DENSE, False)])
def test_a_configuration_in_the_project_decides(
    tmp_path: Path, command: str, place: str, config: str, expected: bool
) -> None:
    (tmp_path / ".git").mkdir()
    files = {"run/serve.sh": f"{command} {ON}", place: config}
    found = launch(tmp_path, files, "--vllm-version", "0.28.0")
    assert (hybrid(found), found["combination"]) == (expected, "present" if expected else "absent")


def test_a_configuration_outside_the_project_is_not_read(tmp_path: Path) -> None:
    write(tmp_path, {"root/.git/HEAD": "", "mine/config.json": HYBRID})
    for name in ("../mine", str(tmp_path / "mine")):
        found = launch(tmp_path / "root", {"serve.sh": f"vllm serve {name} {ON}"}, "--vllm-version", "0.28.0")
        assert hybrid(found) is None


OVERRIDES = {
    "a hybrid architecture": ({"architectures": ["Qwen3_5ForConditionalGeneration"]}, True),
    "an ordinary architecture": ({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}, False),
    "the type of the language model": ({"text_config": {"model_type": "qwen3_5_text"}}, True),
    "nothing of it": ({"rope_theta": 1}, None),
}


@pytest.mark.parametrize(("overrides", "expected"), OVERRIDES.values(), ids=OVERRIDES)
def test_overrides_of_the_configuration_count(tmp_path: Path, overrides: dict[str, Any], expected: bool | None) -> None:
    script = f"vllm serve me/mine --hf-overrides '{json.dumps(overrides)}' {ON}"
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.28.0")
    assert hybrid(found) is expected


def test_overrides_change_a_configuration_that_is_there(tmp_path: Path) -> None:
    override = json.dumps({"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"})
    files = {"serve.sh": f"vllm serve ./mine --hf-overrides '{override}' {ON}", "mine/config.json": HYBRID}
    assert launch(tmp_path, files, "--vllm-version", "0.28.0")["combination"] == "absent"


# -- the Hugging Face cache --------------------------------------------------------------------------------------------


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Puts a configuration into a cache as huggingface_hub lays it out: a link to a blob."""
    hub = tmp_path / "home/hub"
    hub.mkdir(parents=True)
    monkeypatch.setenv("HF_HUB_CACHE", str(hub))

    def put(name: str, config: str) -> Path:
        folder = hub / ("models--" + name.replace("/", "--"))
        write(folder, {"refs/main": COMMIT, "blobs/aa": config})
        link = folder / "snapshots" / COMMIT / "config.json"
        link.parent.mkdir(parents=True)
        link.symlink_to(Path("../../blobs/aa"))
        return link

    return put


@pytest.mark.parametrize("name", ["me/mine", "hf://me/mine", "me/mine:Q4_K_M", f"me/mine --revision {COMMIT}"])
def test_the_cache_of_the_machine_decides_and_is_named(
    tmp_path: Path, cache: Callable[[str, str], Path], name: str
) -> None:
    cache("me/mine", HYBRID)
    found = launch(tmp_path / "root", {"serve.sh": f"vllm serve {name} {ON}"}, "--vllm-version", "0.28.0")
    assert (hybrid(found), found["combination"]) == (True, "present")
    said = "the Hugging Face cache of this machine (me/mine at 01234567) says Qwen3_5ForConditionalGeneration"
    assert said in why(tmp_path / "root")


def test_the_cache_beats_a_name_that_lies(tmp_path: Path, cache: Callable[[str, str], Path]) -> None:
    cache("me/Qwen3.6-27B-distilled", DENSE)
    script = {"serve.sh": f"vllm serve me/Qwen3.6-27B-distilled {ON}"}
    assert launch(tmp_path / "root", script, "--vllm-version", "0.28.0")["combination"] == "absent"
    assert launch(tmp_path / "root", script, "--vllm-version", "0.28.0", "--no-hf-cache")["combination"] == "present"


OUTSIDE = ["me/../mine", "../me/mine", "me/mine --revision ../../x", "me/mine --revision v1", "/me/mine", "me--mine/x"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_name_leads_out_of_its_place_in_the_cache(
    tmp_path: Path, cache: Callable[[str, str], Path], name: str
) -> None:
    cache("me/mine", HYBRID)
    write(tmp_path, {"home/x/config.json": HYBRID, "home/hub/x": COMMIT})
    found = launch(tmp_path / "root", {"serve.sh": f"vllm serve {name} {ON}"}, "--vllm-version", "0.28.0")
    assert hybrid(found) is None


def test_a_link_out_of_the_cache_is_not_followed(tmp_path: Path, cache: Callable[[str, str], Path]) -> None:
    link = cache("me/mine", DENSE)
    write(tmp_path, {"elsewhere.json": HYBRID})
    link.unlink()
    link.symlink_to(tmp_path / "elsewhere.json")
    found = launch(tmp_path / "root", {"serve.sh": f"vllm serve me/mine {ON}"}, "--vllm-version", "0.28.0")
    assert hybrid(found) is None


@pytest.mark.parametrize("config", ["[" * 100_000, "no JSON", "[]", '{"architectures": 3}', "\0"])
def test_a_broken_configuration_says_nothing(tmp_path: Path, cache: Callable[[str, str], Path], config: str) -> None:
    cache("me/mine", config)
    found = launch(tmp_path / "root", {"serve.sh": f"vllm serve me/mine {ON}"}, "--vllm-version", "0.28.0")
    assert hybrid(found) is None


def test_a_pipe_in_the_cache_is_not_read(tmp_path: Path, cache: Callable[[str, str], Path]) -> None:
    link = cache("me/mine", HYBRID)
    link.unlink()
    os.mkfifo(link)
    found = launch(tmp_path / "root", {"serve.sh": f"vllm serve me/mine {ON}"}, "--vllm-version", "0.28.0")
    assert hybrid(found) is None


# -- speculators -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "combination"), [("Qwen/Qwen3.6-27B", "present"), ("Qwen/Qwen3-8B", "absent"), ("", "undecided")]
)
def test_a_repository_in_the_speculators_format_switches_speculation_on(
    tmp_path: Path, target: str, combination: str
) -> None:
    config = {"speculators_config": {"verifier": {"name_or_path": target}}, "architectures": ["LlamaForCausalLM"]}
    files = {"serve.sh": "vllm serve ./drafter --enable-prefix-caching\n", "drafter/config.json": json.dumps(config)}
    found = launch(tmp_path, files, "--vllm-version", "0.28.0")
    assert found["combination"] == combination
    assert found["ingredients"]["speculation"] is True


@pytest.mark.parametrize(
    ("name", "combination"),
    [("RedHatAI/Qwen3.6-35B-A3B-speculator.dspark", "present"), ("RedHatAI/Qwen3-8B-speculator.eagle3", "absent")],
)
def test_a_speculators_name_switches_speculation_on(tmp_path: Path, name: str, combination: str) -> None:
    script = {"serve.sh": f"vllm serve {name} --enable-prefix-caching\n"}
    assert launch(tmp_path, script, "--vllm-version", "0.28.0")["combination"] == combination


def test_a_drafter_is_not_the_model(tmp_path: Path) -> None:
    drafter = '{"method": "eagle3", "model": "me/Qwen3.6-27B-eagle3", "num_speculative_tokens": 2}'
    script = f"vllm serve Qwen/Qwen3-8B --enable-prefix-caching --speculative-config '{drafter}'\n"
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.28.0")
    assert (value(found, "model"), found["combination"]) == ("Qwen/Qwen3-8B", "absent")


# -- aliases -----------------------------------------------------------------------------------------------------------

# name -> (aliases, the verdict, how the model is told)
ALIASES: dict[str, tuple[dict[str, str], str, str]] = {
    "a family": ({"me/mine": "qwen3_5"}, "present", "an alias of the settings says qwen3_5"),
    "no hybrid": ({"me/mine": "not_hybrid"}, "absent", "an alias of the settings says not_hybrid"),
    "a repository": (
        {"me/mine": "Qwen/Qwen3-Next-80B-A3B-Instruct"},
        "present",
        "an alias of the settings says Qwen/Qwen3-Next-80B-A3B-Instruct; by its name",
    ),
    "a pattern": ({"me/*": "qwen3_5"}, "present", "an alias of the settings says qwen3_5"),
    "the name itself beats a pattern": (
        {"me/*": "qwen3_5", "me/mine": "not_hybrid"},
        "absent",
        "an alias of the settings says not_hybrid",
    ),
    "another name": ({"you/*": "qwen3_5"}, "undecided", "no model family is known by the name me/mine"),
    "nothing known": (
        {"me/mine": "who/knows"},
        "undecided",
        "an alias of the settings says who/knows; no model family is known by the name who/knows",
    ),
}


@pytest.mark.parametrize(("aliases", "combination", "told"), ALIASES.values(), ids=ALIASES)
def test_an_alias_decides(tmp_path: Path, aliases: dict[str, str], combination: str, told: str) -> None:
    models = "".join(f'"{name}" = "{target}"\n' for name, target in aliases.items())
    files = {"serve.sh": f"vllm serve me/mine {ON}", "gdnlint.toml": f"[models]\n{models}"}
    found = launch(tmp_path, files, "--vllm-version", "0.28.0")
    assert found["combination"] == combination
    assert told in json.dumps(found["evidence"])


def test_a_path_below_the_scripts_own_folder_is_told_from_here(tmp_path: Path) -> None:
    script = f'HERE="$(cd "$(dirname "$0")" && pwd)"\nvllm serve "$HERE/models/Qwen3.6-27B" {ON}'
    found = launch(tmp_path, {"serve.sh": script}, "--vllm-version", "0.27.0")
    (message,) = [finding["message"] for finding in found["findings"] if finding["rule"] == "GDN001"]
    assert message.startswith("hybrid model models/Qwen3.6-27B runs with")
