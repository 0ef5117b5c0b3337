import { ConnectionError } from "./errors.js";
import { type Block, BlockReader } from "./sse.js";
import { type CallOptions, type Operation, type Request, type Transport, unlessLost } from "./transport.js";
import { linked, withTimeout } from "./waits.js";

// The longest pause in milliseconds, unless the server asks for more: a stream should be back soon after the server is.
export const LONGEST_PAUSE = 5_000;

/** Settings of a stream that connects again after a loss. */
export interface ConnectionOptions {
  /** Milliseconds of silence after which the stream connects again; 45,000 by default, three comments of the server. */
  heartbeatTimeout?: number | undefined;
  /**
   * Takes each error after which the stream tries again, before it waits: no events come until the stream is open again.
   * If it throws, the stream ends with that.
   */
  onError?: ((error: unknown) => void) | undefined;
}

/** One connection: nothing when it is open, then the blocks that arrive together, until an error ends it. */
export async function* connect(
  transport: Transport,
  operation: Operation,
  request: Request,
  options: ConnectionOptions & CallOptions,
): AsyncGenerator<Block[], void, undefined> {
  const { signal, heartbeatTimeout = 45_000 } = options;
  const connection = linked(signal);
  // Waits no longer than the server may be silent.
  const bounded = <T>(work: () => Promise<T>) =>
    withTimeout(heartbeatTimeout, signal, (late) => {
      late.addEventListener("abort", () => connection.abort(late.reason), { once: true });
      return work();
    });
  const streamed = { ...request, headers: { ...request.headers, accept: "text/event-stream" } };
  try {
    const body = await bounded(() =>
      transport.openBody(operation, streamed, options, connection.signal, "text/event-stream"),
    );
    yield [];
    const reader = body.getReader();
    const decoder = new TextDecoder();
    const blocks = new BlockReader();
    for (;;) {
      const { done, value } = await bounded(() => unlessLost(reader.read(), connection.signal));
      // It does so when it stops, and when the token ends.
      if (done) throw new ConnectionError("the server ended the stream");
      yield blocks.push(decoder.decode(value, { stream: true }));
    }
  } finally {
    connection.abort();
  }
}
