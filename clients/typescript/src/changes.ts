import { type ConnectionOptions, connect, LONGEST_PAUSE } from "./connection.js";
import { TokenFailure } from "./credentials.js";
import { ProblemError, readObject } from "./errors.js";
import type { Change, Changes } from "./schema.js";
import type { Block } from "./sse.js";
import { type CallOptions, passes, type Request, type Transport } from "./transport.js";
import { backOff, sleep } from "./waits.js";

/** Settings of the feed of changes. */
export interface ChangeOptions extends ConnectionOptions, CallOptions {
  /** The position from which to go on; `newest` for the end, none for the oldest change that is kept. */
  after?: string | undefined;
  /** Only changes of these types, such as `follow.created`. */
  types?: readonly string[] | undefined;
  /** Changes on one page, 1 to 1,000; 1,000 by default. */
  limit?: number | undefined;
  /**
   * A loop does not end at the newest change: it reads a stream from there on, again after silence (`heartbeatTimeout`)
   * and after each error that may pass (`onError`).
   */
  wait?: boolean | undefined;
}

/**
 * The changes of the server from a position on, in their order. It sends no request until it is read: by `page()`, by
 * `for await` over its changes, or by `for await` over `pages()`. A loop ends at the newest change, or with `wait` goes on
 * with the changes that come. It throws `ChangesGoneError` if the server does not keep the changes after the position any more.
 */
export class ChangeFeed implements AsyncIterable<Change> {
  readonly #transport: Transport;
  readonly #options: ChangeOptions;

  constructor(transport: Transport, options: ChangeOptions) {
    this.#transport = transport;
    this.#options = options;
  }

  /** The first page, with the position from which to go on. */
  page(): Promise<Changes> {
    return this.#read(this.#options.after);
  }

  /**
   * The pages, each with a position that is further than the one before, also pages without a change. To go on later, keep
   * the `position` of a page together with what its changes have done.
   */
  async *pages(): AsyncGenerator<Changes, void, undefined> {
    const { wait: waits, onError, signal } = this.#options;
    const { maxDelay } = this.#transport;
    let { after } = this.#options;
    for (let failures = 0; ; ) {
      let wait: number | undefined;
      try {
        const page = await this.#read(after);
        if (page.position !== after) {
          after = page.position;
          yield page;
          failures = 0;
          continue;
        }
        if (!waits) return;
        for await (const blocks of connect(this.#transport, "listChanges", this.#request(after), this.#options)) {
          const arrived = pageOf(blocks, after);
          if (blocks.length > 0) failures = 0;
          if (arrived.position === after) continue;
          after = arrived.position;
          yield arrived;
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const reason = error instanceof TokenFailure ? error.reason : error;
        if (!waits || !passes(error)) throw reason;
        onError?.(reason);
        wait = error instanceof ProblemError ? error.retryAfter : undefined;
      }
      await sleep(backOff(failures++, Math.min(LONGEST_PAUSE, maxDelay), Math.min(wait ?? 0, maxDelay)), signal);
    }
  }

  /** The changes, each once and in order. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  #read(after: string | undefined): Promise<Changes> {
    return this.#transport.json("listChanges", this.#request(after), this.#options, "items", "position");
  }

  #request(after: string | undefined): Request {
    const { types, limit } = this.#options;
    return { query: { after, limit, types: types?.join(",") } };
  }
}

/** The changes that have arrived together, and their place. */
function pageOf(blocks: Block[], after: string): Changes {
  const items = blocks
    .filter(({ event }) => event === "change")
    .map(({ data }) => readObject(data, ["position"]) as Change);
  return { items, position: blocks.filter(({ id }) => id).at(-1)?.id ?? after };
}
