"""Plays the trace on one contestant, and has each page judged."""

import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from support.model import Model

from .contestant import LIMIT, Contestant
from .judge import EARLY_END, Judge, Scroll
from .trace import MOMENTS, Step

MOST_PAGES = 2_000  # of one scroll: more is no end
PATIENCE = 60  # seconds for the two changes of a pair


class Player:
    """One run. `follow_limit` of the plain function is out of the way."""

    def __init__(self, key: str, contestant: Contestant, steps: list[Step]):
        self.key = key
        self.contestant = contestant
        self.steps = steps
        self.model = Model(follow_limit=10**9)
        self.judge = Judge()
        self.open: list[tuple[Scroll, Any]] = []  # with the place of the next page
        self.changes = self.reads = 0.0  # seconds that the contestant took
        self.counts: Counter[str] = Counter()
        self.threads = ThreadPoolExecutor(2)

    def run(self) -> None:
        told = time.monotonic()
        for number, step in enumerate(self.steps):
            self.counts[step.do] += 1
            match step.do:
                case "poll":
                    scroll = Scroll(step.user, step.moment)
                    self.read(scroll, None)
                    self.judge.close(scroll)
                case "scroll":
                    self.open.append((Scroll(step.user, step.moment), None))
                case "pages":
                    self.pages()
                case "finish":
                    while self.open:
                        self.pages()
                case "restart":
                    self.contestant.restart()
                    # The threads go with their connections.
                    self.threads.shutdown()
                    self.threads = ThreadPoolExecutor(2)
                case "both":
                    self.both(step.pair)
                case _:
                    self.timed(lambda: self.change(step))
                    self.note(step)
            if time.monotonic() - told > 10:
                told = time.monotonic()
                wrong = sum(bool(report.faults) for report in self.judge.reports)
                place = f"{number} of {len(self.steps)} steps, {len(self.judge.reports)} pages, {wrong} wrong"
                print(f"  {self.key}: {place}", file=sys.stderr, flush=True)
        self.threads.shutdown()

    def timed(self, work: Any) -> None:
        begin = time.monotonic()
        work()
        self.changes += time.monotonic() - begin

    def change(self, step: Step) -> None:
        """A change of the contestant."""
        if step.do in ("publish", "delete"):
            getattr(self.contestant, step.do)(step.item)
        else:
            getattr(self.contestant, step.do)(step.user, step.author)

    def note(self, step: Step) -> None:
        """The same change of the plain function."""
        match step.do:
            case "publish":
                self.model.publish(step.item)
            case "delete":
                self.model.delete(step.item[1])
            case "follow":
                self.model.follow(step.user, step.author)
            case "unfollow":
                self.model.unfollow(step.user, step.author)
            case "mute":
                self.model.mutes.setdefault(step.user, set()).add(step.author)
            case "unmute":
                self.model.mutes[step.user].discard(step.author)

    def both(self, pair: tuple[Step, ...]) -> None:
        """Two changes from two threads, which begin in one instant."""
        line = threading.Barrier(len(pair))

        def one(step: Step) -> None:
            line.wait(PATIENCE)
            self.change(step)

        begin = time.monotonic()
        for future in [self.threads.submit(one, step) for step in pair]:
            future.result(PATIENCE)
        self.changes += time.monotonic() - begin
        for step in pair:
            self.note(step)

    def pages(self) -> None:
        """The next page of each open scroll."""
        still = []
        for scroll, at in self.open:
            after = self.read(scroll, at)
            if after is None or scroll.pages >= MOST_PAGES:
                self.judge.close(scroll)
            else:
                still.append((scroll, after))
        self.open = still

    def read(self, scroll: Scroll, at: Any) -> Any:
        """One page, judged; the place of the page below."""
        begin = time.monotonic()
        page = self.contestant.page(scroll.user, at)
        self.reads += time.monotonic() - begin
        if len(page.ids) > LIMIT:
            raise SystemExit(f"{self.key}: a page of {len(page.ids)} items")
        self.judge.page(scroll, self.model.timeline(scroll.user), page.ids, page.next is None)
        return page.next

    def result(self) -> dict[str, Any]:
        """All that the page of the comparison tells of this run."""
        reports = self.judge.reports
        wrong = [report for report in reports if report.faults]
        moments: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for report in reports:
            moments[report.moment][0] += 1
            moments[report.moment][1] += bool(report.faults)
        sizes = sorted(len(self.model.timeline(user)) for user in range(1, self.contestant.users + 1))
        return {
            "pages": len(reports),
            "wrong": len(wrong),
            "only_early_ends": sum(set(report.faults) == {EARLY_END} for report in wrong),
            "faults": dict(self.judge.counts()),
            "late": self.judge.late,
            "cut": self.judge.cut,
            "moments": {moment: moments[moment] for moment in MOMENTS},
            "changes": self.changes,
            "reads": self.reads,
            "stored": self.contestant.stored(),
            "versions": self.contestant.versions(),
            "examples": self.judge.examples,
            "steps": dict(self.counts),
            "timelines": [sizes[0], sizes[len(sizes) // 2], sizes[-1]],
            "items": len(self.model.items),
            "follows": sum(map(len, self.model.followees.values())),
        }
