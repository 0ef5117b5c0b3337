// A list of items, of which an operator may choose many, to delete them or to take them off a page.

import { Whom } from "./about.js";
import { at, get, post, remove } from "./api.js";
import { Box, useBox } from "./box.js";
import { FeedList } from "./feedlist.js";
import { forget, itemsAt, reload, reloadTimeline } from "./feeds.js";
import { Icon } from "./icons.js";
import { Item } from "./item.js";
import { Act, Confirm, Empty, Title, tell, tellProblem } from "./parts.js";
import { nameOf, readAgain, useProfile } from "./people.js";
import { to } from "./route.js";
import { mayChange } from "./session.js";
import { t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./view.js";

// Calls that run at once, the most items that are chosen together, and the most authors that are named.
const AT_ONCE = 4;
const MOST = 1000;
const NAMED = 5;
const PAGE = 100;

// `place` is the address of the page, if items may be chosen on it; `source` the user whose page it is.
export function Items({ path, label, empty, place, isSweeping, source }) {
  const [chosen] = useState(() => new Box(new Map()));
  const may = place && mayChange();
  const isOn = may && isSweeping;
  return html`${may && !isOn && html`<div class="line end choose"><a class="button quiet" href=${to(...place, "select")}><${Icon} name="check" /> ${t("select")}</a></div>`}
    ${isOn && html`<${Sweep} path=${path} chosen=${chosen} source=${source} end=${to(...place)} />`}
    <${FeedList} key=${`${path} ${isOn}`} feed=${itemsAt(path)} label=${label} empty=${empty}
      item=${(item, n) => html`<${Item} key=${item.content_id} item=${item} place=${n} chosen=${isOn ? chosen : undefined} />`} />`;
}

function Sweep({ path, chosen, source, end }) {
  const picked = useBox(chosen);
  const [asking, setAsking] = useState(null);
  // How far the work is that runs: `{text, done, all}`.
  const [work, setWork] = useState(null);
  const isStopped = useRef(false);
  const page = nameOf(useProfile(source ?? ""));
  useEffect(() => () => (isStopped.current = true), []);

  // Makes a call for each item, a few at once, until one fails or the reader stops it. Returns the items that are done.
  const each = async (text, items, call) => {
    const [waiting, done] = [[...items], []];
    let problem = null;
    isStopped.current = false;
    const next = async () => {
      while (waiting.length && !problem && !isStopped.current) {
        const item = waiting.shift();
        try {
          await call(item.content_id);
        } catch (one) {
          // Somebody else was quicker.
          if (one.code !== "content_not_found") return void (problem = one);
        }
        done.push(item);
        setWork({ text, done: done.length, all: items.length });
      }
    };
    setWork({ text, done: 0, all: items.length });
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    setWork(null);
    if (problem) tellProblem(problem);
    for (const author of new Set(done.map(({ author_id }) => author_id).slice(0, PAGE))) readAgain(author);
    return done;
  };

  const finish = (done, list) => {
    const others = new Map(chosen.value);
    for (const { content_id } of done) {
      others.delete(content_id);
      forget(content_id, list);
    }
    chosen.set(others);
  };

  const drop = async () => {
    const done = await each("deleting", [...picked.values()], (id) => remove(at`v1/content/${id}`));
    finish(done);
    const undo = async () => {
      const back = await each("restoring", done, (id) => post(at`v1/content/${id}/restore`));
      reload(path);
      tell(t("restored_many", { n: back.length }));
    };
    tell(t("deleted_many", { n: done.length }), { undo });
  };

  const takeOff = async () => {
    const list = at`v1/users/${source}/content`;
    const done = await each("taking_off", [...picked.values()], (id) => remove(`${list}/${encodeURIComponent(id)}`));
    finish(done, list);
    reloadTimeline();
    tell(t("taken_off_many", { n: done.length }));
  };

  const chooseAll = async () => {
    const all = new Map(chosen.value);
    for (let before; all.size < MOST; ) {
      const page = await get(path, { limit: PAGE, view: "ids", before });
      for (const item of page.items) if (all.size < MOST) all.set(item.content_id, item);
      chosen.set(new Map(all));
      if (page.next === null) return;
      before = page.next;
    }
    tell(t("chosen_most", { n: MOST }));
  };

  return html`<section class="card sweep" aria-label=${t("select")}>
    <p role="status"><b>${t("chosen", { n: picked.size })}</b></p>
    ${work
      ? html`<label class="work">${t(work.text, { n: work.done, all: work.all })} <progress value=${work.done} max=${work.all}></progress></label>
          <button class="quiet" onClick=${() => (isStopped.current = true)}>${t("stop")}</button>`
      : html`<div class="actions">
          <${Act} class="quiet" run=${chooseAll}>${t("choose_all")}<//>
          <button class="quiet" disabled=${!picked.size} onClick=${() => chosen.set(new Map())}>${t("choose_none")}</button>
          ${source !== undefined && html`<button class="quiet danger" disabled=${!picked.size} onClick=${() => setAsking("take_off")}>${t("take_off", { name: page })}</button>`}
          <button class="quiet danger" disabled=${!picked.size} onClick=${() => setAsking("delete")}><${Icon} name="trash" /> ${t("delete")}</button>
          <a class="button quiet" href=${end}>${t("select_end")}</a>
        </div>`}
    ${asking &&
    html`<${Confirm} title=${t(asking === "delete" ? "delete_many" : "take_off_many", { n: picked.size })}
      button=${t(asking === "delete" ? "delete" : "take_off_short")} run=${async () => void (asking === "delete" ? drop() : takeOff())} close=${() => setAsking(null)}>
      <${Authors} items=${[...picked.values()]} />
      <p class="faint">${asking === "delete" ? t("delete_about") : t("take_off_sure", { name: page })}</p><//>`}
  </section>`;
}

// Whom a sweep concerns: those with most items first.
function Authors({ items }) {
  const counts = new Map();
  for (const { author_id } of items) counts.set(author_id, (counts.get(author_id) ?? 0) + 1);
  const authors = [...counts].sort(([, a], [, b]) => b - a);
  const rest = authors.length - NAMED;
  return html`<p>${t("items_of")}</p>
    <ul class="whom">${authors.slice(0, NAMED).map(([id, n]) => html`<li key=${id}><${Whom} id=${id} /> ${t("items_many", { n })}</li>`)}
      ${rest > 0 && html`<li>${t("and_others", { n: rest })}</li>`}</ul>`;
}

export function Topic({ topic, mode }) {
  return html`<div class="bar"><${Title} text=${`#${topic}`} /></div>
    <${Items} path=${at`v1/topics/${topic}/content`} label=${topic} place=${["topic", topic]} isSweeping=${mode === "select"}
      empty=${html`<${Empty} icon="comment" title=${t("empty_list")}>${t("empty_list_about")}<//>`} />`;
}
