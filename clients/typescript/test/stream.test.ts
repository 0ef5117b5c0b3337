// Streams that are cut, silent, refused, or left behind.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { AnswerError, ConnectionError, type StreamEvent, type StreamOptions, Tideline } from "../src/index.js";
import { BlockReader } from "../src/sse.js";
import { sleep } from "../src/waits.js";
import { CuttingProxy, problem, Server, Stub, until } from "./support.js";

/** Reads a stream until it is stopped. */
function listen(client: Tideline, user: string, options: StreamOptions = {}) {
  const end = new AbortController();
  const events: StreamEvent[] = [];
  const stream = client.stream(user, { ...options, signal: end.signal });
  const done = (async () => {
    for await (const event of stream) events.push(event);
  })();
  done.catch(() => {});
  return {
    events,
    stream,
    count: (type: StreamEvent["type"]) => events.filter((event) => event.type === type).length,
    stop: async () => {
      end.abort("stopped");
      await assert.rejects(done, (reason) => reason === "stopped");
    },
  };
}

test("50 cuts: no event is lost, none comes twice", async (t) => {
  const server = await Server.start(t);
  const client = server.client();
  const proxy = await CuttingProxy.start(t, server.port);
  proxy.cutAfter = () => 300 + Math.floor(Math.random() * 6000);
  await client.follow("reader", "1");
  const reader = listen(server.client({ url: proxy.url, maxRetryDelay: 40 }), "reader");
  await until(() => reader.count("open") > 0, "the stream opens");
  const texts = new Map<string, string>();
  const deleted = new Set<string>();
  const restored = new Set<string>();
  const has = (id: string) => reader.events.some((event) => event.type === "content" && event.item.content_id === id);
  for (let n = 0; proxy.cuts < 50; n++) {
    assert(n < 20_000, `${proxy.cuts} cuts only`);
    const named = n % 3 === 0 ? { content_id: `item ${n} 🌊${n % 2 === 0 ? " " : ""}` } : {};
    const old = n % 5 === 0 ? { published_at: 1_700_000_000_000 + n } : {};
    const { content_id: id } = await client.publish({ author_id: 1, text: `${n}`, ...named, ...old });
    texts.set(id, `${n}`);
    if (n % 4 === 0) texts.set(id, (await client.edit(id, { text: `${n}, edited` })).text ?? "");
    if (n % 7 === 0) {
      await client.delete(id);
      deleted.add(id);
      if (n % 14 === 0) {
        await client.restore(id);
        deleted.delete(id);
        restored.add(id);
      }
    }
    // A reader that is more than 1,000 items behind gets a reset.
    if (n % 400 === 0) await until(() => has(id), `item ${n} arrives`, 120);
  }
  proxy.cutAfter = () => Number.POSITIVE_INFINITY;
  const { content_id: last } = await client.publish({ author_id: 1, text: "the last" });
  texts.set(last, "the last");
  await until(() => has(last), "the last item arrives", 120);
  await reader.stop();

  const shown = new Map<string, string>();
  const contents = new Map<string, number>();
  const changes = new Set<string>();
  for (const event of reader.events) {
    if (event.type === "open") continue;
    assert(event.type === "content" || event.type === "edit" || event.type === "delete", event.type);
    const { content_id: id } = event.item;
    if (event.type === "delete") shown.delete(id);
    else shown.set(id, event.item.text ?? "");
    if (event.type === "content") contents.set(id, (contents.get(id) ?? 0) + 1);
    else {
      const change = `${event.type} ${id} ${event.type === "edit" ? event.item.edited_at : ""}`;
      assert(!changes.has(change), `twice: ${change}`);
      changes.add(change);
    }
  }
  for (const id of deleted) texts.delete(id);
  assert.deepEqual(shown, texts);
  for (const [id, times] of contents) assert(times === 1 || (restored.has(id) && times === 2), `${id}: ${times} times`);
  assert(proxy.cuts >= 50 && reader.count("open") > 50, `${proxy.cuts} cuts, ${reader.count("open")} connections`);
  assert(reader.count("delete") > 10 && restored.size > 5);
});

test("notices and moved markers are told", async (t) => {
  const client = (await Server.start(t)).client();
  await client.publish({ author_id: "2", content_id: "mine" });
  const reader = listen(client, "2");
  await until(() => reader.count("open") === 1, "the stream opens");
  await client.react("mine", "like", "ben");
  await until(() => reader.count("notice") === 1, "the notice arrives");
  const [notice] = (await client.notices("2").page()).items;
  assert(notice?.kind === "reaction" && notice.actor?.user_id === "ben");
  const groups = await client.notices("2", { group: true }).page();
  assert.deepEqual(
    groups.items.map(({ count }) => count),
    [1],
  );
  assert.equal((await client.unreadNotices("2")).count, 1);
  assert.equal(await client.noticeMarker("2"), null);
  assert.equal(await client.moveNoticeMarker("2", notice.cursor), notice.cursor);
  await client.moveMarker("2", "5-1");
  await client.putList("2", "close");
  await client.moveListMarker("2", "close", "6-1");
  await until(() => reader.count("marker") === 3, "the markers arrive");
  assert.deepEqual(reader.events.slice(1), [
    { type: "notice", notice },
    { type: "marker", of: "notices", cursor: notice.cursor },
    { type: "marker", of: "timeline", cursor: "5-1" },
    { type: "marker", of: "list", list: "close", cursor: "6-1" },
  ]);
  await reader.stop();
});

test("a restart of the server is survived", async (t) => {
  const server = await Server.start(t);
  const client = server.client();
  await client.follow("2", "1");
  const reader = listen(client, "2");
  await until(() => reader.count("open") === 1, "the stream opens");
  await client.publish({ author_id: 1, content_id: "before" });
  await until(() => reader.count("content") === 1, "the item arrives");
  await server.kill("SIGKILL");
  await server.serve();
  await client.publish({ author_id: 1, content_id: "after" });
  await until(() => reader.count("content") === 2, "the item arrives");
  assert.equal(reader.count("reset"), 0);
  assert.match(reader.stream.lastEventId ?? "", /-after$/);
  await reader.stop();
});

test("silence is taken for a loss; comments of the server are not silence", async (t) => {
  const server = await Server.start(t, { "presence.heartbeat": "100ms" });
  const client = server.client();
  await client.follow("2", "1");
  const proxy = await CuttingProxy.start(t, server.port);
  const reader = listen(server.client({ url: proxy.url, maxRetryDelay: 100 }), "2", { heartbeatTimeout: 6000 });
  await until(() => reader.count("open") === 1, "the stream opens");
  await new Promise((resolve) => setTimeout(resolve, 7000));
  assert.equal(proxy.connections, 1);
  proxy.frozen = true;
  await client.publish({ author_id: 1, content_id: "kept back" });
  await until(() => proxy.connections > 1, "the client comes back");
  proxy.frozen = false;
  await until(() => reader.count("content") === 1, "the item arrives");
  assert.equal(reader.count("reset"), 0);
  await reader.stop();
});

test("a reset is told: too much was missed, the place is unknown, or the name in it", async (t) => {
  const server = await Server.start(t);
  const client = server.client();
  await client.follow("2", "1");
  const [first] = await client.publishBatch([{ author_id: 1, content_id: "first" }]);
  const batch = Array.from({ length: 1000 }, (_, n) => ({ author_id: 1, content_id: `${n + 1}` }));
  await client.publishBatch(batch);
  await client.publish({ author_id: 1 });
  for (const lastEventId of [`${first?.published_at}-first`, "1700000000000-77", "1700000000000-never seen"]) {
    const reader = listen(client, "2", { lastEventId });
    await until(() => reader.count("reset") === 1, "the reset");
    const { content_id } = await client.publish({ author_id: 1 });
    await until(() => reader.count("content") === 1, "the stream goes on");
    const told = reader.events.find((event) => event.type === "content");
    assert.equal(told?.item.content_id, content_id);
    await reader.stop();
  }
});

test("another stream goes on where one was left", async (t) => {
  const client = (await Server.start(t)).client();
  await client.follow("2", "1");
  // A stream that opens again would wait for ever: each item is published once.
  const onError = (error: unknown) => assert.fail(`a stream is lost: ${error}`);
  const options = { onError, signal: AbortSignal.timeout(120_000) };
  const one = client.stream("2", options);
  for await (const event of one) {
    assert(event.type === "open" || event.type === "content", event.type);
    if (event.type === "open") {
      await client.publish({ author_id: 1, content_id: "a" });
      await client.publish({ author_id: 1, content_id: "b 🌊" });
      await client.publish({ author_id: 1, content_id: "c" });
    }
    if (event.type === "content" && event.item.content_id === "b 🌊") break;
  }
  assert(one.lastEventId?.endsWith("-b 🌊"));
  for await (const event of client.stream("2", { ...options, lastEventId: one.lastEventId })) {
    if (event.type === "open") continue;
    assert.equal(event.type === "content" && event.item.content_id, "c");
    break;
  }
  await until(() => true, "");
  for (let n = 0; (await client.presence("2")).online; n++) {
    assert(n < 3000, "the stream is still open after the break");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("a reset that was not handled is told to the next stream again", async (t) => {
  const client = (await Server.start(t)).client();
  await client.follow("2", "1");
  const { published_at } = await client.publish({ author_id: 1, content_id: "known" });
  let lastEventId: string | undefined = "1700000000000-77";
  for (const handled of [false, false, true]) {
    const stream = client.stream("2", { lastEventId });
    for await (const event of stream) {
      if (event.type === "open") continue;
      if (event.type === "reset") {
        assert.equal(stream.lastEventId, "1700000000000-77");
        if (!handled) break;
        await client.publish({ author_id: 1, content_id: "later", published_at: published_at + 1 });
      } else {
        assert.equal(event.type === "content" && event.item.content_id, "later");
        assert.equal(stream.lastEventId, `${published_at + 1}-later`);
        break;
      }
    }
    ({ lastEventId } = stream);
  }
  assert.notEqual(lastEventId, "1700000000000-77");
});

test("a fetch without bodies ends a stream, and the read of a backup, with a clear error", async (t) => {
  const server = await Server.start(t, { "auth.keys": "k".repeat(32) });
  let requests = 0;
  const fetch = async (...request: Parameters<typeof globalThis.fetch>) => {
    requests++;
    const { ok, status, headers } = await globalThis.fetch(...request);
    return { ok, status, headers, text: async () => "" } as Response;
  };
  const final = { name: "TidelineError", message: /gives no `body`/ };
  const client = server.client({ fetch, key: "k".repeat(32) });
  await assert.rejects(client.stream("2")[Symbol.asyncIterator]().next(), final);
  assert.equal(requests, 1);
  const { name } = await server.client({ key: "k".repeat(32) }).takeBackup();
  await assert.rejects(client.readBackup(name), final);
  assert.equal(requests, 2);
  // With the `fetch` of React Native a stream would wait for the end of the answer.
  const body = Object.getOwnPropertyDescriptor(Response.prototype, "body") ?? {};
  t.mock.method(globalThis, "fetch", () => assert.fail("a request"));
  t.after(() => Object.defineProperty(Response.prototype, "body", body));
  Reflect.deleteProperty(Response.prototype, "body");
  await assert.rejects(server.client().stream("2")[Symbol.asyncIterator]().next(), final);
});

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("a long Retry-After is no reason to hurry", async (t) => {
  let over = false;
  const stop = new AbortController();
  sleep(30 * 86_400_000, stop.signal).then(
    () => {
      over = true;
    },
    () => {},
  );
  const stub = await Stub.start(t, problem(503, "overloaded", 2_592_000));
  const reader = listen(new Tideline({ url: stub.url, maxRetryDelay: 300 }), "2");
  const begun = Date.now();
  await pause(1400);
  const { length } = stub.requests;
  const most = 1 + (Date.now() - begun) / 300;
  assert(length <= most, `${length} requests, one each 300 ms at most`);
  await until(() => stub.requests.length >= 2, "a second request");
  await reader.stop();
  stop.abort();
  assert(!over, "the sleep of 30 days is over");
});

test("an answer that is no stream, and a stream that tells nothing, make the pauses longer, and are told", async (t) => {
  t.mock.method(Math, "random", () => 0.99);
  const page = { status: 200, headers: { "content-type": "text/html" }, body: "<html>\n\nLog in\n\n</html>" };
  const silent = { status: 200, headers: { "content-type": "Text/Event-Stream; charset=utf-8" }, body: "da" };
  const spoken = { ...silent, body: ": a comment\n\n" };
  const broken = { ...silent, body: "event: content\ndata: null\n\n" };
  for (const [answer, opens, most, error] of [
    [page, false, 5, AnswerError],
    [silent, true, 5, ConnectionError],
    [spoken, true, 20, ConnectionError],
    [broken, true, 5, AnswerError],
  ] as const) {
    const stub = await Stub.start(t, answer);
    const errors: unknown[] = [];
    const reader = listen(new Tideline({ url: stub.url }), "2", { onError: (error) => errors.push(error) });
    const begun = Date.now();
    await pause(2200);
    const { length } = stub.requests;
    // A busy machine may have slept for longer.
    if (Date.now() - begun < 3000) assert(length <= most, `${length} requests for ${JSON.stringify(answer)}`);
    await until(() => stub.requests.length >= 3 && errors.length >= 3, "three requests and their errors");
    if (answer === spoken) await until(() => stub.requests.length >= 6, "requests, because the stream spoke");
    await reader.stop();
    assert.equal(reader.count("open") > 0, opens);
    assert(
      errors.every((one) => one instanceof error),
      String(errors),
    );
  }
});

test("no pause of a stream is longer than five seconds", async (t) => {
  const real = globalThis.setTimeout;
  const pauses: number[] = [];
  t.mock.method(Math, "random", () => 0.99);
  t.mock.method(globalThis, "setTimeout", (work: () => void, milliseconds: number) => {
    if (milliseconds > 30_000) return real(work, milliseconds);
    pauses.push(milliseconds);
    return real(work, 0);
  });
  const fetch = () => Promise.reject(new TypeError("fetch failed"));
  let errors = 0;
  const onError = () => {
    if (++errors > 12) throw new Error("enough");
  };
  const stream = new Tideline({ url: "http://tideline.test", fetch }).stream("2", { onError });
  await assert.rejects(stream[Symbol.asyncIterator]().next(), /enough/);
  assert.equal(pauses.length, 12);
  assert(Math.max(...pauses) <= 5000 && Math.max(...pauses) > 4500, String(pauses));
});

test("a stream does not keep the items that it told", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const encoder = new TextEncoder();
  let n = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const item = { content_id: `${++n}`, author_id: "1", published_at: n, text: `${n}`.repeat(30_000) };
    controller.enqueue(encoder.encode(`id: ${n}-${n}\nevent: content\ndata: ${JSON.stringify(item)}\n\n`));
  };
  const headers = { "content-type": "text/event-stream" };
  const fetch = async () => new Response(new ReadableStream({ pull }), { headers });
  let [told, before] = [0, 0];
  for await (const event of new Tideline({ url: "http://tideline.test", fetch }).stream("2")) {
    if (event.type !== "content") continue;
    if (++told !== 100 && told !== 500) continue;
    collectGarbage();
    const { heapUsed } = process.memoryUsage();
    if (told === 500) {
      assert(heapUsed - before < 2 ** 23, `${heapUsed - before} bytes for 400 items`);
      break;
    }
    before = heapUsed;
  }
});

test("the format of events", () => {
  const reader = new BlockReader();
  const text = ": hi\r\n\r\nid: 1-a\r\n\r\nid:2-b\nevent: content\ndata: {\ndata: }\n\nretry: 5\r\rdata\n\nid: 3";
  const blocks = [...text].flatMap((letter) => reader.push(letter));
  assert.deepEqual(blocks, [
    { event: "", data: "", id: undefined },
    { event: "", data: "", id: "1-a" },
    { event: "content", data: "{\n}", id: "2-b" },
    { event: "", data: "", id: undefined },
    { event: "", data: "", id: undefined },
  ]);
  assert.throws(() => new BlockReader().push("x".repeat(2 ** 24 + 1)), AnswerError);
});
