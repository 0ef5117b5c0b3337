"""Random changes through the API, tracked in the model as they are acknowledged."""

import random
from collections import Counter
from collections.abc import Sequence

from .client import Client, Item, Unexpected, cursor, item_of
from .compare import difference
from .ids import Id, Name, host_id, in_order, new_uuid, quoted
from .model import Model


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
        # New items have ids as the users have.
        self.named = isinstance(self.users[0], Name)
        self.next_id = max((item for item in self.known if not isinstance(item, Name)), default=0) + 1
        self.affected: set[Id] = set()
        self.counts: Counter[str] = Counter()

    def run(self, count: int) -> None:
        """Makes that many changes; every fifth is looked for at once."""
        kinds = [(self.publish, 40), (self.follow, 20), (self.unfollow, 15), (self.delete, 15), (self.patch, 10)]
        names, weights = zip(*kinds)
        for number in range(count):
            change = self.rng.choices(names, weights)[0]
            self.counts[change.__name__] += 1
            seen_by = change(self.clients[number % len(self.clients)])
            if seen_by and number % 5 == 0:
                # Over another connection than the change, too.
                self.look(self.clients[(number + 1) % len(self.clients)], *seen_by)

    def look(self, client: Client, user: Id, item: Item | None) -> None:
        """A read after the 2xx sees the change: the page of the timeline around the item."""
        expected = self.model.timeline(user)
        before = None
        if item is not None:
            above = (item[0] + 1, 1) if isinstance(item[1], Name) else (item[0], item[1] + 2)
            before = "{}-{}".format(*above)
            expected = [it for it in expected if it[:2] < above]
        page = client.page(f"/v1/users/{quoted(user)}/timeline", limit=20, before=before)
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

    def follow(self, client: Client) -> tuple[Id, Item | None]:
        user = self.rng.choice(self.followers_of_something)
        target = self.rng.choice(self.users)
        path = f"/v1/users/{quoted(user)}/following/{quoted(target)}"
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

    def unfollow(self, client: Client) -> tuple[Id, Item | None]:
        user = self.rng.choice(self.followers_of_something)
        followees = self.model.followees.get(user) or self.users
        target = self.rng.choice(sorted(followees))
        self.expect(client, 200, "DELETE", f"/v1/users/{quoted(user)}/following/{quoted(target)}")
        self.model.unfollow(user, target)
        self.affected.add(user)
        return user, None

    def publish(self, client: Client) -> tuple[Id, Item | None] | None:
        author = self.author()
        body: dict[str, object] = {"author_id": author, "text": f"number {self.next_id}"}
        given = self.rng.random()
        if given < 0.6:
            body["content_id"] = new_uuid(self.rng) if self.named else self.rng.choice((str, int))(self.next_id)
            self.next_id += 1
        if given < 0.3:
            body["published_at"] = self.rng.randint(*self.times)
        elif given < 0.4 and (tie := self.model.items.get(self.rng.choice(self.known or [0]))):
            body["published_at"] = tie[0]
        item = item_of(self.expect(client, 201, "POST", "/v1/content", body))
        asked = (int(body.get("published_at", item[0])), host_id(str(body.get("content_id", item[1]))), author)
        in_order(asked[1:])
        if item != asked:
            raise Unexpected(f"published {asked}, got {item}")
        self.model.publish(item)
        self.known.append(item[1])
        return self.touched(author, item)

    def delete(self, client: Client) -> tuple[Id, Item | None] | None:
        content_id = self.rng.choice(self.known or [1])
        path = f"/v1/content/{quoted(content_id)}"
        if content_id not in self.model.items:
            self.expect(client, 404, "DELETE", path)
            return None
        self.expect(client, 204, "DELETE", path)
        item = self.model.delete(content_id)
        return self.touched(item[2], item)

    def patch(self, client: Client) -> tuple[Id, Item | None] | None:
        content_id = self.rng.choice(self.known or [1])
        path = f"/v1/content/{quoted(content_id)}"
        item = self.model.items.get(content_id)
        text = f"edited {self.rng.random()}"
        if item is None:
            self.expect(client, 404, "PATCH", path, {"text": text})
            return None
        for body in (self.expect(client, 200, "PATCH", path, {"text": text}), client.get(path)):
            if item_of(body) != item or body["text"] != text or not body.get("edited_at"):
                raise Unexpected(f"PATCH {path}: place {cursor(item)} and text {text!r} expected, got {body}")
        return self.touched(item[2], item)

    def author(self) -> Id:
        """Mostly somebody whom somebody follows."""
        followees = self.model.followees.get(self.rng.choice(self.followers_of_something))
        return self.rng.choice(sorted(followees)) if followees and self.rng.random() < 0.9 else self.rng.choice(self.users)

    def touched(self, author: Id, item: Item) -> tuple[Id, Item | None] | None:
        """Remembers whose lists an item is, or was, in; one of them, if any."""
        followers = sorted(self.model.followers(author))
        readers = self.rng.sample(followers, min(len(followers), 10))
        self.affected.update([author, *readers])
        return (readers[0], item) if readers else None
