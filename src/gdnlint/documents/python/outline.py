"""What can be said of a module's syntax without evaluating it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from gdnlint.documents.python.syntax import walk

if TYPE_CHECKING:
    from collections.abc import Callable

    from gdnlint.documents.python.cells import Function, Scope
    from gdnlint.documents.python.slicing import Facts, Slice


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


def roots(target: Any) -> list[str]:
    """The first names of what an assignment sets."""
    if isinstance(target, cst.Tuple | cst.List):
        return [name for e in target.elements for name in roots(e.value)]
    name = dotted_of(target).split(".")[0]
    return [name] if name else []


_CHANGING = ("append", "extend", "update", "insert", "pop", "setdefault", "remove")


class Outline:
    """Facts about single nodes, and the order in which to run functions that nobody calls."""

    def __init__(self) -> None:
        self._bodies: dict[int, tuple[str, ...]] = {}
        self._generators: dict[int, bool] = {}

    def assigned(self, body: cst.CSTNode) -> tuple[str, ...]:
        """The names that a block assigns or changes."""
        known = self._bodies.get(id(body))
        if known is None:
            names: list[str] = []
            for node in walk(body):
                if isinstance(node, cst.AssignTarget | cst.AugAssign | cst.AnnAssign | cst.NamedExpr | cst.For):
                    names.extend(roots(node.target))
                elif isinstance(node, cst.ImportAlias):
                    own = node.asname.name if node.asname is not None else node.name
                    names.append(dotted_of(own).split(".")[0])
                elif isinstance(node, cst.FunctionDef | cst.ClassDef):
                    names.append(node.name.value)
                elif (
                    isinstance(node, cst.Call)
                    and isinstance(node.func, cst.Attribute)
                    and node.func.attr.value in _CHANGING
                ):
                    names.extend(roots(node.func.value))
            known = self._bodies[id(body)] = tuple(dict.fromkeys(names))
        return known

    @staticmethod
    def doubtful_import(body: cst.CSTNode, works: Callable[[str, list[str], int, Scope], bool], scope: Scope) -> str:
        """The first import of a block of which it is not sure that it works; empty if there is none."""
        for node in walk(body):
            if isinstance(node, cst.Import):
                for alias in node.names:
                    if not works(dotted_of(alias.name), [], 0, scope):
                        return dotted_of(alias.name)
            elif isinstance(node, cst.ImportFrom):
                names = [] if isinstance(node.names, cst.ImportStar) else [dotted_of(a.name) for a in node.names]
                if not works(dotted_of(node.module), names, len(node.relative), scope):
                    return dotted_of(node.module)
        return ""

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


class Order:
    """Which functions to run although nothing in the module calls them."""

    def __init__(self, facts: Facts, part: Slice) -> None:
        self._facts = facts
        self._part = part
        self._called: dict[int, set[str]] = {}
        self._reached: set[int] = set()
        self._by_name: dict[str, list[int]] = {}
        for key in facts.bodies:
            if key:
                for name in self._names(key):
                    self._by_name.setdefault(name, []).append(key)
        self._left: set[int] = set()
        """The bodies that have been followed."""
        self._spread(0)

    def next(self, defined: dict[int, Function], done: set[int]) -> Function | None:
        """A function with a wanted call that nobody calls, directly or through others; None if all are read."""
        for key in done:
            self._spread(key)
        waiting = [k for k in defined if k in self._part.holding and k not in done and k not in self._reached]
        if not waiting:
            return None
        called = {name for key in waiting for name in self._calls(key, own=False)}
        for key in waiting:
            if self._names(key).isdisjoint(called):
                return defined[key]
        return defined[waiting[0]]

    def _names(self, key: int) -> set[str]:
        """What a call of it looks like."""
        body = self._facts.bodies[key]
        if body.name in ("__init__", "__post_init__"):
            return {body.cls}
        return {f".{body.name}" if body.cls else body.name}

    def _calls(self, key: int, own: bool = True) -> set[str]:
        """The functions (``name``) and methods (``.name``) of the module that a body calls."""
        known = self._called.get(key)
        if known is None:
            known = set()
            body = self._facts.bodies.get(key)
            for fact in body.facts if body is not None else ():
                for dotted in fact.calls:
                    known |= self._callee(dotted)
            self._called[key] = known
        return known if own else known - self._names(key)

    def _callee(self, dotted: str) -> set[str]:
        for suffix in (".remote", ".bind"):
            dotted = dotted.removesuffix(suffix)
        above, _, last = dotted.removesuffix(".options").rpartition(".")
        if not above:
            return {last}
        root = above.split(".")[0]
        if root in ("self", "cls", "super") or root in self._facts.classes or above in self._facts.objects:
            return {f".{last}"}
        return set()

    def _spread(self, start: int) -> None:
        """Mark all that a body leads to."""
        todo = [start]
        while todo:
            key = todo.pop()
            if key in self._left:
                continue
            self._left.add(key)
            for name in self._calls(key):
                for other in self._by_name.get(name, ()):
                    if other not in self._reached:
                        self._reached.add(other)
                        todo.append(other)
