# ruff: noqa: ARG002 (the handlers of nodes share their signature)
"""The evaluator: one way through a Python module, with holes where the files do not decide."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, cast

import libcst as cst

from gdnlint.documents.python import library, operators
from gdnlint.documents.python.calls import Call, Run
from gdnlint.documents.python.cells import (
    LARGEST_LIST,
    LARGEST_NUMBER,
    Arguments,
    Binding,
    Cell,
    Class,
    Entry,
    Exporter,
    Ext,
    Function,
    Hop,
    Map,
    Method,
    NotPlain,
    Obj,
    Package,
    Parser,
    Partial,
    Scope,
    Seq,
    Spot,
    Spread,
    Str,
    Strand,
    TooLarge,
    from_plain,
    hole_of,
    plain,
    truth,
)
from gdnlint.documents.python.outline import Order, dotted_of
from gdnlint.documents.python.slicing import Slice, is_exit, is_harmless
from gdnlint.documents.python.syntax import Tree
from gdnlint.project import Unreadable
from gdnlint.source import Fragment, Source
from gdnlint.values import Hole, Problem, Question, Value, World

if TYPE_CHECKING:
    from gdnlint.project import Project

STEPS = 150_000
"""Expressions and statements that are evaluated in one run."""
CALL_DEPTH = 6
IMPORT_DEPTH = 4
LARGEST_IMPORT = 200_000
"""Characters of a project module that is read for its constants."""
MOST_IMPORTED = 200_000
"""Characters of all of them together."""
MOST_KEPT = 300_000
"""Characters of project modules that stay parsed for the next module that imports them."""
SMALL_IMPORT = 40_000
"""Characters of a project module whose functions are run when the main module calls them."""
TURNS = 32
"""Turns of a loop over a known list."""
MOST_ARGUMENTS = 500
"""Keyword arguments of a call that is handed out."""
MOST_CALLS = 500


class Spent(Exception):
    """The module takes too many steps."""


_ALWAYS = frozenset(("FunctionDef", "ClassDef", "Import", "ImportFrom", "Global", "Nonlocal"))
"""Statements that only bind names; they are never left out."""


@dataclass(slots=True)
class Signal:
    """Why a block ended early: ``return``, ``break``, ``continue`` or ``raise``."""

    kind: str
    cell: Cell | None = None


@dataclass(slots=True)
class Asked:
    span_of: Spot
    text: str
    witnesses: list[str]
    asked: bool = False


def read(
    tree: Tree,
    world: World,
    wanted: Callable[[str], bool],
    *,
    project: Project | None,
    directory: Path | None,
    trees: dict[Path, Tree | None],
) -> Run:
    """Evaluate a parsed module. Every failure is a problem of the run."""
    if tree.module is None:
        assert tree.problem is not None
        return Run(problems=[tree.problem])
    start = tree.fragment.span(0, 0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            evaluator = Evaluator(tree, world, wanted, project, directory, trees)
            evaluator.module()
            return evaluator.result()
    except Spent:
        message = f"this Python takes more than {STEPS:,} steps to evaluate; its launches were not read"
        return Run(problems=[Problem("too-complex", message, start)], steps=STEPS)
    except (RecursionError, MemoryError):
        message = "this Python is nested too deeply to be evaluated; its launches were not read"
        return Run(problems=[Problem("too-deep", message, start)])
    except Exception as error:  # the last guard: a linted file must never end the run
        message = f"this Python could not be evaluated ({type(error).__name__}: {error}); its launches were not read"
        return Run(problems=[Problem("internal", message, start)])


def shared_tree(source: Source, project: Project) -> Tree:
    """A parsed module of the project. Many modules import the same few, so the last ones are kept."""
    kept = cast("dict[Source, Tree]", project.memory.setdefault("python trees", {}))
    tree = kept.pop(source, None) or Tree(Fragment.whole(source))
    kept[source] = tree
    while sum(len(other.text) for other in kept.values()) > MOST_KEPT and len(kept) > 1:
        del kept[next(iter(kept))]
    return tree


class Evaluator:
    """State of one run. ``tree`` of a scope says which file a node belongs to."""

    def __init__(
        self,
        tree: Tree,
        world: World,
        wanted: Callable[[str], bool],
        project: Project | None,
        directory: Path | None,
        trees: dict[Path, Tree | None],
    ) -> None:
        self.tree = tree
        self.world = world
        self.wanted = wanted
        self.project = project
        self.directory = directory
        self.trees = trees
        self.out = Run()
        self.questions: dict[str, Asked] = {}
        self.steps = 0
        self.depth = 0
        self.guards: list[str] = []
        self.environment: dict[str, Entry] = {}
        self.overrides: dict[str, Cell] = {}
        """What was assigned to attributes of outside modules."""
        self.executed: set[int] = set()
        self.packages: dict[Path, Scope | None] = {}
        self.forcing = 0
        self.read_bytes = 0
        self.targets: dict[int, str] = {}
        self.exporter = Exporter(self.used)
        self.outline = tree.outline
        self.slices: dict[int, Slice] = {id(tree): Slice(tree.facts, wanted)}
        """By the id of a tree: the statements of it that are evaluated."""
        self.quiet = False
        self.defined: dict[int, Function] = {}
        self.classes: list[Class] = []

    # --- the whole module

    def module(self) -> None:
        assert self.tree.module is not None
        scope = Scope(self.tree, "module", "")
        scope.names["__name__"] = Binding(from_plain("__main__"))
        scope.names["__file__"] = Binding(Cell(Hole("the path of this file")))
        scope.directory = self.directory
        self.block(self.tree.module.body, scope)
        # Functions that nothing in the file calls (fire, ray, pytest or another file does).
        order = Order(self.tree.facts, self.slices[id(self.tree)])
        while (function := order.next(self.defined, self.executed)) is not None:
            self.guards.clear()
            self.executed.add(id(function.node))
            self.call_with_defaults(function)

    def result(self) -> Run:
        for name, asked in self.questions.items():
            if asked.asked:
                witnesses = tuple(dict.fromkeys(asked.witnesses))
                self.out.questions.append(Question(name, witnesses, asked.span_of.span, asked.text))
        self.out.steps = self.steps
        return self.out

    def spend(self, amount: int = 1) -> None:
        self.steps += amount
        if self.steps > STEPS:
            raise Spent

    # --- questions

    def propose(self, name: str, spot: Spot, witnesses: Sequence[str] = (), text: str = "", ask: bool = False) -> None:
        """Note a question; it is handed out once ``ask`` was true or its answer is used."""
        asked = self.questions.setdefault(name, Asked(spot, text, []))
        asked.witnesses.extend(w for w in witnesses if w not in asked.witnesses)
        asked.asked = asked.asked or ask

    def used(self, cell: Cell) -> None:
        if self.quiet:
            return
        for name in cell.asks:
            if name in self.questions:
                self.questions[name].asked = True

    def witness(self, cell: Cell, *witnesses: str) -> None:
        hole = hole_of(cell)
        for name in (*cell.asks, *((hole.name,) if hole is not None and hole.name else ())):
            if name in self.questions:
                known = self.questions[name].witnesses
                known.extend(w for w in witnesses if w not in known and len(known) < 16)

    def decide(self, cell: Cell, node: cst.CSTNode, scope: Scope) -> tuple[bool, str]:
        """The answer to a condition, and the name of the guard question if the files do not decide it."""
        self.used(cell)
        known = truth(cell)
        if cell.asks:
            self._witness_truth(cell)
        if known is not None:
            return known, ""
        span = scope.tree.span(node)
        place = f"{span.line}:{span.column}"
        name = f"guard:{place}" if scope.tree is self.tree else f"guard:{span.source.path}:{place}"
        if name not in self.questions:
            self.propose(name, Spot(scope.tree, node), ("true", "false"), " ".join(span.text.split()), ask=True)
        return self.world.answers.get(name, "false").lower() in ("true", "1", "yes"), name

    def _witness_truth(self, cell: Cell) -> None:
        if isinstance(cell.data, bool):
            self.witness(cell, "false" if cell.data else "true")
        elif cell.data is None or (isinstance(cell.data, Str) and not cell.data.known):
            self.witness(cell, "1")

    # --- statements

    def block(self, statements: Sequence[cst.CSTNode], scope: Scope) -> Signal | None:
        for statement in statements:
            signal = self.statement(statement, scope)
            if signal is not None:
                return signal
        return None

    def statement(self, node: cst.CSTNode, scope: Scope) -> Signal | None:
        self.spend()
        if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite | cst.IndentedBlock):
            return self.block(node.body, scope)
        kind = type(node).__name__
        if kind not in _ALWAYS and scope.kind != "class":
            part = self.slices[id(scope.tree)]
            if not part.runs(node):
                return None
            if id(node) not in part.live and kind == "Return":
                return Signal("return", Cell(Hole("a value that is not worked out")))
        handler = getattr(self, f"_do_{kind.lower()}", None)
        return handler(node, scope) if handler is not None else None

    def _do_expr(self, node: cst.Expr, scope: Scope) -> Signal | None:
        value = node.value
        self.eval(value, scope)
        call = value.expression if isinstance(value, cst.Await) else value
        if isinstance(call, cst.Call):
            name = dotted_of(call.func)
            if is_exit(name):
                return Signal("raise")
            self._maybe_changed(call, name, scope)
        return None

    def _maybe_changed(self, node: cst.Call, name: str, scope: Scope) -> None:
        """A statement ``tweak(args)`` of an unknown function is there to change what it is given."""
        callee = self.eval(node.func, scope).data
        if not isinstance(callee, Ext | Hole) or is_harmless(name):
            return
        if isinstance(callee, Ext) and (self.wanted(callee.dotted) or library.is_known(callee.dotted)):
            return
        reason = f"`{name}()` may have changed it"
        for arg in node.args:
            if not isinstance(arg.value, cst.Name | cst.Attribute):
                continue
            data = self.eval(arg.value, scope).data
            if isinstance(data, Map):
                data.loosen(reason)
            elif isinstance(data, Seq):
                data.items[:] = [Cell(Spread(Hole(reason)))]
            elif isinstance(data, Parser):
                data.open = f"`{name}()` may add options"
            elif isinstance(data, Obj):
                self.loosen(data, reason)

    @staticmethod
    def loosen(obj: Obj, reason: str) -> None:
        if obj.kind:
            return
        obj.open = reason
        obj.attrs.clear()
        if obj.call is not None:
            obj.call.open_reason = obj.call.open_reason or reason

    def _do_assign(self, node: cst.Assign, scope: Scope) -> None:
        self._aim(node.value, node.targets[0].target)
        cell = self.eval(node.value, scope)
        for target in node.targets:
            self.assign(target.target, cell, node, scope)

    def _do_annassign(self, node: cst.AnnAssign, scope: Scope) -> None:
        if scope.kind == "class" and isinstance(node.target, cst.Name):
            scope.names.setdefault("__annotated__", Binding(Cell(Seq([]))))
            fields = scope.names["__annotated__"].cell.data
            if isinstance(fields, Seq) and "ClassVar" not in dotted_of(
                getattr(node.annotation.annotation, "value", node)
            ):
                fields.items.append(from_plain(node.target.value))
        if node.value is None:
            return
        self._aim(node.value, node.target)
        self.assign(node.target, self.eval(node.value, scope), node, scope)

    def _aim(self, value: cst.CSTNode, target: cst.CSTNode) -> None:
        if isinstance(value, cst.Await):
            value = value.expression
        if isinstance(value, cst.Call):
            self.targets[id(value)] = dotted_of(target)

    def _do_augassign(self, node: cst.AugAssign, scope: Scope) -> None:
        before = self.eval(node.target, scope)
        operand = self.eval(node.value, scope)
        name = type(node.operator).__name__.removesuffix("Assign")
        if isinstance(before.data, Seq) and before.data.kind == "list" and name == "Add":
            library.extend(before.data, operand)
            return
        if isinstance(before.data, Map) and name == "BitOr":
            library.update(before.data, operand, Spot(scope.tree, node))
            return
        self.assign(node.target, self.binary(name, before, operand, node, scope), node, scope)

    def _do_return(self, node: cst.Return, scope: Scope) -> Signal:
        return Signal("return", self.eval(node.value, scope) if node.value is not None else Cell(None))

    def _do_raise(self, node: cst.Raise, scope: Scope) -> Signal:
        return Signal("raise")

    def _do_break(self, node: cst.Break, scope: Scope) -> Signal:
        return Signal("break")

    def _do_continue(self, node: cst.Continue, scope: Scope) -> Signal:
        return Signal("continue")

    def _do_del(self, node: cst.Del, scope: Scope) -> None:
        targets = [e.value for e in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            if isinstance(target, cst.Name):
                scope.names.pop(target.value, None)
            elif isinstance(target, cst.Subscript):
                owner = self.eval(target.value, scope)
                key = self._key(target, scope)
                library.delete(self, owner, key)
            elif isinstance(target, cst.Attribute):
                data = self.eval(target.value, scope).data
                if isinstance(data, Obj):
                    data.attrs.pop(target.attr.value, None)
                    if data.call is not None:
                        data.call.open_reason = data.call.open_reason or f"`del {dotted_of(target)}`"

    def _do_global(self, node: cst.Global, scope: Scope) -> None:
        for item in node.names:
            scope.outer[item.name.value] = scope.module

    def _do_nonlocal(self, node: cst.Nonlocal, scope: Scope) -> None:
        for item in node.names:
            parent = scope.parent
            while parent is not None and item.name.value not in parent.names:
                parent = parent.parent
            if parent is not None:
                scope.outer[item.name.value] = parent

    def _do_import(self, node: cst.Import, scope: Scope) -> None:
        for alias in node.names:
            dotted = dotted_of(alias.name)
            if alias.asname is not None:
                self.bind(dotted_of(alias.asname.name), Cell(Ext(dotted, dotted, 0, scope.tree)), None, scope)
            else:
                root = dotted.split(".")[0]
                self.bind(root, Cell(Ext(root, root, 0, scope.tree)), None, scope)

    def _do_importfrom(self, node: cst.ImportFrom, scope: Scope) -> None:
        level = len(node.relative)
        module = dotted_of(node.module) if node.module is not None else ""
        written = "." * level + module
        if isinstance(node.names, cst.ImportStar):
            scope.stars.append(Ext(written, module, level, scope.tree))
            return
        for alias in node.names:
            name = dotted_of(alias.name)
            dotted = f"{written}.{name}" if module else f"{written}{name}"
            own = dotted_of(alias.asname.name) if alias.asname is not None else name
            self.bind(own, Cell(Ext(dotted, f"{module}:{name}", level, scope.tree)), None, scope)

    def _do_if(self, node: cst.If, scope: Scope) -> Signal | None:
        answer, guard = self._condition(node, scope)
        if guard:
            self.guards.append(guard)
        try:
            if answer:
                return self.statement(node.body, scope)
            if node.orelse is None:
                return None
            return self.statement(node.orelse.body if isinstance(node.orelse, cst.Else) else node.orelse, scope)
        finally:
            if guard:
                self.guards.pop()

    def _condition(self, node: cst.If, scope: Scope) -> tuple[bool, str]:
        if id(node) in self.slices[id(scope.tree)].live:
            return self.decide(self.eval(node.test, scope), node.test, scope)
        # Nothing but an early end lies under it; unless the files decide it, what follows is reached.
        before, self.quiet = self.quiet, True
        try:
            return truth(self.eval(node.test, scope)) is True, ""
        finally:
            self.quiet = before

    def _do_for(self, node: cst.For, scope: Scope) -> Signal | None:
        turns = library.iterate(self, self.eval(node.iter, scope))
        if turns is not None and len(turns) <= TURNS:
            for item in turns:
                self.assign(node.target, item, node.target, scope)
                signal = self.statement(node.body, scope)
                if signal is not None and signal.kind == "break":
                    return None
                if signal is not None and signal.kind != "continue":
                    return signal
            return self.statement(node.orelse.body, scope) if node.orelse is not None else None
        reason = f"the turns of the loop over `{self.short(node.iter, scope)}`"
        self.assign(node.target, Cell(Hole(f"an item of `{self.short(node.iter, scope)}`")), node.target, scope)
        return self._once(node.body, reason, scope)

    def _do_while(self, node: cst.While, scope: Scope) -> Signal | None:
        if truth(self.eval(node.test, scope)) is False:
            return self.statement(node.orelse.body, scope) if node.orelse is not None else None
        return self._once(node.body, f"the turns of the loop while `{self.short(node.test, scope)}`", scope)

    def _once(self, body: cst.BaseSuite, reason: str, scope: Scope) -> Signal | None:
        """A loop of unknown length: its first turn, then nothing that it assigns is certain."""
        signal = self.statement(body, scope)
        if signal is not None and signal.kind in ("return", "raise"):
            return signal
        if signal is None or signal.kind == "continue":
            for name in self.outline.assigned(body):
                binding = self._binding(name, scope)
                if binding is not None and not isinstance(
                    binding.cell.data, Function | Class | Ext | Package | Parser | Obj
                ):
                    if isinstance(binding.cell.data, Map):
                        binding.cell.data.loosen(reason)
                    else:
                        binding.cell = Cell(Hole(reason), binding.cell.spot, binding.cell.hops)
        return None

    def _do_try(self, node: cst.Try | cst.TryStar, scope: Scope) -> Signal | None:
        signal = self.statement(node.body, scope)
        if signal is not None and signal.kind == "raise" and node.handlers:
            signal = None
        elif signal is None and node.orelse is not None:
            signal = self.statement(node.orelse.body, scope)
        doubtful = self.outline.doubtful_import(node.body, self.resolves, scope)
        for handler in node.handlers:
            for name in self.outline.assigned(handler.body):
                binding = self._binding(name, scope)
                if binding is None or (doubtful and not isinstance(binding.cell.data, Ext)):
                    why = f"whether `{doubtful}` can be imported" if doubtful else f"{name}, which is set on a failure"
                    self.bind(name, Cell(Hole(why)), None, scope)
        if node.finalbody is not None:
            last = self.statement(node.finalbody.body, scope)
            signal = last if last is not None else signal
        return signal

    _do_trystar = _do_try

    def _do_with(self, node: cst.With, scope: Scope) -> Signal | None:
        for item in node.items:
            if item.asname is not None:
                self._aim(item.item, item.asname.name)
            cell = self.eval(item.item, scope)
            if item.asname is not None:
                if not isinstance(cell.data, Obj):
                    cell = Cell(Hole(f"the value of `{self.short(item.item, scope)}`"), Spot(scope.tree, item.item))
                self.assign(item.asname.name, cell, item, scope)
        return self.statement(node.body, scope)

    def _do_match(self, node: cst.Match, scope: Scope) -> Signal | None:
        subject = self.eval(node.subject, scope)
        guards = 0
        try:
            for case in node.cases:
                matched = self._matches(case.pattern, subject, scope)
                if matched and case.guard is not None:
                    cell = self.eval(case.guard, scope)
                    answer, guard = self.decide(cell, case.guard, scope)
                elif matched is None:
                    answer, guard = self.decide(Cell(Hole("a match")), case.pattern, scope)
                else:
                    answer, guard = bool(matched), ""
                if guard:
                    self.guards.append(guard)
                    guards += 1
                if answer:
                    return self.statement(case.body, scope)
            return None
        finally:
            del self.guards[len(self.guards) - guards :]

    def _matches(self, pattern: cst.CSTNode, subject: Cell, scope: Scope) -> bool | None:
        if isinstance(pattern, cst.MatchOr):
            found = [self._matches(e.pattern, subject, scope) for e in pattern.patterns]
            return True if True in found else (None if None in found else False)
        if isinstance(pattern, cst.MatchAs):
            inner = self._matches(pattern.pattern, subject, scope) if pattern.pattern is not None else True
            if inner is not False and pattern.name is not None:
                self.assign(pattern.name, subject, pattern, scope)
            return inner
        if isinstance(pattern, cst.MatchValue | cst.MatchSingleton):
            value = self.eval(pattern.value, scope)
            try:
                return truth(self.compare("Equal", subject, value))
            except (NotPlain, TooLarge):
                return None
        for name in self.outline.captured(pattern):
            self.bind(name, Cell(Hole(f"a part of `{self.short(pattern, scope)}`")), None, scope)
        return None

    def _do_functiondef(self, node: cst.FunctionDef, scope: Scope) -> None:
        name = node.name.value
        qualified = f"{scope.name}.{name}" if scope.name else name
        function = Function(node, scope, qualified)
        if scope.kind == "class":
            function.kind = self._kind(node)
        self.bind(name, Cell(function), None, scope)
        if scope.tree is self.tree:
            self.defined[id(node)] = function

    @staticmethod
    def _kind(node: cst.FunctionDef) -> str:
        for decorator in node.decorators:
            last = dotted_of(decorator.decorator).split(".")[-1]
            kind = {
                "staticmethod": "static",
                "classmethod": "class",
                "property": "property",
                "cached_property": "property",
            }
            if last in kind:
                return kind[last]
        return ""

    def _do_classdef(self, node: cst.ClassDef, scope: Scope) -> None:
        name = node.name.value
        qualified = f"{scope.name}.{name}" if scope.name else name
        inner = Scope(scope.tree, "class", qualified, scope)
        bases = [self.force(self.eval(a.value, scope)) for a in node.bases]
        cls = Class(node, inner, qualified, bases)
        for base in bases:
            if isinstance(base.data, Class):
                cls.dataclass = cls.dataclass or base.data.dataclass
                cls.enum = cls.enum or base.data.enum
                cls.open = cls.open or base.data.open
                cls.fields.extend(f for f in base.data.fields if f not in cls.fields)
                continue
            last = base.data.dotted.split(".")[-1] if isinstance(base.data, Ext) else ""
            if last in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"):
                cls.enum = True
            elif last in ("BaseModel", "NamedTuple"):
                cls.dataclass = True
            elif last not in ("object", "ABC", "Protocol", "Generic", "str", "int"):
                cls.open = True
        if any("dataclass" in dotted_of(d.decorator).lower() for d in node.decorators):
            cls.dataclass = True
        self.block([node.body], inner)
        annotated = inner.names.pop("__annotated__", None)
        if annotated is not None and isinstance(annotated.cell.data, Seq):
            for item in annotated.cell.data.items:
                if isinstance(item.data, Str) and item.data.known and item.data.known not in cls.fields:
                    cls.fields.append(item.data.known)
        for binding in inner.names.values():
            if isinstance(binding.cell.data, Function):
                binding.cell.data.cls = cls
        for function in self.defined.values():
            if function.scope is inner:
                function.cls = cls
        if scope.tree is self.tree:
            self.classes.append(cls)
        self.bind(name, Cell(cls), None, scope)

    # --- names

    def bind(self, name: str, cell: Cell, hop: Hop | None, scope: Scope) -> None:
        scope.outer.get(name, scope).names[name] = Binding(cell, hop)

    def _binding(self, name: str, scope: Scope) -> Binding | None:
        at: Scope | None = scope.outer.get(name, scope)
        while at is not None:
            # Names of a class body are not seen from its methods.
            if name in at.names and (at is scope or at.kind != "class"):
                return at.names[name]
            at = at.parent
        return None

    def lookup(self, name: str, scope: Scope, node: cst.CSTNode | None = None) -> Cell:
        binding = self._binding(name, scope)
        if binding is not None:
            self.used(binding.cell)
            return binding.cell.through(binding.hop)
        for star in scope.module.stars:
            found = self._from_package(star, name)
            if found is not None:
                return found
        if scope.function is not None and name == "__class__":
            return Cell(scope.function.cls)
        return Cell(Ext(name), Spot(scope.tree, node) if node is not None else None)

    def assign(self, target: cst.CSTNode, cell: Cell, statement: cst.CSTNode, scope: Scope) -> None:
        spot = Spot(scope.tree, statement)
        if isinstance(target, cst.Name):
            hop = None
            if not isinstance(cell.data, Function | Class | Ext):
                hop = Hop(spot, f"{target.value} is set")
            self.bind(target.value, cell, hop, scope)
        elif isinstance(target, cst.Tuple | cst.List):
            self._unpack(target, cell, statement, scope)
        elif isinstance(target, cst.Attribute):
            self.set_attribute(self.owner(target.value, scope), target.attr.value, cell, spot, dotted_of(target))
        elif isinstance(target, cst.Subscript):
            owner = self.owner(target.value, scope)
            self._set_item(owner, self._key(target, scope), cell, spot)

    def _unpack(self, target: cst.Tuple | cst.List, cell: Cell, statement: cst.CSTNode, scope: Scope) -> None:
        elements = target.elements
        items = library.iterate(self, cell)
        star = next((i for i, e in enumerate(elements) if isinstance(e, cst.StarredElement)), None)
        short = star is not None and items is not None and len(items) >= len(elements) - 1
        if items is None or (star is None and len(items) != len(elements)) or (star is not None and not short):
            for element in elements:
                part = Cell(Hole("a part of an unpacked value"), Spot(scope.tree, element.value))
                self.assign(element.value, part, statement, scope)
            return
        if star is not None:
            rest = len(items) - len(elements) + 1
            items = [*items[:star], Cell(Seq(items[star : star + rest])), *items[star + rest :]]
        for element, item in zip(elements, items, strict=True):
            self.assign(element.value, item, statement, scope)

    def owner(self, node: cst.BaseExpression, scope: Scope) -> Cell:
        """The object that is written to; open objects grow the attributes on the way."""
        if isinstance(node, cst.Attribute | cst.Subscript):
            above = self.owner(node.value, scope)
            name: object = node.attr.value if isinstance(node, cst.Attribute) else self._key(node, scope)
            if isinstance(above.data, Obj) and isinstance(name, str) and above.data.kind == "" and above.data.open:
                entry = above.data.attrs.get(name)
                if entry is None or (isinstance(entry.cell.data, Hole) and not entry.cell.data.name):
                    obj = above.data
                    child = Obj(f"{obj.label}.{name}", None, {}, obj.open, obj.call, (*obj.path, name))
                    obj.attrs[name] = Entry(Cell(child), None)
                return above.data.attrs[name].cell
        return self.eval(node, scope)

    def set_attribute(self, owner: Cell, name: str, cell: Cell, spot: Spot, written: str = "") -> None:
        data = owner.data
        if isinstance(data, Obj):
            data.attrs[name] = Entry(cell.through(Hop(spot, f"{written or name} is set")), spot)
            if data.call is not None:
                path = (*data.path, name)
                value = self.exporter.value(cell, spot.span, "keyword", ".".join(path))
                above = data.call.kwargs.get(path[0])
                if len(path) == 1:
                    data.call.kwargs[name] = value
                else:
                    base = above if above is not None and isinstance(above.data, dict) else Value({}, spot.span)
                    data.call.kwargs[path[0]] = base.with_(path[1:], value)
        elif isinstance(data, Class):
            data.scope.names[name] = Binding(cell, Hop(spot, f"{written or name} is set"))
        elif isinstance(data, Ext):
            self.overrides[f"{data.dotted}.{name}"] = cell
        elif isinstance(data, Package):
            data.scope.names[name] = Binding(cell)

    def _set_item(self, owner: Cell, key: object, cell: Cell, spot: Spot) -> None:
        data = owner.data
        if isinstance(data, Ext) and data.dotted == "os.environ":
            if isinstance(key, str):
                self.environment[key] = Entry(cell, spot)
        elif isinstance(data, Obj) and isinstance(key, str):
            self.set_attribute(owner, key, cell, spot)
        elif isinstance(data, Map):
            if isinstance(key, Hole):
                data.loosen(f"an entry is set whose key is {key.reason}")
            elif len(data.entries) < LARGEST_LIST:
                data.entries[key] = Entry(cell, spot)
            else:
                data.loosen("it has too many entries")
        elif isinstance(data, Seq):
            if isinstance(key, int) and data.spread is None and -len(data.items) <= key < len(data.items):
                data.items[key] = cell
            else:
                data.items[:] = [Cell(Spread(Hole("an item of it is set")))]

    # --- imports of the project

    def force(self, cell: Cell, also_wanted: bool = False) -> Cell:
        """What an imported name is, if the project has its file; else the cell as it is."""
        data = cell.data
        if not isinstance(data, Ext):
            return cell
        if not also_wanted and data.imported and self.wanted(data.dotted):
            return cell
        if data.dotted in self.overrides:
            return self.overrides[data.dotted]
        if not data.imported or self.project is None or self.forcing >= IMPORT_DEPTH:
            return cell
        self.forcing += 1
        try:
            return self._imported(data, cell)
        finally:
            self.forcing -= 1

    def _imported(self, data: Ext, cell: Cell) -> Cell:
        module, _, name = data.imported.partition(":")
        if name:
            found = self._from_package(Ext(module, module, data.level, data.tree), name)
            if found is not None:
                return found
            module = f"{module}.{name}" if module else name
        package = self.load(module, data.level, data.tree)
        return Cell(Package(package), cell.spot) if package is not None else cell

    def _from_package(self, ext: Ext, name: str) -> Cell | None:
        package = self.load(ext.imported, ext.level, ext.tree, name)
        if package is None:
            return None
        self.want(package, name)
        binding = package.names.get(name)
        if binding is None:
            return None
        cell = binding.cell.through(binding.hop)
        return self.force(cell) if isinstance(cell.data, Ext) else cell

    def want(self, package: Scope, name: str) -> None:
        """Run what sets a name of a project module, if that has not happened."""
        part = self.slices[id(package.tree)]
        if package.tree is self.tree or package.tree.module is None or not part.need(name):
            return
        part.settle()
        kept = self.guards, self.depth
        self.guards, self.depth = [], 0
        try:
            self.block([s for s in package.tree.module.body if self._is_new(s, part)], package)
        finally:
            self.guards, self.depth = kept

    def _is_new(self, statement: cst.CSTNode, part: Slice) -> bool:
        """Whether a top-level statement has to be run now and was not run before."""
        inner = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        if not any(type(s).__name__ in _ALWAYS or part.runs(s) for s in inner) or id(statement) in self.executed:
            return False
        self.executed.add(id(statement))
        return True

    def resolves(self, dotted: str, names: Sequence[str], level: int, scope: Scope) -> bool:
        """Whether an import surely works: a module of Python, of the project, or one that calls are wanted from."""
        if level or dotted.split(".")[0] in sys.stdlib_module_names:
            return True
        if any(self.wanted(f"{dotted}.{name}") for name in names):
            return True
        paths = self._candidates(dotted, 0, scope.tree)
        return self.project is not None and any(self.project.exists(p) for p in paths)

    def load(self, module: str, level: int, tree: Tree | None, name: str = "") -> Scope | None:
        """The names of a project module; None if it is not in the project, in a cycle or too far away."""
        for path in self._candidates(module, level, tree):
            if self.project is not None and self.project.exists(path):
                real = self.project.real(path)
                if real not in self.packages:
                    if name and not self._may_define(real, name):
                        return None
                    self.packages[real] = self._load(real)
                return self.packages[real]
        return None

    def _may_define(self, path: Path, name: str) -> bool:
        """Whether a name stands in a file at all; most imports are settled by that."""
        assert self.project is not None
        try:
            text = self.project.source(path).text
        except Unreadable:
            return False
        return name in text or "import *" in text

    def _candidates(self, module: str, level: int, tree: Tree | None) -> list[Path]:
        """The files that a module may be; the same for every run."""
        if self.project is None or (not module and not level):
            return []
        file = (tree or self.tree).fragment.source.file
        key = ("module files", file, tree is self.tree, self.directory, module, level)
        if key not in self.project.memory:
            self.project.memory[key] = self._module_files(module, level, tree, file)
        return cast("list[Path]", self.project.memory[key])

    def _module_files(self, module: str, level: int, tree: Tree | None, file: Path) -> list[Path]:
        assert self.project is not None
        own = Path(os.path.realpath(file)).parent
        if level:
            folder = own
            for _ in range(level - 1):
                folder = folder.parent
            folders = [folder]
        else:
            folders = [f for f in (self.directory, own if tree is not self.tree else None, self.project.root) if f]
        parts = [p for p in module.split(".") if p]
        out = []
        for folder in folders:
            base = folder.joinpath(*parts)
            if parts:
                out.append(base.with_name(parts[-1] + ".py"))
            out.append(base / "__init__.py")
        return out

    def _load(self, path: Path) -> Scope | None:
        assert self.project is not None
        main = Path(os.path.realpath(self.tree.fragment.source.file))
        if path == main:
            return None
        if path not in self.trees:
            try:
                source = self.project.source(path)
            except Unreadable:
                source = None
            size = len(source.text) if source is not None else 0
            self.read_bytes += size
            too_much = size > LARGEST_IMPORT or self.read_bytes > MOST_IMPORTED
            self.trees[path] = shared_tree(source, self.project) if source is not None and not too_much else None
        tree = self.trees[path]
        if tree is None or tree.module is None:
            return None
        scope = Scope(tree, "module", "")
        scope.names["__name__"] = Binding(from_plain(path.stem))
        scope.directory = path.parent
        self.packages[path] = scope
        if id(tree) not in self.slices:
            self.slices[id(tree)] = Slice(tree.facts, None)
        return scope

    # --- calls

    def call_with_defaults(self, function: Function) -> Cell:
        """A function that nothing in the file calls: what its defaults say, open for other arguments."""
        bound = function
        if function.cls is not None and function.kind != "static":
            owner = Cell(function.cls) if function.kind == "class" else self.instance(function.cls)
            bound = replace(function, bound=owner)
            if function.name.endswith("__init__") and function.kind == "":
                # Making the object has run it.
                return owner
        return self.call_function(bound, Arguments([], {}, []), None)

    def instance(self, cls: Class) -> Cell:
        """An object of a class: the first that the module makes, else one made from defaults."""
        if not cls.instances:
            self.instantiate(cls, Arguments([], {}, []), Spot(cls.scope.tree, cls.node), free=True)
        return cls.instances[0]

    def call_function(self, function: Function, arguments: Arguments, spot: Spot | None) -> Cell:
        """Run a function of the files; ``spot`` is the call, None if nobody calls it."""
        node = function.node
        name = function.name
        unknown = Hole(f"the value of `{name.split('.')[-1]}(...)`")
        if self.depth >= CALL_DEPTH:
            return Cell(unknown, spot)
        scope = Scope(function.scope.tree, "function", name, function.scope)
        scope.function = function
        self.bind_parameters(function, arguments, spot, scope)
        if isinstance(node, cst.Lambda):
            self.depth += 1
            try:
                return self.eval(node.body, scope)
            finally:
                self.depth -= 1
        self.executed.add(id(node))
        self.depth += 1
        try:
            signal = self.statement(node.body, scope)
        finally:
            self.depth -= 1
        if self.outline.is_generator(node):
            return Cell(unknown, spot)
        if signal is not None and signal.kind == "return" and signal.cell is not None:
            return signal.cell
        return Cell(None, spot)

    def bind_parameters(self, function: Function, arguments: Arguments, spot: Spot | None, scope: Scope) -> None:
        params = function.node.params
        positional = [*params.posonly_params, *params.params]
        args = list(arguments.args)
        if function.bound is not None and function.kind != "static":
            args.insert(0, function.bound)
        kwargs = dict(arguments.kwargs)
        spread = next((i for i, a in enumerate(args) if isinstance(a.data, Spread)), None)
        for index, param in enumerate([*positional, *params.kwonly_params]):
            name = param.name.value
            hop = Hop(spot, f"{function.name}() is called") if spot is not None else None
            if index < len(positional) and index < (len(args) if spread is None else spread):
                self.bind(name, args[index].through(hop if index or function.bound is None else None), None, scope)
            elif name in kwargs:
                entry = kwargs.pop(name)
                own = Hop(entry.spot, f"{name} of {function.name}() is set") if entry.spot is not None else hop
                self.bind(name, entry.cell.through(own), None, scope)
            elif arguments.open or (spread is not None and index < len(positional)):
                reason = f"the argument {name} of {function.name}()"
                self.bind(name, Cell(Hole(reason), Spot(scope.tree, param)), None, scope)
            else:
                self.bind(name, self._default(function, param, spot, scope), None, scope)
        if isinstance(params.star_arg, cst.Param):
            rest = args[len(positional) :] if spread is None else args[min(spread, len(positional)) :]
            if spot is None:
                rest = [Cell(Spread(Hole(f"`*{params.star_arg.name.value}` of {function.name}()")))]
            self.bind(params.star_arg.name.value, Cell(Seq(rest, "tuple")), None, scope)
        if params.star_kwarg is not None:
            name = params.star_kwarg.name.value
            reason = f"`**{name}` of {function.name}() may add or replace arguments"
            open_ = (reason if spot is None else "") or arguments.open
            self.bind(name, Cell(Map(dict(kwargs), open_), Spot(scope.tree, params.star_kwarg)), None, scope)

    def _default(self, function: Function, param: cst.Param, call: Spot | None, scope: Scope) -> Cell:
        """The value of a parameter that is not given, which a caller outside the files may give."""
        name = param.name.value
        spot = Spot(scope.tree, param)
        question = f"param:{function.name}.{name}"
        cell = self.eval(param.default, function.scope) if param.default is not None else None
        cell = library.option_default(self, cell)
        if cell is None:
            cell = library.decorated_default(self, function, name)
        hop = Hop(spot, f"the default of {name} in {function.name}()")
        free = call is None or cell is None or self.outline.is_command(function.node)
        if not free:
            assert cell is not None
            return cell.through(hop)
        self.propose(question, spot)
        answer = self.world.answers.get(question)
        if answer is not None:
            return replace(answered(answer, cell, spot), asks=(question,))
        if cell is None:
            return Cell(Hole(f"the argument {name} of {function.name}()", question), spot, (), (question,))
        return replace(cell.through(hop), asks=(question,))

    def instantiate(self, cls: Class, arguments: Arguments, spot: Spot, free: bool = False) -> Cell:
        """An object of a class of the files. ``free``: nobody in the files makes it, so anything may be given."""
        if cls.enum:
            return Cell(Hole(f"the member of {cls.name} for a value"), spot)
        obj = Obj(cls.name, cls, {}, "a base class that is not in the files" if cls.open else "")
        cell = Cell(obj, spot)
        if len(cls.instances) < 64:
            cls.instances.append(cell)
        init = self.find(cls, "__init__")
        if init is not None:
            self.call_function(replace(init, bound=cell), arguments, None if free else spot)
        elif cls.dataclass:
            self._fill(obj, cls, arguments, spot, free)
            post = self.find(cls, "__post_init__")
            if post is not None:
                self.call_function(replace(post, bound=cell), Arguments([], {}, []), spot)
        elif cls.open:
            for name, entry in arguments.kwargs.items():
                obj.attrs[name] = entry
        return cell

    def _fill(self, obj: Obj, cls: Class, arguments: Arguments, spot: Spot, free: bool) -> None:
        for index, name in enumerate(cls.fields):
            given = arguments.get(index, name)
            if given is not None:
                entry = arguments.kwargs.get(name)
                at = (
                    entry.spot
                    if entry is not None
                    else (arguments.spots[index] if index < len(arguments.spots) else spot)
                )
                obj.attrs[name] = Entry(given.through(Hop(at or spot, f"{cls.name}.{name} is set")), at)
                continue
            if arguments.open or arguments.spread:
                obj.attrs[name] = Entry(Cell(Hole(f"{name} of {cls.name}()"), spot), spot)
                continue
            cell = self.class_attribute(cls, name)
            if cell is not None:
                cell = library.field_default(self, cell)
            if cell is None:
                question = f"param:{cls.name}.{name}" if free else ""
                cell = Cell(Hole(f"{name} of {cls.name}()", question), spot)
            obj.attrs[name] = Entry(cell, cell.spot)
        if not arguments.open:
            for name, entry in arguments.kwargs.items():
                obj.attrs.setdefault(name, entry)

    def find(self, cls: Class, name: str) -> Function | None:
        for each in cls.mro():
            binding = each.scope.names.get(name)
            if binding is not None:
                return binding.cell.data if isinstance(binding.cell.data, Function) else None
        return None

    def class_attribute(self, cls: Class, name: str) -> Cell | None:
        for each in cls.mro():
            binding = each.scope.names.get(name)
            if binding is not None:
                return binding.cell.through(binding.hop)
        return None

    # --- expressions

    def eval(self, node: cst.BaseExpression, scope: Scope) -> Cell:
        self.spend()
        handler = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if handler is None:
            return self.unknown(node, scope)
        try:
            cell = handler(node, scope)
        except TooLarge:
            return Cell(Hole("a value that is too large to be worked out"), Spot(scope.tree, node))
        except NotPlain as error:
            return Cell(error.hole, Spot(scope.tree, node))
        except (ValueError, TypeError, LookupError, ArithmeticError, SyntaxError):
            return self.unknown(node, scope)
        assert isinstance(cell, Cell)
        return cell

    def short(self, node: cst.CSTNode, scope: Scope) -> str:
        """A node as written, for a reason: one line, at most 40 characters."""
        return scope.tree.short(node)

    def unknown(self, node: cst.CSTNode, scope: Scope) -> Cell:
        return Cell(Hole(f"the value of `{self.short(node, scope)}`"), Spot(scope.tree, node))

    def _of_name(self, node: cst.Name, scope: Scope) -> Cell:
        constant = {"None": None, "True": True, "False": False}
        if node.value in constant:
            return Cell(constant[node.value], Spot(scope.tree, node))
        return self.force(self.lookup(node.value, scope, node))

    def _of_integer(self, node: cst.Integer, scope: Scope) -> Cell:
        value = int(ast.literal_eval(node.value))
        if value.bit_length() > LARGEST_NUMBER:
            raise TooLarge
        return Cell(value, Spot(scope.tree, node))

    def _of_float(self, node: cst.Float, scope: Scope) -> Cell:
        return Cell(float(ast.literal_eval(node.value)), Spot(scope.tree, node))

    def _of_simplestring(self, node: cst.SimpleString, scope: Scope) -> Cell:
        spot = Spot(scope.tree, node)
        content = scope.tree.strings.get(id(node), "")
        if id(node) not in scope.tree.strings:
            value = ast.literal_eval(node.value) if "b" not in node.prefix.lower() else None
            content = scope.tree.strings[id(node)] = value if isinstance(value, str) else None
        if content is None:
            return self.unknown(node, scope)
        lead = len(node.prefix) + len(node.quote)
        exact = len(node.value) - lead - len(node.quote) == len(content) and "\\" not in content
        return Cell(Str((Strand(content, spot, lead if exact else -1),)), spot)

    def _of_concatenatedstring(self, node: cst.ConcatenatedString, scope: Scope) -> Cell:
        strands: list[Strand] = []
        at: cst.BaseExpression = node
        while isinstance(at, cst.ConcatenatedString):
            strands.extend(self.eval(at.left, scope).strands)
            at = at.right
        strands.extend(self.eval(at, scope).strands)
        return Cell(Str(tuple(strands)), Spot(scope.tree, node))

    def _of_formattedstring(self, node: cst.FormattedString, scope: Scope) -> Cell:
        strands: list[Strand] = []
        quote = node.start.lstrip("rRfF")
        raw = "r" in node.start[: len(node.start) - len(quote)].lower()
        for part in node.parts:
            spot = Spot(scope.tree, part)
            if isinstance(part, cst.FormattedStringText):
                content = (
                    ast.literal_eval(("r" if raw else "") + quote + part.value + quote)
                    if "\\" in part.value and not raw
                    else part.value
                )
                content = content.replace("{{", "{").replace("}}", "}")
                strands.append(Strand(content, spot, 0 if content == part.value else -1))
            elif isinstance(part, cst.FormattedStringExpression):
                strands.extend(self._formatted(part, scope))
        return Cell(Str(tuple(strands)), Spot(scope.tree, node))

    def _formatted(self, part: cst.FormattedStringExpression, scope: Scope) -> tuple[Strand, ...]:
        cell = self.eval(part.expression, scope)
        self.used(cell)
        spot = Spot(scope.tree, part)
        spec = ""
        for piece in part.format_spec or ():
            if isinstance(piece, cst.FormattedStringText):
                spec += piece.value
            elif isinstance(piece, cst.FormattedStringExpression):
                spec += str(plain(self.eval(piece.expression, scope)))
        lead: tuple[Strand, ...] = ()
        conversion = part.conversion
        if part.equal is not None:
            lead = (Strand(self.short(part.expression, scope) + "=", spot),)
            conversion = conversion or ("" if spec else "r")
        if not spec and not conversion and not isinstance(cell.data, Seq | Map):
            strands = cell.strands
            if isinstance(cell.data, Obj | Class | Function | Ext):
                strands = self.text_of_object(cell, part.expression, scope).strands
            return (*lead, *(replace(s, spot=spot, low=-1) if s.spot is None else s for s in strands))
        try:
            value = plain(cell)
            content = operators.formatted(repr(value) if conversion in ("r", "a") else value, spec)
        except NotPlain as error:
            return (*lead, Strand(error.hole, spot, -1, cell.hops))
        except (ValueError, TypeError, OverflowError):
            return (*lead, Strand(Hole(f"the value of `{self.short(part, scope)}`"), spot))
        return (*lead, Strand(content, spot, -1, cell.hops))

    def text_of_object(self, cell: Cell, node: cst.CSTNode, scope: Scope) -> Cell:
        """``str()`` of an object."""
        data = cell.data
        if isinstance(data, Obj) and data.kind == "member" and data.cls is not None:
            names = {b.data.dotted.split(".")[-1] for b in data.cls.bases if isinstance(b.data, Ext)}
            if "StrEnum" in names:
                return data.attrs["value"].cell
        return self.unknown(node, scope)

    def _of_list(self, node: cst.List, scope: Scope) -> Cell:
        return Cell(Seq(self._elements(node.elements, scope)), Spot(scope.tree, node))

    def _of_tuple(self, node: cst.Tuple, scope: Scope) -> Cell:
        return Cell(Seq(self._elements(node.elements, scope), "tuple"), Spot(scope.tree, node))

    def _of_set(self, node: cst.Set, scope: Scope) -> Cell:
        return Cell(Seq(self._elements(node.elements, scope), "set"), Spot(scope.tree, node))

    def _elements(self, elements: Sequence[cst.BaseElement], scope: Scope) -> list[Cell]:
        items: list[Cell] = []
        for element in elements:
            cell = self.eval(element.value, scope)
            if isinstance(element, cst.StarredElement):
                found = library.iterate(self, cell, spreads=True)
                if found is None:
                    hole = hole_of(cell) or Hole(f"the items of `{self.short(element.value, scope)}`")
                    found = [Cell(Spread(hole), Spot(scope.tree, element))]
                items.extend(found)
            else:
                items.append(cell)
            if len(items) > LARGEST_LIST:
                raise TooLarge
        return items

    def _of_dict(self, node: cst.Dict, scope: Scope) -> Cell:
        data = Map()
        for element in node.elements:
            spot = Spot(scope.tree, element)
            cell = self.eval(element.value, scope)
            if isinstance(element, cst.StarredDictElement):
                library.update(data, library.as_map(self, cell), spot)
            elif isinstance(element, cst.DictElement):
                key = library.key_of(self.eval(element.key, scope))
                if isinstance(key, Hole):
                    data.loosen(f"a key of it is {key.reason}")
                else:
                    data.entries[key] = Entry(cell, spot)
        if len(data.entries) > LARGEST_LIST:
            raise TooLarge
        return Cell(data, Spot(scope.tree, node))

    def _of_await(self, node: cst.Await, scope: Scope) -> Cell:
        return self.eval(node.expression, scope)

    def _of_namedexpr(self, node: cst.NamedExpr, scope: Scope) -> Cell:
        cell = self.eval(node.value, scope)
        self.assign(node.target, cell, node, scope)
        return cell

    def _of_lambda(self, node: cst.Lambda, scope: Scope) -> Cell:
        return Cell(
            Function(node, scope, f"{scope.name}.<lambda>" if scope.name else "<lambda>"), Spot(scope.tree, node)
        )

    def _of_ifexp(self, node: cst.IfExp, scope: Scope) -> Cell:
        answer, guard = self.decide(self.eval(node.test, scope), node.test, scope)
        if not guard:
            return self.eval(node.body if answer else node.orelse, scope)
        self.guards.append(guard)
        try:
            return self.eval(node.body if answer else node.orelse, scope)
        finally:
            self.guards.pop()

    def _of_booleanoperation(self, node: cst.BooleanOperation, scope: Scope) -> Cell:
        left = self.eval(node.left, scope)
        known = truth(left)
        if left.asks:
            self.used(left)
            self._witness_truth(left)
        stops = isinstance(node.operator, cst.Or)
        if known is not None:
            if known is stops:
                return left
            right = self.eval(node.right, scope)
            return replace(right, asks=tuple(dict.fromkeys((*left.asks, *right.asks)))[:8])
        right = self.eval(node.right, scope)
        # `unknown or True` is true whatever the unknown is; used as a condition that is enough.
        if truth(right) is stops and isinstance(right.data, bool):
            return right
        hole = hole_of(left)
        reason = hole if hole is not None and not hole.name else Hole(f"the value of `{self.short(node, scope)}`")
        return Cell(reason, Spot(scope.tree, node), (), left.asks)

    def _of_unaryoperation(self, node: cst.UnaryOperation, scope: Scope) -> Cell:
        cell = self.eval(node.expression, scope)
        spot = Spot(scope.tree, node)
        if isinstance(node.operator, cst.Not):
            known = truth(cell)
            self.used(cell)
            if cell.asks:
                self._witness_truth(cell)
            if known is None:
                return Cell(hole_of(cell) or Hole(f"the value of `{self.short(node, scope)}`"), spot)
            return Cell(not known, spot)
        value = plain(cell)
        if not isinstance(value, int | float):
            return self.unknown(node, scope)
        if isinstance(node.operator, cst.Minus):
            return Cell(-value, spot, cell.hops)
        if isinstance(node.operator, cst.Plus):
            return Cell(+value, spot, cell.hops)
        return Cell(~value, spot, cell.hops) if isinstance(value, int) else self.unknown(node, scope)

    def _of_binaryoperation(self, node: cst.BinaryOperation, scope: Scope) -> Cell:
        left = self.eval(node.left, scope)
        right = self.eval(node.right, scope)
        return self.binary(type(node.operator).__name__, left, right, node, scope)

    def binary(self, name: str, left: Cell, right: Cell, node: cst.CSTNode, scope: Scope) -> Cell:
        spot = Spot(scope.tree, node)
        self.used(left)
        self.used(right)
        try:
            cell = operators.binary(name, self.force(left), self.force(right), spot)
        except TooLarge:
            return Cell(Hole("a value that is too large to be worked out"), spot)
        except (NotPlain, ValueError, TypeError, ArithmeticError):
            cell = None
        if cell is None:
            hole = hole_of(left) or hole_of(right)
            return Cell(hole, spot) if hole is not None and not hole.name else self.unknown(node, scope)
        if isinstance(cell.data, Str):
            self.spend(cell.data.size // 200)
        return cell

    def _of_comparison(self, node: cst.Comparison, scope: Scope) -> Cell:
        left = self.eval(node.left, scope)
        result: Cell = Cell(True, Spot(scope.tree, node))
        for comparison in node.comparisons:
            right = self.eval(comparison.comparator, scope)
            result = self.compare(type(comparison.operator).__name__, left, right)
            if truth(result) is not True:
                break
            left = right
        if truth(result) is None:
            return Cell(Hole(f"the value of `{self.short(node, scope)}`"), Spot(scope.tree, node))
        return result

    def compare(self, operator: str, left: Cell, right: Cell) -> Cell:
        self.used(left)
        self.used(right)
        for one, other in ((left, right), (right, left)):
            if one.asks or (isinstance(one.data, Hole) and one.data.name):
                self.witness(one, *operators.witnesses(operator, other))
        if operator in ("In", "NotIn") and isinstance(right.data, Ext) and right.data.dotted == "os.environ":
            return library.in_environ(self, left, operator == "In")
        result = operators.compare(operator, left, right)
        return Cell(result) if result is not None else Cell(Hole("a comparison"))

    def _of_attribute(self, node: cst.Attribute, scope: Scope) -> Cell:
        value = node.value
        owner = self.lookup(value.value, scope, value) if isinstance(value, cst.Name) else self.eval(value, scope)
        return self.attribute(owner, node.attr.value, node, scope)

    def attribute(self, owner: Cell, name: str, node: cst.CSTNode, scope: Scope) -> Cell:
        data = owner.data
        spot = Spot(scope.tree, node)
        if isinstance(data, Function | Class) and name in library.SAME_CALL:
            return owner
        if isinstance(data, Function | Class) and name == "options":
            return Cell(Method(owner, name), spot)
        if isinstance(data, Ext):
            return self._ext_attribute(data, name, spot)
        if isinstance(data, Package):
            self.want(data.scope, name)
            return self.force(self.lookup(name, data.scope, node))
        if isinstance(data, Obj):
            return self._obj_attribute(owner, data, name, node, scope)
        if isinstance(data, Class):
            return self._cls_attribute(owner, data, name, node, scope)
        if isinstance(data, Str | Seq | Map | Parser | Partial | int | float | Hole):
            return Cell(Method(owner, name), spot)
        return self.unknown(node, scope)

    def _ext_attribute(self, data: Ext, name: str, spot: Spot) -> Cell:
        dotted = f"{data.dotted}.{name}"
        if dotted in self.overrides:
            return self.overrides[dotted]
        if self.wanted(dotted):
            return Cell(Ext(dotted), spot)
        forced = self.force(Cell(data))
        if isinstance(forced.data, Package):
            self.want(forced.data.scope, name)
            binding = forced.data.scope.names.get(name)
            if binding is not None:
                cell = binding.cell.through(binding.hop)
                return Cell(replace(cell.data, dotted=dotted), spot) if isinstance(cell.data, Ext) else cell
        if forced.data is not data and isinstance(forced.data, Class):
            return self.class_attribute(forced.data, name) or Cell(Ext(dotted), spot)
        imported = data.imported
        deeper = ""
        if imported and ":" not in imported:
            deeper = f"{imported}.{name}"
        elif imported:
            deeper = f"{imported.replace(':', '.').lstrip('.')}.{name}"
        return Cell(Ext(dotted, deeper, data.level, data.tree), spot)

    def _obj_attribute(self, owner: Cell, obj: Obj, name: str, node: cst.CSTNode, scope: Scope) -> Cell:
        if obj.kind == "super":
            above = self.find(obj.cls, name) if obj.cls is not None else None
            if above is None:
                return Cell(Method(owner, name), Spot(scope.tree, node))
            return Cell(replace(above, bound=obj.attrs["__self__"].cell))
        if name in obj.attrs:
            self.used(obj.attrs[name].cell)
            return obj.attrs[name].cell
        if obj.cls is not None:
            found = self.class_attribute(obj.cls, name)
            if found is not None and isinstance(found.data, Function):
                if found.data.kind == "property":
                    return self.call_function(
                        replace(found.data, bound=owner), Arguments([], {}, []), Spot(scope.tree, node)
                    )
                bound = Cell(found.data.cls) if found.data.kind == "class" else owner
                return Cell(replace(found.data, bound=bound), found.spot, found.hops)
            if found is not None:
                return library.field_default(self, found) or self.unknown(node, scope)
        if name == "__dict__":
            return library.as_map(self, owner)
        if name == "__class__" and obj.cls is not None:
            return Cell(obj.cls)
        return Cell(Method(owner, name), Spot(scope.tree, node))

    def _cls_attribute(self, owner: Cell, cls: Class, name: str, node: cst.CSTNode, scope: Scope) -> Cell:
        if name == "__name__":
            return from_plain(cls.name.split(".")[-1])
        found = self.class_attribute(cls, name)
        if found is None:
            return self.unknown(node, scope)
        if isinstance(found.data, Function):
            return Cell(replace(found.data, bound=owner)) if found.data.kind == "class" else found
        if cls.enum and not name.startswith("_"):
            return library.member(cls, name, found)
        return library.field_default(self, found) or self.unknown(node, scope)

    def _key(self, node: cst.Subscript, scope: Scope) -> object:
        """The key of ``x[key]``: plain data, or a Hole."""
        if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
            return Hole("a slice")
        return library.key_of(self.eval(node.slice[0].slice.value, scope))

    def _of_subscript(self, node: cst.Subscript, scope: Scope) -> Cell:
        owner = self.eval(node.value, scope)
        spot = Spot(scope.tree, node)
        if isinstance(owner.data, Ext) and owner.data.dotted not in ("os.environ", "sys.argv"):
            forced = self.force(owner)
            if forced.data is owner.data:
                # list[int], Optional[str], Generic[T]: a type, or an unknown container.
                return (
                    owner if owner.data.dotted.split(".")[-1] in ("Generic", "Protocol") else self.unknown(node, scope)
                )
            owner = forced
        first = node.slice[0].slice if len(node.slice) == 1 else None
        if isinstance(first, cst.Slice):
            bounds = [
                plain(self.eval(b, scope)) if b is not None else None for b in (first.lower, first.upper, first.step)
            ]
            return operators.sliced(owner, slice(*bounds), spot) or self.unknown(node, scope)
        if first is None:
            return self.unknown(node, scope)
        assert isinstance(first, cst.Index)
        index = self.eval(first.value, scope)
        cell = library.item(self, owner, index, spot)
        if cell is not None:
            return cell
        hole = hole_of(owner)
        return Cell(hole, spot) if hole is not None and not hole.name else self.unknown(node, scope)

    def _of_listcomp(self, node: cst.ListComp, scope: Scope) -> Cell:
        return self._comprehension(node, scope, "list")

    def _of_setcomp(self, node: cst.SetComp, scope: Scope) -> Cell:
        return self._comprehension(node, scope, "set")

    def _of_generatorexp(self, node: cst.GeneratorExp, scope: Scope) -> Cell:
        return self._comprehension(node, scope, "tuple")

    def _comprehension(self, node: cst.BaseSimpleComp, scope: Scope, kind: str) -> Cell:
        items: list[Cell] = []
        inner = Scope(scope.tree, "function", scope.name, scope)
        inner.function = scope.function
        if not self._each(node.for_in, inner, lambda: items.append(self.eval(node.elt, inner))):
            hole = Hole(f"the items of `{self.short(node, scope)}`")
            return Cell(Seq([Cell(Spread(hole), Spot(scope.tree, node))], kind), Spot(scope.tree, node))
        return Cell(Seq(items, kind), Spot(scope.tree, node))

    def _of_dictcomp(self, node: cst.DictComp, scope: Scope) -> Cell:
        data = Map()
        inner = Scope(scope.tree, "function", scope.name, scope)
        inner.function = scope.function

        def add() -> None:
            key = library.key_of(self.eval(node.key, inner))
            if isinstance(key, Hole):
                data.loosen(f"a key of it is {key.reason}")
            else:
                data.entries[key] = Entry(self.eval(node.value, inner), Spot(scope.tree, node.value))

        if not self._each(node.for_in, inner, add):
            data.loosen(f"the entries of `{self.short(node, scope)}` are not known")
        return Cell(data, Spot(scope.tree, node))

    def _each(self, part: cst.CompFor, scope: Scope, action: Callable[[], None]) -> bool:
        """Run ``action`` for each turn; False if the turns are not known."""
        turns = library.iterate(self, self.eval(part.iter, scope))
        if turns is None or len(turns) > LARGEST_LIST:
            return False
        for item in turns:
            self.assign(part.target, item, part.target, scope)
            kept = True
            for condition in part.ifs:
                known = truth(self.eval(condition.test, scope))
                if known is None:
                    return False
                kept = kept and known
            if not kept:
                continue
            if part.inner_for_in is None:
                action()
            elif not self._each(part.inner_for_in, scope, action):
                return False
        return True

    # --- call expressions

    def arguments(self, node: cst.Call, scope: Scope) -> Arguments:
        out = Arguments([], {}, [])
        for arg in node.args:
            cell = self.eval(arg.value, scope)
            spot = Spot(scope.tree, arg)
            if arg.star == "**":
                self._splat(out, cell, arg, scope)
            elif arg.star == "*":
                items = library.iterate(self, cell, spreads=True)
                if items is None:
                    hole = hole_of(cell) or Hole(f"the items of `{self.short(arg.value, scope)}`")
                    items = [Cell(Spread(hole), spot)]
                out.args.extend(items)
                out.spots.extend([spot] * len(items))
            elif arg.keyword is not None:
                out.kwargs[arg.keyword.value] = Entry(cell, spot)
            else:
                out.args.append(cell)
                out.spots.append(spot)
        return out

    def _splat(self, out: Arguments, cell: Cell, arg: cst.Arg, scope: Scope) -> None:
        mapping = library.as_map(self, cell)
        data = mapping.data
        if not isinstance(data, Map):
            out.open = f"`**{self.short(arg.value, scope)}` may add or replace arguments"
            return
        if data.open:
            own = "may add or replace" in data.open
            out.open = data.open if own else f"`**{self.short(arg.value, scope)}` may add arguments: {data.open}"
        for key, entry in data.entries.items():
            if isinstance(key, str):
                spot = entry.spot
                inner = replace(entry.cell, hops=cell.hops + entry.cell.hops) if cell.hops else entry.cell
                out.kwargs[key] = Entry(inner, spot if spot is not None else Spot(scope.tree, arg))

    def _of_call(self, node: cst.Call, scope: Scope) -> Cell:
        # An imported name is looked at before it is followed: `wanted` knows it as it was imported.
        func = node.func
        callee = self.lookup(func.value, scope, func) if isinstance(func, cst.Name) else self.eval(func, scope)
        spot = Spot(scope.tree, node)
        name = self.callee_name(callee, node.func)
        if name and self.wanted(name):
            return self._report(name, node, self.arguments(node, scope), scope, callee)
        callee = self.force(callee)
        arguments = self.arguments(node, scope)
        cell = self.call(callee, arguments, spot, node, scope)
        if cell is not None:
            return cell
        hole = None
        if isinstance(callee.data, Method):
            hole = hole_of(callee.data.owner)
        return Cell(Hole(hole.reason), spot) if hole is not None and hole.name == "" else self.unknown(node, scope)

    def callee_name(self, callee: Cell, node: cst.BaseExpression) -> str:
        data = callee.data
        if isinstance(data, Ext):
            return data.dotted
        if isinstance(data, Class):
            return data.name
        if isinstance(data, Function):
            return data.name if not isinstance(data.node, cst.Lambda) else ""
        if isinstance(data, Partial):
            return ""
        return dotted_of(node)

    def _report(self, name: str, node: cst.Call, arguments: Arguments, scope: Scope, callee: Cell) -> Cell:
        """Hand a wanted call out, and make the object that it returns."""
        spot = Spot(scope.tree, node)
        kwargs: dict[str, Value] = {}
        for key, entry in islice(arguments.kwargs.items(), MOST_ARGUMENTS):
            span = entry.spot.span if entry.spot is not None else spot.span
            kwargs[key] = self.exporter.value(entry.cell, span, "keyword", key)
        more = f"more than {MOST_ARGUMENTS} arguments" if len(arguments.kwargs) > MOST_ARGUMENTS else ""
        args = tuple(
            self.exporter.value(cell, at.span if at is not None else None)
            for cell, at in zip(arguments.args, arguments.spots, strict=True)
        )
        env = {k: self.exporter.value(e.cell, e.spot.span if e.spot else None) for k, e in self.environment.items()}
        function = scope
        while function.kind == "class" and function.parent is not None:
            function = function.parent
        call = Call(
            callee=name,
            args=args,
            kwargs=kwargs,
            open_reason=arguments.open or more,
            span=spot.span,
            name_span=scope.tree.span(node.func),
            guards=tuple(dict.fromkeys(self.guards)),
            function=function.name,
            target=self.targets.get(id(node), ""),
            env=env,
        )
        if scope.tree is self.tree and len(self.out.calls) < MOST_CALLS:
            self.out.calls.append(call)
        made = library.made_by(self, name, arguments)
        obj = Obj(name, None, made, f"what {name}() sets itself", call)
        local = self.force(callee, also_wanted=True).data
        if isinstance(local, Class):
            built = self.instantiate(local, arguments, spot).data
            if isinstance(built, Obj):
                obj.cls, obj.attrs, obj.open = built.cls, built.attrs, built.open or obj.open
        library.adopt(obj)
        return Cell(obj, spot)

    def _is_near(self, defined: Scope, caller: Scope) -> bool:
        """Whether a function is run: one of this module, or of a small one that this module calls itself."""
        if defined.tree is self.tree:
            return True
        return caller.tree is self.tree and len(defined.tree.text) <= SMALL_IMPORT

    def call(self, callee: Cell, arguments: Arguments, spot: Spot, node: cst.Call | None, scope: Scope) -> Cell | None:
        """The result of a call that is not handed out; None if it is not known."""
        data = callee.data
        if isinstance(data, Function):
            return self.call_function(data, arguments, spot) if self._is_near(data.scope, scope) else None
        if isinstance(data, Class):
            if self._is_near(data.scope, scope) or (data.dataclass and self.find(data, "__init__") is None):
                return self.instantiate(data, arguments, spot)
            return None
        if isinstance(data, Partial):
            merged = Arguments(
                [*data.arguments.args, *arguments.args],
                {**data.arguments.kwargs, **arguments.kwargs},
                [*data.arguments.spots, *arguments.spots],
                data.arguments.open or arguments.open,
            )
            inner = data.function
            if isinstance(inner.data, Ext) and node is not None and self.wanted(inner.data.dotted):
                return self._report(inner.data.dotted, node, merged, scope, inner)
            return self.call(self.force(inner), merged, spot, node, scope)
        if isinstance(data, Method):
            return library.method(self, data, arguments, spot, scope)
        if isinstance(data, Ext):
            return library.function(self, data.dotted, arguments, spot, scope)
        return None


def answered(answer: str, default: Cell | None, spot: Spot) -> Cell:
    """A world's answer, read as the kind of thing that the default is."""
    kind = default.data if default is not None else None
    if isinstance(kind, bool):
        return Cell(answer.lower() in ("true", "1", "yes", "on"), spot)
    if isinstance(kind, int | float):
        try:
            return Cell(int(answer) if isinstance(kind, int) else float(answer), spot)
        except ValueError:
            return from_plain(answer, spot)
    if isinstance(kind, Str):
        return from_plain(answer, spot)
    if re.fullmatch(r"-?\d{1,18}(\.\d+)?|True|False|None", answer):
        return from_plain(ast.literal_eval(answer), spot)
    if answer in ("true", "false"):
        return Cell(answer == "true", spot)
    return from_plain(answer, spot)
