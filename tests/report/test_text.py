"""What people see. The expected output stands in the test as it is printed."""

from __future__ import annotations

import io
import re
from textwrap import dedent

import pytest
from report_samples import cut, finding, serve

from gdnlint.report import resolve_text, text
from gdnlint.report._terminal import Style, style_for, width_of
from gdnlint.results import Diagnostic, Edit, Fix, Related, Report, State
from gdnlint.source import Source

PLAIN = Style(width=100)


def shown(report: Report, style: Style = PLAIN, **options: object) -> str:
    return text.render(report, style, **options)  # type: ignore[arg-type]


def one(*findings: object, files: int = 1) -> str:
    """The frames of findings without the closing lines."""
    return shown(Report(findings=list(findings), files=files), closing=False)  # type: ignore[arg-type]


def expect(actual: str, expected: str) -> None:
    assert actual == dedent(expected).lstrip("\n")


def test_a_whole_report() -> None:
    expect(
        shown(serve()),
        """
        serve.sh:8:3: error[GDN001] Qwen/Qwen3.5-9B runs with MTP and prefix caching on vLLM 0.28.0, which gives wrong tokens (with ENABLE_MTP=1)
           |
         3 | MODEL=Qwen/Qwen3.5-9B
           | --------------------- the hybrid model is chosen here
        ...
         8 |   --enable-prefix-caching \\
           |   ^^^^^^^^^^^^^^^^^^^^^^^ prefix caching is switched on here
         9 |   --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
           |   ---------------------------------------------------------------------
           |   speculation is switched on here
           |
          ::: conf/base.yaml:3:3
           |
         3 |   model_name: Qwen/Qwen3.5-9B
           |   --------------------------- the same model in the recipe
           |
           = note: The draft steps write the recurrent state that later requests read from the cache.
           = note: Known for this version: D1, D3.
           = help: Turn prefix caching off (safe edit; cost: a prompt that was seen before is computed
                   again)
         8 -   --enable-prefix-caching \\
         8 +   --no-enable-prefix-caching \\
           = help: Turn speculation off (unsafe edit; cost: decode speed)
         9 -   --speculative-config '{"method": "mtp", "num_speculative_tokens": 2}'
         9 +
           = help: Move to a build without the defect (cost: a test of that build)
           = see: vLLM issue 43650: https://github.com/vllm-project/vllm/issues/43650

        undecided: conf/base.yaml:1  prefix caching is off before vLLM 0.28.0, on from it; no version found

        1 error in 1 of 3 files; 2 launches: 1 present, 1 undecided
        Why, and what each way out costs: gdnlint explain GDN001
        """,  # noqa: E501
    )


def test_concise_is_one_line_a_finding() -> None:
    source = Source("a.sh", "vllm serve x\n")
    report = Report([*serve().findings, finding(cut(source, "serve"), "Second.\nMore.", severity="note")])
    expect(
        text.concise(report, PLAIN),
        """
        serve.sh:8:3: error[GDN001] Qwen/Qwen3.5-9B runs with MTP and prefix caching on vLLM 0.28.0, which gives wrong tokens (with ENABLE_MTP=1)
        a.sh:1:6: note[GDN001] Second
        """,  # noqa: E501
    )


def test_diagnostics() -> None:
    expect(
        text.diagnostics(serve().diagnostics, PLAIN),
        """
        conf/base.yaml:1:1: warning[syntax] 2 lines could not be parsed
        a pipe: warning[unreadable] it is a pipe
        """,
    )
    many = [Diagnostic("syntax", "x", f"{number}.sh") for number in range(23)]
    assert text.diagnostics(many, PLAIN).splitlines()[19:] == [
        "19.sh: warning[syntax] x",
        "... and 3 more diagnostics (--verbose prints all)",
    ]
    assert len(text.diagnostics(many, PLAIN, every=True).splitlines()) == 23


@pytest.mark.parametrize(
    ("files", "combinations", "expected"),
    [
        (0, [], "No findings. 0 files, 0 launches"),
        (1, ["absent"], "No findings. 1 file, 1 launch"),
        (41, ["undecided", "absent", "undecided"], "No findings. 41 files, 3 launches (2 undecided)"),
        (2200, ["present"], "No findings. 2,200 files, 1 launch (1 present)"),
    ],
)
def test_a_clean_run_says_what_was_looked_at(files: int, combinations: list[str], expected: str) -> None:
    launches = [serve().launches[0]._replace(combination=combination) for combination in combinations]  # type: ignore[arg-type]
    assert shown(Report(launches=launches, files=files)).splitlines()[-1] == expected


def test_the_summary_counts_each_severity_and_file() -> None:
    source, other = Source("a.sh", "vllm serve x\n"), Source("b.sh", "vllm serve x\n")
    spans = [(source, "error"), (source, "error"), (other, "warning"), (other, "note")]
    report = Report([finding(cut(at, "serve"), severity=severity) for at, severity in spans], files=9)
    assert shown(report).splitlines()[-2] == "2 errors, 1 warning, 1 note in 2 of 9 files; 0 launches"


def test_the_environment_is_said_once() -> None:
    source = Source("a.sh", "vllm serve x\n")
    found = finding(cut(source, "vllm"), "With A=1: bad.", when={"A": "1", "B": "2"})
    assert one(found).splitlines()[0] == "a.sh:1:1: error[GDN001] With A=1: bad (with B=2)"
    assert shown(Report([found], files=1)).splitlines()[-2] == "1 error in 1 file; 0 launches"


def test_undecided_launches_are_few_unless_asked_for() -> None:
    undecided, present = serve().launches
    report = Report(launches=[present] + [undecided._replace(id=str(number)) for number in range(8)], files=2)
    few = shown(report).splitlines()
    assert few[4:] == [
        "undecided: conf/base.yaml:1  prefix caching is off before vLLM 0.28.0, on from it; no version found",
        "... and 3 more undecided (--verbose lists them)",
        "",
        "No findings. 2 files, 9 launches (1 present, 8 undecided)",
    ]
    assert sum(line.startswith("undecided:") for line in shown(report, launches="undecided").splitlines()) == 8
    every = shown(report, launches="all").splitlines()
    assert every[0] == "present: serve.sh:7  absent with ENABLE_MTP=0; shell vllm"
    assert len(every) == 9 + 2


def test_lines_next_to_each_other_and_one_apart_need_no_gap() -> None:
    source = Source("a.yaml", "one: 1\ntwo: 2\nthree: 3\nfour: 4\nfive: 5\n")
    found = finding(
        cut(source, "four"), related=tuple(Related(cut(source, key), f"this is {key}") for key in ("two", "one"))
    )
    expect(
        one(found),
        """
        a.yaml:4:1: error[GDN001] Prefix caching is on
           |
         1 | one: 1
           | --- this is one
         2 | two: 2
           | --- this is two
         3 | three: 3
         4 | four: 4
           | ^^^^ here
           |
        """,
    )


def test_places_on_one_line_get_a_row_each_and_the_same_place_one_row() -> None:
    source = Source("a.sh", "vllm serve m --a --b\n")
    flag = cut(source, "--b")
    found = finding(
        flag,
        related=(Related(cut(source, "--a"), "first"), Related(flag, "also this"), Related(flag, "here")),
    )
    expect(
        one(found),
        """
        a.sh:1:18: error[GDN001] Prefix caching is on
           |
         1 | vllm serve m --a --b
           |              --- first
           |                  ^^^ here; also this
           |
        """,
    )


def test_a_place_of_several_lines_is_underlined_on_its_first() -> None:
    source = Source("a.py", "LLM(\n    model,\n    x,\n)\n")
    found = finding(source.span(0, len(source.text) - 1), label="the call")
    expect(
        one(found),
        """
        a.py:1:1: error[GDN001] Prefix caching is on
           |
         1 | LLM(
           | ^^^^ the call (to line 4)
           |
        """,
    )


def test_an_empty_place_and_the_end_of_the_file_have_a_caret() -> None:
    source = Source("a.sh", "ab\n")
    assert "   | ^ here\n" in one(finding(source.span(0, 0)))
    assert "   |   ^ here\n" in one(finding(source.span(2, 2)))
    assert " 2 |\n   | ^ here\n" in one(finding(source.span(3, 3)))


def test_tabs_wide_and_combining_characters_keep_the_carets_in_place() -> None:
    source = Source("a.sh", "\techo 模型 e\u0301 😀\tmodel # x\n")
    lines = one(finding(cut(source, "model"))).splitlines()
    assert lines[2] == " 1 |     echo 模型 e\u0301 😀  model # x"
    before = lines[2][: lines[2].index("model")]
    assert lines[3] == "   |" + " " * (width_of(before) - 4) + "^^^^^ here"
    wide = one(finding(cut(source, "模型"))).splitlines()
    assert wide[3] == "   |          ^^^^ here"


def test_windows_line_ends_and_a_byte_order_mark_do_not_show() -> None:
    source = Source("a.yaml", "\ufeffmodel: x\r\nother: y\r\n")
    expect(
        one(finding(cut(source, "model"))),
        """
        a.yaml:1:1: error[GDN001] Prefix caching is on
           |
         1 | model: x
           | ^^^^^ here
           |
        """,
    )


HOSTILE = "\x1b]0;owned\x07\x1b[2J\r\x08\x9b31m\u202e\u2066\u200b\u2028\x7f\ue000"


def test_no_control_character_of_a_linted_file_reaches_the_terminal() -> None:
    """Every string that can come from a linted file, in every text format."""
    source = Source(f"a{HOSTILE}\n.sh", f"x={HOSTILE} vllm\n")
    span = cut(source, "vllm")
    found = finding(
        span,
        f"Bad {HOSTILE}. More {HOSTILE}",
        HOSTILE,
        related=(Related(cut(source, "x="), HOSTILE),),
        notes=(HOSTILE,),
        fixes=(Fix(HOSTILE, "safe", (Edit(span, HOSTILE),), HOSTILE),),
        when={f"N{HOSTILE}": HOSTILE},
    )
    launch = serve().launches[1]
    step = launch.settings["model"].provenance[0]._replace(what=HOSTILE, value=HOSTILE, span=span, source=HOSTILE)
    setting = launch.settings["model"]._replace(value={HOSTILE: [HOSTILE]}, provenance=(step,), reason=HOSTILE)
    ingredient = launch.ingredients["hybrid"]._replace(sentence=HOSTILE, places=((span, HOSTILE),))
    states: tuple[State, ...] = ("known", "conditional", "unknown")
    launch = launch._replace(
        span=span,
        kind=HOSTILE,
        engine=HOSTILE,
        framework=HOSTILE,
        decided_by=HOSTILE,
        refused=HOSTILE,
        note=HOSTILE,
        ingredients={"hybrid": ingredient},
        version=launch.version._replace(value=HOSTILE, provenance=HOSTILE, span=span),
        settings={HOSTILE + state: setting._replace(state=state) for state in states},
        scenarios=(launch.scenarios[0]._replace(when={HOSTILE: HOSTILE}),),
    )
    diagnostics = [Diagnostic("x", HOSTILE, HOSTILE), Diagnostic("x", HOSTILE, HOSTILE, span)]
    report = Report([found], [launch, launch._replace(combination="undecided")], diagnostics, 1)
    for output in (
        shown(report),
        shown(report, launches="all"),
        text.concise(report, PLAIN),
        text.diagnostics(diagnostics, PLAIN),
        resolve_text.render(report, PLAIN),
    ):
        assert "\\x1b" in output
        assert not re.findall(r"[^\x20-\x7e\n…]", output)


def test_a_long_line_is_cut_around_the_place() -> None:
    line = "args: [" + ", ".join(f'"--option-{number}"' for number in range(100)) + "]"
    source = Source("a.yaml", line + "\n")
    expect(
        shown(Report([finding(cut(source, '"--option-50"'))]), Style(width=80), closing=False),
        """
        a.yaml:1:748: error[GDN001] Prefix caching is on
           |
         1 | …"--option-48", "--option-49", "--option-50", "--option-51", "--option-52"…
           |                                ^^^^^^^^^^^^^ here
           |
        """,
    )
    start = one(finding(cut(source, '"--option-0"'))).splitlines()
    assert start[2].startswith(' 1 | args: ["--option-0", ')
    assert start[2].endswith("…")
    end = one(finding(cut(source, '"--option-99"'))).splitlines()
    assert end[2].endswith('"--option-98", "--option-99"]')
    assert {width_of(row) <= 100 for row in start + end} == {True}
    assert end[3].index("^") == end[2].index('"--option-99"')


def test_places_far_apart_in_one_long_line_get_an_excerpt_each() -> None:
    source = Source("a.yaml", "first: 1, " + "x" * 5000 + ", last: 2\n")
    found = finding(cut(source, "last"), related=(Related(cut(source, "first"), "there"),))
    lines = one(found).splitlines()
    assert [line[:14] for line in lines[2:6:2]] == [" 1 | first: 1,", " 1 | …xxxxxxxx"]
    assert lines[3] == "   | ----- there"
    assert lines[4].endswith("x, last: 2")
    assert lines[5].index("^") == lines[4].index("last")


def test_a_place_wider_than_the_terminal_and_a_huge_line_are_cut() -> None:
    source = Source("a.json", '{"a": "' + "模" * 300_000 + '"}\n')
    for span in (source.span(0, len(source.text) - 1), source.span(200_000, 200_500)):
        lines = one(finding(span)).splitlines()
        assert max(map(width_of, lines[1:])) <= 100
        assert lines[2].count("模") > 10
    source = Source("a.sh", "e" + "\u0301" * 100_000 + " vllm\n")
    assert max(map(len, one(finding(cut(source, "vllm"))).splitlines())) < 1000


def test_the_diff_of_inserted_removed_and_far_lines() -> None:
    source = Source("a.yaml", "".join(f"key{number}: {number}\n" for number in range(12)))
    other = Source("b.sh", "run --on\n")
    insert = source.span(source.starts[2], source.starts[2])
    remove = source.span(source.starts[8], source.starts[9])
    edits = (Edit(insert, "new: 1\n"), Edit(remove, ""), Edit(cut(other, "--on"), "--off"))
    lines = one(finding(cut(source, "key0"), fixes=(Fix("Do it", "unsafe", edits),))).splitlines()
    assert lines[5:] == [
        "   = help: Do it (unsafe edit)",
        " 3 + new: 1",
        " 9 - key8: 8",
        "  ::: b.sh:1:5",
        " 1 - run --on",
        " 1 + run --off",
    ]


def test_the_diff_joins_edits_of_neighbouring_lines_and_shows_the_file_without_a_line_end() -> None:
    source = Source("a.yaml", "a: 1\nb: 2\nc: 3")
    edits = (Edit(cut(source, "2"), "20"), Edit(cut(source, "1"), "10"), Edit(source.span(14, 14), "\nd: 4"))
    lines = one(finding(cut(source, "a"), fixes=(Fix("Do it", "safe", edits),))).splitlines()
    assert lines[6:] == [" 1 - a: 1", " 2 - b: 2", " 1 + a: 10", " 2 + b: 20", " 4 + d: 4"]


def test_a_long_diff_is_cut() -> None:
    source = Source("a.yaml", "a: 1\n")
    edit = Edit(source.span(0, 0), "".join(f"x{number}: 1\n" for number in range(30)))
    lines = one(finding(cut(source, "a"), fixes=(Fix("Do it", "safe", (edit,)),))).splitlines()
    assert len([line for line in lines if " + " in line]) == 12
    assert lines[-1] == "... 18 more lines"


def test_the_message_is_split_after_its_first_sentence_only() -> None:
    source = Source("a.sh", "vllm\n")
    message = "vLLM 0.28.0 turns `x` on, e.g. here. `y` is next. And more."
    lines = one(finding(cut(source, "vllm"), message)).splitlines()
    assert lines[0] == "a.sh:1:1: error[GDN001] vLLM 0.28.0 turns `x` on, e.g. here"
    assert lines[-1] == "   = note: `y` is next. And more."


def test_line_numbers_share_one_gutter() -> None:
    source = Source("a.sh", "\n" * 12344 + "vllm serve\n")
    lines = one(finding(cut(source, "vllm"), related=(Related(source.span(0, 0), "top"),))).splitlines()
    assert [line[:8].rstrip() for line in lines[1:]] == [
        "      |",
        "    1 |",
        "      |",
        "...",
        "12345 |",
        "      |",
        "      |",
    ]


def test_colour_changes_nothing_but_colour() -> None:
    painted = shown(serve(), Style(color=True, width=100))
    assert "\x1b[31m\x1b[1merror[GDN001]\x1b[0m" in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == shown(serve())
    painted = resolve_text.render(serve(), Style(color=True, width=100))
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == resolve_text.render(serve(), PLAIN)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("terminal", "choice", "environ", "color"),
    [
        (True, "auto", {}, True),
        (False, "auto", {}, False),
        (True, "auto", {"NO_COLOR": "1"}, False),
        (True, "auto", {"NO_COLOR": ""}, True),
        (False, "auto", {"FORCE_COLOR": "1"}, True),
        (False, "auto", {"FORCE_COLOR": "0"}, False),
        (False, "auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, "auto", {"TERM": "dumb"}, False),
        (False, "always", {"NO_COLOR": "1"}, True),
        (True, "never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_who_gets_colour(terminal: bool, choice: str, environ: dict[str, str], color: bool) -> None:
    stream = Terminal() if terminal else io.StringIO()
    assert style_for(stream, choice, environ).color is color


def test_the_width_follows_the_terminal_but_not_below_80(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "30")
    assert style_for(Terminal()).width == 80
    monkeypatch.setenv("COLUMNS", "140")
    assert style_for(Terminal()).width == 140
    monkeypatch.delenv("COLUMNS")
    assert style_for(None).width == style_for(io.StringIO()).width == 120


def test_resolve_shows_every_setting_and_where_it_came_from() -> None:
    expect(
        resolve_text.render(serve(), PLAIN),
        """
        conf/base.yaml:1  recipe, framework example, vllm (no version found)
          combination: undecided
            hybrid model    yes Qwen/Qwen3.5-9B is a hybrid model (Gated DeltaNet)
                                serve.sh:3  MODEL is set
            speculation     yes method mtp
            prefix caching  ?   not set
          decided by: prefix caching is off before vLLM 0.28.0, on from it; no version found
          note: nothing in this project starts it

        serve.sh:7  shell, vllm 0.28.0 (pinned in requirements.txt, conf/base.yaml:2)
          combination: present
            hybrid model    yes Qwen/Qwen3.5-9B is a hybrid model (Gated DeltaNet)
                                serve.sh:3  MODEL is set
            speculation     yes method mtp, 2 tokens
                                serve.sh:9  the flag
            prefix caching  yes switched on
                                serve.sh:8  the flag
          with ENABLE_MTP=0: absent
          settings:
            model = "Qwen/Qwen3.5-9B"
              won     MODEL: "Qwen/Qwen3.5-9B"  serve.sh:3
            enable_prefix_caching = true
              lost    default of vLLM from 0.28.0: true       vllm/config/cache.py:71@v0.28.0
              won     the flag --enable-prefix-caching: true  serve.sh:8
            max_model_len = ? it depends on the environment variable MAX_LEN
        """,
    )
