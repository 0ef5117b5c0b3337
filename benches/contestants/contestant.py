"""A system that serves the "following" page, as the trace drives it."""

from pathlib import Path
from typing import Any, NamedTuple

from support.client import Item

LIMIT = 20  # items of a page


class Page(NamedTuple):
    """Ids of items, newest first, and whatever the contestant wants to have for the page below; `None` at the end."""

    ids: list[int]
    next: Any


class Contestant:
    """Each change returns when the system has acknowledged it, and `page` may be called right after. Two threads may change
    at the same time. Users are 1 to `users`; items are (milliseconds, id, author)."""

    def __init__(self, directory: Path, users: int, binary: Path):
        self.directory = directory
        self.users = users
        self.binary = binary

    server: Any
    """The process with the data: `start` and `kill` it."""

    def start(self) -> None:
        """Starts the system with no data."""
        raise NotImplementedError

    def connect(self) -> None:
        """Connects to the server, also after a restart."""
        raise NotImplementedError

    def restart(self) -> None:
        """kill -9 of all that runs, and a start on the data that is left. Takes no part in the times."""
        self.server.kill()
        self.server.start()
        self.connect()

    def stop(self) -> None:
        """Ends all processes."""
        self.server.kill()

    def publish(self, item: Item) -> None:
        raise NotImplementedError

    def delete(self, item: Item) -> None:
        raise NotImplementedError

    def follow(self, user: int, author: int) -> None:
        raise NotImplementedError

    def unfollow(self, user: int, author: int) -> None:
        raise NotImplementedError

    def mute(self, user: int, author: int) -> None:
        raise NotImplementedError

    def unmute(self, user: int, author: int) -> None:
        raise NotImplementedError

    def page(self, user: int, at: Any) -> Page:
        """The newest page, or the one at `next` of another."""
        raise NotImplementedError

    def stored(self) -> str:
        """What the system holds at the end, such as `12 MB on disk`."""
        raise NotImplementedError

    def versions(self) -> dict[str, str]:
        """By the names of the programs and packages."""
        raise NotImplementedError
