"""A client of a stream that comes back after every end of the server, and what it has been told of."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from .expect import Unexpected, until
from .ids import Id, host_id, quoted
from .shared import Shared

# How long a stream may take to tell of something that was acknowledged, seconds.
PATIENCE = 60


class Listener:
    """Keeps the items of one user's timeline as the stream tells of them, and goes on with `Last-Event-ID`."""

    def __init__(self, shared: Shared, user: Id):
        self.shared = shared
        self.user = user
        self.told: dict[Id, str] = {}  # of the items that the client knows
        self.last_id: str | None = None
        self.events = 0
        self.resumed = 0
        self.resets = 0
        self.of_suspensions = 0  # about so many of these
        self.comes_back = (False, 0)  # whether it went on when it came back last, and the resets before
        self.since_reset: set[Id] | None = None  # the same since it was told to load the timeline, and has not
        self.forgotten = False  # whether a power cut may have taken the name in its last id
        self.changed = threading.Condition()
        self.socket: socket.socket | None = None
        self.thread: threading.Thread | None = None

    def open(self, address: tuple[str, int]) -> None:
        """Listens from now on, in a thread, until the end of the connection."""
        self.resumed += bool(self.last_id)
        self.comes_back = (bool(self.last_id), self.resets)
        # The log of a cluster may not answer for a while.
        response = until(f"an answer to the stream of {self.user}", lambda: self.asked(address), PATIENCE, pause=0.2)
        if response.status != 200:
            problem = json.loads(response.read())
            if not self.forgotten or problem["code"] != "unknown_cursor":
                raise Unexpected(f"stream of {self.user} after {self.last_id}: {response.status} {problem}")
            # The client loads the timeline, and listens without an id.
            self.last_id = None
            response = self.asked(address)
            self.take("reset", {})
        self.forgotten = False
        self.thread = threading.Thread(target=self.listen, args=(response,))
        self.thread.start()
        self.wait(lambda: self.last_id is not None, "a place to go on from")

    def asked(self, address: tuple[str, int]) -> http.client.HTTPResponse | None:
        """The answer to a request for the stream, unless that is a 503."""
        connection = http.client.HTTPConnection(*address, timeout=PATIENCE)
        connection.connect()
        self.socket = connection.sock
        headers = {"Last-Event-ID": self.last_id.encode()} if self.last_id else {}
        connection.request("GET", f"/v1/users/{quoted(self.user)}/stream", headers=headers)
        response = connection.getresponse()
        if response.status != 503:
            return response
        connection.close()
        return None

    def is_open(self) -> bool:
        return self.thread is not None

    def close(self) -> None:
        """Ends the connection, if the server has not."""
        if self.thread is None or self.socket is None:
            return
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket = self.thread = None

    def listen(self, response: http.client.HTTPResponse) -> None:
        """Takes blocks of lines until there are no more; one that was cut off does not count."""
        event, data, last_id = "", "", None
        try:
            while raw := response.readline():
                line = raw.decode().removesuffix("\n")
                if not raw.endswith(b"\n"):
                    return
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if name == "id":
                    last_id = value
                elif name == "event":
                    event = value
                elif name == "data":
                    data += value
                elif not line:
                    with self.changed:
                        self.last_id = last_id or self.last_id
                        self.take(event, json.loads(data) if data else {})
                        self.changed.notify_all()
                    event, data, last_id = "", "", None
        except (OSError, http.client.HTTPException):
            pass  # the server, or the connection, is gone
        finally:
            response.close()

    def take(self, event: str, data: dict[str, Any]) -> None:
        """One event."""
        self.events += bool(event)
        if event == "reset":
            self.resets += 1
            self.of_suspensions += self.shared.suspends
            self.since_reset = set()
        elif event:
            content_id = host_id(data["content_id"])
            if event == "delete":
                self.told.pop(content_id, None)
            else:
                self.told[content_id] = data["text"]
            if self.since_reset is not None:
                self.since_reset.add(content_id)

    def is_told_to_load(self) -> bool | None:
        """Whether the client was told to load the timeline since it came back; `None` if it did not go on."""
        went_on, resets = self.comes_back
        return self.resets > resets if went_on and self.is_open() else None

    def wanted(self) -> dict[Id, str]:
        """What the timeline shows."""
        return {item[1]: self.shared.texts[item[1]] for item in self.shared.model.timeline(self.user)}

    def hear(self, content_id: Id) -> None:
        """Waits until the stream has told of an item."""
        self.wait(lambda: content_id in self.told, str(content_id))

    def wait(self, there: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE
        with self.changed:
            while not there():
                if self.thread is None or not self.thread.is_alive():
                    raise Unexpected(f"the stream of {self.user} ended although the server runs; its last id was {self.last_id}")
                if not self.changed.wait(min(1.0, until - time.monotonic())) and time.monotonic() > until:
                    raise Unexpected(f"the stream of {self.user} sent nothing about {what} within {PATIENCE} s")

    def compare(self) -> str | None:
        """What the client does not know although it was told to go on; nothing may change meanwhile."""
        with self.changed:
            wanted = self.wanted()
            if self.since_reset is not None:
                # The client loads the timeline; what it was told of since must be as told all the same.
                told = {content_id: self.told.get(content_id) for content_id in self.since_reset}
                right = {content_id: wanted.get(content_id) for content_id in self.since_reset}
                self.told, self.since_reset = wanted, None
            else:
                told, right = dict(self.told), wanted
        if told == right:
            return None
        missing = sorted(right.keys() - told.keys())
        gone = sorted(told.keys() - right.keys())
        other = sorted(content_id for content_id in right.keys() & told.keys() if told[content_id] != right[content_id])
        return (
            f"the stream of {self.user}, now at {self.last_id}: {len(missing)} items never told of, {missing[:5]}; {len(gone)} not "
            f"told to be gone, {gone[:5]}; {len(other)} with an old text, {other[:5]}"
        )
