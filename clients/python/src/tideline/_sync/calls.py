"""The calls without behaviour of their own. Made by clients/generate.py from the OpenAPI document of the server. Do not edit."""

from __future__ import annotations

from typing import Iterator, Iterable, List, Literal, Optional, Union, overload

from .._ids import id_list, id_text, id_texts, optional_id
from .._requests import Request, flag, given, joined, listed
from ..schema import (
    Alert,
    AlertList,
    Backup,
    BackupList,
    Begun,
    ClusterNode,
    Content,
    ContentEdit,
    ContentList,
    ContentRef,
    Erasure,
    ErasureList,
    Explanation,
    FiguresSample,
    Health,
    History,
    Id,
    Key,
    KeyList,
    ListList,
    ListMember,
    ListMemberList,
    Marker,
    Member,
    NewList,
    NewProfile,
    NewSettings,
    Notice,
    NoticeMarker,
    Presence,
    Profile,
    ProfileList,
    Reaction,
    ReactionKind,
    Relation,
    RelationList,
    ServerSettings,
    Settings,
    Stats,
    Suspension,
    Token,
    Unread,
    UserList,
    UserOrder,
    Verification,
    View,
    Webhook,
    WebhookList,
)
from .caller import Caller
from .listing import Listing


class Calls(Caller):
    """Each method is one call of the API."""

    def docs(self) -> str:
        """The OpenAPI document as a web page. The page needs no connection to the internet."""
        request = Request("getDocs")
        return self._text(request)

    def health(self) -> Health:
        """Whether the process runs."""
        request = Request("getHealth")
        answer: Health = self._json(request)
        return answer

    def metrics(self) -> str:
        """All figures, for Prometheus."""
        request = Request("getMetrics")
        return self._text(request)

    def openapi(self) -> str:
        """The OpenAPI document."""
        request = Request("getDescription")
        return self._text(request)

    def ready(self) -> Health:
        """Whether the server accepts requests."""
        request = Request("getReadiness")
        answer: Health = self._json(request)
        return answer

    def alerts(self) -> List[Alert]:
        """The alerts that hold now. By the rules of docs/alerts.yaml that one server can tell by itself. None if all
        is well.
        """
        request = Request("listAlerts")
        answer: AlertList = self._json(request, "items")
        return answer["items"]

    def backups(self) -> List[Backup]:
        """List the backups. Newest first."""
        request = Request("listBackups")
        answer: BackupList = self._json(request, "items")
        return answer["items"]

    def take_backup(self) -> Backup:
        """Take a backup of all data. The answer comes when the backup is on the device. It has every change that was
        acknowledged before the request. Its verification begins then: `state` in the list of backups has the
        result. After a verification, backups older than the newest `backup.keep` verified ones are removed.
        """
        request = Request("takeBackup")
        answer: Backup = self._json(request)
        return answer

    def read_backup(self, name: str) -> Iterator[bytes]:
        """Read a backup as one tar archive. `tideline restore` makes a data directory of the archive. It is given
        piece by piece, asked for when the loop begins, and not asked for again.
        """
        request = Request("readBackup", {"name": name})
        return self._pieces(request)

    def remove_backup(self, name: str) -> None:
        """Remove a backup."""
        request = Request("removeBackup", {"name": name})
        self._nothing(request)

    def cluster(self) -> ClusterNode:
        """This server as a node of a cluster. On a server without a cluster `node` is `None`, `members` is empty,
        and all other fields are missing. Each node answers for itself.
        """
        request = Request("getCluster")
        answer: ClusterNode = self._json(request)
        return answer

    def erasures(self) -> List[Erasure]:
        """The erasures of users. Those under way, then those that were over in the last 90 days, which do not tell
        whose they were.
        """
        request = Request("listErasures")
        answer: ErasureList = self._json(request, "items")
        return answer["items"]

    def history(self, *, after: Optional[int] = None) -> List[FiguresSample]:
        """The main figures of the last hour. A sample every five seconds, oldest first. They are in memory: a
        restart begins anew.
        """
        request = Request("getHistory", query={"after": after})
        answer: History = self._json(request, "items")
        return answer["items"]

    def keys(self) -> List[Key]:
        """List the keys in force. Those of the settings and of the files that they name, by role and name."""
        request = Request("listKeys")
        answer: KeyList = self._json(request, "items")
        return answer["items"]

    def server_settings(self) -> ServerSettings:
        """The settings in force. Each section with its settings, without keys and secrets, as `tideline config`
        prints them.
        """
        request = Request("getServerSettings")
        answer: ServerSettings = self._json(request)
        return answer

    def stats(self) -> Stats:
        """The main figures of the server."""
        request = Request("getStats")
        answer: Stats = self._json(request)
        return answer

    def make_token(self, user: Id, expires_in: Optional[int] = None) -> Token:
        """Make a user token for a test. The server signs it with the first secret of `auth.jwt_secrets`."""
        request = Request("makeToken", body=given({"user_id": id_text(user), "expires_in": expires_in}))
        answer: Token = self._json(request)
        return answer

    def users(
        self,
        *,
        search: Optional[str] = None,
        order: Optional[UserOrder] = None,
        limit: Optional[int] = None,
    ) -> List[Profile]:
        """Look for users. With `search`, the users whose id, or a word of whose nickname, begins with this text.
        Capitals and accents in nicknames make no difference. An id that is a number is found whole only. The
        search goes through the first 1000 ids, among them those of items, and the first 1000 words that begin so.
        Without `search`, those of the newest changes: in the order of these (`recent`), or by followers
        (`followers`), or those whose names came last first (`new`). Ids that are numbers tell no time.
        """
        request = Request("listUsers", query={"search": search, "order": order, "limit": limit})
        answer: ProfileList = self._json(request, "items")
        return answer["items"]

    def explain(self, user: Id, content_id: Id) -> Explanation:
        """Why a timeline shows an item, or does not."""
        request = Request("explainTimeline", {"uid": user}, query={"content_id": id_text(content_id)})
        answer: Explanation = self._json(request)
        return answer

    def verify(self, user: Id, *, depth: Optional[int] = None) -> Verification:
        """Compare a timeline with its sources. Compares the timeline with a merge of the outboxes of all followed
        users. In a cluster, ask each node: those that do not keep the user's inbox have only the merge.
        """
        request = Request("verifyTimeline", {"uid": user}, query={"depth": depth})
        answer: Verification = self._json(request)
        return answer

    def webhooks(self) -> List[Webhook]:
        """How far each webhook is. The receivers of the settings of this server, with figures since its start."""
        request = Request("listWebhooks")
        answer: WebhookList = self._json(request, "items")
        return answer["items"]

    @overload
    def items(
        self,
        content_ids: Iterable[Id],
        *,
        viewer: Optional[Id] = None,
        view: Optional[Literal["full"]] = None,
    ) -> List[Content]: ...

    @overload
    def items(
        self,
        content_ids: Iterable[Id],
        *,
        viewer: Optional[Id] = None,
        view: Literal["ids"],
    ) -> List[ContentRef]: ...

    def items(
        self,
        content_ids: Iterable[Id],
        *,
        viewer: Optional[Id] = None,
        view: Optional[View] = None,
    ) -> Union[List[Content], List[ContentRef]]:
        """Up to 100 items by their ids. In the order of the ids, without items that do not exist, or not for the
        viewer.
        """
        request = Request(
            "listContent",
            query={"ids": id_list(content_ids), "view": view, "viewer": optional_id(viewer)},
        )
        answer: ContentList = self._json(request, "items")
        return answer["items"]

    def item(self, content_id: Id, *, viewer: Optional[Id] = None) -> Content:
        """One item. A key without `viewer` also sees an item whose author is suspended. It has `suspended`."""
        request = Request("getContent", {"content_id": content_id}, query={"viewer": optional_id(viewer)})
        answer: Content = self._json(request)
        return answer

    def delete(self, content_id: Id, *, purge: bool = False) -> None:
        """Delete an item. The item leaves every list at once. It can be restored for `content.deleted_retention`. A
        second delete answers 404. With `purge=true` there is no way back: the text, the media, the topics and
        `extra` are gone at once, also of an item that is deleted already, and a compaction removes them from the
        disk. This can be repeated.
        """
        request = Request("deleteContent", {"content_id": content_id}, query={"purge": flag(purge)})
        self._nothing(request)

    def edit(self, content_id: Id, changes: ContentEdit) -> Content:
        """Edit an item. A missing field stays unchanged; `None` clears the field. The item gets `edited_at`."""
        request = Request("editContent", {"content_id": content_id}, body=changes)
        answer: Content = self._json(request)
        return answer

    @overload
    def comments(
        self,
        content_id: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[Literal["full"]] = None,
    ) -> Listing[Content]: ...

    @overload
    def comments(
        self,
        content_id: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Literal["ids"],
    ) -> Listing[ContentRef]: ...

    def comments(
        self,
        content_id: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[View] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The comments on an item."""
        return self._list(
            "listComments",
            {"content_id": content_id},
            limit,
            before,
            after,
            {"view": view, "viewer": optional_id(viewer), "kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )

    def reactions(
        self,
        content_id: Id,
        kind: ReactionKind,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Member]:
        """The users who reacted to an item. Without suspended users, and for a viewer without those between whom and
        the viewer a hide or a block lies.
        """
        return self._list(
            "listReactions",
            {"content_id": content_id, "kind": kind},
            limit,
            before,
            after,
            {"viewer": optional_id(viewer)},
        )

    def react(self, content_id: Id, kind: ReactionKind, user: Id, *, since: Optional[int] = None) -> Reaction:
        """React to an item: like it, for example. Each user counts once for each kind; a repeat changes nothing.
        With a user token, items that the user may not see answer 404, as missing ones do, and those of an author
        with whom there is a block 403.
        """
        request = Request(
            "react",
            {"content_id": content_id, "kind": kind, "uid": user},
            body=given({"since": since}),
        )
        answer: Reaction = self._json(request)
        return answer

    def unreact(self, content_id: Id, kind: ReactionKind, user: Id) -> Reaction:
        """Remove a reaction."""
        request = Request("unreact", {"content_id": content_id, "kind": kind, "uid": user})
        answer: Reaction = self._json(request)
        return answer

    def restore(self, content_id: Id) -> Content:
        """Restore a deleted item. The item is in every list again, at its old place, with its reactions and
        comments. For an item that is not deleted the answer is the same. For an item deleted longer ago than
        `content.deleted_retention` it is 404.
        """
        request = Request("restoreContent", {"content_id": content_id})
        answer: Content = self._json(request)
        return answer

    @overload
    def topic_content(
        self,
        topic: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[Literal["full"]] = None,
    ) -> Listing[Content]: ...

    @overload
    def topic_content(
        self,
        topic: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Literal["ids"],
    ) -> Listing[ContentRef]: ...

    def topic_content(
        self,
        topic: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[View] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The newest items with a topic. The newest `topics.limit` items with the topic, broadcast or not."""
        return self._list(
            "listTopicContent",
            {"topic": topic},
            limit,
            before,
            after,
            {"view": view, "viewer": optional_id(viewer), "kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )

    def take_off(self, source: Id, content_id: Id) -> None:
        """Take an item off one of its paths. For the moderators of a group: the item leaves the own page of `source`
        and the timelines into which it came through `source`, at once. Its other paths stay, and so do its
        topics, comments and reactions. There is no way back; a restore of the item after a delete does not bring
        the path back. 404 if the item has no such path.
        """
        request = Request("takeOffContent", {"source": source, "content_id": content_id})
        self._nothing(request)

    def user(self, user: Id) -> Profile:
        """The profile and the counts of a user. Every id is a user. A field without a value is `None`. With a user
        token, the profile of a suspended user is 404, that of another user between whom and the token's user a
        hide or a block lies, and that of another user of whom the server has neither a profile nor a count.
        """
        request = Request("getUser", {"uid": user})
        answer: Profile = self._json(request)
        return answer

    def set_profile(self, user: Id, profile: NewProfile) -> Profile:
        """Set the profile of a user. The body replaces the whole profile: a missing field is `None` afterwards."""
        request = Request("putUser", {"uid": user}, body=profile)
        answer: Profile = self._json(request)
        return answer

    def erase_user(self, user: Id) -> Begun:
        """Erase a user. Nothing of the user is shown from the answer on, and changes that name the user are 409
        `erasing`. A job then removes every row that names the user: items of all kinds, comments, reactions,
        relations in both directions, lists, memberships, markers, profile, settings, and the name itself. `GET
        /v1/admin/erasures` tells how far it is. Can be repeated. There is no way back.
        """
        request = Request("eraseUser", {"uid": user})
        answer: Begun = self._json(request)
        return answer

    def blocks(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users that a user has blocked."""
        return self._list("listBlocks", {"uid": user}, limit, before, after, {})

    def block(self, user: Id, target: Id) -> Relation:
        """Block a user. Ends the follows between the two. From then on neither sees the content of the other in a
        timeline, or follows the other; with a user token, neither reacts to items of the other.
        """
        request = Request("block", {"uid": user, "target": target})
        answer: Relation = self._json(request)
        return answer

    def unblock(self, user: Id, target: Id) -> Relation:
        """Unblock a user. No follow comes back. A block of `user` by `target` stays."""
        request = Request("unblock", {"uid": user, "target": target})
        answer: Relation = self._json(request)
        return answer

    @overload
    def user_comments(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[Literal["full"]] = None,
    ) -> Listing[Content]: ...

    @overload
    def user_comments(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Literal["ids"],
    ) -> Listing[ContentRef]: ...

    def user_comments(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[View] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The comments of a user."""
        return self._list(
            "listUserComments",
            {"uid": user},
            limit,
            before,
            after,
            {"view": view, "viewer": optional_id(viewer), "kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )

    @overload
    def user_content(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[Literal["full"]] = None,
    ) -> Listing[Content]: ...

    @overload
    def user_content(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Literal["ids"],
    ) -> Listing[ContentRef]: ...

    def user_content(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[View] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The own page of a source. All items that were published on it. Empty for a viewer between whom and the
        source a hide or a block lies.
        """
        return self._list(
            "listUserContent",
            {"uid": user},
            limit,
            before,
            after,
            {"view": view, "viewer": optional_id(viewer), "kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )

    def export_user(self, user: Id) -> Iterator[bytes]:
        """All that a user has, as lines of JSON. A line for each thing, with its `type`, such as `profile`,
        `content` for each item and comment, deleted ones included until they are purged, or `follower`. The
        section "Export a user" of docs/use/api.md has a table of the types. The last line is of the type `end`:
        without it the answer is incomplete. What changes meanwhile may be in it or not. It is given piece by
        piece, asked for when the loop begins, and not asked for again.
        """
        request = Request("exportUser", {"uid": user})
        return self._pieces(request)

    def follow_requests(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users who have asked to follow a user."""
        return self._list("listFollowRequests", {"uid": user}, limit, before, after, {})

    def approve_follower(self, user: Id, from_user: Id) -> Relation:
        """Approve a request to follow. `from_user` follows `user` from now on. For a follower it changes nothing."""
        request = Request("approveFollower", {"uid": user, "from": from_user})
        answer: Relation = self._json(request)
        return answer

    def reject_follower(self, user: Id, from_user: Id) -> Relation:
        """Reject a request to follow. `from_user` is not told, and may ask again. A follow stays."""
        request = Request("rejectFollower", {"uid": user, "from": from_user})
        answer: Relation = self._json(request)
        return answer

    def followers(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Member]:
        """The users that follow a user."""
        return self._list("listFollowers", {"uid": user}, limit, before, after, {"viewer": optional_id(viewer)})

    def remove_follower(self, user: Id, follower: Id) -> Relation:
        """Remove a follower. `follower` does not follow `user` any more, and a request of it ends. It may follow
        again.
        """
        request = Request("removeFollower", {"uid": user, "follower": follower})
        answer: Relation = self._json(request)
        return answer

    def following(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Member]:
        """The users that a user follows."""
        return self._list("listFollowing", {"uid": user}, limit, before, after, {"viewer": optional_id(viewer)})

    def change_following(
        self,
        user: Id,
        *,
        follow: Iterable[Id] = (),
        unfollow: Iterable[Id] = (),
    ) -> List[Relation]:
        """Follow and unfollow up to 1,000 users, all or none. The body may have 256 times as many bytes as the body
        of a single follow.
        """
        request = Request(
            "changeFollowing",
            {"uid": user},
            body={"follow": id_texts(follow), "unfollow": id_texts(unfollow)},
        )
        answer: RelationList = self._json(request, "items")
        return answer["items"]

    def follow(
        self,
        user: Id,
        target: Id,
        *,
        approved: Optional[bool] = None,
        except_: Optional[Iterable[str]] = None,
        only: Optional[Iterable[str]] = None,
        since: Optional[int] = None,
    ) -> Relation:
        """Follow a user. The timeline has the earlier items of `target` at once. A second follow changes only the
        rule: `only` or `except` say which kinds of items this follow shows; without them it shows all. A follow
        of a batch leaves the rule of a present one. If `target` approves its followers, the follow is a request,
        and the answer has `requested`.
        """
        request = Request(
            "follow",
            {"uid": user, "target": target},
            body=given({"approved": approved, "except": listed(except_), "only": listed(only), "since": since}),
        )
        answer: Relation = self._json(request)
        return answer

    def unfollow(self, user: Id, target: Id) -> Relation:
        """Unfollow a user."""
        request = Request("unfollow", {"uid": user, "target": target})
        answer: Relation = self._json(request)
        return answer

    def friends(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Member]:
        """The users that a user follows and that follow this user. `since` is the time of the second follow."""
        return self._list("listFriends", {"uid": user}, limit, before, after, {"viewer": optional_id(viewer)})

    def hidden_from(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users from whom a user hides its content."""
        return self._list("listHiddenFrom", {"uid": user}, limit, before, after, {})

    def hide(self, user: Id, target: Id) -> Relation:
        """Hide content from a user. The timeline of `target` no longer shows items of `user`."""
        request = Request("hide", {"uid": user, "target": target})
        answer: Relation = self._json(request)
        return answer

    def unhide(self, user: Id, target: Id) -> Relation:
        """Stop hiding content from a user. The timeline of `target` shows the items of `user` again, at their old
        places.
        """
        request = Request("unhide", {"uid": user, "target": target})
        answer: Relation = self._json(request)
        return answer

    def lists(self, user: Id) -> List[UserList]:
        """The lists of a user."""
        request = Request("listLists", {"uid": user})
        answer: ListList = self._json(request, "items")
        return answer["items"]

    def list(self, user: Id, list: str) -> UserList:
        """One list."""
        request = Request("getList", {"uid": user, "list": list})
        answer: UserList = self._json(request)
        return answer

    def put_list(self, user: Id, list: str, settings: Optional[NewList] = None) -> UserList:
        """Make a list, or change its settings. A list has a timeline of its own: that of its members, which the user
        need not follow. The body replaces the settings: a missing field gets its default. The home timeline shows
        nothing of the members of an `exclusive` list. A user can have at most 100 lists.
        """
        request = Request("putList", {"uid": user, "list": list}, body=settings or {})
        answer: UserList = self._json(request)
        return answer

    def delete_list(self, user: Id, list: str) -> None:
        """Delete a list. Deletes its members and its marker, too. A second delete answers 404."""
        request = Request("deleteList", {"uid": user, "list": list})
        self._nothing(request)

    def list_marker(self, user: Id, list: str) -> Optional[str]:
        """The marker of a list."""
        request = Request("getListMarker", {"uid": user, "list": list})
        answer: Marker = self._json(request, "cursor")
        return answer["cursor"]

    def move_list_marker(self, user: Id, list: str, cursor: str) -> Optional[str]:
        """Move the marker of a list. By the rules of the marker of the home timeline."""
        request = Request("moveListMarker", {"uid": user, "list": list}, body=given({"cursor": cursor}))
        answer: Marker = self._json(request, "cursor")
        return answer["cursor"]

    def list_members(
        self,
        user: Id,
        list: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The members of a list."""
        return self._list("listMembers", {"uid": user, "list": list}, limit, before, after, {})

    def change_list_members(
        self,
        user: Id,
        list: str,
        *,
        add: Iterable[Id] = (),
        remove: Iterable[Id] = (),
    ) -> List[ListMember]:
        """Add and remove up to 1,000 members, all or none. The body may have 256 times as many bytes as the body of
        a single change.
        """
        request = Request(
            "changeListMembers",
            {"uid": user, "list": list},
            body={"add": id_texts(add), "remove": id_texts(remove)},
        )
        answer: ListMemberList = self._json(request, "items")
        return answer["items"]

    def add_list_member(
        self,
        user: Id,
        list: str,
        source: Id,
        *,
        except_: Optional[Iterable[str]] = None,
        only: Optional[Iterable[str]] = None,
    ) -> ListMember:
        """Add a member to a list. The timeline of the list has the earlier items of the member at once. A repeat
        changes only the rule: `only` or `except` say which kinds of items of the member the list shows; without
        them it shows all. A member of a batch that is present keeps its rule.
        """
        request = Request(
            "addListMember",
            {"uid": user, "list": list, "source": source},
            body=given({"except": listed(except_), "only": listed(only)}),
        )
        answer: ListMember = self._json(request)
        return answer

    def remove_list_member(self, user: Id, list: str, source: Id) -> ListMember:
        """Remove a member from a list."""
        request = Request("removeListMember", {"uid": user, "list": list, "source": source})
        answer: ListMember = self._json(request)
        return answer

    @overload
    def list_timeline(
        self,
        user: Id,
        list: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[Literal["full"]] = None,
    ) -> Listing[Content]: ...

    @overload
    def list_timeline(
        self,
        user: Id,
        list: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Literal["ids"],
    ) -> Listing[ContentRef]: ...

    def list_timeline(
        self,
        user: Id,
        list: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[View] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The timeline of a list. All broadcast items of the members, newest first, down to the oldest, without
        muted authors and authors who hide their content from the user. `viewer` has the reactions of the user to
        each item.
        """
        return self._list(
            "getListTimeline",
            {"uid": user, "list": list},
            limit,
            before,
            after,
            {"view": view, "viewer": optional_id(viewer), "kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )

    def list_unread(
        self,
        user: Id,
        list: str,
        *,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Unread:
        """The number of unread items of a list: those above its marker."""
        request = Request(
            "getListUnread",
            {"uid": user, "list": list},
            query={"kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )
        answer: Unread = self._json(request)
        return answer

    def marker(self, user: Id) -> Optional[str]:
        """The marker of a user."""
        request = Request("getMarker", {"uid": user})
        answer: Marker = self._json(request, "cursor")
        return answer["cursor"]

    def move_marker(self, user: Id, cursor: str) -> Optional[str]:
        """Move the marker. The marker moves forward only: a cursor at or below it changes nothing. A cursor after
        the server's clock is replaced by the newest item of the timeline at or below it. A cursor more than
        `content.max_ahead` after the clock, with no item at it, is refused with 400 `time_ahead`. With a user
        token only items that the user sees count, and a cursor with a name at which there is none is replaced,
        too.
        """
        request = Request("moveMarker", {"uid": user}, body=given({"cursor": cursor}))
        answer: Marker = self._json(request, "cursor")
        return answer["cursor"]

    def mutes(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users that a user has muted."""
        return self._list("listMutes", {"uid": user}, limit, before, after, {})

    def mute(self, user: Id, target: Id) -> Relation:
        """Mute a user. The timeline of `user` no longer shows items of `target`."""
        request = Request("mute", {"uid": user, "target": target})
        answer: Relation = self._json(request)
        return answer

    def unmute(self, user: Id, target: Id) -> Relation:
        """Unmute a user. The timeline of `user` shows the items of `target` again, at their old places."""
        request = Request("unmute", {"uid": user, "target": target})
        answer: Relation = self._json(request)
        return answer

    def notices(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        group: bool = False,
    ) -> Listing[Notice]:
        """What happened to a user, newest first. Follows, requests to follow, approved requests, reactions, comments
        and reposts of others, and their items that mention the user. What is taken back leaves the list. With
        `group=true` neighbours of one kind about one item are one element with `count`, `actors`, `newest` and
        `oldest` in place of `at` and `actor`.
        """
        return self._list("listNotices", {"uid": user}, limit, before, after, {"group": flag(group)})

    def notice_marker(self, user: Id) -> Optional[str]:
        """The marker of the notices of a user."""
        request = Request("getNoticeMarker", {"uid": user})
        answer: NoticeMarker = self._json(request, "cursor")
        return answer["cursor"]

    def move_notice_marker(self, user: Id, cursor: str) -> Optional[str]:
        """Move the marker of the notices. The marker moves forward only: a cursor at or below it changes nothing. A
        cursor after the server's clock is replaced by the present time, unless a notice stands there.
        """
        request = Request("moveNoticeMarker", {"uid": user}, body=given({"cursor": cursor}))
        answer: NoticeMarker = self._json(request, "cursor")
        return answer["cursor"]

    def unread_notices(self, user: Id) -> Unread:
        """The number of unread notices. Those above the marker of the notices; counts up to 1,000, and `capped` says
        that there may be more.
        """
        request = Request("getUnreadNotices", {"uid": user})
        answer: Unread = self._json(request)
        return answer

    def presence(self, user: Id) -> Presence:
        """Whether a user is online. This call does not mark the user as active. Presence is in memory: after a
        restart nobody is online until the next heartbeat or stream. In a cluster the owner of the user keeps the
        heartbeats, and all nodes ask it; a stream counts at the node that it is open on. If the owner does not
        answer, the node that is asked answers alone.
        """
        request = Request("getPresence", {"uid": user})
        answer: Presence = self._json(request)
        return answer

    def set_presence(self, user: Id, online: bool) -> Presence:
        """Send a heartbeat, or end it. A user is online for `presence.ttl` after a heartbeat, and while a stream is
        open.
        """
        request = Request("setPresence", {"uid": user}, body=given({"online": online}))
        answer: Presence = self._json(request)
        return answer

    @overload
    def user_reactions(
        self,
        user: Id,
        kind: ReactionKind,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[Literal["full"]] = None,
    ) -> Listing[Content]: ...

    @overload
    def user_reactions(
        self,
        user: Id,
        kind: ReactionKind,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Literal["ids"],
    ) -> Listing[ContentRef]: ...

    def user_reactions(
        self,
        user: Id,
        kind: ReactionKind,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        view: Optional[View] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The items to which a user reacted. Ordered by the times of the items: those that the viewer sees."""
        return self._list(
            "listUserReactions",
            {"uid": user, "kind": kind},
            limit,
            before,
            after,
            {"view": view, "viewer": optional_id(viewer), "kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )

    def relations(self, user: Id, targets: Iterable[Id]) -> List[Relation]:
        """The relations of a user to up to 100 users."""
        request = Request("listRelations", {"uid": user}, query={"targets": id_list(targets)})
        answer: RelationList = self._json(request, "items")
        return answer["items"]

    def sent_requests(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users whom a user has asked to follow."""
        return self._list("listSentRequests", {"uid": user}, limit, before, after, {})

    def settings(self, user: Id) -> Settings:
        """The settings of a user."""
        request = Request("getSettings", {"uid": user})
        answer: Settings = self._json(request)
        return answer

    def set_settings(self, user: Id, settings: NewSettings) -> Settings:
        """Set the settings of a user. The body replaces all settings: a missing field has its default afterwards. If
        `approve_followers` is switched off, requests that wait stay until they are answered.
        """
        request = Request("putSettings", {"uid": user}, body=settings)
        answer: Settings = self._json(request)
        return answer

    def suspension(self, user: Id) -> Suspension:
        """Whether a user is suspended."""
        request = Request("getSuspension", {"uid": user})
        answer: Suspension = self._json(request)
        return answer

    def suspend(self, user: Id) -> Suspension:
        """Suspend a user. No user sees an item of the user from the answer on, nor the user among those who reacted.
        Follows and counts stay. Items that the user publishes meanwhile are taken, and no user sees them.
        """
        request = Request("suspend", {"uid": user})
        answer: Suspension = self._json(request)
        return answer

    def unsuspend(self, user: Id) -> Suspension:
        """Take a suspension back. All items of the user are shown again, at their old places."""
        request = Request("unsuspend", {"uid": user})
        answer: Suspension = self._json(request)
        return answer

    @overload
    def timeline(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        peek: bool = False,
        view: Optional[Literal["full"]] = None,
    ) -> Listing[Content]: ...

    @overload
    def timeline(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        peek: bool = False,
        view: Literal["ids"],
    ) -> Listing[ContentRef]: ...

    def timeline(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        peek: bool = False,
        view: Optional[View] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The home timeline. All broadcast items of the followed users, newest first, down to the oldest. It leaves
        out muted authors, and authors who hide their content from the user. `viewer` has the reactions of the
        user to each item. The call marks the user as active, but for a key with `peek=true`.
        """
        return self._list(
            "getTimeline",
            {"uid": user},
            limit,
            before,
            after,
            {"view": view, "viewer": optional_id(viewer), "kinds": joined(kinds), "except_kinds": joined(except_kinds), "peek": flag(peek)},
        )

    def unread(
        self,
        user: Id,
        *,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Unread:
        """The number of unread items: those above the marker. Counts up to 1,000 items; `capped` says that there are
        more, or that it has not looked at all. Without a marker all items are unread.
        """
        request = Request(
            "getUnread",
            {"uid": user},
            query={"kinds": joined(kinds), "except_kinds": joined(except_kinds)},
        )
        answer: Unread = self._json(request)
        return answer
