"""What is sent again, when, and what is not; errors; timeouts."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, List, Optional, Tuple

import pytest
from support import Answer, Prepared, Received, problem, running, stub
from tideline import (
    AsyncTideline,
    BadAnswer,
    ConnectionFailed,
    ProblemError,
    Tideline,
    TidelineError,
    TimedOut,
    __version__,
)

Use = Callable[[Tideline], Any]
GOOD = Prepared(200)


def follow(client: Tideline) -> Any:
    return client.follow("2", "1")


def publish(client: Tideline) -> Any:
    return client.publish({"author_id": 1})


def tries(use: Use, *answers: Answer) -> Tuple[List[Received], Optional[TidelineError]]:
    """The requests that a use of the client makes, and its error."""
    timeout = 2.0 if "hang" in answers else 20.0
    with stub(*answers) as server, Tideline(server.url, retries=3, max_retry_delay=1.5, timeout=timeout) as client:
        try:
            use(client)
        except TidelineError as error:
            return server.requests, error
        return server.requests, None


REPEATED: List[Use] = [
    follow,
    lambda c: c.publish({"author_id": 1, "content_id": "c"}),
    lambda c: c.timeline("2").page(),
    lambda c: c.unfollow("2", "1"),
    lambda c: c.restore("c"),
    lambda c: c.change_following("2", follow=[1]),
    lambda c: c.publish_batch([{"author_id": 1, "content_id": 1}]),
    lambda c: c.comment("c", {"author_id": 1, "content_id": 2}),
]
NOT_REPEATED: List[Use] = [
    publish,
    lambda c: c.delete("c"),
    lambda c: c.edit("c", {"text": "x"}),
    lambda c: c.take_backup(),
    lambda c: c.comment("c", {"author_id": 1}),
    lambda c: c.publish_batch([{"author_id": 1, "content_id": 1}, {"author_id": 1}]),
]


@pytest.mark.parametrize("use", REPEATED)
def test_a_503_is_repeated_where_the_call_may_be_repeated(use: Use) -> None:
    requests, error = tries(use, problem(503, "timeout", 0), problem(503, "timeout", 0), GOOD)
    assert (len(requests), error) == (3, None)
    assert requests[0].body == requests[2].body


@pytest.mark.parametrize("use", NOT_REPEATED)
def test_a_503_is_not_repeated_elsewhere(use: Use) -> None:
    requests, error = tries(use, problem(503, "timeout", 0), GOOD)
    assert isinstance(error, ProblemError) and (len(requests), error.code) == (1, "timeout")


def test_an_answer_after_which_nothing_has_changed_lets_every_call_be_repeated() -> None:
    for answer in (problem(503, "overloaded", 0), problem(429, "rate_limited", 0)):
        requests, error = tries(publish, answer, GOOD)
        assert (len(requests), error) == (2, None)


def test_the_wait_is_at_least_retry_after_and_a_longer_one_than_allowed_is_not_waited_for() -> None:
    requests, _ = tries(follow, problem(503, "stopping", 1), GOOD)
    assert requests[1].at - requests[0].at >= 0.99
    requests, error = tries(follow, problem(503, "stopping", 2), GOOD)
    assert isinstance(error, ProblemError)
    assert (len(requests), error.retry_after, error.code, error.request_id) == (1, 2.0, "stopping", "7")


def test_repeats_end() -> None:
    requests, error = tries(follow, problem(503, "stopping"))
    assert isinstance(error, ProblemError) and (len(requests), error.code) == (4, "stopping")


def test_what_a_repeat_cannot_mend_is_not_repeated() -> None:
    for answer in (problem(400, "invalid_id"), problem(409, "content_exists"), problem(500, "internal")):
        assert len(tries(follow, answer)[0]) == 1


def test_lost_connections_and_late_answers() -> None:
    requests, error = tries(follow, "drop", "drop", GOOD)
    assert (len(requests), error) == (3, None)
    assert len(tries(follow, "hang", GOOD)[0]) == 2
    requests, error = tries(publish, "drop", GOOD)
    assert isinstance(error, ConnectionFailed) and isinstance(error, ConnectionError) and len(requests) == 1
    requests, error = tries(publish, "hang", GOOD)
    assert isinstance(error, TimedOut) and isinstance(error, TimeoutError) and len(requests) == 1
    with Tideline("http://127.0.0.1:9", retries=0) as nobody, pytest.raises(ConnectionFailed):
        nobody.health()


def test_an_answer_of_a_proxy_is_an_error_too() -> None:
    _, error = tries(publish, Prepared(502, b"<h1>Bad gateway</h1>"))
    assert isinstance(error, ProblemError)
    assert (error.status, error.code, error.problem) == (502, "unknown", None)


def test_headers() -> None:
    with stub(GOOD) as server, Tideline(server.url, key="k", headers={"x-team": "feeds"}) as client:
        client.with_options(request_id="abc").timeline("2").page()
        client.timeline("2").page()
        first, second = (request.headers for request in server.requests)
    assert first["user-agent"] == f"tideline-client-python/{__version__}"
    assert (first["x-request-id"], first["x-team"], first["authorization"]) == ("abc", "feeds", "Bearer k")
    assert "x-request-id" not in second


def test_problems_of_the_real_server() -> None:
    with running() as server, Tideline(server.url) as client:
        with pytest.raises(ProblemError, match="^400 invalid_body: author_id: ") as caught:
            client.with_options(request_id="my-request").publish({"author_id": ""})
        assert (caught.value.status, caught.value.code, caught.value.request_id) == (400, "invalid_body", "my-request")
        assert caught.value.problem and caught.value.problem["type"] == "urn:tideline:problem:invalid_body"
        for use, code in (
            (lambda: client.follow("2", "2"), "self_follow"),
            (lambda: client.item("x"), "content_not_found"),
        ):
            with pytest.raises(ProblemError) as caught:
                use()
            assert caught.value.code == code


def test_a_rate_limit_of_the_real_server_slows_a_client_down_and_loses_nothing() -> None:
    with running({"rate_limits.per_address": "20", "rate_limits.per_address_burst": "5"}) as server:
        begun = time.monotonic()
        with Tideline(server.url, retries=20) as client, ThreadPoolExecutor(10) as pool:
            made = list(pool.map(lambda n: client.publish({"author_id": 1, "text": str(n)})["content_id"], range(40)))
            assert time.monotonic() - begun > 1
            assert len(set(made)) == 40
            assert len(client.user_content("1", limit=100).page().items) == 40, "an item was published twice"
        hasty = Tideline(server.url, retries=0)
        with hasty, ThreadPoolExecutor(10) as pool, pytest.raises(ProblemError) as caught:
            list(pool.map(lambda _: hasty.user("1"), range(200)))
        assert caught.value.code == "rate_limited" and (caught.value.retry_after or 0) >= 1


def test_a_restart_of_the_server_is_waited_for() -> None:
    with running() as server, Tideline(server.url, retries=10) as client:
        client.follow("2", "1")
        server.kill()
        back = threading.Timer(0.3, server.serve)
        back.start()
        assert client.follow("2", "3")["relation"] == "following"
        back.join()


def test_the_asynchronous_client_repeats_too() -> None:
    async def run(url: str) -> None:
        async with AsyncTideline(url, retries=3) as client:
            await client.follow("2", "1")
            with pytest.raises(ProblemError):
                await client.publish({"author_id": 1})

    again = problem(503, "stopping", 0)
    with stub(again, again, GOOD, again) as server:
        asyncio.run(run(server.url))
        assert len(server.requests) == 4


USED_IN_PART: List[Use] = [
    lambda c: c.timeline("2").page(),
    lambda c: c.publish_batch([]),
    lambda c: c.relations("2", ["1"]),
    lambda c: c.marker("2"),
    lambda c: c.backups(),
]


@pytest.mark.parametrize("body", [b"<html></html>", b"null", b"[]", b"{}", b"", b"7", b"\xff", b"[" * 100_000])
def test_a_good_status_with_an_answer_that_is_not_tidelines_is_an_error_of_the_client(body: bytes) -> None:
    for use in USED_IN_PART:
        requests, error = tries(use, Prepared(200, body))
        assert isinstance(error, BadAnswer) and len(requests) == 1, error
    tries(lambda c: c.metrics(), Prepared(200, body))
    _, error = tries(publish, Prepared(200, body, (("content-encoding", "gzip"),)))
    assert isinstance(error, TidelineError)


@pytest.mark.parametrize("value", ["²", "9" * 400, "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "soon", ""])
def test_a_strange_retry_after(value: str) -> None:
    requests, error = tries(publish, Prepared(503, b"", (("retry-after", value),)))
    assert isinstance(error, ProblemError) and error.status == 503 and len(requests) == 1
