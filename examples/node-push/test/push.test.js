import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Tideline } from "tideline-client";
import { TYPES } from "../messages.js";
import {
  directory,
  freePort,
  KEY,
  kill,
  post,
  READ_KEY,
  ready,
  SECRET,
  serve,
  signed,
  start,
  until,
} from "./support.js";

test("a post goes to followers who have push on, and in whose timelines it is", async (t) => {
  const people = {
    ana: ["phone"],
    ben: ["phone", "tablet"],
    cem: ["a"],
    dora: ["b"],
    eve: ["c"],
    fay: ["d"],
    gus: ["e"],
    ida: ["f"],
  };
  const { url, tideline, changes, texts } = await start(t, { people });
  await tideline.setProfile("zoe", { nickname: "Zoë" });
  for (const reader of ["ana", "ben", "cem", "dora", "eve", "no push"]) await tideline.follow(reader, "zoe");
  await tideline.follow("fay", "zoe", { except: ["post"] });
  await tideline.mute("cem", "zoe");
  await tideline.hide("zoe", "dora");
  await tideline.block("eve", "zoe");
  // Who follows the group and the author gets it once; gus follows the group alone.
  for (const reader of ["ana", "gus", "zoe"]) await tideline.follow(reader, "group");
  const { position } = await tideline.changes({ after: "newest" }).page();
  await tideline.publish({ author_id: "zoe", content_id: 1, text: "High 🌊 at six", to: ["group"] });
  await tideline.publish({ author_id: "zoe", content_id: 2, text: "😀".repeat(200) });
  await tideline.publish({ author_id: "zoe", content_id: 3, text: "deleted" });
  await tideline.publish({ author_id: "zoe", content_id: 4, text: "for nobody", broadcast: false });
  await tideline.delete(3);
  assert.equal(await post(url, await changes(position)), 204);
  const long = `${"😀".repeat(120)}…`;
  assert.deepEqual(texts().sort(), [
    "ana on phone: Zoë: High 🌊 at six",
    `ana on phone: Zoë: ${long}`,
    "ben on phone,tablet: Zoë: High 🌊 at six",
    `ben on phone,tablet: Zoë: ${long}`,
    "gus on e: Zoë: High 🌊 at six",
  ]);
});

test("a like, a comment and a follow go to the other user", async (t) => {
  const { url, tideline, changes, texts } = await start(t);
  await tideline.publish({ author_id: "ana", content_id: "a", text: "Low tide" });
  await tideline.react("a", "like", "ana");
  await tideline.react("a", "like", "cem");
  await tideline.react("a", "favorite", "ben");
  await tideline.react("a", "like", "ben");
  await tideline.unreact("a", "like", "ben");
  await tideline.comment("a", { author_id: "cem", content_id: "c", text: "Already?" });
  await tideline.comment("a", { author_id: "ana", content_id: "d", text: "Yes" });
  await tideline.comment("c", { author_id: "ana", content_id: "e", text: "cem has no push" });
  await tideline.follow("cem", "ana");
  await tideline.follow("cem", "ben");
  await tideline.unfollow("cem", "ben");
  await tideline.mute("ana", "dora");
  await tideline.follow("dora", "ana");
  await tideline.react("a", "like", "dora");
  await tideline.comment("a", { author_id: "dora", content_id: "f", text: "not heard" });
  assert.equal(await post(url, await changes()), 204);
  assert.deepEqual(texts(), [
    "ana on phone: cem likes your post: Low tide",
    "ana on phone: ben reacts with favorite to your post: Low tide",
    "ana on phone: cem answers you: Already?",
    "ana on phone: cem follows you: ",
  ]);
});

test("repeats do no harm, also after a restart", async (t) => {
  const { url, hook, tideline, changes, texts } = await start(t);
  for (let n = 0; n < 6; n++) await tideline.follow(`user ${n}`, "ana");
  const all = await changes();
  assert.equal(await post(url, all.slice(0, 3)), 204);
  assert.equal(texts().length, 3);
  assert.equal(await post(url, all.slice(0, 3)), 204);
  assert.deepEqual(texts(), []);
  // With further changes.
  assert.equal(await post(url, all.slice(0, 5)), 204);
  assert.deepEqual(texts(), ["ana on phone: user 3 follows you: ", "ana on phone: user 4 follows you: "]);
  const other = await hook();
  assert.equal(await post(other, all.slice(0, 5)), 204);
  assert.deepEqual(texts(), []);
  assert.equal(await post(other, all.slice(5)), 204);
  assert.deepEqual(texts(), ["ana on phone: user 5 follows you: "]);
});

test("a sender that fails, and one that is slow", async (t) => {
  const setup = await start(t);
  const { url, tideline, changes, texts } = setup;
  for (let n = 0; n < 4; n++) await tideline.follow(`user ${n}`, "ana");
  const all = await changes();
  const { send } = setup;
  t.mock.method(console, "error", () => {});
  setup.send = async (messages) => {
    if (messages[0].title.startsWith("user 2")) throw new Error("the push service is away");
    await send(messages);
  };
  assert.equal(await post(url, all), 503);
  assert.equal(await post(url, all), 503);
  assert.equal(texts().length, 2);
  let go, begin;
  const gate = new Promise((resolve) => (go = resolve));
  const begun = new Promise((resolve) => (begin = resolve));
  setup.send = async (messages) => {
    begin();
    await gate;
    await send(messages);
  };
  // The server gives up after some time, and sends the changes again while they are still being done.
  const first = post(url, all);
  await begun;
  assert.equal(await post(url, all), 503);
  assert.deepEqual(texts(), []);
  go();
  assert.equal(await first, 204);
  assert.equal(await post(url, all), 204);
  assert.deepEqual(texts(), ["ana on phone: user 2 follows you: ", "ana on phone: user 3 follows you: "]);
});

test("old changes, and those of a later version, send nothing", async (t) => {
  const { url, files, tideline, changes, texts } = await start(t);
  await tideline.follow("cem", "ana");
  const [change] = await changes();
  const old = { ...change, position: "old", at: Date.now() - 3601 * 1000 };
  assert.equal(await post(url, [old, { ...change, position: "new", type: "toString" }]), 204);
  assert.deepEqual(texts(), []);
  assert.equal(readFileSync(join(files, "data", "place"), "utf8"), "new");
});

test("what the server has not signed is refused", async (t) => {
  const { url, tideline, changes, texts } = await start(t);
  await tideline.follow("cem", "ana");
  const all = await changes();
  const other = `whsec_${Buffer.alloc(32).toString("base64")}`;
  assert.equal(await post(url, all, signed(JSON.stringify({ items: all }), other)), 400);
  assert.equal(await post(url, all, {}), 400);
  assert.equal(await post(url, all, signed("")), 400);
  assert.equal((await fetch(url)).status, 404);
  assert.equal(await post(url.replace("tideline", "other"), all), 404);
  const large = await post(url, ["x".repeat(2 ** 21)]).catch(() => "closed");
  assert([413, "closed"].includes(large), String(large));
  assert.deepEqual(texts(), []);
  assert.equal(await post(url, all), 204);
  assert.equal(texts().length, 1);
});

/** What runs the program, and the lines that it has printed in all its runs. */
function program(t, files, TIDELINE_URL, port) {
  const runs = [];
  const file = (name, text) => {
    const path = join(files, name);
    if (text) writeFileSync(path, text);
    return path;
  };
  const env = {
    PORT: String(port),
    TIDELINE_URL,
    TIDELINE_KEY: READ_KEY,
    SECRET_FILE: file("secret", `${SECRET}\nwhsec_${Buffer.alloc(32).toString("base64")}\n`),
    DEVICES_FILE: file("devices.json", '{ "ana": ["phone"] }'),
    PLACE_FILE: file("place"),
  };
  return {
    run: async () => {
      runs.push(await ready(t, "node", ["server.js"], env, /^the hook listens on /));
      return runs.at(-1).child;
    },
    lines: () => runs.flatMap(({ lines }) => lines.slice(1)),
  };
}

const follows = (count) => Array.from({ length: count }, (_, n) => `to ana, phone: user ${n} follows you`);

test("the program is killed again and again: each message in order, none is missing", async (t) => {
  const { address, files, tideline, changes } = await start(t);
  const [port, count] = [await freePort(), 200];
  const { run, lines } = program(t, files, address, port);
  for (let n = 0; n < count; n++) await tideline.follow(`user ${n}`, "ana");
  const all = await changes();
  let child = await run();
  let kills = 0;
  let isDone = false;
  const killing = (async () => {
    while (kills < 10) {
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
      if (isDone) return;
      await kill(child);
      kills++;
      child = await run();
    }
  })();
  for (let next = 0; next < count; ) {
    const part = all.slice(next, next + 50);
    const status = await post(`http://127.0.0.1:${port}/tideline`, part).catch(() => "lost");
    if (status === 204) next += part.length;
    else await new Promise((resolve) => setTimeout(resolve, 10));
  }
  isDone = true;
  await killing;
  await until(() => lines().includes(follows(count)[count - 1]), "the last message");
  assert.deepEqual([...new Set(lines())], follows(count));
  assert(kills > 0 && lines().length <= count + kills, `${kills} kills, ${lines().length} messages`);
});

test("the webhooks of a server with tideline.toml", async (t) => {
  const files = directory(t);
  const port = await freePort();
  const config = join(files, "tideline.toml");
  const text = readFileSync("tideline.toml", "utf8");
  assert.deepEqual(JSON.parse(/types = (.*)/.exec(text)[1]), TYPES);
  writeFileSync(config, text.replace("3001", String(port)).replace("keys/push", join(files, "push")));
  writeFileSync(join(files, "push"), `${SECRET}\n`, { mode: 0o600 });
  const address = await serve(t, ["--config", config]);
  const tideline = new Tideline({ url: address, key: KEY });
  const { run, lines } = program(t, files, address, port);
  const follow = async (from, to) => {
    for (let n = from; n < to; n++) await tideline.follow(`user ${n}`, "ana");
  };
  await follow(0, 150);
  const first = await run();
  await until(() => lines().length === 150, "the messages");
  assert.deepEqual(lines(), follows(150));
  await kill(first);
  await follow(150, 300);
  await run();
  await until(() => lines().includes(follows(300)[299]), "the messages after a time without the hook");
  assert.deepEqual([...new Set(lines())], follows(300));
  await until(async () => (await tideline.webhooks())[0].taken === 300, "the server knows");
});
