"""Recipes of Makefiles, as `gdnlint check` sees them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, checked, fixed, launch, report, value, write

MAKEFILE = f"""\
IMAGE := vllm/vllm-openai:v0.28.0
MODEL ?= {HYBRID}
MTP ?= 0  # one token
SPEC = --speculative-config '{{"method": "mtp", "num_speculative_tokens": 2}}'
ifeq ($(MTP),1)
FLAGS += $(SPEC)
endif

.PHONY: serve
serve: ## vllm serve something --enable-prefix-caching
\t@echo vllm serve $(MODEL) --port 1
\t@docker run --gpus all $(IMAGE) \\
\t  --model $(MODEL) \\
\t  --enable-prefix-caching $(FLAGS)
"""


def verdicts(found: Any) -> list[tuple[int, str]]:
    return [(item["line"], item["combination"]) for item in found["launches"]]


def test_a_switch_of_a_makefile_is_a_scenario(tmp_path: Path) -> None:
    found = launch(tmp_path, {"Makefile": MAKEFILE})
    assert (found["kind"], found["line"], found["end_line"]) == ("make recipe", 12, 14)
    assert (found["combination"], value(found, "model")) == ("absent", HYBRID)
    assert {"when": {"MTP": "1"}, "combination": "present"} in found["scenarios"]
    assert launch(tmp_path, {"Makefile": MAKEFILE}, "--assume", "MTP=1")["combination"] == "present"
    dense = launch(tmp_path, {"Makefile": MAKEFILE.replace(HYBRID, DENSE)})
    assert {item["combination"] for item in dense["scenarios"]} <= {"absent"}


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param("MTP ?= 0", "MTP := 1", "present", id="a-simple-variable"),
        pytest.param("ifeq ($(MTP),1)", 'ifneq "$(MTP)" "1"', "present", id="the-other-branch"),
        pytest.param("ifeq ($(MTP),1)", "ifeq ($(MTP),1)\nelse ifeq ($(MTP),0)", "present", id="else-if"),
        pytest.param("ifeq ($(MTP),1)", "ifdef NOTHING", "absent", id="a-variable-that-is-not-set"),
        pytest.param("ifeq ($(MTP),1)", "ifndef NOTHING", "present", id="unless-it-is-set"),
        pytest.param("$(FLAGS)\n", "$(SPEC)\n", "present", id="a-recursive-variable"),
        pytest.param("$(FLAGS)\n", "${SPEC}\n", "present", id="braces"),
        pytest.param("$(FLAGS)\n", "$(if $(MODEL),$(SPEC),)\n", "present", id="if-it-is-set"),
        pytest.param("$(FLAGS)\n", "$(or $(NOTHING),$(SPEC))\n", "present", id="the-first-that-is-set"),
        pytest.param("$(FLAGS)\n", "$(call spec,2)\n", "present", id="a-call"),
        pytest.param("\t@docker run", "\tA=$(B) $(WRAP) docker run", "absent", id="a-wrapper-that-nothing-sets"),
        pytest.param("$(FLAGS)\n", "$$(SPEC)\n", "absent", id="a-dollar-of-the-shell"),
        pytest.param("$(FLAGS)\n", "# $(SPEC)\n", "absent", id="a-comment-of-the-shell"),
        pytest.param("serve: ##", "serve: FLAGS = $(SPEC)\nserve: ##", "present", id="a-variable-of-the-target"),
        pytest.param("serve: ##", "other: FLAGS = $(SPEC)\nserve: ##", "absent", id="a-variable-of-another-target"),
        pytest.param("ifeq ($(MTP),1)", "include flags.mk\nifeq ($(MTP),1)", "present", id="an-included-file"),
        pytest.param("ifeq ($(MTP),1)", "-include ../flags.mk\nifeq ($(MTP),1)", "absent", id="nothing-outside"),
    ],
)
def test_variables_are_read_as_make_reads_them(tmp_path: Path, before: str, after: str, verdict: str) -> None:
    text = "define spec\n-sc.method mtp -sc.num_speculative_tokens $(1)\nendef\n" + MAKEFILE.replace(before, after)
    assert after in text
    write(tmp_path, {"flags.mk": "FLAGS = $(SPEC)\n"})
    (tmp_path / "inner" / ".git").mkdir(parents=True)
    found = launch(tmp_path / "inner", {"Makefile": text, "flags.mk": "FLAGS = $(SPEC)\n"})
    assert found["combination"] == verdict


def test_a_target_that_makes_another_one_is_a_launch_of_its_own(tmp_path: Path) -> None:
    text = MAKEFILE + "serve-mtp:\n\t$(MAKE) --silent serve MTP=1\nagain:\n\t$(MAKE) serve\n"
    assert verdicts(report(tmp_path, {"Makefile": text})) == [(12, "absent"), (12, "present")]


def test_what_a_target_needs_is_made_with_its_variables(tmp_path: Path) -> None:
    text = MAKEFILE + "fast: FLAGS = $(SPEC)\nfast: serve\nslow: serve\n"
    assert verdicts(report(tmp_path, {"Makefile": text})) == [(12, "absent"), (12, "present")]


def test_lines_of_a_recipe_are_shells_of_their_own(tmp_path: Path) -> None:
    recipe = f"a:\n\tpip install vllm==0.28.0\n\tM={HYBRID}\n\tvllm serve $$M --port 1\n"
    found = launch(tmp_path, {"Makefile": recipe})
    assert (found["vllm_version"]["value"], found["settings"].get("model", {}).get("value")) == ("0.28.0", None)
    found = launch(tmp_path, {"Makefile": ".ONESHELL:\n" + recipe})
    assert value(found, "model") == HYBRID


def test_the_shell_of_a_recipe_gets_what_the_makefile_exports(tmp_path: Path) -> None:
    text = f"export M := {HYBRID}\nN := x\na:\n\tvllm serve $$M --tokenizer $$N --port 1\n"
    found = launch(tmp_path, {"rules.mk": text})
    assert value(found, "model") == HYBRID
    assert found["settings"]["tokenizer"]["state"] == "unknown"


def test_a_variable_that_nothing_sets_is_unknown(tmp_path: Path) -> None:
    found = launch(tmp_path, {"Makefile": MAKEFILE.replace(f"MODEL ?= {HYBRID}\n", "").replace("MTP ?= 0", "MTP = 1")})
    assert (found["combination"], "the variable MODEL of make" in found["decided_by"]) == ("undecided", True)


def test_the_edit_changes_the_recipe(tmp_path: Path) -> None:
    found = report(tmp_path, {"Makefile": MAKEFILE.replace("MTP ?= 0", "MTP ?= 1")})
    text = fixed(tmp_path, found["findings"][0], "prefix caching off")
    assert "--no-enable-prefix-caching $(FLAGS)\n" in text
    write(tmp_path, {"Makefile": text})
    assert verdicts(checked(tmp_path, "Makefile")) == [(12, "absent")]
