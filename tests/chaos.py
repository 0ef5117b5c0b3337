#!/usr/bin/env python3
"""Kills the real server with -9 at random instants under load, and compares all that it acknowledged.

Several writers publish, edit, delete, follow and unfollow; readers scroll at the same time. After every
kill the server starts again and, from the first request on, every timeline must be what the acknowledged
changes make it. Needs Python 3.10 or newer and nothing else.
"""

import argparse
import os
import random
import sys
import threading
import time
from pathlib import Path

from support.client import Client, Unexpected
from support.model import Model
from support.server import Tideline, Workspace
from support.workers import check_user
from support.writer import Reader, Shared, Writer

# So small that inboxes are trimmed, authors cross both thresholds, readers fall dormant, and the
# store flushes and compacts all the time.
SETTINGS = {
    "timeline.inbox_limit": "20",
    "timeline.active_for": "700ms",
    "fanout.push_threshold": "8",
    "fanout.pull_threshold": "30",
    "fanout.chunk": "3",
    "storage.write_buffer_mb": "8",
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", "target")
    parser.add_argument("--binary", type=Path, default=Path(target, "release", "tideline"))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, as in fanout.chunk=5")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=3.0, help="longest round")
    parser.add_argument("--writers", type=int, default=6)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--users", type=int, default=120)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--tmp", help="where to put the temporary data directory")
    parser.add_argument("--keep", action="store_true", help="keep it")
    return parser.parse_args()


class Chaos:
    """One data directory that lives through many rounds."""

    def __init__(self, given: argparse.Namespace, directory: Path, seed: int):
        self.given = given
        self.rng = random.Random(seed)
        self.tideline = Tideline(given.binary, directory, SETTINGS | dict(text.split("=", 1) for text in given.set))
        self.model = Model(follow_limit=1000)
        self.shared = Shared(self.model)
        everybody = range(1, given.users + 1)
        # Viewers follow many and publish nothing; nobody changes whom they follow.
        self.viewers = range(given.users + 1, given.users + 9)
        self.users = [*everybody, *self.viewers]
        self.writers = [
            Writer(self.shared, number, everybody[number :: given.writers], everybody, random.Random(self.rng.random()))
            for number in range(given.writers)
        ]
        self.readers = [Reader(self.shared, self.viewers, random.Random(self.rng.random())) for _ in range(given.readers)]

    def run(self) -> bool:
        """All rounds; true if nothing was wrong."""
        slowest = self.tideline.start()
        try:
            self.begin()
            for number in range(1, self.given.rounds + 1):
                how = self.round()
                slowest = max(slowest, self.tideline.start())
                client = Client(self.tideline.address)
                for writer in self.writers:
                    writer.resolve(client)
                items = self.compare(client)
                print(
                    f"round {number}: {how}; {sum(writer.acknowledged for writer in self.writers):,} changes acknowledged so far, "
                    f"{sum(reader.scrolls for reader in self.readers):,} scrolls, {items:,} items compared, "
                    f"{len(self.shared.wrong)} wrong",
                    flush=True,
                )
                if self.shared.wrong:
                    return False
            self.tideline.stop()
        finally:
            self.tideline.kill()
        print(f"slowest start: {slowest:.2f} s\ncheck: {self.tideline.check()}")
        return True

    def begin(self) -> None:
        """The viewers' follows."""
        client = Client(self.tideline.address)
        for viewer in self.viewers:
            follow = self.rng.sample(range(1, self.given.users + 1), self.given.users // 2)
            answer = client.call("POST", f"/v1/users/{viewer}/following/batch", {"follow": follow, "unfollow": []})
            if answer.status != 200:
                raise Unexpected(f"following/batch: {answer.status} {answer.body}")
            for target in follow:
                self.model.follow(viewer, target)

    def round(self) -> str:
        """Load for a random time, then the end of the server: mostly a kill -9, at times a SIGTERM."""
        stop = threading.Event()
        threads = [threading.Thread(target=each.run, args=(self.tideline.address, stop)) for each in [*self.writers, *self.readers]]
        for thread in threads:
            thread.start()
        seconds = self.rng.uniform(0.05, self.given.seconds)
        time.sleep(seconds)
        orderly = self.rng.random() < 0.2
        if orderly:
            how = f"SIGTERM after {seconds:.2f} s, gone in {self.tideline.stop():.2f} s"
        else:
            self.tideline.kill()
            how = f"kill -9 after {seconds:.2f} s"
        stop.set()
        for thread in threads:
            thread.join()
        return how

    def compare(self, client: Client) -> int:
        """Every user's lists against the model, and some texts; how many items there were."""
        total = 0
        for user in self.rng.sample(self.users, len(self.users)):
            further = self.rng if self.rng.random() < 0.1 else None
            count, wrong = check_user(client, self.model, user, self.rng.choice((20, 100)), further)
            total += count
            if wrong:
                self.shared.fail(wrong)
        live = sorted(self.model.items)
        for _ in range(10 if live else 0):
            ids = self.rng.sample(live, min(100, len(live)))
            found = client.get("/v1/content?ids=" + ",".join(map(str, ids)))["items"]
            for body, content_id in zip(found, ids, strict=True):
                if (body["content_id"], body["text"]) != (str(content_id), self.shared.texts[content_id]):
                    self.shared.fail(f"content {content_id}: text {self.shared.texts[content_id]!r} expected, got {body}")
        return total


def main() -> None:
    given = options()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    with Workspace(given.tmp, given.keep) as directory:
        try:
            right = Chaos(given, directory, seed).run()
        except Unexpected as error:
            raise SystemExit(f"WRONG {error}") from error
        if not right:
            raise SystemExit("FAIL: see WRONG above")
    print("PASS")


if __name__ == "__main__":
    sys.exit(main())
