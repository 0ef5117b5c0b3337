"""Every list of every user against the model, and every text."""

import random

from .client import Client
from .workers import check_user
from .writer import Shared


def compare_all(client: Client, shared: Shared, users: list[int], rng: random.Random) -> int:
    """Notes what is wrong; how many items there were in all timelines."""
    total = 0
    for user in users:
        further = rng if rng.random() < 0.1 else None
        count, wrong = check_user(client, shared.model, user, rng.choice((37, 100, 100, 100)), further)
        total += count
        wrong = wrong or check_members(client, shared, user)
        if wrong:
            shared.fail(wrong)
    check_texts(client, shared)
    return total


def members(client: Client, path: str) -> list[int]:
    """A list of users to its end, newest first."""
    found, before = [], ""
    while True:
        body = client.get(f"{path}?limit=100{before}")
        found += [(item["since"], int(item["user_id"])) for item in body["items"]]
        if body["next"] is None:
            break
        before = f"&before={body['next']}"
    if any(older >= newer for newer, older in zip(found, found[1:])):
        return [0, *(user for _, user in found)]  # out of order, or somebody twice: equal to nothing
    return [user for _, user in found]


def check_members(client: Client, shared: Shared, user: int) -> str | None:
    """Whom the user follows, and who follows the user."""
    for side, right in (("following", shared.model.followees.get(user, set())), ("followers", shared.model.followers(user))):
        found = members(client, f"/v1/users/{user}/{side}")
        if len(found) != len(right) or set(found) != right:
            return f"{side} of {user}: {sorted(right - set(found))} missing, {sorted(set(found) - right)} too many, {found}"
    return None


def check_texts(client: Client, shared: Shared) -> None:
    """The texts of all live items, as published or as last edited."""
    live = sorted(shared.model.items)
    for first in range(0, len(live), 100):
        ids = live[first : first + 100]
        found = client.get("/v1/content?ids=" + ",".join(map(str, ids)))["items"]
        texts = {int(body["content_id"]): body["text"] for body in found}
        for content_id in ids:
            if texts.get(content_id) != shared.texts[content_id]:
                shared.fail(f"content {content_id}: text {shared.texts[content_id]!r} expected, got {texts.get(content_id)!r}")
