#!/usr/bin/env python3
"""Makes many likes and unlikes at once on the real binary, then compares every count and list with the log of
acknowledged changes. With --kill, the server is killed in the middle and started again."""

import argparse
import multiprocessing
import random
import re
import socket
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from support.client import Client, Unexpected
from support.server import Tideline, Workspace

KINDS = ("like", "favorite")
AUTHOR = 10**9
NOBODY = 10**9 + 1

Pair = tuple[int, str, int]  # item, kind, user


class Load(NamedTuple):
    """The load of one process."""

    address: tuple[str, int]
    first: int  # number of the first connection
    connections: int
    changes: int  # of each connection
    items: int
    users: int  # of each connection alone
    seed: int
    states: dict[Pair, int]  # the reactions of these users, with `since`


class Done(NamedTuple):
    """The results of a load."""

    states: dict[Pair, int | None]
    doubts: dict[Pair, int | None]  # changes without an answer: the wanted `since`
    latencies: list[float]
    refused: int
    wrong: list[str]


class Wire:
    """A minimal connection, so that the load is on the server and not on the client."""

    def __init__(self, address: tuple[str, int]):
        self.socket = socket.create_connection(address, timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def call(self, method: str, path: str) -> tuple[int, bytes]:
        self.socket.sendall(f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        length = int(re.search(rb"content-length: (\d+)", head, re.I)[1])
        while len(self.buffer) < length:
            self.fill()
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return int(head[9:12]), body

    def fill(self) -> None:
        more = self.socket.recv(65536)
        if not more:
            raise ConnectionError("closed")
        self.buffer += more


class Connection:
    """Changes reactions of its own users, one after the other, and records the answers."""

    def __init__(self, load: Load, number: int):
        self.load = load
        self.rng = random.Random(load.seed * 1000 + number)
        first = 1 + number * load.users
        self.users = range(first, first + load.users)
        self.states: dict[Pair, int | None] = {p: s for p, s in load.states.items() if p[2] in self.users}
        self.doubts: dict[Pair, int | None] = {}
        self.latencies: list[float] = []
        self.refused = 0
        self.wrong: list[str] = []

    def run(self) -> None:
        try:
            wire = Wire(self.load.address)
            for _ in range(self.load.changes):
                self.change(wire)
        except OSError:
            pass  # The server has ended; the change under way is in doubt.

    def change(self, wire: Wire) -> None:
        # Half of all changes go to a few items.
        item = self.rng.randint(1, min(5, self.load.items) if self.rng.random() < 0.5 else self.load.items)
        pair = (item, self.rng.choices(KINDS, (4, 1))[0], self.rng.choice(self.users))
        on = self.rng.random() < 0.6
        before = self.states.get(pair)
        self.doubts[pair] = -1 if on else None
        while True:
            begin = time.monotonic()
            status, body = wire.call("PUT" if on else "DELETE", f"/v1/content/{item}/reactions/{pair[1]}/{pair[2]}")
            self.latencies.append(time.monotonic() - begin)
            if status != 503:
                break
            self.refused += 1
            time.sleep(0.05)
        since = re.search(rb'"since":(\d+)', body)
        after = int(since[1]) if since else None
        if status != 200 or (after is not None) != on or (on and before is not None and after != before):
            self.wrong.append(f"{pair}, {before} before, {'on' if on else 'off'}: {status} {body.decode()}")
        self.states[pair] = after
        del self.doubts[pair]
        if self.rng.random() < 0.05:
            self.look(wire, pair, before, after)

    def look(self, wire: Wire, pair: Pair, before: int | None, after: int | None) -> None:
        """The list must show the change at once."""
        item, kind, user = pair
        place = after if after is not None else before
        if place is None:
            return
        status, body = wire.call("GET", f"/v1/content/{item}/reactions/{kind}?limit=1&before={place}-{user + 1}")
        shown = f'[{{"user_id":"{user}","since":{place}}}]'.encode() in body
        if status != 200 or shown != (after is not None):
            self.wrong.append(f"the list of {pair} after {before} -> {after}: {status} {body.decode()}")


def work(load: Load) -> Done:
    """Runs all connections of one process."""
    all_of_them = [Connection(load, load.first + n) for n in range(load.connections)]
    threads = [threading.Thread(target=connection.run) for connection in all_of_them]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done = Done({}, {}, [], 0, [])
    for one in all_of_them:
        done.states.update(one.states)
        done.doubts.update(one.doubts)
        done.latencies.extend(one.latencies)
        done.wrong.extend(one.wrong)
        done = done._replace(refused=done.refused + one.refused)
    return done


def scroll(client: Client, path: str, name: str) -> list[tuple[int, int]]:
    """A whole list: ids and `since`, or 0 for content."""
    found, before = [], ""
    while True:
        page = client.get(f"{path}?limit=100{before}")
        found += [(int(item[name]), item.get("since", 0)) for item in page["items"]]
        if page["next"] is None:
            return found
        before = f"&before={page['next']}"


def compare(client: Client, states: dict[Pair, int], items: int, users: int) -> list[str]:
    """Compares every count and both lists of every item and user."""
    wrong = []
    by_item = {(item, kind): [] for item in range(1, items + 1) for kind in KINDS}
    by_user = {(user, kind): [] for user in range(1, users + 1) for kind in KINDS}
    for (item, kind, user), since in states.items():
        by_item[item, kind].append((since, user))
        by_user[user, kind].append(item)
    for (item, kind), reactors in by_item.items():
        expected = [(user, since) for since, user in sorted(reactors, reverse=True)]
        found = scroll(client, f"/v1/content/{item}/reactions/{kind}", "user_id")
        if found != expected:
            wrong.append(f"{kind} of {item}: {len(found)} listed, {len(expected)} in the log")
        # Removing a missing reaction changes nothing, and answers the counts.
        answer = client.call("DELETE", f"/v1/content/{item}/reactions/{kind}/{NOBODY}").body["counts"]
        if answer["reactions"].get(kind, 0) != len(expected):
            wrong.append(f"{kind} of {item}: {answer} counted, {len(expected)} in the log")
    for (user, kind), mine in by_user.items():
        # An item's id is also its time.
        if [item for item, _ in scroll(client, f"/v1/users/{user}/reactions/{kind}", "content_id")] != sorted(mine, reverse=True):
            wrong.append(f"{kind} by {user} differ from the log")
    return wrong


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--changes", type=int, default=50_000, help="likes and unlikes in all")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--users", type=int, default=20, help="users of each connection")
    parser.add_argument("--processes", type=int, default=4, help="processes that share the connections")
    parser.add_argument("--kill", action="store_true", help="kill -9 in the middle")
    parser.add_argument("--kill-after", type=float, default=2.0, help="seconds of load before the kill")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--tmp", help="where to put the data")
    parser.add_argument("--keep", action="store_true", help="keep the data")
    return parser.parse_args()


def load(given: argparse.Namespace, tideline: Tideline, states: dict[Pair, int], changes: int, seed: int, kill_after: float | None) -> Done:
    """Runs all connections at once, and prints a line of figures."""
    each = given.connections // given.processes
    parts = [
        Load(tideline.address, n * each, each, -(-changes // given.connections), given.items, given.users, seed, states)
        for n in range(given.processes)
    ]
    begin = time.monotonic()
    with multiprocessing.get_context("fork").Pool(given.processes) as pool:
        working = pool.map_async(work, parts, chunksize=1)
        if kill_after is not None:
            time.sleep(kill_after)
            tideline.kill()
        done = working.get()
    seconds = time.monotonic() - begin
    total = Done({}, {}, [], 0, [])
    for part in done:
        total.states.update(part.states)
        total.doubts.update(part.doubts)
        total.latencies.extend(part.latencies)
        total.wrong.extend(part.wrong)
        total = total._replace(refused=total.refused + part.refused)
    total.latencies.sort()
    quantile = lambda q: 0.0 if not total.latencies else total.latencies[min(len(total.latencies) - 1, int(len(total.latencies) * q))] * 1000
    print(
        f"{len(total.latencies):,} changes answered in {seconds:.1f} s, {len(total.latencies) / seconds:,.0f} per second, "
        f"p50 {quantile(0.5):.1f} ms, p99 {quantile(0.99):.1f} ms, {total.refused} refused, {len(total.doubts)} in doubt",
        flush=True,
    )
    return total


def settle(client: Client, done: Done) -> list[str]:
    """Finds the outcome of changes without an answer: made or not made are right."""
    wrong = []
    for pair, wanted in done.doubts.items():
        item, kind, user = pair
        found = dict(scroll(client, f"/v1/content/{item}/reactions/{kind}", "user_id")).get(user)
        before = done.states.get(pair)
        if found != before and (found is None) != (wanted is None):
            wrong.append(f"{pair} was {before}, was to be {wanted}, and is {found}")
        done.states[pair] = found
    return wrong


def main() -> None:
    given = options()
    with Workspace(given.tmp, given.keep) as directory:
        tideline = Tideline(given.binary, directory, {})
        tideline.start()
        try:
            client = Client(tideline.address)
            for item in range(1, given.items + 1):
                body = {"content_id": item, "author_id": AUTHOR, "published_at": item}
                if client.call("POST", "/v1/content", body).status != 201:
                    raise Unexpected("a publish fails")
            done = load(given, tideline, {}, given.changes, given.seed, given.kill_after if given.kill else None)
            wrong = list(done.wrong)
            if given.kill:
                tideline.start()
                client = Client(tideline.address)
                wrong += settle(client, done)
                states = {pair: since for pair, since in done.states.items() if since is not None}
                wrong += compare(client, states, given.items, given.connections * given.users)
                print(f"after kill -9: {len(states):,} reactions, {len(wrong)} differences", flush=True)
                done = load(given, tideline, states, given.changes, given.seed + 1, None)
                wrong += done.wrong
            figures = client.figures()
            changes, groups = int(figures["tideline_changes_total"]), int(figures["tideline_change_groups_total"])
            states = {pair: since for pair, since in done.states.items() if since is not None}
            wrong += compare(client, states, given.items, given.connections * given.users)
            print(f"{changes:,} changes in {groups:,} groups, {changes / groups:.2f} a group; {len(states):,} reactions stand", flush=True)
            tideline.stop()
        except BaseException:
            tideline.kill()
            raise
        for text in wrong[:5]:
            print(f"WRONG {text}")
        if wrong:
            raise SystemExit(f"FAIL: {len(wrong)} differences")
    print("PASS: every count and list equals the log")


if __name__ == "__main__":
    sys.exit(main())
