"""Compose projects of several files, and the images that their services build."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, checked, launch, report, write

IMAGE = "vllm/vllm-openai:v0.28.0"
DRAFT = '{"method":"mtp","num_speculative_tokens":2}'
ON = f"[--model, {HYBRID}, -sc, '{DRAFT}', --enable-prefix-caching]"
OFF = ON.replace("--enable", "--no-enable")
BASE = f"services:\n  engine:\n    image: {IMAGE}\n    command: {ON}\n"


def over(*lines: str) -> str:
    return "services:\n  engine:\n" + "".join(f"    {line}\n" for line in lines)


# -- override files ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "name", "text"),
    [
        pytest.param("absent", "docker-compose.override.yml", over(f"command: {OFF}"), id="a-command-replaces"),
        pytest.param("present", "docker-compose.gpu.yml", over(f"command: {OFF}"), id="other-files-are-their-own"),
        pytest.param("absent", "compose.override.yaml", over("entrypoint: [sleep, '1']"), id="an-entrypoint-replaces"),
        pytest.param("absent", "docker-compose.override.yml", over("command: !reset null"), id="a-reset-takes-away"),
        pytest.param("present", "docker-compose.override.yml", over("environment: {A: b}"), id="the-rest-stays"),
        pytest.param("undecided", "compose.override.yml", over("image: vllm/vllm-openai:latest", f"command: {ON[:-1]}]"
                     .replace(", --enable-prefix-caching", "")), id="another-image-is-another-version"),
    ],
)  # fmt: skip
def test_an_override_file_is_merged_over_its_base(tmp_path: Path, verdict: str, name: str, text: str) -> None:
    found = report(tmp_path, {"docker-compose.yml": BASE, name: text})["launches"]
    assert max((item["combination"] for item in found), default="absent") == verdict
    assert all((item["path"], item["line"]) == ("docker-compose.yml", 2) for item in found)


def test_an_override_file_alone_is_judged_with_its_base(tmp_path: Path) -> None:
    base = BASE.replace("--enable", "--no-enable") + f"  other:\n    image: {IMAGE}\n    command: {ON}\n"
    files = {"compose.override.yaml": over(f"command: {ON}"), "compose.yaml": base}
    found = launch(tmp_path, files)
    assert (found["path"], found["line"], found["combination"]) == ("compose.yaml", 2, "present")
    (finding,) = found["findings"]
    assert {place["path"] for place in finding["related"]} == {"compose.yaml", "compose.override.yaml"}
    assert not any(edit["path"] == "compose.yaml" for fix in finding["fixes"] for edit in fix["edits"])


def test_a_pair_is_told_once(tmp_path: Path) -> None:
    write(tmp_path, {"compose.yaml": BASE, "compose.override.yaml": over("environment: [A=b]")})
    assert [item["id"] for item in checked(tmp_path, ".")["launches"]] == ["compose.yaml:2"]


SCRIPT = 'entrypoint: [bash, -c, "vllm serve $$MODEL $$FLAGS --spec-method mtp --spec-tokens 2"]'


@pytest.mark.parametrize(
    ("verdict", "lines"),
    [
        pytest.param("present", ["environment: [FLAGS=--enable-prefix-caching]"], id="a-list-over-a-mapping"),
        pytest.param("absent", ["environment: {OTHER: 1}"], id="variables-are-merged-by-name"),
        pytest.param("absent", [f"environment: !override {{MODEL: {DENSE}}}"], id="a-mapping-is-replaced"),
        pytest.param("present", ["environment: {FLAGS: !reset null}"], id="one-variable-is-taken-away"),
    ],
)
def test_variables_are_merged_by_their_names(tmp_path: Path, verdict: str, lines: list[str]) -> None:
    base = over(f"image: {IMAGE}", SCRIPT, f"environment: {{MODEL: {HYBRID}, FLAGS: --no-enable-prefix-caching}}")
    found = launch(tmp_path, {"compose.yml": base, "compose.override.yml": over(*lines)})
    assert found["combination"] == verdict


# -- include and extends -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "include"),
    [
        pytest.param("present", "[engine/compose.yaml]", id="short"),
        pytest.param("absent", "[{path: engine/compose.yaml, env_file: off.env}]", id="with-variables"),
        pytest.param("absent", "[{path: [engine/compose.yaml, off.yaml]}]", id="with-a-file-merged-over-it"),
    ],
)
def test_included_files_are_read(tmp_path: Path, verdict: str, include: str) -> None:
    files = {
        "compose.yaml": f"include: {include}\n",
        "engine/compose.yaml": BASE.replace("--enable-prefix-caching", "'${CACHE:---enable-prefix-caching}'"),
        "off.env": "CACHE=--no-enable-prefix-caching\n",
        "off.yaml": over(f"command: {OFF}"),
    }
    found = launch(tmp_path, files)
    assert (found["combination"], found["path"], found["line"]) == (verdict, "engine/compose.yaml", 2)


def test_files_that_include_each_other_end(tmp_path: Path) -> None:
    files = {"compose.yaml": f"include: [b.yaml]\n{BASE}", "b.yaml": "include: [compose.yaml]\n"}
    assert {item["path"] for item in report(tmp_path, files)["launches"]} == {"compose.yaml"}


def test_paths_of_an_extended_file_go_by_its_own_folder(tmp_path: Path) -> None:
    base = over(f"image: {IMAGE}", "env_file: engine.env", SCRIPT)
    files = {
        "compose.yaml": over("extends: {file: lib/base.yaml, service: engine}"),
        "lib/base.yaml": base,
        "lib/engine.env": f"MODEL={HYBRID}\nFLAGS=--enable-prefix-caching\n",
        "engine.env": f"MODEL={DENSE}\n",
    }
    assert launch(tmp_path, files)["combination"] == "present"


# -- files of variables ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verdict", "env_file", "text"),
    [
        pytest.param("present", "[{path: a.env, required: false}]", f"MODEL={HYBRID}\n", id="a-path-with-options"),
        pytest.param("absent", "[a.env, b.env]", f"MODEL={HYBRID}\n", id="the-last-file-wins"),
        pytest.param("present", "[a.env]", "BASE=Qwen\nMODEL=${BASE}/Qwen3.5-9B # text\n", id="variables-in-values"),
        pytest.param("undecided", "[a.env]", "BASE=9B\nMODEL='Qwen/Qwen-${BASE}'\n", id="but-not-in-single-quotes"),
        pytest.param("present", "[a.env]", f'X="a\\"b"\nMODEL="{HYBRID}"\n', id="escaped-quotes"),
        pytest.param("present", "[a.env]", f'X="a\nMODEL={DENSE}\n"\nMODEL={HYBRID}\n', id="values-of-several-lines"),
        pytest.param("absent", "[{path: a.env, format: raw}]", 'MODEL="Qwen/Qwen3.5-9B"\nMODEL=x/Qwen3-8B\n', id="raw"),
    ],
)  # fmt: skip
def test_files_of_variables(tmp_path: Path, verdict: str, env_file: str, text: str) -> None:
    compose = over(f"image: {IMAGE}", f"env_file: {env_file}", SCRIPT.replace("$$FLAGS", "--enable-prefix-caching"))
    found = report(tmp_path, {"compose.yaml": compose, "a.env": text, "b.env": f"MODEL={DENSE}\n"})["launches"]
    assert [item["combination"] for item in found] == [verdict]


@pytest.mark.parametrize(
    ("verdict", "flag"),
    [
        ("present", "${CACHE:?say which}"),
        ("absent", "${CACHE:+--no-enable-prefix-caching}"),
        ("present", "${A:-${B:---enable-prefix-caching}}"),
        ("absent", "${A:-${C:---enable-prefix-caching}}"),
        ("absent", "${A:-${D-${C}}}"),
    ],
)
def test_variables_inside_of_variables(tmp_path: Path, verdict: str, flag: str) -> None:
    compose = over(f"image: {IMAGE}", "command:", f"  - {HYBRID}", f"  - -sc={DRAFT}", f'  - "{flag}"')
    dotenv = "CACHE=--enable-prefix-caching\nC=--no-enable-prefix-caching\n"
    assert launch(tmp_path, {"compose.yaml": compose, ".env": dotenv})["combination"] == verdict


# -- images and scripts ------------------------------------------------------------------------------------------------

DOCKERFILE = f"""\
ARG TAG=v0.27.1
FROM vllm/vllm-openai:${{TAG}} AS engine
ARG MODE=--enable-prefix-caching
ENV MODE=${{MODE}} MODEL={HYBRID}
WORKDIR /app
COPY start.sh .
ENTRYPOINT ["./start.sh"]
CMD ["--speculative-config", "{DRAFT.replace('"', chr(92) + '"')}"]
FROM engine AS plain
CMD ["--max-model-len", "4096"]
FROM vllm/vllm-openai:v0.28.0
RUN <<EOF
pip install vllm==0.33.0
EOF
COPY <<'EOF' /serve
#!/bin/sh
exec vllm serve {HYBRID} --enable-prefix-caching --spec-method mtp --spec-tokens 2
EOF
ENTRYPOINT ["/serve"]
"""
START = '#!/bin/bash\nexec vllm serve "$MODEL" $MODE "$@"\n'


@pytest.mark.parametrize(
    ("verdict", "version", "lines"),
    [
        pytest.param("present", "0.27.1", ["build: {context: img, target: engine}"], id="a-stage-is-present"),
        pytest.param("absent", "0.27.1", ["build: {context: img, target: plain}"], id="a-later-stage-is-absent"),
        pytest.param("present", "0.33.0", ["build: img"], id="the-last-stage-is-present"),
        pytest.param(
            "absent", "0.28.0",
            ["build:", "  context: img", "  target: engine",
             "  args: [TAG=v0.28.0, MODE=--no-enable-prefix-caching]"],
            id="build-arguments-switch-it-off",
        ),
        pytest.param(
            "absent", "0.27.1",
            ["build: {context: img, target: engine}", "environment: {MODE: --no-enable-prefix-caching}"],
            id="the-service's-environment-beats-the-image's",
        ),
        pytest.param("absent", "0.27.1", ["build: {context: img, target: engine}", "command: []"],
                     id="an-empty-command-takes-the-image's-away"),
        pytest.param("absent", "0.27.1", ["build: {context: img, target: engine}", "command: --max-num-seqs 4"],
                     id="a-command-replaces-the-image's"),
        pytest.param(
            "present", "0.27.1",
            ["image: local/engine"], id="an-image-that-another-service-builds",
        ),
    ],
)  # fmt: skip
def test_what_a_service_builds(tmp_path: Path, verdict: str, version: str, lines: list[str]) -> None:
    other = "  other: {image: local/engine, build: {context: img, target: engine}, entrypoint: [sleep, '1']}\n"
    files = {"compose.yaml": over(*lines) + other, "img/Dockerfile": DOCKERFILE, "img/start.sh": START}
    found = launch(tmp_path, files)
    assert (found["combination"], found["vllm_version"]["value"]) == (verdict, version)


RUNS = f"#!/bin/sh\nexec vllm serve {HYBRID} $FLAGS --spec-method mtp --spec-tokens 2\n"


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["volumes: ['./start.sh:/start.sh:ro']", "entrypoint: [bash, /start.sh]"], id="mounted"),
        pytest.param(["volumes: [{type: bind, source: ., target: /w}]", "command: bash -c '/w/start.sh'"], id="folder"),
        pytest.param(["configs: [{source: run, target: /run.sh}]", "command: [sh, /run.sh]"], id="a-config's-content"),
        pytest.param(["configs: [run]", "command: /run"], id="a-config-under-its-own-name"),
        pytest.param(["secrets: [file]", "command: bash /run/secrets/file"], id="a-secret's-file"),
    ],
)
@pytest.mark.parametrize(
    ("verdict", "flags"), [("present", "--enable-prefix-caching"), ("absent", "--no-enable-prefix-caching")]
)
def test_scripts_in_a_container(tmp_path: Path, verdict: str, flags: str, lines: list[str]) -> None:
    content = RUNS.replace("$", "$$").replace("\n", "\n      ")
    compose = over("image: local/vllm", f"environment: [FLAGS={flags}]", *lines)
    compose += f"configs:\n  run:\n    content: |\n      {content}\nsecrets: {{file: {{file: start.sh}}}}\n"
    found = launch(tmp_path, {"compose.yaml": compose, "start.sh": RUNS})
    assert (found["combination"], found["path"], found["line"]) == (verdict, "compose.yaml", 2)


# -- several in one file -----------------------------------------------------------------------------------------------

FIVE = f"""\
x-common: &common
  image: {IMAGE}
  environment: &env {{SPEC: on, MODEL: {HYBRID}}}
x-run: &run
  - -c
  - |
    [ "$$SPEC" = on ] && A="--spec-method mtp --spec-tokens 2"
    exec vllm serve $$MODEL $$A $$CACHE
services:
  on:
    <<: *common
    entrypoint: bash
    command: *run
  off:
    <<: *common
    entrypoint: bash
    command: *run
    environment: {{<<: *env, SPEC: "off"}}
  dense:
    <<: *common
    entrypoint: bash
    command: *run
    environment: {{<<: *env, MODEL: {DENSE}}}
  uncached:
    <<: *common
    entrypoint: bash
    command: *run
    environment: {{<<: *env, CACHE: --no-enable-prefix-caching}}
  open:
    <<: *common
    entrypoint: bash
    command: *run
    environment: {{<<: *env, MODEL: "${{MODEL:?}}"}}
"""


def test_five_services_each_have_their_own_verdict(tmp_path: Path) -> None:
    found: Any = report(tmp_path, {"compose.yaml": FIVE})
    assert [(item["line"], item["end_line"], item["combination"]) for item in found["launches"]] == [
        (10, 13, "present"), (14, 18, "absent"), (19, 23, "absent"), (24, 28, "absent"), (29, 33, "undecided"),
    ]  # fmt: skip
    assert [f["launch"] for f in found["findings"] if f["rule"] == "GDN001"] == ["compose.yaml:10"]
