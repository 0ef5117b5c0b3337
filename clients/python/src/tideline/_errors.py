"""The errors of the client."""

from __future__ import annotations

import json
import time
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Mapping, Optional, Union, cast

from .schema import Problem


class TidelineError(Exception):
    """Every error of this client, except `TypeError` and `ValueError` for a wrong argument, and errors of a token function."""


class ConnectionFailed(TidelineError, ConnectionError):
    """The request was not answered: no connection, or one that ended too early. A change may have been made."""


class BadAnswer(TidelineError):
    """A good status with an answer that is not Tideline's, such as the page of a captive portal or of another server.

    A change may have been made.
    """


class TimedOut(TidelineError, TimeoutError):
    """The answer did not come within `timeout`. A change may have been made."""


class LoggedOut(TidelineError):
    """For a token function that will give no token any more, such as after a log-out.

    A stream ends with it; after any other error of the function it tries again.
    """


class TokenFailure(Exception):
    """An error of the token function. Calls raise the reason; a stream may try again."""

    def __init__(self, reason: Exception):
        super().__init__(reason)
        self.reason = reason


class ProblemError(TidelineError):
    """The server refused the request, or failed."""

    status: int
    """The HTTP status."""
    code: str
    """For programs: a `Code`, or `"unknown"` if the answer is not of Tideline, but of a proxy."""
    detail: str
    """For people; may change between versions."""
    problem: Optional[Problem]
    """The problem document, if the answer has one."""
    request_id: Optional[str]
    """The id of the request in the server log."""
    retry_after: Optional[float]
    """Seconds to wait before the next attempt, if the server said so."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes):
        self.status = status
        self.problem = _read_problem(body)
        self.code = self.problem["code"] if self.problem else "unknown"
        self.detail = self.problem["detail"] if self.problem else ""
        self.request_id = headers.get("x-request-id")
        self.retry_after = _wait_time(headers.get("retry-after"))
        super().__init__(f"{status} {self.code}" + (f": {self.detail}" if self.detail else ""))

    @property
    def changed_nothing(self) -> bool:
        """Whether the server has changed nothing, so that every request can be sent again."""
        return self.status == 429 or self.code == "overloaded"

    @property
    def refused_credentials(self) -> bool:
        """Whether the credentials are wrong or have expired."""
        return self.code == "bad_credentials"


class ChangesGone(ProblemError):
    """The server does not keep the changes after this position any more, or a restore or a power cut has ended their history.

    Begin anew: ask for the position of `changes(after="newest").page()`, read everything, and go on from that position.
    """


def refused(status: int, headers: Mapping[str, str], body: bytes) -> ProblemError:
    """The error of an answer other than 2xx."""
    error = ProblemError(status, headers, body)
    return ChangesGone(status, headers, body) if error.code == "changes_gone" else error


class WebhookError(TidelineError):
    """The request is not a webhook of the server, or it is too old. Answer it with 400."""


def read_object(text: Union[str, bytes], *needed: str) -> Dict[str, Any]:
    """Reads a JSON object that Tideline sent, with the fields `needed`."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or not all(name in value for name in needed):
        raise BadAnswer(f"not an answer of Tideline: {text[:100]!r}")
    return value


def _read_problem(body: bytes) -> Optional[Problem]:
    try:
        value = read_object(body)
    except BadAnswer:
        return None
    if isinstance(value.get("code"), str) and isinstance(value.get("detail"), str):
        return cast(Problem, value)
    return None


def _wait_time(header: Optional[str]) -> Optional[float]:
    if not header:
        return None
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None
