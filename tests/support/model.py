"""The plain model: what every list must show, computed from the follows and the posts alone."""

import csv
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from .client import Item
from .ids import Id, host_id, in_order, quoted


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


def kinds(path: str) -> Iterator[tuple[Id, str]]:
    """The kinds of the items of a .ndjson file; those of others are posts."""
    if path.endswith(".ndjson"):
        with open(path) as file:
            for item in map(json.loads, file):
                yield host_id(str(item["content_id"])), item.get("kind", "post")


# The body of a follow that has a rule: `only` or `except` with kinds; empty for all kinds.
Rule = dict[str, list[str]]


def admits(rule: Rule, kind: str) -> bool:
    """Whether a rule shows a kind.

    >>> [admits(rule, "post") for rule in ({}, {"only": ["post"]}, {"only": ["video"]}, {"except": ["post"]}, {"except": ["video"]})]
    [True, True, False, False, True]
    """
    return kind in rule["only"] if "only" in rule else kind not in rule.get("except", ())


class UserList:
    """A list that a user keeps."""

    def __init__(self) -> None:
        self.exclusive = False
        self.members: dict[Id, Rule] = {}


class Model:
    """Who follows whom and what is live. Lists of users and items are by id."""

    def __init__(self, follow_limit: int):
        self.follow_limit = follow_limit
        self.followees: dict[Id, set[Id]] = {}
        self.posts: dict[Id, list[Item]] = {}  # by source, in any order
        self.items: dict[Id, Item] = {}  # live ones, by content id
        self.mutes: dict[Id, set[Id]] = {}
        self.hides: dict[Id, set[Id]] = {}  # by author: from whom
        self.likes: dict[Id, set[Id]] = {}  # by item, live or deleted
        self.refs: dict[Id, tuple[str, Id]] = {}  # kind, and what the item points at; live, deleted, never published
        self.topics: dict[Id, set[str]] = {}  # what each item names; live, deleted, never published
        self.sources: dict[Id, tuple[Id, ...]] = {}  # on which an item was published, if not just its author; likewise
        self.audiences: dict[Id, str] = {}  # of items; likewise
        self.off: set[tuple[Id, Id]] = set()  # items, and the sources off whose pages they were taken
        self.rules: dict[tuple[Id, Id], Rule] = {}  # of follows and requests that have one
        self.blocks: dict[Id, set[Id]] = {}
        self.requests: dict[Id, set[Id]] = {}  # by who asks
        self.settings: dict[Id, tuple[bool, str]] = {}  # whether followers are approved, and the default audience
        self.suspended: set[Id] = set()
        self.lists: dict[Id, dict[str, UserList]] = {}  # by name
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
        self.refs |= {content_id: (kind, content_id) for content_id, kind in kinds(content) if kind != "post"}

    def follow(self, user: Id, target: Id) -> bool:
        """False if the limit, or following oneself, is in the way."""
        followees = self.followees.setdefault(user, set())
        if target in followees:
            return True
        if user == target or len(followees) >= self.follow_limit:
            return False
        if self.settings_of(target)[0]:
            self.requests.setdefault(user, set()).add(target)
            return True
        self.requests.get(user, set()).discard(target)
        followees.add(target)
        if self._followers is not None:
            self._followers.setdefault(target, set()).add(user)
        return True

    def unfollow(self, user: Id, target: Id) -> None:
        """Whether or not there is something to take back."""
        self.followees.get(user, set()).discard(target)
        self.requests.get(user, set()).discard(target)
        self.rules.pop((user, target), None)
        if self._followers is not None:
            self._followers.get(target, set()).discard(user)

    def set_rule(self, user: Id, target: Id, rule: Rule) -> None:
        """The rule of a follow or a request."""
        self.rules.pop((user, target), None)
        if rule:
            self.rules[user, target] = rule

    def connected(self, user: Id, target: Id) -> bool:
        """Whether a user follows another, or has asked to."""
        return target in self.followees.get(user, ()) or target in self.requests.get(user, ())

    def answer(self, user: Id, source: Id, approved: bool) -> None:
        """Ends the request of a user to follow another, with a follow or without."""
        self.requests.get(user, set()).discard(source)
        if not approved:
            self.rules.pop((user, source), None)
            return
        self.followees.setdefault(user, set()).add(source)
        if self._followers is not None:
            self._followers.setdefault(source, set()).add(user)

    def settings_of(self, user: Id) -> tuple[bool, str]:
        return self.settings.get(user, (False, "public"))

    def kind(self, content_id: Id) -> str:
        return self.refs.get(content_id, ("post",))[0]

    def paths(self, item: Item) -> list[Id]:
        """The sources on whose own pages an item stands."""
        on = self.sources.get(item[1], (item[2],))
        return [source for source in on if (item[1], source) not in self.off] if self.off else list(on)

    def publish(self, item: Item) -> None:
        """A new item."""
        self.items[item[1]] = item
        for source in self.paths(item):
            self.posts.setdefault(source, []).append(item)

    def publish_all(self, items: list[Item]) -> None:
        """New items of one batch."""
        for item in items:
            self.publish(item)

    def delete(self, content_id: Id) -> Item:
        """Takes a live item out."""
        item = self.items.pop(content_id)
        for source in self.paths(item):
            self.posts[source].remove(item)
        return item

    def take_off(self, content_id: Id, source: Id) -> None:
        """Takes a live item off one of its paths."""
        self.posts[source].remove(self.items[content_id])
        self.off.add((content_id, source))

    def suspend(self, user: Id, suspended: bool) -> None:
        """Suspends a user, or takes that back."""
        (self.suspended.add if suspended else self.suspended.discard)(user)

    def followers(self, author: Id) -> set[Id]:
        """Kept up to date from the first call on."""
        if self._followers is None:
            self._followers = {}
            for user, followees in self.followees.items():
                for target in followees:
                    self._followers.setdefault(target, set()).add(user)
        return self._followers.get(author, set())

    def authors(self, user: Id) -> set[Id]:
        """The sources of the home timeline."""
        return {source for source in self.chosen(user) if source not in self.suspended}

    def chosen(self, user: Id) -> set[Id]:
        """The sources of the home timeline, suspended or not."""
        apart = {member for each in self.lists.get(user, {}).values() if each.exclusive for member in each.members}
        return {source for source in self.followees.get(user, ()) if source not in apart and not self.silences(user, source)}

    def shows(self, user: Id, source: Id) -> bool:
        """Whether nothing is between a user and a source."""
        return source not in self.suspended and not self.silences(user, source)

    def silences(self, user: Id, other: Id) -> bool:
        """Whether a user is shown nothing of another on any path."""
        return other in self.mutes.get(user, ()) or user in self.hides.get(other, ()) or self.parted(user, other)

    def parted(self, user: Id, other: Id) -> bool:
        """Whether one of two has blocked the other."""
        return other in self.blocks.get(user, ()) or user in self.blocks.get(other, ())

    def comes(self, user: Id, item: Item, source: Id, rule: Rule) -> bool:
        """Whether an item on a page of a timeline's source comes from there."""
        author = item[2]
        is_shown = author == source or (author not in self.suspended and (author == user or not self.silences(user, author)))
        return is_shown and (not rule or admits(rule, self.kind(item[1])))

    def attached(self) -> Counter[tuple[str, Id]]:
        """How many live comments on, and reposts of, each item."""
        return Counter(self.refs[item] for item in self.items if item in self.refs)

    def friends(self, user: Id) -> set[Id]:
        """Whom the user follows and is followed by."""
        return self.followees.get(user, set()) & self.followers(user)

    def timeline(self, user: Id) -> list[Item]:
        """The whole home timeline, newest first."""
        return self.merged(user, {source: self.rules.get((user, source), {}) for source in self.authors(user)})

    def list_timeline(self, user: Id, name: str) -> list[Item]:
        """The whole timeline of a list, newest first."""
        members = self.lists[user][name].members
        items = self.merged(user, {source: rule for source, rule in members.items() if self.shows(user, source)})
        return [item for item in items if self.is_for(user, item)]

    def timelines(self, user: Id) -> dict[str, list[Item]]:
        """All timelines of the user, by their paths below the user; the home timeline comes first."""
        of_lists = {f"lists/{quoted(name)}/timeline": self.list_timeline(user, name) for name in self.lists.get(user, ())}
        return {"timeline": self.timeline(user)} | of_lists

    def merged(self, user: Id, sources: dict[Id, Rule]) -> list[Item]:
        """What comes to a user from sources with their rules."""
        if not self.sources and not any(sources.values()):
            return sorted(chain.from_iterable(self.posts.get(source, ()) for source in sources), reverse=True)
        pages = ((source, rule, self.posts.get(source, [])[:]) for source, rule in sources.items())
        return sorted({item for source, rule, page in pages for item in page if self.comes(user, item, source, rule)}, reverse=True)

    def own_page(self, user: Id, viewer: Id | None = None) -> list[Item]:
        """All that was published on a source, newest first; as a viewer sees it."""
        if user in self.suspended or (viewer is not None and not self.sees_user(viewer, user)):
            return []
        return sorted(self.seen(viewer, self.posts.get(user, [])[:]), reverse=True)

    def topic(self, name: str, limit: int, viewer: Id | None = None) -> list[Item]:
        """The newest live items that name a topic; as a viewer sees them."""
        items = sorted((item for item in self.items.values() if name in self.topics.get(item[1], ())), reverse=True)
        return self.seen(viewer, items[:limit])

    def seen(self, viewer: Id | None, items: list[Item]) -> list[Item]:
        """Those items that a viewer sees; the application sees all whose authors are not suspended."""
        return [item for item in items if item[2] not in self.suspended and (viewer is None or self.sees(viewer, item))]

    def sees(self, viewer: Id, item: Item) -> bool:
        """Whether a viewer sees a live item of an author who is not suspended."""
        return item[2] == viewer or (self.sees_user(viewer, item[2]) and self.is_for(viewer, item))

    def sees_user(self, viewer: Id, user: Id) -> bool:
        """Whether no hide and no block is between a viewer and a user."""
        return viewer == user or (viewer not in self.hides.get(user, ()) and not self.parted(viewer, user))

    def is_for(self, viewer: Id, item: Item) -> bool:
        """Whether an item is public, or for a viewer by one of its paths."""
        if self.audiences.get(item[1], "public") == "public" or item[2] == viewer:
            return True
        followees = self.followees.get(viewer, ())
        counts = (path for path in self.paths(item) if path == viewer or path in followees)
        return any(path not in self.suspended and viewer not in self.hides.get(path, ()) for path in counts)

    def audience(self) -> Counter[Id]:
        """How many follow each."""
        return Counter(chain.from_iterable(self.followees.values()))

    def users(self) -> list[Id]:
        """All who follow, are followed or have an own page, ascending."""
        return sorted(set(self.followees) | set(self.posts) | set(chain.from_iterable(self.followees.values())))
