"""What a module's functions mention, by name only: which are worth running, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from gdnlint.documents.python.cells import Function
from gdnlint.documents.python.syntax import Tree, walk


def dotted_of(node: cst.CSTNode | str | None) -> str:
    """A name as written: ``a.b``, ``a.b()``'s callee, ``self.x["k"]`` as ``self.x.k``."""
    parts: list[str] = []
    at: Any = node
    while at is not None:
        if isinstance(at, cst.Name):
            parts.append(at.value)
            break
        if isinstance(at, cst.Attribute):
            parts.append(at.attr.value)
            at = at.value
        elif isinstance(at, cst.Call):
            at = at.func
        elif isinstance(at, cst.Subscript):
            index = at.slice[0].slice if at.slice else None
            if isinstance(index, cst.Index) and isinstance(index.value, cst.SimpleString):
                parts.append(index.value.value.strip("rRuUbB'\""))
            at = at.value
        else:
            break
    return ".".join(reversed(parts))


@dataclass(slots=True)
class Mentions:
    """Names in the body of one function (or of the module outside all functions)."""

    names: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    """Names that are called directly."""
    methods: set[str] = field(default_factory=set)
    """Names that are called on ``self``, ``cls``, a class of the file or an object of one."""
    wanted: bool = False


class Outline:
    """Computed once a run; the tree's own facts are kept with the tree."""

    def __init__(self, tree: Tree, wanted: Callable[[str], bool]) -> None:
        self._tree = tree
        self._wanted = wanted
        self._of: dict[int, Mentions] | None = None
        self._bodies: dict[int, tuple[str, ...]] = {}
        self._generators: dict[int, bool] = {}
        self._imports: dict[str, str] = {}
        self._classes: set[str] = set()
        self._objects: set[str] = set()

    # --- facts about single nodes

    def assigned(self, body: cst.CSTNode) -> tuple[str, ...]:
        """The names that a block assigns."""
        known = self._bodies.get(id(body))
        if known is None:
            names: list[str] = []
            for node in walk(body):
                if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.NamedExpr | cst.For):
                    names.extend(_roots(node.target))
                elif isinstance(node, cst.ImportAlias):
                    names.append(dotted_of(node.asname.name if node.asname is not None else node.name).split(".")[0])
                elif isinstance(node, cst.FunctionDef | cst.ClassDef):
                    names.append(node.name.value)
                elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
                    if node.func.attr.value in ("append", "extend", "update", "insert", "pop", "setdefault", "remove"):
                        names.extend(_roots(node.func.value))
            known = self._bodies[id(body)] = tuple(dict.fromkeys(names))
        return known

    @staticmethod
    def captured(pattern: cst.CSTNode) -> list[str]:
        return [
            n.name.value for n in walk(pattern) if isinstance(n, cst.MatchAs | cst.MatchStar) and n.name is not None
        ]

    def is_generator(self, node: cst.CSTNode) -> bool:
        known = self._generators.get(id(node))
        if known is None:
            known = self._generators[id(node)] = any(isinstance(n, cst.Yield) for n in walk(node))
        return known

    @staticmethod
    def is_command(node: cst.CSTNode) -> bool:
        """Whether a command line library calls it with options: ``@app.command()``, ``@click.option(...)``."""
        decorators = getattr(node, "decorators", ())
        return any(dotted_of(d.decorator).split(".")[-1] in ("command", "option", "argument") for d in decorators)

    # --- which functions to run

    def order(self, defined: dict[int, Function], done: set[int]) -> Function | None:
        """The next function that nobody in the file calls, directly or through others; None if all are read."""
        facts = self._facts()
        by_name: dict[str, list[int]] = {}
        for key, function in defined.items():
            by_name.setdefault(function.name.split(".")[-1], []).append(key)
            if function.cls is not None and function.name.endswith("__init__"):
                by_name.setdefault(function.cls.name.split(".")[-1], []).append(key)
        reached = self._reach({0, *done}, facts, by_name, defined)
        waiting = [k for k in defined if k not in done and k not in reached and self._relevant(k, facts, by_name)]
        if not waiting:
            return None
        for key in waiting:
            others = [k for k in waiting if k != key]
            if key not in self._reach(set(others), facts, by_name, defined, started=False):
                return defined[key]
        return defined[waiting[0]]

    @staticmethod
    def _reach(
        start: set[int],
        facts: dict[int, Mentions],
        by_name: dict[str, list[int]],
        defined: dict[int, Function],
        started: bool = True,
    ) -> set[int]:
        reached = set(start) if started else set()
        todo = list(start)
        seen: set[int] = set()
        while todo:
            key = todo.pop()
            if key in seen:
                continue
            seen.add(key)
            mentions = facts.get(key)
            if mentions is None:
                continue
            for name, of_method in [(n, False) for n in mentions.called] + [(n, True) for n in mentions.methods]:
                for other in by_name.get(name, ()):
                    function = defined[other]
                    is_method = function.cls is not None and not function.name.endswith("__init__")
                    if is_method == of_method and other != key:
                        reached.add(other)
                        todo.append(other)
        return reached

    @staticmethod
    def _relevant(key: int, facts: dict[int, Mentions], by_name: dict[str, list[int]]) -> bool:
        todo, seen = [key], set()
        while todo:
            at = todo.pop()
            if at in seen:
                continue
            seen.add(at)
            mentions = facts.get(at)
            if mentions is None:
                continue
            if mentions.wanted:
                return True
            for name in mentions.names:
                todo.extend(by_name.get(name, ()))
        return False

    def _facts(self) -> dict[int, Mentions]:
        if self._of is not None:
            return self._of
        self._of = {0: Mentions()}
        module = self._tree.module
        if module is None:
            return self._of
        nodes = [n for statement in module.body for n in walk(statement)]
        for node in nodes:
            if isinstance(node, cst.Import):
                for alias in node.names:
                    dotted = dotted_of(alias.name)
                    if alias.asname is not None:
                        self._imports[dotted_of(alias.asname.name)] = dotted
                    else:
                        self._imports[dotted.split(".")[0]] = dotted.split(".")[0]
            elif isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar):
                above = "." * len(node.relative) + dotted_of(node.module)
                for alias in node.names:
                    own = dotted_of(alias.asname.name) if alias.asname is not None else dotted_of(alias.name)
                    joint = "" if above.endswith(".") or not above else "."
                    self._imports[own] = f"{above}{joint}{dotted_of(alias.name)}"
            elif isinstance(node, cst.ClassDef):
                self._classes.add(node.name.value)
        for node in nodes:
            if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call):
                if dotted_of(node.value.func).split(".")[0] in self._classes:
                    self._objects.update(dotted_of(t.target) for t in node.targets)
        self._collect(module.body, self._of[0])
        return self._of

    def _collect(self, statements: Iterable[cst.CSTNode], into: Mentions) -> None:
        """Names of these statements; functions inside them get their own."""
        assert self._of is not None
        todo: list[cst.CSTNode] = list(statements)
        while todo:
            statement = todo.pop()
            for node in self._shallow(statement):
                if isinstance(node, cst.FunctionDef):
                    own = self._of.setdefault(id(node), Mentions())
                    self._collect([node.body], own)
                    if into is not self._of[0]:
                        # What an inner function mentions, the outer one may reach.
                        into.names |= own.names
                        into.wanted = into.wanted or own.wanted
                    todo.extend(d.decorator for d in node.decorators)
                    todo.extend(p.default for p in node.params.params if p.default is not None)
                elif isinstance(node, cst.Name):
                    into.names.add(node.value)
                elif isinstance(node, cst.Call):
                    self._call(node, into)

    def _call(self, node: cst.Call, into: Mentions) -> None:
        dotted = dotted_of(node.func)
        root, _, rest = dotted.partition(".")
        resolved = self._imports.get(root, root) + (f".{rest}" if rest else "")
        if self._wanted(resolved) or self._wanted(dotted):
            into.wanted = True
        for arg in node.args:
            if isinstance(arg.value, cst.Name | cst.Attribute):
                handed = dotted_of(arg.value)
                first, _, more = handed.partition(".")
                if self._wanted(self._imports.get(first, first) + (f".{more}" if more else "")):
                    into.wanted = True
        last = dotted.split(".")[-1]
        if last in ("remote", "bind") and "." in dotted:
            dotted = dotted.removesuffix(f".{last}").removesuffix(".options")
            root, _, rest = dotted.partition(".")
            last = dotted.split(".")[-1]
        if not rest:
            into.called.add(last)
        elif root in ("self", "cls", "super") or root in self._classes or dotted.rpartition(".")[0] in self._objects:
            into.methods.add(last)

    @staticmethod
    def _shallow(node: cst.CSTNode) -> list[cst.CSTNode]:
        """All nodes below, not going into functions."""
        return walk(node, stop=cst.FunctionDef)


def _roots(target: cst.CSTNode) -> list[str]:
    if isinstance(target, cst.Tuple | cst.List):
        return [name for e in target.elements for name in _roots(e.value)]
    name = dotted_of(target).split(".")[0]
    return [name] if name else []
