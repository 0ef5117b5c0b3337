"""Sends requests: credentials, timeouts, repeats, and the reading of answers."""

from __future__ import annotations

from asyncio import sleep
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, List, Mapping, Optional, Union

import httpx

from .._errors import (
    BadAnswer,
    ConnectionFailed,
    ProblemError,
    TidelineError,
    TimedOut,
    TokenFailure,
    read_object,
    refused,
)
from .._events import Block, BlockReader
from .._requests import USER_AGENT, CallOptions, Request, Session, delay_after
from ..schema import Consistency
from .credentials import AsyncCredentials, TokenSource


class AsyncTransport:
    """The connection to a server."""

    def __init__(
        self,
        url: str,
        key: Optional[str],
        token: Union[str, TokenSource, None],
        timeout: float,
        retries: int,
        max_retry_delay: float,
        consistency: Optional[Consistency],
        headers: Optional[Mapping[str, str]],
        http: Optional[httpx.AsyncClient],
    ):
        if key is not None and token is not None:
            raise TypeError("give a key or a token, not both")
        self._url = url.rstrip("/")
        self._credentials = AsyncCredentials(key if token is None else token)
        self._timeout = timeout
        self._retries = retries
        self.max_delay = max_retry_delay
        self.session = Session(consistency)
        self._headers = {"user-agent": USER_AGENT, **(headers or {})}
        self._owns_http = http is None
        # Each stream has a connection of its own.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        self._http = http if http is not None else httpx.AsyncClient(limits=limits)

    async def close(self) -> None:
        """Closes the connections, if the caller did not bring them."""
        if self._owns_http:
            await self._http.aclose()

    async def json(self, request: Request, options: CallOptions, *needed: str) -> Any:
        """Sends a call whose answer is JSON, with the fields `needed`."""
        return read_object(await self.content(request, options), *needed)

    async def text(self, request: Request, options: CallOptions) -> str:
        """Sends a call whose answer is text."""
        return (await self.content(request, options)).decode(errors="replace")

    async def content(self, request: Request, options: CallOptions) -> bytes:
        """Sends a call, again where this is safe, and reads its whole answer."""
        tries = 0
        while True:
            try:
                async with self.open(request, options) as response:
                    return await response.aread()
            except TokenFailure as failure:
                raise failure.reason from failure.reason.__cause__
            except TidelineError as error:
                delay = delay_after(error, request.repeatable, tries, self.max_delay)
                if tries >= self._retries or delay is None:
                    raise
            await sleep(delay)
            tries += 1

    @asynccontextmanager
    async def open(
        self, request: Request, options: CallOptions, silence: Optional[float] = None
    ) -> AsyncIterator[httpx.Response]:
        """One attempt: a good answer, of which the body can be read. Asks for new credentials if the old ones are refused.

        An error of the token function is a `TokenFailure`.
        """
        token = await self._credentials.current()
        try:
            async with self._send(request, options, token, silence) as response:
                yield response
                return
        except ProblemError as problem:
            if not problem.refused_credentials or not self._credentials.drop(token):
                raise
        token = await self._credentials.current()
        async with self._send(request, options, token, silence) as response:
            yield response

    @asynccontextmanager
    async def stream(
        self, request: Request, options: CallOptions, silence: float
    ) -> AsyncIterator[AsyncIterator[List[Block]]]:
        """One attempt to open a stream: the blocks that arrive together, until an error ends it."""
        request.headers[b"accept"] = b"text/event-stream"
        async with self.open(request, options, silence) as response:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "text/event-stream":
                raise BadAnswer(f"an answer of the type {kind!r}, not 'text/event-stream'")
            yield _blocks(response)

    @asynccontextmanager
    async def _send(
        self, request: Request, options: CallOptions, token: Optional[str], silence: Optional[float]
    ) -> AsyncIterator[httpx.Response]:
        timeout = options.timeout if options.timeout is not None else self._timeout
        headers = httpx.Headers(self._headers)
        headers.update(request.all_headers(token, options))
        asked = self.session.ask(request, options)
        headers.update(asked.headers)
        try:
            async with self._http.stream(
                request.method,
                self._url + request.filled,
                params={**request.parameters, **asked.parameters} or None,
                content=request.content,
                headers=headers,
                timeout=httpx.Timeout(timeout, read=timeout if silence is None else silence),
            ) as response:
                self.session.saw(response.headers.get("tideline-position"), asked, response.is_success)
                if not response.is_success:
                    raise refused(response.status_code, response.headers, await response.aread())
                yield response
        except httpx.TimeoutException as error:
            raise TimedOut(f"no answer in time: {error!r}") from error
        except httpx.RequestError as error:
            raise ConnectionFailed(f"the connection failed: {error!r}") from error


async def _blocks(response: httpx.Response) -> AsyncIterator[List[Block]]:
    blocks = BlockReader()
    async for data in response.aiter_bytes():
        yield blocks.push(data)
    # It does so when it stops, and when the token ends.
    raise ConnectionFailed("the server ended the stream")
