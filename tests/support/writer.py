"""Concurrent changes by owners that never get in each other's way, so that one model holds for all."""

import http.client
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from .client import Answer, Client, CutOff, Item, NotMade, item_of, members
from .expect import Unexpected
from .ids import Id, host_id, listed, make, quoted
from .model import Rule, UserList
from .shared import Place, Shared

Lost = (OSError, http.client.HTTPException)

# Live posts of one writer, about; more would only make the comparisons slow.
ENOUGH = 120
# The times that posts are sent with; a later one is one that the server gave.
TIMES = (1, 400)
# What about half of all posts name, one or both.
TOPICS = ("tea", "a/é")
# The names of lists.
LISTS = ("close", "a/é")
# Of follows and of members. Nothing is a video.
RULES: tuple[Rule, ...] = ({}, {"only": ["post", "video"]}, {"except": ["repost"]}, {"only": ["repost", "comment"]}, {"except": ["post"]})


def rule_of(body: dict[str, Any]) -> Rule:
    """The rule in what the server shows of a follow or a member."""
    return {name: body[name] for name in ("only", "except") if name in body}


class Change(NamedTuple):
    """One request that changes something, and what it means for the model."""

    method: str
    path: str
    body: object
    statuses: tuple[int, ...]
    apply: Callable[[Answer], object]  # with its answer; may be done again on a model that was set back
    resolve: Callable[[Client], None]  # after a crash, when no answer had come: carried out or not, never in part


def change(
    method: str, path: str, body: object, statuses: tuple[int, ...], apply: Callable[[Answer | None], object], happened: Callable[[Client], bool],
) -> Change:
    """A change that was carried out before a crash if `happened` says so. It is then applied without an answer."""
    def resolve(client: Client) -> None:
        if happened(client):
            apply(None)

    return Change(method, path, body, statuses, apply, resolve)


def put_or_delete(put: bool) -> str:
    return "PUT" if put else "DELETE"


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
        self.times = TIMES
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
        self.suspensions = 0  # that this writer may make in this round, or take back
        # May approve followers; only users of this writer follow it.
        self.closed = owned[-1]
        shared.closed.add(self.closed)

    def work(self, client: Client, stop: threading.Event) -> None:
        """Makes changes over a connection of its own, until told to stop or until one has no answer."""
        def changes() -> None:
            while not stop.is_set():
                self.step(client)

        guarded(self.shared, client, changes)

    def step(self, client: Client) -> None:
        """Makes a change, and at times looks at it at once. None if it is not possible now, or refused for now."""
        self.pending = self.choose()()
        if self.pending is None:
            return
        try:
            self.carry_out(client, self.pending)
            self.pending = None
            if self.just_changed is not None and self.rng.random() < 0.2:
                self.scrolls += 1
                self.shared.scroll(client, self.just_changed, self.rng.choice((3, 20, 100)))
        except NotMade:
            self.refused += 1
            self.pending = None
        self.just_changed = None

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

    def publish_at_last(self, client: Client, by: Id) -> None:
        """Publishes an item, again as long as it is refused, or has no answer and is not there."""
        before = len(self.live)
        while len(self.live) == before:
            change = self.publish_unnamed(by)
            try:
                self.carry_out(client, change)
            except (NotMade, OSError):
                change.resolve(client)

    def choose(self) -> Callable[[], Change | None]:
        if len(self.live) > ENOUGH and self.rng.random() < 0.7:
            return self.delete
        return self.rng.choice(
            (
                self.publish, self.publish, self.publish_some, self.publish_unnamed, self.publish_ahead,
                self.follow, self.follow, self.follow_some, self.delete, self.patch,
                self.restore, self.mute, self.hide, self.like, self.like,
                self.follow_closed, self.answer, self.set_settings, self.set_rule, self.block, self.take_off, self.suspend,
                self.put_list, self.put_member, self.put_member, self.drop_member, self.delete_list,
            )
        )

    def author(self) -> Id:
        """Of a new post: items of suspended users could not be found after a crash."""
        return self.rng.choice([user for user in self.owned if user not in self.model.suspended])

    def shown(self) -> list[Id]:
        """The live posts of users who are not suspended; each stands on some own page, which shows what becomes of it."""
        suspended, items = self.model.suspended, self.model.items
        live = (item for item in self.live if items[item][2] not in suspended)
        return [item for item in live if not suspended.issuperset(self.model.paths(items[item]))]

    def targets(self, user: Id) -> list[Id]:
        """Whom a user may follow."""
        others = (other for other in self.everybody if other != user and (other in self.owned or other not in self.shared.closed))
        return [other for other in others if not self.model.parted(user, other)]

    def resolve(self, client: Client) -> None:
        """Finds out, after a restart, whether the change that got no answer was carried out."""
        change, self.pending, self.above = self.pending, None, None
        self.history = []
        if change is not None:
            change.resolve(client)
        self.just_changed = None

    def draft(self) -> dict[str, object]:
        """With an id of this writer; mostly with one of few times, so that many are equal, else now."""
        self.next_id += 1
        content_id, author = make(self.ids, self.next_id, self.rng), self.author()
        self.shared.begun[content_id] = author
        self.shared.expect([content_id])
        body = {"content_id": content_id, "author_id": author, "text": f"text of {content_id}"}
        if self.rng.random() < 0.7:
            body["published_at"] = self.rng.randint(*self.times)
        if self.rng.random() < 0.5:
            body["topics"] = self.rng.sample(TOPICS, self.rng.randint(1, 2))
            self.model.topics[content_id] = set(body["topics"])
        if self.live and self.rng.random() < 0.3:
            subject = self.rng.choice(self.live)
            body |= {"kind": self.rng.choice(("comment", "repost")), "ref_id": subject}
            self.model.refs[content_id] = (body["kind"], subject)
        if self.rng.random() < 0.4:
            others = [user for user in self.owned if user != author]
            body |= {"to": self.rng.sample(others, self.rng.randint(1, min(3, len(others)))), "broadcast": self.rng.random() < 0.7}
            self.model.sources[content_id] = (*([author] if body["broadcast"] else []), *body["to"])
        if self.rng.random() < 0.3:
            body["audience"] = self.rng.choice(("public", "followers"))
        self.model.audiences[content_id] = body.get("audience", self.model.settings_of(author)[1])
        return body

    def published(self, *contents: dict[str, Any]) -> None:
        """Takes over what was published, as the server shows it."""
        items = []
        for content in contents:
            item = item_of(content)
            if item[0] > self.times[1] and self.above is not None:
                self.shared.rose(self.above, item[:2])
                self.shared.given = max(self.shared.given, item[:2])
            self.shared.acknowledge(item[1])
            audience = self.model.audiences.setdefault(item[1], self.model.settings_of(item[2])[1])
            sources = (*([item[2]] if content["broadcast"] else []), *map(host_id, content["to"]))
            if (content["audience"], sources) != (audience, self.model.sources.get(item[1], (item[2],))):
                raise Unexpected(f"published on {self.model.sources.get(item[1])} for {audience}, got {content}")
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
        author, text = by or self.author(), f"unnamed {self.rng.random()}"

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
        if not (shown := self.shown()):
            return None
        content_id = self.rng.choice(shown)
        self.shared.deleting.add(content_id)
        path = f"/v1/content/{quoted(content_id)}"

        def apply(_: Answer | None) -> None:
            self.live.remove(content_id)
            self.gone = [*self.gone[-20:], self.model.delete(content_id)]
            self.shared.deleted = [*self.shared.deleted[-50:], content_id]

        return change("DELETE", path, None, (204,), apply, lambda client: client.call("GET", path).status == 404)

    def restore(self) -> Change | None:
        """Takes one of the last deletes back."""
        gone = [item for item in self.gone if item[2] not in self.model.suspended]
        if not gone:
            return None
        item = self.rng.choice(gone)
        self.shared.restoring.add(item[1])
        path = f"/v1/content/{quoted(item[1])}"

        def apply(answer: Answer | None) -> None:
            if answer is not None and item_of(answer.body) != item:
                raise Unexpected(f"restored {item}, got {answer.body}")
            self.gone.remove(item)
            self.model.publish_all([item])
            self.live.append(item[1])

        return change("POST", f"{path}/restore", None, (200,), apply, lambda client: client.call("GET", path).status == 200)

    def like(self) -> Change | None:
        """A like, or the end of one."""
        if not (shown := self.shown()):
            return None
        # The likes of suspended users are in no list, so what became of one could not be found after a crash.
        user, content_id = self.author(), self.rng.choice(shown)
        wanted = user not in self.model.likes.get(content_id, ())
        path = f"/v1/content/{quoted(content_id)}/reactions/like"

        def apply(answer: Answer | None) -> None:
            likes = self.model.likes.setdefault(content_id, set())
            (likes.add if wanted else likes.discard)(user)
            if answer is not None and (answer.body["active"], answer.body["counts"]["reactions"].get("like", 0)) != (wanted, len(likes)):
                raise Unexpected(f"{len(likes)} likes of {content_id}, {answer.body}")

        happened = lambda client: (user in members(client, path)) == wanted
        return change(put_or_delete(wanted), f"{path}/{quoted(user)}", None, (200,), apply, happened)

    def mute(self) -> Change:
        """A mute, or the end of one."""
        user = self.rng.choice(self.owned)
        return self.bar("mutes", "muted", lambda: self.model.mutes, user, self.rng.choice(self.everybody))

    def hide(self) -> Change:
        """The same the other way; from somebody of this writer's, for whom nobody else changes whom to see."""
        return self.bar("hidden-from", "hidden", lambda: self.model.hides, self.rng.choice(self.owned), self.rng.choice(self.owned))

    def block(self) -> Change | None:
        """A block, or the end of one, between users of this writer: it ends follows and requests of both."""
        user, target = self.rng.choice(self.owned), self.rng.choice(self.owned)

        def part() -> None:
            for one, other in ((user, target), (target, user)):
                self.model.unfollow(one, other)

        return self.bar("blocks", "blocked", lambda: self.model.blocks, user, target, part)

    def bar(self, side: str, name: str, bars: Callable[[], dict[Id, set[Id]]], user: Id, target: Id, raised: Callable[[], None] = lambda: None) -> Change | None:
        if user == target:
            return None
        wanted = target not in bars().get(user, ())

        def apply(_: Answer | None) -> None:
            targets = bars().setdefault(user, set())
            (targets.add if wanted else targets.discard)(target)
            if wanted:
                raised()
            self.just_changed = user if side == "mutes" else target

        happened = lambda client: relation_of(client, user, target)[name] == wanted
        return change(put_or_delete(wanted), f"/v1/users/{quoted(user)}/{side}/{quoted(target)}", None, (200,), apply, happened)

    def patch(self) -> Change | None:
        if not (shown := self.shown()):
            return None
        content_id = self.rng.choice(shown)
        path, text = f"/v1/content/{quoted(content_id)}", f"edit {self.rng.random()} of {content_id}"
        apply = lambda _: self.shared.texts.update({content_id: text})
        return change("PATCH", path, {"text": text}, (200,), apply, lambda client: client.get(path)["text"] == text)

    def follow(self) -> Change | None:
        """A follow with a rule or without, or an unfollow of somebody who is followed."""
        user = self.rng.choice(self.owned)
        return self.follow_one(user, self.rng.choice(self.targets(user)))

    def follow_closed(self) -> Change | None:
        """A follow or a request, or the end of one."""
        user = self.rng.choice(self.owned)
        return self.follow_one(user, self.closed) if self.closed in self.targets(user) else None

    def follow_one(self, user: Id, target: Id) -> Change:
        wanted = not self.model.connected(user, target)
        rule = self.rng.choice(RULES) if wanted and self.rng.random() < 0.4 else {}
        path = f"/v1/users/{quoted(user)}/following/{quoted(target)}"
        return self.relate(put_or_delete(wanted), path, rule or None, user, [target] if wanted else [], [] if wanted else [target])

    def follow_some(self) -> Change:
        user = self.rng.choice(self.owned)
        targets = self.targets(user)
        targets = self.rng.sample(targets, min(8, len(targets)))
        follow = [target for target in targets if not self.model.connected(user, target)]
        unfollow = [target for target in targets if self.model.connected(user, target)]
        path, body = f"/v1/users/{quoted(user)}/following/batch", {"follow": follow, "unfollow": unfollow}
        return self.relate("POST", path, body, user, follow, unfollow)

    def relate(self, method: str, path: str, body: dict | None, user: Id, follow: list[Id], unfollow: list[Id]) -> Change:
        """Follows and unfollows. The body of a single follow is its rule."""
        self.just_changed = user

        def apply(_: Answer | None) -> None:
            for target in follow:
                self.model.follow(user, target)
                self.model.set_rule(user, target, (body or {}) if method == "PUT" else {})
            for target in unfollow:
                self.model.unfollow(user, target)

        def happened(client: Client) -> bool:
            relations = client.get(f"/v1/users/{quoted(user)}/relations?targets={listed(follow + unfollow)}")["items"]
            follows = [relation["relation"] in ("following", "mutual") or relation["requested"] for relation in relations]
            done = [True] * len(follow) + [False] * len(unfollow)
            if follows not in (done, [not each for each in done]):
                raise Unexpected(f"follow {follow} and unfollow {unfollow} of {user} took effect in part: {relations}")
            return follows == done

        return change(method, path, body, (200,), apply, happened)

    def set_rule(self) -> Change | None:
        """Another rule for somebody who is followed, or none."""
        user, rule = self.rng.choice(self.owned), self.rng.choice(RULES)
        followees = sorted(self.model.followees.get(user, ()))
        if not followees:
            return None
        target = self.rng.choice(followees)
        self.just_changed = user
        path = f"/v1/users/{quoted(user)}/following/{quoted(target)}"
        apply = lambda _: self.model.set_rule(user, target, rule)
        return change("PUT", path, rule, (200,), apply, lambda client: rule_of(relation_of(client, user, target)) == rule)

    def answer(self) -> Change | None:
        """The answer to a request."""
        asking = [user for user in self.owned if self.closed in self.model.requests.get(user, ())]
        if not asking:
            return None
        user, approved = self.rng.choice(asking), self.rng.random() < 0.7
        self.just_changed = user
        path = f"/v1/users/{quoted(self.closed)}/follow-requests/{quoted(user)}"
        apply = lambda _: self.model.answer(user, self.closed, approved)
        happened = lambda client: not relation_of(client, user, self.closed)["requested"]
        return change(put_or_delete(approved), path, None, (200, 204), apply, happened)

    def set_settings(self) -> Change:
        """Whether followers are approved, and for whom items are that do not say it."""
        user = self.rng.choice((self.closed, self.rng.choice(self.owned)))
        wanted = (user == self.closed and self.rng.random() < 0.6, self.rng.choice(("public", "public", "followers")))
        path = f"/v1/users/{quoted(user)}/settings"
        body = {"approve_followers": wanted[0], "default_audience": wanted[1]}
        apply = lambda _: self.model.settings.update({user: wanted})
        return change("PUT", path, body, (200,), apply, lambda client: client.get(path) == body)

    def suspend(self) -> Change | None:
        """The suspension of a user, always the same one, or its end."""
        user = self.owned[0]
        if self.suspensions == 0:
            return None
        self.suspensions -= 1
        self.shared.suspending.add(user)
        wanted = user not in self.model.suspended
        path = f"/v1/users/{quoted(user)}/suspension"
        apply = lambda _: self.model.suspend(user, wanted)
        return change(put_or_delete(wanted), path, None, (200,), apply, lambda client: client.get(path)["suspended"] == wanted)

    def take_off(self) -> Change | None:
        """Takes a post off one of several paths."""
        shown = [item for item in self.shown() if len(self.model.paths(self.model.items[item])) > 1]
        if not shown:
            return None
        content_id = self.rng.choice(shown)
        source = self.rng.choice(self.model.paths(self.model.items[content_id]))
        self.shared.taking_off.add(content_id)

        def happened(client: Client) -> bool:
            content = client.get(f"/v1/content/{quoted(content_id)}")
            return str(source) not in [*([content["author_id"]] if content["broadcast"] else []), *content["to"]]

        path = f"/v1/users/{quoted(source)}/content/{quoted(content_id)}"
        return change("DELETE", path, None, (204,), lambda _: self.model.take_off(content_id, source), happened)

    def of_lists(self, wanted: bool) -> tuple[Id, str, str] | None:
        """A user, the name of a list that the user has, or has not, and its path."""
        users = [(user, name) for user in self.owned for name in LISTS if (name in self.model.lists.get(user, {})) == wanted]
        if not users:
            return None
        user, name = self.rng.choice(users)
        self.just_changed = user
        return user, name, f"/v1/users/{quoted(user)}/lists/{quoted(name)}"

    def put_list(self) -> Change | None:
        """A list, or other settings of one."""
        if not (found := self.of_lists(self.rng.random() < 0.5)):
            return None
        (user, name, path), body = found, {"exclusive": self.rng.random() < 0.5}

        def apply(_: Answer | None) -> None:
            self.model.lists.setdefault(user, {}).setdefault(name, UserList()).exclusive = body["exclusive"]

        def happened(client: Client) -> bool:
            answer = client.call("GET", path)
            return answer.status == 200 and answer.body["exclusive"] == body["exclusive"]

        return change("PUT", path, body, (200, 201), apply, happened)

    def delete_list(self) -> Change | None:
        """Mostly lists stay, so that they get members."""
        if self.rng.random() < 0.7 or not (found := self.of_lists(True)):
            return None
        user, name, path = found
        apply = lambda _: self.model.lists[user].pop(name)
        return change("DELETE", path, None, (204,), apply, lambda client: client.call("GET", path).status == 404)

    def put_member(self) -> Change | None:
        """A member with a rule or without."""
        if not (found := self.of_lists(True)):
            return None
        (user, name, path), rule = found, self.rng.choice(RULES) if self.rng.random() < 0.4 else {}
        source = self.rng.choice(self.everybody)
        apply = lambda _: self.model.lists[user][name].members.update({source: rule})
        happened = lambda client: members_of(client, path).get(source) == rule
        return change("PUT", f"{path}/members/{quoted(source)}", rule or None, (200, 201), apply, happened)

    def drop_member(self) -> Change | None:
        if not (found := self.of_lists(True)) or not self.model.lists[found[0]][found[1]].members:
            return None
        user, name, path = found
        source = self.rng.choice(sorted(self.model.lists[user][name].members))
        apply = lambda _: self.model.lists[user][name].members.pop(source)
        happened = lambda client: source not in members_of(client, path)
        return change("DELETE", f"{path}/members/{quoted(source)}", None, (200, 204), apply, happened)


def members_of(client: Client, path: str) -> dict[Id, Rule]:
    """The members of a list with their rules."""
    return {host_id(item["user_id"]): rule_of(item) for item in client.rows(f"{path}/members")}


def relation_of(client: Client, user: Id, target: Id) -> dict[str, Any]:
    return client.get(f"/v1/users/{quoted(user)}/relations?targets={listed([target])}")["items"][0]


def guarded(shared: Shared, client: Client, work: Callable[[], None]) -> None:
    """Work over a connection, until its end or that of the server. Notes what is wrong."""
    try:
        work()
    except Unexpected as error:
        shared.fail(str(error))
    except CutOff as error:
        shared.cut_off.append(str(error))
    except Lost:
        pass
    finally:
        client.close()


class Reader:
    """Scrolls while others write."""

    def __init__(self, shared: Shared, viewers: Sequence[Id], rng: random.Random):
        self.shared = shared
        self.viewers = viewers
        self.rng = rng
        self.scrolls = 0

    def work(self, client: Client, stop: threading.Event) -> None:
        """Scrolls the timelines of viewers whose follows nobody changes, over a connection of its own."""
        def scrolls() -> None:
            while not stop.is_set():
                self.shared.scroll(client, self.rng.choice(self.viewers), self.rng.choice((3, 10, 37)))
                self.scrolls += 1

        guarded(self.shared, client, scrolls)
