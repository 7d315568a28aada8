"""The distributions: built as for a release, installed into fresh environments, and run there."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from gdnlint import __version__, knowledge

ROOT = Path(__file__).parent.parent
RULES = {path.relative_to(ROOT).as_posix() for path in (ROOT / "rules").rglob("*.yaml")}
CLEAN = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def run(*command: str, code: int = 0, cwd: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=cwd, env=CLEAN, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and with the wheel that is built from that sdist."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def sdist(built: Path) -> Path:
    return next(built.glob("*.tar.gz"))


def test_the_wheel_holds_the_package_the_rules_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    information = f"gdnlint-{__version__}.dist-info"
    assert {name.split("/")[0] for name in names} == {"gdnlint", information}
    assert {name.removeprefix("gdnlint/") for name in names if name.startswith("gdnlint/rules/")} == RULES
    assert "gdnlint/py.typed" in names
    assert f"{information}/licenses/LICENSE" in names
    modules = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == modules


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"gdnlint-{__version__}.dist-info/METADATA").decode()
    metadata = message_from_string(text)
    assert (metadata["Name"], metadata["Version"]) == ("gdnlint", __version__)
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("Apache-2.0", ">=3.10")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "# gdnlint" in text
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert not [line for line in needed if line.startswith(("hydra", "omegaconf", "vllm", "torch"))]


def test_the_sdist_holds_what_a_packager_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= RULES
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", ".pre-commit-hooks.yaml"} <= names
    assert {"tests/test_packaging.py", "examples/vllm/unsafe_serve.sh", "docs/rules/GDN001.md"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith((".venv", ".cache", "dist/"))]


@pytest.mark.parametrize("form", ["wheel", "sdist", "editable"])
def test_an_installed_gdnlint_finds_its_rules(form: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    what = ["--editable", str(ROOT)] if form == "editable" else [str(request.getfixturevalue(form))]
    program = installed(tmp_path / "venv", *what)
    inside = run(str(program.parent / "python"), "-c", "import gdnlint; print(gdnlint.__file__)", cwd=tmp_path).strip()
    assert Path(inside).is_relative_to(ROOT / "src" if form == "editable" else tmp_path), "another copy was imported"

    assert run(str(program), "--version", cwd=tmp_path) == f"gdnlint {__version__}\n"
    listed = run(str(program), "rules", cwd=tmp_path)
    assert all(rule.id in listed for rule in knowledge.load().rules)
    found = run(str(program), "check", str(ROOT / "examples" / "vllm" / "unsafe_serve.sh"), code=1, cwd=tmp_path)
    assert "error[GDN001]" in found
    run(str(program), "check", str(ROOT / "examples" / "vllm" / "safe_serve.sh"), cwd=tmp_path)


def installed(environment: Path, *what: str) -> Path:
    """The program of a fresh virtual environment with one thing in it."""
    run(sys.executable, "-m", "venv", "--without-pip", str(environment))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = environment / "lib" / version / "site-packages"
    # A path in a .pth file is searched last, and .pth files in it are not read: an editable gdnlint there stays unseen.
    (packages / "tools.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(environment / "bin" / "python"), "install"]
    # The build tools are those of the tests too, except that an editable build needs one more, from PyPI.
    local = [] if "--editable" in what else ["--no-index", "--no-build-isolation"]
    run(
        *pip, "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps", "--ignore-installed", *local, *what
    )
    return environment / "bin" / "gdnlint"
