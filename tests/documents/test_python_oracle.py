"""Python itself says what the arguments of our own programs are; the reader says the same, or that it does not know."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gdnlint.documents.python import Module
from gdnlint.project import Project
from gdnlint.source import Fragment
from gdnlint.values import Value, World

sys.path.insert(0, str(Path(__file__).parent))
from python_oracle import PROGRAMS, WANTED, Program, record


def test_there_are_enough_programs() -> None:
    assert len({p.name for p in PROGRAMS}) == len(PROGRAMS) >= 45


@pytest.mark.parametrize("one", PROGRAMS, ids=lambda one: one.name)
def test_reader_agrees_with_python(one: Program, tmp_path: Path) -> None:
    expected = record(tmp_path, one)
    work = tmp_path / "work"
    project = Project(work)
    module = Module(Fragment.whole(project.source(work / "main.py")), project=project, directory=work)

    run = module.run(World(env=one.env), lambda callee: callee in WANTED)

    assert not run.problems
    assert [c.callee for c in run.calls] == [c["callee"] for c in expected]
    for number, (ours, theirs) in enumerate(zip(run.calls, expected, strict=True)):
        kwargs = {k: v for k, v in ours.kwargs.items() if k != "env"}
        assert not ours.open_reason
        assert set(kwargs) == set(theirs["kwargs"])
        values: dict[str, tuple[Value, object]] = {k: (v, theirs["kwargs"][k]) for k, v in kwargs.items()}
        assert len(ours.args) == len(theirs["args"])
        values.update({str(i): (v, theirs["args"][i]) for i, v in enumerate(ours.args)})
        for name, (value, truth) in values.items():
            if f"{number}.{name}" in one.unknown:
                assert not value.is_known, name
            else:
                assert value.is_known, (name, [h.reason for h in value.holes()])
                assert value.plain() == truth, name
                assert type(value.plain()) is type(truth) or isinstance(truth, str), name
