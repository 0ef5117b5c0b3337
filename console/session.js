// Who uses the console: what the credential permits, and for which user pages are shown.

import { Problem, at, credential, get, refusedCredential } from "./api.js";
import { Box, kept } from "./box.js";

// `open`: a server without keys. `full`, `read`: the kind of key. `user`: a user token. `none`: to be asked for.
export const session = new Box({ kind: "starting" });

// The user whose timeline was opened last. Looking changes nothing.
export const watched = kept("tideline.watched", null, sessionStorage);

// The user in whose name the console follows, likes and publishes: the watched one, or nobody. A token acts for its user.
export const acting = kept("tideline.acting", null, sessionStorage);

// The users that were looked up last.
export const recent = kept("tideline.recent", [], sessionStorage);
const MOST_RECENT = 8;

// Texts that were written and not sent, by their forms.
export const drafts = kept("tideline.drafts", {}, sessionStorage);

const stored = kept("tideline.credential", null, sessionStorage);

const isOpen = () => document.querySelector('meta[name="tideline-access"]').content === "open";

// The user of a token; null if the text is a key.
function userOf(text) {
  const [, payload, signature] = text.split(".");
  if (!signature) return null;
  try {
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    const { sub } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof sub === "string" ? sub : null;
  } catch {
    return null;
  }
}

// What a key permits. Both questions change nothing, and only a full key may ask the second.
async function kindOfKey() {
  await get("v1/admin/stats");
  try {
    await get("v1/admin/backups/none");
  } catch (problem) {
    return problem.code === "not_permitted" ? "read" : "full";
  }
  return "full";
}

// Signs in; throws the problem of a credential that the server does not take.
export async function signIn(text) {
  // A header takes no other letters, so no server knows a key with them.
  if (!/^[!-~]+$/.test(text)) throw new Problem({ code: "bad_credentials", status: 403 });
  credential.set(text);
  try {
    const user = userOf(text);
    // A profile is not there for a token while its user is suspended; the settings are.
    if (user !== null) await get(at`v1/users/${user}/settings`);
    const kind = user !== null ? "user" : await kindOfKey();
    stored.set(text);
    refusedCredential.set(null);
    if (user !== null) watched.set(user);
    if (user !== null || kind === "read") acting.set(user);
    session.set({ kind, user });
  } catch (problem) {
    credential.set(null);
    throw problem;
  }
}

export function signOut(problem = null) {
  credential.set(null);
  stored.set(null);
  acting.set(null);
  watched.set(null);
  recent.set([]);
  drafts.set({});
  session.set({ kind: "none", problem });
}

export async function start() {
  if (isOpen()) return session.set({ kind: "open" });
  if (!stored.value) return session.set({ kind: "none" });
  try {
    await signIn(stored.value);
  } catch (problem) {
    // A server that cannot be reached has refused nothing.
    const isRefused = problem instanceof Problem && problem.status > 0;
    if (isRefused) signOut(problem);
    else session.set({ kind: "none", problem });
  }
}

refusedCredential.listen((problem) => {
  if (problem && !["starting", "none"].includes(session.value.kind)) signOut(problem);
});

export const mayRead = () => ["open", "full", "read"].includes(session.value.kind);
export const mayChange = () => ["open", "full"].includes(session.value.kind);
// Follows, mutes, likes: a user token may make them for its own user.
export const mayAct = () => mayChange() || session.value.kind === "user";

// Shows what a user sees. Who acts for another user no longer does.
export function watch(user) {
  if (acting.value !== user) acting.set(null);
  watched.set(user);
  recent.set([user, ...recent.value.filter((other) => other !== user)].slice(0, MOST_RECENT));
}

// Nobody has this id.
export function unwatch(user) {
  recent.set(recent.value.filter((other) => other !== user));
  if (watched.value === user) watched.set(null);
}
