// Every call of the OpenAPI document has its method, which sends the right request.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { type ChangeFeed, type List, Tideline, VERSION } from "../src/index.js";
import { document, Server } from "./support.js";

type Use = Promise<unknown> | List<unknown> | ChangeFeed;
type Sent = { method: string; path: string; query: string; body: unknown };

/** What one use of the client sends. */
async function sent(use: (client: Tideline) => Use): Promise<Sent> {
  const requests: Sent[] = [];
  const fetch = async (input: unknown, init: RequestInit = {}) => {
    const [path = "", query = ""] = String(input).replace("http://server", "").split("?");
    requests.push({
      method: init.method ?? "",
      path,
      query,
      body: init.body ? JSON.parse(String(init.body)) : undefined,
    });
    const headers = { "content-type": path.endsWith("/stream") ? "text/event-stream" : "application/json" };
    return new Response('{"items":[],"next":null,"prev":null,"cursor":null,"position":"p"}', { headers });
  };
  const used = use(new Tideline({ url: "http://server/", fetch: fetch as typeof globalThis.fetch }));
  await ("page" in used ? used.page() : used);
  assert.equal(requests.length, 1);
  return requests[0] as Sent;
}

const item = { author_id: 5n, content_id: 9007199254740993n, ref_id: "a/b" };
const calls: Record<string, [(client: Tideline) => Use, string?, unknown?]> = {
  publishContent: [(c) => c.publish(item), "", { author_id: "5", content_id: "9007199254740993", ref_id: "a/b" }],
  publishContentBatch: [(c) => c.publishBatch([{ author_id: 1 }]), "", { items: [{ author_id: "1" }] }],
  getContent: [(c) => c.item("c")],
  listContent: [(c) => c.items(["a,b", "\\", 3]), `ids=${encodeURIComponent("a\\,b,\\\\,3")}`],
  editContent: [(c) => c.edit("c", { text: null }), "", { text: null }],
  deleteContent: [(c) => c.delete("c")],
  restoreContent: [(c) => c.restore("c")],
  takeOffContent: [(c) => c.takeOff("s", "c")],
  comment: [(c) => c.comment("c", { author_id: 2, text: "Ahoy" }), "", { author_id: "2", text: "Ahoy" }],
  listComments: [(c) => c.comments("c", { limit: 3, view: "ids" }), "limit=3&view=ids"],
  getTimeline: [(c) => c.timeline("u", { limit: 7, before: "5-é" }), "limit=7&before=5-%C3%A9"],
  listUserContent: [(c) => c.userContent("u", { after: "5-1" }), "after=5-1"],
  listUserComments: [(c) => c.userComments("u")],
  listTopicContent: [(c) => c.topicContent("t")],
  getUnread: [(c) => c.unread("u")],
  getMarker: [(c) => c.marker("u")],
  moveMarker: [(c) => c.moveMarker("u", "5-1"), "", { cursor: "5-1" }],
  listChanges: [
    (c) => c.changes({ after: "newest", types: ["follow.created", "follow.removed"], limit: 9 }),
    "after=newest&limit=9&types=follow.created%2Cfollow.removed",
  ],
  listNotices: [(c) => c.notices("u", { group: true, limit: 5 }), "limit=5&group=true"],
  getUnreadNotices: [(c) => c.unreadNotices("u")],
  getNoticeMarker: [(c) => c.noticeMarker("u")],
  moveNoticeMarker: [(c) => c.moveNoticeMarker("u", "5-1-0-1-2-"), "", { cursor: "5-1-0-1-2-" }],
  listen: [async (c) => collectOne(c), ""],
  follow: [
    (c) => c.follow("u", "t", { since: 5, except: ["repost"], approved: true }),
    "",
    { since: 5, except: ["repost"], approved: true },
  ],
  unfollow: [(c) => c.unfollow("u", "t")],
  changeFollowing: [(c) => c.changeFollowing("u", { follow: [1, "b"] }), "", { follow: ["1", "b"] }],
  listFollowing: [(c) => c.following("u", { viewer: 7 }), "viewer=7"],
  listFollowers: [(c) => c.followers("u")],
  listFriends: [(c) => c.friends("u")],
  listRelations: [(c) => c.relations("u", [1, 2]), "targets=1%2C2"],
  mute: [(c) => c.mute("u", "t")],
  unmute: [(c) => c.unmute("u", "t")],
  listMutes: [(c) => c.mutes("u")],
  hide: [(c) => c.hide("u", "t")],
  unhide: [(c) => c.unhide("u", "t")],
  listHiddenFrom: [(c) => c.hiddenFrom("u")],
  block: [(c) => c.block("u", "t")],
  unblock: [(c) => c.unblock("u", "t")],
  listBlocks: [(c) => c.blocks("u")],
  listFollowRequests: [(c) => c.followRequests("u")],
  listSentRequests: [(c) => c.sentRequests("u")],
  approveFollower: [(c) => c.approveFollower("u", "f")],
  rejectFollower: [(c) => c.rejectFollower("u", "f")],
  getSettings: [(c) => c.settings("u")],
  putSettings: [(c) => c.setSettings("u", { approve_followers: true }), "", { approve_followers: true }],
  removeFollower: [(c) => c.removeFollower("u", "f")],
  listLists: [(c) => c.lists("u")],
  getList: [(c) => c.list("u", "l")],
  putList: [(c) => c.putList("u", "l", { exclusive: true }), "", { exclusive: true }],
  deleteList: [(c) => c.deleteList("u", "l")],
  listMembers: [(c) => c.listMembers("u", "l")],
  addListMember: [(c) => c.addListMember("u", "l", "s", { only: ["post"] }), "", { only: ["post"] }],
  removeListMember: [(c) => c.removeListMember("u", "l", "s")],
  changeListMembers: [(c) => c.changeListMembers("u", "l", { add: [1, "b"] }), "", { add: ["1", "b"] }],
  getListTimeline: [(c) => c.listTimeline("u", "l", { limit: 7 }), "limit=7"],
  getListUnread: [(c) => c.listUnread("u", "l")],
  getListMarker: [(c) => c.listMarker("u", "l")],
  moveListMarker: [(c) => c.moveListMarker("u", "l", "5-1"), "", { cursor: "5-1" }],
  getUser: [(c) => c.user("u")],
  putUser: [(c) => c.setProfile("u", { nickname: "Ann" }), "", { nickname: "Ann" }],
  eraseUser: [(c) => c.eraseUser("u")],
  listErasures: [(c) => c.erasures()],
  suspend: [(c) => c.suspend("u")],
  unsuspend: [(c) => c.unsuspend("u")],
  getSuspension: [(c) => c.suspension("u")],
  react: [(c) => c.react("c", "like", "u")],
  unreact: [(c) => c.unreact("c", "like", "u")],
  listReactions: [(c) => c.reactions("c", "like")],
  listUserReactions: [(c) => c.userReactions("u", "like")],
  getPresence: [(c) => c.presence("u")],
  setPresence: [(c) => c.setPresence("u", true), "", { online: true }],
  verifyTimeline: [(c) => c.verify("u", { depth: 9 }), "depth=9"],
  explainTimeline: [(c) => c.explain("u", "c/d"), "content_id=c%2Fd"],
  listUsers: [(c) => c.users({ search: "eb", limit: 9 }), "search=eb&limit=9"],
  listAlerts: [(c) => c.alerts()],
  getHistory: [(c) => c.history({ after: 9 }), "after=9"],
  getServerSettings: [(c) => c.serverSettings()],
  listKeys: [(c) => c.keys()],
  makeToken: [(c) => c.makeToken("u", 60), "", { user_id: "u", expires_in: 60 }],
  getStats: [(c) => c.stats()],
  getCluster: [(c) => c.cluster()],
  listWebhooks: [(c) => c.webhooks()],
  listBackups: [(c) => c.backups()],
  takeBackup: [(c) => c.takeBackup()],
  readBackup: [(c) => c.readBackup("n")],
  exportUser: [(c) => c.exportUser("u")],
  removeBackup: [(c) => c.removeBackup("n")],
  getHealth: [(c) => c.health()],
  getReadiness: [(c) => c.ready()],
  getMetrics: [(c) => c.metrics()],
  getDescription: [(c) => c.openapi()],
  getDocs: [(c) => c.docs()],
};

async function collectOne(client: Tideline): Promise<void> {
  for await (const { type } of client.stream("u")) {
    if (type === "open") return;
  }
}

test("every call of the document has a method that sends it", async () => {
  const values: Record<string, string> = {
    uid: "u",
    target: "t",
    content_id: "c",
    topic: "t",
    name: "n",
    kind: "like",
    list: "l",
    source: "s",
    from: "f",
    follower: "f",
  };
  const described = Object.entries(document().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, call]) => ({ path, method: method.toUpperCase(), id: call.operationId })),
  );
  assert.deepEqual(described.map(({ id }) => id).sort(), Object.keys(calls).sort());
  for (const { path, method, id } of described) {
    const [use, query = "", body] = calls[id] ?? assert.fail();
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? assert.fail(name));
    assert.deepEqual(await sent(use), { method, path: filled, query, body }, id);
  }
});

test("the versions of package, document and code are one", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  assert.deepEqual([version, document().info.version], [VERSION, VERSION]);
});

test("a backup is a tar archive", async (t) => {
  const client = (await Server.start(t)).client();
  await client.publish({ author_id: 1 });
  const { name } = await client.takeBackup();
  let bytes = 0;
  let head = "";
  const reader = (await client.readBackup(name)).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (bytes === 0) head = new TextDecoder().decode(part.value.subarray(257, 262));
    bytes += part.value.length;
  }
  assert.equal(head, "ustar");
  assert(bytes > 10_000 && bytes % 512 === 0, `${bytes} bytes`);
  assert.deepEqual(
    (await client.backups()).map((backup) => backup.name),
    [name],
  );
});
