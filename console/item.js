// One item of a list, with the actions on it.

import { at, post, put, remove } from "./api.js";
import { Delete, More, TakeOff, tellMade } from "./about.js";
import { Body } from "./body.js";
import { useBox } from "./box.js";
import { Explain } from "./check.js";
import { patch, reload } from "./feeds.js";
import { Icon } from "./icons.js";
import * as kinds from "./kinds.js";
import { Act, Avatar, Time } from "./parts.js";
import { Id, Name, nameOf, readAgain, useProfile } from "./people.js";
import { to } from "./route.js";
import { acting, mayAct, mayChange, mayRead, session, watched } from "./session.js";
import { chosen, isolated, short, t } from "./texts.js";
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
  if (acting.value === null || !mayAct() || item.suspended) return html`<${Count} icon=${icon} name=${kind} count=${count} label=${label} />`;
  return html`<${Act} class=${`react ${icon ? kind : "named"}`} data-kind=${kind} aria-pressed=${String(isOn)} aria-label=${label} title=${kinds.verb(kind)}
    run=${() => react(item, kind, isOn)}>
    ${icon ? html`<${Icon} name=${icon} filled=${isOn} />` : isolated(kind)}<span>${count ? short(count) : ""}</span>
  <//>`;
}

function Count({ icon, name, count, label }) {
  return html`<span class="react" role="img" aria-label=${label}>${icon ? html`<${Icon} name=${icon} />` : isolated(name)}<span>${count ? short(count) : ""}</span></span>`;
}

async function repost(item) {
  const made = await post("v1/content", { author_id: acting.value, kind: "repost", ref_id: item.content_id });
  patch(item.content_id, ({ counts }) => ({ counts: { ...counts, reposts: counts.reposts + 1 } }));
  reload(at`v1/users/${acting.value}/content`);
  readAgain(acting.value);
  tellMade(made, t("reposted"));
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

// Chooses an item for a sweep.
function Pick({ item, chosen }) {
  const isOn = useBox(chosen).has(item.content_id);
  const turn = () => {
    const others = new Map(chosen.value);
    if (!others.delete(item.content_id)) others.set(item.content_id, item);
    chosen.set(others);
  };
  return html`<label class="pick"><input type="checkbox" checked=${isOn} onChange=${turn} aria-label=${t("choose")} /></label>`;
}

function Shown({ item, place, alone, chosen: picks }) {
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
      ${picks
        ? html`<${Pick} item=${item} chosen=${picks} />`
        : html`<a href=${to("user", item.author_id)} tabindex="-1" aria-hidden="true"><${Avatar} id=${item.author_id} nickname=${author.nickname} avatar=${author.avatar} /></a>`}
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
          ${mayChange() && acting.value !== null && !item.suspended
            ? html`<${Act} class="react" aria-label=${reposts} title=${t("repost_verb")} run=${() => repost(item)}>
                <${Icon} name="repost" /><span>${item.counts.reposts ? short(item.counts.reposts) : ""}</span><//>`
            : html`<${Count} icon="repost" count=${item.counts.reposts} label=${reposts} />`}
          ${kinds.KINDS.map((kind) => html`<${Reaction} key=${kind} item=${item} kind=${kind} />`)}
          <button class="react" aria-label=${t("more")} aria-haspopup="dialog" title=${t("more")} onClick=${() => setOpen("more")}><${Icon} name="more" /></button>
        </footer>
      </div>
    </div>
    ${open === "more" && html`<${More} item=${item} close=${close} go=${setOpen} />`}
    ${open === "explain" && html`<${Explain} user=${watched.value} id=${item.content_id} close=${close} />`}
    ${open === "delete" && html`<${Delete} item=${item} close=${close} />`}
    ${open?.source !== undefined && html`<${TakeOff} item=${item} source=${open.source} close=${close} />`}
  </article>`;
}
