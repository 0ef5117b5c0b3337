"""The plain model: what every list must show, computed from the follows and the posts alone."""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from .client import Item
from .ids import Id, host_id, in_order


def rows(path: str) -> Iterator[list[str]]:
    """The rows of a .csv or .csv.gz file below its header, or the first columns of what timelines have of a .ndjson file."""
    if path.endswith(".ndjson"):
        with open(path) as file:
            for item in filter(lambda item: item.get("broadcast", True), map(json.loads, file)):
                yield [str(item[name]) for name in ("content_id", "author_id", "published_at")]
        return
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as file:
        reader = csv.reader(file)
        next(reader)
        yield from reader


class Model:
    """Who follows whom and what is live. Lists of users and items are by id."""

    def __init__(self, follow_limit: int):
        self.follow_limit = follow_limit
        self.followees: dict[Id, set[Id]] = {}
        self.posts: dict[Id, list[Item]] = {}  # by author, in any order
        self.items: dict[Id, Item] = {}  # live ones, by content id
        self.mutes: dict[Id, set[Id]] = {}
        self.hides: dict[Id, set[Id]] = {}  # by author: from whom
        self.likes: dict[Id, set[Id]] = {}  # by item, live or deleted
        self.refs: dict[Id, tuple[str, Id]] = {}  # kind, and what the item points at; live, deleted, never published
        self.topics: dict[Id, set[str]] = {}  # what each item names; live, deleted, never published
        self.refused = 0
        self._followers: dict[Id, set[Id]] | None = None

    def load(self, follows: str, content: str) -> None:
        """Reads what `tideline import` reads, with the same refusals. The server sees the names in the order of the files."""
        for row in rows(follows):
            user, target = host_id(row[0]), host_id(row[1])
            in_order((user, target))
            if not self.follow(user, target):
                self.refused += 1
        for row in rows(content):
            item = (int(row[2]), host_id(row[0]), host_id(row[1]))
            in_order(item[1:])
            self.items.setdefault(item[1], item)
        for item in self.items.values():
            self.posts.setdefault(item[2], []).append(item)

    def follow(self, user: Id, target: Id) -> bool:
        """False if the limit, or following oneself, is in the way."""
        followees = self.followees.setdefault(user, set())
        if target in followees:
            return True
        if user == target or len(followees) >= self.follow_limit:
            return False
        followees.add(target)
        if self._followers is not None:
            self._followers.setdefault(target, set()).add(user)
        return True

    def unfollow(self, user: Id, target: Id) -> None:
        """Whether or not there is something to take back."""
        self.followees.get(user, set()).discard(target)
        if self._followers is not None:
            self._followers.get(target, set()).discard(user)

    def publish(self, item: Item) -> None:
        """A new item."""
        self.items[item[1]] = item
        self.posts.setdefault(item[2], []).append(item)

    def publish_all(self, items: list[Item]) -> None:
        """New items of one batch."""
        for item in items:
            self.publish(item)

    def delete(self, content_id: Id) -> Item:
        """Takes a live item out."""
        item = self.items.pop(content_id)
        self.posts[item[2]].remove(item)
        return item

    def followers(self, author: Id) -> set[Id]:
        """Kept up to date from the first call on."""
        if self._followers is None:
            self._followers = {}
            for user, followees in self.followees.items():
                for target in followees:
                    self._followers.setdefault(target, set()).add(user)
        return self._followers.get(author, set())

    def authors(self, user: Id) -> set[Id]:
        """Whose items are in the home timeline."""
        barred = self.mutes.get(user, set())
        return {a for a in self.followees.get(user, ()) if a not in barred and user not in self.hides.get(a, ())}

    def attached(self) -> Counter[tuple[str, Id]]:
        """How many live comments on, and reposts of, each item."""
        return Counter(self.refs[item] for item in self.items if item in self.refs)

    def friends(self, user: Id) -> set[Id]:
        """Whom the user follows and is followed by."""
        return self.followees.get(user, set()) & self.followers(user)

    def timeline(self, user: Id) -> list[Item]:
        """The whole home timeline, newest first."""
        authors = self.authors(user)
        return sorted(chain.from_iterable(self.posts.get(author, ()) for author in authors), reverse=True)

    def own_page(self, user: Id) -> list[Item]:
        """All that the user published, newest first."""
        return sorted(self.posts.get(user, []), reverse=True)

    def topic(self, name: str) -> list[Item]:
        """All live items that name a topic, newest first."""
        return sorted((item for item in self.items.values() if name in self.topics.get(item[1], ())), reverse=True)

    def audience(self) -> Counter[Id]:
        """How many follow each."""
        return Counter(chain.from_iterable(self.followees.values()))

    def users(self) -> list[Id]:
        """All who follow, are followed or publish, ascending."""
        return sorted(set(self.followees) | set(self.posts) | set(chain.from_iterable(self.followees.values())))
