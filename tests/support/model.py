"""The plain model: what every list must show, computed from the follows and the posts alone."""

import csv
import gzip
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from .client import Item


def rows(path: str) -> Iterator[list[str]]:
    """The rows of a .csv or .csv.gz file below its header."""
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", newline="") as file:
        reader = csv.reader(file)
        next(reader)
        yield from reader


class Model:
    """Who follows whom and what is live. Users and items are plain numbers."""

    def __init__(self, follow_limit: int):
        self.follow_limit = follow_limit
        self.followees: dict[int, set[int]] = {}
        self.posts: dict[int, list[Item]] = {}  # by author, oldest first
        self.items: dict[int, Item] = {}  # live ones, by content id
        self.mutes: dict[int, set[int]] = {}
        self.hides: dict[int, set[int]] = {}  # by author: from whom
        self.likes: dict[int, set[int]] = {}  # by item, live or deleted
        self.refs: dict[int, tuple[str, int]] = {}  # kind, and what the item points at; live, deleted, never published
        self.topics: dict[int, set[str]] = {}  # what each item names; live, deleted, never published
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

    def publish(self, item: Item) -> None:
        """A new item."""
        self.items[item[1]] = item
        insort(self.posts.setdefault(item[2], []), item)

    def delete(self, content_id: int) -> Item:
        """Takes a live item out."""
        item = self.items.pop(content_id)
        posts = self.posts[item[2]]
        del posts[bisect_left(posts, item)]
        return item

    def followers(self, author: int) -> set[int]:
        """Kept up to date from the first call on."""
        if self._followers is None:
            self._followers = {}
            for user, followees in self.followees.items():
                for target in followees:
                    self._followers.setdefault(target, set()).add(user)
        return self._followers.get(author, set())

    def authors(self, user: int) -> set[int]:
        """Whose items are in the home timeline."""
        barred = self.mutes.get(user, set())
        return {a for a in self.followees.get(user, ()) if a not in barred and user not in self.hides.get(a, ())}

    def attached(self) -> Counter[tuple[str, int]]:
        """How many live comments on, and reposts of, each item."""
        return Counter(self.refs[item] for item in self.items if item in self.refs)

    def friends(self, user: int) -> set[int]:
        """Whom the user follows and is followed by."""
        return self.followees.get(user, set()) & self.followers(user)

    def timeline(self, user: int) -> list[Item]:
        """The whole home timeline, newest first."""
        authors = self.authors(user)
        return sorted(chain.from_iterable(self.posts.get(author, ()) for author in authors), reverse=True)

    def own_page(self, user: int) -> list[Item]:
        """All that the user published, newest first."""
        return self.posts.get(user, [])[::-1]

    def topic(self, name: str) -> list[Item]:
        """All live items that name a topic, newest first."""
        return sorted((item for item in self.items.values() if name in self.topics.get(item[1], ())), reverse=True)

    def audience(self) -> Counter[int]:
        """How many follow each."""
        return Counter(chain.from_iterable(self.followees.values()))

    def users(self) -> list[int]:
        """All who follow, are followed or publish, ascending."""
        return sorted(set(self.followees) | set(self.posts) | set(chain.from_iterable(self.followees.values())))
