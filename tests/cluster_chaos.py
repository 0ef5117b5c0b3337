#!/usr/bin/env python3
"""Chaos in a real cluster: three brokers, three nodes, and writers and readers at any of them.

Each round has the load of chaos.py and some faults at the same time: brokers and nodes are killed with -9, stopped and
paused; a proxy between nodes and brokers drops answers, hangs or cuts connections; the disk of one node is full. Meanwhile
every strict read at any node must show all changes that were acknowledged before it began, and so must a session read with
the position of the last one; a local read must show some earlier state, and never go back. At the end of a round all
nodes must reach one position, all lists of all nodes must equal the model, and `tideline check --against` must find
their tables equal: a change without an answer was made or not, the same at all nodes. At the very end `tideline check`
must find nothing.

`--case paused-leader`, `--case cut-off`, `--case one-node` and `--case guards` are tests of their own; see
`cluster_cases`. Needs Python 3.10, Java and Maven.
"""

import argparse
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import chaos
from cluster_cases import cut_off, guards, one_node, paused_leader
from support.any_node import LOCAL, SESSION, STRICT, AnyNode, Calls, everywhere
from support.client import Client
from support.cluster import Cluster
from support.earlier import LocalReader, Recorded
from support.expect import Impossible, Unexpected
from support.faults import Faults
from support.ids import quoted
from support.kafka_jars import unavailable
from support.load import FOLLOW_LIMIT, Load, arguments
from support.preload import Clock
from support.program import judge

# The longest wait of a node for the log. Shorter than the election of a leader after a kill, so that it passes at times.
TIMEOUT = ("2s", "4s")
# Between the end of all faults and the first comparison: nodes that were paused take what lies in their sockets.
QUIET = 2
DISK_MB = 400
ENOUGH_RESUMES = 20


def options() -> argparse.Namespace:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--case", action="append", choices=CASES, help="what to test; rounds by default")
    parser.add_argument("--fault", action="append", help="make only faults of this kind, as in kill-leader")
    parser.add_argument("--optional", action="store_true", help="leave all out where the brokers cannot be had")
    parser.add_argument("--times", type=int, default=5, help="how often a leader is paused, or a node cut off")
    parser.set_defaults(seconds=4.0, writers=9, readers=3)
    return parser.parse_args()


class ClusterChaos(Load):
    """One cluster that lives through many rounds."""

    def __init__(self, given: argparse.Namespace, directory: Path, seed: int):
        super().__init__(given, seed)
        self.directory = directory
        self.fixed = dict(text.split("=", 1) for text in given.set)
        self.limit = self.rng.choice((1, 5, 20, 100, 1000))
        self.model = self.shared.model = self.recorded = Recorded(FOLLOW_LIMIT)
        for writer in self.writers:
            writer.model = self.model
        self.calls = Calls()
        self.clients: list[AnyNode] = []
        self.cluster = self.make_cluster()
        self.faults = Faults(self.cluster, self.rng)
        self.local_readers = [
            LocalReader(node, self.everybody, random.Random(self.rng.random())) for node in self.cluster.nodes.values()
        ]
        self.local_reads = self.unknown = 0
        self.mirror()
        self.answered: Counter[str] = Counter()
        self.slowest = 0.0
        self.digests = ""

    def make_cluster(self) -> Cluster:
        try:
            return Cluster(self.given.binary, self.directory, self.settings, doors=True, small_disk=DISK_MB)
        except Impossible as why:
            print(f"no disk is filled: {why}", flush=True)
            return Cluster(self.given.binary, self.directory, self.settings, doors=True)

    def settings(self) -> dict[str, str]:
        """Those of one start of one node. What all nodes must share is always the same."""
        own = {
            "topics.limit": str(self.limit), "cluster.timeout": self.rng.choice(TIMEOUT), "storage.min_free_mb": "4",
            "cluster.inbox_copies": self.rng.choice(("1", "1", "2", "3")),
            "cluster.consistency": self.rng.choice((STRICT, SESSION, LOCAL)),
        }
        return chaos.settings(self.rng) | own | self.fixed

    # The places of `Load`.

    def client(self) -> Client:
        client = self.any_node((STRICT,))
        client.give_up = 0.0
        return client

    def load_client(self) -> Client:
        reads = self.rng.choice(((STRICT,), (STRICT,), (STRICT, SESSION), (SESSION,)))
        client = self.any_node(reads)
        self.clients.append(client)
        return client

    def any_node(self, reads: tuple[str, ...], nodes: tuple[str, ...] = (), patience: float = 30.0) -> AnyNode:
        addresses = [self.cluster.nodes[name].address for name in nodes or self.cluster.nodes]
        stays = self.rng.choice((0.5, 0.9, 0.99))
        return AnyNode(addresses, self.calls, random.Random(self.rng.random()), reads, patience, stays)

    def place(self) -> tuple[str, int]:
        return self.rng.choice([node.address for node in self.cluster.nodes.values() if node.answers])

    def topic_limit(self) -> int:
        return self.limit

    # Rounds.

    def run(self) -> bool:
        """Runs all rounds. Returns whether nothing was wrong."""
        with self.cluster:
            try:
                return self.go()
            except BaseException:
                self.calls.write(self.directory / "calls.txt")
                raise
            finally:
                for listener in self.listeners:
                    listener.close()

    def go(self) -> bool:
        self.clocks()
        self.cluster.init("a")
        took = self.cluster.start()
        self.tell(f"all nodes are ready after {took:.1f} s")
        self.begin_at_all()
        self.rounds(self.one, lambda number: number < self.given.rounds)
        if self.shared.wrong:
            raise Unexpected(f"of what is wrong all calls are in {self.directory / 'calls.txt'}")
        self.tell_of_rounds()
        print(f"digests: {self.digests}")
        self.cluster.stop_and_check()
        for listener in self.listeners:
            listener.close()
        resumes = sum(listener.resumed for listener in self.listeners)
        # In a short run, chance may have killed all nodes mostly.
        if not self.tell_of_streams() and resumes >= ENOUGH_RESUMES:
            print("WRONG most streams do not resume")
            return False
        return True

    def one(self, _: int) -> str:
        how = self.round()
        self.compare()
        return how

    def clocks(self) -> None:
        """Gives each node a clock of its own, hours off."""
        try:
            for node in self.cluster.nodes.values():
                clock = Clock(node.directory)
                clock.shift(self.rng.choice(chaos.SHIFTS))
                node.preload = clock.environment
        except Impossible as why:
            print(f"the clocks are not changed: {why}", flush=True)

    def begin_at_all(self) -> None:
        self.begin()
        self.recorded.forget()

    def round(self) -> str:
        """Load and faults, until all is well again."""
        self.clients.clear()
        end_load, stop = self.begin_load(), threading.Event()
        local = [threading.Thread(target=each.work, args=(stop, self.shared.wrong)) for each in self.local_readers]
        for thread in local:
            thread.start()
        made, begun = [], time.monotonic()
        try:
            for _ in range(self.rng.choice((1, 1, 2, 2, 3))):
                time.sleep(self.rng.uniform(0.1, 1.0))
                if (fault := self.faults.make(self.given.fault)) is None:
                    continue
                time.sleep(self.rng.choice((self.rng.uniform(0, 0.7), self.rng.uniform(0.7, self.given.seconds))))
                made.append(f"{fault.what} at {time.monotonic() - begun:.1f} s")
                if self.rng.random() < 0.6:
                    fault.end()
            healed = time.monotonic()
            self.cluster.heal()
            healed = time.monotonic() - healed
            time.sleep(self.rng.uniform(0.1, 0.6))
        finally:
            stop.set()
            end_load()
            for thread in local:
                thread.join()
        for listener in self.listeners:
            # A stream that a fault has ended.
            if listener.thread is not None and not listener.thread.is_alive():
                listener.close()
        slowest = max(client.slowest for client in self.clients)
        self.slowest = max(self.slowest, slowest)
        for client in self.clients:
            self.answered.update(client.answered)
        return f"{', '.join(made) or 'no fault'}; well again after {healed:.1f} s, slowest call {slowest:.1f} s"

    def compare(self) -> None:
        """Finds out what became of the changes without an answer, then compares all lists of all nodes, and the streams."""
        self.shared.cut_off.clear()
        time.sleep(QUIET)
        everywhere([node.address for node in self.cluster.nodes.values()], self.calls, self.rng)
        client = self.client()
        for writer in self.writers:
            self.unknown += writer.pending is not None
            writer.resolve(client)
        for reader in self.local_readers:
            self.local_reads += reader.reads
            reader.reads = 0
            for wrong in reader.compare(self.recorded):
                self.shared.fail(wrong)
        self.shared.rank(client)
        everywhere([node.address for node in self.cluster.nodes.values()], self.calls, self.rng)
        position = self.cluster.meet()
        for name in self.cluster.nodes:
            if not self.shared.wrong:
                self.compare_node(name, position)
        if not self.shared.wrong:
            self.digests = self.cluster.digests()
        self.listen()
        self.compare_streams(client)
        self.compare_changes(client)
        client.close()
        everywhere([node.address for node in self.cluster.nodes.values()], self.calls, self.rng)
        self.recorded.forget()

    def compare_node(self, name: str, position: int) -> None:
        """All lists, mostly without waiting: the node has reached the position at which nothing changes any more."""
        client = self.any_node((LOCAL,) * 8 + (STRICT, SESSION), (name,))
        before = len(self.shared.wrong)
        self.compare_lists(client)
        for user in self.rng.sample(self.users, 5):
            answer = client.get(f"/v1/admin/users/{quoted(user)}/timeline/verify")
            if not answer["exact"]:
                self.shared.fail(f"verify of {user}: {answer}")
        if len(self.shared.wrong) > before:
            print(f"that was at {name}, from position {position} on", flush=True)
        client.close()

    # Figures.

    def tell_of_rounds(self) -> None:
        refused = sum(writer.refused for writer in self.writers)
        print(
            f"{self.unknown} changes without an answer, {refused} refused for now; reads: "
            f"{dict(self.answered)}, {self.local_reads} local ones compared; slowest call {self.slowest:.1f} s"
        )
        print("faults: " + ", ".join(f"{kind} {count}" for kind, count in self.faults.made.items() if count))


CASES = {
    "rounds": lambda *given: ClusterChaos(*given).run(),
    "paused-leader": paused_leader.run,
    "cut-off": cut_off.run,
    "one-node": one_node.run,
    "guards": guards.run,
}


def main() -> None:
    given = options()
    # Like Ctrl-C: brokers and nodes end too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if reason := unavailable():
        if not given.optional:
            sys.exit(f"no cluster here: {reason}")
        print(f"left out: {reason}")
        return
    for case in given.case or ["rounds"]:
        judge(given, lambda directory, seed: CASES[case](given, directory, seed))


if __name__ == "__main__":
    sys.exit(main())
