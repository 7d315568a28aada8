"""Launches in the code fences of documentation: each fence is a launch of its own, never joined with another."""

from __future__ import annotations

import re
from dataclasses import replace

from gdnlint.documents.markdown import fences
from gdnlint.documents.shell import Script
from gdnlint.launches import scripts
from gdnlint.launches.context import Context
from gdnlint.launches.model import Launch
from gdnlint.source import Fragment, Source

SHELL = frozenset({"", "bash", "sh", "shell", "console", "zsh", "shell-session", "text"})
_ELIDED = re.compile(r"(?:^|\s)(?:\.\.\.|…)(?:\s|\\|$)|<[A-Za-z][\w :.-]*>", re.MULTILINE)


def launches(source: Source, context: Context) -> list[Launch]:
    """The launches in a page's shell fences."""
    found: list[Launch] = []
    for fence in fences(Fragment.whole(source)):
        if fence.language not in SHELL or not any(word in fence.body.text for word in context.knowledge.words):
            continue
        elided = _ELIDED.search(fence.body.text)
        reason = f"what {elided.group(0).strip()} stands for in the example" if elided else ""
        for launch in scripts.launches(Script(_without_prompts(fence.body)), context, source.file.parent, "markdown fence"):
            if reason:
                launch.variants = [replace(v, open_reason=reason, unknown_keys=reason) for v in launch.variants]
            found.append(launch)
    return found


def _without_prompts(fragment: Fragment) -> Fragment:
    """``$ vllm serve`` without its prompt; the characters keep their places."""
    if not re.search(r"^\s*\$ ", fragment.text, re.MULTILINE):
        return fragment
    text = re.sub(r"^(\s*)\$ ", lambda m: m.group(1) + "  ", fragment.text, flags=re.MULTILINE)
    return Fragment(text, fragment.source, [fragment.offset(i) for i in range(len(text))])
