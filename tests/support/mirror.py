"""A reader of the feed of changes that goes on from its position after every end of the server."""

import threading
from typing import Any

from .client import Client
from .expect import Unexpected
from .ids import Id, host_id
from .shared import Shared
from .writer import guarded

# How a set changes: the name of the set, and whether something comes.
STEPS = {
    "follow.requested": ("requests", True),
    "follow.request_removed": ("requests", False),
    "follow.created": ("followees", True),
    "follow.removed": ("followees", False),
    "mute.created": ("mutes", True),
    "mute.removed": ("mutes", False),
    "hide.created": ("hides", True),
    "hide.removed": ("hides", False),
    "block.created": ("blocks", True),
    "block.removed": ("blocks", False),
    "list_member.created": ("members", True),
    "list_member.removed": ("members", False),
    "user.suspended": ("suspended", True),
    "user.unsuspended": ("suspended", False),
    "reaction.created": ("likes", True),
    "reaction.removed": ("likes", False),
}
# Users whose follows are no part of the model.
PROBES = "probe-"


class Mirror:
    """Keeps the state to which the changes have led. Each must be a step from the state before it."""

    def __init__(self, shared: Shared, limit: int):
        self.shared = shared
        self.limit = limit  # changes that are asked for at once
        self.position: str | None = None
        self.at = 0
        self.changes = 0
        self.sets: dict[str, set[tuple[Any, ...]]] = {name: set() for name, _ in STEPS.values()}
        self.items: dict[Id, tuple[Id, bool]] = {}  # each with its author, and whether it is live
        self.off: set[tuple[Id, Id]] = set()
        self.lists: set[tuple[Id, str]] = set()

    def work(self, client: Client, stop: threading.Event) -> None:
        """Reads while others write, until the server is gone."""
        def reads() -> None:
            while not stop.is_set():
                self.read_on(client)
                stop.wait(0.01)

        guarded(self.shared, client, reads)

    def read_on(self, client: Client) -> None:
        """Reads up to the end."""
        while True:
            after = f"&after={self.position}" if self.position else ""
            page = client.get(f"/v1/changes?limit={self.limit}{after}")
            for change in page["items"]:
                if not self.take(change):
                    raise Unexpected(f"after {self.position}: {change} is no step from the changes before it")
            # A page counts once it is whole.
            self.changes += len(page["items"])
            at_end, self.position = not page["items"] and self.position == page["position"], page["position"]
            if at_end:
                return

    def take(self, change: dict[str, Any]) -> bool:
        """Makes a step; false if it is none."""
        kind, user = change["type"], host_id(change["user_id"])
        target, item = (host_id(change[name]) if name in change else None for name in ("target_id", "content_id"))
        rises, self.at = change["at"] >= self.at, change["at"]
        if kind in STEPS:
            name, comes = STEPS[kind]
            steps = {"members": (user, change.get("list"), target), "suspended": (user,), "likes": (item, user)}
            place = steps.get(name, (user, target))
            if name == "likes" and change["kind"] != "like":
                return rises
            if kind == "follow.created":
                self.sets["requests"].discard(place)
            was = place in self.sets[name]
            (self.sets[name].add if comes else self.sets[name].discard)(place)
            return rises and was != comes
        if kind == "content.published":
            new = item not in self.items
            self.items[item] = (user, True)
            return rises and new
        if item is not None:
            author, live = self.items.get(item, (None, False))
            if kind == "content.taken_off":
                self.off.add((item, target))
            self.items[item] = (author, kind not in ("content.deleted", "content.purged"))
            return rises and author == user and live == (kind not in ("content.restored", "content.purged"))
        if kind == "list.deleted":
            self.lists.discard((user, change["list"]))
            self.sets["members"] = {place for place in self.sets["members"] if place[:2] != (user, change["list"])}
        elif kind == "list.changed":
            self.lists.add((user, change["list"]))
        return rises

    def compare(self) -> str | None:
        """The first difference from the model; nothing may change meanwhile."""
        model = self.shared.model
        wanted: dict[str, set] = {
            name: {(user, other) for user, others in getattr(model, name).items() for other in others}
            for name in ("followees", "requests", "mutes", "hides", "blocks", "likes")
        }
        lists = [(user, name, kept) for user, each in model.lists.items() for name, kept in each.items()]
        wanted["members"] = {(user, name, member) for user, name, kept in lists for member in kept.members}
        wanted["suspended"] = {(user,) for user in model.suspended}
        wanted["lists"] = {(user, name) for user, name, _ in lists}
        wanted["live"] = {(item, author) for _, item, author in model.items.values()}
        wanted["off"] = set(model.off)
        is_probe = lambda place: str(place[0]).startswith(PROBES)  # noqa: E731
        told = self.sets | {"lists": self.lists, "off": self.off}
        told["followees"] = {place for place in told["followees"] if not is_probe(place)}
        told["live"] = {(item, author) for item, (author, live) in self.items.items() if live}
        for name, right in wanted.items():
            if told[name] != right:
                lost, more = list(right - told[name])[:5], list(told[name] - right)[:5]
                return f"the feed of changes up to {self.position}: {name} lack {lost}, and have {more} too many"
        return None
