// What operators took away, with the ways back, and the begin of a sweep.

import { restore } from "./about.js";
import { at, remove } from "./api.js";
import { Older, useChanges } from "./changes.js";
import { Act, Empty, Line, Problem, Time, Title, tell } from "./parts.js";
import { Id, Name, nameById, useProfile } from "./people.js";
import { go, to } from "./route.js";
import { mayChange } from "./session.js";
import { t } from "./texts.js";
import { UserLine } from "./userbox.js";
import { html, useMemo } from "./view.js";

const TYPES = ["content.deleted", "content.restored", "content.purged", "content.taken_off", "user.suspended", "user.unsuspended"];

// What a change is about: of all changes about it, the newest tells how it is.
const about = ({ type, content_id, user_id, target_id }) =>
  JSON.stringify(type === "content.taken_off" ? [content_id, target_id] : content_id !== undefined ? [content_id] : { user_id });

// The newest change about each thing, if it took the thing away.
function present(changes) {
  const known = new Set();
  const isNewest = (change) => !known.has(about(change)) && known.add(about(change));
  return changes.filter(isNewest).filter(({ type }) => !["content.restored", "content.purged", "user.unsuspended"].includes(type));
}

const User = ({ id }) => html`<a href=${to("user", id)}><${Name} user=${useProfile(id)} /></a> <${Id} id=${id} />`;

function Row({ change: { type, at: time, user_id, target_id, content_id, kind } }) {
  const unsuspend = async () => {
    await remove(at`v1/users/${user_id}/suspension`);
    tell(t("unsuspended_now", { name: nameById(user_id) }));
  };
  const back = { "content.deleted": [() => restore(content_id), "restore"], "user.suspended": [unsuspend, "unsuspend"] }[type];
  return html`<li class="card taken">
    <div>
      <p><span class="tag failed">${t(`taken_${type}`)}</span> ${content_id !== undefined && html`<span class="tag">${kind}</span> <a href=${to("item", content_id)}><${Id} id=${content_id} /></a>`}</p>
      <p>${content_id !== undefined && t("by")} <${User} id=${user_id} />${target_id !== undefined && html` ${t("from_page")} <${User} id=${target_id} />`}</p>
      <p class="faint"><${Time} at=${time} /></p>
    </div>
    ${back && mayChange() && html`<div class="actions"><${Act} class="quiet" run=${back[0]}>${t(back[1])}<//></div>`}
  </li>`;
}

export function Moderation() {
  const types = useMemo(() => TYPES, []);
  const feed = useChanges(types, true);
  const rows = present(feed.changes);
  const sweep = (text) => (text.startsWith("#") ? go("topic", text.slice(1), "select") : go("user", text, "content", "select"));
  return html`<div class="bar"><${Title} text=${t("moderation")} /></div>
    ${mayChange() &&
    html`<h2>${t("sweep")}</h2><p class="faint">${t("sweep_about")}</p>
      <${UserLine} id="sweep-of" label=${t("sweep_of")} button=${t("open")} run=${sweep} isOther=${(text) => text.startsWith("#")} />
      <h2>${t("restore_one")}</h2><p class="faint">${t("restore_one_about")}</p>
      <${Line} label=${t("item_id")} button=${t("open")} run=${(id) => go("item", id)} />`}
    <h2>${t("taken_away")}</h2><p class="faint">${t("taken_away_about")}</p>
    ${feed.problem && html`<${Problem} problem=${feed.problem} retry=${() => feed.older()} />`}
    ${feed.isRead && feed.isAtBegin && !rows.length && html`<${Empty} icon="shield" title=${t("empty_list")}>${t("nothing_taken_away")}<//>`}
    <ul class="plain">${rows.map((change) => html`<${Row} key=${change.position} change=${change} />`)}</ul>
    ${!feed.problem && html`<${Older} ...${feed} changes=${rows} />`}`;
}
