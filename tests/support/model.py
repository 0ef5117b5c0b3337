"""The plain model: what every list must show, computed from the follows and the posts alone."""

import csv
import gzip
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from .client import Item


def rows(path: str) -> Iterator[list[str]]:
    """The rows of a .csv or .csv.gz file below its header."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as file:
        reader = csv.reader(file)
        next(reader)
        yield from reader


class Facts(NamedTuple):
    """What of an item decides which lists it is in and what it counts for."""

    kind: str = "post"
    ref_id: int | None = None
    topics: tuple[str, ...] = ()
    broadcast: bool = True


PLAIN = Facts()


class Model:
    """Who follows whom, what is live, and what people did with it. Users and items are plain numbers."""

    def __init__(self, follow_limit: int):
        self.follow_limit = follow_limit
        self.followees: dict[int, set[int]] = {}
        self.posts: dict[int, list[Item]] = {}  # broadcast, by author, oldest first
        self.items: dict[int, Item] = {}  # live ones, by content id
        self.deleted: dict[int, Item] = {}  # those that can be restored
        self.facts: dict[int, Facts] = {}  # of all items that are no plain posts, live or deleted
        self.mutes: dict[int, set[int]] = {}  # by who does not want to see them
        self.hidden: dict[int, set[int]] = {}  # by who does not want to be seen by them
        self.reactions: dict[tuple[str, int], set[int]] = {}  # kind and item: who
        self.profiles: dict[int, dict[str, object]] = {}
        self.markers: dict[int, tuple[int, int]] = {}
        self.refused = 0
        self._followers: dict[int, set[int]] | None = None

    def load(self, follows: str, content: str) -> None:
        """Reads what `tideline import` reads, with the same refusals."""
        for row in rows(follows):
            if not self.follow(int(row[0]), int(row[1])):
                self.refused += 1
        for row in rows(content):
            item = (int(row[2]), int(row[0]), int(row[1]))
            self.items.setdefault(item[1], item)
        for item in self.items.values():
            self.posts.setdefault(item[2], []).append(item)
        for posts in self.posts.values():
            posts.sort()

    def follow(self, user: int, target: int) -> bool:
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

    def unfollow(self, user: int, target: int) -> None:
        """Whether or not there is something to take back."""
        self.followees.get(user, set()).discard(target)
        if self._followers is not None:
            self._followers.get(target, set()).discard(user)

    def publish(self, item: Item, facts: Facts = PLAIN) -> None:
        """A new item, or one that comes back."""
        self.items[item[1]] = item
        if facts != PLAIN:
            self.facts[item[1]] = facts
        if facts.broadcast:
            insort(self.posts.setdefault(item[2], []), item)

    def delete(self, content_id: int) -> Item:
        """Takes a live item out."""
        item = self.deleted[content_id] = self.items.pop(content_id)
        if self.fact(content_id).broadcast:
            posts = self.posts[item[2]]
            del posts[bisect_left(posts, item)]
        return item

    def restore(self, content_id: int) -> Item:
        """Brings a deleted item back."""
        item = self.deleted.pop(content_id)
        self.publish(item, self.fact(content_id))
        return item

    def fact(self, content_id: int) -> Facts:
        """Of a live or deleted item."""
        return self.facts.get(content_id, PLAIN)

    def followers(self, author: int) -> set[int]:
        """Kept up to date from the first call on."""
        if self._followers is None:
            self._followers = {}
            for user, followees in self.followees.items():
                for target in followees:
                    self._followers.setdefault(target, set()).add(user)
        return self._followers.get(author, set())

    def authors(self, user: int) -> set[int]:
        """Whose posts the user's timeline has."""
        followees = self.followees.get(user, set()) - self.mutes.get(user, set())
        return {author for author in followees if user not in self.hidden.get(author, ())}

    def timeline(self, user: int) -> list[Item]:
        """The whole home timeline, newest first."""
        authors = self.authors(user)
        return sorted(chain.from_iterable(self.posts.get(author, ()) for author in authors), reverse=True)

    def own_page(self, user: int) -> list[Item]:
        """All that the user published, newest first."""
        return self.posts.get(user, [])[::-1]

    def audience(self) -> Counter[int]:
        """How many follow each."""
        return Counter(chain.from_iterable(self.followees.values()))

    def users(self) -> list[int]:
        """All who follow, are followed or publish, ascending."""
        return sorted(set(self.followees) | set(self.posts) | set(chain.from_iterable(self.followees.values())))
