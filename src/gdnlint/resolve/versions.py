"""Which release of the engine a launch runs with: pins in the launch, then in files around it, nearest first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gdnlint.knowledge.releases import Release
from gdnlint.knowledge.schema import Engine
from gdnlint.launches.commands import image_name
from gdnlint.launches.model import VersionHint
from gdnlint.project import Project, Unreadable
from gdnlint.source import Source, Span

_FINAL = r"v?(\d+\.\d+(?:\.\d+){0,2})(?:\.post\d+)?"
_TAG = re.compile(_FINAL + r"(?=$|[-_+])(?!.*[-_+.](?:rc|dev|alpha|beta)\d*(?:$|[-_+.]))")
"""The tag of an image that is built from a final release."""
_MOST_FILES = 50
"""Files of one kind in a directory that are searched for a pin."""
_LONGEST = 1_000
"""Characters of a requirement."""
_MOST_PINS = 50
"""Pins of one file that are looked at."""

_SPECIFIER = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*v?([0-9][0-9A-Za-z.*+!-]*)")


@dataclass(frozen=True, slots=True)
class Pin:
    """What is known of the release."""

    releases: tuple[Release, ...]
    """The releases it may be, oldest first; one if it is pinned."""
    exact: bool
    text: str
    """For people: ``0.26.0, pinned in uv.lock``, ``no version found``."""
    value: str | None = None
    """The release as written, if there is one."""
    span: Span | None = None
    covered: bool = True
    """Whether the knowledge reaches back to it: what an older release refuses at start is not known."""


def given(engine: Engine, text: str) -> Pin | None:
    """The pin of ``--vllm-version``, a local version (``0.28.0+cu129``) as its release; None if it is no release."""
    release = Release.parse(text.partition("+")[0])
    return _exact(engine, release, "given on the command line", None) if release else None


def find(engine: Engine, project: Project, directory: Path, hints: Sequence[VersionHint], extras: Sequence[str]) -> Pin:
    """The nearest pin: in the launch, else in lock files, requirements and Dockerfiles of its directory and upwards."""
    spoken = ""
    for hint in hints:
        pin = _from_hint(engine, hint)
        if pin is not None:
            if pin.exact or pin.releases != engine.releases:
                return pin
            spoken = spoken or pin.text
    if spoken:
        return Pin(engine.releases, False, spoken)
    for folder in _upwards(project, directory):
        pin = _in_folder(engine, project, folder, extras)
        if pin is not None:
            return pin
    return Pin(engine.releases, False, "no version found")


def _exact(engine: Engine, release: Release, where: str, span: Span | None) -> Pin:
    """A pinned release; one that the knowledge does not have is judged as its nearest older one."""
    older = [known for known in engine.releases if known <= release]
    nearest = older[-1] if older else engine.releases[0]
    text = where if nearest == release else f"{where}; not among the releases known here, judged as {nearest}"
    return Pin((nearest,), True, text, str(release), span, covered=bool(older))


def _from_hint(engine: Engine, hint: VersionHint) -> Pin | None:
    """A pin from the launch's own words; an image of this engine without a usable tag is an open pin that says so."""
    if hint.kind == "minimum":
        return _requirement(engine, hint.text.known or "", "the recipe", hint.span)
    if hint.kind in ("requirement", "installed"):
        where = "in the command" if hint.kind == "requirement" else f"installed in {hint.span.source.path}"
        return _asked_for(engine, hint, where)
    image = hint.text.marked()
    name = image_name(image)
    tail = name.rpartition("/")[2]
    if any(fork in name for fork in engine.forks):
        return Pin(
            engine.releases,
            False,
            f"the image {hint.text.show()} is a fork's; its vLLM version is not known",
            None,
            hint.span,
        )
    published = engine_image(engine, name)
    if not published and engine.package not in tail:
        return None
    tag = image[len(name) + 1 :].partition("@")[0] if image.startswith(name + ":") else ""
    match = _TAG.match(tag)
    release = Release.parse(match.group(1)) if match and published else None
    if release is not None:
        return _exact(engine, release, f"image tag {tag}", hint.span)
    return Pin(engine.releases, False, f"the image {hint.text.show()} names no vLLM release", None, hint.span)


def _asked_for(engine: Engine, hint: VersionHint, where: str) -> Pin | None:
    """A requirement that a command line names, as it stands there (``vllm==$VERSION`` is an open pin)."""
    known = hint.text.known
    pin = _requirement(engine, known, where, hint.span) if known is not None else None
    if pin is not None:
        return pin
    if not re.match(rf"{re.escape(engine.package)}\s*(?:\[[^\]]*\])?\s*[=<>~!@]", hint.text.marked()):
        return None
    return Pin(engine.releases, False, f"{where}: {hint.text.show()}, which is no single release", None, hint.span)


def engine_image(engine: Engine, name: str) -> bool:
    """Whether an image (without its tag) is one that the engine's project publishes."""
    import fnmatch

    return any(fnmatch.fnmatchcase(name, pattern) for pattern in engine.images)


def _requirement(engine: Engine, text: str, where: str, span: Span | None) -> Pin | None:
    """A requirement (``vllm>=0.17,<=0.25.1``) or wheel URL of the engine's package; None if it is another's."""
    if len(text) > _LONGEST:
        return None
    wheel = re.search(
        rf"(?:^|[/\\]){re.escape(engine.package)}-(\d+\.\d+(?:\.\d+){{0,2}})(?:\.post\d+)?(?:[+%][\w.]*)?-", text
    )
    if wheel and (release := Release.parse(wheel.group(1))):
        return _exact(engine, release, where, span)
    match = re.match(rf"\s*{re.escape(engine.package)}\s*(?:\[[^\]]*\])?\s*(.*)$", text, re.IGNORECASE)
    if match is None:
        return None
    rest = match.group(1).partition(";")[0].partition("#")[0].strip().strip("()")
    if rest and not _SPECIFIER.match(rest):
        return None
    return _specifiers(engine, rest, where, span)


def _specifiers(engine: Engine, text: str, where: str, span: Span | None) -> Pin | None:
    releases = list(engine.releases)
    for operator, version in _SPECIFIER.findall(text):
        plain = version.partition("+")[0]
        release = Release.parse(plain.removesuffix(".*"))
        if release is None:
            return Pin(engine.releases, False, f"{where} asks for {operator}{version}, which is no release", None, span)
        if operator in ("==", "===") and not plain.endswith(".*"):
            return _exact(engine, release, where, span)
        releases = [r for r in releases if _fits(r, operator, release, plain)]
    if not releases or not text:
        return None
    if len(releases) == 1:
        return Pin(tuple(releases), True, where, str(releases[0]), span)
    return Pin(tuple(releases), False, f"{where} asks for {engine.package}{text}, no single release", None, span)


def _fits(release: Release, operator: str, other: Release, text: str) -> bool:
    if operator == "==":
        prefix = other.parts[: text.removesuffix(".*").count(".") + 1]
        return release.parts[: len(prefix)] == prefix
    if operator == "~=":
        prefix = other.parts[: max(len(text.split(".")) - 1, 1)]
        return release >= other and release.parts[: len(prefix)] == prefix
    tests = {
        "!=": release != other,
        "<=": release <= other,
        ">=": release >= other,
        "<": release < other,
        ">": release > other,
    }
    return tests.get(operator, True)


def _upwards(project: Project, directory: Path) -> Iterator[Path]:
    folder = directory
    for _ in range(64):
        yield folder
        if folder == project.root or folder == folder.parent or not project.inside(folder.parent):
            return
        folder = folder.parent


def _in_folder(engine: Engine, project: Project, folder: Path, extras: Sequence[str]) -> Pin | None:
    cache = project.pins
    key = (folder, engine.name, tuple(extras))
    if key not in cache:
        cache[key] = _search_folder(engine, project, folder, extras)
    found = cache[key]
    assert found is None or isinstance(found, Pin)
    return found


def _search_folder(engine: Engine, project: Project, folder: Path, extras: Sequence[str]) -> Pin | None:
    pyproject = _pyproject(engine, project, folder, extras)
    lock = _lock(engine, project, folder)
    if len(lock) == 1:
        return lock[0]
    if lock:
        # Several locked versions (forks of the resolution): the project's own requirement says which one it means.
        chosen = [pin for pin in lock if pyproject is not None and pyproject.exact and pin.value == pyproject.value]
        if chosen:
            return chosen[0]
        values = ", ".join(sorted({str(pin.value) for pin in lock}))
        releases = tuple(sorted({release for pin in lock for release in pin.releases}))
        return Pin(releases, False, f"{lock[0].text} holds several versions ({values})", None, lock[0].span)
    if pyproject is not None and pyproject.exact:
        return pyproject
    loose = pyproject
    for finder in (_requirements, _setup, _dockerfiles):
        pin = finder(engine, project, folder)
        if pin is not None and pin.exact:
            return pin
        loose = loose or pin
    return loose


def _read(project: Project, path: Path) -> Source | None:
    if not project.exists(path):
        return None
    try:
        return project.source(path)
    except Unreadable:
        return None


def _lock(engine: Engine, project: Project, folder: Path) -> list[Pin]:
    """Each version that uv.lock holds for the engine's package, once."""
    source = _read_large(project, folder / "uv.lock")
    if source is None:
        return []
    pins: dict[str, Pin] = {}
    pattern = re.compile(rf'^name = "{re.escape(engine.package)}"\nversion = "([^"]+)"', re.MULTILINE)
    for match in islice(pattern.finditer(source.text), _MOST_PINS):
        release = Release.parse(match.group(1).partition("+")[0])
        if release is not None and str(release) not in pins:
            span = source.span(match.start(1), match.end(1))
            pins[str(release)] = _exact(engine, release, f"pinned in {source.path}", span)
    return list(pins.values())


def _read_large(project: Project, path: Path) -> Source | None:
    """A lock file, which may be larger than a launch file."""
    return project.large(path) if project.exists(path) else None


def _pyproject(engine: Engine, project: Project, folder: Path, extras: Sequence[str]) -> Pin | None:
    source = _read(project, folder / "pyproject.toml")
    if source is None or engine.package not in source.text:
        return None
    found: list[tuple[str, Pin]] = []
    section = ""
    offset = 0
    for line in source.text.splitlines(keepends=True):
        stripped = line.strip()
        header = re.match(r"\[{1,2}([^\]]+)\]{1,2}\s*(?:#.*)?$", stripped)
        if header:
            section = header.group(1)
        opened = re.match(r"([\w.-]+)\s*=\s*\[", stripped)
        if opened:
            section = section.split("::")[0] + "::" + opened.group(1)
        if not stripped.startswith("#"):
            for quoted in re.finditer(r"[\"']([^\"']+)[\"']", line):
                span = source.span(offset + quoted.start(1), offset + quoted.end(1))
                pin = _requirement(engine, quoted.group(1), f"pinned in {source.path}", span)
                if pin is not None:
                    found.append((section.rpartition("::")[2], pin))
        offset += len(line)
    chosen = [pin for name, pin in found if name in extras] or [pin for _, pin in found]
    exact = [pin for pin in chosen if pin.exact]
    if exact and len({pin.value for pin in exact}) == 1:
        return exact[0]
    return None if len({pin.value for pin in exact}) > 1 else next(iter(chosen), None)


def _requirements(engine: Engine, project: Project, folder: Path) -> Pin | None:
    found: list[Pin] = []
    for path in sorted(_listing(project, folder, re.compile(r"requirements[\w.-]*\.txt|constraints[\w.-]*\.txt"))):
        source = _read(project, path)
        if source is None or engine.package not in source.text:
            continue
        offset = 0
        for line in source.text.splitlines(keepends=True):
            stripped = line.strip()
            if stripped and not stripped.startswith(("#", "-")):
                start = offset + line.index(stripped)
                pin = _requirement(
                    engine, stripped, f"pinned in {source.path}", source.span(start, start + len(stripped))
                )
                if pin is not None:
                    found.append(pin)
            offset += len(line)
    return _agreed(found)


def _setup(engine: Engine, project: Project, folder: Path) -> Pin | None:
    for name in ("setup.py", "setup.cfg"):
        source = _read(project, folder / name)
        if source is None or engine.package not in source.text:
            continue
        for match in re.finditer(rf"[\"'\s]({re.escape(engine.package)}\s*(?:==|>=|~=|<=|<|>)[^\"'\n#]*)", source.text):
            span = source.span(match.start(1), match.end(1))
            pin = _requirement(engine, match.group(1), f"pinned in {source.path}", span)
            if pin is not None:
                return pin
    return None


def _dockerfiles(engine: Engine, project: Project, folder: Path) -> Pin | None:
    found: list[Pin] = []
    for path in sorted(_listing(project, folder, re.compile(r"(?:[\w.-]*\.)?Dockerfile(?:\.[\w.-]+)?"))):
        source = _read(project, path)
        if source is None or engine.package not in source.text.lower():
            continue
        found += islice(_in_dockerfile(engine, source), _MOST_PINS)
    return _agreed(found)


def _in_dockerfile(engine: Engine, source: Source) -> Iterator[Pin]:
    package = re.escape(engine.package)
    where = f"pinned in {source.path}"
    for match in re.finditer(r"^[ \t]*FROM\s+(?:--\S+\s+)*(\S+)", source.text, re.MULTILINE | re.IGNORECASE):
        name = image_name(match.group(1))
        tag = _TAG.match(match.group(1)[len(name) + 1 :])
        release = Release.parse(tag.group(1)) if tag and engine_image(engine, name) else None
        if release is not None:
            yield _exact(engine, release, where, source.span(match.start(1), match.end(1)))
    pattern = rf"^[ \t]*(?:ARG|ENV)\s+{package}_(?:VERSION|VER|TAG|REF)[ =]+[\"']?{_FINAL}(?![\w.]*\w)"
    for match in re.finditer(pattern, source.text, re.MULTILINE | re.IGNORECASE):
        if release := Release.parse(match.group(1)):
            yield _exact(engine, release, where, source.span(match.start(), match.end()))
    for match in re.finditer(rf"(?<![\w-]){package}(?:\[[^\]\n]{{0,200}}\])?=={_FINAL}(?![\w.]*\w)", source.text):
        if release := Release.parse(match.group(1)):
            yield _exact(engine, release, where, source.span(match.start(), match.end()))


def _agreed(found: Sequence[Pin]) -> Pin | None:
    """One pin if all say the same, the choice between them if they differ."""
    if not found:
        return None
    exact = [pin for pin in found if pin.exact]
    if exact and len({pin.value for pin in exact}) == 1:
        return exact[0]
    if exact:
        releases = tuple(sorted({release for pin in exact for release in pin.releases}))
        values = ", ".join(sorted({str(pin.value) for pin in exact}))
        return Pin(releases, False, f"several versions are pinned side by side ({values})", None, exact[0].span)
    return found[0]


def _listing(project: Project, folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
    names = (name for name in project.names(folder) if pattern.fullmatch(name))
    for name in islice(names, _MOST_FILES):
        yield folder / name
