"""The feed of changes."""

from __future__ import annotations

from asyncio import sleep
from typing import AsyncIterator, Callable, Iterable, Optional

from .._errors import ProblemError, TidelineError
from .._events import passes
from .._requests import CallOptions, Request, back_off
from ..schema import Change, Changes
from .transport import AsyncTransport


class AsyncChangeFeed:
    """The changes of the server from a position on, in their order.

    It sends no request until it is read: by `page()`, by a loop over its changes, or by a loop over `pages()`. A loop
    ends at the newest change, or waits there for further ones if the feed has a `wait`. It raises `ChangesGone` if the
    server does not keep the changes after the position any more.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        options: CallOptions,
        after: Optional[str],
        types: Optional[Iterable[str]],
        limit: Optional[int],
        wait: Optional[float],
        on_error: Optional[Callable[[Exception], None]],
    ):
        self._transport = transport
        self._options = options
        self._after = after
        self._types = None if types is None else ",".join(types)
        self._limit = limit
        self._wait = wait
        self._on_error = on_error

    async def page(self) -> Changes:
        """The first page, with the position from which to go on."""
        return await self._read(self._after)

    async def pages(self) -> AsyncIterator[Changes]:
        """The pages, each with a position that is further than the one before, also pages without a change.

        To go on later, keep the `position` of a page together with what its changes have done.
        """
        after = self._after
        failures = 0
        while True:
            try:
                page = await self._read(after)
            except TidelineError as error:
                if self._wait is None or not passes(error):
                    raise
                if self._on_error is not None:
                    self._on_error(error)
                longest = self._transport.max_delay
                asked = error.retry_after if isinstance(error, ProblemError) else None
                await sleep(back_off(failures, longest, min(asked or 0.0, longest)))
                failures += 1
                continue
            failures = 0
            if page["position"] != after:
                after = page["position"]
                yield page
            elif self._wait is None:
                return
            else:
                await sleep(self._wait)

    async def __aiter__(self) -> AsyncIterator[Change]:
        """The changes, each once and in order."""
        async for page in self.pages():
            for change in page["items"]:
                yield change

    async def _read(self, after: Optional[str]) -> Changes:
        query = {"after": after, "limit": self._limit, "types": self._types}
        answer: Changes = await self._transport.json(
            Request("listChanges", query=query), self._options, "items", "position"
        )
        return answer
