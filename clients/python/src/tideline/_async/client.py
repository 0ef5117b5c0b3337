"""The client."""

from __future__ import annotations

import copy
from types import TracebackType
from typing import Callable, Iterable, List, Mapping, Optional, Sequence, Type, Union

import httpx

from .._requests import CallOptions, Request, has_id, with_ids
from ..schema import Consistency, Content, ContentList, Id, NewComment, NewContent
from .calls import AsyncCalls
from .changes import AsyncChangeFeed
from .credentials import TokenSource
from .stream import AsyncStream
from .transport import AsyncTransport


class AsyncTideline(AsyncCalls):
    """A client of a Tideline server. Each method is one call of its API.

    Ids are `str` or `int` in requests, and `str` in answers. Methods raise `ProblemError`, `ConnectionFailed`,
    `TimedOut` and `BadAnswer`. Close the client when it is no longer needed, or use it in a `with` statement.
    """

    def __init__(
        self,
        url: str,
        *,
        key: Optional[str] = None,
        token: Union[str, TokenSource, None] = None,
        timeout: float = 30.0,
        retries: int = 4,
        max_retry_delay: float = 30.0,
        consistency: Optional[Consistency] = None,
        headers: Optional[Mapping[str, str]] = None,
        http: Optional[httpx.AsyncClient] = None,
    ):
        """Makes a client, which connects with its first request.

        `url` is the address of the server, such as `https://example.org/tideline`. `key` is for programs of the
        application. `token` is a user token, or a function that gets one, which is called before the first request and
        again before the token ends. `timeout` is how many seconds a connection, and then each part of the answer, may take. `retries` is how
        often a request is sent again at most, `max_retry_delay` the longest wait before that in seconds. `consistency` is what
        reads show at a node of a cluster, by default as the server has it: with `session` all that the client has changed or
        seen. `headers` are sent with every request. `http` takes the place of the client's own connections, such as for
        a private authority of certificates; the caller closes it.
        """
        super().__init__(AsyncTransport(url, key, token, timeout, retries, max_retry_delay, consistency, headers, http))

    def with_options(
        self,
        *,
        timeout: Optional[float] = None,
        request_id: Optional[str] = None,
        consistency: Optional[Consistency] = None,
    ) -> AsyncTideline:
        """The same client with another `timeout` or `consistency`, or with an `X-Request-Id`, which the server log has too."""
        client = copy.copy(self)
        client._options = CallOptions(timeout, request_id, consistency)
        return client

    @property
    def position(self) -> Optional[str]:
        """The `Tideline-Position` of the newest answer, which requests send; `None` before the first answer of a cluster.

        Set it to that of another client of the same user to see the changes of that client with `session` too.
        """
        return self._transport.session.position

    @position.setter
    def position(self, position: Optional[str]) -> None:
        self._transport.session.position = position

    async def close(self) -> None:
        """Closes the connections."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncTideline:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.close()

    async def publish(self, item: NewContent) -> Content:
        """Publishes an item. With a `content_id` the request can be repeated, and is, after a loss."""
        request = Request("publishContent", body=with_ids(item, "NewContent"), repeats=has_id(item))
        answer: Content = await self._json(request)
        return answer

    async def publish_batch(self, items: Sequence[NewContent]) -> List[Content]:
        """Publishes up to 1,000 items, all or none."""
        body = {"items": [with_ids(item, "NewContent") for item in items]}
        request = Request("publishContentBatch", body=body, repeats=all(map(has_id, items)))
        answer: ContentList = await self._json(request, "items")
        return answer["items"]

    async def comment(self, content_id: Id, comment: NewComment) -> Content:
        """Comments on an item. With a `content_id` of its own the request can be repeated."""
        request = Request(
            "comment", {"content_id": content_id}, body=with_ids(comment, "NewComment"), repeats=has_id(comment)
        )
        answer: Content = await self._json(request)
        return answer

    def stream(
        self,
        user: Id,
        *,
        last_event_id: Optional[str] = None,
        heartbeat_timeout: float = 45.0,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> AsyncStream:
        """The changes of the user's timeline as they happen.

        With the `last_event_id` of an earlier stream of the user, or the cursor of an item, the stream goes on after it.
        After `heartbeat_timeout` seconds of silence it connects again; the server sends a comment every 15 seconds.
        `on_error` takes each error after which the stream tries again, before it waits: no events come until the next
        `open`. If it raises one, the stream ends with that.
        """
        return AsyncStream(self._transport, user, self._options, last_event_id, heartbeat_timeout, on_error)

    def changes(
        self,
        *,
        after: Optional[str] = None,
        types: Optional[Iterable[str]] = None,
        limit: Optional[int] = None,
        wait: bool = False,
        heartbeat_timeout: float = 45.0,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> AsyncChangeFeed:
        """All changes of the server, or those of some types, from the position `after` on. For keys.

        With `"newest"` it begins at the end, without `after` at the oldest change that is kept. A page has at most
        `limit` changes, 1 to 1,000; 1,000 by default. With `wait` a loop does not end at the newest change: it reads a
        stream from there on, again after `heartbeat_timeout` seconds of silence, and after each error that may pass.
        `on_error` takes these errors. If it raises one, the loop ends with that.
        """
        options = self._options
        return AsyncChangeFeed(self._transport, options, after, types, limit, wait, heartbeat_timeout, on_error)
