#!/usr/bin/env python3
"""Clients that request as much and read as little as possible, all at once, against the real binary: full pages that
are not read, idle streams, large batches, and a scan of the timelines of many users. The server must stay below a bound
of memory, and answer other clients about as fast as without load. Otherwise the exit code is 1.

The clients share the processors with the server. So a second server of the same binary, the *neighbour*, gets the same
probes but no attack. The 99th percentile of an answer may be a multiple of the one without load, or of the neighbour's
meanwhile if that is larger, because that part is due to the machine. The attackers have a lower priority than both
servers and the probes, as if they came from other machines."""

import argparse
import http.client
import json
import math
import multiprocessing
import os
import re
import socket
import sys
import threading
import time
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

from slow_clients import ATTACKER, be_slow, get
from support.client import Address, Client
from support.expect import Unexpected, until
from support.probes import Found, Probes, raise_open_files, slowed, verdict
from support.program import arguments, judge
from support.server import Tideline

# Users by purpose. The scan begins at 1.
AUTHOR = 50_000_001
BATCHES = 50_000_002

TEXT = "x" * 65_000
PAGE_ITEMS = 100


def send_batches(address: Address, count: int, told: Connection) -> None:
    """Sends batches of the largest size, all at once. A refused batch is sent again."""
    os.nice(19)
    item = json.dumps({"author_id": BATCHES, "text": TEXT})
    number = (16 << 20) // (len(item) + 1) - 1
    body = ('{"items":[' + ",".join([item] * number) + "]}").encode()
    answered: dict[str, int] = {"201": 0, "503": 0, "cut": 0}
    lock = threading.Lock()
    ended = threading.Event()

    def send() -> None:
        while not ended.is_set():
            connection = http.client.HTTPConnection(*address, timeout=120)
            try:
                connection.request("POST", "/v1/content/batch", body, {"content-type": "application/json"})
                response = connection.getresponse()
                response.read()
                status = str(response.status)
            except (OSError, http.client.HTTPException):
                status = "cut"  # refused before all of it was sent
            connection.close()
            with lock:
                answered[status] = answered.get(status, 0) + 1
            if status == "201":
                return
            ended.wait(0.5)

    threads = [threading.Thread(target=send, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    told.recv()
    ended.set()
    told.send(answered)


def scan(address: Address, users: int, told: Connection) -> None:
    """Reads the first page of many users in order, with some requests under way at once."""
    os.nice(19)
    status = re.compile(rb"HTTP/1\.1 (\d\d\d)")
    answered: dict[str, int] = {}
    lanes, depth = 4, 8

    # Before the others take all connections.
    connections = [socket.create_connection(address, timeout=120) for _ in range(lanes)]
    told.send("connected")

    def lane(number: int) -> None:
        connection = connections[number]
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        asked = answers = 0
        mine = range(1 + number, users + 1, lanes)
        counts: dict[bytes, int] = {}
        tail = b""
        while answers < len(mine) and not told.poll():
            more = min(depth - (asked - answers), len(mine) - asked)
            if more > 0:
                paths = (f"/v1/users/{mine[asked + n]}/timeline?limit=20&view=ids" for n in range(more))
                connection.sendall(b"".join(map(get, paths)))
                asked += more
            part = connection.recv(1 << 16)
            if not part:
                break
            text = tail + part
            for found in status.finditer(text):
                counts[found[1]] = counts.get(found[1], 0) + 1
                answers += 1
            tail = text[-11:] if not status.search(text[-12:]) else b""
        for code, count in counts.items():
            answered[code.decode()] = answered.get(code.decode(), 0) + count

    threads = [threading.Thread(target=lane, args=(number,)) for number in range(lanes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told.send(answered)


def load(server: Tideline, users: int) -> None:
    """Imports a follow graph and items for the scan."""
    follows, content = server.directory / "follows.csv", server.directory / "content.csv"
    authors = 1000
    with open(follows, "w") as file:
        file.write("user_id,target_id\n")
        for user in range(1, users + 1):
            file.writelines(f"{user},{40_000_000 + (user * 7 + n * 131) % authors}\n" for n in range(3))
    with open(content, "w") as file:
        file.write("content_id,author_id,published_at,text\n")
        for item in range(1, 20_001):
            file.write(f"{item},{40_000_000 + item % authors},{1_600_000_000_000 + item},item {item}\n")
    server.run("import", "--follows", follows, "--content", content)


def publish_page(client: Client) -> None:
    client.call("PUT", f"/v1/users/{ATTACKER}/following/{AUTHOR}")
    for begin in range(0, PAGE_ITEMS, 20):
        items = [{"author_id": AUTHOR, "content_id": 30_000_000 + begin + n, "text": TEXT} for n in range(20)]
        answer = client.call("POST", "/v1/content/batch", {"items": items})
        assert answer.status == 201, answer
    assert len(client.get(f"/v1/users/{ATTACKER}/timeline?limit=100&view=ids")["items"]) == PAGE_ITEMS


def attack(server: Tideline, probes: dict[str, Address], given: argparse.Namespace) -> Found:
    """Runs all attackers at once. Returns the times of the answers to others."""
    assert server.process is not None
    children: list[multiprocessing.Process] = []
    ends: dict[str, Connection] = {}
    probing = None
    begin, cpu = time.monotonic(), server.cpu_seconds()
    for name, work, *amounts in (
        ("streams", be_slow, "readers of streams", given.streams, 0.0, math.inf),
        ("scan", scan, given.scan),
        ("pages", be_slow, "readers of full pages", given.pages, 0.0, math.inf),
        ("batches", send_batches, given.batches),
    ):
        ends[name], there = multiprocessing.Pipe()
        child = multiprocessing.Process(target=work, args=(server.address, *amounts, there), daemon=True)
        child.start()
        children.append(child)
        if name != "batches":
            ends[name].recv()  # all of them are connected
        if name == "streams":
            # A stream that the server refuses with 503 is no load.
            with closing(Client(server.address)) as client:
                until("nearly all streams are open", lambda: client.figures()["tideline_streams"] >= 0.9 * given.streams)
                opened = client.figures()["tideline_streams"]
            print(f"streams: {opened:.0f} of {given.streams} are open, {server.memory_mb():.0f} MiB", flush=True)
            probing = Probes(probes)
    assert probing is not None
    # The scan sends a message at its end.
    shown = time.monotonic()
    while time.monotonic() - begin < given.seconds or not ends["scan"].poll(1):
        time.sleep(1)
        if server.process.poll() is not None:
            raise Unexpected(f"the server ended:\n{server.tail()}")
        if time.monotonic() - begin > given.longest:
            raise Unexpected(f"the scan did not end within {given.longest:.0f} s")
        if time.monotonic() - shown > 10:
            shown = time.monotonic()
            print(f"  {shown - begin:4.0f} s: {server.memory_mb():.0f} MiB", flush=True)
    times = probing.end()
    seconds = time.monotonic() - begin
    scanned = ends["scan"].recv()
    print(f"scan: {scanned}, after {seconds:.0f} s", flush=True)
    if scanned != {"200": given.scan}:
        raise Unexpected("not all of the scan was answered")
    for name in ("streams", "pages", "batches"):
        ends[name].send("end")
        print(f"{name}: {ends[name].recv()}", flush=True)
    share = (server.cpu_seconds() - cpu) / seconds
    print(f"the server took {share:.2f} of {os.cpu_count()} processors; load {os.getloadavg()[0]:.1f}", flush=True)
    for child in children:
        child.kill()
    return times


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--pages", type=int, default=1200, help="clients that ask for full pages and do not read")
    parser.add_argument("--streams", type=int, default=3000)
    parser.add_argument("--batches", type=int, default=60, help="batches of 16 MB, all at once")
    parser.add_argument("--scan", type=int, default=1_000_000, help="users whose timelines are read")
    parser.add_argument("--members", type=int, default=100_000, help="users that follow somebody")
    parser.add_argument("--seconds", type=float, default=30, help="least seconds of the attack")
    parser.add_argument("--longest", type=float, default=540, help="most seconds of the attack; a longer attack is a failure")
    parser.add_argument("--quiet", type=float, default=15, help="seconds of the measurement before")
    parser.add_argument("--most", type=float, default=1024, help="MiB that the server may take")
    parser.add_argument("--times", type=float, default=2, help="a p99 may be so many times the quiet one, or the neighbour's")
    return parser.parse_args()


def work(given: argparse.Namespace, directory: Path) -> str:
    server, neighbour = Tideline(given.binary, directory, {}), Tideline(given.binary, directory / "beside", {})
    load(server, given.members)
    load(neighbour, 1000)
    failed = []
    with server, neighbour:
        publish_page(Client(server.address))
        addresses = {"server": server.address, "neighbour": neighbour.address}
        probing = Probes(addresses)
        time.sleep(given.quiet)
        quiet = probing.end()
        print(f"quiet: {server.memory_mb():.0f} MiB", flush=True)
        attacked = attack(server, addresses, given)
        peak = server.memory_mb("VmHWM")
        print(f"peak: {peak:.0f} MiB, of {given.most:.0f}", flush=True)
        if peak > given.most:
            failed.append("memory")
        failed += slowed(quiet, attacked, given.times)
        answer = Client(server.address).get(f"/v1/users/{ATTACKER}/timeline?limit=100")
        if [item["text"] for item in answer["items"]] != [TEXT] * PAGE_ITEMS:
            failed.append("the page of the attack")
    return verdict(failed)


def main() -> None:
    given = options()
    raise_open_files()
    judge(given, lambda directory, _: work(given, directory))


if __name__ == "__main__":
    sys.exit(main())
