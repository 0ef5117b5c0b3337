// The text of an item and what belongs to it, in lists and alone.

import { Time } from "./parts.js";
import { Name, useProfile } from "./people.js";
import { to } from "./route.js";
import { mayRead } from "./session.js";
import { middle, t } from "./texts.js";
import { html, useState } from "./view.js";

// One medium: a link, a picture that the item has in itself, or else its type.
function Medium({ part }) {
  const [isBroken, setBroken] = useState(false);
  const url = typeof part.url === "string" ? part.url : "";
  if (/^https?:/.test(url) && URL.canParse(url)) {
    return html`<a href=${url} target="_blank" rel="noreferrer">${part.type} · ${new URL(url).host}</a>`;
  }
  const name = String(part.alt ?? part.type);
  if (!/^data:image\//i.test(url) || isBroken) return name;
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

export function Original({ item }) {
  const author = useProfile(item.author_id);
  return html`<div class="original">
    <p class="head"><a href=${to("user", item.author_id)}><${Name} user=${author} /></a>
      <span class="faint"><${Time} at=${item.published_at} /></span></p>
    <${Body} item=${item} brief=${true} />
    <p><a class="whole" href=${to("item", item.content_id)}>${t("open_original")}</a></p>
  </div>`;
}
