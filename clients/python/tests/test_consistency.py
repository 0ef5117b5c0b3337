"""What reads ask of a node of a cluster: the parameter, and the position of earlier answers."""

from __future__ import annotations

import asyncio
from typing import List, Optional, Tuple

import pytest
from support import Prepared, Stub, problem, running, stub
from tideline import AsyncTideline, ProblemError, Tideline
from tideline._requests import MOST_POSITIONS, CallOptions, Request, Session
from tideline.schema import Consistency

Asked = List[Tuple[str, Optional[str]]]


def at(position: str) -> Prepared:
    """An answer of a node."""
    return Prepared(200, headers=(("Tideline-Position", position),))


def asked(server: Stub) -> Asked:
    """The query and the position of each request."""
    return [(one.path.partition("?")[2], one.headers.get("tideline-position")) for one in server.requests]


def test_without_the_option_the_server_decides_and_gets_the_position() -> None:
    with stub(at("7")) as server, Tideline(server.url) as client:
        client.unread(1)
        client.unread(1)
        assert asked(server) == [("", None), ("", "7")]


def test_a_session_sends_the_position_of_the_newest_answer_and_is_strict_before_there_is_one() -> None:
    answers = at("9"), at("x"), at("10"), Prepared(200), at("a~b")
    expected: Asked = [
        ("consistency=strict", None),
        ("", "9"),
        *[("limit=3&consistency=session", position) for position in ("x", "10", "10")],
    ]
    with stub(*answers) as server, Tideline(server.url, consistency="session") as client:
        assert client.position is None
        client.timeline(1).page()
        client.follow(1, 2)
        for _ in range(3):
            client.timeline(1, limit=3).page()
        assert asked(server) == expected
        assert client.position == "a~b"

    async def with_asyncio(url: str) -> Optional[str]:
        async with AsyncTideline(url, consistency="session") as client:
            await client.timeline(1).page()
            await client.follow(1, 2)
            for _ in range(3):
                await client.timeline(1, limit=3).page()
            return client.position

    with stub(*answers) as server:
        assert asyncio.run(with_asyncio(server.url)) == "a~b"
        assert asked(server) == expected


def test_answers_at_the_same_time_are_kept_until_one_answer_has_them_all() -> None:
    session = Session("session")
    read, change = Request("getUser"), Request("deleteContent")
    first, second = session.ask(read, CallOptions()), session.ask(change, CallOptions())
    session.saw("a", first, True)
    session.saw("b", second, True)
    session.saw("b", second, True)
    both = session.ask(read, CallOptions())
    assert both == ({"consistency": "session"}, {"tideline-position": "a, b"}, ("a", "b"))
    assert session.ask(change, CallOptions()) == ({}, {"tideline-position": "a, b"}, ("a", "b"))
    late = session.ask(read, CallOptions())
    session.saw("c", both, True)
    assert session.position == "c"
    session.saw("d", late, True)
    assert session.position == "c, d", "the request of d was sent before c came"
    for number in range(MOST_POSITIONS):
        session.saw(str(number), first, True)
    strict = session.ask(read, CallOptions())
    assert strict[:2] == ({"consistency": "strict"}, {})
    session.saw("e", strict, False)
    assert session.position is not None and session.position.startswith("c, d, 0, ")
    session.saw("e", strict, True)
    assert session.position == "e"


def test_changes_alone_keep_no_more_positions_than_there_are_requests_at_the_same_time() -> None:
    session, change = Session("session"), Request("deleteContent")
    at_once = 4 * MOST_POSITIONS
    for round in range(20):
        asked = [session.ask(change, CallOptions()) for _ in range(at_once)]
        for number, request in enumerate(asked):
            assert request.headers.get("tideline-position", "").count(",") < MOST_POSITIONS
            session.saw(f"{round}-{number}", request, True)
        assert session.position is not None and session.position.count(",") < 2 * at_once
    other = Session("session")
    other.position = session.position
    assert other.ask(Request("getUser"), CallOptions())[:2] == ({"consistency": "strict"}, {})


def test_a_call_has_its_own_consistency_and_the_position_can_be_set() -> None:
    with stub(Prepared(200)) as server, Tideline(server.url, consistency="session") as client:
        client.with_options(consistency="local").user(1)
        client.position = "41"
        client.user(1)
        client.with_options(consistency="strict").user(1)
        client.with_options(timeout=5).position = None
        client.user(1)
        assert asked(server) == [
            ("consistency=local", None),
            ("consistency=session", "41"),
            ("consistency=strict", "41"),
            ("consistency=strict", None),
        ]


def test_a_refused_change_has_a_position_too_and_calls_about_one_server_ask_for_nothing() -> None:
    refused = problem(404, "content_not_found")
    refused = refused._replace(headers=(*refused.headers, ("Tideline-Position", "5")))
    with stub(refused, at("5")) as server, Tideline(server.url, consistency="session") as client:
        with pytest.raises(ProblemError):
            client.delete("c")
        client.stats()
        client.cluster()
        client.user(1)
        assert asked(server)[1:] == [("", "5"), ("", "5"), ("consistency=session", "5")]


def test_a_stream_asks_too() -> None:
    answer = Prepared(200, b": hi\n\n", (("content-type", "text/event-stream"),))
    with stub(answer) as server, Tideline(server.url, consistency="session") as client:
        client.position = "3"
        next(iter(client.stream(1)))
        next(iter(client.with_options(consistency="local").stream(1)))
        assert asked(server) == [("consistency=session", "3"), ("consistency=local", "3")]


@pytest.mark.parametrize("consistency", ["strict", "session", "local"])
def test_a_single_server_takes_every_consistency(consistency: Consistency) -> None:
    with running() as server, Tideline(server.url, consistency=consistency) as client:
        client.publish({"author_id": 1, "text": consistency})
        assert client.user_content(1).page().items[0].get("text") == consistency
        assert client.position is None
