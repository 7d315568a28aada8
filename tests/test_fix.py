"""``check --fix`` and ``--diff``: files before and after, and what is said of them."""

from __future__ import annotations

import json
import os
import random
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdnlint.cli import cli
from gdnlint.fixes.writing import NotWritten, replace
from gdnlint.source import Source
from support import HYBRID, MTP, inside, write

SPECULATIVE = '{"method": "mtp", "num_speculative_tokens": 2}'


class Done(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str


def check(folder: Path, *arguments: str) -> Done:
    with inside(folder):
        done = CliRunner().invoke(cli, ["check", *arguments], standalone_mode=False)
    if isinstance(done.exception, click.ClickException):
        return Done(2, done.stdout, done.stderr + done.exception.format_message())
    assert done.exception is None, done.exception
    return Done(done.return_value, done.stdout, done.stderr)


def launches(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    found = json.loads(check(folder, *arguments, "--show-launches", "--format", "json").stdout)
    return list(found["launches"])


def settings_of(launch: dict[str, Any], *without: str) -> dict[str, Any]:
    return {name: found["value"] for name, found in launch["settings"].items() if name not in without}


# Every kind: a file, and the lines that a person would have changed.
KINDS = {
    "one line of shell": ("run.sh", f"vllm serve {HYBRID} --enable-prefix-caching {MTP}\n",
        ["-vllm serve", "+vllm serve"]),
    "continued lines": ("run.sh", f"vllm serve {HYBRID} \\\n    --enable-prefix-caching \\\n    {MTP}  # mtp\n",
        ["-    --enable-prefix-caching \\", "+    --no-enable-prefix-caching \\"]),
    "a framework's default, and words that follow": (
        "run.sh",
        "uv run -m skyrl.train.entrypoints.main_base \\\n"
        f'  trainer.policy.model.path="{HYBRID}" \\\n  trainer.mtp.enabled=true \\\n  "$@"\n',
        ["+  generator.inference_engine.enable_prefix_caching=false \\"],
    ),
    "an array": (
        "run.sh",
        f"ARGS=(\n  --enable-prefix-caching\n  {MTP}\n)\nvllm serve {HYBRID} \"${{ARGS[@]}}\"\n",
        [f'-vllm serve {HYBRID} "${{ARGS[@]}}"', f'+vllm serve {HYBRID} "${{ARGS[@]}}" --no-enable-prefix-caching'],
    ),
    "a here-document": (
        "run.sh",
        f"ssh gpu1 bash <<'EOF'\nvllm serve {HYBRID} --enable-prefix-caching {MTP}\nEOF\n",
        ["-vllm serve", "+vllm serve"],
    ),
    "a compose list": (
        "compose.yaml",
        f"services:\n  a:\n    image: vllm/vllm-openai:v0.27.0\n    command:\n      - --model\n      - {HYBRID}\n"
        f"      - --enable-prefix-caching  # warm prefixes\n      - --speculative-config\n      - '{SPECULATIVE}'\n",
        ["-      - --enable-prefix-caching  # warm prefixes", "+      - --no-enable-prefix-caching  # warm prefixes"],
    ),
    "a compose string": (
        "compose.yaml",
        f"services:\n  a:\n    image: vllm/vllm-openai:v0.27.0\n    command: >\n      --model {HYBRID}\n"
        f"      --enable-prefix-caching\n      --speculative-config '{SPECULATIVE}'\n",
        ["-      --enable-prefix-caching", "+      --no-enable-prefix-caching"],
    ),
    "a container of a cluster": (
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n    - name: a\n      image: vllm/vllm-openai:v0.27.0\n"
        f"      args:\n        - \"--model={HYBRID}\"\n        - \"--enable-prefix-caching\"\n"
        f"        - '--speculative-config={SPECULATIVE}'\n",
        ['-        - "--enable-prefix-caching"', '+        - "--no-enable-prefix-caching"'],
    ),
    "the engine's own configuration": (
        "conf.yaml",
        f"# served\nmodel: {HYBRID}\nenable-prefix-caching: true  # warm\nspeculative-config: '{SPECULATIVE}'\n",
        ["-enable-prefix-caching: true  # warm", "+no-enable-prefix-caching: true  # warm"],
    ),
    "a Python call": (
        "serve.py",
        f"from vllm import LLM\n\nllm = LLM(\n    model={HYBRID!r},\n    enable_prefix_caching=True,  # warm\n"
        f"    speculative_config={SPECULATIVE},\n)\n",
        ["-    enable_prefix_caching=True,  # warm", "+    enable_prefix_caching=False,  # warm"],
    ),
    "a Dockerfile": (
        "Dockerfile",
        f"FROM vllm/vllm-openai:v0.27.0\nCMD [\"--model\", \"{HYBRID}\", \"--enable-prefix-caching\", "
        "\"--speculative-config.method\", \"mtp\", \"--speculative-config.num_speculative_tokens\", \"2\"]\n",
        ["-CMD", "+CMD"],
    ),
    "a fence": (
        "notes.md",
        f"# Serving\n\n```bash\nvllm serve {HYBRID} \\\n  --enable-prefix-caching \\\n  {MTP}\n```\n",
        ["-  --enable-prefix-caching \\", "+  --no-enable-prefix-caching \\"],
    ),
    "a template": (
        "recipe.yaml",
        "defaults:\n  port: 8000\ncommand: |\n"
        f"  vllm serve {HYBRID} --port {{port}} \\\n    --enable-prefix-caching \\\n"
        "    --speculative-config '{{\"method\": \"mtp\", \"num_speculative_tokens\": 2}}' \\\n    --port {port}",
        ["-    --enable-prefix-caching \\", "+    --no-enable-prefix-caching \\"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_fixed_in_its_own_words(tmp_path: Path, kind: str) -> None:
    name, text, expected = KINDS[kind]
    write(tmp_path, {name: text, "other.sh": f"vllm serve {HYBRID} {MTP} --no-enable-prefix-caching\n"})
    before = launches(tmp_path, ".")
    diff = check(tmp_path, name, "--diff")
    changed = [line for line in diff.stdout.splitlines() if line[:1] in "+-" and not line.startswith(("+++", "---"))]
    assert diff.exit_code == 1
    assert all(any(line.startswith(start) for line in changed) for start in expected), diff.stdout
    assert len([line for line in changed if line[0] == "+"]) == 1, diff.stdout
    assert (tmp_path / name).read_text() == text

    fixed = check(tmp_path, ".", "--fix")
    assert fixed.exit_code == 0, fixed.stderr
    assert "No findings" in fixed.stdout
    assert f"fixed: {name}:" in fixed.stderr
    after = launches(tmp_path, ".")
    assert [launch["combination"] for launch in after] == ["absent", "absent"]
    derived = ("enable_prefix_caching", "mamba_cache_mode")
    assert [settings_of(old, *derived) for old in before] == [settings_of(new, *derived) for new in after]

    text = (tmp_path / name).read_text()
    again = check(tmp_path, ".", "--fix")
    assert "fixed" not in again.stderr
    assert (tmp_path / name).read_text() == text


def test_patch_makes_of_the_diff_what_fix_writes(tmp_path: Path) -> None:
    files = {name: text for name, text, _ in KINDS.values()}
    for folder in ("patched", "fixed"):
        write(tmp_path / folder, files)
    diff = check(tmp_path / "patched", ".", "--diff").stdout
    subprocess.run(["patch", "-p0", "--quiet"], input=diff, text=True, cwd=tmp_path / "patched", check=True)
    check(tmp_path / "fixed", ".", "--fix")
    for name in files:
        assert (tmp_path / "patched" / name).read_text() == (tmp_path / "fixed" / name).read_text() != files[name]


def test_the_fix_goes_to_the_launch_and_not_to_what_it_inherits(tmp_path: Path) -> None:
    base = (
        "policy:\n  model_name: Qwen/Qwen3-8B\n  generation:\n    backend: vllm\n"
        "    vllm_cfg:\n      tensor_parallel_size: 1\n      enable_prefix_caching: true\ngrpo: {}\n"
    )
    child = (
        f"defaults: base.yaml\npolicy:\n  model_name: {HYBRID}\n  generation:\n    vllm_kwargs:\n"
        "      speculative_config:\n        method: mtp\n        num_speculative_tokens: 2\n"
    )
    write(tmp_path, {"base.yaml": base, "child.yaml": child})
    done = check(tmp_path, ".", "--fix", "--select", "GDN001")
    assert "fixed: child.yaml:1: GDN001" in done.stderr
    assert (tmp_path / "base.yaml").read_text() == base
    added = [line for line in (tmp_path / "child.yaml").read_text().splitlines() if line not in child.splitlines()]
    assert [line.strip() for line in added][-1:] == ["enable_prefix_caching: false"]


def test_what_several_launches_share_is_not_changed_for_one_of_them(tmp_path: Path) -> None:
    function = (
        f"serve() {{\n  vllm serve {HYBRID} --enable-prefix-caching \"$@\"\n}}\n"
        f"serve {MTP}\nserve --port 8001\n"
    )  # fmt: skip
    write(tmp_path, {"run.sh": function})
    before = launches(tmp_path, "run.sh")
    assert [launch["combination"] for launch in before] == ["present", "absent"]
    done = check(tmp_path, "run.sh", "--fix")
    after = launches(tmp_path, "run.sh")
    assert settings_of(after[1]) == settings_of(before[1])
    assert "not fixed: run.sh:" in done.stderr
    assert (tmp_path / "run.sh").read_text() == function


def test_a_launch_under_a_switch_is_left_to_unsafe_fixes(tmp_path: Path) -> None:
    text = (
        "ARGS=()\nif [ \"${USE_MTP:-0}\" = 1 ]; then\n"
        f"  ARGS=({MTP})\nfi\nvllm serve {HYBRID} --enable-prefix-caching \"${{ARGS[@]}}\"\n"
    )  # fmt: skip
    write(tmp_path, {"run.sh": text})
    done = check(tmp_path, "run.sh", "--fix")
    assert "not fixed: run.sh:5: GDN001: it also changes the launch without USE_MTP=1 (--unsafe-fixes)" in done.stderr
    assert (tmp_path / "run.sh").read_text() == text
    done = check(tmp_path, "run.sh", "--fix", "--unsafe-fixes")
    assert done.exit_code == 0, done.stderr
    assert "--no-enable-prefix-caching" in (tmp_path / "run.sh").read_text()


def test_what_a_person_has_to_do_is_said(tmp_path: Path) -> None:
    text = "    backend: vllm\n    vllm_kwargs: {enable_prefix_caching: true}\n    vllm_cfg: {}\n"
    write(tmp_path, {"run.yaml": f"policy:\n  generation:\n{text}grpo: {{}}\n"})
    done = check(tmp_path, "run.yaml", "--fix")
    assert "not fixed: run.yaml:1: GDN005: a person has to do it" in done.stderr
    assert done.exit_code == 1


def test_only_selected_rules_are_fixed(tmp_path: Path) -> None:
    text = KINDS["continued lines"][1]
    write(tmp_path, {"run.sh": text})
    check(tmp_path, "run.sh", "--fix", "--ignore", "GDN001")
    assert (tmp_path / "run.sh").read_text() == text


def test_fix_and_diff_exclude_one_another(tmp_path: Path) -> None:
    done = check(tmp_path, "--fix", "--diff")
    assert done.exit_code == 2
    assert "give one of them" in done.stderr


@pytest.mark.parametrize("end", ["\r\n", "\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_line_ends_and_encoding_stay(tmp_path: Path, end: str, mark: bytes) -> None:
    encoding = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}.get(mark, "utf-8")
    text = f"# größer\nmodel: {HYBRID}\nenable-prefix-caching: true\nspeculative-config: '{SPECULATIVE}'\n"
    text = text.replace("\n", end)
    file = tmp_path / "conf.yaml"
    file.write_bytes(mark + text.encode(encoding))
    check(tmp_path, "conf.yaml", "--fix")
    expected = text.replace("enable-prefix-caching: true", "no-enable-prefix-caching: true")
    assert file.read_bytes() == mark + expected.encode(encoding)


def test_mode_and_owner_stay_and_nothing_is_left_behind(tmp_path: Path) -> None:
    write(tmp_path, {"run.sh": KINDS["continued lines"][1]})
    file = tmp_path / "run.sh"
    file.chmod(0o751)
    before = file.stat()
    check(tmp_path, "run.sh", "--fix")
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino
    assert os.listdir(tmp_path) == ["run.sh"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    write(tmp_path, {"real/run.sh": KINDS["continued lines"][1]})
    (tmp_path / "run.sh").symlink_to("real/run.sh")
    check(tmp_path, "run.sh", "--fix")
    assert (tmp_path / "run.sh").is_symlink()
    assert "--no-enable-prefix-caching" in (tmp_path / "real/run.sh").read_text()


def test_names_that_share_a_file_are_not_torn_apart(tmp_path: Path) -> None:
    text = KINDS["continued lines"][1]
    write(tmp_path, {"run.sh": text})
    os.link(tmp_path / "run.sh", tmp_path / "twin")
    done = check(tmp_path, "run.sh", "--fix")
    assert done.exit_code == 2
    assert "run.sh: its 2 names (hard links) would come apart" in done.stderr
    assert (tmp_path / "run.sh").read_text() == text


def test_a_file_that_has_changed_since_it_was_read_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("echo new\n")
    with pytest.raises(NotWritten, match=r"run\.sh: it has changed since it was read; run gdnlint again"):
        replace(file, Source("run.sh", "echo old\n", file), "echo fixed\n")
    assert file.read_text() == "echo new\n"


def test_a_folder_that_takes_no_files_leaves_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / "run.sh"
    file.write_text("echo old\n")
    long = tmp_path / ("x" * 250)
    long.write_text("echo old\n")
    replace(long, Source("x", "echo old\n", long), "echo new\n")
    assert long.read_text() == "echo new\n"
    assert sorted(os.listdir(tmp_path)) == ["run.sh", "x" * 250]


def test_a_kill_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    old, new = "a" * 400_000, "b" * 400_000
    file = tmp_path / "run.sh"
    program = (
        "import sys\nfrom pathlib import Path\nfrom gdnlint.fixes.writing import replace\n"
        "from gdnlint.source import Source\nfile = Path(sys.argv[1])\nprint('ready', flush=True)\n"
        "a, b = 'a' * 400_000, 'b' * 400_000\n"
        "while True:\n    replace(file, Source('run.sh', a, file), b)\n"
        "    replace(file, Source('run.sh', b, file), a)\n"
    )
    seen = set()
    for _ in range(12):
        file.write_text(old)
        with subprocess.Popen([sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(random.uniform(0.0, 0.03))
            process.kill()
        seen.add(file.read_text())
    assert seen <= {old, new}
    assert stat.S_ISREG(file.stat().st_mode)


# -- any launch --------------------------------------------------------------------------------------------------------

FLAGS = [
    "--port 8000", "--max-model-len 8192", "--dtype bfloat16", '"$@"', "${EXTRA:-}", "--kv-cache-dtype fp8",
    "-tp 2", "--served-model-name 'a b'", "--async-scheduling", "--no-enable-chunked-prefill",
]  # fmt: skip
ON = ["--enable-prefix-caching", "--enable_prefix_caching", '"${PC:---enable-prefix-caching}"', '"$ON"', '"${ARGS[@]}"']
JOINS = [" ", " \\\n  ", "  \\\n\t"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(FLAGS), max_size=5, unique=True),
    st.sampled_from(ON),
    st.integers(0, 5),
    st.sampled_from(JOINS),
    st.sampled_from(["", "exec ", "CUDA_VISIBLE_DEVICES=0 ", "nohup ", "if true; then "]),
    st.sampled_from(["", " &", " > log 2>&1", " | tee log", " # on"]),
)
def test_any_command_is_fixed_or_left_alone(
    tmp_path: Path, flags: list[str], on: str, at: int, join: str, before: str, behind: str
) -> None:
    words = [f"{before}vllm serve {HYBRID}", *flags, MTP]
    words.insert(min(at + 1, len(words)), on)
    text = "ON=--enable-prefix-caching\nARGS=(--enable-prefix-caching --seed 1)\n" + join.join(words) + behind + "\n"
    text += "fi\n" if before.startswith("if") else ""
    write(tmp_path, {"run.sh": text})
    old = launches(tmp_path, "run.sh", "--vllm-version", "0.27.0")
    done = check(tmp_path, "run.sh", "--fix", "--vllm-version", "0.27.0")
    new = launches(tmp_path, "run.sh", "--vllm-version", "0.27.0")
    edited = (tmp_path / "run.sh").read_text()
    subprocess.run(["bash", "-n", str(tmp_path / "run.sh")], check=True)
    if old[0]["combination"] != "present":
        assert "GDN001" not in done.stderr
        return
    assert new[0]["combination"] == "absent", (text, edited, done.stderr)
    derived = ("enable_prefix_caching", "mamba_cache_mode")
    assert settings_of(old[0], *derived) == settings_of(new[0], *derived)
    assert len(new) == len(old) == 1
