// One item of a list, with the actions on it.

import { at, post, put, remove } from "./api.js";
import { useBox } from "./box.js";
import { Explain } from "./check.js";
import { forget, patch, reload } from "./feeds.js";
import { Icon } from "./icons.js";
import * as kinds from "./kinds.js";
import { Act, Avatar, Dialog, Time, copy, tell } from "./parts.js";
import { Id, Name, nameOf, readAgain, useProfile } from "./people.js";
import { to } from "./route.js";
import { acting, mayAct, mayChange, mayRead, session } from "./session.js";
import { chosen, isolated, middle, short, t } from "./texts.js";
import { Component, html, useState } from "./view.js";

async function react(item, kind, isOn) {
  const path = at`v1/content/${item.content_id}/reactions/${kind}/${acting.value}`;
  const { active, counts } = await (isOn ? remove(path) : put(path));
  patch(item.content_id, ({ viewer }) => {
    const others = (viewer?.reactions ?? []).filter((other) => other !== kind);
    return { counts, viewer: { ...viewer, reactions: active ? [...others, kind] : others } };
  });
  reload(at`v1/users/${acting.value}/reactions/${kind}`);
}

function Reaction({ item, kind }) {
  // Only a timeline tells whether its reader has reacted. Elsewhere the press tells.
  const isOn = item.viewer?.reactions.includes(kind) ?? false;
  const count = kinds.number(item.counts, kind);
  const label = kinds.label(kind, count);
  const icon = kinds.iconOf(kind);
  if (acting.value === null || !mayAct()) return html`<${Count} icon=${icon} name=${kind} count=${count} label=${label} />`;
  return html`<${Act} class=${`react ${icon ? kind : "named"}`} data-kind=${kind} aria-pressed=${String(isOn)} aria-label=${label} title=${kinds.verb(kind)}
    run=${() => react(item, kind, isOn)}>
    ${icon ? html`<${Icon} name=${icon} filled=${isOn} />` : isolated(kind)}<span>${count ? short(count) : ""}</span>
  <//>`;
}

function Count({ icon, name, count, label }) {
  return html`<span class="react" role="img" aria-label=${label}>${icon ? html`<${Icon} name=${icon} />` : isolated(name)}<span>${count ? short(count) : ""}</span></span>`;
}

async function repost(item) {
  const { content_id } = await post("v1/content", { author_id: acting.value, kind: "repost", ref_id: item.content_id });
  patch(item.content_id, ({ counts }) => ({ counts: { ...counts, reposts: counts.reposts + 1 } }));
  reload(at`v1/users/${acting.value}/content`);
  readAgain(acting.value);
  tell(t("reposted"), { link: { href: to("item", content_id), text: t("show") } });
}

// One medium: a link, a picture that the item has in itself, or else its type.
function Medium({ part }) {
  const [isBroken, setBroken] = useState(false);
  const url = typeof part.url === "string" ? part.url : "";
  if (/^https?:/.test(url) && URL.canParse(url)) {
    return html`<a href=${url} target="_blank" rel="noreferrer">${part.type} · ${new URL(url).host}</a>`;
  }
  const name = String(part.alt ?? part.type);
  if (!url.startsWith("data:image/") || isBroken) return name;
  return html`<img src=${url} alt=${name} onError=${() => setBroken(true)} />`;
}

const Media = ({ media }) => html`<ul class="media">${media.map((part) => html`<li><${Medium} part=${part} /></li>`)}</ul>`;

// A longer text is cut, until the reader wants it.
const LONG = 900;
const MOST_LINES = 15;

function Text({ text, whole, brief }) {
  const [isOpen, setOpen] = useState(false);
  if (brief) return html`<p class="text brief" dir="auto">${text}</p>`;
  const isLong = !whole && (text.length > LONG || text.split("\n").length > MOST_LINES);
  return html`<p class=${isLong && !isOpen ? "text cut" : "text"} dir="auto">${text}</p>
    ${isLong && html`<button class="link" aria-expanded=${String(isOpen)} onClick=${() => setOpen(!isOpen)}>${t(isOpen ? "show_less" : "show_all")}</button>`}`;
}

// The text and what belongs to it; of a `brief` one the first lines.
export function Body({ item, brief, whole }) {
  return html`${item.text && html`<${Text} text=${item.text} whole=${whole} brief=${brief} />`}
    ${item.media.length > 0 && html`<${Media} media=${item.media} />`}
    ${item.topics.length > 0 &&
    html`<p class="topics">
      ${item.topics.map((topic) => (mayRead() ? html`<a href=${to("topic", topic)}>#${topic}</a> ` : html`<span>#${topic}</span> `))}
    </p>`}
    ${item.ref_id && !brief && html`<${Reference} item=${item} />`}`;
}

// The item to which another refers.
function Reference({ item: { kind, ref_id, original } }) {
  const id = html`<span class="id" title=${ref_id}>${middle(ref_id)}</span>`;
  const label = t(kind === "comment" ? "comment_on" : "refers_to");
  if (original === undefined) return html`<p class="faint">${label} ${id}</p>`;
  return html`${kind !== "repost" && html`<p class="faint">${label}</p>`}
    ${original ? html`<${Original} item=${original} />` : html`<p class="original faint">${t("original_gone")} ${id}</p>`}`;
}

function Original({ item }) {
  const author = useProfile(item.author_id);
  return html`<div class="original">
    <p class="head"><a href=${to("user", item.author_id)}><${Name} user=${author} /></a>
      <span class="faint"><${Time} at=${item.published_at} /></span></p>
    <${Body} item=${item} brief=${true} />
    <p><a class="whole" href=${to("item", item.content_id)}>${t("open_original")}</a></p>
  </div>`;
}

// A source on which an item was published.
const Source = ({ id }) => html`<a href=${to("user", id)}><${Name} user=${useProfile(id)} /></a> `;

// One item that cannot be drawn does not take the others with it. A list is drawn at each of its changes, and an item
// only if it or its place has changed.
export class Item extends Component {
  shouldComponentUpdate({ item, place }, { failed }) {
    return item !== this.props.item || place !== this.props.place || failed !== this.state.failed;
  }

  componentDidCatch() {
    this.setState({ failed: this.props.item });
  }

  render({ item, place, ...rest }, { failed }) {
    return failed === item ? html`<${NotShown} item=${item} place=${place} />` : html`<${Shown} item=${item} place=${place} ...${rest} />`;
  }
}

function NotShown({ item, place }) {
  useBox(chosen);
  return html`<article class="item" data-id=${item.content_id} tabindex="0" aria-label=${t("not_shown")} aria-posinset=${place} aria-setsize="-1">
    <p class="faint">${t("not_shown")} <span class="id">${item.content_id}</span></p></article>`;
}

function Shown({ item, place, alone }) {
  const [open, setOpen] = useState(null);
  useBox(acting);
  useBox(chosen);
  useBox(session);
  const profile = useProfile(item.author ? "" : item.author_id);
  const author = { user_id: item.author_id, ...(item.author ?? profile) };
  const title = `item-${place}`;
  const close = () => setOpen(null);
  const comments = t("comments", { n: item.counts.comments });
  const reposts = t("reposts", { n: item.counts.reposts });
  return html`<article class="item" data-id=${item.content_id} tabindex="0" aria-labelledby=${title}
    aria-posinset=${alone ? undefined : place} aria-setsize=${alone ? undefined : -1}>
    ${item.kind === "repost" && html`<p class="faint over"><${Icon} name="repost" /> ${t("repost_of", { name: nameOf(author) })}</p>`}
    <div class="grid">
      <a href=${to("user", item.author_id)} tabindex="-1" aria-hidden="true"><${Avatar} id=${item.author_id} nickname=${author.nickname} avatar=${author.avatar} /></a>
      <div class="content">
        <header id=${title}>
          <a class="names" href=${to("user", item.author_id)}><${Name} user=${author} />
            ${author.nickname && html` <${Id} id=${item.author_id} />`}</a>
          <span class="faint when">
            ${mayRead() ? html`<a href=${to("item", item.content_id)}><${Time} at=${item.published_at} /></a>` : html`<${Time} at=${item.published_at} />`}
            ${item.edited_at && html` · ${t("edited")}`}
            ${item.audience === "followers" && html` · ${t("for_followers")}`}
            ${!["post", "repost", "comment"].includes(item.kind) && html` · ${item.kind}`}
          </span>
        </header>
        ${item.to.length > 0 && html`<p class="topics sources faint">${t("published_on")} ${item.to.map((id) => html`<${Source} key=${id} id=${id} />`)}</p>`}
        <${Body} item=${item} whole=${alone} />
        <footer>
          ${mayRead()
            ? html`<a class="react" href=${to("item", item.content_id)} aria-label=${comments} title=${t("comment_verb")}>
                <${Icon} name="comment" /><span>${item.counts.comments ? short(item.counts.comments) : ""}</span></a>`
            : html`<${Count} icon="comment" count=${item.counts.comments} label=${comments} />`}
          ${mayChange() && acting.value !== null
            ? html`<${Act} class="react" aria-label=${reposts} title=${t("repost_verb")} run=${() => repost(item)}>
                <${Icon} name="repost" /><span>${item.counts.reposts ? short(item.counts.reposts) : ""}</span><//>`
            : html`<${Count} icon="repost" count=${item.counts.reposts} label=${reposts} />`}
          ${kinds.KINDS.map((kind) => html`<${Reaction} key=${kind} item=${item} kind=${kind} />`)}
          <button class="react" aria-label=${t("more")} aria-haspopup="dialog" title=${t("more")} onClick=${() => setOpen("more")}><${Icon} name="more" /></button>
        </footer>
      </div>
    </div>
    ${open === "more" && html`<${More} item=${item} close=${close} explain=${() => setOpen("explain")} />`}
    ${open === "explain" && html`<${Explain} user=${acting.value} id=${item.content_id} close=${close} />`}
  </article>`;
}

// Takes an item off one of its paths: the page of this source no longer shows it, and its followers get it by others only.
async function takeOff(item, source) {
  const path = at`v1/users/${source}/content`;
  await remove(`${path}/${encodeURIComponent(item.content_id)}`);
  forget(item.content_id, path);
  patch(item.content_id, ({ broadcast, to }) =>
    source === item.author_id ? { broadcast: false, to } : { broadcast, to: to.filter((other) => other !== source) },
  );
  readAgain(source);
  tell(t("taken_off"));
}

function TakeOff({ source, ask }) {
  const name = nameOf(useProfile(source));
  return html`<button class="quiet danger" onClick=${() => ask(name)}>${t("take_off", { name })}</button>`;
}

// Everything about an item that not everybody needs.
function More({ item, close, explain }) {
  const { author, viewer, original, ...plain } = item;
  // What is asked before it is done: `{text, button, run}`.
  const [asking, setAsking] = useState(null);
  const paths = item.broadcast ? [item.author_id, ...item.to] : item.to;
  const drop = async () => {
    await remove(at`v1/content/${item.content_id}`);
    close();
    forget(item.content_id);
    readAgain(item.author_id);
    tell(t("deleted"));
  };
  const askToTakeOff = (source) => (name) =>
    setAsking({ text: t("take_off_sure", { name }), button: t("take_off_short"), run: async () => (await takeOff(item, source), close()) });
  return html`<${Dialog} title=${t("about_item")} close=${close}>
    <div class="actions">
      ${mayRead() && acting.value !== null && html`<button class="quiet" onClick=${explain}><${Icon} name="question" /> ${t("why_here")}</button>`}
      <${Act} class="quiet" run=${() => copy(item.content_id)}>${t("copy_id")}<//>
      ${mayChange() && !asking && html`${paths.map((source) => html`<${TakeOff} key=${source} source=${source} ask=${askToTakeOff(source)} />`)}
        <button class="quiet danger" onClick=${() => setAsking({ text: t("delete_sure"), button: t("delete"), run: drop })}><${Icon} name="trash" /> ${t("delete")}</button>`}
    </div>
    ${asking &&
    html`<div class="note line">${asking.text}
      <button class="quiet" onClick=${() => setAsking(null)}>${t("cancel")}</button> <${Act} class="strong danger" run=${asking.run}>${asking.button}<//></div>`}
    <pre tabindex="0" aria-label="JSON">${JSON.stringify(plain, null, 2)}</pre>
  <//>`;
}
