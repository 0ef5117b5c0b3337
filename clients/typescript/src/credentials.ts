/** Gives a user token: at the first request, and again when the server has refused the last one. */
export type TokenSource = () => string | Promise<string>;

/** A key or a user token. A token that comes from a source is kept until the server refuses it. */
export class Credentials {
  #token: string | undefined;
  #renewal: Promise<string> | undefined;
  readonly #source: TokenSource | undefined;

  constructor(given: string | TokenSource | undefined) {
    if (typeof given === "function") this.#source = given;
    else this.#token = given;
  }

  /** The credentials to send; `undefined` for none. */
  async current(): Promise<string | undefined> {
    return this.#token ?? (this.#source && this.#renew(this.#source));
  }

  /**
   * Takes notice that the server refused `refused`. Returns whether others are there to try. Requests that were refused at
   * the same time share one renewal.
   */
  async replace(refused: string | undefined): Promise<boolean> {
    if (!this.#source) return false;
    if (this.#token === refused) this.#token = undefined;
    await this.current();
    return true;
  }

  #renew(source: TokenSource): Promise<string> {
    this.#renewal ??= (async () => {
      try {
        this.#token = await source();
        return this.#token;
      } finally {
        this.#renewal = undefined;
      }
    })();
    return this.#renewal;
  }
}
