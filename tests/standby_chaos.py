#!/usr/bin/env python3
"""Kills a server, its standby and their connection under load, promotes the standby, and compares what it has.

The load is that of chaos.py. A standby follows the server over a relay that is cut and held up at random; both are killed
with -9 meanwhile, the standby also while it copies. A round ends in one of three ways. The server is killed and starts
again: it has all changes, and the standby goes on. Or the server is killed and the standby is promoted, as a running
process or as a stopped directory: every list must be the result of the first changes in the order of acknowledgement, and
the promoted server serves the next rounds, with a new standby. Or the server hands over: no acknowledged change may be
lost, readers of the feed of changes go on, and the server before becomes the standby of the new one without a copy. `tideline check` must find nothing. Needs
only Python 3.10.
"""

import argparse
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import chaos
from support import prefix
from support.client import Address, Client, ask
from support.doors import CUT, HELD, OPEN, Doors
from support.expect import Unexpected, until
from support.load import arguments
from support.program import judge
from support.server import Tideline, free_ports
from support.writer import Lost

# Seconds within which a standby comes to the end of the log.
PATIENCE = 120
ENDS = ("promote", "restart", "switch", "promote stopped")


def options() -> argparse.Namespace:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    return parser.parse_args()


class Node(Tideline):
    """A data directory that is served, or follows another one."""

    origin: str | None = None

    def serving(self) -> list[object]:
        if self.origin is None:
            return super().serving()
        return ["standby", "--from", self.origin, "--data-dir", self.data, "--name", "b"]


class StandbyChaos(chaos.Chaos):
    """A server, its standby, and what lies between."""

    def __init__(self, given: argparse.Namespace, directory: Path, seed: int):
        given.listeners = 0
        super().__init__(given, directory, seed)
        self.fixed |= {"standby.keep_mb": "64", "content.deleted_retention": "30d"}
        settings = chaos.settings(self.rng) | self.fixed
        ports = free_ports(4)
        self.tideline = Node(given.binary, directory / "a", settings, ports[0])
        self.standby = Node(given.binary, directory / "b", settings, ports[1])
        # The way to each, for the other one.
        self.ways = {node.port: ("standby", number) for number, node in enumerate((self.tideline, self.standby))}
        self.doors = Doors({way: (ports[2 + way[1]], port) for port, way in self.ways.items()})
        self.outer = dict(zip(self.ways, ports[2:]))
        self.follow()
        self.lost = self.copies = self.switches = self.kills = 0
        self.longest = 0.0
        for writer in self.writers:
            writer.resends = False

    def run(self) -> bool:
        self.start()
        self.standby.start()
        try:
            self.begin()
            self.rounds(self.one, lambda number: number < self.given.rounds)
            if self.shared.wrong:
                return False
            self.catch_up()
            self.tideline.stop()
            self.standby.stop()
        finally:
            self.tideline.kill()
            self.standby.kill()
            self.doors.close()
        self.tell(f"{self.given.rounds} rounds")
        print(
            f"{self.kills} kills and cuts of the standby and its connection; {self.lost} changes lost by promotions; "
            f"{self.switches} switches lost none; longest time without an answer in one: {self.longest:.2f} s"
        )
        print(f"check: {self.tideline.check()}")
        self.standby.run("promote", "--accept-loss")
        print(f"check of the standby: {self.standby.check()}")
        return not self.shared.wrong

    def one(self, number: int) -> str:
        """A round: load and faults, then one of the ends."""
        how = ENDS[number % len(ENDS)]
        self.catch_up()
        self.load = prefix.Round(self.shared, self.writers)
        end_load = self.begin_load()
        end = time.monotonic() + self.rng.uniform(0.05, self.given.seconds)
        while time.monotonic() < end:
            self.disturb()
            time.sleep(self.rng.uniform(0, 0.3))
        if how == "switch":
            self.switch(end_load)
            return how
        self.tideline.kill()
        end_load()
        if how == "restart":
            self.start()
            self.compare()
        else:
            self.promote(stopped=how != "promote")
        return how

    def disturb(self) -> None:
        """A fault of the standby or of the connection, or none."""
        fault = self.rng.choice(("none", "none", "kill", "cut", "hold"))
        self.kills += fault != "none"
        if fault == "kill":
            self.standby.kill()
            self.standby.start()
        elif fault != "none":
            way = self.ways[self.tideline.port]
            self.doors.set(CUT if fault == "cut" else HELD, way)
            time.sleep(self.rng.uniform(0, 0.3) if fault == "hold" else 0)
            self.doors.set(OPEN, way)

    def catch_up(self) -> None:
        """Waits until the standby has all."""
        client = Client(self.tideline.address)

        def has_all() -> bool:
            found = client.get("/v1/admin/stats")["standbys"]
            return bool(found) and "following_since" in found[0] and found[0]["behind_rows"] == 0

        until(lambda: f"the standby has all\n{self.standby.tail()}", has_all, PATIENCE)
        client.close()

    def promote(self, stopped: bool) -> None:
        """The standby takes the place of the killed server."""
        if stopped:
            self.standby.kill()
            self.standby.run("promote", "--accept-loss")
            if self.rng.random() < 0.3:
                self.standby.check()
            self.standby.origin = None
            self.standby.start()
        else:
            self.standby.run("promote", "--accept-loss", "--url", self.standby.url)
        client = Client(self.standby.address)
        self.mirrors = []  # a promotion ends the history of changes
        self.lost += self.load.settle(client, 0.0)
        client.close()
        self.tideline.wipe()
        self.change_places()
        self.compare()

    def switch(self, end_load: Callable[[], None]) -> None:
        """The server hands over under load."""
        figures = lambda: Client(self.standby.address).figures()
        until("the standby follows", lambda: figures()['tideline_standby_state{state="following"}'] == 1, PATIENCE)
        probe = Probe([self.tideline.address, self.standby.address])
        self.standby.run("promote", "--switch", "--url", self.standby.url)
        switched = time.monotonic()
        self.longest = max(self.longest, probe.end())
        self.tideline.stop()
        end_load()
        client = Client(self.standby.address)
        if lost := self.load.settle(client, switched):
            raise Unexpected(f"{lost} changes are lost in a switch")
        client.close()
        self.switches += 1
        self.change_places()
        self.compare()
        self.catch_up()
        if copies := figures()["tideline_standby_copies_total"]:
            raise Unexpected(f"{copies} copies after a switch")

    def change_places(self) -> None:
        """The promoted server is the server of the next rounds, and the other directory its standby."""
        self.tideline, self.standby = self.standby, self.tideline
        self.tideline.origin = None
        self.follow()
        self.standby.start()

    def follow(self) -> None:
        self.standby.origin = f"http://127.0.0.1:{self.outer[self.tideline.port]}"


class Probe:
    """Makes changes at one server or the other, whichever takes them, and measures the longest time without an answer."""

    def __init__(self, addresses: list[Address]):
        self.addresses = addresses
        self.longest = 0.0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self) -> None:
        last, at = time.monotonic(), 0
        while not self.over.is_set():
            if self.is_taken(self.addresses[at]):
                self.longest = max(self.longest, time.monotonic() - last)
                last = time.monotonic()
            else:
                at = 1 - at
            time.sleep(0.01)
        self.longest = max(self.longest, time.monotonic() - last)

    def is_taken(self, address: Address) -> bool:
        try:
            return ask(address, "PUT", "/v1/users/probe", {"nickname": str(time.monotonic())}, timeout=5).status == 200
        except Lost:
            return False

    def end(self) -> float:
        time.sleep(0.1)
        self.over.set()
        self.thread.join()
        return self.longest


def main() -> None:
    given = options()
    judge(given, lambda directory, seed: StandbyChaos(given, directory, seed).run())


if __name__ == "__main__":
    sys.exit(main())
