// The feed of changes: whole and in order, from a position on, over losses, and gone.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Change,
  type Changes,
  ChangesGoneError,
  ConnectionError,
  ProblemError,
  Tideline,
  TimeoutError,
} from "../src/index.js";
import { type Answer, CuttingProxy, collect, problem, Server, Stub, until } from "./support.js";

const START = "0123456789abcdef-7";

function page(position: string, ...items: string[]): Answer {
  const changes = items.map((item) => ({ position: item, type: "marker.moved", at: 1, user_id: "u" }));
  return { status: 200, body: { items: changes, position } };
}

test("each change once and in order, from a position on", async (t) => {
  const client = (await Server.start(t)).client();
  const start = await client.changes({ after: "newest" }).page();
  assert.deepEqual(start.items, []);
  await client.publish({ author_id: "ä", content_id: "c" });
  for (let n = 0; n < 25; n++) await client.follow("2", 100 + n);
  await client.react("c", "like", "2");
  // More pages than one, and the positions of each.
  const all = await collect(client.changes({ limit: 10 }));
  assert.deepEqual(
    all.map(({ type }) => type),
    ["content.published", ...Array(25).fill("follow.created"), "reaction.created"],
  );
  assert.deepEqual(all[0], { ...all[0], user_id: "ä", content_id: "c", kind: "post" });
  assert.deepEqual(all[26], { ...all[26], user_id: "2", target_id: "ä", content_id: "c", kind: "like" });
  assert.equal(new Set(all.map(({ position }) => position)).size, 27);
  assert.deepEqual(await collect(client.changes({ after: start.position, limit: 4 })), all);
  for (const place of [0, 9, 26]) {
    const rest = await collect(client.changes({ after: all[place]?.position, limit: 10 }));
    assert.deepEqual(rest, all.slice(place + 1));
  }
  const types = ["reaction.created", "content.published"];
  assert.deepEqual(await collect(client.changes({ types, limit: 1 })), [all[0], all[26]]);
  assert.deepEqual(await collect(client.changes({ after: "newest" })), []);
  // A page that has no change of the types leads on, too.
  const pages = await collect(client.changes({ after: all[3]?.position, types: ["content.published"] }).pages());
  assert.deepEqual(pages, [{ items: [], position: all[26]?.position }]);
  await assert.rejects(
    client.changes({ after: START }).page(),
    (error) => error instanceof ProblemError && error.code === "invalid_parameter",
  );
});

test("a page without changes is not the end", async (t) => {
  const stub = await Stub.start(t, page("p1"), page("p2"), page("p3", "c"), page("p3"));
  const client = new Tideline({ url: stub.url });
  const pages = await collect(client.changes({ after: "p0", types: ["a"] }).pages());
  assert.deepEqual(
    pages.map(({ position }) => position),
    ["p1", "p2", "p3"],
  );
  assert.deepEqual(
    stub.requests.map(({ path }) => path),
    ["p0", "p1", "p2", "p3"].map((after) => `/v1/changes?after=${after}&types=a`),
  );
});

test("changes that are gone", async (t) => {
  const stub = await Stub.start(t, problem(410, "changes_gone"));
  for (const wait of [false, true]) {
    await assert.rejects(collect(new Tideline({ url: stub.url }).changes({ after: START, wait })), (error) => {
      assert(error instanceof ChangesGoneError && error instanceof ProblemError);
      assert.deepEqual([error.status, error.code, error.requestId], [410, "changes_gone", "7"]);
      return true;
    });
  }
  assert.equal(stub.requests.length, 2);
  const server = await Server.start(t, { "changes.keep": "0s" });
  await assert.rejects(server.client().changes().page(), ChangesGoneError);
});

test("a wait ends by an error that does not pass, by one of the caller, and by its signal", async (t) => {
  const stub = await Stub.start(t, page("p1", "c"), page("p1"), problem(403, "not_permitted"));
  await assert.rejects(collect(new Tideline({ url: stub.url }).changes({ wait: true })), /not_permitted/);
  assert.deepEqual(
    stub.requests.map(({ headers }) => headers.accept),
    ["*/*", "*/*", "text/event-stream"],
  );
  const stopping = await Stub.start(t, problem(503, "stopping", 60));
  const leave = new Error("leave");
  const onError = () => {
    throw leave;
  };
  const client = new Tideline({ url: stopping.url });
  await assert.rejects(collect(client.changes({ wait: true, onError })), (error) => error === leave);
  const idle = (await Server.start(t)).client();
  for (const feed of [client, idle]) {
    const end = new AbortController();
    setTimeout(() => end.abort("stopped"), 100);
    const reading = collect(feed.changes({ wait: true, signal: end.signal }));
    await assert.rejects(reading, (reason) => reason === "stopped");
  }
});

test("a wait goes on after silence, and places without changes", async (t) => {
  const server = await Server.start(t, { "presence.heartbeat": "100ms" });
  const client = server.client();
  const proxy = await CuttingProxy.start(t, server.port);
  const errors: unknown[] = [];
  const pages: Changes[] = [];
  // Also a page that is asked for while nothing comes back has a time of its own.
  const reader = server.client({ url: proxy.url, maxRetryDelay: 40, timeout: 5000, retries: 0 });
  const onError = (error: unknown) => errors.push(error);
  const feed = reader.changes({ types: ["mute.created"], wait: true, heartbeatTimeout: 6000, onError });
  const reading = (async () => {
    for await (const page of feed.pages()) {
      pages.push(page);
      if (page.items.length > 0) return;
    }
  })();
  await until(() => pages.length > 0, "the first position");
  await client.follow("a", "b");
  // A place without a change moves the position on.
  const end = await client.changes({ after: "newest" }).page();
  await until(() => pages.at(-1)?.position === end.position, "the new position");
  assert.equal(errors.length, 0);
  proxy.frozen = true;
  await until(() => errors.some((error) => error instanceof TimeoutError), "silence");
  proxy.frozen = false;
  await client.mute("a", "b");
  await reading;
  assert.equal(new Set(pages.map(({ position }) => position)).size, pages.length);
  assert.deepEqual(
    pages.flatMap(({ items }) => items.map(({ type }) => type)),
    ["mute.created"],
  );
});

test("a wait goes on over cuts and kills of the server", async (t) => {
  const server = await Server.start(t);
  const client = server.client();
  const proxy = await CuttingProxy.start(t, server.port);
  proxy.cutAfter = () => 300 + Math.floor(Math.random() * 6000);
  for (const url of [proxy.url, server.url]) {
    const { position: after } = await client.changes({ after: "newest" }).page();
    const changes: Change[] = [];
    let lost = 0;
    const onError = (error: unknown) => {
      if (error instanceof ConnectionError) lost++;
    };
    const reading = (async () => {
      const reader = server.client({ url, maxRetryDelay: 40, retries: 1 });
      for await (const change of reader.changes({ after, wait: true, limit: 10, onError })) {
        changes.push(change);
        if (change.user_id === "the last") return;
      }
    })();
    for (let n = 0; n < 300; n++) {
      await client.follow(`user ${n}`, url);
      if (n % 100 === 50 && url === server.url) {
        await server.kill("SIGKILL");
        lost = 0;
        await until(() => lost > 0, "an error");
        await server.serve();
      }
    }
    await client.follow("the last", url);
    await reading;
    assert.deepEqual(
      changes.map(({ user_id }) => user_id),
      [...Array.from({ length: 300 }, (_, n) => `user ${n}`), "the last"],
    );
    assert.deepEqual(await collect(client.changes({ after })), changes);
  }
  assert(proxy.cuts > 5);
});
