"""Which configuration holds for a file: the nearest one from its folder upward to the root of the project."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from gdnlint.options import ConfigError, Options
from gdnlint.project import LARGEST, Unreadable, decode, read_bounded
from gdnlint.settings import Config
from gdnlint.settings.judgement import Judgement, combined

NAMES = (".gdnlint.toml", "gdnlint.toml", "pyproject.toml")
"""The first that is there in a folder wins. There is no merging: nested configurations stand alone."""

NO_CONFIG = Config()


@dataclass(slots=True)
class Configurations:
    """Configurations by folder, each file read once."""

    root: Path
    options: Options
    _by_folder: dict[str, Config] = field(default_factory=dict)
    _made: dict[tuple[int, tuple[int, ...]], Judgement] = field(default_factory=dict)

    def judgement(self, path: Path, named: bool) -> Judgement | str:
        """How a file (absolute) is judged, or why it is not. Raises ConfigError."""
        config = self.of(os.path.dirname(path))
        fitting: tuple[int, ...] = ()
        if config.file is not None:
            relative = os.path.relpath(path, config.folder).replace(os.sep, "/")
            reason = config.skips(relative, named, self.options.force_exclude)
            if reason:
                return f"{reason} of {os.path.relpath(config.file)}".replace(os.sep, "/")
            fitting = tuple(at for at, entry in enumerate(config.per_path) if entry.paths.fits(relative))
        key = id(config), fitting
        if key not in self._made:
            self._made[key] = combined(self.options, config, [config.per_path[at] for at in fitting])
        return self._made[key]

    def of(self, folder: str) -> Config:
        """The configuration that holds in a folder (absolute). Raises ConfigError for one with a mistake."""
        if not self.options.use_config:
            return NO_CONFIG
        if self.options.config is not None:
            folder = ""
        found = self._by_folder.get(folder)
        if found is None:
            found = self._by_folder[folder] = self._given() if not folder else self._searched(folder)
        return found

    def _given(self) -> Config:
        """The file named on the command line. Its patterns are relative to the current directory."""
        assert self.options.config is not None
        path = Path(os.path.abspath(self.options.config))
        return _load(path, Path.cwd(), top(path.parent)) or Config(path, Path.cwd())

    def _searched(self, folder: str) -> Config:
        for name in NAMES:
            path = f"{folder}/{name}"
            if os.path.isfile(path):
                found = self._inside(Path(path))
                if found is not None:
                    return found
        above = os.path.dirname(folder)
        if folder == str(self.root) or above == folder:
            return NO_CONFIG
        return self.of(above)

    def _inside(self, path: Path) -> Config | None:
        real, root = os.path.realpath(path), os.path.realpath(self.root)
        if not real.startswith(f"{root.rstrip('/')}/"):
            raise ConfigError(f"{os.path.relpath(path)} leads out of the project; `--config FILE` takes it")
        return _load(path, path.parent, self.root)


def top(folder: Path) -> Path:
    """The git checkout around a folder, or the folder."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


def _load(path: Path, folder: Path, root: Path) -> Config | None:
    """A file; None for a ``pyproject.toml`` without a table for gdnlint, which is not even parsed."""
    display = os.path.relpath(path).replace(os.sep, "/")
    try:
        data = read_bounded(path, LARGEST)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"cannot read {display}: {reason}") from error
    if path.name == "pyproject.toml" and b"gdnlint" not in data:
        return None
    source = decode(data, display, path)
    if isinstance(source, Unreadable):
        raise ConfigError(source.problem.message)
    from gdnlint.settings import reading

    table = reading.parsed(source)
    return reading.read(table, source, folder, root) if table is not None else None
