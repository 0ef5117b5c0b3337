"""Concurrent changes by owners that never get in each other's way, so that one model holds for all."""

import http.client
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .client import Answer, Client, CutOff, Item, NotMade, Unexpected, item_of, members
from .ids import Id, host_id, listed, make, quoted
from .shared import Place, Shared

Lost = (OSError, http.client.HTTPException)

# Live posts of one writer, about; more would only make the comparisons slow.
ENOUGH = 120
# The last of the times that posts are sent with; any other is one that the server gave.
LATEST = 400
# What about half of all posts name, one or both.
TOPICS = ("tea", "a/é")


class Change(NamedTuple):
    """One request that changes something, and what it means for the model."""

    method: str
    path: str
    body: object
    statuses: tuple[int, ...]
    apply: Callable[[Answer], object]  # with its answer; may be done again on a model that was set back
    resolve: Callable[[Client], None]  # after a crash, when no answer had come: carried out or not, never in part


class Done(NamedTuple):
    """A change that was acknowledged; the seconds before it was sent and after its answer had come."""

    change: Change
    answer: Answer
    begun: float
    ended: float


class Writer:
    """Changes whom the users that it owns see, what they like, and what they publish."""

    def __init__(self, shared: Shared, number: int, owned: Sequence[Id], everybody: Sequence[Id], rng: random.Random):
        self.shared = shared
        self.model = shared.model
        self.owned = owned
        self.everybody = everybody
        self.rng = rng
        self.number = number
        self.next_id = 1_000_000 * (number + 1)
        self.ids = "numbers"  # of new items
        self.live: list[Id] = []
        self.gone: list[Item] = []  # deleted, and not restored
        self.acknowledged = 0
        self.refused = 0  # for now, and not sent again
        self.scrolls = 0
        self.pending: Change | None = None
        self.pending_since = 0.0
        self.above: Place | None = None  # what the server had given last when the change under way began
        self.history: list[Done] = []  # what was acknowledged since the last start of the server
        self.resends = True  # whether a publish without an answer may be sent again
        self.just_changed: Id | None = None  # whom this writer owns

    def work(self, client: Client, stop: threading.Event) -> None:
        """Makes changes over a connection of its own, until told to stop or until one has no answer."""
        try:
            while not stop.is_set():
                self.pending = change = self.choose()()
                if change is None:
                    continue
                try:
                    self.carry_out(client, change)
                except NotMade:
                    self.refused += 1
                    self.just_changed = None
                    continue
                self.pending = None
                if self.just_changed is not None and self.rng.random() < 0.2:
                    self.scrolls += 1
                    self.shared.scroll(client, self.just_changed, self.rng.choice((3, 20, 100)))
                self.just_changed = None
            self.pending = None
        except Unexpected as error:
            self.shared.fail(str(error))
        except CutOff as error:
            self.shared.cut_off.append(str(error))
        except Lost:
            pass
        finally:
            client.close()

    def carry_out(self, client: Client, change: Change) -> None:
        """Makes a change and takes its answer over."""
        self.pending_since = time.monotonic()
        self.above = self.shared.given
        answer = client.call(change.method, change.path, change.body)
        if answer.status not in change.statuses:
            raise Unexpected(f"{change.method} {change.path} {change.body}: {answer.status} {answer.body}")
        change.apply(answer)
        self.above = None
        self.acknowledged += 1
        self.history.append(Done(change, answer, self.pending_since, time.monotonic()))

    def choose(self) -> Callable[[], Change | None]:
        if len(self.live) > ENOUGH and self.rng.random() < 0.7:
            return self.delete
        return self.rng.choice(
            (
                self.publish, self.publish, self.publish_some, self.publish_unnamed, self.publish_ahead,
                self.follow, self.follow, self.follow_some, self.delete, self.patch,
                self.restore, self.mute, self.hide, self.like, self.like,
            )
        )

    def resolve(self, client: Client) -> None:
        """Finds out, after a restart, whether the change that got no answer was carried out."""
        change, self.pending, self.above = self.pending, None, None
        self.history = []
        self.just_changed = None
        if change is not None:
            change.resolve(client)

    def draft(self) -> dict[str, object]:
        """With an id of this writer; mostly with one of few times, so that many are equal, else now."""
        self.next_id += 1
        content_id, author = make(self.ids, self.next_id, self.rng), self.rng.choice(self.owned)
        self.shared.begun[content_id] = author
        self.shared.expect([content_id])
        body = {"content_id": content_id, "author_id": author, "text": f"text of {content_id}"}
        if self.rng.random() < 0.7:
            body["published_at"] = self.rng.randint(1, LATEST)
        if self.rng.random() < 0.5:
            body["topics"] = self.rng.sample(TOPICS, self.rng.randint(1, 2))
            self.model.topics[content_id] = set(body["topics"])
        if self.live and self.rng.random() < 0.3:
            subject = self.rng.choice(self.live)
            body |= {"kind": self.rng.choice(("comment", "repost")), "ref_id": subject}
            self.model.refs[content_id] = (body["kind"], subject)
        return body

    def published(self, *contents: dict[str, Any]) -> None:
        """Takes over what was published, as the server shows it."""
        items = []
        for content in contents:
            item = item_of(content)
            if item[0] > LATEST and self.above is not None:
                self.shared.rose(self.above, item[:2])
                self.shared.given = max(self.shared.given, item[:2])
            self.shared.acknowledge(item[1])
            self.shared.texts[item[1]] = content["text"]
            items.append(item)
        self.model.publish_all(items)
        self.live += [item[1] for item in items]

    def publish(self) -> Change:
        body = self.draft()

        def same(answer: Answer) -> bool:
            if answer.status not in (200, 201):
                return False
            at = body.get("published_at", answer.body["published_at"])
            right = (at, body["content_id"], body["author_id"]) == item_of(answer.body) and answer.body["text"] == body["text"]
            if not right:
                raise Unexpected(f"published {body}, got {answer.body}")
            self.published(answer.body)
            return True

        def resolve(client: Client) -> None:
            if not self.resends or self.rng.random() < 0.5:
                same(client.call("GET", f"/v1/content/{quoted(body['content_id'])}"))
            # What a careful host does: send it again. It exists afterwards either way.
            elif not same(client.call("POST", "/v1/content", body)):
                raise Unexpected(f"publishing {body} again")

        return Change("POST", "/v1/content", body, (201,), same, resolve)

    def publish_unnamed(self, by: Id | None = None) -> Change:
        """With an id that the server makes. Whether it was carried out shows on the author's own page."""
        author, text = by or self.rng.choice(self.owned), f"unnamed {self.rng.random()}"

        def apply(answer: Answer) -> None:
            if (answer.body["author_id"], answer.body["text"]) != (str(author), text):
                raise Unexpected(f"published {text!r} by {author}, got {answer.body}")
            self.published(answer.body)

        def resolve(client: Client) -> None:
            items = client.get(f"/v1/users/{quoted(author)}/content?limit=10")["items"]
            self.published(*(item for item in items if item["text"] == text))

        return Change("POST", "/v1/content", {"author_id": author, "text": text}, (201,), apply, resolve)

    def publish_some(self) -> Change:
        drafts = [self.draft() for _ in range(self.rng.randint(2, 12))]

        def take(found: list[dict[str, Any]]) -> None:
            if [(host_id(item["content_id"]), host_id(item["author_id"]), item["text"]) for item in found] != [
                (draft["content_id"], draft["author_id"], draft["text"]) for draft in drafts
            ]:
                raise Unexpected(f"a batch of {len(drafts)} posts took effect in part, or wrongly: {found}")
            self.published(*found)

        def resolve(client: Client) -> None:
            found = client.get("/v1/content?ids=" + listed(draft["content_id"] for draft in drafts))["items"]
            if found:
                take(found)

        def apply(answer: Answer) -> None:
            take(answer.body["items"])

        return Change("POST", "/v1/content/batch", {"items": drafts}, (200, 201), apply, resolve)

    def publish_ahead(self) -> Change:
        """A batch of which one post has a time in microseconds: it is refused, and nothing of it is ever there."""
        drafts = [self.draft() for _ in range(self.rng.randint(1, 4))]
        self.rng.choice(drafts)["published_at"] = int(1_000_000 * time.time())

        def refused(answer: Answer) -> None:
            if answer.body["code"] != "time_ahead":
                raise Unexpected(f"a batch with a future time: {answer.body}")

        def resolve(client: Client) -> None:
            found = client.get("/v1/content?ids=" + listed(draft["content_id"] for draft in drafts))["items"]
            if found:
                raise Unexpected(f"a refused batch with a future time left {found}")

        return Change("POST", "/v1/content/batch", {"items": drafts}, (400,), refused, resolve)

    def delete(self) -> Change | None:
        if not self.live:
            return None
        content_id = self.rng.choice(self.live)
        self.shared.deleting.add(content_id)
        path = f"/v1/content/{quoted(content_id)}"

        def apply(_: Answer | None = None) -> None:
            self.live.remove(content_id)
            self.gone = [*self.gone[-20:], self.model.delete(content_id)]
            self.shared.deleted = [*self.shared.deleted[-50:], content_id]

        def resolve(client: Client) -> None:
            if client.call("GET", path).status == 404:
                apply()

        return Change("DELETE", path, None, (204,), apply, resolve)

    def restore(self) -> Change | None:
        """Takes one of the last deletes back."""
        if not self.gone:
            return None
        item = self.rng.choice(self.gone)
        content_id = item[1]
        self.shared.restoring.add(content_id)

        def apply(answer: Answer | None = None) -> None:
            if answer is not None and item_of(answer.body) != item:
                raise Unexpected(f"restored {item}, got {answer.body}")
            self.gone.remove(item)
            self.model.publish_all([item])
            self.live.append(content_id)

        def resolve(client: Client) -> None:
            if client.call("GET", f"/v1/content/{quoted(content_id)}").status == 200:
                apply()

        return Change("POST", f"/v1/content/{quoted(content_id)}/restore", None, (200,), apply, resolve)

    def like(self) -> Change | None:
        """A like, or the end of one."""
        if not self.live:
            return None
        user, content_id = self.rng.choice(self.owned), self.rng.choice(self.live)
        wanted = user not in self.model.likes.get(content_id, ())
        path = f"/v1/content/{quoted(content_id)}/reactions/like/{quoted(user)}"

        def apply(answer: Answer | None = None) -> None:
            likes = self.model.likes.setdefault(content_id, set())
            (likes.add if wanted else likes.discard)(user)
            if answer is not None and (answer.body["active"], answer.body["counts"]["reactions"].get("like", 0)) != (wanted, len(likes)):
                raise Unexpected(f"{len(likes)} likes of {content_id}, {answer.body}")

        def resolve(client: Client) -> None:
            if (user in members(client, f"/v1/content/{quoted(content_id)}/reactions/like")) == wanted:
                apply()

        return Change("PUT" if wanted else "DELETE", path, None, (200,), apply, resolve)

    def mute(self) -> Change:
        """A mute, or the end of one."""
        user = self.rng.choice(self.owned)
        return self.bar("mutes", "muted", lambda: self.model.mutes, user, self.rng.choice(self.everybody))

    def hide(self) -> Change:
        """The same the other way; from somebody of this writer's, for whom nobody else changes whom to see."""
        return self.bar("hidden-from", "hidden", lambda: self.model.hides, self.rng.choice(self.owned), self.rng.choice(self.owned))

    def bar(self, side: str, name: str, bars: Callable[[], dict[Id, set[Id]]], user: Id, target: Id) -> Change | None:
        if user == target:
            return None
        wanted = target not in bars().get(user, ())

        def apply(_: Answer | None = None) -> None:
            targets = bars().setdefault(user, set())
            (targets.add if wanted else targets.discard)(target)
            self.just_changed = user if side == "mutes" else target

        def resolve(client: Client) -> None:
            relation = client.get(f"/v1/users/{quoted(user)}/relations?targets={listed([target])}")["items"][0]
            if relation[name] == wanted:
                apply()
            self.just_changed = None

        return Change("PUT" if wanted else "DELETE", f"/v1/users/{quoted(user)}/{side}/{quoted(target)}", None, (200,), apply, resolve)

    def patch(self) -> Change | None:
        if not self.live:
            return None
        content_id = self.rng.choice(self.live)
        path, text = f"/v1/content/{quoted(content_id)}", f"edit {self.rng.random()} of {content_id}"

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
        path = f"/v1/users/{quoted(user)}/following/{quoted(target)}"
        apply, resolve = self.relate(user, [target] if wanted else [], [] if wanted else [target])
        return Change("PUT" if wanted else "DELETE", path, None, (200,), apply, resolve)

    def follow_some(self) -> Change:
        user = self.rng.choice(self.owned)
        targets = self.rng.sample([other for other in self.everybody if other != user], 8)
        followees = self.model.followees.get(user, set())
        follow = [target for target in targets if target not in followees]
        unfollow = [target for target in targets if target in followees]
        apply, resolve = self.relate(user, follow, unfollow)
        path = f"/v1/users/{quoted(user)}/following/batch"
        return Change("POST", path, {"follow": follow, "unfollow": unfollow}, (200,), apply, resolve)

    def relate(self, user: Id, follow: list[Id], unfollow: list[Id]) -> tuple[Callable[..., None], Callable[[Client], None]]:
        self.just_changed = user

        def apply(_: Answer | None = None) -> None:
            for target in follow:
                self.model.follow(user, target)
            for target in unfollow:
                self.model.unfollow(user, target)

        def resolve(client: Client) -> None:
            relations = client.get(f"/v1/users/{quoted(user)}/relations?targets={listed(follow + unfollow)}")["items"]
            follows = [relation["relation"] in ("following", "mutual") for relation in relations]
            done = [True] * len(follow) + [False] * len(unfollow)
            if follows == done:
                apply()
            elif follows != [not each for each in done]:
                raise Unexpected(f"follow {follow} and unfollow {unfollow} of {user} took effect in part: {relations}")

        return apply, resolve


class Reader:
    """Scrolls while others write."""

    def __init__(self, shared: Shared, viewers: Sequence[Id], rng: random.Random):
        self.shared = shared
        self.viewers = viewers
        self.rng = rng
        self.scrolls = 0

    def work(self, client: Client, stop: threading.Event) -> None:
        """Scrolls the timelines of viewers whose follows nobody changes, over a connection of its own."""
        try:
            while not stop.is_set():
                self.shared.scroll(client, self.rng.choice(self.viewers), self.rng.choice((3, 10, 37)))
                self.scrolls += 1
        except Unexpected as error:
            self.shared.fail(str(error))
        except CutOff as error:
            self.shared.cut_off.append(str(error))
        except Lost:
            pass
        finally:
            client.close()
