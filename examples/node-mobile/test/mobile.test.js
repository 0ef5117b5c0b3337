import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { SignJWT } from "jose";
import { Tideline } from "tideline-client";
import { App } from "../app.js";
import { userToken } from "../tokens.js";
import { start, until } from "./support.js";

const texts = (items) => items.map(({ text }) => text);
const all = async (list) => {
  const items = [];
  for await (const item of list) items.push(item);
  return items;
};
/** Runs `watch` of an app until the test ends. */
function watched(t, app) {
  const end = new AbortController();
  const done = app.watch(() => {}, end.signal).catch((error) => end.signal.aborted || Promise.reject(error));
  t.after(() => {
    end.abort();
    return done;
  });
}

test("a user reads its timeline, marks it as read, and likes", async (t) => {
  const { user, tideline } = await start(t);
  const [ana, ben] = [await user("ana"), await user("ben")];
  await ana.follow(ben.user);
  for (let number = 0; number < 70; number++) await ben.post(`${number}`);
  const items = await all(ana.timeline());
  assert.deepEqual(
    texts(items),
    Array.from({ length: 70 }, (_, number) => `${69 - number}`),
  );
  assert.equal(items[0].author.nickname, "ben");
  assert.equal(await ana.unread(), 70);
  await ana.markAsRead(items[10]);
  assert.equal(await ana.unread(), 10);
  await ana.markAsRead(items[0]);
  assert.equal(await ana.unread(), 0);
  await ana.like(items[3]);
  await ana.like(items[3]);
  const liked = (await ana.timeline().page()).items[3];
  assert.deepEqual([liked.counts.reactions, liked.viewer.reactions], [{ like: 1 }, ["like"]]);
  await ana.unlike(items[3]);
  assert.equal((await ana.timeline().page()).items[3].counts.reactions.like, undefined);
  await ana.unfollow(ben.user);
  assert.deepEqual(await all(ana.timeline()), []);
  assert.equal((await tideline.user(ben.user)).counts.followers, 0);
});

test("a stream outlives its tokens, and shows each change once", async (t) => {
  const { user, tideline, tokens } = await start(t, { tokenSeconds: 2 });
  const [ana, ben] = [await user("ana"), await user("ben")];
  await ana.follow(ben.user);
  await ben.post("before");
  watched(t, ana);
  await until(() => ana.items.length === 1, "the first page");
  const wanted = ["before"];
  const before = tokens();
  for (const end = Date.now() + 60_000; tokens() < before + 3; ) {
    assert(Date.now() < end, `${tokens() - before} new tokens`);
    wanted.unshift(`${wanted.length}`);
    await ben.post(wanted[0]);
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  await until(() => ana.items.length >= wanted.length, "the last post");
  assert.deepEqual(texts(ana.items), wanted);
  const [{ content_id: id }] = ana.items;
  await tideline.edit(id, { text: "edited" });
  await until(() => ana.items[0].text === "edited", "the edit");
  await tideline.delete(id);
  await until(() => ana.items.length === wanted.length - 1, "the delete");
  await tideline.restore(id);
  await until(() => ana.items[0].text === "edited", "the restore");
  assert.deepEqual(texts(ana.items).slice(1), wanted.slice(1));
  const published_at = ana.items[3].published_at - 1;
  await tideline.publish({ content_id: "older", author_id: ben.user, text: "older", published_at });
  await until(() => ana.items.length > wanted.length, "the item with an earlier time");
  assert.deepEqual(texts(ana.items).slice(3, 6), [wanted[3], "older", wanted[4]]);
});

test("a post that comes while the first page is loaded is shown once", async (t) => {
  const { user } = await start(t);
  const [ana, ben] = [await user("ana"), await user("ben")];
  await ana.follow(ben.user);
  await ben.post("before");
  const list = ana.timeline();
  t.mock.method(ana, "timeline", () => ({
    page: async () => {
      await ben.post("in the page and in the stream");
      const page = await list.page();
      await ben.post("in the stream");
      return page;
    },
  }));
  watched(t, ana);
  await until(() => ana.items.length >= 3, "the last post");
  await ben.post("last");
  await until(() => texts(ana.items)[0] === "last", "the post after all");
  assert.deepEqual(texts(ana.items), ["last", "in the stream", "in the page and in the stream", "before"]);
});

test("nobody reads or changes anything of others", async (t) => {
  const { user, tideline } = await start(t);
  const [ana, ben, eve] = [await user("ana"), await user("ben"), await user("eve")];
  await ben.follow(ana.user);
  await ana.post("for ben");
  const mine = eve.tideline;
  const calls = {
    timeline: () => mine.timeline(ben.user).page(),
    unread: () => mine.unread(ben.user),
    marker: () => mine.marker(ben.user),
    moveMarker: () => mine.moveMarker(ben.user, "1-1"),
    relations: () => mine.relations(ben.user, [ana.user]),
    mutes: () => mine.mutes(ben.user).page(),
    requests: () => mine.followRequests(ben.user).page(),
    settings: () => mine.settings(ben.user),
    presence: () => mine.setPresence(ben.user, true),
    stream: () => mine.stream(ben.user)[Symbol.asyncIterator]().next(),
    react: () => mine.react("1", "like", ben.user),
    follow: () => mine.follow(ben.user, eve.user),
    mute: () => mine.mute(ben.user, ana.user),
    block: () => mine.block(ben.user, ana.user),
    comment: () => mine.comment("1", { author_id: eve.user, text: "as myself" }),
    publish: () => mine.publish({ author_id: eve.user, text: "as myself" }),
    publishAs: () => mine.publish({ author_id: ana.user, text: "as ana" }),
    stats: () => mine.stats(),
    verify: () => mine.verify(eve.user),
  };
  for (const [name, call] of Object.entries(calls)) {
    await assert.rejects(call, { status: 403, code: "not_permitted" }, name);
  }
  assert.deepEqual(texts((await ben.timeline().page()).items), ["for ben"]);
  assert.equal((await tideline.user(eve.user)).counts.content, 0);
});

test("the app reads what its user may see, and nothing else", async (t) => {
  const { user, tideline } = await start(t);
  const [ana, ben, eve] = [await user("ana"), await user("ben"), await user("eve")];
  await ana.follow(ben.user);
  await ben.post("for all");
  await ben.post("for followers", crypto.randomUUID(), { audience: "followers" });
  assert.deepEqual(texts(await all(ana.posts(ben.user))), ["for followers", "for all"]);
  assert.deepEqual(texts(await all(eve.posts(ben.user))), ["for all"]);
  const profile = await eve.profile(ben.user);
  assert.deepEqual([profile.nickname, profile.counts.followers], ["ben", 1]);

  const [hidden, open] = (await ana.timeline().page()).items;
  for (const item of [hidden, open]) {
    await ana.repost(item, "look");
    await ana.comment(item, `on ${item.text}`);
  }
  const [ofHidden, ofOpen] = (await all(eve.posts(ana.user))).reverse();
  assert.equal((await eve.original(ofOpen)).text, "for all");
  assert.equal(await eve.original(ofHidden), undefined);
  assert.deepEqual(texts(await all(eve.comments(open))), ["on for all"]);
  await assert.rejects(eve.comments(hidden).page(), { status: 404 });
  await assert.rejects(eve.comment(hidden, "on what I do not see"), { status: 404 });
  await assert.rejects(eve.repost({ content_id: "no UUID" }, "of nothing"), { status: 404 });
  assert.deepEqual(texts(await all(ben.comments(hidden))), ["on for followers"]);
  assert.equal((await tideline.item(hidden.content_id)).counts.comments, 1);
});

test("a block is one call of the app", async (t) => {
  const { user } = await start(t);
  const [ana, ben] = [await user("ana"), await user("ben")];
  await ana.follow(ben.user);
  await ben.post("before");
  const [item] = (await ana.timeline().page()).items;
  watched(t, ana);
  await until(() => ana.items.length === 1, "the first page");
  await ana.block(ben.user);
  assert.deepEqual(ana.items, []);
  await assert.rejects(ana.profile(ben.user), { status: 404 });
  await assert.rejects(ben.profile(ana.user), { status: 404 });
  await assert.rejects(ben.follow(ana.user), { status: 403, code: "blocked" });
  await assert.rejects(ana.like(item), { status: 403, code: "blocked" });
  await assert.rejects(ana.comment(item, "over the block"), { status: 404 });
  await ana.unblock(ben.user);
  assert.deepEqual(await all(ana.timeline()), []);
  await ana.follow(ben.user);
  assert.deepEqual(texts(ana.items), ["before"]);
});

test("tokens that are not the backend's, or no longer good, are refused", async (t) => {
  const { user, server, privateKey, publicKey } = await start(t);
  const ana = await user("ana");
  const read = (token) => new Tideline({ url: server.url, token }).timeline(ana.user).page();
  const good = await userToken(privateKey, ana.user, 60);
  assert.deepEqual((await read(good)).items, []);
  const [head, claims, signature] = good.split(".");
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const later = { sub: ana.user, exp: Math.floor(Date.now() / 1000) + 60 };
  const asSecret = `${part({ alg: "HS256" })}.${part(later)}`;
  const pem = publicKey.export({ type: "spki", format: "pem" });
  const bad = {
    expired: await userToken(privateKey, ana.user, -5),
    "without an end": await new SignJWT().setProtectedHeader({ alg: "EdDSA" }).setSubject(ana.user).sign(privateKey),
    "with other claims": `${head}.${part({ ...later, exp: later.exp + 1 })}.${signature}`,
    unsigned: `${part({ alg: "none" })}.${claims}.`,
    "signed with the public key as a secret": `${asSecret}.${createHmac("sha256", pem).update(asSecret).digest("base64url")}`,
  };
  for (const [name, token] of Object.entries(bad)) {
    await assert.rejects(read(token), { status: 403, code: "bad_credentials" }, name);
  }
});

test("the backend gives tokens to those who are signed in only", async (t) => {
  const { user, url } = await start(t);
  const ana = await user("ana");
  await assert.rejects(user("ana"), { status: 409 });
  const again = new App(url);
  await assert.rejects(again.signIn("ana", "another password"), { status: 403 });
  await assert.rejects(again.signIn("nobody", "another password"), { status: 403 });
  await assert.rejects(again.post("no session"), { status: 401 });
  await again.signIn("ana", "the password of ana");
  assert.equal(again.user, ana.user);
  await again.timeline().page();
  await again.signOut();
  const begun = new App(url);
  await begun.signIn("ana", "the password of ana");
  await begun.signOut();
  await assert.rejects(begun.timeline().page(), { status: 401 });
  await assert.rejects(begun.watch(() => {}), { name: "LoggedOutError", status: 401 });
  await assert.rejects(ana.follow(ana.user), { status: 422, code: "self_follow" });
  await assert.rejects(ana.post("an id that is none", "x"), { status: 400 });
  for (const [body, status] of [
    ["{", 400],
    ["7", 400],
    [`"${"x".repeat(20000)}"`, 413],
  ]) {
    assert.equal((await fetch(`${url}/sign-in`, { method: "POST", body })).status, status);
  }
  assert.equal((await fetch(`${url}/constructor`)).status, 404);
});

test("a post that is sent again, also while Tideline is down, is there once", async (t) => {
  const { user, server } = await start(t);
  const [ana, ben] = [await user("ana"), await user("ben")];
  await ana.follow(ben.user);
  watched(t, ana);
  const id = crypto.randomUUID();
  await ben.post("one", id);
  await ben.post("one", id);
  await assert.rejects(ben.post("another", id), { status: 409 });
  await assert.rejects(ana.post("one", id), { status: 409 });
  const late = crypto.randomUUID();
  t.mock.method(console, "error", () => {});
  await server.kill();
  await assert.rejects(ben.post("late", late), { status: 503 });
  await server.start();
  await ben.post("late", late);
  assert.deepEqual(texts(await all(ana.timeline())), ["late", "one"]);
  await until(() => ana.items.length === 2, "the stream after a restart");
  assert.deepEqual(texts(ana.items), ["late", "one"]);
});

test("the list changes with follows of the app, and is bounded", async (t) => {
  const { user, tideline } = await start(t);
  const [ana, ben, cem] = [await user("ana"), await user("ben"), await user("cem")];
  await cem.post("of cem");
  await ana.follow(ben.user);
  watched(t, ana);
  const before = Date.now() - 100_000;
  for (let part = 0; part < 3; part++) {
    const items = Array.from({ length: 90 }, (_, number) => ({
      author_id: ben.user,
      text: `${90 * part + number}`,
      published_at: before + 90 * part + number,
    }));
    await tideline.publishBatch(items);
    await until(() => ana.items[0]?.text === `${90 * part + 89}`, "the last item");
  }
  assert(ana.items.length <= 200, `${ana.items.length} items`);
  assert.deepEqual(
    texts(ana.items),
    Array.from({ length: ana.items.length }, (_, number) => `${269 - number}`),
  );
  await ana.follow(cem.user);
  assert.equal(ana.items[0].text === "of cem", true);
  await ana.unfollow(ben.user);
  assert.deepEqual(texts(ana.items), ["of cem"]);
  await ana.unfollow(cem.user);
  assert.deepEqual(ana.items, []);
});

test("half of a surrogate pair is refused", async (t) => {
  const { user, url } = await start(t);
  await assert.rejects(new App(url).signUp("ana \ud800", "a long password"), { status: 400 });
  const ana = await user("ana 🌊");
  await assert.rejects(ana.post("\udc00"), { status: 400 });
  await ana.post("🌊");
});
