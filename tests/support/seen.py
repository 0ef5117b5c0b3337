"""What people did with items and with each other, as the server lists and counts it, against the model."""

import random
from collections import defaultdict
from urllib.parse import quote

from .client import Client, Item
from .compare import List
from .model import Model
from .social import KINDS, TOPICS, members


class Seen:
    """The lists and counts of one instant. Made once for all users."""

    def __init__(self, model: Model):
        self.model = model
        self.comments: dict[int, list[Item]] = defaultdict(list)  # by author
        self.pointing: dict[tuple[str, int], list[Item]] = defaultdict(list)  # by kind and what they point at
        self.topics: dict[str, list[Item]] = defaultdict(list)
        self.reacted: dict[tuple[str, int], list[Item]] = defaultdict(list)  # by kind and user
        for item in sorted(model.items.values(), reverse=True):
            facts = model.fact(item[1])
            if facts.kind == "comment":
                self.comments[item[2]].append(item)
            if facts.ref_id is not None:
                self.pointing[facts.kind, facts.ref_id].append(item)
            for topic in facts.topics:
                self.topics[topic].append(item)
            for kind in KINDS:
                for user in model.reactions.get((kind, item[1]), ()):
                    self.reacted[kind, user].append(item)

    def user(self, client: Client, user: int) -> str | None:
        """What is wrong around a user besides timeline, own page and follows."""
        base = f"/v1/users/{user}"
        lists = [(f"{base}/comments", self.comments[user])]
        lists += [(f"{base}/reactions/{kind}", self.reacted[kind, user]) for kind in KINDS]
        for path, expected in lists:
            if wrong := List(client, path, expected, 100).descending():
                return wrong
        for name, side in (("mutes", self.model.mutes), ("hidden-from", self.model.hidden)):
            if set(found := members(client, f"{base}/{name}")) != (right := side.get(user, set())):
                return f"{name} of {user}: {right} expected, got {found}"
        return self.profile(client, user) or self.marker(client, user)

    def profile(self, client: Client, user: int) -> str | None:
        followees, followers = self.model.followees.get(user, set()), self.model.followers(user)
        wanted = {
            "user_id": str(user), "nickname": None, "avatar": None, "extra": None, **self.model.profiles.get(user, {}),
            "counts": {
                "following": len(followees), "followers": len(followers),
                "friends": len(followees & followers), "content": len(self.model.posts.get(user, ())),
            },
        }
        found = client.get(f"/v1/users/{user}")
        return None if found == wanted else f"user {user}: {wanted} expected, got {found}"

    def marker(self, client: Client, user: int) -> str | None:
        marker = self.model.markers.get(user)
        unread = sum(item[:2] > (marker or (0, 0)) for item in self.model.timeline(user))
        for path, wanted in (
            ("marker", {"cursor": marker and "{}-{}".format(*marker)}),
            ("timeline/unread", {"count": min(unread, 1000), "capped": unread > 1000}),
        ):
            if (found := client.get(f"/v1/users/{user}/{path}")) != wanted:
                return f"{path} of {user}: {wanted} expected, got {found}"
        return None

    def counts(self, content_id: int) -> dict[str, int]:
        """As the item must show them."""
        reacted = [len(self.model.reactions.get((kind, content_id), ())) for kind in KINDS]
        pointing = [len(self.pointing[kind, content_id]) for kind in ("comment", "repost")]
        return dict(zip(("likes", "favorites", "comments", "reposts"), reacted + pointing))

    def content(self, client: Client, body: dict) -> str | None:
        """What is wrong with an item in a list: its counts, or its author."""
        item = int(body["content_id"])
        profile = self.model.profiles.get(int(body["author_id"]), {})
        card = {"user_id": body["author_id"], "nickname": profile.get("nickname"), "avatar": profile.get("avatar")}
        for name, wanted in (("counts", self.counts(item)), ("author", card)):
            if body[name] != wanted:
                return f"content {item}: {name} {wanted} expected, got {body[name]}"
        return None

    def item(self, client: Client, content_id: int) -> str | None:
        """What is wrong with the lists that hang on an item."""
        base = f"/v1/content/{content_id}"
        if wrong := List(client, f"{base}/comments", self.pointing["comment", content_id], 100).descending():
            return wrong
        for kind in KINDS:
            found, right = members(client, f"{base}/reactions/{kind}"), self.model.reactions.get((kind, content_id), set())
            if set(found) != right:
                return f"{base}: {kind} of {right} expected, got {found}"
        return None

    def whole(self, client: Client, rng: random.Random) -> str | None:
        """What is wrong with the topics, with the lists of some items, and with some that are deleted."""
        for topic in TOPICS:
            found = List(client, f"/v1/topics/{quote(topic, safe='')}/content", self.topics[topic], 100)
            if wrong := found.descending() or found.ascending() or found.jumps(rng, 2):
                return wrong
        live, deleted = sorted(self.model.items), sorted(self.model.deleted)
        for content_id in rng.sample(live, min(len(live), 60)):
            if wrong := self.item(client, content_id):
                return wrong
        for content_id in rng.sample(deleted, min(len(deleted), 20)):
            for path in ("", "/comments", "/reactions/like"):
                if (answer := client.call("GET", f"/v1/content/{content_id}{path}")).status != 404:
                    return f"content {content_id} is deleted, and {path} answers {answer}"
        return None

    def viewed(self, client: Client, user: int) -> str | None:
        """What is wrong with the first full page of a user's timeline."""
        for body in client.get(f"/v1/users/{user}/timeline?limit=50")["items"]:
            done = [user in self.model.reactions.get((kind, int(body["content_id"])), ()) for kind in KINDS]
            wanted = dict(zip(("liked", "favorited"), done))
            if body["viewer"] != wanted:
                return f"timeline of {user}: viewer {wanted} expected, got {body}"
            if wrong := self.content(client, body):
                return wrong
        return None
