"""The feed of changes."""

from __future__ import annotations

from asyncio import sleep
from typing import AsyncIterator, Callable, Iterable, List, Optional

from .._errors import ProblemError, TidelineError, TokenFailure, read_object
from .._events import LONGEST_PAUSE, Block, passes
from .._requests import CallOptions, Request, back_off
from ..schema import Change, Changes
from .transport import AsyncTransport


class AsyncChangeFeed:
    """The changes of the server from a position on, in their order.

    It sends no request until it is read: by `page()`, by a loop over its changes, or by a loop over `pages()`. A loop
    ends at the newest change, or with `wait` goes on with the changes that come. It raises `ChangesGone` if the server
    does not keep the changes after the position any more.
    """

    def __init__(
        self,
        transport: AsyncTransport,
        options: CallOptions,
        after: Optional[str],
        types: Optional[Iterable[str]],
        limit: Optional[int],
        wait: bool,
        heartbeat_timeout: float,
        on_error: Optional[Callable[[Exception], None]],
    ):
        self._transport = transport
        self._options = options
        self._after = after
        self._types = None if types is None else ",".join(types)
        self._limit = limit
        self._wait = wait
        self._silence = heartbeat_timeout
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
                if page["position"] != after:
                    after = page["position"]
                    yield page
                    failures = 0
                    continue
                if not self._wait:
                    return
                async with self._transport.stream(self._request(after), self._options, self._silence) as arriving:
                    async for blocks in arriving:
                        page = _page(blocks, after)
                        if page["position"] != after:
                            after = page["position"]
                            yield page
                        failures = 0
            except (TidelineError, TokenFailure) as error:
                reason = error.reason if isinstance(error, TokenFailure) else error
                if not self._wait or not passes(error):
                    raise reason from reason.__cause__
                if self._on_error is not None:
                    self._on_error(reason)
                wait = error.retry_after if isinstance(error, ProblemError) else None
            longest = self._transport.max_delay
            await sleep(back_off(failures, min(LONGEST_PAUSE, longest), min(wait or 0.0, longest)))
            failures += 1

    async def __aiter__(self) -> AsyncIterator[Change]:
        """The changes, each once and in order."""
        async for page in self.pages():
            for change in page["items"]:
                yield change

    async def _read(self, after: Optional[str]) -> Changes:
        answer: Changes = await self._transport.json(self._request(after), self._options, "items", "position")
        return answer

    def _request(self, after: Optional[str]) -> Request:
        return Request("listChanges", query={"after": after, "limit": self._limit, "types": self._types})


def _page(blocks: List[Block], after: str) -> Changes:
    """The changes that have arrived together, and their place."""
    items: List[Change] = [read_object(block.data, "position") for block in blocks if block.event == "change"]  # type: ignore[misc]
    return {"items": items, "position": next((block.id for block in reversed(blocks) if block.id), after)}
