// Webhooks that are verified, and requests that are none.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { type Change, WebhookError, type WebhookHeaders, WebhookReceiver } from "../src/index.js";

// The example of https://github.com/standard-webhooks/standard-webhooks, which each of its libraries tests.
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const EXAMPLE = {
  "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
  "webhook-timestamp": "1614265330",
  "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};

const OTHER = `whsec_${Buffer.from(Array.from({ length: 32 }, (_, n) => n)).toString("base64")}`;
const CHANGES: Change[] = [
  {
    position: "9f3c6a1e5b7d2048-8",
    type: "content.published",
    at: 5,
    user_id: "å",
    content_id: "7",
    kind: "post",
  },
  { position: "9f3c6a1e5b7d2048-9", type: "follow.created", at: 6, user_id: "a", target_id: "b" },
];
const BODY = Buffer.from(JSON.stringify({ items: CHANGES }));

type Signed = typeof EXAMPLE;

/** The headers of a webhook that is so many seconds old. */
function sign(body: Uint8Array, secrets: string[] = [SECRET], late = 0, id = "changes_8"): Signed {
  const timestamp = String(Math.floor(Date.now() / 1000 - late));
  const signatures = secrets.map((secret) => {
    const code = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
      .update(`${id}.${timestamp}.`)
      .update(body);
    return `v1,${code.digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

async function refuses(receiver: WebhookReceiver, body: Uint8Array, headers: WebhookHeaders, message: string | RegExp) {
  await assert.rejects(receiver.receive(body, headers), (error) => {
    assert(error instanceof WebhookError && error.name === "WebhookError", String(error));
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
    return true;
  });
}

test("the example of the specification", async () => {
  const receiver = new WebhookReceiver(SECRET, { tolerance: Number.POSITIVE_INFINITY });
  const body = Buffer.from('{"test": 2432232314}');
  // Its body is no list of changes, and this is found after the signature.
  await refuses(receiver, body, EXAMPLE, "the signature fits, but the body is no list of changes");
  await refuses(receiver, Buffer.from('{"test":2432232314}'), EXAMPLE, /none fits/);
  await refuses(new WebhookReceiver(SECRET), body, EXAMPLE, /before the clock/);
});

test("changes are read whatever the form of the body and the headers", async () => {
  const receiver = new WebhookReceiver(`${SECRET}\n`);
  const headers = sign(BODY);
  const titled = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]));
  const outer = Buffer.concat([Buffer.from("--"), BODY, Buffer.from("--")]);
  const bodies = [
    BODY,
    new Uint8Array(BODY),
    new Uint8Array(BODY).buffer,
    outer.subarray(2, -2),
    runInNewContext("Uint8Array.from(bytes)", { bytes: [...BODY] }),
  ];
  for (const body of bodies) {
    for (const form of [headers, titled, new Headers(headers), { ...headers, cookie: ["a"], host: undefined }]) {
      assert.deepEqual(await receiver.receive(body, form), CHANGES);
    }
  }
  const request = new Request("http://localhost/", { method: "POST", body: BODY, headers });
  assert.deepEqual(await receiver.receive(await request.arrayBuffer(), request.headers), CHANGES);
});

test("a new secret takes the place of the old one", async () => {
  const both = new WebhookReceiver([SECRET, OTHER]);
  for (const secrets of [[SECRET], [OTHER], [SECRET, OTHER], [OTHER, SECRET]]) {
    assert.deepEqual(await both.receive(BODY, sign(BODY, secrets)), CHANGES);
    for (const alone of [SECRET, OTHER]) {
      const receiver = new WebhookReceiver(alone);
      if (secrets.includes(alone)) assert.deepEqual(await receiver.receive(BODY, sign(BODY, secrets)), CHANGES);
      else await refuses(receiver, BODY, sign(BODY, secrets), /none fits/);
    }
  }
  const mixed = sign(BODY);
  mixed["webhook-signature"] = `v1a,abc v2,${"A".repeat(44)} v1, v1,é ${mixed["webhook-signature"]} x`;
  assert.deepEqual(await both.receive(BODY, mixed), CHANGES);
});

test("each altered byte is found", async () => {
  const receiver = new WebhookReceiver(SECRET);
  const headers = sign(BODY);
  for (let place = 0; place < BODY.length; place++) {
    const altered = Buffer.from(BODY);
    altered[place] = (BODY[place] ?? 0) ^ (1 << Math.floor(Math.random() * 8));
    await refuses(receiver, altered, headers, /none fits/);
  }
  await refuses(receiver, Buffer.concat([BODY, Buffer.from(" ")]), headers, /none fits/);
  await refuses(receiver, Buffer.alloc(0), headers, /none fits/);
  const earlier = String(Number(headers["webhook-timestamp"]) - 1);
  for (const altered of [{ "webhook-id": "changes_9" }, { "webhook-timestamp": earlier }]) {
    await refuses(receiver, BODY, { ...headers, ...altered }, /none fits/);
  }
  // A wrong character at each place of the signature.
  const { "webhook-signature": signature } = headers;
  for (let place = 3; place < signature.length; place++) {
    const other = signature[place] === "A" ? "B" : "A";
    const altered = signature.slice(0, place) + other + signature.slice(place + 1);
    await refuses(receiver, BODY, { ...headers, "webhook-signature": altered }, /none fits/);
  }
  // What is signed is one text: a dot cannot move from one part to the next.
  const moved = { ...sign(BODY, [SECRET], 0, "a.b"), "webhook-id": "a" };
  await refuses(receiver, Buffer.concat([Buffer.from("b."), BODY]), moved, /none fits/);
});

test("the time of a request", async () => {
  const receiver = new WebhookReceiver(SECRET);
  for (const late of [-290, 0, 290])
    assert.deepEqual(await receiver.receive(BODY, sign(BODY, [SECRET], late)), CHANGES);
  await refuses(receiver, BODY, sign(BODY, [SECRET], 302), /seconds before the clock of this machine$/);
  await refuses(receiver, BODY, sign(BODY, [SECRET], -302), /seconds after the clock of this machine$/);
  const strict = new WebhookReceiver(SECRET, { tolerance: 10_000 });
  await refuses(strict, BODY, sign(BODY, [SECRET], 12), /^webhook-timestamp/);
  for (const wrong of ["now", "-5", "1e9", "1614265330.5", " 1614265330", "٣٣٣", "9".repeat(400), "NaN", "0x10"]) {
    const headers = { ...sign(BODY), "webhook-timestamp": wrong };
    await refuses(receiver, BODY, headers, /^webhook-timestamp: expected seconds since 1970, not "/);
  }
});

test("headers that are missing or wrong", async () => {
  const receiver = new WebhookReceiver(SECRET);
  for (const name of Object.keys(EXAMPLE)) {
    for (const wrong of ["", undefined, ["a"]]) {
      await refuses(receiver, BODY, { ...sign(BODY), [name]: wrong }, `${name}: the header is missing`);
    }
    const headers = new Headers(sign(BODY));
    headers.delete(name);
    await refuses(receiver, BODY, headers, `${name}: the header is missing`);
  }
  const bare = sign(BODY)["webhook-signature"].slice(3);
  for (const wrong of ["v1", bare, `v2,${bare}`, `v1a,${bare}`, `v1:${bare}`, " ", `V1,${bare}`]) {
    const headers = { ...sign(BODY), "webhook-signature": wrong };
    await refuses(receiver, BODY, headers, "webhook-signature: no signature of the version v1");
  }
  for (const wrong of ["v1,", "v1,,", "v1,\ud800", `v1,${bare.slice(0, -1)}`, `v1,${bare}=`, "v1,".repeat(9999)]) {
    await refuses(receiver, BODY, { ...sign(BODY), "webhook-signature": wrong }, /none fits/);
  }
  await refuses(receiver, BODY, { ...sign(BODY), "webhook-id": "\ud800" }, /none fits/);
});

test("a signed body that is no list of changes", async () => {
  const receiver = new WebhookReceiver(SECRET);
  for (const text of ["", "[]", "{}", '{"items": [', "[".repeat(100_000), "null", '{"items": {}}', "\xff"]) {
    const body = Buffer.from(text, "latin1");
    await refuses(receiver, body, sign(body), "the signature fits, but the body is no list of changes");
  }
  for (const body of [BODY.toString(), JSON.parse(BODY.toString()), undefined, null]) {
    await assert.rejects(receiver.receive(body, sign(BODY)), TypeError);
  }
});

test("a text that is no secret", () => {
  const of = (length: number) => `whsec_${Buffer.alloc(length).toString("base64")}`;
  for (const length of [24, 25, 26, 63, 64]) new WebhookReceiver(of(length));
  const bare = SECRET.slice(6);
  for (const wrong of [
    "",
    bare,
    `whsk_${bare}`,
    "whsec_",
    "whsec_ä",
    SECRET.slice(0, -1),
    of(23),
    of(65),
    `whsec_!${bare}`,
  ]) {
    assert.throws(
      () => new WebhookReceiver(wrong),
      (error: Error) => error instanceof TypeError && (wrong.length < 9 || !error.message.includes(wrong.slice(6))),
    );
  }
  assert.throws(() => new WebhookReceiver([]), TypeError);
});

test("without WebCrypto", async () => {
  const { crypto } = globalThis;
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    await assert.rejects(new WebhookReceiver(SECRET).receive(BODY, sign(BODY)), /WebCrypto/);
  } finally {
    Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true });
  }
});

test("in a server of Node.js", async (t) => {
  const receiver = new WebhookReceiver(SECRET);
  const received: Change[] = [];
  const server = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    try {
      received.push(...(await receiver.receive(body, request.headers)));
      response.writeHead(204).end();
    } catch (error) {
      response.writeHead(error instanceof WebhookError ? 400 : 500).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = async (headers: Signed) => (await fetch(url, { method: "POST", body: BODY, headers })).status;
  assert.deepEqual([await post(sign(BODY)), await post(sign(BODY, [OTHER]))], [204, 400]);
  assert.deepEqual(received, CHANGES);
});
