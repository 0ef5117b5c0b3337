"""Conditions that hold, at once or soon."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Unexpected(AssertionError):
    """An answer that the contract does not allow, or a condition that does not come true."""


class Impossible(Exception):
    """The reason that something cannot be tried on this machine."""


def until(what: str | Callable[[], str], holds: Callable[[], T | None], seconds: float = 60.0, pause: float = 0.05) -> T:
    """The first true result of `holds`. Fails if it takes longer."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        if time.monotonic() > end:
            raise Unexpected(f"after {seconds:.0f} s still not: {what() if callable(what) else what}")
        time.sleep(pause)
    return value
