"""Assignments: scalars, arrays, elements, ``+=``."""

from __future__ import annotations

from collections.abc import Sequence

from gdnlint.documents.shell import expand
from gdnlint.documents.shell.state import MOST_WORDS, Shell, Variable, hopped
from gdnlint.documents.shell.syntax import Assignment, Literal, Parameter, Part, Written
from gdnlint.source import Span
from gdnlint.values import Hole, Text, Word


def assign(shell: Shell, node: Assignment, *, local: bool = False) -> None:
    """``name=value``, ``name+=value``, ``name=(...)``, ``name[i]=value``."""
    span = shell.script.span(node.start, node.end)
    if shell.allexport:
        shell.exported.add(node.name)
    if local and node.name not in shell.scopes[-1]:
        shell.declare(node.name, Variable())
    if node.items is not None:
        assign_array(shell, node, span)
        return
    assert node.value is not None
    text = expand.text_of(shell, node.value.parts)
    names = copied(shell, node.value.parts)
    if node.subscript is not None:
        subscript = expand.text_of(shell, node.subscript)
        expand.set_element(shell, node.name, subscript, text, span, append=node.append)
        return
    set_scalar(shell, node.name, text, span, names, append=node.append)
    note_missing(shell, node.name, text, names)


def note_missing(shell: Shell, name: str, text: Text, names: frozenset[str]) -> None:
    """Remembers that a variable is empty only because what it copies is not set (``MODEL=${MODEL:-}``)."""
    if text.known != "" or not names:
        return
    origin = min(names)
    if origin.startswith("arg:-"):
        shell.tainted[name] = Hole(f"the option {origin[4:]} of the script", origin)
    elif origin.startswith("arg:"):
        shell.tainted[name] = Hole(f"argument {origin[4:]} of the script", origin)
    else:
        shell.tainted[name] = Hole(f"the environment variable {origin}", origin)


def set_scalar(
    shell: Shell, name: str, text: Text, span: Span, names: frozenset[str] = frozenset(), *, append: bool = False
) -> None:
    before = shell.find(name)
    if before is not None and before.integer:
        if append:
            text = (before.scalar or Text()) + Text.of("+") + text
        value = expand.arithmetic(shell, text, span)
        text = Text.of(str(value) if isinstance(value, int) else value, span)
    elif append:
        if before is None:
            earlier = shell.environment(name, span) or Text()
        else:
            earlier = before.scalar or Text()
        text = earlier + hopped(text, name, span)
        names = frozenset()
        if before is not None and before.scalar is not None and before.items is None and before.keys is None:
            shell.put(name, Variable(shell.bounded(text, span)))
            return
    shell.set_text(name, text, span, names)


def assign_array(shell: Shell, node: Assignment, span: Span) -> None:
    assert node.items is not None
    before = shell.find(node.name)
    if before is not None and before.keys is not None:
        keys = dict(before.keys) if node.append else {}
        for item in node.items:
            if item.subscript is not None:
                key = expand.text_of(shell, item.subscript).known
                if key is None:
                    shell.put(node.name, Variable(hole=Hole(f"the keys of {node.name}")))
                    return
                keys[key] = hopped(expand.text_of(shell, item.value.parts), node.name, span)
        shell.counted(len(keys), span)
        shell.put(node.name, Variable(keys=keys))
        return
    items: dict[int, Word] = {}
    if node.append and before is not None:
        if before.hole is not None:
            return
        items = before.members(span)
    at = max(items, default=-1) + 1
    for item in node.items:
        if item.subscript is not None:
            index = expand.arithmetic(shell, expand.text_of(shell, item.subscript), span)
            if isinstance(index, Hole):
                shell.put(node.name, Variable(hole=index))
                return
            at = index
            items[at] = Word(hopped(expand.text_of(shell, item.value.parts), node.name, span), span)
            at += 1
            continue
        for word in expand.expand(shell, item.value):
            items[at] = Word(hopped(word.text, node.name, span), word.span, word.spread)
            at += 1
    shell.counted(len(items) // 8 + 1, span)
    if len(items) > MOST_WORDS:
        shell.counted(len(items), span)
    shell.put(node.name, Variable(items=items))


def copied(shell: Shell, parts: Sequence[Part], depth: int = 0) -> frozenset[str]:
    """What a value is a copy of, if it is nothing but one variable."""
    if len(parts) != 1 or not isinstance(parts[0], Parameter) or depth > 5:
        return frozenset()
    part = parts[0]
    if part.operator not in ("", ":-", "-", ":=", "=", ",,", "^^", ":?", "?") or part.length or part.indirect:
        return frozenset()
    if part.subscript is not None:
        return frozenset()
    found = expand.origins(shell, part)
    if part.operator in (":-", "-", ":=", "="):
        found |= copied(shell, part.argument, depth + 1)
    return found


def looks_assigning(written: Written) -> bool:
    first = written.parts[0] if written.parts else None
    return (
        isinstance(first, Literal)
        and not first.quoted
        and "=" in first.text[1:]
        and (first.text.partition("=")[0].rstrip("+").isidentifier())
    )
