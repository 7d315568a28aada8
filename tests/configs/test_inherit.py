"""Inheritance against OmegaConf and hydra.compose on small trees of files."""

from __future__ import annotations

import random
import warnings
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra import compose, initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from gdnlint.configs.inherit import DEEPEST, Inherited, Loader, defaults_chain, hydra_defaults, none
from gdnlint.documents.overrides.hydra import apply
from gdnlint.project import Project
from gdnlint.source import Source
from gdnlint.values import Hole, Piece, Text, Value, Word


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def words(*texts: str) -> list[Word]:
    return [Word(Text.of(text), Source("run.sh", text).span(0, len(text))) for text in texts]


def codes(found: Inherited) -> list[str]:
    return [problem.code for problem in found.problems]


def hops(value: Value | None) -> list[tuple[str, str]]:
    assert value is not None
    return [(place.span.text, place.what) for place in value.places]


# A chain of defaults


def test_a_chain_is_merged_depth_first(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "base/grand.yaml": "a: {x: 1, y: 1, z: 1}\nl: [1, 2]\nkeep: ${a.x}\nm: given\n",
            "base/parent.yaml": "defaults: grand.yaml\na: {y: 2}\n",
            "other.yaml": "a: {z: 3, w: 3}\n",
            "child.yaml": "defaults: [base/parent.yaml, other.yaml]\na: {w: 4}\nl: [5]\nm: ???\n",
        },
    )
    found = defaults_chain(Loader(Project(tmp_path)), tmp_path / "child.yaml")
    expected = OmegaConf.merge(
        *(
            OmegaConf.load(tmp_path / name)
            for name in ("base/grand.yaml", "base/parent.yaml", "other.yaml", "child.yaml")
        )
    )
    del expected["defaults"]
    assert found.tree.plain() == OmegaConf.to_container(expected)
    assert (found.problems, found.missing) == ([], "")
    assert [path.name for path in found.files] == ["child.yaml", "parent.yaml", "grand.yaml", "other.yaml"]
    value = found.tree.at(["a", "x"])
    assert value is not None and value.span is not None
    assert value.span.source.path == "base/grand.yaml"
    assert hops(value) == [
        ("base/parent.yaml", "inherited from base/parent.yaml"),
        ("defaults: grand.yaml", "inherited from base/grand.yaml"),
    ]
    assert hops(found.tree.at(["a", "w"])) == []


def test_a_marked_section_replaces_what_was_inherited(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "base.yaml": "a: {x: 1}\nb: {x: 1}\nc: {d: {x: 1}}\n",
            "child.yaml": (
                "defaults: base.yaml\na: {_override_: true, y: 2}\nb: {_override_: false, y: 2}\n"
                "c: {d: {_override_: true, y: 2}}\n"
            ),
        },
    )
    found = defaults_chain(Loader(Project(tmp_path)), tmp_path / "child.yaml")
    # Only sections at the top are replaced.
    assert found.tree.plain() == {
        "a": {"y": 2},
        "b": {"x": 1, "_override_": False, "y": 2},
        "c": {"d": {"x": 1, "_override_": True, "y": 2}},
    }


def test_other_names_for_the_key_and_the_marker(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "s: {x: 1}\n", "b.yaml": "extends: a.yaml\ns: {new: yes, y: 1}\ndefaults: plain\n"})
    found = defaults_chain(Loader(Project(tmp_path)), tmp_path / "b.yaml", key="extends", override_marker="new")
    assert found.tree.plain() == {"s": {"y": 1}, "defaults": "plain"}


@pytest.mark.parametrize(
    ("parent", "code"),
    [
        ("nowhere.yaml", "missing-parent"),
        ("../outside.yaml", "outside-root"),
        ("/etc/passwd", "outside-root"),
        ("bad.yaml", "syntax"),
    ],
)
def test_a_parent_that_cannot_be_read_leaves_absent_keys_unknown(tmp_path: Path, parent: str, code: str) -> None:
    root = tmp_path / "root"
    write(tmp_path, {"outside.yaml": "a: 1\n"})
    write(
        root,
        {"first.yaml": "a: 1\nb: 1\n", "bad.yaml": "a: [\n", "last.yaml": "c: 3\n"}
        | {"child.yaml": f"defaults: [first.yaml, {parent}, last.yaml]\nb: 2\n"},
    )
    found = defaults_chain(Loader(Project(root)), root / "child.yaml")
    assert codes(found) == [code]
    assert Path(parent).name in found.missing
    # first.yaml's a may be overridden by the missing parent: it is not in the tree.
    assert found.tree.plain() == {"b": 2, "c": 3}


@pytest.mark.parametrize("entry", ["${name}", "['${name}']"])
def test_a_parent_with_an_unknown_path(tmp_path: Path, entry: str) -> None:
    write(tmp_path, {"child.yaml": f"defaults: {entry}\nb: 2\n"})
    found = defaults_chain(Loader(Project(tmp_path)), tmp_path / "child.yaml")
    assert found.missing
    assert found.tree.plain() == {"b": 2}


def test_a_cycle(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": "defaults: b.yaml\nx: 1\n", "b.yaml": "defaults: a.yaml\ny: 2\n"})
    loader = Loader(Project(tmp_path))
    for name in ("a.yaml", "b.yaml"):
        found = defaults_chain(loader, tmp_path / name)
        assert codes(found) == ["inheritance-cycle"]
        assert found.missing
        assert found.tree.plain() == {"x": 1, "y": 2}


def test_too_many_levels_and_too_many_files(tmp_path: Path) -> None:
    depth = DEEPEST + 5
    write(
        tmp_path,
        {f"{i}.yaml": f"defaults: {i + 1}.yaml\nk{i}: 1\n" for i in range(depth)} | {f"{depth}.yaml": "end: 1\n"},
    )
    found = defaults_chain(Loader(Project(tmp_path)), tmp_path / "0.yaml")
    assert codes(found) == ["too-deep"]
    assert "end" not in found.tree.plain()  # type: ignore[operator]
    write(tmp_path, {f"w{i}.yaml": f"defaults: [{', '.join([f'w{i + 1}.yaml'] * 9)}]\n" for i in range(depth)})
    assert "too-deep" in codes(defaults_chain(Loader(Project(tmp_path)), tmp_path / "w0.yaml"))


def test_files_that_hold_no_mapping(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "list.yaml": "- a\n",
            "two.yaml": "a: 1\n---\nb: 1\n",
            "empty.yaml": "# nothing\n",
            "dup.yaml": "a: 1\na: 2\n",
        },
    )
    loader = Loader(Project(tmp_path))
    found = {name: none(loader, tmp_path / f"{name}.yaml") for name in ("list", "two", "empty", "dup", "absent")}
    assert {name: codes(inherited) for name, inherited in found.items()} == {
        "list": ["syntax"], "two": ["syntax"], "empty": [], "dup": ["duplicate-key"], "absent": ["unreadable"],
    }  # fmt: skip
    assert {name for name, inherited in found.items() if inherited.missing} == {"list", "two", "absent"}


def test_a_mapping_merges_into_what_an_interpolation_stands_for(tmp_path: Path) -> None:
    write(tmp_path, {"base.yaml": "a: {x: 1}\nb: ${a}\n", "child.yaml": "defaults: base.yaml\nb: {y: 2}\n"})
    found = defaults_chain(Loader(Project(tmp_path)), tmp_path / "child.yaml")
    expected = OmegaConf.merge(OmegaConf.load(tmp_path / "base.yaml"), OmegaConf.create("b: {y: 2}"))
    assert found.tree.plain() == OmegaConf.to_container(expected)


# Hydra's defaults lists

GROUPS = ["db", "model", "model/sub", "srv"]
NAMES = ["a", "b", "c"]
SETTINGS = ["x=5", "+x=5", "++x=5", "+n.m=3", "++db.k=7", "~x", "x.k=4", "db.x=7", "++y={q:1}", "y={k:3}", "z=[1,2,3]"]


def config(pick: random.Random) -> dict[str, Any]:
    values = [1, "s", {"k": 1, "x": 1}, {"k": 2}, None, [1, 2], "???"]
    return {pick.choice("xyzw"): pick.choice(values) for _ in range(pick.randint(0, 3))}


def defaults(pick: random.Random, base: str) -> list[Any]:
    items: list[Any] = []
    overrides: list[Any] = []
    for _ in range(pick.choice([0, 0, 1, 2, 3])):
        # Only groups further on: Hydra recurses without end into a circle.
        group = pick.choice(GROUPS[GROUPS.index(base) + 1 :] if base else GROUPS)
        key = group if not base else "sub" if base == "model" and pick.random() < 0.5 else f"/{group}"
        if pick.random() < 0.15:
            key += "@" + pick.choice(["_global_", "pk", "p.q", "_here_", "_group_.z"])
        optional = pick.random() < 0.15
        names = [*NAMES, *NAMES, "nowhere" if optional else "a", None, ["a", "b"], "a" if base else "${db}"]
        if pick.random() < 0.12:
            overrides.append({f"override {key}": pick.choice(NAMES)})
        else:
            items.append({f"optional {key}" if optional else key: pick.choice(names)})
    if pick.random() < 0.2 and not base:
        items.append(pick.choice(["base2", "base2@pp", "/db/c"]))
    if pick.random() < 0.5:
        items.insert(pick.randint(0, len(items)), "_self_")
    return items + overrides


def overrides(pick: random.Random) -> list[str]:
    made = []
    for _ in range(pick.choice([0, 0, 1, 2])):
        group = pick.choice(GROUPS)
        name = pick.choice(NAMES)
        choices = [f"{group}={name}", f"+{group}={name}", f"~{group}", f"~{group}=a", f"{group}@pk=b", f"{group}=[a,c]"]
        made.append(pick.choice(choices + SETTINGS))
    return made


def random_files(pick: random.Random) -> dict[str, str]:
    files = {"base2.yaml": yaml.safe_dump(config(pick))}
    for group in GROUPS:
        for name in NAMES:
            data = config(pick)
            if pick.random() < 0.3 and group != "srv":
                data = {"defaults": defaults(pick, group), **data}
            header = pick.choice(
                ["", "", "", "", "# @package _global_\n", "# @package foo.bar\n", "# text\n# @package x\n"]
            )
            files[f"{group}/{name}.yaml"] = header + yaml.safe_dump(data)
    files["main.yaml"] = yaml.safe_dump({"defaults": defaults(pick, ""), **config(pick)})
    return files


def hydra_composes(root: Path, texts: list[str]) -> Any:
    """What Hydra composes, or the exception with which it stops."""
    GlobalHydra.instance().clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with initialize_config_dir(str(root), version_base="1.2"):
                return OmegaConf.to_container(compose("main", overrides=texts))
        except Exception as error:
            return error


@pytest.mark.parametrize("seed", range(100))
def test_composes_what_hydra_composes(tmp_path: Path, seed: int) -> None:
    pick = random.Random(seed)
    write(tmp_path, random_files(pick))
    texts = overrides(pick)
    expected = hydra_composes(tmp_path, texts)
    found = hydra_defaults(Loader(Project(tmp_path)), tmp_path / "main.yaml", words=words(*texts))
    applied = apply(found.tree, found.rest)
    stopped = found.problems or applied.problems or applied.missing or found.missing
    if isinstance(expected, Exception):
        assert stopped, expected
    else:
        assert not stopped
        assert applied.tree.plain() == expected


def test_where_composed_values_come_from(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "main.yaml": "defaults:\n  - db: a\n  - _self_\nx: 1\n",
            "db/a.yaml": "defaults:\n  - inner: i\nport: 1\n",
            "db/b.yaml": "port: 2\n",
            "db/inner/i.yaml": "deep: 3\n",
        },
    )
    loader = Loader(Project(tmp_path))
    found = hydra_defaults(loader, tmp_path / "main.yaml")
    assert found.tree.plain() == {"db": {"inner": {"deep": 3}, "port": 1}, "x": 1}
    assert hops(found.tree.at(["db", "inner", "deep"])) == [
        ("db: a", "inherited from db/a.yaml"),
        ("inner: i", "inherited from db/inner/i.yaml"),
    ]
    assert hops(found.tree.at(["x"])) == []
    chosen = hydra_defaults(loader, tmp_path / "main.yaml", words=words("db=b", "x=2"))
    assert hops(chosen.tree.at(["db", "port"])) == [("db=b", "inherited from db/b.yaml (chosen by db=b)")]
    assert [word.known for word in chosen.rest] == ["x=2"]


def test_search_paths(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "app/config/main.yaml": (
                "hydra: {searchpath: ['file://lib/config', 'pkg://pack.conf']}\n"
                "defaults: [base, more, extra, _self_]\nx: 1\n"
            ),
            "lib/config/base.yaml": "a: 1\nx: 0\n",
            "pack/conf/more.yaml": "b: 1\n",
            "given/extra.yaml": "c: 1\n",
        },
    )
    loader = Loader(Project(tmp_path))
    found = hydra_defaults(loader, tmp_path / "app/config/main.yaml", search=[Path("given")])
    assert (found.problems, found.missing) == ([], "")
    assert found.tree.plain() == {"a": 1, "x": 1, "b": 1, "c": 1}
    lost = hydra_defaults(loader, tmp_path / "app/config/main.yaml")
    assert codes(lost) == ["missing-parent"]
    assert "extra" in lost.missing
    assert lost.tree.plain() == {"x": 1}


def test_a_config_directory_above_the_file(tmp_path: Path) -> None:
    write(tmp_path, {"conf/exp/main.yaml": "defaults: [/db: a]\nx: 1\n", "conf/db/a.yaml": "p: 1\n"})
    found = hydra_defaults(Loader(Project(tmp_path)), tmp_path / "conf/exp/main.yaml", directory=tmp_path / "conf")
    assert (found.problems, found.tree.plain()) == ([], {"exp": {"db": {"p": 1}, "x": 1}})


def test_hydras_own_configs_are_left_out(tmp_path: Path) -> None:
    write(
        tmp_path, {"main.yaml": "defaults:\n  - override hydra/job_logging: disabled\nhydra: {run: {dir: x}}\na: 1\n"}
    )
    found = hydra_defaults(Loader(Project(tmp_path)), tmp_path / "main.yaml", words=words("hydra.run.dir=y", "a=2"))
    assert (found.problems, found.tree.plain()) == ([], {"a": 1})
    assert [word.known for word in found.rest] == ["a=2"]


def test_a_choice_that_the_files_do_not_decide(tmp_path: Path) -> None:
    write(tmp_path, {"main.yaml": "defaults: [db: a, _self_]\nx: 1\n", "db/a.yaml": "p: 1\n"})
    text = Text((Piece("db="), Piece(Hole("the environment variable DB", "DB"))))
    found = hydra_defaults(
        Loader(Project(tmp_path)), tmp_path / "main.yaml", words=[Word(text, Source("r.sh", "db=$DB").span(0, 6))]
    )
    assert found.missing == "the environment variable DB"
    assert found.tree.plain() == {"x": 1}


def test_lists_in_a_circle_and_too_deep(tmp_path: Path) -> None:
    write(tmp_path, {"main.yaml": "defaults: [other]\n", "other.yaml": "defaults: [main]\n"})
    assert codes(hydra_defaults(Loader(Project(tmp_path)), tmp_path / "main.yaml")) == ["inheritance-cycle"]
    depth = DEEPEST + 5
    write(tmp_path, {f"c{i}.yaml": f"defaults: [c{i + 1}]\n" for i in range(depth)})
    assert codes(hydra_defaults(Loader(Project(tmp_path)), tmp_path / "c0.yaml")) == ["too-deep"]
    write(tmp_path, {f"w{i}.yaml": f"defaults: [{', '.join([f'w{i + 1}'] * 9)}]\n" for i in range(depth)})
    assert "too-deep" in codes(hydra_defaults(Loader(Project(tmp_path)), tmp_path / "w0.yaml"))


@pytest.mark.parametrize(
    "text", ["defaults: 1\n", "defaults: [1]\n", "defaults: [{a: 1}]\n", "defaults: [{a: b, c: d}]\n"]
)
def test_lists_that_hydra_does_not_read(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"main.yaml": text})
    assert isinstance(hydra_composes(tmp_path, []), Exception)
    assert codes(hydra_defaults(Loader(Project(tmp_path)), tmp_path / "main.yaml")) == ["syntax"]


def test_files_are_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"base.yaml": "a: 1\n", "x.yaml": "defaults: base.yaml\n"})
    loader = Loader(Project(tmp_path))
    first = defaults_chain(loader, tmp_path / "x.yaml")
    (tmp_path / "base.yaml").write_text("a: 2\n")
    assert defaults_chain(loader, tmp_path / "x.yaml").tree.plain() == first.tree.plain() == {"a": 1}
