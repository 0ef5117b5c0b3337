"""Requests of other clients during an attack, and the times of their answers."""

import http.client
import itertools
import json
import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from typing import NamedTuple

from .client import Address
from .expect import Unexpected

class Times(NamedTuple):
    """The times of answers, milliseconds."""

    count: int
    median: float
    p99: float
    worst: float
    refused: int

    def __str__(self) -> str:
        return f"p50 {self.median:.1f} ms, p99 {self.p99:.1f} ms, worst {self.worst:.1f} ms of {self.count}, refused {self.refused}"


# The requests of other clients: method, path and body. `{number}` in a path is another one each time.
Request = tuple[str, str, object]
READS: dict[str, Request] = {
    "/healthz": ("GET", "/healthz", None),
    "page of ids": ("GET", "/v1/users/7/timeline?view=ids", None),
    "page in full": ("GET", "/v1/users/7/timeline", None),
}
CHANGES: dict[str, Request] = {
    "publish": ("POST", "/v1/content", {"author_id": 7, "text": "news"}),
    # Each is a change. One user may not follow so many others.
    "follow": ("PUT", "/v1/users/{number}/following/8", {}),
}
PAUSE = 0.015


def probe(address: Address, request: Request, on_time: bool, told: Connection) -> None:
    """Sends one request again and again, with pauses, until told to stop. If `on_time`, each time counts from when it was due."""
    connection = http.client.HTTPConnection(*address, timeout=60)
    method, path, body = request
    payload, headers = (None, {}) if body is None else (json.dumps(body), {"Content-Type": "application/json"})
    times, refused, due = [], 0, time.monotonic()
    # There is less than one request a millisecond, so no later probe begins at a number that was used.
    numbers = itertools.count(time.time_ns() // 1_000_000)
    while not told.poll():
        begin = due if on_time else time.monotonic()
        connection.request(method, path.replace("{number}", str(next(numbers))), payload, headers)
        response = connection.getresponse()
        response.read()
        times.append(1000 * (time.monotonic() - begin))
        refused += response.status >= 300
        due = (due if on_time else time.monotonic()) + PAUSE
        time.sleep(max(0.0, due - time.monotonic()))
    times.sort()
    told.send(Times(len(times), times[len(times) // 2], times[len(times) * 99 // 100], times[-1], refused))


class Probes:
    """One process for each request to each server. They ask until their times are requested. `server` is the one that is attacked;
    a `neighbour` beside it tells what is due to the machine."""

    def __init__(self, servers: dict[str, Address], requests: dict[str, Request] = READS, on_time: bool = False):
        self.running: dict[tuple[str, str], Connection] = {}
        for server, address in servers.items():
            for name, request in requests.items():
                here, there = multiprocessing.Pipe()
                multiprocessing.Process(target=probe, args=(address, request, on_time, there), daemon=True).start()
                self.running[server, name] = here

    def end(self) -> "Found":
        for here in self.running.values():
            here.send("end")
        return {what: here.recv() for what, here in self.running.items()}


Found = dict[tuple[str, str], Times]


def slowed(quiet: Found, loaded: Found, times: float) -> list[str]:
    """Prints the times of `server`, quiet and under load, and of its neighbour meanwhile. Returns the requests that were refused,
    or whose p99 is more than so many times the quiet one, or the neighbour's if larger; 0 for any."""
    failed = []
    for name in (name for server, name in loaded if server == "server"):
        before, after = quiet["server", name], loaded["server", name]
        beside = loaded.get(("neighbour", name))
        bound = times * max(before.p99, beside.p99 if beside else 0.0)
        print(f"{name}:\n  quiet:      {before}\n  neighbour:  {beside}\n  under load: {after}\n"
              f"  p99 is {after.p99 / before.p99:.2f} times the quiet one; at most {bound:.1f} ms", flush=True)
        if after.refused or (times and after.p99 > bound):
            failed.append(name)
    return failed


def verdict(failed: list[str]) -> str:
    """For `judge`."""
    if failed:
        raise Unexpected(", ".join(failed))
    return "all within bounds"


def raise_open_files() -> None:
    """Allows this process and its children as many open files as the system does."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
