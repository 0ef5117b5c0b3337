// The windows about one item: everything about it, and what an operator may do with it.

import { at, post, remove } from "./api.js";
import { Body } from "./body.js";
import { forget, patch, reload, reloadTimeline, under } from "./feeds.js";
import { Icon } from "./icons.js";
import { Act, Confirm, Dialog, Fact, copy, tell } from "./parts.js";
import { Id, Name, nameById, nameOf, readAgain, useProfile } from "./people.js";
import { to } from "./route.js";
import { mayChange, mayRead } from "./session.js";
import { fullTime, sentences, t } from "./texts.js";
import { html } from "./view.js";

// A user with the id, in full.
export const Whom = ({ id }) => html`<${Name} user=${useProfile(id)} /> <${Id} id=${id} />`;

const Path = ({ id }) => html`<${Name} user=${useProfile(id)} />`;

const pathsOf = ({ author_id, broadcast, to }) => (broadcast ? [author_id, ...to] : to);

// Tells that an item was made or restored. While its author is suspended, no list has it.
export const tellMade = (item, text) =>
  tell(item.suspended ? sentences(text, t("hidden_by_suspension")) : text, { link: { href: to("item", item.content_id), text: t("show") } });

// Brings a deleted item back.
export async function restore(id) {
  const item = await post(at`v1/content/${id}/restore`);
  // It may be in any list.
  reload(...under(""));
  readAgain(item.author_id);
  tellMade(item, t("restored"));
}

// The item of which a window asks, and whose it is.
const Brief = ({ item }) => html`<p>${t("by")} <${Whom} id=${item.author_id} /></p>
  <div class="original"><p class="faint">${item.kind} · ${fullTime(item.published_at)}</p><${Body} item=${item} brief=${true} /></div>`;

// Asks before an item of somebody is deleted, and shows which.
export function Delete({ item, close }) {
  const run = async () => {
    await remove(at`v1/content/${item.content_id}`);
    forget(item.content_id);
    readAgain(item.author_id);
    tell(t("deleted"), { undo: () => restore(item.content_id) });
  };
  return html`<${Confirm} title=${t("delete_title")} button=${t("delete")} run=${run} close=${close}>
    <${Brief} item=${item} />
    <p class="faint">${t("delete_about")}</p>
  <//>`;
}

// Takes an item off one of its paths: the page of this source no longer shows it, and its followers get it by others only.
export function TakeOff({ item, source, close }) {
  const name = nameOf(useProfile(source));
  const run = async () => {
    const path = at`v1/users/${source}/content`;
    await remove(`${path}/${encodeURIComponent(item.content_id)}`);
    forget(item.content_id, path);
    patch(item.content_id, ({ broadcast, to }) =>
      source === item.author_id ? { broadcast: false, to } : { broadcast, to: to.filter((other) => other !== source) },
    );
    reloadTimeline();
    readAgain(source);
    tell(t("taken_off"));
  };
  return html`<${Confirm} title=${t("take_off", { name })} button=${t("take_off_short")} run=${run} close=${close}>
    <${Brief} item=${item} />
    <p class="faint">${t("take_off_sure", { name })}</p>
  <//>`;
}

// Fields that this window or the item itself shows in a way of its own.
const SHOWN = ["content_id", "author_id", "published_at", "edited_at", "kind", "text", "ref_id", "broadcast", "audience", "suspended"];

const others = (item) => Object.entries(item).filter(([name, value]) => typeof value !== "object" && !SHOWN.includes(name));

// Everything about an item that not everybody needs. `go` opens another window in place of this one.
export function More({ item, close, go }) {
  const paths = pathsOf(item);
  return html`<${Dialog} title=${t("about_item")} close=${close}>
    <dl class="facts">
      <${Fact} name="item_id" value=${html`<${Id} id=${item.content_id} whole=${true} />`} />
      <${Fact} name="author" value=${html`<${Whom} id=${item.author_id} />`} />
      <${Fact} name="kind" value=${item.kind} />
      <${Fact} name="published" value=${fullTime(item.published_at)} />
      ${item.edited_at && html`<${Fact} name="edited_at" value=${fullTime(item.edited_at)} />`}
      <${Fact} name="audience" value=${t(`audience_${item.audience}`)} />
      ${others(item).map(([name, value]) => html`<${Fact} key=${name} name=${name} value=${value} />`)}
      <${Fact} name="paths" value=${paths.length ? paths.map((id) => html`<${Path} key=${id} id=${id} /> `) : t("no_paths")} />
    </dl>
    ${item.extra && html`<details><summary>${t("extra_data")}</summary><pre tabindex="0">${JSON.stringify(item.extra, null, 2)}</pre></details>`}
    <div class="actions">
      ${mayRead() && html`<button class="quiet" onClick=${() => go("explain")}><${Icon} name="question" /> ${t("why_here")}</button>`}
      <${Act} class="quiet" run=${() => copy(item.content_id)}>${t("copy_id")}<//>
      ${mayChange() && html`${paths.map((source) => html`<button key=${source} class="quiet danger" onClick=${() => go({ source })}>${t("take_off", { name: nameById(source) })}</button>`)}
        <button class="quiet danger" onClick=${() => go("delete")}><${Icon} name="trash" /> ${t("delete")}</button>`}
    </div>
  <//>`;
}
