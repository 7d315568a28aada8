"""Writes the documentation that comes from the rules and from real runs of gdnlint.

    python scripts/generate_docs.py            rewrites what is stale
    python scripts/generate_docs.py --check    names what is stale and exits 1

Three kinds of text are generated:

* whole pages: ``docs/rules/`` and ``docs/reference/``;
* tables in other pages, between ``<!-- begin generated: NAME -->`` and ``<!-- end generated -->``;
* what a ``console`` block shows after each ``$ gdnlint ...``. The command really runs, in a scratch folder that holds a
  copy of ``examples/`` and the blocks of the same page whose fence says ``file=NAME``.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from click.testing import CliRunner

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
os.environ["HF_HUB_CACHE"] = os.devnull  # what models this machine has decides nothing in the documentation

from gdnlint import knowledge  # noqa: E402
from gdnlint.cli import cli  # noqa: E402
from gdnlint.discovery import KINDS  # noqa: E402
from gdnlint.knowledge.programs import Ref, Step  # noqa: E402
from gdnlint.knowledge.schema import MECHANISMS, Engine, Framework, Knowledge, Rule  # noqa: E402
from gdnlint.report import rule_info  # noqa: E402
from gdnlint.settings import schema as settings_schema  # noqa: E402
from gdnlint.settings.keys import KEYS, Key  # noqa: E402

WRITTEN_BY_HAND = ("README.md", "CONTRIBUTING.md", "docs/configuration.md", "docs/resolution.md", "examples/README.md")
"""Pages in which only tables and console blocks are generated."""

COLUMNS = "100"
"""Width of the output that console blocks show."""

DIALECTS = {
    "omegaconf_cli": "OmegaConf (`key=value`)",
    "hydra": "Hydra (`key=value`, `+key=value`, `~key`)",
    "engine_argv": "the engine's flags",
    "kwargs": "keyword arguments",
}
INHERITANCE = {
    "defaults_chain": "the files that its `{key}` key names, deep merged; a later one wins",
    "hydra_defaults": "the Hydra defaults list of `{config_name}`, when that file is in the checkout",
    "chart_values": "values.yaml of the chart `{config_name}`, when that is in the checkout; mappings merge",
}


def main(arguments: Sequence[str]) -> int:
    if list(arguments) not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    pages = generated()
    stale = [path for path, text in pages.items() if not path.is_file() or path.read_text("utf-8") != text]
    orphans = [path for path in (ROOT / "docs" / "rules").glob("*.md") if path not in pages]
    for path in sorted({*stale, *orphans}):
        print(f"{path.relative_to(ROOT)} {'is stale' if arguments else 'was written'}")
    if arguments and (stale or orphans):
        print("Run `python scripts/generate_docs.py`.", file=sys.stderr)
        return 1
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages[path], "utf-8")
    for path in orphans:
        path.unlink()
    return 0


def generated() -> dict[Path, str]:
    """Every page with generated text, as it should be."""
    known = knowledge.load()
    docs = ROOT / "docs"
    pages = {docs / "rules" / f"{rule.id}.md": rule_page(rule) for rule in known.rules}
    pages[docs / "rules" / "README.md"] = _page("rules/combinations/", "# Rules", rules_table(known, ""))
    pages[docs / "reference" / "frameworks.md"] = frameworks_page(known)
    pages[docs / "reference" / "models.md"] = models_page()
    pages[docs / "reference" / "engines.md"] = engines_page(known)
    pages[docs / "gdnlint.schema.json"] = json.dumps(settings_schema.document(), indent=2) + "\n"
    for name in WRITTEN_BY_HAND:
        path = ROOT / name
        if path.is_file():
            pages[path] = with_console_output(with_tables(path.read_text("utf-8"), known))
    return pages


# -- whole pages -------------------------------------------------------------------------------------------------------


def rule_page(rule: Rule) -> str:
    severities = list(dict.fromkeys(case.severity for case in rule.severities))
    ways = [(way.title, f"`{way.setting}`" if way.setting else "by hand", way.applicability) for way in rule.ways_out]
    return _page(
        f"rules/combinations/{rule.path.name}",
        rule_info.markdown(rule).rstrip(),
        "## Details",
        _table(
            ("", ""),
            [
                ("Severity", " or ".join(severities)),
                ("Precision", rule.precision),
                ("Since", rule.since),
                ("Tags", ", ".join(rule.tags)),
            ],
        ),
        "A finding offers:",
        _table(("Way out", "Setting", "Edit"), ways),
    )


def frameworks_page(known: Knowledge) -> str:
    parts = [
        "# Frameworks",
        "How each framework's launches are told, and in which order its settings reach the engine. A later step sees, "
        "and may replace, what an earlier one wrote; `fill` writes only what is unset.",
    ]
    for framework in sorted(known.frameworks, key=lambda item: item.name):
        parts += [f"## {framework.title} (`{framework.name}`)", f"Read at: {framework.source}."]
        parts.append(_table(("What", "Which"), _facts(framework)))
        for launch in framework.launches:
            if launch.steps:
                parts += [f"Steps of `{launch.name}`:", _steps_table(launch.steps)]
    return _page("rules/frameworks/", *parts)


def _facts(framework: Framework) -> Iterator[tuple[str, str]]:
    told = framework.recognise
    rows = [
        ("Commands", [" ".join(words) for words in told.commands]),
        ("Modules", told.modules),
        ("Scripts", told.scripts),
        ("Overrides below", told.keys),
        ("Python calls", [call.name for call in told.calls]),
    ]
    yield from ((title, _codes(names)) for title, names in rows if names)
    if told.recipe:
        yield "A YAML file with", "; ".join(" and ".join(f"`{key}`" for key in keys) for keys in told.recipe)
    if told.images:
        yield "Images", ", ".join(f"`{image}`" for image in told.images)
    if told.manifests:
        yield "Objects of the kind", "; ".join(f"`{item.kind}` of `{item.api}`" for item in told.manifests)
    if framework.dialect in DIALECTS:
        yield "Overrides are", DIALECTS[framework.dialect]
    inherits = framework.inherits
    if inherits.style in INHERITANCE:
        yield "Inherits from", INHERITANCE[inherits.style].format(key=inherits.key, config_name=inherits.config_name)
    if framework.switches:
        yield "Environment", _codes(f"{name}={value}" for name, value in framework.switches)
    for reason in framework.not_launched:
        yield "No engine when", reason.because
    for fix in framework.fixes:
        if fix.setting == "enable_prefix_caching" and fix.value is False:
            yield f"Prefix caching off ({fix.form})", f"`{fix.text}`"


def _steps_table(steps: Iterable[Step]) -> str:
    rows = [
        (
            str(number),
            step.operator,
            _codes(_fields(step)),
            step.note or step.option("text") or step.option("because") or step.text,
            step.source,
        )
        for number, step in enumerate(steps, 1)
    ]
    return _table(("", "Step", "What", "Note", "Source"), rows)


def _fields(step: Step) -> list[str]:
    if isinstance(step.operand, Ref):
        return [step.operand.name]
    return [name for name, _ in step.assignments] or step.option("fields").split() or [step.option("field")]


def models_page() -> str:
    families = [_load(path) for path in sorted((ROOT / "rules" / "models").glob("*.yaml"))]
    hybrid = [family for family in families if family.get("recurrent")]
    dense = [family for family in families if not family.get("recurrent")]
    examples = ", ".join(f"`{name}`" for family in dense for name in family.get("examples", {}).get("match", [])[:12])
    return _page(
        "rules/models/",
        "# Model families",
        "`config.json` beside the weights decides when it is there; a name is a heuristic. A name that no family knows "
        "is unknown, and a launch that hangs on it is `undecided`.",
        _table(
            ("Family", "Recurrent state", "Own drafting head", "In vLLM since", "`model_type`", "Names, for example"),
            [_family_row(family) for family in hybrid],
        ),
        f"Known not to be hybrid, for example: {examples}.",
    )


def _family_row(family: dict[str, Any]) -> tuple[str, ...]:
    architectures = family.get("architectures", {})
    first = min((str(item["since"]) for item in architectures.values() if item.get("since")), key=_parts, default="")
    ends = [item.get("until") for item in architectures.values()]
    last = f" to {max(map(str, ends), key=_parts)}" if ends and all(ends) else ""
    return (
        family["title"],
        MECHANISMS[family["mechanism"]] + (", attention free" if family.get("attention_free") else ""),
        "yes" if family.get("own_mtp_head") else "",
        (first or "0.9.2 or earlier") + last,
        _codes(family.get("model_types", {})),
        _codes(family.get("examples", {}).get("match", [])[:2]),
    )


def engines_page(known: Knowledge) -> str:
    parts = ["# Engines"]
    for engine in known.engines.values():
        parts += _engine_parts(engine)
    others = [(other.title, other.because) for other in sorted(known.other_engines, key=lambda item: item.title)]
    parts += ["## Recognised and left alone", _table(("Engine", "Because"), others)]
    return _page("rules/engines/", *parts)


def _engine_parts(engine: Engine) -> list[str]:
    first, last = engine.releases[0], engine.releases[-1]
    defects = [
        (defect.id, _sentence(defect.title, defect.note), "yes" if defect.corrupts else "no", str(defect.affected),
         ", ".join(map(_link, defect.references)))
        for defect in engine.defects
    ]  # fmt: skip
    pulls = [
        (_link(f"vllm-project/vllm#{pull.number}"), _sentence(pull.title, pull.note), pull.state,
         str(pull.released or ""))
        for pull in engine.pull_requests
    ]  # fmt: skip
    return [
        f"## {engine.title}",
        f"{len(engine.releases)} releases are known, {first} to {last}, and {len(engine.flags)} command line flags.",
        f"### What {engine.title} makes of the settings",
        _steps_table(engine.steps),
        "### Defects",
        _table(("Id", "What", "Wrong tokens", "In", "Threads"), defects),
        "### Pull requests that people name as fixes",
        _table(("Pull request", "What", "State", "Released in"), pulls),
    ]


def _page(source: str, *parts: str) -> str:
    notice = f"<!-- Generated from {source} by scripts/generate_docs.py. Do not edit. -->"
    return "\n\n".join((notice, *parts)) + "\n"


# -- tables in other pages ---------------------------------------------------------------------------------------------


def rules_table(known: Knowledge, folder: str) -> str:
    rows = [(f"[{rule.id}]({folder}{rule.id}.md)", rule.severity, rule.summary.strip()) for rule in known.rules]
    return _table(("Rule", "Severity", "What it finds"), rows)


def reads_table(known: Knowledge) -> str:
    kinds = (f"{TITLES.get(kind.name, kind.name)} ({_codes((*kind.suffixes, *kind.names))})" for kind in KINDS)
    frameworks = (item.title for item in sorted(known.frameworks, key=lambda item: item.title.lower()))
    families = sorted((family.title for family in known.families if family.hybrid), key=str.lower)
    engine = next(iter(known.engines.values()))
    return _table(
        ("What", "Which"),
        [
            ("Files", ", ".join(kinds)),
            ("[Frameworks](docs/reference/frameworks.md)", ", ".join(frameworks)),
            ("[Engine](docs/reference/engines.md)", f"{engine.title} {engine.releases[0]} to {engine.releases[-1]}"),
            ("[Hybrid models](docs/reference/models.md)", "; ".join(families)),
        ],
    )


def keys_text(_: Knowledge) -> str:
    return "\n\n".join(part for key in KEYS for part in _key_parts(key))


def _key_parts(key: Key) -> Iterator[str]:
    yield f"### `{key.name}`"
    yield key.help
    facts = [("Default", f"`{key.default}`" if key.default[:1] in '["{' else key.default)]
    facts += [("One of", _codes(key.choices))] if key.choices else []
    facts += [("On the command line", f"`{key.option}`")] if key.option else []
    yield _table(("", ""), facts)
    if key.members:
        yield _table(("Member", "What it says"), [(f"`{member.name}`", member.help) for member in key.members])
    yield f"```toml\n{key.example}\n```"


TITLES = {
    "shell": "shell scripts",
    "yaml": "YAML",
    "python": "Python",
    "dockerfile": "Dockerfiles",
    "toml": "TOML",
    "markdown": "Markdown",
    "json": "JSON",
    "notebook": "Jupyter notebooks",
    "makefile": "Makefiles",
    "unit": "systemd units and container units of Podman",
}

TABLES: dict[str, Callable[[Knowledge], str]] = {
    "rules": lambda known: rules_table(known, "docs/rules/"),
    "reads": reads_table,
    "keys": keys_text,
}

_MARKED = re.compile(r"(<!-- begin generated: (\w+) -->\n).*?(<!-- end generated -->)", re.DOTALL)


def with_tables(page: str, known: Knowledge) -> str:
    return _MARKED.sub(lambda match: f"{match[1]}\n{TABLES[match[2]](known)}\n\n{match[3]}", page)


# -- console blocks ----------------------------------------------------------------------------------------------------

_BLOCK = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"\bfile=(\S+)")


def with_console_output(page: str) -> str:
    if "```console" not in page:
        return page
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shutil.copytree(ROOT / "examples", scratch / "examples")
        for block in _BLOCK.finditer(page):
            named = _FILE.search(block["info"])
            if named:
                file = scratch / named[1]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(block["body"], "utf-8")
        return _BLOCK.sub(lambda block: _ran(block, scratch), page)


def _ran(block: re.Match[str], scratch: Path) -> str:
    if block["info"] != "console":
        return block[0]
    commands = [line[2:] for line in block["body"].splitlines() if line.startswith("$ ")]
    shown = "".join(f"$ {command}\n{_output(command, scratch)}" for command in commands)
    return f"```console\n{shown}```"


def _output(command: str, scratch: Path) -> str:
    """What a command prints. Raises ValueError for a command other than gdnlint and for a mistake in its options."""
    program, *arguments = shlex.split(command)
    if program != "gdnlint":
        raise ValueError(f"a console block runs {program}; only gdnlint is run")
    before = os.getcwd()
    os.chdir(scratch)
    try:
        # Not as a process: the pages run a dozen commands, and starting takes longer than most of them.
        done = CliRunner(env={"NO_COLOR": "1", "COLUMNS": COLUMNS}).invoke(cli, arguments)
    finally:
        os.chdir(before)
    if done.exit_code not in (0, 1) or not isinstance(done.exception, SystemExit | None):
        raise ValueError(f"`{command}` fails: {done.output}") from done.exception
    return "".join(f"{line.rstrip()}\n" for line in done.output.splitlines())


# -- Markdown ----------------------------------------------------------------------------------------------------------


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _codes(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names if name)


def _link(reference: str) -> str:
    """``owner/name#1`` as a link."""
    repository, _, number = reference.partition("#")
    return f"[{repository.rpartition('/')[2]}#{number}](https://github.com/{repository}/issues/{number})"


def _sentence(title: str, note: str) -> str:
    return f"{title} ({note})" if note else title


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
