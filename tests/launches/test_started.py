"""Scripts that scripts start or write: their launches are found from where they are started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, MTP, checked, launch, report, write

INNER = f'#!/bin/bash\nvllm serve "${{1:-{DENSE}}}" $CACHE {MTP}\n'
ON, OFF = "--enable-prefix-caching", "--no-enable-prefix-caching"


def places(found: Any) -> list[tuple[str, int, str]]:
    return [(item["path"], item["line"], item["combination"]) for item in found["launches"]]


@pytest.mark.parametrize(
    "text",
    [
        f"CACHE={ON} bash inner.sh {HYBRID}\n",
        f"export CACHE={ON}\n./inner.sh {HYBRID}\n",
        f'export CACHE={ON}\nnohup "$(dirname "$0")/inner.sh" {HYBRID} > log 2>&1 &\n',
        f"export CACHE={ON}\ncd \"$(dirname $0)/deep\"\nexec sh ../inner.sh {HYBRID}\n",
        f"env CACHE={ON} timeout 5 bash -x ./inner.sh {HYBRID}\n",
        f"go() {{ CACHE={ON} ./inner.sh \"$1\"; }}\ngo {HYBRID}\n",
        f"export CACHE={ON}\nbash middle.sh {HYBRID}\n",
        f"export CACHE={ON}\nF=./inner.sh\nbash \"$F\" {HYBRID}\n",
        f"docker run -v ./:/w -e CACHE={ON} img:1 bash /w/inner.sh {HYBRID}\n",
        f"docker run -v $PWD/inner.sh:/run.sh -e CACHE={ON} img:1 bash -c \"/run.sh {HYBRID}\"\n",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("verdict", "cache"), [("present", ON), ("absent", OFF)])
def test_a_script_that_a_script_starts(tmp_path: Path, verdict: str, cache: str, text: str) -> None:
    files = {"run.sh": text.replace(ON, cache), "inner.sh": INNER, "middle.sh": '. ./inner.sh "$@"\n', "deep/x": ""}
    assert places(report(tmp_path, files)) == [("inner.sh", 2, verdict)]


def test_a_variable_that_is_not_exported_does_not_reach_it(tmp_path: Path) -> None:
    files = {
        "run.sh": f"CACHE={OFF}\nbash inner.sh {HYBRID}\n",
        "inner.sh": INNER.replace("$CACHE", f"${{CACHE:-{ON}}}"),
    }
    assert launch(tmp_path, files)["combination"] == "present"


def test_its_own_pins_and_configuration_files_lie_in_its_own_folder(tmp_path: Path) -> None:
    files = {
        "run.sh": "bash serve/run.sh\n",
        "serve/run.sh": f'cd "$(dirname "$0")"\nvllm serve {HYBRID} --config c.yaml\n',
        "serve/c.yaml": 'speculative-config: {"method": "mtp", "num_speculative_tokens": 1}\n',
        "serve/requirements.txt": "vllm==0.28.0\n",
    }
    found = launch(tmp_path, files)
    assert (found["combination"], found["vllm_version"]["value"]) == ("present", "0.28.0")


def test_scripts_that_start_each_other_end(tmp_path: Path) -> None:
    files = {"a.sh": "bash b.sh\n", "b.sh": f"bash a.sh\nbash b.sh\nvllm serve {HYBRID} {ON} {MTP}\n"}
    assert places(report(tmp_path, files)) == [("b.sh", 3, "present")]


@pytest.mark.parametrize("text", ["echo bash inner.sh\n", "# bash inner.sh\n", "bash ../inner.sh\n", "bash other.sh\n"])
def test_what_is_not_started_is_not_followed(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"inner.sh": INNER, "in/.git/HEAD": "", "in/run.sh": f"# vllm\n{text}"})
    assert checked(tmp_path / "in", "run.sh")["launches"] == []


SERVE = f"vllm serve {HYBRID} {ON} {MTP}"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        pytest.param(2, f"cat > run.sh <<'EOF'\n{SERVE}\nEOF\nbash run.sh\n", id="a-here-document"),
        pytest.param(
            2, f"cat <<EOF > /tmp/run.sh\n{SERVE}\nEOF\nchmod +x /tmp/run.sh\n/tmp/run.sh\n", id="run-by-path"
        ),
        pytest.param(2, f'tee "$D/run.sh" <<EOF\n{SERVE}\nEOF\nbash "$D/run.sh"\n', id="tee-into-an-unknown-folder"),
        pytest.param(
            4,
            "cat > r.sh <<EOF\nset -e\nEOF\n"
            f"echo 'vllm serve {HYBRID} {ON} --spec-method mtp --spec-tokens 2' >> r.sh\n. ./r.sh\n",
            id="continued-by-echo",
        ),
    ],
)
def test_a_script_that_a_script_writes(tmp_path: Path, line: int, text: str) -> None:
    found = launch(tmp_path, {"make.sh": text})
    assert (found["path"], found["line"], found["combination"]) == ("make.sh", line, "present")


@pytest.mark.parametrize(
    "text",
    [
        f"cat > run.sh <<EOF\n{SERVE}\nEOF\n",
        f"cat > run.sh <<EOF\n{SERVE}\nEOF\ncurl x > run.sh\nbash run.sh\n",
        f"cat > run.sh <<EOF\n{SERVE}\nEOF\nbash walk.sh\n",
    ],
)
def test_a_script_that_is_only_written_is_no_launch(tmp_path: Path, text: str) -> None:
    assert report(tmp_path, {"make.sh": text})["launches"] == []


THREE = f"""\
serve() {{
  local extra=()
  [ -n "$2" ] && extra=(--speculative-config '{{"method": "mtp", "num_speculative_tokens": 2}}')
  vllm serve "$1" $CACHE "${{extra[@]}}"
}}
CACHE={ON}
serve {HYBRID} mtp
serve {HYBRID} ""
serve {DENSE} mtp
"""


def test_a_function_that_is_called_three_ways_is_three_launches(tmp_path: Path) -> None:
    found = report(tmp_path, {"run.sh": THREE})
    assert [item["id"] for item in found["launches"]] == ["run.sh:4", "run.sh:4#2", "run.sh:4#3"]
    assert [item["combination"] for item in found["launches"]] == ["present", "absent", "absent"]
    assert [finding["launch"] for finding in found["findings"]] == ["run.sh:4"]
