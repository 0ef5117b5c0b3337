#!/usr/bin/env python3
"""Erases a user with many items and followers while others read and write.

Tells how soon nothing of the user is shown, how long the erasure takes, the memory at its peak, and the latency of others
meanwhile against a quiet time before, in one run. Needs only Python 3.10 or newer.
"""

import argparse
import json
import os
import random
import sys
import threading
import time
from pathlib import Path

from support.client import Client
from support.server import Tideline, Workspace

STAR = 9_000_000
# Other users; they follow the user, too.
OTHERS = 1000
THREADS = 8


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--binary", type=Path, default=Path(target, "release", "tideline"))
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--followers", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=200, help="calls of others a second")
    parser.add_argument("--quiet", type=float, default=30, help="seconds of the quiet time")
    parser.add_argument("--longest", type=float, default=1200, help="seconds after which the erasure has failed")
    parser.add_argument("--ratio", type=float, default=2, help="highest p99 of others against the quiet time; 0 for any")
    parser.add_argument("--tmp", help="where to put the temporary data directory")
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
        code = server.command("import", f"--{what}", directory / f"{what}.csv").wait()
        if code != 0:
            raise SystemExit(f"tideline import: exit code {code}:\n{server.output('import')}")


class Others:
    """Reads, publishes and follows of others at a fixed rate; each call is timed from when it was due."""

    def __init__(self, server: Tideline, rate: int):
        self.server, self.pause = server, THREADS / rate
        self.times: dict[str, list[float]] = {"reads": [], "changes": []}
        self.failed: list[str] = []
        self.ends = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(seed,)) for seed in range(THREADS)]

    def run(self, seed: int) -> None:
        client, chance = Client(self.server.address), random.Random(seed)
        due = time.monotonic() + seed * self.pause / THREADS
        while not self.ends.is_set():
            time.sleep(max(0.0, due - time.monotonic()))
            user, other = chance.randint(1, OTHERS), chance.randint(1, OTHERS)
            what = chance.random()
            if what < 0.8:
                status, body = client.exchange("GET", f"/v1/users/{user}/timeline?limit=20")
            elif what < 0.95 or user == other:
                status, body = client.exchange("POST", "/v1/content", {"author_id": user, "text": "news"})
            else:
                status, body = client.exchange("PUT", f"/v1/users/{user}/following/{other}", {})
            self.times["reads" if what < 0.8 else "changes"].append(time.monotonic() - due)
            if status >= 300:
                self.failed.append(f"{status} {body[:200]!r}")
            elif what < 0.8 and f'"author_id":"{STAR}"'.encode() in body and self.erased:
                self.failed.append(f"an item of the user is shown to {user}")
            due += self.pause

    erased = False

    def p99(self) -> dict[str, float]:
        """The 99th percentiles so far, milliseconds: of all calls, of reads and of changes; begins anew."""
        parts, self.times = self.times, {"reads": [], "changes": []}
        return {what: quantile(times, 0.99) for what, times in {"all": sum(parts.values(), []), **parts}.items()}


def quantile(times: list[float], part: float) -> float:
    """The time that a part of the calls did not exceed, milliseconds."""
    return 1000 * sorted(times)[int(part * len(times))] if times else 0.0


def erase(server: Tideline, given: argparse.Namespace) -> None:
    client, others = Client(server.address), Others(server, given.rate)
    for thread in others.threads:
        thread.start()
    try:
        time.sleep(3)
        others.p99()
        time.sleep(given.quiet)
        quiet, before = others.p99(), server.peak_memory_mb()
        begin = time.monotonic()
        status, body = client.exchange("DELETE", f"/v1/users/{STAR}")
        answered = time.monotonic() - begin
        if status != 202:
            raise SystemExit(f"the erasure is refused: {status} {body!r}")
        # Reads that began before the answer may still show the user.
        threading.Timer(1, lambda: setattr(others, "erased", True)).start()
        shown = [client.get(path) for path in (
            f"/v1/users/{STAR}/content", f"/v1/users/{STAR}/followers", "/v1/users/1/timeline?limit=100", "/v1/users/1/following")]
        if f'"{STAR}"' in json.dumps([page["items"] for page in shown]):
            raise SystemExit("something of the user is shown after the answer")
        print(f"erased for readers after {1000 * answered:.1f} ms", flush=True)
        while True:
            erasure = client.get("/v1/admin/erasures")["items"][0]
            took = time.monotonic() - begin
            if erasure["state"] == "over":
                break
            if took > given.longest:
                raise SystemExit(f"not over after {took:.0f} s: {erasure}")
            time.sleep(0.5)
        meanwhile, peak = others.p99(), server.peak_memory_mb()
    finally:
        others.ends.set()
        for thread in others.threads:
            thread.join()
    ratio = meanwhile["all"] / quiet["all"]
    print(f"erased from disk in {took:.1f} s, {erasure['rows']} rows, {erasure['rows'] / took:.0f} a second")
    print(f"memory at its peak: {before} MiB before, {peak} MiB after")
    for what in quiet:
        print(f"p99 of others, {what}: {quiet[what]:.2f} ms quiet, {meanwhile[what]:.2f} ms meanwhile", flush=True)
    print(f"p99 of others: {ratio:.2f} times that of the quiet time", flush=True)
    if others.failed:
        raise SystemExit(f"{len(others.failed)} calls of others failed, such as {others.failed[0]}")
    if given.ratio and ratio > given.ratio:
        raise SystemExit(f"p99 is {ratio:.2f} times that of the quiet time, more than {given.ratio}")


def main() -> None:
    given = options()
    with Workspace(given.tmp, keep=False) as directory:
        server = Tideline(given.binary, directory, {})
        begin = time.monotonic()
        # Each follow is a change of its own, which would wait for the device.
        server.configure({"storage.durability": "os"})
        fill(server, given)
        server.configure({})
        print(f"imported in {time.monotonic() - begin:.0f} s, {server.disk_mb():.0f} MiB", flush=True)
        server.start()
        try:
            erase(server, given)
            server.stop()
        finally:
            server.kill()
        print(server.check())


if __name__ == "__main__":
    sys.exit(main())
