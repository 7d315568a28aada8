"""Work is bounded by counting it, never by a clock: what is left out is the same on every machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import HYBRID, launch

SWITCHES = """\
FLAGS=()
if [ "${USE_MTP:-0}" = 1 ]; then FLAGS=(--speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'); fi
if [ "${USE_NGRAM:-0}" = 1 ]; then FLAGS=(--speculative-config '{"method": "ngram", "num_speculative_tokens": 2}'); fi
"""
SERVE = f'vllm serve {HYBRID} --enable-prefix-caching "${{FLAGS[@]}}"\n'
TURNS = "for a in {1..60}; do for b in {1..60}; do A=$a; B=$b; done; done\n"


def scenarios(found: dict[str, Any]) -> list[dict[str, str]]:
    return [scenario["when"] for scenario in found["scenarios"]]


def test_a_short_script_is_read_with_each_of_its_switches(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": SWITCHES + SERVE})
    assert (found["combination"], scenarios(found)) == ("absent", [{"USE_MTP": "1"}, {"USE_NGRAM": "1"}])


def test_a_script_that_runs_long_is_read_with_the_first_of_them(tmp_path: Path) -> None:
    found = launch(tmp_path, {"serve.sh": SWITCHES + TURNS + SERVE})
    assert (found["combination"], scenarios(found)) == ("absent", [{"USE_MTP": "1"}])
    assert found["diagnostics"] == []
