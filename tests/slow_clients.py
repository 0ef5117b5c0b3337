#!/usr/bin/env python3
"""Slow clients, all at once, against the real binary: heads and bodies that arrive byte by byte, stop or never come, and
readers that never read. The server must close each of them in time, and answer other clients about as fast as without them.
Otherwise the exit code is 1.

A client that was closed comes back at once, so their number stays the same; a reader, who cannot notice, does so after
a while. At the end none comes back, and the server must be rid of all of them. Their processes have a lower priority than
the server and the probes, as if they came from other machines. A second server of the same binary, the *neighbour*, gets
the same probes but no slow clients: the 99th percentile of an answer may be a multiple of the quiet one, or of the
neighbour's meanwhile if that is larger, because that part is due to the machine. `--untimed` compares no times: other
requests must be answered, and slow clients closed.

`--flood` is another test: more clients of one kind than the server accepts, once for bodies in chunks that never come, once
for heads just below the limit that stop, and once for connections that send nothing. No client comes back. The server must answer again in time, and its memory
must stay within a bound."""

import argparse
import errno
import multiprocessing
import os
import socket
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path

from support.client import Address, Client
from support.expect import Unexpected, until
from support.probes import READS, Probes, raise_open_files, slowed, verdict
from support.program import arguments, judge
from support.server import Tideline

# Users by purpose; 7 is the one of the probes.
AUTHOR = 50_000_001
ATTACKER = 50_000_000
LARGE, SMALL, NEWS = 50_000_003, 50_000_004, 50_000_005
LISTENERS = 60_000_000
PAGE_ITEMS = 100
TEXT = "x" * 20_000

# How often a client sends a byte, seconds.
BYTE_EVERY = 1.0
# A connection must have ended so many seconds after the timeout of a request.
MARGIN = 10.0
# How often an item is published for the readers of streams, seconds.
EVENT_EVERY = 0.5

HOST = "host: localhost\r\n"
# The head of a request that has an answer without its body.
CHUNKED = f"GET /v1/users/1 HTTP/1.1\r\n{HOST}transfer-encoding: chunked\r\n\r\n".encode()
LARGE_HEAD = f"GET /healthz HTTP/1.1\r\n{HOST}x-large: {'a' * 121_000}".encode()
HEAD = f"GET /v1/users/7/timeline HTTP/1.1\r\n{HOST}x-slow: {'a' * 5000}\r\n\r\n".encode()
BODY = f"POST /v1/content HTTP/1.1\r\n{HOST}content-type: application/json\r\ncontent-length: 60000\r\n\r\n".encode()
BATCH = BODY.replace(b"/v1/content", b"/v1/content/batch").replace(b"60000", b"16000000")


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\n{HOST}\r\n".encode()


# What each kind sends at once, and what it then sends byte by byte.
KINDS: dict[str, tuple[bytes, bytes]] = {
    "heads byte by byte": (b"", HEAD),
    "connections that send nothing": (b"", b""),
    "heads that stop": (HEAD[:40], b""),
    "large heads that stop": (LARGE_HEAD, b""),
    "second heads byte by byte": (get("/v1/users/7"), HEAD),
    "bodies that never come": (CHUNKED, b""),
    "bodies byte by byte": (BODY, b'{"author_id":1,"text":"' + b"a" * 59_000),
    "bodies that stop": (BODY + b'{"author_id":1,', b""),
    "batches that stop": (BATCH + b'{"items":[', b""),
    "readers of large pages": (get(f"/v1/users/{LARGE}/timeline?limit={PAGE_ITEMS}") * 3, b""),
    "readers of many pages": (get(f"/v1/users/{SMALL}/timeline?limit=20") * 5, b""),
    "readers of streams": (get("/v1/users/{user}/stream"), b""),
}
# Those of memory_attack.py.
FULL = {"readers of full pages": (get(f"/v1/users/{ATTACKER}/timeline?limit={PAGE_ITEMS}"), b"")}
# A large answer has a second more for each 64 KiB.
LARGE_MORE = PAGE_ITEMS * len(TEXT) / 65536
# A reader whose page found no memory has its whole answer, a refusal. The server closes its connection as any quiet one,
# after so many seconds.
KEEP_ALIVE = 75.0


class Slow:
    """One connection of a slow client."""

    def __init__(self, address: Address, kind: str, number: int):
        at_once, self.rest = (KINDS | FULL)[kind]
        self.kind, self.number, self.sent, self.begun = kind, number, 0, time.monotonic()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(30)
        self.socket.connect(address)
        self.socket.sendall(at_once.replace(b"{user}", str(LISTENERS + number).encode()))
        self.socket.setblocking(False)

    def step(self, patience: float) -> bool:
        """Sends one more byte; false if the server has closed the connection, or a reader has waited so long."""
        age = time.monotonic() - self.begun
        if self.kind.startswith("readers") and (age > patience or (age > 1 and self.is_refused())):
            return False
        try:
            if self.rest:
                # A connection may be silent as long before its first byte, so the time of what is slow begins here.
                if not self.sent:
                    self.begun = time.monotonic()
                self.sent += self.socket.send(self.rest[self.sent : self.sent + 1])
            return not is_closed(self.socket)
        except BlockingIOError:
            return True
        except OSError:
            return False

    def is_refused(self) -> bool:
        """Whether a reader of a full page has a 503, which it sees without reading."""
        try:
            return self.kind in FULL and self.socket.recv(12, socket.MSG_PEEK)[9:12] == b"503"
        except OSError:
            return False

    def ending(self) -> str:
        """The status that the server sent before its end, or `cut`; for a reader, that it left."""
        try:
            if self.kind.startswith("readers"):
                return "503" if self.is_refused() else "left" if not is_closed(self.socket) else "cut"
            return self.socket.recv(12)[9:12].decode() or "cut"
        except OSError:
            return "cut"


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side has closed. Reads nothing of an answer that waits."""
    error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        return True
    # The state is the first byte of the information of a connection; 1 is established.
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) != b"\x01"


def be_slow(address: Address, kind: str, count: int, ramp: float, patience: float, told: Connection) -> None:
    """Keeps `count` clients of one kind open until told to stop. Answers with the endings, and the longest life. Then it
    does nothing, with the last connections open."""
    os.nice(19)
    endings: Counter[str] = Counter()
    longest = 0.0
    clients: list[Slow | None] = []

    def come(number: int) -> Slow | None:
        try:
            return Slow(address, kind, number)
        except OSError as error:
            endings["refused" if error.errno == errno.ECONNREFUSED else "not connected"] += 1
            return None

    for number in range(count):
        clients.append(come(number))
        # Not all at once: slow clients are the load, not a burst of requests.
        time.sleep(ramp / count)
    told.send("open")
    while not told.poll():
        begin = time.monotonic()
        for number, client in enumerate(clients):
            if client is not None and client.step(patience):
                longest = max(longest, time.monotonic() - client.begun)
                continue
            if client is not None:
                endings[client.ending()] += 1
                client.socket.close()
            clients[number] = come(number)
        told.poll(max(0.0, BYTE_EVERY - (time.monotonic() - begin)))
    told.recv()
    told.send((dict(endings), longest))
    told.recv()


def tell_news(address: Address, told: Connection) -> None:
    """Publishes items for the readers of streams."""
    client = Client(address)
    while not told.poll(EVENT_EVERY):
        client.call("POST", "/v1/content", {"author_id": NEWS, "text": TEXT})


def prepare(client: Client, streams: int) -> None:
    """Pages for readers and probes, and followers for news."""
    for number in range(streams):
        client.call("PUT", f"/v1/users/{LISTENERS + number}/following/{NEWS}")
    for user in (7, LARGE, SMALL):
        client.call("PUT", f"/v1/users/{user}/following/{AUTHOR + (user == LARGE)}")
    for author, count, text in ((AUTHOR, 20, "small"), (AUTHOR + 1, PAGE_ITEMS, TEXT)):
        items = [{"author_id": author, "text": text} for _ in range(count)]
        answer = client.call("POST", "/v1/content/batch", {"items": items})
        assert answer.status == 201, answer


# The floods: a kind, and the number of its clients.
FLOODS = {"bodies that never come": 5600, "large heads that stop": 4600, "connections that send nothing": 4700}
# Most MiB that a flood may add to the memory of the server.
FLOOD_MEMORY = 256


def flood(server: Tideline, kind: str, patience: float) -> list[str]:
    """Opens all clients of a flood, waits for an answer to somebody else, and closes them; what was wrong."""
    failed, at_once = [], KINDS[kind][0]
    before, begin, clients = server.memory_mb(), time.monotonic(), []
    for _ in range(FLOODS[kind]):
        client = socket.socket()
        client.settimeout(patience)
        clients.append(client)
        try:
            client.connect(server.address)
            client.sendall(at_once)
        except OSError:
            # The system's queue is full, or the server has refused it.
            continue
    opened, most = time.monotonic() - begin, server.memory_mb()
    begin = time.monotonic()
    answer = None
    while answer is None and time.monotonic() < begin + patience:
        try:
            with socket.create_connection(server.address, timeout=1) as probe:
                probe.sendall(get("/healthz"))
                answer = probe.recv(12) or None
        except OSError:
            pass
        most = max(most, server.memory_mb())
    waited = time.monotonic() - begin
    if answer is None:
        failed.append(f"no answer for {waited:.0f} s of {kind}")
    open_still = sum(not is_closed(client) for client in clients)
    for client in clients:
        client.close()
    probe, end = Client(server.address), time.monotonic() + patience
    while probe.figures()["tideline_http_connections"] > 2 and time.monotonic() < end:
        time.sleep(0.2)
    time.sleep(5)
    rest = server.memory_mb()
    print(
        f"{FLOODS[kind]} {kind}, within {opened:.0f} s: /healthz answers {answer!r} after {waited:.1f} s, {open_still} clients "
        f"are connected; memory {before:.0f} MiB before, {most:.0f} MiB at most, {rest:.0f} MiB after it",
        flush=True,
    )
    if most - before > FLOOD_MEMORY:
        failed.append(f"{kind} take {most - before:.0f} MiB")
    return failed


def flood_all(given: argparse.Namespace, directory: Path) -> str:
    """Each flood, at a server of its own."""
    failed = []
    for number, kind in enumerate(FLOODS):
        settings = {"server.request_timeout": f"{given.timeout:g}s"}
        with Tideline(given.binary, directory / str(number), settings) as server:
            failed += flood(server, kind, given.timeout + 2 * MARGIN)
    return verdict(failed)


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--clients", type=int, default=2000, help="slow clients, of all kinds together")
    parser.add_argument("--seconds", type=float, default=120, help="seconds with slow clients")
    parser.add_argument("--quiet", type=float, default=20, help="seconds of the measurement before")
    parser.add_argument("--timeout", type=float, default=30, help="server.request_timeout, seconds")
    parser.add_argument("--times", type=float, default=2, help="a p99 may be so many times the quiet one, or the neighbour's")
    parser.add_argument("--untimed", action="store_true", help="compare no times")
    parser.add_argument("--flood", action="store_true", help="more clients of one kind than the server accepts")
    return parser.parse_args()


def endings_of(ends: dict[str, Connection], given: argparse.Namespace, patience: float) -> list[str]:
    """Ends the slow clients, and tells how theirs ended. Returns what is wrong."""
    failed = []
    for kind, here in ends.items():
        here.send("end")
        endings, longest = here.recv()
        print(f"{kind}: {endings}, longest life {longest:.0f} s", flush=True)
        if not kind.startswith("readers") and longest > patience + MARGIN:
            failed.append(f"{kind} live longer than {patience + MARGIN:.0f} s")
        if not kind.startswith("readers") and given.seconds > patience and not endings:
            failed.append(f"{kind} are not closed")
    return failed


def work(given: argparse.Namespace, directory: Path) -> str:
    share, more = divmod(given.clients, len(KINDS))
    patience = given.timeout + MARGIN
    settings = {"server.request_timeout": f"{given.timeout:g}s", "presence.heartbeat": f"{given.timeout / 2:g}s"}
    server, neighbour = Tideline(given.binary, directory, settings), Tideline(given.binary, directory / "beside", settings)
    with server, neighbour:
        prepare(Client(server.address), share + 1)
        prepare(Client(neighbour.address), 0)
        addresses, quiet = {"server": server.address, "neighbour": neighbour.address}, {}
        if not given.untimed:
            probing = Probes(addresses)
            time.sleep(given.quiet)
            quiet = probing.end()
        ends: dict[str, Connection] = {}
        for place, kind in enumerate(KINDS):
            ends[kind], there = multiprocessing.Pipe()
            told = (server.address, kind, share + (place < more), given.timeout, patience, there)
            multiprocessing.Process(target=be_slow, args=told, daemon=True).start()
        for here in ends.values():
            here.recv()
        news, there = multiprocessing.Pipe()
        multiprocessing.Process(target=tell_news, args=(server.address, there), daemon=True).start()
        print(f"{given.clients} slow clients are connected; load {os.getloadavg()[0]:.1f}", flush=True)
        probing = Probes(addresses)
        time.sleep(given.seconds)
        slow = probing.end()
        if server.process is None or server.process.poll() is not None:
            raise Unexpected(f"the server ended:\n{server.tail()}")
        failed = endings_of(ends, given, patience)
        # Those of this script: for figures and for news. News go on, so that each stream has something to read.
        begin, client = time.monotonic(), Client(server.address)
        longest = max(patience + LARGE_MORE, KEEP_ALIVE + MARGIN)
        until("slow clients are closed", lambda: client.figures()["tideline_http_connections"] <= 3, longest, pause=0.2)
        news.send("end")
        print(f"3 connections are open {time.monotonic() - begin:.0f} s after the last came", flush=True)
        if given.untimed:
            failed += [name for name in READS if slow["server", name].refused or not slow["server", name].count]
        else:
            failed += slowed(quiet, slow, given.times)
        print(f"peak memory: {server.memory_mb('VmHWM'):.0f} MiB", flush=True)
    return verdict(failed)


def main() -> None:
    given = options()
    raise_open_files()
    judge(given, lambda directory, _: (flood_all if given.flood else work)(given, directory))


if __name__ == "__main__":
    sys.exit(main())
