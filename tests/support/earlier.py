"""Local reads: each must be some earlier state, and no state goes back at one node."""

import http.client
import random
import threading
from collections.abc import Sequence

from .client import Client, Unexpected, item_of
from .cluster import Node
from .ids import Id, quoted
from .model import Model

State = frozenset[Id]
# Items of one page.
MOST = 100


class Recorded(Model):
    """A model that remembers each state of the items of each author."""

    def __init__(self, follow_limit: int):
        super().__init__(follow_limit)
        self.states: dict[Id, list[State]] = {}

    def state(self, author: Id) -> State:
        return frozenset(item[1] for item in self.posts.get(author, ()))

    def note(self, author: Id) -> None:
        self.states.setdefault(author, [frozenset()]).append(self.state(author))

    def publish(self, item: tuple[int, Id, Id]) -> None:
        super().publish(item)
        self.note(item[2])

    def delete(self, content_id: Id) -> tuple[int, Id, Id]:
        item = super().delete(content_id)
        self.note(item[2])
        return item

    def forget(self) -> None:
        """All nodes have the present state."""
        self.states = {author: [self.state(author)] for author in self.states}


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
                status, body = client.call("GET", f"/v1/users/{quoted(author)}/content?limit={MOST}&view=ids&consistency=local")
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
            states, place, last = model.states.get(author, [frozenset()]), 0, 0
            for run, state in seen:
                if run != last:
                    place, last = 0, run
                later = next((at for at in range(place, len(states)) if states[at] == state), None)
                if later is None:
                    once = state in states
                    wrong.append(
                        f"a local read of {author} at {self.node.name} showed {sorted(map(str, state))}, "
                        + ("after a later state" if once else f"which never was: {[sorted(map(str, s)) for s in states[-4:]]}")
                    )
                    break
                place = later
        self.seen.clear()
        return wrong
