import { readObject, TidelineError, WebhookError } from "./errors.js";
import type { Change } from "./schema.js";

const PREFIX = "whsec_";

/** The headers of a request, as `fetch` or as Node.js has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Settings of a receiver. */
export interface WebhookOptions {
  /** Milliseconds that the time of a request may be before or after the clock of this machine; 300,000 by default. */
  tolerance?: number | undefined;
}

/**
 * Verifies the webhooks of the server (Standard Webhooks 1), and reads their changes. It needs WebCrypto, as Node.js has it
 * from version 20 on, and edge runtimes have it.
 */
export class WebhookReceiver {
  readonly #secrets: readonly Uint8Array<ArrayBuffer>[];
  readonly #tolerance: number;
  #keys: Promise<CryptoKey[]> | undefined;

  /**
   * With the secret of the hook, such as `whsec_…`, or several ones while a new one takes the place of the old one. Throws
   * `TypeError` for a text that is no secret.
   */
  constructor(secrets: string | readonly string[], { tolerance = 300_000 }: WebhookOptions = {}) {
    this.#secrets = (typeof secrets === "string" ? [secrets] : secrets).map(secretBytes);
    this.#tolerance = tolerance;
    if (this.#secrets.length === 0) throw new TypeError("no secret");
  }

  /**
   * The changes of a request, 1 to 100, in their order. `body` is the body as it has arrived, byte by byte. Throws
   * `WebhookError` if the server has not signed it, or not now.
   *
   * After an answer other than 2xx, or none in time, the server sends the changes again, after a restart perhaps with
   * further ones: a change that comes again has the same `position`.
   */
  async receive(body: Uint8Array | ArrayBuffer, headers: WebhookHeaders): Promise<Change[]> {
    // Those of another realm, such as in a test, are no instances of `Uint8Array` here.
    if (typeof (body as Partial<Uint8Array> | null)?.byteLength !== "number") {
      throw new TypeError("the body is needed as the bytes that have arrived: a framework may have changed its text");
    }
    const bytes = ArrayBuffer.isView(body)
      ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength)
      : new Uint8Array(body);
    const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => header(headers, name));
    this.#checkTime(timestamp ?? "");
    await this.#checkSignature(joined(`${id}.${timestamp}.`, bytes), signatures ?? "");
    return changesOf(bytes);
  }

  #checkTime(timestamp: string): void {
    if (!/^\d{1,15}$/.test(timestamp)) {
      const shown = JSON.stringify(timestamp.slice(0, 40));
      throw new WebhookError(`webhook-timestamp: expected seconds since 1970, not ${shown}`);
    }
    const late = Date.now() - Number(timestamp) * 1000;
    if (Math.abs(late) > this.#tolerance) {
      const place = `${Math.round(Math.abs(late) / 1000)} seconds ${late < 0 ? "after" : "before"}`;
      throw new WebhookError(`webhook-timestamp: ${place} the clock of this machine`);
    }
  }

  async #checkSignature(signed: Uint8Array<ArrayBuffer>, signatures: string): Promise<void> {
    const given = signatures.split(/\s+/).filter((one) => one.startsWith("v1,"));
    if (given.length === 0) throw new WebhookError("webhook-signature: no signature of the version v1");
    this.#keys ??= Promise.all(this.#secrets.map(keyOf));
    for (const key of await this.#keys) {
      const code = new Uint8Array(await crypto.subtle.sign("HMAC", key, signed));
      const wanted = `v1,${btoa(String.fromCharCode(...code))}`;
      if (given.some((one) => isSame(one, wanted))) return;
    }
    throw new WebhookError("webhook-signature: none fits: another secret, or the request was changed on its way");
  }
}

/** Compares two texts in a time that does not tell where they differ. */
function isSame(given: string, wanted: string): boolean {
  if (given.length !== wanted.length) return false;
  let difference = 0;
  for (let n = 0; n < wanted.length; n++) difference |= given.charCodeAt(n) ^ wanted.charCodeAt(n);
  return difference === 0;
}

/** The bytes of a secret. The error does not tell it. */
function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const [, text = ""] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret.trim()) ?? [];
  const length = Math.floor((text.replaceAll("=", "").length * 3) / 4);
  if (text.length % 4 !== 0 || length < 24 || length > 64) {
    throw new TypeError(`a secret is "${PREFIX}" with the base64 of 24 to 64 bytes after it`);
  }
  return Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
}

function keyOf(secret: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  if (globalThis.crypto?.subtle === undefined) {
    throw new TidelineError("there is no WebCrypto (`globalThis.crypto.subtle`); Node.js has it from version 20 on");
  }
  return crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

function header(headers: WebhookHeaders, name: string): string {
  const full = `webhook-${name}`;
  const given = isList(headers) ? headers.get(full) : fieldOf(headers, full);
  if (typeof given !== "string" || given === "") throw new WebhookError(`${full}: the header is missing`);
  return given;
}

function isList(headers: WebhookHeaders): headers is Headers {
  return typeof headers.get === "function";
}

function fieldOf(headers: Exclude<WebhookHeaders, Headers>, full: string): string | readonly string[] | undefined {
  return Object.entries(headers).find(([field]) => field.toLowerCase() === full)?.[1];
}

/** The bytes that are signed. */
function joined(head: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = new TextEncoder().encode(head);
  const all = new Uint8Array(start.length + body.length);
  all.set(start);
  all.set(body, start.length);
  return all;
}

function changesOf(body: Uint8Array): Change[] {
  try {
    const { items } = readObject(new TextDecoder("utf-8", { fatal: true }).decode(body)) as { items?: unknown };
    if (Array.isArray(items)) return items;
  } catch {
    // Not UTF-8, or not JSON.
  }
  throw new WebhookError("the signature fits, but the body is no list of changes");
}
