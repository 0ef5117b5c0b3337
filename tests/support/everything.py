"""Every list of every user and of every topic against the model, and every text and count."""

import random
from urllib.parse import quote

from .client import Client, members
from .compare import List
from .ids import Id, host_id, listed, quoted
from .shared import Shared
from .workers import check_user
from .writer import TOPICS


def compare_all(client: Client, shared: Shared, users: list[Id], rng: random.Random, topic_limit: int) -> int:
    """Notes what is wrong; how many items there were in all timelines."""
    total = 0
    for user in users:
        further = rng if rng.random() < 0.1 else None
        count, wrong = check_user(client, shared.model, user, rng.choice((37, 100, 100, 100)), further)
        total += count
        wrong = wrong or check_members(client, shared, user)
        if wrong:
            shared.fail(wrong)
    for name in TOPICS:
        wrong = check_topic(client, shared, name, topic_limit, rng)
        if wrong:
            shared.fail(f"{wrong}\n  with topics.limit {topic_limit}")
    check_texts(client, shared)
    return total


def check_topic(client: Client, shared: Shared, name: str, limit: int, rng: random.Random) -> str | None:
    """The newest of the live items that name a topic: so many, or all if there are fewer."""
    shown = List(client, f"/v1/topics/{quote(name, safe='')}/content", shared.model.topic(name)[:limit], rng.choice((3, 37, 100)))
    return shown.descending() or shown.ascending() or shown.jumps(rng, 2)


def check_members(client: Client, shared: Shared, user: Id) -> str | None:
    """Every list of users around one, and what is counted of the user."""
    model = shared.model
    sides = {
        "following": model.followees.get(user, set()), "followers": model.followers(user), "friends": model.friends(user),
        "mutes": model.mutes.get(user, set()), "hidden-from": model.hides.get(user, set()),
    }
    for side, right in sides.items():
        found = members(client, f"/v1/users/{quoted(user)}/{side}")
        if len(found) != len(right) or set(found) != right:
            return f"{side} of {user}: {sorted(right - set(found))} missing, {sorted(set(found) - right)} too many, {found}"
    counts = client.get(f"/v1/users/{quoted(user)}")["counts"]
    wanted = {side: len(sides[side]) for side in ("following", "followers", "friends")} | {"content": len(model.own_page(user))}
    return None if counts == wanted else f"counts of {user}: {wanted} expected, got {counts}"


def check_texts(client: Client, shared: Shared) -> None:
    """The texts of all live items, as published or as last edited, and what is counted of them."""
    live = sorted(shared.model.items)
    attached = shared.model.attached()
    for first in range(0, len(live), 100):
        ids = live[first : first + 100]
        found = client.get("/v1/content?ids=" + listed(ids))["items"]
        texts = {host_id(body["content_id"]): body["text"] for body in found}
        for content_id in ids:
            if texts.get(content_id) != shared.texts[content_id]:
                shared.fail(f"content {content_id}: text {shared.texts[content_id]!r} expected, got {texts.get(content_id)!r}")
        for content_id, body in ((host_id(body["content_id"]), body) for body in found):
            likes = len(shared.model.likes.get(content_id, ()))
            wanted = {
                "comments": attached["comment", content_id], "reposts": attached["repost", content_id],
                "reactions": {"like": likes} if likes else {},
            }
            if body["counts"] != wanted:
                shared.fail(f"content {content_id}: counts {wanted} expected, got {body['counts']}")
