"""Compose files, as `gdnlint resolve` and `check` see them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support import DENSE, HYBRID, MTP, report

IMAGE = "vllm/vllm-openai:v0.28.0"
DRAFT = '{"method":"mtp","num_speculative_tokens":2}'

FIVE = f"""\
x-engine: &engine
  image: ${{VLLM_IMAGE:-{IMAGE}}}
services:
  plain:
    <<: *engine
    command: --model {HYBRID} --speculative-config '{DRAFT}'
  off:
    <<: *engine
    command:
      - --model
      - {HYBRID}
      - --speculative-config
      - '{DRAFT}'
      - "${{PREFIX_CACHE_ARG:---no-enable-prefix-caching}}"
  dense:
    <<: *engine
    command: ["--model", "{DENSE}", "--enable-prefix-caching", "--speculative-config", '{DRAFT}']
  proxy:
    image: nginx:1
    command: nginx -g 'daemon off;'
  # The script reads what the service passes on.
  script:
    image: local/server:latest
    environment:
      - SPEC=${{SPEC:-on}}
    entrypoint:
      - bash
      - -c
      - |
        ARGS=()
        if [ "$$SPEC" = on ]; then
          ARGS=(--speculative-config "{{\\"method\\":\\"mtp\\",\\"num_speculative_tokens\\":$${{N:-2}}}}")
        fi
        exec vllm serve {HYBRID} "$$@" "$${{ARGS[@]}}"
      - --
    command: [--enable-prefix-caching]
  quiet:
    extends: {{service: script}}
    environment: {{SPEC: "off"}}
"""


def by_line(found: Any) -> dict[int, Any]:
    return {item["line"]: item for item in found["launches"]}


@pytest.fixture
def five(tmp_path: Path) -> Any:
    return report(tmp_path, {"compose.yaml": FIVE})


@pytest.mark.parametrize(
    ("line", "last", "verdict"),
    [
        pytest.param(4, 6, "present", id="a-string-behind-the-image's-own-entrypoint-is-present"),
        pytest.param(7, 14, "absent", id="a-default-that-switches-caching-off-is-absent"),
        pytest.param(15, 17, "absent", id="a-dense-model-is-absent"),
        pytest.param(22, 36, "present", id="a-script-with-the-command-as-its-arguments-is-present"),
        pytest.param(37, 39, "absent", id="a-service-that-extends-it-without-speculation-is-absent"),
    ],
)
def test_each_service_is_a_launch_of_its_own(five: Any, line: int, last: int, verdict: str) -> None:
    launch = by_line(five)[line]
    assert (launch["combination"], launch["end_line"], launch["kind"]) == (verdict, last, "container")


def test_a_service_of_another_program_is_no_launch(five: Any) -> None:
    assert sorted(by_line(five)) == [4, 7, 15, 22, 37]


@pytest.mark.parametrize(
    ("line", "when", "verdict"),
    [
        pytest.param(7, {"PREFIX_CACHE_ARG": "--enable-prefix-caching"}, "present", id="the-opposite-flag-is-present"),
        pytest.param(22, {"SPEC": "off"}, "absent", id="a-variable-that-the-script-tests-is-absent"),
    ],
)
def test_variables_that_are_interpolated_are_scenarios(
    five: Any, line: int, when: dict[str, str], verdict: str
) -> None:
    found = [s["combination"] for s in by_line(five)[line]["scenarios"] if s["when"] == when]
    assert found == [verdict]


def test_a_finding_of_a_scenario_stands_at_the_variable(five: Any) -> None:
    finding = next(f for f in five["findings"] if f["when"] == {"PREFIX_CACHE_ARG": "--enable-prefix-caching"})
    assert finding["line"] == 14


def test_the_image_tells_the_version(five: Any) -> None:
    assert by_line(five)[4]["vllm_version"]["value"] == "0.28.0"


def test_a_finding_stands_at_the_item_that_a_script_only_hands_on(five: Any) -> None:
    finding = next(f for f in five["findings"] if f["launch"] == by_line(five)[22]["id"])
    assert (finding["line"], finding["column"]) == (36, 15)
    assert finding["fixes"][0]["edits"][0]["text"] == "--no-enable-prefix-caching"


def service(*lines: str) -> str:
    return "services:\n  engine:\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize(
    ("verdict", "lines"),
    [
        pytest.param(
            "present",
            [f"image: {IMAGE}", f"command: [{HYBRID}, --speculative-config, '{DRAFT}']"],
            id="a-model-as-first-argument-is-present",
        ),
        pytest.param(
            "present",
            ["image: reg/vllm-cu130:1", "command: >", f"  --model {HYBRID}", "  --enable-prefix-caching", f"  {MTP}"],
            id="flags-for-an-image-that-bears-the-engine's-name-are-present",
        ),
        pytest.param(
            "present",
            ["build: .",
             "command: sh -c \"vllm serve $$M --enable-prefix-caching --spec-method mtp --spec-tokens 2\"",
             f"environment: {{M: {HYBRID}}}"],
            id="a-shell-in-a-string-with-the-service's-environment-is-present",
        ),
        pytest.param(
            "absent",
            [f"image: {IMAGE}", "entrypoint: [python3, serve.py]", f"command: [--model, {HYBRID}, -sc, '{DRAFT}']"],
            id="another-program-as-entrypoint-is-absent",
        ),
        pytest.param(
            "absent",
            [f"image: {IMAGE}", f"command: [--model, {HYBRID}, -sc, 'null']"],
            id="speculation-set-to-null-is-absent",
        ),
        pytest.param(
            "undecided",
            [f"image: {IMAGE}", f"command: [--model, \"${{MODEL}}\", --speculative-config, '{DRAFT}']"],
            id="a-model-from-outside-is-undecided",
        ),
        pytest.param(
            "present",
            [f"image: {IMAGE}", "volumes: [/srv/Qwen3.6-27B:/model]", f"command: [--model, /model, -sc, '{DRAFT}']"],
            id="a-model-that-a-mount-names-is-present",
        ),
        pytest.param(
            "undecided",
            [f"image: {IMAGE}", "volumes: [/srv/weights:/model:ro]", f"command: [--model, /model, -sc, '{DRAFT}']"],
            id="a-mount-that-says-nothing-is-undecided",
        ),
    ],
)  # fmt: skip
def test_what_a_service_comes_to(tmp_path: Path, verdict: str, lines: list[str]) -> None:
    found = report(tmp_path, {"docker-compose.yml": service(*lines)})
    assert max((item["combination"] for item in found["launches"]), default="absent") == verdict


FROM_FILES = service(
    f"image: {IMAGE}",
    "env_file: [server.env]",
    "environment: [MODE]",
    "entrypoint: [bash, -c]",
    "command:",
    '  - exec vllm serve $$MODEL --speculative-config "$$SPEC" ${CACHE:---enable-prefix-caching}',
)


@pytest.mark.parametrize(
    ("verdict", "dotenv", "options"),
    [
        pytest.param("present", "", [], id="without-a-dotenv-the-default-is-present"),
        pytest.param("absent", "CACHE=--no-enable-prefix-caching\n", [], id="a-dotenv-beside-it-is-absent"),
        pytest.param(
            "present",
            "CACHE=--no-enable-prefix-caching\n",
            ["--assume", "CACHE=--enable-prefix-caching"],
            id="what-the-user-assumes-beats-the-dotenv-is-present",
        ),
    ],
)
def test_files_of_variables_are_read(tmp_path: Path, verdict: str, dotenv: str, options: list[str]) -> None:
    files = {
        "compose.yaml": FROM_FILES,
        "server.env": f"# model\nexport MODEL='{HYBRID}'\nSPEC={DRAFT}\n",
        ".env": dotenv,
    }
    (launch,) = report(tmp_path, files, *options)["launches"]
    assert launch["combination"] == verdict
    assert launch["settings"]["model"]["value"] == HYBRID


def test_a_parent_in_another_file_is_followed(tmp_path: Path) -> None:
    files = {
        "a/compose.yaml": service(
            "extends: {file: ../base.yml, service: engine}", f"command: [{HYBRID}, -sc, '{DRAFT}']"
        ),
        "base.yml": service(f"image: {IMAGE}", "command: [nothing]"),
    }
    (tmp_path / ".git").mkdir()
    (launch,) = report(tmp_path, files)["launches"]
    assert (launch["combination"], launch["vllm_version"]["value"]) == ("present", "0.28.0")


@pytest.mark.parametrize(
    "text",
    [
        "services:\n  a:\n    image: vllm/vllm-openai:v1\n    extends: {service: a}\n    command: [--model, x]\n",
        "services:\n  a:\n    image: vllm/vllm-openai:v1\n    command: '${A:-${A:-${A:-" + "${A:-" * 300 + "'\n",
        "services: {a: {image: vllm/vllm-openai, command: [[vllm], {serve: 1}, null, $, '$$', '${', '${}', '${1}']}}\n",
        "services:\n  a: &a\n    image: vllm/vllm-openai\n    command: 1\n    environment: [=, A=, {b: 1}, null]\n",
        'services: {a: {image: vllm/vllm-openai, env_file: [/etc/passwd, ../../x, {path: 1}], command: "\'"}}\n',
    ],
)
def test_odd_files_are_read_to_their_end(tmp_path: Path, text: str) -> None:
    found = report(tmp_path, {"compose.yaml": text})
    assert not [d for d in found["diagnostics"] if d["level"] == "error"]


@pytest.mark.parametrize(
    ("image", "words", "verdicts"),
    [
        pytest.param("acme/vllm-gpu:v1", f'"serve", "{HYBRID}"', ["present"], id="the engine's verb"),
        pytest.param("acme/vllm-gpu:v1", f'"serve", "--model", "{HYBRID}"', ["present"], id="the verb and a flag"),
        pytest.param("acme/vllm-gpu:v1", f'"{HYBRID}"', ["present"], id="a model's name"),
        pytest.param(
            "vllm/vllm-openai:v0.28.0", f'"serve", "{HYBRID}"', ["present"], id="the verb for the engine's image"
        ),
        pytest.param("acme/gateway:v1", f'"serve", "{HYBRID}"', [], id="an image of another name"),
        pytest.param("acme/vllm-gpu:v1", '"bin/start.sh"', [], id="a script"),
        pytest.param("acme/vllm-gpu:v1", '"/opt/start"', [], id="a program"),
    ],
)
def test_words_that_read_as_the_engines_own_start_it_in_an_image_of_its_name(
    tmp_path: Path, image: str, words: str, verdicts: list[str]
) -> None:
    """An image that others build may have the engine, or ``vllm serve``, as its entrypoint."""
    flags = (
        '"--enable-prefix-caching", "--speculative-config.method=mtp", "--speculative-config.num_speculative_tokens=2"'
    )
    text = f"services:\n  a:\n    image: {image}\n    command: [{words}, {flags}]\n"
    assert [item["combination"] for item in report(tmp_path, {"compose.yaml": text})["launches"]] == verdicts


def test_verbs_of_other_programs_start_no_engine(tmp_path: Path) -> None:
    text = "services:\n  a:\n    image: acme/ray-vllm:v1\n    command: [serve, run, 'app:main', --working-dir, /srv]\n"
    assert report(tmp_path, {"compose.yaml": text})["launches"] == []
