"""Keys, user tokens, and tokens that expire."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Callable, List, Tuple, Union

import httpx
import pytest
from support import problem, running, stub, until, user_token
from tideline import AsyncTideline, ConnectionFailed, LoggedOut, ProblemError, Tideline
from tideline._errors import TokenFailure
from tideline._sync.credentials import Credentials

KEY = "a-key-of-at-least-thirty-two-characters"
SECRET = "a-secret-of-at-least-thirty-two-characters"
SETTINGS = {"auth.keys": KEY, "auth.jwt_secrets": SECRET, "auth.leeway": "0s", "presence.heartbeat": "200ms"}


def test_keys() -> None:
    with running(SETTINGS) as server:
        with Tideline(server.url, key=KEY) as client:
            assert client.follow("2", "1")["relation"] == "following"
        for key, status, code in ((None, 401, "no_credentials"), (f"{KEY}!", 403, "bad_credentials")):
            with Tideline(server.url, key=key) as client, pytest.raises(ProblemError) as caught:
                client.user("1")
            assert (caught.value.status, caught.value.code) == (status, code)
        with pytest.raises(TypeError):
            Tideline(server.url, key=KEY, token="t")


def test_a_token_that_expires_is_renewed_once_for_all_threads() -> None:
    renewals: List[float] = []

    def renew() -> str:
        renewals.append(time.monotonic())
        time.sleep(0.02)
        return user_token(SECRET, "reader é", 2)

    with running(SETTINGS) as server, Tideline(server.url, token=renew) as client, ThreadPoolExecutor(10) as pool:
        begun, requests = time.monotonic(), 0
        while (took := time.monotonic() - begun) < 6 or (took < 60 and (requests <= 100 or len(renewals) < 3)):
            relations = pool.map(lambda n: client.follow("reader é", f"author {n}")["relation"], range(10))
            requests += sum(relation == "following" for relation in relations)
            time.sleep(0.05)
        assert requests > 100 and 3 <= len(renewals) <= 3 + took / 0.7
        is_due = True
        # A token that has just come is not due, unless a busy machine takes long.
        while is_due:
            before = len(renewals)
            until(lambda: client.follow("reader é", "author 1") and len(renewals) > before, "a new token")
            before = len(renewals)
            with pytest.raises(ProblemError, match="not_permitted"):
                client.publish({"author_id": "reader é"})
            is_due = time.monotonic() - renewals[before - 1] > 0.7
        assert len(renewals) == before, "a token that is good is kept"


def test_a_token_that_cannot_be_renewed_is_an_error() -> None:
    with running(SETTINGS) as server:
        expired = user_token(SECRET, "2", -5)
        with Tideline(server.url, token=expired) as client, pytest.raises(ProblemError, match="bad_credentials"):
            client.user("2")
        renewals: List[str] = []

        def renew() -> str:
            renewals.append(expired)
            return expired

        with Tideline(server.url, token=renew) as client, pytest.raises(ProblemError, match="expired"):
            client.user("2")
        assert len(renewals) == 2
        with Tideline(server.url, key=f"{KEY}!") as client, pytest.raises(ProblemError, match="bad_credentials"):
            next(iter(client.stream("2")))


def test_an_asynchronous_stream_goes_on_over_the_ends_of_its_tokens() -> None:
    renewals: List[float] = []

    async def renew() -> str:
        renewals.append(time.monotonic())
        await asyncio.sleep(0.02)
        return user_token(SECRET, "2", 2)

    async def run(url: str) -> None:
        async with AsyncTideline(url, key=KEY) as host, AsyncTideline(url, token=renew) as client:
            await host.follow("2", "1")
            sent: List[str] = []
            texts: List[str] = []
            opened = asyncio.Event()

            async def listen() -> None:
                async for event in client.stream("2"):
                    if event.type == "open":
                        opened.set()
                    elif event.type == "content":
                        texts.append(event.item["text"])
                        if texts[-1] == "the last":
                            return
                    else:
                        raise AssertionError(event)

            listening = asyncio.create_task(listen())
            await opened.wait()
            begun = time.monotonic()
            while (took := time.monotonic() - begun) < 6 or (took < 60 and len(renewals) < 3):
                sent.append(str(len(sent)))
                await host.publish({"author_id": 1, "text": sent[-1]})
                await asyncio.gather(*(client.user("2") for _ in range(3)))
            await host.publish({"author_id": 1, "text": "the last"})
            await asyncio.wait_for(listening, 60)
            assert texts == [*sent, "the last"]
            assert 3 <= len(renewals) <= 3 + (time.monotonic() - begun) / 0.7

    with running(SETTINGS) as server:
        asyncio.run(run(server.url))


def test_tokens_are_renewed_before_they_end_once_for_calls_and_streams_and_none_is_refused() -> None:
    renewals: List[float] = []
    at_once = threading.Lock()
    refused: List[int] = []
    opened: List[str] = []

    def renew() -> str:
        assert at_once.acquire(blocking=False), "two renewals at once"
        renewals.append(time.monotonic())
        time.sleep(0.05)
        at_once.release()
        return user_token(SECRET, "2", 3)

    def answered(response: httpx.Response) -> None:
        if response.is_error:
            refused.append(response.status_code)

    def listen(client: Tideline) -> None:
        for event in client.stream("2"):
            opened.append(event.type)
            if event.type == "content":
                return

    http = httpx.Client(event_hooks={"response": [answered]})
    with running({**SETTINGS, "auth.leeway": "5s"}) as server, http, ThreadPoolExecutor(5) as pool:
        with Tideline(server.url, key=KEY) as host, Tideline(server.url, token=renew, http=http) as client:
            host.follow("2", "1")
            listening = [threading.Thread(target=listen, args=(client,), daemon=True) for _ in range(3)]
            for one in listening:
                one.start()
            begun = time.monotonic()
            while opened.count("open") < 6:
                assert time.monotonic() - begun < 60
                assert all(user["user_id"] == "2" for user in pool.map(client.user, ["2"] * 5))
                time.sleep(0.05)
            host.publish({"author_id": 1})
            for one in listening:
                one.join(30)
                assert not one.is_alive()
        assert 3 <= len(renewals) <= 3 + time.monotonic() - begun
    assert refused == []


class Source:
    """A token function with prepared tokens and errors."""

    def __init__(self, *given: Union[str, Exception]):
        self.given = list(given)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        one = self.given.pop(0)
        if isinstance(one, Exception):
            raise one
        return one


def test_when_a_token_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.time()
    clock = [now]
    monkeypatch.setattr("tideline._sync.credentials.time", lambda: clock[0])
    hour = user_token(SECRET, "é?>", 3600)
    tunnel = OSError("tunnel")
    # The function fails while the last token is good: half of the rest later it is asked again. A log-out counts at once.
    source = Source(hour, tunnel, tunnel, tunnel, user_token(SECRET, "2", 3700), LoggedOut())
    credentials = Credentials(source)
    for seconds, calls in ((1, 1), (3568, 1), (3571, 2), (3584, 2), (3586, 3)):
        clock[0] = now + seconds
        assert (credentials.current(), source.calls) == (hour, calls)
    clock[0] = now + 3601
    with pytest.raises(TokenFailure, match="tunnel"):
        credentials.current()
    assert credentials.current() and source.calls == 5
    clock[0] = now + 3695
    with pytest.raises(TokenFailure) as caught:
        credentials.current()
    assert isinstance(caught.value.reason, LoggedOut)

    # A token without an end that can be read, and one that has ended by this clock, are used until they are refused.
    ended = user_token(SECRET, "2", -9000)
    for opaque in ("opaque", "a.b.c", "a.e30.c", "a.bnVsbA.c", "a.eyJleHAiOiJ4In0.c", "a.é.c", ended):
        source = Source(opaque, "next")
        credentials = Credentials(source)
        for seconds in (4000, 5000, 90_000):
            clock[0] = now + seconds
            assert credentials.current() == opaque
        assert source.calls == 1
        assert credentials.drop("another") and credentials.current() == opaque
        assert credentials.drop(opaque) and credentials.current() == "next"


def test_threads_that_wait_for_a_token_share_its_failure() -> None:
    begun: List[int] = []
    calls: List[float] = []

    def renew() -> str:
        calls.append(time.monotonic())
        until(lambda: len(begun) == 10, "all threads begin")
        time.sleep(0.3)
        raise OSError("tunnel")

    credentials = Credentials(renew)

    def failure(n: int) -> str:
        begun.append(n)
        with pytest.raises(TokenFailure) as caught:
            credentials.current()
        return str(caught.value)

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(failure, range(10))) == ["tunnel"] * 10
    assert len(calls) == 1


Failing = Callable[[str, Callable[[], str]], Tuple[List[str], List[Exception]]]


def blocking(url: str, renew: Callable[[], str]) -> Tuple[List[str], List[Exception]]:
    reported: List[Exception] = []
    with Tideline(url, token=renew, max_retry_delay=0.05) as client:
        with pytest.raises(ConnectionFailed, match="fetch failed"):
            client.user("2")
        with pytest.raises(ConnectionFailed, match="fetch failed"):
            next(iter(client.read_backup("20260101T000000Z")))
        first = next(iter(client.stream("2", on_error=reported.append)))
        return [first.type, client.user("2")["user_id"]], reported


def asynchronous(url: str, renew: Callable[[], str]) -> Tuple[List[str], List[Exception]]:
    reported: List[Exception] = []

    async def source() -> str:
        return renew()

    async def run() -> List[str]:
        async with AsyncTideline(url, token=source, max_retry_delay=0.05) as client:
            with pytest.raises(ConnectionFailed, match="fetch failed"):
                await client.user("2")
            with pytest.raises(ConnectionFailed, match="fetch failed"):
                async for _ in client.read_backup("20260101T000000Z"):
                    pass
            async for event in client.stream("2", on_error=reported.append):
                return [event.type, (await client.user("2"))["user_id"]]
        raise AssertionError("the stream ended")

    return asyncio.run(run()), reported


@pytest.mark.parametrize("run", [blocking, asynchronous])
def test_an_error_of_the_token_function_calls_raise_it_a_stream_waits_and_tries_again(run: Failing) -> None:
    lost = ConnectionFailed("fetch failed")
    source = Source(lost, lost, OSError("again"), ValueError("a mistake"), user_token(SECRET, "2", 600))
    with running(SETTINGS) as server:
        seen, reported = run(server.url, source)
    assert seen == ["open", "2"]
    assert [str(error) for error in reported] == ["again", "a mistake"]
    assert source.calls == 5


def test_an_error_of_the_token_function_that_is_final_and_one_that_on_error_makes_final_end_a_stream() -> None:
    class SignedOut(LoggedOut):
        pass

    def final(error: Exception) -> None:
        raise error

    with stub(problem(403, "bad_credentials")) as refusing:
        with Tideline(refusing.url, token=Source("opaque", SignedOut("log in again"))) as client:
            with pytest.raises(SignedOut):
                next(iter(client.stream("2")))
        assert len(refusing.requests) == 1
        with Tideline(refusing.url, token=Source(ValueError("a mistake"))) as client:
            with pytest.raises(ValueError, match="a mistake"):
                next(iter(client.stream("2", on_error=final)))
