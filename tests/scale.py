#!/usr/bin/env python3
"""Imports a follow graph and posts, serves them, and compares timelines with a plain merge of the files.

Exits non-zero on any difference. Needs only Python 3.10 or newer.
"""

import argparse
import csv
import os
import random
import re
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from support.client import Client
from support.compare import difference
from support.ids import Name, host_id, new_uuid, quoted
from support.model import Model, rows
from support.program import arguments, judge
from support.server import Tideline
from support.shared import Shared
from support.workers import Work, compare
from support.writer import Writer

# Small enough for every path: trimmed inboxes, partial pushes, pulled authors.
SETTINGS = {
    "timeline.inbox_limit": "300",
    "fanout.push_threshold": "200",
    "fanout.pull_threshold": "2000",
    "fanout.chunk": "100",
}
# Writers, the users of each, and others whom they may follow.
WRITERS, OWNED, OTHERS = 4, 50, 1000
# New names after which their order is found.
MOST_NEW = 300


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--follows", required=True, help="user_id,target_id as .csv or .csv.gz")
    parser.add_argument("--content", required=True, help="content_id,author_id,published_at as .csv, .csv.gz or .ndjson")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, as in timeline.inbox_limit=300")
    parser.add_argument("--follow-limit", type=int, default=1000)
    parser.add_argument("--users", type=int, default=2000, help="how many random users to compare")
    parser.add_argument("--limit", type=int, default=50, help="items a page")
    parser.add_argument("--ids", choices=("given", "uuids"), default="given", help="ids as in the files, or a UUID v4 instead of each")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--kill", action="store_true", help="kill -9 the import twice, then run it to its end")
    parser.add_argument("--random-ops", type=int, default=0, metavar="N", help="make N changes of the load of chaos.py and compare again")
    parser.add_argument("--restart", action="store_true", help="restart after a stop and after a kill -9; compare again")
    parser.add_argument("--restart-limit", type=float, default=2.0, metavar="SECONDS", help="longest start that is allowed")
    parser.add_argument("--compact", action="store_true", help="run `tideline compact` at the end, serve once more and compare again")
    parser.add_argument("--check", action="store_true", help="run `tideline check` at the end")
    return parser.parse_args()


def rename(given: argparse.Namespace, directory: Path) -> None:
    """Copies the files of an import, with a UUID v4 instead of each id of a user or an item."""
    rng = random.Random(given.seed)
    users: dict[str, str] = {}
    items: dict[str, str] = {}
    uuid = lambda of, id: of.get(id) or of.setdefault(id, new_uuid(rng))
    with open(directory / "follows.csv", "w", newline="") as file:
        renamed = csv.writer(file)
        renamed.writerow(["user_id", "target_id"])
        renamed.writerows([uuid(users, user), uuid(users, target)] for user, target, *_ in rows(given.follows))
    with open(directory / "content.csv", "w", newline="") as file:
        renamed = csv.writer(file)
        renamed.writerow(["content_id", "author_id", "published_at"])
        renamed.writerows([uuid(items, item), uuid(users, author), at] for item, author, at, *_ in rows(given.content))
    given.follows, given.content = str(directory / "follows.csv"), str(directory / "content.csv")
    print(f"{len(users):,} users and {len(items):,} items have UUIDs instead of their ids", flush=True)


@contextmanager
def step(name: str):
    """Prints the duration of a step."""
    begin = time.monotonic()
    result: list[str] = []
    yield result
    print(f"{name}: {time.monotonic() - begin:.1f} s{''.join(', ' + part for part in result)}", flush=True)


class Run:
    """One run over one data set."""

    def __init__(self, given: argparse.Namespace, directory: Path):
        self.given = given
        self.rng = random.Random(given.seed)
        settings = SETTINGS | {"graph.follow_limit": str(given.follow_limit)}
        settings |= dict(setting.split("=", 1) for setting in given.set)
        print("settings: " + " ".join(f"{name}={value}" for name, value in settings.items()), flush=True)
        self.tideline = Tideline(given.binary, directory, settings)
        self.model = Model(given.follow_limit)
        self.shared = Shared(self.model)
        self.writers: list[Writer] = []
        self.failures = 0

    def run(self) -> bool:
        """Runs all requested steps. Returns whether nothing differed."""
        if self.given.ids == "uuids":
            rename(self.given, self.tideline.directory)
        with step("model") as said:
            self.model.load(self.given.follows, self.given.content)
            audience = self.model.audience()
            said += [
                f"{len(self.model.users()):,} users",
                f"{audience.total():,} follows ({self.model.refused} refused)",
                f"{len(self.model.items):,} posts",
                f"{sum(len(posts) * audience[author] for author, posts in self.model.posts.items()):,} deliveries",
            ]
        if self.given.kill:
            self.kill_imports()
        with step("import") as said:
            begin = time.monotonic()
            code = self.tideline.command("import", *self.files()).wait()
            lines = audience.total() + self.model.refused + len(self.model.items)
            said += [f"{lines / (time.monotonic() - begin):,.0f} lines a second", f"exit code {code}", f"{self.tideline.disk_mb():.0f} MiB on disk"]
        told = self.tideline.output("import").splitlines()[-8:]
        print("".join(f"  | {line}\n" for line in told), end="")
        refused = [line for line in told if line.startswith("follows ") and line.endswith(f" {self.model.refused} refused")]
        if code != 0 or not refused:
            raise SystemExit(f"the import failed, or did not refuse {self.model.refused} follows")
        self.start("first start")
        try:
            self.compare("compared", self.sample())
            if self.given.random_ops:
                self.compare("compared after the changes", self.changed(self.given.random_ops))
            if self.given.restart:
                self.restart()
            print(f"server: {self.tideline.memory_mb('VmHWM'):,.0f} MiB at most, {self.tideline.disk_mb():.0f} MiB on disk")
            print(f"stop: {self.tideline.stop():.2f} s")
        finally:
            self.tideline.kill()
        if self.given.compact:
            self.compact()
        if self.given.check:
            with step("check") as said:
                said.append(self.tideline.check())
        return self.failures == 0 and not self.shared.wrong

    def compact(self) -> None:
        """Compacts, which trims and drops as much as possible, and compares timelines again."""
        with step("compact") as said:
            told = self.tideline.run("compact")
            said.append(f"{self.tideline.disk_mb() * 2**20:,.0f} bytes on disk")
        print("".join(f"  | {line}\n" for line in told.splitlines()), end="")
        found = re.search(r"the largest has (\d+) \(limit (\d+), slack (\d+)\)", told)
        assert found, "the compaction does not tell of the largest inbox"
        most, limit, slack = map(int, found.groups())
        if most > limit + slack:
            print(f"WRONG an inbox has {most} entries after a compaction", flush=True)
            self.failures += 1
        self.start("start after the compaction")
        try:
            self.compare("compared after the compaction", self.sample())
            print(f"stop: {self.tideline.stop():.2f} s")
        finally:
            self.tideline.kill()

    def files(self) -> list[str]:
        """The files of an import, with at most as many refused lines as the model has."""
        return ["--follows", self.given.follows, "--content", self.given.content, "--allow-refused", str(self.model.refused)]

    def sample(self) -> list[int]:
        """Random users, the users with the most followers, those with the most followees, and an unknown user."""
        users = self.model.users()
        most_following = sorted(self.model.followees, key=lambda user: len(self.model.followees[user]))[-100:]
        most_followed = [user for user, _ in self.model.audience().most_common(100)]
        chosen = self.rng.sample(users, min(self.given.users, len(users)))
        unknown = users[-1] + 1 if isinstance(users[-1], int) else host_id(new_uuid(self.rng))
        # The longest timelines come first, so that the processes end together.
        return list(dict.fromkeys([*reversed(most_following), *most_followed, *chosen, unknown]))

    def compare(self, what: str, users: list[int]) -> None:
        """Compares users. A quarter of them are read in further ways."""
        thorough = frozenset(self.rng.sample(users, len(users) // 4))
        work = Work(self.model, self.tideline.address, self.given.limit, self.given.seed, thorough)
        self.failures += len(compare(work, users, self.given.processes, what).wrong)

    def start(self, what: str) -> None:
        seconds = self.tideline.start()
        slow = seconds > self.given.restart_limit
        print(f"{what}: {seconds:.2f} s until it listens{' TOO SLOW' if slow else ''}", flush=True)
        self.failures += self.given.restart and slow

    def kill_imports(self) -> None:
        """Kills the import twice in its middle, and serves the data left."""
        # Some 20,000 lines a second on two cores. The first complete import gives a better figure.
        guess, kills = (self.model.audience().total() + len(self.model.items)) / 20_000, 0
        while kills < 2:
            delay = guess * self.rng.uniform(0.2, 0.8)
            begin = time.monotonic()
            process = self.tideline.command("import", *self.files())
            while process.poll() is None and time.monotonic() - begin < delay:
                time.sleep(0.01)
            if process.poll() is not None:
                guess, kills = time.monotonic() - begin, 0
                print(f"import done in {guess:.1f} s before it could be killed: once more from the start", flush=True)
                self.tideline.wipe()
                continue
            process.kill()
            process.wait()
            kills += 1
            print(f"import killed after {delay:.1f} s, {self.tideline.disk_mb():.0f} MiB on disk", flush=True)
            self.start("start after kill -9 of the import")
            try:
                self.failures += self.agrees_with_itself(100)
            finally:
                self.tideline.kill()

    def agrees_with_itself(self, count: int) -> int:
        """For a state unknown to the model: compares timelines with the merge of the API's lists. Returns the errors."""
        client, wrong, full = Client(self.tideline.address), 0, 0
        for user in self.rng.sample(list(self.model.followees), min(count, len(self.model.followees))):
            authors = [item["user_id"] for item in client.rows(f"/v1/users/{quoted(user)}/following")]
            merged = sorted((item for author in authors for item in client.scroll(f"/v1/users/{quoted(author)}/content")), reverse=True)
            full += bool(merged)
            shown = client.scroll(f"/v1/users/{quoted(user)}/timeline")
            text = difference(f"user {user} on what the killed import left", merged, shown)
            if text:
                print(f"WRONG {text}", flush=True)
                wrong += 1
        print(f"  {count} users read, {full} with posts by then: {wrong or 'none'} wrong", flush=True)
        return wrong

    def make_writers(self) -> list[Writer]:
        """Writers that go on from what was imported, far from the limit of follows."""
        few = [user for user, followees in self.model.followees.items() if 0 < len(followees) < self.given.follow_limit // 2]
        authors = [user for user in self.model.posts if len(self.model.followees.get(user, ())) < self.given.follow_limit // 2]
        own = [*self.rng.sample(few, min(len(few), WRITERS * OWNED // 2)), *self.rng.sample(authors, min(len(authors), WRITERS * OWNED // 2))]
        own = self.rng.sample(list(dict.fromkeys(own)), len(set(own)))
        users = self.model.users()
        everybody = list({*own, *self.rng.sample(users, min(OTHERS, len(users)))})
        times = [item[0] for item in self.model.items.values()]
        above = max((item for item in self.model.items if not isinstance(item, Name)), default=0)
        writers = []
        for number in range(WRITERS):
            writer = Writer(self.shared, number, own[number::WRITERS], everybody, random.Random(self.rng.random()))
            writer.ids, writer.times, writer.next_id = "mixed", (min(times), max(times)), writer.next_id + above
            writer.suspensions = 2
            writer.live = [item[1] for author in writer.owned for item in self.model.posts.get(author, [])[:3]]
            writers.append(writer)
        return writers

    def changed(self, count: int) -> list[int]:
        """Makes random changes of all kinds, looks at some at once, and returns users whose lists differ by that, and others."""
        self.writers = self.writers or self.make_writers()
        clients = [Client(self.tideline.address) for _ in self.writers]
        with step(f"{count} changes") as said:
            for number in range(count):
                self.writers[number % WRITERS].step(clients[number % WRITERS])
                if len(self.shared.new) > MOST_NEW:
                    self.shared.rank(clients[0])
            self.shared.rank(clients[0])
            said.append(f"{sum(writer.scrolls for writer in self.writers):,} looked at once")
        owned = [user for writer in self.writers for user in writer.owned]
        followers = [user for author in owned for user in sorted(self.model.followers(author))[:10]]
        return list(dict.fromkeys([*owned, *followers, *self.sample()[:100]]))

    def restart(self) -> None:
        """Stops in order, then kills the server right after some more changes."""
        print(f"stop: {self.tideline.stop():.2f} s")
        self.start("start after a stop")
        affected = self.changed(300)
        self.tideline.kill()
        self.start("start after kill -9")
        self.compare("compared after kill -9", affected)


def main() -> None:
    given, begin = options(), time.monotonic()
    judge(given, lambda directory, _: Run(given, directory).run())
    print(f"after {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    sys.exit(main())
