#!/usr/bin/env python3
"""The costs of a cluster with one, two and three nodes on this machine: processor time for each publish, delivery and
page, the latency of strict, session and local reads, how fast a node catches up, and how long clients wait when a node
or a broker is killed. The brokers come from Maven Central. Needs Python 3.10, Java and Maven.

Compare ratios of one run: the brokers, the nodes and the load share the processors of the machine.
"""

import argparse
import http.client
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

# Servers, clients and the model are those of the tests.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from support.client import Client
from support.cluster import Cluster, Node
from support.expect import Unexpected
from support.kafka_jars import missing
from support.program import arguments, judge

SENDERS = 16
FOLLOWERS = 500


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--publishes", type=int, default=4000, help="publishes of each kind")
    parser.add_argument("--pages", type=int, default=20_000, help="pages of each kind")
    return parser.parse_args()


class Caller:
    """One connection to a node, kept open."""

    def __init__(self, node: Node):
        self.connection = http.client.HTTPConnection(*node.address, timeout=30)

    def __call__(self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
        raw = None if body is None else json.dumps(body)
        self.connection.request(method, path, raw, {"Content-Type": "application/json"} | (headers or {}))
        answer = self.connection.getresponse()
        answer.read()
        if answer.status >= 300:
            raise Unexpected(f"{method} {path}: {answer.status}")
        return answer


def deliveries(node: Node) -> float:
    return Client(node.address).figures()["tideline_deliveries_total"]


def spread(nodes: list[Node], calls: Iterable[Callable[[Caller], object]]) -> float:
    """Makes calls from some threads, each at one of the nodes; returns the seconds."""
    work, lock, failed = iter(list(calls)), threading.Lock(), []

    def send(number: int) -> None:
        caller = Caller(nodes[number % len(nodes)])
        try:
            while not failed:
                with lock:
                    call = next(work, None)
                if call is None:
                    return
                call(caller)
        except Exception as error:  # told by the caller of `spread`
            failed.append(error)

    began = time.monotonic()
    threads = [threading.Thread(target=send, args=(number,)) for number in range(SENDERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return time.monotonic() - began


def publish(author: int) -> Callable[[Caller], object]:
    return lambda caller: caller("POST", "/v1/content", {"author_id": author, "text": "A line of usual length, as people write them."})


def settle(cluster: Cluster) -> None:
    """Waits until all is applied and delivered."""
    cluster.meet()
    last = None
    while (now := [deliveries(node) for node in cluster.nodes.values()]) != last:
        last = now
        time.sleep(1.0)


def costs(cluster: Cluster, given: argparse.Namespace) -> list[float]:
    """Microseconds of processor time of one node: for a publish, for a publish with its deliveries, and for a page; and
    the deliveries of one node."""
    nodes = list(cluster.nodes.values())
    follow = [lambda caller, user=user: caller("PUT", f"/v1/users/{user}/following/1") for user in range(1000, 1000 + FOLLOWERS)]
    spread(nodes, follow)
    settle(cluster)

    def used(calls: list[Callable[[Caller], object]]) -> float:
        before = [node.cpu_seconds() for node in nodes]
        spread(nodes, calls)
        settle(cluster)
        return statistics.mean(node.cpu_seconds() - start for node, start in zip(nodes, before)) / len(calls) * 1e6

    plain = used([publish(10_000 + number) for number in range(given.publishes)])
    before = statistics.mean(deliveries(node) for node in nodes)
    pushed = used([publish(1) for _ in range(given.publishes)])
    delivered = statistics.mean(deliveries(node) for node in nodes) - before
    page = used([
        lambda caller, user=1000 + number % FOLLOWERS: caller("GET", f"/v1/users/{user}/content?view=ids&consistency=local")
        for number in range(given.pages)
    ]) * len(nodes)
    return [plain, pushed, delivered, page]


def latencies(node: Node, count: int = 2000) -> None:
    caller = Caller(node)
    position = caller("GET", "/v1/users/1000?consistency=strict").headers["Tideline-Position"]
    for kind in ("strict", "session", "local"):
        took = []
        for _ in range(count):
            began = time.monotonic()
            caller("GET", f"/v1/users/1000/content?view=ids&consistency={kind}", headers={"Tideline-Position": position})
            took.append((time.monotonic() - began) * 1e3)
        took.sort()
        print(f"  {kind:8} read: p50 {took[count // 2]:.2f} ms, p99 {took[count * 99 // 100]:.2f} ms", flush=True)


def catch_up(cluster: Cluster, given: argparse.Namespace) -> None:
    """A node that was away applies what it lacks."""
    *others, away = cluster.nodes.values()
    away.stop()
    took = spread(others, [publish(10_000 + number) for number in range(5 * given.publishes)])
    print(f"  {5 * given.publishes / took:.0f} publishes a second through {len(others)} nodes", flush=True)
    away.begin()
    while not away.is_ready():
        time.sleep(0.02)
    log = away.log.read_text().rpartition("joined the cluster")[0].rpartition("\n")[2]
    joined = time.mktime(time.strptime(log[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone + float(log[19:26])
    print(f"  a node catches up with {5 * given.publishes / (time.time() - joined):.0f} commands a second", flush=True)


def failover(cluster: Cluster, what: str, kill: Callable[[], None], patience: float = 40.0) -> None:
    """The longest time between two answers of a client that asks another node when one does not answer."""
    nodes, place, last, longest = list(cluster.nodes.values()), 0, time.monotonic(), 0.0
    end, killed = time.monotonic() + patience, False
    began = time.monotonic()
    while time.monotonic() < end and not (killed and longest > 0.05 and time.monotonic() - began > 15):
        if not killed and time.monotonic() - began > 1:
            kill()
            killed = True
        try:
            caller = Caller(nodes[place])
            caller.connection.timeout = 3
            caller("POST", "/v1/content", {"author_id": 7, "text": "x"})
            caller("GET", "/v1/users/1000/timeline?view=ids&limit=1")
            now = time.monotonic()
            longest, last = max(longest, now - last), now
        except (OSError, http.client.HTTPException, Unexpected):
            place = (place + 1) % len(nodes)
            time.sleep(0.02)
    print(f"  {what} is killed: no answer to a publish and a strict page for {longest:.2f} s at most", flush=True)


def run(given: argparse.Namespace, directory: Path) -> str:
    found = []
    for count in (1, 2, 3):
        names = "abc"[:count]
        print(f"{count} node{'s' if count > 1 else ''}", flush=True)
        with Cluster(given.binary, directory / str(count), dict, nodes=names) as cluster:
            cluster.init("a")
            cluster.start()
            found.append(costs(cluster, given))
            plain, pushed, delivered, page = found[-1]
            each = (pushed - plain) * given.publishes / delivered
            print(
                f"  processor time of each node: publish {plain:.0f} µs, delivery {each:.3f} µs; deliveries of each node "
                f"{delivered:.0f}; a page {page:.0f} µs",
                flush=True,
            )
            latencies(cluster.nodes["a"])
            if count == 3:
                catch_up(cluster, given)
                cluster.meet()
                failover(cluster, "a node", cluster.nodes["a"].kill)
                cluster.start("a")
                leader = cluster.brokers.leader("tideline")
                failover(cluster, "the leader of the brokers", lambda: cluster.brokers.kill(leader))
    ones = found[0]
    for count, (plain, pushed, delivered, page) in zip((1, 2, 3), found):
        print(
            f"{count}: publish {plain / ones[0]:.2f}, deliveries of a node {delivered / ones[2]:.2f}, page {page / ones[3]:.2f} "
            "times that of one node"
        )
    return "all is measured"


def main() -> None:
    given = options()
    if reason := missing():
        sys.exit(f"no cluster here: {reason}. On Debian: apt-get install openjdk-17-jre-headless maven")
    judge(given, lambda directory, _: run(given, directory))


if __name__ == "__main__":
    main()
