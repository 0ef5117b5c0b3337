"""Concurrent changes by owners that never get in each other's way, so that one model holds for all."""

import http.client
import random
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .client import Client, Item, Unexpected, item_of
from .model import Model

Lost = (OSError, http.client.HTTPException)

# Live posts of one writer, about; more would only make the comparisons slow.
ENOUGH = 120


class Change(NamedTuple):
    """One request that changes something."""

    method: str
    path: str
    body: object
    statuses: tuple[int, ...]
    apply: Callable[[], None]  # to the model, once it is known to have happened
    happened: Callable[[Client], bool]  # asked after a crash, when no answer had come


class Shared:
    """What writers and readers know together. No two threads write about the same user or item."""

    def __init__(self, model: Model):
        self.model = model
        self.begun: dict[int, Item] = {}  # every publish that was ever sent
        self.deleting: set[int] = set()  # every delete that was ever sent
        self.texts: dict[int, str] = {}
        self.wrong: list[str] = []

    def fail(self, text: str) -> None:
        """Notes something that must not be."""
        self.wrong.append(text)
        print(f"WRONG {text}", flush=True)


class Writer:
    """Changes the follows of the users and the posts of the authors that it owns."""

    def __init__(self, shared: Shared, number: int, owned: Sequence[int], everybody: Sequence[int], rng: random.Random):
        self.shared = shared
        self.model = shared.model
        self.owned = owned
        self.everybody = everybody
        self.rng = rng
        self.next_id = 1_000_000 * (number + 1)
        self.live: list[int] = []
        self.acknowledged = 0
        self.pending: Change | None = None

    def run(self, address: tuple[str, int], stop: threading.Event) -> None:
        """Makes changes until told to stop or until the server is gone."""
        client = Client(address)
        try:
            while not stop.is_set():
                self.pending = change = self.choose()()
                if change is None:
                    continue
                answer = client.call(change.method, change.path, change.body)
                if answer.status not in change.statuses:
                    raise Unexpected(f"{change.method} {change.path} {change.body}: {answer.status} {answer.body}")
                change.apply()
                self.acknowledged += 1
                self.pending = None
        except Unexpected as error:
            self.shared.fail(str(error))
        except Lost:
            pass
        finally:
            client.close()

    def choose(self) -> Callable[[], Change | None]:
        if len(self.live) > ENOUGH and self.rng.random() < 0.7:
            return self.delete
        return self.rng.choice(
            (self.publish, self.publish, self.publish_some, self.follow, self.follow_some, self.delete, self.patch)
        )

    def resolve(self, client: Client) -> None:
        """Finds out, after a restart, whether the change that got no answer was carried out."""
        change, self.pending = self.pending, None
        if change is not None and change.happened(client):
            change.apply()

    def draft(self) -> tuple[dict[str, object], Item]:
        self.next_id += 1
        # Few different times, so that many are equal.
        item = (self.rng.randint(1, 400), self.next_id, self.rng.choice(self.owned))
        self.shared.begun[item[1]] = item
        self.shared.texts[item[1]] = f"text of {item[1]}"
        body = {"content_id": item[1], "author_id": item[2], "published_at": item[0], "text": f"text of {item[1]}"}
        return body, item

    def published(self, *items: Item) -> None:
        for item in items:
            self.model.publish(item)
            self.live.append(item[1])

    def publish(self) -> Change:
        body, item = self.draft()

        def happened(client: Client) -> bool:
            if self.rng.random() < 0.5:
                return client.call("GET", f"/v1/content/{item[1]}").status == 200
            # What a careful host does: send it again. It exists afterwards either way.
            answer = client.call("POST", "/v1/content", body)
            if answer.status not in (200, 201) or item_of(answer.body) != item:
                raise Unexpected(f"publishing {body} again: {answer.status} {answer.body}")
            return True

        return Change("POST", "/v1/content", body, (201,), lambda: self.published(item), happened)

    def publish_some(self) -> Change:
        drafts = [self.draft() for _ in range(self.rng.randint(2, 12))]
        items = [item for _, item in drafts]

        def happened(client: Client) -> bool:
            found = client.get("/v1/content?ids=" + ",".join(str(item[1]) for item in items))["items"]
            if found and len(found) != len(items):
                raise Unexpected(f"a batch of {len(items)} posts was done in part: {len(found)}")
            return bool(found)

        body = {"items": [body for body, _ in drafts]}
        return Change("POST", "/v1/content/batch", body, (200, 201), lambda: self.published(*items), happened)

    def delete(self) -> Change | None:
        if not self.live:
            return None
        content_id = self.live.pop(self.rng.randrange(len(self.live)))
        self.shared.deleting.add(content_id)
        path = f"/v1/content/{content_id}"

        def apply() -> None:
            self.model.delete(content_id)

        def happened(client: Client) -> bool:
            gone = client.call("GET", path).status == 404
            if not gone:
                self.live.append(content_id)
            return gone

        return Change("DELETE", path, None, (204,), apply, happened)

    def patch(self) -> Change | None:
        if not self.live:
            return None
        content_id = self.rng.choice(self.live)
        path, text = f"/v1/content/{content_id}", f"edit {self.rng.random()} of {content_id}"

        def apply() -> None:
            self.shared.texts[content_id] = text

        def happened(client: Client) -> bool:
            return client.get(path)["text"] == text

        return Change("PATCH", path, {"text": text}, (200,), apply, happened)

    def follow(self) -> Change:
        """A follow, or an unfollow of somebody who is followed."""
        user = self.rng.choice(self.owned)
        target = self.rng.choice([other for other in self.everybody if other != user])
        wanted = target not in self.model.followees.get(user, ())
        path = f"/v1/users/{user}/following/{target}"
        apply, happened = self.relate(user, [target] if wanted else [], [] if wanted else [target])
        return Change("PUT" if wanted else "DELETE", path, None, (200,), apply, happened)

    def follow_some(self) -> Change:
        user = self.rng.choice(self.owned)
        targets = self.rng.sample([other for other in self.everybody if other != user], 8)
        followees = self.model.followees.get(user, set())
        follow = [target for target in targets if target not in followees]
        unfollow = [target for target in targets if target in followees]
        apply, happened = self.relate(user, follow, unfollow)
        return Change("POST", f"/v1/users/{user}/following/batch", {"follow": follow, "unfollow": unfollow}, (200,), apply, happened)

    def relate(self, user: int, follow: list[int], unfollow: list[int]) -> tuple[Callable[[], None], Callable[[Client], bool]]:
        def apply() -> None:
            for target in follow:
                self.model.follow(user, target)
            for target in unfollow:
                self.model.unfollow(user, target)

        def happened(client: Client) -> bool:
            targets = ",".join(map(str, follow + unfollow))
            relations = client.get(f"/v1/users/{user}/relations?targets={targets}")["items"]
            follows = [relation["relation"] in ("following", "mutual") for relation in relations]
            done = [True] * len(follow) + [False] * len(unfollow)
            if follows == done:
                return True
            if follows == [not each for each in done]:
                return False
            raise Unexpected(f"follow {follow} and unfollow {unfollow} of {user} was done in part: {relations}")

        return apply, happened


class Reader:
    """Scrolls while others write: nothing twice, nothing left out that was there all the time."""

    def __init__(self, shared: Shared, viewers: Sequence[int], rng: random.Random):
        self.shared = shared
        self.viewers = viewers
        self.rng = rng
        self.scrolls = 0

    def run(self, address: tuple[str, int], stop: threading.Event) -> None:
        """Scrolls the timelines of viewers whose follows nobody changes."""
        client = Client(address)
        try:
            while not stop.is_set():
                self.scroll(client, self.rng.choice(self.viewers))
        except Unexpected as error:
            self.shared.fail(str(error))
        except Lost:
            pass
        finally:
            client.close()

    def scroll(self, client: Client, viewer: int) -> None:
        posts = self.shared.model.posts
        there = {item for author in self.shared.model.followees[viewer] for item in posts.get(author, [])[:]}
        seen: list[Item] = []
        before, limit = None, self.rng.choice((3, 10, 37))
        while True:
            page = client.page(f"/v1/users/{viewer}/timeline", limit=limit, before=before)
            seen += page.items
            if page.next is None:
                break
            before = page.next
        self.scrolls += 1
        if any(older >= newer for newer, older in zip(seen, seen[1:])):
            raise Unexpected(f"timeline of {viewer}: repeated or out of order while others write")
        unknown = [item for item in seen if self.shared.begun.get(item[1]) != item]
        lost = [item for item in there - set(seen) if item[1] not in self.shared.deleting]
        if unknown or lost:
            raise Unexpected(f"timeline of {viewer} while others write: {lost[:5]} left out, {unknown[:5]} never published")
