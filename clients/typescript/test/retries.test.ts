// What is sent again, when, and what is not; errors; timeouts.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AnswerError,
  ConnectionError,
  ProblemError,
  Tideline,
  TidelineError,
  TimeoutError,
  VERSION,
} from "../src/index.js";
import { type Answer, problem, Server, Stub, until } from "./support.js";

const GOOD: Answer = { status: 200, body: { items: [], next: null, prev: null } };
const relation = (client: Tideline) => client.follow("2", "1");
const publish = (client: Tideline) => client.publish({ author_id: 1 });
const publishAgain = (client: Tideline) => client.publish({ author_id: 1, content_id: "c" });

/** The number of requests that a use of the client makes, and its error. */
async function tries(
  t: Parameters<typeof Stub.start>[0],
  use: (client: Tideline) => Promise<unknown>,
  ...answers: Answer[]
) {
  const stub = await Stub.start(t, ...answers);
  const timeout = answers.includes("hang") ? 2000 : 20_000;
  const client = new Tideline({ url: stub.url, retries: 3, maxRetryDelay: 1500, timeout });
  const error = await use(client).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { requests: stub.requests, error };
}

test("a 503 is repeated after Retry-After where the call may be repeated", async (t) => {
  const again = problem(503, "timeout", 0);
  for (const use of [
    relation,
    publishAgain,
    (c: Tideline) => c.timeline("2").page(),
    (c: Tideline) => c.unfollow("2", "1"),
    (c: Tideline) => c.restore("c"),
    (c: Tideline) => c.changeFollowing("2", { follow: [1] }),
    (c: Tideline) => c.publishBatch([{ author_id: 1, content_id: 1 }]),
    (c: Tideline) => c.comment("c", { author_id: 1, content_id: 2 }),
  ]) {
    const { requests, error } = await tries(t, use, again, again, GOOD);
    assert.deepEqual([requests.length, error], [3, undefined], String(use));
    assert.equal(requests[0]?.body, requests[2]?.body);
  }
  for (const use of [
    publish,
    (c: Tideline) => c.delete("c"),
    (c: Tideline) => c.edit("c", { text: "x" }),
    (c: Tideline) => c.takeBackup(),
    (c: Tideline) => c.comment("c", { author_id: 1 }),
    (c: Tideline) => c.publishBatch([{ author_id: 1, content_id: 1 }, { author_id: 1 }]),
  ]) {
    const { requests, error } = await tries(t, use, again, GOOD);
    assert.deepEqual([requests.length, (error as ProblemError).code], [1, "timeout"], String(use));
  }
});

test("an answer after which nothing has changed lets every call be repeated", async (t) => {
  for (const answer of [problem(503, "overloaded", 0), problem(429, "rate_limited", 0)]) {
    const { requests, error } = await tries(t, publish, answer, GOOD);
    assert.deepEqual([requests.length, error], [2, undefined]);
  }
});

test("the wait is at least Retry-After, and a longer one than allowed is not waited for", async (t) => {
  const { requests } = await tries(t, relation, problem(503, "stopping", 1), GOOD);
  assert((requests[1]?.at ?? 0) - (requests[0]?.at ?? 0) >= 990);
  const { requests: once, error } = await tries(t, relation, problem(503, "stopping", 2), GOOD);
  assert(error instanceof ProblemError);
  assert.deepEqual([once.length, error.retryAfter, error.code, error.requestId], [1, 2000, "stopping", "7"]);
});

test("repeats end", async (t) => {
  const { requests, error } = await tries(t, relation, problem(503, "stopping"));
  assert.deepEqual([requests.length, (error as ProblemError).code], [4, "stopping"]);
});

test("what a repeat cannot mend is not repeated", async (t) => {
  for (const answer of [problem(400, "invalid_id"), problem(409, "content_exists"), problem(500, "internal")]) {
    assert.equal((await tries(t, relation, answer)).requests.length, 1);
  }
});

test("lost connections and late answers", async (t) => {
  const { requests, error } = await tries(t, relation, "drop", "drop", GOOD);
  assert.deepEqual([requests.length, error], [3, undefined]);
  assert.equal((await tries(t, relation, "hang", GOOD)).requests.length, 2);
  const lost = await tries(t, publish, "drop", GOOD);
  assert(lost.error instanceof ConnectionError && lost.requests.length === 1);
  const late = await tries(t, publish, "hang", GOOD);
  assert(late.error instanceof TimeoutError && late.requests.length === 1);
  const nobody = new Tideline({ url: "http://127.0.0.1:9", retries: 0 });
  await assert.rejects(nobody.health(), ConnectionError);
});

test("an answer of a proxy is an error, too", async (t) => {
  const { error } = await tries(t, publish, { status: 502, body: "<h1>Bad gateway</h1>" });
  assert(error instanceof ProblemError);
  assert.deepEqual([error.status, error.code, error.problem], [502, "unknown", undefined]);
});

test("a good status with an answer that is not Tideline's is an error of the client", async (t) => {
  const uses = [
    (c: Tideline) => c.timeline("2").page(),
    (c: Tideline) => c.publishBatch([]),
    (c: Tideline) => c.relations("2", ["1"]),
    (c: Tideline) => c.marker("2"),
    (c: Tideline) => c.backups(),
  ];
  for (const body of ["<html></html>", "null", "[]", "{}", "", "7", `${"[".repeat(100_000)}1234567890123456789`]) {
    for (const use of uses) {
      const { requests, error } = await tries(t, use, { status: 200, body });
      assert(error instanceof AnswerError && requests.length === 1, `${body.slice(0, 20)}: ${error}`);
    }
  }
  const { error } = await tries(t, publish, { status: 200, headers: { "content-encoding": "gzip" }, body: "{}" });
  assert(error instanceof TidelineError, String(error));
});

test("a signal ends a call, also while it waits", async (t) => {
  const stub = await Stub.start(t, problem(503, "stopping", 1));
  const client = new Tideline({ url: stub.url });
  const end = new AbortController();
  const call = client.follow("2", "1", { signal: end.signal });
  const ended = assert.rejects(call, /enough/);
  await until(() => stub.requests.length === 1, "the request");
  await new Promise((resolve) => setTimeout(resolve, 100));
  end.abort(new Error("enough"));
  await ended;
  assert.equal(stub.requests.length, 1);
  await assert.rejects(client.follow("2", "1", { signal: end.signal }), /enough/);
  assert.equal(stub.requests.length, 1);
});

test("headers: the version, the id of the request, those of the caller", async (t) => {
  const stub = await Stub.start(t, GOOD);
  const client = new Tideline({ url: stub.url, key: "k", headers: { "x-team": "feeds" } });
  await client.timeline("2", { requestId: "abc" }).page();
  const { headers } = stub.requests[0] ?? assert.fail();
  assert.equal(headers["user-agent"], `tideline-client-js/${VERSION}`);
  assert.deepEqual([headers["x-request-id"], headers["x-team"], headers.authorization], ["abc", "feeds", "Bearer k"]);
});

test("problems of the real server", async (t) => {
  const client = (await Server.start(t)).client();
  const error = await client.publish({ author_id: "" }, { requestId: "my-request" }).catch((error: unknown) => error);
  assert(error instanceof ProblemError);
  assert.deepEqual([error.status, error.code, error.requestId], [400, "invalid_body", "my-request"]);
  assert.match(error.detail, /^author_id: /);
  assert.equal(error.problem?.type, "urn:tideline:problem:invalid_body");
  await assert.rejects(client.follow("2", "2"), { code: "self_follow", status: 422 });
  await assert.rejects(client.item("nothing"), { code: "content_not_found", status: 404 });
});

test("a rate limit of the real server slows a client down, and loses nothing", async (t) => {
  const server = await Server.start(t, { "rate_limits.per_address": "20", "rate_limits.per_address_burst": "5" });
  const client = server.client({ retries: 20 });
  const begun = Date.now();
  const all = await Promise.all(Array.from({ length: 40 }, (_, n) => client.publish({ author_id: 1, text: `${n}` })));
  assert(Date.now() - begun > 1000, `${Date.now() - begun} ms`);
  assert.equal(new Set(all.map(({ content_id }) => content_id)).size, 40);
  const page = await client.userContent("1", { limit: 100 }).page();
  assert.equal(page.items.length, 40, "an item was published twice");
  await assert.rejects(
    Promise.all(Array.from({ length: 100 }, () => server.client({ retries: 0 }).user("1"))),
    (error: ProblemError) => error.code === "rate_limited" && (error.retryAfter ?? 0) >= 1000,
  );
});

test("a restart of the server is waited for", async (t) => {
  const server = await Server.start(t);
  const client = server.client({ retries: 10 });
  await client.follow("2", "1");
  await server.kill("SIGKILL");
  const answer = client.follow("2", "3");
  await server.serve();
  assert.equal((await answer).relation, "following");
});
