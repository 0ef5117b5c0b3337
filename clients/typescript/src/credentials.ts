import { LoggedOutError } from "./errors.js";
import { unlessAborted, withTimeout } from "./waits.js";

/** Gives a user token: at the first request, before the last token ends, and when the server has refused it. */
export type TokenSource = () => string | Promise<string>;

/** An error of the source, whatever it threw. Calls throw the reason; a stream may try again. */
export class TokenFailure {
  constructor(readonly reason: unknown) {}
}

// Milliseconds before its end in which a token is renewed; for short tokens a quarter of the time that is left.
const EARLY = 30_000;

/** A key or a user token. A token that comes from a source is renewed shortly before its end, or when it is refused. */
export class Credentials {
  readonly #source: TokenSource | undefined;
  readonly #timeout: number;
  #token: string | undefined;
  #end = Number.POSITIVE_INFINITY;
  #renewAt = Number.POSITIVE_INFINITY;
  #renewal: Promise<string> | undefined;

  /** The source may take `timeout` milliseconds. */
  constructor(given: string | TokenSource | undefined, timeout: number) {
    if (typeof given === "function") this.#source = given;
    else this.#token = given;
    this.#timeout = timeout;
  }

  /** The credentials to send; `undefined` for none. All who wait for a token share one call of the source. */
  async current(signal: AbortSignal): Promise<string | undefined> {
    if (!this.#source || (this.#token !== undefined && Date.now() < this.#renewAt)) return this.#token;
    this.#renewal ??= this.#renew(this.#source).finally(() => {
      this.#renewal = undefined;
    });
    return unlessAborted(this.#renewal, signal);
  }

  /** Drops a token that the server refused. Returns whether there is a source of others. */
  drop(refused: string | undefined): boolean {
    if (this.#token === refused && this.#source) this.#token = undefined;
    return this.#source !== undefined;
  }

  async #renew(source: TokenSource): Promise<string> {
    try {
      const token = await withTimeout(
        this.#timeout,
        undefined,
        (signal) => unlessAborted((async () => source())(), signal),
        "token",
      );
      this.#token = token;
      this.#end = endOf(token);
      const left = this.#end - Date.now();
      // A token that seems to have ended already shows that the clocks differ: it is used until it is refused.
      this.#renewAt = left > 0 ? this.#end - Math.min(EARLY, left / 4) : Number.POSITIVE_INFINITY;
      return token;
    } catch (error) {
      const left = this.#end - Date.now();
      if (this.#token === undefined || left <= 0 || error instanceof LoggedOutError) throw new TokenFailure(error);
      // The last token is still good.
      this.#renewAt = this.#end - left / 2;
      return this.#token;
    }
  }
}

/** The `exp` of a user token in milliseconds since 1970. A token in which none can be read has no end. */
function endOf(token: string): number {
  try {
    const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    const { exp } = JSON.parse(atob(payload)) as { exp?: unknown };
    if (typeof exp === "number") return exp * 1000;
  } catch {
    // Not a JSON Web Token.
  }
  return Number.POSITIVE_INFINITY;
}
