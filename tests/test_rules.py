"""Each rule's own examples: the bad ones are found by that rule, the good ones are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdnlint import knowledge
from gdnlint.knowledge.schema import Example, Rule
from support import report

RULES = knowledge.load().rules
EXAMPLES = [(rule, example) for rule in RULES for example in rule.examples]


@pytest.mark.parametrize(
    ("rule", "example"), EXAMPLES, ids=[f"{rule.id}: {example.title}" for rule, example in EXAMPLES]
)
def test_an_example_is_judged_as_the_rule_says(rule: Rule, example: Example, tmp_path: Path) -> None:
    found = report(tmp_path, {example.file: example.text}, *example.options)
    assert found["launches"], "the example holds no launch"
    assert not found["diagnostics"]
    assert (rule.id in {finding["rule"] for finding in found["findings"]}) is example.finds


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_has_an_example_of_each_kind_and_is_named_by_its_file(rule: Rule) -> None:
    assert {example.finds for example in rule.examples} == {True, False}
    assert rule.path.name == f"{rule.id}-{rule.slug}.yaml"
    assert rule.name == "".join(part.capitalize() for part in rule.slug.split("-"))


def test_ids_slugs_and_names_are_used_once() -> None:
    for what in ("id", "slug", "name"):
        values = [getattr(rule, what) for rule in RULES]
        assert len(values) == len(set(values))


@pytest.mark.parametrize(
    ("rule", "example"),
    [(rule, example) for rule, example in EXAMPLES if example.finds],
    ids=lambda item: item.id if isinstance(item, Rule) else item.title,
)
def test_a_finding_says_what_is_wrong_where_and_what_to_do(rule: Rule, example: Example, tmp_path: Path) -> None:
    found = report(tmp_path, {example.file: example.text}, *example.options)
    for finding in (finding for finding in found["findings"] if finding["rule"] == rule.id):
        assert finding["path"] == example.file
        assert finding["name"] == rule.slug
        assert finding["launch"] in {launch["id"] for launch in found["launches"]}
        assert finding["fixes"]
        assert [link["url"] for link in finding["references"]] == [link.url for link in rule.references]
        told = [finding["message"], *finding["notes"], *(fix["title"] for fix in finding["fixes"])]
        assert not [text for text in told if "{" in text.replace('{"', "")], "a placeholder is left"
