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
import http.client
import json
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import chaos
from support import prefix
from support.client import Client, Unexpected
from support.judge import judge
from support.load import arguments
from support.relay import Relay
from support.server import Tideline
from support.writer import Lost

# Seconds within which a standby comes to the end of the log.
PATIENCE = 120
ENDS = ("promote", "restart", "switch", "promote stopped")


def options() -> argparse.Namespace:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    return parser.parse_args()


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % probe.getsockname()[1]


class Node(Tideline):
    """A data directory that is served, or follows another one."""

    def __init__(self, binary: Path, directory: Path, settings: dict[str, str]):
        directory.mkdir()
        super().__init__(binary, directory, settings)
        self.listen = free_address()
        host, port = self.listen.split(":")
        self.address = (host, int(port))
        self.url = f"http://{self.listen}"
        self.origin: str | None = None

    def serve(self) -> subprocess.Popen:
        if self.origin is None:
            return super().serve()
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [self.binary, "standby", "--from", self.origin, "--data-dir", self.data, "--listen", self.listen, "--name", "b"],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            )


class StandbyChaos(chaos.Chaos):
    """A server, its standby, and what lies between."""

    def __init__(self, given: argparse.Namespace, directory: Path, seed: int):
        given.listeners = 0
        super().__init__(given, directory, seed)
        self.fixed |= {"standby.keep_mb": "64", "content.deleted_retention": "30d"}
        settings = chaos.settings(self.rng) | self.fixed
        self.tideline = Node(given.binary, directory / "a", settings)
        self.standby = Node(given.binary, directory / "b", settings)
        self.relay = Relay(self.tideline.address)
        self.standby.origin = "http://%s:%d" % self.relay.address
        self.lost = self.copies = self.switches = self.kills = 0
        self.longest = 0.0
        for writer in self.writers:
            writer.resends = False

    def run(self) -> bool:
        self.start()
        self.standby.start()
        try:
            self.begin()
            for number in range(1, self.given.rounds + 1):
                how = ENDS[number % len(ENDS)]
                try:
                    self.one(how)
                except Unexpected as error:
                    self.shared.fail(f"round {number}, {how}: {error}")
                if self.shared.wrong:
                    print(f"in round {number}, {how}; settings {self.tideline.settings}", flush=True)
                    return False
                if time.monotonic() - self.told > chaos.TELL_EVERY:
                    self.told = time.monotonic()
                    self.tell(f"round {number}: {how}")
            self.catch_up()
            self.tideline.stop()
            self.standby.stop()
        finally:
            self.tideline.kill()
            self.standby.kill()
            self.relay.close()
        self.tell(f"{self.given.rounds} rounds")
        print(
            f"{self.kills} kills and cuts of the standby and its connection; {self.lost} changes lost by promotions; "
            f"{self.switches} switches lost none; longest time without an answer in one: {self.longest:.2f} s"
        )
        print(f"check: {self.tideline.check()}")
        if self.standby.command("promote", "--accept-loss").wait() != 0:
            self.shared.fail(f"tideline promote: {self.standby.output('promote')}")
        print(f"check of the standby: {self.standby.check()}")
        return not self.shared.wrong

    def one(self, how: str) -> None:
        """A round: load and faults, then one of the ends."""
        self.catch_up()
        self.load = prefix.Round(self.shared, self.writers)
        stop, threads = self.begin_load()
        end = time.monotonic() + self.rng.uniform(0.05, self.given.seconds)
        while time.monotonic() < end:
            self.disturb()
            time.sleep(self.rng.uniform(0, 0.3))
        if how == "switch":
            self.switch(stop, threads)
            return
        self.tideline.kill()
        stop.set()
        for thread in threads:
            thread.join()
        if how == "restart":
            self.start()
            self.compare()
            return
        self.promote(stopped=how != "promote")

    def disturb(self) -> None:
        """A fault of the standby or of the connection, or none."""
        fault = self.rng.choice(("none", "none", "kill", "cut", "hold"))
        self.kills += fault != "none"
        if fault == "kill":
            self.standby.kill()
            self.standby.start()
        elif fault == "cut":
            self.relay.cut()
        elif fault == "hold":
            self.relay.hold()
            time.sleep(self.rng.uniform(0, 0.3))
            self.relay.release()

    def catch_up(self) -> None:
        """Waits until the standby has all."""
        end = time.monotonic() + PATIENCE
        client = Client(self.tideline.address)
        found: list = []
        while time.monotonic() < end:
            found = client.get("/v1/admin/stats")["standbys"]
            if found and "following_since" in found[0] and found[0]["behind_rows"] == 0:
                client.close()
                return
            time.sleep(0.05)
        raise Unexpected(f"the standby does not catch up: {found}\n{self.standby.tail()}")

    def promote(self, stopped: bool) -> None:
        """The standby takes the place of the killed server."""
        if stopped:
            self.standby.kill()
            if self.standby.command("promote", "--accept-loss").wait() != 0:
                raise Unexpected(f"tideline promote: {self.standby.output('promote')}")
            if self.rng.random() < 0.3:
                self.standby.check()
            self.standby.origin = None
            self.standby.start()
        elif self.standby.command("promote", "--accept-loss", "--url", self.standby.url).wait() != 0:
            raise Unexpected(f"tideline promote --url: {self.standby.output('promote')}\n{self.standby.tail()}")
        client = Client(self.standby.address)
        self.mirrors = []  # a promotion ends the history of changes
        self.lost += self.load.settle(client, 0.0)
        client.close()
        self.tideline.wipe()
        self.change_places()
        self.compare()

    def switch(self, stop: threading.Event, threads: list[threading.Thread]) -> None:
        """The server hands over under load."""
        self.catch_up_soon()
        probe = Probe([self.tideline.address, self.standby.address])
        command = self.standby.command("promote", "--switch", "--url", self.standby.url)
        if command.wait() != 0:
            raise Unexpected(f"tideline promote --switch: {self.standby.output('promote')}\n{self.standby.tail()}")
        switched = time.monotonic()
        self.longest = max(self.longest, probe.end())
        stop.set()
        self.tideline.stop()
        for thread in threads:
            thread.join()
        client = Client(self.standby.address)
        lost = self.load.settle(client, switched)
        if lost:
            raise Unexpected(f"{lost} changes are lost in a switch")
        client.close()
        self.switches += 1
        self.change_places()
        self.compare()
        self.catch_up()
        if copies := Client(self.standby.address).figures()["tideline_standby_copies_total"]:
            raise Unexpected(f"{copies} copies after a switch")

    def catch_up_soon(self) -> None:
        """Waits until the standby follows, under load."""
        end = time.monotonic() + PATIENCE
        client = Client(self.standby.address)
        while client.figures()['tideline_standby_state{state="following"}'] != 1:
            if time.monotonic() > end:
                raise Unexpected(f"the standby does not follow: {self.standby.tail()}")
            time.sleep(0.05)
        client.close()

    def change_places(self) -> None:
        """The promoted server is the server of the next rounds, and the other directory its standby."""
        self.tideline, self.standby = self.standby, self.tideline
        self.tideline.origin = None
        self.relay.close()
        self.relay = Relay(self.tideline.address)
        self.standby.origin = "http://%s:%d" % self.relay.address
        self.standby.start()


class Probe:
    """Makes changes at one server or the other, whichever takes them, and measures the longest time without an answer."""

    def __init__(self, addresses: list[tuple[str, int]]):
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

    def is_taken(self, address: tuple[str, int]) -> bool:
        connection = http.client.HTTPConnection(*address, timeout=5)
        try:
            body = json.dumps({"nickname": str(time.monotonic())})
            connection.request("PUT", "/v1/users/probe", body, {"Content-Type": "application/json"})
            return connection.getresponse().status == 200
        except Lost:
            return False
        finally:
            connection.close()

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
