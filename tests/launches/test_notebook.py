"""Jupyter notebooks, as `gdnlint check` sees them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from gdnlint.cli import cli
from support import DENSE, HYBRID, inside, launch, report, value, write

DRAFT = {"method": "mtp", "num_speculative_tokens": 2}
FLAGS = f"--enable-prefix-caching --speculative-config '{json.dumps(DRAFT)}'"


def notebook(*cells: str, kind: str = "code", indent: int | None = 1, whole: bool = False) -> str:
    """The JSON of a notebook; a cell that begins with ``# md`` is Markdown."""
    made = []
    for text in cells:
        source: Any = text if whole else text.splitlines(keepends=True)
        made.append({"cell_type": "markdown" if text.startswith("# md") else kind, "metadata": {}, "source": source})
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=indent)


LOADS = f"llm = LLM(\n    model=MODEL,\n    enable_prefix_caching=True,\n    speculative_config={json.dumps(DRAFT)},\n)"
PROGRAM = (
    "# md\nA guide \U0001f680",
    f'!pip install -q vllm==0.28.0\nimport os\nMODEL = "{HYBRID}"  # the model',
    f"%%time\nfrom vllm import LLM\n{LOADS}",
)


@pytest.mark.parametrize("indent", [None, 1, 2])
@pytest.mark.parametrize("whole", [False, True])
def test_code_cells_are_one_program(tmp_path: Path, indent: int | None, whole: bool) -> None:
    found = launch(tmp_path, {"a.ipynb": notebook(*PROGRAM, indent=indent, whole=whole)})
    assert (found["kind"], found["combination"], value(found, "model")) == ("python call", "present", HYBRID)
    assert found["vllm_version"]["value"] == "0.28.0"
    dense = launch(tmp_path, {"b.ipynb": notebook(*PROGRAM, indent=indent, whole=whole).replace(HYBRID, DENSE)})
    assert dense["combination"] == "absent"


def test_people_get_the_cell_and_programs_the_place_in_the_file(tmp_path: Path) -> None:
    text = notebook(*PROGRAM)
    finding = launch(tmp_path, {"a.ipynb": text})["findings"][0]
    line = text.splitlines()[finding["line"] - 1]
    assert line[finding["column"] - 1 :].startswith("enable_prefix_caching=True")
    assert all(not fix["edits"] for fix in finding["fixes"])
    with inside(tmp_path):
        assert (
            CliRunner()
            .invoke(cli, ["check", "--format", "concise", "a.ipynb"])
            .output.startswith("a.ipynb:cell 3:5:5: error[GDN001]")
        )
        assert "a.ipynb:cell 3:3 " in CliRunner().invoke(cli, ["resolve", "a.ipynb"]).output


@pytest.mark.parametrize(
    ("cell", "model"),
    [
        pytest.param(f"!vllm serve {HYBRID} {FLAGS}", HYBRID, id="a-line-for-the-shell"),
        pytest.param("!nohup vllm serve {MODEL} \\\n  " + FLAGS + " > log &", HYBRID, id="a-name-in-braces"),
        pytest.param(f"    !vllm serve $MODEL {FLAGS}", HYBRID, id="a-name-behind-a-dollar"),
        pytest.param(f"out = !vllm serve {HYBRID} {FLAGS}", HYBRID, id="output-that-is-kept"),
        pytest.param(f"%env NAME={HYBRID}\n!vllm serve $NAME {FLAGS}", HYBRID, id="a-variable-of-the-environment"),
        pytest.param(f"%%bash --bg\nNAME={HYBRID}\nvllm serve $NAME {FLAGS}", HYBRID, id="a-cell-for-the-shell"),
        pytest.param(f"%%writefile run.sh\nvllm serve {HYBRID} {FLAGS}", HYBRID, id="a-script-that-is-written"),
        pytest.param(
            f"%%writefile run.py\nfrom vllm import LLM\nMODEL = '{HYBRID}'\n{LOADS}",
            HYBRID,
            id="a-program-that-is-written",
        ),
        pytest.param(f"# md\n```bash\nvllm serve {HYBRID} {FLAGS}\n```", HYBRID, id="a-block-of-a-markdown-cell"),
    ],
)
def test_commands_of_cells_are_launches(tmp_path: Path, cell: str, model: str) -> None:
    found = launch(tmp_path, {"a.ipynb": notebook(f'MODEL = "{HYBRID}"', cell)})
    assert (found["combination"], value(found, "model")) == ("present", model)
    twin = launch(tmp_path, {"b.ipynb": notebook(f'MODEL = "{HYBRID}"', cell.replace("--enable", "--no-enable").replace(
        "caching=True", "caching=False"))})  # fmt: skip
    assert twin["combination"] == "absent"


@pytest.mark.parametrize(
    "cell",
    ["%%html\n<pre>\nvllm serve x --y\n</pre>", "%%writefile notes.txt\nvllm serve x --y", "# !vllm serve x --y",
     "print('vllm serve x --y')", "%matplotlib inline"],
)  # fmt: skip
def test_other_cells_are_no_launches(tmp_path: Path, cell: str) -> None:
    assert not report(tmp_path, {"a.ipynb": notebook(cell)})["launches"]


def test_a_name_that_is_set_twice_is_unknown(tmp_path: Path) -> None:
    cells = (f'MODEL = "{HYBRID}"', f'MODEL = "{DENSE}"', f"!vllm serve {{MODEL}} {FLAGS}")
    assert launch(tmp_path, {"a.ipynb": notebook(*cells)})["combination"] == "undecided"


def test_a_cell_that_is_no_python_hides_no_other(tmp_path: Path) -> None:
    cells = (*PROGRAM[:2], "this is = no python (", "help?\nawait f()\nx = !ls", PROGRAM[2])
    assert launch(tmp_path, {"a.ipynb": notebook(*cells)})["combination"] == "present"


def test_outputs_are_not_read(tmp_path: Path) -> None:
    text = json.loads(notebook("x = 1"))
    text["cells"][0]["outputs"] = [{"output_type": "stream", "text": [f"vllm serve {HYBRID} {FLAGS}\n"]}]
    write(tmp_path, {"a.ipynb": json.dumps(text)})
    assert not report(tmp_path, {"a.ipynb": json.dumps(text)})["launches"]
