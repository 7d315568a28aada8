"""What bash really runs, against what we read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shell_oracle import Oracle, agrees, cases, has_bash, invoked, known, read

pytestmark = pytest.mark.skipif(not has_bash(), reason="needs /bin/bash")


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return Oracle(tmp_path_factory.mktemp("oracle"))


HERE = Path(__file__).parent
KNOWN = cases(HERE / "shell_oracle_known.txt")
"""Scripts of which all words are known."""
OPEN = cases(HERE / "shell_oracle_open.txt")
"""Scripts that hold something which a reader cannot know."""


@pytest.mark.parametrize("name", KNOWN)
def test_known_words_are_what_bash_runs(name: str, oracle: Oracle) -> None:
    text, env = KNOWN[name]
    run = read(text, env, oracle.folder)
    actual = oracle.run(text, env)
    assert [[word.known for word in words] for words in invoked(run)] == actual
    assert actual, "the script runs nothing"
    assert run.problems == []


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_known_is_a_hole(name: str, oracle: Oracle) -> None:
    text, env = OPEN[name]
    run = read(text, {} if name == "home" or name.startswith("json") else env, oracle.folder)
    actual = oracle.run(text, env)
    found = invoked(run)
    assert len(found) == len(actual) > 0
    for words, argv in zip(found, actual, strict=True):
        assert agrees(words, argv), (words, argv)
    assert not known(run)


def test_the_tables_are_as_large_as_they_should_be() -> None:
    assert len(KNOWN) >= 60
    assert len(KNOWN) > 8 * len(OPEN)


# Generated scripts

NAMES = st.sampled_from(["A", "B", "C"])
TEXTS = st.sampled_from(
    ["", "a", "b c", "x=1", '{"n": 1}', "--f", "0", "1", " p ", "a-b-a", "*", "1,2", "[x]", "it's", "q\\r"]
)


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _double(text: str) -> str:
    return '"' + "".join("\\" + c if c in '"$`\\' else c for c in text) + '"'


@st.composite
def parameters(draw: st.DrawFn) -> str:
    name = draw(NAMES)
    default = draw(st.sampled_from(["d", "e f", "'g h'", '"i j"', "$B", "${C:-z}", "{", "", "x-y"]))
    return draw(
        st.sampled_from(
            [
                f"${name}", f"${{{name}}}", f"${{{name}:-{default}}}", f"${{{name}-{default}}}",
                f"${{{name}:+{default}}}",
                f"${{#{name}}}", f"${{{name}#a}}", f"${{{name}##*-}}", f"${{{name}%-*}}", f"${{{name}%%[ab]*}}",
                f"${{{name}/a/X}}", f"${{{name}//[-,]/_}}", f"${{{name}^^}}", f"${{{name}:1}}", f"${{{name}:0:2}}",
                f"${{{name}: -1}}", f"${{{name}/%a/}}", f"${{{name}+set}}",
            ]
        )
    )  # fmt: skip


@st.composite
def words(draw: st.DrawFn) -> str:
    def part() -> str:
        kind = draw(st.integers(0, 5))
        if kind == 0:
            return _single(draw(TEXTS))
        if kind == 1:
            return _double(draw(TEXTS))
        if kind == 2:
            return draw(parameters())
        if kind == 3:
            return '"' + draw(st.sampled_from(["", "x", "y "])) + draw(parameters()) + '"'
        if kind == 4:
            return draw(st.sampled_from(["-w", "--k=", "-{a,b}", "\\ ", "$((1+2))", "$(echo u v)", '"$(echo s  t)"']))
        return draw(
            st.sampled_from(['"${L[@]}"', "${L[@]}", '"${L[*]}"', "${#L[@]}", '"${L[0]:-n}"', "$#", '"$@"', '"$1"'])
        )

    return "".join(part() for _ in range(draw(st.integers(1, 3))))


@st.composite
def conditions(draw: st.DrawFn) -> str:
    name, other = draw(NAMES), _single(draw(TEXTS))
    return draw(
        st.sampled_from(
            [
                f'[ "${name}" = {other} ]', f'[ -n "${name}" ]', f'[ -z "${{{name}:-}}" ]', f"[[ ${name} == {other} ]]",
                f"[[ ${name} != a* ]]", f'[[ -n ${name} && "${name}" != {other} ]]', f"[[ ${name} =~ ^[a-c] ]]",
                f"(( ${{#{name}}} > 1 ))", "true", "false", f'! [ "${name}" = {other} ]', f'[ "$1" = {other} ]',
                f'[ "x${name}" = "x" ] || [ "${name}" = b ]', f'test "${name}" != {other} -a 1 -eq 1',
            ]
        )
    )  # fmt: skip


@st.composite
def statements(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.integers(0, 6 if depth > 1 else 12))
    word = words()
    if kind <= 1:
        return "vllm " + " ".join(draw(st.lists(word, min_size=1, max_size=3)))
    if kind == 2:
        return f"{draw(NAMES)}{draw(st.sampled_from(['=', '+=']))}{draw(word)}".replace("{a,b}", "ab")
    if kind == 3:
        return f"L{draw(st.sampled_from(['=', '+=']))}({' '.join(draw(st.lists(word, max_size=3)))})"
    if kind == 4:
        return f"set -- {draw(word)}" if draw(st.booleans()) else f"L[{draw(st.integers(0, 3))}]={_single(draw(TEXTS))}"
    if kind == 5:
        return f": ${{{draw(NAMES)}:={draw(st.sampled_from(['k', 'k l', '$A']))}}}"
    if kind == 6:
        return f"{draw(conditions())} {draw(st.sampled_from(['&&', '||']))} vllm {draw(word)}"
    body = "\n".join(draw(st.lists(statements(depth + 1), min_size=1, max_size=2)))
    if kind == 7:
        other = draw(statements(depth + 1))
        return f"if {draw(conditions())}; then\n{body}\nelse\n{other}\nfi"
    if kind == 8:
        return f"for {draw(NAMES)} in {draw(word)} {draw(word)}; do\n{body}\ndone"
    if kind == 9:
        pattern = draw(st.sampled_from(["a*", "'b c'|1", "''", "[0-9]", "*-*", '"$B"']))
        return f"case {draw(parameters())} in\n{pattern}) {body}\n;;\n*) vllm other;;\nesac"
    if kind == 10:
        return f"f{depth}() {{\nlocal A={draw(parameters())}\n{body}\n}}\nf{depth} {draw(word)} t"
    if kind == 11:
        return f"(\n{body}\n)"
    return f"{{\n{body}\n}}"


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(statements(), min_size=2, max_size=7), st.dictionaries(NAMES, TEXTS))
def test_generated_scripts_are_what_bash_runs(oracle: Oracle, lines: list[str], env: dict[str, str]) -> None:
    """Every variable is set, so no word may be left open."""
    text = "A=a-b; B='b c'; C=; L=(); set --\nset -f\n" if not env else ": ${A=} ${B=} ${C=}\nL=(); set --\nset -f\n"
    text += "\n".join(lines) + "\n"
    run = read(text, env, oracle.folder)
    assert [[word.known for word in words] for words in invoked(run)] == oracle.run(text, env)
    assert run.problems == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(st.lists(words(), min_size=1, max_size=4), st.dictionaries(NAMES, TEXTS))
def test_words_with_unset_variables_could_be_what_bash_runs(
    oracle: Oracle, written: list[str], env: dict[str, str]
) -> None:
    text = "set -f\nvllm " + " ".join(written) + "\n"
    found = invoked(read(text, env, oracle.folder))
    actual = oracle.run(text, env)
    assert len(found) == len(actual) == 1
    assert agrees(found[0], actual[0]), (found, actual)


def test_the_oracle_sees_exact_words(oracle: Oracle, tmp_path: Path) -> None:
    assert oracle.run("vllm 'a b' '' $'c\\nd'\nuv x\n", {}) == [["vllm", "a b", "", "c\nd"], ["uv", "x"]]
