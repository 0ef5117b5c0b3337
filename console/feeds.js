// The lists that are shown or were shown lately, and the live stream of the user for whom the console acts.

import { at, get, listed } from "./api.js";
import { Box } from "./box.js";
import { Feed, upwards } from "./feed.js";
import { acting, mayAct, mayRead, session } from "./session.js";
import { Stream } from "./stream.js";

// Lists that are kept when the reader goes on, so that a way back leads to the same place.
const KEPT = 4;
const feeds = new Map();

// The stream, and the number of new items in the timeline.
export const live = new Box(null);
export const unseen = new Box(0);
export const paused = new Box(false);

// Reposts and comments show the item to which they refer. It is read with the page, so that no item grows while it is
// read. `original` is null if there is no such item, and missing if it may not be read.
export async function withOriginals(items, signal) {
  const wanted = [...new Set(items.flatMap((item) => item.ref_id ?? []))];
  if (!wanted.length || !mayRead()) return items;
  const { items: found } = await get("v1/content", { ids: listed(wanted) }, signal);
  const originals = new Map(found.map((item) => [item.content_id, item]));
  return items.map((item) => (item.ref_id ? { ...item, original: originals.get(item.ref_id) ?? null } : item));
}

const loader = (path, change) => async (query) => {
  const page = await get(path, query);
  return { ...page, items: query.view ? page.items : await change(page.items) };
};

// A list by its name, which is its path if it has the order of the API.
function feedAt(name, load) {
  const feed = feeds.get(name) ?? new Feed(load, name === timelinePath() ? (count) => unseen.set(count) : null);
  feeds.delete(name);
  feeds.set(name, feed);
  const oldest = [...feeds.keys()].filter((key) => key !== timelinePath() && !feeds.get(key).view);
  if (feeds.size > KEPT && oldest.length) feeds.delete(oldest[0]);
  return feed;
}

// A list of items, by its path.
export const itemsAt = (path) => feedAt(path, loader(path, withOriginals));

// The comments on an item, from the first or from the newest one. They do not show what they refer to.
const commentsPath = (id) => at`v1/content/${id}/comments`;
const fromFirst = (path) => `${path} from the first`;
export function commentsOn(id, isNewestFirst) {
  const path = commentsPath(id);
  const load = loader(path, (items) => items.map(({ ref_id, ...item }) => item));
  return isNewestFirst ? feedAt(path, load) : feedAt(fromFirst(path), upwards(load));
}

export const reloadComments = (id) => reload(commentsPath(id), fromFirst(commentsPath(id)));

// The relation of the user for whom the console acts to each user of a list.
export async function withRelations(items) {
  const targets = listed(items.map(({ user_id }) => user_id));
  if (acting.value === null || !mayAct() || !targets) return items;
  const relations = await get(at`v1/users/${acting.value}/relations`, { targets });
  const byUser = new Map(relations.items.map((relation) => [relation.target_id, relation]));
  return items.map((entry) => ({ ...entry, relation: byUser.get(entry.user_id) }));
}

// A list of users. An entry stands in it as an item does: by a time and an id.
export const usersAt = (path) =>
  feedAt(path, loader(path, async (items) =>
    (await withRelations(items)).map((entry) => ({ ...entry, content_id: entry.user_id, published_at: entry.since })),
  ));

const timelinePath = () => (acting.value === null ? null : at`v1/users/${acting.value}/timeline`);

export const timelineOf = (user) => itemsAt(at`v1/users/${user}/timeline`);

// The last change of an item that this page made: its id, and a function from the item to the changed fields.
export const patched = new Box(null);

// A change of this page, shown in every list at once.
export function patch(id, change) {
  patched.set({ id, change });
  for (const feed of feeds.values()) {
    const item = feed.items.find((item) => item.content_id === id);
    if (item) feed.edited({ ...item, ...change(item) });
  }
}

// Takes an item out of every list, or of one.
export function forget(id, path) {
  for (const [name, feed] of feeds) if (path === undefined || name === path) feed.deleted(id);
}

// Lists that a change of this page may have changed.
export function reload(...paths) {
  for (const path of paths) {
    const feed = feeds.get(path);
    if (feed?.view) feed.start();
    else feeds.delete(path);
  }
}

// The lists whose paths begin like this.
export const under = (path) => [...feeds.keys()].filter((name) => name.startsWith(path));

export const forgetAll = () => feeds.clear();

async function tell(event, data) {
  const feed = feeds.get(timelinePath());
  if (!feed) return;
  if (event === "open") await (feed.pages.length ? feed.recount() : feed.view && !feed.busy && feed.start());
  if (event === "content") feed.arrived((await withOriginals([data]).catch(() => [data]))[0]);
  if (event === "edit") feed.edited(data);
  if (event === "delete") feed.deleted(data.content_id);
  if (event === "reset") await feed.refresh();
}

// The stream follows the user for whom the console acts, on all pages. It makes that user online, so a read key opens
// none.
function follow() {
  live.value?.close();
  const isWanted = acting.value !== null && !paused.value && mayAct();
  live.set(isWanted ? new Stream(acting.value, tell) : null);
}

let followed = null;
function changed() {
  const wanted = JSON.stringify([acting.value, paused.value, session.value.kind]);
  if (wanted === followed) return;
  followed = wanted;
  follow();
}
session.listen(() => (forgetAll(), changed()));
acting.listen(() => (forgetAll(), unseen.set(0), changed()));
paused.listen(changed);
