// Keys, user tokens, and tokens that expire.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ProblemError, Tideline } from "../src/index.js";
import { Server, until, userToken } from "./support.js";

const KEY = "a-key-of-at-least-thirty-two-characters";
const SECRET = "a-secret-of-at-least-thirty-two-characters";
const SETTINGS = { "auth.keys": KEY, "auth.jwt_secrets": SECRET, "auth.leeway": "0s", "presence.heartbeat": "200ms" };

test("keys", async (t) => {
  const server = await Server.start(t, SETTINGS);
  assert.equal((await server.client({ key: KEY }).follow("2", "1")).relation, "following");
  await assert.rejects(server.client().user("1"), { code: "no_credentials", status: 401 });
  await assert.rejects(server.client({ key: `${KEY}!` }).user("1"), { code: "bad_credentials", status: 403 });
  assert.throws(() => new Tideline({ url: server.url, key: KEY, token: "t" }), TypeError);
});

test("a token that expires is renewed once for all requests", async (t) => {
  const server = await Server.start(t, SETTINGS);
  let renewals = 0;
  const client = server.client({
    token: async () => {
      renewals++;
      await new Promise((resolve) => setTimeout(resolve, 20));
      return userToken(SECRET, "reader é", 2);
    },
  });
  const begun = Date.now();
  let requests = 0;
  while (Date.now() - begun < 6000) {
    const all = Array.from({ length: 10 }, (_, n) => client.follow("reader é", `author ${n}`));
    requests += (await Promise.all(all)).filter(({ relation }) => relation === "following").length;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert(requests > 100);
  assert(renewals >= 3 && renewals <= 8, `${renewals} renewals`);
  await assert.rejects(client.user("1"), { code: "not_permitted" });
  const before = renewals;
  await assert.rejects(client.publish({ author_id: "reader é" }), { code: "not_permitted" });
  assert.equal(renewals, before, "a token that is good is kept");
});

test("a token that cannot be renewed is an error", async (t) => {
  const server = await Server.start(t, SETTINGS);
  const expired = userToken(SECRET, "2", -5);
  await assert.rejects(server.client({ token: expired }).user("2"), { code: "bad_credentials" });
  let renewals = 0;
  const token = () => {
    renewals++;
    return expired;
  };
  const client = server.client({ token });
  await assert.rejects(client.user("2"), (error: ProblemError) => /expired/.test(error.detail));
  assert.equal(renewals, 2);
  await assert.rejects(server.client({ token: () => Promise.reject(new Error("log in")) }).user("2"), /log in/);
});

test("a stream goes on over the ends of its tokens", async (t) => {
  const server = await Server.start(t, SETTINGS);
  const host = server.client({ key: KEY });
  await host.follow("2", "1");
  let renewals = 0;
  const token = () => {
    renewals++;
    return userToken(SECRET, "2", 2);
  };
  const client = server.client({ token });
  const end = new AbortController();
  const texts: string[] = [];
  let opened = 0;
  const listening = (async () => {
    for await (const event of client.stream("2", { signal: end.signal })) {
      if (event.type === "open") opened++;
      else if (event.type === "content") texts.push(event.item.text ?? "");
      else assert.fail(event.type);
    }
  })();
  await until(() => opened > 0, "the stream opens");
  const sent: string[] = [];
  for (const begun = Date.now(); Date.now() - begun < 6000; ) {
    sent.push(`${sent.length}`);
    await host.publish({ author_id: 1, text: sent.at(-1) });
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await until(() => texts.length >= sent.length, "all items arrive");
  end.abort(new Error("enough"));
  await assert.rejects(listening, /enough/);
  assert.deepEqual(texts, sent);
  assert(opened >= 3 && renewals >= 3, `${opened} connections, ${renewals} renewals`);
});

test("a stream with wrong credentials ends", async (t) => {
  const server = await Server.start(t, SETTINGS);
  const events = server
    .client({ key: `${KEY}!` })
    .stream("2")
    [Symbol.asyncIterator]();
  await assert.rejects(events.next(), { code: "bad_credentials" });
});
