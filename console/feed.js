// A list of items without end, of which only the part around the reader is in memory.
//
// The list is a row of pages, newest first, unless it is read `upwards`. A run of them is loaded; of the others remain a height, so that the
// scrollbar is right, and the cursors of their first and last item, so that they can be loaded again. Nothing that
// arrives later moves what is being read: newer items are only counted until the reader asks for them.

// Items of one page, and the most pages that are loaded at once.
const PAGE = 25;
const MOST_LOADED = 5;
// The most entries of one request.
const LIMIT = 100;
// Newer items are counted up to here.
const MOST_COUNTED = 1000;

export const cursorOf = (item) => `${item.published_at}-${item.content_id}`;

// Only item 1 of the first millisecond of 1970 stands here, below all others.
const LOWEST = "0-1";

// A reader for a list with the oldest item at its top: what is below in the list is above in the API. The API answers
// with the newest items between two places, so these are read to the end.
export const upwards = (load) => async ({ before: top = LOWEST, after: bottom, limit }) => {
  if (bottom === undefined) {
    const { items, prev } = await load({ after: top, limit });
    return { items: items.toReversed(), next: prev === top ? null : prev };
  }
  const items = [];
  for (let before = bottom; before; ) {
    const part = await load({ before, after: top, limit: LIMIT });
    items.push(...part.items);
    before = part.next;
  }
  return { items: items.reverse(), next: null };
};

const isNumber = (id) => /^[1-9][0-9]{0,18}$/.test(id) && BigInt(id) < 2n ** 63n;

// The order of lists: below 0 if `a` stands above `b`. At equal times names stand above numbers. Of two names the one
// that the server saw later stands above; here `a` counts as that one.
function order(a, b) {
  const later = b.published_at - a.published_at;
  if (later || a.content_id === b.content_id) return later;
  const [first, second] = [isNumber(a.content_id), isNumber(b.content_id)];
  if (first && second) return BigInt(a.content_id) > BigInt(b.content_id) ? -1 : 1;
  return first && !second ? 1 : -1;
}

export class Feed {
  pages = [];
  // The loaded run: `from` up to, but not including, `to`.
  from = 0;
  to = 0;
  // Whether there is nothing older than the last page.
  ended = false;
  // Ids of newer items that are not shown.
  newer = new Set();
  // `first`, `older`, `newer`, `seek` while a request runs.
  busy = null;
  problem = null;
  // The vertical place of the page when the reader left it, and the item that had the focus.
  scroll = 0;
  focused = null;
  // A view: `before()` is called before the loaded items change, `after()` afterwards, `height(page)` measures.
  view = null;
  #load;
  #key = 0;
  #epoch = 0;

  // `load({before, after, limit, view})` reads a page of the API. A live list tells `counted`
  // the number of newer items; another does not know them.
  constructor(load, counted) {
    this.#load = load;
    this.counted = counted;
  }

  get items() {
    return this.pages.slice(this.from, this.to).flatMap((page) => page.items);
  }

  // The heights above and below the loaded run.
  get above() {
    return this.pages.slice(0, this.from).reduce((sum, page) => sum + page.height, 0);
  }

  get below() {
    return this.pages.slice(this.to).reduce((sum, page) => sum + page.height, 0);
  }

  #changed() {
    this.counted?.(this.newer.size);
    this.view?.after();
  }

  #change(work) {
    this.view?.before();
    work();
    this.#changed();
  }

  // Runs one request at a time. What arrives after a new beginning is thrown away.
  async #run(kind, work) {
    if (this.busy) return;
    const epoch = this.#epoch;
    this.busy = kind;
    this.problem = null;
    this.#changed();
    try {
      const apply = await work();
      if (epoch !== this.#epoch) return;
      this.busy = null;
      this.#change(apply);
    } catch (problem) {
      if (epoch !== this.#epoch) return;
      this.busy = null;
      this.problem = problem;
      this.#changed();
    }
  }

  #page(items) {
    const [first, last] = [cursorOf(items[0]), items.at(-1).below ?? cursorOf(items.at(-1))];
    return { key: ++this.#key, items, count: items.length, height: 0, first, last };
  }

  // The page below a cursor, or the first one. An empty page may lead on.
  async #below(before) {
    for (;;) {
      const page = await this.#load({ before, limit: PAGE });
      if (page.items.length || page.next === null) return page;
      before = page.next;
    }
  }

  // Begins at the newest item.
  async start() {
    this.#epoch++;
    this.busy = null;
    await this.#run("first", async () => {
      const { items, next } = await this.#below();
      return () => {
        this.pages = items.length ? [this.#page(items)] : [];
        [this.from, this.to] = [0, this.pages.length];
        this.ended = next === null;
        this.newer.clear();
      };
    });
    // What arrived meanwhile.
    if (!this.problem) await this.recount();
  }

  // Items of a page that was loaded before: everything between its neighbours, with what came in between meanwhile.
  async #again(index) {
    const page = this.pages[index];
    const bound = this.pages[index + 1]?.first;
    let before = this.pages[index - 1]?.last;
    // The topmost page has no neighbour above it, so it is read upwards. Then newer items are counted again.
    if (before === undefined && bound !== undefined) {
      return (await this.#load({ after: bound, limit: Math.min(page.count, LIMIT) })).items;
    }
    const items = [];
    do {
      const part = await this.#load({ before, after: bound, limit: LIMIT });
      items.push(...part.items);
      before = part.next ?? undefined;
      if (bound === undefined && items.length >= page.count) break;
    } while (before !== undefined);
    return items;
  }

  #put(index, items) {
    for (const item of items) this.newer.delete(item.content_id);
    const page = this.pages[index];
    Object.assign(page, items.length ? { ...this.#page(items), key: page.key } : { items: [], count: 0, height: 0 });
  }

  // Loads the page below the run.
  older() {
    if (this.to < this.pages.length) {
      return this.#run("older", async () => {
        const items = await this.#again(this.to);
        return () => {
          this.#put(this.to, items);
          this.to++;
          this.#drop(true);
        };
      });
    }
    if (this.ended || !this.pages.length) return undefined;
    return this.#run("older", async () => {
      const { items, next } = await this.#below(this.pages.at(-1).last);
      return () => {
        if (items.length) {
          this.pages.push(this.#page(items));
          this.to++;
        }
        this.ended = next === null;
        this.#drop(true);
      };
    });
  }

  // Loads the page above the run.
  async up() {
    if (this.from === 0 || this.busy) return;
    await this.#run("newer", async () => {
      const items = await this.#again(this.from - 1);
      return () => {
        this.#put(--this.from, items);
        this.#drop(false);
      };
    });
    if (this.from === 0 && !this.problem) await this.recount();
  }

  // Loads one page far away from the run, to which the reader has dragged the scrollbar.
  async seek(index) {
    if (this.busy) return;
    await this.#run("seek", async () => {
      const items = await this.#again(index);
      return () => {
        this.pages.slice(this.from, this.to).forEach((page) => this.#fold(page));
        this.#put(index, items);
        [this.from, this.to] = [index, index + 1];
      };
    });
    if (index === 0 && !this.problem) await this.recount();
  }

  // Folds the pages at the far end of the run.
  #drop(atTop) {
    while (this.to - this.from > MOST_LOADED) {
      this.#fold(this.pages[atTop ? this.from++ : --this.to]);
    }
  }

  #fold(page) {
    page.height = this.view?.height(page) ?? page.height;
    page.items = null;
  }

  // Counts the items above the list anew.
  async recount() {
    if (!this.counted) return;
    const [epoch, top] = [this.#epoch, this.pages[0]];
    try {
      const { items } = await this.#load({ after: top?.first, limit: LIMIT, view: "ids" });
      if (epoch !== this.#epoch) return;
      for (const item of items) this.#count(item);
      this.#changed();
    } catch {
      // The next event or the next page tells.
    }
  }

  #count(item) {
    if (this.newer.size < MOST_COUNTED) this.newer.add(item.content_id);
  }

  get isCapped() {
    return this.newer.size >= MOST_COUNTED;
  }

  // An item was published or restored.
  arrived(item) {
    if (this.edited(item) || this.busy === "first") return;
    const top = this.pages[0];
    // There is nothing that could move.
    if (this.view && !this.pages.some((page) => page.count)) return this.start();
    if (!top || order(item, this.#placeOf(top.first)) < 0) {
      this.#count(item);
      this.#changed();
      return;
    }
    // It has an earlier place. If this is outside the run, it comes with its page.
    const run = this.pages.slice(this.from, this.to);
    const page = run.find((page) => page.items.length && order(item, page.items.at(-1)) < 0);
    if (page) {
      if (page === run[0] && this.from > 0 && order(item, page.items[0]) < 0) return;
      this.#insert(page, page.items.findIndex((other) => order(item, other) < 0), item);
    } else if (this.ended && this.to === this.pages.length && run.length) {
      this.#insert(run.at(-1), run.at(-1).items.length, item);
    }
  }

  #placeOf(cursor) {
    const dash = cursor.indexOf("-");
    return { published_at: Number(cursor.slice(0, dash)), content_id: cursor.slice(dash + 1) };
  }

  #insert(page, place, item) {
    this.#change(() => this.#keep(page, page.items.toSpliced(place, 0, item)));
  }

  #keep(page, items) {
    page.items = items;
    page.count = items.length;
    if (items.length) [page.first, page.last] = [cursorOf(items[0]), cursorOf(items.at(-1))];
  }

  #find(id) {
    for (const page of this.pages.slice(this.from, this.to)) {
      const place = page.items.findIndex((item) => item.content_id === id);
      if (place >= 0) return { page, place };
    }
    return null;
  }

  // Replaces an item that is loaded, but for its original, which no event has; false if it is not loaded.
  edited(item) {
    const found = this.#find(item.content_id);
    if (found) {
      const { page, place } = found;
      this.#change(() => (page.items = page.items.with(place, { original: page.items[place].original, ...item })));
    }
    return found !== null;
  }

  deleted(id) {
    const found = this.#find(id);
    if (found) this.#change(() => this.#keep(found.page, found.page.items.toSpliced(found.place, 1)));
    else if (this.newer.delete(id)) this.#changed();
  }

  // Events were left out: the loaded run is read again, where it stands.
  async refresh() {
    if (!this.pages.length) return this.start();
    const epoch = this.#epoch;
    const run = this.pages.slice(this.from, this.to);
    try {
      for (const page of run) {
        const index = this.pages.indexOf(page);
        if (index < 0 || !page.items) continue;
        const items = await this.#again(index);
        if (epoch !== this.#epoch) return undefined;
        if (page.items) this.#change(() => this.#put(index, items));
      }
    } catch (problem) {
      this.problem = problem;
    }
    this.newer.clear();
    return this.recount();
  }
}
