"""A client of Tideline, the timeline-feed server: `Tideline`, and `AsyncTideline` for asyncio."""

from ._async.changes import AsyncChangeFeed
from ._async.client import AsyncTideline
from ._async.listing import AsyncListing
from ._async.stream import AsyncStream
from ._errors import (
    BadAnswer,
    ChangesGone,
    ConnectionFailed,
    LoggedOut,
    ProblemError,
    TidelineError,
    TimedOut,
    WebhookError,
)
from ._events import (
    ContentEvent,
    DeleteEvent,
    EditEvent,
    MarkerEvent,
    NoticeEvent,
    OpenEvent,
    ResetEvent,
    StreamEvent,
)
from ._ids import cursor_of, newest_first
from ._page import Page
from ._sync.changes import ChangeFeed
from ._sync.client import Tideline
from ._sync.listing import Listing
from ._sync.stream import Stream
from ._webhooks import WebhookReceiver
from .schema import VERSION as __version__

__all__ = [
    "AsyncChangeFeed",
    "AsyncListing",
    "AsyncStream",
    "AsyncTideline",
    "BadAnswer",
    "ChangeFeed",
    "ChangesGone",
    "ConnectionFailed",
    "ContentEvent",
    "DeleteEvent",
    "EditEvent",
    "Listing",
    "LoggedOut",
    "MarkerEvent",
    "NoticeEvent",
    "OpenEvent",
    "Page",
    "ProblemError",
    "ResetEvent",
    "Stream",
    "StreamEvent",
    "Tideline",
    "TidelineError",
    "TimedOut",
    "WebhookError",
    "WebhookReceiver",
    "__version__",
    "cursor_of",
    "newest_first",
]
