"""Spans, hops, questions, guards, sourced files and limits of reading bash."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from gdnlint.documents.shell import Invocation, Run, Script, run
from gdnlint.project import Project
from gdnlint.source import Fragment, Source
from gdnlint.values import Hole, Text, Word, World


def read(text: str, env: dict[str, str] | None = None, answers: dict[str, str] | None = None, **options: object) -> Run:
    world = World(dict(env or {}), dict(answers or {}))
    return Script(Fragment.whole(Source("s.sh", text))).run(world, **options)  # type: ignore[arg-type]


def shown(run: Run) -> list[list[str]]:
    return [[word.text.show() + ("*" if word.spread else "") for word in i.words] for i in run.invocations]


def questions(run: Run) -> dict[str, tuple[str, ...]]:
    return {q.name: q.witnesses for q in run.questions}


def only(run: Run) -> Invocation:
    assert len(run.invocations) == 1
    return run.invocations[0]


# Where things are written


def test_spans_of_words_and_commands() -> None:
    text = "A=1\n  vllm serve --x \"$A\" 'b c'  # end\n"
    found = only(read(text))
    assert found.span.text == "vllm serve --x \"$A\" 'b c'"
    assert [word.span.text for word in found.words] == ["vllm", "serve", "--x", '"$A"', "'b c'"]
    assert found.words[3].text.pieces[0].span is not None
    assert found.words[3].text.pieces[0].span.start == text.index("1")


def test_every_known_piece_lies_at_its_characters() -> None:
    text = 'A="x \\"y\\""\nB=(--a "$A"\n)\nB+=(\'{"n":\'"${N}"\'}\')\nvllm \\\n "${B[@]}" z\\ w pre"$A"\n'
    for word in only(read(text, {"N": "2"})).words:
        for piece in word.text.pieces:
            if piece.span is not None:
                assert piece.span.text == piece.content


def test_hops_name_the_assignments_nearest_first() -> None:
    text = "M=Qwen\nN=$M\nvllm $N\n"
    (piece,) = only(read(text)).words[1].text.pieces
    assert [(place.what, place.span.text) for place in piece.via] == [
        ("N is set here", "N=$M"),
        ("M is set here", "M=Qwen"),
    ]
    assert piece.span is not None
    assert piece.span.text == "Qwen"


def test_a_hop_is_the_assignment_that_brought_the_characters() -> None:
    text = 'C="vllm a"\nC="$C --b"\nC+=" --c"\neval $C\n'
    words = only(read(text)).words
    lines = [word.text.pieces[0].via[0].span.line for word in words]
    assert lines == [1, 1, 2, 3]
    assert [word.text.known for word in words] == ["vllm", "a", "--b", "--c"]


def test_members_of_arrays_have_hops() -> None:
    (_, word) = only(read("A=()\nA+=(--x)\nvllm ${A[0]}\n")).words
    assert [place.span.text for place in word.text.places] == ["A+=(--x)"]


def test_functions_and_call_sites(tmp_path: Path) -> None:
    run = read("g() { vllm $1; }\nf() { g $1; }\nf a\nf b\n")
    assert shown(run) == [["vllm", "a"], ["vllm", "b"]]
    assert [[c.text for c in i.calls] for i in run.invocations] == [["f a", "g $1"], ["f b", "g $1"]]
    assert {i.span.line for i in run.invocations} == {1}


def test_fragments_map_to_the_file() -> None:
    text = "command: |\n    A=7\n    vllm serve \\\n      --x $A 'p\n    q'\n"
    start = text.index("A=")
    body, offsets, at = "", [], start
    for line in text[start:].splitlines(keepends=True):
        stripped = line.lstrip(" ") if at > start else line
        at += len(line) - len(stripped)
        body += stripped
        offsets.extend(range(at, at + len(stripped)))
        at += len(stripped)
    source = Source("c.yaml", text)
    found = only(run(Fragment(body, source, offsets), World()))
    assert [word.text.known for word in found.words] == ["vllm", "serve", "--x", "7", "p\nq"]
    assert found.span.line == 3
    assert [piece.span.text for piece in found.words[4].text.pieces if piece.span] == ["p\n", "q"]


def test_a_byte_order_mark_and_carriage_returns() -> None:
    lines = [
        "\ufeff# x",
        "A='b c'",
        'if [ -n "$A" ]; then',
        "  vllm serve \\",
        '    --x "$A"',
        "fi",
        "cat <<E",
        "E",
        "vllm end",
        "",
    ]
    text = "\r\n".join(lines)
    run = read(text)
    assert shown(run) == [["vllm", "serve", "--x", "b c"], ["cat"], ["vllm", "end"]]
    assert [i.span.line for i in run.invocations] == [4, 7, 9]
    assert run.problems == []


# What is not a command


def test_comments_echo_and_unused_variables_are_no_commands() -> None:
    run = read("# vllm a\necho vllm b\nprintf 'vllm c'\nX='vllm d'\nY=(vllm e)\n: vllm f\nf() { vllm g; }\ntrue vllm\n")
    assert run.invocations == []


def test_commands_in_substitutions_are_not_reported() -> None:
    assert shown(read("A=$(vllm a)\nuv $A `vllm b`\n")) == [
        ["uv", "<the output of `vllm a`>*", "<the output of `vllm b`>*"]
    ]


# Holes


@pytest.mark.parametrize(
    ("text", "word", "spread", "name"),
    [
        ("vllm $X", "<X>", True, "X"),
        ("vllm ${X}", "<X>", True, "X"),
        ('vllm "$X"', "<X>", False, "X"),
        ("vllm --a=$X", "--a=<X>", False, "X"),
        ("vllm ${X:?why}", "<X>", True, "X"),
        ("vllm $1", "<arg:1>", True, "arg:1"),
        ('shift; vllm "$1"', "<arg:2>", False, "arg:2"),
        ('vllm "$@"', "<@>", True, "@"),
        ("vllm $*", "<@>", True, "@"),
        ("vllm $HOME", "<HOME>", False, "HOME"),
        ("A=$X; vllm $A", "<X>", True, "X"),
        ("A=($X); vllm \"${A[@]}\"", "<X>", True, "X"),
        ("vllm $(date +%F)", "<the output of `date +%F`>", True, ""),
        ("vllm $((N+1))", "<the result of the arithmetic on the environment variable N>", False, ""),
        ("if $(x); then :; fi; vllm $#", "<#>", False, "#"),
        ("for i in $X; do vllm $i; done", "<one of the words of the environment variable X>", True, ""),
    ],
)  # fmt: skip
def test_holes(text: str, word: str, spread: bool, name: str) -> None:
    found = read(text).invocations[-1].words[-1]
    assert (found.text.show(), found.spread) == (word, spread)
    assert found.text.holes[-1].name == name


def test_a_hole_is_written_where_the_expansion_is() -> None:
    text = 'A="p$(date)q"\nvllm "$A"\n'
    spans = [piece.span.text for piece in only(read(text)).words[1].text.pieces if piece.span]
    assert spans == ["p", "$(date)", "q"]


def test_holes_survive_eval_and_strings() -> None:
    run = read('C="vllm --m $M"\nC="$C $EXTRA"\neval "$C"\nbash -c "$C"\n')
    assert shown(run)[0] == ["vllm", "--m", "<M>*", "<EXTRA>*"]
    word = run.invocations[1].words[2]
    inner = Script.of(word.text, word.span).run(World({"Z": "1"}))
    assert shown(inner) == [["vllm", "--m", "<M>*", "<EXTRA>*"]]
    piece = inner.invocations[0].words[1].text.pieces[0]
    assert piece.span is not None
    assert (piece.span.text, piece.via[0].what) == ("--m", "C is set here")


def test_arguments_that_are_given() -> None:
    source = Source("s.sh", 'vllm $1 "$@" $# ${3:-none}\n')
    words = [Word(Text.of(t), source.span(0, 4)) for t in ("a b", "c")]
    run = Script(Fragment.whole(source)).run(World(), args=words)
    assert shown(run) == [["vllm", "a", "b", "a b", "c", "2", "none"]]
    assert run.questions == []


# Questions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm $X", {"X": ()}),
        ("vllm ${X:-d}", {"X": ()}),
        ('[ "$X" = a ] || [[ $X == "b" ]]', {"X": ("a", "b")}),
        ('[[ a != "${X:-a}" ]]', {"X": ()}),
        ('FOO=${FOO:-0}; if [ "$FOO" = 1 ]; then vllm; fi', {"FOO": ("1",)}),
        ('FOO=${FOO:-1}; if [ "$FOO" = 1 ]; then vllm; fi', {"FOO": ("0",)}),
        ("A=${X:-no}; B=$A; [[ ${B,,} == yes ]]", {"X": ("yes",)}),
        ("case ${X:-a} in a|b) ;; c*) ;; 'd e') ;; *) ;; esac", {"X": ("b", "d e")}),
        ('[ -n "$X" ] && A=1', {"X": ("1",)}),
        ('[ -z "$X" ] || [ "$X" = q ]', {"X": ("q",)}),
        ("vllm ${X:+--x $X}", {"X": ("1",)}),
        ("[ ${N:-1} -gt 1 ] && A=1", {"N": ("2",)}),
        ("(( N == 4 || N < 2 )) && A=1", {"N": ("4", "1")}),
        ('[ "x$X" = xyes ]', {"X": ("yes",)}),
        ("[[ $X =~ ^(on|true)$ ]]", {"X": ("on", "true")}),
        ("M=${1:-d}; [ $M = e ]", {"arg:1": ("e",)}),
        ("A=$1; shift; B=$1; [ \"$B\" = z ]", {"arg:1": (), "arg:2": ("z",)}),
        ('[ "$X" = "$Y" ]', {"X": (), "Y": ()}),
        ("A=1; [ $A = 2 ]; vllm $HOME", {}),
        ("[[ -v X ]] && A=1", {"X": ("1",)}),
    ],
)  # fmt: skip
def test_questions_and_their_witnesses(text: str, expected: dict[str, tuple[str, ...]]) -> None:
    assert questions(read(text)) == expected


def test_a_question_stands_where_it_is_first_asked() -> None:
    text = "A=1\nvllm ${M:-a}\nvllm $M\n"
    (question,) = read(text).questions
    assert (question.span.text, question.span.line) == ("${M:-a}", 2)


def test_questions_keep_their_order_and_runs_agree() -> None:
    text = "vllm $C $A $B\n[ $A = 1 ]; [ $A = 0 ]; case $B in z) ;; y) ;; esac\n"
    script = Script(Fragment.whole(Source("s.sh", text)))
    first, second = script.run(World()), script.run(World())
    assert list(questions(first)) == ["C", "A", "B"]
    assert first.questions == second.questions
    assert first.invocations == second.invocations


def test_answers_change_a_run() -> None:
    text = 'A=()\nif [[ "${SPEC:-0}" == 1 ]]; then A+=(--spec); fi\nvllm "${A[@]}" ${1:-d}\n'
    assert shown(read(text)) == [["vllm", "d"]]
    assert shown(read(text, {"SPEC": "1"})) == [["vllm", "--spec", "d"]]
    assert shown(read(text, {}, {"arg:1": "m"})) == [["vllm", "m"]]


def test_answered_arguments_leave_more_open() -> None:
    text = 'while [ $# -gt 0 ]; do case $1 in --x) X=$2; shift 2;; esac; done\nvllm "$X" "$@"\n'
    assert shown(read(text, {}, {"arg:1": "--x"})) == [["vllm", "<arg:2>", "<@>*"]]
    assert shown(read('vllm "$@"', {}, {"arg:2": "b"})) == [["vllm", "<arg:1>", "b", "<@>*"]]


# Conditions


def test_an_undecided_condition_is_a_guard() -> None:
    text = "A=0\n  if nvidia-smi; then\n  A=1; vllm in\nelse\n vllm other\nfi\nvllm $A\n"
    run = read(text)
    assert shown(run) == [["nvidia-smi"], ["vllm", "other"], ["vllm", "0"]]
    assert [i.guards for i in run.invocations] == [(), ("guard:2:6",), ()]
    (question,) = run.questions
    assert (question.name, question.witnesses, question.text) == ("guard:2:6", ("true", "false"), "nvidia-smi")
    answered = read(text, {}, {"guard:2:6": "true"})
    assert shown(answered) == [["nvidia-smi"], ["vllm", "in"], ["vllm", "1"]]
    assert answered.invocations[1].guards == ("guard:2:6",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if [ -f x ]; then exit 1; fi; vllm a", [["vllm", "a"]]),
        ("if [ -f x ]; then A=1; else exit 1; fi; vllm a$A", [["vllm", "a1"]]),
        ("[ -d x ] || exit 1; vllm a", [["vllm", "a"]]),
        ("[ -d x ] || { echo no; return 1; }; vllm a", [["vllm", "a"]]),
        ("[ -f x ] && A=1; vllm ${A:-0}", [["vllm", "0"]]),
        ("case $(uname) in L) A=1;; M) A=2;; *) exit 1;; esac; vllm $A", [["vllm", "1"]]),
        ("a && vllm b || vllm c", [["a"], ["vllm", "b"]]),
        ("a || vllm b; vllm c", [["a"], ["vllm", "c"]]),
        ("while ! curl x; do sleep 1; done; vllm a", [["curl", "x"], ["sleep", "1"], ["vllm", "a"]]),
        ("while true; do vllm a; done; vllm b", [["vllm", "a"], ["vllm", "b"]]),
        ("[[ -n $(ls) && -z $X ]] && vllm a; vllm b", [["vllm", "b"]]),
        ("[[ -n $(ls) && -n $X ]] || vllm a", [["vllm", "a"]]),
        ("if [ -f ''  ]; then vllm a; else vllm b; fi", [["vllm", "b"]]),
        ("f() { check; }; if f; then vllm a; else vllm b; fi", [["check"], ["vllm", "b"]]),
    ],
)
def test_ways_through_conditions(text: str, expected: list[list[str]]) -> None:
    assert shown(read(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        'if [ -z "$M" ]; then echo usage; exit 1; fi; vllm "$M"',
        'M="${M:-}"; [ -n "$M" ] || { echo "no" >&2; exit 1; }; vllm "$M"',
        'die() { echo "$*"; exit 1; }\n[[ -n ${M:-} ]] || die no; vllm "$M"',
        'need() { local miss=(); for v in "$@"; do [[ -z "${!v:-}" ]] && miss+=("$v"); done\n'
        'if (( ${#miss[@]} > 0 )); then echo bad; exit 1; fi; }\nneed M; vllm "$M"',
        'case "${M:-}" in "") echo no; exit 2;; esac; vllm "$M"',
    ],
)
def test_a_script_that_stops_without_a_variable_is_read_as_if_it_were_set(text: str) -> None:
    found = read(text)
    assert shown(found) == [["vllm", "<M>"]]
    assert questions(found)["M"] == ()


def test_a_script_that_stops_without_arguments_is_read_as_if_it_had_some() -> None:
    text = 'if [ $# -lt 1 ]; then echo usage; exit 1; fi\nfor m in "$@"; do vllm "$m"; done\n'
    assert shown(read(text)) == [["vllm", "<one of the words of the arguments of the script>"]]
    text = 'M=\nwhile [ $# -gt 0 ]; do case $1 in --m) M=$2; shift 2;; esac; done\n[ -z "$M" ] && exit 1\nvllm "$M"\n'
    assert shown(read(text)) == [["vllm", "<the arguments of the script>"]]


def test_a_script_that_stops_by_its_own_values_stops() -> None:
    assert shown(read("M=a; if [ $M = a ]; then echo no; exit 1; fi; vllm b")) == []
    assert shown(read('if [ -z "$ALL" ]; then vllm one; exit 0; fi; vllm all')) == [["vllm", "one"]]


# What else an invocation carries


def test_environment_of_a_command() -> None:
    found = read("export A=1\nB=2\nC=3 D=$E vllm x\nunset A\nvllm y\n")
    env = found.invocations[0].env
    assert {name: text.show() for name, text in env.items()} == {"A": "1", "C": "3", "D": "<E>"}
    assert found.invocations[1].env == {}
    assert found.exports == {}


def test_exports_at_the_end() -> None:
    found = read('CMD="vllm $M"\nexport CMD\nsbatch x.sub\nset -a; N=1; exit 0\n')
    assert {name: text.show() for name, text in found.exports.items()} == {"CMD": "vllm <M>", "N": "1"}


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        ("bash <<E\nvllm $A\nE\n", 0, "vllm 7\n"),
        ("bash <<'E'\nvllm $A\nE\n", 0, "vllm $A\n"),
        ("ssh h bash -s <<-E\n\t\tvllm a\n\tb\n\tE\n", 0, "vllm a\nb\n"),
        ("cat <<E | bash -x\nvllm \\$X $A\nE\n", 1, "vllm $X 7\n"),
        ("cat <<E > run.sh\nvllm\nE\n", 0, "vllm\n"),
        ('bash <<< "vllm $A"\n', 0, "vllm 7\n"),
        ('echo "vllm $A" | sh\n', 0, "vllm 7\n"),
        ("printf '%s\\n' a b | xargs vllm\n", 0, "a\nb\n"),
    ],
)
def test_what_is_fed_to_a_command(text: str, index: int, expected: str) -> None:
    found = read("A=7\n" + text).invocations[index]
    assert found.stdin is not None
    assert found.stdin.text == expected
    assert found.stdin_text is not None
    assert found.stdin_text.known == expected


def test_fed_text_maps_to_the_file_and_keeps_holes() -> None:
    text = "bash <<E\nvllm --m $M\nE\n"
    found = only(read(text))
    assert found.stdin is None
    assert found.stdin_text is not None
    inner = Script.of(found.stdin_text, found.span).run(World())
    assert shown(inner) == [["vllm", "--m", "<M>*"]]
    assert only(inner).span.line == 2
    raw = only(read("bash <<'E'\nvllm --m\nE\n")).stdin
    assert raw is not None
    assert raw.span(0, 4).text == "vllm"
    assert raw.span(0, 4).line == 2


def test_output_file() -> None:
    found = read("cat > $D/x.sh <<E\nE\nvllm 2> log\n").invocations
    assert found[0].output is not None
    assert found[0].output.text.show() == "<D>/x.sh"
    assert found[1].output is None


# source


def tree(root: Path, files: dict[str, str]) -> Project:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Project(root)


def read_file(project: Project, name: str) -> Run:
    path = project.root / name
    return Script(Fragment.whole(project.source(path))).run(World(), project=project, directory=path.parent)


@pytest.mark.parametrize(
    "line",
    [
        "source ./lib/env.sh", ". lib/env.sh", 'source "$(dirname "$0")/lib/env.sh"', "source ${0%/*}/lib/env.sh",
        'D="$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1 && pwd -P)"; . "$D/lib/env.sh"',
        'D=$(dirname "$(readlink -f "$0")")\nL=$D/lib\nsource "$L"/env.sh',
        'cd "$(dirname "$0")/.."\nsource scripts/lib/env.sh',
        "source scripts/lib/env.sh",
        '[ -f lib/env.sh ] || exit 1; source lib/env.sh', "f() { source lib/$1.sh; }\nf env",
    ],
)  # fmt: skip
def test_source_inside_the_root(tmp_path: Path, line: str) -> None:
    project = tree(
        tmp_path,
        {
            "scripts/run.sh": f"{line}\nvllm $MODEL\nserve x\n",
            "scripts/lib/env.sh": "MODEL=q\nserve() { vllm serve $1; }\n",
        },
    )
    run = read_file(project, "scripts/run.sh")
    assert shown(run) == [["vllm", "q"], ["vllm", "serve", "x"]]
    assert run.problems == []
    piece = run.invocations[0].words[1].text.pieces[0]
    assert piece.span is not None
    assert piece.span.source.path == "scripts/lib/env.sh"
    assert run.invocations[1].span.source.path == "scripts/lib/env.sh"
    assert run.invocations[1].calls[-1].text == "serve x"


def test_sourced_files_have_their_own_arguments_directory_and_return(tmp_path: Path) -> None:
    files = {
        "run.sh": "set -- a b\nsource sub/one.sh x\nvllm run $1 $DONE\n",
        "sub/one.sh": 'vllm one $1 $#\n. "$(dirname "${BASH_SOURCE[0]}")/two.sh"\nreturn 0\nvllm no\n',
        "sub/two.sh": "DONE=two\n",
    }
    run = read_file(tree(tmp_path, files), "run.sh")
    assert shown(run) == [["vllm", "one", "x", "1"], ["vllm", "run", "a", "two"]]
    assert [c.text for c in run.invocations[0].calls] == ["source sub/one.sh x"]


def test_source_outside_the_root_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.sh").write_text("vllm secret\n")
    project = tree(tmp_path / "root", {"run.sh": "source ../secret.sh\nsource ./link.sh\nvllm a\n"})
    (tmp_path / "root" / "link.sh").symlink_to(tmp_path / "secret.sh")
    run = read_file(project, "run.sh")
    assert shown(run) == [["vllm", "a"]]
    assert [p.code for p in run.problems] == ["outside-root", "outside-root"]
    assert [p.span.text for p in run.problems if p.span] == ["source ../secret.sh", "source ./link.sh"]


def test_files_that_are_not_there_are_passed_by_in_silence(tmp_path: Path) -> None:
    project = tree(
        tmp_path, {"run.sh": "source /etc/profile\nsource ~/.bashrc\n. $CONDA/x.sh\nsource none.sh\nvllm $A\n"}
    )
    run = read_file(project, "run.sh")
    assert shown(run) == [["vllm", "<A>*"]]
    assert run.problems == []


def test_cycles_of_source(tmp_path: Path) -> None:
    project = tree(tmp_path, {"a.sh": "source b.sh\nvllm a\n", "b.sh": "source a.sh\nvllm b\n"})
    run = read_file(project, "a.sh")
    assert [p.code for p in run.problems] == ["source-cycle"]
    assert shown(run) == [["vllm", "b"], ["vllm", "a"]]


def test_chains_of_source_have_an_end(tmp_path: Path) -> None:
    project = tree(tmp_path, {f"s{i}.sh": f"source s{i + 1}.sh\n" for i in range(30)})
    assert [p.code for p in read_file(project, "s0.sh").problems] == ["too-deep"]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    project = tree(tmp_path, {"run.sh": "source bad.sh\nvllm a\n"})
    (tmp_path / "bad.sh").write_bytes(b"A=\xff\n")
    run = read_file(project, "run.sh")
    assert [p.code for p in run.problems] == ["encoding"]
    assert shown(run) == [["vllm", "a"]]


# Broken and hostile text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("vllm a\nif true; then\nvllm b\n", [["vllm", "a"], ["vllm", "b"]]),
        ("vllm 'a\nvllm b\n", [["vllm", "'a"], ["vllm", "b"]]),
        ("vllm a )\nfi\nvllm b ;; vllm c\n", [["vllm", "a"], ["vllm", "b"], ["vllm", "c"]]),
        ("vllm ${A b} c\nvllm d\n", [["vllm", "<an expansion that bash rejects>*", "c"], ["vllm", "d"]]),
        ("&& vllm a\n| vllm b\nfor do; done\nvllm c\n", [["vllm", "a"], ["vllm", "b"], ["vllm", "c"]]),
        ("A=(a b\nvllm c\n", []),
        ("cat <<E\nvllm a\n", [["cat"]]),
    ],
)
def test_broken_text_is_reported_once_and_the_rest_read(text: str, expected: list[list[str]]) -> None:
    run = read(text)
    assert shown(run) == expected
    (problem,) = run.problems
    assert problem.code == "syntax-partial"
    assert "of s.sh could not be parsed" in problem.message
    assert problem.span is not None


def test_the_name_of_a_text_in_problems() -> None:
    (problem,) = read("fi\n", name="the entrypoint").problems
    assert problem.message == "1 line of the entrypoint could not be parsed"


_BOMBS = {
    "parentheses": "(" * 200_000,
    "substitutions": 'vllm "$(' * 50_000,
    "substitutions that close": "vllm " + "$(echo " * 3_000 + "x" + ")" * 3_000,
    "defaults": "vllm ${a:-" * 50_000,
    "quoted defaults": 'vllm "' + "${a:-" * 5_000 + "x" + "}" * 5_000 + '"',
    "groups": "{ " * 100_000,
    "ifs": "if x; then " * 50_000,
    "cases": "case x in x) " * 50_000,
    "functions": "f() " * 50_000,
    "pipes": "x | " * 100_000,
    "lists": "x && " * 100_000,
    "closers": "fi ) ;; } done " * 50_000,
    "backquotes": "`" * 100_001,
    "quotes": "\"'" * 100_001,
    "arithmetic": "vllm $((" + "(" * 50_000 + "1" + ")" * 50_000 + "))",
    "unary": "vllm $((" + "-" * 50_000 + "1))",
    "subscripts": "vllm ${A[" * 50_000,
    "brackets": "[[ ( " * 50_000,
    "dollars": "vllm " + "$" * 200_000,
    "braces": "vllm {1..1000000}",
    "product of braces": "vllm " + "{a,b,c,d}" * 12,
    "open braces": "vllm " + "{a," * 20_000,
    "doubling": "A=x\n" + "A=$A$A\n" * 60 + "vllm $A\n",
    "doubling array": "A=(x)\n" + 'A+=("${A[@]}")\n' * 40 + "vllm\n",
    "recursion": "f() { f; f; }\nf\n",
    "functions that call twice": "".join(f"f{i}() {{ f{i + 1}; f{i + 1}; }}\n" for i in range(22))
    + "f22() { :; }\nf0\n",
    "eval of itself": 'A=\'eval "$A"; eval "$A"\'\neval "$A"\n',
    "nested loops": "".join(f"for a{i} in {{1..60}}; do " for i in range(8)) + "vllm; " + "done; " * 8,
    "counted loop": "for ((i=0;i<1000000000;i++)); do for ((j=0;j<1000000000;j++)); do :; done; done",
    "patterns": "A=" + "a" * 20_000 + "\nvllm ${A//*a*a*a*b/x} ${A##*a*a*a*b} ${A%%b*a*a*a}\n" * 20,
    "regular expression": "A=" + "a" * 190 + "\n[[ $A =~ ^(a+)+$ ]] && [[ $A =~ a*a*a*a*b ]] && vllm\n",
    "huge power": "vllm $((9**9**9**9)) $((1<<99999999999))",
    "self-reference in arithmetic": "A=A+A; B=A+B; vllm $((A)) $((B))",
    "one long line": "vllm " + "a" * 1_000_000,
    "many words": "vllm " + "a " * 500_000,
    "many lines": "A=$B\n" * 180_000,
    "long array": "A=(" + "a " * 400_000 + ")\nvllm\n",
    "many here-documents": "cat " + "<<E " * 50_000 + "\n" + "E\n" * 50_000,
    "replacement": "A=" + "a" * 5_000 + "\nA=${A//a/$A}\nA=${A//a/$A}\nvllm\n",
    "repeated format": "printf -v A '" + "%s" * 5000 + "' x\n" + 'printf -v A "$A%s" $A\n' * 50,
    "conditions": "[ " + "! " * 50_000 + "x ]",
    "many parts": "A=" + "\\x" * 100_000 + "\nB=$A$A$A\nvllm $B\n",
    "locals": "f() { " + "local x=$x$x; " * 500 + "vllm $x; }\nx=ab\nf\n",
}


@pytest.mark.parametrize("name", _BOMBS)
def test_hostile_text_is_bounded(name: str) -> None:
    started = time.process_time()
    run = read(_BOMBS[name])
    # Alone it takes under two seconds; the machine of a test run may be busy.
    assert time.process_time() - started < 6
    assert {p.code for p in run.problems} <= {"too-deep", "too-large", "syntax-partial"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("groups", "too-deep"),
        ("braces", "too-large"),
        ("doubling", "too-large"),
        ("recursion", "too-deep"),
        ("nested loops", "too-large"),
    ],
)
def test_a_limit_is_reported(name: str, code: str) -> None:
    assert code in [p.code for p in read(_BOMBS[name]).problems]


def test_what_came_before_a_limit_is_kept() -> None:
    run = read("vllm a\nvllm {1..1000000}\nvllm b\n")
    assert shown(run) == [["vllm", "a"]]
    assert [p.span.line for p in run.problems if p.span] == [2]


def test_strange_names_in_answers_are_harmless() -> None:
    run = read(
        "vllm $1\n",
        {"": "x", "A B": "y"},
        {"arg:": "x", "arg:x": "y", "arg:²": "w", "arg:99999999999": "z", "guard:": "true"},
    )
    assert shown(run) == [["vllm", "<arg:1>*"]]


def test_holes_are_holes() -> None:
    (hole,) = only(read("vllm $MODEL_PATH")).words[1].text.holes
    assert hole == Hole("the environment variable MODEL_PATH", "MODEL_PATH")
