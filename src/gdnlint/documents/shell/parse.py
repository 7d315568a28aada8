"""Bash text to statements.

Written for text that may be broken or hostile: it never raises for it, keeps what it understood,
takes time in proportion to the text and stops at a depth. A generated parser is not used because
words are the hard part of bash (``${X:-{"a": 1}}`` is beyond tree-sitter-bash 0.25.1) and
because its time and memory grow with the square of the text for inputs as plain as ``x | x | x``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gdnlint.documents.shell.syntax import (
    Arithmetic,
    Assignment,
    Background,
    Binary,
    Both,
    Calculation,
    Case,
    Chain,
    Condition,
    Count,
    Either,
    Element,
    For,
    Function,
    Group,
    If,
    Literal,
    Node,
    Not,
    Parameter,
    Part,
    Pipeline,
    Process,
    Redirect,
    Simple,
    Substitution,
    Test,
    Unary,
    While,
    Written,
)

DEEPEST = 40
"""How deep statements, quotes and expansions may be nested."""

_BLANKS = re.compile(r"(?:[ \t]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_KEYWORD = re.compile(
    r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|time|coproc|\{|\}|!|\[\[)"
    r"(?=[ \t\n;&|()<>]|\\\n|\Z)"
)
_CLOSERS = frozenset(("then", "elif", "else", "fi", "do", "done", "esac", "}"))
_FUNCTION = re.compile(r"([^ \t\n|&;<>()$`\"'\\={}#][^ \t\n|&;<>()$`\"'\\={}]*)[ \t]*\([ \t]*\)")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:(\+?=)|(?=\[))")
_REDIRECT = re.compile(r"(\d+(?=[<>])|\{[A-Za-z_]\w*\}(?=[<>]))?(&>>|&>|<<<|<<-|<<|<&|<>|<(?!\()|>&|>>|>\||>(?!\())")
_PLAIN = re.compile(r"[^ \t\n|&;<>()$`\"'\\]+")
_QUOTED_PLAIN = re.compile(r"[^\"$`\\]+")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_SIMPLE_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")
_OPERATOR = re.compile(r":[-=+?]|[-=+?]|##?|%%?|/[/#%]?|\^\^?|,,?|:|@(?=[A-Za-z]\})")
_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.))",
    re.DOTALL,
)
_ESCAPES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_WORD_END = " \t\n|&;<>()"
_DECLARATIONS = frozenset(("declare", "typeset", "local", "export", "readonly"))
_CONDITION_END = re.compile(r"\]\](?=[ \t\n;&|()<>]|\Z)")
_UNARY = frozenset("-" + letter for letter in "abcdefghknoprstuvwxzGLNORS")
_BINARY = frozenset(("==", "=", "!=", "=~", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-ef", "-nt", "-ot"))


MOST_PARTS = 120_000
"""Parts of words that are read; a script with more is cut there."""
LONGEST_ARITHMETIC = 10_000
"""Characters within which ``((`` must find its ``))``."""


class TooDeep(Exception):
    """The text nests deeper than ``DEEPEST``."""


class TooLarge(Exception):
    """The text has more than ``MOST_PARTS``."""


@dataclass
class Parsed:
    nodes: list[Node]
    broken: list[int]
    """Offsets at which the text is not bash, in order."""
    limit: str
    """``too-deep`` or ``too-large`` if reading stopped there, else empty."""


@dataclass
class _Heredoc:
    redirect: Redirect
    delimiter: str
    tabs: bool


def parse(text: str) -> Parsed:
    """The statements of a script. Line ends are LF."""
    parser = _Parser(text)
    nodes: list[Node] = []
    limit = ""
    try:
        parser.statements(nodes, frozenset())
    except (TooDeep, RecursionError):
        limit = "too-deep"
    except TooLarge:
        limit = "too-large"
    return Parsed(nodes, sorted(parser.broken), limit)


@dataclass
class _Parser:
    text: str
    at: int = 0
    end: int = -1
    depth: int = 0
    spent: int = 0
    broken: set[int] = field(default_factory=set)
    pending: list[_Heredoc] = field(default_factory=list)
    waiting: list[frozenset[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.end < 0:
            self.end = len(self.text)

    # Between tokens

    def enter(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeep

    def leave(self) -> None:
        self.depth -= 1

    def peek(self) -> str:
        return self.text[self.at] if self.at < self.end else ""

    def starts(self, text: str) -> bool:
        return self.text.startswith(text, self.at, self.end)

    def wrong(self, at: int | None = None) -> None:
        self.broken.add(self.at if at is None else at)

    def blanks(self) -> None:
        found = _BLANKS.match(self.text, self.at, self.end)
        if found is not None:
            self.at = found.end()
        if self.peek() == "\\" and self.at + 1 >= self.end:
            self.at = self.end

    def newline(self) -> None:
        self.at += 1
        if self.pending:
            waiting, self.pending = self.pending, []
            for heredoc in waiting:
                self.heredoc(heredoc)

    def gap(self) -> None:
        """Blanks, comments and line ends."""
        while self.at < self.end:
            self.blanks()
            char = self.peek()
            if char == "\n":
                self.newline()
            elif char == "#":
                self.comment()
            else:
                return

    def comment(self) -> None:
        found = _COMMENT.match(self.text, self.at, self.end)
        if found is not None:
            self.at = found.end()

    def keyword(self) -> str:
        found = _KEYWORD.match(self.text, self.at, self.end)
        return found.group() if found is not None else ""

    def expect(self, keyword: str, opened: int) -> bool:
        self.gap()
        if self.keyword() == keyword:
            self.at += len(keyword)
            return True
        self.wrong(opened)
        return False

    # Statements

    def statements(self, nodes: list[Node], stop: frozenset[str]) -> None:
        """Appends statements up to a keyword of ``stop``, ``)`` or ``;;`` where these are in ``stop``."""
        self.enter()
        self.waiting.append(stop)
        while True:
            self.gap()
            char = self.peek()
            if not char:
                break
            if char == ")":
                if self.awaited(")"):
                    break
                self.wrong()
                self.at += 1
                continue
            if char == ";":
                if self.text.startswith((";;", ";&"), self.at) and self.awaited(";;"):
                    break
                self.wrong()
                self.at += 1
                continue
            if char == "|" or (char == "&" and not self.starts("&>")):
                self.wrong()
                self.at += 1
                continue
            keyword = self.keyword()
            if keyword in _CLOSERS:
                if self.awaited(keyword):
                    break
                self.wrong()
                self.at += len(keyword)
                continue
            before = self.at
            node = self.chain()
            self.blanks()
            if self.peek() == ";" and not self.text.startswith((";;", ";&"), self.at):
                self.at += 1
            elif self.peek() == "&" and not self.starts("&&") and not self.starts("&>"):
                node = Background(node.start, node.end, node)
                self.at += 1
            if self.at == before:
                self.wrong()
                self.at += 1
                continue
            nodes.append(node)
        self.waiting.pop()
        self.leave()

    def awaited(self, token: str) -> bool:
        """Whether an open construct waits for a token; an inner one that does not is left unclosed."""
        return any(token in stop for stop in reversed(self.waiting))

    def block(self, *stop: str) -> list[Node]:
        nodes: list[Node] = []
        self.statements(nodes, frozenset(stop))
        return nodes

    def chain(self) -> Node:
        start = self.at
        items: list[tuple[str, Node]] = [("", self.pipeline())]
        while True:
            self.blanks()
            operator = self.text[self.at : self.at + 2]
            if operator not in ("&&", "||") or self.at + 2 > self.end:
                break
            self.at += 2
            self.gap()
            items.append((operator, self.pipeline()))
        if len(items) == 1:
            return items[0][1]
        return Chain(start, items[-1][1].end, items)

    def pipeline(self) -> Node:
        start = self.at
        negated = False
        while True:
            keyword = self.keyword()
            if keyword == "!":
                negated = not negated
            elif keyword not in ("time", "coproc"):
                break
            self.at += len(keyword)
            self.blanks()
            if keyword == "time" and self.starts("-p "):
                self.at += 3
                self.blanks()
        items = [self.command()]
        while True:
            self.blanks()
            if self.peek() != "|" or self.starts("||"):
                break
            self.at += 2 if self.starts("|&") else 1
            self.gap()
            items.append(self.command())
        if len(items) == 1 and not negated:
            return items[0]
        return Pipeline(start, items[-1].end, items, negated)

    def command(self) -> Node:
        start = self.at
        keyword = self.keyword()
        if keyword in ("if", "for", "select", "while", "until", "case", "{", "[[", "function"):
            return self.compound(keyword, start)
        if self.peek() == "(":
            if self.starts("(("):
                body = self.double_parentheses(self.at + 2)
                if body is not None:
                    node = Calculation(start, self.at, body, [])
                    node.redirects = self.redirects()
                    return node
            self.at += 1
            inner = self.block(")")
            self.close(")", start)
            group = Group(start, self.at, inner, True, [])
            group.redirects = self.redirects()
            return group
        found = _FUNCTION.match(self.text, self.at, self.end)
        if found is not None:
            self.at = found.end()
            return self.function(start, found.group(1))
        return self.simple()

    def close(self, char: str, opened: int) -> None:
        if self.peek() == char:
            self.at += 1
        else:
            self.wrong(opened)

    def function(self, start: int, name: str) -> Node:
        self.gap()
        if self.at >= self.end:
            self.wrong(start)
            return Simple(start, self.at, [], [], [])
        self.enter()
        body = self.command()
        self.leave()
        return Function(start, body.end, name, body)

    def compound(self, keyword: str, start: int) -> Node:
        self.at += len(keyword)
        node: Node
        if keyword == "{":
            inner = self.block("}")
            self.expect("}", start)
            node = Group(start, self.at, inner, False, [])
        elif keyword == "if":
            node = self.if_(start)
        elif keyword in ("while", "until"):
            test = self.block("do")
            body = self.do(start)
            node = While(start, self.at, test, keyword == "until", body, [])
        elif keyword in ("for", "select"):
            node = self.for_(start)
        elif keyword == "case":
            node = self.case(start)
        elif keyword == "[[":
            node = self.test(start)
        else:
            self.blanks()
            found = re.compile(r"[^ \t\n|&;<>()]+").match(self.text, self.at, self.end)
            if found is None:
                self.wrong(start)
                return self.simple()
            self.at = found.end()
            self.blanks()
            parentheses = re.compile(r"\([ \t]*\)").match(self.text, self.at, self.end)
            if parentheses is not None:
                self.at = parentheses.end()
            return self.function(start, found.group())
        node.redirects = self.redirects()
        return node

    def do(self, start: int) -> list[Node]:
        self.gap()
        if self.keyword() == "{":
            self.at += 1
            body = self.block("}")
            self.expect("}", start)
            return body
        self.expect("do", start)
        body = self.block("done")
        self.expect("done", start)
        return body

    def if_(self, start: int) -> If:
        clauses: list[tuple[list[Node], list[Node]]] = []
        otherwise: list[Node] = []
        while True:
            test = self.block("then", "fi")
            self.expect("then", start)
            clauses.append((test, self.block("elif", "else", "fi")))
            self.gap()
            if self.keyword() != "elif":
                break
            self.at += 4
        if self.keyword() == "else":
            self.at += 4
            otherwise = self.block("fi")
        self.expect("fi", start)
        return If(start, self.at, clauses, otherwise, [])

    def for_(self, start: int) -> For | Count:
        self.blanks()
        if self.starts("(("):
            return self.count(start)
        found = _NAME.match(self.text, self.at, self.end)
        if found is None:
            self.wrong(start)
            return For(start, self.at, "_", (start, self.at), [], self.do(start), [])
        self.at = found.end()
        self.gap()
        words: list[Written] | None = None
        if re.compile(r"in(?=[ \t\n;]|\\\n|\Z)").match(self.text, self.at, self.end):
            self.at += 2
            words = []
            while True:
                self.blanks()
                if self.peek() in ("", "\n", ";", "&", "|", ")", "(", "<", ">"):
                    break
                if self.peek() == "#":
                    self.comment()
                    break
                words.append(self.word())
        head = (start, words[-1].end if words else found.end())
        self.blanks()
        if self.peek() == ";":
            self.at += 1
        body = self.do(start)
        return For(start, self.at, found.group(), head, words, body, [])

    def count(self, start: int) -> Count:
        self.at += 2
        clauses: list[list[Part]] = []
        for _ in range(3):
            clauses.append(self.arithmetic_until(";"))
            if self.peek() == ";":
                self.at += 1
        if self.starts("))"):
            self.at += 2
        else:
            self.wrong(start)
        self.blanks()
        if self.peek() == ";":
            self.at += 1
        return Count(start, self.at, clauses[0], clauses[1], clauses[2], self.do(start), [])

    def case(self, start: int) -> Case:
        self.blanks()
        word = self.word()
        self.gap()
        if re.compile(r"in(?=[ \t\n;]|\\\n|\Z)").match(self.text, self.at, self.end):
            self.at += 2
        else:
            self.wrong(start)
        items: list[tuple[list[Written], list[Node], str]] = []
        while True:
            self.gap()
            if self.at >= self.end or self.keyword() == "esac":
                break
            before = self.at
            patterns = self.patterns()
            body = self.block("esac", ";;")
            ending = next((e for e in (";;&", ";;", ";&") if self.starts(e)), "")
            self.at += len(ending)
            items.append((patterns, body, ending or ";;"))
            if self.at == before:
                self.wrong()
                self.at += 1
        self.expect("esac", start)
        return Case(start, self.at, word, items, [])

    def patterns(self) -> list[Written]:
        if self.peek() == "(":
            self.at += 1
        found: list[Written] = []
        while True:
            self.blanks()
            before = self.at
            found.append(self.word())
            self.blanks()
            if self.peek() == "|":
                self.at += 1
            elif self.peek() == ")":
                self.at += 1
                return found
            elif self.at == before or self.at >= self.end or self.peek() == "\n":
                self.wrong(before)
                return found
            elif self.peek() in "(&;<>":
                self.wrong()
                self.at += 1

    # Simple commands

    def simple(self) -> Simple:
        start = self.at
        assignments: list[Assignment] = []
        words: list[Written | Assignment] = []
        redirects: list[Redirect] = []
        declares = False
        end = start
        while True:
            self.blanks()
            char = self.peek()
            if char in ("", "\n", ";", "|", ")"):
                break
            if char == "#":
                self.comment()
                break
            if char in "<>&0123456789{":
                redirect = self.redirect()
                if redirect is not None:
                    redirects.append(redirect)
                    continue
            if char == "&":
                break
            if char == "(":
                self.wrong()
                self.at += 1
                continue
            if not words or declares:
                assignment = self.assignment(whole=not words)
                if assignment is not None:
                    end = assignment.end
                    if words:
                        words.append(assignment)
                    else:
                        assignments.append(assignment)
                    continue
            word = self.word()
            if word.end == word.start:
                self.wrong()
                self.at += 1
                continue
            end = word.end
            words.append(word)
            if len(words) == 1:
                declares = self.text[word.start : word.end] in _DECLARATIONS
        return Simple(start, max(end, start), assignments, words, redirects)

    def assignment(self, whole: bool) -> Assignment | None:
        """An assignment at the cursor; with ``whole`` false only one of an array."""
        found = _ASSIGNMENT.match(self.text, self.at, self.end)
        if found is None:
            return None
        start = self.at
        subscript: list[Part] | None = None
        operator = found.group(2)
        after = found.end()
        if operator is None:
            closing = self.text.find("]", after, min(self.end, after + 400))
            operator = "=" if closing >= 0 and self.text.startswith("]=", closing) else "+="
            after = closing + 1 + len(operator)
            if closing < 0 or not self.text.startswith(operator, closing + 1) or "\n" in self.text[start:closing]:
                return None
            self.at = found.end() + 1
            subscript = self.parts("]", True)
        name = found.group(1)
        self.at = after
        if self.peek() == "(":
            items = self.array(start)
            return Assignment(start, self.at, name, subscript, operator == "+=", None, items)
        if not whole:
            self.at = start
            return None
        value = self.word()
        return Assignment(start, self.at, name, subscript, operator == "+=", value, None)

    def array(self, start: int) -> list[Element]:
        self.at += 1
        items: list[Element] = []
        while True:
            self.gap()
            char = self.peek()
            if not char:
                self.wrong(start)
                return items
            if char == ")":
                self.at += 1
                return items
            subscript: list[Part] | None = None
            if char == "[":
                closing = re.compile(r"\[[^\n]{0,400}?\]=").match(self.text, self.at, self.end)
                if closing is not None:
                    self.at += 1
                    subscript = self.parts("]", True)
                    self.at = closing.end()
            word = self.word()
            if word.start == word.end and subscript is None:
                self.wrong()
                self.at += 1
                continue
            items.append(Element(subscript, word))

    def redirects(self) -> list[Redirect]:
        found: list[Redirect] = []
        while True:
            before = self.at
            self.blanks()
            redirect = self.redirect()
            if redirect is None:
                self.at = before
                return found
            found.append(redirect)

    def redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.at, self.end)
        if found is None:
            return None
        start = self.at
        self.at = found.end()
        operator = found.group(2)
        self.blanks()
        word = self.word()
        redirect = Redirect(start, self.at, operator, found.group(1) or "", word)
        if word.start == word.end:
            self.wrong(start)
            return redirect
        if operator in ("<<", "<<-"):
            redirect.target = None
            raw = self.text[word.start : word.end]
            redirect.literal = any(c in raw for c in "'\"\\")
            delimiter = "".join(p.text if isinstance(p, Literal) else self.text[p.start : p.end] for p in word.parts)
            self.pending.append(_Heredoc(redirect, delimiter, operator == "<<-"))
        return redirect

    def heredoc(self, heredoc: _Heredoc) -> None:
        """Reads a here-document's body; the cursor stands at the start of its first line."""
        lines: list[tuple[int, int]] = []
        text = self.text
        while True:
            if self.at >= self.end:
                self.wrong(heredoc.redirect.start)
                break
            stop = text.find("\n", self.at, self.end)
            stop = self.end if stop < 0 else stop
            start = self.at
            if heredoc.tabs:
                while start < stop and text[start] == "\t":
                    start += 1
            self.at = min(stop + 1, self.end)
            if stop - start == len(heredoc.delimiter) and text.startswith(heredoc.delimiter, start):
                break
            lines.append((start, self.at))
        after = self.at
        parts = heredoc.redirect.body
        if not heredoc.tabs and lines:
            lines = [(lines[0][0], lines[-1][1])]
        outer = self.end
        for start, stop in lines:
            if heredoc.redirect.literal:
                parts.append(Literal(start, stop, text[start:stop], True))
                continue
            self.at, self.end = start, stop
            parts.extend(self.parts("", True, heredoc=True))
        self.end = outer
        self.at = after

    # Words

    def word(self, end: str = _WORD_END) -> Written:
        start = self.at
        parts = self.parts(end, False)
        return Written(start, self.at, parts)

    def parts(self, stop: str, quoted: bool, *, heredoc: bool = False) -> list[Part]:
        """Parts up to a character of ``stop``.

        ``quoted``: the text stands in double quotes. ``heredoc``: quotes mean nothing.
        """
        text, end = self.text, self.end
        out: list[Part] = []
        plain = _PLAIN if stop is _WORD_END else _plain_until(stop, heredoc)
        self.spent += 1
        while self.at < end:
            self.spent += 1
            if self.spent > MOST_PARTS:
                raise TooLarge
            found = plain.match(text, self.at, end)
            if found is not None:
                out.append(Literal(self.at, found.end(), found.group(), quoted))
                self.at = found.end()
                if self.at >= end:
                    break
            char = text[self.at]
            if char in stop:
                if char == "(" and stop is _WORD_END and self.extended_glob(out):
                    continue
                if char in "<>" and stop is _WORD_END and text.startswith("(", self.at + 1) and self.at + 1 < end:
                    self.process(out)
                    continue
                break
            if char == "\\":
                self.backslash(out, quoted, heredoc, stop)
            elif char == "$":
                self.dollar(out, quoted)
            elif char == "`":
                self.backquote(out, quoted)
            elif char == '"' and not heredoc:
                self.double_quotes(out)
            elif char == "'" and not heredoc and not quoted:
                self.single_quotes(out)
            else:
                out.append(Literal(self.at, self.at + 1, char, quoted))
                self.at += 1
        return out

    def backslash(self, out: list[Part], quoted: bool, heredoc: bool, stop: str) -> None:
        at = self.at
        following = self.text[at + 1 : at + 2] if at + 1 < self.end else ""
        self.at += 2 if following else 1
        if following == "\n":
            return
        if not following:
            out.append(Literal(at, at + 1, "\\", True))
            return
        if not quoted or following in "$`\\" or (following == '"' and not heredoc) or following in stop:
            out.append(Literal(at + 1, at + 2, following, True))
        else:
            out.append(Literal(at, at + 2, "\\" + following, True))

    def single_quotes(self, out: list[Part]) -> None:
        start = self.at
        closing = self.text.find("'", start + 1, self.end)
        if closing < 0:
            self.unclosed(out)
            return
        out.append(Literal(start + 1, closing, self.text[start + 1 : closing], True))
        self.at = closing + 1

    def double_quotes(self, out: list[Part]) -> None:
        start = self.at
        self.enter()
        self.at += 1
        inner = self.parts('"', True)
        self.leave()
        if self.peek() != '"':
            self.at = start
            self.unclosed(out)
            return
        self.at += 1
        out.extend(inner or [Literal(start + 1, start + 1, "", True)])

    def unclosed(self, out: list[Part]) -> None:
        """A quote that nothing closes: the rest of its line is taken as it is."""
        start = self.at
        self.wrong(start)
        stop = self.text.find("\n", start, self.end)
        stop = self.end if stop < 0 else stop
        out.append(Literal(start, stop, self.text[start:stop], True))
        self.at = stop

    def extended_glob(self, out: list[Part]) -> bool:
        """``@(a|b)`` in a word."""
        last = out[-1] if out else None
        if not isinstance(last, Literal) or last.quoted or last.text[-1:] not in ("?", "*", "+", "@", "!"):
            return False
        self.enter()
        out.append(Literal(self.at, self.at + 1, "(", False))
        self.at += 1
        out.extend(self.parts(")", False))
        self.leave()
        if self.peek() == ")":
            out.append(Literal(self.at, self.at + 1, ")", False))
            self.at += 1
        return True

    def process(self, out: list[Part]) -> None:
        start = self.at
        self.at += 2
        self.nested()
        self.close(")", start)
        out.append(Process(start, self.at))

    def nested(self) -> list[Node]:
        """Statements up to the ``)`` of a substitution."""
        pending, self.pending = self.pending, []
        waiting, self.waiting = self.waiting, []
        nodes = self.block(")")
        self.pending, self.waiting = pending + self.pending, waiting
        return nodes

    def backquote(self, out: list[Part], quoted: bool) -> None:
        start = self.at
        at = start + 1
        while at < self.end and self.text[at] != "`":
            at += 2 if self.text[at] == "\\" else 1
        if at >= self.end:
            self.unclosed(out)
            return
        self.enter()
        outer, waiting, pending = self.end, self.waiting, self.pending
        self.at, self.end, self.waiting, self.pending = start + 1, at, [], []
        nodes = self.block()
        self.at, self.end, self.waiting, self.pending = at + 1, outer, waiting, pending
        self.leave()
        out.append(Substitution(start, self.at, nodes, quoted))

    def dollar(self, out: list[Part], quoted: bool) -> None:
        start = self.at
        following = self.text[start + 1 : start + 2] if start + 1 < self.end else ""
        if following == "(":
            self.enter()
            if self.text.startswith("((", start + 1):
                body = self.double_parentheses(start + 3)
                if body is not None:
                    out.append(Arithmetic(start, self.at, body, quoted))
                    self.leave()
                    return
            self.at = start + 2
            nodes = self.nested()
            self.close(")", start)
            out.append(Substitution(start, self.at, nodes, quoted))
            self.leave()
        elif following == "{":
            self.enter()
            self.brace(out, quoted)
            self.leave()
        elif following == "'" and not quoted:
            self.ansi(out)
        elif following == '"' and not quoted:
            self.at += 1
        elif following == "[":
            self.enter()
            self.at = start + 2
            inner = self.parts("]", True)
            self.close("]", start)
            out.append(Arithmetic(start, self.at, inner, quoted))
            self.leave()
        else:
            found = _SIMPLE_PARAMETER.match(self.text, start + 1, self.end)
            if found is None:
                out.append(Literal(start, start + 1, "$", quoted))
                self.at += 1
                return
            self.at = found.end()
            out.append(Parameter(start, self.at, found.group(), quoted))

    def ansi(self, out: list[Part]) -> None:
        """``$'...'``."""
        start = self.at
        at = start + 2
        text = self.text
        pieces: list[Part] = []
        run = at
        while at < self.end and text[at] != "'":
            if text[at] != "\\":
                at += 1
                continue
            if at > run:
                pieces.append(Literal(run, at, text[run:at], True))
            found = _ESCAPE.match(text, at, self.end)
            if found is None:
                pieces.append(Literal(at, min(at + 2, self.end), text[at : at + 2], True))
                at += 2
            else:
                pieces.append(Literal(at, found.end(), _escaped(found), True))
                at = found.end()
            run = at
        if at >= self.end:
            self.at = start + 1
            self.unclosed(out)
            return
        if at > run or not pieces:
            pieces.append(Literal(run, at, text[run:at], True))
        self.at = at + 1
        out.extend(pieces)

    def brace(self, out: list[Part], quoted: bool) -> None:
        start = self.at
        self.at += 2
        made = Parameter(start, start, "", quoted)
        following = self.text[self.at : self.at + 2]
        if following[:1] == "#" and following not in ("#}", "##", "#%", "#:", "#-", "#+", "#=", "#?", "#/"):
            made.length = True
            self.at += 1
        elif following[:1] == "!" and following not in ("!}", "!:", "!-", "!+", "!=", "!?"):
            made.indirect = True
            self.at += 1
        found = _PARAMETER.match(self.text, self.at, self.end)
        if found is None:
            self.bad(out, made, quoted)
            return
        made.name = found.group()
        self.at = found.end()
        if self.peek() == "[":
            self.at += 1
            made.subscript = self.parts("]", True)
            self.close("]", start)
        operator = _OPERATOR.match(self.text, self.at, self.end)
        if made.indirect and self.text[self.at : self.at + 2] in ("*}", "@}"):
            made.operator = "names"
            self.at += 1
        elif operator is not None:
            made.operator = operator.group()
            self.at = operator.end()
            self.operands(made, quoted)
        if self.peek() != "}":
            self.bad(out, made, quoted)
            return
        self.at += 1
        made.end = self.at
        out.append(made)

    def operands(self, made: Parameter, quoted: bool) -> None:
        """What stands behind the operator. Patterns have quotes of their own, even inside of double quotes."""
        operator = made.operator
        if operator == "@":
            self.at += 1
        elif operator[0] == "/":
            made.argument = self.parts("/}", False)
            if self.peek() == "/":
                self.at += 1
                made.has_replacement = True
                made.replacement = self.parts("}", False)
        elif operator == ":":
            made.argument = self.parts(":}", True)
            if self.peek() == ":":
                self.at += 1
                made.has_replacement = True
                made.replacement = self.parts("}", True)
        else:
            made.argument = self.parts("}", quoted and operator[0] not in "#%^,")

    def bad(self, out: list[Part], made: Parameter, quoted: bool) -> None:
        """An expansion that bash would reject; read up to its brace so that what follows is not lost."""
        self.wrong(made.start)
        made.operator = "bad"
        self.parts("}\n", quoted)
        if self.peek() == "}":
            self.at += 1
        made.end = self.at
        out.append(made)

    # Arithmetic

    def double_parentheses(self, start: int) -> list[Part] | None:
        """The text up to ``))``, None (cursor back at the start) if the parentheses do not pair up so."""
        before, broken = self.at, set(self.broken)
        self.at = start
        body = self.arithmetic_until("")
        if self.starts("))"):
            self.at += 2
            return body
        self.at, self.broken = before, broken
        return None

    def arithmetic_until(self, stop: str) -> list[Part]:
        """Up to ``stop`` or an unpaired ``)``."""
        out: list[Part] = []
        level = 0
        limit = min(self.end, self.at + LONGEST_ARITHMETIC)
        self.enter()
        while self.at < limit:
            out.extend(self.parts("()" + stop, True))
            char = self.peek()
            if char == "(":
                level += 1
            elif char == ")" and level:
                level -= 1
            else:
                break
            out.append(Literal(self.at, self.at + 1, char, True))
            self.at += 1
        self.leave()
        return out

    # [[ ... ]]

    def test(self, start: int) -> Test:
        condition = self.either()
        self.gap()
        if self.starts("]]"):
            self.at += 2
            return Test(start, self.at, condition, [])
        self.wrong(start)
        closing = self.text.find("]]", self.at, self.end)
        line = self.text.find("\n", self.at, self.end)
        if closing >= 0 and (line < 0 or closing < line):
            self.at = closing + 2
        return Test(start, self.at, None, [])

    def either(self) -> Condition | None:
        self.enter()
        left = self.both()
        while left is not None:
            self.gap()
            if not self.starts("||"):
                break
            self.at += 2
            right = self.both()
            left = Either(left, right) if right is not None else None
        self.leave()
        return left

    def both(self) -> Condition | None:
        left = self.term()
        while left is not None:
            self.gap()
            if not self.starts("&&"):
                break
            self.at += 2
            right = self.term()
            left = Both(left, right) if right is not None else None
        return left

    def term(self) -> Condition | None:
        self.gap()
        negated = False
        while self.keyword() == "!":
            negated = not negated
            self.at += 1
            self.gap()
        made: Condition | None
        if self.peek() == "(":
            self.at += 1
            made = self.either()
            self.gap()
            if self.peek() != ")":
                return None
            self.at += 1
        else:
            made = self.comparison()
        return Not(made) if negated and made is not None else made

    def comparison(self) -> Condition | None:
        first = self.operand()
        if first is None:
            return None
        self.blanks()
        raw = self.text[first.start : first.end]
        if raw in _UNARY and not self.at_condition_end():
            operand = self.operand()
            return Unary(raw, operand) if operand is not None else None
        if self.at_condition_end():
            return Unary("-n", first)
        if self.peek() in ("<", ">"):
            operator = self.peek()
            self.at += 1
        else:
            word = self.operand()
            operator = self.text[word.start : word.end] if word is not None else ""
            if operator not in _BINARY:
                return None
        self.gap()
        right = self.regular_expression() if operator == "=~" else self.operand()
        return Binary(operator, first, right) if right is not None else None

    def at_condition_end(self) -> bool:
        self.gap()
        return (
            self.at >= self.end
            or self.text.startswith(("&&", "||", ")"), self.at)
            or _CONDITION_END.match(self.text, self.at, self.end) is not None
        )

    def operand(self) -> Written | None:
        self.gap()
        if _CONDITION_END.match(self.text, self.at, self.end):
            return None
        word = self.word()
        return word if word.end > word.start else None

    def regular_expression(self) -> Written | None:
        """A pattern may hold parentheses and bars; it ends at a blank outside of them."""
        start = self.at
        parts: list[Part] = []
        level = 0
        self.enter()
        while self.at < self.end:
            parts.extend(self.parts(" \t\n()", False))
            char = self.peek()
            if char == "(":
                level += 1
            elif char == ")" and level:
                level -= 1
            elif char in (" ", "\t") and level:
                pass
            else:
                break
            parts.append(Literal(self.at, self.at + 1, char, False))
            self.at += 1
        self.leave()
        return Written(start, self.at, parts) if self.at > start else None


_PLAIN_CACHE: dict[tuple[str, bool], re.Pattern[str]] = {}


def _plain_until(stop: str, heredoc: bool) -> re.Pattern[str]:
    """Runs of characters that mean nothing before one of ``stop``."""
    key = (stop, heredoc)
    if key not in _PLAIN_CACHE:
        quotes = "" if heredoc else "\"'"
        if stop == '"':
            quotes = '"'
        _PLAIN_CACHE[key] = re.compile("[^" + re.escape(stop + quotes + "$`\\") + "]+")
    return _PLAIN_CACHE[key]


def _escaped(found: re.Match[str]) -> str:
    simple, octal, hexadecimal, short, long, control = found.groups()
    if simple is not None:
        return _ESCAPES[simple]
    if control is not None:
        return chr(ord(control) & 0x1F)
    number = int(octal, 8) & 0xFF if octal else int(hexadecimal or short or long, 16)
    return chr(number) if 0 < number < 0x110000 and not 0xD800 <= number < 0xE000 else ""
