// What reads ask of a node of a cluster: the parameter, and the position of earlier answers.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Options, ProblemError, Tideline } from "../src/index.js";
import { type Answer, problem, Server, Stub } from "./support.js";

const page = { items: [], next: null, prev: null };

/** An answer of a node. */
const at = (position: string): Answer => ({ status: 200, body: page, headers: { "tideline-position": position } });

async function pair(test: TestContext, options: Partial<Options>, ...answers: Answer[]): Promise<[Tideline, Stub]> {
  const stub = await Stub.start(test, ...answers);
  return [new Tideline({ url: stub.url, retries: 0, ...options }), stub];
}

/** The query and the position of each request. */
const asked = (stub: Stub) =>
  stub.requests.map(({ path, headers }) => [path.split("?")[1] ?? "", headers["tideline-position"]]);

test("without the option the server decides, and gets the position", async (test) => {
  const [client, stub] = await pair(test, {}, at("7"));
  await client.unread(1);
  await client.unread(1);
  assert.deepEqual(asked(stub), [
    ["", undefined],
    ["", "7"],
  ]);
});

test("a session sends the position of the newest answer, and is strict before there is one", async (test) => {
  const answers = [at("9"), at("x"), at("10"), { status: 200, body: page }, at("a~b")];
  const [client, stub] = await pair(test, { consistency: "session" }, ...answers);
  assert.equal(client.position, undefined);
  await client.timeline(1).page();
  await client.follow(1, 2);
  for (let n = 0; n < 3; n++) await client.timeline(1, { limit: 3 }).page();
  assert.deepEqual(asked(stub), [
    ["consistency=strict", undefined],
    ["", "9"],
    ["limit=3&consistency=session", "x"],
    ["limit=3&consistency=session", "10"],
    ["limit=3&consistency=session", "10"],
  ]);
  assert.equal(client.position, "a~b");
});

test("answers at the same time are kept until one answer has them all", async (test) => {
  const names = Array.from({ length: 51 }, (_, n) => `p${n}`);
  const [client, stub] = await pair(test, { consistency: "session" }, ...names.map(at), at("q"), at("r"));
  await Promise.all(names.map(() => client.user(1, { consistency: "local" })));
  assert.deepEqual(client.position?.split(", ").sort(), [...names].sort());
  await client.user(1);
  assert.equal(client.position, "q");
  await client.user(1);
  assert.equal(client.position, "r");
  assert.deepEqual(asked(stub).slice(51), [
    ["consistency=strict", undefined],
    ["consistency=session", "q"],
  ]);
});

test("changes alone keep no more positions than there are requests at the same time", async (test) => {
  const rounds = Array.from({ length: 6 }, (_, round) => Array.from({ length: 120 }, (_, n) => `${round}-${n}`));
  const [client, stub] = await pair(test, {}, ...rounds.flat().map(at));
  for (const round of rounds) await Promise.all(round.map(() => client.follow(1, 2)));
  assert.ok((client.position ?? "").split(", ").length <= 240, client.position);
  for (const [, position] of asked(stub)) assert.ok(String(position).split(", ").length <= 50);
});

test("a call has its own consistency, and the position can be set", async (test) => {
  const [client, stub] = await pair(test, { consistency: "session" }, { status: 200, body: page });
  await client.user(1, { consistency: "local" });
  client.position = "41";
  await client.user(1);
  await client.user(1, { consistency: "strict" });
  client.position = undefined;
  await client.user(1);
  assert.deepEqual(asked(stub), [
    ["consistency=local", undefined],
    ["consistency=session", "41"],
    ["consistency=strict", "41"],
    ["consistency=strict", undefined],
  ]);
});

test("a refused change has a position too, and calls about one server ask for nothing", async (test) => {
  const refused = problem(404, "content_not_found") as Exclude<Answer, string>;
  refused.headers = { ...refused.headers, "tideline-position": "5" };
  const [client, stub] = await pair(test, { consistency: "session" }, refused, at("5"));
  await assert.rejects(client.delete("c"), ProblemError);
  await client.stats();
  await client.cluster();
  await client.user(1);
  assert.deepEqual(asked(stub).slice(1), [
    ["", "5"],
    ["", "5"],
    ["consistency=session", "5"],
  ]);
});

test("a stream asks, too", async (test) => {
  const answer = { status: 200, body: ": hi\n\n", headers: { "content-type": "text/event-stream" } };
  const [client, stub] = await pair(test, { consistency: "session" }, answer);
  client.position = "3";
  for await (const event of client.stream(1)) if (event.type === "open") break;
  for await (const event of client.stream(1, { consistency: "local" })) if (event.type === "open") break;
  assert.deepEqual(asked(stub), [
    ["consistency=session", "3"],
    ["consistency=local", "3"],
  ]);
});

test("a single server takes every consistency", async (test) => {
  const server = await Server.start(test);
  for (const consistency of ["strict", "session", "local"] as const) {
    const client = server.client({ consistency });
    await client.publish({ author_id: 1, text: consistency });
    const [newest] = (await client.userContent(1).page()).items;
    assert.equal(newest?.text, consistency);
    assert.equal(client.position, undefined);
  }
});
