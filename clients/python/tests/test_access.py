"""Keys, user tokens, and tokens that expire."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from typing import List

import pytest
from support import running, user_token
from tideline import AsyncTideline, ProblemError, Tideline

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
        while time.monotonic() - begun < 6:
            relations = pool.map(lambda n: client.follow("reader é", f"author {n}")["relation"], range(10))
            requests += sum(relation == "following" for relation in relations)
            time.sleep(0.05)
        assert requests > 100 and 3 <= len(renewals) <= 8
        before = len(renewals)
        with pytest.raises(ProblemError, match="not_permitted"):
            client.publish({"author_id": "reader é"})
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
            while time.monotonic() - begun < 6:
                sent.append(str(len(sent)))
                await host.publish({"author_id": 1, "text": sent[-1]})
                await asyncio.gather(*(client.user("2") for _ in range(3)))
            await host.publish({"author_id": 1, "text": "the last"})
            await asyncio.wait_for(listening, 30)
            assert texts == [*sent, "the last"]
            assert 3 <= len(renewals) <= 8

    with running(SETTINGS) as server:
        asyncio.run(run(server.url))
