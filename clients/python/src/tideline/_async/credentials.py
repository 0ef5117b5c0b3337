"""Keys and user tokens."""

from __future__ import annotations

from asyncio import Lock
from typing import Awaitable, Callable, Dict, Optional, Union

TokenSource = Callable[[], Awaitable[str]]


class AsyncCredentials:
    """A key or a user token. A token that comes from a source is kept until the server refuses it."""

    def __init__(self, given: Union[str, TokenSource, None]):
        self._source = given if callable(given) else None
        self._token = None if callable(given) else given
        # The lock, made at its first use: before Python 3.10 it belongs to the loop in which it is made.
        self._locks: Dict[str, Lock] = {}

    async def current(self) -> Optional[str]:
        """The credentials to send; `None` for none."""
        if self._source is None or self._token is not None:
            return self._token
        async with self._lock():
            if self._token is None:
                self._token = await self._source()
            return self._token

    async def replace(self, refused: Optional[str]) -> bool:
        """Takes notice that the server refused a token. Returns whether there is a source of others."""
        if self._source is None:
            return False
        async with self._lock():
            if self._token == refused:
                self._token = None
        return True

    def _lock(self) -> Lock:
        return self._locks.setdefault("renewal", Lock())
