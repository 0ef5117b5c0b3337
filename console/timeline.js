// The home timeline of a user.

import { useBox } from "./box.js";
import { Explain, Verify } from "./check.js";
import { Publish } from "./compose.js";
import { FeedList } from "./feedlist.js";
import { live, paused, timelineOf, unseen } from "./feeds.js";
import { Head } from "./head.js";
import { Icon } from "./icons.js";
import { Item } from "./item.js";
import { Empty } from "./parts.js";
import { useProfile } from "./people.js";
import { acting, mayRead } from "./session.js";
import { t } from "./texts.js";
import { html, useState } from "./view.js";

function LiveState() {
  const stream = useBox(live);
  const isPaused = useBox(paused);
  const isActing = useBox(acting) !== null;
  return html`<button class="quiet live-state" aria-pressed=${String(!isPaused)} title=${t(isActing ? "live_about" : "looks_about")} onClick=${() => paused.set(!isPaused)}>
    ${stream ? html`<${StreamState} stream=${stream} />` : html`<i class="dot"></i> <span class="label">${t("live_paused")}</span>`}
  </button>`;
}

function StreamState({ stream }) {
  const state = useBox(stream.state);
  return html`<i class=${`dot ${state}`}></i> <span class="label">${t(`live_${state}`)}</span>`;
}

// New items, of which the list shows nothing until this is pressed.
function NewItems({ feed }) {
  const count = useBox(unseen);
  // Told to those who do not see it, but not each time.
  return html`<div class="pill-place" role="status">
    ${count > 0 && html`<button class="pill" onClick=${() => showNew(feed)}>
      <${Icon} name="up" /> ${feed.isCapped ? t("many_new", { n: count }) : t("new_items", { n: count })}</button>`}
  </div>`;
}

export async function showNew(feed) {
  await feed.start();
  scrollTo({ top: 0, behavior: "instant" });
  requestAnimationFrame(() => document.querySelector("article[data-id]")?.focus({ preventScroll: true }));
}

export function Timeline({ user }) {
  const [check, setCheck] = useState(null);
  const feed = timelineOf(user);
  return html`<${Head} user=${user} compact=${true}>
      <div class="actions">
        ${mayRead() &&
        html`<button class="quiet" onClick=${() => setCheck("explain")}><${Icon} name="question" /> <span class="label">${t("why_short")}</span></button>
          <button class="quiet" onClick=${() => setCheck("verify")}><${Icon} name="shield" /> <span class="label">${t("verify")}</span></button>`}
        <${LiveState} />
      </div>
    <//>
    <${Publish} key=${user} />
    <${NewItems} feed=${feed} />
    <${FeedList} key=${user} feed=${feed} label=${t("timeline")} item=${(item, place) => html`<${Item} key=${item.content_id} item=${item} place=${place} />`}
      empty=${html`<${Quiet} user=${user} />`} />
    ${check === "explain" && html`<${Explain} user=${user} close=${() => setCheck(null)} />`}
    ${check === "verify" && html`<${Verify} user=${user} close=${() => setCheck(null)} />`}`;
}

// An empty timeline, with the reason.
function Quiet({ user }) {
  const { counts } = useProfile(user);
  return html`<${Empty} icon="home" title=${t("empty_timeline")}>${t(counts?.following ? "empty_timeline_quiet" : "empty_timeline_about")}<//>`;
}

