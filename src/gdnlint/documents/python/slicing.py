"""Which statements of a module matter to the calls that are looked for.

A name-based slice, coarser than the truth and never finer: a statement is kept if it may set, change or lead to
something that a wanted call uses. All others are not evaluated, so they cost nothing and ask no questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import libcst as cst

from gdnlint.documents.python.outline import dotted_of, roots
from gdnlint.documents.python.syntax import Tree, walk

MUTATORS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "add",
        "discard",
        "popitem",
        "parse_args",
        "parse_known_args",
    ]
)
MUTATING = ("set", "add", "update", "merge", "register", "del", "load", "apply", "configure", "override")
"""What names of methods that change their object start with."""
HARMLESS = frozenset(
    ["print", "pprint", "log", "logging", "logger", "warnings", "len", "repr", "str", "time", "json", "yaml", "wandb"]
)
"""Callables, by their first name, that only look at what they are given."""
EXITS = frozenset(("sys.exit", "exit", "quit", "os._exit", "os.abort"))
OWN = frozenset(("self", "cls"))


def is_harmless(name: str) -> bool:
    first = name.split(".")[0].strip("_").lower()
    last = name.split(".")[-1]
    return first in HARMLESS or last in ("info", "debug", "warning", "error", "print", "dump", "run", "Popen", "append")


def is_exit(name: str) -> bool:
    return name in EXITS or name.endswith("parser.error")


@dataclass(slots=True)
class Fact:
    """One statement (or the head of a compound one)."""

    key: int
    function: int
    """The id of the function around it, 0 for the module."""
    inside: tuple[Fact, ...]
    kind: str = ""
    """``exit``, ``return``, ``head`` or empty."""
    defs: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    alias: set[str] = field(default_factory=set)
    """Names that a target may be another name of."""
    calls: list[str] = field(default_factory=list)
    """Dotted callees, and names that are handed to calls."""
    handed: list[str] = field(default_factory=list)
    """Dotted names that are mentioned without being called."""
    effect: bool = False
    """Whether it changes something that is seen outside its function."""


@dataclass(slots=True)
class Body:
    """A function of the module, or the module."""

    key: int
    name: str
    cls: str = ""
    outer: int = 0
    params: tuple[str, ...] = ()
    uses: set[str] = field(default_factory=set)
    facts: list[Fact] = field(default_factory=list)


class Facts:
    """What a tree's statements mention; computed once."""

    def __init__(self, tree: Tree) -> None:
        self.imports: dict[str, str] = {}
        self._outer_names: dict[int, set[str]] = {}
        self.classes: set[str] = set()
        self.objects: set[str] = set()
        self.bodies: dict[int, Body] = {0: Body(0, "")}
        self.facts: list[Fact] = []
        self.names: set[str] = set()
        module = tree.module
        if module is not None:
            self._define(module.body)
            self._block(module.body, 0, (), "")
        self.by_def: dict[str, list[Fact]] = {}
        self.by_alias: dict[str, list[Fact]] = {}
        self.by_call: dict[str, list[Fact]] = {}
        self.by_name: dict[str, list[Body]] = {}
        for fact in self.facts:
            for name in fact.defs:
                self.by_def.setdefault(name, []).append(fact)
            for name in fact.alias:
                self.by_alias.setdefault(name, []).append(fact)
            for name in {part for dotted in fact.calls for part in dotted.split(".")} & self.names:
                self.by_call.setdefault(name, []).append(fact)
        for body in self.bodies.values():
            self.by_name.setdefault(body.name, []).append(body)
            if body.name in ("__init__", "__post_init__", "__call__"):
                self.by_name.setdefault(body.cls, []).append(body)

    def resolve(self, dotted: str) -> str:
        root, _, rest = dotted.partition(".")
        return self.imports.get(root, root) + (f".{rest}" if rest else "")

    def _define(self, statements: Iterable[Any]) -> None:
        """The names of all functions and classes, at any depth."""
        todo = list(statements)
        while todo:
            node = todo.pop()
            kind = type(node)
            if kind is cst.SimpleStatementLine or kind is cst.SimpleStatementSuite:
                continue
            if kind is cst.FunctionDef or kind is cst.ClassDef:
                self.names.add(node.name.value)
                if kind is cst.ClassDef:
                    self.classes.add(node.name.value)
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                child = getattr(node, name, None)
                if isinstance(child, (list, tuple)):
                    todo.extend(child)
                elif child is not None:
                    todo.append(child)

    # --- statements

    def _block(self, statements: Iterable[cst.CSTNode], function: int, inside: tuple[Fact, ...], cls: str) -> None:
        for node in statements:
            self._statement(node, function, inside, cls)

    def _statement(self, node: Any, function: int, inside: tuple[Fact, ...], cls: str) -> None:
        if isinstance(node, cst.SimpleStatementLine | cst.SimpleStatementSuite | cst.IndentedBlock):
            self._block(node.body, function, inside, cls)
        elif isinstance(node, cst.FunctionDef):
            self._function(node, function, cls)
        elif isinstance(node, cst.ClassDef):
            head = self._fact(node, function, inside, [*node.bases, *node.keywords, *node.decorators])
            head.defs.add(node.name.value)
            self._block([node.body], function, inside, node.name.value)
        elif isinstance(node, cst.If):
            head = self._fact(node, function, inside, [node.test])
            head.kind = "head"
            self._block([node.body], function, (*inside, head), cls)
            if node.orelse is not None:
                self._statement(node.orelse, function, (*inside, head), cls)
        elif isinstance(node, cst.Else | cst.Finally):
            self._block([node.body], function, inside, cls)
        elif isinstance(node, cst.For | cst.While):
            head = self._fact(node, function, inside, [node.iter if isinstance(node, cst.For) else node.test])
            head.kind = "head"
            if isinstance(node, cst.For):
                head.targets.update(roots(node.target))
                head.defs |= head.targets
                head.alias |= head.uses
            self._block([node.body], function, (*inside, head), cls)
            if node.orelse is not None:
                self._statement(node.orelse, function, (*inside, head), cls)
        elif isinstance(node, cst.With):
            head = self._fact(node, function, inside, [i.item for i in node.items])
            head.kind = "head"
            for item in node.items:
                if item.asname is not None:
                    head.targets.update(roots(item.asname.name))
            head.defs |= head.targets
            self._block([node.body], function, (*inside, head), cls)
        elif isinstance(node, cst.Try | cst.TryStar):
            head = self._fact(node, function, inside, [])
            head.kind = "head"
            around = (*inside, head)
            self._block([node.body, *(h.body for h in node.handlers)], function, around, cls)
            self._block([n.body for n in (node.orelse, node.finalbody) if n is not None], function, around, cls)
        elif isinstance(node, cst.Match):
            head = self._fact(node, function, inside, [node.subject])
            head.kind = "head"
            for case in node.cases:
                for part in walk(case.pattern):
                    if isinstance(part, cst.MatchAs | cst.MatchStar) and part.name is not None:
                        head.targets.add(part.name.value)
                self._mention(case.pattern, head, False)
                if case.guard is not None:
                    self._mention(case.guard, head, False)
                self._block([case.body], function, (*inside, head), cls)
            head.defs |= head.targets
            head.alias |= head.uses
        else:
            self._simple(node, function, inside, cls)

    def _function(self, node: cst.FunctionDef, function: int, cls: str) -> None:
        params = node.params
        every = [*params.posonly_params, *params.params, *params.kwonly_params]
        stars = [p for p in (params.star_arg, params.star_kwarg) if isinstance(p, cst.Param)]
        names = tuple(p.name.value for p in [*every, *stars] if p.name.value not in OWN)
        body = Body(id(node), node.name.value, cls, function, names)
        self.bodies[id(node)] = body
        head = Fact(id(node), function, ())
        for param in every:
            if param.default is not None:
                self._mention(param.default, head, False)
        for decorator in node.decorators:
            self._mention(decorator.decorator, head, False)
        body.uses = head.uses
        self._block([node.body], id(node), (), "")

    def _fact(self, node: cst.CSTNode, function: int, inside: tuple[Fact, ...], parts: Iterable[cst.CSTNode]) -> Fact:
        fact = Fact(id(node), function, inside)
        for part in parts:
            self._mention(part, fact, False)
        self.facts.append(fact)
        self.bodies[function].facts.append(fact)
        return fact

    def _simple(self, node: Any, function: int, inside: tuple[Fact, ...], cls: str) -> None:
        if isinstance(node, cst.Import | cst.ImportFrom):
            self._import(node)
            return
        if isinstance(node, cst.Global | cst.Nonlocal):
            self._outer_names.setdefault(function, set()).update(item.name.value for item in node.names)
            return
        if isinstance(node, cst.Pass):
            return
        fact = self._fact(node, function, inside, ())
        if isinstance(node, cst.Return | cst.Raise | cst.Break | cst.Continue):
            fact.kind = "return" if isinstance(node, cst.Return) else "exit"
            if isinstance(node, cst.Return) and node.value is not None:
                self._mention(node.value, fact, False)
                fact.alias.update(_aliased(node.value))
            return
        if isinstance(node, cst.Expr):
            call = node.value.expression if isinstance(node.value, cst.Await) else node.value
            self._mention(node.value, fact, isinstance(call, cst.Call))
            if isinstance(call, cst.Call) and is_exit(dotted_of(call.func)):
                fact.kind = "exit"
            return
        targets = self._targets(node)
        for target in targets:
            self._target(target, fact)
        value = getattr(node, "value", None)
        if value is not None:
            self._mention(value, fact, False)
            fact.alias.update(_aliased(value))
            call = value.expression if isinstance(value, cst.Await) else value
            if isinstance(call, cst.Call) and dotted_of(call.func).split(".")[-1] in self.names:
                # A function of the file may return what it is given.
                fact.alias.update(*(_aliased(a.value) for a in call.args), dotted_of(call.func).split(".")[:-1])
        if isinstance(node, cst.AugAssign):
            self._mention(node.target, fact, False)
        if isinstance(value, cst.Call) and dotted_of(value.func).split(".")[0] in self.classes:
            self.objects.update(dotted_of(t) for t in targets)
        if not fact.defs.isdisjoint(self._outer_names.get(function, ())):
            fact.effect = True
        if cls:
            fact.defs.add(cls)

    @staticmethod
    def _targets(node: Any) -> list[cst.CSTNode]:
        if isinstance(node, cst.Assign):
            return [t.target for t in node.targets]
        if isinstance(node, cst.AnnAssign | cst.AugAssign):
            return [node.target]
        if isinstance(node, cst.Del):
            return [node.target]
        return []

    def _target(self, target: Any, fact: Fact) -> None:
        if isinstance(target, cst.Tuple | cst.List):
            for element in target.elements:
                self._target(element.value, fact)
            return
        names = set(dotted_of(target).split(".")) - OWN - {""}
        fact.defs |= names
        fact.targets |= names if isinstance(target, cst.Name) else set(dotted_of(target).split(".")[:1]) - OWN
        if not isinstance(target, cst.Name):
            fact.effect = True
            self._mention(target, fact, False)

    def _import(self, node: cst.Import | cst.ImportFrom) -> None:
        if isinstance(node, cst.Import):
            for alias in node.names:
                dotted = dotted_of(alias.name)
                if alias.asname is not None:
                    self.imports[dotted_of(alias.asname.name)] = dotted
                else:
                    self.imports[dotted.split(".")[0]] = dotted.split(".")[0]
        elif not isinstance(node.names, cst.ImportStar):
            above = "." * len(node.relative) + dotted_of(node.module)
            joint = "" if above.endswith(".") or not above else "."
            for alias in node.names:
                own = dotted_of(alias.asname.name) if alias.asname is not None else dotted_of(alias.name)
                self.imports[own] = f"{above}{joint}{dotted_of(alias.name)}"

    # --- expressions

    def _mention(self, node: cst.CSTNode, fact: Fact, statement: bool) -> None:
        """Add what an expression uses and changes; ``statement``: it is a call whose result nobody takes."""
        parts: list[Any] = walk(node)
        callees: set[int] = set()
        found_through: set[int] = set()
        for part in parts:
            if type(part) is cst.Call:
                callees.add(id(part.func))
                self._call(part, fact, statement and (part is node or part is getattr(node, "expression", None)))
            elif type(part) is cst.NamedExpr:
                fact.defs.update(roots(part.target))
            elif type(part) is cst.Attribute:
                base = _base(part)
                if type(base) is not cst.Name:
                    continue
                if id(part) not in callees:
                    fact.handed.append(dotted_of(part))
                # `x` of `a.x` is found through `a`, unless `a` is an object of this file or the result of a call.
                if part.attr.value not in self.names and base.value not in OWN:
                    found_through.add(id(part.attr))
        for part in parts:
            if type(part) is cst.Name and part.value not in OWN and id(part) not in found_through:
                fact.uses.add(part.value)
                if id(part) not in callees:
                    fact.handed.append(part.value)

    def _call(self, node: cst.Call, fact: Fact, statement: bool) -> None:
        dotted = dotted_of(node.func)
        fact.calls.append(dotted)
        last = dotted.split(".")[-1]
        handed = []
        for arg in node.args:
            if isinstance(arg.value, cst.Name | cst.Attribute | cst.Subscript):
                name = dotted_of(arg.value)
                handed.append(name)
                if not arg.star:
                    fact.calls.append(name)
        if (statement and not is_harmless(dotted)) or (last in self.names):
            for name in handed:
                fact.defs |= set(name.split(".")) - OWN
                fact.effect = True
        if isinstance(node.func, cst.Attribute):
            changes = last in MUTATORS or last.startswith(MUTATING) or last in self.names
            if changes and (statement or last in MUTATORS or last in self.names):
                fact.defs |= set(dotted.split(".")[:-1]) - OWN
                fact.effect = True


def _base(node: Any) -> Any:
    while type(node) is cst.Attribute:
        node = node.value
    return node


def _aliased(node: Any) -> set[str]:
    """The names whose object an expression may return as it is."""
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.Attribute | cst.Subscript):
        return set(dotted_of(node).split(".")) - OWN - {""}
    if isinstance(node, cst.IfExp):
        return _aliased(node.body) | _aliased(node.orelse)
    if isinstance(node, cst.BooleanOperation):
        return _aliased(node.left) | _aliased(node.right)
    if isinstance(node, cst.Await):
        return _aliased(node.expression)
    if isinstance(node, cst.List | cst.Tuple | cst.Dict):
        return {name for element in node.elements for name in _aliased(element.value)}
    if isinstance(node, cst.Call) and dotted_of(node.func).split(".")[-1] in _PARTS:
        above = node.func.value if isinstance(node.func, cst.Attribute) else None
        return (_aliased(above) if above is not None else set()) | {n for a in node.args for n in _aliased(a.value)}
    return set()


_PARTS = frozenset(
    [
        "get",
        "setdefault",
        "pop",
        "getattr",
        "cast",
        "items",
        "values",
        "next",
        "iter",
        "list",
        "dict",
        "add_argument_group",
        "add_mutually_exclusive_group",
        "add_subparsers",
        "add_parser",
    ]
)
"""Calls whose result is, or holds, a part of what they are given."""


class Slice:
    """The statements to evaluate: those with a wanted call, and all that may matter to them."""

    def __init__(self, facts: Facts, wanted: Callable[[str], bool] | None) -> None:
        self.facts = facts
        self.live: set[int] = set()
        self.exits: set[int] = set()
        """Statements that only decide whether what follows is reached."""
        self.holding: set[int] = set()
        """Functions in which a wanted call lies, or a call of such a function."""
        self._names: set[str] = set()
        self._entered: set[int] = set()
        self._left: set[int] = set()
        self._todo: list[Callable[[], None]] = []
        if wanted is None:
            return
        self.need("environ")
        self.need("putenv")
        self._leave(0)
        named: set[str] = set()
        """Variables that may hold a wanted callee."""
        answers: dict[str, bool] = {}

        def is_wanted(dotted: str) -> bool:
            known = answers.get(dotted)
            if known is None:
                known = answers[dotted] = wanted(facts.resolve(dotted)) or wanted(dotted)
            return known

        for fact in facts.facts:
            if any(is_wanted(h) for h in fact.handed):
                named |= fact.targets
        for fact in facts.facts:
            if any(is_wanted(c) or (named and not named.isdisjoint(c.split("."))) for c in fact.calls):
                self._hold(fact)
                for name in fact.targets:
                    self.need(name)
        self._settle()

    def runs(self, node: cst.CSTNode) -> bool:
        return id(node) in self.live or id(node) in self.exits

    def need(self, name: str) -> bool:
        """Keep all that may set a name; false if it was kept already."""
        if name in self._names or name in OWN:
            return False
        self._names.add(name)
        for fact in self.facts.by_def.get(name, ()):
            self._later(fact)
        # A part of a module is no other name of the module.
        is_module = name in self.facts.imports or name == "environ"
        for fact in () if is_module else self.facts.by_alias.get(name, ()):
            for target in fact.targets:
                self._todo.append(partial(self._need, target))
            if fact.kind == "return":
                called = self.facts.by_call.get(self.facts.bodies[fact.function].name, ())
                for target in {t for c in called for t in c.targets}:
                    self._todo.append(partial(self._need, target))
        for body in self.facts.by_name.get(name, ()):
            self._todo.append(partial(self._enter, body))
        return True

    def _need(self, name: str) -> None:
        self.need(name)

    def settle(self) -> None:
        self._settle()

    def _settle(self) -> None:
        while self._todo:
            self._todo.pop()()

    def _later(self, fact: Fact) -> None:
        self._todo.append(lambda: self._activate(fact))

    def _hold(self, fact: Fact) -> None:
        """A statement with a wanted call: the calls that lead to it matter, too."""
        self._later(fact)
        if fact.function:
            self._reach(fact.function)

    def _reach(self, key: int) -> None:
        if key in self.holding or not key:
            return
        self.holding.add(key)
        body = self.facts.bodies[key]
        self._enter(body)
        if body.outer:
            self._todo.append(lambda: self._reach(body.outer))
        for name in {body.name, body.cls if body.name in ("__init__", "__post_init__", "__call__") else body.name}:
            for fact in self.facts.by_call.get(name, ()):
                self._hold_later(fact)

    def _hold_later(self, fact: Fact) -> None:
        self._todo.append(lambda: self._hold(fact))

    def _activate(self, fact: Fact) -> None:
        if fact.key in self.live:
            return
        self.live.add(fact.key)
        for name in fact.uses:
            self.need(name)
        for head in fact.inside:
            self._activate(head)
        if fact.effect and fact.function:
            self._affect(fact.function)
        if fact.function:
            self._leave(fact.function)

    def _affect(self, key: int) -> None:
        """A function that changes something which matters: its calls matter."""
        body = self.facts.bodies[key]
        for name in {body.name, body.cls if body.name in ("__init__", "__post_init__") else body.name}:
            for fact in self.facts.by_call.get(name, ()):
                self._later(fact)

    def _enter(self, body: Body) -> None:
        """A function whose result or effect matters."""
        if body.key in self._entered or not body.key:
            return
        self._entered.add(body.key)
        for name in (*body.params, *body.uses, *((body.cls,) if body.cls else ())):
            self.need(name)
        for fact in body.facts:
            if fact.kind == "return":
                self._later(fact)
        self._leave(body.key)

    def _leave(self, key: int) -> None:
        """Keep what ends a function early, and the conditions of it."""
        if key in self._left:
            return
        self._left.add(key)
        for fact in self.facts.bodies[key].facts:
            if fact.kind in ("exit", "return"):
                self.exits.add(fact.key)
                for head in fact.inside:
                    self.exits.add(head.key)
                    for name in head.uses:
                        self.need(name)
