#!/usr/bin/env python3
"""Cuts the power of the real server at random instants under load, and compares the data that is left.

The load is that of chaos.py. A preloaded library (support/journal.c) records the server's writes. After a `kill -9` the
disk holds all flushed data, and any part of the rest, torn and in any order (support/device.py). Each time the server
must start on it without help, and `tideline check` must find nothing. Every list must be the result of the changes that
are left. These must be the first in the order of acknowledgement: with `storage.durability = "sync"` all of them, with
"os" all but those of some last time. Streams resume with `Last-Event-ID`: after "os" they must be told to load the
timeline, otherwise they must get the events that they missed. The power is also cut while the server starts, and while
it makes a new data directory. Needs Linux, a C compiler and Python 3.10.
"""

import argparse
import doctest
import math
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import chaos
from support import ids, prefix
from support.client import Client
from support.device import Device
from support.expect import Impossible, Unexpected
from support.listener import Listener
from support.load import arguments
from support.preload import build
from support.program import Workspace, judge
from support.server import Tideline

DURABILITIES = ("sync", "os")
# With --lying-disk, flushes of files with this ending do nothing.
LOGS = ".log"
# A file system that never waits for a device.
MEMORY = "/dev/shm"


def options() -> argparse.Namespace:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--cuts", type=int, default=20, help="power cuts in each durability")
    parser.add_argument("--durability", choices=DURABILITIES, default=None, help="only this durability")
    parser.add_argument("--flush", type=float, default=0.3, help="longest time that a flush takes, milliseconds")
    parser.add_argument(
        "--lying-disk", action="store_true", help="flushes of logs do nothing: losses must be found, or it fails"
    )
    return parser.parse_args()


class PowerCuts(chaos.Chaos):
    """One disk that lives through many cuts."""

    def __init__(self, given: argparse.Namespace, directory: Path, seed: int, library: Path):
        super().__init__(given, directory, seed)
        self.mirrors = []  # a cut may end the history of changes
        self.library = library
        self.directory = directory
        self.device = self.disk(self.tideline, LOGS if given.lying_disk else None)
        self.wanted = [given.durability] if given.durability else DURABILITIES
        self.durability = self.wanted[0]
        self.lost: dict[str, list[int]] = {durability: [] for durability in self.wanted}
        self.others: Counter[str] = Counter()
        # Of the streams that resumed after a cut, how many got the missed events, how many had to load the timeline.
        self.told_of: dict[str, Counter[bool]] = {durability: Counter() for durability in self.wanted}
        # Streams that may be told to load the timeline when they resume, however late.
        self.owed: set[Listener] = set()
        self.in_order = False  # the last end of the server
        for writer in self.writers:
            writer.resends = False  # it would be a change outside of the load

    def disk(self, tideline: Tideline, liar: str | None = None) -> Device:
        """An empty disk for a server."""
        at = tideline.directory
        tideline.data.mkdir(parents=True)
        device = Device(tideline.data, at / "held", at / "journal", liar)
        device.begin()
        tideline.preload = device.environment(self.library, self.given.flush / 1000)
        return device

    def run(self) -> bool:
        """Makes all cuts. Returns whether nothing was wrong."""
        try:
            self.choose_settings()
            self.start()
            if not self.device.is_followed():
                raise Impossible("needs a server that is linked dynamically, so that it loads a library")
            self.begin()
            self.load = prefix.Round(self.shared, self.writers)
            self.rounds(self.one, lambda number: number < self.given.cuts * len(self.wanted))
            if self.shared.wrong:
                return False
            self.stop()
        finally:
            self.tideline.kill()
            for listener in self.listeners:
                listener.close()
        self.tell(f"{self.given.cuts} cuts with durability {' and '.join(self.wanted)}" + (" each" if len(self.wanted) > 1 else ""))
        for durability, lost in self.lost.items():
            print(
                f"durability {durability}: {sum(lost):,} acknowledged changes lost, in {sum(map(bool, lost))} of {len(lost)} cuts, "
                f"{max(lost, default=0):,} at most"
            )
        print(
            f"{self.device.flushes:,} flushes; besides {self.others['starts']} cuts while the server started, {self.others['births']} "
            f"while it made a new directory, {self.others['stops']} after a stop in order\nslowest start: {self.slowest:.2f} s"
        )
        self.tell_of_streams()
        for durability, told in self.told_of.items():
            print(f"after durability {durability}: {told[False]} streams got the missed events, {told[True]} got a reset")
        if "sync" in self.told_of and self.told_of["sync"][True] > self.told_of["sync"][False]:
            print("WRONG most streams do not resume")
            return False
        return True

    def one(self, number: int) -> str:
        """A cut, and what it has left."""
        durability = self.durability
        how = f"durability {durability}: {self.cut()}"
        self.durability = self.wanted[number % len(self.wanted)]
        loses = durability == "os" and not self.in_order
        for listener in self.listeners if loses else ():
            listener.forgotten = True
            self.owed.add(listener)
        self.restart()
        self.find(durability, loses)
        return how

    def choose_settings(self) -> None:
        # With larger buffers more of the log is missing in table files.
        others = {"storage.durability": self.durability, "storage.write_buffer_mb": self.rng.choice(("8", "64", "64", "64"))}
        self.tideline.configure(chaos.settings(self.rng) | others | self.fixed)

    def stop(self) -> None:
        """Stops the server in order. Then the journal must account for every byte."""
        self.tideline.stop()
        self.others["stops"] += 1
        if missing := self.device.differs():
            raise Unexpected(f"the preloaded library has missed something: {missing}")

    def cut(self) -> str:
        """Load for a random time, then a power cut, at times right after a stop of the server."""
        end_load = self.begin_load()
        seconds = self.rng.uniform(0.02, self.given.seconds)
        time.sleep(seconds)
        self.in_order = self.rng.random() < 0.05
        if self.in_order:
            self.stop()
        else:
            self.tideline.kill()
        end_load()
        for listener in self.listeners:
            listener.close()
        how = f"after {seconds:.2f} s, {self.device.cut(self.rng)}"
        self.check(self.device)
        return how

    def check(self, device: Device) -> None:
        """Runs `tideline check` on a copy of the disk."""
        with Workspace(str(self.directory)) as place:
            copy = Tideline(self.given.binary, place, self.tideline.settings)
            shutil.copytree(device.held, copy.data)
            copy.check()

    def restart(self) -> None:
        """Starts the server with other settings. At times cuts the power before it is up, or tries a new directory."""
        while self.rng.random() < 0.15:
            self.choose_settings()
            self.device.mount()
            self.tideline.start_and_kill(self.rng.uniform(0.0, 0.2))
            self.device.cut(self.rng)
            self.others["starts"] += 1
            if self.durability == "os":
                self.owed.update(self.listeners)
        if self.rng.random() < 0.15:
            self.birth()
        self.choose_settings()
        self.device.mount()
        self.start()
        self.listen()

    def birth(self) -> None:
        """Cuts the power while a new directory is made. The server must start on the rest."""
        with Workspace(str(self.directory)) as place:
            tideline = Tideline(self.given.binary, place, self.tideline.settings)
            device = self.disk(tideline)
            tideline.start_and_kill(self.rng.uniform(0.0, 0.3))
            device.cut(self.rng)
            device.mount()
            with tideline:
                pass
            tideline.check()
        self.others["births"] += 1

    def find(self, durability: str, loses: bool) -> None:
        """Finds the changes that are left, then compares every list of every user, and each stream."""
        client = Client(self.tideline.address)
        self.lost[durability].append(self.load.settle(client, -math.inf if loses else math.inf))
        if loses:
            # Lost times and ids may be given again.
            self.shared.given = (0, 0)
        self.shared.rank(client, kept=not loses)
        self.compare_lists(client)
        self.load = prefix.Round(self.shared, self.writers)
        self.compare_streams(client)
        for listener in self.listeners:
            told = listener.is_told_to_load()
            if told is not None and not self.shared.suspends and (loses or listener not in self.owed):
                self.told_of[durability][told] += 1
            if listener.is_open():
                self.owed.discard(listener)
            if loses and told is False:
                self.shared.fail(f"the stream of {listener.user} resumes although changes that it has sent may be lost")
        client.close()


def work(given: argparse.Namespace, directory: Path, seed: int) -> bool | str:
    """On a disk that lies, a loss must be found."""
    try:
        right = PowerCuts(given, directory, seed, build("journal", directory)).run()
    except Impossible as why:
        return f"SKIPPED: {why}"
    except Unexpected as error:
        if not given.lying_disk:
            raise
        print(error)
        right = False
    if not given.lying_disk:
        return right
    if right:
        raise Unexpected("losses on a disk that lies were not found")
    return "PASS: what the disk lost was found"


def main() -> None:
    given = options()
    if given.lying_disk:
        given.durability = "sync"
    given.tmp = given.tmp or os.environ.get("TMPDIR") or (MEMORY if os.access(MEMORY, os.W_OK) else None)
    if any(doctest.testmod(module).failed for module in (ids, prefix)):
        raise SystemExit("FAIL: the comparison itself is wrong")
    judge(given, lambda directory, seed: work(given, directory, seed))


if __name__ == "__main__":
    sys.exit(main())
