"""Ids and numbers of all kinds come back as they were given, or are refused before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest
from support import running
from tideline import Tideline, cursor_of, newest_first
from tideline.schema import Content

HOSTILE = [
    "a b",
    " a ",
    "a/b",
    "/",
    "50%",
    "%2F",
    "a?b#c&d=e",
    "a,b\\c",
    "a+b",
    "...",
    "é",
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "042",
    "0",
    "9223372036854775808",
    "x" * 128,
    "🌊" * 32,
    '"quoted"',
    "http://example.org/a/../b",
]


def test_hostile_ids_of_users_and_items() -> None:
    with running() as server, Tideline(server.url) as client:
        for id in HOSTILE:
            author = f"{id[:25]}/ 🌊"
            client.follow(id, author)
            published = client.publish({"author_id": author, "content_id": id, "text": id})
            assert (published["content_id"], published["author_id"]) == (id, author)
            assert client.publish({"author_id": author, "content_id": id, "text": id}) == published
            (item,) = client.timeline(id).page().items
            assert (item["content_id"], item["author"]["user_id"]) == (id, author)
            assert client.item(id)["text"] == id
            assert client.react(id, "like", id)["user_id"] == id
            assert client.comment(id, {"author_id": id, "text": "Ahoy"})["ref_id"] == id
            assert [each["target_id"] for each in client.relations(id, [author])] == [author]
            assert [each["user_id"] for each in client.following(id)] == [author]
            assert client.move_marker(id, cursor_of(published)) == cursor_of(published)
            assert client.unread(id)["count"] == 0
            assert client.timeline(id, before=cursor_of(published)).page().items == []
            assert client.explain(id, id)["reason"] == "listed"
        assert [item["content_id"] for item in client.items(HOSTILE)] == HOSTILE
        for id in HOSTILE:
            client.delete(id)
        assert client.items(HOSTILE) == []


def test_ids_that_would_be_removed_from_the_path_are_refused_before_they_are_sent() -> None:
    with running() as server, Tideline(server.url) as client:
        for id in (".", "..", ""):
            with pytest.raises(ValueError):
                client.follow("2", id)
            with pytest.raises(ValueError):
                client.delete(id)
        client.publish({"author_id": 1, "content_id": ".."})
        assert client.items([".."])[0]["content_id"] == ".."


def test_ids_of_64_bits() -> None:
    largest = 2**63 - 1
    ids = [1, 2**53 - 1, 2**53, 2**53 + 1, largest - 1, largest]
    with running() as server, Tideline(server.url) as client:
        for id in ids:
            client.follow("reader", id)
            item = client.publish({"author_id": id, "content_id": id, "published_at": 1000})
            assert (item["content_id"], item["author_id"]) == (str(id), str(id))
            assert client.item(id)["content_id"] == str(id)
        timeline = list(client.timeline("reader", limit=1))
        assert [item["content_id"] for item in timeline] == [str(id) for id in reversed(ids)]
        assert sorted(reversed(timeline), key=newest_first) == timeline
        wrong: Any
        for wrong in (0, -1, largest + 1, 1.5, True, b"a"):
            with pytest.raises((TypeError, ValueError)):
                client.user(wrong)
            with pytest.raises((TypeError, ValueError)):
                client.publish({"author_id": wrong})


def test_large_numbers_keep_their_digits() -> None:
    extra = {"large": 2**53 + 1, "negative": -12345678901234567890, "deep": [{"list": [1, 2**64 - 1]}], "half": 0.5}
    with running() as server, Tideline(server.url) as client:
        client.publish(
            {"author_id": 1, "content_id": 1, "extra": extra, "media": [{"type": "x", "url": "y", "id": 2**60}]}
        )
        item = client.item(1)
        assert (item["extra"], item["media"][0]["id"]) == (extra, 2**60)


def test_the_order_of_timelines() -> None:
    def item(published_at: int, content_id: str) -> Content:
        made: Any = {"published_at": published_at, "content_id": content_id}
        return made  # type: ignore[no-any-return]

    ordered = [item(2, "1"), item(1, "é"), item(1, "10"), item(1, "9"), item(0, "9223372036854775808"), item(0, "7")]
    assert sorted(reversed(ordered), key=newest_first) == ordered
