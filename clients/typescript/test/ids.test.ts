// Ids and numbers of all kinds come back as they were given, or are refused before anything is sent.

import assert from "node:assert/strict";
import { test } from "node:test";
import { cursorOf, newestFirst } from "../src/index.js";
import { parseJson, writeJson } from "../src/json.js";
import { collect, Server } from "./support.js";

const HOSTILE = [
  "a b",
  " a ",
  "a/b",
  "/",
  "50%",
  "%2F",
  "a?b#c&d=e",
  "a,b\\c",
  "a+b",
  "...",
  "é",
  "e\u0301",
  "👩‍👩‍👧‍👦",
  "042",
  "0",
  "9223372036854775808",
  "x".repeat(128),
  "🌊".repeat(32),
  '"quoted"',
  "http://example.org/a/../b",
];

test("hostile ids of users and items", async (t) => {
  const client = (await Server.start(t)).client();
  for (const id of HOSTILE) {
    const author = `${id.slice(0, 40)}/ 🌊`;
    await client.follow(id, author);
    const published = await client.publish({ author_id: author, content_id: id, text: id });
    assert.deepEqual([published.content_id, published.author_id], [id, author]);
    assert.deepEqual(await client.publish({ author_id: author, content_id: id, text: id }), published, "a repeat");
    const [item] = (await client.timeline(id).page()).items;
    assert.deepEqual([item?.content_id, item?.author?.user_id], [id, author]);
    assert.equal((await client.item(id)).text, id);
    assert.equal((await client.react(id, "like", id)).user_id, id);
    assert.equal((await client.comment(id, { author_id: id, text: "Ahoy" })).ref_id, id);
    assert.deepEqual(
      (await client.relations(id, [author])).map(({ target_id }) => target_id),
      [author],
    );
    assert.deepEqual(
      (await client.following(id).page()).items.map(({ user_id }) => user_id),
      [author],
    );
    assert.equal(await client.moveMarker(id, cursorOf(published)), cursorOf(published));
    assert.equal((await client.unread(id)).count, 0);
    assert.equal((await client.timeline(id, { before: cursorOf(published) }).page()).items.length, 0);
    assert.equal((await client.explain(id, id)).reason, "listed");
  }
  const items = await client.items(HOSTILE);
  assert.deepEqual(
    items.map(({ content_id }) => content_id),
    HOSTILE,
  );
  for (const id of HOSTILE) await client.delete(id);
  assert.deepEqual(await client.items(HOSTILE), []);
});

test("ids that fetch would remove from the path are refused before they are sent", async (t) => {
  const client = (await Server.start(t)).client();
  for (const id of [".", "..", ""]) {
    await assert.rejects(async () => client.follow("2", id), TypeError);
    await assert.rejects(async () => client.delete(id), TypeError);
  }
  await client.publish({ author_id: 1, content_id: ".." });
  assert.equal((await client.items([".."]))[0]?.content_id, "..");
});

test("ids of 64 bits", async (t) => {
  const client = (await Server.start(t)).client();
  const largest = 2n ** 63n - 1n;
  const ids = [1, Number.MAX_SAFE_INTEGER, 2n ** 53n, 2n ** 53n + 1n, largest - 1n, largest] as const;
  for (const id of ids) {
    await client.follow("reader", id);
    const { content_id, author_id } = await client.publish({ author_id: id, content_id: id, published_at: 1000 });
    assert.deepEqual([content_id, author_id], [String(id), String(id)]);
    assert.equal((await client.item(id)).content_id, String(id));
  }
  const timeline = await collect(client.timeline("reader", { limit: 1 }));
  assert.deepEqual(
    timeline.map(({ content_id }) => content_id),
    ids.map(String).reverse(),
  );
  assert.deepEqual([...timeline].reverse().sort(newestFirst), timeline);
  for (const id of [2 ** 53, 1e300, 1.5, Number.NaN, 0, -1, 0n, largest + 1n]) {
    await assert.rejects(async () => client.publish({ author_id: id }), TypeError, String(id));
    await assert.rejects(async () => client.user(id), TypeError, String(id));
  }
});

test("numbers beyond 2^53 keep their digits in JSON", async (t) => {
  const client = (await Server.start(t)).client();
  const extra = {
    large: 9007199254740993n,
    negative: -12345678901234567890n,
    small: 9007199254740991,
    deep: [{ list: [1, 18446744073709551615n] }],
    text: '"9007199254740993", \\"12345678901234567890\\',
    digits: "9007199254740993",
    half: 0.5,
  };
  await client.publish({ author_id: 1, content_id: 1, extra, media: [{ type: "x", url: "y", id: 2n ** 60n }] });
  const item = await client.item(1);
  assert.deepEqual(item.extra, extra);
  assert.deepEqual(item.media[0]?.id, 2n ** 60n);
  assert.equal(writeJson({ a: 2n ** 64n, b: ["2"] }), '{"a":18446744073709551616,"b":["2"]}');
  assert.deepEqual(parseJson('{"a":1234567890123456.5,"b":1e20,"9007199254740993":"\\\\"}'), {
    a: 1234567890123456.5,
    b: 1e20,
    "9007199254740993": "\\",
  });
});

test("the order of timelines", () => {
  const item = (published_at: number, content_id: string) => ({ published_at, content_id });
  const sorted = [
    item(2, "1"),
    item(1, "é"),
    item(1, "10"),
    item(1, "9"),
    item(0, "9223372036854775808"),
    item(0, "7"),
  ];
  assert.deepEqual([...sorted].reverse().sort(newestFirst), sorted);
});
