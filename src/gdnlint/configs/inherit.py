"""Files that build on other files: chains of ``defaults``, and Hydra's defaults lists.

Each style is a function from a file to one tree. Values from parents carry the hops through
which they came. A parent that cannot be read leaves a tree whose absent keys are unknown
(``Inherited.missing`` says why); what it might have changed is dropped from the tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gdnlint.configs.interpolate import Lookup
from gdnlint.documents.overrides import merge
from gdnlint.documents.overrides.hydra import Override, is_open, parse
from gdnlint.documents.yaml import Loaded, Scalars, load
from gdnlint.project import Project, Unreadable
from gdnlint.source import Fragment, Span
from gdnlint.values import Place, Problem, Text, Value, Word

DEEPEST = 16
"""Levels of parents that are followed."""
MOST = 1000
"""Files that one tree is made of, counted as often as they are used."""
MOST_NODES = 150_000
"""Nodes of all of them, counted likewise."""


@dataclass(frozen=True)
class Inherited:
    """A file with everything it inherits."""

    tree: Value
    problems: list[Problem] = field(default_factory=list)
    missing: str = ""
    """Why keys that are absent from the tree are unknown, not unset; empty if the tree is complete."""
    files: tuple[Path, ...] = ()
    """The files that were read, the file itself first."""
    rest: tuple[Word, ...] = ()
    """The words of the command line that are no choices of config groups (hydra_defaults)."""


class Loader:
    """YAML files of one project, each read once for one kind of scalars."""

    def __init__(self, project: Project, scalars: Scalars = "omegaconf") -> None:
        self.project = project
        self.scalars = scalars
        self.chains: dict[tuple[Path, str, str], Inherited] = {}
        self._loaded: dict[Path, Loaded | Problem] = {}

    def loaded(self, path: Path) -> Loaded | Problem:
        """A file as ``yaml.load`` gives it, or why it cannot be read."""
        found = self._loaded.get(path)
        if found is None:
            try:
                found = load(Fragment.whole(self.project.source(path)), self.scalars)
            except Unreadable as error:
                found = error.problem
            self._loaded[path] = found
        return found

    def nodes(self, path: Path) -> int:
        """How many nodes a file has."""
        found = self.loaded(path)
        return 1 if isinstance(found, Problem) else found.nodes

    def document(self, path: Path) -> tuple[Value | None, list[Problem]]:
        """The mapping that a file holds (an empty file holds an empty one); None with a problem otherwise."""
        found = self.loaded(path)
        if isinstance(found, Problem):
            return None, [found]
        problems = list(found.problems)
        if any(problem.code != "duplicate-key" for problem in problems):
            return None, problems
        start = found.text.span(0, 0)
        if len(found.documents) > 1:
            problems.append(Problem("syntax", "more than one YAML document; the program reads one", start))
            return None, problems
        root = found.documents[0] if found.documents else Value({}, start)
        if root.data is None:
            root = replace(root, data={})
        if not isinstance(root.data, dict):
            problems.append(Problem("syntax", "the file holds no mapping", start))
            return None, problems
        return root, problems


def none(loader: Loader, file: Path) -> Inherited:
    """A file by itself."""
    root, problems = loader.document(file)
    if root is None:
        return Inherited(Value({}), problems, _unread(loader, file), (file,))
    return Inherited(root, problems, "", (file,))


def toml_file(project: Project, file: Path) -> Inherited:
    """A TOML file by itself."""
    from gdnlint.documents import toml

    key = ("toml", file)
    kept = project.memory.get(key)
    if isinstance(kept, Inherited):
        return kept
    try:
        root, problems = toml.load(project.source(file))
    except Unreadable as error:
        root, problems = None, [error.problem]
    missing = "" if root is not None else f"{project.display(file)}, which could not be read"
    made = Inherited(root or Value({}), problems, missing, (file,))
    project.memory[key] = made
    return made


def _unread(loader: Loader, file: Path) -> str:
    return f"{loader.project.display(file)}, which could not be read"


def behind(tree: Value, *hops: Place) -> Value:
    """A tree with more hops, nearer to the launch than its own, behind each value."""
    data = tree.data
    if isinstance(data, dict):
        data = {key: behind(member, *hops) for key, member in data.items()}
    elif isinstance(data, list):
        data = [behind(item, *hops) for item in data]
    return Value(data, tree.span, hops + tree.places, tree.route, tree.name)


def _normal(path: Path) -> Path:
    """A path without ``..``; symbolic links are left to the project, which checks where they lead."""
    return Path(os.path.normpath(path))


# --- A chain of defaults -------------------------------------------------------------------------


def defaults_chain(
    loader: Loader, file: Path, *, key: str = "defaults", override_marker: str = "_override_"
) -> Inherited:
    """A file whose ``key`` names its parents: a path, or a list of paths, relative to the file.

    Depth first, later parents win, the file wins over all; mappings merge. A top-level mapping
    with a true ``override_marker`` replaces what was inherited under its name.
    """
    return _Chain(loader, key, override_marker).composed(_normal(file), ())


class _Chain:
    def __init__(self, loader: Loader, key: str, marker: str) -> None:
        self.loader = loader
        self.key = key
        self.marker = marker
        self.count = 0
        self.nodes = 0

    def composed(self, file: Path, trail: tuple[Path, ...]) -> Inherited:
        cached = self.loader.chains.get((file, self.key, self.marker))
        if cached is not None:
            return cached
        self.count += 1
        made = self._composed(file, trail)
        if not any(problem.code in ("inheritance-cycle", "too-deep", "too-large") for problem in made.problems):
            self.loader.chains[file, self.key, self.marker] = made
        return made

    def _composed(self, file: Path, trail: tuple[Path, ...]) -> Inherited:
        root, problems = self.loader.document(file)
        if root is None:
            return Inherited(Value({}), problems, _unread(self.loader, file), (file,))
        assert isinstance(root.data, dict)
        entry = root.data.get(self.key)
        if entry is None:
            return Inherited(root, problems, "", (file,))
        own = root.without([self.key])
        tree, missing, files = Value({}), "", [file]
        for parent in _parents(entry, problems):
            found = self.parent(file, parent, (*trail, file))
            problems.extend(found.problems)
            files.extend(found.files)
            if found.missing:
                missing, tree = found.missing, Value({})
            tree = self.over(tree, found.tree, problems)
        return Inherited(self.over(tree, own, problems), problems, missing, tuple(dict.fromkeys(files)))

    def parent(self, file: Path, parent: Value, trail: tuple[Path, ...]) -> Inherited:
        name = parent.data
        if isinstance(name, Text) or (isinstance(name, str) and "${" in name):
            return Inherited(Value({}), [], "its parent, whose path is not known")
        path = _normal(file.parent / str(name))
        shown = self.loader.project.display(path)
        problem: Problem | None = None
        if path in trail:
            problem = Problem("inheritance-cycle", f"{shown} inherits from itself", parent.span)
        elif len(trail) > DEEPEST or self.count > MOST:
            problem = Problem("too-deep", f"more than {DEEPEST} levels of parents, or {MOST} of them", parent.span)
        elif not self.loader.project.inside(path):
            problem = Problem("outside-root", f"{shown} lies outside the project root and is not read", parent.span)
        elif not self.loader.project.exists(path):
            problem = Problem("missing-parent", f"the parent {shown} was not found", parent.span)
        if problem is not None:
            return Inherited(Value({}), [problem], f"its parent {name}: {problem.message}")
        found = self.composed(path, trail)
        self.nodes += sum(map(self.loader.nodes, found.files))
        if self.nodes > MOST_NODES:
            message = f"its parents have more than {MOST_NODES:,} values in all"
            return Inherited(Value({}), [Problem("too-large", message, parent.span)], message)
        if parent.span is None:
            return found
        return replace(found, tree=behind(found.tree, Place(parent.span, f"inherited from {shown}")))

    def over(self, base: Value, over: Value, problems: list[Problem]) -> Value:
        """``over`` merged over ``base``, the sections it marks replaced."""
        assert isinstance(over.data, dict)
        for name, section in over.data.items():
            if not isinstance(section.data, dict):
                continue
            marker = section.data.get(self.marker)
            if marker is None or not marker.data or isinstance(marker.data, Text):
                continue
            over = over.with_([name], section.without([self.marker]))
            base = base.without([name])
        return merge(base, over, Lookup(base, {}).stands_for, problems)


def _parents(entry: Value, problems: list[Problem]) -> list[Value]:
    """The entries that name parents."""
    if isinstance(entry.data, list):
        return entry.data
    if isinstance(entry.data, str | Text):
        return [entry]
    problems.append(Problem("syntax", f"{entry.name} must be a path or a list of paths", entry.span))
    return []


# --- Hydra's defaults lists ----------------------------------------------------------------------


def hydra_defaults(
    loader: Loader,
    file: Path,
    *,
    search: Sequence[Path] = (),
    directory: Path | None = None,
    words: Sequence[Word] = (),
) -> Inherited:
    """A primary config composed by its defaults list (Hydra 1.3, as ``hydra.compose`` does it).

    ``directory`` is the config directory (``--config-path``), the file's own by default; ``search``
    has further directories in their order; ``hydra.searchpath`` of the file is followed. Choices
    of config groups among ``words`` are taken; ``rest`` has the other words, to be applied to the
    tree. What concerns Hydra itself (``hydra.*``) is left out of both.
    """
    file = _normal(file)
    root, problems = loader.document(file)
    if root is None:
        return Inherited(Value({}), problems, _unread(loader, file), (file,), tuple(words))
    first = _normal(directory) if directory is not None else file.parent
    places = [first, *(_normal(loader.project.root / path) for path in search)]
    composer = _Composer(loader, places, problems)
    composer.read_words(words, root)
    # Most scripts choose in no group, and compose the same configuration again and again.
    key = ("composed", loader.scalars, file, first, tuple(composer.places))
    kept = loader.project.memory.get(key) if composer.is_plain else None
    if isinstance(kept, Inherited):
        return replace(kept, problems=problems + kept.problems, rest=tuple(composer.rest))
    before = len(problems)
    name = str(file.relative_to(first)) if first in file.parents else file.name
    primary = _Item(path=re.sub(r"\.ya?ml$", "", name), primary=True)
    entries = composer.expanded(primary, file, 0)
    composer.check_used(entries)
    tree, missing, files = Value({}), "", [file]
    for entry in entries:
        if entry.missing:
            tree, missing = Value({}), entry.missing
        if entry.tree is not None:
            tree = merge(tree, entry.tree, Lookup(tree, {}).stands_for, problems)
        if entry.file is not None:
            files.append(entry.file)
    tree = tree.without(["hydra"])
    found = Inherited(tree, problems, missing, tuple(dict.fromkeys(files)), tuple(composer.rest))
    if composer.is_plain:
        loader.project.memory[key] = replace(found, problems=problems[before:], rest=())
    return found


@dataclass
class _Item:
    """An element of a defaults list: a config (``path``) or a choice in a group (``group``, ``name``)."""

    path: str | None = None
    group: str | None = None
    name: str | None = None
    options: list[str] | None = None
    """Several choices at once (``group: [a, b]``)."""
    unknown: str = ""
    """Why the choice is not known; empty if it is."""
    package: str | None = None
    optional: bool = False
    override: bool = False
    primary: bool = False
    span: Span | None = None
    what: str = ""
    """How a choice on the command line is put in provenance; empty for one in a file."""
    base: str = ""
    """The group of the config in whose list it stands."""
    parent_package: str = ""
    header: str | None = None
    via: tuple[Place, ...] = ()

    @property
    def is_self(self) -> bool:
        return self.path == "_self_"

    def below(self, base: str, package: str, via: tuple[Place, ...]) -> None:
        """Puts the item into the list of a config of that group and package."""
        self.base, self.parent_package, self.via = base, package, via
        if self.package == "_here_":
            self.package = ""
        if self.package is not None and "_group_" in self.package:
            resolved = self.package.replace("_group_", self.group_path.replace("/", "."))
            self.package = f"_global_.{resolved}"

    def _absolute(self, path: str) -> str:
        if path.startswith("/"):
            return path[1:]
        return f"{self.base}/{path}" if self.base and path else self.base or path

    @property
    def group_path(self) -> str:
        if self.group is not None:
            return self._absolute(self.group)
        path = self.path or ""
        if path.startswith("/"):
            return path[1:].rpartition("/")[0]
        return self._absolute(path.rpartition("/")[0])

    @property
    def config_path(self) -> str:
        if self.group is not None:
            return f"{self.group_path}/{self.name}"
        return self._absolute(self.path or "")

    def final_package(self, with_header: bool = True) -> str:
        package = self.package
        if package is None and with_header:
            package = self.header
        if package is None:
            relative = self.group if self.group is not None else (self.path or "").rpartition("/")[0]
            package = relative.lstrip("/").replace("/", ".")
        whole = ".".join(part for part in (self.parent_package, package) if part)
        at = whole.rfind("_global_")
        return whole if at < 0 else whole[at + len("_global_.") :]

    @property
    def override_key(self) -> str:
        """What an override calls it: the group, with its package where that is not the usual one."""
        package = self.final_package(with_header=False)
        if package == self.group_path.replace("/", "."):
            return self.group_path
        return f"{self.group_path}@{package or '_global_'}"


@dataclass
class _Entry:
    """A config in the final list."""

    tree: Value | None = None
    missing: str = ""
    file: Path | None = None
    key: str = ""
    """The choice whose only config it is."""
    span: Span | None = None


@dataclass
class _Choice:
    """A choice that overrides a defaults list."""

    name: str | None
    options: list[str] | None
    unknown: str
    span: Span | None
    what: str
    used: bool = False


class _Composer:
    def __init__(self, loader: Loader, places: list[Path], problems: list[Problem]) -> None:
        self.loader = loader
        self.places = places
        self.problems = problems
        self.rest: list[Word] = []
        self.choices: dict[str, _Choice] = {}
        self.deletions: dict[str, _Choice] = {}
        self.appended: list[_Item] = []
        self.known: dict[str, str | None] = {}
        self.trail: list[str] = []
        self.count = 0
        self.nodes = 0
        self.incomplete = False

    @property
    def is_plain(self) -> bool:
        """Whether the command line chooses in no group."""
        return not (self.choices or self.deletions or self.appended)

    # The command line

    def read_words(self, words: Sequence[Word], root: Value) -> None:
        """Sorts the words: the search path, choices of groups, and the rest."""
        overrides = [(word, None if is_open(word) else parse(word.text, word.span)) for word in words]
        given = next((o.value for _, o in overrides if o is not None and o.key == "hydra.searchpath"), None)
        self.add_search_path(given or root.at(["hydra", "searchpath"]))
        for word, override in overrides:
            if override is None:
                self.rest.append(word)
            elif override.key.partition(".")[0].partition("/")[0] == "hydra":
                continue
            elif not self.is_group(override.key) or (override.value and isinstance(override.value.data, dict)):
                self.rest.append(word)
            else:
                self.choose(override, word)

    def choose(self, override: Override, word: Word) -> None:
        shown = word.text.show()
        if override.kind == "force":
            self.problems.append(Problem("override", f"{shown}: ++ cannot choose in a config group", word.span))
            return
        choice = _choice(override.value, word.span, f"chosen by {shown}")
        if choice is None:
            self.problems.append(Problem("override", f"{shown}: a choice is a name or a list of names", word.span))
        elif override.kind == "delete":
            self.deletions[override.element] = choice
        elif override.kind == "change":
            self.choices[override.element] = choice
        else:
            self.appended.append(
                _Item(
                    group=override.key, name=choice.name, options=choice.options, unknown=choice.unknown,
                    package=override.package, span=word.span, what=choice.what,
                )
            )  # fmt: skip

    def add_search_path(self, value: Value | None) -> None:
        if value is None or not isinstance(value.data, list):
            return
        for item in value.data:
            if not isinstance(item.data, str):
                continue
            scheme, _, path = item.data.rpartition("://")
            if scheme == "pkg":
                path = path.replace(".", "/")
            found = self.directory(path)
            if found is not None:
                self.places.append(found)

    def directory(self, path: str) -> Path | None:
        """A directory named relative to where the program runs, or to where its packages lie."""
        root = self.loader.project.root
        bases = [root, *(p for p in self.places[0].parents if self.loader.project.inside(p))]
        for base in [*bases, *(base / "src" for base in bases)]:
            found = _normal(base / path)
            if self.loader.project.inside(found) and found.is_dir():
                return found
        return None

    def is_group(self, key: str) -> bool:
        if not re.fullmatch(r"[\w$/.-]+", key):
            return False
        memory, asked = self.loader.project.memory, ("group", tuple(self.places), key)
        if asked not in memory:
            memory[asked] = any(
                self.loader.project.inside(place / key) and (place / key).is_dir() for place in self.places
            )
        return bool(memory[asked])

    def check_used(self, entries: Sequence[_Entry]) -> None:
        """What stops the program: a choice made twice, and (if the lists are known) one that nothing asks for."""
        seen: set[str] = set()
        for entry in entries:
            if entry.key in seen:
                message = f"{entry.key} stands more than once in the defaults list"
                self.problems.append(Problem("override", message, entry.span))
            if entry.key:
                seen.add(entry.key)
        if self.incomplete:
            return
        for key, choice in self.choices.items():
            if not choice.used:
                message = f"there is no {key} in the defaults list to be changed; +{key}= would add it"
                self.problems.append(Problem("override", message, choice.span))
        for key, choice in self.deletions.items():
            if not choice.used:
                self.problems.append(Problem("override", f"there is no {key} in the defaults list", choice.span))

    # The lists

    def find(self, config: str) -> Path | None:
        name = config if config.endswith((".yaml", ".yml")) else f"{config}.yaml"
        for place in self.places:
            path = _normal(place / name)
            if self.loader.project.exists(path):
                return path
        return None

    def lost(self, message: str, item: _Item, code: str = "missing-parent") -> list[_Entry]:
        self.incomplete = True
        self.problems.append(Problem(code, message, item.span))
        return [_Entry(missing=message)]

    def expanded(self, item: _Item, file: Path | None, depth: int) -> list[_Entry]:
        """An item and what its config inherits, in the order in which they merge."""
        self.count += 1
        if item.unknown:
            self.incomplete = True
            return [_Entry(missing=item.unknown)]
        if file is None and (item.group is None or item.name is not None):
            file = self.find(item.config_path)
        item.header = self.header(file)
        if item.group is not None:
            deletion = self.deletions.get(item.override_key)
            if deletion is not None and deletion.name in (None, item.name):
                deletion.used = True
                return []
            self.know(item)
            if item.name is None:
                return []
        if item.config_path.endswith("???"):
            return self.lost(f"the config group {item.override_key} needs a choice", item)
        if file is None:
            return [] if item.optional else self.lost(f"the config {item.config_path} was not found", item)
        if item.config_path in self.trail:
            return self.lost(f"{item.config_path} inherits from itself", item, "inheritance-cycle")
        if depth > DEEPEST or self.count > MOST:
            return self.lost(f"more than {DEEPEST} levels of configs, or {MOST} of them", item, "too-deep")
        self.nodes += self.loader.nodes(file)
        if self.nodes > MOST_NODES:
            return self.lost(f"its configs have more than {MOST_NODES:,} values in all", item, "too-large")
        self.trail.append(item.config_path)
        entries = self.children(item, file, depth)
        self.trail.pop()
        return entries

    def header(self, file: Path | None) -> str | None:
        """The package that a comment at the head of a config names (``# @package a.b``)."""
        loaded = None if file is None else self.loader.loaded(file)
        if not isinstance(loaded, Loaded):
            return None
        package: str | None = None
        for line in loaded.text.text[:512].splitlines():
            if not line.strip():
                continue
            match = re.match(r"\s*#\s*@(\S*)\s*(\S*)", line)
            if match is None:
                break
            if match.group(1) == "package":
                package = match.group(2)
        if package is None or package == "_group_":
            return None
        if package == "_global_" or package.startswith("_global_."):
            return package
        return f"_global_.{package}" if package else "_global_"

    def know(self, item: _Item) -> None:
        key = item.override_key
        if key in self.known and self.known[key] != item.name:
            message = f"{key} is chosen twice: {self.known[key]} and {item.name}"
            self.problems.append(Problem("override", message, item.span))
        self.known.setdefault(key, item.name)

    def children(self, item: _Item, file: Path, depth: int) -> list[_Entry]:
        root, problems = self.loader.document(file)
        if root is None or not isinstance(root.data, dict):
            self.incomplete = True
            self.problems.extend(problems)
            return [_Entry(missing=_unread(self.loader, file), file=file)]
        if not item.primary:
            self.problems.extend(problems)
        via = item.via
        if item.span is not None and not item.primary:
            what = f"inherited from {self.loader.project.display(file)}"
            via = (*via, Place(item.span, f"{what} ({item.what})" if item.what else what))
        own = _Entry(_packed(root.without(["defaults"]), item.final_package(), via), file=file)
        items = _items(root.data.get("defaults"), self.problems)
        has_self = any(below.is_self for below in items)
        listed = any(not below.override for below in items) or (not items and item.primary and self.appended)
        if listed and not has_self:
            # Without _self_ the config itself comes last.
            items.append(_Item(path="_self_"))
        if item.primary:
            items.extend(self.appended)
        for below in items:
            if not below.is_self:
                below.below(item.group_path, item.final_package(), via)
            if below.override and not _concerns_hydra(below):
                choice = _Choice(below.name, below.options, "", below.span, "")
                self.choices.setdefault(below.override_key, choice)
        made = self.merged_order(items, own, depth)
        if made != [own] or has_self or listed or item.group is None:
            return made
        return [replace(own, key=item.override_key, span=item.span)]

    def merged_order(self, items: list[_Item], own: _Entry, depth: int) -> list[_Entry]:
        """The entries of a list. Later items are expanded first, so that their overrides reach the earlier."""
        made: list[list[_Entry]] = []
        later: list[tuple[int, _Item]] = []
        for item in reversed(items):
            if item.override or _concerns_hydra(item):
                continue
            if item.is_self:
                made.append([own])
                continue
            self.take_choice(item)
            if item.options is not None:
                made.extend(self.expanded(option, None, depth + 1) for option in _options(item))
            elif "${" in (item.name or item.path or ""):
                later.append((len(made), item))
                made.append([])
            else:
                made.append(self.expanded(item, None, depth + 1))
        for at, item in later:
            made[at] = self.expanded(self.interpolated(item), None, depth + 1)
        if not made:
            return [own]
        return [entry for entries in reversed(made) for entry in entries]

    def take_choice(self, item: _Item) -> None:
        if item.group is None:
            return
        choice = self.choices.get(item.override_key)
        if choice is None:
            return
        choice.used = True
        item.name, item.options, item.unknown = choice.name, choice.options, choice.unknown
        item.span, item.what = choice.span or item.span, choice.what

    def interpolated(self, item: _Item) -> _Item:
        """An item whose name refers to other choices (``${db}``)."""
        text = item.name if item.group is not None else item.path
        unknown = ""

        def chosen(match: re.Match[str]) -> str:
            nonlocal unknown
            name = self.known.get(match.group(1).strip())
            if name is None:
                unknown = f"the interpolation {match.group()} in a defaults list"
            return name or ""

        made = re.sub(r"\$\{([^{}]*)\}", chosen, text or "")
        if item.group is not None:
            return replace(item, name=made, unknown=unknown)
        return replace(item, path=made, unknown=unknown)


def _choice(value: Value | None, span: Span | None, what: str) -> _Choice | None:
    """A choice as an override gives it; None if it can be none."""
    if value is None:
        return _Choice(None, None, "", span, what)
    if isinstance(value.data, Text):
        return _Choice(None, None, value.data.holes[0].reason if value.data.holes else "a choice", span, what)
    if isinstance(value.data, list):
        names = [item.data for item in value.data if isinstance(item.data, str)]
        return _Choice(None, names, "", span, what) if len(names) == len(value.data) else None
    return _Choice(value.data, None, "", span, what) if isinstance(value.data, str) else None


def _items(value: Value | None, problems: list[Problem]) -> list[_Item]:
    """The elements of a defaults list."""
    if value is None:
        return []
    if not isinstance(value.data, list):
        problems.append(Problem("syntax", "defaults must be a list", value.span))
        return []
    items: list[_Item] = []
    for element in value.data:
        item = _item(element)
        if item is None:
            problems.append(Problem("syntax", "an element of defaults is a config or group: option", element.span))
        else:
            items.append(item)
    return items


def _item(element: Value) -> _Item | None:
    if isinstance(element.data, str):
        path, _, package = element.data.partition("@")
        return _Item(path=path, package=package.partition(":")[0] if "@" in element.data else None, span=element.span)
    if isinstance(element.data, Text):
        return _Item(path="", unknown="an element of a defaults list", span=element.span)
    if not isinstance(element.data, dict):
        return None
    members = dict(element.data)
    # "optional: true" beside the group is how Hydra 1.0 wrote it.
    optional = members.pop("optional", None) if len(members) > 1 else None
    if len(members) != 1:
        return None
    [(key, value)] = members.items()
    head, _, package = key.partition("@")
    *keywords, group = head.split(" ")
    choice = _choice(value, value.span, "") if value.data is not None else _Choice(None, None, "", value.span, "")
    if choice is None or not group:
        return None
    return _Item(
        group=group, name=choice.name, options=choice.options, unknown=choice.unknown,
        package=package.partition(":")[0] if "@" in key else None,
        optional="optional" in keywords or (optional is not None and optional.data is True),
        override="override" in keywords, span=value.span,
    )  # fmt: skip


def _options(item: _Item) -> list[_Item]:
    """The choices of an item as items, the last first."""
    return [
        _Item(
            path=f"{item.group}/{name}", package=item.package, optional=item.optional, span=item.span,
            what=item.what, base=item.base, parent_package=item.parent_package, via=item.via,
        )
        for name in reversed(item.options or [])
    ]  # fmt: skip


def _concerns_hydra(item: _Item) -> bool:
    """Whether an item configures Hydra itself, whose configs come with it."""
    path = item.group if item.group is not None else item.path
    return (path or "").lstrip("/").partition("/")[0] == "hydra"


def _packed(tree: Value, package: str, via: tuple[Place, ...]) -> Value:
    """A config below its package, with the hops on its way."""
    tree = behind(tree, *via) if via else tree
    for part in reversed(package.split(".") if package else []):
        tree = Value({part: tree}, tree.span, tree.places, "key", part)
    return tree
