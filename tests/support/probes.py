"""Requests of other clients during an attack, and the times of their answers."""

import http.client
import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from typing import NamedTuple

Address = tuple[str, int]


class Times(NamedTuple):
    """The times of answers, milliseconds."""

    count: int
    median: float
    p99: float
    worst: float
    refused: int

    def __str__(self) -> str:
        return f"p50 {self.median:.1f} ms, p99 {self.p99:.1f} ms, worst {self.worst:.1f} ms of {self.count}, refused {self.refused}"


# The requests of other clients.
PATHS = {
    "/healthz": "/healthz",
    "page of ids": "/v1/users/7/timeline?view=ids",
    "page in full": "/v1/users/7/timeline",
}
PAUSE = 0.015


def probe(address: Address, path: str, told: Connection) -> None:
    """Asks for one path again and again, with pauses, until told to stop."""
    connection = http.client.HTTPConnection(*address, timeout=60)
    times, refused = [], 0
    while not told.poll():
        begin = time.monotonic()
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        times.append(1000 * (time.monotonic() - begin))
        refused += response.status != 200
        time.sleep(PAUSE)
    times.sort()
    told.send(Times(len(times), times[len(times) // 2], times[len(times) * 99 // 100], times[-1], refused))


class Probes:
    """One process for each path of each server. They ask until their times are requested."""

    def __init__(self, servers: dict[str, Address]):
        self.running: dict[tuple[str, str], Connection] = {}
        for server, address in servers.items():
            for name, path in PATHS.items():
                here, there = multiprocessing.Pipe()
                multiprocessing.Process(target=probe, args=(address, path, there), daemon=True).start()
                self.running[server, name] = here

    def end(self) -> dict[tuple[str, str], Times]:
        for here in self.running.values():
            here.send("end")
        return {what: here.recv() for what, here in self.running.items()}

    @staticmethod
    def slowed(quiet: dict[tuple[str, str], Times], loaded: dict[tuple[str, str], Times], times: float) -> list[str]:
        """Prints the times of the paths of `server`, quiet and under load, and of its neighbour meanwhile. Returns the
        paths that were refused, or whose p99 is more than so many times the quiet one, or the neighbour's if larger."""
        failed = []
        for name in PATHS:
            before, beside, after = quiet["server", name], loaded["neighbour", name], loaded["server", name]
            bound = times * max(before.p99, beside.p99)
            print(f"{name}:\n  quiet:      {before}\n  neighbour:  {beside}\n  under load: {after}\n"
                  f"  p99 is {after.p99 / before.p99:.2f} times the quiet one, {after.p99 / beside.p99:.2f} times the "
                  f"neighbour's; at most {bound:.1f} ms", flush=True)
            if after.p99 > bound or after.refused:
                failed.append(name)
        return failed


def raise_open_files() -> None:
    """Allows this process and its children as many open files as the system does."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
