"""A data set with groups to which others publish too, and rules, lists, barriers, suspensions and moderation at random."""

import csv
import json
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from .client import Client, Unexpected
from .ids import Id, host_id, in_order, quoted
from .model import Model, Rule, UserList, rows

KINDS = ("post", "repost", "video", "event")
PAIR = ("user_id", "target_id")
CONNECTIONS = 8


class Change(NamedTuple):
    """A call that must succeed, and what it means to the model."""

    method: str
    path: str
    body: object
    apply: Callable[[], object]


class Sources(Model):
    """Every fifth author is a group. Some of what others publish is also, or only, on pages of groups."""

    def __init__(self, follow_limit: int, rng: random.Random):
        super().__init__(follow_limit)
        self.rng = rng
        self.groups: list[Id] = []
        self.pages: list[Id] = []  # all sources on which something was published

    # The data set.

    def load(self, follows: str, content: str) -> None:
        """As without sources, with a few blocks that were there before the follows, which refuse some of these."""
        for user, target, *_ in rows(follows):
            if self.rng.random() < 0.002:
                user, target = host_id(user), host_id(target)
                in_order((user, target))
                self.block(user, target)
        super().load(follows, content)
        self.groups = sorted(self.posts)[::5]
        is_group = set(self.groups)
        for _, content_id, author in self.items.values():
            self.refs[content_id] = (self.rng.choice(KINDS), content_id)
            if author not in is_group and self.rng.random() < 0.4:
                # Members publish to a group, mostly.
                near = sorted(self.followees.get(author, set()) & is_group) or self.groups
                to = {self.rng.choice(near if self.rng.random() < 0.8 else self.groups) for _ in range(self.rng.randint(1, 3))}
                self.sources[content_id] = (*sorted(to), *([] if self.rng.random() < 0.3 else [author]))
            if self.rng.random() < 0.1:
                self.audiences[content_id] = "followers"
        self.posts = {}
        for item in self.items.values():
            for source in self.paths(item):
                self.posts.setdefault(source, []).append(item)
        self.pages = sorted(self.posts)

    def follow(self, user: Id, target: Id) -> bool:
        """False also if a block is in the way."""
        return not self.parted(user, target) and super().follow(user, target)

    def block(self, user: Id, target: Id) -> None:
        """Ends the follows between the two."""
        self.blocks.setdefault(user, set()).add(target)
        self.unfollow(user, target)
        self.unfollow(target, user)

    def write(self, directory: Path) -> dict[str, str]:
        """Writes the files of an import: content, and random relations of some users. Returns them by their options."""
        content = directory / "sources.ndjson"
        with open(content, "w") as file:
            for item in self.items.values():
                at, content_id, author = item
                paths = self.paths(item)
                line = {
                    "content_id": content_id, "author_id": author, "published_at": at, "kind": self.kind(content_id),
                    "broadcast": author in paths, "to": [source for source in paths if source != author],
                    "audience": self.audiences.get(content_id, "public"),
                }
                file.write(json.dumps(line) + "\n")
        files = {"content": str(content)}
        for option, columns, lines in self.relations():
            files[option] = str(directory / f"{option}.csv")
            with open(files[option], "w", newline="") as file:
                csv.writer(file).writerows([columns, *lines])
        return files

    def some(self, share: float) -> list[Id]:
        """A share of the users who follow somebody."""
        return [user for user, followees in self.followees.items() if followees and self.rng.random() < share]

    def source_for(self, user: Id) -> Id:
        """Mostly a followee, otherwise any author or group."""
        followees = self.followees.get(user)
        if followees and self.rng.random() < 0.7:
            return self.rng.choice(sorted(followees))
        return self.rng.choice(self.pages)

    def others(self, user: Id, most: int) -> list[Id]:
        """Some sources, ascending."""
        return sorted({self.source_for(user) for _ in range(self.rng.randint(1, most))} - {user})

    def relations(self) -> Iterator[tuple[str, tuple[str, ...], list[tuple[object, ...]]]]:
        """The options, columns and lines of further files. The model has them from now on."""
        yield "blocks", PAIR, [(user, target) for user in sorted(self.blocks) for target in sorted(self.blocks[user])]
        mutes = [(user, target) for user in self.some(0.1) for target in self.others(user, 4)]
        hides = [(source, user) for user in self.some(0.1) for source in self.others(user, 4)]
        for option, of, pairs in (("mutes", self.mutes, mutes), ("hides", self.hides, hides)):
            for one, other in pairs:
                of.setdefault(one, set()).add(other)
            yield option, PAIR, pairs
        lists, members = [], []
        for user in self.some(0.2):
            for number in range(self.rng.randint(1, 3)):
                name, made = f"list {number}", UserList()
                made.exclusive = self.rng.random() < 0.3
                made.members = {source: {} for source in self.others(user, self.rng.choice((5, 30, 200)))}
                self.lists.setdefault(user, {})[name] = made
                lists.append((user, name, str(made.exclusive).lower()))
                members += [(user, name, source) for source in made.members]
        yield "lists", ("user_id", "list", "exclusive"), lists
        yield "list-members", ("user_id", "list", "source_id"), members
        self.suspended = {source for source in self.pages if self.rng.random() < 0.005}
        yield "suspensions", ("user_id",), [(user,) for user in sorted(self.suspended)]

    def figures(self) -> list[str]:
        """What there is besides follows and items."""
        lists = [made for of_user in self.lists.values() for made in of_user.values()]
        counts = {
            "groups": len(self.groups),
            "items with further paths": len(self.sources),
            "lists": len(lists),
            "members": sum(len(made.members) for made in lists),
            "mutes": sum(map(len, self.mutes.values())),
            "hides": sum(map(len, self.hides.values())),
            "blocks": sum(map(len, self.blocks.values())),
            "suspended": len(self.suspended),
        }
        return [f"{count:,} {name}" for name, count in counts.items()]

    # Changes through the API.

    def change(self, address: tuple[str, int]) -> list[str]:
        """Sets rules and blocks, takes some relations back, suspends and moderates; returns what was done."""
        kinds = {"rules": self.ruled, "blocks": self.blocked, "taken back": self.taken_back, "moderated": self.moderated}
        return [f"{self.make(address, list(changes())):,} {name}" for name, changes in kinds.items()]

    @staticmethod
    def make(address: tuple[str, int], changes: list[Change]) -> int:
        """Makes changes over several connections, in no order; returns how many."""

        def calls(part: list[Change]) -> None:
            client = Client(address)
            for method, path, body, _ in part:
                answer = client.call(method, path, body)
                if answer.status not in (200, 204):
                    raise Unexpected(f"{method} {path} {body}: {answer.status} {answer.body}")
            client.close()

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            list(pool.map(calls, (changes[i::CONNECTIONS] for i in range(CONNECTIONS))))
        for change in changes:
            change.apply()
        return len(changes)

    def rule(self) -> Rule:
        """Sometimes none, which takes a rule away."""
        if self.rng.random() < 0.1:
            return {}
        return {self.rng.choice(("only", "except")): self.rng.sample(KINDS, self.rng.randint(1, 3))}

    def ruled(self) -> Iterator[Change]:
        """Rules of follows and of members."""
        for user in self.some(0.1):
            for source in sorted(self.followees[user]):
                if self.rng.random() < 0.33:
                    rule, path = self.rule(), f"/v1/users/{quoted(user)}/following/{quoted(source)}"
                    yield Change("PUT", path, rule, lambda user=user, source=source, rule=rule: self.set_rule(user, source, rule))
        for user, lists in self.lists.items():
            for name, made in lists.items():
                for source in self.rng.sample(sorted(made.members), len(made.members) // 20):
                    rule, path = self.rule(), f"/v1/users/{quoted(user)}/lists/{quoted(name)}/members/{quoted(source)}"
                    yield Change("PUT", path, rule, lambda of=made.members, source=source, rule=rule: of.update({source: rule}))

    def blocked(self) -> Iterator[Change]:
        for user in self.some(0.05):
            for other in self.others(user, 3):
                one, two = self.rng.sample((user, other), 2)
                path = f"/v1/users/{quoted(one)}/blocks/{quoted(two)}"
                yield Change("PUT", path, None, lambda one=one, two=two: self.block(one, two))

    def taken_back(self) -> Iterator[Change]:
        """Ends of some mutes, hides, blocks, exclusive lists and suspensions."""
        for name, barriers in (("mutes", self.mutes), ("hidden-from", self.hides), ("blocks", self.blocks)):
            for user, targets in barriers.items():
                for target in sorted(targets):
                    if self.rng.random() < 0.3:
                        path = f"/v1/users/{quoted(user)}/{name}/{quoted(target)}"
                        yield Change("DELETE", path, None, lambda of=targets, target=target: of.discard(target))
        for user, lists in self.lists.items():
            for name, made in lists.items():
                if made.exclusive and self.rng.random() < 0.3:
                    path = f"/v1/users/{quoted(user)}/lists/{quoted(name)}"
                    yield Change("PUT", path, {}, lambda made=made: setattr(made, "exclusive", False))
        for user in sorted(self.suspended):
            if self.rng.random() < 0.5:
                yield Change("DELETE", f"/v1/users/{quoted(user)}/suspension", None, lambda user=user: self.suspend(user, False))

    def moderated(self) -> Iterator[Change]:
        """Further suspensions, and items that groups took off their pages."""
        for user in self.rng.sample(self.pages, len(self.pages) // 500):
            yield Change("PUT", f"/v1/users/{quoted(user)}/suspension", None, lambda user=user: self.suspend(user, True))
        for content_id in self.sources:
            item = self.items[content_id]
            of_groups = [source for source in self.paths(item) if source != item[2]]
            if of_groups and self.rng.random() < 0.05:
                source = self.rng.choice(of_groups)
                path = f"/v1/users/{quoted(source)}/content/{quoted(content_id)}"
                yield Change("DELETE", path, None, lambda id=content_id, source=source: self.take_off(id, source))
