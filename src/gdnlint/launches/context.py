"""What every finder of launches needs: the knowledge, the project, and what is taken as given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import TYPE_CHECKING

from gdnlint.knowledge.schema import Knowledge
from gdnlint.launches.model import ModelHint, Written
from gdnlint.project import Project, Unreadable
from gdnlint.values import Problem, Question, World

if TYPE_CHECKING:
    from pathlib import Path

    from gdnlint.configs.inherit import Loader
    from gdnlint.documents.yaml import Scalars
    from gdnlint.source import Source

MOST_STEPS = 10_000
"""Commands, or expressions and statements of Python, that the runs of one file may take together before no more
scenario of it is tried. The default scenario is always read, and those that tell the most come first."""

MOST_LAUNCHES = 100
"""Launches of one file that are judged (files that people write have below 30)."""
MOST_WORK = 1_500_000
"""Characters of scripts and texts that are read for one file, those that are read again and again counted each time."""
LEAST_WORK = 500
"""Characters that the reading of a script costs however short it is."""
_CHARACTERS_OF_A_STEP = 100
_WORK_OF_A_STEP = 150
"""Characters that cost what a step of a script does: one pass of the most steps is all that a file may cost."""
CHARACTERS_OF_A_WORD = 50
"""What a word of a launch costs: it is asked for by its name in every release."""
MOST_ASKED = 1_000
"""Questions of one file that are kept."""
MOST_PROBLEMS = 100
"""Problems of one file that are reported."""

MOST_SCENARIOS = 24
"""Environment switches and arguments that are tried for one file, a value each."""
MOST_CHOICES = 16
"""Combinations of values for what a script must be given; each is a default scenario."""
MOST_PAIRS = 8
"""Pairs of switches that are tried together."""
MOST_GUARDS = 16
"""Conditions that the files do not decide, and that are tried the other way."""


@dataclass(slots=True)
class Budget:
    """What may still be done for one file. All passes over it share one."""

    work: int = MOST_WORK
    launches: set[object] = field(default_factory=set)
    """Those that were found."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Files of the project in a container, the ones that hide others first."""

    mounts: tuple[ModelHint, ...] = ()
    written: tuple[Written, ...] = ()


@dataclass(slots=True)
class Context:
    """One run's surroundings. ``problems`` collects what the finders could not read."""

    knowledge: Knowledge
    project: Project
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables that the user said are set (``--assume``)."""
    answers: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    scenario: World = field(default_factory=World)
    """What differs from the default scenario in this pass over the file."""
    steps: int = 0
    """What the scripts of this pass took."""
    budget: Budget = field(default_factory=Budget)
    asked: dict[Question, None] = field(default_factory=dict)
    """What this pass asked about, scripts inside of scripts included; in order, each once."""
    passed: dict[str, str] = field(default_factory=dict)
    """Variables of a container -> the variable outside that each is a copy of."""
    container: Contents | None = None
    """What the container that is being read holds of the project; None: no container."""
    cwd: str | None = None
    """The directory in which the command is run, where its script says so."""

    def loader(self, scalars: Scalars) -> Loader:
        """The YAML files of the project, read once for each kind of scalars."""
        from gdnlint.configs.inherit import Loader

        key = ("loader", scalars)
        if key not in self.project.memory:
            self.project.memory[key] = Loader(self.project, scalars)
        found = self.project.memory[key]
        assert isinstance(found, Loader)
        return found

    def world(self, extra: World | None = None) -> World:
        """What is taken as given; what the user said beats what the files set."""
        env, answers = {**self.env, **self.scenario.env}, {**self.answers, **self.scenario.answers}
        texts = dict(self.scenario.texts)
        if extra is not None:
            env.update(extra.env)
            answers.update(extra.answers)
            texts.update(extra.texts)
        return World(env, answers, {name: text for name, text in texts.items() if name not in self.env})

    def within(self, scenario: World) -> Context:
        """The surroundings of one more pass over the file, in another scenario."""
        return replace(self, scenario=scenario, asked={}, problems=[], steps=0)

    def ask(self, questions: Iterable[Question]) -> None:
        """Keeps questions; what the user has answered is none."""
        for question in self.open(questions):
            if len(self.asked) >= MOST_ASKED:
                return
            self.asked.setdefault(question)

    def open(self, questions: Iterable[Question]) -> Iterator[Question]:
        """The questions that the user has not answered."""
        return (q for q in questions if q.name not in self.env and q.name not in self.answers)

    def explores(self, text: str) -> bool:
        """Whether other scenarios than the default one can change the verdict of a file with this text."""
        return any(word in text for word in self.knowledge.scenario_words)

    def report(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            if problem not in self.problems and len(self.problems) < MOST_PROBLEMS:
                self.problems.append(problem)

    def source(self, path: Path) -> Source | None:
        """A file of the project; None, with the problem reported, if it cannot be read."""
        try:
            return self.project.source(path)
        except Unreadable as error:
            self.report([error.problem])
            return None

    def may_read(self, characters: int) -> bool:
        """Whether a text of so many characters may still be read for this file; if so, it is paid for.

        What other scenarios than the default one read counts as steps: they are bounded by those.
        """
        if self.scenario != World():
            self.steps += characters // _CHARACTERS_OF_A_STEP
            return True
        if self.budget.work < 0:
            self._report_work()
            return False
        self.budget.work -= characters + LEAST_WORK
        if self.budget.work < 0:
            self._report_work()
        return self.budget.work >= 0

    def _report_work(self) -> None:
        message = "there is too much in it to be read as launches; the rest of them are not judged"
        self.report([Problem("too-large", message)])

    def ran(self, steps: int) -> None:
        """Counts what a script took."""
        self.steps += steps
        if self.scenario == World():
            self.budget.work -= steps * _WORK_OF_A_STEP

    def has_room(self, launch: object) -> bool:
        """Whether a launch of this file is judged; ``launch`` is the same for the same launch in every scenario."""
        if launch not in self.budget.launches and len(self.budget.launches) >= MOST_LAUNCHES:
            self.report([Problem("too-large", f"more than {MOST_LAUNCHES} launches; the rest are not judged")])
            return False
        self.budget.launches.add(launch)
        return True


@dataclass(frozen=True, slots=True)
class Alternative:
    """One change to the default scenario."""

    world: World
    when: dict[str, str]
    guards: dict[str, str]
    text: str = ""
    choice: dict[str, str] = field(default_factory=dict)
    """What the script must be given, in this scenario."""

    def and_(self, other: Alternative) -> Alternative:
        """Both changes at once."""
        world = World({**self.world.env, **other.world.env}, {**self.world.answers, **other.world.answers})
        when = {**self.when, **other.when}
        when = {**self.choice, **when} if when else {}
        return Alternative(world, when, {**self.guards, **other.guards}, self.text or other.text, self.choice)


def choices(questions: Iterable[Question], required: Callable[[Question], bool]) -> list[Alternative]:
    """Every combination of the values that a script must be given, at most ``MOST_CHOICES``; none if it needs none."""
    asked = [q for q in questions if q.witnesses and required(q)]
    combined = islice(product(*(dict.fromkeys(q.witnesses) for q in asked)), MOST_CHOICES) if asked else ()
    names = [q.name for q in asked]
    return [replace(given(dict(zip(names, one, strict=True))), when={}) for one in combined]


def given(answers: dict[str, str]) -> Alternative:
    """The scenario in which questions have these answers."""
    env = {name: value for name, value in answers.items() if ":" not in name}
    others = {name: value for name, value in answers.items() if ":" in name}
    return Alternative(World(env, others), answers, {}, choice=answers)


def alternatives(questions: list[Question], telling: Sequence[str] = ()) -> Iterator[Alternative]:
    """Other answers to the questions that a run asked, one at a time.

    Bounded: conditions and environment switches each have a share. Switches with one of the ``telling`` words
    in their name (``ENABLE_MTP``) go first.
    """

    def rank(question: Question) -> tuple[bool, int]:
        name = question.name.lower()
        return not any(word.lower() in name for word in telling), question.span.start

    guards = [q for q in questions if q.name.startswith("guard:")]
    others = [q for q in questions if not q.name.startswith("guard:")]
    for question in sorted(guards, key=lambda q: q.span.start)[:MOST_GUARDS]:
        text = f"`{_one_line(question.text)}` (line {question.span.line})"
        answer = {question.name: "true"}
        yield Alternative(World({}, answer), {}, answer, text)
    pairs = [(q, witness) for q in sorted(others, key=rank) for witness in q.witnesses]
    for question, witness in pairs[:MOST_SCENARIOS]:
        yield replace(given({question.name: witness}), choice={})


def affords(alternative: Alternative, steps: int) -> bool:
    """Whether one more scenario is tried after the runs of a file took so many steps.

    Conditions that the files do not decide go first, and leave a share to switches.
    """
    return steps < (MOST_STEPS // 2 if alternative.guards else MOST_STEPS)


def _one_line(text: str, limit: int = 70) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
