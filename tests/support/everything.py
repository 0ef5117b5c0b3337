"""Every list of every user against the model, and every text."""

import random

from .change import Shared
from .client import Client
from .seen import Seen
from .social import members
from .workers import check_user


def compare_all(client: Client, shared: Shared, users: list[int], rng: random.Random) -> int:
    """Notes what is wrong; how many items there were in all timelines."""
    total = 0
    seen = Seen(shared.model)
    for user in users:
        further = rng if rng.random() < 0.1 else None
        count, wrong = check_user(client, shared.model, user, rng.choice((37, 100, 100, 100)), further)
        total += count
        wrong = wrong or check_members(client, shared, user) or seen.viewed(client, user) or seen.user(client, user)
        if wrong:
            shared.fail(wrong)
    if wrong := seen.whole(client, rng):
        shared.fail(wrong)
    check_contents(client, shared, seen)
    return total


def check_members(client: Client, shared: Shared, user: int) -> str | None:
    """Whom the user follows, and who follows the user."""
    for side, right in (("following", shared.model.followees.get(user, set())), ("followers", shared.model.followers(user))):
        found = members(client, f"/v1/users/{user}/{side}")
        if len(found) != len(right) or set(found) != right:
            return f"{side} of {user}: {sorted(right - set(found))} missing, {sorted(set(found) - right)} too many, {found}"
    return None


def check_contents(client: Client, shared: Shared, seen: Seen) -> None:
    """All live items: texts as published or as last edited, counts and authors."""
    live = sorted(shared.model.items)
    for first in range(0, len(live), 100):
        ids = live[first : first + 100]
        found = client.get("/v1/content?ids=" + ",".join(map(str, ids)))["items"]
        texts = {int(body["content_id"]): body["text"] for body in found}
        for content_id in ids:
            if texts.get(content_id) != shared.texts[content_id]:
                shared.fail(f"content {content_id}: text {shared.texts[content_id]!r} expected, got {texts.get(content_id)!r}")
        for body in found:
            if wrong := seen.content(client, body):
                shared.fail(wrong)
