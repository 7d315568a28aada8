# ruff: noqa: E501 (programs are written as people write them)
"""The reader of Python: where values stand, what it asks, and texts that are meant to break it."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from gdnlint.documents.python import SPREAD, Call, Module, Run, fragment_of, mentions_call
from gdnlint.project import Project
from gdnlint.source import Fragment, Source
from gdnlint.values import Hole, Value, World

NAMES = frozenset(
    ("vllm.LLM", "LLM", "vllm.EngineArgs", "subprocess.run", "os.system", "Config", "omegaconf.OmegaConf.create")
)


def read(text: str, world: World | None = None, names: frozenset[str] = NAMES) -> Run:
    module = Module(Fragment.whole(Source("launch.py", dedent(text))))
    return module.run(world or World(), lambda callee: callee in names)


def one(text: str, world: World | None = None) -> Call:
    run = read(text, world)
    assert not run.problems
    assert len(run.calls) == 1
    return run.calls[0]


def reasons(value: Value) -> list[str]:
    return [hole.reason for hole in value.holes()]


# --- places


def test_spans_of_a_call() -> None:
    call = one(
        """\
        import vllm

        class Runner:
            def start(self):
                # é in front of it
                self.llm = vllm.LLM("ü", tp = 4)
        """
    )
    assert call.span.text == 'vllm.LLM("ü", tp = 4)'
    assert (call.span.line, call.span.column) == (6, 20)
    assert call.name_span.text == "vllm.LLM"
    assert call.function == "Runner.start"
    assert call.target == "self.llm"
    assert call.args[0].span is not None and call.args[0].span.text == '"ü"'
    value = call.kwargs["tp"]
    assert value.span is not None and value.span.text == "tp = 4"
    assert (value.route, value.name, value.data) == ("keyword", "tp", 4)


def test_spans_with_carriage_returns_bom_and_decorators() -> None:
    text = '\ufeffimport os\r\n@deco\r\n@other("x")\r\ndef f():\r\n    os.system("ä b")\r\n'
    call = Module(Fragment.whole(Source("x.py", text))).run(World(), lambda n: n == "os.system").calls[0]
    assert call.span.text == 'os.system("ä b")'
    assert call.span.line == 5


def test_spans_in_a_fragment_point_into_its_file() -> None:
    source = Source("job.yaml", "run: |\n  import os\n  os.system('x')\n")
    inner = "import os\nos.system('x')\n"
    offsets = [*range(9, 19), *range(21, 36)]
    call = Module(Fragment(inner, source, offsets)).run(World(), lambda n: n == "os.system").calls[0]
    assert call.span.text == "os.system('x')"
    assert call.span.line == 3


def test_spans_of_many_statements_agree_with_the_text() -> None:
    lines = ["import os; X = 1", "", "# ü"]
    lines += [f"def f{i}():\n    # ö\n    os.system('é{i}')\n" for i in range(30)]
    lines += ["if X: os.system('a'); os.system('b')", "os.system('c'); os.system(", "  'd')"]
    calls = read("\n".join(lines)).calls
    assert len(calls) == 34
    for call in calls:
        assert call.span.text.startswith("os.system(") and call.span.text.endswith(")")
        assert call.args[0].span is not None
        assert call.args[0].span.text == repr(call.args[0].data)


def test_hops_of_a_constant_and_a_dictionary() -> None:
    call = one(
        """
        from vllm import LLM
        MODEL = "m"
        OPTIONS = {"model": MODEL, "tp": 4}
        OPTIONS["seed"] = 1
        LLM(**OPTIONS, other=MODEL)
        """
    )
    model = call.kwargs["model"]
    assert model.span is not None and model.span.text == '"model": MODEL'
    assert {p.what: p.span.text for p in model.places} == {
        "MODEL is set": 'MODEL = "m"',
        "OPTIONS is set": 'OPTIONS = {"model": MODEL, "tp": 4}',
    }
    assert call.kwargs["seed"].span is not None and call.kwargs["seed"].span.text == 'OPTIONS["seed"] = 1'
    assert [p.what for p in call.kwargs["other"].places] == ["MODEL is set"]


def test_callee_of_names_that_nothing_defines() -> None:
    assert one("from vllm import *\nLLM(model='m')").callee == "LLM"
    assert one("LLM(model='m')").callee == "LLM"


# --- arguments that are not known


def test_open_keyword_arguments() -> None:
    call = one(
        """
        from vllm import LLM
        def launch(model="m", **kwargs):
            LLM(model=model, **kwargs)
        """
    )
    assert call.open_reason == "`**kwargs` of launch() may add or replace arguments"
    assert call.kwargs["model"].plain() == "m"


def test_open_mapping_in_front_and_behind() -> None:
    first, second = read(
        """
        from vllm import LLM
        from elsewhere import DEFAULTS
        LLM(**{**DEFAULTS, "a": 1})
        LLM(**{"a": 1, **DEFAULTS})
        """
    ).calls
    assert first.open_reason and second.open_reason
    assert first.kwargs["a"].data == 1
    assert not second.kwargs["a"].is_known


def test_open_nested_mapping_is_not_known() -> None:
    call = one("from vllm import LLM\nimport x\nLLM(model='m', speculative_config={**x.D, 'method': 'mtp'})")
    value = call.kwargs["speculative_config"]
    assert not value.is_known
    method = value.at(["method"])
    assert method is not None and method.data == "mtp"


def test_unknown_words_of_a_list_are_a_spread() -> None:
    call = one("import subprocess\ndef f(extra):\n    subprocess.run(['vllm', *extra, '--x'])")
    words = call.args[0].data
    assert isinstance(words, list)
    assert [w.route for w in words] == ["", SPREAD, ""]
    assert [w.plain() for w in words] == ["vllm", None, "--x"]


def test_an_unknown_function_may_change_what_it_is_given() -> None:
    known, changed = read(
        """
        from vllm import EngineArgs, LLM
        from elsewhere import tweak
        options = {"a": 1}
        print(options)
        LLM(**options)
        tweak(options)
        LLM(**options)
        """
    ).calls
    assert known.kwargs["a"].data == 1
    assert not changed.kwargs["a"].is_known
    assert changed.open_reason


def test_reasons_are_short() -> None:
    call = one(f"from vllm import LLM\nLLM(model=get_it('x'), other={'a' * 30}.{'b' * 30}[0])")
    assert reasons(call.kwargs["model"]) == ["the value of `get_it(...)`"]
    assert all(len(r) < 60 for r in reasons(call.kwargs["other"]))


# --- writes on results and on objects


def test_writes_are_folded_into_the_call() -> None:
    call = one(
        """
        from vllm import EngineArgs
        args = EngineArgs(model="m", enable_prefix_caching=True)
        args.enable_prefix_caching = False
        """
    )
    value = call.kwargs["enable_prefix_caching"]
    assert value.data is False
    assert value.span is not None and value.span.text == "args.enable_prefix_caching = False"
    assert call.target == "args"


def test_nested_writes_become_mappings() -> None:
    call = one(
        """
        from settings import Config
        def main():
            cfg = Config()
            cfg.generator.engine.enable_prefix_caching = False
            cfg.generator.engine.tp = 4
            cfg.trainer["x"] = 1
        """.replace("from settings import Config", "")
    )
    assert {k: v.plain() for k, v in call.kwargs.items()} == {
        "generator": {"engine": {"enable_prefix_caching": False, "tp": 4}},
        "trainer": {"x": 1},
    }
    inner = call.kwargs["generator"].at(["engine", "enable_prefix_caching"])
    assert inner is not None and inner.span is not None
    assert inner.span.text == "cfg.generator.engine.enable_prefix_caching = False"


def test_writes_on_a_dataclass_of_the_module() -> None:
    call = one(
        """
        from dataclasses import dataclass, field
        @dataclass
        class Engine:
            apc: bool = True
        @dataclass
        class Config:
            engine: Engine = field(default_factory=Engine)
        cfg = Config()
        cfg.engine.apc = False
        """
    )
    assert call.callee == "Config"
    assert call.kwargs["engine"].plain() == {"apc": False}


def test_writes_on_omegaconf() -> None:
    call = one(
        """
        from omegaconf import OmegaConf
        cfg = OmegaConf.create({"engine": {"apc": True}, "seed": 1})
        cfg.engine.apc = False
        OmegaConf.update(cfg, "engine.spec.method", "mtp")
        """
    )
    assert call.args[0].plain() == {"engine": {"apc": True}, "seed": 1}
    assert call.kwargs["engine"].plain() == {"apc": False, "spec": {"method": "mtp"}}


def test_result_of_a_call_as_an_argument() -> None:
    args, llm = read("from vllm import EngineArgs, LLM\nLLM(EngineArgs(model='m'))").calls
    assert llm.args[0].places[-1].span == args.span
    assert not llm.args[0].is_known


def test_fields_of_engine_arguments_as_keywords() -> None:
    llm = read(
        """
        from dataclasses import asdict
        from vllm import EngineArgs, LLM
        args = EngineArgs(model="m", enable_prefix_caching=False)
        LLM(**asdict(args))
        """
    ).calls[1]
    assert llm.kwargs["enable_prefix_caching"].data is False
    assert "EngineArgs" in llm.open_reason


# --- questions


def test_guard_is_asked_and_answered() -> None:
    text = """\
        from vllm import LLM
        import torch
        if torch.cuda.is_available():
            LLM(model="a", on=True)
        else:
            LLM(model="a", on=False)
        """
    run = read(text)
    (question,) = run.questions
    assert (question.name, question.witnesses, question.text) == (
        "guard:3:4",
        ("true", "false"),
        "torch.cuda.is_available()",
    )
    assert [c.kwargs["on"].data for c in run.calls] == [False]
    assert run.calls[0].guards == ("guard:3:4",)
    assert [c.kwargs["on"].data for c in read(text, World(answers={"guard:3:4": "true"})).calls] == [True]


def test_conditional_expression_is_a_guard() -> None:
    text = "from vllm import LLM\nimport x\nLLM(model='m', tp=8 if x.big else 1)\n"
    run = read(text)
    (question,) = run.questions
    assert run.calls[0].kwargs["tp"].data == 1
    assert read(text, World(answers={question.name: "true"})).calls[0].kwargs["tp"].data == 8


def test_conditions_that_lead_nowhere_are_not_asked() -> None:
    run = read(
        """
        import os, logging, torch
        from vllm import LLM
        if torch.cuda.is_available():
            logging.info("x")
        debug = os.environ.get("DEBUG")
        if debug:
            unrelated = 1
        if not os.path.exists("x"):
            raise SystemExit
        LLM(model="m")
        """
    )
    assert len(run.calls) == 1
    assert run.questions == []


def test_environment_is_asked_with_what_it_is_compared_to() -> None:
    text = """
        import os
        from vllm import LLM
        mode = os.environ.get("MODE", "safe").lower()
        if mode == "fast":
            LLM(model="fast")
        elif mode in ("a", "b"):
            LLM(model="ab")
        else:
            LLM(model=mode)
        """
    run = read(text)
    assert [(q.name, q.witnesses) for q in run.questions] == [("MODE", ("fast", "a", "b"))]
    assert [c.kwargs["model"].data for c in run.calls] == ["safe"]
    assert [c.kwargs["model"].data for c in read(text, World(env={"MODE": "FAST"})).calls] == ["fast"]


def test_environment_without_default_is_a_hole() -> None:
    call = one("import os\nfrom vllm import LLM\nLLM(model=f\"x/{os.environ['M']}\")")
    (hole,) = call.kwargs["model"].holes()
    assert hole == Hole("the environment variable M", "M")


def test_parameters_of_functions_that_nobody_calls() -> None:
    text = """
        from vllm import LLM
        def launch(model, tp=4, on=True, unused=1):
            if on:
                LLM(model=model, tp=tp)
        """
    run = read(text)
    assert {q.name: q.witnesses for q in run.questions} == {
        "param:launch.model": (),
        "param:launch.tp": (),
        "param:launch.on": ("false",),
    }
    (call,) = run.calls
    assert list(call.kwargs["model"].holes()) == [Hole("the argument model of launch()", "param:launch.model")]
    assert call.kwargs["tp"].data == 4
    assert [p.what for p in call.kwargs["tp"].places] == ["the default of tp in launch()"]
    answers = {"param:launch.model": "x", "param:launch.tp": "8"}
    (call,) = read(text, World(answers=answers)).calls
    assert (call.kwargs["model"].data, call.kwargs["tp"].data) == ("x", 8)
    assert read(text, World(answers={"param:launch.on": "false"})).calls == []


def test_function_that_is_called_is_not_read_with_its_defaults() -> None:
    run = read(
        """
        from vllm import LLM
        def launch(model="default"):
            LLM(model=model)
        if __name__ == "__main__":
            launch("given")
        """
    )
    assert [c.kwargs["model"].data for c in run.calls] == ["given"]
    assert run.questions == []


def test_command_line_options() -> None:
    text = """
        import argparse
        from vllm import LLM
        parser = argparse.ArgumentParser()
        parser.add_argument("--model", required=True)
        parser.add_argument("--mode", choices=["a", "b"], default="a")
        parser.add_argument("--enable-prefix-caching", action="store_true")
        args = parser.parse_args()
        LLM(model=args.model, mode=args.mode, enable_prefix_caching=args.enable_prefix_caching)
        """
    run = read(text)
    assert {q.name: q.witnesses for q in run.questions} == {
        "param:--model": (),
        "param:--mode": ("a", "b"),
        "param:--enable-prefix-caching": ("true",),
    }
    (call,) = run.calls
    assert list(call.kwargs["model"].holes()) == [Hole("the option --model", "param:--model")]
    assert call.kwargs["enable_prefix_caching"].data is False
    (call,) = read(text, World(answers={"param:--enable-prefix-caching": "true", "param:--model": "m"})).calls
    assert (call.kwargs["enable_prefix_caching"].data, call.kwargs["model"].data) == (True, "m")


@pytest.mark.parametrize(
    ("lines", "model"),
    [
        ('@app.command()\ndef main(model: str = typer.Option("typer", help="x")):', "typer"),
        ('@click.command()\n@click.option("--model", "-m", default="click")\ndef main(model):', "click"),
        ('def main(model="fire"):', "fire"),
    ],
)
def test_defaults_of_command_line_functions(lines: str, model: str) -> None:
    run = read(f"import typer, click, fire\nfrom vllm import LLM\n{lines}\n    LLM(model=model)\nmain()\n")
    assert [c.kwargs["model"].data for c in run.calls] == [model]


def test_questions_and_guards_of_a_script_argument() -> None:
    text = "import sys\nfrom vllm import LLM\nLLM(model=sys.argv[1])\n"
    assert [q.name for q in read(text).questions] == ["arg:1"]
    assert read(text, World(answers={"arg:1": "m"})).calls[0].kwargs["model"].data == "m"


def test_methods_that_nobody_calls_use_the_object_that_is_made() -> None:
    run = read(
        """
        import ray
        from vllm import LLM
        @ray.remote(num_gpus=1)
        class Worker:
            def __init__(self, model, tp=1):
                self.model, self.tp = model, tp
            def start(self):
                LLM(model=self.model, tp=self.tp)
        worker = Worker.options(x=1).remote("m", tp=2)
        """
    )
    assert [(c.kwargs["model"].data, c.kwargs["tp"].data) for c in run.calls] == [("m", 2)]


def test_environment_of_a_call() -> None:
    call = one("import os\nos.environ['VLLM_USE_V1'] = '1'\nos.system('vllm serve m')")
    assert call.env["VLLM_USE_V1"].data == "1"


# --- command lines as text


def test_fragment_of_a_formatted_string() -> None:
    call = one(
        """
        import os
        MODEL = "Qwen/x"
        os.system(f"vllm serve {MODEL} "
                  "--port 1")
        """
    )
    fragment = fragment_of(call.args[0])
    assert fragment is not None
    assert fragment.text == "vllm serve Qwen/x --port 1"
    at = fragment.text.index("--port")
    assert fragment.span(at, at + 6).text == "--port"
    assert fragment.span(at, at + 6).line == 5
    at = fragment.text.index("Qwen")
    assert (fragment.span(at, at + 6).text, fragment.span(at, at + 6).line) == ("Qwen/x", 3)


def test_fragment_of_a_string_with_escapes_or_holes() -> None:
    escaped = one("import os\nos.system('a\\tb')").args[0]
    fragment = fragment_of(escaped)
    assert fragment is not None and fragment.text == "a\tb"
    assert fragment.span(0, 1).line == 2
    assert fragment_of(one("import os, x\nos.system(f'a {x.y}')").args[0]) is None
    assert fragment_of(Value(4)) is None


def test_text_keeps_its_holes() -> None:
    call = one("import os, x\nos.system(f'vllm serve {x.model} --port {x.port}')")
    assert reasons(call.args[0]) == ["the value of `x.model`", "the value of `x.port`"]
    assert call.args[0].span is not None


def test_json_text_keeps_its_holes() -> None:
    call = one(
        """
        import json, subprocess, x
        subprocess.run(["vllm", json.dumps({"method": "mtp", "n": x.n, "name": f"a{x.m}"})])
        """
    )
    words = call.args[0].data
    assert isinstance(words, list)
    text = words[1].data
    assert text.show() == '{"method": "mtp", "n": <the value of `x.n`>, "name": "a<the value of `x.m`>"}'  # type: ignore[union-attr]


# --- other files of the project


def test_constants_of_the_project_are_read_and_the_outside_is_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "pkg").mkdir(parents=True)
    (tmp_path / "secret.py").write_text("X = 'secret'\n")
    (root / "outside.py").symlink_to(tmp_path / "secret.py")
    (root / "pkg" / "__init__.py").write_text("")
    (root / "pkg" / "names.py").write_text("MODEL = 'm'\nraise SystemExit('never run')\n")
    (root / "pkg" / "main.py").write_text(
        "from .names import MODEL\nfrom outside import X\nfrom vllm import LLM\nLLM(model=MODEL, x=X)\n"
    )
    project = Project(root)
    source = project.source(root / "pkg" / "main.py")
    module = Module(Fragment.whole(source), project=project, directory=root / "pkg")
    (call,) = module.run(World(), lambda n: n == "vllm.LLM").calls
    assert call.kwargs["model"].data == "m"
    assert not call.kwargs["x"].is_known
    assert [Path(p.span.source.path).name for p in call.kwargs["model"].places] == ["names.py"]


def test_imports_that_lead_in_a_circle(tmp_path: Path) -> None:
    for here, there in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{here}.py").write_text(f"from {there} import X\nfrom {there} import *\n")
    (tmp_path / "main.py").write_text("from a import X\nimport main\nfrom vllm import LLM\nLLM(model=X, y=main.y)\n")
    project = Project(tmp_path)
    module = Module(Fragment.whole(project.source(tmp_path / "main.py")), project=project, directory=tmp_path)
    (call,) = module.run(World(), lambda n: n == "vllm.LLM").calls
    assert not call.kwargs["model"].is_known


def test_name_of_a_wanted_call_survives_a_project_that_has_the_package(tmp_path: Path) -> None:
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("class LLM:\n    def __init__(self, **kw):\n        pass\n")
    (tmp_path / "main.py").write_text("from vllm import LLM\nimport vllm\nLLM(model='a')\nvllm.LLM(model='b')\n")
    project = Project(tmp_path)
    module = Module(Fragment.whole(project.source(tmp_path / "main.py")), project=project, directory=tmp_path)
    calls = module.run(World(), lambda n: n == "vllm.LLM").calls
    assert [c.kwargs["model"].data for c in calls] == ["a", "b"]


def test_a_module_is_read_in_many_worlds() -> None:
    module = Module(
        Fragment.whole(Source("x.py", "import os\nfrom vllm import LLM\nD = {}\nD['m'] = os.getenv('M')\nLLM(**D)"))
    )
    found = [
        module.run(World(env=e), lambda n: n == "vllm.LLM").calls[0].kwargs["m"].data for e in ({}, {"M": "x"}, {})
    ]
    assert found == [None, "x", None]


# --- texts that cannot be read


@pytest.mark.parametrize(
    "text",
    ["def f(:\n", "print 'x'\n", "x = (1\n", "\0", "if x:\n", "x = '\n", "class\n", "exec 'x' in y\n", "\x0c$\n"],
)
def test_syntax_errors_are_problems(text: str) -> None:
    run = read("from vllm import LLM\nLLM(model='m')\n" + text)
    assert run.calls == []
    assert [p.code for p in run.problems] == ["syntax"]
    assert "line" in run.problems[0].message


def test_syntax_error_says_its_line() -> None:
    (problem,) = read("x = 1\n\ndef f(:\n").problems
    assert problem.span is not None and problem.span.line == 3


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 5000 + "1" + ")" * 5000,
        "x = " + "[" * 5000,
        "x = " + "{1:" * 3000 + "1" + "}" * 3000,
        "x = " + "f(" * 3000 + ")" * 3000,
        "x = " + "-" * 20000 + "1",
        "x = " + "not " * 20000 + "1",
        "x = " + "lambda: " * 5000 + "1",
        "x = a" + ".b" * 20000,
        "x = a" + "()" * 5000,
        "x = a" + "[0]" * 5000,
        "x = 1" + " + 1" * 20000,
        "x = " + "1 if a else " * 5000 + "1",
        "x = " + "f'{" * 500 + "1" + "}'" * 500,
        "if a:\n pass\n" + "elif b:\n pass\n" * 5000,
        "".join(" " * i + "if a:\n" for i in range(99)) + " " * 99 + "pass\n",
    ],
    ids=lambda text: text[:12],
)
def test_deep_texts_end_in_time(text: str) -> None:
    run = read("from vllm import LLM\nLLM(model='m')\n" + text + "\n")
    assert mentions_call(text + "\nLLM()", {"LLM"})
    assert run.problems == [] or {p.code for p in run.problems} <= {"too-deep", "syntax"}
    assert len(run.calls) == (0 if run.problems else 1)


@pytest.mark.parametrize(
    "value",
    [
        "'a' * 10**9",
        "10 ** 10 ** 10",
        "1 << 10**9",
        "[0] * 10**9",
        "list(range(10**12))",
        "f'{1:1000000000}'",
        "'%1000000000d' % 1",
        "'{:1000000000}'.format(1)",
        "'x'.replace('', 'y' * 100000).replace('y', 'z' * 100000)",
        "9" * 5000,
        "'x'.ljust(10**9)",
        "recurse(1)",
        "forever()",
        "double",
        "tree",
        "loop",
        "json.loads('[' * 100000)",
    ],
)
def test_huge_values_are_holes(value: str) -> None:
    call = one(
        f"""
        import json
        from vllm import LLM
        def recurse(n):
            return recurse(n + 1) + recurse(n + 2)
        def forever():
            while True:
                pass
            return other
        double = "ab"
        for _ in range(30):
            double += double
        tree = [1]
        for _ in range(30):
            tree = [tree, tree]
        loop = []
        loop.append(loop)
        LLM(model="m", value={value})
        """
    )
    assert not call.kwargs["value"].is_known
    assert call.kwargs["model"].data == "m"


def test_too_many_steps_are_a_problem() -> None:
    run = read(
        """
        from vllm import LLM
        x = 0
        for a in range(30):
            for b in range(30):
                for c in range(30):
                    for d in range(30):
                        x += 1
        LLM(model="m", x=x)
        """
    )
    assert run.calls == []
    assert [p.code for p in run.problems] == ["too-complex"]


def test_a_large_file_is_read_to_its_end() -> None:
    comment = "# nothing to see in this line of a file that goes on and on\n" * 5_000
    functions = "".join(f"def f{i}(x=1):\n    return x\n\n" for i in range(1500))
    (call,) = read(f"from vllm import LLM\n{comment}{functions}LLM(model=f7('m'))\n").calls
    assert call.kwargs["model"].data == "m"


def test_a_file_that_is_too_large_is_a_problem() -> None:
    run = read("from vllm import LLM\nLLM(model='m')\n" + "x = 1\n" * 200_000)
    assert run.calls == []
    assert [p.code for p in run.problems] == ["too-large"]


@pytest.mark.parametrize(
    "text",
    [
        "LLM(**1, *2)",
        "LLM(*LLM)",
        "for LLM in LLM: LLM()",
        "class LLM(LLM): pass\nLLM()",
        "def LLM(LLM=LLM): return LLM()\nLLM()",
        "x = x; LLM(x)",
        "LLM(LLM)(LLM)[LLM].LLM",
        "del LLM, LLM.x, LLM[0]",
        "LLM(a=[1][5], b={}[1], c=''[3], d=1/0, e='x' - 1, f=-'x', g=int('x'), h=[].pop(), i={1: 2}.pop(9), j=1 < 'x')",
        "LLM(a={[]: 1}, b={**[]}, c=[*1], d=dict([1]), e='{0.x}'.format(1), f='%s %s' % 1, g='{'.format(), h=sorted([1, 'x']))",
        "import os\nLLM(a=os.environ[1], b=os.getenv(), c=os.path.join(1, None), d=os.environ.get(*[]), e=getattr(os), f=len())",
        "from . import x\nfrom .... import y\nfrom ....z import *\nLLM(x, y, w)",
        "class A(A): x: int\nA().x.y.z = 1\nA.x = A\nLLM(A(), A.x, A().y)",
        "@property\ndef f(): return f\nclass B:\n    @property\n    def g(self): return self.g\nLLM(f, B().g)",
        "import argparse\np = argparse.ArgumentParser()\np.add_argument()\np.add_argument(1)\np.add_argument('-')\nLLM(p.parse_args().x)",
        "import json, shlex\nLLM(json.loads('{'), json.dumps({1: {2}}), shlex.split('\"'), json.dumps(json), shlex.join(1))",
        "match LLM():\n    case {'a': x, **y}: pass\n    case [1, *z]: LLM(z)\n    case LLM(a=1): pass\nLLM(x)",
        "async def f():\n    async with LLM() as a, b as (c, d):\n        async for i in LLM(): yield LLM(i)\nawait_ = f",
        "try:\n    LLM()\nexcept* E as e:\n    pass\nelse:\n    LLM(e)",
        "global x; nonlocal y\nLLM(x)",
        "a, *b, c = 1\n[d, (e, f)] = [1, (2, 3)]\nx[0], y.z = 1, 2\nLLM(d, e, b)",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nLLM(E.A, E(1), E['B'], E.B, list(E), E.A.value.value)",
        "from dataclasses import *\n@dataclass\nclass D:\n    x: int = field()\n    y: list = field(default_factory=lambda: D())\nLLM(D(1, 2, 3), D(x=1, q=2), asdict(D()), replace(D(), x=1))",
        "x = []\nfor i in x: x.append(i)\nx += x\nx[:] = x\nx[1:2] = 3\ndel x[0]\nLLM(x, x[::0], x['a'])",
        "LLM(f'{LLM!r:>{x}}', rb'x', b'y' 'z', ..., 1j, {1, 2}, {**{}}, `x`)".replace(", `x`", ""),
        "super().x; super().__init__(LLM())\nclass S:\n    def __init__(self): super().__init__(LLM(self))\nS()",
        "print(LLM := LLM(), (y := 1)); LLM(y)",
        "LLM('\\ud800', '\\N{BULLET}', u'x', R'\\d', '''a\nb''')",
    ],
)
def test_odd_programs_never_fail(text: str) -> None:
    run = read(text)
    assert [p.code for p in run.problems if p.code == "internal"] == []
    for call in run.calls:
        assert call.span.text
        for value in [*call.args, *call.kwargs.values()]:
            value.plain()


# --- the look before


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from vllm import LLM\nLLM()", True),
        ("import vllm as v\nv.LLM()", True),
        ("from vllm import LLM as X\nX()", True),
        ("import vllm\nmake = vllm.LLM\nmake()", True),
        ("from functools import partial\nfrom vllm import LLM\npartial(LLM, 1)()", True),
        ("from vllm import LLM\n# LLM()\n'LLM()'", False),
        ("x = 'nothing'", False),
        ("def f(:\n LLM(", True),
        ("LLM" + "(" * 5000, True),
        ("LLM\0", True),
    ],
)
def test_mentions_call(text: str, found: bool) -> None:
    assert mentions_call(text, {"LLM", "run"}) is found
