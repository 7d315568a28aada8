"""What one place says of the engine's release: a requirement, a wheel, a git reference, an image."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote

from gdnlint.knowledge.releases import Release
from gdnlint.knowledge.schema import Engine
from gdnlint.launches.commands import image_name
from gdnlint.results import Confidence
from gdnlint.source import Span

FINAL = r"v?(\d+\.\d+(?:\.\d+){0,2})(?:\.post\d+)?"
_TAG = re.compile(FINAL + r"(?=$|[-_+])(?!.*[-_+.](?:rc|dev|alpha|beta)\d*(?:$|[-_+.]))")
"""The tag of an image that is built from a final release."""
_DAY = re.compile(r"(?:^|[-_.])(20\d\d)[-_.]?([01]\d)[-_.]?([0-3]\d)(?=$|[-_.])")
"""A day in the tag of a nightly build."""
_LONGEST = 1_000
"""Characters of a requirement."""
_CUT_DAYS_BEFORE = 14
"""Days between the upload of a release and the day its branch was cut from the main line, at most: builds of the main
line from these days may hold what only the release after it has."""

_SPECIFIER = re.compile(r"(===|==|~=|!=|<=|>=|<|>)\s*v?([0-9][0-9A-Za-z.*+!-]*)")
_ELSEWHERE = re.compile(
    r"\b(?:sys_platform|platform_system)\s*==\s*[\"'](?:darwin|win32|cygwin|Darwin|Windows)[\"']"
    r"|\bsys_platform\s*!=\s*[\"']linux[\"']|\bplatform_system\s*!=\s*[\"']Linux[\"']"
)
"""Markers of systems on which nobody serves: a line with one of them says nothing of the others."""


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
    confidence: Confidence = "high"
    """``low`` where only a comment says it."""


def exact(engine: Engine, release: Release, where: str, span: Span | None) -> Pin:
    """A pinned release; one that the knowledge does not have is judged as its nearest older one."""
    older = [known for known in engine.releases if known <= release]
    nearest = older[-1] if older else engine.releases[0]
    text = where if nearest == release else f"{where}; not among the releases known here, judged as {nearest}"
    return Pin((nearest,), True, text, str(release), span, covered=bool(older))


def unknown(engine: Engine, text: str, span: Span | None = None) -> Pin:
    """No release: any may run."""
    return Pin(engine.releases, False, text, None, span)


def requirement(engine: Engine, text: str, where: str, span: Span | None) -> Pin | None:
    """A requirement (``vllm>=0.17,<=0.25.1``), wheel or git reference of the engine's package; None if it is another's.

    A requirement without a version is an open pin.
    """
    if len(text) > _LONGEST or _ELSEWHERE.search(text.partition(";")[2]):
        return None
    package = re.escape(engine.package)
    plain = re.sub(r"\s+--hash\s*[=\s].*|\s+#.*", "", text, flags=re.DOTALL).strip().rstrip("\\").strip()
    direct = re.match(rf"{package}\s*(?:\[[^\]]*\])?\s*@\s*(.+)", plain, re.IGNORECASE)
    address = (direct.group(1) if direct else plain).partition(" ;")[0].strip()
    if "/" in address or address.endswith(".whl"):
        return from_address(engine, address, where, span, named=direct is not None)
    match = re.match(rf"{package}\s*(?:\[[^\]]*\])?\s*(.*)$", plain, re.IGNORECASE)
    if match is None:
        return None
    rest = match.group(1).partition(";")[0].strip().strip("()")
    if rest and not _SPECIFIER.match(rest):
        return None
    return _specifiers(engine, rest, where, span)


def _asker(where: str) -> str:
    """``pinned in uv.lock`` as the one who asks for it: ``uv.lock``."""
    return re.sub(r"^(?:\w+ )?in (?=\S)", "", where)


def from_address(engine: Engine, address: str, where: str, span: Span | None, named: bool) -> Pin | None:
    """The release that a wheel's name or a tag in a git reference says; an address of something else is None.

    ``named``: a requirement says that it is the engine's package, whatever the address looks like.
    """
    package = re.escape(engine.package)
    wheel = re.search(rf"(?:^|[/\\]){package}-([^/\\]+?)(?:-[^/\\]*)?\.(?:whl|tar\.gz)", unquote(address))
    if wheel:
        version = wheel.group(1).partition("+")[0]
        release = Release.parse(version)
        if release is not None:
            return exact(engine, release, where, span)
        return unknown(engine, f"{_asker(where)} takes the wheel of {wheel.group(1)}, which is no release", span)
    git = re.match(r"(?:git\+)?\w+://(?:[^@/]*@)?[^/]+/([^@#?]+?)(?:\.git)?/?(?:@([^#?]*))?(?:[#?].*)?$", address)
    if git and (address.startswith("git+") or named):
        return from_repository(engine, git.group(1), git.group(2) or "", where, span, named)
    if not named:
        return None
    return unknown(engine, f"{_asker(where)} takes {engine.package} from {address}, which names no release", span)


def from_repository(
    engine: Engine, repository: str, reference: str, where: str, span: Span | None, named: bool = True
) -> Pin | None:
    """The release that a tag of the engine's own repository says; a branch, a commit or a fork is an open pin."""
    own = repository.lower() == engine.repository.lower()
    if not own and not named and repository.rpartition("/")[2].lower() != engine.package:
        return None
    release = Release.parse(reference)
    if release is not None and own:
        return exact(engine, release, f"{where}, git tag {reference}", span)
    if not own:
        return unknown(engine, f"{_asker(where)} takes {engine.package} from the repository {repository}, a fork", span)
    what = f"the branch or commit {reference}" if reference else "its main branch"
    return unknown(engine, f"{_asker(where)} builds {engine.package} from {what}, which is no release", span)


def _specifiers(engine: Engine, text: str, where: str, span: Span | None) -> Pin:
    releases = list(engine.releases)
    for operator, version in _SPECIFIER.findall(text):
        plain = version.partition("+")[0]
        release = Release.parse(plain.removesuffix(".*"))
        if release is None:
            return unknown(engine, f"{_asker(where)} asks for {operator}{version}, which is no release", span)
        if operator in ("==", "===") and not plain.endswith(".*"):
            return exact(engine, release, where, span)
        releases = [r for r in releases if _fits(r, operator, release, plain)]
    if not releases:
        return unknown(engine, f"{_asker(where)} asks for {engine.package}{text}, which no known release is", span)
    if len(releases) == 1:
        return Pin(tuple(releases), True, where, str(releases[0]), span)
    asked = f"{engine.package}{text}, no single release" if text else f"{engine.package} without a version"
    return Pin(tuple(releases), False, f"{_asker(where)} asks for {asked}", None, span)


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


def engine_image(engine: Engine, name: str) -> bool:
    """Whether an image (without its tag) is one that the engine's project publishes."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in engine.images)


def image(engine: Engine, text: str, shown: str, span: Span | None) -> Pin | None:
    """What an image says: the release in the tag of a published one, else an open pin that says why.

    ``text`` is read, ``shown`` is for people. None: an image that has nothing to do with the engine, as far as its
    name says.
    """
    name = image_name(text)
    tail = name.rpartition("/")[2]
    tag = text[len(name) + 1 :].partition("@")[0] if text.startswith(name + ":") else ""
    vendor = next((vendor for vendor in engine.vendors if fnmatch.fnmatchcase(name, vendor.image)), None)
    if vendor is not None:
        holds = next((release for pattern, release in vendor.tags if fnmatch.fnmatchcase(tag, pattern)), None)
        if holds is not None:
            return exact(engine, holds, f"image tag {tag} of {vendor.what}", span)
        return unknown(engine, f"the image {shown} is {vendor.what}; its {engine.title} version is not known", span)
    if not engine_image(engine, name):
        if engine.package not in tail:
            return None
        return unknown(engine, f"the image {shown} names no {engine.title} release that its project published", span)
    match = _TAG.match(tag)
    release = Release.parse(match.group(1)) if match else None
    if release is not None:
        return exact(engine, release, f"image tag {tag}", span)
    day = _DAY.search(tag)
    built = _built_on(engine, "-".join(day.groups()), f"image tag {tag}", span) if day else None
    return built or unknown(engine, f"the image {shown} names no {engine.title} release", span)


def _built_on(engine: Engine, day: str, where: str, span: Span | None) -> Pin | None:
    """A build of the main line on a day (``2026-08-30``): not older than the release before it, and as new as one
    that was cut from the main line later at the most."""
    import datetime

    try:
        known = [(datetime.date.fromisoformat(date), release) for release, date in engine.dates.items()]
        built = datetime.date.fromisoformat(day)
    except ValueError:
        return None
    before = [release for date, release in known if date <= built]
    after = [release for date, release in known if date > built + datetime.timedelta(days=_CUT_DAYS_BEFORE)]
    if not before:
        return None
    low, high = max(before), min(after, default=engine.releases[-1])
    releases = tuple(r for r in engine.releases if low <= r <= high)
    return Pin(releases, False, f"{where} is a build of {day}, later than {low}", None, span)


def commented(pin: Pin, where: str, what: str = "a comment") -> Pin:
    """A pin that only a comment says, or the text around a launch."""
    return replace(pin, text=f"{pin.text}, as only {what} in {where} says", confidence="low")
