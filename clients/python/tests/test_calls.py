"""Every call of the OpenAPI document has its method in both clients, which sends the right request."""

from __future__ import annotations

import asyncio
import importlib.metadata
import io
import json
import re
import tarfile
from pathlib import Path
from typing import Any, Callable, Dict, List, Tuple

import httpx
import pytest
import tideline
from made import MADE
from support import document, running, until
from tideline import AsyncChangeFeed, AsyncListing, AsyncStream, AsyncTideline, ChangeFeed, Listing, Stream, Tideline

Use = Callable[[Any], Any]
ITEM = {"author_id": 5, "content_id": 2**53 + 1, "ref_id": "a/b"}

# Calls with behaviour of their own: the use of the client, then the query and the body that it sends.
BY_HAND: Dict[str, Tuple[Any, ...]] = {
    "publishContent": (
        lambda c: c.publish(ITEM),
        {},
        {"author_id": "5", "content_id": "9007199254740993", "ref_id": "a/b"},
    ),
    "publishContentBatch": (lambda c: c.publish_batch([{"author_id": 1}]), {}, {"items": [{"author_id": "1"}]}),
    "comment": (lambda c: c.comment("32850", {"author_id": 2, "text": "Ä"}), {}, {"author_id": "2", "text": "Ä"}),
    "listen": (lambda c: c.stream("111"), {}),
    "listChanges": (
        lambda c: c.changes(after="newest", types=["follow.created", "follow.removed"], limit=9),
        {"after": "newest", "limit": "9", "types": "follow.created,follow.removed"},
    ),
}
# Made calls with values that are written in another way than they are given, or left out.
WRITTEN: List[Tuple[Any, ...]] = [
    ("listContent", lambda c: c.items(["a,b", "\\", 3]), {"ids": "a\\,b,\\\\,3"}),
    ("listUserContent", lambda c: c.user_content("111", after="5-é", viewer=7), {"after": "5-é", "viewer": "7"}),
    ("getTimeline", lambda c: c.timeline(111, kinds=iter(["post"])), {"kinds": "post"}),
    ("explainTimeline", lambda c: c.explain("111", "c/d"), {"content_id": "c/d"}),
    ("deleteContent", lambda c: c.delete("32850", purge=False), {}),
    ("react", lambda c: c.react("32850", "like", "111"), {}),
    (
        "follow",
        lambda c: c.follow("111", "200", only=("post",), approved=True),
        {},
        {"approved": True, "only": ["post"]},
    ),
    ("putList", lambda c: c.put_list("111", "close"), {}, {}),
    (
        "changeFollowing",
        lambda c: c.change_following("111", follow=[1, "b"]),
        {},
        {"follow": ["1", "b"], "unfollow": []},
    ),
    ("makeToken", lambda c: c.make_token(5), {}, {"user_id": "5"}),
]


def blocking(use: Use, handler: Callable[[httpx.Request], httpx.Response]) -> None:
    with httpx.Client(transport=httpx.MockTransport(handler)) as http, Tideline("http://server/", http=http) as client:
        used = use(client)
        if isinstance(used, (ChangeFeed, Listing)):
            used.page()
        elif hasattr(used, "__iter__") and not isinstance(used, (list, dict, str)):
            next(iter(used))


def asynchronous(use: Use, handler: Callable[[httpx.Request], httpx.Response]) -> None:
    async def run() -> None:
        async with httpx.AsyncClient(transport=httpx.MockTransport(handler)) as http:
            async with AsyncTideline("http://server/", http=http) as client:
                used = use(client)
                if isinstance(used, (AsyncChangeFeed, AsyncListing)):
                    await used.page()
                elif isinstance(used, AsyncStream) or hasattr(used, "__aiter__"):
                    await used.__aiter__().__anext__()
                else:
                    await used

    asyncio.run(run())


@pytest.mark.parametrize("run", [blocking, asynchronous])
def test_every_call_of_the_document_has_a_method_that_sends_it(run: Callable[..., None]) -> None:
    described = {}
    for path, methods in document()["paths"].items():
        for method, call in methods.items():
            examples = {
                each["name"]: str(each["example"]) for each in call.get("parameters", []) if each["in"] == "path"
            }
            described[call["operationId"]] = (
                method.upper(),
                re.sub(r"\{(\w+)\}", lambda name: examples[name[1]], path),
            )
    assert sorted(described) == sorted([*MADE, *BY_HAND])
    for operation, use, query, *body in [*((name, *call) for name, call in {**MADE, **BY_HAND}.items()), *WRITTEN]:
        sent: List[Tuple[str, str, Dict[str, str], Any]] = []

        def handler(request: httpx.Request) -> httpx.Response:
            content = json.loads(request.content) if request.content else None
            sent.append((request.method, request.url.path, dict(request.url.params), content))
            kind = "text/event-stream" if request.url.path.endswith("/stream") else "application/json"
            answer = b'{"items":[],"next":null,"prev":null,"cursor":null,"position":"p"}'
            return httpx.Response(200, headers={"content-type": kind}, content=answer)

        run(use, handler)
        assert sent == [(*described[operation], query, *(body or [None]))], operation


def test_the_clients_have_the_same_methods() -> None:
    pairs = ((Tideline, AsyncTideline), (Listing, AsyncListing), (Stream, AsyncStream), (ChangeFeed, AsyncChangeFeed))
    for one, other in pairs:
        assert {n for n in dir(one) if n[0] != "_"} == {n for n in dir(other) if n[0] != "_"}


def test_the_versions_of_package_document_and_code_are_one() -> None:
    assert document()["info"]["version"] == tideline.__version__ == importlib.metadata.version("tideline-client")


def test_a_backup_is_a_tar_archive() -> None:
    with running() as server, Tideline(server.url) as client:
        client.publish({"author_id": 1})
        name = client.take_backup()["name"]
        archive = io.BytesIO(b"".join(client.read_backup(name)))
        with tarfile.open(fileobj=archive) as tar:
            assert any(Path(each.name).name == "FORMAT" for each in tar)
        assert [backup["name"] for backup in client.backups()] == [name]
        until(lambda: client.backups()[0]["state"] == "verified", "the verification")
        client.remove_backup(name)
        assert client.backups() == []
