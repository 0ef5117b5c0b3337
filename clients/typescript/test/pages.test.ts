// A list is read to its end in both directions, whole, once and in order, while others change it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Content, type ContentRef, cursorOf, newestFirst, type Tideline, type View } from "../src/index.js";
import { collect, Server, until } from "./support.js";

const PAGES = 1000;
const LIMIT = 20;

/** Publishes at the top, at old places, edits and deletes what it made, until it is stopped. */
function others(client: Tideline, span: number) {
  let stopped = false;
  const made: string[] = [];
  const work = (async () => {
    for (let n = 1; !stopped; n++) {
      const old = n % 2 === 0 ? { published_at: 1_700_000_000_000 + Math.floor(Math.random() * span) } : {};
      const { content_id } = await client.publish({ author_id: 1 + (n % 10), text: "later", ...old });
      made.push(content_id);
      if (n % 5 === 0) await client.delete(content_id);
      if (n % 7 === 0) await client.follow("reader", `nobody ${n % 700}`);
    }
  })();
  return {
    made,
    stop: () => {
      stopped = true;
      return work;
    },
  };
}

test("1,000 pages downwards and upwards while others publish", async (t) => {
  const client = (await Server.start(t, { "timeline.inbox_limit": "300" })).client();
  await client.changeFollowing("reader", { follow: Array.from({ length: 10 }, (_, n) => n + 1) });
  const ids: string[] = [];
  for (let batch = 0; batch < (PAGES * LIMIT) / 1000; batch++) {
    const items = Array.from({ length: 1000 }, (_, n) => {
      const number = batch * 1000 + n;
      const content_id = number % 3 === 0 ? `item ${number}` : String(10 ** 15 + number);
      // Four items at each time.
      return { author_id: 1 + (number % 10), content_id, published_at: 1_700_000_000_000 + Math.floor(number / 4) };
    });
    ids.push(...(await client.publishBatch(items)).map(({ content_id }) => content_id));
  }
  const before = (await collect(client.timeline("reader", { limit: 100, view: "ids" }))).map((item) => item.content_id);
  assert.deepEqual(new Set(before), new Set(ids));
  assert.equal(before.length, ids.length);
  const wanted = new Set(ids);

  // Before the others, who delete some of the newest items.
  const first = await client.timeline("reader", { limit: LIMIT }).page();
  const down = others(client, ids.length / 4);
  const seen: string[] = [];
  let pages = 0;
  for await (const page of client.timeline("reader", { limit: LIMIT }).pages()) {
    pages++;
    seen.push(...page.items.map(({ content_id }) => content_id));
  }
  await down.stop();
  assert(pages >= PAGES && down.made.length > 10, `${pages} pages, ${down.made.length} items of others`);
  assert.equal(new Set(seen).size, seen.length, "an item was there twice");
  assert.deepEqual(
    seen.filter((id) => wanted.has(id)),
    before,
  );

  const up = others(client, ids.length / 4);
  const climbed = await collect(client.timeline("reader", { limit: LIMIT, after: "0-1" }));
  await up.stop();
  const climbedIds = climbed.map(({ content_id }) => content_id);
  assert.equal(new Set(climbedIds).size, climbedIds.length, "an item was there twice");
  assert.deepEqual(
    climbedIds.filter((id) => wanted.has(id)),
    [...before].reverse(),
  );
  assert(climbed.every(({ published_at }, n) => n === 0 || published_at >= (climbed[n - 1]?.published_at ?? 0)));

  // From the first page on, everything that is newer now, and nothing else.
  const all = await collect(client.timeline("reader", { limit: 100, view: "ids" }));
  const newer = await collect(client.timeline("reader", { limit: 7, after: first.prev ?? "0-1" }));
  const place = all.findIndex((item) => cursorOf(item) === first.prev);
  assert(place > 0);
  assert.deepEqual(
    newer.map(({ content_id }) => content_id),
    all
      .slice(0, place)
      .map(({ content_id }) => content_id)
      .reverse(),
  );
  assert.equal((await client.verify("reader", { depth: 100_000 })).exact, true);
});

test("a part between two cursors, and empty lists", async (t) => {
  const client = (await Server.start(t)).client();
  await client.follow("2", "1");
  const list = (options: object) => collect(client.timeline("2", { limit: 2, ...options }));
  assert.deepEqual([await list({}), await list({ after: "0-1" })], [[], []]);
  assert.deepEqual(await client.timeline("2").page(), { items: [], next: null, prev: null });
  for (let id = 1; id <= 9; id++) await client.publish({ author_id: 1, content_id: id, published_at: id });
  const ids = async (options: object) => (await list(options)).map(({ content_id }) => content_id).join("");
  assert.equal(await ids({}), "987654321");
  assert.equal(await ids({ before: "7-7" }), "654321");
  assert.equal(await ids({ after: "3-3" }), "456789");
  assert.equal(await ids({ after: "3-3", before: "9-9" }), "87654");
  assert.equal(await ids({ after: "8-8", before: "9-9" }), "");
  const users = await collect(client.followers("1", { limit: 1, viewer: "2" }));
  assert.deepEqual(
    users.map(({ user_id, relation }) => [user_id, relation]),
    [["2", "none"]],
  );
});

test("leaving a list early sends no further request", async (t) => {
  const server = await Server.start(t);
  const client = server.client();
  for (let id = 1; id <= 9; id++) await client.publish({ author_id: 1, content_id: id });
  let requests = 0;
  const fetch: typeof globalThis.fetch = (...request) => {
    requests++;
    return globalThis.fetch(...request);
  };
  const counted = server.client({ fetch });
  const list = counted.userContent("1", { limit: 2 });
  assert.equal(requests, 0);
  for await (const item of list) if (item.content_id === "8") break;
  assert.equal(requests, 1);
});

test("a list kept by a stream and newestFirst is that of the server", async (t) => {
  const client = (await Server.start(t)).client();
  await client.follow("2", "1");
  const items: Content[] = [];
  const deleted = new Set<string>();
  const shown = () => items.map(({ content_id }) => content_id).filter((id) => !deleted.has(id));
  const end = new AbortController();
  const listening = (async () => {
    for await (const event of client.stream("2", { signal: end.signal })) {
      if (event.type === "delete") deleted.add(event.item.content_id);
      if (event.type !== "content") continue;
      const { item } = event;
      deleted.delete(item.content_id);
      const known = items.findIndex(({ content_id }) => content_id === item.content_id);
      const place = items.findIndex((other) => newestFirst(item, other) <= 0);
      if (known >= 0) items[known] = item;
      else items.splice(place < 0 ? items.length : place, 0, item);
    }
  })();
  listening.catch(() => {});
  for (let n = 0; !(await client.presence("2")).online; n++) {
    assert(n < 3000, "the stream does not open");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // Names of one time, whose order is that of their first use, beside numbers and other times.
  for (const id of ["m", "z", 7, "a", "k", 12, "b"]) {
    await client.publish({ author_id: 1, content_id: id, published_at: 1_700_000_000_000 });
    await client.publish({ author_id: 1, content_id: `${id} later`, published_at: 1_700_000_000_001 });
  }
  for (const id of ["z", "12", "a", "m later"]) await client.delete(id);
  for (const id of ["a", "z", "m later"]) await client.restore(id);
  await client.publish({ author_id: 1, content_id: "the last" });
  await until(() => shown().includes("the last"), "the last item arrives");
  end.abort();
  const page = await client.timeline("2", { limit: 100 }).page();
  assert.deepEqual(
    shown(),
    page.items.map(({ content_id }) => content_id),
  );
  assert.equal(shown().length, 14);
});

test("a refresh shows what has changed in the shown part", async (t) => {
  const client = (await Server.start(t)).client();
  await client.follow("2", "1");
  const time = 1_700_000_000_000;
  for (let n = 1; n <= 150; n++) {
    await client.publish({ author_id: 1, content_id: n % 3 === 0 ? `item ${n}` : n, published_at: time + 10 * n });
  }
  const list = await client.timeline("2", { limit: 50 }).page();
  // As docs/use/api.md describes it.
  const refresh = async (depth: number) => {
    const below = list.items[depth];
    const above = below ? (await client.timeline("2", { limit: 100, after: cursorOf(below) }).page()).items : [];
    if (below && above.length < 100) list.items.splice(0, depth, ...above);
    else ({ items: list.items, next: list.next } = await client.timeline("2", { limit: 100 }).page());
  };
  const whole = () => collect(client.timeline("2", { limit: 100 }));
  await client.delete("item 141");
  await client.edit(140, { text: "edited" });
  await client.react(139, "like", 2);
  await client.publish({ author_id: 1, content_id: "late", published_at: time + 10 * 138 + 5 });
  await client.publish({ author_id: 1, content_id: "new", published_at: time + 10_000 });
  await refresh(20);
  const all = await whole();
  assert.deepEqual(list.items, all.slice(0, list.items.length));
  assert.equal(list.items.length, 51);
  assert.equal(cursorOf(all[50] ?? assert.fail()), list.next);
  // More than a page is new: the list begins anew.
  await client.publishBatch(Array.from({ length: 90 }, (_, n) => ({ author_id: 1, published_at: time + 20_000 + n })));
  await refresh(20);
  assert.deepEqual(list.items, (await whole()).slice(0, 100));
  assert.equal(list.next, cursorOf(list.items[99] ?? assert.fail()));
});

test("the view can be a variable", async (t) => {
  const client = (await Server.start(t)).client();
  await client.publish({ author_id: 1, content_id: "a", text: "whole" });
  for (const view of ["full", "ids"] as View[]) {
    const [first] = await collect<Content | ContentRef>(client.userContent(1, { view }));
    const [same] = await client.items(["a"], { view });
    for (const item of [first, same]) assert.equal(item && "text" in item, view === "full");
  }
});
