import { ChangeFeed, type ChangeOptions } from "./changes.js";
import { type Id, idList, idText } from "./ids.js";
import { List, type Page, type Range } from "./pages.js";
import type * as api from "./schema.js";
import { Stream, type StreamOptions } from "./stream.js";
import { type CallOptions, type Operation, type Options, type Request, Transport } from "./transport.js";

/** Settings of a list. */
export interface ListOptions extends Range, CallOptions {
  /** Entries on one page, 1 to 100; 20 by default. */
  limit?: number | undefined;
}

/** The kinds of items to show, or to leave out: up to 16, not both. */
export interface KindOptions {
  kinds?: readonly string[] | undefined;
  exceptKinds?: readonly string[] | undefined;
}

/** The kinds of items that a follow or a member of a list shows, or leaves out: up to 16, not both. */
export interface Rule {
  only?: string[] | undefined;
  except?: string[] | undefined;
}

/** Settings of calls that show items. */
export interface ViewerOptions extends CallOptions {
  /** Only what this user may see, with the user's reactions. */
  viewer?: Id | undefined;
}

/** Settings of a list of items, whole. */
export interface ItemOptions extends ListOptions, KindOptions, ViewerOptions {
  view?: "full" | undefined;
}

/** Settings of a list of items with their ids, authors and times only. */
export interface IdOptions extends ListOptions, KindOptions, ViewerOptions {
  view: "ids";
}

/** Settings of a list of items, whole or not. */
export interface ViewOptions extends ListOptions, KindOptions, ViewerOptions {
  view?: api.View | undefined;
}

/** Settings of a list of users. */
export interface UserOptions extends ListOptions {
  /** Adds to each entry the relation of this user to it. */
  viewer?: Id | undefined;
}

/** Settings of a follow or a reaction. */
export interface SinceOptions extends CallOptions {
  /** Its time, in milliseconds since 1970; the server's clock by default. */
  since?: number | undefined;
}

/** Settings of a follow. */
export interface FollowOptions extends SinceOptions, Rule {
  /** Whether the other user has agreed: no request is made then. */
  approved?: boolean | undefined;
}

type Following =
  | "listFollowing"
  | "listFollowers"
  | "listFriends"
  | "listMutes"
  | "listHiddenFrom"
  | "listBlocks"
  | "listFollowRequests"
  | "listSentRequests"
  | "listMembers"
  | "listReactions";
type Items =
  | "getTimeline"
  | "getListTimeline"
  | "listUserContent"
  | "listUserComments"
  | "listComments"
  | "listTopicContent"
  | "listUserReactions";

/**
 * A client of a Tideline server. Each method is one call of its API. Ids are text, safe integers or `bigint` in requests,
 * and text in answers. Methods throw `ProblemError`, `ConnectionError`, `TimeoutError` and `AnswerError`.
 */
export class Tideline {
  readonly #transport: Transport;

  constructor(options: Options) {
    this.#transport = new Transport(options);
  }

  /**
   * The `Tideline-Position` of the newest answer, which requests send; `undefined` before the first answer of a cluster.
   * Set it to that of another client of the same user to see the changes of that client with `session` too.
   */
  get position(): string | undefined {
    return this.#transport.position;
  }

  set position(position: string | undefined) {
    this.#transport.position = position;
  }

  // Content

  /** Publishes an item. With a `content_id` the request can be repeated, and is, after a loss. */
  publish(item: api.NewContent, options?: CallOptions): Promise<api.Content> {
    const request = { body: withIds(item), repeatable: hasId(item) };
    return this.#transport.json("publishContent", request, options);
  }

  /** Publishes up to 1,000 items, all or none. */
  async publishBatch(items: readonly api.NewContent[], options?: CallOptions): Promise<api.Content[]> {
    const request = { body: { items: items.map(withIds) }, repeatable: items.every(hasId) };
    return (await this.#transport.json("publishContentBatch", request, options, "items")).items;
  }

  /** One item; with a viewer, if that user may see it. */
  item(contentId: Id, options: ViewerOptions = {}): Promise<api.Content> {
    const query = { viewer: seenBy(options) };
    return this.#transport.json("getContent", { path: { content_id: contentId }, query }, options);
  }

  /** Up to 100 items, in the order of the ids, without those that do not exist, or not for the viewer. */
  items(contentIds: readonly Id[], options?: ViewerOptions & { view?: "full" | undefined }): Promise<api.Content[]>;
  items(contentIds: readonly Id[], options: ViewerOptions & { view: "ids" }): Promise<api.ContentRef[]>;
  items(
    contentIds: readonly Id[],
    options: ViewerOptions & { view?: api.View | undefined },
  ): Promise<(api.Content | api.ContentRef)[]>;
  async items(contentIds: readonly Id[], options: ViewerOptions & { view?: api.View | undefined } = {}) {
    const query = { ids: idList(contentIds), view: options.view, viewer: seenBy(options) };
    return (await this.#transport.json("listContent", { query }, options, "items")).items;
  }

  /** Changes an item. A missing field stays, `null` clears the field. */
  edit(contentId: Id, changes: api.ContentEdit, options?: CallOptions): Promise<api.Content> {
    return this.#transport.json("editContent", { path: { content_id: contentId }, body: changes }, options);
  }

  /**
   * Deletes an item; with `purge` for good, also one that is deleted already. A second delete without it is a
   * `ProblemError` with the code `content_not_found`.
   */
  async delete(contentId: Id, options?: CallOptions & { purge?: boolean }): Promise<void> {
    const query = options?.purge ? { purge: "true" } : {};
    await this.#transport.text("deleteContent", { path: { content_id: contentId }, query }, options);
  }

  /** Takes an item off one of its paths, such as a group. */
  async takeOff(source: Id, contentId: Id, options?: CallOptions): Promise<void> {
    await this.#transport.text("takeOffContent", { path: { source, content_id: contentId } }, options);
  }

  /** Brings a deleted item back. */
  restore(contentId: Id, options?: CallOptions): Promise<api.Content> {
    return this.#transport.json("restoreContent", { path: { content_id: contentId }, repeatable: true }, options);
  }

  /** Comments on an item. With a `content_id` the request can be repeated. */
  comment(contentId: Id, comment: api.NewComment, options?: CallOptions): Promise<api.Content> {
    const request = { path: { content_id: contentId }, body: withIds(comment), repeatable: hasId(comment) };
    return this.#transport.json("comment", request, options);
  }

  /** The comments on an item. */
  comments(contentId: Id, options?: ItemOptions): List<api.Content>;
  comments(contentId: Id, options: IdOptions): List<api.ContentRef>;
  comments(contentId: Id, options: ViewOptions): List<api.Content | api.ContentRef>;
  comments(contentId: Id, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    return this.#items("listComments", { content_id: contentId }, options);
  }

  // Timelines and pages

  /** The home timeline of a user. */
  timeline(user: Id, options?: ItemOptions): List<api.Content>;
  timeline(user: Id, options: IdOptions): List<api.ContentRef>;
  timeline(user: Id, options: ViewOptions): List<api.Content | api.ContentRef>;
  timeline(user: Id, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    return this.#items("getTimeline", { uid: user }, options);
  }

  /** The items on the user's own page. */
  userContent(user: Id, options?: ItemOptions): List<api.Content>;
  userContent(user: Id, options: IdOptions): List<api.ContentRef>;
  userContent(user: Id, options: ViewOptions): List<api.Content | api.ContentRef>;
  userContent(user: Id, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    return this.#items("listUserContent", { uid: user }, options);
  }

  /** The comments that the user made. */
  userComments(user: Id, options?: ItemOptions): List<api.Content>;
  userComments(user: Id, options: IdOptions): List<api.ContentRef>;
  userComments(user: Id, options: ViewOptions): List<api.Content | api.ContentRef>;
  userComments(user: Id, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    return this.#items("listUserComments", { uid: user }, options);
  }

  /** The newest items with a topic. */
  topicContent(topic: string, options?: ItemOptions): List<api.Content>;
  topicContent(topic: string, options: IdOptions): List<api.ContentRef>;
  topicContent(topic: string, options: ViewOptions): List<api.Content | api.ContentRef>;
  topicContent(topic: string, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    return this.#items("listTopicContent", { topic }, options);
  }

  /** The number of items above the user's marker. */
  unread(user: Id, options: CallOptions & KindOptions = {}): Promise<api.Unread> {
    return this.#transport.json("getUnread", { path: { uid: user }, query: kinds(options) }, options);
  }

  /** The cursor up to which the user has read; `null` if there is none. */
  async marker(user: Id, options?: CallOptions): Promise<string | null> {
    return (await this.#transport.json("getMarker", { path: { uid: user } }, options, "cursor")).cursor;
  }

  /** Moves the marker, forward only; returns where it is then. */
  async moveMarker(user: Id, cursor: string, options?: CallOptions): Promise<string | null> {
    return (await this.#transport.json("moveMarker", { path: { uid: user }, body: { cursor } }, options, "cursor"))
      .cursor;
  }

  /** What happened to the user, latest first; with `group` neighbours of one kind about one item together. */
  notices(user: Id, options: ListOptions & { group?: boolean | undefined } = {}): List<api.Notice> {
    const group = options.group ? "true" : undefined;
    return this.#list<api.Notice>("listNotices", { uid: user }, options, { group });
  }

  /** The number of notices above their marker. */
  unreadNotices(user: Id, options?: CallOptions): Promise<api.Unread> {
    return this.#transport.json("getUnreadNotices", { path: { uid: user } }, options);
  }

  /** The cursor up to which the user has read the notices; `null` if there is none. */
  async noticeMarker(user: Id, options?: CallOptions): Promise<string | null> {
    return (await this.#transport.json("getNoticeMarker", { path: { uid: user } }, options, "cursor")).cursor;
  }

  /** Moves the marker of the notices, forward only; returns where it is then. */
  async moveNoticeMarker(user: Id, cursor: string, options?: CallOptions): Promise<string | null> {
    const request = { path: { uid: user }, body: { cursor } };
    return (await this.#transport.json("moveNoticeMarker", request, options, "cursor")).cursor;
  }

  /** The changes of the user's timeline as they happen. */
  stream(user: Id, options: StreamOptions = {}): Stream {
    return new Stream(this.#transport, user, options);
  }

  /** All changes of the server, or those of some types, from a position on. For keys. */
  changes(options: ChangeOptions = {}): ChangeFeed {
    return new ChangeFeed(this.#transport, options);
  }

  // Relations

  /** `user` follows `target`, with a rule or for all kinds of items, or asks to if `target` approves its followers. */
  follow(user: Id, target: Id, options: FollowOptions = {}): Promise<api.Relation> {
    const body = { since: options.since, ...rule(options), ...(options.approved ? { approved: true } : {}) };
    return this.#transport.json("follow", { path: { uid: user, target }, body }, options);
  }

  /** `user` no longer follows `target`. */
  unfollow(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("unfollow", { path: { uid: user, target } }, options);
  }

  /** Follows and unfollows up to 1,000 users, all or none. Returns the relations, those of `follow` first. */
  async changeFollowing(user: Id, change: api.FollowingChange, options?: CallOptions): Promise<api.Relation[]> {
    const body = { follow: change.follow?.map(idText), unfollow: change.unfollow?.map(idText) };
    const request = { path: { uid: user }, body, repeatable: true };
    return (await this.#transport.json("changeFollowing", request, options, "items")).items;
  }

  /** The users that the user follows, latest follow first. */
  following(user: Id, options: UserOptions = {}): List<api.Member> {
    return this.#users("listFollowing", { uid: user }, options);
  }

  /** The users that follow the user, latest follow first. */
  followers(user: Id, options: UserOptions = {}): List<api.Member> {
    return this.#users("listFollowers", { uid: user }, options);
  }

  /** `follower` no longer follows `user`. Returns the relation of `user` to `follower`. */
  removeFollower(user: Id, follower: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("removeFollower", { path: { uid: user, follower } }, options);
  }

  /** The users that the user follows and that follow the user. */
  friends(user: Id, options: UserOptions = {}): List<api.Member> {
    return this.#users("listFriends", { uid: user }, options);
  }

  /** The relations of a user to up to 100 others. */
  async relations(user: Id, targets: readonly Id[], options?: CallOptions): Promise<api.Relation[]> {
    const request = { path: { uid: user }, query: { targets: idList(targets) } };
    return (await this.#transport.json("listRelations", request, options, "items")).items;
  }

  /** The timeline of `user` shows nothing of `target`. */
  mute(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("mute", { path: { uid: user, target } }, options);
  }

  /** The timeline of `user` shows the items of `target` again. */
  unmute(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("unmute", { path: { uid: user, target } }, options);
  }

  /** The users whom the user has muted. */
  mutes(user: Id, options: ListOptions = {}): List<api.Member> {
    return this.#users("listMutes", { uid: user }, options);
  }

  /** The timeline of `target` shows nothing of `user`. */
  hide(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("hide", { path: { uid: user, target } }, options);
  }

  /** The timeline of `target` shows the items of `user` again. */
  unhide(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("unhide", { path: { uid: user, target } }, options);
  }

  /** The users who may not see the items of the user in their timelines. */
  hiddenFrom(user: Id, options: ListOptions = {}): List<api.Member> {
    return this.#users("listHiddenFrom", { uid: user }, options);
  }

  /** Ends the follows between the two. Neither sees the items of the other, or follows the other again. */
  block(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("block", { path: { uid: user, target } }, options);
  }

  /** Both may follow again, unless the other one blocks, too. No follow comes back. */
  unblock(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("unblock", { path: { uid: user, target } }, options);
  }

  /** The users whom the user has blocked. */
  blocks(user: Id, options: ListOptions = {}): List<api.Member> {
    return this.#users("listBlocks", { uid: user }, options);
  }

  /** The users who have asked to follow the user, latest request first. */
  followRequests(user: Id, options: ListOptions = {}): List<api.Member> {
    return this.#users("listFollowRequests", { uid: user }, options);
  }

  /** The users whom the user has asked to follow. */
  sentRequests(user: Id, options: ListOptions = {}): List<api.Member> {
    return this.#users("listSentRequests", { uid: user }, options);
  }

  /** `from` follows `user` from now on. Returns the relation of `user` to `from`. */
  approveFollower(user: Id, from: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("approveFollower", { path: { uid: user, from } }, options);
  }

  /** The request of `from` to follow `user` ends. Returns the relation of `user` to `from`. */
  rejectFollower(user: Id, from: Id, options?: CallOptions): Promise<api.Relation> {
    return this.#transport.json("rejectFollower", { path: { uid: user, from } }, options);
  }

  // Lists

  /** The lists of a user, by their names. */
  async lists(user: Id, options?: CallOptions): Promise<api.UserList[]> {
    return (await this.#transport.json("listLists", { path: { uid: user } }, options, "items")).items;
  }

  /** One list of a user. */
  list(user: Id, list: string, options?: CallOptions): Promise<api.UserList> {
    return this.#transport.json("getList", { path: { uid: user, list } }, options);
  }

  /** Makes a list of a user, or replaces its settings. */
  putList(user: Id, list: string, settings: api.NewList = {}, options?: CallOptions): Promise<api.UserList> {
    return this.#transport.json("putList", { path: { uid: user, list }, body: settings }, options);
  }

  /** Deletes a list with its members and its marker. */
  async deleteList(user: Id, list: string, options?: CallOptions): Promise<void> {
    await this.#transport.text("deleteList", { path: { uid: user, list } }, options);
  }

  /** The members of a list, the one added last first. */
  listMembers(user: Id, list: string, options: ListOptions = {}): List<api.Member> {
    return this.#users("listMembers", { uid: user, list }, options);
  }

  /** Adds a member to a list, with a rule or for all kinds of items. */
  addListMember(user: Id, list: string, source: Id, options: CallOptions & Rule = {}): Promise<api.ListMember> {
    return this.#transport.json("addListMember", { path: { uid: user, list, source }, body: rule(options) }, options);
  }

  /** Removes a member from a list. */
  removeListMember(user: Id, list: string, source: Id, options?: CallOptions): Promise<api.ListMember> {
    return this.#transport.json("removeListMember", { path: { uid: user, list, source } }, options);
  }

  /** Adds and removes up to 1,000 members of a list, all or none. Returns their states, those of `add` first. */
  async changeListMembers(
    user: Id,
    list: string,
    change: api.MembersChange,
    options?: CallOptions,
  ): Promise<api.ListMember[]> {
    const body = { add: change.add?.map(idText), remove: change.remove?.map(idText) };
    const request = { path: { uid: user, list }, body, repeatable: true };
    return (await this.#transport.json("changeListMembers", request, options, "items")).items;
  }

  /** The timeline of a list. */
  listTimeline(user: Id, list: string, options?: ItemOptions): List<api.Content>;
  listTimeline(user: Id, list: string, options: IdOptions): List<api.ContentRef>;
  listTimeline(user: Id, list: string, options: ViewOptions): List<api.Content | api.ContentRef>;
  listTimeline(user: Id, list: string, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    return this.#items("getListTimeline", { uid: user, list }, options);
  }

  /** The number of items above the marker of a list. */
  listUnread(user: Id, list: string, options: CallOptions & KindOptions = {}): Promise<api.Unread> {
    return this.#transport.json("getListUnread", { path: { uid: user, list }, query: kinds(options) }, options);
  }

  /** The cursor up to which the user has read a list; `null` if there is none. */
  async listMarker(user: Id, list: string, options?: CallOptions): Promise<string | null> {
    return (await this.#transport.json("getListMarker", { path: { uid: user, list } }, options, "cursor")).cursor;
  }

  /** Moves the marker of a list, forward only; returns where it is then. */
  async moveListMarker(user: Id, list: string, cursor: string, options?: CallOptions): Promise<string | null> {
    const request = { path: { uid: user, list }, body: { cursor } };
    return (await this.#transport.json("moveListMarker", request, options, "cursor")).cursor;
  }

  // Users, reactions, presence

  /** The profile and the counts of a user. */
  user(user: Id, options?: CallOptions): Promise<api.Profile> {
    return this.#transport.json("getUser", { path: { uid: user } }, options);
  }

  /** Replaces the whole profile of a user: a missing field is `null` afterwards. */
  setProfile(user: Id, profile: api.NewProfile, options?: CallOptions): Promise<api.Profile> {
    return this.#transport.json("putUser", { path: { uid: user }, body: profile }, options);
  }

  /** Erases a user: nothing of the user is shown from the answer on. There is no way back. */
  eraseUser(user: Id, options?: CallOptions): Promise<api.Begun> {
    return this.#transport.json("eraseUser", { path: { uid: user } }, options);
  }

  /** The erasures of users under way, then those that were over in the last 90 days. */
  async erasures(options?: CallOptions): Promise<api.Erasure[]> {
    return (await this.#transport.json("listErasures", {}, options, "items")).items;
  }

  /** Takes all items of the user down: nobody is shown any of them. */
  suspend(user: Id, options?: CallOptions): Promise<api.Suspension> {
    return this.#transport.json("suspend", { path: { uid: user } }, options);
  }

  /** Takes the suspension of a user back. */
  unsuspend(user: Id, options?: CallOptions): Promise<api.Suspension> {
    return this.#transport.json("unsuspend", { path: { uid: user } }, options);
  }

  /** Whether the user is suspended, and since when. */
  suspension(user: Id, options?: CallOptions): Promise<api.Suspension> {
    return this.#transport.json("getSuspension", { path: { uid: user } }, options);
  }

  /** The settings of a user. */
  settings(user: Id, options?: CallOptions): Promise<api.Settings> {
    return this.#transport.json("getSettings", { path: { uid: user } }, options);
  }

  /** Replaces all settings of a user: a missing one has its default afterwards. */
  setSettings(user: Id, settings: api.NewSettings, options?: CallOptions): Promise<api.Settings> {
    return this.#transport.json("putSettings", { path: { uid: user }, body: settings }, options);
  }

  /** The user reacts to an item; counted once. */
  react(contentId: Id, kind: api.ReactionKind, user: Id, options: SinceOptions = {}): Promise<api.Reaction> {
    return this.#transport.json(
      "react",
      { path: { content_id: contentId, kind, uid: user }, ...since(options) },
      options,
    );
  }

  /** The user takes the reaction back. */
  unreact(contentId: Id, kind: api.ReactionKind, user: Id, options?: CallOptions): Promise<api.Reaction> {
    return this.#transport.json("unreact", { path: { content_id: contentId, kind, uid: user } }, options);
  }

  /** The users who reacted to an item. */
  reactions(contentId: Id, kind: api.ReactionKind, options: UserOptions = {}): List<api.Member> {
    return this.#users("listReactions", { content_id: contentId, kind }, options);
  }

  /** The items to which a user reacted, newest item first. */
  userReactions(user: Id, kind: api.ReactionKind, options?: ItemOptions): List<api.Content>;
  userReactions(user: Id, kind: api.ReactionKind, options: IdOptions): List<api.ContentRef>;
  userReactions(user: Id, kind: api.ReactionKind, options: ViewOptions): List<api.Content | api.ContentRef>;
  userReactions(user: Id, kind: api.ReactionKind, options: ViewOptions = {}): List<api.ContentRef> {
    return this.#items("listUserReactions", { uid: user, kind }, options);
  }

  /** Whether the user is online. */
  presence(user: Id, options?: CallOptions): Promise<api.Presence> {
    return this.#transport.json("getPresence", { path: { uid: user } }, options);
  }

  /** A heartbeat of the user, or its end. */
  setPresence(user: Id, online: boolean, options?: CallOptions): Promise<api.Presence> {
    return this.#transport.json("setPresence", { path: { uid: user }, body: { online } }, options);
  }

  // Administration

  /** Compares the timeline of a user with a merge of its sources, `depth` items deep. */
  verify(user: Id, options: CallOptions & { depth?: number | undefined } = {}): Promise<api.Verification> {
    const request = { path: { uid: user }, query: { depth: options.depth } };
    return this.#transport.json("verifyTimeline", request, options);
  }

  /** Why an item is in the timeline of a user, or why it is not. */
  explain(user: Id, contentId: Id, options?: CallOptions): Promise<api.Explanation> {
    const request = { path: { uid: user }, query: { content_id: idText(contentId) } };
    return this.#transport.json("explainTimeline", request, options);
  }

  /** Users by the beginning of their id or of a word of their nickname; without `search`, those of late. */
  async users(
    options: CallOptions & { search?: string; order?: api.UserOrder; limit?: number } = {},
  ): Promise<api.Profile[]> {
    const query = { search: options.search, order: options.order, limit: options.limit };
    return (await this.#transport.json("listUsers", { query }, options, "items")).items;
  }

  /** The alerts that hold now, as far as the server can tell. */
  async alerts(options?: CallOptions): Promise<api.Alert[]> {
    return (await this.#transport.json("listAlerts", {}, options, "items")).items;
  }

  /** The main figures of the last hour, or after a time. */
  async history(options: CallOptions & { after?: number } = {}): Promise<api.FiguresSample[]> {
    return (await this.#transport.json("getHistory", { query: { after: options.after } }, options, "items")).items;
  }

  /** The settings in force by their sections, without secrets. */
  serverSettings(options?: CallOptions): Promise<api.ServerSettings> {
    return this.#transport.json("getServerSettings", {}, options);
  }

  /** The keys in force by role and name. */
  async keys(options?: CallOptions): Promise<api.Key[]> {
    return (await this.#transport.json("listKeys", {}, options, "items")).items;
  }

  /** Makes a user token for a test, of so many seconds. */
  makeToken(user: Id, expiresIn?: number, options?: CallOptions): Promise<api.Token> {
    const body = { user_id: idText(user), ...(expiresIn === undefined ? {} : { expires_in: expiresIn }) };
    return this.#transport.json("makeToken", { body }, options);
  }

  /** The main figures of the server. */
  stats(options?: CallOptions): Promise<api.Stats> {
    return this.#transport.json("getStats", {}, options);
  }

  /** The server as a node of a cluster; its `node` is `null` without one. */
  cluster(options?: CallOptions): Promise<api.ClusterNode> {
    return this.#transport.json("getCluster", {}, options);
  }

  /** How far each webhook of the server is. */
  async webhooks(options?: CallOptions): Promise<api.Webhook[]> {
    return (await this.#transport.json("listWebhooks", {}, options, "items")).items;
  }

  /** All backups, newest first. */
  async backups(options?: CallOptions): Promise<api.Backup[]> {
    return (await this.#transport.json("listBackups", {}, options, "items")).items;
  }

  /** Takes a backup. */
  takeBackup(options?: CallOptions): Promise<api.Backup> {
    return this.#transport.json("takeBackup", {}, options);
  }

  /** A backup as a tar archive. */
  readBackup(name: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#transport.body("readBackup", { path: { name } }, options);
  }

  /** All that a user has, as lines of JSON; the last line is `{"type":"end"}`. */
  exportUser(user: Id, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    return this.#transport.body("exportUser", { path: { uid: user } }, options);
  }

  /** Removes a backup. */
  async removeBackup(name: string, options?: CallOptions): Promise<void> {
    await this.#transport.text("removeBackup", { path: { name } }, options);
  }

  /** Whether the process runs. */
  health(options?: CallOptions): Promise<api.Health> {
    return this.#transport.json("getHealth", {}, options);
  }

  /** Whether the server takes requests. */
  ready(options?: CallOptions): Promise<api.Health> {
    return this.#transport.json("getReadiness", {}, options);
  }

  /** All figures, as the text that Prometheus reads. */
  metrics(options?: CallOptions): Promise<string> {
    return this.#transport.text("getMetrics", {}, options);
  }

  /** The OpenAPI document, as text. */
  openapi(options?: CallOptions): Promise<string> {
    return this.#transport.text("getDescription", {}, options);
  }

  /** The page that shows the API, as HTML. */
  docs(options?: CallOptions): Promise<string> {
    return this.#transport.text("getDocs", {}, options);
  }

  #items(operation: Items, path: Request["path"] & object, options: ViewOptions): List<api.Content> {
    const query = { view: options.view, viewer: seenBy(options), ...kinds(options) };
    return this.#list<api.Content>(operation, path, options, query);
  }

  #users(operation: Following, path: Request["path"] & object, options: UserOptions): List<api.Member> {
    return this.#list<api.Member>(operation, path, options, { viewer: seenBy(options) });
  }

  #list<T>(
    operation: Items | Following | "listNotices",
    path: Request["path"] & object,
    options: ListOptions,
    more: Request["query"],
  ) {
    const { before, after, limit } = options;
    return new List<T>({ before, after }, (range) =>
      this.#transport
        .json(operation, { path, query: { limit, ...range, ...more } }, options, "items", "next", "prev")
        .then((page) => page as Page<unknown> as Page<T>),
    );
  }
}

export type { Operation };

function seenBy({ viewer }: { viewer?: Id | undefined }): string | undefined {
  return viewer === undefined ? undefined : idText(viewer);
}

/** The item with its ids as text. */
function withIds<T extends Partial<Record<"author_id" | "content_id" | "ref_id", Id | null | undefined>>>(item: T): T {
  const text = (id: Id | null | undefined) => (id === undefined || id === null ? undefined : idText(id));
  return { ...item, author_id: text(item.author_id), content_id: text(item.content_id), ref_id: text(item.ref_id) };
}

function hasId(item: { content_id?: Id | null | undefined }): boolean {
  return item.content_id !== undefined && item.content_id !== null;
}

function kinds({ kinds, exceptKinds }: KindOptions): { kinds: string | undefined; except_kinds: string | undefined } {
  return { kinds: kinds?.join(","), except_kinds: exceptKinds?.join(",") };
}

function rule({ only, except }: Rule): Rule {
  return { only, except };
}

function since(options: SinceOptions): { body?: { since: number } } {
  return options.since === undefined ? {} : { body: { since: options.since } };
}
