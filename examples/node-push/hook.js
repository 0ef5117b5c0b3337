// The receiver of the webhook: it verifies a request, does its changes one after another, and keeps the place.

import http from "node:http";
import { WebhookError } from "tideline-client";

const BODY_LIMIT = 1024 * 1024; // 100 changes have less
const MOST_CONNECTIONS = 50;

class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/**
 * A server of HTTP that does not listen yet. `receiver` verifies, `handle` does one change, `place` keeps the position of
 * the last one that was done. If `handle` throws, the server of Tideline sends the change again later.
 */
export function createHook({ receiver, handle, place }) {
  let isBusy = false;

  const take = async (request) => {
    if (request.method !== "POST" || request.url !== "/tideline") throw new Refusal(404, "There is nothing here.");
    const changes = await receiver.receive(await bytesOf(request), request.headers);
    // A request that took too long is sent again while it is still being done: one at a time keeps the order.
    if (isBusy) throw new Refusal(503, "The changes before these are still being done.");
    isBusy = true;
    try {
      for (const change of further(changes, place.position)) {
        await handle(change);
        place.keep(change.position);
      }
    } finally {
      isBusy = false;
    }
  };

  const hook = http.createServer(async (request, response) => {
    const answer = (status, reason) => response.writeHead(status, { "content-type": "text/plain" }).end(reason);
    try {
      await take(request);
      response.writeHead(204).end();
    } catch (error) {
      if (error instanceof Refusal) return answer(error.status, error.message);
      if (error instanceof WebhookError) return answer(400, error.message);
      console.error("a webhook failed:", error);
      answer(503, "Send these changes again later.");
    }
  });
  hook.maxConnections = MOST_CONNECTIONS;
  return hook;
}

/** The changes that are not done yet: what is sent again begins with the same change, and may have further ones. */
function further(changes, last) {
  return changes.slice(changes.findIndex(({ position }) => position === last) + 1);
}

/** The body, byte by byte: the signature is about these bytes. */
async function bytesOf(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > BODY_LIMIT) throw new Refusal(413, "The body is too large.");
    parts.push(part);
  }
  return Buffer.concat(parts);
}
