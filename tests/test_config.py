"""Configuration files, as a person meets them: files in a folder, a command, what it prints and its exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest

from gdnlint.settings.keys import KEYS
from gdnlint.settings.patterns import Patterns
from support import HYBRID, MTP, checked, write

UNSAFE = f"vllm serve {HYBRID} --enable-prefix-caching {MTP}\n"
DOCS = Path(__file__).parent.parent / "docs"


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gdnlint", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


def found(folder: Path, *arguments: str) -> list[tuple[str, str, str]]:
    """Path, rule and severity of each finding."""
    report = checked(folder, *arguments)
    return [(f["path"], f["rule"], f["severity"]) for f in report["findings"]]


def paths(folder: Path, *arguments: str) -> list[str]:
    return [launch["path"] for launch in checked(folder, *arguments)["launches"]]


# -- which file holds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [".gdnlint.toml", "gdnlint.toml", "pyproject.toml"])
@pytest.mark.parametrize(("mark", "end"), [("", "\n"), ("\ufeff", "\n"), ("", "\r\n")])
def test_each_file_is_read_with_a_mark_and_any_line_ends(tmp_path: Path, name: str, mark: str, end: str) -> None:
    head = "[tool.gdnlint]\n" if name == "pyproject.toml" else ""
    text = mark + (head + 'vllm-version = "0.27.1"\n').replace("\n", end)
    (tmp_path / name).write_text(text, newline="")
    write(tmp_path, {"a.sh": UNSAFE})
    version = checked(tmp_path, "a.sh")["launches"][0]["vllm_version"]
    assert version["value"] == "0.27.1"


def test_the_nearest_alone_holds_up_to_the_root(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    write(
        root,
        {
            "../gdnlint.toml": 'ignore = ["GDN001"]\n',
            "gdnlint.toml": 'severity = {GDN001 = "note"}\n',
            "one/gdnlint.toml": 'severity = {GDN001 = "warning"}\n',
            "two/pyproject.toml": "[project]\nname = 'x'\n",
            "three/pyproject.toml": "[tool.gdnlint]\n",
            **{f"{folder}/a.sh": UNSAFE for folder in ("one", "two", "three")},
        },
    )
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    assert [severity for _, _, severity in found(root, "--select", "GDN001")] == ["warning", "error", "note"]


def test_a_named_configuration_and_none(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.sh": UNSAFE, "gdnlint.toml": 'ignore = ["GDN001"]\n', "ci/x.toml": 'severity = {GDN001 = "note"}\n'},
    )
    assert "GDN001" not in [rule for _, rule, _ in found(tmp_path, ".")]
    assert ("a.sh", "GDN001", "note") in found(tmp_path, "--config", "ci/x.toml")
    assert ("a.sh", "GDN001", "error") in found(tmp_path, "--no-config")


# -- what it decides ---------------------------------------------------------------------------------------------------


def test_include_and_exclude_but_a_named_file_is_checked(tmp_path: Path) -> None:
    write(tmp_path, {f"{name}/a.sh": UNSAFE for name in ("run", "old", "run/old")})
    write(tmp_path, {"gdnlint.toml": 'include = ["run/"]\nexclude = ["old/"]\n'})
    assert paths(tmp_path) == ["run/a.sh"]
    assert paths(tmp_path, "old/a.sh") == ["old/a.sh"]
    assert paths(tmp_path, "old/a.sh", "--force-exclude") == []
    assert run(tmp_path, "check", "--hook", "--force-exclude", "old/a.sh").returncode == 0
    told = run(tmp_path, "check", "-v", "--format", "concise").stderr
    assert "gdnlint.toml: not checked: include of gdnlint.toml\nold/a.sh: not checked: exclude of gdn" in told
    assert "run/old/a.sh: not checked: exclude of gdnlint.toml" in told
    nothing = run(tmp_path, "check", "old")
    assert nothing.returncode == 3
    assert "the configuration leaves out what is in old (1; --no-config checks it)" in nothing.stderr


def test_the_command_line_beats_the_configuration(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.sh": 'vllm serve "$MODEL" --enable-prefix-caching ' + MTP + "\n",
            "gdnlint.toml": f'vllm-version = "0.27.1"\nassume = {{MODEL = "{HYBRID}"}}\nignore = ["GDN001"]\n'
            'fail-on = "never"\n',
        },
    )
    launch = checked(tmp_path, "a.sh")["launches"][0]
    assert (launch["vllm_version"]["value"], launch["combination"]) == ("0.27.1", "present")
    launch = checked(tmp_path, "a.sh", "--vllm-version", "0.28.0", "--assume", "MODEL=Qwen/Qwen3-8B")["launches"][0]
    assert (launch["vllm_version"]["value"], launch["combination"]) == ("0.28.0", "absent")
    assert ("a.sh", "GDN001", "error") in found(tmp_path, "--select", "GDN001")
    assert run(tmp_path, "check", "--select", "GDN001").returncode == 0
    assert run(tmp_path, "check", "--select", "GDN001", "--fail-on", "warning").returncode == 1


@pytest.mark.parametrize("alias", ["acme/math-tess-27b", "acme/*-tess-*"])
@pytest.mark.parametrize("target", ["Qwen/Qwen3.6-27B", "qwen3_5"])
def test_an_alias_changes_the_verdict(tmp_path: Path, alias: str, target: str) -> None:
    write(tmp_path, {"a.sh": f"vllm serve acme/math-tess-27b --enable-prefix-caching {MTP}\n"})
    assert checked(tmp_path, "a.sh")["launches"][0]["combination"] == "undecided"
    write(tmp_path, {"gdnlint.toml": f'[models]\n"{alias}" = "{target}"\n'})
    assert checked(tmp_path, "a.sh")["launches"][0]["combination"] == "present"


def test_per_path(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.sh": UNSAFE,
            "new/a.sh": UNSAFE,
            "new/accepted/a.sh": UNSAFE,
            "gdnlint.toml": """\
vllm-version = "0.27.1"
select = ["GDN001"]
[[per-path]]
paths = ["new/"]
vllm-version = "0.28.0"
severity = {hybrid-speculation-prefix-caching = "note"}
[[per-path]]
paths = ["/new/accepted/*.sh"]
ignore = ["GDN001"]
reason = "a patched build"
""",
        },
    )
    report = checked(tmp_path)
    assert [launch["vllm_version"]["value"] for launch in report["launches"]] == ["0.27.1", "0.28.0", "0.28.0"]
    assert [(f["path"], f["severity"]) for f in report["findings"]] == [("a.sh", "error"), ("new/a.sh", "note")]


def test_mild_and_uncertain_findings_can_be_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"a.sh": UNSAFE, "gdnlint.toml": 'severity = {GDN001 = "note"}\nmin-severity = "warning"\n'})
    assert not [rule for _, rule, _ in found(tmp_path) if rule == "GDN001"]
    assert ("a.sh", "GDN001", "note") in found(tmp_path, "--min-severity", "note")
    every = checked(tmp_path, "--no-config")["findings"]
    sure = checked(tmp_path, "--no-config", "--min-confidence", "high")["findings"]
    assert [f["rule"] for f in sure] == [f["rule"] for f in every if f["confidence"] == "high"]


def test_the_format_comes_from_the_current_directory(tmp_path: Path) -> None:
    write(tmp_path, {"a.sh": UNSAFE, "gdnlint.toml": 'format = "concise"\nselect = ["GDN001"]\n'})
    assert len(run(tmp_path, "check").stdout.splitlines()) == 1
    assert run(tmp_path, "check", "--format", "json").stdout.startswith("{")


# -- mistakes ----------------------------------------------------------------------------------------------------------

MISTAKES = {
    'x = 1\nexlude = ["a"]': "gdnlint.toml:1: `x` is no option. Known: include, exclude,",
    '\nexlude = ["a"]': "gdnlint.toml:2: `exlude` is no option. Did you mean `exclude`?",
    'exclude = "a"': "gdnlint.toml:1: `exclude` must be a list, not a text.",
    "exclude = [1]": "gdnlint.toml:1: an item of `exclude` must be a text, not a number",
    'exclude = ["../x"]': "'../x' leads out of the folder of this file",
    'exclude = ["/"]': "'/' names nothing",
    "vllm-version = 0.28": "`vllm-version` must be a text, not a number: put it in quotes.",
    'vllm-version = "latest"': "`vllm-version`: 'latest' is not a version such as 0.28.0.",
    'vllm-version = "0.28.1rc1"': "Give the release that it behaves like: 0.28.1",
    'fail-on = "fatal"': "`fail-on` is 'fatal'; one of error, warning, note, never.",
    'select = ["GDN1"]': "'GDN1' is no rule. Did you mean `gdn0",
    "[assume]\nA = true": "gdnlint.toml:2: `assume.A` must be a text, not true or false: put it in quotes.",
    '[[per-path]]\nignore = ["GDN001"]': "gdnlint.toml:1: an entry of `per-path` needs `paths`.",
    '[[per-path]]\npaths = ["a"]\nignore = ["GDN001"]': "an entry of `per-path` with `ignore` needs `reason`: say why.",
    '[[per-path]]\npath = ["a"]': "`per-path.path` is no option. Did you mean `paths`?",
    'models = ["a"]': "`models` must be a table, not a list.",
    'rules = ["/etc"]': "'/etc' lies outside the project; `--rules /etc` takes it.",
    'rules = [".."]': "'..' lies outside the project",
    'rules = ["gone"]': "'gone' is no folder (looked for gone).",
    "select = [": "gdnlint.toml is not TOML: Invalid",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_stop_the_run_and_say_where_and_what_was_meant(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"a.sh": UNSAFE, "gdnlint.toml": text + "\n"})
    done = run(tmp_path, "check", "a.sh")
    assert (done.returncode, done.stdout) == (2, "")
    assert MISTAKES[text] in done.stderr


def test_a_mistake_in_a_nested_file_stops_the_run_with_a_whole_report(tmp_path: Path) -> None:
    write(tmp_path, {"a.sh": UNSAFE, "deep/a.sh": UNSAFE, "deep/gdnlint.toml": "nope = 1\n"})
    done = run(tmp_path, "check", "--format", "json")
    report = json.loads(done.stdout)
    assert (done.returncode, report["findings"]) == (2, [])
    assert [d["code"] for d in report["diagnostics"]] == ["config"]
    assert run(tmp_path, "check", "--no-config").returncode == 1
    assert report["diagnostics"][0]["message"].startswith("deep/gdnlint.toml:1: `nope` is no option.")


def test_a_configuration_leads_nowhere_outside(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    write(root, {"a.sh": UNSAFE, "../secret.toml": "password = 1\n", "../rules/x.yaml": "{}\n"})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    os.symlink("../secret.toml", root / "gdnlint.toml")
    assert "gdnlint.toml leads out of the project; `--config FILE` takes it" in run(root, "check", "a.sh").stderr
    (root / "gdnlint.toml").unlink()
    os.symlink("../rules", root / "rules")
    write(root, {"gdnlint.toml": 'rules = ["rules"]\n'})
    assert "'rules' lies outside the project" in run(root, "check", "a.sh").stderr


def test_rules_of_the_project(tmp_path: Path) -> None:
    family = """\
schema: gdnlint-model/1
family: tess
title: Tess
mechanism: gdn
recurrent: true
own_mtp_head: true
architectures:
  TessForCausalLM: {since: 0.20.0, source: "ours:1"}
model_types: {tess: vllm}
names: [{pattern: '(?<![a-z0-9])tess(?![a-z])'}]
examples: {match: [acme/tess-1b], miss: [acme/tessa-1b]}
"""
    write(
        tmp_path,
        {
            "sub/lint/tess.yaml": family,
            "sub/gdnlint.toml": 'rules = ["lint"]\n',
            "sub/a.sh": f"vllm serve acme/tess-1b --enable-prefix-caching {MTP}\n",
        },
    )
    assert checked(tmp_path, "sub/a.sh")["launches"][0]["combination"] == "present"
    assert checked(tmp_path, "sub/a.sh", "--no-config")["launches"][0]["combination"] == "undecided"
    assert "Tess" in run(tmp_path / "sub", "rules").stdout


# -- patterns, schema --------------------------------------------------------------------------------------------------

FILES = ["a.sh", "b.sh", "x/a.sh", "x/b.yaml", "x/y/a.sh", "x/y/z/c.sh", "old/x/a.sh", "a/b/c/d.sh", "[x].sh"]
LISTS = [
    ["*.sh"],
    ["/*.sh"],
    ["x/"],
    ["x"],
    ["/x/y"],
    ["x/y/"],
    ["x/*"],
    ["x/**"],
    ["**/y"],
    ["**/y/**"],
    ["x/**/c.sh"],
    ["x/**/a.sh"],
    ["*", "!a.sh"],
    ["*.sh", "!x/a.sh"],
    ["x/*", "!x/y/"],
    ["a.sh/"],
    ["[ab].sh"],
    ["[!a].sh"],
    ["?.sh"],
    ["a/*/c"],
    ["a/*/d.sh"],
]


@pytest.mark.parametrize("patterns", LISTS, ids=" ".join)
def test_patterns_mean_what_git_makes_of_them(tmp_path: Path, patterns: list[str]) -> None:
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    write(tmp_path, {**dict.fromkeys(FILES, ""), ".gitignore": "\n".join(patterns) + "\n"})
    command = ["git", "check-ignore", "--no-index", "--stdin"]
    done = subprocess.run(command, cwd=tmp_path, input="\n".join(FILES), capture_output=True, text=True, check=False)
    assert [path for path in FILES if Patterns.of(patterns).fits(path)] == done.stdout.splitlines()


def test_the_schema_takes_every_example_and_refuses_what_is_refused() -> None:
    schema = json.loads((DOCS / "gdnlint.schema.json").read_text())
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    valid = jsonschema_rs.validator_for(schema)
    toml = pytest.importorskip("tomllib")
    for key in KEYS:
        assert valid.is_valid(toml.loads(key.example)), key.name
        assert schema["properties"][key.name]["description"] == key.help
    for text in MISTAKES:
        try:
            data = toml.loads(text)
        except ValueError:
            continue
        if not any(word in text for word in ("rules =", "select", "latest", "rc1", "..", '"/"')):
            assert not valid.is_valid(data), text
