// Accounts, sessions and posts, in memory: in place of your database. Follows, likes and blocks are Tideline's alone.

import { createHash, randomBytes, randomUUID, scrypt, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";

const SESSION_SECONDS = 30 * 24 * 3600;
const stretch = promisify(scrypt);
const digest = (text) => createHash("sha256").update(text).digest("base64url");

export class Database {
  #accounts = new Map(); // by name
  #sessions = new Map(); // by the hash of the session
  #posts = new Map(); // by id

  /** The id of the new user; undefined if the name is taken. */
  async signUp(name, password) {
    const salt = randomBytes(16);
    const hash = await stretch(password, salt, 32);
    if (this.#accounts.has(name)) return undefined;
    const id = randomUUID();
    this.#accounts.set(name, { id, salt, hash });
    return id;
  }

  /** A new session of the user; undefined if name or password are wrong, which takes as long. */
  async signIn(name, password) {
    const account = this.#accounts.get(name);
    const hash = await stretch(password, account?.salt ?? "", 32);
    if (!account || !timingSafeEqual(hash, account.hash)) return undefined;
    const session = randomBytes(32).toString("base64url");
    this.#sessions.set(digest(session), { user: account.id, end: Date.now() + SESSION_SECONDS * 1000 });
    return { user: account.id, session };
  }

  signOut(session) {
    this.#sessions.delete(digest(session));
  }

  /** The user of a session; undefined if there is no such session, or no longer. */
  userOf(session) {
    const found = this.#sessions.get(digest(session));
    return found && found.end > Date.now() ? found.user : undefined;
  }

  /** The post with its `id`: the earlier one if there is one. */
  post(post) {
    if (!this.#posts.has(post.id)) this.#posts.set(post.id, { ...post, at: Date.now() });
    return this.#posts.get(post.id);
  }
}
