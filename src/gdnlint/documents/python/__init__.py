"""Python: the calls that launch something, with the values of their arguments.

Nothing that is read is ever run or imported. A module is evaluated abstractly along the one way that a
``World`` decides; what the files do not decide is a hole or a question. The heavy parts (libcst) load when
the first module is read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gdnlint.documents.python.calls import REST, SPREAD, Call, Run, Written, fragment_of
from gdnlint.documents.python.mentions import mentions_call
from gdnlint.source import Fragment
from gdnlint.values import World

if TYPE_CHECKING:
    from gdnlint.documents.python.syntax import Tree
    from gdnlint.project import Project

__all__ = ["REST", "SPREAD", "Call", "Module", "Run", "Written", "fragment_of", "mentions_call"]


class Module:
    """A Python program; parsed once, read in as many worlds as wanted."""

    def __init__(self, fragment: Fragment, *, project: Project | None = None, directory: Path | None = None) -> None:
        """``directory`` is where it runs its absolute imports from: that of the script."""
        self.fragment = fragment
        self._project = project
        self._directory = directory
        self._trees: dict[Path, Tree | None] = {}
        self._tree: Tree | None = None

    def run(self, world: World, wanted: Callable[[str], bool]) -> Run:
        """The calls for which ``wanted(callee)`` holds. Never raises for any text."""
        from gdnlint.documents.python.evaluate import read
        from gdnlint.documents.python.syntax import Tree

        if self._tree is None:
            self._tree = Tree(self.fragment)
        return read(self._tree, world, wanted, project=self._project, directory=self._directory, trees=self._trees)
