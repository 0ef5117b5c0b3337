// Every call of the OpenAPI document has its method, which sends the right request.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Tideline, VERSION } from "../src/index.js";
import { made } from "./made.js";
import { type Call, document, Server } from "./support.js";

type Sent = { method: string; path: string; query: Record<string, string>; body: unknown };

/** What one use of the client sends. */
async function sent(use: Call[0]): Promise<Sent> {
  const requests: Sent[] = [];
  const fetch = async (input: unknown, init: RequestInit = {}) => {
    const [path = "", query = ""] = String(input).replace("http://server", "").split("?");
    requests.push({
      method: init.method ?? "",
      path,
      query: Object.fromEntries(new URLSearchParams(query)),
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
/** Calls with behaviour of their own. */
const byHand: Record<string, Call> = {
  publishContent: [(c) => c.publish(item), {}, { author_id: "5", content_id: "9007199254740993", ref_id: "a/b" }],
  publishContentBatch: [(c) => c.publishBatch([{ author_id: 1 }]), {}, { items: [{ author_id: "1" }] }],
  comment: [(c) => c.comment("32850", { author_id: 2, text: "Ahoy" }), {}, { author_id: "2", text: "Ahoy" }],
  listChanges: [
    (c) => c.changes({ after: "newest", types: ["follow.created", "follow.removed"], limit: 9 }),
    { after: "newest", limit: "9", types: "follow.created,follow.removed" },
  ],
  listen: [async (c) => collectOne(c), {}],
};
/** Made calls with values that are written in another way than they are given, or left out. */
const written: [string, ...Call][] = [
  ["listContent", (c) => c.items(["a,b", "\\", 3]), { ids: "a\\,b,\\\\,3" }],
  ["listUserContent", (c) => c.userContent("111", { after: "5-é", viewer: 7 }), { after: "5-é", viewer: "7" }],
  ["getTimeline", (c) => c.timeline(111, { kinds: ["post"] }), { kinds: "post" }],
  ["explainTimeline", (c) => c.explain("111", "c/d"), { content_id: "c/d" }],
  ["deleteContent", (c) => c.delete("32850", { purge: false }), {}],
  ["react", (c) => c.react("32850", "like", "111"), {}],
  ["follow", (c) => c.follow("111", "200", { only: ["post"], approved: true }), {}, { approved: true, only: ["post"] }],
  ["putList", (c) => c.putList("111", "close"), {}, {}],
  ["changeFollowing", (c) => c.changeFollowing("111", { follow: [1, "b"] }), {}, { follow: ["1", "b"] }],
  ["makeToken", (c) => c.makeToken(5n), {}, { user_id: "5" }],
];

async function collectOne(client: Tideline): Promise<void> {
  for await (const { type } of client.stream("111")) {
    if (type === "open") return;
  }
}

test("every call of the document has a method that sends it", async () => {
  const calls = { ...made, ...byHand };
  const described = new Map<string, { method: string; path: string }>();
  for (const [path, methods] of Object.entries(document().paths)) {
    for (const [method, { operationId, parameters = [] }] of Object.entries(methods)) {
      const example = (name: string) => parameters.find((one) => one.in === "path" && one.name === name)?.example;
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(example(name))));
      described.set(operationId, { method: method.toUpperCase(), path: filled });
    }
  }
  assert.deepEqual([...described.keys()].sort(), Object.keys(calls).sort());
  for (const [id, use, query, body] of [
    ...Object.entries(calls).map(([id, call]) => [id, ...call] as const),
    ...written,
  ]) {
    assert.deepEqual(await sent(use), { ...described.get(id), query, body }, id);
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
