"""Words of the framework vocabulary that a folder of one's own may use: members, features, pins, flags, engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gdnlint.cli import cli
from support import HYBRID, MTP, fixed, inside, launch, report, rules, value, write

FRAMEWORK = """\
schema: gdnlint-framework/1
name: rocket
title: Rocket
engine: vllm
source: me/rocket@1
recognise:
  commands: [rocket fly]
  recipe:
    - ["*.rocket.model"]
dialect: flags
negative: no_
inherits: {style: file, file_flag: [--config]}
not_launched:
  - {when: {"key:rocket.dry": true}, because: it is a rehearsal, source: rocket.py:1}
launches:
  stage:
    per: "*"
    when: {"key:rocket": {absent: false}}
    engine: {ref: "key:rocket.engine", map: {"v*": vllm, "s*": sglang}, default: vllm}
    features: ["key:rocket.offered"]
    pins:
      - {as: image, ref: "key:rocket.image"}
      - {as: minimum, ref: "key:/least"}
    steps: &steps
      - {set: {model: "key:rocket.model"}, source: "rocket.py:2"}
      - {update: "key:rocket.more", source: "rocket.py:3"}
      - argv: key:rocket.parts.$p.words
        each: {p: "key:rocket.parts"}
        when: {any: [{not: {"key:rocket.offered": {has: $p}}}, {"feature:$p": on}]}
        source: rocket.py:4
      - argv: key:rocket.parts.$p.ways.$w
        each: {p: "key:rocket.parts", w: "key:rocket.parts.$p.ways"}
        when: {"key:rocket.parts.$p.ways": {first: $w}}
        source: rocket.py:5
  flight:
    when: {"entry:module": rocket fly}
    steps:
      - set: {model: "key:model", enable_prefix_caching: "key:engine.cache"}
        source: rocket.py:6
      - {set: {speculative_config: "key:draft"}, source: "rocket.py:7"}
fix:
  - setting: enable_prefix_caching
    value: false
    form: key
    text: "$at.rocket.more.enable_prefix_caching: false"
    launches: [stage]
  - setting: enable_prefix_caching
    value: false
    form: override
    text: --engine.no-cache
    replaces: [--engine.cache]
    launches: [flight]
"""

SPEC = '["--speculative-config", "{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": 2}"]'
ON = "more: {enable_prefix_caching: true}"


def stage(*lines: str, name: str = "first", model: str = HYBRID) -> str:
    return f"{name}:\n  rocket:\n    model: {model}\n" + "".join(f"    {line}\n" for line in lines)


def check(folder: Path, files: dict[str, str], *options: str) -> Any:
    return launch(folder, {**files, "rules/rocket.yaml": FRAMEWORK}, "--rules", "rules", *options)


PRESENT = {
    "each member": stage(ON, f"parts: {{a: {{words: [--seed, 1]}}, b: {{words: {SPEC}}}}}"),
    "the first of each member's ways": stage(ON, f"parts: {{a: {{ways: {{x: {SPEC}, y: [--seed, 1]}}}}}}"),
    "a mapping in a JSON text": stage(
        """more: '{"enable_prefix_caching": true,"""
        """ "speculative_config": {"method": "mtp", "num_speculative_tokens": 2}}'"""
    ),
    "an engine by its pattern": stage(ON, "engine: v2", f"parts: {{b: {{words: {SPEC}}}}}"),
    "a name with dots": stage(ON, f"parts: {{b: {{words: {SPEC}}}}}", name="first.2"),
    "an image": stage("image: vllm/vllm-openai:v0.28.0", f"parts: {{b: {{words: {SPEC}}}}}"),
    "a minimum": f"least: 0.28.0\n{stage(f'parts: {{b: {{words: {SPEC}}}}}')}",
}

ABSENT = {
    "not the first way": stage(ON, f"parts: {{a: {{ways: {{y: [--seed, 1], x: {SPEC}}}}}}}"),
    "another engine by its pattern": stage(ON, "engine: s1", f"parts: {{b: {{words: {SPEC}}}}}"),
    "an offered member": stage(ON, f"parts: {{b: {{words: {SPEC}}}}}", "offered: [b]"),
    "a rehearsal": stage(ON, "dry: true", f"parts: {{b: {{words: {SPEC}}}}}"),
    "an older image": stage("image: vllm/vllm-openai:v0.27.1", f"parts: {{b: {{words: {SPEC}}}}}"),
}


@pytest.mark.parametrize("text", PRESENT.values(), ids=PRESENT)
def test_present(text: str, tmp_path: Path) -> None:
    found = check(tmp_path, {"a.yaml": text})
    assert (found["framework"], found["combination"]) == ("rocket", "present")


@pytest.mark.parametrize("text", ABSENT.values(), ids=ABSENT)
def test_absent(text: str, tmp_path: Path) -> None:
    assert check(tmp_path, {"a.yaml": text})["combination"] == "absent"


def test_a_feature_is_a_scenario_and_can_be_assumed(tmp_path: Path) -> None:
    text = stage(ON, f"parts: {{b: {{words: {SPEC}}}}}", "offered: [b, c]")
    found = check(tmp_path, {"a.yaml": text})
    assert found["scenarios"] == [{"when": {"feature:b": "on"}, "combination": "present"}]
    assert check(tmp_path, {"a.yaml": text}, "--assume", "feature:b=on")["combination"] == "present"


def test_each_member_stands_at_its_own_lines_and_is_fixed_there(tmp_path: Path) -> None:
    parts = f"parts: {{b: {{words: {SPEC}}}}}"
    text = stage("seed: 1") + stage(ON, parts, name="second") + "other: 1\n"
    found = report(tmp_path, {"a.yaml": text, "rules/rocket.yaml": FRAMEWORK}, "--rules", "rules")
    assert [(item["line"], item["end_line"], item["combination"]) for item in found["launches"]] == [
        (1, 4, "absent"),
        (5, 9, "present"),
    ]
    (finding,) = found["findings"]
    assert fixed(tmp_path, finding) == text.replace("caching: true", "caching: false")
    unset = stage("more: {}", name="zero") + stage("more:", "  seed: 1", parts, name="second")
    newest = ("--rules", "rules", "--vllm-version", "0.28.0")
    found = report(tmp_path, {"a.yaml": unset, "rules/rocket.yaml": FRAMEWORK}, *newest)
    edited = fixed(tmp_path, found["findings"][0])
    assert edited == unset.replace("      seed: 1\n", "      enable_prefix_caching: false\n      seed: 1\n")


@pytest.mark.parametrize(
    ("words", "combination"),
    [
        ("--engine.cache", "present"),
        ("--engine.cache --engine.no-cache", "absent"),
        ("--engine.cache true", "present"),
        ("--engine.cache=false", "absent"),
        ("--engine.cache --config flight.yaml", "present"),
    ],
)
def test_flags_over_a_file(tmp_path: Path, words: str, combination: str) -> None:
    files = {
        "run.sh": f"rocket fly flight.yaml {words} --draft '{MTP.split(chr(39))[1]}'\n",
        "flight.yaml": f"model: {HYBRID}\n",
    }
    if "--config" in words:
        files["run.sh"] = files["run.sh"].replace("fly flight.yaml", "fly")
    found = check(tmp_path, files)
    assert (found["combination"], value(found, "model")) == (combination, HYBRID)
    if combination == "present":
        assert "GDN001" in rules(found)
        text = fixed(tmp_path, found["findings"][0])
        assert check(tmp_path, {**files, "run.sh": text})["combination"] == "absent"


def test_a_file_that_is_not_there_leaves_it_open(tmp_path: Path) -> None:
    found = check(tmp_path, {"run.sh": f"rocket fly missing.yaml --engine.cache --draft '{MTP.split(chr(39))[1]}'\n"})
    assert found["combination"] == "undecided"
    assert "missing.yaml, which is not in the project" in found["decided_by"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('each: {p: "key:rocket.parts"}', "each: {p: rocket.parts}", "each.p: must be a `key:` reference"),
        ("as: minimum", "as: least", "as: must be image or minimum"),
        ("style: file", "style: files", "style: must be one of"),
        ("dialect: flags", "dialect: flag", "dialect: must be one of"),
        ("{first: $w}", "{frist: $w}", "unknown operator 'frist'"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in FRAMEWORK
    write(tmp_path, {"a.yaml": "x: 1\n", "rules/rocket.yaml": FRAMEWORK.replace(old, new)})
    with inside(tmp_path):
        done = CliRunner().invoke(cli, ["check", "a.yaml", "--rules", "rules"])
    assert done.exit_code == 2
    assert message in done.output


OBJECTS = """\
schema: gdnlint-framework/1
name: shuttle
title: Shuttle
engine: vllm
source: me/shuttle@1
recognise:
  manifests:
    - {api: "shuttle.example/*", kind: Shuttle, completes_containers: true}
dialect: kwargs
launches:
  crew:
    at: spec
    per: "crews.*.members.*"
    pins:
      - {as: image, text: "{key:image.name}:{key:image.tag}"}
    steps:
      - {set: {model: {ref: "key:url", strip: ["hub://"]}}, source: "shuttle.go:1"}
      - {argv: "key:env.name=ARGS.value", flags: {--cache: --enable-prefix-caching}, source: "shuttle.go:2"}
"""


def shuttle(*members: str, kind: str = "Shuttle") -> str:
    text = f"# vllm\napiVersion: shuttle.example/v1\nkind: {kind}\nspec:\n  crews:\n    a:\n      members:\n"
    return text + "".join(members)


def member(args: str, tag: str = "v0.28.0") -> str:
    return (
        f"      - url: hub://{HYBRID}\n        image: {{name: vllm/vllm-openai, tag: {tag}}}\n"
        f"        env:\n        - {{name: OTHER, value: --no-enable-prefix-caching}}\n"
        f"        - name: ARGS\n          value: >-\n            {args}\n"
    )


def test_an_object_is_read_by_its_kind_and_each_item_that_fits_is_a_launch(tmp_path: Path) -> None:
    files = {
        "objects.yaml": shuttle(member(f"--cache {MTP}"), member("--cache")),
        "rules/frameworks/shuttle.yaml": OBJECTS,
    }
    found = report(tmp_path, files, "--rules", "rules")
    assert [(i["line"], i["end_line"], i["combination"]) for i in found["launches"]] == [
        (8, 14, "present"),
        (15, 21, "absent"),
    ]
    assert [i["vllm_version"]["value"] for i in found["launches"]] == ["0.28.0", "0.28.0"]
    assert found["launches"][0]["settings"]["model"]["value"] == HYBRID


def test_an_object_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    files = {
        "objects.yaml": shuttle(member(f"--cache {MTP}"), kind="Rocket"),
        "rules/frameworks/shuttle.yaml": OBJECTS,
    }
    assert report(tmp_path, files, "--rules", "rules")["launches"] == []


# A front that takes pairs, and one that is another in all but its name.

PAIRS = """\
schema: gdnlint-framework/1
name: harness
title: Harness
engine: vllm
source: me/harness@1
recognise: {commands: [harness go]}
dialect: flags
positional: [model, rest]
repeats: [set, one]
launches:
  engine:
    steps:
      - {set: {model: {ref: "key:model", strip: ["local:"]}}, source: "h.py:1"}
      - {update: "key:rest", text: pairs, source: "h.py:2"}
      - {update: "key:set", text: pairs, source: "h.py:3"}
      - {update: "key:one", text: pair, source: "h.py:4"}
"""

ALIKE = """\
schema: gdnlint-framework/1
name: nested
title: Nested harness
source: me/nested@1
like: harness
recognise: {commands: [nested go]}
"""

DRAFT = """--one 'speculative_config={"method": "mtp", "num_speculative_tokens": 2}'"""


def started(folder: Path, command: str) -> Any:
    files = {"run.sh": f"{command}\n", "rules/harness.yaml": PAIRS, "rules/a_nested.yaml": ALIKE}
    return launch(folder, files, "--rules", "rules")


@pytest.mark.parametrize(
    ("words", "combination"),
    [
        (f"local:{HYBRID} enable_prefix_caching=true,seed=1 {DRAFT}", "present"),
        (f"{HYBRID} --set seed=1,enable_prefix_caching {DRAFT}", "present"),
        (f"{HYBRID} --set enable_prefix_caching=true --set seed=1 {DRAFT}", "present"),
        (f"{HYBRID} --set enable_prefix_caching=true --set enable_prefix_caching=False {DRAFT}", "absent"),
        (f"{HYBRID} enable_prefix_caching=true --set enable_prefix_caching=no {DRAFT}", "absent"),
        (f"{HYBRID} $MORE {DRAFT}", "undecided"),
        (f"{HYBRID} --set enable_prefix_caching=true,$MORE {DRAFT} --one enable_prefix_caching=false", "absent"),
    ],
)
@pytest.mark.parametrize("name", ["harness", "nested"])
def test_pairs_and_words_in_front_of_flags(tmp_path: Path, name: str, words: str, combination: str) -> None:
    found = started(tmp_path, f"{name} go {words}")
    assert (found["framework"], found["combination"]) == (name, combination)
    assert value(found, "model") == HYBRID


def test_a_front_of_nothing_is_a_mistake(tmp_path: Path) -> None:
    write(tmp_path, {"run.sh": "", "rules/nested.yaml": ALIKE})
    with inside(tmp_path):
        done = CliRunner().invoke(cli, ["check", "--rules", "rules", "run.sh"])
    assert done.exit_code == 2
    assert "rules/nested.yaml:5: like: 'harness' is no framework with steps of its own" in done.output


def test_items_of_a_list_are_members(tmp_path: Path) -> None:
    items = FRAMEWORK.replace('"*.rocket.model"', '"stages.*.rocket.model"').replace(
        '    per: "*"', '    at: stages\n    per: "*"'
    )
    rocket = f"rocket: {{model: {HYBRID}, more: {{enable_prefix_caching: %s}}, parts: {{b: {{words: {SPEC}}}}}}}"
    files = {"a.yaml": "stages:\n" + "".join(f"  - {rocket % on}\n" for on in ("false", "true")), "rules/r.yaml": items}
    found = report(tmp_path, files, "--rules", "rules")
    assert [(item["line"], item["combination"]) for item in found["launches"]] == [(2, "absent"), (3, "present")]
