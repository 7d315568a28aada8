"""What a shell knows while a script is read: variables, positional parameters, questions, limits."""

from __future__ import annotations

import os.path
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gdnlint.documents.shell.syntax import Node
from gdnlint.project import Project
from gdnlint.source import Fragment, Span
from gdnlint.values import Hole, Piece, Place, Problem, Question, Text, Word, World

if TYPE_CHECKING:
    from gdnlint.documents.shell.script import Script

MOST_STEPS = 10_000
"""Commands of a run."""
MOST_WORDS = 4_096
"""Words of a command, members of an array."""
MOST_CHARACTERS = 1 << 20
"""Characters of a text."""
MOST_PIECES = 20_000
"""Pieces of a text."""
MOST_WORK = 2_000_000
"""Characters and pieces that a run may produce in all."""
MOST_CALLS = 24
"""Functions, ``eval`` and ``source`` inside of one another."""
MOST_SOURCES = 10
MOST_ITERATIONS = 64
MOST_HOPS = 16

SET_BY_THE_SHELL = frozenset(
    [
        "HOME",
        "USER",
        "LOGNAME",
        "PWD",
        "OLDPWD",
        "PATH",
        "HOSTNAME",
        "SHELL",
        "TMPDIR",
        "TERM",
        "LANG",
        "UID",
        "EUID",
        "PPID",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "BASHPID",
        "SRANDOM",
        "HOSTTYPE",
        "OSTYPE",
        "MACHTYPE",
        "BASH",
        "BASH_VERSION",
        "BASH_SOURCE",
        "BASH_VERSINFO",
        "BASH_LINENO",
        "FUNCNAME",
        "SHLVL",
        "SHELLOPTS",
        "EPOCHSECONDS",
        "EPOCHREALTIME",
        "PIPESTATUS",
        "BASH_REMATCH",
        "COLUMNS",
        "LINES",
        "REPLY",
        "OPTIND",
        "OPTARG",
        "DIRSTACK",
        "GROUPS",
        "BASHOPTS",
        "BASH_COMMAND",
        "BASH_SUBSHELL",
        "BASH_EXECUTION_STRING",
        "COMP_WORDS",
    ]
)
"""Variables that the shell or the system sets: their values are unknown, but they are not unset."""
_SCHEDULER = re.compile(r"(?:SLURM|PBS|LSB|OMPI|PMI|SGE|FLUX|KUBERNETES)_")


def is_set_by_the_shell(name: str) -> bool:
    return name in SET_BY_THE_SHELL or _SCHEDULER.match(name) is not None


class Stop(Exception):
    """The run ends here: a limit is reached, ``problem`` says which."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Uncertain(Exception):
    """A command substitution's output depends on something that is not known."""


FileKey = tuple[str, tuple[Hole, ...]]
"""A path as a script names it, see ``file_key``."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command that a script runs."""

    words: tuple[Word, ...]
    """Expanded, the command first. Redirections are not among them."""
    env: dict[str, Text]
    """Exported variables at that point and the assignments before the command."""
    span: Span
    """The command as it is written, from its first word to its last."""
    guards: tuple[str, ...] = ()
    """Names of the undecided conditions (``guard:...``) under which it is reached, outermost first."""
    stdin: Fragment | None = None
    """What a here-document or here-string feeds to it (or ``echo`` through a pipe), if all of it is known."""
    calls: tuple[Span, ...] = ()
    """The calls of functions and ``source`` statements that lead to it, outermost first."""
    stdin_text: Text | None = None
    """As ``stdin``, with holes: see ``Script.of``."""
    output: Word | None = None
    """The file that its standard output is redirected to."""
    cwd: str | None = None
    """The directory in which it is run; None where people start the script."""
    files: Mapping[FileKey, Text | None] = field(default_factory=dict)
    """What the script has written to files so far; None: what stands in one is not known."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that the script sets. Without text, items and hole it is unset (``unset X``)."""

    text: Text | None = None
    items: dict[int, Word] | None = None
    """The members of an array by their index."""
    keys: dict[str, Text] | None = None
    """The members of an associative array."""
    hole: Hole | None = None
    """An array of which nothing is known."""
    integer: bool = False
    origins: frozenset[str] = frozenset()
    """Environment variables and positional parameters of which it is a copy."""

    @property
    def scalar(self) -> Text | None:
        """What ``$name`` gives."""
        if self.items is not None:
            return self.items[0].text if 0 in self.items else None
        if self.keys is not None:
            return self.keys.get("0")
        if self.hole is not None:
            return Text.of(self.hole)
        return self.text

    def members(self, span: Span) -> dict[int, Word]:
        """A copy of the members; a scalar is the first one of an array."""
        if self.items is not None:
            return dict(self.items)
        return {0: Word(self.text, span)} if self.text is not None else {}


@dataclass(slots=True)
class Frame:
    """Positional parameters."""

    words: list[Word]
    open: bool
    """Whether more may follow that the files do not decide (the arguments of the script)."""
    shifted: int = 0
    """Parameters that ``shift`` took away: ``$1`` is then the script's argument ``shifted`` + 1."""


@dataclass(slots=True)
class Asked:
    """A question while its witnesses are collected."""

    span: Span
    text: str = ""
    witnesses: dict[str, None] = field(default_factory=dict)
    presence: bool = False
    """Whether any value at all makes a difference."""
    defaults: set[str] = field(default_factory=set)
    required: bool = False
    """Whether the script stops unless it is one of the witnesses."""


_OPPOSITES = {
    "0": "1", "1": "0", "true": "false", "false": "true", "True": "False", "False": "True", "yes": "no", "no": "yes",
    "on": "off", "off": "on",
}  # fmt: skip


def _no_output(_nodes: Sequence[Node]) -> Text:
    raise Uncertain


class Shell:
    """The state of one run."""

    def __init__(
        self, script: Script, world: World, project: Project | None, directory: Path | None, name: str
    ) -> None:
        self.script = script
        """The one that is being read: the file, or what it sources or evaluates."""
        self.file = script.fragment.source
        """The one that is read in the end: a question about it is named by its line alone."""
        self.world = world
        self.project = project
        self.directory = directory
        self.name = name
        self.here = directory
        """The directory of the file that is being read."""
        self.cwd: str | None = None
        self.files: Mapping[FileKey, Text | None] = {}
        """What was written to files. Replaced at every change, so that an invocation keeps what it found."""
        self.scopes: list[dict[str, Variable]] = [{}]
        self.exported: set[str] = {*world.env, *world.texts}
        """What came from the environment goes on to the programs that are run, also when the script changes it."""
        self.functions: dict[str, tuple[Script, Node, Path | None]] = {}
        self.frame = Frame([], True)
        self.calls: tuple[Span, ...] = ()
        self.guards: tuple[str, ...] = ()
        self.reading: tuple[Path, ...] = (script.fragment.source.file,)
        """The file and those that are being sourced."""
        self.steps = 0
        self.work = 0
        self.depth = 0
        self.asked: dict[str, Asked] = {}
        self.invocations: list[Invocation] = []
        self.problems: list[Problem] = []
        self.partial: set[str] = set()
        self.deciding = 0
        """Above 0 while a condition is evaluated: what is not set counts as empty there."""
        self.relied = False
        """Whether a condition used that something is not set."""
        self.relying = 0
        """Above 0 in statements that run only because something is not set."""
        self.tainted: dict[str, Hole | None] = {}
        """Variables that were set there, or that are empty because something is not set; what they are if it is."""
        self.relied_on: set[str] = set()
        """Those that the last condition used; ``#`` for the number of arguments."""
        self.optional: dict[str, frozenset[str]] = {}
        """Variables that an option of the script may set -> the questions about those (``arg:--mode``)."""
        self.given: set[str] = set()
        """Questions about options whose words were put among the arguments."""
        self.letters: list[tuple[str, str]] = []
        """Options that ``getopts`` has seen and that take a value: the letter and the question."""
        self.compared: set[str] = set()
        """What conditions compared with a value since it was last emptied."""
        self.probed: set[str] = set()
        """Variables that the last condition was the first to test for being set."""
        self.has_arguments = False
        """Whether the script stops without arguments, so that it is read as if it had some."""
        self.captured: list[Text] | None = None
        """The output of the command substitution that is being evaluated."""
        self.strict = False
        """Whether output that is not known makes the whole substitution unknown (Uncertain)."""
        self.spoiled = False
        """Whether such output occurred where that is not so (before a ``|``)."""
        self.allexport = False
        self.functional = 0
        """How many functions are being called."""
        self.piped: Text | None = None
        """What the command before ``|`` wrote, if known."""
        self.capture: Callable[[Sequence[Node]], Text] = _no_output

    # Limits

    def step(self, span: Callable[[], Span]) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Stop(Problem("too-large", f"more than {MOST_STEPS:,} commands are run; the rest is not read", span()))

    def spend(self, amount: int, span: Span | None) -> None:
        self.work += amount
        if self.work > MOST_WORK:
            raise Stop(Problem("too-large", "its expansions grow too large; the rest is not read", span))

    def bounded(self, text: Text, span: Span | None) -> Text:
        """The text itself, unless it is too large: then the run stops."""
        size = 0
        for piece in text.pieces:
            size += 1 if isinstance(piece.content, Hole) else len(piece.content)
        # A piece takes far more memory than a character.
        self.spend(size // 16 + 4 * len(text.pieces), span)
        if size > MOST_CHARACTERS or len(text.pieces) > MOST_PIECES:
            raise Stop(Problem("too-large", "a text grows too large; the rest is not read", span))
        return text

    def counted(self, words: int, span: Span | None) -> None:
        self.spend(words, span)
        if words > MOST_WORDS:
            raise Stop(
                Problem(
                    "too-large", f"a command or array has more than {MOST_WORDS:,} words; the rest is not read", span
                )
            )

    # Variables

    def find(self, name: str) -> Variable | None:
        if self.deciding and name in self.tainted:
            self.relied = True
            self.relied_on.add(name)
        for scope in reversed(self.scopes):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def put(self, name: str, variable: Variable) -> None:
        """Sets a variable where it lives: in the innermost scope that has it, else globally."""
        if self.relying:
            self.tainted.setdefault(name, None)
        self.optional.pop(name, None)
        for scope in reversed(self.scopes):
            if name in scope:
                scope[name] = variable
                return
        self.scopes[0][name] = variable

    def start_condition(self) -> None:
        self.relied = False
        self.relied_on = set()
        self.probed = set()

    def assume_given(self) -> None:
        """What the last condition found missing is there after all: the script would have stopped."""
        self.has_arguments = self.has_arguments or "#" in self.relied_on
        for name in self.probed:
            self.asked[name].presence = False
        for name in sorted(self.relied_on):
            hole = self.tainted.get(name)
            found = self.find(name)
            if hole is not None and found is not None and found.scalar is not None and found.scalar.known == "":
                self.put(name, Variable(Text.of(hole), origins=found.origins))
                del self.tainted[name]

    def declare(self, name: str, variable: Variable) -> None:
        self.scopes[-1][name] = variable

    def set_text(self, name: str, text: Text, span: Span | None, origins: Iterable[str] = ()) -> None:
        before = self.find(name)
        made = Variable(
            self.bounded(hopped(text, name, span), span),
            integer=before is not None and before.integer,
            origins=frozenset(origins),
        )
        if before is not None and before.items is not None:
            first = Word(made.text or Text(), span or self.script.span(0, 0))
            made = replace(before, items={**before.items, 0: first})
        elif before is not None and before.keys is not None:
            made = replace(before, keys={**before.keys, "0": made.text or Text()})
        self.put(name, made)

    def environment(self, name: str, span: Span) -> Text | None:
        """A variable that the script does not set; None if it is unset."""
        if name not in SET_BY_THE_SHELL or name in self.world.env or name in self.world.answers:
            self.ask(name, span)
        given = self.world.texts.get(name)
        if given is not None:
            return given
        value = self.world.env.get(name)
        if value is None:
            value = self.world.answers.get(name)
        if value is not None:
            return Text.of(value)
        if is_set_by_the_shell(name):
            return Text.of(Hole(f"the environment variable {name}", name), span)
        return None

    # Questions

    def ask(self, name: str, span: Span, text: str = "") -> Asked:
        found = self.asked.get(name)
        if found is None:
            found = self.asked[name] = Asked(span, text)
        return found

    def witness(self, names: Iterable[str], value: str) -> None:
        for name in sorted(names):
            if name in self.asked:
                self.asked[name].witnesses.setdefault(value)

    def must_choose(self, names: Iterable[str]) -> None:
        """The script stops unless these are one of their witnesses."""
        for name in names:
            if name in self.asked and self.asked[name].witnesses:
                self.asked[name].required = True

    def presence(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.asked and not self.asked[name].presence:
                self.asked[name].presence = True
                self.probed.add(name)

    def questions(self) -> list[Question]:
        out = []
        for name, asked in self.asked.items():
            if asked.text:
                out.append(Question(name, ("true", "false"), asked.span, asked.text))
                continue
            found = [w for w in asked.witnesses if w not in asked.defaults]
            if not found:
                found = [
                    _OPPOSITES[w] for w in asked.witnesses if w in _OPPOSITES and _OPPOSITES[w] not in asked.defaults
                ]
            if asked.presence and not any(found):
                found.append("1")
            out.append(Question(name, tuple(dict.fromkeys(found)), asked.span, asked.text, asked.required))
        return out

    # Holes

    def unset(self, hole: Hole) -> bool:
        """Whether a hole stands for something that the world leaves unset."""
        if hole.name == "@":
            return True
        if hole.name.startswith("arg:"):
            return True
        return hole.name in self.asked and not is_set_by_the_shell(hole.name)

    def settled(self, text: Text) -> Text:
        """For conditions: what is not set is empty."""
        if not any(isinstance(p.content, Hole) and self.unset(p.content) for p in text.pieces):
            return text
        self.relied = True
        return Text(tuple(p for p in text.pieces if not (isinstance(p.content, Hole) and self.unset(p.content))))


def file_key(text: Text, cwd: str | None) -> FileKey:
    """Equal for names of one file."""
    known = text.known
    if known is None:
        return text.marked(), text.holes
    return os.path.normpath(os.path.join(cwd or "", known)), ()


def hopped(text: Text, name: str, span: Span | None) -> Text:
    """The pieces of a text with the hop through a variable added where it is new."""
    if span is None:
        return text
    what = f"{name} is set here"
    place = Place(span, what)
    out = []
    for piece in text.pieces:
        if (piece.via and piece.via[0].what == what) or len(piece.via) >= MOST_HOPS:
            out.append(piece)
        else:
            out.append(Piece(piece.content, piece.span, (place, *piece.via)))
    return Text(tuple(out))
