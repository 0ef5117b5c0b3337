"""The events of a stream, and the format in which they arrive."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Dict, Iterator, List, Literal, Optional, Union

from ._errors import BadAnswer, ConnectionFailed, LoggedOut, ProblemError, TimedOut, TokenFailure, read_object
from .schema import Content, ContentRef, Notice


@dataclass(frozen=True)
class OpenEvent:
    """The stream is open, at first or again. What is published from now on arrives."""

    type: Literal["open"] = "open"


@dataclass(frozen=True)
class ContentEvent:
    """An item was published or restored."""

    item: Content
    id: str
    type: Literal["content"] = "content"


@dataclass(frozen=True)
class EditEvent:
    """An item was edited."""

    item: Content
    type: Literal["edit"] = "edit"


@dataclass(frozen=True)
class DeleteEvent:
    """An item was deleted. Ignore it if the item is not known."""

    item: ContentRef
    type: Literal["delete"] = "delete"


@dataclass(frozen=True)
class NoticeEvent:
    """A notice of the user came. One that came while the stream was not open is not told."""

    notice: Notice
    type: Literal["notice"] = "notice"


@dataclass(frozen=True)
class MarkerEvent:
    """A marker of the user moved, perhaps on another device: of the timeline, of a list, or of the notices."""

    of: Literal["timeline", "list", "notices"]
    cursor: str
    list: Optional[str] = None
    type: Literal["marker"] = "marker"


@dataclass(frozen=True)
class ResetEvent:
    """Events were left out: load the timeline again. The stream goes on."""

    type: Literal["reset"] = "reset"


# The longest pause in seconds, unless the server asks for more: a stream should be back soon after the server is.
LONGEST_PAUSE = 5.0

StreamEvent = Union[OpenEvent, ContentEvent, EditEvent, DeleteEvent, NoticeEvent, MarkerEvent, ResetEvent]


@dataclass
class Block:
    """A block of a text/event-stream."""

    event: str = ""
    data: str = ""
    id: Optional[str] = None


# The server sends items, which are smaller. A block without an end must not fill the memory.
_LONGEST = 16 * 2**20


class BlockReader:
    """Takes the bytes of a stream apart. A comment is a block without an event. A block that was cut off is not given."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""
        self._block = Block()
        self._size = 0

    def push(self, data: bytes) -> List[Block]:
        """Takes the next bytes; returns the blocks that they complete."""
        blocks = []
        # A carriage return at the end may be half of a line's end.
        *lines, self._rest = re.split(r"\r\n|\n|\r(?!\Z)", self._rest + self._decoder.decode(data))
        for line in lines:
            if line:
                self._take(line)
                continue
            if self._size:
                blocks.append(self._block)
            self._block, self._size = Block(), 0
        if self._size + len(self._rest) > _LONGEST:
            raise BadAnswer(f"an event above {_LONGEST} characters")
        return blocks

    def _take(self, line: str) -> None:
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            self._block.event = value
        elif field == "data":
            self._block.data += ("\n" if self._block.data else "") + value
        elif field == "id" and "\0" not in value:
            self._block.id = value
        self._size += len(line)


_DELETED = b"deleted"


class Place:
    """Where a stream is, and what it has told."""

    def __init__(self, last_event_id: Optional[str]):
        self.last_event_id = last_event_id
        # What was told last of the newest items, as a hash. After a loss the server may tell it again.
        self._told: Dict[str, bytes] = {}

    def forget(self) -> None:
        """Takes every event for new."""
        self._told.clear()

    def events(self, block: Block) -> Iterator[StreamEvent]:
        """Moves to the place of the block, and gives its event, if it has one."""
        event = self._event(block)
        place = block.id or self.last_event_id
        # Until a reset has been handled, another stream must get it again.
        if not isinstance(event, ResetEvent):
            self.last_event_id = place
        if event is not None:
            yield event
        self.last_event_id = place

    def _event(self, block: Block) -> Optional[StreamEvent]:
        """The event of a block; `None` for one that changes nothing, and for a block with only a newer place."""
        item: Any = {}
        if block.event in ("content", "edit", "delete"):
            item = read_object(block.data, "content_id")
        if block.event == "content":
            return ContentEvent(item, block.id or "") if self._is_new(item, _state(item)) else None
        if block.event == "edit":
            # Before the restore of an item that is known to be deleted: the restore is told next.
            if self._told.get(item["content_id"]) == _DELETED:
                return None
            return EditEvent(item) if self._is_new(item, _state(item)) else None
        if block.event == "delete":
            return DeleteEvent(item) if self._is_new(item, _DELETED) else None
        if block.event == "notice":
            notice: Any = read_object(block.data, "cursor", "kind")
            return NoticeEvent(notice)
        if block.event == "marker":
            marker = read_object(block.data, "of", "cursor")
            return MarkerEvent(marker["of"], marker["cursor"], marker.get("list"))
        if block.event == "reset":
            self.forget()
            return ResetEvent()
        return None  # an event of a later version

    def _is_new(self, item: ContentRef, state: bytes) -> bool:
        if self._told.get(item["content_id"]) == state:
            return False
        self._told.pop(item["content_id"], None)
        self._told[item["content_id"]] = state
        # A stream that missed more items than this gets a reset.
        if len(self._told) > 2000:
            del self._told[next(iter(self._told))]
        return True


def _state(item: Content) -> bytes:
    """A hash of the parts of an item of which events tell, so that large items take no room."""
    told = {name: value for name, value in item.items() if name not in ("counts", "viewer", "author")}
    return sha256(json.dumps(told).encode()).digest()


def passes(error: Exception) -> bool:
    """Whether the cause of an error may pass, so that the stream should try again."""
    if isinstance(error, ProblemError):
        return error.status == 429 or error.status >= 500
    if isinstance(error, TokenFailure):
        return not isinstance(error.reason, LoggedOut)
    return isinstance(error, (ConnectionFailed, TimedOut, BadAnswer))
