// The part of a mobile app that talks: to the backend with a session, and to Tideline with user tokens.

import { LoggedOutError, Tideline } from "tideline-client";

const MOST_ITEMS = 200; // in `items`

export class App {
  /** The newest items of the timeline, at most 200, kept by `watch`. */
  items = [];
  #backend;
  #session;
  #more = false;
  #changed; // of `watch`, while it runs
  #loaded = false;
  #last = Promise.resolve();

  /** With the address of the backend. */
  constructor(backend) {
    this.#backend = backend;
  }

  async signUp(name, password) {
    await this.#call("POST", "/accounts", { name, password });
    await this.signIn(name, password);
  }

  async signIn(name, password) {
    const { user, session, tideline: url } = await this.#call("POST", "/sign-in", { name, password });
    this.user = user;
    this.#session = session;
    this.tideline = new Tideline({ url, token: () => this.#token() });
  }

  signOut() {
    return this.#call("POST", "/sign-out");
  }

  // Through the backend, which has a key

  /**
   * Publishes a post, with `{ audience: "followers" }` for followers only. Keep its id: the same post can be sent again
   * until there is an answer.
   */
  post(text, id = crypto.randomUUID(), more = {}) {
    return this.#call("POST", "/posts", { id, text, ...more });
  }

  comment(item, text, id) {
    return this.post(text, id, { kind: "comment", subject: item.content_id });
  }

  repost(item, text, id) {
    return this.post(text, id, { kind: "repost", subject: item.content_id });
  }

  // With Tideline, by a user token: what the user may see, and what the user does

  /** All of the timeline, newest item first; the next page is asked for when it is needed. */
  timeline() {
    return this.tideline.timeline(this.user, { limit: 50 });
  }

  /** The profile of a user. */
  profile(user) {
    return this.tideline.user(user);
  }

  /** What a user has published. */
  posts(user) {
    return this.tideline.userContent(user);
  }

  comments(item) {
    return this.tideline.comments(item.content_id);
  }

  /** The original of a repost; undefined if this user may not see it. */
  async original(item) {
    return (await this.tideline.items([item.ref_id]))[0];
  }

  async follow(user) {
    await this.tideline.follow(this.user, user);
    await this.refresh();
  }

  async unfollow(user) {
    await this.tideline.unfollow(this.user, user);
    await this.refresh();
  }

  /** Ends the follows between the two. Neither sees anything of the other any more. */
  async block(user) {
    await this.tideline.block(this.user, user);
    await this.refresh();
  }

  async unblock(user) {
    await this.tideline.unblock(this.user, user);
  }

  async unread() {
    return (await this.tideline.unread(this.user)).count;
  }

  /** Marks an item, and all below it, as read. */
  markAsRead(item) {
    return this.tideline.moveMarker(this.user, `${item.published_at}-${item.content_id}`);
  }

  like(item) {
    return this.tideline.react(item.content_id, "like", this.user);
  }

  unlike(item) {
    return this.tideline.unreact(item.content_id, "like", this.user);
  }

  /**
   * Keeps `items` equal to the top of the timeline, and calls `changed` after each change, until the signal ends it.
   * A stream tells of no follows and blocks: after those of this app the page is loaded again.
   */
  async watch(changed, signal) {
    this.#loaded = false;
    this.#changed = changed;
    try {
      for await (const event of this.tideline.stream(this.user, { signal })) {
        await this.#inTurn(() => this.#apply(event));
        changed(event.type);
      }
    } finally {
      this.#changed = undefined;
    }
  }

  /** Loads the first page again while `watch` runs: after a follow on another device, for new likes. */
  async refresh() {
    if (!this.#changed) return;
    this.#loaded = false;
    try {
      await this.#inTurn(() => this.#load());
    } catch {
      return; // the next event loads the page
    }
    this.#changed?.("refresh");
  }

  /** Runs one change of `items` after another: events wait while a page is loaded. */
  #inTurn(change) {
    const done = this.#last.then(change);
    this.#last = done.catch(() => {});
    return done;
  }

  async #apply(event) {
    if (event.type === "reset" || !this.#loaded) await this.#load();
    else if (event.type === "content") this.#insert(event.item);
    else if (event.type === "edit")
      this.items = this.items.map((item) => (isSame(item, event.item) ? event.item : item));
    else if (event.type === "delete") this.items = this.items.filter((item) => !isSame(item, event.item));
  }

  /** The first event of a stream is `open`: what comes after it waits until the page is loaded. */
  async #load() {
    const page = await this.timeline().page();
    this.items = page.items;
    this.#more = page.next !== null;
    this.#loaded = true;
  }

  #insert(item) {
    const items = this.items.filter((other) => !isSame(other, item));
    const place = items.findIndex((other) => other.published_at <= item.published_at);
    if (place === -1 && this.#more) return; // below the items of the first page
    items.splice(place === -1 ? items.length : place, 0, item);
    if (items.length > MOST_ITEMS) this.#more = true;
    this.items = items.slice(0, MOST_ITEMS);
  }

  /** After any error but the end of the session, a stream asks for a token again. */
  async #token() {
    try {
      return (await this.#call("POST", "/token")).token;
    } catch (error) {
      if (error.status !== 401) throw error;
      throw Object.assign(new LoggedOutError(error.message), { status: error.status });
    }
  }

  async #call(method, path, body) {
    const response = await fetch(this.#backend + path, {
      method,
      headers: {
        "content-type": "application/json",
        ...(this.#session ? { authorization: `Bearer ${this.#session}` } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.reason), { status: response.status });
    return answer;
  }
}

function isSame(one, other) {
  return one.content_id === other.content_id;
}
