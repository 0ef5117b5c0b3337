"""The client."""

from __future__ import annotations

import copy
from types import TracebackType
from typing import (
    Any,
    Iterator,
    Callable,
    Dict,
    Iterable,
    List,
    Literal,
    Mapping,
    Optional,
    Sequence,
    Type,
    Union,
    overload,
)

import httpx

from .._errors import TokenFailure
from .._ids import id_list, id_text
from .._page import Page
from .._requests import CallOptions, Request, has_id, with_ids
from ..schema import (
    Alert,
    AlertList,
    Backup,
    BackupList,
    Begun,
    ClusterNode,
    Consistency,
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
    NewComment,
    NewContent,
    NewList,
    NewProfile,
    NewSettings,
    NewToken,
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
from .changes import ChangeFeed
from .credentials import TokenSource
from .listing import Listing
from .stream import Stream
from .transport import Transport


class Tideline:
    """A client of a Tideline server. Each method is one call of its API.

    Ids are `str` or `int` in requests, and `str` in answers. Methods raise `ProblemError`, `ConnectionFailed`,
    `TimedOut` and `BadAnswer`. Close the client when it is no longer needed, or use it in a `with` statement.
    """

    def __init__(
        self,
        url: str,
        *,
        key: Optional[str] = None,
        token: Union[str, TokenSource, None] = None,
        timeout: float = 30.0,
        retries: int = 4,
        max_retry_delay: float = 30.0,
        consistency: Optional[Consistency] = None,
        headers: Optional[Mapping[str, str]] = None,
        http: Optional[httpx.Client] = None,
    ):
        """Makes a client, which connects with its first request.

        `url` is the address of the server, such as `https://example.org/tideline`. `key` is for programs of the
        application. `token` is a user token, or a function that gets one, which is called before the first request and
        again before the token ends. `timeout` is how many seconds a connection, and then each part of the answer, may take. `retries` is how
        often a request is sent again at most, `max_retry_delay` the longest wait before that in seconds. `consistency` is what
        reads show at a node of a cluster, by default as the server has it: with `session` all that the client has changed or
        seen. `headers` are sent with every request. `http` takes the place of the client's own connections, such as for
        a private authority of certificates; the caller closes it.
        """
        self._transport = Transport(url, key, token, timeout, retries, max_retry_delay, consistency, headers, http)
        self._options = CallOptions()

    def with_options(
        self,
        *,
        timeout: Optional[float] = None,
        request_id: Optional[str] = None,
        consistency: Optional[Consistency] = None,
    ) -> Tideline:
        """The same client with another `timeout` or `consistency`, or with an `X-Request-Id`, which the server log has too."""
        client = copy.copy(self)
        client._options = CallOptions(timeout, request_id, consistency)
        return client

    @property
    def position(self) -> Optional[str]:
        """The `Tideline-Position` of the newest answer, which requests send; `None` before the first answer of a cluster.

        Set it to that of another client of the same user to see the changes of that client with `session` too.
        """
        return self._transport.session.position

    @position.setter
    def position(self, position: Optional[str]) -> None:
        self._transport.session.position = position

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Tideline:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    # Content

    def publish(self, item: NewContent) -> Content:
        """Publishes an item. With a `content_id` the request can be repeated, and is, after a loss."""
        request = Request("publishContent", body=with_ids(item), repeats=has_id(item))
        answer: Content = self._json(request)
        return answer

    def publish_batch(self, items: Sequence[NewContent]) -> List[Content]:
        """Publishes up to 1,000 items, all or none."""
        body = {"items": [with_ids(item) for item in items]}
        request = Request("publishContentBatch", body=body, repeats=all(map(has_id, items)))
        answer: ContentList = self._json(request, "items")
        return answer["items"]

    def item(self, content_id: Id, *, viewer: Optional[Id] = None) -> Content:
        """One item; with a viewer, if that user may see it."""
        query = {"viewer": None if viewer is None else id_text(viewer)}
        answer: Content = self._json(Request("getContent", {"content_id": content_id}, query))
        return answer

    @overload
    def items(
        self, content_ids: Iterable[Id], *, view: Optional[Literal["full"]] = None, viewer: Optional[Id] = None
    ) -> List[Content]: ...

    @overload
    def items(
        self, content_ids: Iterable[Id], *, view: Literal["ids"], viewer: Optional[Id] = None
    ) -> List[ContentRef]: ...

    def items(
        self, content_ids: Iterable[Id], *, view: Optional[View] = None, viewer: Optional[Id] = None
    ) -> Union[List[Content], List[ContentRef]]:
        """Up to 100 items, in the order of the ids, without those that do not exist, or not for the viewer."""
        seen_by = None if viewer is None else id_text(viewer)
        query = {"ids": id_list(content_ids), "view": view, "viewer": seen_by}
        answer: ContentList = self._json(Request("listContent", query=query), "items")
        return answer["items"]

    def edit(self, content_id: Id, changes: ContentEdit) -> Content:
        """Changes an item. A missing field stays, `None` clears the field."""
        answer: Content = self._json(Request("editContent", {"content_id": content_id}, body=changes))
        return answer

    def delete(self, content_id: Id, *, purge: bool = False) -> None:
        """Deletes an item; with `purge` for good, also one that is deleted already. A second delete without it is a
        `ProblemError` with the code `content_not_found`."""
        query = {"purge": "true"} if purge else {}
        self._transport.content(Request("deleteContent", {"content_id": content_id}, query), self._options)

    def take_off(self, source: Id, content_id: Id) -> None:
        """Takes an item off one of its paths, such as a group."""
        request = Request("takeOffContent", {"source": source, "content_id": content_id})
        self._transport.content(request, self._options)

    def restore(self, content_id: Id) -> Content:
        """Brings a deleted item back."""
        answer: Content = self._json(Request("restoreContent", {"content_id": content_id}, repeats=True))
        return answer

    def comment(self, content_id: Id, comment: NewComment) -> Content:
        """Comments on an item. With a `content_id` of its own the request can be repeated."""
        request = Request("comment", {"content_id": content_id}, body=with_ids(comment), repeats=has_id(comment))
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
        view: Optional[Literal["full"]] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Content]: ...

    @overload
    def comments(
        self,
        content_id: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Literal["ids"],
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[ContentRef]: ...

    def comments(
        self,
        content_id: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[View] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The comments on an item."""
        return self._items(
            "listComments", {"content_id": content_id}, limit, before, after, view, kinds, except_kinds, viewer
        )

    # Timelines and pages

    @overload
    def timeline(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[Literal["full"]] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Listing[Content]: ...

    @overload
    def timeline(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Literal["ids"],
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Listing[ContentRef]: ...

    def timeline(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[View] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The home timeline of a user."""
        return self._items("getTimeline", {"uid": user}, limit, before, after, view, kinds, except_kinds)

    @overload
    def user_content(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[Literal["full"]] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Content]: ...

    @overload
    def user_content(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Literal["ids"],
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[ContentRef]: ...

    def user_content(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[View] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The items on the user's own page."""
        return self._items("listUserContent", {"uid": user}, limit, before, after, view, kinds, except_kinds, viewer)

    @overload
    def user_comments(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[Literal["full"]] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Content]: ...

    @overload
    def user_comments(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Literal["ids"],
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[ContentRef]: ...

    def user_comments(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[View] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The comments that the user made."""
        return self._items("listUserComments", {"uid": user}, limit, before, after, view, kinds, except_kinds, viewer)

    @overload
    def topic_content(
        self,
        topic: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[Literal["full"]] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Content]: ...

    @overload
    def topic_content(
        self,
        topic: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Literal["ids"],
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[ContentRef]: ...

    def topic_content(
        self,
        topic: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[View] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The newest items with a topic."""
        return self._items(
            "listTopicContent", {"topic": topic}, limit, before, after, view, kinds, except_kinds, viewer
        )

    def unread(
        self,
        user: Id,
        *,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Unread:
        """The number of items above the user's marker."""
        answer: Unread = self._json(Request("getUnread", {"uid": user}, _kinds(kinds, except_kinds)))
        return answer

    def marker(self, user: Id) -> Optional[str]:
        """The cursor up to which the user has read; `None` if there is none."""
        answer: Marker = self._json(Request("getMarker", {"uid": user}), "cursor")
        return answer["cursor"]

    def move_marker(self, user: Id, cursor: str) -> Optional[str]:
        """Moves the marker, forward only; returns where it is then."""
        answer: Marker = self._json(Request("moveMarker", {"uid": user}, body={"cursor": cursor}), "cursor")
        return answer["cursor"]

    def notices(
        self,
        user: Id,
        *,
        group: bool = False,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Notice]:
        """What happened to the user, latest first; with `group` neighbours of one kind about one item together."""
        return self._list("listNotices", {"uid": user}, limit, before, after, {"group": "true" if group else None})

    def unread_notices(self, user: Id) -> Unread:
        """The number of notices above their marker."""
        answer: Unread = self._json(Request("getUnreadNotices", {"uid": user}))
        return answer

    def notice_marker(self, user: Id) -> Optional[str]:
        """The cursor up to which the user has read the notices; `None` if there is none."""
        answer: NoticeMarker = self._json(Request("getNoticeMarker", {"uid": user}), "cursor")
        return answer["cursor"]

    def move_notice_marker(self, user: Id, cursor: str) -> Optional[str]:
        """Moves the marker of the notices, forward only; returns where it is then."""
        request = Request("moveNoticeMarker", {"uid": user}, body={"cursor": cursor})
        answer: NoticeMarker = self._json(request, "cursor")
        return answer["cursor"]

    def stream(
        self,
        user: Id,
        *,
        last_event_id: Optional[str] = None,
        heartbeat_timeout: float = 45.0,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> Stream:
        """The changes of the user's timeline as they happen.

        With the `last_event_id` of an earlier stream of the user, or the cursor of an item, the stream goes on after it.
        After `heartbeat_timeout` seconds of silence it connects again; the server sends a comment every 15 seconds.
        `on_error` takes each error after which the stream tries again, before it waits: no events come until the next
        `open`. If it raises one, the stream ends with that.
        """
        return Stream(self._transport, user, self._options, last_event_id, heartbeat_timeout, on_error)

    def changes(
        self,
        *,
        after: Optional[str] = None,
        types: Optional[Iterable[str]] = None,
        limit: Optional[int] = None,
        wait: bool = False,
        heartbeat_timeout: float = 45.0,
        on_error: Optional[Callable[[Exception], None]] = None,
    ) -> ChangeFeed:
        """All changes of the server, or those of some types, from the position `after` on. For keys.

        With `"newest"` it begins at the end, without `after` at the oldest change that is kept. A page has at most
        `limit` changes, 1 to 1,000; 1,000 by default. With `wait` a loop does not end at the newest change: it reads a
        stream from there on, again after `heartbeat_timeout` seconds of silence, and after each error that may pass.
        `on_error` takes these errors. If it raises one, the loop ends with that.
        """
        options = self._options
        return ChangeFeed(self._transport, options, after, types, limit, wait, heartbeat_timeout, on_error)

    # Relations

    def follow(
        self,
        user: Id,
        target: Id,
        *,
        since: Optional[int] = None,
        only: Optional[Iterable[str]] = None,
        except_: Optional[Iterable[str]] = None,
        approved: bool = False,
    ) -> Relation:
        """`user` follows `target`, or asks to if `target` approves its followers.

        `since` is the time of the follow; the server's clock by default. The follow shows items of the kinds in `only`,
        or of all but those in `except_`; without them, of all kinds. `approved` says that `target` has agreed.
        """
        body = {**(_since(since) or {}), **_rule(only, except_), **({"approved": True} if approved else {})}
        answer: Relation = self._json(Request("follow", {"uid": user, "target": target}, body=body))
        return answer

    def unfollow(self, user: Id, target: Id) -> Relation:
        """`user` no longer follows `target`."""
        answer: Relation = self._json(Request("unfollow", {"uid": user, "target": target}))
        return answer

    def change_following(
        self, user: Id, *, follow: Iterable[Id] = (), unfollow: Iterable[Id] = ()
    ) -> List[Relation]:
        """Follows and unfollows up to 1,000 users, all or none. Returns the relations, those of `follow` first."""
        body = {"follow": [id_text(id) for id in follow], "unfollow": [id_text(id) for id in unfollow]}
        answer: RelationList = self._json(
            Request("changeFollowing", {"uid": user}, body=body, repeats=True), "items"
        )
        return answer["items"]

    def following(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Member]:
        """The users that the user follows, latest follow first."""
        return self._users("listFollowing", {"uid": user}, limit, before, after, viewer)

    def followers(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[Member]:
        """The users that follow the user, latest follow first."""
        return self._users("listFollowers", {"uid": user}, limit, before, after, viewer)

    def remove_follower(self, user: Id, follower: Id) -> Relation:
        """`follower` no longer follows `user`. Returns the relation of `user` to `follower`."""
        answer: Relation = self._json(Request("removeFollower", {"uid": user, "follower": follower}))
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
        """The users that the user follows and that follow the user."""
        return self._users("listFriends", {"uid": user}, limit, before, after, viewer)

    def relations(self, user: Id, targets: Iterable[Id]) -> List[Relation]:
        """The relations of a user to up to 100 others."""
        answer: RelationList = self._json(
            Request("listRelations", {"uid": user}, {"targets": id_list(targets)}), "items"
        )
        return answer["items"]

    def mute(self, user: Id, target: Id) -> Relation:
        """The timeline of `user` shows nothing of `target`."""
        answer: Relation = self._json(Request("mute", {"uid": user, "target": target}))
        return answer

    def unmute(self, user: Id, target: Id) -> Relation:
        """The timeline of `user` shows the items of `target` again."""
        answer: Relation = self._json(Request("unmute", {"uid": user, "target": target}))
        return answer

    def mutes(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users whom the user has muted."""
        return self._users("listMutes", {"uid": user}, limit, before, after)

    def hide(self, user: Id, target: Id) -> Relation:
        """The timeline of `target` shows nothing of `user`."""
        answer: Relation = self._json(Request("hide", {"uid": user, "target": target}))
        return answer

    def unhide(self, user: Id, target: Id) -> Relation:
        """The timeline of `target` shows the items of `user` again."""
        answer: Relation = self._json(Request("unhide", {"uid": user, "target": target}))
        return answer

    def hidden_from(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users who may not see the items of the user in their timelines."""
        return self._users("listHiddenFrom", {"uid": user}, limit, before, after)

    def block(self, user: Id, target: Id) -> Relation:
        """Ends the follows between the two. Neither sees the items of the other, or follows the other again."""
        answer: Relation = self._json(Request("block", {"uid": user, "target": target}))
        return answer

    def unblock(self, user: Id, target: Id) -> Relation:
        """Both may follow again, unless the other one blocks, too. No follow comes back."""
        answer: Relation = self._json(Request("unblock", {"uid": user, "target": target}))
        return answer

    def blocks(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users whom the user has blocked."""
        return self._users("listBlocks", {"uid": user}, limit, before, after)

    def follow_requests(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users who have asked to follow the user, latest request first."""
        return self._users("listFollowRequests", {"uid": user}, limit, before, after)

    def sent_requests(
        self,
        user: Id,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The users whom the user has asked to follow."""
        return self._users("listSentRequests", {"uid": user}, limit, before, after)

    def approve_follower(self, user: Id, from_user: Id) -> Relation:
        """`from_user` follows `user` from now on. Returns the relation of `user` to `from_user`."""
        answer: Relation = self._json(Request("approveFollower", {"uid": user, "from": from_user}))
        return answer

    def reject_follower(self, user: Id, from_user: Id) -> Relation:
        """The request of `from_user` to follow `user` ends. Returns the relation of `user` to `from_user`."""
        answer: Relation = self._json(Request("rejectFollower", {"uid": user, "from": from_user}))
        return answer

    # Lists

    def lists(self, user: Id) -> List[UserList]:
        """The lists of a user, by their names."""
        answer: ListList = self._json(Request("listLists", {"uid": user}), "items")
        return answer["items"]

    def list(self, user: Id, list: str) -> UserList:
        """One list of a user."""
        answer: UserList = self._json(Request("getList", {"uid": user, "list": list}))
        return answer

    def put_list(self, user: Id, list: str, settings: Optional[NewList] = None) -> UserList:
        """Makes a list of a user, or replaces its settings."""
        answer: UserList = self._json(Request("putList", {"uid": user, "list": list}, body=settings or {}))
        return answer

    def delete_list(self, user: Id, list: str) -> None:
        """Deletes a list with its members and its marker."""
        self._transport.content(Request("deleteList", {"uid": user, "list": list}), self._options)

    def list_members(
        self,
        user: Id,
        list: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
    ) -> Listing[Member]:
        """The members of a list, the one added last first."""
        return self._users("listMembers", {"uid": user, "list": list}, limit, before, after)

    def add_list_member(
        self,
        user: Id,
        list: str,
        source: Id,
        *,
        only: Optional[Iterable[str]] = None,
        except_: Optional[Iterable[str]] = None,
    ) -> ListMember:
        """Adds a member to a list, which shows the member's items as a follow with this rule does."""
        path = {"uid": user, "list": list, "source": source}
        answer: ListMember = self._json(Request("addListMember", path, body=_rule(only, except_)))
        return answer

    def remove_list_member(self, user: Id, list: str, source: Id) -> ListMember:
        """Removes a member from a list."""
        answer: ListMember = self._json(
            Request("removeListMember", {"uid": user, "list": list, "source": source})
        )
        return answer

    def change_list_members(
        self, user: Id, list: str, *, add: Iterable[Id] = (), remove: Iterable[Id] = ()
    ) -> List[ListMember]:
        """Adds and removes up to 1,000 members, all or none. Returns the state of each, those of `add` first."""
        body = {"add": [id_text(id) for id in add], "remove": [id_text(id) for id in remove]}
        answer: ListMemberList = self._json(
            Request("changeListMembers", {"uid": user, "list": list}, body=body, repeats=True), "items"
        )
        return answer["items"]

    @overload
    def list_timeline(
        self,
        user: Id,
        list: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[Literal["full"]] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
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
        view: Literal["ids"],
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Listing[ContentRef]: ...

    def list_timeline(
        self,
        user: Id,
        list: str,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[View] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The timeline of a list."""
        return self._items(
            "getListTimeline", {"uid": user, "list": list}, limit, before, after, view, kinds, except_kinds
        )

    def list_unread(
        self,
        user: Id,
        list: str,
        *,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
    ) -> Unread:
        """The number of items above the marker of a list."""
        request = Request("getListUnread", {"uid": user, "list": list}, _kinds(kinds, except_kinds))
        answer: Unread = self._json(request)
        return answer

    def list_marker(self, user: Id, list: str) -> Optional[str]:
        """The cursor up to which the user has read a list; `None` if there is none."""
        answer: Marker = self._json(Request("getListMarker", {"uid": user, "list": list}), "cursor")
        return answer["cursor"]

    def move_list_marker(self, user: Id, list: str, cursor: str) -> Optional[str]:
        """Moves the marker of a list, forward only; returns where it is then."""
        answer: Marker = self._json(
            Request("moveListMarker", {"uid": user, "list": list}, body={"cursor": cursor}), "cursor"
        )
        return answer["cursor"]

    # Users, reactions, presence

    def user(self, user: Id) -> Profile:
        """The profile and the counts of a user."""
        answer: Profile = self._json(Request("getUser", {"uid": user}))
        return answer

    def set_profile(self, user: Id, profile: NewProfile) -> Profile:
        """Replaces the whole profile of a user: a missing field is `None` afterwards."""
        answer: Profile = self._json(Request("putUser", {"uid": user}, body=profile))
        return answer

    def erase_user(self, user: Id) -> Begun:
        """Erases a user: nothing of the user is shown from the answer on. There is no way back."""
        answer: Begun = self._json(Request("eraseUser", {"uid": user}))
        return answer

    def erasures(self) -> List[Erasure]:
        """The erasures of users under way, then those that were over in the last 90 days."""
        answer: ErasureList = self._json(Request("listErasures"), "items")
        return answer["items"]

    def suspend(self, user: Id) -> Suspension:
        """Takes all items of the user down: nobody is shown any of them."""
        answer: Suspension = self._json(Request("suspend", {"uid": user}))
        return answer

    def unsuspend(self, user: Id) -> Suspension:
        """Takes the suspension of a user back."""
        answer: Suspension = self._json(Request("unsuspend", {"uid": user}))
        return answer

    def suspension(self, user: Id) -> Suspension:
        """Whether the user is suspended, and since when."""
        answer: Suspension = self._json(Request("getSuspension", {"uid": user}))
        return answer

    def settings(self, user: Id) -> Settings:
        """The settings of a user."""
        answer: Settings = self._json(Request("getSettings", {"uid": user}))
        return answer

    def set_settings(self, user: Id, settings: NewSettings) -> Settings:
        """Replaces all settings of a user: a missing one has its default afterwards."""
        answer: Settings = self._json(Request("putSettings", {"uid": user}, body=settings))
        return answer

    def react(self, content_id: Id, kind: ReactionKind, user: Id, *, since: Optional[int] = None) -> Reaction:
        """The user reacts to an item; counted once."""
        answer: Reaction = self._json(
            Request("react", {"content_id": content_id, "kind": kind, "uid": user}, body=_since(since))
        )
        return answer

    def unreact(self, content_id: Id, kind: ReactionKind, user: Id) -> Reaction:
        """The user takes the reaction back."""
        answer: Reaction = self._json(Request("unreact", {"content_id": content_id, "kind": kind, "uid": user}))
        return answer

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
        """The users who reacted to an item."""
        return self._users("listReactions", {"content_id": content_id, "kind": kind}, limit, before, after, viewer)

    @overload
    def user_reactions(
        self,
        user: Id,
        kind: ReactionKind,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[Literal["full"]] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
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
        view: Literal["ids"],
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Listing[ContentRef]: ...

    def user_reactions(
        self,
        user: Id,
        kind: ReactionKind,
        *,
        limit: Optional[int] = None,
        before: Optional[str] = None,
        after: Optional[str] = None,
        view: Optional[View] = None,
        kinds: Optional[Iterable[str]] = None,
        except_kinds: Optional[Iterable[str]] = None,
        viewer: Optional[Id] = None,
    ) -> Union[Listing[Content], Listing[ContentRef]]:
        """The items to which a user reacted, newest item first."""
        return self._items(
            "listUserReactions", {"uid": user, "kind": kind}, limit, before, after, view, kinds, except_kinds, viewer
        )

    def presence(self, user: Id) -> Presence:
        """Whether the user is online."""
        answer: Presence = self._json(Request("getPresence", {"uid": user}))
        return answer

    def set_presence(self, user: Id, online: bool) -> Presence:
        """A heartbeat of the user, or its end."""
        answer: Presence = self._json(Request("setPresence", {"uid": user}, body={"online": online}))
        return answer

    # Administration

    def verify(self, user: Id, *, depth: Optional[int] = None) -> Verification:
        """Compares the timeline of a user with a merge of its sources, `depth` items deep."""
        answer: Verification = self._json(Request("verifyTimeline", {"uid": user}, {"depth": depth}))
        return answer

    def explain(self, user: Id, content_id: Id) -> Explanation:
        """Why an item is in the timeline of a user, or why it is not."""
        answer: Explanation = self._json(
            Request("explainTimeline", {"uid": user}, {"content_id": id_text(content_id)})
        )
        return answer

    def users(
        self,
        *,
        search: Optional[str] = None,
        order: Optional[UserOrder] = None,
        limit: Optional[int] = None,
    ) -> List[Profile]:
        """Users by the beginning of their id or of a word of their nickname; without `search`, those of late."""
        query: Dict[str, Union[str, int, None]] = {"search": search, "order": order, "limit": limit}
        answer: ProfileList = self._json(Request("listUsers", query=query), "items")
        return answer["items"]

    def alerts(self) -> List[Alert]:
        """The alerts that hold now, as far as the server can tell."""
        answer: AlertList = self._json(Request("listAlerts"), "items")
        return answer["items"]

    def history(self, *, after: Optional[int] = None) -> List[FiguresSample]:
        """The main figures of the last hour, or after a time."""
        answer: History = self._json(Request("getHistory", query={"after": after}), "items")
        return answer["items"]

    def server_settings(self) -> ServerSettings:
        """The settings in force by their sections, without secrets."""
        answer: ServerSettings = self._json(Request("getServerSettings"))
        return answer

    def keys(self) -> List[Key]:
        """The keys in force by role and name."""
        answer: KeyList = self._json(Request("listKeys"), "items")
        return answer["items"]

    def make_token(self, user: Id, expires_in: Optional[int] = None) -> Token:
        """Makes a user token for a test, of so many seconds."""
        body: NewToken = {"user_id": id_text(user)}
        if expires_in is not None:
            body["expires_in"] = expires_in
        answer: Token = self._json(Request("makeToken", body=body))
        return answer

    def stats(self) -> Stats:
        """The main figures of the server."""
        answer: Stats = self._json(Request("getStats"))
        return answer

    def cluster(self) -> ClusterNode:
        """The server as a node of a cluster; its `node` is `None` without one."""
        answer: ClusterNode = self._json(Request("getCluster"))
        return answer

    def webhooks(self) -> List[Webhook]:
        """How far each webhook of the server is."""
        answer: WebhookList = self._json(Request("listWebhooks"), "items")
        return answer["items"]

    def backups(self) -> List[Backup]:
        """All backups, newest first."""
        answer: BackupList = self._json(Request("listBackups"), "items")
        return answer["items"]

    def take_backup(self) -> Backup:
        """Takes a backup."""
        answer: Backup = self._json(Request("takeBackup"))
        return answer

    def read_backup(self, name: str) -> Iterator[bytes]:
        """A backup as a tar archive, piece by piece. It is asked for when the loop begins, and not asked for again."""
        for data in self._pieces(Request("readBackup", {"name": name})):
            yield data

    def export_user(self, user: Id) -> Iterator[bytes]:
        """All that a user has, as lines of JSON, piece by piece; the last line is `{"type":"end"}`. It is asked for when the
        loop begins, and not asked for again."""
        for data in self._pieces(Request("exportUser", {"uid": user})):
            yield data

    def _pieces(self, request: Request) -> Iterator[bytes]:
        try:
            with self._transport.open(request, self._options) as response:
                for data in response.iter_bytes():
                    yield data
        except TokenFailure as failure:
            raise failure.reason from failure.reason.__cause__

    def remove_backup(self, name: str) -> None:
        """Removes a backup."""
        self._transport.content(Request("removeBackup", {"name": name}), self._options)

    def health(self) -> Health:
        """Whether the process runs."""
        answer: Health = self._json(Request("getHealth"))
        return answer

    def ready(self) -> Health:
        """Whether the server takes requests."""
        answer: Health = self._json(Request("getReadiness"))
        return answer

    def metrics(self) -> str:
        """All figures, as the text that Prometheus reads."""
        return self._transport.text(Request("getMetrics"), self._options)

    def openapi(self) -> str:
        """The OpenAPI document, as text."""
        return self._transport.text(Request("getDescription"), self._options)

    def docs(self) -> str:
        """The page that shows the API, as HTML."""
        return self._transport.text(Request("getDocs"), self._options)

    def _json(self, request: Request, *needed: str) -> Any:
        return self._transport.json(request, self._options, *needed)

    def _items(
        self,
        operation: str,
        path: Mapping[str, Id],
        limit: Optional[int],
        before: Optional[str],
        after: Optional[str],
        view: Optional[View],
        kinds: Optional[Iterable[str]],
        except_kinds: Optional[Iterable[str]],
        viewer: Optional[Id] = None,
    ) -> Listing[Any]:
        of_kinds = _kinds(kinds, except_kinds)
        seen_by = None if viewer is None else id_text(viewer)

        def read(before: Optional[str], after: Optional[str]) -> Page[Any]:
            query = {"limit": limit, "before": before, "after": after, "view": view, "viewer": seen_by, **of_kinds}
            return _page(self._json(Request(operation, path, query), "items", "next", "prev"))

        return Listing(read, before, after)

    def _users(
        self,
        operation: str,
        path: Mapping[str, Id],
        limit: Optional[int],
        before: Optional[str],
        after: Optional[str],
        viewer: Optional[Id] = None,
    ) -> Listing[Member]:
        relations_of = None if viewer is None else id_text(viewer)
        return self._list(operation, path, limit, before, after, {"viewer": relations_of})

    def _list(
        self,
        operation: str,
        path: Mapping[str, Id],
        limit: Optional[int],
        before: Optional[str],
        after: Optional[str],
        more: Mapping[str, Optional[str]],
    ) -> Listing[Any]:
        def read(before: Optional[str], after: Optional[str]) -> Page[Any]:
            query = {"limit": limit, "before": before, "after": after, **more}
            return _page(self._json(Request(operation, path, query), "items", "next", "prev"))

        return Listing(read, before, after)


def _kinds(kinds: Optional[Iterable[str]], except_kinds: Optional[Iterable[str]]) -> Mapping[str, Optional[str]]:
    given = {"kinds": kinds, "except_kinds": except_kinds}
    return {name: None if names is None else ",".join(names) for name, names in given.items()}


def _rule(only: Optional[Iterable[str]], except_: Optional[Iterable[str]]) -> Mapping[str, List[str]]:
    given = {"only": only, "except": except_}
    return {name: [*kinds] for name, kinds in given.items() if kinds is not None}


def _since(since: Optional[int]) -> Optional[Mapping[str, int]]:
    return None if since is None else {"since": since}


def _page(answer: Any) -> Page[Any]:
    return Page(answer["items"], answer["next"], answer["prev"])
