"""Our resolution against vLLM's own, which was executed on every release (see ``reading`` in the data file)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from support import checked, write

DATA = json.loads((Path(__file__).parent.parent / "data" / "resolution_executed.json").read_text())
RESOLUTION: dict[str, dict[str, str]] = DATA["resolution"]
MODELS = {"gdn": "Qwen/Qwen3-Next-80B-A3B-Instruct", "smpc": "nvidia/NVIDIA-Nemotron-Nano-9B-v2"}
FLAGS = {"unset": "", "true": "--enable-prefix-caching", "false": "--no-enable-prefix-caching"}
DRAFTS = """--speculative-config '{"method": "ngram", "num_speculative_tokens": 2, "prompt_lookup_max": 4}'"""
CELLS = sorted({cell for row in RESOLUTION.values() for cell in row})


def script(cell: str) -> str:
    model, prefix_caching, *spec = cell.split("_")
    return f"vllm serve {MODELS[model]} {FLAGS[prefix_caching]} {DRAFTS if spec else ''}\n"


@pytest.fixture(scope="module")
def launches(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """For a release: the launch of each cell. All cells are lines of one script, so that a release is one run."""
    folder = tmp_path_factory.mktemp("cells")
    write(folder, {"serve.sh": "".join(map(script, CELLS))})

    @cache
    def of_release(release: str) -> dict[str, Any]:
        found = checked(folder, "serve.sh", "--vllm-version", release)["launches"]
        return {CELLS[item["line"] - 1]: item for item in found}

    return of_release


def test_the_table_covers_every_release_that_is_known() -> None:
    from gdnlint import knowledge

    assert [str(release) for release in knowledge.load().engines["vllm"].releases] == list(RESOLUTION)
    assert len(RESOLUTION) * len(CELLS) == 39 * 7


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("release", RESOLUTION)
def test_a_cell_resolves_as_vllm_itself_did(launches: Any, release: str, cell: str) -> None:
    expected, found = RESOLUTION[release][cell], launches(release)[cell]
    settings = found["settings"]
    if expected == "AssertionError":
        assert found["startup"] == "refused"
        assert "AssertionError" in found["startup_reason"]
        return
    prefix_caching, _, mode = expected.partition(" ")[0].partition("/")
    assert settings["enable_prefix_caching"]["value"] is (prefix_caching == "ON")
    assert settings["enable_prefix_caching"]["state"] == "known"
    if mode:
        assert settings["mamba_cache_mode"]["value"] == mode
    elif prefix_caching == "ON":
        assert found["startup"] == "refused"


STARTING = list(RESOLUTION)[list(RESOLUTION).index("0.17.0") :]


@pytest.mark.parametrize("release", STARTING)
def test_from_0_17_speculation_with_prefix_caching_starts_and_is_present_where_it_is_on(
    launches: Any, release: str
) -> None:
    for cell, found in launches(release).items():
        on = RESOLUTION[release][cell].startswith("ON")
        expected = "present" if on and cell.endswith("spec") else "absent"
        assert (cell, found["startup"], found["combination"]) == (cell, "ok", expected)
