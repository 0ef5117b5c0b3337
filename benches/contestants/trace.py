"""The trace: changes and reads of a small community, made from a seed, the same for each contestant."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from support.client import Item

BEGIN = 1_700_000_000_000  # milliseconds: the history is before it, the trace after it
DAY = 86_400_000
GIANT = 1  # the author whom all follow

# When a page was read.
POLL, OWN, ONCE, KILL, SCROLL, RETURN, END = (
    "poll", "after an own change", "after two changes at once", "after the kill", "scroll meanwhile", "return", "scroll at the end",
)
MOMENTS = (POLL, OWN, ONCE, KILL, SCROLL, RETURN, END)


@dataclass(frozen=True)
class Size:
    """Of a trace."""

    users: int
    history: int  # items before the first follow, as after an import
    steps: int  # of the running part


FULL = Size(users=120, history=1600, steps=5500)
QUICK = Size(users=40, history=400, steps=700)


@dataclass(frozen=True)
class Step:
    """`do` is a change (publish, delete, follow, unfollow, mute, unmute), `both` for two of them at once, `restart`; or a
    read: `poll`, `scroll` to begin one, `pages` for the next page of each open scroll, `finish` to read all to their ends."""

    do: str
    user: int = 0
    author: int = 0
    item: Item = (0, 0, 0)
    pair: tuple["Step", ...] = ()
    moment: str = ""


class Author:
    """Makes the steps, and knows what it has made."""

    def __init__(self, size: Size, seed: int):
        self.size = size
        self.dice = random.Random(seed)
        self.users = range(1, size.users + 1)
        # A few are followed by many and publish much.
        self.fame = list(accumulate(rank**-0.8 for rank in self.users))
        self.diligence = list(accumulate(rank**-0.5 for rank in self.users))
        self.follows: dict[int, set[int]] = {user: set() for user in self.users}
        self.left: dict[int, list[int]] = {user: [] for user in self.users}  # whom they followed before
        self.mutes: dict[int, set[int]] = {user: set() for user in self.users}
        self.items: list[Item] = []  # live ones, in the order of publishing
        self.clock = BEGIN
        self.last_time = BEGIN
        self.next_id = 1_000_000
        # They read nothing until the end.
        self.away = set(self.dice.sample(self.users[1:], size.users // 10))
        self.readers = [user for user in self.users if user not in self.away]

    def famous(self) -> int:
        return self.dice.choices(self.users, cum_weights=self.fame)[0]

    def writer(self) -> int:
        return GIANT if self.dice.random() < 0.04 else self.dice.choices(self.users, cum_weights=self.diligence)[0]

    def publish(self, author: int, at: int) -> Step:
        item = (at, self.next_id, author)
        self.next_id += 1
        self.items.append(item)
        return Step("publish", item=item)

    def time(self) -> int:
        """Mostly now; sometimes that of the item before, sometimes long ago, as an import or a late arrival has it."""
        luck = self.dice.random()
        if luck < 0.15:
            return self.last_time
        if luck < 0.22:
            return self.clock - self.dice.randrange(60 * DAY)
        if luck < 0.30:
            return self.clock - self.dice.randrange(1, 600_000)
        self.last_time = self.clock
        return self.clock

    def follow(self, user: int, author: int) -> Step:
        self.follows[user].add(author)
        return Step("follow", user=user, author=author)

    def unfollow(self, user: int, author: int) -> Step:
        self.follows[user].discard(author)
        self.left[user].append(author)
        return Step("unfollow", user=user, author=author)

    def delete(self, item: Item) -> Step:
        self.items.remove(item)
        return Step("delete", item=item)

    def steps(self) -> Iterator[Step]:
        """All of them, in order."""
        yield from self.before()
        for number in range(self.size.steps):
            self.clock += self.dice.choice((1, 40, 700, 9_000, 60_000))
            if number == self.size.steps // 2:
                yield from self.kill()
            yield from self.next()
        yield Step("finish")
        for moment, users in ((RETURN, sorted(self.away)), (END, self.dice.sample(self.readers, len(self.readers) // 6))):
            for user in users:
                yield Step("scroll", user=user, moment=moment)
                yield Step("finish")

    def before(self) -> Iterator[Step]:
        """Items of two months in no order, then follows."""
        for _ in range(self.size.history):
            at = BEGIN - self.dice.randrange(1, 60 * DAY)
            # Some have the time of another.
            if self.items and self.dice.random() < 0.15:
                at = self.dice.choice(self.items[-200:])[0]
            yield self.publish(self.writer(), at)
        for user in self.users:
            authors = {self.famous() for _ in range(min(self.size.users // 2, int(8 * self.dice.paretovariate(1.1))))}
            for author in sorted(authors | {GIANT} - {user}):
                if author != user:
                    yield self.follow(user, author)

    def kill(self) -> Iterator[Step]:
        """kill -9 right after the answer to a publish of the giant."""
        yield self.publish(GIANT, self.clock)
        yield Step("restart")
        for user in self.dice.sample(self.readers, min(30, len(self.readers))):
            yield Step("poll", user=user, moment=KILL)

    def next(self) -> Iterator[Step]:
        """A few steps that belong together."""
        dice = self.dice
        user = dice.choice(self.readers)
        luck = dice.random()
        if luck < 0.45:
            yield self.publish(self.writer(), self.time())
        elif luck < 0.64:
            yield Step("poll", user=user, moment=POLL)
        elif luck < 0.66:
            yield Step("scroll", user=user, moment=SCROLL)
        elif luck < 0.80:
            yield Step("pages")
        elif luck < 0.83:
            item = dice.choice(self.items[-300:] if dice.random() < 0.7 else self.items)
            yield self.delete(item)
        elif luck < 0.85:
            yield from self.at_once(user)
        else:
            yield from self.own(user, luck)

    def own(self, user: int, luck: float) -> Iterator[Step]:
        """A change of the user's relations; then most look at their page."""
        dice = self.dice
        follows, muted = sorted(self.follows[user]), sorted(self.mutes[user])
        back = [author for author in self.left[user] if author not in self.follows[user]]
        if luck < 0.90:
            author = self.famous()
            if author == user or author in self.follows[user]:
                return
            yield self.follow(user, author)
        elif luck < 0.935:
            if not follows:
                return
            yield self.unfollow(user, dice.choice(follows))
        elif luck < 0.965:
            if not back:
                return
            yield self.follow(user, dice.choice(back))
        elif luck < 0.985 or not muted:
            author = dice.choice(follows) if follows else 0
            if not author or author in self.mutes[user]:
                return
            self.mutes[user].add(author)
            yield Step("mute", user=user, author=author)
        else:
            author = dice.choice(muted)
            self.mutes[user].discard(author)
            yield Step("unmute", user=user, author=author)
        if dice.random() < 0.8:
            yield Step("poll", user=user, moment=OWN)

    def at_once(self, user: int) -> Iterator[Step]:
        """Two changes that two connections make at the same time. Their order is of no matter to the plain function."""
        dice = self.dice
        author = self.famous()
        if author == user:
            return
        newest = next((item for item in reversed(self.items) if item[2] == author), None)
        if author in self.follows[user]:
            pair = self.unfollow(user, author), self.publish(author, self.clock)
        elif dice.random() < 0.5 or newest is None:
            pair = self.follow(user, author), self.publish(author, self.clock)
        else:
            pair = self.follow(user, author), self.delete(newest)
        yield Step("both", pair=pair)
        yield Step("poll", user=user, moment=ONCE)


def steps(size: Size, seed: int) -> list[Step]:
    """The trace."""
    return list(Author(size, seed).steps())
