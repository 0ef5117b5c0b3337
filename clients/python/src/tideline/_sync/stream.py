"""Streams of events."""

from __future__ import annotations

from time import sleep
from typing import Iterator, Callable, Optional

from .._errors import ProblemError, TidelineError, TokenFailure
from .._events import LONGEST_PAUSE, OpenEvent, Place, ResetEvent, StreamEvent, passes
from .._requests import CallOptions, Request, back_off
from ..schema import Id
from .transport import Transport


class Stream:
    """The stream of a user, read by one loop.

    It connects again after every loss, and goes on where it was. It ends with the loop, with a `ProblemError` for a
    request that the server will never take, such as one with wrong credentials, or with a `LoggedOut` of the token
    function.
    """

    def __init__(
        self,
        transport: Transport,
        user: Id,
        options: CallOptions,
        last_event_id: Optional[str],
        heartbeat_timeout: float,
        on_error: Optional[Callable[[Exception], None]],
    ):
        self._transport = transport
        self._user = user
        self._options = options
        self._silence = heartbeat_timeout
        self._on_error = on_error
        self._place = Place(last_event_id)

    @property
    def last_event_id(self) -> Optional[str]:
        """The place after the last event that was given: another stream can go on from here.

        It moves past a `reset` when the next event is asked for, and is `None` until the server has sent one.
        """
        return self._place.last_event_id

    def __iter__(self) -> Iterator[StreamEvent]:
        place = self._place
        failures = 0
        was_open = False
        reset = False
        while True:
            wait = None
            try:
                with self._transport.stream(self._request(), self._options, self._silence) as arriving:
                    yield OpenEvent()
                    # Without a place to go on from, the server cannot tell what was missed.
                    if reset or (was_open and place.last_event_id is None):
                        place.forget()
                        yield ResetEvent()
                    was_open, reset = True, False
                    for blocks in arriving:
                        for block in blocks:
                            for event in place.events(block):
                                yield event
                            failures = 0
            except (TidelineError, TokenFailure) as error:
                reason = error.reason if isinstance(error, TokenFailure) else error
                if (
                    isinstance(error, ProblemError)
                    and error.code == "unknown_cursor"
                    and place.last_event_id is not None
                ):
                    place.last_event_id = None
                    reset = True
                elif not passes(error):
                    raise reason from reason.__cause__
                if self._on_error is not None:
                    self._on_error(reason)
                wait = error.retry_after if isinstance(error, ProblemError) else None
            longest = self._transport.max_delay
            sleep(back_off(failures, min(LONGEST_PAUSE, longest), min(wait or 0.0, longest)))
            failures += 1

    def _request(self) -> Request:
        headers = {}
        if self._place.last_event_id is not None:
            headers[b"last-event-id"] = self._place.last_event_id.encode()
        return Request("listen", {"uid": self._user}, headers=headers)
