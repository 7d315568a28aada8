"""What the shipped rules must have, whatever they say."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml

from gdnlint import knowledge
from gdnlint.knowledge.programs import Step
from gdnlint.knowledge.schema import Framework

LOADED = knowledge.load()


def steps() -> Iterator[tuple[str, Step]]:
    for framework in LOADED.frameworks:
        for named in framework.launches:
            yield from ((f"{framework.name}.{named.name}", step) for step in named.steps)
    for engine in LOADED.engines.values():
        yield from ((engine.name, step) for step in engine.steps)


def test_every_step_names_its_source() -> None:
    found = list(steps())
    assert len(found) > 60
    assert [(where, step.key) for where, step in found if not re.search(r"[\w/]+\.\w+|#\d+", step.source)] == []


CAN_DRAFT = [f for f in LOADED.frameworks if re.search(r"speculative_config|update:|argv:", f.path.read_text())]
"""A framework without a speculative setting or a passthrough is never reported, so it needs no way out."""

IN_ONE_PLACE = ("skyrl_tinker", "lighteval", "runpod_worker")
"""Their settings stand in one argument or in a container's variables: no word that is added turns anything off."""


@pytest.mark.parametrize("framework", CAN_DRAFT, ids=lambda framework: framework.name)
def test_a_framework_says_how_prefix_caching_is_turned_off(framework: Framework) -> None:
    fixes = [fix for fix in framework.fixes if (fix.setting, fix.value) == ("enable_prefix_caching", False)]
    assert framework.source
    if framework.name in IN_ONE_PLACE:
        assert {fix.form for fix in fixes} <= {"keyword"}
        return
    if "no_speculation" in framework.run and not fixes:
        # It passes its own value and takes no other: its drafter is what can be turned off.
        return
    assert fixes
    forms = {fix.form for fix in fixes}
    recognised = framework.recognise
    if recognised.modules or recognised.commands:
        assert forms & {"flag", "override"}
    if recognised.recipe:
        assert "key" in forms


def test_every_file_of_the_rules_is_read_and_has_a_schema_of_its_own_folder() -> None:
    folder = knowledge.builtin_directory()
    kinds = {"combinations": "rule", "frameworks": "framework", "models": "model", "commands": "commands"}
    for path in folder.rglob("*.yaml"):
        schema = yaml.safe_load(path.read_text())["schema"]
        expected = kinds.get(path.parent.name)
        assert expected is None or schema == f"gdnlint-{expected}/1", path
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {".yaml"}


def test_defects_and_their_ranges_lie_within_the_releases() -> None:
    engine = LOADED.engines["vllm"]
    assert len({defect.id for defect in engine.defects}) == len(engine.defects) == 13
    for defect in engine.defects:
        assert defect.affected.since in engine.releases
        assert defect.affected.until is None or defect.affected.until in engine.releases
    assert {defect.id for defect in engine.defects if not defect.corrupts} == {"D5", "D10", "D13"}


def test_a_model_family_lists_releases_that_exist() -> None:
    releases = LOADED.engines["vllm"].releases
    for family in LOADED.families:
        for architecture in family.architectures:
            for edge in (architecture.known.since, architecture.known.until):
                assert edge is None or edge in releases, (family.name, architecture.name)
