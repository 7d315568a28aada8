"""Cheap looks at a Python text before it is really read."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator
from functools import lru_cache

DEEPEST = 120
"""Levels of nesting that are read. Code that people write stays below 30."""
MOST_MARKS = 30_000
"""Line ends and punctuation marks of a text that is read. Files that people write have below 21,000, however long they
are; a text full of nothing else takes libcst seconds and a gigabyte."""
MOST_NODES = 60_000
"""Nodes of what ``ast`` makes of it."""
LONGEST_LINE = 20_000
"""Characters of one logical line that are read when ``ast`` cannot say how deep it is."""

_SKIPPED = re.compile(
    r"#[^\n]*"
    r"|[rRbBuUfFtT]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")",
    re.DOTALL,
)
_NESTED_FSTRING = re.compile(r"\{\s*[rR]?[fF][rR]?['\"]")


class TooDeep(Exception):
    """A text that is nested too deeply to be read."""


class TooLarge(Exception):
    """A text with too much in it to be read."""


def mentions_call(text: str, names: Collection[str]) -> bool:
    """Whether a call's last name, or the name it was imported as, is one of ``names``.

    True as well when ``ast`` of the running Python cannot parse the text.
    """
    if not any(name in text for name in names):
        return False
    try:
        tree = parse_ast(text)
    except (TooDeep, TooLarge):
        return True
    if tree is None:
        return True
    looked_for = set(names)
    nodes = [node for level in levels(tree) for node in level]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            looked_for.update(a.asname for a in node.names if a.asname and a.name in names)
        elif isinstance(node, ast.Assign) and _last(node.value) in names:
            looked_for.update(t.id for t in node.targets if isinstance(t, ast.Name))
    return any(isinstance(node, ast.Call) and _mentioned(node, looked_for) for node in nodes)


def _mentioned(call: ast.Call, names: Collection[str]) -> bool:
    if _last(call.func) in names:
        return True
    # partial(LLM, ...), Thread(target=LLM), (A if x else B)(...): a name handed on is called elsewhere.
    if not isinstance(call.func, ast.Name | ast.Attribute):
        return any(_last(n) in names for n in ast.walk(call.func))
    return any(_last(a) in names for a in call.args)


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return ""


def levels(tree: ast.AST) -> Iterator[list[ast.AST]]:
    """The nodes of a tree, by how deep they lie. Several times as fast as ``ast.walk``."""
    level = [tree]
    while level:
        yield level
        below: list[ast.AST] = []
        for node in level:
            for member in vars(node).values():
                if isinstance(member, ast.AST):
                    below.append(member)
                elif type(member) is list:
                    below.extend(item for item in member if isinstance(item, ast.AST))
        level = below


@lru_cache(maxsize=1)
def parse_ast(text: str) -> ast.Module | None:
    """The tree of ``ast``; None if this Python's grammar refuses the text. Raises TooDeep, TooLarge."""
    if sum(map(text.count, "\n,.:;=([{")) > MOST_MARKS:
        raise TooLarge
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except (RecursionError, MemoryError) as error:
        raise TooDeep from error
    except (SyntaxError, ValueError) as error:
        if "too many nested" in str(error):
            raise TooDeep from error
        return None


def check_depth(text: str, tree: ast.Module | None) -> None:
    """Raises TooDeep for what would exhaust the stack of a recursive reader."""
    if tree is not None:
        if any(depth >= DEEPEST for depth, _ in enumerate(levels(tree))):
            raise TooDeep
        return
    if len(_NESTED_FSTRING.findall(text)) > DEEPEST:
        raise TooDeep
    depth = longest = start = 0
    bare = _SKIPPED.sub("", text)
    for match in re.finditer(r"[(\[{]|[)\]}]|\n", bare):
        char = match.group()
        if char == "\n":
            if depth <= 0:
                longest, start = max(longest, match.start() - start), match.start()
        elif char in "([{":
            depth += 1
            if depth > DEEPEST:
                raise TooDeep
        else:
            depth = max(depth - 1, 0)
    if max(longest, len(bare) - start) > LONGEST_LINE:
        raise TooDeep
