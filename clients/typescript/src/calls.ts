// Made by clients/generate.py from the OpenAPI document of the server. Do not edit.

import { given, listOf, optionalId, withIds } from "./caller.js";
import { type Id, idList, idText } from "./ids.js";
import { type IdOptions, type ItemOptions, type KindOptions, type ListOptions, type ViewerOptions, type ViewOptions } from "./options.js";
import { type List } from "./pages.js";
import { idFields } from "./schema.js";
import { type CallOptions, type Transport } from "./transport.js";
import type * as api from "./schema.js";

/** The calls without behaviour of their own. */
export abstract class Calls {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The OpenAPI document as a web page. The page needs no connection to the internet. */
  docs(options?: CallOptions): Promise<string> {
    return this.#transport.text("getDocs", {}, options);
  }

  /** Whether the process runs. */
  health(options?: CallOptions): Promise<api.Health> {
    return this.#transport.json("getHealth", {}, options);
  }

  /** All figures, for Prometheus. */
  metrics(options?: CallOptions): Promise<string> {
    return this.#transport.text("getMetrics", {}, options);
  }

  /** The OpenAPI document. */
  openapi(options?: CallOptions): Promise<string> {
    return this.#transport.text("getDescription", {}, options);
  }

  /** Whether the server accepts requests. */
  ready(options?: CallOptions): Promise<api.Health> {
    return this.#transport.json("getReadiness", {}, options);
  }

  /**
   * The alerts that hold now. By the rules of docs/alerts.yaml that one server can tell by itself. None if all is
   * well.
   */
  async alerts(options?: CallOptions): Promise<api.Alert[]> {
    return (await this.#transport.json("listAlerts", {}, options, "items")).items;
  }

  /** List the backups. Newest first. */
  async backups(options?: CallOptions): Promise<api.Backup[]> {
    return (await this.#transport.json("listBackups", {}, options, "items")).items;
  }

  /**
   * Take a backup of all data. The answer comes when the backup is on the device. It has every change that was
   * acknowledged before the request. Its verification begins then: `state` in the list of backups has the result.
   * After a verification, backups older than the newest `backup.keep` verified ones are removed.
   */
  takeBackup(options?: CallOptions): Promise<api.Backup> {
    return this.#transport.json("takeBackup", {}, options);
  }

  /** Read a backup as one tar archive. `tideline restore` makes a data directory of the archive. */
  readBackup(name: string, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    const path = { name };
    return this.#transport.body("readBackup", { path }, options);
  }

  /** Remove a backup. */
  async removeBackup(name: string, options?: CallOptions): Promise<void> {
    const path = { name };
    await this.#transport.text("removeBackup", { path }, options);
  }

  /**
   * This server as a node of a cluster. On a server without a cluster `node` is `null`, `members` is empty, and all
   * other fields are missing. Each node answers for itself.
   */
  cluster(options?: CallOptions): Promise<api.ClusterNode> {
    return this.#transport.json("getCluster", {}, options);
  }

  /**
   * The erasures of users. Those under way, then those that were over in the last 90 days, which do not tell whose
   * they were.
   */
  async erasures(options?: CallOptions): Promise<api.Erasure[]> {
    return (await this.#transport.json("listErasures", {}, options, "items")).items;
  }

  /**
   * The main figures of the last hour. A sample every five seconds, oldest first. They are in memory: a restart begins
   * anew.
   */
  async history(options: CallOptions & { after?: number | undefined } = {}): Promise<api.FiguresSample[]> {
    const query = { after: options.after };
    return (await this.#transport.json("getHistory", { query }, options, "items")).items;
  }

  /** List the keys in force. Those of the settings and of the files that they name, by role and name. */
  async keys(options?: CallOptions): Promise<api.Key[]> {
    return (await this.#transport.json("listKeys", {}, options, "items")).items;
  }

  /**
   * The settings in force. Each section with its settings, without keys and secrets, as `tideline config` prints them.
   */
  serverSettings(options?: CallOptions): Promise<api.ServerSettings> {
    return this.#transport.json("getServerSettings", {}, options);
  }

  /** The main figures of the server. */
  stats(options?: CallOptions): Promise<api.Stats> {
    return this.#transport.json("getStats", {}, options);
  }

  /** Make a user token for a test. The server signs it with the first secret of `auth.jwt_secrets`. */
  makeToken(user: Id, expiresIn?: number, options?: CallOptions): Promise<api.Token> {
    const body = withIds({ user_id: user, expires_in: expiresIn }, idFields.NewToken);
    return this.#transport.json("makeToken", { body }, options);
  }

  /**
   * Look for users. With `search`, the users whose id, or a word of whose nickname, begins with this text. Capitals
   * and accents in nicknames make no difference. An id that is a number is found whole only. The search goes through
   * the first 1000 ids, among them those of items, and the first 1000 words that begin so. Without `search`, those of
   * the newest changes: in the order of these (`recent`), or by followers (`followers`), or those whose names came
   * last first (`new`). Ids that are numbers tell no time.
   */
  async users(
    options: CallOptions & { search?: string | undefined; order?: api.UserOrder | undefined; limit?: number | undefined } = {},
  ): Promise<api.Profile[]> {
    const query = { search: options.search, order: options.order, limit: options.limit };
    return (await this.#transport.json("listUsers", { query }, options, "items")).items;
  }

  /** Why a timeline shows an item, or does not. */
  explain(user: Id, contentId: Id, options?: CallOptions): Promise<api.Explanation> {
    const path = { uid: user };
    const query = { content_id: idText(contentId) };
    return this.#transport.json("explainTimeline", { path, query }, options);
  }

  /**
   * Compare a timeline with its sources. Compares the timeline with a merge of the outboxes of all followed users. In
   * a cluster, ask each node: those that do not keep the user's inbox have only the merge.
   */
  verify(user: Id, options: CallOptions & { depth?: number | undefined } = {}): Promise<api.Verification> {
    const path = { uid: user };
    const query = { depth: options.depth };
    return this.#transport.json("verifyTimeline", { path, query }, options);
  }

  /** How far each webhook is. The receivers of the settings of this server, with figures since its start. */
  async webhooks(options?: CallOptions): Promise<api.Webhook[]> {
    return (await this.#transport.json("listWebhooks", {}, options, "items")).items;
  }

  /** Up to 100 items by their ids. In the order of the ids, without items that do not exist, or not for the viewer. */
  items(
    contentIds: readonly Id[],
    options?: CallOptions & ViewerOptions & { view?: "full" | undefined },
  ): Promise<api.Content[]>;
  items(contentIds: readonly Id[], options: CallOptions & ViewerOptions & { view: "ids" }): Promise<api.ContentRef[]>;
  items(
    contentIds: readonly Id[],
    options: CallOptions & ViewerOptions & { view?: api.View | undefined },
  ): Promise<(api.Content | api.ContentRef)[]>;
  async items(
    contentIds: readonly Id[],
    options: CallOptions & ViewerOptions & { view?: api.View | undefined } = {},
  ): Promise<(api.Content | api.ContentRef)[]> {
    const query = { ids: idList(contentIds), view: options.view, viewer: optionalId(options.viewer) };
    return (await this.#transport.json("listContent", { query }, options, "items")).items;
  }

  /** One item. A key without `viewer` also sees an item whose author is suspended. It has `suspended`. */
  item(contentId: Id, options: CallOptions & ViewerOptions = {}): Promise<api.Content> {
    const path = { content_id: contentId };
    const query = { viewer: optionalId(options.viewer) };
    return this.#transport.json("getContent", { path, query }, options);
  }

  /**
   * Delete an item. The item leaves every list at once. It can be restored for `content.deleted_retention`. A second
   * delete answers 404. With `purge=true` there is no way back: the text, the media, the topics and `extra` are gone
   * at once, also of an item that is deleted already, and a compaction removes them from the disk. This can be
   * repeated.
   */
  async delete(contentId: Id, options: CallOptions & { purge?: boolean | undefined } = {}): Promise<void> {
    const path = { content_id: contentId };
    const query = { purge: options.purge || undefined };
    await this.#transport.text("deleteContent", { path, query }, options);
  }

  /** Edit an item. A missing field stays unchanged; `null` clears the field. The item gets `edited_at`. */
  edit(contentId: Id, changes: api.ContentEdit, options?: CallOptions): Promise<api.Content> {
    const path = { content_id: contentId };
    const body = changes;
    return this.#transport.json("editContent", { path, body }, options);
  }

  /** The comments on an item. */
  comments(contentId: Id, options?: ItemOptions): List<api.Content>;
  comments(contentId: Id, options: IdOptions): List<api.ContentRef>;
  comments(contentId: Id, options: ViewOptions): List<api.Content | api.ContentRef>;
  comments(contentId: Id, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    const path = { content_id: contentId };
    const more = {
      view: options.view,
      viewer: optionalId(options.viewer),
      kinds: options.kinds?.join(","),
      except_kinds: options.exceptKinds?.join(","),
    };
    return listOf<api.Content | api.ContentRef>(this.#transport, "listComments", path, options, more);
  }

  /**
   * The users who reacted to an item. Without suspended users, and for a viewer without those between whom and the
   * viewer a hide or a block lies.
   */
  reactions(contentId: Id, kind: api.ReactionKind, options: ListOptions & ViewerOptions = {}): List<api.Member> {
    const path = { content_id: contentId, kind };
    const more = { viewer: optionalId(options.viewer) };
    return listOf<api.Member>(this.#transport, "listReactions", path, options, more);
  }

  /**
   * React to an item: like it, for example. Each user counts once for each kind; a repeat changes nothing. With a user
   * token, items that the user may not see answer 404, as missing ones do, and those of an author with whom there is a
   * block 403.
   */
  react(
    contentId: Id,
    kind: api.ReactionKind,
    user: Id,
    options: CallOptions & api.NewSince = {},
  ): Promise<api.Reaction> {
    const path = { content_id: contentId, kind, uid: user };
    const body = given({ since: options.since });
    return this.#transport.json("react", { path, body }, options);
  }

  /** Remove a reaction. */
  unreact(contentId: Id, kind: api.ReactionKind, user: Id, options?: CallOptions): Promise<api.Reaction> {
    const path = { content_id: contentId, kind, uid: user };
    return this.#transport.json("unreact", { path }, options);
  }

  /**
   * Restore a deleted item. The item is in every list again, at its old place, with its reactions and comments. For an
   * item that is not deleted the answer is the same. For an item deleted longer ago than `content.deleted_retention`
   * it is 404.
   */
  restore(contentId: Id, options?: CallOptions): Promise<api.Content> {
    const path = { content_id: contentId };
    return this.#transport.json("restoreContent", { path }, options);
  }

  /** The newest items with a topic. The newest `topics.limit` items with the topic, broadcast or not. */
  topicContent(topic: string, options?: ItemOptions): List<api.Content>;
  topicContent(topic: string, options: IdOptions): List<api.ContentRef>;
  topicContent(topic: string, options: ViewOptions): List<api.Content | api.ContentRef>;
  topicContent(topic: string, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    const path = { topic };
    const more = {
      view: options.view,
      viewer: optionalId(options.viewer),
      kinds: options.kinds?.join(","),
      except_kinds: options.exceptKinds?.join(","),
    };
    return listOf<api.Content | api.ContentRef>(this.#transport, "listTopicContent", path, options, more);
  }

  /**
   * Take an item off one of its paths. For the moderators of a group: the item leaves the own page of `source` and the
   * timelines into which it came through `source`, at once. Its other paths stay, and so do its topics, comments and
   * reactions. There is no way back; a restore of the item after a delete does not bring the path back. 404 if the
   * item has no such path.
   */
  async takeOff(source: Id, contentId: Id, options?: CallOptions): Promise<void> {
    const path = { source, content_id: contentId };
    await this.#transport.text("takeOffContent", { path }, options);
  }

  /**
   * The profile and the counts of a user. Every id is a user. A field without a value is `null`. With a user token,
   * the profile of a suspended user is 404, that of another user between whom and the token's user a hide or a block
   * lies, and that of another user of whom the server has neither a profile nor a count.
   */
  user(user: Id, options?: CallOptions): Promise<api.Profile> {
    const path = { uid: user };
    return this.#transport.json("getUser", { path }, options);
  }

  /** Set the profile of a user. The body replaces the whole profile: a missing field is `null` afterwards. */
  setProfile(user: Id, profile: api.NewProfile, options?: CallOptions): Promise<api.Profile> {
    const path = { uid: user };
    const body = profile;
    return this.#transport.json("putUser", { path, body }, options);
  }

  /**
   * Erase a user. Nothing of the user is shown from the answer on, and changes that name the user are 409 `erasing`. A
   * job then removes every row that names the user: items of all kinds, comments, reactions, relations in both
   * directions, lists, memberships, markers, profile, settings, and the name itself. `GET /v1/admin/erasures` tells
   * how far it is. Can be repeated. There is no way back.
   */
  eraseUser(user: Id, options?: CallOptions): Promise<api.Begun> {
    const path = { uid: user };
    return this.#transport.json("eraseUser", { path }, options);
  }

  /** The users that a user has blocked. */
  blocks(user: Id, options: ListOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = {};
    return listOf<api.Member>(this.#transport, "listBlocks", path, options, more);
  }

  /**
   * Block a user. Ends the follows between the two. From then on neither sees the content of the other in a timeline,
   * or follows the other; with a user token, neither reacts to items of the other.
   */
  block(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, target };
    return this.#transport.json("block", { path }, options);
  }

  /** Unblock a user. No follow comes back. A block of `user` by `target` stays. */
  unblock(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, target };
    return this.#transport.json("unblock", { path }, options);
  }

  /** The comments of a user. */
  userComments(user: Id, options?: ItemOptions): List<api.Content>;
  userComments(user: Id, options: IdOptions): List<api.ContentRef>;
  userComments(user: Id, options: ViewOptions): List<api.Content | api.ContentRef>;
  userComments(user: Id, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    const path = { uid: user };
    const more = {
      view: options.view,
      viewer: optionalId(options.viewer),
      kinds: options.kinds?.join(","),
      except_kinds: options.exceptKinds?.join(","),
    };
    return listOf<api.Content | api.ContentRef>(this.#transport, "listUserComments", path, options, more);
  }

  /**
   * The own page of a source. All items that were published on it. Empty for a viewer between whom and the source a
   * hide or a block lies.
   */
  userContent(user: Id, options?: ItemOptions): List<api.Content>;
  userContent(user: Id, options: IdOptions): List<api.ContentRef>;
  userContent(user: Id, options: ViewOptions): List<api.Content | api.ContentRef>;
  userContent(user: Id, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    const path = { uid: user };
    const more = {
      view: options.view,
      viewer: optionalId(options.viewer),
      kinds: options.kinds?.join(","),
      except_kinds: options.exceptKinds?.join(","),
    };
    return listOf<api.Content | api.ContentRef>(this.#transport, "listUserContent", path, options, more);
  }

  /**
   * All that a user has, as lines of JSON. A line for each thing, with its `type`, such as `profile`, `content` for
   * each item and comment, deleted ones included until they are purged, or `follower`. The section "Export a user" of
   * docs/use/api.md has a table of the types. The last line is of the type `end`: without it the answer is incomplete.
   * What changes meanwhile may be in it or not.
   */
  exportUser(user: Id, options?: CallOptions): Promise<ReadableStream<Uint8Array>> {
    const path = { uid: user };
    return this.#transport.body("exportUser", { path }, options);
  }

  /** The users who have asked to follow a user. */
  followRequests(user: Id, options: ListOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = {};
    return listOf<api.Member>(this.#transport, "listFollowRequests", path, options, more);
  }

  /** Approve a request to follow. `from` follows `user` from now on. For a follower it changes nothing. */
  approveFollower(user: Id, fromUser: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, from: fromUser };
    return this.#transport.json("approveFollower", { path }, options);
  }

  /** Reject a request to follow. `from` is not told, and may ask again. A follow stays. */
  rejectFollower(user: Id, fromUser: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, from: fromUser };
    return this.#transport.json("rejectFollower", { path }, options);
  }

  /** The users that follow a user. */
  followers(user: Id, options: ListOptions & ViewerOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = { viewer: optionalId(options.viewer) };
    return listOf<api.Member>(this.#transport, "listFollowers", path, options, more);
  }

  /** Remove a follower. `follower` does not follow `user` any more, and a request of it ends. It may follow again. */
  removeFollower(user: Id, follower: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, follower };
    return this.#transport.json("removeFollower", { path }, options);
  }

  /** The users that a user follows. */
  following(user: Id, options: ListOptions & ViewerOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = { viewer: optionalId(options.viewer) };
    return listOf<api.Member>(this.#transport, "listFollowing", path, options, more);
  }

  /**
   * Follow and unfollow up to 1,000 users, all or none. The body may have 256 times as many bytes as the body of a
   * single follow.
   */
  async changeFollowing(user: Id, change: api.FollowingChange, options?: CallOptions): Promise<api.Relation[]> {
    const path = { uid: user };
    const body = withIds(change, idFields.FollowingChange);
    return (await this.#transport.json("changeFollowing", { path, body }, options, "items")).items;
  }

  /**
   * Follow a user. The timeline has the earlier items of `target` at once. A second follow changes only the rule:
   * `only` or `except` say which kinds of items this follow shows; without them it shows all. A follow of a batch
   * leaves the rule of a present one. If `target` approves its followers, the follow is a request, and the answer has
   * `requested`.
   */
  follow(user: Id, target: Id, options: CallOptions & api.NewFollow = {}): Promise<api.Relation> {
    const path = { uid: user, target };
    const body = given({
      approved: options.approved,
      except: options.except,
      only: options.only,
      since: options.since,
    });
    return this.#transport.json("follow", { path, body }, options);
  }

  /** Unfollow a user. */
  unfollow(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, target };
    return this.#transport.json("unfollow", { path }, options);
  }

  /** The users that a user follows and that follow this user. `since` is the time of the second follow. */
  friends(user: Id, options: ListOptions & ViewerOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = { viewer: optionalId(options.viewer) };
    return listOf<api.Member>(this.#transport, "listFriends", path, options, more);
  }

  /** The users from whom a user hides its content. */
  hiddenFrom(user: Id, options: ListOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = {};
    return listOf<api.Member>(this.#transport, "listHiddenFrom", path, options, more);
  }

  /** Hide content from a user. The timeline of `target` no longer shows items of `user`. */
  hide(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, target };
    return this.#transport.json("hide", { path }, options);
  }

  /**
   * Stop hiding content from a user. The timeline of `target` shows the items of `user` again, at their old places.
   */
  unhide(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, target };
    return this.#transport.json("unhide", { path }, options);
  }

  /** The lists of a user. */
  async lists(user: Id, options?: CallOptions): Promise<api.UserList[]> {
    const path = { uid: user };
    return (await this.#transport.json("listLists", { path }, options, "items")).items;
  }

  /** One list. */
  list(user: Id, list: string, options?: CallOptions): Promise<api.UserList> {
    const path = { uid: user, list };
    return this.#transport.json("getList", { path }, options);
  }

  /**
   * Make a list, or change its settings. A list has a timeline of its own: that of its members, which the user need
   * not follow. The body replaces the settings: a missing field gets its default. The home timeline shows nothing of
   * the members of an `exclusive` list. A user can have at most 100 lists.
   */
  putList(user: Id, list: string, settings: api.NewList = {}, options?: CallOptions): Promise<api.UserList> {
    const path = { uid: user, list };
    const body = settings;
    return this.#transport.json("putList", { path, body }, options);
  }

  /** Delete a list. Deletes its members and its marker, too. A second delete answers 404. */
  async deleteList(user: Id, list: string, options?: CallOptions): Promise<void> {
    const path = { uid: user, list };
    await this.#transport.text("deleteList", { path }, options);
  }

  /** The marker of a list. */
  async listMarker(user: Id, list: string, options?: CallOptions): Promise<string | null> {
    const path = { uid: user, list };
    return (await this.#transport.json("getListMarker", { path }, options, "cursor")).cursor;
  }

  /** Move the marker of a list. By the rules of the marker of the home timeline. */
  async moveListMarker(user: Id, list: string, cursor: string, options?: CallOptions): Promise<string | null> {
    const path = { uid: user, list };
    const body = { cursor };
    return (await this.#transport.json("moveListMarker", { path, body }, options, "cursor")).cursor;
  }

  /** The members of a list. */
  listMembers(user: Id, list: string, options: ListOptions = {}): List<api.Member> {
    const path = { uid: user, list };
    const more = {};
    return listOf<api.Member>(this.#transport, "listMembers", path, options, more);
  }

  /**
   * Add and remove up to 1,000 members, all or none. The body may have 256 times as many bytes as the body of a single
   * change.
   */
  async changeListMembers(
    user: Id,
    list: string,
    change: api.MembersChange,
    options?: CallOptions,
  ): Promise<api.ListMember[]> {
    const path = { uid: user, list };
    const body = withIds(change, idFields.MembersChange);
    return (await this.#transport.json("changeListMembers", { path, body }, options, "items")).items;
  }

  /**
   * Add a member to a list. The timeline of the list has the earlier items of the member at once. A repeat changes
   * only the rule: `only` or `except` say which kinds of items of the member the list shows; without them it shows
   * all. A member of a batch that is present keeps its rule.
   */
  addListMember(
    user: Id,
    list: string,
    source: Id,
    options: CallOptions & api.NewMember = {},
  ): Promise<api.ListMember> {
    const path = { uid: user, list, source };
    const body = given({ except: options.except, only: options.only });
    return this.#transport.json("addListMember", { path, body }, options);
  }

  /** Remove a member from a list. */
  removeListMember(user: Id, list: string, source: Id, options?: CallOptions): Promise<api.ListMember> {
    const path = { uid: user, list, source };
    return this.#transport.json("removeListMember", { path }, options);
  }

  /**
   * The timeline of a list. All broadcast items of the members, newest first, down to the oldest, without muted
   * authors and authors who hide their content from the user. `viewer` has the reactions of the user to each item.
   */
  listTimeline(user: Id, list: string, options?: ItemOptions): List<api.Content>;
  listTimeline(user: Id, list: string, options: IdOptions): List<api.ContentRef>;
  listTimeline(user: Id, list: string, options: ViewOptions): List<api.Content | api.ContentRef>;
  listTimeline(user: Id, list: string, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    const path = { uid: user, list };
    const more = {
      view: options.view,
      viewer: optionalId(options.viewer),
      kinds: options.kinds?.join(","),
      except_kinds: options.exceptKinds?.join(","),
    };
    return listOf<api.Content | api.ContentRef>(this.#transport, "getListTimeline", path, options, more);
  }

  /** The number of unread items of a list: those above its marker. */
  listUnread(user: Id, list: string, options: CallOptions & KindOptions = {}): Promise<api.Unread> {
    const path = { uid: user, list };
    const query = { kinds: options.kinds?.join(","), except_kinds: options.exceptKinds?.join(",") };
    return this.#transport.json("getListUnread", { path, query }, options);
  }

  /** The marker of a user. */
  async marker(user: Id, options?: CallOptions): Promise<string | null> {
    const path = { uid: user };
    return (await this.#transport.json("getMarker", { path }, options, "cursor")).cursor;
  }

  /**
   * Move the marker. The marker moves forward only: a cursor at or below it changes nothing. A cursor after the
   * server's clock is replaced by the newest item of the timeline at or below it. A cursor more than
   * `content.max_ahead` after the clock, with no item at it, is refused with 400 `time_ahead`. With a user token only
   * items that the user sees count, and a cursor with a name at which there is none is replaced, too.
   */
  async moveMarker(user: Id, cursor: string, options?: CallOptions): Promise<string | null> {
    const path = { uid: user };
    const body = { cursor };
    return (await this.#transport.json("moveMarker", { path, body }, options, "cursor")).cursor;
  }

  /** The users that a user has muted. */
  mutes(user: Id, options: ListOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = {};
    return listOf<api.Member>(this.#transport, "listMutes", path, options, more);
  }

  /** Mute a user. The timeline of `user` no longer shows items of `target`. */
  mute(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, target };
    return this.#transport.json("mute", { path }, options);
  }

  /** Unmute a user. The timeline of `user` shows the items of `target` again, at their old places. */
  unmute(user: Id, target: Id, options?: CallOptions): Promise<api.Relation> {
    const path = { uid: user, target };
    return this.#transport.json("unmute", { path }, options);
  }

  /**
   * What happened to a user, newest first. Follows, requests to follow, approved requests, reactions, comments and
   * reposts of others, and their items that mention the user. What is taken back leaves the list. With `group=true`
   * neighbours of one kind about one item are one element with `count`, `actors`, `newest` and `oldest` in place of
   * `at` and `actor`.
   */
  notices(user: Id, options: ListOptions & { group?: boolean | undefined } = {}): List<api.Notice> {
    const path = { uid: user };
    const more = { group: options.group || undefined };
    return listOf<api.Notice>(this.#transport, "listNotices", path, options, more);
  }

  /** The marker of the notices of a user. */
  async noticeMarker(user: Id, options?: CallOptions): Promise<string | null> {
    const path = { uid: user };
    return (await this.#transport.json("getNoticeMarker", { path }, options, "cursor")).cursor;
  }

  /**
   * Move the marker of the notices. The marker moves forward only: a cursor at or below it changes nothing. A cursor
   * after the server's clock is replaced by the present time, unless a notice stands there.
   */
  async moveNoticeMarker(user: Id, cursor: string, options?: CallOptions): Promise<string | null> {
    const path = { uid: user };
    const body = { cursor };
    return (await this.#transport.json("moveNoticeMarker", { path, body }, options, "cursor")).cursor;
  }

  /**
   * The number of unread notices. Those above the marker of the notices; counts up to 1,000, and `capped` says that
   * there may be more.
   */
  unreadNotices(user: Id, options?: CallOptions): Promise<api.Unread> {
    const path = { uid: user };
    return this.#transport.json("getUnreadNotices", { path }, options);
  }

  /**
   * Whether a user is online. This call does not mark the user as active. Presence is in memory: after a restart
   * nobody is online until the next heartbeat or stream. In a cluster the owner of the user keeps the heartbeats, and
   * all nodes ask it; a stream counts at the node that it is open on. If the owner does not answer, the node that is
   * asked answers alone.
   */
  presence(user: Id, options?: CallOptions): Promise<api.Presence> {
    const path = { uid: user };
    return this.#transport.json("getPresence", { path }, options);
  }

  /**
   * Send a heartbeat, or end it. A user is online for `presence.ttl` after a heartbeat, and while a stream is open.
   */
  setPresence(user: Id, online: boolean, options?: CallOptions): Promise<api.Presence> {
    const path = { uid: user };
    const body = { online };
    return this.#transport.json("setPresence", { path, body }, options);
  }

  /** The items to which a user reacted. Ordered by the times of the items: those that the viewer sees. */
  userReactions(user: Id, kind: api.ReactionKind, options?: ItemOptions): List<api.Content>;
  userReactions(user: Id, kind: api.ReactionKind, options: IdOptions): List<api.ContentRef>;
  userReactions(user: Id, kind: api.ReactionKind, options: ViewOptions): List<api.Content | api.ContentRef>;
  userReactions(user: Id, kind: api.ReactionKind, options: ViewOptions = {}): List<api.Content | api.ContentRef> {
    const path = { uid: user, kind };
    const more = {
      view: options.view,
      viewer: optionalId(options.viewer),
      kinds: options.kinds?.join(","),
      except_kinds: options.exceptKinds?.join(","),
    };
    return listOf<api.Content | api.ContentRef>(this.#transport, "listUserReactions", path, options, more);
  }

  /** The relations of a user to up to 100 users. */
  async relations(user: Id, targets: readonly Id[], options?: CallOptions): Promise<api.Relation[]> {
    const path = { uid: user };
    const query = { targets: idList(targets) };
    return (await this.#transport.json("listRelations", { path, query }, options, "items")).items;
  }

  /** The users whom a user has asked to follow. */
  sentRequests(user: Id, options: ListOptions = {}): List<api.Member> {
    const path = { uid: user };
    const more = {};
    return listOf<api.Member>(this.#transport, "listSentRequests", path, options, more);
  }

  /** The settings of a user. */
  settings(user: Id, options?: CallOptions): Promise<api.Settings> {
    const path = { uid: user };
    return this.#transport.json("getSettings", { path }, options);
  }

  /**
   * Set the settings of a user. The body replaces all settings: a missing field has its default afterwards. If
   * `approve_followers` is switched off, requests that wait stay until they are answered.
   */
  setSettings(user: Id, settings: api.NewSettings, options?: CallOptions): Promise<api.Settings> {
    const path = { uid: user };
    const body = settings;
    return this.#transport.json("putSettings", { path, body }, options);
  }

  /** Whether a user is suspended. */
  suspension(user: Id, options?: CallOptions): Promise<api.Suspension> {
    const path = { uid: user };
    return this.#transport.json("getSuspension", { path }, options);
  }

  /**
   * Suspend a user. No user sees an item of the user from the answer on, nor the user among those who reacted. Follows
   * and counts stay. Items that the user publishes meanwhile are taken, and no user sees them.
   */
  suspend(user: Id, options?: CallOptions): Promise<api.Suspension> {
    const path = { uid: user };
    return this.#transport.json("suspend", { path }, options);
  }

  /** Take a suspension back. All items of the user are shown again, at their old places. */
  unsuspend(user: Id, options?: CallOptions): Promise<api.Suspension> {
    const path = { uid: user };
    return this.#transport.json("unsuspend", { path }, options);
  }

  /**
   * The home timeline. All broadcast items of the followed users, newest first, down to the oldest. It leaves out
   * muted authors, and authors who hide their content from the user. `viewer` has the reactions of the user to each
   * item. The call marks the user as active, but for a key with `peek=true`.
   */
  timeline(user: Id, options?: ItemOptions & { peek?: boolean | undefined }): List<api.Content>;
  timeline(user: Id, options: IdOptions & { peek?: boolean | undefined }): List<api.ContentRef>;
  timeline(user: Id, options: ViewOptions & { peek?: boolean | undefined }): List<api.Content | api.ContentRef>;
  timeline(user: Id, options: ViewOptions & { peek?: boolean | undefined } = {}): List<api.Content | api.ContentRef> {
    const path = { uid: user };
    const more = {
      view: options.view,
      viewer: optionalId(options.viewer),
      kinds: options.kinds?.join(","),
      except_kinds: options.exceptKinds?.join(","),
      peek: options.peek || undefined,
    };
    return listOf<api.Content | api.ContentRef>(this.#transport, "getTimeline", path, options, more);
  }

  /**
   * The number of unread items: those above the marker. Counts up to 1,000 items; `capped` says that there are more,
   * or that it has not looked at all. Without a marker all items are unread.
   */
  unread(user: Id, options: CallOptions & KindOptions = {}): Promise<api.Unread> {
    const path = { uid: user };
    const query = { kinds: options.kinds?.join(","), except_kinds: options.exceptKinds?.join(",") };
    return this.#transport.json("getUnread", { path, query }, options);
  }
}
