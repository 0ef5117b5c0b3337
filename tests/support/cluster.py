"""A cluster on one machine: brokers, nodes, and a proxy between each node and each broker."""

import http.client
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from .any_node import place
from .brokers import Brokers
from .client import ask
from .doors import Doors, Pair
from .expect import Unexpected, until
from .server import Tideline, environment, free_port, free_ports
from .small_disk import SmallDisk

TOPIC = "tideline"
# How long a node may take to be ready once all brokers are there, seconds.
PATIENCE = 180.0
PAUSE = 0.05
# What a start says that found no brokers; whoever runs nodes starts them again.
NO_BROKERS = ("does not answer", "no broker", "cannot be reached")


class Node(Tideline):
    """One node: a server with a name and a fixed port."""

    def __init__(self, binary: Path, directory: Path, name: str, port: int, settings: dict[str, str]):
        super().__init__(binary, directory, settings, port)
        self.name = name
        self.paused = False
        self.runs_begun = 0
        self.disk: SmallDisk | None = None

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def answers(self) -> bool:
        return self.runs and not self.paused

    def begin(self) -> None:
        """Starts the node, and does not wait for it."""
        assert not self.runs, f"{self.name} runs"
        self.runs_begun += 1
        self.process, self.paused = self.serve(), False

    def end_code(self, patience: float = PATIENCE) -> int:
        """The exit code of a node that ends by itself."""
        assert self.process is not None
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired as late:
            raise Unexpected(f"{self.name} did not end within {patience:.0f} s; its log ends:\n{self.tail()}") from late
        self.process = None
        return code

    def pause(self) -> None:
        """Stops its clock: its connections stay open, and nothing answers."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)
        self.paused = True

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)
        self.paused = False

    def kill(self) -> None:
        """kill -9, of a paused node too."""
        super().kill()
        self.paused = False

    def ask(self, path: str, timeout: float = 10.0) -> tuple[int, Any]:
        """The status and the JSON of one GET."""
        return ask(self.address, "GET", path, timeout=timeout)[:2]

    def is_ready(self) -> bool:
        """Whether it has caught up, and answers strict reads."""
        try:
            return self.answers and self.ask("/readyz", 3.0)[0] == 200
        except (OSError, http.client.HTTPException, ValueError):
            return False

    def position(self) -> int:
        """The place in the log up to which it has applied all."""
        return place(ask(self.address, "GET", "/v1/users/1?consistency=local").headers["Tideline-Position"])


class Cluster:
    """Brokers and nodes. The brokers run when the constructor returns; the nodes do not. With `doors`, each node reaches
    the brokers through a proxy of its own; `small_disk` is the size in MiB of the file system of the last node."""

    def __init__(
        self, binary: Path, directory: Path, settings: Callable[[], dict[str, str]], nodes: Sequence[str] = ("a", "b", "c"),
        doors: bool = False, small_disk: int | None = None,
    ):
        self.binary = binary
        self.directory = directory
        self.settings = settings
        self.disk = SmallDisk(directory / "disk", small_disk) if small_disk else None
        self.doors: Doors | None = None
        self.brokers = Brokers(directory / "brokers", doors=[self.door(name) for name in nodes] if doors else [])
        try:
            if doors:
                self.doors = Doors({(name, id): ports for name in nodes for id, ports in self.ports(name)})
            self.ports_of_nodes = dict(zip(nodes, free_ports(len(nodes))))
            self.nodes: dict[str, Node] = {}
            for name in nodes:
                self.add(name)
            if self.disk:
                last = self.nodes[nodes[-1]]
                last.disk, last.data = self.disk, self.disk.path / "data"
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Kills all that runs."""
        for node in getattr(self, "nodes", {}).values():
            node.kill()
        if self.doors:
            self.doors.close()
        self.brokers.close()
        if self.disk:
            self.disk.close()

    # Settings.

    @staticmethod
    def door(name: str) -> str:
        return "NODE" + name.upper()

    def ports(self, name: str) -> Iterable[tuple[int, tuple[int, int]]]:
        """Of each broker: the ports of the proxy of a node."""
        return zip(self.brokers.brokers, self.brokers.doors[self.door(name)])

    @property
    def members(self) -> str:
        return ",".join(f"{name}=http://127.0.0.1:{port}" for name, port in self.ports_of_nodes.items())

    def bootstrap(self, name: str) -> str:
        if self.doors is None or self.door(name) not in self.brokers.doors:
            return self.brokers.bootstrap
        return ",".join(f"127.0.0.1:{outer}" for _, (outer, _) in self.ports(name))

    def own(self, name: str) -> dict[str, str]:
        """The settings that make a server a node of this cluster."""
        return {"cluster.brokers": self.bootstrap(name), "cluster.node": name, "cluster.members": self.members, "cluster.topic": TOPIC}

    def add(self, name: str) -> Node:
        """A node with an empty directory; its port is new unless it is among the first members."""
        if name not in self.ports_of_nodes:
            self.ports_of_nodes[name] = free_port()
        node = Node(self.binary, self.directory / name, name, self.ports_of_nodes[name], {})
        self.nodes[name] = node
        self.configure(node)
        return node

    def configure(self, node: Node) -> None:
        """New settings from its next start on."""
        node.configure(self.settings() | self.own(node.name))

    # Nodes.

    def init(self, name: str) -> str:
        """`tideline cluster init` by a node that does not run; what it printed."""
        node, end = self.nodes[name], time.monotonic() + PATIENCE
        while True:
            try:
                return node.run("cluster init")
            except Unexpected:
                # Brokers on a busy machine lose each other for a while after they have started.
                if time.monotonic() > end:
                    raise
                time.sleep(1)

    def start(self, *names: str) -> float:
        """Starts nodes, all by default, and waits until they are ready; returns the seconds."""
        begin = time.monotonic()
        for node in [self.nodes[name] for name in names or self.nodes]:
            node.begin()
        self.wait_ready()
        return time.monotonic() - begin

    def wait_ready(self, patience: float = PATIENCE) -> None:
        """Until all nodes that run are ready. One that gave up because it found no brokers is started again."""
        end = time.monotonic() + patience
        waits = [node for node in self.nodes.values() if node.process is not None]
        while waits := [node for node in waits if not node.is_ready()]:
            for node in waits:
                if not node.runs:
                    assert node.process is not None
                    code, tail = node.process.wait(), node.tail()
                    if not (code == 1 and any(words in tail for words in NO_BROKERS)):
                        raise Unexpected(f"{node.name} ended with exit code {code}; its log ends:\n{tail}")
                    node.begin()
            if time.monotonic() > end:
                tails = "\n".join(f"{node.name}:\n{node.tail()}" for node in waits)
                raise Unexpected(f"after {patience:.0f} s not ready, although all brokers are: {tails}")
            time.sleep(PAUSE)

    def stop(self, *names: str) -> None:
        """Stops nodes in order, all by default."""
        for node in [self.nodes[name] for name in names or self.nodes]:
            if node.runs:
                node.stop()

    def stop_and_check(self) -> None:
        """Stops all nodes in order; then `tideline check` must find nothing."""
        self.stop()
        for node in self.nodes.values():
            print(f"check of {node.name}: {node.check()}")

    def heal(self) -> None:
        """Ends all faults: everything runs, and is connected."""
        if self.disk:
            self.disk.empty()
        if self.doors:
            self.doors.set("open")
        for node in self.nodes.values():
            if node.paused:
                node.resume()
        for broker in self.brokers.brokers.values():
            if broker.paused:
                self.brokers.resume(broker.id)
        self.brokers.start(*(id for id, broker in self.brokers.brokers.items() if broker.process is None))
        for node in self.nodes.values():
            if node.process is None:
                node.begin()
        self.wait_ready()
        self.brokers.wait_in_sync(TOPIC)

    def pairs(self, *names: str) -> list[Pair]:
        """Of some nodes, with each broker."""
        return [(name, id) for name in names for id in self.brokers.brokers]

    def meet(self, patience: float = PATIENCE) -> int:
        """Waits until all nodes are at one position, while nobody writes; returns it."""
        found: dict[str, int] = {}

        def met() -> bool:
            found.update({name: node.position() for name, node in self.nodes.items()})
            return len(set(found.values())) == 1

        until(lambda: f"all nodes at one position: {found}", met, patience)
        return found.popitem()[1]

    def digests(self) -> str:
        """Compares the tables of all nodes at one position; what `tideline check` printed, with its exit code."""
        urls = [word for node in self.nodes.values() for word in ("--against", node.url)]
        command = [self.binary.resolve(), "check", "--timeout", f"{PATIENCE:.0f}s", *urls]
        done = subprocess.run(command, env=environment({}), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=2 * PATIENCE)
        if done.returncode != 0:
            raise Unexpected(f"tideline check --against: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout.strip()
