#!/usr/bin/env python3
"""Takes backups of the real server under full write load, restores each, and compares it with what was acknowledged.

The load is that of chaos.py. Each backup is restored from its directory, from the archive that the server streams, or
from a compressed archive of `tideline backup`, with the check of `tideline restore`. It is then served: every list must
be the result of the first changes in the order of acknowledgement, and all changes that were acknowledged before the
backup began must be among them. The served data itself must have all changes. Between the backups the server is killed
with -9 while it takes or verifies one, or stopped with SIGTERM: no backup that was finished may be lost or change, and
nothing half done may be left. In the end, a directory of an earlier format is refused. Needs only Python 3.10.
"""

import argparse
import contextlib
import copy
import sys
import threading
import time
from pathlib import Path

import chaos
from support import prefix
from support.client import Client
from support.everything import compare_all
from support.expect import Unexpected, until
from support.load import arguments
from support.program import Workspace, judge
from support.server import Tideline
from support.writer import Lost

PATH = "/v1/admin/backups"
# Seconds that a verification may take.
PATIENCE = 120
WAYS = ("directory", "stream", "command")


def options() -> argparse.Namespace:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--backups", type=int, default=20)
    return parser.parse_args()


class Backups(chaos.Chaos):
    """One data directory and its backups."""

    def __init__(self, given: argparse.Namespace, directory: Path, seed: int):
        given.listeners = 0
        super().__init__(given, directory, seed)
        self.directory = directory
        self.keep = self.rng.randint(2, 4)
        self.fixed |= {"backup.keep": str(self.keep)}
        self.tideline.configure(self.tideline.settings | self.fixed)
        self.later = 0  # changes in backups that were acknowledged after these began
        self.kills: list[str] = []
        for writer in self.writers:
            writer.resends = False  # it would be a change outside of the load

    def run(self) -> bool:
        self.start()
        try:
            self.begin()
            self.rounds(self.one, lambda number: number < self.given.backups)
            if self.shared.wrong:
                return False
            self.tideline.stop()
        finally:
            self.tideline.kill()
        self.tell(f"{self.given.backups} backups")
        print(f"{self.later:,} later changes in backups too; ends meanwhile: {'; '.join(self.kills)}")
        print(f"check: {self.tideline.check()}")
        return self.refuses_earlier_formats()

    def one(self, number: int) -> str:
        """A backup, at times with another one that is interrupted."""
        way = WAYS[number % len(WAYS)]
        self.load = prefix.Round(self.shared, self.writers)
        self.backup(number, way)
        if number % 3 == 0 or number == self.given.backups:
            self.interrupt()
        return f"a backup by {way}"

    def refuses_earlier_formats(self) -> bool:
        """No version reads the formats before the present one, which were never released."""
        file = self.tideline.data / "FORMAT"
        now = file.read_text()
        for command, *options in (("check",), ("serve", "--listen", "127.0.0.1:0")):
            file.write_text("tideline format 3\n")
            code = self.tideline.command(command, *options).wait(PATIENCE)
            told = self.tideline.output(command)
            if code != 1 or "an earlier version wrote it in format 3" not in told:
                self.shared.fail(f"tideline {command} of format 3: exit code {code}, {told}")
        file.write_text(now)
        return not self.shared.wrong

    def backup(self, number: int, way: str) -> None:
        """One backup under load, restored and compared."""
        end_load = self.begin_load()
        time.sleep(self.rng.uniform(0.1, self.given.seconds))
        client = Client(self.tideline.address)
        begun = time.monotonic()
        source, name = self.directory / f"backup-{number}.tar", ""
        if way == "command":
            source = source.with_suffix(".tar.zst")
            self.tideline.run("backup", "--url", self.tideline.url, "--to", source)
        else:
            answer = client.call("POST", PATH)
            if answer.status != 201:
                raise Unexpected(f"POST {PATH}: {answer.status} {answer.body}")
            name = answer.body["name"]
            time.sleep(self.rng.uniform(0, 0.3))
        end_load()
        if way == "stream":
            self.verified(client, name)
            status, archive = client.exchange("GET", f"{PATH}/{name}")
            if status != 200:
                raise Unexpected(f"GET {PATH}/{name}: {status}")
            source.write_bytes(archive)
        elif way == "directory":
            self.verified(client, name)
            source = self.tideline.data / "backups" / name
        self.shared.rank(client)
        self.items += self.compare_all(client, self.tideline)
        whole = copy.deepcopy(self.load.state())
        self.restore(source, begun)
        if source.is_file():
            source.unlink()
        # The server itself has all changes.
        self.load.saved = whole
        self.load.set_back()
        self.kept(client)
        client.close()

    def compare_all(self, client: Client, tideline: Tideline) -> int:
        users = self.rng.sample(self.users, len(self.users))
        return compare_all(client, self.shared, users, self.rng, int(tideline.settings["topics.limit"]))

    def verified(self, client: Client, name: str) -> None:
        """Waits until a backup is verified."""
        def is_verified() -> bool:
            found = next(item for item in client.get(PATH)["items"] if item["name"] == name)
            if found["state"] == "failed":
                raise Unexpected(f"the verification of a backup fails: {found}")
            return found["state"] == "verified"

        until(f"the backup {name} is verified", is_verified, PATIENCE)

    def restore(self, source: Path, begun: float) -> None:
        """Restores, serves and compares."""
        with Workspace(str(self.directory)) as place:
            copied = Tideline(self.given.binary, place, chaos.settings(self.rng) | self.fixed)
            told = copied.run("restore", "--from", source)
            if "; the data is from 20" not in told:
                raise Unexpected(f"tideline restore does not say from when the data is: {told}")
            with copied:
                client = Client(copied.address)
                made = sum(len(writer.history) for writer in self.writers)
                before = sum(done.ended < begun for writer in self.writers for done in writer.history)
                self.later += made - before - self.load.settle(client, begun)
                self.items += self.compare_all(client, copied)
                client.close()

    def kept(self, client: Client) -> None:
        """No more verified backups than are kept, and no other folder."""
        items = client.get(PATH)["items"]
        verified = [item for item in items if item["state"] == "verified"]
        folders = {path.name for path in (self.tideline.data / "backups").iterdir()
                   if path.is_dir() and not path.name.endswith(".gone")}
        if len(verified) > self.keep or folders != {item["name"] for item in items}:
            self.shared.fail(f"backups: {items}, folders {folders}, keep {self.keep}")

    def interrupt(self) -> None:
        """Ends the server while it takes or verifies a backup under load, and starts it again."""
        client = Client(self.tideline.address)
        before = {item["name"]: item for item in client.get(PATH)["items"] if item["state"] == "verified"}
        end_load = self.begin_load()
        for writer in self.writers:
            writer.resends = True
        time.sleep(self.rng.uniform(0.05, 0.3))

        def take() -> None:
            try:
                Client(self.tideline.address).call("POST", PATH)
            except (*Lost, Unexpected):
                pass  # the server is gone

        taking = threading.Thread(target=take)
        taking.start()
        seconds = self.rng.choice((self.rng.uniform(0, 0.03), self.rng.uniform(0, 0.5)))
        time.sleep(seconds)
        if self.rng.random() < 0.3:
            self.kills.append(f"SIGTERM after {seconds:.3f} s, gone in {self.tideline.stop():.2f} s")
        else:
            self.tideline.kill()
            self.kills.append(f"kill -9 after {seconds:.3f} s")
        end_load()
        taking.join()
        self.restart()
        client = Client(self.tideline.address)
        self.compare()
        for writer in self.writers:
            writer.resends = False
        # A backup of before may be removed by now, because a newer one is verified.
        now = {item["name"]: item for item in client.get(PATH)["items"]}
        changed = [name for name in before.keys() & now.keys() if before[name] != now[name]]
        lost = before.keys() - now.keys()
        if changed or len(lost) > len(now.keys() - before.keys()):
            self.shared.fail(f"after an interrupted backup: {changed} changed, {lost} lost; {before} before, {now} now")
        left = [path.name for path in (self.tideline.data / "backups").glob("*.part")]
        if left:
            self.shared.fail(f"after an interrupted backup there is {left}")
        for name in now:
            # Or removed because newer ones are verified.
            with contextlib.suppress(StopIteration):
                self.verified(client, name)
        client.close()


def main() -> None:
    given = options()
    judge(given, lambda directory, seed: Backups(given, directory, seed).run())


if __name__ == "__main__":
    sys.exit(main())
