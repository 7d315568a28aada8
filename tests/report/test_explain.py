"""``gdnlint explain``: what a rule rests on and what its ways out cost."""

from __future__ import annotations

from click.testing import CliRunner

from gdnlint.cli import cli


def explained(rule: str) -> str:
    done = CliRunner().invoke(cli, ["explain", rule])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


def test_each_way_out_comes_with_its_cost() -> None:
    text = explained("GDN001")
    assert "turn prefix caching off: shared prefixes are prefilled again for each request" in text
    assert "turn speculative decoding off: decoding gets slower" in text


def test_the_evidence_is_told() -> None:
    assert "executed on the released coordinator and scheduler" in explained("GDN001")
