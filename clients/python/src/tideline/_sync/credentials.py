"""Keys and user tokens."""

from __future__ import annotations

from threading import Lock
from typing import Callable, Dict, Optional, Union

TokenSource = Callable[[], str]


class Credentials:
    """A key or a user token. A token that comes from a source is kept until the server refuses it."""

    def __init__(self, given: Union[str, TokenSource, None]):
        self._source = given if callable(given) else None
        self._token = None if callable(given) else given
        # The lock, made at its first use: before Python 3.10 it belongs to the loop in which it is made.
        self._locks: Dict[str, Lock] = {}

    def current(self) -> Optional[str]:
        """The credentials to send; `None` for none."""
        if self._source is None or self._token is not None:
            return self._token
        with self._lock():
            if self._token is None:
                self._token = self._source()
            return self._token

    def replace(self, refused: Optional[str]) -> bool:
        """Takes notice that the server refused a token. Returns whether there is a source of others."""
        if self._source is None:
            return False
        with self._lock():
            if self._token == refused:
                self._token = None
        return True

    def _lock(self) -> Lock:
        return self._locks.setdefault("renewal", Lock())
