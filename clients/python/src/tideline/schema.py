"""Types and calls of the API. Made by clients/generate.py from the OpenAPI document of the server. Do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, NamedTuple, TypedDict, Union

VERSION = "0.1.0"

# An id as the application has it: text, or a whole number from 1 to 2**63-1.
Id = Union[str, int]
Json = Any
JsonObject = Dict[str, Any]

# A picture, a video or another attachment. Other fields of the application are kept: `type` and `url` are required.
MediaItem = Dict[str, Json]


Audience = Literal["public", "followers"]


Consistency = Literal["strict", "session", "local"]


RelationKind = Literal["none", "following", "followed_by", "mutual"]


UserOrder = Literal["recent", "followers", "new"]


View = Literal["full", "ids"]


Media = List[MediaItem]


ReactionKind = str


ServerSettings = Dict[str, JsonObject]


Time = int


UserExport = str


class Alert(TypedDict):
    """An alert."""

    # The name of the rule.
    name: str
    # The page of the documentation about it.
    runbook: str
    # `page`: somebody must act now. `ticket`: on the same day.
    severity: str


class AlertList(TypedDict):
    items: List[Alert]


class Author(TypedDict):
    """The author of an item in a list. A field without a value is `null`."""

    # The picture.
    avatar: Union[str, None]
    # The name for people.
    nickname: Union[str, None]
    # The id of the user.
    user_id: str


class _Backup(TypedDict):
    # When it began. It has every change that was acknowledged before.
    begun_at: int
    # Bytes of its files. It shares most of them with the data directory and with other backups.
    bytes: int
    # The first disagreements that its verification found.
    findings: List[str]
    # The format of its data directory.
    format: int
    # The time when it began, in a form that sorts.
    name: str
    # The version that took it.
    release: str
    # `unverified`, `verifying`, `verified`, or `failed`.
    state: str
    # The time until it was on the device, milliseconds.
    took_ms: int


class Backup(_Backup, total=False):
    """A backup."""

    # When its verification ended.
    verified_at: int


class BackupList(TypedDict):
    items: List[Backup]


class _Begun(TypedDict):
    user_id: str


class Begun(_Begun, total=False):
    """An erasure that has begun."""

    # When it began; left out if the server has nothing of the user.
    since: int


class _Change(TypedDict):
    at: int
    position: str
    # What was done, such as `content.published` or `follow.created`.
    type: str


class Change(_Change, total=False):
    """What a change did. The ids depend on its type."""

    content_id: str
    # Of `user.erased`: the first 32 hexadecimal digits of the SHA-256 of `tideline:erasure:` and the id.
    hash: Union[str, None]
    # The kind of the item or of the reaction.
    kind: Union[str, None]
    # The name of the list.
    list: Union[str, None]
    # The other user, such as the followee, the path, or the author of the item that the user reacted to. Left out
    # of `content.taken_off` once the path is erased.
    target_id: str
    # The author, the follower, or the owner. Left out of `user.erased` once the rows of the user are removed.
    user_id: str


class Changes(TypedDict):
    """Changes, and the position from which to continue."""

    items: List[Change]
    position: str


class ClusterMember(TypedDict):
    """A node in the settings."""

    name: str
    # Whether it is the node that answers.
    self: bool
    # The address at which the other nodes reach it.
    url: str


class _ClusterNode(TypedDict):
    # All nodes of the settings.
    members: List[ClusterMember]
    # The name of this node; `null` without a cluster.
    node: Union[str, None]


class ClusterNode(_ClusterNode, total=False):
    """A node of a cluster."""

    # Changes applied since the start, of all nodes.
    applied: int
    # Whether all that was acknowledged before the start is applied.
    caught_up: bool
    # Changes in these records.
    commands: int
    # Why the node has stopped itself, if it has.
    fault: str
    # The number of the first record of this run of the node. Of two servers that run as one node, the one with
    # the higher number is the newer. Missing until that record is applied.
    incarnation: int
    # Records of the log that are not applied yet. Missing while the log does not answer.
    lag: int
    # The level of the log in force: which kinds of changes it may have.
    level: int
    # The id of the command log.
    log: str
    # The highest level that this node reads.
    newest_level: int
    # The number after the last record that is applied.
    position: int
    # Whether the log takes records and was read.
    reachable: bool
    # Whether the node answers strict reads and takes changes.
    ready: bool
    # Records appended since the start.
    records: int
    # Whether changes and strict reads take longer than a second.
    slow: bool
    # The time of the last change.
    time: int
    # Changes that wait for the log.
    waiting: int


class _Content(TypedDict):
    # Who may see the item: everybody, or only its author and the followers of one of its paths.
    audience: Audience
    author_id: str
    # Whether the item goes to the author's followers and appears on the author's own page.
    broadcast: bool
    content_id: str
    counts: Counts
    kind: str
    media: Media
    published_at: int
    # Further sources to whose followers the item goes.
    to: List[str]
    topics: List[str]


class Content(_Content, total=False):
    """An item. Optional fields are missing if they have no value."""

    # Only in lists and in streams.
    author: Author
    # The time of the last edit.
    edited_at: int
    extra: JsonObject
    # Users whom the item mentions; left out if there are none.
    mentions: List[str]
    # The id of another item: the original of a repost, the subject of a comment.
    ref_id: str
    # `true` if the author is suspended, otherwise missing. No list shows such an item.
    suspended: bool
    text: str
    # Only for a viewer: in the timelines and streams of a user, and where a call names the viewer or has a token.
    viewer: Viewer


class ContentEdit(TypedDict, total=False):
    """A missing field stays unchanged; `null` clears the field"""

    extra: Union[JsonObject, None]
    media: Union[Media, None]
    # The text
    text: Union[str, None]


class ContentList(TypedDict):
    items: List[Content]


class ContentPage(TypedDict):
    items: List[Content]
    # The cursor to pass as `before` for older entries; `null` on the last page
    next: Union[str, None]
    # The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds
    prev: Union[str, None]


class ContentRef(TypedDict):
    """An item in the form of `view=ids`."""

    author_id: str
    content_id: str
    published_at: int


class Counts(TypedDict):
    """The counts of an item."""

    comments: int
    # How many users have each reaction to the item, by the name of the kind. A kind that nobody has is left out.
    reactions: Dict[str, int]
    reposts: int


class _Erasure(TypedDict):
    # What is kept of the id: the first 32 hexadecimal digits of the SHA-256 of `tideline:erasure:` and the id.
    hash: str
    # How many items, relations, reactions, lists, memberships and changes were removed so far.
    rows: int
    since: int
    # `erasing` or `over`.
    state: str


class Erasure(_Erasure, total=False):
    """An erasure."""

    # When it was over.
    over: int
    # The user, while the erasure is under way.
    user_id: str


class ErasureList(TypedDict):
    items: List[Erasure]


class _Explanation(TypedDict):
    # The user has blocked the author, or the author the user.
    blocked: bool
    content_id: str
    # The inbox is complete only above this cursor; `null` for an inbox that is complete to its end.
    floor: Union[str, None]
    # The author hides its content from the user.
    hidden: bool
    # Whether the timeline shows the item.
    listed: bool
    # The user has muted the author.
    muted: bool
    # The paths of the item: the author if it is broadcast, then further sources.
    paths: List[PathExplanation]
    # The deciding reason: `listed`, `no_content`, `deleted`, `not_broadcast`, `blocked`, `requested`,
    # `not_following`, `muted`, `hidden`, `suspended`, `in_exclusive_list`, `ruled_out`, or `changed_meanwhile` if
    # something changed during the request.
    reason: str
    # The author is suspended.
    suspended: bool
    user_id: str


class Explanation(_Explanation, total=False):
    """The reason why a timeline shows an item or does not, with the facts behind it."""

    author_id: str
    published_at: int


class Figures(TypedDict):
    """The size of one table."""

    bytes: int
    # An estimate: rows that were replaced or removed may count until a compaction.
    rows_estimate: int


class _FiguresSample(TypedDict):
    # When they ended.
    at: int
    compaction_pending_bytes: int
    compactions: int
    connections: int
    # Entries written into inboxes.
    deliveries: float
    device_bytes: int
    device_limit_bytes: int
    fresh_files: int
    # Places for jobs in use.
    jobs: int
    log_bytes: int
    memory_bytes: int
    memtable_bytes: int
    # The age of the oldest job.
    oldest_job: float
    # Items whose fan-out has not ended.
    pending_items: int
    # The number of refused and failed requests by the code of their problem.
    problems: Dict[str, int]
    # Processors in use.
    processor: float
    # Items published.
    published: float
    # Requests answered with a status of 500 or more.
    requests_failed: float
    requests_ok: float
    # Requests answered with a status of 400 to 499.
    requests_refused: float
    # How often the engine has slowed changes down or held them back since the start.
    stalls: int
    stream_events: float
    streams: int
    # Bytes of all tables.
    table_bytes: int
    users_online: int


class FiguresSample(_FiguresSample, total=False):
    """The figures of a few seconds. Rates are for each second, times are seconds, sizes are bytes."""

    # The time until an answer; missing without requests.
    answer_p50: float
    answer_p99: float
    # The part of look-ups that caches answered; missing without look-ups.
    cache_hit_ratio: float
    # The time from a publish until its last delivery; missing without publishes.
    delivery_lag_p50: float
    delivery_lag_p99: float


class FollowingChange(TypedDict, total=False):
    """1 to 1,000 users in total, each of them once"""

    # The users to follow
    follow: Union[List[Id], None]
    # The users to unfollow
    unfollow: Union[List[Id], None]


class Health(TypedDict):
    """The state of the server: `ok` or `ready`."""

    status: str


class History(TypedDict):
    items: List[FiguresSample]


class Jobs(TypedDict):
    """The queue of jobs."""

    # Settle jobs without work, because a newer job of the same pair existed.
    coalesced: int
    # Failed attempts; each is repeated.
    failures: int
    # Fan-outs running or waiting.
    fan_out: int
    # The limit of places.
    limit: int
    # Rebuilds running or waiting.
    rebuild: int
    # Changes refused because the queue was full.
    refused: int
    # Settle jobs running or waiting.
    settle: int
    # Places in use: by running and waiting jobs, and by open requests that may add jobs.
    waiting: int


class _Key(TypedDict):
    # The beginning of its hash, as the server log names the key.
    hash: str
    # `full`, `read` or `metrics`.
    role: str


class Key(_Key, total=False):
    """A key, without the key itself."""

    # The name behind the key in its list.
    name: str


class KeyList(TypedDict):
    items: List[Key]


class ListList(TypedDict):
    items: List[UserList]


class _ListMember(TypedDict):
    member: bool
    user_id: str


# `except`: The kinds of its items that the list does not show.
_ListMemberWords = TypedDict("_ListMemberWords", {"except": List[str]}, total=False)


class ListMember(_ListMember, _ListMemberWords, total=False):
    """Whether a user is a member of a list, and since when."""

    # The only kinds of its items that the list shows.
    only: List[str]
    since: int


class ListMemberList(TypedDict):
    items: List[ListMember]


class Marker(TypedDict):
    """The place up to which a user has read; `null` for a user without a marker."""

    cursor: Union[str, None]


class _Member(TypedDict):
    # The time of the follow, the mute, the hide, the block, the request or the reaction.
    since: int
    user_id: str


# `except`: In a list: the kinds of items that it does not show of this user.
_MemberWords = TypedDict("_MemberWords", {"except": List[str]}, total=False)


class Member(_Member, _MemberWords, total=False):
    """A user in a list of users."""

    # In a list: the only kinds of items that it shows of this user.
    only: List[str]
    # The relation of `viewer` to this user.
    relation: RelationKind


class MembersChange(TypedDict, total=False):
    """1 to 1,000 users in total, each of them once"""

    # The members to add
    add: Union[List[Id], None]
    # The members to remove
    remove: Union[List[Id], None]


class _NewComment(TypedDict):
    # The author of the item
    author_id: Id


class NewComment(_NewComment, total=False):
    audience: Union[Audience, None]
    # Whether the comment goes to the author's followers and is on the author's own page. Default: `false`
    broadcast: Union[bool, None]
    # The id of the item. Default: a new id from the server, which rises with time, and which no server with
    # another `ids.server` makes
    content_id: Union[Id, None]
    extra: Union[JsonObject, None]
    media: Union[Media, None]
    # Up to 50 users who get a notice of the item, each once
    mentions: Union[List[Id], None]
    # Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is
    # refused with 400 `time_ahead`. Default: the server's clock
    published_at: Union[int, None]
    # The text
    text: Union[str, None]
    # Up to 10 further sources (groups, threads, tags) to whose followers the item goes, each once, not the author
    to: Union[List[Id], None]
    # Up to 10 topics of 1 to 64 characters
    topics: Union[List[str], None]


class _NewContent(TypedDict):
    # The author of the item
    author_id: Id


class NewContent(_NewContent, total=False):
    audience: Union[Audience, None]
    # Whether the item goes to the author's followers and is on the author's own page. Default: `true`
    broadcast: Union[bool, None]
    # The id of the item. Default: a new id from the server, which rises with time, and which no server with
    # another `ids.server` makes
    content_id: Union[Id, None]
    extra: Union[JsonObject, None]
    # The kind of the item: 1 to 32 of the characters `a-z0-9_`, such as `repost`. Default: `post`
    kind: Union[str, None]
    media: Union[Media, None]
    # Up to 50 users who get a notice of the item, each once
    mentions: Union[List[Id], None]
    # Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is
    # refused with 400 `time_ahead`. Default: the server's clock
    published_at: Union[int, None]
    # The id of another item: the original of a repost, the subject of a comment
    ref_id: Union[Id, None]
    # The text
    text: Union[str, None]
    # Up to 10 further sources (groups, threads, tags) to whose followers the item goes, each once, not the author
    to: Union[List[Id], None]
    # Up to 10 topics of 1 to 64 characters
    topics: Union[List[str], None]


class NewContentList(TypedDict):
    items: List[NewContent]


# `except`: The kinds of items that it does not show. Not together with `only`
_NewFollowWords = TypedDict("_NewFollowWords", {"except": Union[List[str], None]}, total=False)


class NewFollow(_NewFollowWords, total=False):
    """The time of a follow, its rule, without which it shows all kinds, and whether the target has approved it"""

    # Whether the follow is made even if the target approves its followers. For keys. Default: `false`
    approved: Union[bool, None]
    # The only kinds of items that it shows. Not together with `except`
    only: Union[List[str], None]
    # Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is
    # refused with 400 `time_ahead`. Default: the server's clock
    since: Union[int, None]


class NewList(TypedDict, total=False):
    """The settings of a list: a missing field gets its default"""

    # Whether the home timeline leaves out the members.
    exclusive: Union[bool, None]
    title: Union[str, None]


class NewMarker(TypedDict):
    cursor: str


# `except`: The kinds of items that it does not show. Not together with `only`
_NewMemberWords = TypedDict("_NewMemberWords", {"except": Union[List[str], None]}, total=False)


class NewMember(_NewMemberWords, total=False):
    """The rule of a member: without one, the list shows all kinds"""

    # The only kinds of items that it shows. Not together with `except`
    only: Union[List[str], None]


class NewNoticeMarker(TypedDict):
    cursor: str


class NewPresence(TypedDict):
    # `true` for a heartbeat, `false` to end it.
    online: bool


class NewProfile(TypedDict, total=False):
    """The whole new profile: a missing field is `null` afterwards"""

    avatar: Union[str, None]
    extra: Union[JsonObject, None]
    nickname: Union[str, None]


class NewSettings(TypedDict, total=False):
    """All settings: a missing field has its default afterwards."""

    # Whether a follow of the user is a request until the user approves it. Default: `false`
    approve_followers: Union[bool, None]
    # The `audience` of items of the user that name none. Default: `public`
    default_audience: Union[Audience, None]


class NewSince(TypedDict, total=False):
    # Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is
    # refused with 400 `time_ahead`. Default: the server's clock
    since: Union[int, None]


class _NewToken(TypedDict):
    # The user of the token.
    user_id: str


class NewToken(_NewToken, total=False):
    """A token to make."""

    # How long it lasts, seconds: up to a day. Default: an hour
    expires_in: Union[int, None]


class _Notice(TypedDict):
    cursor: str
    # `follow`, `follow_request`, `request_approved`, `reaction`, `comment`, `repost` or `mention`.
    kind: str


class Notice(_Notice, total=False):
    """A notice, or with `group=true` neighbours of one kind about one item."""

    actor: Author
    # Only in a group: the actors of its newest notices, at most 8.
    actors: List[Author]
    at: int
    # The item of the actor: the comment, the repost, or the item that mentions the user. In a group only the
    # last.
    content_id: str
    # Only in a group: how many notices it has.
    count: int
    # Only in a group: the time of its newest notice.
    newest: int
    # Only in a group: the time of its oldest notice.
    oldest: int
    # The item of the user: that of the reaction, the comment or the repost.
    on: str
    # The kind of the reaction.
    reaction: str


class NoticeMarker(TypedDict):
    """The place up to which a user has read the notices; `null` for a user without a marker."""

    cursor: Union[str, None]


class NoticePage(TypedDict):
    items: List[Notice]
    # The cursor to pass as `before` for older entries; `null` on the last page
    next: Union[str, None]
    # The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds
    prev: Union[str, None]


class PathExplanation(TypedDict):
    """The reason that an item is, or is not, in a timeline through one of its paths."""

    # The user has blocked the source, or the source the user.
    blocked: bool
    # The user follows the source.
    following: bool
    # The source hides its content from the user.
    hidden: bool
    # The source is a member of an exclusive list of the user.
    in_exclusive_list: bool
    # The inbox has a row for the item on this path, above the floor.
    in_inbox: bool
    # The user has muted the source.
    muted: bool
    # The fan-out of the item on this path has not ended.
    pending: bool
    # A read takes the item from the source's outbox.
    pulled: bool
    # A request of the user to follow the source waits.
    requested: bool
    # The rule of the follow does not admit the kind of the item.
    ruled_out: bool
    # The id of the source.
    source_id: str
    # The source is suspended.
    suspended: bool
    # A follow or unfollow of this source is still being applied to the inbox.
    unsettled: bool


class _Presence(TypedDict):
    # Whether the user has a heartbeat or an open stream.
    online: bool
    user_id: str


class Presence(_Presence, total=False):
    """The presence of a user."""

    # The end of the heartbeat, if there is one.
    expires_at: int


class Problem(TypedDict):
    """A problem document (RFC 9457). `code` is for programs, `detail` for people."""

    code: str
    detail: str
    status: int
    title: str
    type: str


class Profile(TypedDict):
    """The profile of a user. A field without a value is `null`."""

    avatar: Union[str, None]
    counts: UserCounts
    extra: Union[JsonObject, None]
    nickname: Union[str, None]
    user_id: str


class ProfileList(TypedDict):
    items: List[Profile]


class _Reaction(TypedDict):
    # Whether the user has this reaction to the item.
    active: bool
    content_id: str
    counts: Counts
    kind: ReactionKind
    user_id: str


class Reaction(_Reaction, total=False):
    """The state of a reaction after a change."""

    since: int


class _Relation(TypedDict):
    # The user has blocked the target. A block of the user by the target is not told.
    blocked: bool
    # The user hides its content from the target.
    hidden: bool
    # The user has muted the target.
    muted: bool
    relation: RelationKind
    # The user has asked to follow the target, who has not answered yet.
    requested: bool
    target_id: str
    user_id: str


# `except`: The kinds of items that the follow does not show.
_RelationWords = TypedDict("_RelationWords", {"except": List[str]}, total=False)


class Relation(_Relation, _RelationWords, total=False):
    """The relation of one user to another."""

    # The only kinds of items that the follow shows.
    only: List[str]
    since: int


class RelationList(TypedDict):
    items: List[Relation]


class Settings(TypedDict):
    """The settings of a user."""

    # Whether a follow of the user is a request until the user approves it.
    approve_followers: bool
    # The `audience` of items of the user that name none.
    default_audience: Audience


class _StandbyFigures(TypedDict):
    # Bytes of the log that it was not sent yet, about.
    behind_bytes: int
    # For how long it has lacked some, milliseconds; 0 if it has all.
    behind_ms: int
    # Rows of the log that it lacks.
    behind_rows: int
    # Its name.
    name: str
    # The last row of the log on its device.
    row: int
    # When it last told how far it is.
    seen_at: int


class StandbyFigures(_StandbyFigures, total=False):
    """How far a standby is."""

    # Since when it follows; missing if it does not at present.
    following_since: int


class Stats(TypedDict):
    """The main figures of the server, with the names of `/metrics` without the prefix `tideline_`."""

    # Entries written into inboxes by fan-outs.
    deliveries: int
    jobs: Jobs
    # Bytes of the write-ahead log.
    log_bytes: int
    # Items whose fan-out has not ended.
    pending_items: int
    # The standbys that have called lately.
    standbys: List[StandbyFigures]
    # The size of each table, by its name.
    tables: Dict[str, Figures]
    # Pairs of a user and an author whose settle job has not ended.
    unsettled_pairs: int
    version: str


class _Suspension(TypedDict):
    suspended: bool
    user_id: str


class Suspension(_Suspension, total=False):
    """Whether a user is suspended, and since when."""

    since: int


class Token(TypedDict):
    """A user token."""

    # When it ends.
    expires_at: int
    token: str


class Unread(TypedDict):
    """The number of unread items; `capped` if there are more."""

    # Whether there are more.
    capped: bool
    # Items above the marker, as far as they were counted.
    count: int


class UserCounts(TypedDict):
    """The counts of a user."""

    # Items on the own page of the user.
    content: int
    # Users who follow the user.
    followers: int
    # Users whom the user follows.
    following: int
    # Users whom the user follows and who follow the user.
    friends: int


class UserList(TypedDict):
    """A list of a user."""

    # Whether the home timeline leaves out the members.
    exclusive: bool
    # Its name.
    list: str
    # Its name for people; `null` if it has none.
    title: Union[str, None]


class UserPage(TypedDict):
    items: List[Member]
    # The cursor to pass as `before` for older entries; `null` on the last page
    next: Union[str, None]
    # The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds
    prev: Union[str, None]


class Verification(TypedDict):
    """The result of a comparison of a timeline with its sources."""

    # The number of items compared.
    compared: int
    # Whether the whole timeline was compared.
    complete: bool
    # Whether there are no differences.
    exact: bool
    # Items that the timeline should not have.
    extra: List[ContentRef]
    # Items that the timeline lacks.
    missing: List[ContentRef]
    user_id: str


class Viewer(TypedDict):
    """The reactions of the reader to an item of the reader's timeline."""

    # The names of the kinds, in the order of `reactions.kinds`.
    reactions: List[ReactionKind]


class _Webhook(TypedDict):
    # Requests that failed.
    failures: int
    # How often changes that were not sent yet were gone from the feed.
    gaps: int
    # The age of the oldest change that it has not taken.
    lag_seconds: int
    name: str
    # Changes that it has taken.
    taken: int
    # Without the query.
    url: str


class Webhook(_Webhook, total=False):
    """A receiver of changes."""

    # When a request failed last.
    failed_at: int
    # Why it failed.
    last_error: str
    # When the next request begins, after a failure.
    next_at: int
    # The position behind the last change that it has taken, or that is not for it.
    position: str
    # When it took changes last.
    taken_at: int


class WebhookList(TypedDict):
    items: List[Webhook]


Code = Literal[
    "backup_busy",
    "backup_dir_unusable",
    "backup_not_found",
    "bad_credentials",
    "block_limit",
    "blocked",
    "body_timeout",
    "body_too_large",
    "changes_gone",
    "content_exists",
    "content_not_found",
    "cross_origin",
    "erasing",
    "follow_limit",
    "handing_over",
    "hide_limit",
    "internal",
    "invalid_body",
    "invalid_header",
    "invalid_id",
    "invalid_kind",
    "invalid_list",
    "invalid_parameter",
    "invalid_path",
    "invalid_topic",
    "list_limit",
    "list_not_found",
    "log_unavailable",
    "member_limit",
    "method_not_allowed",
    "misdirected_request",
    "mute_limit",
    "no_credentials",
    "no_room",
    "no_token_secret",
    "not_permitted",
    "outcome_unknown",
    "overloaded",
    "rate_limited",
    "request_not_found",
    "route_not_found",
    "self_block",
    "self_follow",
    "self_hide",
    "self_mute",
    "stopping",
    "storage_stopped",
    "storage_unavailable",
    "stream_limit",
    "time_ahead",
    "timeout",
    "too_many_kinds",
    "unknown_cursor",
    "unsupported_media_type",
    "user_not_found",
    "user_suspended",
]


class Operation(NamedTuple):
    """A call: its method and path, whether the same request can be sent twice without harm, and whether it takes
    `consistency`.
    """

    method: str
    path: str
    repeatable: bool
    reads: bool


OPERATIONS: Dict[str, Operation] = {
    "getDocs": Operation("GET", "/docs", True, False),
    "getHealth": Operation("GET", "/healthz", True, False),
    "getMetrics": Operation("GET", "/metrics", True, False),
    "getDescription": Operation("GET", "/openapi.json", True, False),
    "getReadiness": Operation("GET", "/readyz", True, False),
    "listAlerts": Operation("GET", "/v1/admin/alerts", True, False),
    "listBackups": Operation("GET", "/v1/admin/backups", True, False),
    "takeBackup": Operation("POST", "/v1/admin/backups", False, False),
    "readBackup": Operation("GET", "/v1/admin/backups/{name}", True, False),
    "removeBackup": Operation("DELETE", "/v1/admin/backups/{name}", False, False),
    "getCluster": Operation("GET", "/v1/admin/cluster", True, False),
    "listErasures": Operation("GET", "/v1/admin/erasures", True, True),
    "getHistory": Operation("GET", "/v1/admin/history", True, False),
    "listKeys": Operation("GET", "/v1/admin/keys", True, False),
    "getServerSettings": Operation("GET", "/v1/admin/settings", True, False),
    "getStats": Operation("GET", "/v1/admin/stats", True, False),
    "makeToken": Operation("POST", "/v1/admin/tokens", False, False),
    "listUsers": Operation("GET", "/v1/admin/users", True, True),
    "explainTimeline": Operation("GET", "/v1/admin/users/{uid}/timeline/explain", True, True),
    "verifyTimeline": Operation("GET", "/v1/admin/users/{uid}/timeline/verify", True, True),
    "listWebhooks": Operation("GET", "/v1/admin/webhooks", True, False),
    "listChanges": Operation("GET", "/v1/changes", True, True),
    "listContent": Operation("GET", "/v1/content", True, True),
    "publishContent": Operation("POST", "/v1/content", False, False),
    "publishContentBatch": Operation("POST", "/v1/content/batch", False, False),
    "getContent": Operation("GET", "/v1/content/{content_id}", True, True),
    "deleteContent": Operation("DELETE", "/v1/content/{content_id}", False, False),
    "editContent": Operation("PATCH", "/v1/content/{content_id}", False, False),
    "listComments": Operation("GET", "/v1/content/{content_id}/comments", True, True),
    "comment": Operation("POST", "/v1/content/{content_id}/comments", False, False),
    "listReactions": Operation("GET", "/v1/content/{content_id}/reactions/{kind}", True, True),
    "react": Operation("PUT", "/v1/content/{content_id}/reactions/{kind}/{uid}", True, False),
    "unreact": Operation("DELETE", "/v1/content/{content_id}/reactions/{kind}/{uid}", True, False),
    "restoreContent": Operation("POST", "/v1/content/{content_id}/restore", True, False),
    "listTopicContent": Operation("GET", "/v1/topics/{topic}/content", True, True),
    "takeOffContent": Operation("DELETE", "/v1/users/{source}/content/{content_id}", False, False),
    "getUser": Operation("GET", "/v1/users/{uid}", True, True),
    "putUser": Operation("PUT", "/v1/users/{uid}", True, False),
    "eraseUser": Operation("DELETE", "/v1/users/{uid}", False, False),
    "listBlocks": Operation("GET", "/v1/users/{uid}/blocks", True, True),
    "block": Operation("PUT", "/v1/users/{uid}/blocks/{target}", True, False),
    "unblock": Operation("DELETE", "/v1/users/{uid}/blocks/{target}", True, False),
    "listUserComments": Operation("GET", "/v1/users/{uid}/comments", True, True),
    "listUserContent": Operation("GET", "/v1/users/{uid}/content", True, True),
    "exportUser": Operation("GET", "/v1/users/{uid}/export", True, True),
    "listFollowRequests": Operation("GET", "/v1/users/{uid}/follow-requests", True, True),
    "approveFollower": Operation("PUT", "/v1/users/{uid}/follow-requests/{from}", True, False),
    "rejectFollower": Operation("DELETE", "/v1/users/{uid}/follow-requests/{from}", True, False),
    "listFollowers": Operation("GET", "/v1/users/{uid}/followers", True, True),
    "removeFollower": Operation("DELETE", "/v1/users/{uid}/followers/{follower}", True, False),
    "listFollowing": Operation("GET", "/v1/users/{uid}/following", True, True),
    "changeFollowing": Operation("POST", "/v1/users/{uid}/following/batch", True, False),
    "follow": Operation("PUT", "/v1/users/{uid}/following/{target}", True, False),
    "unfollow": Operation("DELETE", "/v1/users/{uid}/following/{target}", True, False),
    "listFriends": Operation("GET", "/v1/users/{uid}/friends", True, True),
    "listHiddenFrom": Operation("GET", "/v1/users/{uid}/hidden-from", True, True),
    "hide": Operation("PUT", "/v1/users/{uid}/hidden-from/{target}", True, False),
    "unhide": Operation("DELETE", "/v1/users/{uid}/hidden-from/{target}", True, False),
    "listLists": Operation("GET", "/v1/users/{uid}/lists", True, True),
    "getList": Operation("GET", "/v1/users/{uid}/lists/{list}", True, True),
    "putList": Operation("PUT", "/v1/users/{uid}/lists/{list}", True, False),
    "deleteList": Operation("DELETE", "/v1/users/{uid}/lists/{list}", False, False),
    "getListMarker": Operation("GET", "/v1/users/{uid}/lists/{list}/marker", True, True),
    "moveListMarker": Operation("PUT", "/v1/users/{uid}/lists/{list}/marker", True, False),
    "listMembers": Operation("GET", "/v1/users/{uid}/lists/{list}/members", True, True),
    "changeListMembers": Operation("POST", "/v1/users/{uid}/lists/{list}/members/batch", True, False),
    "addListMember": Operation("PUT", "/v1/users/{uid}/lists/{list}/members/{source}", True, False),
    "removeListMember": Operation("DELETE", "/v1/users/{uid}/lists/{list}/members/{source}", True, False),
    "getListTimeline": Operation("GET", "/v1/users/{uid}/lists/{list}/timeline", True, True),
    "getListUnread": Operation("GET", "/v1/users/{uid}/lists/{list}/unread", True, True),
    "getMarker": Operation("GET", "/v1/users/{uid}/marker", True, True),
    "moveMarker": Operation("PUT", "/v1/users/{uid}/marker", True, False),
    "listMutes": Operation("GET", "/v1/users/{uid}/mutes", True, True),
    "mute": Operation("PUT", "/v1/users/{uid}/mutes/{target}", True, False),
    "unmute": Operation("DELETE", "/v1/users/{uid}/mutes/{target}", True, False),
    "listNotices": Operation("GET", "/v1/users/{uid}/notices", True, True),
    "getNoticeMarker": Operation("GET", "/v1/users/{uid}/notices/marker", True, True),
    "moveNoticeMarker": Operation("PUT", "/v1/users/{uid}/notices/marker", True, False),
    "getUnreadNotices": Operation("GET", "/v1/users/{uid}/notices/unread", True, True),
    "getPresence": Operation("GET", "/v1/users/{uid}/presence", True, True),
    "setPresence": Operation("PUT", "/v1/users/{uid}/presence", True, False),
    "listUserReactions": Operation("GET", "/v1/users/{uid}/reactions/{kind}", True, True),
    "listRelations": Operation("GET", "/v1/users/{uid}/relations", True, True),
    "listSentRequests": Operation("GET", "/v1/users/{uid}/sent-requests", True, True),
    "getSettings": Operation("GET", "/v1/users/{uid}/settings", True, True),
    "putSettings": Operation("PUT", "/v1/users/{uid}/settings", True, False),
    "listen": Operation("GET", "/v1/users/{uid}/stream", True, True),
    "getSuspension": Operation("GET", "/v1/users/{uid}/suspension", True, True),
    "suspend": Operation("PUT", "/v1/users/{uid}/suspension", True, False),
    "unsuspend": Operation("DELETE", "/v1/users/{uid}/suspension", True, False),
    "getTimeline": Operation("GET", "/v1/users/{uid}/timeline", True, True),
    "getUnread": Operation("GET", "/v1/users/{uid}/timeline/unread", True, True),
}

# The fields with ids of the bodies of requests.
ID_FIELDS: Dict[str, List[str]] = {
    "FollowingChange": ["follow", "unfollow"],
    "MembersChange": ["add", "remove"],
    "NewComment": ["author_id", "content_id", "mentions", "to"],
    "NewContent": ["author_id", "content_id", "mentions", "ref_id", "to"],
    "NewToken": ["user_id"],
}
