// The tour of README.md with a client that is generated from the description: `api.ts` is made by openapi-typescript,
// so each call, parameter, body and answer below is checked by the compiler, then against a running server.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const baseUrl = process.argv[2];
assert(baseUrl, "usage: tour.js ADDRESS, with a key in TIDELINE_KEY if the server has keys");
const key = process.env["TIDELINE_KEY"];
const tideline = createClient<paths>(key ? { baseUrl, headers: { Authorization: `Bearer ${key}` } } : { baseUrl });

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The good answer, or the end of the tour. */
function good<T>({ data, error, response }: Answer<T>): T {
  if (data === undefined) {
    throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  }
  return data;
}

// The newest items from the people whom user 1 follows, page by page to the very first.
const scrolled: string[] = [];
let before: string | undefined;
do {
  const query = before === undefined ? { limit: 100 } : { limit: 100, before };
  const page = good(await tideline.GET("/v1/users/{uid}/timeline", { params: { path: { uid: "1" }, query } }));
  scrolled.push(...page.items.map((item) => item.content_id));
  before = page.next ?? undefined;
} while (before !== undefined);
assert(scrolled.length > 100 && new Set(scrolled).size === scrolled.length, `${scrolled.length} items`);

// A new user follows somebody, and has the earlier posts at once.
const reader = "reader é/100%";
const author = "1";
const mine = { path: { uid: reader } };
const following = { path: { uid: reader, target: author } };
const relation = good(await tideline.PUT("/v1/users/{uid}/following/{target}", { params: following }));
assert.equal(relation.relation, "following" satisfies components["schemas"]["RelationKind"]);
const own = good(await tideline.GET("/v1/users/{uid}/content", { params: { path: { uid: author } } }));
const first = good(await tideline.GET("/v1/users/{uid}/timeline", { params: mine }));
assert(own.items.length > 0);
assert.deepEqual(
  first.items.map((item) => item.content_id),
  own.items.map((item) => item.content_id),
);

// What is published is seen by the next read, and by a stream before that.
const stop = new AbortController();
const stream = await tideline.GET("/v1/users/{uid}/stream", { params: mine, parseAs: "stream", signal: stop.signal });
const body = { author_id: author, content_id: "50%/ß", text: "Hello, tide", topics: ["sea"], extra: { mood: "calm" } };
const hello = good(await tideline.POST("/v1/content", { body }));
assert.deepEqual([hello.author_id, hello.content_id], [author, body.content_id]);
const newest = good(
  await tideline.GET("/v1/users/{uid}/timeline", { params: { ...mine, query: { limit: 1, view: "ids" } } }),
);
assert.deepEqual(newest.items, [
  { content_id: hello.content_id, author_id: author, published_at: hello.published_at },
]);
let events = "";
for await (const bytes of stream.data as unknown as AsyncIterable<Uint8Array>) {
  events += new TextDecoder().decode(bytes);
  if (/^data: .*"Hello, tide"/m.test(events)) break;
}
stop.abort();
const name = "content" satisfies components["schemas"]["Event"]["event"];
assert.match(events, new RegExp(`^id: ${hello.published_at}-${hello.content_id}\nevent: ${name}\n`, "m"));

// The proof that the fast answer is the right one.
const proof = good(await tideline.GET("/v1/admin/users/{uid}/timeline/verify", { params: mine }));
assert.deepEqual([proof.exact, proof.complete], [true, true]);

// Mistakes get a clear answer, and the compiler knows the fields.
const mistake = await tideline.POST("/v1/content", { body: { author_id: "" } });
assert.equal(mistake.response.status, 400);
const problem = mistake.error satisfies components["schemas"]["Problem"] | undefined;
assert.equal(problem?.code, "invalid_body");
// @ts-expect-error: somebody has to publish it.
await tideline.POST("/v1/content", { body: { text: "Hello" } });
// @ts-expect-error: there is no such path.
await tideline.GET("/v1/timelines", {});

// Beyond the README: a profile and a like, seen in the timeline.
const profile = { path: { uid: author } };
good(await tideline.PUT("/v1/users/{uid}", { params: profile, body: { nickname: "Ebba" } }));
const like = { path: { content_id: hello.content_id, kind: "like", uid: reader } } as const;
const liked = good(await tideline.PUT("/v1/content/{content_id}/reactions/{kind}/{uid}", { params: like }));
assert.deepEqual([liked.active, liked.counts.reactions], [true, { like: 1 }]);
const shown = good(await tideline.GET("/v1/users/{uid}/timeline", { params: { ...mine, query: { limit: 1 } } }));
const [top] = shown.items;
assert.deepEqual([top?.author?.nickname, top?.viewer?.reactions, top?.counts?.reactions], ["Ebba", ["like"], { like: 1 }]);

// A comment counts on what it is about.
const subject = { path: { content_id: hello.content_id } };
const comment = { author_id: reader, text: "Ahoy" };
const said = good(await tideline.POST("/v1/content/{content_id}/comments", { params: subject, body: comment }));
assert.deepEqual([said.kind, said.ref_id, said.broadcast], ["comment", hello.content_id, false]);
assert.equal(good(await tideline.GET("/v1/content/{content_id}", { params: subject })).counts?.comments, 1);
const heard = good(await tideline.GET("/v1/content/{content_id}/comments", { params: subject }));
assert.deepEqual(heard.items.map((item) => item.content_id), [said.content_id]);

// Several items by their ids, then an edit, a delete, and its end.
const one = { path: { content_id: hello.content_id } };
const ids = [hello.content_id, said.content_id].join(",");
const listed = good(await tideline.GET("/v1/content", { params: { query: { ids } } }));
assert.equal(listed.items.length, 2);
const edited = good(await tideline.PATCH("/v1/content/{content_id}", { params: one, body: { text: "Hello, sea" } }));
assert.equal(edited.text, "Hello, sea");
assert(edited.edited_at !== undefined && edited.edited_at >= edited.published_at);
const gone = await tideline.DELETE("/v1/content/{content_id}", { params: one });
assert.equal(gone.response.status, 204);
const back = good(await tideline.POST("/v1/content/{content_id}/restore", { params: one }));
assert.deepEqual([back.text, back.counts?.reactions.like, back.counts?.comments], ["Hello, sea", 1, 1]);

console.log("the tour went well");
