// The lists that are shown or were shown lately, and the live stream of the user for whom the console acts. A user who is
// only watched has none, because it would make the user online; then the console asks now and then.

import { at, get, listed } from "./api.js";
import { Box } from "./box.js";
import { Feed, upwards } from "./feed.js";
import { acting, mayAct, mayRead, session, watched } from "./session.js";
import { Poll, Stream } from "./stream.js";

// Lists that are kept when the reader goes on, so that a way back leads to the same place.
const KEPT = 4;
const feeds = new Map();

// The stream or what stands for it, and the number of new items in the timeline.
export const live = new Box(null);
export const unseen = new Box(0);
export const paused = new Box(false);
// How many notices the stream has told.
export const noticed = new Box(0);

// Reposts and comments show the item to which they refer. It is read with the page, so that no item grows while it is
// read. `original` is null if there is no such item, and missing if it may not be read.
export async function withOriginals(items, signal) {
  const wanted = [...new Set(items.flatMap((item) => item.ref_id ?? []))];
  if (!wanted.length || !mayRead()) return items;
  const { items: found } = await get("v1/content", { ids: listed(wanted) }, signal);
  const originals = new Map(found.map((item) => [item.content_id, item]));
  return items.map((item) => (item.ref_id ? { ...item, original: originals.get(item.ref_id) ?? null } : item));
}

const loader = (path, change, further = () => ({})) => async (query) => {
  const page = await get(path, { ...query, ...further() });
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
export function usersAt(path) {
  const asItem = (entry) => ({ ...entry, content_id: entry.user_id, published_at: entry.since });
  const feed = feedAt(path, loader(path, async (items) => (await withRelations(items)).map(asItem)));
  feed.isOfUsers = true;
  return feed;
}

// The notices of a user. The cursor of a notice is its time and its place; that of a group is that of its newest one, so
// the page tells where the list goes on.
export const noticesAt = (path, isGrouped) =>
  feedAt(`${path} ${isGrouped}`, async (query) => {
    const page = await get(path, { ...query, view: undefined, group: isGrouped || undefined });
    const items = page.items.map((notice) => {
      const [published_at, content_id] = halves(notice.cursor);
      return { ...notice, published_at: Number(published_at), content_id, item: notice.content_id };
    });
    if (page.next && items.length) items.at(-1).below = page.next;
    return { ...page, items: await withItems(items) };
  });

const halves = (cursor) => [cursor.slice(0, cursor.indexOf("-")), cursor.slice(cursor.indexOf("-") + 1)];

// The item that a notice is about: that of the actor if it has words of its own, or else that of the user.
const subject = ({ kind, item, on }) => (["comment", "mention"].includes(kind) ? item ?? on : on ?? item);

// Notices with the items that they are about.
async function withItems(notices) {
  const wanted = [...new Set(notices.flatMap((notice) => subject(notice) ?? []))];
  if (!wanted.length || !mayRead()) return notices;
  const { items } = await get("v1/content", { ids: listed(wanted) });
  const found = new Map(items.map((item) => [item.content_id, item]));
  return notices.map((notice) => ({ ...notice, original: found.get(subject(notice)) ?? null }));
}

const pathOf = (user) => at`v1/users/${user}/timeline`;
const timelinePath = () => (watched.value === null ? null : pathOf(watched.value));

// Who only looks leaves the user as active or dormant as before.
const peek = () => (acting.value === null && mayRead() ? { peek: true } : {});

export const timelineOf = (user) => feedAt(pathOf(user), loader(pathOf(user), withOriginals, peek));

// The timeline is read again: no stream tells who only looks of a change that this page has made.
export const reloadTimeline = () => acting.value === null && reload(timelinePath());

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
  if (event === "notice") noticed.set(noticed.value + 1);
  const feed = feeds.get(timelinePath());
  if (!feed) return;
  if (event === "open") await (feed.pages.length ? feed.recount() : feed.view && !feed.busy && feed.start());
  if (event === "content") feed.arrived((await withOriginals([data]).catch(() => [data]))[0]);
  if (event === "edit") feed.edited(data);
  if (event === "delete") feed.deleted(data.content_id);
  if (event === "reset") await feed.refresh();
}

// On all pages.
function follow() {
  live.value?.close();
  if (watched.value === null || paused.value || !(mayRead() || mayAct())) return live.set(null);
  const isActing = acting.value !== null;
  return live.set(isActing ? new Stream(at`v1/users/${acting.value}/stream`, tell) : new Poll(tell));
}

let followed = null;
function changed() {
  const wanted = JSON.stringify([watched.value, acting.value, paused.value, session.value.kind]);
  if (wanted === followed) return;
  followed = wanted;
  follow();
}
session.listen(() => (forgetAll(), changed()));
watched.listen(() => (forgetAll(), unseen.set(0), changed()));
// Rows of users have buttons for whom the console acts. What is read stays where it is.
acting.listen(() => (reload(...under("").filter((name) => feeds.get(name).isOfUsers)), changed()));
paused.listen(changed);
