"""The feed of changes: whole and in order, from a position on, over losses, and gone."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from typing import Any, Callable, Iterator, List, Optional

import pytest
from support import Prepared, problem, proxied, running, some_bytes, stub, until
from tideline import AsyncTideline, ChangesGone, ConnectionFailed, ProblemError, Tideline, TimedOut
from tideline.schema import Change, Changes

Read = Callable[..., List[Change]]


def blocking(url: str, **options: Any) -> List[Change]:
    with Tideline(url) as client:
        return list(client.changes(**options))


def asynchronous(url: str, **options: Any) -> List[Change]:
    async def read() -> List[Change]:
        async with AsyncTideline(url) as client:
            return [change async for change in client.changes(**options)]

    return asyncio.run(read())


both = pytest.mark.parametrize("read", [blocking, asynchronous])


def page(position: str, *items: str) -> Prepared:
    changes = [{"position": item, "type": "marker.moved", "at": 1, "user_id": "u"} for item in items]
    return Prepared(200, json.dumps({"items": changes, "position": position}).encode())


@both
def test_each_change_once_and_in_order_from_a_position_on(read: Read) -> None:
    with running() as server, Tideline(server.url) as client:
        start = client.changes(after="newest").page()
        assert start["items"] == []
        client.publish({"author_id": "ä", "content_id": "c"})
        for n in range(25):
            client.follow("2", 100 + n)
        client.react("c", "like", "2")
        # More pages than one, and the positions of each.
        all = read(server.url, limit=10)
        assert [change["type"] for change in all] == ["content.published", *["follow.created"] * 25, "reaction.created"]
        assert all[0] == {**all[0], "user_id": "ä", "content_id": "c", "kind": "post"}
        assert all[-1] == {**all[-1], "user_id": "2", "target_id": "ä", "content_id": "c", "kind": "like"}
        assert len({change["position"] for change in all}) == 27
        assert read(server.url, after=start["position"], limit=4) == all
        for place in (0, 9, 26):
            assert read(server.url, after=all[place]["position"], limit=10) == all[place + 1 :]
        assert read(server.url, types=["reaction.created", "content.published"], limit=1) == [all[0], all[-1]]
        assert read(server.url, after="newest") == []
        # A page that has no change of the types leads on, too.
        pages = list(client.changes(after=all[3]["position"], types=["content.published"]).pages())
        assert [page["items"] for page in pages] == [[]]
        assert pages[0]["position"] == all[-1]["position"]
        with pytest.raises(ProblemError) as error:
            read(server.url, after="0123456789abcdef-7")
        assert error.value.code == "invalid_parameter" and not isinstance(error.value, ChangesGone)


def test_a_page_without_changes_is_not_the_end() -> None:
    with stub(page("p1"), page("p2"), page("p3", "c"), page("p3")) as server, Tideline(server.url) as client:
        assert [page["position"] for page in client.changes(after="p0", types=["a"]).pages()] == ["p1", "p2", "p3"]
        assert [request.path for request in server.requests] == [
            f"/v1/changes?after={after}&types=a" for after in ("p0", "p1", "p2", "p3")
        ]


@both
def test_changes_that_are_gone(read: Read) -> None:
    with stub(problem(410, "changes_gone")) as server:
        for wait in (False, True):
            with pytest.raises(ChangesGone) as error:
                read(server.url, after="0123456789abcdef-7", wait=wait)
            assert (error.value.status, error.value.code, error.value.request_id) == (410, "changes_gone", "7")
        assert len(server.requests) == 2
    with running({"changes.keep": "0s"}) as real, pytest.raises(ChangesGone):
        read(real.url)


@both
def test_a_wait_ends_by_an_error_that_does_not_pass_and_by_one_of_the_caller(read: Read) -> None:
    with stub(page("p1", "c"), page("p1"), problem(403, "not_permitted")) as server:
        with pytest.raises(ProblemError, match="not_permitted"):
            read(server.url, wait=True)
        assert [request.headers["accept"] for request in server.requests] == ["*/*", "*/*", "text/event-stream"]

    def leave(error: Exception) -> None:
        raise KeyError("leave")

    with stub(problem(503, "stopping", 60)) as server, pytest.raises(KeyError):
        read(server.url, wait=True, on_error=leave)


def test_a_wait_goes_on_after_silence_and_places_without_changes() -> None:
    errors: List[Exception] = []
    pages: List[Changes] = []

    def listen(url: str) -> None:
        # Also a page that is asked for while nothing comes back has a time of its own.
        with Tideline(url, max_retry_delay=0.04, timeout=5, retries=0) as client:
            feed = client.changes(types=["mute.created"], wait=True, heartbeat_timeout=6, on_error=errors.append)
            for page in feed.pages():
                pages.append(page)
                if page["items"]:
                    return

    with running({"presence.heartbeat": "100ms"}) as server, Tideline(server.url) as client:
        with proxied(server) as proxy, waiting(listen, proxy.url):
            until(lambda: len(pages) > 0, "the first position")
            client.follow("a", "b")
            # A place without a change moves the position on.
            end = client.changes(after="newest").page()["position"]
            until(lambda: pages[-1]["position"] == end, "the new position")
            assert not errors
            proxy.frozen = True
            until(lambda: any(isinstance(error, TimedOut) for error in errors), "silence")
            proxy.frozen = False
            client.mute("a", "b")
        positions = [page["position"] for page in pages]
        assert len(set(positions)) == len(positions)
        assert [change["type"] for page in pages for change in page["items"]] == ["mute.created"]


def blocking_wait(url: str, after: Optional[str], changes: List[Change], errors: List[Exception], last: str) -> None:
    with Tideline(url, max_retry_delay=0.04, retries=1) as client:
        for change in client.changes(after=after, wait=True, limit=10, on_error=errors.append):
            changes.append(change)
            if change["user_id"] == last:
                return


def asynchronous_wait(
    url: str, after: Optional[str], changes: List[Change], errors: List[Exception], last: str
) -> None:
    async def listen() -> None:
        async with AsyncTideline(url, max_retry_delay=0.04, retries=1) as client:
            async for change in client.changes(after=after, wait=True, limit=10, on_error=errors.append):
                changes.append(change)
                if change["user_id"] == last:
                    return

    asyncio.run(listen())


@contextlib.contextmanager
def waiting(listen: Callable[..., None], *arguments: Any) -> Iterator[None]:
    thread = threading.Thread(target=listen, args=arguments, daemon=True)
    thread.start()
    yield
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("listen", [blocking_wait, asynchronous_wait])
def test_a_wait_goes_on_over_cuts_and_kills_of_the_server(listen: Callable[..., None]) -> None:
    with running() as server, proxied(server) as proxy, Tideline(server.url) as client:
        proxy.cut_after = some_bytes
        for url in (proxy.url, server.url):
            changes: List[Change] = []
            errors: List[Exception] = []
            start = client.changes(after="newest").page()["position"]
            with waiting(listen, url, start, changes, errors, f"the last of {url}"):
                for n in range(300):
                    client.follow(f"user {n} of {url}", "1")
                    if n % 100 == 50 and url == server.url:
                        server.kill()
                        until(lambda: any(isinstance(error, ConnectionFailed) for error in errors), "an error")
                        errors.clear()
                        server.serve()
                client.follow(f"the last of {url}", "1")
            users = [f"user {n} of {url}" for n in range(300)]
            assert [change["user_id"] for change in changes] == [*users, f"the last of {url}"]
            assert changes == list(client.changes(after=start))
        assert proxy.cuts > 5
