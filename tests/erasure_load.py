#!/usr/bin/env python3
"""Erases a user with many items and followers while others read and write.

Tells how soon nothing of the user is shown, how long the erasure takes, the memory at its peak, and the latency of others
meanwhile against a quiet time before, in one run. Needs only Python 3.10 or newer.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from support.client import Client
from support.expect import Unexpected
from support.probes import CHANGES, READS, Probes, slowed, verdict
from support.program import arguments, judge
from support.server import Tideline

STAR = 9_000_000
# Other users; they follow the user, too.
OTHERS = 1000


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--followers", type=int, default=1_000_000)
    parser.add_argument("--quiet", type=float, default=30, help="seconds of the quiet time")
    parser.add_argument("--longest", type=float, default=1200, help="seconds after which the erasure has failed")
    parser.add_argument("--times", type=float, default=2, help="a p99 may be so many times the quiet one; 0 for any")
    return parser.parse_args()


def fill(server: Tideline, given: argparse.Namespace) -> None:
    """Followers, items of the user, and a small world of others."""
    directory = server.directory
    with open(directory / "follows.csv", "w") as follows, open(directory / "content.csv", "w") as content:
        for reader in range(1, given.followers + 1):
            follows.write(f"{reader},{STAR}\n")
            if reader <= OTHERS:
                follows.writelines(f"{reader},{1 + (reader * step) % OTHERS}\n" for step in (7, 11, 13) if (reader * step) % OTHERS + 1 != reader)
        for number in range(given.items):
            content.write(f"{10_000_000 + number},{STAR},{1_700_000_000_000 + number},text of the user {number}\n")
        for number in range(20 * OTHERS):
            content.write(f"{1 + number},{1 + number % OTHERS},{1_700_000_000_500 + 40 * number},text of another\n")
    # Items first: nobody follows their authors yet, so no fan-out looks at a million followers for each.
    for what in ("content", "follows"):
        server.run("import", f"--{what}", directory / f"{what}.csv")


def shows_nothing(client: Client, when: str) -> None:
    """Neither the pages of the user nor those of a follower have anything of the user."""
    shown = [client.get(path) for path in (
        f"/v1/users/{STAR}/content", f"/v1/users/{STAR}/followers", "/v1/users/1/timeline?limit=100", "/v1/users/1/following")]
    if f'"{STAR}"' in json.dumps([page["items"] for page in shown]):
        raise Unexpected(f"something of the user is shown {when}")


def erase(server: Tideline, given: argparse.Namespace) -> list[str]:
    client, requests = Client(server.address), READS | CHANGES
    probing = Probes({"server": server.address}, requests, on_time=True)
    time.sleep(given.quiet)
    quiet, before = probing.end(), server.memory_mb("VmHWM")
    probing = Probes({"server": server.address}, requests, on_time=True)
    begin = time.monotonic()
    status, body = client.exchange("DELETE", f"/v1/users/{STAR}")
    answered = time.monotonic() - begin
    if status != 202:
        raise Unexpected(f"the erasure is refused: {status} {body!r}")
    shows_nothing(client, "after the answer")
    print(f"erased for readers after {1000 * answered:.1f} ms", flush=True)
    while (erasure := client.get("/v1/admin/erasures")["items"][0])["state"] != "over":
        if time.monotonic() - begin > given.longest:
            raise Unexpected(f"not over after {given.longest:.0f} s: {erasure}")
        shows_nothing(client, f"during the erasure: {erasure}")
        time.sleep(0.5)
    took = time.monotonic() - begin
    print(f"erased from disk in {took:.1f} s, {erasure['rows']} rows, {erasure['rows'] / took:.0f} a second")
    print(f"memory at its peak: {before:.0f} MiB before, {server.memory_mb('VmHWM'):.0f} MiB after")
    return slowed(quiet, probing.end(), given.times)


def work(given: argparse.Namespace, directory: Path) -> str:
    # Each follow is a change of its own, which would wait for the device.
    server = Tideline(given.binary, directory, {"storage.durability": "os"})
    begin = time.monotonic()
    fill(server, given)
    server.configure({})
    print(f"imported in {time.monotonic() - begin:.0f} s, {server.disk_mb():.0f} MiB", flush=True)
    with server:
        failed = erase(server, given)
    print(server.check())
    return verdict(failed)


def main() -> None:
    given = options()
    judge(given, lambda directory, _: work(given, directory))


if __name__ == "__main__":
    sys.exit(main())
