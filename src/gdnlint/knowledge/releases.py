"""Releases of an engine and ranges of them, as rules write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

_RELEASE = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?(?:\.post\d+)?", re.ASCII)


class Release(NamedTuple):
    """A final release, comparable: ``0.27.1`` -> (0, 27, 1)."""

    parts: tuple[int, ...]

    def __str__(self) -> str:
        return ".".join(map(str, self.parts))

    @classmethod
    def parse(cls, text: str) -> Release | None:
        """``0.27.1``, ``v0.27.1``, ``0.27`` (= 0.27.0), ``0.10.1.1``; None for anything else (rc, dev, a digest)."""
        return _parsed(text)


def final_release(text: str) -> str:
    """The release that a person names, without ``v`` and local part. Raises ValueError with what to write instead."""
    # A local version (`0.28.0+cu129`) is a build of its release.
    plain = text.partition("+")[0]
    release = Release.parse(plain)
    if release is not None:
        return str(release)
    base = re.match(r"v?(\d+\.\d+(?:\.\d+){0,2})(?=[._-]?(?:a|b|c|rc|alpha|beta|pre|dev)\d*)", plain)
    if base is None:
        raise ValueError(f"'{text}' is not a version such as 0.28.0.")
    raise ValueError(
        f"'{text}' is no final release, and what it holds is not known. "
        f"Give the release that it behaves like: {base.group(1)}, or the one before it."
    )


@lru_cache(maxsize=1024)
def _parsed(text: str) -> Release | None:
    match = _RELEASE.fullmatch(text.strip())
    if match is None:
        return None
    major, minor, patch, last = match.groups()
    parts = (int(major), int(minor), int(patch or 0))
    return Release((*parts, int(last)) if last else parts)


@dataclass(frozen=True, slots=True)
class ReleaseRange:
    """``since`` to ``until``, both included; None is open."""

    since: Release | None = None
    until: Release | None = None

    def __contains__(self, release: Release) -> bool:
        return (self.since is None or release >= self.since) and (self.until is None or release <= self.until)

    def __str__(self) -> str:
        if self.since and self.until:
            return str(self.since) if self.since == self.until else f"{self.since} to {self.until}"
        if self.since:
            return f"{self.since} and later"
        return f"up to {self.until}" if self.until else "all releases"

    @classmethod
    def parse(cls, text: str) -> ReleaseRange | None:
        """``0.17.0..0.25.1``, ``0.28.0..``, ``..0.16.0`` or one release; None if it is neither."""
        low, dots, high = text.partition("..")
        if not dots:
            release = Release.parse(low)
            return cls(release, release) if release else None
        since, until = Release.parse(low) if low else None, Release.parse(high) if high else None
        if (low and not since) or (high and not until):
            return None
        return cls(since, until)


def runs_of(releases: list[Release], known: list[Release]) -> list[tuple[Release, Release]]:
    """Neighbouring releases (in the order of ``known``) as (first, last) runs."""
    runs: list[tuple[Release, Release]] = []
    index = {release: number for number, release in enumerate(known)}
    for release in releases:
        if runs and index[release] == index[runs[-1][1]] + 1:
            runs[-1] = (runs[-1][0], release)
        else:
            runs.append((release, release))
    return runs
