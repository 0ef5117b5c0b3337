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
from support import document, running, until
from tideline import AsyncChangeFeed, AsyncListing, AsyncStream, AsyncTideline, ChangeFeed, Listing, Stream, Tideline

Use = Callable[[Any], Any]
ITEM = {"author_id": 5, "content_id": 2**53 + 1, "ref_id": "a/b"}

# The use of the client, then the query and the body that it sends.
CALLS: Dict[str, Tuple[Any, ...]] = {
    "publishContent": (
        lambda c: c.publish(ITEM),
        "",
        {"author_id": "5", "content_id": "9007199254740993", "ref_id": "a/b"},
    ),
    "publishContentBatch": (lambda c: c.publish_batch([{"author_id": 1}]), "", {"items": [{"author_id": "1"}]}),
    "getContent": (lambda c: c.item("c"),),
    "listContent": (lambda c: c.items(["a,b", "\\", 3]), "ids=a%5C%2Cb%2C%5C%5C%2C3"),
    "editContent": (lambda c: c.edit("c", {"text": None}), "", {"text": None}),
    "deleteContent": (lambda c: c.delete("c"),),
    "restoreContent": (lambda c: c.restore("c"),),
    "takeOffContent": (lambda c: c.take_off("s", "c"),),
    "comment": (lambda c: c.comment("c", {"author_id": 2, "text": "Ä"}), "", {"author_id": "2", "text": "Ä"}),
    "listComments": (lambda c: c.comments("c", limit=3, view="ids"), "limit=3&view=ids"),
    "getTimeline": (lambda c: c.timeline("u", limit=7, before="5-é"), "limit=7&before=5-%C3%A9"),
    "listUserContent": (lambda c: c.user_content("u", after="5-1"), "after=5-1"),
    "listUserComments": (lambda c: c.user_comments("u"),),
    "listTopicContent": (lambda c: c.topic_content("t"),),
    "getUnread": (lambda c: c.unread("u"),),
    "getMarker": (lambda c: c.marker("u"),),
    "moveMarker": (lambda c: c.move_marker("u", "5-1"), "", {"cursor": "5-1"}),
    "listNotices": (lambda c: c.notices("u", group=True, limit=5), "limit=5&group=true"),
    "getUnreadNotices": (lambda c: c.unread_notices("u"),),
    "getNoticeMarker": (lambda c: c.notice_marker("u"),),
    "moveNoticeMarker": (lambda c: c.move_notice_marker("u", "5-1-0-1-2-"), "", {"cursor": "5-1-0-1-2-"}),
    "listen": (lambda c: c.stream("u"),),
    "listChanges": (
        lambda c: c.changes(after="newest", types=["follow.created", "follow.removed"], limit=9),
        "after=newest&limit=9&types=follow.created%2Cfollow.removed",
    ),
    "follow": (
        lambda c: c.follow("u", "t", since=5, except_=["repost"], approved=True),
        "",
        {"since": 5, "except": ["repost"], "approved": True},
    ),
    "unfollow": (lambda c: c.unfollow("u", "t"),),
    "changeFollowing": (
        lambda c: c.change_following("u", follow=[1, "b"]),
        "",
        {"follow": ["1", "b"], "unfollow": []},
    ),
    "listFollowing": (lambda c: c.following("u", viewer=7), "viewer=7"),
    "listFollowers": (lambda c: c.followers("u"),),
    "listFriends": (lambda c: c.friends("u"),),
    "listRelations": (lambda c: c.relations("u", [1, 2]), "targets=1%2C2"),
    "mute": (lambda c: c.mute("u", "t"),),
    "unmute": (lambda c: c.unmute("u", "t"),),
    "listMutes": (lambda c: c.mutes("u"),),
    "hide": (lambda c: c.hide("u", "t"),),
    "unhide": (lambda c: c.unhide("u", "t"),),
    "listHiddenFrom": (lambda c: c.hidden_from("u"),),
    "block": (lambda c: c.block("u", "t"),),
    "unblock": (lambda c: c.unblock("u", "t"),),
    "listBlocks": (lambda c: c.blocks("u"),),
    "listFollowRequests": (lambda c: c.follow_requests("u"),),
    "listSentRequests": (lambda c: c.sent_requests("u"),),
    "approveFollower": (lambda c: c.approve_follower("u", "f"),),
    "rejectFollower": (lambda c: c.reject_follower("u", "f"),),
    "getSettings": (lambda c: c.settings("u"),),
    "putSettings": (lambda c: c.set_settings("u", {"approve_followers": True}), "", {"approve_followers": True}),
    "removeFollower": (lambda c: c.remove_follower("u", "f"),),
    "listLists": (lambda c: c.lists("u"),),
    "getList": (lambda c: c.list("u", "l"),),
    "putList": (lambda c: c.put_list("u", "l", {"exclusive": True}), "", {"exclusive": True}),
    "deleteList": (lambda c: c.delete_list("u", "l"),),
    "listMembers": (lambda c: c.list_members("u", "l"),),
    "addListMember": (lambda c: c.add_list_member("u", "l", "s", only=["post"]), "", {"only": ["post"]}),
    "removeListMember": (lambda c: c.remove_list_member("u", "l", "s"),),
    "changeListMembers": (
        lambda c: c.change_list_members("u", "l", add=[1, "b"]),
        "",
        {"add": ["1", "b"], "remove": []},
    ),
    "getListTimeline": (lambda c: c.list_timeline("u", "l", limit=7), "limit=7"),
    "getListUnread": (lambda c: c.list_unread("u", "l"),),
    "getListMarker": (lambda c: c.list_marker("u", "l"),),
    "moveListMarker": (lambda c: c.move_list_marker("u", "l", "5-1"), "", {"cursor": "5-1"}),
    "getUser": (lambda c: c.user("u"),),
    "putUser": (lambda c: c.set_profile("u", {"nickname": "Ann"}), "", {"nickname": "Ann"}),
    "eraseUser": (lambda c: c.erase_user("u"),),
    "listErasures": (lambda c: c.erasures(),),
    "suspend": (lambda c: c.suspend("u"),),
    "unsuspend": (lambda c: c.unsuspend("u"),),
    "getSuspension": (lambda c: c.suspension("u"),),
    "react": (lambda c: c.react("c", "like", "u"),),
    "unreact": (lambda c: c.unreact("c", "like", "u"),),
    "listReactions": (lambda c: c.reactions("c", "like"),),
    "listUserReactions": (lambda c: c.user_reactions("u", "like"),),
    "getPresence": (lambda c: c.presence("u"),),
    "setPresence": (lambda c: c.set_presence("u", True), "", {"online": True}),
    "verifyTimeline": (lambda c: c.verify("u", depth=9), "depth=9"),
    "explainTimeline": (lambda c: c.explain("u", "c/d"), "content_id=c%2Fd"),
    "listUsers": (lambda c: c.users(search="eb", limit=9), "search=eb&limit=9"),
    "listAlerts": (lambda c: c.alerts(),),
    "getHistory": (lambda c: c.history(after=9), "after=9"),
    "getServerSettings": (lambda c: c.server_settings(),),
    "listKeys": (lambda c: c.keys(),),
    "makeToken": (lambda c: c.make_token("u", 60), "", {"user_id": "u", "expires_in": 60}),
    "getStats": (lambda c: c.stats(),),
    "getCluster": (lambda c: c.cluster(),),
    "listWebhooks": (lambda c: c.webhooks(),),
    "listBackups": (lambda c: c.backups(),),
    "takeBackup": (lambda c: c.take_backup(),),
    "readBackup": (lambda c: c.read_backup("n"),),
    "exportUser": (lambda c: c.export_user("u"),),
    "removeBackup": (lambda c: c.remove_backup("n"),),
    "getHealth": (lambda c: c.health(),),
    "getReadiness": (lambda c: c.ready(),),
    "getMetrics": (lambda c: c.metrics(),),
    "getDescription": (lambda c: c.openapi(),),
    "getDocs": (lambda c: c.docs(),),
}


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
    values = {"uid": "u", "target": "t", "content_id": "c", "topic": "t", "name": "n", "kind": "like", "list": "l"}
    values.update(source="s", follower="f", **{"from": "f"})
    described = {
        call["operationId"]: (method.upper(), re.sub(r"\{(\w+)\}", lambda name: values[str(name[1])], path))
        for path, methods in document()["paths"].items()
        for method, call in methods.items()
    }
    assert sorted(described) == sorted(CALLS)
    for operation, (use, *rest) in CALLS.items():
        query, body = [*rest, "", None][:2] if len(rest) != 1 else [rest[0], None]
        sent: List[Tuple[str, str, str, Any]] = []

        def handler(request: httpx.Request) -> httpx.Response:
            content = json.loads(request.content) if request.content else None
            sent.append((request.method, request.url.path, request.url.query.decode(), content))
            kind = "text/event-stream" if request.url.path.endswith("/stream") else "application/json"
            body = b'{"items":[],"next":null,"prev":null,"cursor":null,"position":"p"}'
            return httpx.Response(200, headers={"content-type": kind}, content=body)

        run(use, handler)
        assert sent == [(*described[operation], query, body)], operation


def test_the_clients_have_the_same_methods() -> None:
    pairs = ((Tideline, AsyncTideline), (Listing, AsyncListing), (Stream, AsyncStream), (ChangeFeed, AsyncChangeFeed))
    for one, other in pairs:
        assert {n for n in vars(one) if n[0] != "_"} == {n for n in vars(other) if n[0] != "_"}


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
