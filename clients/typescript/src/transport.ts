import { Credentials, TokenFailure, type TokenSource } from "./credentials.js";
import {
  AnswerError,
  ConnectionError,
  LoggedOutError,
  ProblemError,
  readObject,
  TidelineError,
  TimeoutError,
} from "./errors.js";
import { type Id, segment } from "./ids.js";
import { writeJson } from "./json.js";
import { type Answers, type Consistency, operations, VERSION } from "./schema.js";
import { backOff, linked, sleep, withTimeout } from "./waits.js";

/** The `operationId` of a call in the OpenAPI document. */
export type Operation = keyof typeof operations;

/** Settings of a client. */
export interface Options {
  /** The address of the server, such as `https://example.org/tideline`. In a browser it may be relative. */
  url: string;
  /** A key, for programs of the application. Never give one to a browser. */
  key?: string | undefined;
  /** A user token, or a function that gets one: before the first request, and again before the token ends. */
  token?: string | TokenSource | undefined;
  /** Milliseconds that one attempt may take; 30,000 by default. Streams and backups are not bound by it. */
  timeout?: number | undefined;
  /** How often a request is sent again at most; 4 by default, 0 for never. */
  retries?: number | undefined;
  /** The longest wait between two attempts in milliseconds; 30,000 by default. */
  maxRetryDelay?: number | undefined;
  /**
   * What reads show at a node of a cluster; by default the server decides. With `session` it is all that the client has
   * changed or seen.
   */
  consistency?: Consistency | undefined;
  /** Headers of every request. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Takes the place of the global `fetch`. Streams and `readBackup` need answers with a `body`. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** Settings of one call. */
export interface CallOptions {
  /** Ends the call, which then throws the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take. */
  timeout?: number | undefined;
  /** The `X-Request-Id` of the call, which the server log has too. */
  requestId?: string | undefined;
  /** What a read shows at a node of a cluster; by default that of the client. */
  consistency?: Consistency | undefined;
}

/** One call before it is sent. */
export interface Request {
  path?: Readonly<Record<string, Id>>;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  body?: unknown;
  headers?: Readonly<Record<string, string | undefined>>;
  /** Whether the request can be sent twice without harm, where this depends on its body. */
  repeatable?: boolean;
}

// Of more positions than this, which requests at the same time leave, a change sends a part; a read is strict instead, and so
// has what all of them have.
const MOST_POSITIONS = 50;

// A page of another origin may not set this header.
const IS_BROWSER = typeof (globalThis as { document?: unknown }).document !== "undefined" || !("process" in globalThis);

/** Sends requests: credentials, timeouts, repeats, and the reading of answers. */
export class Transport {
  readonly #url: string;
  readonly #credentials: Credentials;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof globalThis.fetch;
  readonly #consistency: Consistency | undefined;
  // The `fetch` of React Native waits for the end of an answer, which a stream does not have, and gives no `body`.
  readonly #readsBodies: boolean;
  /** The longest wait between two attempts in milliseconds. */
  readonly maxDelay: number;
  #positions: readonly string[] = [];
  #turn = 0;

  constructor(options: Options) {
    if (options.key !== undefined && options.token !== undefined) {
      throw new TypeError("give a key or a token, not both");
    }
    this.#url = options.url.replace(/\/+$/, "");
    this.#timeout = options.timeout ?? 30_000;
    this.#credentials = new Credentials(options.key ?? options.token, this.#timeout);
    this.#retries = options.retries ?? 4;
    this.maxDelay = options.maxRetryDelay ?? 30_000;
    this.#consistency = options.consistency;
    this.#headers = { ...(IS_BROWSER ? {} : { "user-agent": `tideline-client-js/${VERSION}` }), ...options.headers };
    this.#fetch = options.fetch ?? ((...request) => globalThis.fetch(...request));
    this.#readsBodies = options.fetch !== undefined || typeof Response === "undefined" || "body" in Response.prototype;
  }

  /** Sends a call whose answer is JSON, with the fields `needed`. */
  async json<O extends keyof Answers>(
    operation: O,
    request: Request,
    options: CallOptions = {},
    ...needed: (keyof Answers[O] & string)[]
  ): Promise<Answers[O]> {
    return readObject(await this.text(operation, request, options), needed) as Answers[O];
  }

  /** Sends a call, and reads its answer as text. */
  async text(operation: Operation, request: Request, options: CallOptions = {}): Promise<string> {
    return this.#repeat(operation, request, options, (signal) =>
      withTimeout(options.timeout ?? this.#timeout, signal, async (bounded) => {
        const response = await this.open(operation, request, options, bounded);
        return unlessLost(response.text(), bounded);
      }),
    );
  }

  /** Sends a call whose answer is read as it arrives: `timeout` bounds the time until it begins. */
  async body(operation: Operation, request: Request, options: CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
    return this.#repeat(operation, request, options, (signal) => {
      const whole = linked(signal);
      return withTimeout(options.timeout ?? this.#timeout, signal, (bounded) => {
        bounded.addEventListener("abort", () => whole.abort(bounded.reason), { once: true });
        return this.openBody(operation, request, options, whole.signal);
      });
    });
  }

  /** One attempt to get an answer that is read as it arrives, of the media type `type`. */
  async openBody(
    operation: Operation,
    request: Request,
    options: CallOptions,
    signal: AbortSignal,
    type?: string,
  ): Promise<ReadableStream<Uint8Array>> {
    if (this.#readsBodies) {
      const { body, headers } = await this.open(operation, request, options, signal);
      const given = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase();
      if (type !== undefined && given !== type)
        throw new AnswerError(`an answer of the type "${given}", not "${type}"`);
      if (body) return body;
    }
    throw new TidelineError(
      "this `fetch` gives no `body`, as in React Native, so no answer can be read as it arrives: set the option `fetch`",
    );
  }

  /** One attempt: sends the request, with new credentials if the server refuses the old ones. */
  async open(operation: Operation, request: Request, options: CallOptions, signal: AbortSignal): Promise<Response> {
    const token = await this.#credentials.current(signal);
    const response = await this.#send(operation, request, options, signal, token);
    if (response.ok) return response;
    const problem = await unlessLost(ProblemError.from(response), signal);
    if (!problem.refusedCredentials || !this.#credentials.drop(token)) throw problem;
    const renewed = await this.#send(operation, request, options, signal, await this.#credentials.current(signal));
    if (renewed.ok) return renewed;
    throw await unlessLost(ProblemError.from(renewed), signal);
  }

  async #send(
    operation: Operation,
    { path = {}, query = {}, body, headers = {} }: Request,
    options: CallOptions,
    signal: AbortSignal,
    token: string | undefined,
  ): Promise<Response> {
    const { method, path: template, reads } = operations[operation];
    const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => segment(path[name] ?? ""));
    const had = this.#positions;
    const isFew = had.length <= MOST_POSITIONS;
    const consistency = reads ? this.#asks(options, isFew) : undefined;
    const parameters = Object.entries({ ...query, consistency }).filter(([, value]) => value !== undefined);
    const search = parameters.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join("&");
    const sent = new Headers(this.#headers);
    if (token !== undefined) sent.set("authorization", `Bearer ${token}`);
    if (body !== undefined) sent.set("content-type", "application/json");
    if (options.requestId !== undefined) sent.set("x-request-id", options.requestId);
    const shown = isFew ? had : reads ? [] : this.#part(had);
    if (shown.length > 0) sent.set("tideline-position", shown.join(", "));
    for (const [name, value] of Object.entries(headers)) {
      if (value !== undefined) sent.set(name, value);
    }
    const init: RequestInit = { method, headers: sent, signal };
    if (body !== undefined) init.body = writeJson(body);
    const response = await unlessLost(this.#fetch(`${this.#url}${filled}${search && `?${search}`}`, init), signal);
    this.#keepPosition(response.headers.get("tideline-position"), reads && response.ok ? had : shown);
    return response;
  }

  /** The `Tideline-Position` of the newest answer; several ones after requests at the same time. */
  get position(): string | undefined {
    return this.#positions.length > 0 ? this.#positions.join(", ") : undefined;
  }

  set position(position: string | undefined) {
    this.#positions = position === undefined ? [] : position.split(",").map((part) => part.trim());
  }

  /** The consistency to ask for. The server refuses `session` without a position, and only `strict` is no less than it. */
  #asks(options: CallOptions, isFew: boolean): Consistency | undefined {
    const wanted = options.consistency ?? this.#consistency;
    return !isFew || (wanted === "session" && this.#positions.length === 0) ? "strict" : wanted;
  }

  /** Keeps the position of an answer. It has what its request has sent, but perhaps not what came meanwhile. */
  #keepPosition(position: string | null, has: readonly string[]): void {
    if (position === null) return;
    const others = this.#positions.filter((other) => !has.includes(other) && other !== position);
    this.#positions = [...others, position];
  }

  /** Some of the positions, others each time: so changes alone get rid of all of them, too. */
  #part(positions: readonly string[]): readonly string[] {
    this.#turn = (this.#turn + MOST_POSITIONS) % positions.length;
    return [...positions.slice(this.#turn), ...positions.slice(0, this.#turn)].slice(0, MOST_POSITIONS);
  }

  async #repeat<T>(
    operation: Operation,
    request: Request,
    options: CallOptions,
    attempt: (signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T> {
    const repeatable = request.repeatable ?? operations[operation].repeatable;
    for (let tries = 0; ; tries++) {
      try {
        return await attempt(options.signal);
      } catch (error) {
        if (error instanceof TokenFailure) throw error.reason;
        const delay = tries < this.#retries ? this.#delayAfter(error, repeatable, tries) : undefined;
        if (delay === undefined) throw error;
        await sleep(delay, options.signal);
      }
    }
  }

  /** Milliseconds until the next attempt; `undefined` if there should be none. */
  #delayAfter(error: unknown, repeatable: boolean, tries: number): number | undefined {
    if (error instanceof ProblemError) {
      const passes = [429, 502, 503, 504].includes(error.status) && (repeatable || error.changedNothing);
      if (!passes || (error.retryAfter ?? 0) > this.maxDelay) return undefined;
      return backOff(tries, this.maxDelay, error.retryAfter);
    }
    const lost = error instanceof ConnectionError || error instanceof TimeoutError;
    return lost && repeatable ? backOff(tries, this.maxDelay) : undefined;
  }
}

/** What `fetch` promises, with its errors as those of this client. */
export async function unlessLost<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
    throw new ConnectionError(`the connection failed: ${error}${cause}`, { cause: error });
  }
}

/** Whether the cause of an error may pass, so that a loop that waits should try again. */
export function passes(error: unknown): boolean {
  if (error instanceof ProblemError) return error.status === 429 || error.status >= 500;
  if (error instanceof TokenFailure) return !(error.reason instanceof LoggedOutError);
  return error instanceof ConnectionError || error instanceof TimeoutError || error instanceof AnswerError;
}
