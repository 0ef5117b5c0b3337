"""Every list of every user and of every topic against the model, and every text and count."""

import random
from collections.abc import Callable
from urllib.parse import quote

from .client import Client, members
from .compare import List
from .ids import Id, host_id, listed, quoted
from .prefix import rules_of
from .shared import Shared
from .workers import check_user
from .writer import TOPICS, members_of


def compare_all(client: Client, shared: Shared, users: list[Id], rng: random.Random, topic_limit: int) -> int:
    """Notes what is wrong; how many items there were in all timelines."""
    total = 0
    for user in users:
        further = rng if rng.random() < 0.1 else None
        count, wrong = check_user(client, shared.model, user, rng.choice((37, 100, 100, 100)), further)
        total += count
        wrong = wrong or check_members(client, shared, user) or check_lists(client, shared, user, rng)
        wrong = wrong or check_sight(client, shared, user, rng.choice(users), topic_limit if further else None)
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
    shown = List(client, f"/v1/topics/{quote(name, safe='')}/content", shared.model.topic(name, limit), rng.choice((3, 37, 100)))
    return shown.descending() or shown.ascending() or shown.jumps(rng, 2)


def check_members(client: Client, shared: Shared, user: Id) -> str | None:
    """Every list of users around one, and what is counted of the user."""
    model = shared.model
    sides = {
        "following": model.followees.get(user, set()), "followers": model.followers(user), "friends": model.friends(user),
        "mutes": model.mutes.get(user, set()), "hidden-from": model.hides.get(user, set()),
        "blocks": model.blocks.get(user, set()), "sent-requests": model.requests.get(user, set()),
        "follow-requests": {other for other, targets in model.requests.items() if user in targets},
    }
    for side, right in sides.items():
        found = members(client, f"/v1/users/{quoted(user)}/{side}")
        if len(found) != len(right) or set(found) != right:
            return f"{side} of {user}: {sorted(right - set(found))} missing, {sorted(set(found) - right)} too many, {found}"
    counts = client.get(f"/v1/users/{quoted(user)}")["counts"]
    wanted = {side: len(sides[side]) for side in ("following", "followers", "friends")} | {"content": len(model.posts.get(user, ()))}
    if counts != wanted:
        return f"counts of {user}: {wanted} expected, got {counts}"
    of_user = sorted(sides["following"] | sides["sent-requests"])
    rules = {target: rule for target, rule in rules_of(client, user, of_user).items() if rule}
    wanted = {target: rule for target in of_user if (rule := model.rules.get((user, target)))}
    return None if rules == wanted else f"rules of {user}: {wanted} expected, got {rules}"


def check_lists(client: Client, shared: Shared, user: Id, rng: random.Random) -> str | None:
    """Each list of a user with its members, its timeline and what is unread."""
    model, path = shared.model, f"/v1/users/{quoted(user)}"
    lists = model.lists.get(user, {})
    found = {item["list"]: item["exclusive"] for item in client.get(f"{path}/lists")["items"]}
    if found != {name: each.exclusive for name, each in lists.items()}:
        return f"lists of {user}: {found}"
    unread = {"timeline": model.timeline(user)}
    for name, each in lists.items():
        of_list = f"{path}/lists/{quote(name, safe='')}"
        members_found = members_of(client, of_list)
        if members_found != each.members:
            return f"members of {name} of {user}: {each.members} expected, got {members_found}"
        expected = model.list_timeline(user, name)
        if wrong := List(client, f"{of_list}/timeline", expected, rng.choice((3, 37, 100))).descending():
            return wrong
        unread[f"lists/{quote(name, safe='')}"] = expected
    for what, expected in unread.items():
        # Nobody moves a marker.
        count = client.get(f"{path}/{what}/unread")
        if count != {"count": min(len(expected), 1000), "capped": len(expected) > 1000}:
            return f"{what} of {user}: {len(expected)} unread expected, got {count}"
    return None


def check_sight(client: Client, shared: Shared, user: Id, viewer: Id, topic_limit: int | None) -> str | None:
    """The own page as another user sees it; with a limit also the topics, and kinds of the timeline."""
    model, by = shared.model, {"viewer": str(viewer)}
    wrong = List(client, f"/v1/users/{quoted(user)}/content", model.own_page(user, viewer), 37, **by).descending()
    if topic_limit is None or wrong:
        return wrong
    for name in TOPICS:
        expected = model.topic(name, topic_limit, viewer)
        wrong = wrong or List(client, f"/v1/topics/{quote(name, safe='')}/content", expected, 37, **by).descending()
    kinds = {"kinds": "post,repost"}, {"except_kinds": "post"}
    for rule in kinds:
        shown = admits_of(rule)
        expected = [item for item in model.timeline(user) if shown(model.kind(item[1]))]
        wrong = wrong or List(client, f"/v1/users/{quoted(user)}/timeline", expected, 37, **rule).descending()
    return wrong


def admits_of(query: dict[str, str]) -> Callable[[str], bool]:
    """What a query asks for."""
    (name, kinds), = query.items()
    return lambda kind: (kind in kinds.split(",")) == (name == "kinds")


def check_texts(client: Client, shared: Shared) -> None:
    """The texts of all live items, as published or as last edited, and what is counted of them."""
    live = sorted(item for item, (_, _, author) in shared.model.items.items() if author not in shared.model.suspended)
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
