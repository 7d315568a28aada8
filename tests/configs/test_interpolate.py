"""Interpolations against OmegaConf."""

from __future__ import annotations

import random
import warnings
from typing import Any

import pytest
import yaml
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from gdnlint.configs.interpolate import GIVEN_LATER, Lookup, lookup
from gdnlint.documents.yaml import load_text
from gdnlint.values import Text, Value

INTERPOLATIONS = [
    "${a}", "${b.c}", "${.x}", "${..x}", "${.y.z}", "${b[c]}", "${b.${a}}", "${l.0}", "${l[1]}", "${ a }", "${zz}",
    "${b}", "${l}", "${oc.env:SET_HERE}", "${oc.env:NOT_SET}", "${oc.env:NOT_SET,dflt}", "${oc.env:NOT_SET,null}",
    "${oc.env:NOT_SET,1.5}", "${oc.env:NOT_SET,'a, b'}", "${oc.env:NOT_SET,${a}}",
    "${oc.env:NOT_SET,http://a:80/x}", "${oc.select:b.c}", "${oc.select:b.nope,7}", "${oc.select:nope.deep,null}",
    "${oc.select:.x,5}", "${oc.select:m}", "${oc.select:m,x}", "${oc.select:b.c,${a}}", "${oc.decode:'[1,2]'}",
    "${oc.decode:${oc.env:NOT_SET,3}}", "${oc.decode:null}", "\\${a}", "\\\\${a}", "\\\\\\${a}", "$a", "$",
    "${b.nope}", "${...a}", "${custom:1}", "${b.c.x}",
]  # fmt: skip
KEYS = ["a", "b.c", "b.x", "b.y", "l", "m", "x", "y", "b", "b.y.z", "x.y", "b.c.x", "l.0", "nope", "b.nope"]


def value(pick: random.Random, depth: int = 0) -> Any:
    kind = pick.random()
    if kind < 0.25:
        return pick.choice(INTERPOLATIONS)
    if kind < 0.4:
        return (
            pick.choice(["", "p-", "x/"])
            + pick.choice(INTERPOLATIONS)
            + pick.choice(["", "-s", pick.choice(INTERPOLATIONS)])
        )
    if kind < 0.55 and depth < 2:
        return {key: value(pick, depth + 1) for key in pick.sample("xyzc", 2)}
    return pick.choice([1, "x", "c", None, True, 2.5, [1, 2], "???", "str"])


def selected(config: Any, key: str) -> Any:
    """What OmegaConf gives for a key, or the exception with which it refuses."""
    try:
        found = OmegaConf.select(config, key, throw_on_missing=True)
        if OmegaConf.is_config(found):
            return OmegaConf.to_container(found, resolve=True, throw_on_missing=True)
        return found
    except OmegaConfBaseException as error:
        return error


@pytest.mark.parametrize("seed", range(150))
def test_looks_up_what_omegaconf_looks_up(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET_HERE", "h")
    monkeypatch.delenv("NOT_SET", raising=False)
    pick = random.Random(seed)
    b = {key: value(pick, 1) for key in "cxy"}
    tree = {"a": pick.choice([value(pick), "c", "x"]), "b": b, "l": [value(pick, 1), value(pick, 1)]}
    tree |= {"m": pick.choice(["???", value(pick)]), "x": value(pick, 1), "y": value(pick, 1)}
    text = yaml.safe_dump(tree)
    config = OmegaConf.create(text)
    found = Lookup(load_text(text, "omegaconf").documents[0], {"SET_HERE": "h"})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key in KEYS:
            expected = selected(config, key)
            got = found.get(key)
            if got is None:
                assert expected is None or isinstance(expected, Exception)
            elif got.is_known and not isinstance(expected, Exception):
                assert got.plain() == expected
                assert type(got.plain()) is type(expected)
            elif not isinstance(expected, Exception):
                # Known to OmegaConf: text of mappings inside strings.
                assert {hole.reason for hole in got.holes()} <= {"a mapping or list inside a string"}


def of(text: str) -> Value:
    return load_text(text, "omegaconf").documents[0]


def reasons(found: Value | None) -> list[str]:
    assert found is not None
    return [hole.reason for hole in found.holes()]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("${mul:2,3}", "the resolver mul"),
        ("x-${a.b:1}", "the resolver a.b"),
        ("${${r}:1}", "the resolver with an interpolated name"),
        ("${oc.env:X}", "the environment variable X"),
        ("${k}", "an interpolation of itself"),
        ("${later}", GIVEN_LATER),
        ("${nowhere}", "the interpolation ${nowhere}, whose key is not set"),
        ("${a b}", "the interpolation ${a b}, which is not valid"),
        ("${", "the interpolation ${, which is not valid"),
        ("${hole.below}", "the tag !x"),
        ("${oc.create:1}", "the resolver oc.create"),
    ],
)
def test_what_the_files_do_not_decide_is_a_hole(text: str, reason: str) -> None:
    tree = of(f"k: '{text}'\nlater: ???\nhole: !x y\nr: mul\n")
    assert reasons(lookup(tree, "k", {})) == [reason]


def test_an_unset_variable_can_be_assumed_by_its_name() -> None:
    found = lookup(of("k: ${oc.env:X}/m\n"), "k", {})
    assert found is not None and isinstance(found.data, Text)
    assert (found.data.show(), [hole.name for hole in found.holes()]) == ("<X>/m", ["X"])
    assert lookup(of("k: ${oc.env:X}/m\n"), "k", {"X": "y"}).plain() == "y/m"  # type: ignore[union-attr]


def test_variables_that_were_read() -> None:
    found = Lookup(of("k: ${oc.env:X,7}\nl: ${oc.env:Y}\nn: ${oc.env:Z}\n"), {"Y": "1"})
    found.get("k")
    found.get("l")
    assert found.asked == {"X": "7", "Y": None}


def test_mandatory_values_and_cycles() -> None:
    tree = of("a: ???\nb:\n  c: ${b.d}\n  d: ${b.c}\nc:\n  x: ${c}\n")
    assert reasons(lookup(tree, "a", {})) == [GIVEN_LATER]
    assert set(reasons(lookup(tree, "b", {}))) == {"an interpolation of itself"}
    assert set(reasons(lookup(tree, "c", {}))) == {"an interpolation of itself"}


def test_where_an_interpolated_value_comes_from() -> None:
    tree = of("model:\n  mtp: {enable: true}\nrollout:\n  mtp: ${model.mtp}\n  on: ${.mtp.enable}\n")
    direct = lookup(tree, "rollout.on", {})
    assert direct is not None and direct.span is not None
    assert (direct.data, direct.span.text, direct.name) == (True, "on: ${.mtp.enable}", "rollout.on")
    assert ("enable: true", "model.mtp.enable is set here") in [(p.span.text, p.what) for p in direct.places]
    through = lookup(tree, "rollout.mtp.enable", {})
    assert through is not None and through.span is not None
    assert (through.span.text, [(p.span.text, p.what) for p in through.places]) == (
        "enable: true", [("mtp: ${model.mtp}", "rollout.mtp is ${model.mtp}")],
    )  # fmt: skip


QUOTED = "'${a%d}'"


@pytest.mark.parametrize(
    "text",
    [
        "a0: xxxxxxxxxx\n" + "".join(f"a{i}: {f'${{a{i - 1}}}' * 8}\n" for i in range(1, 60)),
        "a0: ${oc.env:X}\n" + "".join(f"a{i}: {f'${{a{i - 1}}}' * 8}\n" for i in range(1, 60)),
        "a0: [1]\n" + "".join(f"a{i}: [{', '.join([QUOTED % (i - 1)] * 8)}]\n" for i in range(1, 60)),
        "".join(f"a{i}: ${{a{i - 1}}}\n" for i in range(1, 500)) + "a0: 1\na59: ${a499}\n",
        "a59: " + "${a." * 5000 + "}" * 5000,
    ],
    ids=["characters", "holes", "lists", "hops", "nesting"],
)  # fmt: skip
def test_hostile_interpolations_end_as_holes(text: str) -> None:
    loaded = load_text(text, "pyyaml")
    found = lookup(loaded.documents[0], "a59", {})
    assert found is not None and not found.is_known
