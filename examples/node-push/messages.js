// Which messages follow from a change, for whom. A change has ids; the rest is read as it is now.

import { ProblemError } from "tideline-client";

const OLD = 3600 * 1000; // milliseconds after which nobody wants a message any more
const LONGEST = 120; // characters of a text

const NEWS = { "content.published": published, "reaction.created": reacted, "follow.created": followed };

/** For `types` of the hook. */
export const TYPES = Object.keys(NEWS);

/**
 * The messages of a change, in parts of at most 100: `{ id, user, devices, title, text, item }`. A change that comes again
 * has the same `id` again, so that a device can show it once. `tideline` is a client with a key.
 */
export async function* messagesOf(change, { tideline, devices }) {
  if (!TYPES.includes(change.type) || change.at < Date.now() - OLD) return;
  const told = new Set([change.user_id]);
  for await (const { users, hears, title, text } of NEWS[change.type](change, tideline)) {
    const messages = [];
    for (const [user, list] of await devices.of(users.filter((user) => !told.has(user)))) {
      told.add(user);
      if (!(await hears(user))) continue;
      messages.push({ id: change.position, user, devices: list, title, text, item: change.content_id });
    }
    if (messages.length > 0) yield messages;
  }
}

/** For those in whose timelines the item is, and for the author of what it answers. */
async function* published({ user_id: author, content_id: id }, tideline) {
  const [item] = await tideline.items([id]);
  if (!item) return; // deleted meanwhile
  const name = await nameOf(author, tideline);
  const text = shortened(item.text);
  if (item.kind === "comment") {
    const [answered] = await tideline.items([item.ref_id]);
    const sees = async (user) => (await tideline.items([id], { viewer: user, view: "ids" })).length > 0;
    const hears = async (user) => (await wants(user, author, tideline)) && (await sees(user));
    if (answered) yield { users: [answered.author_id], hears, title: `${name} answers you`, text };
  }
  // It knows of mutes, rules, blocks and lists.
  const hears = async (user) => (await tideline.explain(user, id)).listed;
  for (const source of item.broadcast ? [author, ...item.to] : item.to) {
    for await (const { items } of tideline.followers(source, { limit: 100 }).pages()) {
      yield { users: items.map(({ user_id }) => user_id), hears, title: name, text };
    }
  }
}

/** For the author of the item. */
async function* reacted({ user_id: user, target_id: author, content_id: id, kind }, tideline) {
  const [item] = await tideline.items([id], { viewer: user });
  if (!item?.viewer.reactions.includes(kind)) return; // deleted or taken back meanwhile
  const hears = () => wants(author, user, tideline);
  const title = `${await nameOf(user, tideline)} ${kind === "like" ? "likes" : `reacts with ${kind} to`} your post`;
  yield { users: [author], hears, title, text: shortened(item.text) };
}

/** For the followed user. */
async function* followed({ user_id: follower, target_id: user }, tideline) {
  const [{ relation }] = await tideline.relations(follower, [user]);
  if (relation !== "following" && relation !== "mutual") return; // taken back meanwhile
  const hears = () => wants(user, follower, tideline);
  yield { users: [user], hears, title: `${await nameOf(follower, tideline)} follows you`, text: "" };
}

/** Whether a user hears of another one. */
async function wants(user, other, tideline) {
  const [{ muted, blocked }] = await tideline.relations(user, [other]);
  return !muted && !blocked;
}

async function nameOf(user, tideline) {
  try {
    return (await tideline.user(user)).nickname ?? user;
  } catch (error) {
    if (error instanceof ProblemError && error.code === "user_not_found") return user; // there is no profile
    throw error;
  }
}

function shortened(text = "") {
  const characters = [...text];
  return characters.length > LONGEST ? `${characters.slice(0, LONGEST).join("")}…` : text;
}
