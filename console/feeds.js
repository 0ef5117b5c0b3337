// The lists that are shown or were shown lately, and the live stream of the user for whom the console acts.

import { at, get } from "./api.js";
import { Box } from "./box.js";
import { Feed } from "./feed.js";
import { acting, mayAct, mayRead, session } from "./session.js";
import { Stream } from "./stream.js";

// Lists that are kept when the reader goes on, so that a way back leads to the same place.
const KEPT = 4;
// Originals of reposts that are kept.
const MOST_ORIGINALS = 300;
const feeds = new Map();
const originals = new Map();

// The stream, and the number of new items in the timeline.
export const live = new Box(null);
export const unseen = new Box(0);
export const paused = new Box(false);

// Reposts show their original. It is read with the page, so that no item grows while it is read.
async function withOriginals(items) {
  const wanted = [...new Set(items.filter((item) => item.kind === "repost" && item.ref_id).map((item) => item.ref_id))];
  const missing = mayRead() ? wanted.filter((id) => !originals.has(id)) : [];
  if (missing.length) {
    // Ids with a comma cannot stand in a list.
    const ids = missing.filter((id) => !id.includes(","));
    const found = ids.length ? (await get("v1/content", { ids: ids.join(",") })).items : [];
    for (const item of found) originals.set(item.content_id, item);
    for (const id of originals.keys()) {
      if (originals.size <= MOST_ORIGINALS) break;
      originals.delete(id);
    }
  }
  const original = (item) => item.kind === "repost" && originals.get(item.ref_id);
  return items.map((item) => (original(item) ? { ...item, original: original(item) } : item));
}

const loader = (path, change) => async (query) => {
  const page = await get(path, query);
  return { ...page, items: query.view ? page.items : await change(page.items) };
};

function feedAt(path, change) {
  const feed = feeds.get(path) ?? new Feed(loader(path, change), path === timelinePath() ? (count) => unseen.set(count) : null);
  feeds.delete(path);
  feeds.set(path, feed);
  const oldest = [...feeds.keys()].filter((key) => key !== timelinePath() && !feeds.get(key).view);
  if (feeds.size > KEPT && oldest.length) feeds.delete(oldest[0]);
  return feed;
}

// A list of items, by its path.
export const itemsAt = (path) => feedAt(path, withOriginals);

// The relation of the user for whom the console acts to each user of a list.
export async function withRelations(items) {
  // Ids with a comma cannot stand in a list.
  const targets = items.map(({ user_id }) => user_id).filter((id) => !id.includes(",")).join(",");
  if (acting.value === null || !mayAct() || !targets) return items;
  const relations = await get(at`v1/users/${acting.value}/relations`, { targets });
  const byUser = new Map(relations.items.map((relation) => [relation.target_id, relation]));
  return items.map((entry) => ({ ...entry, relation: byUser.get(entry.user_id) }));
}

// A list of users. An entry stands in it as an item does: by a time and an id.
export const usersAt = (path) =>
  feedAt(path, async (items) =>
    (await withRelations(items)).map((entry) => ({ ...entry, content_id: entry.user_id, published_at: entry.since })),
  );

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

export function forget(id) {
  for (const feed of feeds.values()) feed.deleted(id);
}

// Lists that a change of this page may have changed.
export function reload(...paths) {
  for (const path of paths) {
    const feed = feeds.get(path);
    if (feed?.view) feed.start();
    else feeds.delete(path);
  }
}

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
