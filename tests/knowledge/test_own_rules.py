"""A folder of one's own: a framework, a model family, an unsafe combination, each a YAML file and no code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import MTP, fixed, launch, rules, value

FRAMEWORK = """\
schema: gdnlint-framework/1
name: rocket
title: Rocket
engine: vllm
source: me/rocket@1
recognise:
  modules: ["rocket.*"]
  recipe:
    - [rocket.engine, policy]
dialect: omegaconf_cli
env:
  ROCKET_SLOW: {equals: "1"}
launches:
  engine:
    steps:
      - set:
          model: "key:policy.name"
          enable_prefix_caching: {ref: "key:rocket.engine.cache", default: true}
        source: rocket/engine.py:10
        note: the engine block
      - fill: {speculative_config: {method: mtp, num_speculative_tokens: {ref: "key:rocket.drafts", default: 1}}}
        when: {all: [{"key:rocket.boost": true}, {not: {"env:ROCKET_SLOW": "1"}}]}
        source: rocket/engine.py:20
        note: rocket.boost installs a drafter
      - update: key:rocket.engine.more
        source: rocket/engine.py:30
fix:
  - setting: enable_prefix_caching
    value: false
    form: override
    text: rocket.engine.cache=false
    replaces: [rocket.engine.cache]
  - {setting: enable_prefix_caching, value: false, form: key, text: "rocket.engine.cache: false"}
"""

MODEL = """\
schema: gdnlint-model/1
family: comet
title: Comet
mechanism: gdn
recurrent: true
own_mtp_head: true
architectures:
  CometForCausalLM: {since: 0.21.0, source: me}
model_types: {comet: me}
names:
  - {pattern: 'comet-\\d+b', unless: 'draft'}
"""

RULE = """\
schema: gdnlint-rule/1
id: ACME001
slug: too-many-drafts
name: TooManyDrafts
since: 1.0.0
precision: high
summary: More than four draft tokens on a hybrid model.
description: Reported to crash.
remediation: Draft less.
evidence: our own runs
when:
  all:
    - "launch:hybrid"
    - {"set:speculative_config.num_speculative_tokens": {gt: 4}}
severity:
  - {is: warning}
message: "{model} drafts {drafting}."
anchor: ["ingredient:speculation"]
ways_out:
  - {title: draft less, applicability: manual}
references:
  - {title: ours, url: "https://example.org/1"}
bad:
  - {title: five, file: a.sh, text: "vllm serve Qwen/Qwen3.5-9B -sc.num_speculative_tokens 5"}
good:
  - {title: four, file: a.sh, text: "vllm serve Qwen/Qwen3.5-9B -sc.num_speculative_tokens 4"}
"""

OWN = {"rules/rocket.yaml": FRAMEWORK, "rules/deep/comet.yaml": MODEL, "rules/acme.yaml": RULE}


def check(folder: Path, files: dict[str, str], *options: str) -> Any:
    return launch(folder, {**files, **OWN}, "--rules", "rules", *options)


def test_a_framework_of_ones_own(tmp_path: Path) -> None:
    script = "python3 -m rocket.train policy.name=Qwen/Qwen3.5-9B rocket.boost=true\n"
    found = check(tmp_path, {"train.sh": script})
    assert (found["framework"], found["combination"], rules(found)) == ("rocket", "present", ["GDN001"])
    assert value(found, "speculative_config") == {"method": "mtp", "num_speculative_tokens": 1}
    (finding,) = found["findings"]
    text = fixed(tmp_path, finding)
    assert text == script.replace("\n", " rocket.engine.cache=false\n")
    assert check(tmp_path, {"train.sh": text})["combination"] == "absent"
    assert check(tmp_path, {"train.sh": f"ROCKET_SLOW=1 {script}"})["combination"] == "absent"
    dense = script.replace("\n", " 'rocket.engine.more={model: Qwen/Qwen3-8B}'\n")
    assert check(tmp_path, {"train.sh": dense})["combination"] == "absent"


def test_a_recipe_of_ones_own_framework(tmp_path: Path) -> None:
    recipe = "policy: {name: Qwen/Qwen3.5-9B}\nrocket:\n  boost: true\n  engine:\n    cache: true\n"
    found = check(tmp_path, {"recipe.yaml": recipe})
    assert (found["framework"], found["combination"]) == ("rocket", "present")
    assert fixed(tmp_path, found["findings"][0]) == recipe.replace("cache: true", "cache: false")


def test_a_model_family_of_ones_own(tmp_path: Path) -> None:
    script = f"vllm serve acme/Comet-7B --enable-prefix-caching {MTP}\n"
    assert launch(tmp_path, {"serve.sh": script})["combination"] == "undecided"
    found = check(tmp_path, {"serve.sh": script})
    assert (found["combination"], found["ingredients"]["hybrid"]) == ("present", True)
    assert "Gated DeltaNet" in found["evidence"]["hybrid"]["sentence"]
    early = check(tmp_path, {"serve.sh": script}, "--vllm-version", "0.20.0")
    assert (early["startup"], early["combination"]) == ("refused", "absent")
    assert "it came with 0.21.0" in early["startup_reason"]
    draft = check(tmp_path, {"serve.sh": script.replace("Comet-7B", "Comet-7B-draft")})
    assert draft["ingredients"]["hybrid"] is None


def test_a_model_family_of_ones_own_by_its_configuration(tmp_path: Path) -> None:
    files = {
        "serve.sh": f"vllm serve ./weights --enable-prefix-caching {MTP}\n",
        "weights/config.json": '{"architectures": ["CometForCausalLM"], "model_type": "comet"}',
    }
    found = check(tmp_path, files)
    assert found["combination"] == "present"
    assert "weights/config.json says CometForCausalLM" in found["evidence"]["hybrid"]["sentence"]


def test_a_rule_of_ones_own(tmp_path: Path) -> None:
    script = "vllm serve Qwen/Qwen3.5-9B --no-enable-prefix-caching -sc.method mtp -sc.num_speculative_tokens {n}\n"
    found = check(tmp_path, {"serve.sh": script.format(n=5)})
    assert rules(found) == ["ACME001"]
    (finding,) = found["findings"]
    assert (finding["name"], finding["severity"]) == ("too-many-drafts", "warning")
    assert finding["message"] == "Qwen/Qwen3.5-9B drafts mtp, 5 draft tokens."
    assert rules(check(tmp_path, {"serve.sh": script.format(n=4)})) == []


def test_ones_own_file_replaces_the_built_in_one_of_its_name(tmp_path: Path) -> None:
    script = f"vllm serve acme/Comet-7B --enable-prefix-caching {MTP}\n"
    dense = MODEL.replace("mechanism: gdn\nrecurrent: true", "mechanism: none\nrecurrent: false")
    found = launch(
        tmp_path,
        {"serve.sh": script, "one/comet.yaml": MODEL, "two/comet.yaml": dense},
        "--rules",
        "one",
        "--rules",
        "two",
    )
    assert (found["combination"], found["ingredients"]["hybrid"]) == ("absent", False)
