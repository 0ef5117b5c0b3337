// Keys, user tokens, and tokens that expire.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Credentials } from "../src/credentials.js";
import { ConnectionError, LoggedOutError, type ProblemError, Tideline } from "../src/index.js";
import { problem, Server, Stub, until, userToken } from "./support.js";

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
  let renewedAt = 0;
  const client = server.client({
    token: async () => {
      renewals++;
      renewedAt = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 20));
      return userToken(SECRET, "reader é", 2);
    },
  });
  const begun = Date.now();
  let requests = 0;
  const took = () => Date.now() - begun;
  while (took() < 6000 || (took() < 60_000 && (requests <= 100 || renewals < 3))) {
    const all = Array.from({ length: 10 }, (_, n) => client.follow("reader é", `author ${n}`));
    requests += (await Promise.all(all)).filter(({ relation }) => relation === "following").length;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert(requests > 100);
  assert(renewals >= 3 && renewals <= 3 + took() / 700, `${renewals} renewals`);
  await assert.rejects(client.user("1"), { code: "not_permitted" });
  // A token that has just come is not due, unless a busy machine takes long.
  for (let isDue = true; isDue; ) {
    for (const last = renewals; renewals === last; ) await client.follow("reader é", "author 1");
    const [before, at] = [renewals, renewedAt];
    await assert.rejects(client.publish({ author_id: "reader é" }), { code: "not_permitted" });
    isDue = Date.now() - at > 700;
    assert(isDue || renewals === before, "a token that is good is kept");
  }
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
  const begun = Date.now();
  const took = () => Date.now() - begun;
  while (took() < 6000 || (took() < 60_000 && (opened < 3 || renewals < 3))) {
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

test("tokens are renewed before they end, once for calls and streams, and none is refused", async (t) => {
  const server = await Server.start(t, { ...SETTINGS, "auth.leeway": "5s" });
  let renewals = 0;
  let atOnce = 0;
  const token = async () => {
    renewals++;
    assert.equal(++atOnce, 1);
    await new Promise((resolve) => setTimeout(resolve, 50));
    atOnce--;
    return userToken(SECRET, "2", 3);
  };
  const refused: number[] = [];
  let streams = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init);
    if (`${input}`.endsWith("/stream")) streams++;
    if (!response.ok) refused.push(response.status);
    return response;
  };
  const client = server.client({ token, fetch });
  const end = new AbortController();
  const listening = Promise.all(
    [1, 2, 3].map(async () => {
      for await (const event of client.stream("2", { signal: end.signal })) assert.equal(event.type, "open");
    }),
  );
  listening.catch(() => {});
  const begun = Date.now();
  while (streams < 6) {
    assert(Date.now() - begun < 60_000, `${streams} streams opened`);
    await Promise.all(Array.from({ length: 5 }, () => client.user("2")));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  end.abort(new Error("enough"));
  await assert.rejects(listening, /enough/);
  assert.deepEqual(refused, []);
  assert(renewals >= 3 && renewals <= 3 + (Date.now() - begun) / 1000, `${renewals} renewals`);
});

test("when a token is renewed", async (t) => {
  const now = 1_800_000_000_000;
  t.mock.timers.enable({ apis: ["Date"], now });
  const at = (seconds: number) => t.mock.timers.setTime(now + seconds * 1000);
  const { signal } = new AbortController();
  const given: (string | Error)[] = [];
  let calls = 0;
  const source = () => {
    calls++;
    const next = given.shift() ?? "none";
    if (next instanceof Error) throw next;
    return next;
  };
  const hour = userToken(SECRET, "é?>", 3600);
  const credentials = new Credentials(source, 1000);
  const read = async (seconds: number, callsThen: number) => {
    at(seconds);
    const token = await credentials.current(signal);
    assert.equal(calls, callsThen, `calls at ${seconds} s`);
    return token;
  };
  given.push(hour);
  assert.equal(await read(0, 1), hour);
  assert.equal(await read(3569, 1), hour);
  // The function fails while the last token is good: half of the rest later it is asked again.
  given.push(new Error("tunnel"), new Error("tunnel"), new Error("tunnel"));
  assert.equal(await read(3571, 2), hour);
  assert.equal(await read(3585, 2), hour);
  assert.equal(await read(3586, 3), hour);
  await assert.rejects(read(3600, 4), ({ reason }) => /tunnel/.test(reason));
  assert.equal(calls, 4);
  // A log-out counts at once.
  given.push(userToken(SECRET, "2", 100), new LoggedOutError());
  await read(3601, 5);
  await assert.rejects(read(3695, 6), ({ reason }) => reason instanceof LoggedOutError);
  // A token without an end that can be read, and one that has ended by this clock, are used until they are refused.
  for (const opaque of [
    "opaque",
    "a.b.c",
    "a.e30.c",
    "a.bnVsbA.c",
    "a.eyJleHAiOiJ4In0.c",
    userToken(SECRET, "2", -9000),
  ]) {
    calls = 0;
    given.push(opaque, "next");
    const other = new Credentials(source, 1000);
    for (const seconds of [4000, 5000, 90_000]) {
      at(seconds);
      assert.equal(await other.current(signal), opaque);
    }
    assert.equal(calls, 1);
    assert.equal(other.drop("another"), true);
    assert.equal(await other.current(signal), opaque);
    assert.equal(other.drop(opaque), true);
    assert.equal(await other.current(signal), "next");
    at(0);
  }
});

test("a token function that does not answer", async () => {
  let calls = 0;
  const token = () => (++calls > 1 ? "good" : new Promise<string>(() => {}));
  const credentials = new Credentials(token, 100);
  const end = new AbortController();
  const ended = credentials.current(end.signal);
  const { signal } = new AbortController();
  const waiting = credentials.current(signal);
  end.abort(new Error("enough"));
  await assert.rejects(ended, /enough/);
  await assert.rejects(waiting, ({ reason }) => /no token within 100 ms/.test(reason));
  assert.equal(await credentials.current(signal), "good");
  assert.equal(calls, 2);
});

test("an error of the token function: calls throw it, a stream waits and tries again", async (t) => {
  const server = await Server.start(t, SETTINGS);
  await server.client({ key: KEY }).follow("2", "1");
  const failures: unknown[] = [
    new TypeError("fetch failed"),
    new ConnectionError("no backend"),
    "a text",
    new RangeError("a mistake"),
  ];
  let calls = 0;
  const token = () => {
    calls++;
    if (failures.length > 0) throw failures.shift();
    return userToken(SECRET, "2", 600);
  };
  const client = server.client({ token, maxRetryDelay: 50 });
  await assert.rejects(client.user("2"), TypeError);
  await assert.rejects(client.user("2"), /^ConnectionError: no backend$/);
  assert.equal(calls, 2);
  const reported: unknown[] = [];
  for await (const event of client.stream("2", { onError: (error) => reported.push(error) })) {
    assert.equal(event.type, "open");
    break;
  }
  assert.equal(reported[0], "a text");
  assert(reported[1] instanceof RangeError);
  assert.equal(reported.length, 2);
  assert.equal((await client.user("2")).user_id, "2");
  assert.equal(calls, 5);
});

test("an error of the token function that is final, and one that onError makes final, end a stream", async (t) => {
  const refusing = await Stub.start(t, problem(403, "bad_credentials"));
  class SignedOut extends LoggedOutError {}
  const answers = ["opaque", new SignedOut("log in again")];
  const token = async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? assert.fail("asked again");
  };
  const client = new Tideline({ url: refusing.url, token });
  const events = client.stream("2")[Symbol.asyncIterator]();
  await assert.rejects(events.next(), SignedOut);
  assert.equal((await events.next()).done, true);
  assert.equal(refusing.requests.length, 1);

  const failing = new Tideline({ url: refusing.url, token: () => Promise.reject(new Error("a mistake")) });
  const onError = (error: unknown) => {
    throw error;
  };
  await assert.rejects(failing.stream("2", { onError })[Symbol.asyncIterator]().next(), /a mistake/);
});

test("a stream with wrong credentials ends", async (t) => {
  const server = await Server.start(t, SETTINGS);
  const events = server
    .client({ key: `${KEY}!` })
    .stream("2")
    [Symbol.asyncIterator]();
  await assert.rejects(events.next(), { code: "bad_credentials" });
});
