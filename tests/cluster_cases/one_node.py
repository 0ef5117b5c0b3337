"""One node alone is at fault: its device or its link is slow, what it has sent lies in a socket, its directory runs twice, or
a backup of it is compared beside it."""

import argparse
import base64
import random
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import chaos
from support.client import ask
from support.cluster import Cluster, Node
from support.doors import HELD, OPEN, SLOW
from support.expect import Impossible, Unexpected, until
from support.preload import SlowWrites
from support.server import free_port

from .paused_leader import change

AUTHOR, READER = "author", "reader"
TIMEOUT = 2.0
# Requests to b end before the node would give up, and callers have answers after this time.
REQUEST = 3.0
ANSWERED = REQUEST + 1
# Longest strict read at a slow node, seconds: it is passed on after one.
LONGEST = 4.0
PATIENCE = 60.0
QUEUED = 40
# A batch of 15 MB.
LARGE_ITEMS = 312


def send(node: Node, method: str, path: str, body: object = None) -> tuple[int, str]:
    """The status of one change, and the code of a problem."""
    answer = ask(node.address, method, path, body, timeout=60)
    return answer.status, answer.body["code"] if answer.status >= 400 else ""


def publish(node: Node, text: str) -> tuple[int, str]:
    return send(node, "POST", "/v1/content", {"author_id": AUTHOR, "text": text})


def own_page(node: Node) -> list[str]:
    """The newest texts of the author in a strict read, which every node answers for itself."""
    status, page = node.ask(f"/v1/users/{AUTHOR}/content?limit=100&consistency=strict", timeout=30.0)
    if status != 200:
        raise Unexpected(f"a strict read at {node.name}: {status} {page}")
    return [item["text"] for item in page["items"]]


def wait_for(what: str, holds: Callable[[], object]) -> float:
    begin = time.monotonic()
    until(what, holds, PATIENCE, pause=0.1)
    return time.monotonic() - begin


def slow_device(cluster: Cluster, slow: SlowWrites) -> None:
    """Each write of c takes 100 ms longer, while changes come faster. It leaves its place, and passes its reads on."""
    near, far, stop = cluster.nodes["a"], cluster.nodes["c"], threading.Event()

    def load() -> None:
        while not stop.is_set():
            publish(near, "load")

    threads = [threading.Thread(target=load) for _ in range(8)]
    slow.set(100)
    for thread in threads:
        thread.start()
    try:
        asked: list[float] = []

        def is_out() -> bool:
            begin = time.monotonic()
            own_page(far)
            asked.append(time.monotonic() - begin)
            return not far.is_ready()

        left = wait_for("c leaves its place", is_out)
        lag, longest = 0, 0.0
        for number in range(10):
            text = f"mark {number}"
            change(near, "POST", "/v1/content", {"author_id": AUTHOR, "text": text})
            begin = time.monotonic()
            texts = own_page(far)
            longest = max(longest, time.monotonic() - begin)
            lag = max(lag, far.ask("/v1/admin/cluster")[1]["lag"] or 0)
            if text not in texts:
                raise Unexpected(f"a strict read at the slow node shows {texts}, not {text}")
            if far.is_ready():
                raise Unexpected(f"the slow node is ready, with a lag of {lag}")
        if longest > LONGEST or max(asked) > LONGEST:
            raise Unexpected(f"strict reads at the slow node take up to {max(longest, *asked):.1f} s")
        others = [name for name in "ab" if not cluster.nodes[name].is_ready()]
        if others:
            raise Unexpected(f"{others} are not ready, because c is slow")
    finally:
        stop.set()
        slow.set(0)
        for thread in threads:
            thread.join()
    back = wait_for("c is ready again", far.is_ready)
    print(
        f"c, slow, left its place after {left:.1f} s; lag {lag}; strict reads there: {max(asked):.2f} s at most before, "
        f"{longest:.2f} s after; ready again after {back:.1f} s", flush=True,
    )


def held_changes(cluster: Cluster) -> None:
    """All that b sends lies in a socket. When it comes, the callers have answers, and have made other changes at a."""
    assert cluster.doors is not None
    near, far = cluster.nodes["a"], cluster.nodes["b"]
    hidden = f"/v1/users/{AUTHOR}/hidden-from/{READER}"
    follow = f"/v1/users/{READER}/following/other"
    change(near, "PUT", hidden)
    cluster.meet()
    answers: list[tuple[str, int, str, float]] = []

    def ask(what: str, *request) -> None:
        begin = time.monotonic()
        status, code = send(far, *request)
        answers.append((what, status, code, time.monotonic() - begin))

    cluster.doors.set(HELD, *cluster.pairs("b"))
    requests = [("publish", "POST", "/v1/content", {"author_id": AUTHOR, "text": f"held {n}"}) for n in range(QUEUED)]
    requests += [("unhide", "DELETE", hidden), ("follow", "PUT", follow)]
    threads = [threading.Thread(target=ask, args=request) for request in requests]
    for thread in threads:
        thread.start()
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    made = [answer for answer in answers if answer[1] < 300]
    slowest = max(answer[3] for answer in answers)
    if made or slowest > ANSWERED:
        raise Unexpected(f"without the log, after {slowest:.1f} s: {made}")
    change(near, "PUT", hidden)
    change(near, "DELETE", follow)
    cluster.doors.set(OPEN)
    cluster.wait_ready()
    cluster.meet()
    late = far.log.read_text().count("came too late")
    for node in cluster.nodes.values():
        relation = node.ask(f"/v1/users/{AUTHOR}/relations?targets={READER}&consistency=strict")[1]["items"][0]
        other = node.ask(f"/v1/users/{READER}/relations?targets=other&consistency=strict")[1]["items"][0]
        shown = own_page(node)
        if not relation["hidden"] or other["relation"] != "none" or any(text.startswith("held") for text in shown):
            raise Unexpected(f"at {node.name} a change came after its caller had an answer: {relation}, {other}, {shown}")
    codes = Counter(code for _, _, code, _ in answers)
    print(f"{len(answers)} held changes: {dict(codes)}, slowest {slowest:.1f} s; {late} records came too late, nothing changed", flush=True)


def slow_link(cluster: Cluster, rng: random.Random) -> None:
    """A record takes longer to c than a leader that answers may be silent."""
    assert cluster.doors is not None
    texts = (base64.b64encode(rng.randbytes(36_000)).decode() for _ in range(LARGE_ITEMS))
    items = [{"author_id": "other", "content_id": f"large {n}", "text": text} for n, text in enumerate(texts)]
    cluster.doors.set(SLOW, *cluster.pairs("c"))
    begin = time.monotonic()
    change(cluster.nodes["a"], "POST", "/v1/content/batch", {"items": items})
    cluster.meet()
    took = time.monotonic() - begin
    cluster.doors.set(OPEN)
    cluster.wait_ready()
    print(f"a record of {LARGE_ITEMS * 48_000 / 1e6:.0f} MB came to c over 2 MB/s after {took:.1f} s", flush=True)


def beside(cluster: Cluster, directory: Path) -> None:
    """A backup of b is compared while b runs. Of the two, b goes on."""
    node, tar, place = cluster.nodes["b"], directory / "b.tar", directory / "beside"
    copy = Node(node.binary, place, "b", free_port(), node.settings)
    node.run("backup", "--url", node.url, "--to", tar)
    copy.run("restore", "--from", tar)
    copy.run("check", "--against", cluster.nodes["a"].url)
    change(node, "POST", "/v1/content", {"author_id": AUTHOR, "text": "b goes on"})
    equal = [line for line in copy.output("check").splitlines() if line.endswith("are equal")]
    print(f"a backup of b, while b goes on: {equal}", flush=True)


def twin(cluster: Cluster, directory: Path) -> None:
    """A copy of the directory of b is started beside it: the older run stops."""
    older, copy = cluster.nodes["b"], directory / "copy"
    older.stop()
    copy.mkdir()
    shutil.copytree(older.data, copy / "data")
    older.begin()
    cluster.wait_ready()
    younger = Node(older.binary, copy, "b", free_port(), older.settings)
    try:
        for number, (old, new) in enumerate(((older, younger), (younger, older))):
            before = len(old.log.read_text())
            new.begin()
            code, log = old.end_code(), old.log.read_text()[before:]
            if code != 1 or 'another server runs as the node "b"' not in log:
                raise Unexpected(f"the older run of b ended with exit code {code}:\n{log}")
            wait_for("the younger run is ready", new.is_ready)
            for name, node in (("a", cluster.nodes["a"]), ("b", new)):
                change(node, "POST", "/v1/content", {"author_id": AUTHOR, "text": f"twin {number} {name}"})
            for node in (cluster.nodes["c"], new):
                if (shown := own_page(node)[:2]) != [f"twin {number} b", f"twin {number} a"]:
                    raise Unexpected(f"{node.name} shows {shown}")
    finally:
        younger.kill()
    print("of two runs of b, the older stopped, twice", flush=True)


def run(given: argparse.Namespace, directory: Path, seed: int) -> bool:
    rng = random.Random(seed)
    settings = lambda: {**chaos.settings(rng), "fanout.queue": "100000", "cluster.timeout": f"{TIMEOUT}s"}
    with Cluster(given.binary, directory, settings, doors=True) as cluster:
        cluster.init("a")
        cut_short = cluster.nodes["b"]
        cut_short.configure(cut_short.settings | {"server.request_timeout": f"{REQUEST}s"})
        try:
            slow: SlowWrites | None = SlowWrites(directory)
            cluster.nodes["c"].preload = slow.environment
        except Impossible as why:
            print(f"no device is slow: {why}", flush=True)
            slow = None
        cluster.start()
        change(cluster.nodes["a"], "PUT", f"/v1/users/{READER}/following/{AUTHOR}")
        if slow:
            slow_device(cluster, slow)
        slow_link(cluster, rng)
        held_changes(cluster)
        beside(cluster, directory)
        twin(cluster, directory)
        cluster.meet()
        print(cluster.digests())
        cluster.stop_and_check()
    return True
