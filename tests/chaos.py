#!/usr/bin/env python3
"""Kills the real server with -9 at random instants under load, and compares all acknowledged changes.

Several writers publish, comment, edit, delete, restore, follow, mute, hide and like, and undo it; readers scroll at
the same time. Items go to groups, too, and for followers only; writers give rules to follows, ask private accounts and
answer, block, keep lists, suspend a user, and take items off their paths. After every kill the server starts again on the
same data, mostly with other settings. From the first request on, every list and count must be the result of the
acknowledged changes. A change under way at the kill may be made or not, but never in part. Meanwhile the server's time of
day is set forward and back: each cursor that the server gives is above all that it gave before. Streams resume with
`Last-Event-ID` after a kill, some after several: their events must agree with the timeline. Readers
of the feed of changes go on from their positions: the changes must lead to the same state. Needs only Python 3.10 or newer.
"""

import argparse
import random
import sys
import time
from pathlib import Path

from support.client import Client
from support.expect import Impossible
from support.load import FOLLOW_LIMIT, Load, arguments
from support.preload import Clock
from support.program import judge
from support.server import Tideline

# The default of `server.shutdown_timeout`, and a little more to close the store, seconds.
STOP_WITHIN = 12
# Shifts of the time of day, seconds.
SHIFTS = (-86_400, -3600, -60, -1, 0, 0, 0, 1, 60, 3600, 86_400)


def settings(rng: random.Random) -> dict[str, str]:
    """So small that inboxes are trimmed, authors cross both thresholds, readers become dormant, and the store
    flushes and compacts all the time. They differ after every start."""
    push = rng.choice((0, 3, 8, 20, 26, 30, 100))
    return {
        "timeline.inbox_limit": str(rng.choice((1, 5, 20, 60, 1000))),
        "timeline.outbox_limit": str(rng.choice((0, 1, 10))),
        "timeline.active_for": rng.choice(("1ms", "50ms", "700ms", "30d")),
        "timeline.evict_after": rng.choice(("0s", "1ms", "400ms", "90d")),
        "topics.limit": str(rng.choice((1, 5, 20, 100, 1000))),
        "fanout.push_threshold": str(push),
        "fanout.pull_threshold": str(push + rng.choice((0, 3, 10, 100))),
        "fanout.chunk": str(rng.choice((1, 2, 3, 1000))),
        "fanout.workers": str(rng.choice((1, 2, 4))),
        "graph.follow_limit": str(FOLLOW_LIMIT),
        "fanout.queue": str(rng.choice((60, 100000, 100000, 100000))),
        "storage.durability": rng.choice(("sync", "os")),
        "storage.write_buffer_mb": "8",
        "storage.cache_mb": "16",
    }


def options() -> argparse.Namespace:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--sigterm", type=float, default=0.1, metavar="SHARE", help="part of the rounds that end by SIGTERM")
    parser.add_argument("--minutes", type=float, default=None, help="run for this long, with any number of rounds")
    return parser.parse_args()


class Chaos(Load):
    """One data directory that lives through many rounds."""

    def __init__(self, given: argparse.Namespace, directory: Path, seed: int):
        super().__init__(given, seed)
        self.fixed = dict(text.split("=", 1) for text in given.set)
        self.tideline = Tideline(given.binary, directory, settings(self.rng) | self.fixed)
        self.clock: Clock | None = None
        self.slowest = self.longest_stop = 0.0
        self.mirror()

    def client(self) -> Client:
        return Client(self.tideline.address)

    def place(self) -> tuple[str, int]:
        return self.tideline.address

    def topic_limit(self) -> int:
        return int(self.tideline.settings["topics.limit"])

    def run(self) -> bool:
        """Runs all rounds. Returns whether nothing was wrong."""
        self.start()
        try:
            self.begin()
            number = self.rounds(self.one, self.goes_on)
            if self.shared.wrong:
                return False
            self.tideline.stop()
        finally:
            self.tideline.kill()
            for listener in self.listeners:
                listener.close()
        self.tell(f"{number} rounds")
        if not self.tell_of_streams():
            print("WRONG most streams do not resume")
            return False
        read = ", ".join(f"{mirror.changes:,}" for mirror in self.mirrors)
        print(f"feed of changes: {read} read by the readers")
        print(f"slowest start: {self.slowest:.2f} s, slowest stop: {self.longest_stop:.2f} s\ncheck: {self.tideline.check()}")
        return True

    def one(self, _: int) -> str:
        how = self.round()
        if self.rng.random() < 0.1:
            self.tideline.check()
        self.restart()
        self.compare()
        return how

    def situation(self) -> str:
        return f"settings now {self.tideline.settings}"

    def goes_on(self, rounds: int) -> bool:
        if self.given.minutes is not None:
            return time.monotonic() - self.began < 60 * self.given.minutes
        return rounds < self.given.rounds

    def take_clock(self) -> None:
        """Gives the server a clock that is set forward and back, from the next start on."""
        try:
            self.clock = Clock(self.tideline.directory)
            self.tideline.preload = self.clock.environment
        except Impossible as why:
            print(f"the clock is not changed: {why}", flush=True)

    def set_clock(self) -> None:
        if self.clock is not None:
            self.clock.shift(self.rng.choice(SHIFTS))

    def start(self) -> None:
        self.slowest = max(self.slowest, self.tideline.start())

    def restart(self) -> None:
        """Starts the server, mostly with other settings. Now and then kills it before it is up, and starts it again."""
        if self.rng.random() < 0.8:
            self.tideline.configure(settings(self.rng) | self.fixed)
        while self.rng.random() < 0.15:
            self.tideline.start_and_kill(self.rng.uniform(0.0, 0.2))
        if self.rng.random() < 0.5:
            self.set_clock()
        self.start()
        self.listen()

    def round(self) -> str:
        """Load for a random time, then the end of the server: mostly by kill -9, at times by SIGTERM."""
        end_load = self.begin_load()
        seconds = self.rng.uniform(0.02, self.given.seconds)
        at = self.rng.uniform(0, 2 * seconds)
        time.sleep(min(at, seconds))
        if at < seconds:
            self.set_clock()
            time.sleep(seconds - at)
        orderly = self.rng.random() < self.given.sigterm
        if orderly:
            took = self.tideline.stop()
            self.longest_stop = max(self.longest_stop, took)
            how = f"SIGTERM after {seconds:.2f} s, gone in {took:.2f} s"
        else:
            self.tideline.kill()
            how = f"kill -9 after {seconds:.2f} s"
        end_load()
        if orderly:
            for what in self.shared.cut_off:
                self.shared.fail(f"SIGTERM cut off an answer: {what}")
            if took > STOP_WITHIN:
                self.shared.fail(f"the stop took {took:.2f} s")
        self.shared.cut_off.clear()
        for listener in self.listeners:
            listener.close()
        return how

    def compare(self) -> None:
        """Resolves the changes that were under way, then compares all lists and streams."""
        client = self.client()
        for writer in self.writers:
            writer.resolve(client)
        self.shared.rank(client)
        self.compare_lists(client)
        self.compare_streams(client)
        self.compare_changes(client)
        client.close()


def work(given: argparse.Namespace, directory: Path, seed: int) -> bool:
    chaos = Chaos(given, directory, seed)
    chaos.take_clock()
    return chaos.run()


def main() -> None:
    given = options()
    judge(given, lambda directory, seed: work(given, directory, seed))


if __name__ == "__main__":
    sys.exit(main())
