"""The load of the machines that end a server at random: writers, readers, and streams that resume."""

import argparse
import random
import threading
import time
from collections.abc import Callable

from . import program
from .client import Client
from .everything import compare_all
from .expect import Unexpected
from .ids import KINDS, Id, make, quoted
from .listener import Listener
from .mirror import Mirror
from .model import Model, UserList, admits
from .shared import Shared, must
from .writer import RULES, Reader, Writer

# So many that one user can follow all new ids of a round: see `Shared.rank`.
FOLLOW_LIMIT = 100_000
# Seconds between progress lines.
TELL_EVERY = 20


def arguments(description: str) -> argparse.ArgumentParser:
    """The options of every test with this load."""
    parser = program.arguments(description)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting, as in fanout.chunk=5")
    parser.add_argument("--seconds", type=float, default=1.2, help="longest load before the end of the server")
    parser.add_argument("--writers", type=int, default=6)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--listeners", type=int, default=3, help="streams that resume after every end of the server")
    parser.add_argument("--users", type=int, default=60)
    parser.add_argument("--ids", choices=KINDS, help="ids of users and items; by default both mixed, and those of new items differ by round")
    parser.add_argument("--seed", type=int, default=None)
    return parser


class Load:
    """Writers, readers and streams over one model. A machine says where the servers are."""

    def __init__(self, given: argparse.Namespace, seed: int):
        self.given = given
        self.rng = random.Random(seed)
        self.model = Model(FOLLOW_LIMIT)
        self.shared = Shared(self.model)
        # Viewers follow many, publish nothing, and keep their follows.
        self.users = [make(given.ids or "mixed", number, self.rng) for number in range(1, given.users + 7)]
        self.everybody, self.viewers = self.users[: given.users], self.users[given.users :]
        self.writers = [
            Writer(self.shared, number, self.everybody[number :: given.writers], self.everybody, random.Random(self.rng.random()))
            for number in range(given.writers)
        ]
        self.readers = [Reader(self.shared, self.viewers, random.Random(self.rng.random())) for _ in range(given.readers)]
        self.listeners = [Listener(self.shared, viewer) for viewer in self.viewers[: given.listeners]]
        self.mirrors: list[Mirror] = []
        self.began = self.told = time.monotonic()
        self.items = 0

    def client(self) -> Client:
        """A connection for changes and reads."""
        raise NotImplementedError

    def load_client(self) -> Client:
        """The connection of a writer or a reader."""
        return self.client()

    def place(self) -> tuple[str, int]:
        """The address of a server for a stream."""
        raise NotImplementedError

    def topic_limit(self) -> int:
        """The number of items that a topic shows."""
        raise NotImplementedError

    def rounds(self, one: Callable[[int], str], goes_on: Callable[[int], bool]) -> int:
        """Makes rounds as long as they are wanted and nothing is wrong; `one` says how a round went. Returns their number."""
        number = 0
        while not self.shared.wrong and goes_on(number):
            number += 1
            how = ""
            try:
                how = one(number)
            except Unexpected as error:
                self.shared.fail(str(error))
            if self.shared.wrong:
                print(f"in round {number}: {how}; {self.situation()}", flush=True)
            elif time.monotonic() - self.told > TELL_EVERY:
                self.told = time.monotonic()
                self.tell(f"round {number}: {how}")
        return number

    def situation(self) -> str:
        """The state on which a fault may depend."""
        return ""

    def tell(self, what: str) -> None:
        print(
            f"{what}; {sum(writer.acknowledged for writer in self.writers):,} changes acknowledged so far, "
            f"{sum(reader.scrolls for reader in [*self.readers, *self.writers]):,} scrolls under load, {self.items:,} items compared, "
            f"{len(self.shared.wrong)} wrong, {time.monotonic() - self.began:.0f} s",
            flush=True,
        )

    def tell_of_streams(self) -> bool:
        """Prints figures of the streams. Returns whether they mostly resumed."""
        resumed = sum(listener.resumed for listener in self.listeners)
        resets = sum(listener.resets - listener.of_suspensions for listener in self.listeners)
        events = sum(listener.events for listener in self.listeners)
        print(f"streams: {events:,} events received, {resumed} times resumed, {resets} resets")
        return 2 * resets <= resumed

    def listen(self) -> None:
        """Opens most closed streams. The others miss the next events, and resume after another end of the server. All
        begin before the first publish."""
        for listener in self.listeners:
            if not listener.is_open() and (listener.last_id is None or self.rng.random() < 0.8):
                listener.open(self.place())

    def begin(self) -> None:
        """Makes the viewers follow users."""
        client = self.client()
        self.shared.expect(self.users)
        self.shared.rank(client)
        for viewer in self.viewers:
            follow = self.rng.sample([user for user in self.everybody if user not in self.shared.closed], self.given.users // 2)
            must(client, "POST", f"/v1/users/{quoted(viewer)}/following/batch", {"follow": follow, "unfollow": []})
            for target in follow:
                self.model.follow(viewer, target)
            for target in follow[:6]:
                rule = self.rng.choice(RULES)
                must(client, "PUT", f"/v1/users/{quoted(viewer)}/following/{quoted(target)}", rule)
                self.model.set_rule(viewer, target, rule)
            self.begin_list(client, viewer, follow[6:8])
        self.listen()

    def begin_list(self, client: Client, viewer: Id, apart: list[Id]) -> None:
        """A viewer reads some apart from the others."""
        made = self.model.lists.setdefault(viewer, {})["apart"] = UserList()
        made.exclusive, made.members = True, {member: {} for member in apart}
        path = f"/v1/users/{quoted(viewer)}/lists/apart"
        must(client, "PUT", path, {"exclusive": True})
        must(client, "POST", f"{path}/members/batch", {"add": apart, "remove": []})

    def begin_load(self) -> Callable[[], None]:
        """Starts all writers and readers, and closes some streams. Returns what ends the load."""
        for listener in self.listeners:
            if self.rng.random() < 0.2:
                listener.close()
        kind = self.given.ids or self.rng.choice(KINDS)
        self.shared.suspends = self.rng.random() < 0.3
        for writer in self.writers:
            writer.ids = kind
            writer.suspensions = 2 if self.shared.suspends else 0
        stop = threading.Event()
        threads = [threading.Thread(target=each.work, args=(self.load_client(), stop)) for each in [*self.writers, *self.readers, *self.mirrors]]
        for thread in threads:
            thread.start()

        def end() -> None:
            stop.set()
            for thread in threads:
                thread.join()

        return end

    def mirror(self) -> None:
        """Begins to read the feed of changes, for servers that never lose one."""
        self.mirrors = [Mirror(self.shared, limit) for limit in (3, 1000)]

    def compare_changes(self, client: Client) -> None:
        """Compares the state to which the changes have led with the model."""
        for mirror in self.mirrors:
            mirror.read_on(client)
            if wrong := mirror.compare():
                self.shared.fail(wrong)

    def compare_lists(self, client: Client) -> None:
        """Compares every list of every user, and of every topic."""
        users = self.rng.sample(self.users, len(self.users))
        self.items += compare_all(client, self.shared, users, self.rng, self.topic_limit())

    def hears(self, user: Id, author: Id) -> bool:
        """Whether a post of an author comes to a user."""
        return author in self.model.authors(user) and admits(self.model.rules.get((user, author), {}), "post")

    def compare_streams(self, client: Client) -> None:
        """Compares each stream with the timeline, once it has sent the last change."""
        heard = [listener for listener in self.listeners if listener.is_open()]
        last: list[tuple[Id, Id]] = []
        for listener in heard:
            heard_of = (author for author in self.model.authors(listener.user) if self.hears(listener.user, author))
            author = self.rng.choice(sorted(heard_of))
            writer = next(writer for writer in self.writers if author in writer.owned)
            writer.publish_at_last(client, author)
            last.append((author, writer.live[-1]))
        for listener in heard:
            for author, content_id in last:
                if self.hears(listener.user, author):
                    listener.hear(content_id)
            if wrong := listener.compare():
                self.shared.fail(wrong)
