// Made by clients/generate.py from the OpenAPI document of the server. Do not edit.

import type { Id } from "./ids.js";
import type { Json, JsonObject } from "./json.js";

/** The version of the server and of this client. */
export const VERSION = "0.1.0";

/** An alert. */
export interface Alert {
  /** The name of the rule. */
  name: string;
  /** The page of the documentation about it. */
  runbook: string;
  /** `page`: somebody must act now. `ticket`: on the same day. */
  severity: string;
}

export interface AlertList {
  items: Alert[];
}

/**
 * Who sees the item: everybody, or its author and the followers of one of its paths. A path through a source that is
 * suspended, or that hides from the viewer, does not count
 */
export type Audience = "public" | "followers";

/** The author of an item in a list. A field without a value is `null`. */
export interface Author {
  /** The picture. */
  avatar: string | null;
  /** The name for people. */
  nickname: string | null;
  /** The id of the user. */
  user_id: string;
}

/** A backup. */
export interface Backup {
  /** When it began. It has every change that was acknowledged before. */
  begun_at: number;
  /** Bytes of its files. It shares most of them with the data directory and with other backups. */
  bytes: number;
  /** The first disagreements that its verification found. */
  findings: string[];
  /** The format of its data directory. */
  format: number;
  /** The time when it began, in a form that sorts. */
  name: string;
  /** The version that took it. */
  release: string;
  /** `unverified`, `verifying`, `verified`, or `failed`. */
  state: string;
  /** The time until it was on the device, milliseconds. */
  took_ms: number;
  /** When its verification ended. */
  verified_at?: number;
}

export interface BackupList {
  items: Backup[];
}

/** An erasure that has begun. */
export interface Begun {
  /** When it began; left out if the server has nothing of the user. */
  since?: number;
  user_id: string;
}

/** What a change did. The ids depend on its type. */
export interface Change {
  at: number;
  content_id?: string;
  /** Of `user.erased`: the first 32 hexadecimal digits of the SHA-256 of `tideline:erasure:` and the id. */
  hash?: string | null;
  /** The kind of the item or of the reaction. */
  kind?: string | null;
  /** The name of the list. */
  list?: string | null;
  position: string;
  /**
   * The other user, such as the followee, the path, or the author of the item that the user reacted to. Left out of
   * `content.taken_off` once the path is erased.
   */
  target_id?: string;
  /** What was done, such as `content.published` or `follow.created`. */
  type: string;
  /** The author, the follower, or the owner. Left out of `user.erased` once the rows of the user are removed. */
  user_id?: string;
}

/** Changes, and the position from which to continue. */
export interface Changes {
  items: Change[];
  position: string;
}

/** A node in the settings. */
export interface ClusterMember {
  name: string;
  /** Whether it is the node that answers. */
  self: boolean;
  /** The address at which the other nodes reach it. */
  url: string;
}

/** A node of a cluster. */
export interface ClusterNode {
  /** Changes applied since the start, of all nodes. */
  applied?: number;
  /** Whether all that was acknowledged before the start is applied. */
  caught_up?: boolean;
  /** Changes in these records. */
  commands?: number;
  /** Why the node has stopped itself, if it has. */
  fault?: string;
  /**
   * The number of the first record of this run of the node. Of two servers that run as one node, the one with the
   * higher number is the newer. Missing until that record is applied.
   */
  incarnation?: number;
  /** Records of the log that are not applied yet. Missing while the log does not answer. */
  lag?: number;
  /** The level of the log in force: which kinds of changes it may have. */
  level?: number;
  /** The id of the command log. */
  log?: string;
  /** All nodes of the settings. */
  members: ClusterMember[];
  /** The highest level that this node reads. */
  newest_level?: number;
  /** The name of this node; `null` without a cluster. */
  node: string | null;
  /** The number after the last record that is applied. */
  position?: number;
  /** Whether the log takes records and was read. */
  reachable?: boolean;
  /** Whether the node answers strict reads and takes changes. */
  ready?: boolean;
  /** Records appended since the start. */
  records?: number;
  /** Whether changes and strict reads take longer than a second. */
  slow?: boolean;
  /** The time of the last change. */
  time?: number;
  /** Changes that wait for the log. */
  waiting?: number;
}

export type Consistency = "strict" | "session" | "local";

/** An item. Optional fields are missing if they have no value. */
export interface Content {
  /** Who may see the item: everybody, or only its author and the followers of one of its paths. */
  audience: Audience;
  /** Only in lists and in streams. */
  author?: Author;
  author_id: string;
  /** Whether the item goes to the author's followers and appears on the author's own page. */
  broadcast: boolean;
  content_id: string;
  counts: Counts;
  /** The time of the last edit. */
  edited_at?: number;
  extra?: JsonObject;
  kind: string;
  media: Media;
  /** Users whom the item mentions; left out if there are none. */
  mentions?: string[];
  published_at: number;
  /** The id of another item: the original of a repost, the subject of a comment. */
  ref_id?: string;
  /** `true` if the author is suspended, otherwise missing. No list shows such an item. */
  suspended?: boolean;
  text?: string;
  /** Further sources to whose followers the item goes. */
  to: string[];
  topics: string[];
  /** Only for a viewer: in the timelines and streams of a user, and where a call names the viewer or has a token. */
  viewer?: Viewer;
}

/** A missing field stays unchanged; `null` clears the field */
export interface ContentEdit {
  extra?: JsonObject | null | undefined;
  media?: Media | null | undefined;
  /** The text */
  text?: string | null | undefined;
}

export interface ContentList {
  items: Content[];
}

export interface ContentPage {
  items: Content[];
  /** The cursor to pass as `before` for older entries; `null` on the last page */
  next: string | null;
  /** The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds */
  prev: string | null;
}

/** An item in the form of `view=ids`. */
export interface ContentRef {
  author_id: string;
  content_id: string;
  published_at: number;
}

/** The counts of an item. */
export interface Counts {
  comments: number;
  /** How many users have each reaction to the item, by the name of the kind. A kind that nobody has is left out. */
  reactions: Record<string, number>;
  reposts: number;
}

/** An erasure. */
export interface Erasure {
  /** What is kept of the id: the first 32 hexadecimal digits of the SHA-256 of `tideline:erasure:` and the id. */
  hash: string;
  /** When it was over. */
  over?: number;
  /** How many items, relations, reactions, lists, memberships and changes were removed so far. */
  rows: number;
  since: number;
  /** `erasing` or `over`. */
  state: string;
  /** The user, while the erasure is under way. */
  user_id?: string;
}

export interface ErasureList {
  items: Erasure[];
}

/** The reason why a timeline shows an item or does not, with the facts behind it. */
export interface Explanation {
  author_id?: string;
  /** The user has blocked the author, or the author the user. */
  blocked: boolean;
  content_id: string;
  /** The inbox is complete only above this cursor; `null` for an inbox that is complete to its end. */
  floor: string | null;
  /** The author hides its content from the user. */
  hidden: boolean;
  /** Whether the timeline shows the item. */
  listed: boolean;
  /** The user has muted the author. */
  muted: boolean;
  /** The paths of the item: the author if it is broadcast, then further sources. */
  paths: PathExplanation[];
  published_at?: number;
  /**
   * The deciding reason: `listed`, `no_content`, `deleted`, `not_broadcast`, `blocked`, `requested`, `not_following`,
   * `muted`, `hidden`, `suspended`, `in_exclusive_list`, `ruled_out`, or `changed_meanwhile` if something changed
   * during the request.
   */
  reason: string;
  /** The author is suspended. */
  suspended: boolean;
  user_id: string;
}

/** The size of one table. */
export interface Figures {
  bytes: number;
  /** An estimate: rows that were replaced or removed may count until a compaction. */
  rows_estimate: number;
}

/** The figures of a few seconds. Rates are for each second, times are seconds, sizes are bytes. */
export interface FiguresSample {
  /** The time until an answer; missing without requests. */
  answer_p50?: number;
  answer_p99?: number;
  /** When they ended. */
  at: number;
  /** The part of look-ups that caches answered; missing without look-ups. */
  cache_hit_ratio?: number;
  compaction_pending_bytes: number;
  compactions: number;
  connections: number;
  /** Entries written into inboxes. */
  deliveries: number;
  /** The time from a publish until its last delivery; missing without publishes. */
  delivery_lag_p50?: number;
  delivery_lag_p99?: number;
  device_bytes: number;
  device_limit_bytes: number;
  fresh_files: number;
  /** Places for jobs in use. */
  jobs: number;
  log_bytes: number;
  memory_bytes: number;
  memtable_bytes: number;
  /** The age of the oldest job. */
  oldest_job: number;
  /** Items whose fan-out has not ended. */
  pending_items: number;
  /** The number of refused and failed requests by the code of their problem. */
  problems: Record<string, number>;
  /** Processors in use. */
  processor: number;
  /** Items published. */
  published: number;
  /** Requests answered with a status of 500 or more. */
  requests_failed: number;
  requests_ok: number;
  /** Requests answered with a status of 400 to 499. */
  requests_refused: number;
  /** How often the engine has slowed changes down or held them back since the start. */
  stalls: number;
  stream_events: number;
  streams: number;
  /** Bytes of all tables. */
  table_bytes: number;
  users_online: number;
}

/** 1 to 1,000 users in total, each of them once */
export interface FollowingChange {
  /** The users to follow */
  follow?: Id[] | null | undefined;
  /** The users to unfollow */
  unfollow?: Id[] | null | undefined;
}

/** The state of the server: `ok` or `ready`. */
export interface Health {
  status: string;
}

export interface History {
  items: FiguresSample[];
}

/** The queue of jobs. */
export interface Jobs {
  /** Settle jobs without work, because a newer job of the same pair existed. */
  coalesced: number;
  /** Failed attempts; each is repeated. */
  failures: number;
  /** Fan-outs running or waiting. */
  fan_out: number;
  /** The limit of places. */
  limit: number;
  /** Rebuilds running or waiting. */
  rebuild: number;
  /** Changes refused because the queue was full. */
  refused: number;
  /** Settle jobs running or waiting. */
  settle: number;
  /** Places in use: by running and waiting jobs, and by open requests that may add jobs. */
  waiting: number;
}

/** A key, without the key itself. */
export interface Key {
  /** The beginning of its hash, as the server log names the key. */
  hash: string;
  /** The name behind the key in its list. */
  name?: string;
  /** `full`, `read` or `metrics`. */
  role: string;
}

export interface KeyList {
  items: Key[];
}

export interface ListList {
  items: UserList[];
}

/** Whether a user is a member of a list, and since when. */
export interface ListMember {
  /** The kinds of its items that the list does not show. */
  except?: string[];
  member: boolean;
  /** The only kinds of its items that the list shows. */
  only?: string[];
  since?: number;
  user_id: string;
}

export interface ListMemberList {
  items: ListMember[];
}

/** The place up to which a user has read; `null` for a user without a marker. */
export interface Marker {
  cursor: string | null;
}

/** Attachments such as pictures, in order */
export type Media = MediaItem[];

/** A picture, a video or another attachment. Other fields of the application are kept */
export interface MediaItem {
  type: string;
  url: string;
  [field: string]: Json;
}

/** A user in a list of users. */
export interface Member {
  /** In a list: the kinds of items that it does not show of this user. */
  except?: string[];
  /** In a list: the only kinds of items that it shows of this user. */
  only?: string[];
  /** The relation of `viewer` to this user. */
  relation?: RelationKind;
  /** The time of the follow, the mute, the hide, the block, the request or the reaction. */
  since: number;
  user_id: string;
}

/** 1 to 1,000 users in total, each of them once */
export interface MembersChange {
  /** The members to add */
  add?: Id[] | null | undefined;
  /** The members to remove */
  remove?: Id[] | null | undefined;
}

export interface NewComment {
  audience?: Audience | null | undefined;
  /** The author of the item */
  author_id: Id;
  /** Whether the comment goes to the author's followers and is on the author's own page. Default: `false` */
  broadcast?: boolean | null | undefined;
  /**
   * The id of the item. Default: a new id from the server, which rises with time, and which no server with another
   * `ids.server` makes
   */
  content_id?: Id | null | undefined;
  extra?: JsonObject | null | undefined;
  media?: Media | null | undefined;
  /** Up to 50 users who get a notice of the item, each once */
  mentions?: Id[] | null | undefined;
  /**
   * Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is refused
   * with 400 `time_ahead`. Default: the server's clock
   */
  published_at?: number | null | undefined;
  /** The text */
  text?: string | null | undefined;
  /** Up to 10 further sources (groups, threads, tags) to whose followers the item goes, each once, not the author */
  to?: Id[] | null | undefined;
  /** Up to 10 topics of 1 to 64 characters */
  topics?: string[] | null | undefined;
}

export interface NewContent {
  audience?: Audience | null | undefined;
  /** The author of the item */
  author_id: Id;
  /** Whether the item goes to the author's followers and is on the author's own page. Default: `true` */
  broadcast?: boolean | null | undefined;
  /**
   * The id of the item. Default: a new id from the server, which rises with time, and which no server with another
   * `ids.server` makes
   */
  content_id?: Id | null | undefined;
  extra?: JsonObject | null | undefined;
  /** The kind of the item: 1 to 32 of the characters `a-z0-9_`, such as `repost`. Default: `post` */
  kind?: string | null | undefined;
  media?: Media | null | undefined;
  /** Up to 50 users who get a notice of the item, each once */
  mentions?: Id[] | null | undefined;
  /**
   * Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is refused
   * with 400 `time_ahead`. Default: the server's clock
   */
  published_at?: number | null | undefined;
  /** The id of another item: the original of a repost, the subject of a comment */
  ref_id?: Id | null | undefined;
  /** The text */
  text?: string | null | undefined;
  /** Up to 10 further sources (groups, threads, tags) to whose followers the item goes, each once, not the author */
  to?: Id[] | null | undefined;
  /** Up to 10 topics of 1 to 64 characters */
  topics?: string[] | null | undefined;
}

export interface NewContentList {
  items: NewContent[];
}

/** The time of a follow, its rule, without which it shows all kinds, and whether the target has approved it */
export interface NewFollow {
  /** Whether the follow is made even if the target approves its followers. For keys. Default: `false` */
  approved?: boolean | null | undefined;
  /** The kinds of items that it does not show. Not together with `only` */
  except?: string[] | null | undefined;
  /** The only kinds of items that it shows. Not together with `except` */
  only?: string[] | null | undefined;
  /**
   * Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is refused
   * with 400 `time_ahead`. Default: the server's clock
   */
  since?: number | null | undefined;
}

/** The settings of a list: a missing field gets its default */
export interface NewList {
  /** Whether the home timeline leaves out the members. */
  exclusive?: boolean | null | undefined;
  title?: string | null | undefined;
}

export interface NewMarker {
  cursor: string;
}

/** The rule of a member: without one, the list shows all kinds */
export interface NewMember {
  /** The kinds of items that it does not show. Not together with `only` */
  except?: string[] | null | undefined;
  /** The only kinds of items that it shows. Not together with `except` */
  only?: string[] | null | undefined;
}

export interface NewNoticeMarker {
  cursor: string;
}

export interface NewPresence {
  /** `true` for a heartbeat, `false` to end it. */
  online: boolean;
}

/** The whole new profile: a missing field is `null` afterwards */
export interface NewProfile {
  avatar?: string | null | undefined;
  extra?: JsonObject | null | undefined;
  nickname?: string | null | undefined;
}

/** All settings: a missing field has its default afterwards. */
export interface NewSettings {
  /** Whether a follow of the user is a request until the user approves it. Default: `false` */
  approve_followers?: boolean | null | undefined;
  /** The `audience` of items of the user that name none. Default: `public` */
  default_audience?: Audience | null | undefined;
}

export interface NewSince {
  /**
   * Milliseconds since 1970. A time more than `content.max_ahead` (10 minutes) after the server's clock is refused
   * with 400 `time_ahead`. Default: the server's clock
   */
  since?: number | null | undefined;
}

/** A token to make. */
export interface NewToken {
  /** How long it lasts, seconds: up to a day. Default: an hour */
  expires_in?: number | null | undefined;
  /** The user of the token. */
  user_id: string;
}

/** A notice, or with `group=true` neighbours of one kind about one item. */
export interface Notice {
  actor?: Author;
  /** Only in a group: the actors of its newest notices, at most 8. */
  actors?: Author[];
  at?: number;
  /** The item of the actor: the comment, the repost, or the item that mentions the user. In a group only the last. */
  content_id?: string;
  /** Only in a group: how many notices it has. */
  count?: number;
  cursor: string;
  /** `follow`, `follow_request`, `request_approved`, `reaction`, `comment`, `repost` or `mention`. */
  kind: string;
  /** Only in a group: the time of its newest notice. */
  newest?: number;
  /** Only in a group: the time of its oldest notice. */
  oldest?: number;
  /** The item of the user: that of the reaction, the comment or the repost. */
  on?: string;
  /** The kind of the reaction. */
  reaction?: string;
}

/** The place up to which a user has read the notices; `null` for a user without a marker. */
export interface NoticeMarker {
  cursor: string | null;
}

export interface NoticePage {
  items: Notice[];
  /** The cursor to pass as `before` for older entries; `null` on the last page */
  next: string | null;
  /** The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds */
  prev: string | null;
}

/** The reason that an item is, or is not, in a timeline through one of its paths. */
export interface PathExplanation {
  /** The user has blocked the source, or the source the user. */
  blocked: boolean;
  /** The user follows the source. */
  following: boolean;
  /** The source hides its content from the user. */
  hidden: boolean;
  /** The source is a member of an exclusive list of the user. */
  in_exclusive_list: boolean;
  /** The inbox has a row for the item on this path, above the floor. */
  in_inbox: boolean;
  /** The user has muted the source. */
  muted: boolean;
  /** The fan-out of the item on this path has not ended. */
  pending: boolean;
  /** A read takes the item from the source's outbox. */
  pulled: boolean;
  /** A request of the user to follow the source waits. */
  requested: boolean;
  /** The rule of the follow does not admit the kind of the item. */
  ruled_out: boolean;
  /** The id of the source. */
  source_id: string;
  /** The source is suspended. */
  suspended: boolean;
  /** A follow or unfollow of this source is still being applied to the inbox. */
  unsettled: boolean;
}

/** The presence of a user. */
export interface Presence {
  /** The end of the heartbeat, if there is one. */
  expires_at?: number;
  /** Whether the user has a heartbeat or an open stream. */
  online: boolean;
  user_id: string;
}

/** A problem document (RFC 9457). `code` is for programs, `detail` for people. */
export interface Problem {
  code: string;
  detail: string;
  status: number;
  title: string;
  type: string;
}

/** The profile of a user. A field without a value is `null`. */
export interface Profile {
  avatar: string | null;
  counts: UserCounts;
  extra: JsonObject | null;
  nickname: string | null;
  user_id: string;
}

export interface ProfileList {
  items: Profile[];
}

/** The state of a reaction after a change. */
export interface Reaction {
  /** Whether the user has this reaction to the item. */
  active: boolean;
  content_id: string;
  counts: Counts;
  kind: ReactionKind;
  since?: number;
  user_id: string;
}

/** One of the names in `reactions.kinds`, at most 32 bytes. Default: `like` and `favorite` */
export type ReactionKind = string;

/** The relation of one user to another. */
export interface Relation {
  /** The user has blocked the target. A block of the user by the target is not told. */
  blocked: boolean;
  /** The kinds of items that the follow does not show. */
  except?: string[];
  /** The user hides its content from the target. */
  hidden: boolean;
  /** The user has muted the target. */
  muted: boolean;
  /** The only kinds of items that the follow shows. */
  only?: string[];
  relation: RelationKind;
  /** The user has asked to follow the target, who has not answered yet. */
  requested: boolean;
  since?: number;
  target_id: string;
  user_id: string;
}

export type RelationKind = "none" | "following" | "followed_by" | "mutual";

export interface RelationList {
  items: Relation[];
}

/** The settings of a server by their sections. */
export type ServerSettings = Record<string, JsonObject>;

/** The settings of a user. */
export interface Settings {
  /** Whether a follow of the user is a request until the user approves it. */
  approve_followers: boolean;
  /** The `audience` of items of the user that name none. */
  default_audience: Audience;
}

/** How far a standby is. */
export interface StandbyFigures {
  /** Bytes of the log that it was not sent yet, about. */
  behind_bytes: number;
  /** For how long it has lacked some, milliseconds; 0 if it has all. */
  behind_ms: number;
  /** Rows of the log that it lacks. */
  behind_rows: number;
  /** Since when it follows; missing if it does not at present. */
  following_since?: number;
  /** Its name. */
  name: string;
  /** The last row of the log on its device. */
  row: number;
  /** When it last told how far it is. */
  seen_at: number;
}

/** The main figures of the server, with the names of `/metrics` without the prefix `tideline_`. */
export interface Stats {
  /** Entries written into inboxes by fan-outs. */
  deliveries: number;
  jobs: Jobs;
  /** Bytes of the write-ahead log. */
  log_bytes: number;
  /** Items whose fan-out has not ended. */
  pending_items: number;
  /** The standbys that have called lately. */
  standbys: StandbyFigures[];
  /** The size of each table, by its name. */
  tables: Record<string, Figures>;
  /** Pairs of a user and an author whose settle job has not ended. */
  unsettled_pairs: number;
  version: string;
}

/** Whether a user is suspended, and since when. */
export interface Suspension {
  since?: number;
  suspended: boolean;
  user_id: string;
}

/** Milliseconds since 1970 */
export type Time = number;

/** A user token. */
export interface Token {
  /** When it ends. */
  expires_at: number;
  token: string;
}

/** The number of unread items; `capped` if there are more. */
export interface Unread {
  /** Whether there are more. */
  capped: boolean;
  /** Items above the marker, as far as they were counted. */
  count: number;
}

/** The counts of a user. */
export interface UserCounts {
  /** Items on the own page of the user. */
  content: number;
  /** Users who follow the user. */
  followers: number;
  /** Users whom the user follows. */
  following: number;
  /** Users whom the user follows and who follow the user. */
  friends: number;
}

export type UserExport = string;

/** A list of a user. */
export interface UserList {
  /** Whether the home timeline leaves out the members. */
  exclusive: boolean;
  /** Its name. */
  list: string;
  /** Its name for people; `null` if it has none. */
  title: string | null;
}

export type UserOrder = "recent" | "followers" | "new";

export interface UserPage {
  items: Member[];
  /** The cursor to pass as `before` for older entries; `null` on the last page */
  next: string | null;
  /** The cursor to pass as `after` for newer entries; `null` only for an empty list without bounds */
  prev: string | null;
}

/** The result of a comparison of a timeline with its sources. */
export interface Verification {
  /** The number of items compared. */
  compared: number;
  /** Whether the whole timeline was compared. */
  complete: boolean;
  /** Whether there are no differences. */
  exact: boolean;
  /** Items that the timeline should not have. */
  extra: ContentRef[];
  /** Items that the timeline lacks. */
  missing: ContentRef[];
  user_id: string;
}

export type View = "full" | "ids";

/** The reactions of the reader to an item of the reader's timeline. */
export interface Viewer {
  /** The names of the kinds, in the order of `reactions.kinds`. */
  reactions: ReactionKind[];
}

/** A receiver of changes. */
export interface Webhook {
  /** When a request failed last. */
  failed_at?: number;
  /** Requests that failed. */
  failures: number;
  /** How often changes that were not sent yet were gone from the feed. */
  gaps: number;
  /** The age of the oldest change that it has not taken. */
  lag_seconds: number;
  /** Why it failed. */
  last_error?: string;
  name: string;
  /** When the next request begins, after a failure. */
  next_at?: number;
  /** The position behind the last change that it has taken, or that is not for it. */
  position?: string;
  /** Changes that it has taken. */
  taken: number;
  /** When it took changes last. */
  taken_at?: number;
  /** Without the query. */
  url: string;
}

export interface WebhookList {
  items: Webhook[];
}

/** The codes of problems. */
export type Code =
  | "backup_busy"
  | "backup_dir_unusable"
  | "backup_not_found"
  | "bad_credentials"
  | "block_limit"
  | "blocked"
  | "body_timeout"
  | "body_too_large"
  | "changes_gone"
  | "content_exists"
  | "content_not_found"
  | "cross_origin"
  | "erasing"
  | "follow_limit"
  | "handing_over"
  | "hide_limit"
  | "internal"
  | "invalid_body"
  | "invalid_header"
  | "invalid_id"
  | "invalid_kind"
  | "invalid_list"
  | "invalid_parameter"
  | "invalid_path"
  | "invalid_topic"
  | "list_limit"
  | "list_not_found"
  | "log_unavailable"
  | "member_limit"
  | "method_not_allowed"
  | "misdirected_request"
  | "mute_limit"
  | "no_credentials"
  | "no_room"
  | "no_token_secret"
  | "not_permitted"
  | "outcome_unknown"
  | "overloaded"
  | "rate_limited"
  | "request_not_found"
  | "route_not_found"
  | "self_block"
  | "self_follow"
  | "self_hide"
  | "self_mute"
  | "stopping"
  | "storage_stopped"
  | "storage_unavailable"
  | "stream_limit"
  | "time_ahead"
  | "timeout"
  | "too_many_kinds"
  | "unknown_cursor"
  | "unsupported_media_type"
  | "user_not_found"
  | "user_suspended";

/**
 * Each call: its method and path, whether the same request can be sent twice without harm, and whether it takes
 * `consistency`.
 */
export const operations = {
  getDocs: { method: "GET", path: "/docs", repeatable: true, reads: false },
  getHealth: { method: "GET", path: "/healthz", repeatable: true, reads: false },
  getMetrics: { method: "GET", path: "/metrics", repeatable: true, reads: false },
  getDescription: { method: "GET", path: "/openapi.json", repeatable: true, reads: false },
  getReadiness: { method: "GET", path: "/readyz", repeatable: true, reads: false },
  listAlerts: { method: "GET", path: "/v1/admin/alerts", repeatable: true, reads: false },
  listBackups: { method: "GET", path: "/v1/admin/backups", repeatable: true, reads: false },
  takeBackup: { method: "POST", path: "/v1/admin/backups", repeatable: false, reads: false },
  readBackup: { method: "GET", path: "/v1/admin/backups/{name}", repeatable: true, reads: false },
  removeBackup: { method: "DELETE", path: "/v1/admin/backups/{name}", repeatable: false, reads: false },
  getCluster: { method: "GET", path: "/v1/admin/cluster", repeatable: true, reads: false },
  listErasures: { method: "GET", path: "/v1/admin/erasures", repeatable: true, reads: true },
  getHistory: { method: "GET", path: "/v1/admin/history", repeatable: true, reads: false },
  listKeys: { method: "GET", path: "/v1/admin/keys", repeatable: true, reads: false },
  getServerSettings: { method: "GET", path: "/v1/admin/settings", repeatable: true, reads: false },
  getStats: { method: "GET", path: "/v1/admin/stats", repeatable: true, reads: false },
  makeToken: { method: "POST", path: "/v1/admin/tokens", repeatable: false, reads: false },
  listUsers: { method: "GET", path: "/v1/admin/users", repeatable: true, reads: true },
  explainTimeline: { method: "GET", path: "/v1/admin/users/{uid}/timeline/explain", repeatable: true, reads: true },
  verifyTimeline: { method: "GET", path: "/v1/admin/users/{uid}/timeline/verify", repeatable: true, reads: true },
  listWebhooks: { method: "GET", path: "/v1/admin/webhooks", repeatable: true, reads: false },
  listChanges: { method: "GET", path: "/v1/changes", repeatable: true, reads: true },
  listContent: { method: "GET", path: "/v1/content", repeatable: true, reads: true },
  publishContent: { method: "POST", path: "/v1/content", repeatable: false, reads: false },
  publishContentBatch: { method: "POST", path: "/v1/content/batch", repeatable: false, reads: false },
  getContent: { method: "GET", path: "/v1/content/{content_id}", repeatable: true, reads: true },
  deleteContent: { method: "DELETE", path: "/v1/content/{content_id}", repeatable: false, reads: false },
  editContent: { method: "PATCH", path: "/v1/content/{content_id}", repeatable: false, reads: false },
  listComments: { method: "GET", path: "/v1/content/{content_id}/comments", repeatable: true, reads: true },
  comment: { method: "POST", path: "/v1/content/{content_id}/comments", repeatable: false, reads: false },
  listReactions: { method: "GET", path: "/v1/content/{content_id}/reactions/{kind}", repeatable: true, reads: true },
  react: { method: "PUT", path: "/v1/content/{content_id}/reactions/{kind}/{uid}", repeatable: true, reads: false },
  unreact: { method: "DELETE", path: "/v1/content/{content_id}/reactions/{kind}/{uid}", repeatable: true, reads: false },
  restoreContent: { method: "POST", path: "/v1/content/{content_id}/restore", repeatable: true, reads: false },
  listTopicContent: { method: "GET", path: "/v1/topics/{topic}/content", repeatable: true, reads: true },
  takeOffContent: { method: "DELETE", path: "/v1/users/{source}/content/{content_id}", repeatable: false, reads: false },
  getUser: { method: "GET", path: "/v1/users/{uid}", repeatable: true, reads: true },
  putUser: { method: "PUT", path: "/v1/users/{uid}", repeatable: true, reads: false },
  eraseUser: { method: "DELETE", path: "/v1/users/{uid}", repeatable: false, reads: false },
  listBlocks: { method: "GET", path: "/v1/users/{uid}/blocks", repeatable: true, reads: true },
  block: { method: "PUT", path: "/v1/users/{uid}/blocks/{target}", repeatable: true, reads: false },
  unblock: { method: "DELETE", path: "/v1/users/{uid}/blocks/{target}", repeatable: true, reads: false },
  listUserComments: { method: "GET", path: "/v1/users/{uid}/comments", repeatable: true, reads: true },
  listUserContent: { method: "GET", path: "/v1/users/{uid}/content", repeatable: true, reads: true },
  exportUser: { method: "GET", path: "/v1/users/{uid}/export", repeatable: true, reads: true },
  listFollowRequests: { method: "GET", path: "/v1/users/{uid}/follow-requests", repeatable: true, reads: true },
  approveFollower: { method: "PUT", path: "/v1/users/{uid}/follow-requests/{from}", repeatable: true, reads: false },
  rejectFollower: { method: "DELETE", path: "/v1/users/{uid}/follow-requests/{from}", repeatable: true, reads: false },
  listFollowers: { method: "GET", path: "/v1/users/{uid}/followers", repeatable: true, reads: true },
  removeFollower: { method: "DELETE", path: "/v1/users/{uid}/followers/{follower}", repeatable: true, reads: false },
  listFollowing: { method: "GET", path: "/v1/users/{uid}/following", repeatable: true, reads: true },
  changeFollowing: { method: "POST", path: "/v1/users/{uid}/following/batch", repeatable: true, reads: false },
  follow: { method: "PUT", path: "/v1/users/{uid}/following/{target}", repeatable: true, reads: false },
  unfollow: { method: "DELETE", path: "/v1/users/{uid}/following/{target}", repeatable: true, reads: false },
  listFriends: { method: "GET", path: "/v1/users/{uid}/friends", repeatable: true, reads: true },
  listHiddenFrom: { method: "GET", path: "/v1/users/{uid}/hidden-from", repeatable: true, reads: true },
  hide: { method: "PUT", path: "/v1/users/{uid}/hidden-from/{target}", repeatable: true, reads: false },
  unhide: { method: "DELETE", path: "/v1/users/{uid}/hidden-from/{target}", repeatable: true, reads: false },
  listLists: { method: "GET", path: "/v1/users/{uid}/lists", repeatable: true, reads: true },
  getList: { method: "GET", path: "/v1/users/{uid}/lists/{list}", repeatable: true, reads: true },
  putList: { method: "PUT", path: "/v1/users/{uid}/lists/{list}", repeatable: true, reads: false },
  deleteList: { method: "DELETE", path: "/v1/users/{uid}/lists/{list}", repeatable: false, reads: false },
  getListMarker: { method: "GET", path: "/v1/users/{uid}/lists/{list}/marker", repeatable: true, reads: true },
  moveListMarker: { method: "PUT", path: "/v1/users/{uid}/lists/{list}/marker", repeatable: true, reads: false },
  listMembers: { method: "GET", path: "/v1/users/{uid}/lists/{list}/members", repeatable: true, reads: true },
  changeListMembers: { method: "POST", path: "/v1/users/{uid}/lists/{list}/members/batch", repeatable: true, reads: false },
  addListMember: { method: "PUT", path: "/v1/users/{uid}/lists/{list}/members/{source}", repeatable: true, reads: false },
  removeListMember: { method: "DELETE", path: "/v1/users/{uid}/lists/{list}/members/{source}", repeatable: true, reads: false },
  getListTimeline: { method: "GET", path: "/v1/users/{uid}/lists/{list}/timeline", repeatable: true, reads: true },
  getListUnread: { method: "GET", path: "/v1/users/{uid}/lists/{list}/unread", repeatable: true, reads: true },
  getMarker: { method: "GET", path: "/v1/users/{uid}/marker", repeatable: true, reads: true },
  moveMarker: { method: "PUT", path: "/v1/users/{uid}/marker", repeatable: true, reads: false },
  listMutes: { method: "GET", path: "/v1/users/{uid}/mutes", repeatable: true, reads: true },
  mute: { method: "PUT", path: "/v1/users/{uid}/mutes/{target}", repeatable: true, reads: false },
  unmute: { method: "DELETE", path: "/v1/users/{uid}/mutes/{target}", repeatable: true, reads: false },
  listNotices: { method: "GET", path: "/v1/users/{uid}/notices", repeatable: true, reads: true },
  getNoticeMarker: { method: "GET", path: "/v1/users/{uid}/notices/marker", repeatable: true, reads: true },
  moveNoticeMarker: { method: "PUT", path: "/v1/users/{uid}/notices/marker", repeatable: true, reads: false },
  getUnreadNotices: { method: "GET", path: "/v1/users/{uid}/notices/unread", repeatable: true, reads: true },
  getPresence: { method: "GET", path: "/v1/users/{uid}/presence", repeatable: true, reads: true },
  setPresence: { method: "PUT", path: "/v1/users/{uid}/presence", repeatable: true, reads: false },
  listUserReactions: { method: "GET", path: "/v1/users/{uid}/reactions/{kind}", repeatable: true, reads: true },
  listRelations: { method: "GET", path: "/v1/users/{uid}/relations", repeatable: true, reads: true },
  listSentRequests: { method: "GET", path: "/v1/users/{uid}/sent-requests", repeatable: true, reads: true },
  getSettings: { method: "GET", path: "/v1/users/{uid}/settings", repeatable: true, reads: true },
  putSettings: { method: "PUT", path: "/v1/users/{uid}/settings", repeatable: true, reads: false },
  listen: { method: "GET", path: "/v1/users/{uid}/stream", repeatable: true, reads: true },
  getSuspension: { method: "GET", path: "/v1/users/{uid}/suspension", repeatable: true, reads: true },
  suspend: { method: "PUT", path: "/v1/users/{uid}/suspension", repeatable: true, reads: false },
  unsuspend: { method: "DELETE", path: "/v1/users/{uid}/suspension", repeatable: true, reads: false },
  getTimeline: { method: "GET", path: "/v1/users/{uid}/timeline", repeatable: true, reads: true },
  getUnread: { method: "GET", path: "/v1/users/{uid}/timeline/unread", repeatable: true, reads: true },
} as const;

/** The JSON that each call answers. */
export interface Answers {
  getHealth: Health;
  getReadiness: Health;
  listAlerts: AlertList;
  listBackups: BackupList;
  takeBackup: Backup;
  getCluster: ClusterNode;
  listErasures: ErasureList;
  getHistory: History;
  listKeys: KeyList;
  getServerSettings: ServerSettings;
  getStats: Stats;
  makeToken: Token;
  listUsers: ProfileList;
  explainTimeline: Explanation;
  verifyTimeline: Verification;
  listWebhooks: WebhookList;
  listChanges: Changes;
  listContent: ContentList;
  publishContent: Content;
  publishContentBatch: ContentList;
  getContent: Content;
  editContent: Content;
  listComments: ContentPage;
  comment: Content;
  listReactions: UserPage;
  react: Reaction;
  unreact: Reaction;
  restoreContent: Content;
  listTopicContent: ContentPage;
  getUser: Profile;
  putUser: Profile;
  eraseUser: Begun;
  listBlocks: UserPage;
  block: Relation;
  unblock: Relation;
  listUserComments: ContentPage;
  listUserContent: ContentPage;
  listFollowRequests: UserPage;
  approveFollower: Relation;
  rejectFollower: Relation;
  listFollowers: UserPage;
  removeFollower: Relation;
  listFollowing: UserPage;
  changeFollowing: RelationList;
  follow: Relation;
  unfollow: Relation;
  listFriends: UserPage;
  listHiddenFrom: UserPage;
  hide: Relation;
  unhide: Relation;
  listLists: ListList;
  getList: UserList;
  putList: UserList;
  getListMarker: Marker;
  moveListMarker: Marker;
  listMembers: UserPage;
  changeListMembers: ListMemberList;
  addListMember: ListMember;
  removeListMember: ListMember;
  getListTimeline: ContentPage;
  getListUnread: Unread;
  getMarker: Marker;
  moveMarker: Marker;
  listMutes: UserPage;
  mute: Relation;
  unmute: Relation;
  listNotices: NoticePage;
  getNoticeMarker: NoticeMarker;
  moveNoticeMarker: NoticeMarker;
  getUnreadNotices: Unread;
  getPresence: Presence;
  setPresence: Presence;
  listUserReactions: ContentPage;
  listRelations: RelationList;
  listSentRequests: UserPage;
  getSettings: Settings;
  putSettings: Settings;
  getSuspension: Suspension;
  suspend: Suspension;
  unsuspend: Suspension;
  getTimeline: ContentPage;
  getUnread: Unread;
}

/** The fields with ids of the bodies of requests. */
export const idFields = {
  FollowingChange: ["follow", "unfollow"],
  MembersChange: ["add", "remove"],
  NewComment: ["author_id", "content_id", "mentions", "to"],
  NewContent: ["author_id", "content_id", "mentions", "ref_id", "to"],
  NewToken: ["user_id"],
} as const;
