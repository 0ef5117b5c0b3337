"""HTTP with keep-alive, and the shape of lists."""

import http.client
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from .expect import Unexpected
from .ids import Id, fall, host_id

Address = tuple[str, int]

# (published_at, content_id, author): Python's order of these is the order of timelines.
Item = tuple[int, Id, Id]


class Page(NamedTuple):
    """One page of a content list."""

    items: list[Item]
    next: str | None
    prev: str | None


class Answer(NamedTuple):
    """Status, decoded body, and headers if they were asked for."""

    status: int
    body: Any
    headers: Mapping[str, str] = {}


class CutOff(http.client.HTTPException):
    """The connection ended inside an answer."""


class NotMade(Exception):
    """A change that was refused for now: it was not made, and never will be."""


def cursor(item: Item) -> str:
    """The place of an item."""
    return f"{item[0]}-{item[1]}"


def item_of(body: dict[str, Any]) -> Item:
    """The place and author of a content object; checks the types that the contract gives them."""
    if not (type(body["content_id"]) is str and type(body["author_id"]) is str and type(body["published_at"]) is int):
        raise Unexpected(f"wrong types in {body}")
    return body["published_at"], host_id(body["content_id"]), host_id(body["author_id"])


def ask(
    address: Address, method: str, path: str, body: object = None, headers: Mapping[str, str] = {}, timeout: float = 30.0,
) -> Answer:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(*address, timeout=timeout)
    try:
        sent = {} if body is None else {"Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), sent | headers)
        answer = connection.getresponse()
        raw = answer.read()
        return Answer(answer.status, json.loads(raw) if raw else None, answer.headers)
    finally:
        connection.close()


class Client:
    """One connection, opened again after a failure. `observe` is told the seconds of every answer; `key` is sent with
    every request."""

    def __init__(self, address: Address, observe: Callable[[float], None] | None = None, key: str | None = None):
        self.address = address
        self.observe = observe
        self.always = {"Authorization": f"Bearer {key}"} if key else {}
        self.connection: http.client.HTTPConnection | None = None

    def call(self, method: str, path: str, body: object = None) -> Answer:
        """One request; of its answer the JSON."""
        status, raw = self.exchange(method, path, body)
        return Answer(status, json.loads(raw) if raw else None)

    def exchange(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """One request. A full queue (503) is waited for. A lost connection is the caller's business:
        whether the request was carried out is then unknown."""
        payload = None if body is None else json.dumps(body)
        headers = self.always | ({} if body is None else {"Content-Type": "application/json"})
        for _ in range(100):
            if self.connection is None:
                self.connection = http.client.HTTPConnection(*self.address, timeout=60)
            begin = time.monotonic()
            try:
                self.connection.request(method, path, payload, headers)
                response = self.connection.getresponse()
                try:
                    raw = response.read()
                except (OSError, http.client.HTTPException) as error:
                    raise CutOff(f"{method} {path}: {response.status}, then {error!r}") from error
            except (OSError, http.client.HTTPException):
                self.close()
                raise
            if self.observe:
                self.observe(time.monotonic() - begin)
            if response.status != 503:
                return response.status, raw
            time.sleep(min(float(response.headers["Retry-After"] or 1), 1.0))
        raise Unexpected(f"{method} {path}: still 503 after 100 tries")

    def get(self, path: str) -> Any:
        """The body of a GET that must succeed."""
        answer = self.call("GET", path)
        if answer.status != 200:
            raise Unexpected(f"GET {path}: {answer.status} {answer.body}")
        return answer.body

    def figures(self) -> dict[str, float]:
        """All of `/metrics`, by names with their labels."""
        status, text = self.exchange("GET", "/metrics")
        if status != 200:
            raise Unexpected(f"GET /metrics: {status}")
        rows = (line.rsplit(" ", 1) for line in text.decode().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, value in rows}

    def page(self, path: str, **query: object) -> Page:
        """One page of a content list, ids only."""
        arguments = "".join(f"&{name}={quote(str(value), safe='')}" for name, value in query.items() if value is not None)
        body = self.get(f"{path}?view=ids{arguments}")
        return Page([item_of(item) for item in body["items"]], body["next"], body["prev"])

    def rows(self, path: str) -> list[dict[str, Any]]:
        """A list to its end."""
        found, before = [], ""
        while True:
            body = self.get(f"{path}?limit=100{before}")
            found += body["items"]
            if body["next"] is None:
                return found
            before = f"&before={quote(body['next'], safe='')}"

    def scroll(self, path: str, limit: int = 100) -> list[Item]:
        """A content list to its end, page by page."""
        found, before = [], None
        while True:
            page = self.page(path, limit=limit, before=before)
            found += page.items
            if page.next is None:
                return found
            before = page.next

    def close(self) -> None:
        """Gives up the connection; the next call opens another."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def members(client: Client, path: str) -> list[Id]:
    """A list of users to its end, newest first."""
    found = [(item["since"], host_id(item["user_id"])) for item in client.rows(path)]
    if not fall(found):
        return [0, *(user for _, user in found)]  # out of order, or somebody twice: equal to nothing
    return [user for _, user in found]
