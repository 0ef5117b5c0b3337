"""A node that alone cannot reach the command log: the others answer the reads of its users, with their own state."""

import argparse
import random
import time
from pathlib import Path

import chaos
from support.cluster import Cluster
from support.doors import CUT, OPEN
from support.expect import Unexpected, until

from .paused_leader import Watched, change

AUTHOR = "author"
# So many readers that each node owns some.
READERS = [f"reader {number}" for number in range(12)]
# Longest time until the node notices that it is cut off, seconds.
PATIENCE = 60.0
# Longest read of a user whose owner is cut off, seconds: far below the time that an owner may take to answer.
LONGEST = 1.5


def shows(cluster: Cluster, name: str, consistency: str, *allowed: str) -> float:
    """All readers see one of these texts first at a node. Returns the seconds of the slowest read."""
    slowest = 0.0
    for reader in READERS:
        begin = time.monotonic()
        texts = Watched(cluster.nodes[name], reader.replace(" ", "%20")).texts(consistency)
        slowest = max(slowest, time.monotonic() - begin)
        if not texts or texts[0] not in allowed:
            raise Unexpected(f"a {consistency} read of {reader} at {name} shows {texts and texts[:1]}, not {allowed}")
    return slowest


def run(given: argparse.Namespace, directory: Path, seed: int) -> bool:
    rng = random.Random(seed)
    settings = lambda: {**chaos.settings(rng), "cluster.timeout": "5s"}
    with Cluster(given.binary, directory, settings, doors=True) as cluster:
        assert cluster.doors is not None
        cluster.init("a")
        cluster.start()
        near = cluster.nodes["a"]
        for reader in READERS:
            change(near, "PUT", f"/v1/users/{reader.replace(' ', '%20')}/following/{AUTHOR}")
        for number in range(given.times):
            before, after = f"before {number}", f"after {number}"
            change(near, "POST", "/v1/content", {"author_id": AUTHOR, "text": before})
            for name in cluster.nodes:
                shows(cluster, name, "strict", before)
                shows(cluster, name, "local", before)
            cluster.doors.set(CUT, *cluster.pairs("b"))
            until("b, cut off, is not ready", lambda: not cluster.nodes["b"].is_ready(), PATIENCE)
            change(near, "POST", "/v1/content", {"author_id": AUTHOR, "text": after})
            # Local ones first, because a strict one finds out that b does not answer.
            local, strict = (shows(cluster, "a", consistency, after) for consistency in ("local", "strict"))
            if max(local, strict) > LONGEST:
                raise Unexpected(f"reads of users of the node that is cut off take up to {max(local, strict):.1f} s")
            # A node to which it passes such a read may have more.
            shows(cluster, "b", "local", before, after)
            cluster.doors.set(OPEN)
            cluster.wait_ready()
            shows(cluster, "b", "strict", after)
            print(f"{number + 1}: b was cut off; slowest read at a: local {local * 1000:.0f} ms, strict {strict * 1000:.0f} ms", flush=True)
        cluster.stop_and_check()
    return True
