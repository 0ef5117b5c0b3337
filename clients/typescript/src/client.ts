import { withIds } from "./caller.js";
import { Calls } from "./calls.js";
import { ChangeFeed, type ChangeOptions } from "./changes.js";
import type { Id } from "./ids.js";
import { type Content, idFields, type NewComment, type NewContent } from "./schema.js";
import { Stream, type StreamOptions } from "./stream.js";
import { type CallOptions, type Options, Transport } from "./transport.js";

/**
 * A client of a Tideline server. Each method is one call of its API. Ids are text, safe integers or `bigint` in requests,
 * and text in answers. Methods throw `ProblemError`, `ConnectionError`, `TimeoutError` and `AnswerError`.
 */
export class Tideline extends Calls {
  readonly #transport: Transport;

  constructor(options: Options) {
    const transport = new Transport(options);
    super(transport);
    this.#transport = transport;
  }

  /**
   * The `Tideline-Position` of the newest answer, which requests send; `undefined` before the first answer of a cluster.
   * Set it to that of another client of the same user to see the changes of that client with `session` too.
   */
  get position(): string | undefined {
    return this.#transport.position;
  }

  set position(position: string | undefined) {
    this.#transport.position = position;
  }

  /** Publishes an item. With a `content_id` the request can be repeated, and is, after a loss. */
  publish(item: NewContent, options?: CallOptions): Promise<Content> {
    const request = { body: withIds(item, idFields.NewContent), repeatable: hasId(item) };
    return this.#transport.json("publishContent", request, options);
  }

  /** Publishes up to 1,000 items, all or none. */
  async publishBatch(items: readonly NewContent[], options?: CallOptions): Promise<Content[]> {
    const body = { items: items.map((item) => withIds(item, idFields.NewContent)) };
    const request = { body, repeatable: items.every(hasId) };
    return (await this.#transport.json("publishContentBatch", request, options, "items")).items;
  }

  /** Comments on an item. With a `content_id` the request can be repeated. */
  comment(contentId: Id, comment: NewComment, options?: CallOptions): Promise<Content> {
    const body = withIds(comment, idFields.NewComment);
    const request = { path: { content_id: contentId }, body, repeatable: hasId(comment) };
    return this.#transport.json("comment", request, options);
  }

  /** The changes of the user's timeline as they happen. */
  stream(user: Id, options: StreamOptions = {}): Stream {
    return new Stream(this.#transport, user, options);
  }

  /** All changes of the server, or those of some types, from a position on. For keys. */
  changes(options: ChangeOptions = {}): ChangeFeed {
    return new ChangeFeed(this.#transport, options);
  }
}

function hasId(item: { content_id?: Id | null | undefined }): boolean {
  return item.content_id !== undefined && item.content_id !== null;
}
