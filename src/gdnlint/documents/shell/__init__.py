"""Bash scripts: which commands they run, in a given world, with which words.

``run`` carries a script out once without executing anything. What the files do not decide is a
hole in a word; the environment variables, arguments and conditions that a run depended on come
back as questions, so that a caller can run the script again with other answers.
"""

from gdnlint.documents.shell.run import Run, run, run_script
from gdnlint.documents.shell.script import Script, fragment_of
from gdnlint.documents.shell.state import Invocation

__all__ = ["Invocation", "Run", "Script", "fragment_of", "run", "run_script"]
