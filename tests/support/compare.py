"""Comparing what the server answers with what it should, item by item."""

import random
from bisect import bisect_left, bisect_right

from .client import Client, Item, Page, cursor
from .expect import Unexpected
from .ids import Id, Name, quoted

BOTTOM = "0-1"
# Above all numbers, below all names.
LAST_NUMBER = 2**63 - 1


def around(items: list[Item], place: int) -> str:
    """The items next to a place, one a line."""
    near = range(max(0, place - 2), min(len(items), place + 4))
    return "".join(f"\n    {'>' if i == place else ' '} [{i}] {cursor(items[i])} by {items[i][2]}" for i in near) or " (none)"


def difference(what: str, wanted: list[Item], got: list[Item]) -> str | None:
    """The first difference of two lists with what stands around it."""
    if wanted == got:
        return None
    place = next((i for i, (a, b) in enumerate(zip(wanted, got)) if a != b), min(len(wanted), len(got)))
    lengths = f"{len(wanted)} items expected, {len(got)} received, first difference at {place}"
    return f"{what}: {lengths}\n  expected{around(wanted, place)}\n  received{around(got, place)}"


class List:
    """One content list of the server and what it should be, newest first."""

    def __init__(self, client: Client, path: str, expected: list[Item], limit: int, **further: str):
        self.client = client
        self.further = further  # parameters of each request
        self.path = path
        self.expected = expected
        self.limit = limit

    def page(self, what: str, wanted: list[Item], older: bool, **query: str | None) -> tuple[Page, str | None]:
        """One page, and what is wrong with its items or cursors. `older`: whether anything is older than it."""
        page = self.client.page(self.path, limit=self.limit, **query, **self.further)
        what = f"{self.path} {what} {query | self.further}"
        wrong = difference(what, wanted, page.items)
        if wrong is None and wanted:
            following = cursor(wanted[-1]) if older else None
            if (page.next, page.prev) != (following, cursor(wanted[0])):
                wrong = f"{what}: next and prev should be {following} and {cursor(wanted[0])}, are {page.next} and {page.prev}"
        return page, wrong

    def descending(self) -> str | None:
        """Follows `next` from the top to the very end."""
        before, place = None, 0
        while True:
            wanted = self.expected[place : place + self.limit]
            place += self.limit
            page, wrong = self.page(f"at {place - self.limit}", wanted, place < len(self.expected), before=before)
            if wrong or page.next is None:
                return wrong
            before = page.next

    def ascending(self) -> str | None:
        """Follows `prev` from the very end to the top."""
        after, place = BOTTOM, len(self.expected)
        while True:
            wanted = self.expected[max(0, place - self.limit) : place]
            page, wrong = self.page(f"above {place}", wanted, place < len(self.expected), after=after)
            if wrong or not wanted:
                return wrong
            place -= len(wanted)
            if page.prev is None:
                return f"{self.path}: a page with items has no prev"
            after = page.prev

    def jumps(self, rng: random.Random, count: int) -> str | None:
        """Reads from random places, where an item stands and where none does."""
        rising = self.expected[::-1]
        for _ in range(count if rising else 0):
            at, content_id, _ = rng.choice(rising)
            if isinstance(content_id, Name):
                low = (at, rng.choice((content_id, LAST_NUMBER, rng.choice(rising)[1])))
            else:
                low = (at, max(1, content_id + rng.choice((0, 0, 1, -1))))
            high = rng.choice(rising)[:2]
            start = bisect_right(rising, low, key=lambda item: item[:2])
            end = bisect_left(rising, high, key=lambda item: item[:2])
            span = rising[start:end][::-1]
            before, after = "{}-{}".format(*high), "{}-{}".format(*low)
            for what, items, older, query in (
                ("before", rising[:end][::-1][: self.limit], end > self.limit, {"before": before}),
                ("after", rising[start : start + self.limit][::-1], start > 0, {"after": after}),
                ("between", span[: self.limit], len(span) > self.limit, {"before": before, "after": after}),
            ):
                _, wrong = self.page(what, items, older, **query)
                if wrong:
                    return wrong
        return None


def explain(client: Client, user: Id, wrong: str, expected: list[Item]) -> str:
    """Adds what the server itself says about the first item that the timeline lacks or has too much."""
    try:
        got = client.scroll(f"/v1/users/{quoted(user)}/timeline")
        missing, extra = sorted(set(expected) - set(got)), sorted(set(got) - set(expected))
        wrong += f"\n  read again: {len(missing)} missing, {len(extra)} too many, {len(got) - len(set(got))} twice"
        for item in (missing + extra)[-1:]:
            answer = client.call("GET", f"/v1/admin/users/{quoted(user)}/timeline/explain?content_id={quoted(item[1])}")
            wrong += f"\n  explain {cursor(item)}: {answer.body}"
    except (OSError, Unexpected) as error:
        wrong += f"\n  (no explanation: {error!r})"
    return wrong
