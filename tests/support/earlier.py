"""Local reads: each must be some earlier state, and no state goes back at one node."""

import http.client
import random
import threading
from collections.abc import Sequence

from .client import Client, Item, item_of
from .cluster import Node
from .expect import Unexpected
from .ids import Id, quoted
from .model import Model

# The items of an author. While a batch is made, some of them may be there: the least and the most.
State = frozenset[Id]
States = list[tuple[State, State]]
# Items of one page.
MOST = 100


class Recorded(Model):
    """A model that remembers each state of the own page of each source."""

    def __init__(self, follow_limit: int):
        super().__init__(follow_limit)
        self.states: dict[Id, States] = {}

    def state(self, author: Id) -> State:
        return frozenset(item[1] for item in self.own_page(author))

    def publish_all(self, items: list[Item]) -> None:
        before = {source: self.state(source) for item in items for source in self.paths(item)}
        super().publish_all(items)
        for author, least in before.items():
            most = self.state(author)
            self.states.setdefault(author, [(least, least)]).extend([(least, most), (most, most)])

    def delete(self, content_id: Id) -> Item:
        item = super().delete(content_id)
        self.note(self.paths(item))
        return item

    def take_off(self, content_id: Id, source: Id) -> None:
        super().take_off(content_id, source)
        self.note([source])

    def suspend(self, user: Id, suspended: bool) -> None:
        super().suspend(user, suspended)
        self.note([source for source in list(self.posts) if source == user or any(item[2] == user for item in self.posts[source][:])])

    def note(self, sources: Sequence[Id]) -> None:
        """Remembers the states of own pages after a change."""
        for source in sources:
            self.states.setdefault(source, [(frozenset(), frozenset())]).append((self.state(source),) * 2)

    def forget(self) -> None:
        """All nodes have the present state."""
        self.states = {author: [(self.state(author),) * 2] for author in self.states}


class LocalReader:
    """Reads the own pages of authors at one node, without waiting for the log. The states are compared later: that of a
    change under way is only known when its fate is."""

    def __init__(self, node: Node, authors: Sequence[Id], rng: random.Random):
        self.node = node
        self.authors = authors
        self.rng = rng
        self.seen: dict[Id, list[tuple[int, State]]] = {}  # with the number of the run of the node
        self.reads = 0

    def work(self, stop: threading.Event, wrong: list[str]) -> None:
        client = Client(self.node.address)
        while not stop.is_set():
            author, run = self.rng.choice(self.authors), self.node.runs_begun
            try:
                status, body, _ = client.call("GET", f"/v1/users/{quoted(author)}/content?limit={MOST}&view=ids&consistency=local")
            except (OSError, http.client.HTTPException, Unexpected):
                client.close()
                stop.wait(0.1)
                continue
            if status != 200:
                wrong.append(f"a local read at {self.node.name} is refused: {status} {body}")
                return
            if run == self.node.runs_begun and body["next"] is None:
                found = frozenset(item_of(item)[1] for item in body["items"])
                self.seen.setdefault(author, []).append((run, found))
                self.reads += 1
            stop.wait(0.02)
        client.close()

    def compare(self, model: Recorded) -> list[str]:
        """Everything that was seen and was never so, or no more."""
        wrong = []
        for author, seen in self.seen.items():
            states, place, last = model.states.get(author, [(frozenset(), frozenset())]), 0, 0
            for run, state in seen:
                if run != last:
                    place, last = 0, run
                fits = [at for at, (least, most) in enumerate(states) if least < state < most or least == state == most]
                if all(at < place for at in fits):
                    why = "after a later state" if fits else f"which never was: {[shown(most) for _, most in states[-4:]]}"
                    wrong.append(f"a local read of {author} at {self.node.name} showed {shown(state)}, {why}")
                    break
                place = next(at for at in fits if at >= place)
        self.seen.clear()
        return wrong


def shown(state: State) -> list[str]:
    return sorted(map(str, state))
