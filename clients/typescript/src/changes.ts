import { ProblemError } from "./errors.js";
import type { Change, Changes } from "./schema.js";
import { type CallOptions, passes, type Transport } from "./transport.js";
import { backOff, sleep } from "./waits.js";

/** Settings of the feed of changes. */
export interface ChangeOptions extends CallOptions {
  /** The position from which to go on; `newest` for the end, none for the oldest change that is kept. */
  after?: string | undefined;
  /** Only changes of these types, such as `follow.created`. */
  types?: readonly string[] | undefined;
  /** Changes on one page, 1 to 1,000; 1,000 by default. */
  limit?: number | undefined;
  /**
   * At the end a loop asks for further changes after so many milliseconds, and again after each error that may pass.
   * Without it the loop ends there.
   */
  wait?: number | undefined;
  /** Takes each error after which a loop with `wait` asks again. If it throws, the loop ends with that. */
  onError?: ((error: unknown) => void) | undefined;
}

/**
 * The changes of the server from a position on, in their order. It sends no request until it is read: by `page()`, by
 * `for await` over its changes, or by `for await` over `pages()`. A loop ends at the newest change, or waits there for
 * further ones. It throws `ChangesGoneError` if the server does not keep the changes after the position any more.
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
    const { wait, onError, signal } = this.#options;
    const { maxDelay } = this.#transport;
    let { after } = this.#options;
    for (let failures = 0; ; ) {
      let page: Changes;
      try {
        page = await this.#read(after);
      } catch (error) {
        if (wait === undefined || signal?.aborted || !passes(error)) throw error;
        onError?.(error);
        const asked = error instanceof ProblemError ? error.retryAfter : undefined;
        await sleep(backOff(failures++, maxDelay, Math.min(asked ?? 0, maxDelay)), signal);
        continue;
      }
      failures = 0;
      if (page.position !== after) {
        after = page.position;
        yield page;
      } else if (wait === undefined) return;
      else await sleep(wait, signal);
    }
  }

  /** The changes, each once and in order. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Change, void, undefined> {
    for await (const { items } of this.pages()) yield* items;
  }

  #read(after: string | undefined): Promise<Changes> {
    const { types, limit } = this.#options;
    const query = { after, limit, types: types?.join(",") };
    return this.#transport.json("listChanges", { query }, this.#options, "items", "position");
  }
}
