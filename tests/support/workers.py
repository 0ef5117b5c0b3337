"""Comparing many users at once in forked processes, which share the model without copying it."""

import gc
import multiprocessing
import random
import time
from collections.abc import Sequence
from typing import NamedTuple

from .client import Client
from .compare import List, explain
from .expect import Unexpected
from .ids import Id, quoted
from .model import Model


class Work(NamedTuple):
    """What every process needs to know."""

    model: Model
    address: tuple[str, int]
    limit: int
    seed: int
    thorough: frozenset[Id]  # users who get the further checks too


class Report(NamedTuple):
    """What was found about some users."""

    users: int
    items: int
    latencies: list[float]
    wrong: list[str]


_work: Work
_client: Client
_latencies: list[float] = []


def _begin() -> None:
    global _client
    _client = Client(_work.address, _latencies.append)


def check_user(client: Client, model: Model, user: Id, limit: int, further: random.Random | None) -> tuple[int, str | None]:
    """Compares the user's timelines, and for `further` more ways of reading them; the items there were, and what is wrong."""
    lists = [List(client, f"/v1/users/{quoted(user)}/{path}", items, limit) for path, items in model.timelines(user).items()]
    total = sum(len(of.expected) for of in lists)
    lists.append(List(client, f"/v1/users/{quoted(user)}/content", model.own_page(user), limit))
    wrong = next(filter(None, (of.descending() for of in lists)), None)
    if further and not wrong:
        wrong = next(filter(None, (of.ascending() or of.jumps(further, 2) for of in lists)), None)
    if wrong and lists[0].path in wrong:
        wrong = explain(client, user, wrong, lists[0].expected)
    return total, wrong


def _check(users: Sequence[Id]) -> Report:
    _latencies.clear()
    total, all_wrong = 0, []
    for user in users:
        rng = random.Random(f"{_work.seed} {user}") if user in _work.thorough else None
        try:
            count, wrong = check_user(_client, _work.model, user, _work.limit, rng)
            total += count
        except (OSError, Unexpected) as error:
            wrong = f"user {user}: {error!r}"
        if wrong:
            all_wrong.append(wrong)
    return Report(len(users), total, _latencies[:], all_wrong)


def compare(work: Work, users: Sequence[Id], processes: int, what: str) -> Report:
    """Compares all users' lists; reports progress, and prints the first differences."""
    global _work
    _work = work
    chunks = [users[i : i + 10] for i in range(0, len(users), 10)]
    done, items, latencies, wrong, begin, told = 0, 0, [], [], time.monotonic(), time.monotonic()
    gc.collect()
    gc.freeze()  # or the collector would touch, and so copy, the whole model in every process
    with multiprocessing.get_context("fork").Pool(processes, _begin) as pool:
        for report in pool.imap_unordered(_check, chunks):
            done, items = done + report.users, items + report.items
            latencies += report.latencies
            for text in report.wrong[: max(0, 5 - len(wrong))]:
                print(f"WRONG {text}", flush=True)
            wrong += report.wrong
            if time.monotonic() - told > 10:
                told = time.monotonic()
                print(f"  … {done:,} of {len(users):,} users, {items:,} items, {len(wrong)} wrong", flush=True)
    gc.unfreeze()
    latencies.sort()
    seconds = time.monotonic() - begin
    quantile = lambda q: latencies[min(len(latencies) - 1, int(len(latencies) * q))] * 1000 if latencies else 0.0
    print(
        f"{what}: {done:,} users, {items:,} items, {len(latencies):,} pages in {seconds:.1f} s "
        f"(p50 {quantile(0.5):.1f}, p99 {quantile(0.99):.1f}, worst {quantile(1):.1f} ms a page): "
        + (f"{len(wrong)} USERS DIFFER" if wrong else "equal"),
        flush=True,
    )
    return Report(done, items, latencies, wrong)
