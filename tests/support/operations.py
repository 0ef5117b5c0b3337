"""Random changes through the API, tracked in the model as they are acknowledged."""

import random
from collections import Counter
from collections.abc import Sequence

from .client import Client, Item, Unexpected, cursor, item_of
from .compare import difference
from .model import Facts, Model


class Operations:
    """Makes changes one after the other over several connections, and looks at some at once."""

    def __init__(self, model: Model, clients: Sequence[Client], rng: random.Random):
        self.model = model
        self.clients = clients
        self.rng = rng
        self.users = model.users() or [1]
        self.followers_of_something = [user for user, followees in model.followees.items() if followees] or self.users
        self.known = list(model.items)
        times = [item[0] for item in model.items.values()]
        self.times = (min(times), max(times)) if times else (1, 10**12)
        self.next_id = max(self.known, default=0) + 1
        self.affected: set[int] = set()
        self.counts: Counter[str] = Counter()

    def run(self, count: int) -> None:
        """Makes that many changes; every fifth is looked for at once."""
        kinds = [
            (self.publish, 40), (self.follow, 20), (self.unfollow, 15), (self.delete, 15), (self.patch, 10),
            (self.restore, 8), (self.comment, 8), (self.mute, 5), (self.hide, 5),
        ]
        names, weights = zip(*kinds)
        for number in range(count):
            change = self.rng.choices(names, weights)[0]
            self.counts[change.__name__] += 1
            seen_by = change(self.clients[number % len(self.clients)])
            if seen_by and number % 5 == 0:
                # Over another connection than the change, too.
                self.look(self.clients[(number + 1) % len(self.clients)], *seen_by)

    def look(self, client: Client, user: int, item: Item | None) -> None:
        """A read after the 2xx sees the change: the page of the timeline around the item."""
        expected = self.model.timeline(user)
        before = None if item is None else f"{item[0]}-{item[1] + 2}"
        if item is not None:
            expected = [it for it in expected if it[:2] < (item[0], item[1] + 2)]
        page = client.page(f"/v1/users/{user}/timeline", limit=20, before=before)
        wrong = difference(f"timeline of {user} right after a change", expected[:20], page.items)
        self.counts["looked at once"] += 1
        if wrong:
            raise Unexpected(wrong)

    def expect(self, client: Client, status: int, method: str, path: str, body: object = None, code: str | None = None):
        """The body of the answer that there must be."""
        answer = client.call(method, path, body)
        if answer.status != status or (code and answer.body["code"] != code):
            raise Unexpected(f"{method} {path} {body}: expected {status} {code or ''}, got {answer.status} {answer.body}")
        return answer.body

    def follow(self, client: Client) -> tuple[int, Item | None]:
        user = self.rng.choice(self.followers_of_something)
        target = self.rng.choice(self.users)
        path = f"/v1/users/{user}/following/{target}"
        if user == target:
            self.expect(client, 422, "PUT", path, code="self_follow")
        elif self.model.follow(user, target):
            relation = self.expect(client, 200, "PUT", path)
            if relation["relation"] not in ("following", "mutual"):
                raise Unexpected(f"PUT {path}: {relation}")
            self.affected.add(user)
        else:
            self.expect(client, 422, "PUT", path, code="follow_limit")
        return user, None

    def unfollow(self, client: Client) -> tuple[int, Item | None]:
        user = self.rng.choice(self.followers_of_something)
        followees = self.model.followees.get(user) or self.users
        target = self.rng.choice(sorted(followees))
        self.expect(client, 200, "DELETE", f"/v1/users/{user}/following/{target}")
        self.model.unfollow(user, target)
        self.affected.add(user)
        return user, None

    def publish(self, client: Client) -> tuple[int, Item | None] | None:
        author = self.author()
        body: dict[str, object] = {"author_id": author, "text": f"number {self.next_id}"}
        given = self.rng.random()
        if given < 0.6:
            body["content_id"] = self.rng.choice((str, int))(self.next_id)
            self.next_id += 1
        if given < 0.3:
            body["published_at"] = self.rng.randint(*self.times)
        elif given < 0.4 and (tie := self.model.items.get(self.rng.choice(self.known or [0]))):
            body["published_at"] = tie[0]
        item = item_of(self.expect(client, 201, "POST", "/v1/content", body))
        asked = (int(body.get("published_at", item[0])), int(body.get("content_id", item[1])), author)
        if item != asked:
            raise Unexpected(f"published {asked}, got {item}")
        self.model.publish(item)
        self.known.append(item[1])
        return self.touched(author, item)

    def delete(self, client: Client) -> tuple[int, Item | None] | None:
        content_id = self.rng.choice(self.known or [1])
        path = f"/v1/content/{content_id}"
        if content_id not in self.model.items:
            self.expect(client, 404, "DELETE", path)
            return None
        self.expect(client, 204, "DELETE", path)
        item = self.model.delete(content_id)
        return self.touched(item[2], item)

    def restore(self, client: Client) -> tuple[int, Item | None] | None:
        """Of a deleted item, or of a live one, which changes nothing."""
        content_id = self.rng.choice(sorted(self.model.deleted) or self.known or [1])
        path = f"/v1/content/{content_id}/restore"
        if content_id not in self.model.deleted and content_id not in self.model.items:
            self.expect(client, 404, "POST", path)
            return None
        item = item_of(self.expect(client, 200, "POST", path))
        known = self.model.items.get(content_id) or self.model.restore(content_id)
        if item != known:
            raise Unexpected(f"POST {path}: {known} expected, got {item}")
        return self.touched(item[2], item)

    def comment(self, client: Client) -> tuple[int, Item | None] | None:
        """In no timeline unless asked for, and counted once."""
        subject = self.rng.choice(self.known or [1])
        path, author = f"/v1/content/{subject}/comments", self.author()
        body = {"author_id": author, "text": "a comment", "broadcast": self.rng.random() < 0.5}
        if subject not in self.model.items:
            self.expect(client, 404, "POST", path, body)
            return None
        before = client.get(f"/v1/content/{subject}")["counts"]["comments"]
        item = item_of(self.expect(client, 201, "POST", path, body))
        if client.get(f"/v1/content/{subject}")["counts"]["comments"] != before + 1:
            raise Unexpected(f"POST {path}: not counted")
        self.model.publish(item, Facts("comment", subject, (), bool(body["broadcast"])))
        self.known.append(item[1])
        return self.touched(author, item) if body["broadcast"] else None

    def mute(self, client: Client) -> tuple[int, Item | None]:
        """Or the end of a mute."""
        user = self.rng.choice(self.followers_of_something)
        return self.turn(client, self.model.mutes, user, f"/v1/users/{user}/mutes", user)

    def hide(self, client: Client) -> tuple[int, Item | None]:
        """From a follower, or the end of that."""
        user = self.author()
        reader = self.rng.choice(sorted(self.model.followers(user)) or self.users)
        return self.turn(client, self.model.hidden, user, f"/v1/users/{user}/hidden-from", reader, reader)

    def turn(self, client: Client, side: dict[int, set[int]], user: int, path: str, seen_by: int, target: int | None = None):
        """On what is off, and off what is on; who sees it."""
        if target is None:
            target = self.rng.choice(sorted(self.model.followees.get(user) or self.users))
        targets = side.setdefault(user, set())
        if user == target:
            self.expect(client, 422, "PUT", f"{path}/{target}")
        elif target in targets:
            self.expect(client, 200, "DELETE", f"{path}/{target}")
            targets.discard(target)
        else:
            self.expect(client, 200, "PUT", f"{path}/{target}")
            targets.add(target)
        self.affected.add(seen_by)
        return seen_by, None

    def patch(self, client: Client) -> tuple[int, Item | None] | None:
        content_id = self.rng.choice(self.known or [1])
        path = f"/v1/content/{content_id}"
        item = self.model.items.get(content_id)
        text = f"edited {self.rng.random()}"
        if item is None:
            self.expect(client, 404, "PATCH", path, {"text": text})
            return None
        for body in (self.expect(client, 200, "PATCH", path, {"text": text}), client.get(path)):
            if item_of(body) != item or body["text"] != text or not body.get("edited_at"):
                raise Unexpected(f"PATCH {path}: place {cursor(item)} and text {text!r} expected, got {body}")
        return self.touched(item[2], item)

    def author(self) -> int:
        """Mostly somebody whom somebody follows."""
        followees = self.model.followees.get(self.rng.choice(self.followers_of_something))
        return self.rng.choice(sorted(followees)) if followees and self.rng.random() < 0.9 else self.rng.choice(self.users)

    def touched(self, author: int, item: Item) -> tuple[int, Item | None] | None:
        """Remembers whose lists an item is, or was, in; one of them, if any."""
        followers = sorted(self.model.followers(author))
        readers = self.rng.sample(followers, min(len(followers), 10))
        self.affected.update([author, *readers])
        return (readers[0], item) if readers else None
