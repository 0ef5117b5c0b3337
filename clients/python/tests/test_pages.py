"""A list is read to its end in both directions, whole, once and in order, while others change it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
from typing import Callable, Dict, Iterator, List, Set, Union

import httpx
import pytest
from support import running, until
from tideline import AsyncTideline, Tideline, cursor_of, newest_first
from tideline.schema import Content, NewContent

PAGES, LIMIT = 1000, 20


@contextlib.contextmanager
def others(url: str, span: int) -> Iterator[List[str]]:
    """Publishes at the top and at old places, deletes and follows meanwhile."""
    made: List[str] = []
    stop = threading.Event()

    def work() -> None:
        with Tideline(url) as client:
            n = 0
            while not stop.is_set():
                n += 1
                item: NewContent = {"author_id": 1 + n % 10, "text": "later"}
                if n % 2 == 0:
                    item["published_at"] = 1_700_000_000_000 + random.randrange(span)
                made.append(client.publish(item)["content_id"])
                if n % 5 == 0:
                    client.delete(made[-1])
                if n % 7 == 0:
                    client.follow("reader", f"nobody {n % 700}")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield made
    finally:
        stop.set()
        thread.join()


def blocking(url: str) -> List[List[Content]]:
    with Tideline(url) as client:
        return [page.items for page in client.timeline("reader", limit=LIMIT).pages()]


def asynchronous(url: str) -> List[List[Content]]:
    async def read() -> List[List[Content]]:
        async with AsyncTideline(url) as client:
            return [page.items async for page in client.timeline("reader", limit=LIMIT).pages()]

    return asyncio.run(read())


def climb(url: str) -> List[Content]:
    with Tideline(url) as client:
        return list(client.timeline("reader", limit=LIMIT, after="0-1"))


def climb_asynchronously(url: str) -> List[Content]:
    async def read() -> List[Content]:
        async with AsyncTideline(url) as client:
            return [item async for item in client.timeline("reader", limit=LIMIT, after="0-1")]

    return asyncio.run(read())


@pytest.mark.parametrize("down, up", [(blocking, climb), (asynchronous, climb_asynchronously)])
def test_1000_pages_downwards_and_upwards_while_others_publish(
    down: Callable[[str], List[List[Content]]], up: Callable[[str], List[Content]]
) -> None:
    with running({"timeline.inbox_limit": "300"}) as server, Tideline(server.url) as client:
        client.change_following("reader", follow=range(1, 11))
        made: List[NewContent] = [
            {
                "author_id": 1 + n % 10,
                "content_id": f"item {n}" if n % 3 == 0 else 10**17 + n,
                # Four items at each time.
                "published_at": 1_700_000_000_000 + n // 4,
            }
            for n in range(PAGES * LIMIT)
        ]
        for start in range(0, len(made), 1000):
            client.publish_batch(made[start : start + 1000])
        span = len(made) // 4
        before = [item["content_id"] for item in client.timeline("reader", limit=100, view="ids")]
        assert sorted(before) == sorted(str(item["content_id"]) for item in made)
        wanted = set(before)

        # Before the others, who delete some of the newest items.
        first = client.timeline("reader", limit=LIMIT).page()
        with others(server.url, span) as published:
            pages = down(server.url)
        seen = [item["content_id"] for page in pages for item in page]
        assert len(pages) >= PAGES and len(published) > 10
        assert len(set(seen)) == len(seen), "an item was there twice"
        assert [id for id in seen if id in wanted] == before

        with others(server.url, span):
            climbed = up(server.url)
        ids = [item["content_id"] for item in climbed]
        assert len(set(ids)) == len(ids), "an item was there twice"
        assert [id for id in ids if id in wanted] == before[::-1]
        times = [item["published_at"] for item in climbed]
        assert times == sorted(times)

        # From the first page on, everything that is newer now, and nothing else.
        whole = list(client.timeline("reader", limit=100, view="ids"))
        newer = [item["content_id"] for item in client.timeline("reader", limit=7, after=first.prev)]
        place = [cursor_of(item) for item in whole].index(first.prev or "")
        assert newer == [item["content_id"] for item in whole[:place]][::-1]
        assert client.verify("reader", depth=100_000)["exact"]


def test_a_part_between_two_cursors_and_empty_lists() -> None:
    with running() as server, Tideline(server.url) as client:
        client.follow("2", "1")

        def ids(**part: str) -> str:
            return "".join(item["content_id"] for item in client.timeline("2", limit=2, **part))  # type: ignore[call-overload]

        assert (ids(), ids(after="0-1")) == ("", "")
        page = client.timeline("2").page()
        assert (page.items, page.next, page.prev) == ([], None, None)
        for id in range(1, 10):
            client.publish({"author_id": 1, "content_id": id, "published_at": id})
        assert ids() == "987654321"
        assert ids(before="7-7") == "654321"
        assert ids(after="3-3") == "456789"
        assert ids(after="3-3", before="9-9") == "87654"
        assert ids(after="8-8", before="9-9") == ""
        (member,) = client.followers("1", limit=1, viewer="2")
        assert (member["user_id"], member["relation"]) == ("2", "none")


def test_leaving_a_list_early_sends_no_further_request() -> None:
    with running() as server, Tideline(server.url) as client:
        for id in range(1, 10):
            client.publish({"author_id": 1, "content_id": id})
        requests: List[Dict[str, str]] = []
        hooks = {"request": [lambda request: requests.append(dict(request.url.params))]}
        with httpx.Client(event_hooks=hooks) as http, Tideline(server.url, http=http) as counted:
            listing = counted.user_content("1", limit=2)
            assert not requests
            for item in listing:
                if item["content_id"] == "8":
                    break
        assert requests == [{"limit": "2"}]


def test_a_list_kept_by_a_stream_and_newest_first_is_that_of_the_server() -> None:
    items: List[Content] = []
    deleted: Set[str] = set()

    def listen(client: Tideline) -> None:
        for event in client.stream("2"):
            if event.type == "delete":
                deleted.add(event.item["content_id"])
            if event.type != "content":
                continue
            id = event.item["content_id"]
            deleted.discard(id)
            if id in (item["content_id"] for item in items):
                continue
            place = sum(newest_first(item) < newest_first(event.item) for item in items)
            items.insert(place, event.item)
            if id == "the last":
                return

    with running() as server, Tideline(server.url) as client:
        client.follow("2", "1")
        listening = threading.Thread(target=listen, args=(client,), daemon=True)
        listening.start()
        until(lambda: client.presence("2")["online"], "the stream opens")
        # Names of one time, whose order is that of their first use, beside numbers and other times.
        ids: List[Union[int, str]] = ["m", "z", 7, "a", "k", 12, "b"]
        for id in ids:
            client.publish({"author_id": 1, "content_id": id, "published_at": 1_700_000_000_000})
            client.publish({"author_id": 1, "content_id": f"{id} later", "published_at": 1_700_000_000_001})
        for name in ("z", "12", "a", "m later"):
            client.delete(name)
        for name in ("a", "z", "m later"):
            client.restore(name)
        client.publish({"author_id": 1, "content_id": "the last"})
        listening.join(30)
        assert not listening.is_alive()
        shown = [item["content_id"] for item in items if item["content_id"] not in deleted]
        assert shown == [item["content_id"] for item in client.timeline("2", limit=100)]
        assert len(shown) == 14
