"""Which of the acknowledged changes a power cut has left: they must be the first ones, in the order in which they came."""

import copy
import math
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from .client import Client, members
from .expect import Unexpected
from .ids import Id, host_id, listed, quoted
from .model import Rule
from .shared import Shared
from .writer import Writer, members_of, rule_of

# What a writer's changes can be seen by: for each kind of list and user what is in it.
Seen = dict[tuple[str, Id], set[Id] | dict[Id, str]]


class Place(NamedTuple):
    """A count of changes of one writer after which what is seen would be as it is."""

    count: int
    begun: float  # when the last of them was sent
    ended: float  # when the first that is not among them was acknowledged; never, if it was not


def together(places: Sequence[Sequence[Place]]) -> list[Place] | None:
    """For each writer the latest place such that all are those of one instant: no change is missing that was
    acknowledged before one was sent that is there.

    >>> missing = Place(count=0, begun=-math.inf, ended=5.0)
    >>> together([[missing], [Place(count=1, begun=4.0, ended=math.inf)]]) is None
    False
    >>> together([[missing], [Place(count=1, begun=6.0, ended=math.inf)]]) is None
    True
    """
    instants = sorted({place.ended for each in places for place in each}, reverse=True)
    for instant in instants:
        chosen = []
        for each in places:
            fitting = [place for place in each if place.begun < instant <= place.ended]
            if not fitting:
                break
            chosen.append(fitting[-1])
        else:
            return chosen
    return None


class Round:
    """What writers know at the begin of a load, so that the model can be set back to it."""

    def __init__(self, shared: Shared, writers: Sequence[Writer]):
        self.shared = shared
        self.writers = writers
        for writer in writers:
            writer.history = []
        self.saved = copy.deepcopy(self.state())

    def state(self) -> tuple[dict, dict, list]:
        # What an item points at, names, was published on and is for is known for good, also of what was never published.
        known = ("refs", "topics", "sources", "audiences")
        model = {name: value for name, value in vars(self.shared.model).items() if name not in known}
        shared = {"texts": self.shared.texts, "deleted": self.shared.deleted}
        return model, shared, [{"live": writer.live, "gone": writer.gone} for writer in self.writers]

    def set_back(self) -> None:
        model, shared, writers = copy.deepcopy(self.saved)
        vars(self.shared.model).update(model)
        vars(self.shared).update(shared)
        for writer, state in zip(self.writers, writers):
            vars(writer).update(state)

    def settle(self, client: Client, until: float) -> int:
        """Makes the model what the server shows after a cut; returns how many acknowledged changes are gone. Fails if
        what is there is not what the first changes make, or if one is gone that was acknowledged before `until`."""
        seen = [look(client, writer) for writer in self.writers]
        for writer in self.writers:
            writer.above = None  # what is carried out again here was given its cursors then
        self.set_back()
        places, pending = [], []
        for writer, there in zip(self.writers, seen):
            fitting = self.places(writer, there)
            carried_out, wrong = False, ""
            if all(place.count < len(writer.history) for place in fitting) and writer.pending is not None:
                try:
                    writer.pending.resolve(client)
                    carried_out = expected(writer) == there
                except Unexpected as error:
                    # What the pending change is about may itself be gone.
                    wrong = f"; the change without an answer: {error}"
            if carried_out:
                fitting.append(Place(len(writer.history), writer.pending_since, math.inf))
            if not fitting:
                raise Unexpected(self.nearest(writer, there) + wrong)
            places.append(fitting)
            pending.append(carried_out)
        chosen = together(places)
        if chosen is None:
            raise Unexpected("the changes found of several writers fit no single instant: " + self.told(places))
        gone = [done for writer, place in zip(self.writers, chosen) for done in writer.history[place.count :]]
        lost = len(gone)
        if early := sum(done.ended < until for done in gone):
            raise Unexpected(f"{early} acknowledged changes are lost: " + self.told([[place] for place in chosen]))
        self.set_back()
        for writer, place, carried_out in zip(self.writers, chosen, pending):
            for done in writer.history[: place.count]:
                done.change.apply(done.answer)
            if carried_out and place.count == len(writer.history):
                writer.pending.resolve(client)
            writer.pending, writer.just_changed, writer.history = None, None, []
        return lost

    def places(self, writer: Writer, there: Seen) -> list[Place]:
        """After how many changes this writer would see what is there; leaves the model after all of them."""
        found = []
        history = writer.history
        for count in range(len(history) + 1):
            if count:
                history[count - 1].change.apply(history[count - 1].answer)
            if expected(writer) == there:
                begun = history[count - 1].begun if count else -math.inf
                found.append(Place(count, begun, history[count].ended if count < len(history) else math.inf))
        return found

    def nearest(self, writer: Writer, there: Seen) -> str:
        """What is wrong after that many of a writer's changes after which the least is wrong."""
        self.set_back()
        best: tuple[int, int, str] | None = None
        for count in range(len(writer.history) + 1):
            if count:
                writer.history[count - 1].change.apply(writer.history[count - 1].answer)
            wanted = expected(writer)
            wrong = [(key, entries(wanted[key]), entries(there[key])) for key in wanted if wanted[key] != there[key]]
            if best is None or len(wrong) < best[0]:
                texts = (f"{kind} of {user}: {a - b} missing, {b - a} too much" for (kind, user), a, b in wrong)
                best = len(wrong), count, "; ".join(texts)
        _, count, wrong = best or (0, 0, "")
        return (
            f"writer {writer.number}: no first part of its {len(writer.history)} acknowledged changes makes what is there; "
            f"nearest after {count}, with {wrong}"
        )

    def told(self, places: Sequence[Sequence[Place]]) -> str:
        last = max((done.ended for writer in self.writers for done in writer.history), default=0.0)

        def at(seconds: float) -> str:
            return "never" if math.isinf(seconds) else f"{1000 * (last - seconds):.2f} ms before the last"

        def one(writer: Writer, place: Place) -> str:
            gone = writer.history[place.count].change if place.count < len(writer.history) else None
            first = f"; the first that is not: {gone.method} {gone.path} {gone.body}"[:300] if gone else ""
            return (
                f"{place.count} of {len(writer.history)}, the last sent {at(place.begun)}, "
                f"the next acknowledged {at(place.ended)}{first}"
            )

        each = (f"\n  writer {w.number}: " + " or ".join(one(w, place) for place in ps) for w, ps in zip(self.writers, places))
        return "".join(each)


def entries(seen: set[Id] | dict[Id, str]) -> set:
    """Of a list, or of items and their texts."""
    return set(seen.items() if isinstance(seen, dict) else seen)


def look(client: Client, writer: Writer) -> Seen:
    """What the server shows of everything that a writer changes."""
    seen: Seen = {}
    for user in writer.owned:
        path = f"/v1/users/{quoted(user)}"
        for side in ("following", "mutes", "hidden-from", "blocks", "sent-requests"):
            seen[side, user] = set(members(client, f"{path}/{side}"))
        rules = rules_of(client, user, sorted(seen["following", user]))
        seen["rules", user] = {(target, str(rule)) for target, rule in rules.items()}
        settings = client.get(f"{path}/settings")
        seen["settings", user] = {(settings["approve_followers"], settings["default_audience"])}
        seen["suspended", user] = {client.get(f"{path}/suspension")["suspended"]}
        seen["lists", user] = set()
        for each in client.get(f"{path}/lists")["items"]:
            of_list = f"{path}/lists/{quote(each['list'], safe='')}"
            found = {(member, str(rule)) for member, rule in members_of(client, of_list).items()}
            seen["lists", user].add((each["list"], each["exclusive"], frozenset(found)))
        # Of a suspended user this alone tells what is on the page.
        seen["items", user] = {client.get(path)["counts"]["content"]}
        texts = client.rows(f"{path}/content")
        seen["content", user] = {host_id(body["content_id"]): body["text"] for body in texts}
        seen["like", user] = {host_id(body["content_id"]) for body in client.rows(f"{path}/reactions/like")}
    return seen


def rules_of(client: Client, user: Id, targets: Sequence[Id]) -> dict[Id, Rule]:
    """The rules of a user's follows of, or requests to, others."""
    found = {}
    for first in range(0, len(targets), 50):
        part = targets[first : first + 50]
        for relation in client.get(f"/v1/users/{quoted(user)}/relations?targets={listed(part)}")["items"]:
            found[host_id(relation["target_id"])] = rule_of(relation)
    return found


def expected(writer: Writer) -> Seen:
    """The same by the model."""
    model, texts = writer.model, writer.shared.texts
    liked: dict[Id, set[Id]] = {}
    for content_id in writer.live:
        if model.items[content_id][2] in model.suspended:
            continue
        for user in model.likes.get(content_id, ()):
            liked.setdefault(user, set()).add(content_id)
    seen: Seen = {}
    for user in writer.owned:
        seen["following", user] = set(model.followees.get(user, ()))
        seen["mutes", user] = set(model.mutes.get(user, ()))
        seen["hidden-from", user] = set(model.hides.get(user, ()))
        seen["blocks", user] = set(model.blocks.get(user, ()))
        seen["sent-requests", user] = set(model.requests.get(user, ()))
        seen["rules", user] = {(target, str(model.rules.get((user, target), {}))) for target in model.followees.get(user, ())}
        seen["settings", user] = {model.settings_of(user)}
        seen["suspended", user] = {user in model.suspended}
        seen["lists", user] = {
            (name, each.exclusive, frozenset((member, str(rule)) for member, rule in each.members.items()))
            for name, each in model.lists.get(user, {}).items()
        }
        seen["items", user] = {len(model.posts.get(user, ()))}
        seen["content", user] = {item[1]: texts[item[1]] for item in model.own_page(user)}
        seen["like", user] = set() if user in model.suspended else liked.get(user, set())
    return seen
