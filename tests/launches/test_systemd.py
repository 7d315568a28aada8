"""systemd units and container units of Podman, as `gdnlint check` sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, checked, launch, report, rules, value, write

DRAFT = """'{"method": "mtp", "num_speculative_tokens": ${SPEC}}'"""
UNIT = f"""\
[Unit]
Description=vllm serve {DENSE} --enable-prefix-caching
[Service]
# ExecStart=/opt/venv/bin/vllm serve nothing --port 1
Environment="MODEL={HYBRID}" SPEC=2
Environment=CACHE=--enable-prefix-caching
ExecStartPre=-/opt/venv/bin/pip install vllm==0.28.0
ExecStart=/opt/venv/bin/vllm serve ${{MODEL}} \\
  ; a comment does not end it
  --max-model-len 4096 $CACHE \\
  --speculative-config {DRAFT}
"""


def test_a_unit_is_a_launch_with_its_environment_and_what_it_installs_before(tmp_path: Path) -> None:
    found = launch(tmp_path, {"vllm.service": UNIT})
    assert (found["kind"], found["line"], found["end_line"]) == ("unit", 8, 11)
    assert (value(found, "model"), value(found, "max_model_len")) == (HYBRID, 4096)
    assert value(found, "speculative_config") == {"method": "mtp", "num_speculative_tokens": 2}
    assert found["vllm_version"]["value"] == "0.28.0"
    assert (found["combination"], rules(found)) == ("present", ["GDN001"])


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param("$CACHE", "--no-enable-prefix-caching", "absent", id="a-flag-that-switches-caching-off"),
        pytest.param("CACHE=--enable", "CACHE=--no-enable", "absent", id="a-variable-that-switches-caching-off"),
        pytest.param(f"MODEL={HYBRID}", f"MODEL={DENSE}", "absent", id="a-dense-model"),
        pytest.param("${MODEL}", "%h/models/Qwen3.5-9B", "present", id="a-model-in-the-home-directory"),
        pytest.param("ExecStart=", "ExecStart=-+", "present", id="prefixes-of-the-program"),
    ],
)
def test_the_settings_of_a_unit_decide(tmp_path: Path, before: str, after: str, verdict: str) -> None:
    assert launch(tmp_path, {"vllm.service": UNIT.replace(before, after)})["combination"] == verdict


@pytest.mark.parametrize(
    ("word", "served"),
    [
        ("a$SPEC", "a$SPEC"),
        ("$SPEC", 2),
        ("a${SPEC}b", "a2b"),
        ("$${SPEC}", "${SPEC}"),
        ("100%%", "100%"),
        ('"a b"c', "a bc"),
        (r"a\x20b\t", "a b\t"),
        ("'${CACHE} x'", "--enable-prefix-caching x"),
    ],
)
def test_words_are_read_as_systemd_reads_them(tmp_path: Path, word: str, served: object) -> None:
    given = "Environment=SPEC=2 CACHE=--enable-prefix-caching"
    unit = f"[Service]\n{given}\nExecStart=vllm serve {DENSE} --tokenizer {word}\n"
    assert value(launch(tmp_path, {"vllm.service": unit}), "tokenizer") == served


def test_a_process_may_have_another_name_and_take_words_as_they_are(tmp_path: Path) -> None:
    unit = f"[Service]\nEnvironment=A=b\nExecStart=@:/opt/bin/vllm engine serve {DENSE} --tokenizer ${{A}}\n"
    assert value(launch(tmp_path, {"vllm.service": unit}), "tokenizer") == "${A}"


def test_an_empty_entry_of_a_drop_in_takes_the_command_away(tmp_path: Path) -> None:
    drop_in = (
        f"[Service]\nExecStart=\nExecStart=/opt/venv/bin/vllm serve {HYBRID} --no-enable-prefix-caching --seed 3\n"
    )
    files = {"vllm.service.d/10-off.conf": drop_in, "vllm.service": UNIT, "other.conf": drop_in}
    found = launch(tmp_path, files)
    assert (found["combination"], value(found, "seed"), found["path"]) == (
        "absent", 3, "vllm.service.d/10-off.conf",
    )  # fmt: skip
    assert found["vllm_version"]["value"] == "0.28.0"
    assert [item["combination"] for item in checked(tmp_path, ".")["launches"]] == ["absent"]


def test_a_drop_in_sets_a_variable_of_its_unit(tmp_path: Path) -> None:
    files = {"vllm.service": UNIT, "vllm.service.d/spec.conf": "[Service]\nEnvironment=SPEC=7\n"}
    assert value(launch(tmp_path, files), "speculative_config")["num_speculative_tokens"] == 7


def test_a_file_of_variables_is_followed_inside_the_project_and_wins(tmp_path: Path) -> None:
    unit = UNIT.replace("ExecStartPre", "EnvironmentFile=-/etc/vllm/vllm.env\nExecStartPre")
    files = {"units/vllm.service": unit, "etc/vllm/vllm.env": "SPEC=5\nCACHE='--enable-prefix-caching --seed 4'\n"}
    (tmp_path / ".git").mkdir()
    found = launch(tmp_path, files)
    assert (value(found, "speculative_config")["num_speculative_tokens"], value(found, "seed")) == (5, 4)
    assert ("SPEC is set here", "etc/vllm/vllm.env") in [
        (step["what"], step.get("path")) for step in found["settings"]["speculative_config"]["provenance"]
    ]


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        (r'NAME="a\$SPEC"', "a$SPEC"),
        (r"NAME='a\$SPEC'", r"a\$SPEC"),
        (r"NAME=a\$SPEC", "a$SPEC"),
        ("NAME=a$SPEC", "a$SPEC"),
        (r'NAME="a\nb"', r"a\nb"),
        (r'NAME="a\"b"', 'a"b'),
        ("NAME='a'\"b\" c", "abc"),
        ("NAME=a'b'", "a'b'"),
        ("NAME = a # b ", "a # b"),
        ("NAME=a\\\nb", "ab"),
        ("NAME=a\n#NAME=b\nexport NAME=c", "a"),
    ],
)
def test_values_in_a_file_of_variables_are_quoted_as_systemd_reads_them(tmp_path: Path, line: str, seen: str) -> None:
    """parse_env_file_internal in basic/env-file.c; nothing that stands in the file is replaced."""
    start = f"ExecStart=/bin/vllm serve {DENSE} --seed ${{NAME}}"
    unit = f"[Service]\nEnvironment=SPEC=2\nEnvironmentFile=/etc/v.env\n{start}\n"
    (tmp_path / ".git").mkdir()
    assert value(launch(tmp_path, {"v.service": unit, "etc/v.env": line + "\n"}), "seed") == seen


def test_a_variable_that_nothing_sets_is_unknown(tmp_path: Path) -> None:
    found = launch(tmp_path, {"vllm.service": UNIT.replace("Environment=CACHE=--enable-prefix-caching\n", "")})
    assert found["combination"] == "present"
    assert "the environment variable CACHE" in str(found)
    found = launch(tmp_path, {"vllm.service": UNIT.replace(f'"MODEL={HYBRID}" ', "")})
    assert (found["combination"], "the environment variable MODEL" in found["decided_by"]) == ("undecided", True)


SCRIPT = '#!/bin/bash\nexec vllm serve "$MODEL" "$@" -sc.method mtp -sc.num_speculative_tokens $SPEC\n'


@pytest.mark.parametrize(
    "command",
    ["/srv/vllm/bin/start --enable-prefix-caching", "/bin/bash /srv/vllm/bin/start --enable-prefix-caching"],
)
def test_a_script_of_the_project_runs_with_the_environment_of_the_unit(tmp_path: Path, command: str) -> None:
    unit = f"[Service]\nEnvironment=MODEL={HYBRID} SPEC=2\nExecStart={command}\n"
    (tmp_path / ".git").mkdir()
    found = launch(tmp_path, {"deploy/vllm.service": unit, "bin/start": SCRIPT})
    assert (found["path"], found["line"], found["combination"]) == ("deploy/vllm.service", 3, "present")
    assert value(found, "model") == HYBRID
    assert not report(tmp_path, {"deploy/other.service": unit.replace("start", "absent")})["launches"]


def test_a_string_for_a_shell_gets_the_environment_of_the_unit(tmp_path: Path) -> None:
    command = (
        "/bin/bash -c 'exec vllm serve \"$MODEL\" --enable-prefix-caching -sc.method mtp -sc.num_speculative_tokens 1'"
    )
    unit = f"[Service]\nEnvironment=MODEL={HYBRID}\nExecStart={command}\n"
    assert launch(tmp_path, {"vllm.service": unit})["combination"] == "present"


CONTAINER = f"""\
[Container]
Image=docker.io/vllm/vllm-openai:v0.28.0
Volume=/srv/{HYBRID}:/model:ro
Environment=CACHE=1
Exec=--model /model --speculative-config "{{\\"method\\": \\"mtp\\", \\"num_speculative_tokens\\": 2}}"
"""


def test_a_container_unit_is_a_launch(tmp_path: Path) -> None:
    found = launch(tmp_path, {"vllm.container": CONTAINER})
    assert (found["kind"], found["line"], found["combination"]) == ("unit", 5, "present")
    found = launch(tmp_path, {"vllm.container": CONTAINER.replace("Exec=", "Exec=--no-enable-prefix-caching ")})
    assert found["combination"] == "absent"


def test_the_edit_adds_a_flag_to_the_command(tmp_path: Path) -> None:
    from support import fixed

    found: Any = launch(tmp_path, {"vllm.service": UNIT})
    text = fixed(tmp_path, found["findings"][0], "prefix caching off")
    write(tmp_path, {"vllm.service": text})
    assert [item["combination"] for item in checked(tmp_path, "vllm.service")["launches"]] == ["absent"]


@pytest.mark.parametrize(
    ("writes", "verdict"),
    [
        pytest.param("cat > /etc/systemd/system/vllm.service <<'EOF'\n{unit}EOF", "present", id="a-quoted-document"),
        pytest.param("cat <<'EOF' >/etc/systemd/system/a.service\n{unit}EOF", "present", id="redirected-behind-it"),
        pytest.param("sudo tee /etc/systemd/system/vllm.service <<'EOF'\n{unit}EOF", "present", id="tee"),
        pytest.param("cat > notes.txt <<'EOF'\n{unit}EOF", "", id="another-file"),
        pytest.param("cat <<'EOF'\n{unit}EOF", "", id="a-message"),
    ],
)
def test_a_unit_that_a_script_writes_is_a_launch(tmp_path: Path, writes: str, verdict: str) -> None:
    found = report(tmp_path, {"install.sh": f"#!/bin/sh\nPORT=1\n{writes.format(unit=UNIT)}\n"})
    assert [item["combination"] for item in found["launches"]] == ([verdict] if verdict else [])
    assert [item["line"] for item in found["launches"]] == ([11] if verdict else [])
    off = UNIT.replace("$CACHE", "--no-enable-prefix-caching")
    found = report(tmp_path, {"off.sh": f"#!/bin/sh\n{writes.format(unit=off)}\n"})
    assert [item["combination"] for item in found["launches"]] == (["absent"] if verdict else [])


def test_variables_of_the_script_that_writes_a_unit_are_filled_in(tmp_path: Path) -> None:
    serve = "/opt/vllm/bin/vllm serve ${NAME} --port \\$PORT \\\\\n  --enable-prefix-caching ${EXTRA}"
    unit = f"[Service]\nExecStart={serve}\n"
    script = f"NAME={HYBRID}\nEXTRA='-sc.method mtp -sc.num_speculative_tokens 2'\ncat > a.service <<EOF\n{unit}EOF\n"
    found = launch(tmp_path, {"install.sh": script})
    assert (found["combination"], value(found, "model")) == ("present", HYBRID)
    found = launch(tmp_path, {"install.sh": script.replace("EXTRA=", "OTHER=")})
    assert found["combination"] == "absent"


def test_a_unit_in_documentation_is_a_launch(tmp_path: Path) -> None:
    page = f"# Service\n\n1. Write\n\n   ```ini\n   {UNIT.replace(chr(10), chr(10) + '   ')}\n   ```\n"
    assert launch(tmp_path, {"a.md": page})["combination"] == "present"
    open_page = page.replace("${MODEL}", "<model>")
    assert launch(tmp_path, {"c.md": open_page})["combination"] == "undecided"
    assert not report(tmp_path, {"b.md": page.replace("[Unit]", "[Other]").replace("ExecStart=", "Exec=")})["launches"]
