import { type ConnectionOptions, connect, LONGEST_PAUSE } from "./connection.js";
import { TokenFailure } from "./credentials.js";
import { ProblemError, readObject } from "./errors.js";
import type { Id } from "./ids.js";
import { writeJson } from "./json.js";
import type { Content, ContentRef, Notice } from "./schema.js";
import type { Block } from "./sse.js";
import { type CallOptions, passes, type Request, type Transport } from "./transport.js";
import { backOff, sleep } from "./waits.js";

const DELETED = "deleted";

/** A change of a timeline. */
export type StreamEvent =
  /** The stream is open, at first or again. What is published from now on arrives. */
  | { type: "open" }
  /** An item was published or restored. */
  | { type: "content"; item: Content; id: string }
  /** An item was edited. */
  | { type: "edit"; item: Content }
  /** An item was deleted. Ignore it if the item is not known. */
  | { type: "delete"; item: ContentRef }
  /** A notice of the user came. One that came while the stream was not open is not told. */
  | { type: "notice"; notice: Notice }
  /** A marker of the user moved, perhaps on another device: of the timeline, of a list, or of the notices. */
  | { type: "marker"; of: "timeline" | "list" | "notices"; cursor: string; list?: string }
  /** Events were left out: load the timeline again. The stream goes on. */
  | { type: "reset" };

type MarkerEvent = Extract<StreamEvent, { type: "marker" }>;

/** Settings of a stream. */
export interface StreamOptions extends ConnectionOptions, Omit<CallOptions, "timeout"> {
  /** The `lastEventId` of an earlier stream of the user, or the cursor of an item: the stream goes on after it. */
  lastEventId?: string | undefined;
}

/**
 * The stream of a user, read by one `for await`. It connects again after every loss, and goes on where it was. It ends by
 * `break`, by the `signal`, with a `ProblemError` for a request that the server will never take, such as one with
 * wrong credentials, or with a `LoggedOutError` of the token function.
 */
export class Stream implements AsyncIterable<StreamEvent> {
  /**
   * The place after the last event that was given: another stream can go on from here. It moves past a `reset` when the
   * next event is asked for, and is `undefined` until the server has sent one.
   */
  lastEventId: string | undefined;
  readonly #transport: Transport;
  readonly #user: Id;
  readonly #options: StreamOptions;
  // What was told last of the newest items, as a hash. After a loss the server may tell it again.
  readonly #told = new Map<string, string>();
  #failures = 0;

  constructor(transport: Transport, user: Id, options: StreamOptions) {
    this.#transport = transport;
    this.#user = user;
    this.#options = options;
    this.lastEventId = options.lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent, void, undefined> {
    const { signal } = this.#options;
    let wasOpen = false;
    let reset = false;
    for (;;) {
      let wait: number | undefined;
      let isOpen = false;
      try {
        for await (const blocks of connect(this.#transport, "listen", this.#request(), this.#options)) {
          if (!isOpen) {
            isOpen = true;
            yield { type: "open" };
            // Without a place to go on from, the server cannot tell what was missed.
            if (reset || (wasOpen && this.lastEventId === undefined)) {
              this.#told.clear();
              yield { type: "reset" };
            }
            wasOpen = true;
            reset = false;
          }
          for (const block of blocks) yield* this.#take(block);
        }
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        const reason = error instanceof TokenFailure ? error.reason : error;
        if (error instanceof ProblemError && error.code === "unknown_cursor" && this.lastEventId !== undefined) {
          this.lastEventId = undefined;
          reset = true;
        } else if (!passes(error)) throw reason;
        this.#options.onError?.(reason);
        wait = error instanceof ProblemError ? error.retryAfter : undefined;
      }
      const { maxDelay } = this.#transport;
      const pause = backOff(this.#failures++, Math.min(LONGEST_PAUSE, maxDelay), Math.min(wait ?? 0, maxDelay));
      await sleep(pause, signal);
    }
  }

  #request(): Request {
    return { path: { uid: this.#user }, headers: { "last-event-id": headerText(this.lastEventId) } };
  }

  *#take(block: Block): Generator<StreamEvent, void, undefined> {
    const event = this.#event(block);
    this.#failures = 0;
    // Until a reset has been handled, another stream must get it again.
    const place = block.id || this.lastEventId;
    if (event?.type !== "reset") this.lastEventId = place;
    if (event) yield event;
    this.lastEventId = place;
  }

  /** The event of a block; `undefined` for one that changes nothing, and for a block with only a newer place. */
  #event({ event, data, id }: Block): StreamEvent | undefined {
    switch (event) {
      case "content":
      case "edit": {
        const item = readObject(data, ["content_id"]) as Content;
        // An edit before the restore of an item that is known to be deleted: the restore is told next.
        if (event === "edit" && this.#told.get(item.content_id) === DELETED) return undefined;
        if (!this.#isNew(item.content_id, stateOf(item))) return undefined;
        return event === "edit" ? { type: event, item } : { type: event, item, id: id ?? "" };
      }
      case "delete": {
        const item = readObject(data, ["content_id"]) as ContentRef;
        return this.#isNew(item.content_id, DELETED) ? { type: event, item } : undefined;
      }
      case "notice":
        return { type: event, notice: readObject(data, ["cursor", "kind"]) as Notice };
      case "marker":
        return { type: event, ...(readObject(data, ["of", "cursor"]) as Omit<MarkerEvent, "type">) };
      case "reset":
        this.#told.clear();
        return { type: event };
      default:
        return undefined; // an event of a later version
    }
  }

  #isNew(contentId: string, state: string): boolean {
    if (this.#told.get(contentId) === state) return false;
    this.#told.delete(contentId);
    this.#told.set(contentId, state);
    // A stream that missed more items than this gets a reset.
    if (this.#told.size > 2000) this.#told.delete(this.#told.keys().next().value ?? "");
    return true;
  }
}

/** A hash of the parts of an item of which events tell, so that large items take no room. */
function stateOf({ counts, viewer, author, ...item }: Content): string {
  const text = writeJson(item);
  // FNV-1a with two multipliers: browsers have no better hash that is not asynchronous.
  let [one, two] = [0x811c9dc5, 0x2b3c4d5f];
  for (let n = 0; n < text.length; n++) {
    const code = text.charCodeAt(n);
    one = Math.imul(one ^ code, 0x01000193);
    two = Math.imul(two ^ code, 0x85ebca6b);
  }
  return `${text.length} ${one} ${two}`;
}

/** A text as the value of a header: one character for each byte of its UTF-8. */
function headerText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : String.fromCharCode(...new TextEncoder().encode(text));
}
