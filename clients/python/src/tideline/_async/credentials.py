"""Keys and user tokens."""

from __future__ import annotations

from asyncio import Lock
from time import time
from typing import Awaitable, Callable, Dict, Optional, Union

from .._errors import LoggedOut, TokenFailure
from .._token import end_of, renewal_of

TokenSource = Callable[[], Awaitable[str]]


class AsyncCredentials:
    """A key or a user token. A token that comes from a source is renewed shortly before its end, or when it is refused."""

    def __init__(self, given: Union[str, TokenSource, None]):
        self._source = given if callable(given) else None
        self._token = None if callable(given) else given
        self._end = float("inf")
        self._renew_at = float("inf")
        # How often the source was called, and the error of its last call.
        self._calls = 0
        self._failure: Optional[Exception] = None
        # The lock, made at its first use: before Python 3.10 it belongs to the loop in which it is made.
        self._locks: Dict[str, Lock] = {}

    async def current(self) -> Optional[str]:
        """The credentials to send; `None` for none. All who wait for a token share one call of the source."""
        token = self._good()
        if self._source is None or token is not None:
            return token
        calls = self._calls
        async with self._lock():
            token = self._good()
            if token is None and self._failure is not None and self._calls != calls:
                raise TokenFailure(self._failure)
            return token if token is not None else await self._renew(self._source)

    def drop(self, refused: Optional[str]) -> bool:
        """Drops a token that the server refused. Returns whether there is a source of others."""
        if self._source is not None and self._token == refused:
            self._token = None
        return self._source is not None

    def _good(self) -> Optional[str]:
        token = self._token
        return token if time() < self._renew_at else None

    async def _renew(self, source: TokenSource) -> str:
        try:
            token = await source()
        except Exception as error:
            last, left = self._token, self._end - time()
            if last is None or left <= 0 or isinstance(error, LoggedOut):
                self._failure = error
                raise TokenFailure(error) from error
            # The last token is still good.
            self._renew_at = self._end - left / 2
            return last
        finally:
            self._calls += 1
        self._token, self._end, self._failure = token, end_of(token), None
        self._renew_at = renewal_of(self._end, time())
        return token

    def _lock(self) -> Lock:
        return self._locks.setdefault("renewal", Lock())
