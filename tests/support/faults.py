"""Faults of a cluster, chosen at random. All of them end with `Cluster.heal`; most can end before."""

import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .brokers import Broker
from .cluster import TOPIC, Cluster, Node
from .doors import CUT, DEAF, HUNG, OPEN


class Fault(NamedTuple):
    """A fault that has begun."""

    what: str
    end: Callable[[], object]  # may be called although the nodes have gone on otherwise


class Faults:
    """Makes faults in one cluster. The names of the kinds are the arguments of `--fault`."""

    def __init__(self, cluster: Cluster, rng: random.Random):
        self.cluster = cluster
        self.rng = rng
        of_brokers: dict[str, Callable[[], Sequence[Broker | None]]] = {
            "leader": lambda: [self.leader()],
            "follower": lambda: [self.follower()],
            "controller": lambda: [self.controller()],
            "two-brokers": lambda: self.brokers()[:2],
            "all-brokers": self.brokers,
        }
        self.kinds: dict[str, Callable[[], Fault | None]] = {
            **{f"kill-{name}": lambda chosen=chosen: self.kill_brokers(chosen()) for name, chosen in of_brokers.items()},
            **{f"pause-{name}": lambda chosen=chosen: self.pause_brokers(chosen()) for name, chosen in of_brokers.items()},
            "stop-leader": self.stop_leader,
            "kill-node": lambda: self.kill_nodes(1),
            "kill-two-nodes": lambda: self.kill_nodes(2),
            "kill-all-nodes": lambda: self.kill_nodes(3),
            "kill-everything": self.kill_everything,
            "stop-node": self.stop_node,
            "kill-starting-node": self.kill_starting_node,
            "pause-node": lambda: self.pause_nodes(1),
            "pause-two-nodes": lambda: self.pause_nodes(2),
            "lose-answers": lambda: self.doors(DEAF),
            "hang-pair": lambda: self.doors(HUNG),
            "cut-pair": lambda: self.doors(CUT),
            "full-disk": self.full_disk,
        }
        self.made: dict[str, int] = dict.fromkeys(self.kinds, 0)

    def make(self, among: list[str] | None = None) -> Fault | None:
        """Begins one fault; none if that kind is not possible now."""
        kind = self.rng.choice(among or list(self.kinds))
        fault = self.kinds[kind]()
        self.made[kind] += fault is not None
        return fault

    # Brokers.

    def brokers(self) -> list[Broker]:
        """Those that answer, in random order."""
        answer = [broker for broker in self.cluster.brokers.brokers.values() if broker.answers]
        return self.rng.sample(answer, len(answer))

    def leader(self) -> Broker | None:
        partition = self.cluster.brokers.partition(TOPIC)
        return next((broker for broker in self.brokers() if partition and broker.id == partition.leader), None)

    def follower(self) -> Broker | None:
        leader = self.leader()
        return next((broker for broker in self.brokers() if broker is not leader), None)

    def controller(self) -> Broker | None:
        id = self.cluster.brokers._controller(None)
        return next((broker for broker in self.brokers() if broker.id == id), None)

    def kill_brokers(self, brokers: Sequence[Broker | None]) -> Fault | None:
        chosen = [broker for broker in brokers if broker is not None]
        for broker in chosen:
            self.cluster.brokers.kill(broker.id)

        def end() -> None:
            gone = [broker.id for broker in chosen if broker.process is None]
            self.cluster.brokers.start(*gone, wait=False)

        return Fault(f"kill -9 of brokers {[broker.id for broker in chosen]}", end) if chosen else None

    def stop_leader(self) -> Fault | None:
        broker = self.leader()
        # Where the controllers have no majority, it would wait for them.
        if broker is None or len(self.brokers()) < 3:
            return None
        self.cluster.brokers.stop(broker.id)
        return Fault(f"SIGTERM of broker {broker.id}", lambda: broker.process or self.cluster.brokers.start(broker.id, wait=False))

    def pause_brokers(self, brokers: Sequence[Broker | None]) -> Fault | None:
        chosen = [broker for broker in brokers if broker is not None]
        for broker in chosen:
            self.cluster.brokers.pause(broker.id)

        def end() -> None:
            for broker in chosen:
                if broker.paused:
                    self.cluster.brokers.resume(broker.id)

        return Fault(f"SIGSTOP of brokers {[broker.id for broker in chosen]}", end) if chosen else None

    # Nodes.

    def nodes(self) -> list[Node]:
        """Those that answer, in random order."""
        answer = [node for node in self.cluster.nodes.values() if node.answers]
        return self.rng.sample(answer, len(answer))

    def begin(self, node: Node) -> None:
        """Starts a node that does not run, mostly with other settings of its own."""
        if node.process is None:
            if self.rng.random() < 0.7:
                self.cluster.configure(node)
            node.begin()

    def kill_nodes(self, count: int) -> Fault | None:
        chosen = self.nodes()[:count]
        for node in chosen:
            node.kill()
        names = [node.name for node in chosen]
        return Fault(f"kill -9 of nodes {names}", lambda: [self.begin(node) for node in chosen]) if chosen else None

    def kill_everything(self) -> Fault | None:
        brokers, nodes = self.kill_brokers(self.brokers()), self.kill_nodes(3)
        if brokers is None or nodes is None:
            return brokers or nodes
        return Fault(f"{brokers.what}, {nodes.what}", lambda: [brokers.end(), nodes.end()])

    def stop_node(self) -> Fault | None:
        chosen = self.nodes()[:1]
        for node in chosen:
            node.stop()
        return Fault(f"SIGTERM of nodes {[node.name for node in chosen]}", lambda: [self.begin(node) for node in chosen])

    def kill_starting_node(self) -> Fault | None:
        chosen = self.nodes()[:1]
        for node in chosen:
            node.kill()
            for _ in range(self.rng.randint(1, 3)):
                node.start_and_kill(self.rng.uniform(0, 0.7))
        return Fault(f"kill -9 of starting nodes {[node.name for node in chosen]}", lambda: [self.begin(node) for node in chosen])

    def pause_nodes(self, count: int) -> Fault | None:
        chosen = self.nodes()[:count]
        for node in chosen:
            node.pause()
        return Fault(f"SIGSTOP of nodes {[node.name for node in chosen]}", lambda: [node.resume() for node in chosen if node.paused])

    def full_disk(self) -> Fault | None:
        disk = self.cluster.disk
        if disk is None or disk.filler.exists():
            return None
        taken = disk.fill()
        return Fault(f"full disk, {taken >> 20} MiB", disk.empty)

    # Connections.

    def doors(self, state: str) -> Fault | None:
        doors = self.cluster.doors
        if doors is None:
            return None
        node, partition = self.rng.choice(list(self.cluster.nodes)), self.cluster.brokers.partition(TOPIC)
        leader = partition.leader if partition and partition.leader > 0 else 1
        pairs = self.rng.choice((
            [(node, leader)],
            [(node, leader)],
            [(node, self.rng.choice(list(self.cluster.brokers.brokers)))],
            self.cluster.pairs(node),
            [(name, leader) for name in self.cluster.nodes],
        ))
        doors.set(state, *pairs)
        return Fault(f"connections {state}: {pairs}", lambda: doors.set(OPEN, *pairs))
