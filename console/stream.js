// Server-sent events by `fetch`, because `EventSource` cannot send a header.

import { address, reached, refusedCredential, signed } from "./api.js";
import { Box } from "./box.js";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
// The server sends a comment every 15 seconds by default. A connection without one for so long is given up.
const SILENCE = 120_000;
// A page in the background soon gives up its connection: a browser has six for all tabs of a server.
const HIDDEN = 5_000;
// A page that only looks asks so often, milliseconds.
const EVERY = 10_000;

// Of so many times once for what has changed, too, and else for what is new.
const WHOLE = 6;

// In place of a stream for who only looks: a stream would make its user online. Tells the events with which a stream begins.
export class Poll {
  state = new Box("looks");
  #timer;

  constructor(tell) {
    let times = 0;
    const ask = () => document.hidden || tell(++times % WHOLE ? "open" : "reset");
    this.#timer = setInterval(ask, EVERY);
  }

  close() {
    clearInterval(this.#timer);
  }
}

export class Stream {
  // `connecting`, `open`, `waiting`, `paused`, or `refused`.
  state = new Box("connecting");
  #path;
  #query;
  #tell;
  #lastId = null;
  #pause = FIRST_PAUSE;
  #connection = null;
  #timer = null;
  #hidden = null;

  // `tell` gets each event as (name, data), and (`open`) after each connection without a place to resume from.
  constructor(path, tell, query) {
    this.#path = path;
    this.#query = query;
    this.#tell = tell;
    document.addEventListener("visibilitychange", this.#seen);
    if (document.hidden) this.state.set("paused");
    else this.#connect();
  }

  close() {
    document.removeEventListener("visibilitychange", this.#seen);
    clearTimeout(this.#hidden);
    this.#disconnect("paused");
  }

  #seen = () => {
    clearTimeout(this.#hidden);
    if (document.hidden) this.#hidden = setTimeout(() => this.#disconnect("paused"), HIDDEN);
    else if (this.state.value === "paused") this.#connect();
  };

  #disconnect(state) {
    clearTimeout(this.#timer);
    this.#connection?.abort();
    this.#connection = null;
    this.state.set(state);
  }

  async #connect() {
    clearTimeout(this.#timer);
    const connection = (this.#connection = new AbortController());
    this.state.set("connecting");
    let retryAfter = 0;
    try {
      // A header takes only bytes.
      const bytes = new TextEncoder().encode(this.#lastId ?? "");
      const answer = await fetch(address(this.#path, this.#query), {
        headers: { ...signed(), Accept: "text/event-stream", ...(this.#lastId && { "Last-Event-ID": String.fromCharCode(...bytes) }) },
        cache: "no-store",
        signal: connection.signal,
      });
      if (answer.ok) {
        this.state.set("open");
        reached.set(true);
        if (!this.#lastId) this.#tell("open");
        await this.#read(answer.body.getReader(), connection);
      } else if ([401, 403].includes(answer.status)) {
        const problem = await answer.json().catch(() => ({}));
        this.#disconnect("refused");
        // The token has expired: the next call would be refused, too.
        if (problem.code !== "not_permitted") refusedCredential.set({ ...problem, status: answer.status });
        return;
      } else {
        // The place is unknown here, perhaps after a restore, or no longer kept: begin anew.
        if ([400, 410].includes(answer.status)) this.#lastId = null;
        retryAfter = 1000 * Number(answer.headers.get("retry-after") ?? 0) || 0;
      }
    } catch {
      // Lost, or never opened.
    }
    if (this.#connection !== connection) return;
    connection.abort();
    this.state.set("waiting");
    const pause = Math.max(retryAfter, this.#pause * (0.5 + Math.random()));
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
    this.#timer = setTimeout(() => this.#connect(), pause);
  }

  // Reads until the connection ends.
  async #read(reader, connection) {
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const silence = setTimeout(() => connection.abort(), SILENCE);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      const blocks = (text + decoder.decode(value, { stream: true })).split("\n\n");
      text = blocks.pop();
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block) {
    let [name, data, id] = ["", "", null];
    for (const line of block.split("\n")) {
      if (line.startsWith("id: ")) id = line.slice(4);
      else if (line.startsWith("event: ")) name = line.slice(7);
      else if (line.startsWith("data: ")) data += line.slice(6);
    }
    if (name) this.#tell(name, data ? JSON.parse(data) : {});
    // After the event: what fails here is sent again.
    if (id !== null) this.#lastId = id;
    this.#pause = FIRST_PAUSE;
  }
}
