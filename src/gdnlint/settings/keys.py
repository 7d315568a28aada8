"""Every option of the configuration file, described once: reading, schema and documentation come from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gdnlint.results import SEVERITIES
from gdnlint.settings.judgement import CONFIDENCES

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown")
FAIL_ON = (*reversed(SEVERITIES), "never")

Kind = Literal[
    "text", "version", "choice", "patterns", "rules", "folders", "severities", "aliases", "answers", "entries"
]
"""``rules`` are ids or names of rules, ``severities`` a table from those to a severity, ``aliases`` a table of model
names, ``answers`` a table of assumptions, ``entries`` a list of tables with keys of their own."""


@dataclass(frozen=True, slots=True)
class Key:
    name: str
    kind: Kind
    help: str
    """Sentences for the schema and the documentation."""
    example: str
    """TOML, as it stands below ``[tool.gdnlint]`` or in ``gdnlint.toml``."""
    default: str = ""
    """What holds without it, in words or TOML."""
    choices: tuple[str, ...] = ()
    option: str = ""
    """The option of the command line that beats it."""
    members: tuple[Key, ...] = ()
    needs: tuple[tuple[str, str], ...] = ()
    """Of ``entries``: a key that asks for another one."""
    required: tuple[str, ...] = ()


_PATHS = Key(
    "paths",
    "patterns",
    "Which files: patterns as in .gitignore, relative to the folder of the configuration file.",
    'paths = ["ablations/"]',
)
_IGNORE = Key("ignore", "rules", "Rules that report nothing in these files.", 'ignore = ["GDN001"]')
_REASON = Key(
    "reason",
    "text",
    "Why these rules are ignored here. Required with `ignore`: an accepted risk says who accepted what.",
    'reason = "measured on our own build, see docs/serving.md"',
)
_PATH_VERSION = Key("vllm-version", "version", "The vLLM version that these files run with.", 'vllm-version = "0.27.1"')
_PATH_SEVERITY = Key(
    "severity", "severities", "Severities of rules in these files.", 'severity = {GDN002 = "note"}', choices=SEVERITIES
)

KEYS = (
    Key(
        "include",
        "patterns",
        "Files that are checked when a folder is searched: patterns as in .gitignore, relative to the folder of the "
        "configuration file. A file that is named on the command line is checked anyway.",
        'include = ["recipes/", "*.sh"]',
        "every file of a kind that gdnlint reads",
    ),
    Key(
        "exclude",
        "patterns",
        "Files that are not checked when a folder is searched. A file that is named on the command line is checked "
        "anyway, unless --force-exclude is given (as the pre-commit hooks do).",
        'exclude = ["third_party/", "*.example.yaml"]',
        "nothing",
        option="--force-exclude",
    ),
    Key(
        "select",
        "rules",
        "Only findings of these rules count. `--select` replaces it together with `ignore`.",
        'select = ["GDN001", "GDN003"]',
        "all rules",
        option="--select",
    ),
    Key(
        "ignore",
        "rules",
        "Findings of these rules do not count. `--ignore` adds to it.",
        'ignore = ["GDN002"]',
        "[]",
        option="--ignore",
    ),
    Key(
        "severity",
        "severities",
        "The severity of a rule's findings, whatever the rule says.",
        'severity = {GDN004 = "warning", prefix-caching-left-to-default = "note"}',
        "as each rule says",
        choices=SEVERITIES,
    ),
    Key(
        "models",
        "aliases",
        "Names of your own for models: a name, or a pattern with `*`, and the known repository or model family that it "
        "stands for. It beats the name and config.json.",
        'models = {"acme/*-tess-*" = "Qwen/Qwen3.6-27B", "/models/policy" = "qwen3_5"}',
        "{}",
    ),
    Key(
        "vllm-version",
        "version",
        "The vLLM version that runs, whatever the files pin. A final release.",
        'vllm-version = "0.28.0"',
        "the nearest pin",
        option="--vllm-version",
    ),
    Key(
        "assume",
        "answers",
        "Answers to what files leave open: an environment variable, `arg:1`, `param:function.name`, "
        "`feature:name`, `matrix:name` or `input:name`. "
        "Texts and whole numbers. `--assume` adds to it and wins.",
        'assume = {MODEL = "Qwen/Qwen3.5-9B", "arg:1" = "train"}',
        "{}",
        option="--assume",
    ),
    Key(
        "rules",
        "folders",
        "Folders of your own rules, frameworks and models, relative to the configuration file and inside the project. "
        "`--rules` adds to it.",
        'rules = ["lint/gdnlint-rules"]',
        "[]",
        option="--rules",
    ),
    Key(
        "fail-on",
        "choice",
        "The mildest severity that makes the exit code 1.",
        'fail-on = "error"',
        '"warning"',
        choices=FAIL_ON,
        option="--fail-on",
    ),
    Key(
        "min-severity",
        "choice",
        "Milder findings are not reported.",
        'min-severity = "warning"',
        '"note"',
        choices=SEVERITIES,
        option="--min-severity",
    ),
    Key(
        "min-confidence",
        "choice",
        "Less certain findings are not reported.",
        'min-confidence = "medium"',
        '"low"',
        choices=CONFIDENCES,
        option="--min-confidence",
    ),
    Key(
        "format",
        "choice",
        "How `gdnlint check` prints findings. The configuration of the current directory decides.",
        'format = "concise"',
        '"text"',
        choices=FORMATS,
        option="--format",
    ),
    Key(
        "per-path",
        "entries",
        "What holds for some files only. Of several entries that fit a file, ignores add up and later values win.",
        '[[per-path]]\npaths = ["ablations/"]\nignore = ["GDN001"]\nreason = "both arms are the experiment"',
        "[]",
        members=(_PATHS, _IGNORE, _REASON, _PATH_VERSION, _PATH_SEVERITY),
        needs=(("ignore", "reason"),),
        required=("paths",),
    ),
)
