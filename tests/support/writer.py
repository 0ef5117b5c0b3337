"""Concurrent changes by owners that never get in each other's way, so that one model holds for all."""

import random
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .change import Change, Shared
from .client import Answer, Client, Lost, Unexpected, item_of
from .model import Facts
from .social import TOPICS, Social

# Live posts of one writer, about; more would only make the comparisons slow.
ENOUGH = 120


class Writer(Social):
    """Changes the users and the items that it owns."""

    def __init__(self, shared: Shared, number: int, owned: Sequence[int], everybody: Sequence[int], rng: random.Random):
        self.shared = shared
        self.model = shared.model
        self.owned = owned
        self.everybody = everybody
        self.rng = rng
        self.next_id = 1_000_000 * (number + 1)
        self.live: list[int] = []
        self.gone: list[int] = []  # what it has deleted and not restored
        self.acknowledged = 0
        self.scrolls = 0
        self.pending: Change | None = None
        self.just_changed: int | None = None  # whom this writer owns

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
                change.apply(answer)
                self.acknowledged += 1
                self.pending = None
                if self.just_changed is not None and self.rng.random() < 0.2:
                    self.scrolls += 1
                    self.shared.scroll(client, self.just_changed, self.rng.choice((3, 20, 100)))
                self.just_changed = None
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
            (
                self.publish, self.publish, self.publish_some, self.publish_unnamed,
                self.follow, self.follow, self.follow_some, self.delete, self.patch,
                self.comment, self.comment, *self.social(),
            )
        )

    def resolve(self, client: Client) -> None:
        """Finds out, after a restart, whether the change that got no answer was carried out."""
        change, self.pending = self.pending, None
        self.just_changed = None
        if change is not None:
            change.resolve(client)

    def draft(self) -> dict[str, object]:
        """With an id of this writer; mostly with one of few times, so that many are equal, else now. Some have topics,
        some repost an item of this writer's."""
        self.next_id += 1
        author = self.rng.choice(self.owned)
        self.shared.begun[self.next_id] = author
        body = {"content_id": self.next_id, "author_id": author, "text": f"text of {self.next_id}"}
        if self.rng.random() < 0.7:
            body["published_at"] = self.rng.randint(1, 400)
        if self.rng.random() < 0.4:
            body["topics"] = self.rng.sample(TOPICS, self.rng.randint(1, 2))
        if self.live and self.rng.random() < 0.2:
            body |= {"kind": "repost", "ref_id": self.rng.choice(self.live)}
        return body

    def published(self, *contents: dict[str, Any]) -> None:
        """Takes over what was published, as the server shows it."""
        for content in contents:
            item = item_of(content)
            self.shared.texts[item[1]] = content["text"]
            self.model.publish(item, facts_of(content))
            self.live.append(item[1])

    def check(self, body: dict[str, Any], found: dict[str, Any]) -> None:
        """What is shown is what was sent."""
        at = body.get("published_at", found["published_at"])
        right = (at, body["content_id"], body["author_id"]) == item_of(found) and found["text"] == body["text"]
        if not right or facts_of(found) != facts_of(body):
            raise Unexpected(f"published {body}, got {found}")

    def publish(self) -> Change:
        body = self.draft()
        return self.send("/v1/content", body, body)

    def comment(self) -> Change | None:
        if not self.live:
            return None
        on = self.rng.choice(self.live)
        body = self.draft()
        for field in ("kind", "ref_id"):
            body.pop(field, None)
        if self.rng.random() < 0.4:
            body["broadcast"] = True
        else:
            self.shared.quiet.add(self.next_id)
        whole = {"broadcast": False} | body | {"kind": "comment", "ref_id": on}
        return self.send(f"/v1/content/{on}/comments", body, whole)

    def send(self, path: str, body: dict[str, Any], whole: dict[str, Any]) -> Change:
        """Publishes one item; `whole` has what the path adds to the body."""

        def same(answer: Answer) -> bool:
            if answer.status not in (200, 201):
                return False
            self.check(whole, answer.body)
            self.published(answer.body)
            return True

        def resolve(client: Client) -> None:
            if self.rng.random() < 0.5:
                same(client.call("GET", f"/v1/content/{body['content_id']}"))
            # What a careful host does: send it again. It exists afterwards either way.
            elif not same(client.call("POST", path, body)):
                raise Unexpected(f"publishing {body} at {path} again")

        return Change("POST", path, body, (201,), same, resolve)

    def publish_unnamed(self) -> Change:
        """With an id that the server makes. Whether it was carried out shows on the author's own page."""
        author, text = self.rng.choice(self.owned), f"unnamed {self.rng.random()}"

        def apply(answer: Answer) -> None:
            if (answer.body["author_id"], answer.body["text"]) != (str(author), text):
                raise Unexpected(f"published {text!r} by {author}, got {answer.body}")
            self.published(answer.body)

        def resolve(client: Client) -> None:
            items = client.get(f"/v1/users/{author}/content?limit=10")["items"]
            self.published(*(item for item in items if item["text"] == text))

        return Change("POST", "/v1/content", {"author_id": author, "text": text}, (201,), apply, resolve)

    def publish_some(self) -> Change:
        drafts = [self.draft() for _ in range(self.rng.randint(2, 12))]

        def take(found: list[dict[str, Any]]) -> None:
            if len(found) != len(drafts):
                raise Unexpected(f"a batch of {len(drafts)} posts was done in part: {found}")
            for draft, item in zip(drafts, found):
                self.check(draft, item)
            self.published(*found)

        def resolve(client: Client) -> None:
            found = client.get("/v1/content?ids=" + ",".join(str(draft["content_id"]) for draft in drafts))["items"]
            if found:
                take(found)

        def apply(answer: Answer) -> None:
            take(answer.body["items"])

        return Change("POST", "/v1/content/batch", {"items": drafts}, (200, 201), apply, resolve)

    def delete(self) -> Change | None:
        if not self.live:
            return None
        content_id = self.live.pop(self.rng.randrange(len(self.live)))
        self.shared.deleting.add(content_id)
        path = f"/v1/content/{content_id}"

        def apply(_: Answer | None = None) -> None:
            self.model.delete(content_id)
            self.gone.append(content_id)
            self.shared.deleted = [*self.shared.deleted[-50:], content_id]

        def resolve(client: Client) -> None:
            if client.call("GET", path).status == 404:
                apply()
            else:
                self.live.append(content_id)

        return Change("DELETE", path, None, (204,), apply, resolve)

    def patch(self) -> Change | None:
        if not self.live:
            return None
        content_id = self.rng.choice(self.live)
        path, text = f"/v1/content/{content_id}", f"edit {self.rng.random()} of {content_id}"

        def apply(_: Answer | None = None) -> None:
            self.shared.texts[content_id] = text

        def resolve(client: Client) -> None:
            if client.get(path)["text"] == text:
                apply()

        return Change("PATCH", path, {"text": text}, (200,), apply, resolve)

    def follow(self) -> Change:
        """A follow, or an unfollow of somebody who is followed."""
        user = self.rng.choice(self.owned)
        target = self.rng.choice([other for other in self.everybody if other != user])
        wanted = target not in self.model.followees.get(user, ())
        path = f"/v1/users/{user}/following/{target}"
        apply, resolve = self.relate(user, [target] if wanted else [], [] if wanted else [target])
        return Change("PUT" if wanted else "DELETE", path, None, (200,), apply, resolve)

    def follow_some(self) -> Change:
        user = self.rng.choice(self.owned)
        targets = self.rng.sample([other for other in self.everybody if other != user], 8)
        followees = self.model.followees.get(user, set())
        follow = [target for target in targets if target not in followees]
        unfollow = [target for target in targets if target in followees]
        apply, resolve = self.relate(user, follow, unfollow)
        path = f"/v1/users/{user}/following/batch"
        return Change("POST", path, {"follow": follow, "unfollow": unfollow}, (200,), apply, resolve)

    def relate(self, user: int, follow: list[int], unfollow: list[int]) -> tuple[Callable[..., None], Callable[[Client], None]]:
        self.just_changed = user

        def apply(_: Answer | None = None) -> None:
            for target in follow:
                self.model.follow(user, target)
            for target in unfollow:
                self.model.unfollow(user, target)

        def resolve(client: Client) -> None:
            targets = ",".join(map(str, follow + unfollow))
            relations = client.get(f"/v1/users/{user}/relations?targets={targets}")["items"]
            follows = [relation["relation"] in ("following", "mutual") for relation in relations]
            done = [True] * len(follow) + [False] * len(unfollow)
            if follows == done:
                apply()
            elif follows != [not each for each in done]:
                raise Unexpected(f"follow {follow} and unfollow {unfollow} of {user} was done in part: {relations}")

        return apply, resolve


def facts_of(content: dict[str, Any]) -> Facts:
    """Of a content object, or of what was sent for one."""
    ref_id = content.get("ref_id")
    topics = tuple(content.get("topics", ()))
    return Facts(content.get("kind", "post"), ref_id and int(ref_id), topics, content.get("broadcast", True))
