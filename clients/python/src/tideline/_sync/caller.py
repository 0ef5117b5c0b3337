"""What the methods of calls share."""

from __future__ import annotations

from typing import Any, Iterator, Mapping, Optional, Union

from .._errors import TokenFailure
from .._page import Page
from .._requests import CallOptions, Request
from ..schema import Id
from .listing import Listing
from .transport import Transport


class Caller:
    """Sends requests with the options of a client."""

    def __init__(self, transport: Transport):
        self._transport = transport
        self._options = CallOptions()

    def _json(self, request: Request, *needed: str) -> Any:
        return self._transport.json(request, self._options, *needed)

    def _text(self, request: Request) -> str:
        return self._transport.text(request, self._options)

    def _nothing(self, request: Request) -> None:
        self._transport.content(request, self._options)

    def _pieces(self, request: Request) -> Iterator[bytes]:
        try:
            with self._transport.open(request, self._options) as response:
                for data in response.iter_bytes():
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
    ) -> Listing[Any]:
        def read(before: Optional[str], after: Optional[str]) -> Page[Any]:
            query = {"limit": limit, "before": before, "after": after, **more}
            answer = self._json(Request(operation, path, query), "items", "next", "prev")
            return Page(answer["items"], answer["next"], answer["prev"])

        return Listing(read, before, after)
