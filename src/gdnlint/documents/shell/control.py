"""How statements end."""

from __future__ import annotations

from enum import Enum


class Status(Enum):
    TRUE = 0
    FALSE = 1
    OPEN = 2
    """A test that nothing decides."""
    RAN = 3
    """A program ran; it is taken to succeed, except as a condition."""

    @classmethod
    def of(cls, value: bool | None) -> Status:
        return cls.OPEN if value is None else cls.TRUE if value else cls.FALSE


class Exit(Exception):
    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


class Return(Exception):
    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status


class Loop(Exception):
    """``break`` (``ends``) or ``continue``."""

    def __init__(self, ends: bool, levels: int) -> None:
        super().__init__()
        self.ends, self.levels = ends, levels
