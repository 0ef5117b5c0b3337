/** One page of a list, newest entry first. */
export interface Page<T> {
  items: T[];
  /** The cursor to pass as `before` for older entries; `null` on the last page. A page with a cursor may be empty. */
  next: string | null;
  /** The cursor to pass as `after` for newer entries; `null` only on an empty page that was read without one. */
  prev: string | null;
}

/** The part of a list to read. */
export interface Range {
  /** Only entries older than this cursor. */
  before?: string | undefined;
  /** Only entries newer than this cursor. Without `before` the list is read upwards from here. */
  after?: string | undefined;
}

/**
 * A list of the server. It sends no request until it is read: by `page()`, by `for await` over its entries, or by
 * `for await` over `pages()`.
 *
 * Without `after` it goes down, from the newest entry (or from `before`) to the oldest (or to `after`). With `after`
 * alone it goes up, from the oldest entry above the cursor to the newest.
 */
export class List<T> implements AsyncIterable<T> {
  readonly #read: (range: Range) => Promise<Page<T>>;
  readonly #range: Range;

  /** `read` asks the server for one page. */
  constructor(range: Range, read: (range: Range) => Promise<Page<T>>) {
    this.#range = range;
    this.#read = read;
  }

  /** The first page. */
  page(): Promise<Page<T>> {
    return this.#read(this.#range);
  }

  /** All pages, to the end of the list; none for an empty list. Within each page the newest entry is first. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const range = { ...this.#range };
    for (;;) {
      const page = await this.#read(range);
      if (page.items.length > 0) yield page;
      if (this.#goesUp) {
        // An empty page may lead on, too.
        if (page.prev === null || page.prev === range.after) return;
        range.after = page.prev;
      } else {
        if (page.next === null) return;
        range.before = page.next;
      }
    }
  }

  /** All entries, to the end of the list: newest first on the way down, oldest first on the way up. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const { items } of this.pages()) {
      yield* this.#goesUp ? items.reverse() : items;
    }
  }

  get #goesUp(): boolean {
    return this.#range.after !== undefined && this.#range.before === undefined;
  }
}
