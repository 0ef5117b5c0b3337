"""Logs that a node must refuse: made anew, cut, foreign, too short, or of a later version. Each time it must stop with exit
code 1 and say why, and its data must stay as it is."""

import argparse
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import chaos
from support import kafka_tools
from support.client import Client, members
from support.cluster import TOPIC, Cluster, Node
from support.expect import Unexpected
from support.server import Tideline

from .paused_leader import change

READERS = [f"reader-{number}" for number in range(5)]
AUTHOR = "author"


class Guards:
    """One cluster, to which all of that happens."""

    def __init__(self, given: argparse.Namespace, cluster: Cluster, directory: Path):
        self.given = given
        self.cluster = cluster
        self.directory = directory
        self.brokers = cluster.brokers
        self.published = 0

    # Steps.

    def publish(self, name: str, count: int = 3) -> int:
        """Acknowledged posts; returns the position of the node."""
        node = self.cluster.nodes[name]
        for _ in range(count):
            self.published += 1
            change(node, "POST", "/v1/content", {"author_id": AUTHOR, "text": f"number {self.published}"})
        return node.position()

    def content(self, node: Node) -> str:
        """All that a copy of the directory shows when it serves alone."""
        place = self.directory / "copy"
        shutil.rmtree(place, ignore_errors=True)
        alone = Tideline(self.given.binary, place, {})
        shutil.copytree(node.data, alone.data)
        alone.run("cluster leave")
        with alone:
            client = Client(alone.address)
            shown: list[object] = [members(client, f"/v1/users/{AUTHOR}/followers")]
            for user in READERS:
                shown.append(client.get(f"/v1/users/{user}/timeline?limit=100"))
                shown.append(client.get(f"/v1/users/{user}"))
            client.close()
        return json.dumps(shown)

    def refuses(self, what: str, node: Node, words: str) -> None:
        """A start that must fail, and change nothing."""
        before = self.content(node) if node.data.exists() else ""
        logged = len(node.log.read_text()) if node.log.exists() else 0
        node.begin()
        self.ended(what, node, words, logged)
        after = self.content(node) if before else ""
        if after != before:
            raise Unexpected(f"{what}: the data of {node.name} has changed:\n{before}\n{after}")

    def ended(self, what: str, node: Node, words: str, logged: int = 0) -> None:
        code, log = node.end_code(), node.log.read_text()[logged:]
        line = next((line for line in log.splitlines() if words in line), None)
        if code != 1 or line is None:
            raise Unexpected(f"{what}: {node.name} ended with exit code {code}, and does not say {words!r}:\n{log}")
        print(f"{what}: {line[:300]}", flush=True)

    def stops(self, what: str, names: str, words: str, cause: Callable[[], object]) -> None:
        """Nodes that run and must stop themselves; then a start of each must fail in the same way."""
        logged = {name: len(self.cluster.nodes[name].log.read_text()) for name in names}
        cause()
        for name in names:
            self.ended(f"{what}, while it runs", self.cluster.nodes[name], words, logged[name])

    def backup(self, name: str, to: Path) -> None:
        self.cluster.nodes[name].run("backup", "--url", self.cluster.nodes[name].url, "--to", to)

    def restore(self, name: str, source: Path) -> Node:
        """A node from a backup of another one."""
        node = self.cluster.add(name) if name not in self.cluster.nodes else self.cluster.nodes[name]
        node.wipe()
        node.run("restore", "--from", source)
        return node

    # Cases.

    def run(self) -> None:
        cluster = self.cluster
        cluster.init("a")
        cluster.start()
        client = Client(cluster.nodes["a"].address)
        for user in READERS:
            client.call("PUT", f"/v1/users/{user}/following/{AUTHOR}")
        client.close()
        self.publish("a")
        self.retention()
        self.foreign()
        self.cut()
        self.strangers()
        self.later_version()
        self.anew()
        self.recovery()

    def retention(self) -> None:
        """Records that a node lacks are gone; an empty node and an old backup lack them too."""
        cluster, old, new = self.cluster, self.directory / "old.tar", self.directory / "new.tar"
        self.backup("a", old)
        cluster.stop("c")
        end = self.publish("a")
        kafka_tools.delete_records(self.brokers, TOPIC, end)
        self.refuses("retention past a node", cluster.nodes["c"], "the records between are gone")
        self.refuses("a backup older than retention", self.restore("d", old), "the records between are gone")
        self.refuses("an empty node after the beginning is gone", cluster.add("e"), "a node cannot start empty")
        # The message says how to go on.
        self.backup("a", new)
        self.restore("c", new).begin()
        cluster.wait_ready()
        for name in "de":
            del cluster.nodes[name]

    def foreign(self) -> None:
        """The topic of another cluster, and one of another program."""
        cluster, node = self.cluster, self.cluster.nodes["b"]
        cluster.stop("b")
        other = cluster.add("x")
        other.configure(other.settings | {"cluster.topic": "other"})
        cluster.init("x")
        kept = node.settings
        node.configure(kept | {"cluster.topic": "other"})
        self.refuses("the log of another cluster", node, "cut or made anew")
        other.begin()
        cluster.wait_ready()
        client = Client(other.address)
        for number in range(40):
            client.call("PUT", f"/v1/users/somebody/following/{number + 1}")
        client.close()
        cluster.stop("x")
        self.refuses("the longer log of another cluster", node, "this is another log")
        settings = {"message_timestamp_type": "LogAppendTime", "min_insync_replicas": 2, "retention_ms": -1, "max_message_bytes": 40 << 20}
        self.brokers.create_topic("foreign", **settings)
        kafka_tools.append(self.brokers, "foreign", "not a record of Tideline")
        stranger = cluster.add("y")
        stranger.configure(stranger.settings | {"cluster.topic": "foreign"})
        self.refuses("a topic of another program", stranger, "the topic is not the command log of a cluster")
        node.configure(kept)
        node.begin()
        for name in "xy":
            del cluster.nodes[name]
        cluster.wait_ready()

    def cut(self) -> None:
        """The end of the log is lost; then other records stand in its place."""
        cluster, kept = self.cluster, self.directory / "logs"
        cluster.stop()
        kafka_tools.copy_logs(self.brokers, kept)
        cluster.start("a", "b")
        self.publish("a", 5)
        self.publish("b", 5)
        cluster.stop("a")
        self.stops("a log that is cut", "b", "this node has stopped", lambda: kafka_tools.set_back(self.brokers, kept))
        self.refuses("a log that was cut", cluster.nodes["a"], "it was cut or made anew")
        # This node has applied nothing of what is gone.
        cluster.start("c")
        self.publish("c", 60)
        self.refuses("a log that was cut and goes on", cluster.nodes["a"], "another one: this is another log, or it was cut")
        self.backup("c", self.directory / "cut.tar")
        for name in "ab":
            self.restore(name, self.directory / "cut.tar").begin()
        cluster.wait_ready()

    def later_version(self) -> None:
        """A record of a later version: all nodes stop."""
        position = self.publish("a")
        last = json.loads(kafka_tools.record(self.brokers, TOPIC, position - 1))
        later = json.dumps(last | {"level": 1000, "number": 10**6}, separators=(",", ":"))
        words, append = "a later version of Tideline wrote", lambda: kafka_tools.append(self.brokers, TOPIC, later)
        self.stops("a record of a later version", "abc", words, append)
        self.refuses("a record of a later version", self.cluster.nodes["a"], words)

    def anew(self) -> None:
        """The topic is deleted and made again."""
        cluster = self.cluster
        kafka_tools.delete_topic(self.brokers, TOPIC)
        self.refuses("a topic that was deleted", cluster.nodes["a"], "does not exist")
        node = cluster.nodes["a"]
        code, told = node.command("cluster init").wait(), node.output("cluster init")
        if code != 1 or "tideline cluster recover" not in told:
            raise Unexpected(f"init with the directory of a node: {code} {told}")
        empty = cluster.add("f")
        if "is made" not in (made := cluster.init("f")):
            raise Unexpected(f"a refused init has made the topic: {made}")
        self.refuses("a topic that was made anew", cluster.nodes["a"], "cut or made anew")
        for name in "bc":
            cluster.nodes[name].wipe()
            cluster.nodes[name].begin()
        empty.begin()
        cluster.wait_ready()
        self.publish("b", 20)

        def again() -> None:
            kafka_tools.delete_topic(self.brokers, TOPIC)
            # By another program: a node would ask for a record that was never there.
            Tideline(self.given.binary, self.directory / "nothing", empty.settings).run("cluster init")

        self.stops("a topic that is made anew", "bcf", "this node has stopped", again)
        self.refuses("a topic that was made anew", cluster.nodes["b"], "cut or made anew")

    def strangers(self) -> None:
        """Entries of other programs and of other logs: all nodes pass over them, also at a start."""
        cluster = self.cluster
        last = json.loads(kafka_tools.record(self.brokers, TOPIC, self.publish("a") - 1))
        other = json.dumps(last | {"log": "0123456789abcdef", "level": 1000}, separators=(",", ":"))
        for text in ("not a record of Tideline", other):
            for compression in ("none", "gzip", "zstd"):
                kafka_tools.append(self.brokers, TOPIC, text, compression)
        before = self.publish("b")
        kafka_tools.transact(self.brokers, TOPIC, 20)
        self.publish("b")
        cluster.meet()
        for node in cluster.nodes.values():
            node.stop()
            node.begin()
            cluster.wait_ready()
        warned = [node.name for node in cluster.nodes.values() if "is passed over" in node.log.read_text()]
        if warned != list(cluster.nodes):
            raise Unexpected(f"of what they pass over, only {warned} warn")
        print(f"entries of others are passed over, {cluster.meet() - before} of them around transactions", flush=True)

    def recovery(self) -> None:
        """The nodes of the log that is lost. The one that has applied most begins another log; the others start from a backup
        of it."""
        cluster = self.cluster
        told = {name: cluster.nodes[name].run("cluster recover", "--check") for name in "bcf"}
        places = {name: int(text.split("the position ")[1].split()[0]) for name, text in told.items()}
        best = max(places, key=lambda name: places[name])
        shown = self.content(cluster.nodes[best])
        for node in cluster.nodes.values():
            node.configure(node.settings | {"cluster.topic": "anew"})
        print(cluster.nodes[best].run("cluster recover"), flush=True)
        if self.content(cluster.nodes[best]) != shown:
            raise Unexpected("the data has changed")
        cluster.start(best)
        self.backup(best, self.directory / "anew.tar")
        for name in cluster.nodes:
            if name != best:
                self.restore(name, self.directory / "anew.tar").begin()
        cluster.wait_ready()
        self.publish("c")
        cluster.meet()


def run(given: argparse.Namespace, directory: Path, seed: int) -> bool:
    rng = random.Random(seed)
    settings = lambda: {**chaos.settings(rng), "topics.limit": "20", "timeline.inbox_limit": "1000", "cluster.timeout": "5s"}
    with Cluster(given.binary, directory, settings) as cluster:
        Guards(given, cluster, directory).run()
    return True
