"""A client of a cluster: it asks any node, and goes to another one when a node fails."""

import http.client
import json
import random
import select
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from .client import Client, NotMade
from .expect import Unexpected

# By these answers nothing has changed.
NOTHING_CHANGED = ("log_unavailable", "overloaded")
# Longest wait for an answer, seconds; more than twice `cluster.timeout`.
ANSWER = 12.0
# Between attempts.
PAUSE = 0.05
# The consistency of reads, with the share of each.
STRICT, SESSION, LOCAL = "strict", "session", "local"
POSITION = "Tideline-Position"
# Calls that are remembered, for the report of a fault.
MOST_CALLS = 200_000


class Unavailable(OSError):
    """A read that no node answered in time."""


class Call(NamedTuple):
    """One request and its end."""

    begun: float  # seconds
    ended: float
    port: int
    what: str
    outcome: str

    def __str__(self) -> str:
        return f"{self.begun:.3f} to {self.ended:.3f} at {self.port}: {self.what}: {self.outcome}"


def place(position: str | None) -> int:
    """The place in the log for which a position stands. Clients do not look into it; tests do."""
    return int(position[16:], 16) if position else 0


class Calls:
    """The last calls of all clients, and the highest position that any of them got with an acknowledged change."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.position: str | None = None
        self.last: deque[Call] = deque(maxlen=MOST_CALLS)

    def write(self, path: Path) -> None:
        path.write_text("".join(f"{call}\n" for call in self.last))

    def take(self, position: str | None) -> None:
        if position is not None:
            with self.lock:
                self.position = max(self.position, position, key=place)


class AnyNode(Client):
    """One connection to one of the nodes at a time. A change without a definite answer ends in an `OSError`: it may have been
    made, and may still come. A change that was refused for now is sent again or ends in `NotMade`, by chance. A read goes
    on at other nodes until `patience` is over."""

    def __init__(
        self, addresses: Sequence[tuple[str, int]], calls: Calls, rng: random.Random, reads: Sequence[str] = (STRICT,),
        patience: float = 30.0, stays: float = 0.9,
    ):
        super().__init__(rng.choice(addresses))
        self.addresses = addresses
        self.calls = calls
        self.rng = rng
        self.reads = reads
        self.patience = patience
        self.stays = stays  # the chance that the next request goes to the same node
        self.give_up = 0.5  # the chance that a refused change is not sent again
        self.answered: dict[str, int] = {}  # how many reads of each consistency
        self.slowest = 0.0  # the longest time without an answer, seconds

    def leave(self) -> None:
        """The next request goes to any node."""
        self.close()
        self.address = self.rng.choice(self.addresses)

    def exchange(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        if self.rng.random() >= self.stays:
            self.leave()
        begin, is_read = time.monotonic(), method == "GET"
        while True:
            sent = time.monotonic()
            try:
                status, raw = self.once(method, path, body)
                self.note(sent, method, path, body, f"{status} {raw[:80]!r}" if not is_read or status != 200 else "200")
                return status, raw
            except NotMade as error:
                self.note(sent, method, path, body, f"not made: {error}")
                if not is_read and self.rng.random() < self.give_up:
                    raise
            except (OSError, http.client.HTTPException) as error:
                self.note(sent, method, path, body, repr(error))
                self.close()
                if not is_read:
                    raise OSError(f"{method} {path} at {self.address[1]}: {error!r}") from error
            finally:
                self.slowest = max(self.slowest, time.monotonic() - begin)
            if time.monotonic() - begin > self.patience:
                raise (Unavailable if is_read else NotMade)(f"{method} {path}")
            self.leave()
            time.sleep(PAUSE)

    def note(self, sent: float, method: str, path: str, body: object, outcome: str) -> None:
        what = f"{method} {path}" + (f" {json.dumps(body, ensure_ascii=False)}" if body else "")
        self.calls.last.append(Call(sent, time.monotonic(), self.address[1], what, outcome))

    def once(self, method: str, path: str, body: object) -> tuple[int, bytes]:
        """One request to the present node."""
        headers: dict[str, str] = dict(self.always)
        payload = None
        if body is not None:
            payload = json.dumps(body)
            headers["Content-Type"] = "application/json"
        consistency = None
        if method == "GET" and path.startswith("/v1/") and not path.startswith("/v1/admin/"):
            consistency = self.rng.choice(self.reads)
            if self.calls.position is None and consistency == SESSION:
                consistency = STRICT
            path += f"{'&' if '?' in path else '?'}consistency={consistency}"
            if consistency == SESSION:
                headers[POSITION] = self.calls.position or ""
        self.connect()
        assert self.connection is not None
        self.connection.request(method, path, payload, headers)
        response = self.connection.getresponse()
        raw = response.read()
        if response.status == 503:
            code = json.loads(raw).get("code")
            if method == "GET" or code in NOTHING_CHANGED:
                raise NotMade(code)
            raise OSError(f"503 {code}")
        if consistency is not None:
            self.answered[consistency] = self.answered.get(consistency, 0) + 1
        elif method != "GET" and response.status < 300:
            self.calls.take(response.headers[POSITION])
        return response.status, raw

    def connect(self) -> None:
        """A connection that the server has not closed. Fails with `NotMade` if there is none: nothing was sent."""
        if self.connection is not None:
            if self.connection.sock is None or select.select([self.connection.sock], [], [], 0)[0]:
                self.close()
        if self.connection is None:
            connection = http.client.HTTPConnection(*self.address, timeout=ANSWER)
            try:
                connection.connect()
            except OSError as error:
                connection.close()
                raise NotMade(str(error)) from error
            self.connection = connection


def everywhere(addresses: Sequence[tuple[str, int]], calls: Calls, rng: random.Random, patience: float = 30.0) -> None:
    """One strict read at each node: from then on each has all that was acknowledged before, and the fate of all of its own
    changes is known."""
    for address in addresses:
        client = AnyNode([address], calls, rng, patience=patience)
        try:
            client.get("/v1/users/1/timeline")
        except Unavailable as error:
            raise Unexpected(f"no strict read at {address} within {patience:.0f} s") from error
        finally:
            client.close()
