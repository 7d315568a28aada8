"""Files made to break a reader: a diagnostic for the bad one, the others judged, the right exit code.

Whole processes with limits on memory and processor time; the fuzzing runs in this process, through the library's
own entry.
"""

from __future__ import annotations

import ctypes
import json
import os
import pty
import re
import resource
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gdnlint import knowledge, pipeline
from gdnlint.options import Options
from gdnlint.report import json_v1, sarif
from support import MTP, write

UNSAFE = """vllm serve Qwen/Qwen3.5-9B --enable-prefix-caching \\
  --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
"""
MEMORY = 600 << 20
"""Bytes of address space: Python and its libraries alone map about half of it."""
SECONDS = 30
"""Of processor time, so that a file that is read without end fails a test; none comes near it."""
ROOT = Path(__file__).parent.parent
REPORT_SCHEMA = jsonschema_rs.validator_for(json.loads((ROOT / "docs" / "report-v1.schema.json").read_text()))
SARIF_SCHEMA = jsonschema_rs.validator_for(
    json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text())
)

Check = tuple[int, dict[str, Any], str]
"""Exit code, report, standard error."""


def limits() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def run(
    folder: Path, *arguments: str | bytes, before: Callable[[], None] = limits
) -> subprocess.CompletedProcess[bytes]:
    """gdnlint in a process of its own, with bounded memory and time."""
    return subprocess.run(
        [sys.executable, "-m", "gdnlint", *arguments],
        cwd=folder,
        capture_output=True,
        timeout=300,
        check=False,
        preexec_fn=before,
    )


def check(folder: Path, *arguments: str | bytes, before: Callable[[], None] = limits) -> Check:
    """A run of ``check``; its report is valid, and no traceback and no bug is in it."""
    done = run(folder, "check", "--format=json", "--show-launches", *(arguments or (".",)), before=before)
    stderr = done.stderr.decode()
    assert "Traceback" not in stderr
    found = json.loads(done.stdout)
    assert [str(error) for error in REPORT_SCHEMA.iter_errors(found)] == []
    assert not [d for d in found["diagnostics"] if d["code"].startswith("internal")]
    return done.returncode, found, stderr


def with_unsafe(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    (folder / "unsafe.sh").write_text(UNSAFE)
    return folder


def flagged(report: dict[str, Any]) -> list[str]:
    """The files in which the unsafe combination was found."""
    return sorted({finding["path"] for finding in report["findings"] if finding["rule"] == "GDN001"})


def codes(report: dict[str, Any], path: str) -> set[str]:
    return {item["code"] for item in report["diagnostics"] if item["path"] == path}


# -- files that are no text, or no text of their kind ------------------------------------------------------------------

BAD: dict[str, tuple[str, bytes, str]] = {
    "invalid UTF-8": ("utf8.sh", b"vllm serve \xff\xfe\xfa --x\n", "encoding"),
    "invalid UTF-8 in YAML": ("utf8.yaml", b"vllm: \xc3\x28\n", "encoding"),
    "a NUL byte": ("nul.sh", b"vllm serve \0 m\n", "encoding"),
    "half of UTF-16": ("utf16.yaml", "vllm: serve\n".encode("utf-16")[:-1], "encoding"),
    "a Python syntax error": ("syntax.py", b"from vllm import LLM\nLLM(model=\n", "syntax"),
    "a YAML syntax error": ("syntax.yaml", b"command: vllm serve x --y\nb: [\n", "syntax"),
    "50 MB": ("big.sh", b"# vllm\n", "unreadable"),
    "50 MB of anchors": ("anchors.yaml", b"vllm: &a [x, x]\n" + b"b: &a [*a, *a]\n" * 3_500_000, "unreadable"),
}


def test_a_file_that_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    with_unsafe(tmp_path)
    for name, data, _ in BAD.values():
        (tmp_path / name).write_bytes(data)
    os.truncate(tmp_path / "big.sh", 50 << 20)
    exit_code, report, _ = check(tmp_path)
    assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])
    assert {name: codes(report, name) for name, _, _ in BAD.values()} == {n: {code} for n, _, code in BAD.values()}


@pytest.mark.parametrize("name", ["utf8.sh", "nul.sh", "syntax.py"])
def test_nothing_but_a_bad_file_is_no_finding(tmp_path: Path, name: str) -> None:
    data = next(data for file, data, _ in BAD.values() if file == name)
    (tmp_path / name).write_bytes(data)
    exit_code, report, _ = check(tmp_path, name)
    assert (exit_code, len(report["diagnostics"])) == (0, 1)


def test_a_byte_order_mark_line_ends_and_utf_16_change_no_verdict(tmp_path: Path) -> None:
    config = (
        "model: Qwen/Qwen3.5-9B\r\nenable-prefix-caching: true\r\n"
        "speculative-config: {method: mtp, num_speculative_tokens: 2}\r\n"
    )
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.sh").write_bytes(UNSAFE.replace("\n", "\r\n").encode())
    (tmp_path / "b.yaml").write_bytes(b"\xef\xbb\xbf" + config.encode())
    (tmp_path / "c.sh").write_bytes(UNSAFE.encode("utf-16"))
    assert flagged(check(tmp_path)[1]) == ["a.sh", "b.yaml", "c.sh"]


# -- bombs: small files that are much to read --------------------------------------------------------------------------


def laughs(levels: int = 40) -> str:
    lines = ["vllm: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, levels)]
    return "\n".join(lines) + "\ncommand: vllm serve m --x\n"


def doubled(levels: int, line: str) -> str:
    return "".join(line.format(i=i, before=i - 1) for i in range(1, levels))


SERVE = "vllm serve Qwen/Qwen3.5-9B "
HYDRA = "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.name=vllm "
POD = "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.28.0\n"
SERVICE = "services:\n  s:\n    image: vllm/vllm-openai:v0.28.0\n"
LLM = "import vllm\nvllm.LLM({})\n"

BOMBS: dict[str, dict[str, str]] = {
    "shell": {
        **{
            f"deep{number}.sh": SERVE + opening * 5_000 + "x" + closing * 5_000 + "\n"
            for number, (opening, closing) in enumerate(
                (("$(echo ", ")"), ('"$(', ')"'), ("`", "`"), ("${A:-", "}"), ("$((", "))"), ("{a,", "}"), ("<(", ")"))
            )
        },
        "parentheses.sh": "(" * 20_000 + ")" * 20_000 + "\n" + SERVE,
        "braces.sh": SERVE + "{1..99999999} " + "{a,b}" * 20 + "\n",
        "pipes.sh": SERVE + "| cat " * 20_000 + "\n",
        "words.sh": SERVE + "--x y " * 10_000 + "\n",
        "flags.sh": SERVE + " ".join(f"--flag{i}" for i in range(4_000)) + "\n",
        "members.sh": SERVE + " ".join(f"--speculative-config.a{i} {i}" for i in range(1_500)) + "\n",
        "dots.sh": SERVE + "--speculative-config" + ".a" * 20_000 + " 1\n",
        "doubles.sh": "A=xxxxxxxxxx\n" + "A=$A$A\n" * 100 + SERVE + "$A\n",
        "pieces.sh": doubled(15, "A{i}=$A{before}$A{before}\n") + doubled(9_000, "B{i}=$A14\n") + SERVE,
        "turns.sh": "for a in {1..64}; do for b in {1..64}; do for c in {1..64}; do " + SERVE + "; done; done; done\n",
        "endless.sh": "while true; do while true; do A=$A$B; done; done\n" + SERVE + "\n",
        "recursion.sh": "f() { f; f; f; }\nf\n" + SERVE + "\n",
        "fork.sh": "f() { f | f & }\nf\n" + SERVE + "\n",
        "options.sh": "while [ $# -gt 0 ]; do case $1 in "
        + "".join(f"--speculative{i}) A{i}=$2; shift 2;; --mtp{i}) B=1; shift;; " for i in range(3_000))
        + f"esac; done\n{SERVE}$A1 $B\n",
        "choices.sh": "".join(
            f"case ${i} in {' '.join(f'mtp{j}) A={j};;' for j in range(60))} *) exit 1;; esac\n" for i in range(1, 10)
        )
        + SERVE
        + "$A\n",
        "getopts.sh": 'while getopts "a:b" o; do while getopts "a:b" p; do case $o in a) A=$OPTARG; "$0" "$@";; esac; done; done\n'
        + 'f() { f "$@"; }\nf "$@"\n'
        + SERVE,
        "eval.sh": 'x=\'x="$x$x"; eval "$x"\'\neval "$x"\n' + SERVE + "\n",
        "numbers.sh": f"A=$(({'9' * 5_000})) B=$((0x{'f' * 9_000})) C=${{{'1' * 5_000}}} "
        f"D={{1..{'9' * 5_000}}}\nshift {'9' * 5_000}\n((x = 2 ** 99999999))\nprintf '%999999999d' 1\n"
        f"{SERVE}--max-model-len {'9' * 5_000}\n",
        "globs.sh": f"A={'a' * 3_000}\necho ${{A##{'*a' * 100}b}} ${{A//{'*a' * 100}b/x}}\n[[ $A =~ (a+)+b ]]\n{SERVE}\n",
        "path.sh": "vllm serve --config " + "a/" * 100_000 + "b\n",
        "model.sh": "vllm serve " + "Qwen" * 50_000 + " --x\nvllm serve " + "qwen3-" * 20_000 + "!\n",
        "many.sh": (SERVE + "--x y\n") * 3_000,
        "nested.sh": 'ssh h "ssh h \\"vllm serve x; vllm serve y\\""\n' * 1_000,
        "unit.sh": "cat > a.service <<E\n[Service]\n" + "Environment=A=$B$B\n" * 900 + f"ExecStart={SERVE} $A \\\\\n" * 900 + "E\n",
        "units.sh": f"cat > a.service <<'E'\n[Service]\nExecStart={SERVE} --x\nE\n" * 400,
        "heredocs.sh": "bash <<E\n" + SERVE * 100 + "E\n" + "cat <<A\n" * 3_000,
    },
    "JSON in a word": {
        "deep.sh": SERVE + "-sc '" + "[" * 50_000 + "'\n" + SERVE + "-sc '" + '{"a":' * 900 + "1" + "}" * 900 + "'\n",
        "wide.sh": SERVE + "-sc '{" + ",".join(f'"k{i}": 1' for i in range(20_000)) + "}'\n",
        "holes.sh": SERVE + '-sc "{' + ",".join(f'\\"k{i}\\": $A{i}' for i in range(3_000)) + '}"\n',
        "numbers.sh": SERVE + "-sc '" + '{"num_speculative_tokens": ' + "9" * 9_000 + ', "a": 1e999}' + "'\n",
    },
    "overrides": {
        "values.sh": HYDRA + "a=" + "[" * 3_000 + " b='" + "{a:" * 900 + "1" + "}" * 900 + "' c=" + "choice(" * 900 + "\n",
        "keys.sh": f"{HYDRA}actor_rollout_ref{'.a' * 20_000}=1 +{'b.' * 20_000}c=2 x{'[' * 20_000}=1\n",
        "references.sh": HYDRA
        + " ".join(f"+a{i}='${{a{i + 1}}}${{a{i + 1}}}'" for i in range(60))
        + " actor_rollout_ref.model.path='${a0}'\n",
        "words.sh": HYDRA + " ".join(f"+a.b{i}={i}" for i in range(4_000)) + "\n",
        "compose.yaml": "defaults:\n"
        + "".join(f"  - big@p{i}\n" for i in range(500))
        + "  - _self_\nactor_rollout_ref: {rollout: {name: vllm}, model: {path: x}}\n",
        "big.yaml": "".join(f"k{i}: {i}\n" for i in range(5_000)),
        "maps.yaml": 'actor_rollout_ref: {rollout: {name: vllm}, model: {path: "${a0}"}}\n'
        + "".join(f'a{i}: {{x: "${{a{i + 1}}}", y: "${{a{i + 1}}}"}}\n' for i in range(60)),
    },
    "YAML": {
        "laughs.yaml": laughs(),
        "merges.yaml": "vllm: &a0 {x: 1}\n"
        + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}], k{i}: *a{i - 1}}}\n" for i in range(1, 60)),
        "flow.yaml": "vllm: " + "[" * 50_000,
        "maps.yaml": "vllm: " + "{a: " * 20_000,
        "dashes.yaml": "vllm:\n" + "- " * 50_000 + "vllm serve x\n",
        "nodes.yaml": "command: vllm serve x --y\nz:\n" + "- a\n" * 100_000,
        "documents.yaml": "---\nx: vllm serve m --y\n" * 8_000,
        "commands.yaml": "x:\n" + "- vllm serve m --y\n" * 20_000,
        "aliases.yaml": "x: &a |\n" + "  pad pad pad\n" * 10_000 + "  vllm serve x --b c\ny:\n" + "- *a\n" * 190,
        "numbers.yaml": f"model: m\nseed: 0x{'f' * 50_000}\nmax-model-len: 1{':59' * 50_000}\nenable-prefix-caching: 1\n",
        "settings.yaml": "model: Qwen/Qwen3.5-9B\nenable-prefix-caching: true\n"
        "speculative-config: {method: mtp, num_speculative_tokens: 2}\n"
        + "".join(f"k{i}: {i}\n" for i in range(9_000)),
        "templates.yaml": "".join(f'x{i}: "vllm serve {mark * 9_000}"\n' for i, mark in enumerate(("{{ ", "{% ", "{a} ", "${{ "))),
        "folded.yaml": "x: >\n" + "  vllm serve x \n\n" * 20_000,
        "images.yaml": "".join(f"k{i}: docker.io/vllm/vllm-openai:v{i}\n" for i in range(9_000))
        + "cmds:\n" + "- vllm serve x --b {k1} {zz}\n" * 190,
        "services.yaml": "services:\n"
        + "".join(f"  s{i}: {{extends: s{i + 1}, image: vllm/vllm-openai, command: --model x}}\n" for i in range(2_000)),
        "variables.yaml": SERVICE + '    command: "--model ' + "${A:-" * 5_000 + "}" * 5_000 + " ${" * 9_000
        + "${B:-x} " * 9_000 + '"\n',
        "macros.yaml": "macros:\n  a0: xxxxxxxxxxxx\n" + doubled(60, '  a{i}: "${{a{before}}}${{a{before}}}"\n')
        + "models:\n" + "".join(f"  m{i}: {{cmd: 'vllm serve ${{a12}}'}}\n" for i in range(900))
        + "  n: {cmd: 'vllm serve ${a59}'}\n  o: {cmd: 'vllm serve " + "${a0}" * 9_000 + "${ " * 9_000 + "'}\n",
        "chain.yaml": "macros:\n  a0: x\n" + doubled(2_000, "  a{i}: a${{a{before}}}\n")
        + "models: {m: {cmd: 'vllm serve ${a999} --x'}}\n",
        "matrix.yaml": "j:\n  strategy:\n    matrix:\n"
        + "".join(f"      k{i}: [{', '.join(map(str, range(40)))}]\n" for i in range(12))
        + "      include:\n" + "      - {k1: 1, z: 1}\n" * 300 + "      exclude:\n" + "      - {k1: 1, z: 1}\n" * 300
        + "  steps:\n" + ("  - run: vllm serve ${{ matrix.k1 }} " + "${{ matrix.k2 }} " * 300 + "--x\n") * 20,
        "pod.yaml": f'{POD}    args: ["--model", "$(A40)"]\n    env:\n    - {{name: A0, value: xxxxxxxxxxxxxxxx}}\n'
        + doubled(41, '    - {{name: A{i}, value: "$(A{before})$(A{before})"}}\n'),
    },
    "Python": {
        "parentheses.py": LLM.format("(" * 20_000 + ")" * 20_000),
        "open.py": LLM.format("[" * 50_000),
        "signs.py": LLM.format("-" * 50_000 + "1"),
        "sum.py": LLM.format("1" + "+1" * 30_000),
        "attributes.py": LLM.format("a" + ".b" * 30_000),
        "fields.py": LLM.format("f'" + "{a}" * 9_000 + "'"),
        "indent.py": "".join(" " * i + "if a:\n" for i in range(300)) + " " * 300 + LLM.format("x").split("\n")[1] + "\n",
        "dense.py": "import vllm\nx = {" + '"a": 1, ' * 40_000 + "}\nvllm.LLM(**x)\n",
        "lines.py": "import vllm\n" + "a\n" * 100_000 + "vllm.LLM(a)\n",
        "calls.py": "import vllm\n" + 'vllm.LLM("x")\n' * 9_000,
        "arguments.py": LLM.format(",".join(f"a{i}={i}" for i in range(9_000))),
        "numbers.py": "import vllm\nx = 10**10**10\ny = 'a' * 10**12\nz = 1 << 10**10\nw = '%999999999d' % 1\n"
        "v = f'{1:999999999}'\nu = [1] * 10**9\nt = list(range(10**18))\nvllm.LLM(x, y, z, w, v, u, t)\n",
        "doubles.py": "import vllm\nx = 'a'\n" + "x = x + x\n" * 60 + "z = {}\n" + "z = {'a': z, 'b': z}\n" * 60 + "vllm.LLM(x, **z)\n",
        "cycles.py": "import vllm\nx = []\nx.append(x)\ndef f(a): return [f(a), f(a)]\nclass A(A): pass\nvllm.LLM(x, f(1), A().b)\n",
        "turns.py": "import vllm\nfor a in range(9999):\n for b in range(9999):\n  while True:\n   vllm.LLM(a)\n",
        "strings.py": "import subprocess\n" + "subprocess.run('vllm serve x --a b; ' * 300, shell=True)\n" * 300,
    },
    "charts": {
        "c/Chart.yaml": "name: c\n",
        "c/values.yaml": "vllm: {a: [1, 2, 3]}\nlong: [" + "x, " * 9_000 + "]\nloop: '{{ .Values.loop }}'\n",
        "c/values-b.yaml": 'vllm: "{{ .Values.vllm }}{{ .Values.vllm }}"\n',
        **{
            f"c/templates/{name}.yaml": f"{POD}    args:\n{text}\n"
            for name, text in {
                "deep": "{{ if .Values.vllm }}" * 9_000 + "{{ end }}" * 9_000,
                "open": "{{ if " * 20_000,
                "quotes": '{{ "' * 20_000,
                "comments": "{{/* " * 20_000,
                "parentheses": "    - {{ " + "(" * 20_000 + ")" * 20_000 + " }}",
                "pipes": "    - {{ .Values.vllm" + " | quote" * 20_000 + " }}",
                "loops": "{{ range .Values.long }}" * 5 + "    - {{ . }}\n" + "{{ end }}" * 5,
                "doubles": '{{ $a := "xxxxxxxx" }}' + '{{ $a = printf "%s%s" $a $a }}' * 60 + "    - {{ $a }}",
                "trees": "    {{- toYaml .Values | nindent 999999999 }}",
                "fields": "    - {{ .Values" + ".a" * 20_000 + " }}",
                "actions": "    - {{ .Values.vllm }}\n" * 20_000,
                "conditions": ('{{ if include "a" . }}' + "    - --x\n{{ end }}\n") * 3_000,
                "ends": "{{ end }}" * 9_000,
                "joins": '    - {{ join (printf "%s" "xxxxxxxxx") .Values.long | replace "x" "xxxxxxxxxxxxxxxxxxxxxxxx" }}',
            }.items()
        },
    },
    "objects": {
        f"{name}.yaml": f"apiVersion: {api}\nkind: {kind}\nspec:\n{text}\n"
        for name, api, kind, text in (
            ("env", "serving.kserve.io/v1", "LLMInferenceService",
             "  template:\n    containers:\n    - name: main\n      env:\n"
             + "      - {name: VLLM_ADDITIONAL_ARGS, value: --x}\n" * 9_000),
            ("args", "kubeai.org/v1", "Model", "  engine: VLLM\n  args: [" + "--x, " * 30_000 + "]"),
            ("word", "kubeai.org/v1", "Model", "  engine: VLLM\n  args: " + "--a 'b " * 20_000),
            ("list", "kubeai.org/v1", "Model", "items:\n" + "- {apiVersion: kubeai.org/v1, kind: Model}\n" * 9_000),
        )
    },
    "models": {
        "values.yaml": "servingEngineSpec:\n  modelSpec:\n" + "  - {modelURL: x, vllmConfig: {a: 1}}\n" * 9_000,
        "chart.yaml": "modelArtifacts: {name: x, uri: '" + "{{ .Values.modelArtifacts.uri }}" * 2_000
        + "'}\ndecode: {containers: [{image: x, modelCommand: vllmServe}]}\n",
    },
    "the rest": {
        "ticks.md": "```bash\n" + "`" * 200_000 + "\nvllm\n",
        "fences.md": "```bash\nvllm serve m --x\n```\n" * 8_000,
        "python.md": "```python\nimport vllm\nvllm.LLM('x')\n```\n" * 4_000,
        "open.md": "```bash\nvllm serve x\n" * 9_000,
        "deep.toml": "[a" + ".b" * 50_000 + "]\nvllm = 1\n",
        "brackets.toml": "vllm = " + "[" * 50_000,
        "keys.toml": "".join(f'k{i} = "vllm"\n' for i in range(40_000)),
        "Dockerfile": "FROM vllm/vllm-openai:v0.28.0\n" + "ENV A=$A$A\n" * 900 + 'CMD ["--model", "$A"]\n' + "RUN \\\n" * 9_000,
        "requirements.txt": "vllm[" * 20_000 + "\nvllm==0." + "9" * 5_000 + "\nvllm==0.1.post1.*\nvllm" + ">=1," * 50_000 + "\n",
        "uv.lock": "".join(f'name = "vllm"\nversion = "0.{i}.0"\n' for i in range(20_000)),
        "a.Dockerfile": "\n" * 100_000 + "vllm\n",
        "b.Dockerfile": "FROM vllm/vllm-openai:v0.28.0\n" + "RUN pip install vllm==$A vllm " + "x " * 20_000 + "\n",
        "c.Dockerfile": "FROM a AS b\n" * 300 + "RUN pip install vllm==0.1\n" * 700,
    },
    "pins": {
        "serve.sh": "pip install -r requirements.txt\n" * 300 + SERVE + "\n",
        "requirements.txt": "-r requirements.txt\n-r a.txt\n" * 500 + "vllm " + "--hash=x " * 50_000 + "\n" + "vllm @ git+x://" + "a/" * 50_000 + "\n",
        "a.txt": "-c requirements.txt\n-r ./a.txt\nvllm @ https://" + "/" * 400 + "\n" + "vllm==0.28.0;" + "sys_platform " * 60 + "\n",
        "pyproject.toml": "[project.optional-dependencies]\n" + "".join(f'e{i} = ["p[e{i + 1},e0]", "vllm==0.{i}.0"]\n' for i in range(2_000)),
        "pixi.lock": "- pypi: /vllm-0" + "/vllm-0" * 20_000 + "-\n",
        "Pipfile.lock": '"vllm": ' + '{"version": ' * 20_000,
        "setup.py": '"vllm[' * 20_000 + "\nvllm ==\n" + " vllm>=0" * 20_000,
        "environment.yml": "dependencies:\n" + "- vllm=0.1=x\n" * 20_000,
        "comments.sh": "# vllm:0 pip install vllm== " * 3_000 + "\n" + "#vllm/vllm-openai:v0.1\n" * 20_000 + SERVE + "\n",
        "literals.py": "import vllm\n" + '"vllm=={a}" "vllm:{a}" ' * 2_000 + "\nvllm.LLM('m')\n",
        "metadata.py": "# /// script\n" * 2_000 + '# "vllm==0.28.0"\n' * 2_000 + "import vllm\nvllm.LLM('m')\n",
        "steps.yaml": "setup: pip install vllm==$A\nsteps:\n" + f"- run: pip install vllm==0.1\n- run: {SERVE} --x\n" * 300,
        "names.sh": "".join(f"vllm serve {'a/' * i}m{i} --hf-overrides '{{}}'\n" for i in range(80)),
    },
    "units, JSON, notebooks and Makefiles": {
        "words.service": "[Service]\nExecStart=" + SERVE + "--x y " * 10_000 + "\n",
        "lines.service": "[Service]\nExecStart=" + SERVE + "\\\n" * 20_000 + "\nEnvironment=\\x4 \\u12 'a\n",
        "many.service": "[Service]\n" + f"ExecStart={SERVE} --x $A ${{A}} %i ; {SERVE}\n" * 1_500,
        "variables.service": "[Service]\n" + doubled(900, "Environment=A{i}=x%%%h\n") + f"ExecStart={SERVE} " + "$A7 " * 4_000 + "\n",
        "loop.service": "[Service]\nExecStart=/x/loop.service\nExecStart=/x/again\n",
        "deep.json": '{"vllm serve": ' + "[" * 30_000 + "}",
        "wide.json": '{"cmd": [' + f'"{SERVE} --x", ' * 5_000 + "]}",
        "strings.json": '{"cmd": "' + "\\\\ud83d\\\\ude80/*//\\t" * 5_000 + SERVE + '--x"}',
        "args.json": '{"args": ["vllm serve"], "command": ' * 3_000 + "1" + "}" * 3_000,
        "comments.json": '{"cmd": "vllm serve x --y", ' + "/* " * 30_000 + "// */}",
        "cells.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": f"!{SERVE} --x\n" * 10}] * 500}),
        "lines.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": ["from vllm import LLM\n"] + ["LLM(\n"] * 9_000}]}),
        "magic.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": "%env A=$A$A {A}\n! \\\n%%bash\n?\nvllm??\n" * 2_000}]}),
        "odd.ipynb": '{"cells": [1, {"cell_type": 2}, {"cell_type": "code", "source": {"vllm": 1}}, {"source": [[]]}], "cells": 3',
        "deep.mk": "A = $(A)vllm\nB = " + "$(if x," * 5_000 + ")" * 5_000 + f"\na:\n\t{SERVE} $(A) $(B) {'$(' * 9_000}\n",
        "doubles.mk": doubled(60, "A{i} = $(A{before})$(A{before})\n") + doubled(60, "B{i} := $(B{before})x$(B{before})x\n")
        + f"a:\n\t{SERVE} $(A59) $(B59)\n",
        "calls.mk": "f = $(call f,$(1)$(1))$(call f,$(1))\na:\n\tvllm serve $(call f,x)\ninclude calls.mk\nifeq (a,a\nelse else\n",
        "targets.mk": "".join(f"t{i}: X = {i}\nt{i}: t{i + 1}\n\t{SERVE} $(X) --y\n" for i in range(600)),
        "makes.mk": "".join(f"t{i}:\n\t$(MAKE) t{i + 1} A{i}=1\n\t{SERVE} --y\n" for i in range(200)),
        "open.mk": "define vllm\n" + "x \\\n" * 9_000,
        "again": f"#!/bin/sh\n{SERVE}\nsource ./again\n",
    },
}  # fmt: skip

FULL = {
    "many.sh": "too-large", "nodes.yaml": "too-large", "laughs.yaml": "too-large", "dashes.yaml": "too-deep",
    "dense.py": "too-large", "parentheses.py": "too-deep", "fences.md": "too-large", "words.sh": "",
}  # fmt: skip
"""What is said of some that are not read to their end."""


@pytest.mark.parametrize("files", BOMBS.values(), ids=BOMBS)
def test_bombs_hide_no_other_file(tmp_path: Path, files: dict[str, str]) -> None:
    with_unsafe(tmp_path)
    write(tmp_path, files)
    exit_code, report, _ = check(tmp_path)
    assert exit_code == 1
    assert "unsafe.sh" in flagged(report)
    for name in files.keys() & FULL.keys():
        if FULL[name] and name != "words.sh":
            assert FULL[name] in codes(report, name), name


def test_many_files_are_all_looked_at(tmp_path: Path) -> None:
    with_unsafe(tmp_path)
    write(tmp_path, {f"d{i % 40}/f{i}.sh": "echo vllm\n" for i in range(2_000)})
    exit_code, report, _ = check(tmp_path)
    assert (exit_code, report["summary"]["files"], flagged(report)) == (1, 2_001, ["unsafe.sh"])


# -- what is no file, or none that may be read -------------------------------------------------------------------------


def special(folder: Path) -> None:
    """One of each thing that has a name like a launch file and is none."""
    os.mkfifo(folder / "fifo.sh")
    os.mkfifo(folder / "fifo.yaml")
    for name in ("uv.lock", "requirements.txt", "pyproject.toml", "Dockerfile", ".gitignore", "noext"):
        os.mkfifo(folder / name)
    with socket.socket(socket.AF_UNIX) as bound:
        # The path of a socket must be short.
        here = os.getcwd()
        os.chdir(folder)
        bound.bind("socket.sh")
        os.chdir(here)
    (folder / "folder.sh").mkdir()
    (folder / "loop.sh").symlink_to("loop2.sh")
    (folder / "loop2.sh").symlink_to("loop.sh")
    (folder / "here").symlink_to(".")
    (folder / "broken.sh").symlink_to("nothing")
    (folder / "device.sh").symlink_to("/dev/zero")


SPECIAL = ("fifo.sh", "fifo.yaml", "socket.sh", "loop.sh", "broken.sh", "device.sh", "noext")


@pytest.mark.parametrize("git", [True, False], ids=["in a checkout", "outside"])
def test_what_is_no_file_never_blocks(tmp_path: Path, git: bool) -> None:
    with_unsafe(tmp_path)
    if not git:
        (tmp_path / ".git").rmdir()
    special(tmp_path)
    (tmp_path / "reads.sh").write_text("source ./fifo.sh\nsource /dev/stdin\nvllm serve --config fifo.yaml\n")
    exit_code, report, _ = check(tmp_path)
    assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])
    exit_code, report, _ = check(tmp_path, *SPECIAL, "folder.sh", "unsafe.sh")
    assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])
    assert {name: codes(report, name) for name in SPECIAL[:-1]} == {name: {"unreadable"} for name in SPECIAL[:-1]}


def test_only_what_is_no_file_is_nothing_to_check(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.sh")
    assert check(tmp_path, "fifo.sh")[0] == 3


def without_powers() -> None:
    """The next program may not read what modes forbid, even as root."""
    limits()
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    with_unsafe(tmp_path)
    for name in ("locked.sh", "locked/inner.sh"):
        write(tmp_path, {name: UNSAFE})
    (tmp_path / "locked.sh").chmod(0)
    (tmp_path / "locked").chmod(0)
    tried = subprocess.run(
        ["cat", "locked.sh"], cwd=tmp_path, capture_output=True, check=False, preexec_fn=without_powers
    )
    if tried.returncode == 0:
        (tmp_path / "locked").chmod(0o700)
        pytest.skip("this user reads what its mode forbids, and the capability cannot be given up")
    try:
        exit_code, report, _ = check(tmp_path, ".", "locked.sh", before=without_powers)
        assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])
        assert codes(report, "locked.sh") == {"unreadable"}
    finally:
        (tmp_path / "locked").chmod(0o700)


def test_files_that_change_and_vanish_while_they_are_read(tmp_path: Path) -> None:
    with_unsafe(tmp_path)
    stop = threading.Event()

    def rewrite() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            for name in ("a.sh", "b.yaml", "c.py"):
                file = tmp_path / name
                if number % 5 == 0:
                    file.unlink(missing_ok=True)
                elif number % 7 == 0:
                    file.unlink(missing_ok=True)
                    file.symlink_to("/etc/hostname")
                else:
                    if file.is_symlink():
                        file.unlink()
                    file.write_text("vllm: 1\n" * (number % 3_000))

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        for _ in range(4):
            exit_code, report, _ = check(tmp_path, ".")
            assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])
    finally:
        stop.set()
        writer.join()


# -- nothing outside is read, nothing is run ---------------------------------------------------------------------------

ESCAPES = {
    "a source": ("run.sh", "source ../secret.sh\nvllm serve $SECRET\n"),
    "an absolute source": ("run.sh", "source {outside}/secret.sh\nvllm serve $SECRET\n"),
    "a source behind a link": ("run.sh", "source ./out/secret.sh\nvllm serve $SECRET\n"),
    "a config file": ("run.sh", "vllm serve --config ../secret.yaml\nvllm serve --config out/secret.yaml\n"),
    "an absolute config file": ("run.sh", "vllm serve --config {outside}/secret.yaml\nvllm serve --config /etc/passwd\n"),
    "a model's folder": ("run.sh", "vllm serve ../secret --x\nvllm serve {outside}/secret --x\n"),
    "a chain of defaults": ("run.yaml", "defaults: ../secret.yaml\npolicy: {generation: {vllm_cfg: {x: 1}}}\n"),
    "a chain behind a link": ("run.yaml", "defaults: out/secret.yaml\npolicy: {generation: {vllm_cfg: {x: 1}}}\n"),
    "a defaults list": (
        "run.yaml",
        "defaults: [../secret, /../secret, out/secret, _self_]\nactor_rollout_ref: {rollout: {name: vllm}}\n",
    ),
    "a config path": ("run.sh", HYDRA + "--config-path ../ --config-name secret\n" + HYDRA + "-cp {outside} -cn secret\n"),
    "a compose file": (
        "compose.yaml",
        "services:\n  a:\n    extends: {file: ../secret.yaml, service: a}\n    command: vllm serve\n"
        "  b:\n    extends: {file: out/secret.yaml, service: a}\n    command: vllm serve\n",
    ),
    "an env_file": (
        "compose.yaml",
        "services:\n  a:\n    image: vllm/vllm-openai\n    env_file: [../secret.env, out/secret.env, /etc/passwd]\n"
        "    command: vllm serve $SECRET $$SECRET\n",
    ),
    "a mounted script": (
        "compose.yaml",
        f"{SERVICE}    volumes: ['../secret.sh:/secret.sh', './out/secret.sh:/s.sh']\n    command: /secret.sh\n",
    ),
    "requirements": (
        "run.sh",
        "pip install -r ../secret.txt -c {outside}/secret.txt -r out/secret.txt\nvllm serve m --x\n",
    ),
    "a Dockerfile": (
        "compose.yaml",
        "services:\n  a:\n    build: {context: .., dockerfile: secret.Dockerfile}\n    command: vllm serve m\n"
        "  b:\n    build: {outside}/out\n    command: vllm serve m\n",
    ),
    "a model's configuration": ("run.sh", "vllm serve m --hf-config-path ../secret --x\ndocker run -v ../secret:/m x vllm serve /m --x\n"),
    "an import": ("run.py", "import sys\nsys.path.append('..')\nfrom secret import S\nfrom .. import secret\n" + LLM.format("S, secret.S")),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), ESCAPES.values(), ids=ESCAPES)
def test_nothing_outside_the_root_is_read(tmp_path: Path, name: str, text: str) -> None:
    inside = with_unsafe(tmp_path / "project")
    write(
        tmp_path,
        {
            "secret.sh": "SECRET=classified-model\nvllm serve classified-model --x\n",
            "secret.env": "SECRET=classified-model\n",
            "secret.txt": "vllm @ https://classified/vllm\n",
            "secret.Dockerfile": "FROM vllm/vllm-openai:classified\n",
            "secret.py": "S = 'classified-model'\n",
            "secret/config.json": '{"architectures": ["classified-model"]}',
            "secret.yaml": "model: classified-model\npolicy: {model_name: classified-model}\n"
            "actor_rollout_ref: {model: {path: classified-model}}\n"
            "services: {a: {command: vllm serve classified-model}}\n",
        },
    )
    (inside / "out").symlink_to(tmp_path)
    (inside / "link.sh").symlink_to(tmp_path / "secret.sh")
    (inside / "requirements.txt").symlink_to("/etc/passwd")
    (inside / name).write_text(text.replace("{outside}", str(tmp_path)))
    exit_code, report, stderr = check(inside, ".", "link.sh")
    assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])
    assert "classified" not in json.dumps(report) + stderr
    assert "root:" not in json.dumps(report) + stderr


TOUCH = "touch {sentinel}"
RUNS = {
    "a.sh": "$(touch {sentinel})\n`touch {sentinel}`\ntouch {sentinel}\neval 'touch {sentinel}'\nA[$(touch {sentinel})]=1\n"
    + UNSAFE,
    "b.py": "import os, vllm, c\nos.system('touch {sentinel}')\n__import__('os').system('touch {sentinel}')\nvllm.LLM(c.x)\n",
    "c.py": "import os\nos.system('touch {sentinel}')\nx = 1\n",
    "d.yaml": "vllm: !!python/object/apply:os.system ['touch {sentinel}']\nx: vllm serve m --y\n",
    "e.yaml": "model: !!python/name:os.system\nenable-prefix-caching: true\nspeculative-config: ${oc.eval:'touch {sentinel}'}\n",
    "Makefile": "$(shell touch {sentinel})\n",
    "setup.py": "import os\nos.system('touch {sentinel}')\nrequires = ['vllm==0.28.0']\n",
    "conftest.py": "import os\nos.system('touch {sentinel}')\n",
    "sitecustomize.py": "import os\nos.system('touch {sentinel}')\n",
}  # fmt: skip
GIT_CONFIG = """
[core]
  repositoryformatversion = 0
  fsmonitor = touch {sentinel}; echo
  hooksPath = hooks
  pager = touch {sentinel}
  sshCommand = touch {sentinel}
  excludesFile = /etc/passwd
[include]
  path = /etc/passwd
  path = ../included
[alias]
  ls-files = !touch {sentinel}
[filter "x"]
  clean = touch {sentinel}
  smudge = touch {sentinel}
  process = touch {sentinel}
[diff]
  external = touch {sentinel}
"""


def test_nothing_is_run(tmp_path: Path) -> None:
    folder, sentinel = tmp_path / "project", tmp_path / "sentinel"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    script = f"#!/bin/sh\ntouch {sentinel}\n"
    for name in ("post-index-change", "pre-commit", "fsmonitor-watchman"):
        (folder / ".git" / "hooks").mkdir(exist_ok=True)
        (folder / ".git" / "hooks" / name).write_text(script)
        (folder / ".git" / "hooks" / name).chmod(0o755)
    (folder / ".git" / "config").write_text(GIT_CONFIG.replace("{sentinel}", str(sentinel)))
    (folder / ".gitattributes").write_text("* filter=x diff=x\n")
    write(folder, {name: text.replace("{sentinel}", str(sentinel)) for name, text in RUNS.items()})
    exit_code, report, _ = check(folder)
    assert (exit_code, flagged(report)) == (1, ["a.sh"])
    assert check(folder, *RUNS, "../project")[0] == 1
    assert not sentinel.exists()


@pytest.mark.parametrize(
    "break_it",
    [
        lambda git: git.write_text("gitdir: /etc\n"),
        os.mkfifo,
        lambda git: git.symlink_to(".git"),
        lambda git: write(git, {"HEAD": "ref: ../../etc/passwd\n", "index": "DIRC" + "\1" * 500, "config": "[core\n"}),
    ],
    ids=["a file", "a FIFO", "a loop", "broken"],
)  # fmt: skip
def test_a_checkout_that_is_none(tmp_path: Path, break_it: Callable[[Path], None]) -> None:
    (tmp_path / "unsafe.sh").write_text(UNSAFE)
    break_it(tmp_path / ".git")
    exit_code, report, _ = check(tmp_path)
    assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])


CYCLES = {
    "a.sh": "source ./b.sh\n" + UNSAFE,
    "b.sh": "source ./a.sh\nsource ./b.sh\n",
    "c.yaml": "defaults: [d.yaml, c.yaml]\npolicy: {generation: {vllm_cfg: {}}}\n",
    "d.yaml": "defaults: c.yaml\n",
    "e.yaml": "defaults: [f, e, /e, _self_]\nactor_rollout_ref: {rollout: {name: vllm}, model: {path: '${x}'}}\nx: '${x}'\n",
    "f.yaml": "defaults: [e]\nactor_rollout_ref: {rollout: {name: vllm}}\n",
    "compose.yaml": "services:\n  a: {extends: b, command: vllm serve m}\n  b: {extends: a, image: '$X'}\n",
    ".env": "X=$X\n",
    "g.py": "from h import *\nimport g, vllm\nvllm.LLM(g.x)\n",
    "h.py": "from g import *\nx = x\n",
    "requirements.txt": "-r constraints.txt\nvllm\n",
    "constraints.txt": "-r requirements.txt\n-c constraints.txt\n",
}  # fmt: skip


def test_cycles_end(tmp_path: Path) -> None:
    with_unsafe(tmp_path)
    write(tmp_path, CYCLES)
    exit_code, report, _ = check(tmp_path)
    assert (exit_code, flagged(report)) == (1, ["a.sh", "unsafe.sh"])
    assert "source-cycle" in codes(report, "a.sh") | codes(report, "b.sh")
    assert "inheritance-cycle" in codes(report, "c.yaml")
    assert "inheritance-cycle" in codes(report, "e.yaml")


# -- what reaches the terminal -----------------------------------------------------------------------------------------

EVIL = "\x1b[5m\x1b]0;owned\x07\x9b31m\u202e\u200b\U000f0001"
"""Blink, a window's title, a bell, C1, right-to-left, no width, private use."""
COLORS = re.compile(r"\x1b\[(?:0|1|2|3[0-7])(?:;\d+)*m")


def on_terminal(folder: Path, *arguments: str) -> str:
    """What a terminal gets from a run, without the colours that gdnlint itself uses."""
    process, descriptor = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ["TERM"] = "xterm-256color"
        os.execv(sys.executable, [sys.executable, "-m", "gdnlint", *arguments])
    got = b""
    while True:
        try:
            part = os.read(descriptor, 65_536)
        except OSError:
            break
        if not part:
            break
        got += part
    os.waitpid(process, 0)
    os.close(descriptor)
    return COLORS.sub("", got.decode())


def harmless(text: str) -> bool:
    return all(char in "\r\n" or char.isprintable() for char in text)


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil")
    quoted = EVIL.replace("\x07", "\\x07").replace("\x1b", "\\x1b").replace("\x9b", "\\x9b")
    (folder / ".git").mkdir()
    write(
        folder,
        {
            f"{EVIL}.sh": f"# {EVIL}\nif grep {EVIL} x; then {UNSAFE.strip()} --x{EVIL}; fi\nsource ./{EVIL}\n"
            + UNSAFE.replace("9B", f"9B{EVIL}"),
            "a.yaml": f'model: "Qwen/Qwen3.5-9B{quoted}"\nenable-prefix-caching: true\n"k{quoted}": 1\n'
            f'speculative-config: {{method: mtp, num_speculative_tokens: 2, "{quoted}": "{quoted}"}}\n',
            "b.py": f'import vllm\nvllm.LLM("Qwen/Qwen3.5-9B{quoted}", enable_prefix_caching=True,\n'
            f'    speculative_config={{"method": "mtp", "num_speculative_tokens": 2, "{quoted}": "{quoted}"}})\n',
            "c.yaml": f'defaults: "{quoted}.yaml"\npolicy: {{generation: {{backend: vllm, vllm_cfg: {{}}}}}}\ngrpo: {{}}\n',
            "compose.yaml": f'services:\n  "s{quoted}":\n    image: "vllm/vllm-openai:v0.28.0{quoted}"\n'
            f'    command: ["--model", "Qwen/Qwen3.5-9B{quoted}", "--x{quoted}"]\n',
            "requirements.txt": f"vllm==0.28.0{EVIL}\nvllm>=0.1{EVIL}\n",
            f"rules/{EVIL}.yaml": "schema: x\n",
            f"kind{EVIL}": "x",
        },
    )
    (folder / f"broken{EVIL}.sh").symlink_to(EVIL)
    (folder / f"empty{EVIL}").mkdir()
    return folder


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", ".", "--show-launches", "-v"),
        ("check", ".", "--format", "json"),
        ("check", ".", "--format", "sarif"),
        ("resolve", "."),
        ("check", f"kind{EVIL}", f"broken{EVIL}.sh"),
        ("check", f"empty{EVIL}"),
        ("check", f"absent{EVIL}"),
        ("check", f"--assume={EVIL}"),
        ("check", f"--vllm-version={EVIL}"),
        ("check", f"--select={EVIL}"),
        ("check", "--rules=rules"),
        ("check", f"--output-file=no/{EVIL}"),
        (EVIL,),
    ],
    ids=lambda arguments: ascii(" ".join(arguments)),
)
def test_codes_for_the_terminal_never_reach_it(evil: Path, arguments: tuple[str, ...]) -> None:
    text = on_terminal(evil, *arguments)
    assert text.strip()
    assert harmless(text), ascii(next(line for line in text.splitlines() if not harmless(line)))


NAMES = [
    "a b.sh", "-rf.sh", "--help.sh", "new\nline.sh", "es\x1b[31mc.sh", "rtl\u202eevil.sh", "zero\u200bwidth.sh",
    "q\"uote'.sh", "$(touch x).sh", "glob*.sh", ":(top)x.sh", "%s.sh", "tab\t.sh", "\U000f0001.sh", "x" * 200 + ".sh",
    os.fsdecode(b"bad\xff\xfe.sh"),
]  # fmt: skip


@pytest.mark.parametrize("git", [True, False], ids=["in a checkout", "outside"])
def test_names_of_files(tmp_path: Path, git: bool) -> None:
    for name in NAMES:
        (tmp_path / name).write_text(UNSAFE)
    if git:
        subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    shown = sorted([*NAMES[:-1], "bad\\xff\\xfe.sh"])
    exit_code, report, _ = check(tmp_path)
    assert (exit_code, flagged(report)) == (1, shown)
    exit_code, report, _ = check(tmp_path, "--", *NAMES)
    assert (exit_code, flagged(report)) == (1, shown)
    log = run(tmp_path, "check", "--format", "sarif", ".")
    assert [str(error) for error in SARIF_SCHEMA.iter_errors(json.loads(log.stdout))] == []
    assert b'"uri": "bad%FF%FE.sh"' in log.stdout


# -- options and rules -------------------------------------------------------------------------------------------------

GARBAGE = ["A=", "=x", "A", "", "guard:=1", "guard:9:9=x", "arg:0=x", "arg:" + "9" * 5_000 + "=x", "param:=", "fact:x=y",
           f"{EVIL}={EVIL}", "A=" + "x" * 100_000, "feature:=on", "PATH=/x", "\udcff=\udcff"]  # fmt: skip


def test_any_assumption(tmp_path: Path) -> None:
    with_unsafe(tmp_path)
    good = [item for item in GARBAGE if item.partition("=")[0] and "=" in item]
    options = [f"--assume={item}" for item in good]
    exit_code, report, _ = check(tmp_path, *options, ".")
    assert (exit_code, flagged(report)) == (1, ["unsafe.sh"])
    for item in GARBAGE:
        if item not in good:
            assert check(tmp_path, f"--assume={item}", ".")[0] == 2


FAMILY = """schema: gdnlint-model/1
family: mine
title: Mine
mechanism: gdn
recurrent: true
hybrid: true
attention_free: false
pooling: false
own_mtp_head: false
architectures: {}
model_types: {}
draft_architectures: {}
names:
  - {pattern: 'PATTERN'}
examples: {match: [], miss: []}
"""


@pytest.mark.parametrize(
    ("text", "exit_code"),
    [
        (FAMILY.replace("PATTERN", "my[-_ ]?model"), 1),
        (FAMILY.replace("PATTERN", "(a+)+$"), 2),
        (FAMILY.replace("PATTERN", "(?:x?|a)*b"), 2),
        (FAMILY.replace("PATTERN", "a?" * 30 + "a" * 30), 2),
        (FAMILY.replace("PATTERN", "("), 2),
        (laughs(), 2),
        ("[" * 50_000, 2),
        ("schema: !!python/object/apply:os.system [touch x]\n", 2),
        ("schema: x\n" + "# x\n" * 500_000, 2),
        ("\0", 2),
    ],
    ids=["fine", "nested", "either", "optional", "broken", "laughs", "deep", "tag", "large", "NUL"],
)
def test_rules_of_others(tmp_path: Path, text: str, exit_code: int) -> None:
    with_unsafe(tmp_path / "project")
    write(tmp_path, {"rules/a.yaml": text})
    found, report, stderr = check(tmp_path / "project", "--rules=../rules", ".")
    assert found == exit_code
    assert exit_code == 1 or [d["code"] for d in report["diagnostics"]] == ["config"]
    assert exit_code == 1 or "a.yaml" in stderr


# -- fuzzing -----------------------------------------------------------------------------------------------------------


def examples(number: int) -> settings:
    """The same examples on every machine."""
    return settings(
        max_examples=number, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )


def judged(folder: Path, name: str, text: str) -> None:
    """One file is read to its end, and both reports of it are valid."""
    shutil.rmtree(folder, ignore_errors=True)
    write(folder, {name: text})
    report = pipeline.run([folder / name], Options())
    assert not [d for d in report.diagnostics if d.code.startswith("internal")], text
    found = json.loads(json_v1.render(report, every_launch=True))
    assert [str(error) for error in REPORT_SCHEMA.iter_errors(found)] == []
    log = json.loads(sarif.render(report, knowledge.load(()).rules, folder))
    assert [str(error) for error in SARIF_SCHEMA.iter_errors(log)] == []


EXAMPLES = [
    (path.name, path.read_text())
    for path in sorted((ROOT / "examples").rglob("*"))
    if path.suffix in {".sh", ".yaml", ".py", ".md", ".toml"} or path.name == "Dockerfile"
]
PARTS = st.sampled_from(
    ["", "(", ")", "}", "{", "${", "'", '"', "\\", "$(", "`", "\n", "\r\n", ": ", "- ", "\U000f0000", "*a", "&a ", "<<: ",
     "[", "]", "\t", "#", "|", "=", "--", "\x1b", "\ufeff", "\u202e", "é", "0x", "9" * 30, "{{", "}}", "$$", "@", "!!", "\ud800"]
)  # fmt: skip


@examples(150)
@given(st.data())
def test_mutated_examples_are_read_to_the_end(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    name, text = data.draw(st.sampled_from(EXAMPLES))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(text)))
        what = data.draw(st.sampled_from(["put", "cut", "repeat", "move"]))
        end = min(len(text), at + data.draw(st.integers(0, 40)))
        part = text[at:end]
        if what == "put":
            text = text[:at] + data.draw(PARTS).replace("\ud800", "") + text[at:]
        elif what == "cut":
            text = text[:at] + text[end:]
        elif what == "repeat":
            text = text[:at] + part * data.draw(st.integers(2, 5)) + text[end:]
        else:
            to = data.draw(st.integers(0, len(text)))
            text = (text[:at] + text[end:])[:to] + part + (text[:at] + text[end:])[to:]
    judged(tmp_path_factory.getbasetemp() / "fuzz", name, text)


NAME = st.sampled_from(["A", "MODEL", "ENABLE_MTP", "args", "x1", "@", "1", "#", "é"])
FLAG = st.sampled_from(
    [MTP, "--enable-prefix-caching", "--no-enable-prefix-caching", "--speculative-config.method mtp", "-sc '{}'", "--config f.yaml",
     "--model=Qwen/Qwen3.5-9B", "--max-model-len 8k", "--x", "--", "-", "'", "vllm==0.28.0", "-O3", "--enable-prefix"]
)  # fmt: skip
WORD = st.one_of(
    FLAG,
    NAME.map("${}".format),
    NAME.map('"${{{}}}"'.format),
    NAME.map("${{{}:-x}}".format),
    NAME.map("${{{}[@]}}".format),
    NAME.map("${{{}//a/b}}".format),
    NAME.map("$(({}+1))".format),
    NAME.map("$(echo {})".format),
    st.sampled_from(
        ["vllm", "serve", "Qwen/Qwen3.5-9B", "{a,b}", "'$x'", "a\\ b", "*", "~", "<(a)", "", "1>&2", ">f", "$'\\x41'"]
    ),
)
COMMAND = st.lists(WORD, max_size=8).map(lambda words: "vllm serve " + " ".join(words))
SIMPLE = st.one_of(
    COMMAND,
    st.tuples(NAME, WORD).map("{0[0]}={0[1]}".format),
    st.tuples(NAME, st.lists(WORD, max_size=3).map(" ".join)).map("{0[0]}+=({0[1]})".format),
    st.tuples(NAME, WORD).map("export {0[0]}={0[1]}".format),
    COMMAND.map("bash -c '{}'".format),
    COMMAND.map("docker run vllm/vllm-openai:v0.28.0 {}".format),
    COMMAND.map("cat <<E\n{}\nE".format),
    WORD.map("set -- {} b".format),
    WORD.map("shift {}".format),
    WORD.map("source {}".format),
    WORD.map("eval {}".format),
)
SHELL = st.recursive(
    SIMPLE,
    lambda below: st.one_of(
        st.lists(below, min_size=1, max_size=3).map("\n".join),
        st.tuples(WORD, below, below).map("if [ {0[0]} = 1 ]; then {0[1]}\nelse {0[2]}\nfi".format),
        st.tuples(NAME, WORD, below).map("for {0[0]} in {0[1]} b; do {0[2]}\ndone".format),
        st.tuples(WORD, WORD, below).map("case {0[0]} in {0[1]}) {0[2]}\n;; esac".format),
        st.tuples(NAME, below).map("{0[0]}() {{ {0[1]}\n}}; {0[0]} a".format),
        below.map("( {}\n)".format),
        below.map("while read x; do {}\ndone".format),
        st.tuples(below, st.sampled_from(["&&", "||", "|", "&", ";"]), below).map("{0[0]} {0[1]} {0[2]}".format),
    ),
    max_leaves=8,
)

SCALAR = st.one_of(
    COMMAND,
    WORD,
    st.integers().map(str),
    st.sampled_from(
        [
            "on",
            "null",
            "~",
            "1e-6",
            "0x1F",
            "1:30",
            "${a.b}",
            "${oc.env:X}",
            "{{ x }}",
            "*a",
            "&a x",
            "!!int x",
            "|-\n x",
            "''",
        ]
    ),
)
KEY = st.sampled_from(
    ["model", "command", "args", "env", "services", "image", "spec", "containers", "apiVersion", "kind", "name", "value", "defaults",
     "policy", "generation", "vllm_cfg", "actor_rollout_ref", "rollout", "enable-prefix-caching", "speculative-config", "extends",
     "env_file", "environment", "entrypoint", "volumes", "trainer", "<<", "run", "a"]
)  # fmt: skip
FLOW = st.recursive(
    SCALAR.map(lambda text: text if text[:1] in "*&!" else json.dumps(text)),
    lambda below: (
        st.lists(below, max_size=4).map(lambda items: "[" + ", ".join(items) + "]")
        | st.dictionaries(KEY, below, max_size=5).map(
            lambda members: "{" + ", ".join(f"{key}: {value}" for key, value in members.items()) + "}"
        )
    ),
    max_leaves=14,
)
YAML = st.dictionaries(KEY, FLOW, min_size=1, max_size=6).map(
    lambda members: "".join(f"{key}: {value}\n" for key, value in members.items()) + "# vllm\n"
)
COMPOSE = st.dictionaries(st.sampled_from("abc"), st.dictionaries(KEY, FLOW, max_size=6), min_size=1, max_size=3).map(
    lambda services: (
        "services:\n"
        + "".join(
            f"  {name}:\n    image: vllm/vllm-openai:v0.28.0\n"
            + "".join(f"    {key}: {value}\n" for key, value in members.items())
            for name, members in services.items()
        )
    )
)
EXPRESSION = st.recursive(
    st.sampled_from(
        ["x", "1", "'mtp'", "None", "True", "os.environ.get('ENABLE_MTP', '0')", "sys.argv[1]", "args.model", "{**x}", "[*x]", "f'{x}-9B'",
         "'Qwen/Qwen3.5-9B'", "dict(method='mtp', num_speculative_tokens=2)", "lambda: x", "...", "b'x'", "1e999", "-0.0", "0xffff"]
    ),
    lambda below: st.one_of(
        st.tuples(below, st.sampled_from(["+", "*", "%", "**", "or", "and", "==", "if x else", "|", "<<"]), below).map(" ".join),
        st.lists(below, max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
        st.tuples(below, below).map("{{{0[0]}: {0[1]}}}".format),
        st.tuples(below, below).map("({0[0]}).get({0[1]})".format),
        st.tuples(below, below).map("({0[0]})[{0[1]}]".format),
        below.map("str({})".format),
        below.map("({}).a".format),
        below.map("vllm.LLM({}, enable_prefix_caching=x)".format),
        below.map("[i for i in {}]".format),
        below.map("json.loads({})".format),
    ),
    max_leaves=6,
)  # fmt: skip
STATEMENT = st.recursive(
    st.one_of(
        EXPRESSION.map("x = {}".format),
        EXPRESSION.map("x += {}".format),
        EXPRESSION.map("vllm.LLM(**{})".format),
        EXPRESSION.map("vllm.LLM({}, speculative_config=x)".format),
        EXPRESSION.map("subprocess.run({})".format),
        EXPRESSION.map("return {}".format),
        EXPRESSION.map("del {}".format),
        st.sampled_from(["import os as vllm", "from x import *", "break", "global x", "raise x", "pass", "x: int", "a, *b = x"]),
    ),
    lambda below: st.one_of(
        st.lists(below, min_size=1, max_size=3).map("\n".join),
        st.tuples(
            st.sampled_from(["if x:", "for x in x:", "while x:", "def x(x=1, *a, **k):", "class x(x):", "with x as x:", "try:"]), below
        ).map(lambda pair: pair[0] + "\n" + "\n".join("    " + line for line in pair[1].split("\n")) + ("\nfinally: pass" if pair[0] == "try:" else "")),
    ),
    max_leaves=6,
)  # fmt: skip
PYTHON = STATEMENT.map("import json, os, subprocess, sys, vllm\n{}\n".format)


@pytest.mark.parametrize(
    ("name", "texts"),
    [("x.sh", SHELL), ("x.yaml", YAML), ("compose.yaml", COMPOSE), ("x.py", PYTHON)],
    ids=["shell", "YAML", "compose", "Python"],
)
def test_files_of_a_grammar_are_read_to_the_end(
    tmp_path_factory: pytest.TempPathFactory, name: str, texts: st.SearchStrategy[str]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "grammar"

    @examples(100)
    @given(texts)
    def read(text: str) -> None:
        judged(folder, name, text + "\n")

    read()


@examples(60)
@given(
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200),
    st.sampled_from(["sh", "yaml", "py", "md", "toml"]),
)
def test_any_text_is_read_to_the_end(tmp_path_factory: pytest.TempPathFactory, text: str, suffix: str) -> None:
    judged(tmp_path_factory.getbasetemp() / "any", f"x.{suffix}", text + "\nvllm serve x LLM(")
