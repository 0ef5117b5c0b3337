// A Tideline server and a hook of their own for each test, and between them what sends webhooks.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Tideline, WebhookReceiver } from "tideline-client";
import { Devices } from "../devices.js";
import { createHook } from "../hook.js";
import { messagesOf, TYPES } from "../messages.js";
import { Place } from "../place.js";

export const KEY = "a-key-of-the-tests-with-32-characters";
export const READ_KEY = "a-key-for-reads-of-32-characters-too";
export const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
export const BINARY = process.env.TIDELINE_BINARY ?? "../../target/release/tideline";

/** A directory that goes with the test. */
export function directory(test) {
  const made = mkdtempSync(join(tmpdir(), "tideline-push-"));
  test.after(() => rmSync(made, { recursive: true }));
  return made;
}

/** A process of which one line says that it is ready, and its lines; it ends with the test. */
export async function ready(test, command, parameters, env, line) {
  const child = spawn(command, parameters, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  test.after(() => kill(child));
  const lines = [];
  createInterface({ input: child.stdout }).on("line", (text) => lines.push(text));
  const find = () => lines.map((text) => line.exec(text)).find((found) => found);
  await until(() => find() || child.exitCode !== null, command);
  return { child, lines, found: find() ?? assert.fail(`${command} did not start`) };
}

export async function kill(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

/** The address of the release binary with an empty data directory. */
export async function serve(test, more = []) {
  const parameters = ["serve", "--data-dir", join(directory(test), "data"), "--listen", "127.0.0.1:0", ...more];
  const env = { TIDELINE__AUTH__KEYS: KEY, TIDELINE__AUTH__READ_KEYS: READ_KEY, TIDELINE__LOG__LEVEL: "error" };
  const { found } = await ready(test, BINARY, parameters, env, /^listening on (\S+)$/);
  return found[1];
}

/** What a hook needs, with the people who have push on. */
export async function start(test, { people = { ana: ["phone"], ben: ["phone", "tablet"] } } = {}) {
  const files = directory(test);
  writeFileSync(join(files, "devices.json"), JSON.stringify(people));
  const address = await serve(test);
  const tideline = new Tideline({ url: address, key: KEY, timeout: 20_000 });
  const devices = new Devices(join(files, "devices.json"));
  const sent = [];
  const setup = { files, address, tideline, sent, send: async (messages) => void sent.push(...messages) };
  const reader = new Tideline({ url: address, key: READ_KEY, timeout: 20_000 });
  const handle = async (change) => {
    for await (const messages of messagesOf(change, { tideline: reader, devices })) await setup.send(messages);
  };
  setup.hook = async () => {
    const hook = createHook({
      receiver: new WebhookReceiver(SECRET),
      handle,
      place: new Place(join(files, "data", "place")),
    });
    hook.listen(0, "127.0.0.1");
    await once(hook, "listening");
    test.after(() => {
      hook.closeAllConnections();
      hook.close();
    });
    return `http://127.0.0.1:${hook.address().port}/tideline`;
  };
  /** The changes since the start, or after a position. */
  setup.changes = async (after) => {
    const all = [];
    for await (const change of tideline.changes({ after, types: TYPES })) all.push(change);
    return all;
  };
  setup.url = await setup.hook();
  setup.texts = () =>
    sent.splice(0).map(({ user, devices, title, text }) => `${user} on ${devices}: ${title}: ${text}`);
  return setup;
}

/** The headers of a webhook. */
export function signed(body, secret = SECRET, id = "changes") {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const code = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`${id}.${timestamp}.${body}`);
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${code.digest("base64")}` };
}

/** Sends changes once; returns the status of the answer. */
export async function post(url, items, headers) {
  const body = JSON.stringify({ items });
  // As a sender does: the answer of a program that is killed may never come.
  const signal = AbortSignal.timeout(60_000);
  return (await fetch(url, { method: "POST", body, headers: headers ?? signed(body), signal })).status;
}

/** A port below those of outgoing connections, one of which could have it while a program is away. */
export async function freePort() {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000);
    const probe = createServer().listen(port, "127.0.0.1");
    const isFree = await once(probe, "listening").then(() => true, () => false);
    await new Promise((resolve) => probe.close(resolve));
    if (isFree) return port;
  }
}

/** Waits until something holds. */
export async function until(holds, what, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; !(await holds()); ) {
    if (Date.now() > end) throw new Error(`${what} did not happen within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
