"""What people do with items and with each other: restores, reactions, mutes, profiles, markers."""

import random
from collections.abc import Callable, Sequence

from .change import Change, Shared
from .client import Answer, Client, Unexpected
from .model import Model

KINDS = ("like", "favorite")
TOPICS = ("rust", "tea", "a b", "ü/ñ")


class Social:
    """The changes of a writer that are about what there is already. It touches its own users and items only, so
    that what the model says about them is what must be there."""

    model: Model
    shared: Shared
    rng: random.Random
    owned: Sequence[int]
    live: list[int]
    gone: list[int]
    just_changed: int | None

    def social(self) -> tuple[Callable[[], Change | None], ...]:
        """All of them, more of what hosts do more often."""
        return self.react, self.react, self.restore, self.mute, self.hide, self.profile, self.read_to

    def restore(self) -> Change | None:
        if not self.gone:
            return None
        content_id = self.gone.pop(self.rng.randrange(len(self.gone)))
        self.shared.restoring.add(content_id)
        path = f"/v1/content/{content_id}"

        def apply(_: Answer | None = None) -> None:
            self.model.restore(content_id)
            self.live.append(content_id)

        def resolve(client: Client) -> None:
            if client.call("GET", path).status == 200:
                apply()
            else:
                self.gone.append(content_id)

        return Change("POST", f"{path}/restore", None, (200,), apply, resolve)

    def toggle(self, path: str, listed: str, who: set[int], user: int, meant: int | None = None) -> Change:
        """Puts a user into a set that the server lists at `listed`, or takes it out. Now and then for the second time."""
        there = user in who
        wanted = there if self.rng.random() < 0.1 else not there
        mark = who.add if wanted else who.discard
        self.just_changed = meant

        def apply(_: Answer | None = None) -> None:
            mark(user)

        def resolve(client: Client) -> None:
            if user in members(client, listed):
                who.add(user)
            else:
                who.discard(user)
            if (user in who) not in (there, wanted):
                raise Unexpected(f"{path}: neither as before nor as asked")

        return Change("PUT" if wanted else "DELETE", path, None, (200,), apply, resolve)

    def react(self) -> Change | None:
        if not self.live:
            return None
        kind, content_id, user = self.rng.choice(KINDS), self.rng.choice(self.live), self.rng.choice(self.owned)
        listed = f"/v1/content/{content_id}/reactions/{kind}"
        return self.toggle(f"{listed}/{user}", listed, self.model.reactions.setdefault((kind, content_id), set()), user)

    def mute(self) -> Change:
        user, target = self.rng.sample(self.owned, 2)
        listed = f"/v1/users/{user}/mutes"
        return self.toggle(f"{listed}/{target}", listed, self.model.mutes.setdefault(user, set()), target, user)

    def hide(self) -> Change:
        user, target = self.rng.sample(self.owned, 2)
        listed = f"/v1/users/{user}/hidden-from"
        return self.toggle(f"{listed}/{target}", listed, self.model.hidden.setdefault(user, set()), target, target)

    def profile(self) -> Change:
        user, number = self.rng.choice(self.owned), self.rng.random()
        path = f"/v1/users/{user}"
        body = {"nickname": f"user {number}", "avatar": self.rng.choice((None, f"/{number}")), "extra": {"number": number}}

        def apply(_: Answer | None = None) -> None:
            self.model.profiles[user] = body

        def resolve(client: Client) -> None:
            if client.get(path)["nickname"] == body["nickname"]:
                apply()

        return Change("PUT", path, body, (200,), apply, resolve)

    def read_to(self) -> Change:
        user = self.rng.choice(self.owned)
        path = f"/v1/users/{user}/marker"
        at, content_id, _ = self.model.items[self.rng.choice(self.live)] if self.live else (1, 1, 1)
        before = self.model.markers.get(user)
        after = max(before or (0, 0), (at, content_id))
        texts = {None if place is None else "{}-{}".format(*place): place for place in (before, after)}

        def apply(_: Answer | None = None) -> None:
            self.model.markers[user] = after

        def resolve(client: Client) -> None:
            found = client.get(path)["cursor"]
            if found not in texts:
                raise Unexpected(f"marker of {user}: {found}, neither {before} nor {after}")
            if texts[found] is not None:
                self.model.markers[user] = texts[found]

        return Change("PUT", path, {"cursor": f"{at}-{content_id}"}, (200,), apply, resolve)


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
        raise Unexpected(f"{path}: out of order, or somebody twice: {found}")
    return [user for _, user in found]
