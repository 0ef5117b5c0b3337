"""What the methods of calls share."""

from __future__ import annotations

from typing import Any, AsyncIterator, Mapping, Optional, Union

from .._errors import TokenFailure
from .._page import Page
from .._requests import CallOptions, Request
from ..schema import Id
from .listing import AsyncListing
from .transport import AsyncTransport


class AsyncCaller:
    """Sends requests with the options of a client."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport
        self._options = CallOptions()

    async def _json(self, request: Request, *needed: str) -> Any:
        return await self._transport.json(request, self._options, *needed)

    async def _text(self, request: Request) -> str:
        return await self._transport.text(request, self._options)

    async def _nothing(self, request: Request) -> None:
        await self._transport.content(request, self._options)

    async def _pieces(self, request: Request) -> AsyncIterator[bytes]:
        try:
            async with self._transport.open(request, self._options) as response:
                async for data in response.aiter_bytes():
                    yield data
        except TokenFailure as failure:
            raise failure.reason from failure.reason.__cause__

    def _list(
        self,
        operation: str,
        path: Mapping[str, Id],
        limit: Optional[int],
        before: Optional[str],
        after: Optional[str],
        more: Mapping[str, Union[str, int, None]],
    ) -> AsyncListing[Any]:
        async def read(before: Optional[str], after: Optional[str]) -> Page[Any]:
            query = {"limit": limit, "before": before, "after": after, **more}
            answer = await self._json(Request(operation, path, query), "items", "next", "prev")
            return Page(answer["items"], answer["next"], answer["prev"])

        return AsyncListing(read, before, after)
