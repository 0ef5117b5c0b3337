"""Brokers of Apache Kafka on free ports of the loopback, from Maven Central."""

import base64
import signal
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .expect import T, Unexpected, until
from .kafka_jars import PATIENCE, jars, run
from .kafka_wire import Metadata, Partition, metadata, quorum
from .server import free_ports

LOGGING = """status = error
rootLogger.level = ${sys:tideline.level:-info}
rootLogger.appenderRef.out.ref = out
appender.out.type = Console
appender.out.name = out
appender.out.target = ${sys:tideline.out:-SYSTEM_OUT}
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d %p %c{1}: %m%n
# A line for each try to reach a broker that is down.
logger.network.name = org.apache.kafka.clients.NetworkClient
logger.network.level = error
"""


@dataclass
class Broker:
    """One node of the cluster, which is broker and controller."""

    id: int
    directory: Path
    port: int
    controller_port: int
    process: subprocess.Popen | None = None
    paused: bool = False

    @property
    def answers(self) -> bool:
        """Whether it runs and is not paused."""
        return self.process is not None and self.process.poll() is None and not self.paused

    def tail(self, lines: int = 15) -> str:
        """The end of its log, and the last errors: a broker that fails writes much after the cause."""
        log = self.directory / "log"
        written = log.read_text(errors="replace").splitlines() if log.exists() else []
        errors = [line for line in written if " ERROR " in line or " FATAL " in line]
        shown = [f"broker {self.id} ({log}), errors:", *errors[-5:], "end:", *written[-lines:]]
        return "\n".join(line[:300] for line in shown)


class Brokers:
    """A cluster of brokers, whose ids count from 1. All of them run when the constructor returns.

    A *door* is one more listener for clients at each broker, under a name of capital letters. A client that comes in by a door
    is told the addresses of a proxy for all brokers; the caller runs the proxy: it must listen on `outer` and connect
    to `inner`, of each pair in `doors[name]`, in the order of the ids."""

    def __init__(self, directory: Path, count: int = 3, doors: Sequence[str] = ()):
        self.directory = directory
        self.jars = jars()
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "log4j2.properties").write_text(LOGGING)
        ports = free_ports(count * (2 + 2 * len(doors)))
        self.brokers = {id: Broker(id, directory / str(id), ports.pop(), ports.pop()) for id in range(1, count + 1)}
        self.doors = {name: [(ports.pop(), ports.pop()) for _ in self.brokers] for name in doors}
        self.bootstrap = ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers.values())
        try:
            self._format()
            self.start(*self.brokers)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Brokers":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Kills all that run."""
        for broker in self.brokers.values():
            if broker.process is not None:
                broker.process.kill()
        for broker in self.brokers.values():
            if broker.process is not None:
                broker.process.wait(PATIENCE)
                broker.process, broker.paused = None, False

    # One node.

    def start(self, *ids: int, wait: bool = True) -> float:
        """Starts brokers, also again with the data that they have; returns the seconds until they were ready. Without
        `wait` it does not wait for that: where most of the controllers are down, no broker gets ready."""
        begin = time.monotonic()
        for id in ids:
            broker = self.brokers[id]
            assert broker.process is None, f"broker {id} runs"
            command = [*self._java("info"), "-Xmx256m", "kafka.Kafka", broker.directory / "server.properties"]
            with open(broker.directory / "log", "ab") as log:
                broker.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=broker.directory)
        if wait:
            self.wait_ready()
        return time.monotonic() - begin

    def kill(self, id: int) -> None:
        """kill -9, of a paused broker too."""
        self._end(id, signal.SIGKILL)

    def stop(self, id: int) -> float:
        """Stops in order, so that the broker hands its leaderships over first; returns how many seconds that took."""
        assert not self.brokers[id].paused, f"broker {id} is paused, and would not see the signal"
        begin = time.monotonic()
        self._end(id, signal.SIGTERM)
        return time.monotonic() - begin

    def pause(self, id: int) -> None:
        """Stops the clock of a broker: its connections stay open, and nothing answers."""
        self._signal(id, signal.SIGSTOP).paused = True

    def resume(self, id: int) -> None:
        self._signal(id, signal.SIGCONT).paused = False

    def _signal(self, id: int, number: int) -> Broker:
        broker = self.brokers[id]
        if broker.process is None or broker.process.poll() is not None:
            raise Unexpected(f"broker {id} does not run\n{broker.tail()}")
        broker.process.send_signal(number)
        return broker

    def _end(self, id: int, number: int) -> None:
        broker = self._signal(id, number)
        assert broker.process is not None
        try:
            broker.process.wait(PATIENCE)
        except subprocess.TimeoutExpired as late:
            raise Unexpected(f"broker {id} did not end within {PATIENCE:.0f} s\n{broker.tail()}") from late
        broker.process, broker.paused = None, False

    # The state of the cluster.

    def wait_ready(self) -> None:
        """Until each broker that runs says, over the protocol, that all that run are in the cluster and unfenced, and
        there is an active controller."""
        self.until("all brokers ready", self._is_ready)
        self.controller()

    def _is_ready(self) -> bool:
        for broker in self.brokers.values():
            if broker.process is not None and broker.process.poll() is not None:
                raise Unexpected(f"a broker ended with exit code {broker.process.returncode}\n{broker.tail()}")
        running = {broker.id for broker in self.brokers.values() if broker.answers}
        views = self._views(None)
        return len(views) == len(running) and all(running <= view.brokers.keys() for view in views)

    def controller(self, besides: int | None = None) -> int:
        """The id of the active controller, once there is one other than `besides`."""
        return self.until(f"a controller besides {besides}" if besides else "a controller", lambda: self._controller(besides))

    def _controller(self, besides: int | None) -> int | None:
        found = []
        for broker in filter(lambda broker: broker.answers, self.brokers.values()):
            try:
                found.append(quorum(broker.controller_port))
            except OSError:
                pass
        _, leader = max(filter(None, found), default=(0, None))
        return leader if leader != besides else None

    def partition(self, topic: str) -> Partition | None:
        """The first partition of a topic, as the broker knows it that has heard of the latest leader."""
        known = [view.partitions[0] for view in self._views(topic) if 0 in view.partitions]
        return max(known, key=lambda partition: partition.epoch, default=None)

    def leader(self, topic: str, besides: int | None = None) -> int:
        """The id of the leader of a topic, once there is one other than `besides`. The brokers learn of a leader's death
        only after a while: name a leader that was killed or paused in `besides`."""
        def found() -> int | None:
            partition = self.partition(topic)
            return partition.leader if partition and partition.leader not in (-1, besides) else None

        return self.until(f"a leader of {topic}" + (f" besides {besides}" if besides else ""), found)

    def wait_in_sync(self, topic: str) -> None:
        """Until all replicas of a topic run and have all of it: from then on any one of three may be lost."""
        def whole() -> bool:
            running = {broker.id for broker in self.brokers.values() if broker.answers}
            known = [view.partitions.get(0) for view in self._views(topic)]
            # All must agree: one that was away may still know the state before.
            agreed = len(known) == len(running) and len(set(known)) == 1 and known[0]
            return bool(agreed) and running >= set(agreed.replicas) == set(agreed.in_sync)

        self.until(f"all replicas of {topic} in sync", whole)

    def _views(self, topic: str | None) -> list[Metadata]:
        """The cluster as each broker knows it that answers."""
        views = []
        for broker in filter(lambda broker: broker.answers, self.brokers.values()):
            try:
                views.append(metadata(broker.port, topic))
            except OSError:
                pass
        return views

    def until(self, what: str, condition: Callable[[], T | None]) -> T:
        """The first true value of a condition."""
        return until(lambda: "\n".join([what, *(broker.tail() for broker in self.brokers.values())]), condition, PATIENCE)

    # Kafka's own tools. Each call starts a Java machine, some 1 to 2 s.

    def topic_command(self, *options: object) -> str:
        """The output of Kafka's command for topics: `--create --topic log --partitions 1`."""
        return self._tool("org.apache.kafka.tools.TopicCommand", options)

    def create_topic(self, topic: str, **settings: object) -> None:
        """A topic of one partition; `settings` have `_` for each `.` of their names. Returns when it has a leader and
        all replicas."""
        configs = [word for name, value in settings.items() for word in ("--config", f"{name.replace('_', '.')}={value}")]
        self.topic_command("--create", "--topic", topic, "--partitions", 1, *configs)
        self.wait_in_sync(topic)

    def _tool(self, program: str, options: Sequence[object]) -> str:
        # A paused broker would take the connection and never answer.
        servers = ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers.values() if broker.answers)
        return run([*self._java("error"), "-Xmx128m", "-Dtideline.out=SYSTEM_ERR", program, "--bootstrap-server", servers, *options], PATIENCE)

    def _java(self, level: str) -> list[str]:
        logging = f"-Dlog4j2.configurationFile={self.directory.resolve() / 'log4j2.properties'}"
        # The collector for small heaps: the others start more threads. To compile quickly and optimize less takes a third less CPU.
        return ["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", logging, f"-Dtideline.level={level}", "-cp", f"{self.jars / 'lib'}/*"]

    def _format(self) -> None:
        """Writes the settings of the brokers, and formats their data directories."""
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=").replace("-", "_")
        formats = []
        for broker in self.brokers.values():
            broker.directory.mkdir()
            settings = broker.directory / "server.properties"
            settings.write_text("".join(f"{name}={value}\n" for name, value in self._settings(broker).items()))
            command = [*self._java("error"), "kafka.tools.StorageTool", "format", "-t", cluster, "-c", settings]
            with open(broker.directory / "log", "ab") as log:
                formats.append((broker, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)))
        try:
            for broker, process in formats:
                if process.wait(PATIENCE) != 0:
                    raise Unexpected(f"no data directory could be made\n{broker.tail()}")
        finally:
            for _, process in formats:
                process.kill()
                process.wait()

    def _settings(self, broker: Broker) -> dict[str, object]:
        count = len(self.brokers)
        replicas, least = min(count, 3), min(count, 2)
        inner = {"PLAINTEXT": broker.port} | {name: pairs[broker.id - 1][1] for name, pairs in self.doors.items()}
        outer = inner | {name: pairs[broker.id - 1][0] for name, pairs in self.doors.items()}
        listeners = lambda ports: ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items())
        return {
            "process.roles": "broker,controller",
            "node.id": broker.id,
            "controller.quorum.voters": ",".join(f"{each.id}@127.0.0.1:{each.controller_port}" for each in self.brokers.values()),
            "listeners": listeners(inner | {"CONTROLLER": broker.controller_port}),
            "advertised.listeners": listeners(outer),
            "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in [*inner, "CONTROLLER"]),
            "inter.broker.listener.name": "PLAINTEXT",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": broker.directory.resolve() / "data",
            "auto.create.topics.enable": "false",
            "unclean.leader.election.enable": "false",
            "default.replication.factor": replicas,
            "min.insync.replicas": least,
            "offsets.topic.replication.factor": replicas,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": least,
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
            # The buffers of the cleaner would take half of the heap. It only works on compacted topics.
            "log.cleaner.dedupe.buffer.size": 4 << 20,
        }
