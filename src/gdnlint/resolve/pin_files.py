"""Files that say which release is installed: lock files, manifests, requirements, environments, Dockerfiles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from gdnlint.knowledge.releases import Release
from gdnlint.knowledge.schema import Engine, Knowledge
from gdnlint.launches.commands import image_name
from gdnlint.launches.model import VersionHint
from gdnlint.launches.requirements import SOMEWHERE
from gdnlint.project import Project, Unreadable
from gdnlint.resolve.pins import (
    FINAL,
    Pin,
    commented,
    engine_image,
    exact,
    from_repository,
    image,
    requirement,
    unknown,
)
from gdnlint.source import Source
from gdnlint.values import Text, Value

_MOST_FILES = 50
"""Files of one kind in a directory that are searched for a pin."""
_MOST_PINS = 50
"""Pins of one file that are looked at."""
_DEEPEST = 8
"""Requirement files that include others."""
_MOST_TABLES = 2_000
"""Tables and lists of a manifest that are looked into."""

_TABLE_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_REQUIREMENTS = re.compile(r"(?:[\w.-]*[_-])?requirements[\w.-]*\.(?:txt|in)|constraints[\w.-]*\.txt")
_ENVIRONMENT = re.compile(r"(?:[\w.-]*[_-])?(?:environment|conda|env)[\w.-]*\.ya?ml")
_DOCKERFILE = re.compile(r"(?:[\w.-]*\.)?(?:Dockerfile|Containerfile)(?:\.[\w.-]+)?")
_INCLUDE = re.compile(r"(-r|-c|--requirement|--constraint)(?:\s*=\s*|\s+|(?<=-[rc]))(\S+)")


@dataclass(frozen=True, slots=True)
class Search:
    """What a search for pins needs."""

    engine: Engine
    project: Project
    knowledge: Knowledge
    extras: tuple[str, ...] = ()
    """Optional dependencies and groups that the launch installs."""

    def read(self, path: Path) -> Source | None:
        """A file that names the engine's package at all; None if it does not, or cannot be read."""
        if not self.project.exists(path):
            return None
        try:
            source = self.project.source(path)
        except Unreadable:
            return None
        return source if self.engine.package in source.text.lower() else None

    def listing(self, folder: Path, pattern: re.Pattern[str]) -> Iterator[Path]:
        names = (name for name in self.project.names(folder) if pattern.fullmatch(name))
        for name in islice(names, _MOST_FILES):
            yield folder / name


def in_folder(search: Search, folder: Path) -> Pin | None:
    """What the files of one directory say, the surest first."""
    manifest = _manifests(search, folder)
    locked = _locked(search, folder, manifest)
    if locked is not None:
        return locked
    if manifest is not None and manifest.exact:
        return manifest
    loose = manifest
    for finder in (_requirements, _setup, _environments, _dockerfiles):
        pin = finder(search, folder)
        if pin is not None and pin.exact:
            return pin
        loose = loose if loose is not None and not is_bare(search.engine, loose) else pin or loose
    return loose


def is_bare(engine: Engine, pin: Pin) -> bool:
    """Whether a pin leaves the release to the day of the installation."""
    return not pin.exact and pin.releases == engine.releases and pin.text.endswith("without a version")


def agreed(engine: Engine, found: Sequence[Pin]) -> Pin | None:
    """One pin if all say the same, the choice between them if they differ."""
    pins = [pin for pin in found if pin.exact]
    bare = next((pin for pin in found if is_bare(engine, pin)), None)
    if not pins:
        return next((pin for pin in found if not is_bare(engine, pin)), bare)
    values = sorted({str(pin.value) for pin in pins})
    if bare is not None:
        text = f"{bare.text}, beside {_place(pins[0])} with {', '.join(values)}"
        return Pin(engine.releases, False, text, None, bare.span)
    if len(values) == 1:
        return pins[0]
    releases = tuple(sorted({release for pin in pins for release in pin.releases}))
    text = f"several versions are pinned side by side ({', '.join(values)}), first in {_place(pins[0])}"
    return Pin(releases, False, text, None, pins[0].span)


def _place(pin: Pin) -> str:
    return pin.span.source.path if pin.span is not None else "another file"


# -- lock files --------------------------------------------------------------------------------------------------------


def _locked(search: Search, folder: Path, manifest: Pin | None) -> Pin | None:
    lock = list(islice(_lock_pins(search, folder), _MOST_PINS))
    if not lock:
        return None
    values = {pin.value for pin in lock}
    if len(values) == 1:
        return lock[0]
    # Several locked versions (forks of the resolution): the launch's extra says which one it means.
    source = lock[0].span.source if lock[0].span is not None else None
    chosen = _chosen_in_lock(search, source) if source is not None else set()
    if len(chosen) != 1 and manifest is not None and manifest.exact and manifest.value is not None:
        chosen = {manifest.value}
    fits = [pin for pin in lock if pin.value in chosen]
    if fits and len({pin.value for pin in fits}) == 1:
        return fits[0]
    spoken = ", ".join(sorted(str(value) if value else "no release" for value in values))
    releases = tuple(sorted({release for pin in lock for release in pin.releases}))
    return Pin(releases, False, f"{lock[0].text} holds several versions ({spoken})", None, lock[0].span)


def _lock_pins(search: Search, folder: Path) -> Iterator[Pin]:
    """Each version that the folder's first lock file holds for the engine's package, once."""
    package = re.escape(search.engine.package)
    patterns = [(name, rf'^name = "{package}"\r?\nversion = "([^"]+)"') for name in _TABLE_LOCKS]
    patterns += [
        ("Pipfile.lock", rf'"{package}":\s*\{{[^{{}}]*?"version":\s*"==([^"]+)"'),
        ("pixi.lock", rf"^\s*- (?:pypi|conda): \S*/{package}-(\d[^-/\s]*)-"),
    ]
    for name, pattern in patterns:
        path = folder / name
        source = search.project.large(path) if search.project.exists(path) else None
        if source is None:
            continue
        made: dict[str, Pin] = {}
        for match in islice(re.finditer(pattern, source.text, re.MULTILINE), _MOST_PINS):
            written = match.group(1).replace("%2B", "+")
            release = Release.parse(written.partition("+")[0])
            span = source.span(match.start(1), match.end(1))
            if release is not None:
                made.setdefault(str(release), exact(search.engine, release, f"pinned in {source.path}", span))
            else:
                text = f"{source.path} holds {search.engine.package} {written}, which is no release"
                made.setdefault(written, unknown(search.engine, text, span))
        if made:
            yield from made.values()
            return


def _chosen_in_lock(search: Search, source: Source) -> set[str]:
    """The releases that the project's own entry in uv.lock takes: those of the launch's extras, else of no extra."""
    package = re.escape(search.engine.package)
    found: dict[bool, set[str]] = {True: set(), False: set()}
    text = source.text
    for match in islice(re.finditer(rf'\{{ name = "{package}", version = "([^"]+)"', text), 200):
        entry = text.rfind("[[package]]", 0, match.start())
        if not re.search(r'^source = \{ (?:virtual|editable) = "', text[entry : match.start()], re.MULTILINE):
            continue
        listed = text.rfind(" = [\n", entry, match.start())
        name = text[text.rfind("\n", 0, listed) + 1 : listed].strip('"')
        release = Release.parse(match.group(1).partition("+")[0])
        if release is not None and (name in search.extras or name == "dependencies"):
            found[name in search.extras].add(str(release))
    return found[True] or found[False]


# -- manifests ---------------------------------------------------------------------------------------------------------


def _manifests(search: Search, folder: Path) -> Pin | None:
    for name in ("pyproject.toml", "pixi.toml", "Pipfile"):
        source = search.read(folder / name)
        pin = _manifest(search, source) if source is not None else None
        if pin is not None:
            return pin
    return None


def _manifest(search: Search, source: Source) -> Pin | None:
    """What a project's own file asks for: in the extras that the launch installs, else in what it always needs."""
    from gdnlint.documents import toml

    root, _ = toml.load(source)
    if root is None:
        return None
    extras = _with_included(root, search.extras)
    sources: list[tuple[tuple[str, ...], Pin]] = []
    found: list[tuple[tuple[str, ...], Pin]] = []
    for path, asked in _asked_in(search, root, f"pinned in {source.path}"):
        (sources if "sources" in path else found).append((path, asked))
    if not found and not any(pin.exact for _, pin in sources):
        return None
    chosen = _chosen(sources, extras) or _chosen(found, extras)
    if not chosen:
        return None
    pin = agreed(search.engine, chosen)
    if pin is None or pin.exact or len({p.value for p in chosen if p.exact}) < 2:
        return pin
    return replace(pin, text=f"{pin.text}; the launch names no extra of {source.path} that decides")


def _chosen(found: list[tuple[tuple[str, ...], Pin]], extras: set[str]) -> list[Pin]:
    named = [pin for path, pin in found if not extras.isdisjoint(path)]
    always = [pin for path, pin in found if path[:2] in (("project", "dependencies"), ("tool", "poetry"))]
    return named or [pin for pin in always if pin.exact] or [pin for _, pin in found]


def _with_included(root: Value, extras: Iterable[str]) -> set[str]:
    """Extras, and those that they take from the project itself (``all = ["name[one,two]"]``) or include."""
    wanted = set(extras)
    groups: dict[str, Value] = {}
    for path in (["project", "optional-dependencies"], ["dependency-groups"]):
        table = root.at(path)
        groups.update(table.data if table is not None and isinstance(table.data, dict) else {})
    for _ in range(_DEEPEST):
        more = set(wanted)
        for name in wanted & groups.keys():
            items = groups[name].data
            for item in items if isinstance(items, list) else []:
                if isinstance(item.data, str) and (match := re.match(r"[\w.-]+\s*\[([\w\s,.-]+)\]", item.data)):
                    more |= {part.strip() for part in match.group(1).split(",")} & groups.keys()
                included = item.at(["include-group"])
                if isinstance(item.data, dict) and included is not None and isinstance(included.data, str):
                    more.add(included.data)
        if more == wanted:
            break
        wanted = more
    return wanted


def _asked_in(search: Search, root: Value, where: str) -> Iterator[tuple[tuple[str, ...], Pin]]:
    """Every requirement of the engine's package in a manifest, with the keys above it."""
    stack: list[tuple[tuple[str, ...], Value]] = [((), root)]
    seen = 0
    while stack and seen < _MOST_TABLES:
        path, value = stack.pop()
        seen += 1
        if isinstance(value.data, list):
            for item in value.data:
                if isinstance(item.data, str):
                    pin = requirement(search.engine, item.data, where, item.span)
                    if pin is not None:
                        yield path, pin
                elif isinstance(item.data, dict):
                    stack.append((path, item))
        elif isinstance(value.data, dict):
            for name, member in value.data.items():
                if name == search.engine.package:
                    yield from (((*path, name, *more), pin) for more, pin in _as_table(search.engine, member, where))
                elif isinstance(member.data, dict | list):
                    stack.append(((*path, name), member))


def _as_table(engine: Engine, value: Value, where: str) -> Iterator[tuple[tuple[str, ...], Pin]]:
    """``vllm = "^0.28"``, ``vllm = {version = ...}``, ``vllm = {git = ..., tag = ...}``, and lists of such tables."""
    for item in value.data if isinstance(value.data, list) else [value]:
        members = item.data if isinstance(item.data, dict) else {"version": item}
        said = {name: member.data for name, member in members.items() if isinstance(member.data, str)}
        extra = tuple(said[name] for name in ("extra", "group") if name in said)
        pin = None
        if "url" in said:
            pin = requirement(engine, f"{engine.package} @ {said['url']}", where, item.span)
        elif "git" in said:
            reference = next((said[name] for name in ("tag", "rev", "branch") if name in said), "")
            repository = re.sub(r"^\w+://[^/]+/|\.git$|/$", "", said["git"])
            pin = from_repository(engine, repository, reference, where, item.span)
        elif "version" in said:
            pin = requirement(engine, engine.package + _as_specifier(said["version"]), where, item.span)
        if pin is not None:
            yield extra, pin


def _as_specifier(text: str) -> str:
    """A version of Poetry, Pixi or conda as a Python requirement: ``^0.28`` is ``>=0.28,<0.29``."""
    text = text.strip()
    caret = re.fullmatch(r"\^\s*(\d+)\.(\d+)(?:\.\d+)*", text)
    if caret:
        major, minor = int(caret.group(1)), int(caret.group(2))
        return f">={text[1:].strip()},<{f'0.{minor + 1}' if major == 0 else major + 1}"
    if re.fullmatch(r"~\s*\d+\.\d+\.\d+", text):
        return f"~={text[1:].strip()}"
    if text in ("", "*"):
        return ""
    conda = re.fullmatch(r"=?\s*(\d+\.\d+)(\.\d+)*(?:\.\*)?(?:=[\w.]*)?", text)
    if conda and not text.startswith("=="):
        plain = text.lstrip("= ").partition("=")[0]
        return f"=={plain}" if plain.count(".") > 1 else f"=={plain}.*"
    return text


# -- requirements ------------------------------------------------------------------------------------------------------


def _requirements(search: Search, folder: Path) -> Pin | None:
    found: list[Pin] = []
    binding: list[Pin] = []
    for path in search.listing(folder, _REQUIREMENTS):
        pin = in_requirements(search, path)
        if pin is not None:
            (binding if path.name.startswith("constraints") else found).append(pin)
    if any(pin.exact for pin in binding):
        found = [pin for pin in found if not is_bare(search.engine, pin)]
    return agreed(search.engine, found + binding)


def in_requirements(search: Search, path: Path) -> Pin | None:
    """What a requirements file and those that it includes ask for."""
    found = list(_lines(search, path, 0, set()))
    # In one installation, a line without a version takes the one of the other lines.
    if any(not is_bare(search.engine, pin) for pin in found):
        found = [pin for pin in found if not is_bare(search.engine, pin)]
    return agreed(search.engine, found)


def _lines(search: Search, path: Path, depth: int, seen: set[Path]) -> Iterator[Pin]:
    if depth > _DEEPEST or path in seen or not search.project.exists(path):
        return
    seen.add(path)
    try:
        source = search.project.source(path)
    except Unreadable:
        return
    offset = 0
    for line in source.text.splitlines(keepends=True):
        stripped = line.strip()
        start = offset + len(line) - len(line.lstrip())
        offset += len(line)
        if not stripped or stripped.startswith("#"):
            continue
        included = _INCLUDE.match(stripped)
        if included is not None and "\0" not in included.group(2):
            yield from _lines(search, path.parent / included.group(2), depth + 1, seen)
        elif not stripped.startswith("-") and search.engine.package in stripped.lower():
            span = source.span(start, start + len(stripped))
            pin = requirement(search.engine, stripped, f"pinned in {source.path}", span)
            if pin is not None:
                yield pin


def _setup(search: Search, folder: Path) -> Pin | None:
    package = re.escape(search.engine.package)
    for name in ("setup.py", "setup.cfg"):
        source = search.read(folder / name)
        if source is None:
            continue
        pattern = rf"^[^#\n]*?[\"'\s]({package}\s*(?:\[[^\]\n]{{0,200}}\])?\s*(?:==|>=|~=|<=|<|>|@)[^\"'\n#]*)"
        found = list(_matching(search.engine, source, pattern))
        if found:
            return agreed(search.engine, found)
    return None


def _matching(engine: Engine, source: Source, pattern: str) -> Iterator[Pin]:
    """The requirements that the first group of a pattern finds."""
    for match in islice(re.finditer(pattern, source.text, re.MULTILINE), _MOST_PINS):
        span = source.span(match.start(1), match.end(1))
        pin = requirement(engine, match.group(1), f"pinned in {source.path}", span)
        if pin is not None:
            yield pin


def _environments(search: Search, folder: Path) -> Pin | None:
    """A conda environment: ``- vllm=0.28.0``, and the list below ``pip:``."""
    package = re.escape(search.engine.package)
    found = []
    for path in search.listing(folder, _ENVIRONMENT):
        source = search.read(path)
        if source is None or "dependencies:" not in source.text:
            continue
        for match in islice(
            re.finditer(rf"^\s*-\s*[\"']?(?:[\w-]+::)?({package}\b[^\"'\n#]*)", source.text, re.MULTILINE), _MOST_PINS
        ):
            written = match.group(1).strip()
            rest = written[len(search.engine.package) :].strip()
            text = search.engine.package + _as_specifier(rest) if re.match(r"=(?!=)|\d", rest) else written
            span = source.span(match.start(1), match.start(1) + len(written))
            pin = requirement(search.engine, text, f"pinned in {source.path}", span)
            if pin is not None:
                found.append(pin)
    return agreed(search.engine, found)


# -- Dockerfiles -------------------------------------------------------------------------------------------------------


def _dockerfiles(search: Search, folder: Path) -> Pin | None:
    found: list[Pin] = []
    for path in search.listing(folder, _DOCKERFILE):
        source = search.read(path)
        pin = in_dockerfile(search, source) if source is not None else None
        if pin is not None:
            found.append(pin)
    return agreed(search.engine, found)


def in_dockerfile(search: Search, source: Source) -> Pin | None:
    """What the last stage of a Dockerfile that says something installs."""
    staged = _in_stages(search, source, {})
    if staged is not None:
        return staged
    # What no instruction of a stage shows: a script in a heredoc, a file that a step writes.
    package = re.escape(search.engine.package)
    found_pins = []
    for match in islice(
        re.finditer(rf"^[^#\n]*?(?<![\w-])({package}(?:\[[^\]\n]{{0,200}}\])?==[\w.+!]+)", source.text, re.MULTILINE),
        _MOST_PINS,
    ):
        span = source.span(match.start(1), match.end(1))
        pin = requirement(search.engine, match.group(1), f"pinned in {source.path}", span)
        if pin is not None:
            found_pins.append(pin)
    return agreed(search.engine, found_pins)


# -- places in a launch ------------------------------------------------------------------------------------------------


def first(search: Search, directory: Path, hints: Iterable[VersionHint]) -> Pin | None:
    """The first hint that narrows the release down, else the first that speaks of the engine at all."""
    spoken: Pin | None = None
    somewhere: list[Pin] = []
    for hint in hints:
        pin = from_hint(search, directory, hint)
        if pin is None:
            continue
        if hint.name == SOMEWHERE:
            somewhere.append(pin)
        elif pin.exact or pin.releases != search.engine.releases or hint.kind in ("latest", "commit"):
            return pin
        else:
            spoken = spoken or pin
    return agreed(search.engine, somewhere) or spoken


def from_hint(search: Search, directory: Path, hint: VersionHint) -> Pin | None:
    """A pin from the launch's own words; an image of this engine without a usable tag is an open pin that says so."""
    engine, known = search.engine, hint.text.known
    where = f"installed in {hint.span.source.path}"
    if hint.kind == "minimum":
        return requirement(engine, known or "", "the recipe", hint.span)
    if hint.kind == "image":
        pin = image(engine, hint.text.marked(), hint.text.show(), hint.span)
        return pin if pin is None or pin.exact else _beside(engine, pin, hint) or pin
    if hint.kind == "requirements":
        path = directory / known if known and "\0" not in known else None
        return in_requirements(search, path) if path is not None else None
    if hint.kind == "dockerfile":
        return _built(search, directory, hint)
    if hint.kind in ("variable", "commit"):
        return _variable(engine, hint)
    return _asked_for(engine, hint, "in the command" if hint.kind == "requirement" else where)


def _in_stages(search: Search, source: Source, given: Mapping[str, Text]) -> Pin | None:
    """What the last stage that says anything of the engine installs, with arguments ``given`` to the build."""
    from gdnlint.launches.dockerfile import pins

    for hints in pins(source, given, search.knowledge):
        found = first(search, source.file.parent, hints)
        if found is not None:
            return found if source.path in found.text else replace(found, text=f"{found.text} in {source.path}")
    return None


def _built(search: Search, directory: Path, hint: VersionHint) -> Pin | None:
    """What the Dockerfile installs that an image is built from, with the arguments given to it."""
    known = hint.text.known
    path = directory / known if known and "\0" not in known else None
    source = search.read(path) if path is not None else None
    if path is None or source is None:
        return None
    return _in_stages(search, source, dict(hint.arguments)) or in_dockerfile(search, source)


def _variable(engine: Engine, hint: VersionHint) -> Pin | None:
    """``VLLM_VERSION=0.28.0``; a commit says that no release is built."""
    known = hint.text.known
    where = f"{hint.name} in {hint.span.source.path}"
    if not known:
        return None
    release = Release.parse(known.partition("+")[0])
    if release is not None:
        return exact(engine, release, where, hint.span)
    return unknown(engine, f"{where} is {known}, which is no release", hint.span)


def _asked_for(engine: Engine, hint: VersionHint, where: str) -> Pin | None:
    """A requirement that a command line names, as it stands there (``vllm==$VERSION`` is an open pin)."""
    known = hint.text.known
    pin = requirement(engine, known, where, hint.span) if known is not None else None
    if pin is not None:
        return pin
    if ";" in hint.text.marked() or not re.match(
        rf"{re.escape(engine.package)}\s*(?:\[[^\]]*\])?\s*[=<>~!@]", hint.text.marked()
    ):
        return None
    return unknown(engine, f"{where}: {hint.text.show()}, which is no single release", hint.span)


def _beside(engine: Engine, pin: Pin, hint: VersionHint) -> Pin | None:
    """The release that a comment behind an image without one says: ``image: x@sha256:... # v0.28.0``."""
    written = next((piece.span for piece in reversed(hint.text.pieces) if piece.span is not None), hint.span)
    source = written.source
    if not engine_image(engine, image_name(hint.text.marked())):
        return None
    rest = source.line(written.end_line)[written.end_column - 1 :]
    match = re.match(
        rf"[\"']?[ \t]*#[ \t]*(?:{re.escape(engine.package)}[ \t]*|tag[ :=]*)?{FINAL}(?![\w.-])", rest, re.IGNORECASE
    )
    release = Release.parse(match.group(1)) if match else None
    return commented(exact(engine, release, f"{pin.text}; {release}", pin.span), source.path) if release else None


_MOST_COMMENTS = 2_000
"""Lines of a file whose comments are looked at."""
_LONGEST_LINE = 1_000
"""Characters of such a line."""


def in_comments(engine: Engine, source: Source) -> Pin | None:
    """The release that the comments of a launch's file name by an image or an installation, if they agree."""
    text = source.text
    if engine.package not in text:
        return None
    package = re.escape(engine.package)
    prose = source.path.lower().endswith((".md", ".mdx", ".markdown"))
    begin = r"^" if prose else r"^(?:[^#\n]*[ \t])?#"
    found: list[Pin] = []
    for match in islice(re.finditer(rf"{begin}[^\n]*{package}[^\n]*", text, re.MULTILINE), _MOST_COMMENTS):
        line = match.group()
        if len(line) > _LONGEST_LINE:
            continue
        at = 0 if prose else line.find("#")
        for word in re.finditer(rf"[\w./-]*{package}[\w./-]*:v?\d[\w.+-]*", line[at:]):
            span = source.span(match.start() + at + word.start(), match.start() + at + word.end())
            pin = image(engine, word.group(), word.group(), span)
            if pin is not None and pin.exact:
                found.append(pin)
        for word in re.finditer(rf"pip3? install [^#\n]{{0,300}}?({package}(?:\[[^\]\n]*\])?==[\w.+]+)", line[at:]):
            span = source.span(match.start() + at + word.start(1), match.start() + at + word.end(1))
            pin = requirement(engine, word.group(1), f"named in {source.path}", span)
            if pin is not None and pin.exact:
                found.append(pin)
    values = sorted({str(pin.value) for pin in found})
    if len(values) > 1:
        return unknown(
            engine, f"no version found; comments in {source.path} name several ({', '.join(values)})", found[0].span
        )
    return commented(found[0], source.path, "the text" if prose else "a comment") if found else None
