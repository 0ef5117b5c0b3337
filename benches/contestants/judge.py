"""Compares pages with the plain function, and counts each way to be wrong."""

from collections import Counter, defaultdict
from typing import NamedTuple

from support.client import Item

HOLE, DUPLICATE, EARLY_END, STRANGER, ORDER = "hole", "duplicate", "early end", "stranger", "order"
KINDS = (HOLE, DUPLICATE, EARLY_END, STRANGER, ORDER)
EXAMPLES = 3  # of each kind


class Report(NamedTuple):
    """One page that was read."""

    moment: str
    faults: Counter[str]


class Scroll:
    """One user reads page after page, from the newest one down. A poll is a scroll of one page."""

    def __init__(self, user: int, moment: str):
        self.user = user
        self.moment = moment
        self.at: int | None = None  # the time down to which pages were read
        self.tied: set[int] = set()  # items of this time that were there, and were not shown: the next page has them
        self.seen: set[int] = set()
        # Items that were passed over, with the page that should have them: they are holes unless they come below.
        self.passed: dict[int, tuple[Report, str]] = {}  # with what an example says
        self.pages = 0


class Judge:
    """Items of one time may stand in any order, but each once. A page may be short: only a scroll that says that it ends, ends.

    What a page must have is what the plain function has at this moment, below the page above it.
    """

    def __init__(self) -> None:
        self.reports: list[Report] = []
        self.late = 0  # items that were missing, and that the same user was shown later
        self.cut = 0  # items below early ends
        self.examples: dict[str, list[str]] = defaultdict(list)
        self.missing: dict[int, set[int]] = defaultdict(set)  # by user

    def page(self, scroll: Scroll, timeline: list[Item], ids: list[int], ends: bool) -> Report:
        """Judges the next page of a scroll. `timeline` is the plain function at this moment, newest first."""
        report = Report(scroll.moment, Counter())
        self.reports.append(report)
        scroll.pages += 1
        there = {item[1]: item for item in timeline}
        lowest = scroll.at
        for id in ids:
            if id in scroll.seen:
                self.fault(report, DUPLICATE, scroll, f"page {scroll.pages}: item {id} again")
                continue
            scroll.seen.add(id)
            item = there.get(id)
            if item is None:
                self.fault(report, STRANGER, scroll, f"page {scroll.pages}: item {id}")
                continue
            if id in scroll.passed or (lowest is not None and item[0] > lowest):
                self.fault(report, ORDER, scroll, f"page {scroll.pages}: item {id} of {item[0]} below {lowest}")
                scroll.passed.pop(id, None)
            if id in self.missing[scroll.user]:
                self.missing[scroll.user].discard(id)
                self.late += 1
            lowest = item[0] if lowest is None else min(lowest, item[0])
        due = [
            item for item in timeline
            if item[1] not in scroll.seen and item[1] not in scroll.passed
            and (scroll.at is None or item[0] < scroll.at or (item[0] == scroll.at and item[1] in scroll.tied))
        ]
        below = [item for item in due if lowest is None or item[0] <= lowest]
        for item in due[: len(due) - len(below)]:
            place = f"page {scroll.pages} from {scroll.at} to {lowest}"
            scroll.passed[item[1]] = report, f"{place}: item {item[1]} of author {item[2]} at {item[0]}"
        if ends and below:
            self.cut += len(below)
            self.missing[scroll.user].update(item[1] for item in below)
            self.fault(report, EARLY_END, scroll, f"page {scroll.pages}: {len(below)} items below {lowest}, the first is {below[0]}")
        scroll.tied = {item[1] for item in timeline if item[0] == lowest and item[1] not in scroll.seen}
        scroll.at = lowest
        return report

    def close(self, scroll: Scroll) -> None:
        """No further page of this scroll is read."""
        for id, (report, place) in scroll.passed.items():
            self.missing[scroll.user].add(id)
            self.fault(report, HOLE, scroll, place)
        scroll.passed.clear()

    def fault(self, report: Report, kind: str, scroll: Scroll, what: str) -> None:
        report.faults[kind] += 1
        examples = self.examples[f"{kind}, {report.moment}"]
        if len(examples) < EXAMPLES:
            examples.append(f"user {scroll.user}, {what}")

    def counts(self) -> Counter[str]:
        """Of all pages, by kind."""
        return sum((report.faults for report in self.reports), Counter())


def prove() -> int:
    """The judge finds each kind of fault in pages made for this, and none in right ones. Returns the number of cases."""
    # Ids rise with the times; 5, 6 and 7 have one time.
    times = {1: 10, 2: 20, 3: 30, 4: 40, 5: 50, 6: 50, 7: 50, 8: 80, 9: 90}
    timeline = sorted(((at, id, 100) for id, at in times.items()), reverse=True)
    right = [[9, 8, 7], [6, 5, 4], [3, 2, 1]]
    cases: list[tuple[str, list[list[int]], dict[str, int]]] = [
        ("right pages", right, {}),
        ("one time in another order", [[9, 8, 5], [7, 6, 4], [3, 2, 1]], {}),
        ("short pages", [[9], [8, 7, 6], [], [5, 4], [3, 2, 1], []], {}),
        ("a hole", [[9, 7, 6], [5, 4, 3], [2, 1]], {HOLE: 1}),
        ("a hole at the top", [[8, 7, 6], [5, 4, 3], [2, 1]], {HOLE: 1}),
        ("a hole of one time, over a page", [[9, 8, 7], [4, 3, 2], [1]], {HOLE: 2}),
        ("a duplicate", [[9, 8, 7], [7, 6, 5], [4, 3, 2], [1]], {DUPLICATE: 1}),
        ("a duplicate in one page", [[9, 8, 8], [7, 6, 5], [4, 3, 2], [1]], {DUPLICATE: 1}),
        ("an early end", [[9, 8, 7], [6, 5, 4]], {EARLY_END: 1}),
        ("an early end within one time", [[9, 8, 7], [6]], {EARLY_END: 1}),
        ("an empty first page", [[]], {EARLY_END: 1}),
        ("a stranger", [[9, 77, 8], [7, 6, 5], [4, 3, 2], [1]], {STRANGER: 1}),
        ("a wrong order in a page", [[8, 9, 7], [6, 5, 4], [3, 2, 1]], {ORDER: 1}),
        ("a wrong order over pages", [[9, 7, 6], [8, 5, 4], [3, 2, 1]], {ORDER: 1}),
        ("all at once", [[9, 77, 7], [7, 6, 5], [3, 4, 8]], {STRANGER: 1, DUPLICATE: 1, ORDER: 2, EARLY_END: 1}),
    ]

    def expect(name: str, found: object, wanted: object) -> None:
        if found != wanted:
            raise SystemExit(f"the judge is wrong about {name}: {found}, not {wanted}")

    for name, pages, faults in cases:
        judge, scroll = Judge(), Scroll(1, "")
        for number, ids in enumerate(pages, 1):
            judge.page(scroll, timeline, ids, number == len(pages))
        judge.close(scroll)
        expect(name, dict(judge.counts()), faults)
        expect(f"the pages of {name}", len(judge.reports), len(pages))
    # Changes between two pages: an item with a newer time is not due below; one with an older time is.
    for name, id, at, pages, faults in (
        ("a newer item", 10, 100, right, {}),
        ("a newer item below", 10, 100, [[9, 8, 7], [10, 6, 5], [4, 3, 2], [1]], {ORDER: 1}),
        ("an item of the time of the cursor, shown", 10, 50, [[9, 8, 7], [10, 6, 5], [4, 3, 2], [1]], {}),
        ("an item of the time of the cursor, not shown", 10, 50, right, {}),
        ("a late item, shown", 10, 45, [[9, 8, 7], [6, 5, 10], [4, 3, 2], [1]], {}),
        ("a late item, not shown", 10, 45, right, {HOLE: 1}),
    ):
        judge, scroll = Judge(), Scroll(1, "")
        for number, ids in enumerate(pages, 1):
            now = timeline if number == 1 else sorted([*timeline, (at, id, 100)], reverse=True)
            judge.page(scroll, now, ids, number == len(pages))
        judge.close(scroll)
        expect(name, dict(judge.counts()), faults)
    # What is taken away before its page is a stranger there; what was missing and is there in another scroll is late.
    judge, scroll = Judge(), Scroll(1, "")
    judge.page(scroll, timeline, [9, 8, 7], False)
    judge.page(scroll, [item for item in timeline if item[1] != 5], [6, 5, 4], False)
    judge.page(scroll, timeline, [3, 1], True)
    judge.close(scroll)
    expect("an item that is gone", dict(judge.counts()), {STRANGER: 1, HOLE: 1})
    again = Scroll(1, "")
    for number, ids in enumerate(right, 1):
        judge.page(again, timeline, ids, number == len(right))
    judge.close(again)
    expect("late items", (judge.late, dict(judge.counts())), (1, {STRANGER: 1, HOLE: 1}))
    return len(cases) + 8
