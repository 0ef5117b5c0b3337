// The tour with a client of openapi-typescript: each call, parameter, body and answer is checked by the compiler.

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const [baseUrl, name] = process.argv.slice(2);
assert(baseUrl && name);
const tideline = createClient<paths>({ baseUrl });

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** The good answer, or the end of the tour. */
function good<T>({ data, error, response }: Answer<T>): T {
  if (data === undefined) {
    throw new Error(`${response.url}: ${response.status} ${JSON.stringify(error)}`);
  }
  return data;
}

const [author, reader, item] = [`${name} author/é`, `${name} reader/é`, `${name} item`];
const settings = { path: { uid: author } };
good(await tideline.PUT("/v1/users/{uid}/settings", { params: settings, body: { approve_followers: true } }));
assert(good(await tideline.GET("/v1/users/{uid}/settings", { params: settings })).approve_followers);

const following = { path: { uid: reader, target: author } };
const asked = good(await tideline.PUT("/v1/users/{uid}/following/{target}", { params: following }));
assert.deepEqual([asked.relation, asked.requested], ["none" satisfies components["schemas"]["RelationKind"], true]);
const request = { path: { uid: author, from: reader } };
good(await tideline.PUT("/v1/users/{uid}/follow-requests/{from}", { params: request }));
const rule = { only: ["note"], except: null };
const follow = good(await tideline.PUT("/v1/users/{uid}/following/{target}", { params: following, body: rule }));
assert.deepEqual([follow.relation, follow.only], ["following", ["note"]]);

const content: components["schemas"]["NewContent"] = {
  author_id: author,
  content_id: item,
  kind: "note",
  text: "Hello, tide",
  topics: ["sea"],
  media: [{ type: "image", url: "https://example.org/tide.jpg" }],
  extra: { mood: "calm" },
  audience: "followers",
};
good(await tideline.POST("/v1/content", { body: content }));
const liked = { path: { content_id: item, kind: "like", uid: reader } };
good(await tideline.PUT("/v1/content/{content_id}/reactions/{kind}/{uid}", { params: liked }));
const timeline = { path: { uid: reader }, query: { limit: 1 } };
const [top] = good(await tideline.GET("/v1/users/{uid}/timeline", { params: timeline })).items;
assert.deepEqual([top?.text, top?.extra, top?.counts?.reactions["like"]], ["Hello, tide", { mood: "calm" }, 1]);

const one = { path: { content_id: item } };
const edited = good(await tideline.PATCH("/v1/content/{content_id}", { params: one, body: { text: "Hello, sea" } }));
assert.deepEqual([edited.text, edited.media?.length], ["Hello, sea", 1]);

const oneself = { path: { uid: reader, target: reader } };
const mistake = await tideline.PUT("/v1/users/{uid}/following/{target}", { params: oneself });
const problem = mistake.error satisfies components["schemas"]["Problem"] | undefined;
assert.deepEqual([mistake.response.status, problem?.code], [422, "self_follow"]);

const changes = good(await tideline.GET("/v1/changes", { params: { query: { limit: 5 } } }));
assert.equal(changes.items.length, 5);

const stop = new AbortController();
const stream = await tideline.GET("/v1/users/{uid}/stream", {
  params: { path: { uid: reader } },
  parseAs: "stream",
  signal: stop.signal,
});
good(await tideline.POST("/v1/content", { body: { author_id: author, kind: "note", text: "told" } }));
let events = "";
for await (const bytes of stream.data as unknown as AsyncIterable<Uint8Array>) {
  events += new TextDecoder().decode(bytes);
  if (/^event: content\ndata: .*"told"/m.test(events)) break;
}
stop.abort();

// @ts-expect-error: somebody has to publish it.
const incomplete: components["schemas"]["NewContent"] = { text: "Hello" };
// @ts-expect-error: there is no such field.
const unknown: components["schemas"]["NewSettings"] = { approve_follower: true };
assert(incomplete && unknown);
