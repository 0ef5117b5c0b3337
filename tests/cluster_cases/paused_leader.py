"""A leader of the log that was paused, deposed meanwhile, and goes on: for a moment it still takes itself for the leader,
and answers the end of the log as it was. A node that asks it must not show the state of then."""

import argparse
import http.client
import random
import threading
import time
from pathlib import Path

import chaos
from support.client import ask
from support.cluster import TOPIC, Cluster, Node
from support.doors import CUT, HUNG, OPEN
from support.expect import Unexpected, until

READER, AUTHOR = "reader", "author"
# Readers that ask at once when the old leader goes on.
READERS = 6
# They ask so long before it goes on, seconds.
AHEAD = 0.3
# For this long they ask without a pause, seconds.
INSTANT = 3.0
# The longest time until the node with the old leader answers again, seconds.
PATIENCE = 90.0


class Watched:
    """The texts that one node shows to a reader."""

    def __init__(self, node: Node, reader: str = READER):
        self.node = node
        self.reader = reader

    def texts(self, consistency: str) -> list[str] | None:
        """The timeline of the reader, newest first; `None` if the node cannot answer now."""
        try:
            path = f"/v1/users/{self.reader}/timeline?limit=20&consistency={consistency}"
            answer = ask(self.node.address, "GET", path, timeout=20)
        except TimeoutError:
            return None
        if answer.status == 503:
            return None
        if answer.status != 200:
            raise Unexpected(f"a {consistency} read at {self.node.name}: {answer.status} {answer.body}")
        return [item["text"] for item in answer.body["items"]]


def change(node: Node, method: str, path: str, body: object = None) -> None:
    """A change that must be acknowledged; one that was refused for now is sent again."""
    def made() -> bool:
        answer = ask(node.address, method, path, body)
        if answer.status >= 300 and answer.status != 503:
            raise Unexpected(f"{method} {path} at {node.name}: {answer.status} {answer.body}")
        return answer.status < 300

    until(f"{method} {path} at {node.name} is not refused", made, PATIENCE, pause=0.1)


def once(cluster: Cluster, number: int, isolated: bool) -> str:
    """One pause. With `isolated`, the node can reach nobody but the old leader for a while after it goes on."""
    near, far = cluster.nodes["a"], cluster.nodes["b"]
    watched = Watched(near)
    before, after = f"before {number}", f"after {number}"
    change(near, "POST", "/v1/content", {"author_id": AUTHOR, "text": before})
    shows = until("a strict read", lambda: watched.texts("strict"), PATIENCE)
    if shows[0] != before:
        raise Unexpected(f"a strict read does not show {before!r}")
    brokers = cluster.brokers
    old = brokers.leader(TOPIC)
    others = [(near.name, id) for id in brokers.brokers if id != old]
    assert cluster.doors is not None
    # From now on the node hears of no other leader.
    cluster.doors.set(HUNG, *others)
    brokers.pause(old)
    paused = time.monotonic()
    new = brokers.leader(TOPIC, besides=old)
    # A lost connection makes the other node ask for the leader at once. Haste is needed: some 5 s after the pause, the
    # first node finds out that nobody answers, and gives its connection up.
    cluster.doors.set(CUT, (far.name, old))
    change(far, "POST", "/v1/content", {"author_id": AUTHOR, "text": after})
    stale = watched.texts("local")
    if stale is None or stale[0] != before:
        raise Unexpected(f"the node should still have the state before, and shows {stale}: the test proves nothing")
    shown: list[str] = []
    refused = [0] * READERS
    go, failed = threading.Event(), []

    def read(which: int) -> None:
        go.wait()
        end = time.monotonic() + INSTANT
        try:
            while time.monotonic() < end:
                found = watched.texts("strict")
                if found is None:
                    refused[which] += 1
                    time.sleep(0.01)
                else:
                    shown.append(found[0] if found else "")
        except (Unexpected, OSError, http.client.HTTPException) as error:
            failed.append(error)

    threads = [threading.Thread(target=read, args=(which,)) for which in range(READERS)]
    for thread in threads:
        thread.start()
    # Their questions lie in the socket of the old leader when it goes on.
    go.set()
    time.sleep(AHEAD)
    if not isolated:
        cluster.doors.set(OPEN)
    brokers.resume(old)
    resumed = time.monotonic()
    lasted = resumed - paused
    if isolated:
        time.sleep(1.0)
        cluster.doors.set(OPEN)
    for thread in threads:
        thread.join()
    if failed:
        raise Unexpected(f"a strict read failed: {failed[0]!r}")
    found = until(lambda: f"a strict read after the old leader goes on\n{near.tail()}", lambda: watched.texts("strict"), PATIENCE)
    took = time.monotonic() - resumed
    wrong = [text for text in [*shown, found[0]] if text != after]
    if wrong:
        raise Unexpected(f"after a pause of {lasted:.1f} s {len(wrong)} of {len(shown) + 1} strict reads show an old state: {wrong[0]!r} and not {after!r}")
    brokers.wait_ready()
    brokers.wait_in_sync(TOPIC)
    cluster.wait_ready()
    return (
        f"leader {old} paused for {lasted:.1f} s, then {new}; at the node with the old one {len(shown)} strict reads with the new state, "
        f"{sum(refused)} refused for now, none with the old one; the last of them after {took:.1f} s"
    )


def run(given: argparse.Namespace, directory: Path, seed: int) -> bool:
    rng = random.Random(seed)
    settings = lambda: {**chaos.settings(rng), "topics.limit": "20", "cluster.timeout": "5s"}
    with Cluster(given.binary, directory, settings, nodes=("a", "b"), doors=True) as cluster:
        cluster.init("a")
        cluster.start()
        change(cluster.nodes["a"], "PUT", f"/v1/users/{READER}/following/{AUTHOR}")
        for number in range(1, given.times + 1):
            print(f"{number}: {once(cluster, number, isolated=number % 2 == 1)}", flush=True)
        cluster.stop_and_check()
    return True
