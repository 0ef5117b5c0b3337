"""What the writers, readers and listeners of one server know together."""

import math
import time
from collections.abc import Iterable

from .client import Client, Item, members
from .expect import Unexpected
from .ids import Id, Name, fall, in_order, quoted
from .model import Model, Rule, admits

Place = tuple[int, Id]


class Shared:
    """What writers and readers know together. No two threads write about the same user or item."""

    def __init__(self, model: Model):
        self.model = model
        self.begun: dict[Id, Id] = {}  # every publish that was ever sent with an id: its author
        self.deleting: set[Id] = set()  # every delete that was ever sent
        self.deleted: list[Id] = []  # the last ones of which that was acknowledged
        self.restoring: set[Id] = set()  # every restore that was ever sent
        self.taking_off: set[Id] = set()  # items of which a path was ever asked to be taken off
        self.suspending: set[Id] = set()  # users whose suspension was ever asked for
        self.suspends = False  # whether one may be in this round: then streams have to begin anew
        self.closed: set[Id] = set()  # who may approve followers, so only users of the same writer follow
        self.texts: dict[Id, str] = {}
        self.wrong: list[str] = []
        self.cut_off: list[str] = []  # answers of which only a part came, since the last start of the server
        self.given: Place = (0, 0)  # the last of the cursors that the server gave and acknowledged
        self.rising: list[tuple[Place, Place]] = []  # of these cursors, the server gave the second after the first
        self.new: dict[Name, tuple[float, float]] = {}  # names without a rank: when first sent, when acknowledged, seconds
        self.probes = 0

    def scroll(self, client: Client, user: Id, limit: int) -> None:
        """From the top to the end by `next` while others write, by somebody for whom nobody changes meanwhile
        whom to see: nothing twice, nothing left out that was there all the time, nothing of somebody else."""
        model = self.model
        # A suspension may end meanwhile.
        sources = {source: model.rules.get((user, source), {}) for source in model.chosen(user)}
        there = set(model.timeline(user))
        gone = self.deleted[:]
        seen = client.scroll(f"/v1/users/{quoted(user)}/timeline", limit)
        if not fall(seen):
            raise Unexpected(f"timeline of {user}: repeated or out of order while others write")
        unknown = [item for item in seen if not self.may_come(user, item, sources)]
        lost = [item for item in there - set(seen) if item[1] not in self.deleting and not self.may_go(item)]
        back = (set(gone) & {item[1] for item in seen}) - self.restoring
        if unknown or lost or back:
            what = f"{lost[:5]} left out, {unknown[:5]} not to be there, {list(back)[:5]} deleted before"
            raise Unexpected(f"timeline of {user} while others write: {what}")

    def may_come(self, user: Id, item: Item, sources: dict[Id, Rule]) -> bool:
        """Whether an item may be in a timeline with these sources, on whatever path."""
        content_id, author = item[1:]
        on = self.model.sources.get(content_id, (author,))
        is_right = self.begun.get(content_id, author) == author and (author == user or not self.model.silences(user, author))
        return is_right and any(path in sources and admits(sources[path], self.model.kind(content_id)) for path in on)

    def may_go(self, item: Item) -> bool:
        """Whether an item may leave a timeline although nobody deletes it."""
        sources = {item[2], *self.model.sources.get(item[1], ())}
        return item[1] in self.taking_off or not self.suspending.isdisjoint(sources)

    def expect(self, ids: Iterable[Id]) -> None:
        """These ids are sent from now on."""
        self.new |= {name: (time.monotonic(), math.inf) for name in ids if isinstance(name, Name)}

    def acknowledge(self, id: Id) -> None:
        """The server has seen this id by now."""
        begun, ended = self.new.get(id, (0.0, 0.0))
        if ended == math.inf:
            self.new[id] = (begun, time.monotonic())

    def rank(self, client: Client, kept: bool = True) -> None:
        """Finds the order of the new names: a user follows all of them with one time, and its list shows it. If the
        server has `kept` all, a name that was acknowledged before another was sent comes first."""
        self.probes += 1
        path = f"/v1/users/probe-{self.probes}/following"
        for name in self.new:
            must(client, "PUT", f"{path}/{quoted(name)}", {"since": 1})
            self.acknowledge(name)
        found = members(client, path)[::-1]
        for first in range(0, len(found), 50):
            must(client, "POST", f"{path}/batch", {"unfollow": found[first : first + 50]})
        if len(found) != len(self.new) or set(found) != set(self.new):
            self.fail(f"{path}: {set(self.new) ^ set(found)} missing or too many")
        in_order(found)
        soonest = math.inf
        for name in reversed(found if kept else []):
            begun, ended = self.new[name]
            if soonest < begun:
                self.fail(f"the name {name!r} is below one that was acknowledged before it was sent")
            soonest = min(soonest, ended)
        self.new = {}
        rising, self.rising = self.rising, []
        for first, second in rising if kept else []:
            self.rose(first, second)

    def rose(self, first: Place, second: Place) -> None:
        """The server gave the second cursor after the first. If that depends on names without a rank, `rank` looks again."""
        if second == first or second < first:
            self.fail(f"the cursor {second} was given after {first}")
        elif not second > first:
            self.rising.append((first, second))

    def fail(self, text: str) -> None:
        """Notes something that must not be."""
        self.wrong.append(text)
        print(f"WRONG {text}", flush=True)


def must(client: Client, method: str, path: str, body: object) -> None:
    """A change that must succeed. It may be made twice: without an answer it is sent again."""
    for last in (False, False, False, True):
        try:
            answer = client.call(method, path, body)
            break
        except OSError:
            if last:
                raise
    if answer.status != 200:
        raise Unexpected(f"{method} {path}: {answer.status} {answer.body}")
