# ruff: noqa: E501 (programs are written as people write them)
"""Small programs of our own, and what is needed to run them with a ``vllm`` that only records its arguments."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

WANTED = frozenset(
    (
        "vllm.LLM",
        "vllm.EngineArgs",
        "vllm.AsyncLLM.from_engine_args",
        "vllm.engine.arg_utils.AsyncEngineArgs",
        "subprocess.run",
        "subprocess.Popen",
        "subprocess.check_call",
        "os.system",
    )
)

RECORDER = """
import atexit, copy, json, os, subprocess, sys

RECORDS = []


def plain(value):
    if isinstance(value, str):
        return str.__str__(value) if type(value) is str else value.value
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else json.loads(json.dumps({key: 0})) and str(key): plain(item)
                for key, item in value.items()}
    return str(value) if isinstance(value, os.PathLike) else {"object": type(value).__name__}


def record(callee, args, kwargs):
    entry = {"callee": callee, "args": plain(args), "kwargs": plain(kwargs)}
    RECORDS.append(entry)
    return entry


class Recorded:
    def __init__(self, *args, **kwargs):
        self.__dict__.update(kwargs)
        self.__dict__["_entry"] = record(self.CALLEE, args, kwargs)

    def __setattr__(self, name, value):
        self.__dict__[name] = value
        self._entry["kwargs"][name] = plain(value)

    def __call__(self, *args, **kwargs):
        return self

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


def replaced(name):
    def call(*args, **kwargs):
        kwargs.pop("env", None)
        record(name, args, kwargs)
        return type("Result", (), {"returncode": 0, "stdout": "", "wait": lambda self: 0})()
    return call


for module, names in ((subprocess, ("run", "Popen", "check_call")), (os, ("system",))):
    for name in names:
        setattr(module, name, replaced(f"{module.__name__}.{name}"))

atexit.register(lambda: open(os.environ["RECORDS"], "w").write(json.dumps(RECORDS)))
"""

VLLM = """
import recorder


class LLM(recorder.Recorded):
    CALLEE = "vllm.LLM"


class EngineArgs(recorder.Recorded):
    CALLEE = "vllm.EngineArgs"


class AsyncLLM:
    @classmethod
    def from_engine_args(cls, *args, **kwargs):
        recorder.record("vllm.AsyncLLM.from_engine_args", args, kwargs)
        return cls()


class SamplingParams:
    def __init__(self, **kwargs):
        pass
"""

ARG_UTILS = """
import recorder


class AsyncEngineArgs(recorder.Recorded):
    CALLEE = "vllm.engine.arg_utils.AsyncEngineArgs"
"""


@dataclass(frozen=True)
class Program:
    name: str
    text: str
    unknown: frozenset[str] = frozenset()
    """Arguments that we may not know, as ``0.model``: call number, keyword or position. All others must be known."""
    files: dict[str, str] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)


def program(name: str, text: str, *unknown: str, files: dict[str, str] | None = None, **env: str) -> Program:
    return Program(name, dedent(text), frozenset(unknown), {k: dedent(v) for k, v in (files or {}).items()}, env)


def record(folder: Path, one: Program) -> list[dict[str, Any]]:
    """Run a program of ours and return its calls."""
    for name, text in {
        "recorder.py": RECORDER,
        "vllm/__init__.py": VLLM,
        "vllm/engine/__init__.py": "",
        "vllm/engine/arg_utils.py": ARG_UTILS,
    }.items():
        path = folder / "stub" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    work = folder / "work"
    for name, text in {**one.files, "main.py": one.text}.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    out = folder / "records.json"
    env = {
        "PATH": os.environ.get("PATH", ""),
        "PYTHONPATH": str(folder / "stub"),
        "RECORDS": str(out),
        "PYTHONDONTWRITEBYTECODE": "1",
        **one.env,
    }
    start = "import recorder, runpy, sys; sys.path.insert(0, '.'); sys.argv = ['main.py']; "
    start += "runpy.run_path('main.py', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", start], cwd=work, env=env, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    calls: list[dict[str, Any]] = json.loads(out.read_text())
    return calls


PROGRAMS = [
    program(
        "literals",
        """
        from vllm import LLM
        LLM("model", 1, tp=4, ratio=0.9, big=1e3, on=True, off=False, nothing=None, hexa=0x10, under=1_000, neg=-1)
        """,
    ),
    program(
        "import-as",
        """
        import vllm as v
        from vllm import LLM as Engine
        from vllm.engine.arg_utils import AsyncEngineArgs
        v.LLM(model="a")
        Engine(model="b")
        AsyncEngineArgs(model="c")
        """,
    ),
    program(
        "import-inside-function",
        """
        def main():
            import vllm.engine.arg_utils
            from vllm import LLM
            LLM(model="a")
            vllm.engine.arg_utils.AsyncEngineArgs(model="b")
        main()
        """,
    ),
    program(
        "alias-of-a-class",
        """
        import vllm
        make = vllm.LLM
        make(model="a")
        """,
    ),
    program(
        "constants",
        """
        from vllm import LLM
        MODEL: str = "Qwen/Qwen3-Next-80B-A3B-Instruct"
        TP, (PP, NAME) = 4, (2, "x")
        A = B = 7
        TP += 4
        LLM(model=MODEL, tp=TP, pp=PP, name=NAME, a=A, b=B)
        """,
    ),
    program(
        "arithmetic",
        """
        from vllm import LLM
        N = 8
        LLM(a=N * 2, b=N // 3, c=N / 4, d=N % 3, e=2 ** N, f=1 << N, g=-N, h=(N + 1) * 2 - 1, i=~N, j=N | 1, k=N > 4)
        """,
    ),
    program(
        "dict-literal-and-dict-call",
        """
        from vllm import LLM
        base = {"model": "m", "speculative_config": {"method": "mtp", "num_speculative_tokens": 2}}
        more = dict(base, tp=8)
        more["pp"] = 2
        more.update(seed=1, dtype="auto")
        more.update({"tp": 4})
        more |= {"x": [1, 2]}
        del more["pp"]
        more.setdefault("y", 5)
        more.setdefault("tp", 5)
        LLM(**more, z=more.get("nope", 3), w=more["x"][1])
        """,
    ),
    program(
        "dict-merge",
        """
        from vllm import LLM
        a = {"model": "m", "tp": 1}
        b = {**a, "tp": 2, **{"pp": 3}}
        c = a | {"tp": 9}
        LLM(**b)
        LLM(**c)
        LLM(**a, **{"k": {i: i * i for i in range(3)}})
        """,
    ),
    program(
        "nested-dict-writes",
        """
        from vllm import LLM
        config = {"engine": {"speculative": {}}}
        config["engine"]["speculative"]["method"] = "mtp"
        config["engine"]["speculative"].update(num_speculative_tokens=3)
        spec = config["engine"]["speculative"]
        spec["late"] = True
        LLM(model="m", speculative_config=config["engine"]["speculative"])
        """,
    ),
    program(
        "kwargs-through-functions",
        """
        from vllm import LLM
        def build(model, *rest, tp=1, **kwargs):
            kwargs["extra"] = len(rest)
            return LLM(model=model, tp=tp, **kwargs)
        def launch(**options):
            return build("m", 1, 2, seed=0, **options)
        launch(tp=8, enable_prefix_caching=False)
        """,
    ),
    program(
        "star-arguments",
        """
        from vllm import LLM
        where = ("model", 5)
        LLM(*where, *[1, 2], **dict(zip(["a", "b"], [3, 4])))
        """,
    ),
    program(
        "f-strings",
        """
        from vllm import LLM
        org, name, size, ratio = "Qwen", "Qwen3", 80, 0.456
        LLM(model=f"{org}/{name}-{size}B", a=f"{{x}} {size:04d} {ratio:.2f} {name!r} {size=}", b=f"{'yes' if size > 1 else 'no'}",
            c=rf"\\d{size}", d=f"{org.lower()}_{name.upper()[:3]}", e=f'{size:>{2 + 4}}')
        """,
    ),
    program(
        "strings",
        r"""
        from vllm import LLM
        model = "a" "b" 'c' + "d"
        LLM(model=model, a="%s-%d-%05.1f%%" % ("x", 3, 2.5), b="{}/{n}/{}".format("p", 2, n=4), c="-".join(["a", "b"]),
            d=" x ".strip(), e="A,b".lower().split(","), f="abc".replace("b", "\n"), g="x" * 3, h="\u00fc\t\x41",
            i="abc"[1:], j="abc"[-1], k="prefix-x".removeprefix("prefix-"), l="Ab".upper(), m="a=b".partition("="))
        """,
    ),
    program(
        "lists",
        """
        from vllm import LLM
        a = [1, 2]
        b = [*a, 3] + [4] * 2
        b.append(5)
        b += [6]
        b.extend((7, 8))
        b.insert(0, 0)
        b[1] = "one"
        b.pop()
        c = b
        c.remove(5)
        LLM(model="m", b=b, n=len(b), first=b[0], part=b[1:3], last=b[-1], s=sorted([3, 1, 2]), t=(1, "x"))
        """,
    ),
    program(
        "comprehensions",
        """
        from vllm import LLM
        sizes = [1, 2, 3]
        pairs = {f"k{s}": s * 2 for s in sizes if s != 2}
        LLM(model="m", **pairs, l=[s + t for s in sizes for t in (10, 20) if s < 3], j=",".join(str(s) for s in sizes))
        """,
    ),
    program(
        "conversions",
        """
        from vllm import LLM
        LLM(a=str(4), b=int("12"), c=float("1.5"), d=bool(""), e=str(True), f=int(3.9), g=list("ab"), h=max(1, 5), i=min([4, 2]),
            j=sum([1, 2]), k=abs(-3), l=any([0, 1]), m=all([]), n=str(1.0), o=list(range(3)), p=dict([("a", 1)]))
        """,
    ),
    program(
        "conditional-expressions",
        """
        from vllm import LLM
        N, NAME, NOTHING = 4, "", None
        LLM(a=1 if N > 2 else 2, b=NAME or "default", c=NOTHING or N, d=N and "yes", e=not N, f=N == 4 and NAME != "x",
            g="b" in "abc", h=N in (1, 4), i=NOTHING is None, j=1 < N < 4, k="z" not in {"a": 1})
        """,
    ),
    program(
        "known-conditions",
        """
        from vllm import LLM
        MODE = "async"
        if MODE == "sync":
            LLM(model="never")
        elif MODE.startswith("as"):
            options = {"a": 1}
        else:
            options = {}
        while False:
            options = None
        if not options:
            LLM(model="never")
        LLM(model="m", **options)
        """,
    ),
    program(
        "early-return",
        """
        from vllm import LLM
        DRY = True
        def go(dry, model):
            if dry:
                return "dry"
            LLM(model=model)
            return "made"
        LLM(model=go(DRY, "never"))
        LLM(model=go(False, "one"))
        """,
    ),
    program(
        "loops",
        """
        from vllm import LLM
        for model in ["a", "b"]:
            if model == "z":
                continue
            for size, on in zip((1, 2), (True, False)):
                LLM(model=model, size=size, on=on)
        for key, value in {"x": 1, "y": 2}.items():
            LLM(**{key: value})
            if value == 1:
                break
        else:
            LLM(model="never")
        for index, name in enumerate(("p", "q")):
            pass
        LLM(index=index, name=name)
        """,
    ),
    program(
        "functions",
        """
        from vllm import LLM
        def name(size, org="Qwen", *, suffix="-Instruct"):
            base = f"{org}/Q-{size}"
            return base + suffix
        double = lambda x: x * 2
        LLM(model=name(8), other=name(size=9, org="o", suffix=""), two=double(4))
        """,
    ),
    program(
        "closures-and-globals",
        """
        from vllm import LLM
        COUNT = 1
        def bump():
            global COUNT
            COUNT = COUNT + 1
        def outer(model):
            seen = []
            def inner(tp):
                seen.append(tp)
                LLM(model=model, tp=tp, seen=list(seen))
            inner(1)
            inner(2)
        bump()
        outer("m")
        LLM(count=COUNT)
        """,
    ),
    program(
        "mutating-a-parameter",
        """
        from vllm import LLM
        def tune(options, on):
            options["enable_prefix_caching"] = on
            options.pop("seed", None)
        settings = {"model": "m", "seed": 1}
        alias = settings
        tune(alias, False)
        LLM(**settings)
        """,
    ),
    program(
        "attribute-writes",
        """
        from vllm import EngineArgs, LLM, AsyncLLM
        args = EngineArgs(model="m", enable_prefix_caching=True)
        args.enable_prefix_caching = False
        args.mamba_cache_mode = "align"
        setattr(args, "seed", 7)
        AsyncLLM.from_engine_args(args)
        """,
        "1.0",
    ),
    program(
        "attribute-writes-in-a-function",
        """
        from vllm import EngineArgs
        def off(args):
            args.enable_prefix_caching = False
            return args
        made = off(EngineArgs(model="m", enable_prefix_caching=True))
        made.seed = 1
        """,
    ),
    program(
        "dataclass-defaults",
        """
        from dataclasses import asdict, dataclass, field, replace
        from vllm import LLM
        @dataclass
        class Spec:
            method: str = "mtp"
            tokens: int = field(default=2)
        @dataclass
        class Config:
            model: str
            tp: int = 4
            spec: Spec = field(default_factory=Spec)
            extra: dict = field(default_factory=lambda: {"a": 1})
            names: list = field(default_factory=list)
        config = Config("m", names=["x"])
        config.spec.tokens = 3
        config.names.append("y")
        LLM(model=config.model, tp=config.tp, speculative_config=asdict(config.spec), extra=config.extra, names=config.names)
        LLM(**asdict(replace(config, tp=1)))
        """,
    ),
    program(
        "dataclass-inheritance",
        """
        from dataclasses import dataclass
        from vllm import LLM
        @dataclass
        class Base:
            model: str = "base"
            tp: int = 1
            def __post_init__(self):
                self.total = self.tp * 2
        @dataclass
        class Big(Base):
            tp: int = 8
            seed: int = 0
        big = Big(seed=5)
        LLM(model=big.model, tp=big.tp, seed=big.seed, total=big.total)
        LLM(**vars(Base("m")))
        """,
    ),
    program(
        "classes",
        """
        from vllm import LLM
        class Runner:
            model = "class-model"
            def __init__(self, tp, **options):
                self.tp = tp
                self.options = options
                self.options["seed"] = 1
            @property
            def name(self):
                return f"{self.model}-{self.tp}"
            @staticmethod
            def double(x):
                return x * 2
            @classmethod
            def make(cls, tp):
                return cls(tp, dtype="auto")
            def start(self, **more):
                self.llm = LLM(model=self.name, tp=self.double(self.tp), **self.options, **more)
        runner = Runner.make(4)
        runner.model = "other"
        runner.start(x=1)
        """,
    ),
    program(
        "inheritance",
        """
        from vllm import LLM
        class Base:
            kind = "base"
            def __init__(self, model):
                self.model = model
                self.extra = {}
            def launch(self):
                LLM(model=self.model, kind=self.kind, **self.options())
            def options(self):
                return {"a": 1}
        class Child(Base):
            kind = "child"
            def __init__(self, model):
                super().__init__(model + "!")
                self.extra["b"] = 2
            def options(self):
                return {**super().options(), **self.extra}
        Child("m").launch()
        """,
    ),
    program(
        "enums",
        """
        from enum import Enum
        from vllm import LLM
        class Mode(str, Enum):
            ALIGN = "align"
            ALL = "all"
        class Size(Enum):
            SMALL = 1
        LLM(mode=Mode.ALIGN, value=Mode.ALL.value, size=Size.SMALL.value, name=Size.SMALL.name, same=Mode.ALIGN == "align",
            other=Size["SMALL"].value, listed=[m.value for m in Mode])
        """,
    ),
    program(
        "namespaces",
        """
        import argparse
        from types import SimpleNamespace
        from vllm import LLM
        cfg = SimpleNamespace(model="m", engine=SimpleNamespace(tp=2))
        cfg.engine.tp = 4
        cfg.new = [1]
        LLM(model=cfg.model, tp=cfg.engine.tp, new=cfg.new, other=getattr(cfg, "nope", 3), has=hasattr(cfg, "new"))
        LLM(**vars(argparse.Namespace(a=1)))
        """,
    ),
    program(
        "argparse-defaults",
        """
        import argparse, json
        from vllm import LLM
        def parse():
            parser = argparse.ArgumentParser()
            group = parser.add_argument_group("engine")
            group.add_argument("--model", "-m", type=str, default="m")
            group.add_argument("--tensor-parallel-size", "-tp", type=int, default="4")
            parser.add_argument("--enable-prefix-caching", action="store_true")
            parser.add_argument("--no-log", dest="log", action="store_false")
            parser.add_argument("--async-mode", action=argparse.BooleanOptionalAction, default=True)
            parser.add_argument("--nothing")
            parser.add_argument("--names", nargs="*", default=["a"])
            parser.add_argument("--extra", type=json.loads, default='{"x": [1]}')
            parser.add_argument("rest", nargs="?", default="r")
            parser.set_defaults(nothing="something", seed=3)
            return parser.parse_args()
        args = parse()
        args.model += "-x"
        LLM(model=args.model, tp=args.tensor_parallel_size, apc=args.enable_prefix_caching, log=args.log, a=args.async_mode,
            nothing=args.nothing, names=args.names, extra=args.extra, rest=args.rest, seed=args.seed)
        if args.enable_prefix_caching:
            LLM(model="never")
        """,
    ),
    program(
        "argparse-vars",
        """
        import argparse
        from vllm import LLM
        parser = argparse.ArgumentParser()
        parser.add_argument("--model", default="m")
        parser.add_argument("--dry", action="store_true")
        options = vars(parser.parse_args())
        dry = options.pop("dry")
        if not dry:
            LLM(**options)
        """,
    ),
    program(
        "environment",
        """
        import os
        from vllm import LLM
        os.environ["VLLM_USE_V1"] = "1"
        os.environ.setdefault("PORT", "8000")
        LLM(model=os.environ.get("MODEL", "m"), tp=int(os.getenv("TP", "2")), set=os.environ["VLLM_USE_V1"], port=os.environ["PORT"],
            none=os.getenv("NOPE"), has="TP" in os.environ, mode="x" if os.getenv("MODE") == "fast" else "y")
        """,
        TP="8",
    ),
    program(
        "paths",
        """
        import os.path
        from os import path
        from pathlib import Path
        from vllm import LLM
        ROOT = Path("/models")
        LLM(model=os.path.join("/a", "b", "c"), p=str(ROOT / "x" / f"y{1}"), q=path.join("a/", "b"), r=os.path.basename("a/b.txt"))
        """,
    ),
    program(
        "json",
        """
        import json
        from vllm import LLM
        SPEC = {"method": "mtp", "num_speculative_tokens": 2, "list": [1.5, None, True], "u": "\\u00fc"}
        LLM(a=json.dumps(SPEC), b=json.dumps(SPEC, indent=2, sort_keys=True), c=json.loads('{"a": {"b": [1]}}')["a"],
            d=json.dumps({1: "x"}, separators=(",", ":")), e=json.dumps("q\\"", ensure_ascii=False))
        """,
    ),
    program(
        "argv-list",
        """
        import subprocess, sys
        MODEL, PORT = "Qwen/Qwen3-Next", 8000
        cmd = ["vllm", "serve", MODEL, "--port", str(PORT)]
        cmd += ["--no-enable-prefix-caching"]
        cmd.extend(["--speculative-config", '{"method": "mtp"}'])
        extra = ["--x", *("a", "b")]
        subprocess.run(cmd + extra, check=True)
        proc = subprocess.Popen([*cmd, "--late"], text=True)
        proc.wait()
        subprocess.check_call(args=cmd)
        """,
    ),
    program(
        "argv-helper",
        """
        import json
        import subprocess
        def flags(options):
            out = []
            for key, value in options.items():
                flag = "--" + key.replace("_", "-")
                if value is True:
                    out.append(flag)
                elif isinstance(value, dict):
                    out += [flag, json.dumps(value)]
                elif value is not None:
                    out += [flag, str(value)]
            return out
        def serve(model, **options):
            subprocess.run(["vllm", "serve", model, *flags(options)])
        serve("m", enable_prefix_caching=True, port=1, seed=None, speculative_config={"method": "mtp"})
        """,
    ),
    program(
        "shell-strings",
        """
        import os, shlex, subprocess
        MODEL = "Qwen/Qwen3-Next"
        os.system(f"vllm serve {MODEL} " "--port 1")
        subprocess.run("vllm serve " + MODEL + " --tp %d" % 4, shell=True)
        subprocess.run(shlex.split(f"vllm serve {MODEL} --spec '{{\\"a\\": 1}}' \\"x y\\""))
        subprocess.run("vllm serve x".split())
        subprocess.run(["bash", "-c", shlex.join(["vllm", "serve", "a b"])])
        os.system('''
            vllm serve {m} \\\\
              --seed 1
        '''.format(m=MODEL).strip())
        """,
    ),
    program(
        "argv-unknown-parts",
        """
        import subprocess, sys, time
        subprocess.run([sys.executable, "-m", "vllm", f"--seed={int(time.time())}", "--x"])
        """,
        "0.0",
    ),
    program(
        "unknown-values",
        """
        import time
        from vllm import LLM
        now = time.time()
        LLM(model="m", now=now, text=f"run-{now}", sum=1 + now, known=2)
        LLM(**{"a": 1, "b": now})
        """,
        "0.now",
        "0.text",
        "0.sum",
        "1.b",
    ),
    program(
        "loop-of-unknown-length",
        """
        import os
        from vllm import LLM
        count = 0
        names = {}
        for entry in os.listdir("."):
            count += 1
            names["x"] = entry
        LLM(model="m", count=count, names=names, after=1)
        """,
        "0.count",
        "0.names",
    ),
    program(
        "try-except",
        """
        from vllm import LLM
        try:
            import nothing_like_this
            FAST = True
        except ImportError:
            FAST = False
        try:
            size = int("4")
        except ValueError:
            size = 1
        finally:
            done = True
        LLM(model="m", size=size, done=done, fast=FAST)
        """,
        "0.fast",
    ),
    program(
        "with-and-walrus",
        """
        import contextlib
        from vllm import LLM
        with contextlib.suppress(KeyError):
            if (n := 4) > 3:
                LLM(model="m", n=n)
        """,
    ),
    program(
        "match",
        """
        from vllm import LLM
        for mode in ("align", "all", "none"):
            match mode:
                case "align" | "x":
                    LLM(mode=1)
                case "all" if len(mode) == 3:
                    LLM(mode=2)
                case other:
                    LLM(mode=other)
        """,
    ),
    program(
        "partial",
        """
        from functools import partial
        from vllm import LLM
        make = partial(LLM, "m", tp=4, seed=0)
        make(seed=1)
        """,
    ),
    program(
        "async",
        """
        import asyncio
        from vllm import LLM
        async def name():
            return "m"
        async def main(tp):
            LLM(model=await name(), tp=tp)
        asyncio.run(main(2))
        """,
    ),
    program(
        "copies",
        """
        import copy
        from vllm import LLM
        base = {"a": {"b": 1}, "c": [1]}
        one, two, three = copy.deepcopy(base), base.copy(), dict(base)
        one["a"]["b"] = 2
        two["a"]["b"] = 3
        three["c"] = [9]
        LLM(base=base, one=one, two=two, three=three)
        """,
    ),
    program(
        "project-constants",
        """
        from configs import base
        from configs.models import MODEL as NAME, Spec, tokens
        import configs.base as cb
        from common import *
        from vllm import LLM
        LLM(model=NAME, tp=base.TP, opts=cb.OPTIONS, star=STAR, spec=Spec().method, tokens=tokens(2))
        """,
        files={
            "configs/__init__.py": "",
            "configs/base.py": "from .models import MODEL\nTP = 4\nOPTIONS = {'m': MODEL}\nOPTIONS['late'] = 1\n",
            "configs/models.py": """
                from dataclasses import dataclass
                ORG = "Qwen"
                MODEL = f"{ORG}/x"
                @dataclass
                class Spec:
                    method: str = "mtp"
                def tokens(n):
                    return n + 1
            """,
            "common.py": "STAR = ['*']\n",
        },
    ),
    program(
        "import-cycle",
        """
        import other
        VALUE = 1
        from vllm import LLM
        LLM(model=other.NAME)
        """,
        files={"other.py": "import third\nNAME = 'n' + third.X\n", "third.py": "import other\nX = 'x'\n"},
    ),
    program(
        "shadowed-names",
        """
        from vllm import LLM
        model = "outer"
        def f(model="inner"):
            model = model + "!"
            return model
        class C:
            model = "class"
            def get(self):
                return model
        LLM(a=f(), b=C().get(), c=[model for model in ("x",)], d=model)
        """,
    ),
]
