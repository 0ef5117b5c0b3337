// The notices of a user: what others did that concerns the user.

import { at, get, put } from "./api.js";
import { Original } from "./body.js";
import { Box, useBox } from "./box.js";
import { FeedList } from "./feedlist.js";
import { noticed, noticesAt } from "./feeds.js";
import { iconOf } from "./kinds.js";
import { Act, Avatar, Empty, Time, useRequest } from "./parts.js";
import { Id, Name } from "./people.js";
import { to } from "./route.js";
import { acting, mayAct } from "./session.js";
import { isolated, t } from "./texts.js";
import { html, useEffect } from "./view.js";

// Whether neighbours of one kind are one entry.
const isGrouped = new Box(true);

// Actors of one entry whose pictures are shown.
const PICTURES = 4;

export function Notices({ user }) {
  const path = at`v1/users/${user}/notices`;
  const isTogether = useBox(isGrouped);
  const told = useBox(noticed);
  const mayMark = useBox(acting) === user && mayAct();
  const [unread, , countAgain] = useRequest((signal) => get(`${path}/unread`, {}, signal), [path, told]);
  const [marker, , markAgain] = useRequest((signal) => get(`${path}/marker`, {}, signal), [path]);
  const feed = noticesAt(path, isTogether);
  // Who reads further down keeps the place.
  useEffect(() => void (told && scrollY === 0 && feed.start()), [told]);
  const mark = async () => {
    // Also those that came after this list.
    const { items } = await get(path, { limit: 1 });
    if (items.length) await put(`${path}/marker`, { cursor: items[0].cursor });
    countAgain();
    markAgain();
  };
  const readUpTo = marker?.cursor ? Number(marker.cursor.split("-")[0]) : 0;
  return html`<div class="bar">
      <p role="status">${unread && (unread.capped ? t("unread_most", { n: unread.count }) : t("unread", { n: unread.count }))}</p>
      <div class="actions">
        <button class="quiet" aria-pressed=${String(isTogether)} onClick=${() => isGrouped.set(!isTogether)}>${t("grouped")}</button>
        ${mayMark && unread?.count > 0 && html`<${Act} class="quiet" run=${mark}>${t("mark_read")}<//>`}
      </div>
    </div>
    <${FeedList} key=${String(isTogether)} feed=${feed} label=${t("tab_notices")}
      item=${(notice, place) => html`<${Notice} key=${notice.cursor} notice=${notice} place=${place} isUnread=${marker !== undefined && notice.published_at > readUpTo} />`}
      empty=${html`<${Empty} icon="bell" title=${t("empty_list")}>${t("no_notices_about")}<//>`} />`;
}

const deed = ({ kind, reaction }) => {
  if (kind !== "reaction") return t(`notice_${kind}`);
  return iconOf(reaction) ? t(`notice_${reaction}`) : t("notice_reaction", { name: isolated(reaction) });
};

function Notice({ notice, place, isUnread }) {
  const actors = notice.actors ?? [notice.actor];
  const [first] = actors;
  const others = (notice.count ?? 1) - 1;
  const title = `notice-${place}`;
  return html`<article class=${isUnread ? "item notice unread" : "item notice"} data-id=${notice.cursor} tabindex="0" aria-labelledby=${title} aria-posinset=${place} aria-setsize="-1">
    <header>
      <span class="faces">${actors.slice(0, PICTURES).map((one) => html`<${Avatar} key=${one.user_id} id=${one.user_id} nickname=${one.nickname} avatar=${one.avatar} size="small" />`)}</span>
      <p id=${title}>${isUnread && html`<i class="new">${t("new_mark")}</i> `}<a class="names" href=${to("user", first.user_id)}><${Name} user=${first} />${first.nickname && html` <${Id} id=${first.user_id} />`}</a>
        ${others > 0 && html` ${t("and_others", { n: others })}`} ${deed(notice)}</p>
      <span class="faint when"><${Time} at=${notice.published_at} /></span>
    </header>
    ${notice.original ? html`<${Original} item=${notice.original} />` : (notice.on ?? notice.item) && html`<p class="faint"><${Id} id=${notice.on ?? notice.item} /></p>`}
  </article>`;
}
