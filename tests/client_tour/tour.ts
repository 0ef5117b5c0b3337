// The tour of README.md with a client that is generated from the description: `api.ts` is made by openapi-typescript,
// so each call, parameter, body and answer below is checked by the compiler, then against a running server.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const baseUrl = process.argv[2];
assert(baseUrl, "usage: tour.js ADDRESS");
const tideline = createClient<paths>({ baseUrl });

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The good answer, or the end of the tour. */
function good<T>({ data, error, response }: Answer<T>): T {
  if (data === undefined) {
    throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  }
  return data;
}

const reader = "900001";
const author = "1";

// A new user follows somebody, and has the earlier posts at once.
for (const text of ["High water", "Slack water", "Low water"]) {
  good(await tideline.POST("/v1/content", { body: { author_id: author, text } }));
}
const following = { path: { uid: reader, target: author } };
const relation = good(await tideline.PUT("/v1/users/{uid}/following/{target}", { params: following }));
assert.equal(relation.relation, "following" satisfies components["schemas"]["RelationKind"]);

const timeline = { path: { uid: reader } };
const texts: (string | undefined)[] = [];
let before: string | undefined;
do {
  const query = before === undefined ? { limit: 2 } : { limit: 2, before };
  const page = good(await tideline.GET("/v1/users/{uid}/timeline", { params: { ...timeline, query } }));
  texts.push(...page.items.map((item) => ("text" in item ? item.text : undefined)));
  before = page.next ?? undefined;
} while (before !== undefined);
assert.deepEqual(texts, ["Low water", "Slack water", "High water"]);

// What is published is seen by the next read.
const body = { author_id: 1, text: "Hello, tide", topics: ["sea"], extra: { mood: "calm" } };
const hello = good(await tideline.POST("/v1/content", { body }));
assert.equal(hello.author_id, author, "an id is a string in answers, whatever it was in the request");
const newest = good(
  await tideline.GET("/v1/users/{uid}/timeline", { params: { ...timeline, query: { limit: 1, view: "ids" } } }),
);
assert.deepEqual(newest.items, [
  { content_id: hello.content_id, author_id: author, published_at: hello.published_at },
]);

// The same with ids in the query, then an edit and a delete.
const one = { path: { content_id: hello.content_id } };
const listed = good(await tideline.GET("/v1/content", { params: { query: { ids: [hello.content_id] } } }));
assert.equal(listed.items.length, 1);
const edited = good(await tideline.PATCH("/v1/content/{content_id}", { params: one, body: { text: "Hello, sea" } }));
assert.equal(edited.text, "Hello, sea");
assert(edited.edited_at !== undefined && edited.edited_at >= edited.published_at);
const gone = await tideline.DELETE("/v1/content/{content_id}", { params: one });
assert.equal(gone.response.status, 204);

// The proof that the fast answer is the right one.
const proof = good(await tideline.GET("/v1/admin/users/{uid}/timeline/verify", { params: timeline }));
assert.deepEqual([proof.exact, proof.compared], [true, 3]);

// Mistakes get a clear answer, and the compiler knows the codes.
const mistake = await tideline.POST("/v1/content", { body: { author_id: 0 } });
assert.equal(mistake.response.status, 400);
const problem = mistake.error satisfies components["schemas"]["Problem"] | undefined;
assert.equal(problem?.code, "invalid_body");
// @ts-expect-error: somebody has to publish it.
await tideline.POST("/v1/content", { body: { text: "Hello" } });
// @ts-expect-error: there is no such path.
await tideline.GET("/v1/timelines", {});

console.log("the tour went well");
