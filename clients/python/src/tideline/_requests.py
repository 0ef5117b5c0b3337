"""Requests before they are sent, and the times between attempts."""

from __future__ import annotations

import json
import random
import re
import threading
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Optional, Tuple, Union

from ._errors import ProblemError
from ._ids import id_text, id_texts, segment
from .schema import ID_FIELDS, OPERATIONS, VERSION, Consistency, Id, NewComment, NewContent

USER_AGENT = f"tideline-client-python/{VERSION}"


class CallOptions(NamedTuple):
    """Settings of one call."""

    timeout: Optional[float] = None
    request_id: Optional[str] = None
    consistency: Optional[Consistency] = None


# Of more positions than this, which requests at the same time leave, a change sends a part; a read is strict instead, and so
# has what all of them have.
MOST_POSITIONS = 50


class Asked(NamedTuple):
    """What a request asks of a cluster."""

    parameters: Dict[str, str]
    headers: Dict[str, str]
    has: Tuple[str, ...] = ()
    """The positions that the position of a successful answer has."""


class Session:
    """What the answers of a cluster have shown."""

    def __init__(self, consistency: Optional[Consistency]):
        self._consistency = consistency
        self._lock = threading.Lock()
        self._positions: Tuple[str, ...] = ()
        self._turn = 0

    @property
    def position(self) -> Optional[str]:
        """The `Tideline-Position` of the newest answer; several ones after requests at the same time."""
        return ", ".join(self._positions) or None

    @position.setter
    def position(self, position: Optional[str]) -> None:
        with self._lock:
            self._positions = () if position is None else tuple(part.strip() for part in position.split(","))

    def saw(self, position: Optional[str], asked: Asked, success: bool) -> None:
        """Keeps the position of an answer. It has what its request has sent, but perhaps not what came meanwhile."""
        if position is None:
            return
        has = asked.has if success or asked.headers else ()
        with self._lock:
            others = [other for other in self._positions if other not in has and other != position]
            self._positions = (*others, position)

    def ask(self, request: Request, options: CallOptions) -> Asked:
        """The parameters and headers with which a call is sent."""
        reads, positions = OPERATIONS[request.operation].reads, self._positions
        wanted = options.consistency or self._consistency
        is_few = len(positions) <= MOST_POSITIONS
        sent = positions if is_few else () if reads else self._part(positions)
        headers = {"tideline-position": ", ".join(sent)} if sent else {}
        if not reads:
            return Asked({}, headers, sent)
        # The server refuses `session` without a position, and only `strict` is no less than it.
        if not is_few or (wanted == "session" and not positions):
            wanted = "strict"
        return Asked({} if wanted is None else {"consistency": wanted}, headers, positions)

    def _part(self, positions: Tuple[str, ...]) -> Tuple[str, ...]:
        """Some of the positions, others each time: so changes alone get rid of all of them, too."""
        with self._lock:
            first = self._turn = (self._turn + MOST_POSITIONS) % len(positions)
        return (*positions[first:], *positions[:first])[:MOST_POSITIONS]


@dataclass
class Request:
    """A call."""

    operation: str
    path: Mapping[str, Id] = field(default_factory=dict)
    query: Mapping[str, Union[str, int, None]] = field(default_factory=dict)
    body: Any = None
    headers: Dict[bytes, bytes] = field(default_factory=dict)
    repeats: Optional[bool] = None
    """Whether it can be sent twice without harm, where this depends on its body."""

    @property
    def method(self) -> str:
        return OPERATIONS[self.operation].method

    @property
    def repeatable(self) -> bool:
        return OPERATIONS[self.operation].repeatable if self.repeats is None else self.repeats

    @property
    def filled(self) -> str:
        """The path with its values."""
        return re.sub(r"\{(\w+)\}", lambda name: segment(self.path[name[1]]), OPERATIONS[self.operation].path)

    @property
    def parameters(self) -> Dict[str, str]:
        return {name: str(value) for name, value in self.query.items() if value is not None}

    @property
    def content(self) -> Optional[bytes]:
        if self.body is None:
            return None
        return json.dumps(self.body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()

    def all_headers(self, token: Optional[str], options: CallOptions) -> Dict[bytes, bytes]:
        """The headers, with the credentials."""
        headers = dict(self.headers)
        if token is not None:
            headers[b"authorization"] = f"Bearer {token}".encode()
        if self.body is not None:
            headers[b"content-type"] = b"application/json"
        if options.request_id is not None:
            headers[b"x-request-id"] = options.request_id.encode()
        return headers


def back_off(tries: int, max_delay: float, retry_after: Optional[float] = None) -> float:
    """Seconds to wait after the failed attempt number `tries`, from 0.

    It is random, so that clients do not come back all at once, but never before the server's `Retry-After`.
    """
    wait = retry_after or 0.0
    spread = min(0.25 * (1 << min(tries, 20)), max_delay)
    return wait + random.random() * min(spread, max(0.25, max_delay - wait))


def delay_after(error: Exception, repeatable: bool, tries: int, max_delay: float) -> Optional[float]:
    """Seconds until the next attempt; `None` if there should be none."""
    if isinstance(error, ProblemError):
        passes = error.status in (429, 502, 503, 504) and (repeatable or error.changed_nothing)
        if not passes or (error.retry_after or 0) > max_delay:
            return None
        return back_off(tries, max_delay, error.retry_after)
    return back_off(tries, max_delay) if repeatable else None


def with_ids(body: Any, kind: str) -> Dict[str, Any]:
    """The body, of the type `kind`, with its ids as text."""
    text: Dict[str, Any] = dict(body)
    for name in ID_FIELDS[kind]:
        ids = text.get(name)
        if ids is not None:
            text[name] = id_texts(ids) if isinstance(ids, (list, tuple)) else id_text(ids)
    return text


def has_id(item: Union[NewContent, NewComment]) -> bool:
    """Whether a publish of the item can be repeated."""
    return item.get("content_id") is not None


def given(body: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
    """The fields of a body that have values; `None` if none has one."""
    return {name: value for name, value in body.items() if value is not None} or None


def listed(names: Optional[Iterable[str]]) -> Optional[List[str]]:
    """Names in a body."""
    return None if names is None else [*names]


def joined(names: Optional[Iterable[str]]) -> Optional[str]:
    """Names in one query parameter."""
    return None if names is None else ",".join(names)


def flag(value: bool) -> Optional[str]:
    """A query parameter that is `false` when it is left out."""
    return "true" if value else None
