// Users: their profiles, as far as they may be read, and rows of lists.

import { at, get, put, remove } from "./api.js";
import { Box, useBox } from "./box.js";
import { reload } from "./feeds.js";
import { Icon } from "./icons.js";
import { Act, Avatar, Time } from "./parts.js";
import { to } from "./route.js";
import { acting, mayAct, mayRead, session } from "./session.js";
import { t } from "./texts.js";
import { html, useEffect, useState } from "./view.js";

// Profiles that were read, the latest last; and how many are read at once.
const MOST = 500;
const AT_ONCE = 4;
const profiles = new Map();
const waiting = [];
let running = 0;
const changes = new Box(0);

const mayReadUser = (id) => mayRead() || session.value.user === id;

async function work() {
  while (running < AT_ONCE && waiting.length) {
    const id = waiting.pop();
    running++;
    get(at`v1/users/${id}`)
      .then((profile) => known(profile), () => {})
      .finally(() => (running--, work()));
  }
}

// Keeps what was read of a user.
export function known(profile) {
  profiles.delete(profile.user_id);
  profiles.set(profile.user_id, profile);
  if (profiles.size > MOST) profiles.delete(profiles.keys().next().value);
  changes.set(changes.value + 1);
}

// The profile of a user; only the id until it is known.
export function useProfile(id) {
  useBox(changes);
  useEffect(() => {
    if (!id || profiles.has(id) || !mayReadUser(id) || waiting.includes(id)) return;
    waiting.push(id);
    work();
  }, [id]);
  return profiles.get(id) ?? { user_id: id };
}

export const nameOf = (user) => user.nickname || user.user_id;

// The relation of the user for whom the console acts to another; `set` takes the answer to a change.
export function useRelation(target) {
  const user = useBox(acting);
  const [relation, set] = useState(null);
  useEffect(() => {
    set(null);
    if (user === null || user === target) return undefined;
    const gone = new AbortController();
    // Ids with a comma cannot stand in a list.
    if (!target.includes(",")) {
      get(at`v1/users/${user}/relations`, { targets: target }, gone.signal).then(
        ({ items }) => set(items[0]),
        () => {},
      );
    }
    return () => gone.abort();
  }, [user, target]);
  return [relation, set];
}

// Follow and mute, for the user for whom the console acts.
export function RelationButtons({ target, relation, set, compact }) {
  const user = useBox(acting);
  useBox(session);
  if (!relation || user === null || user === target || !mayAct()) return null;
  const follows = ["following", "mutual"].includes(relation.relation);
  const change = (list, isOn) => async () => {
    const path = `v1/users/${encodeURIComponent(user)}/${list}/${encodeURIComponent(target)}`;
    set(await (isOn ? remove(path) : put(path)));
    reload(at`v1/users/${user}/timeline`, at`v1/users/${user}/following`, at`v1/users/${user}/mutes`,
      at`v1/users/${target}/followers`, at`v1/users/${user}/hidden-from`, at`v1/users/${user}/friends`);
    for (const id of [user, target]) if (mayReadUser(id)) get(at`v1/users/${id}`).then(known, () => {});
  };
  return html`<div class="actions">
    <${Act} class=${follows ? "quiet on" : "strong"} run=${change("following", follows)}>
      ${follows ? html`<${Icon} name="check" /> ${t("following_now")}` : t("follow")}
    <//>
    ${!compact &&
    html`<${Act} class="quiet" aria-pressed=${String(relation.muted)} run=${change("mutes", relation.muted)}>
        <${Icon} name="mute" /> ${relation.muted ? t("unmute") : t("mute")}
      <//>
      <${Act} class="quiet" aria-pressed=${String(relation.hidden)} title=${t("hide_about")} run=${change("hidden-from", relation.hidden)}>
        ${relation.hidden ? t("unhide") : t("hide")}
      <//>`}
  </div>`;
}

export function RelationNote({ relation }) {
  const notes = {
    mutual: "friends_of_each_other",
    followed_by: "follows_you",
  };
  const note = relation && notes[relation.relation];
  return html`${note && html`<span class="tag">${t(note)}</span>`}
    ${relation?.muted && html`<span class="tag">${t("muted")}</span>`}
    ${relation?.hidden && html`<span class="tag">${t("hidden")}</span>`}`;
}

export function UserRow({ id, since, place, position }) {
  const profile = useProfile(id);
  return html`<div role="listitem" class="row person" data-id=${id}>
    <${Avatar} id=${id} nickname=${profile.nickname} avatar=${profile.avatar} />
    <a class="names" href=${to("user", id)} data-position=${position}>
      <b>${nameOf(profile)}</b>
      ${profile.nickname && html`<span class="faint id">${id}</span>`}
    </a>
    ${since !== undefined && html`<span class="faint"><${Time} at=${since} /></span>`}
  </div>`;
}
