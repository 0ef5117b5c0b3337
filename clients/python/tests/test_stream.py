"""Streams that are cut, silent, refused, or left behind."""

from __future__ import annotations

import asyncio
import json
import threading
import time
import tracemalloc
from collections import Counter
from functools import partial
from typing import Callable, Dict, List, Set, Tuple, Type

import pytest
from support import Prepared, problem, proxied, running, some_bytes, stub, until
from tideline import (
    AsyncTideline,
    BadAnswer,
    ConnectionFailed,
    MarkerEvent,
    NoticeEvent,
    StreamEvent,
    Tideline,
    TidelineError,
)
from tideline._events import Block, BlockReader, Place

LAST = "the last"


def blocking(url: str, user: str, events: List[StreamEvent], heartbeat_timeout: float = 45.0) -> None:
    with Tideline(url, max_retry_delay=0.04) as client:
        for event in client.stream(user, heartbeat_timeout=heartbeat_timeout):
            events.append(event)
            if event.type == "content" and event.item["text"] == LAST:
                return


def asynchronous(url: str, user: str, events: List[StreamEvent], heartbeat_timeout: float = 45.0) -> None:
    async def listen() -> None:
        async with AsyncTideline(url, max_retry_delay=0.04) as client:
            async for event in client.stream(user, heartbeat_timeout=heartbeat_timeout):
                events.append(event)
                if event.type == "content" and event.item["text"] == LAST:
                    return

    asyncio.run(listen())


Listen = Callable[..., None]
both = pytest.mark.parametrize("listen", [blocking, asynchronous])


def count(events: List[StreamEvent], kind: str) -> int:
    return sum(event.type == kind for event in events)


def arrived(events: List[StreamEvent], id: str) -> bool:
    return any(event.type == "content" and event.item["content_id"] == id for event in events)


@both
def test_50_cuts_no_event_is_lost_none_comes_twice(listen: Listen) -> None:
    events: List[StreamEvent] = []
    texts: Dict[str, str] = {}
    deleted: Set[str] = set()
    restored: Set[str] = set()
    with running() as server, proxied(server) as proxy, Tideline(server.url) as client:
        proxy.cut_after = some_bytes
        client.follow("reader", "1")
        listening = threading.Thread(target=listen, args=(proxy.url, "reader", events), daemon=True)
        listening.start()
        until(lambda: len(events) > 0, "the stream opens")
        n = 0
        while proxy.cuts < 50:
            assert n < 20_000, f"{proxy.cuts} cuts only"
            name = f"item {n} 🌊{' ' * (n % 2)}" if n % 3 == 0 else 10**17 + n
            time_of = {"published_at": 1_700_000_000_000 + n} if n % 5 == 0 else {}
            id = client.publish({"author_id": 1, "content_id": name, "text": str(n), **time_of})["content_id"]  # type: ignore[typeddict-item]
            texts[id] = str(n)
            if n % 4 == 0:
                texts[id] = client.edit(id, {"text": f"{n}, edited"})["text"]
            if n % 7 == 0:
                client.delete(id)
                deleted.add(id)
            if n % 14 == 0:
                client.restore(id)
                deleted.discard(id)
                restored.add(id)
            # A reader that is more than 1,000 items behind gets a reset.
            if n % 400 == 0:
                until(partial(arrived, events, id), f"item {n} arrives", 120)
            n += 1
        proxy.cut_after = lambda: float("inf")
        last = client.publish({"author_id": 1, "text": LAST})["content_id"]
        texts[last] = LAST
        listening.join(30)
        assert not listening.is_alive(), "the last item did not arrive"
        assert proxy.cuts >= 50 and count(events, "open") > 50

    shown: Dict[str, str] = {}
    contents: Counter[str] = Counter()
    changes: Set[str] = set()
    for event in events:
        if event.type == "open":
            continue
        assert event.type == "content" or event.type == "edit" or event.type == "delete", event
        id = event.item["content_id"]
        if event.type == "delete":
            shown.pop(id, None)
        else:
            shown[id] = event.item["text"]
        if event.type == "content":
            contents[id] += 1
        else:
            change = f"{event.type} {id} {event.item['edited_at'] if event.type == 'edit' else ''}"
            assert change not in changes, f"twice: {change}"
            changes.add(change)
    assert shown == {id: text for id, text in texts.items() if id not in deleted}
    assert all(times == 1 or (times == 2 and id in restored) for id, times in contents.items())
    assert count(events, "delete") > 10 and len(restored) > 5


@both
def test_notices_and_moved_markers_are_told(listen: Listen) -> None:
    events: List[StreamEvent] = []
    with running() as server, Tideline(server.url) as client:
        client.follow("2", "1")
        client.publish({"author_id": "2", "content_id": "mine"})
        listening = threading.Thread(target=listen, args=(server.url, "2", events), daemon=True)
        listening.start()
        until(lambda: count(events, "open") == 1, "the stream opens")
        client.react("mine", "like", "ben")
        until(lambda: count(events, "notice") == 1, "the notice arrives")
        [notice] = client.notices("2")
        assert (notice["kind"], notice["actor"]["user_id"]) == ("reaction", "ben")
        assert [group["count"] for group in client.notices("2", group=True)] == [1]
        assert (client.unread_notices("2")["count"], client.notice_marker("2")) == (1, None)
        assert client.move_notice_marker("2", notice["cursor"]) == notice["cursor"]
        client.move_marker("2", "5-1")
        client.put_list("2", "close")
        client.move_list_marker("2", "close", "6-1")
        until(lambda: count(events, "marker") == 3, "the markers arrive")
        client.publish({"author_id": 1, "text": LAST})
        listening.join(30)
    told = [event for event in events if event.type in ("notice", "marker")]
    assert told == [
        NoticeEvent(notice),
        MarkerEvent("notices", notice["cursor"]),
        MarkerEvent("timeline", "5-1"),
        MarkerEvent("list", "6-1", "close"),
    ]


@both
def test_a_restart_of_the_server_is_survived(listen: Listen) -> None:
    events: List[StreamEvent] = []
    with running() as server, Tideline(server.url) as client:
        client.follow("2", "1")
        listening = threading.Thread(target=listen, args=(server.url, "2", events), daemon=True)
        listening.start()
        until(lambda: count(events, "open") == 1, "the stream opens")
        client.publish({"author_id": 1, "text": "before"})
        until(lambda: count(events, "content") == 1, "the item arrives")
        server.kill()
        server.serve()
        client.publish({"author_id": 1, "text": LAST})
        listening.join(30)
        assert not listening.is_alive()
    assert (count(events, "content"), count(events, "reset")) == (2, 0)


@both
def test_silence_is_taken_for_a_loss_comments_of_the_server_are_not_silence(listen: Listen) -> None:
    events: List[StreamEvent] = []
    with running({"presence.heartbeat": "100ms"}) as server, proxied(server) as proxy, Tideline(server.url) as client:
        client.follow("2", "1")
        listening = threading.Thread(target=listen, args=(proxy.url, "2", events, 6.0), daemon=True)
        listening.start()
        until(lambda: count(events, "open") == 1, "the stream opens")
        time.sleep(7)
        assert proxy.connections == 1
        proxy.frozen = True
        client.publish({"author_id": 1, "text": LAST})
        until(lambda: proxy.connections > 1, "the client comes back")
        proxy.frozen = False
        listening.join(30)
        assert not listening.is_alive()
    assert (count(events, "content"), count(events, "reset")) == (1, 0)


def test_a_reset_is_told_too_much_was_missed_the_place_is_unknown_or_the_name_in_it() -> None:
    with running() as server, Tideline(server.url) as client:
        client.follow("2", "1")
        first = client.publish({"author_id": 1, "content_id": "first"})
        client.publish_batch([{"author_id": 1, "content_id": n} for n in range(1, 1001)])
        client.publish({"author_id": 1})
        for place in (f"{first['published_at']}-first", "1700000000000-77", "1700000000000-never seen"):
            events: List[StreamEvent] = []
            for event in client.stream("2", last_event_id=place):
                events.append(event)
                if event.type == "reset":
                    told = client.publish({"author_id": 1})["content_id"]
                if event.type == "content":
                    break
            assert [event.type for event in events][-2:] == ["reset", "content"]
            assert events[-1].type == "content" and events[-1].item["content_id"] == told
            assert count(events, "reset") == 1


def test_another_stream_goes_on_where_one_was_left() -> None:
    with running() as server, Tideline(server.url) as client:
        client.follow("2", "1")
        one = client.stream("2")
        for event in one:
            if event.type == "open":
                for id in ("a", "b 🌊", "c"):
                    client.publish({"author_id": 1, "content_id": id})
            if event.type == "content" and event.item["content_id"] == "b 🌊":
                break
        assert one.last_event_id and one.last_event_id.endswith("-b 🌊")
        for event in client.stream("2", last_event_id=one.last_event_id):
            if event.type != "open":
                assert event.type == "content" and event.item["content_id"] == "c"
                break
        until(lambda: not client.presence("2")["online"], "the end of the streams after the break")


def test_a_reset_that_was_not_handled_is_told_to_the_next_stream_again() -> None:
    with running() as server, Tideline(server.url) as client:
        client.follow("2", "1")
        time_of_known = client.publish({"author_id": 1, "content_id": "known"})["published_at"]
        old = place = "1700000000000-77"
        for handled in (False, False, True):
            stream = client.stream("2", last_event_id=place)
            for event in stream:
                if event.type == "open":
                    continue
                if event.type != "reset":
                    assert event.type == "content" and event.item["content_id"] == "later"
                    assert stream.last_event_id == f"{time_of_known + 1}-later"
                    break
                assert stream.last_event_id == old
                if not handled:
                    break
                client.publish({"author_id": 1, "content_id": "later", "published_at": time_of_known + 1})
            place = stream.last_event_id or ""
        assert place != old


class Enough(Exception):
    """Ends a stream from `on_error`."""


def until_errors(url: str, number: int) -> Tuple[List[StreamEvent], List[Exception]]:
    """The events and the errors of a stream, until there are some errors."""
    events: List[StreamEvent] = []
    errors: List[Exception] = []

    def on_error(error: Exception) -> None:
        errors.append(error)
        if len(errors) >= number:
            raise Enough

    with Tideline(url) as client, pytest.raises(Enough):
        for event in client.stream("2", on_error=on_error):
            events.append(event)
            assert len(events) < 100, errors
    return events, errors


def sleeps(monkeypatch: pytest.MonkeyPatch) -> List[float]:
    """The pauses of streams from now on, which take no time."""
    times: List[float] = []
    monkeypatch.setattr("random.random", lambda: 0.99)
    monkeypatch.setattr("tideline._sync.stream.sleep", times.append)
    return times


@pytest.mark.parametrize("seconds", [2_592_000, 10**400])
def test_a_stream_tries_again_after_a_long_retry_after(seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    times = sleeps(monkeypatch)
    with stub(problem(503, "overloaded", seconds)) as server:
        until_errors(server.url, 4)
    assert len(times) == 3 and all(30 <= time <= 31 for time in times), times


def stream_of(body: bytes) -> Prepared:
    return Prepared(200, body, (("content-type", "Text/Event-Stream; charset=utf-8"),))


@pytest.mark.parametrize(
    ("answer", "opens", "grows", "kind"),
    [
        (Prepared(200, b"<html>\n\n</html>", (("content-type", "text/html"),)), False, True, BadAnswer),
        (stream_of(b"da"), True, True, ConnectionFailed),
        (stream_of(b": a comment\n\n"), True, False, ConnectionFailed),
        (stream_of(b"event: content\ndata: null\n\n"), True, True, BadAnswer),
    ],
)
def test_an_answer_that_is_no_stream_and_one_that_tells_nothing_make_the_pauses_longer(
    answer: Prepared, opens: bool, grows: bool, kind: Type[TidelineError], monkeypatch: pytest.MonkeyPatch
) -> None:
    times = sleeps(monkeypatch)
    with stub(answer) as server:
        events, errors = until_errors(server.url, 12)
    assert any(event.type == "open" for event in events) == opens
    assert len(errors) == 12 and all(type(error) is kind for error in errors), errors
    # No pause of a stream is longer than five seconds.
    assert (4.5 < max(times) <= 5.0) if grows else max(times) < 0.25, times


def test_a_stream_does_not_keep_the_items_that_it_told() -> None:
    place = Place(None)
    tracemalloc.start()
    try:
        for n in range(400):
            item = {"content_id": str(n), "author_id": "1", "published_at": n, "text": str(n) * 30_000}
            assert len(list(place.events(Block("content", json.dumps(item), f"{n}-{n}")))) == 1
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert used < 2**20, f"{used} bytes for 400 items"


def test_the_format_of_events() -> None:
    reader = BlockReader()
    text = ": hi\r\n\r\nid: 1-a\r\n\r\nid:2-b 🌊\nevent: content\ndata: {\ndata: }\n\nretry: 5\r\rdata\n\nid: 3"
    blocks = [block for byte in text.encode() for block in reader.push(bytes([byte]))]
    assert blocks == [Block(), Block("", "", "1-a"), Block("content", "{\n}", "2-b 🌊"), Block(), Block()]
    with pytest.raises(BadAnswer):
        BlockReader().push(b"x" * (2**24 + 1))
