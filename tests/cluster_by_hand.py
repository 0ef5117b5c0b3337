#!/usr/bin/env python3
"""A cluster to try: three brokers and three nodes on this machine, until Ctrl-C. The brokers come from Maven Central.

Needs Python 3.10, Java and Maven; says what is missing.
"""

import argparse
import signal
import sys
import time
from pathlib import Path

from support.cluster import Cluster
from support.kafka_jars import directory_of_jars, is_whole, missing
from support.program import arguments, judge

EXAMPLES = """Try, in another shell:

  curl -X PUT {a}/v1/users/2/following/1
  curl {b}/v1/content -d '{{"author_id": 1, "text": "Hello"}}'
  curl {c}/v1/users/2/timeline                     # strict: all that any node acknowledged
  curl {c}/v1/users/2/timeline?consistency=local   # what this node has
  curl -i {a}/readyz
  {status}
  kill -9 {pid}    # node a, whose address then answers no more; the others go on

The logs of the nodes are {directory}/*/server.log. Ctrl-C ends all, and removes the data."""


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--seconds", type=float, help="end after so long, for a test")
    return parser.parse_args()


def serve(given: argparse.Namespace, directory: Path) -> str:
    print("three brokers start …", flush=True)
    with Cluster(given.binary, directory, dict) as cluster:
        print(f"brokers: {cluster.brokers.bootstrap}\n{cluster.init('a').strip()}", flush=True)
        cluster.start()
        urls = {name: node.url for name, node in cluster.nodes.items()}
        for name, url in urls.items():
            print(f"node {name}: {url}")
        first = cluster.nodes["a"]
        environment = " ".join(f"TIDELINE__{key.replace('.', '__').upper()}='{value}'" for key, value in cluster.own("a").items())
        assert first.process is not None
        status = f"env {environment} \\\n    {given.binary} cluster status"
        print(EXAMPLES.format(**urls, status=status, pid=first.process.pid, directory=directory), flush=True)
        end = time.monotonic() + (given.seconds or float("inf"))
        told: set[str] = set()
        while time.monotonic() < end:
            time.sleep(0.5)
            for node in cluster.nodes.values():
                if not node.runs and node.name not in told:
                    told.add(node.name)
                    print(f"node {node.name} has ended; the end of its log:\n{node.tail(3)}", flush=True)
        cluster.stop()
    return "all ends"


def main() -> None:
    given = options()
    if reason := missing():
        sys.exit(f"no cluster here: {reason}. On Debian: apt-get install openjdk-17-jre-headless maven")
    if not is_whole(directory_of_jars()):
        print(f"the brokers come from Maven Central, 45 MB, into {directory_of_jars()}", flush=True)
    # Like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        judge(given, lambda directory, _: serve(given, directory))
    except KeyboardInterrupt:
        print("\nall ends", flush=True)


if __name__ == "__main__":
    main()
