// Keys for those who use no pointer.

import { Box, useBox } from "./box.js";
import { Dialog } from "./parts.js";
import { go } from "./route.js";
import { refuseKey } from "./mode.js";
import { acting, mayRead, session, watched } from "./session.js";
import { t } from "./texts.js";
import { html } from "./view.js";

const open = new Box(false);

const KEYS = [
  ["j", "key_next"],
  ["k", "key_previous"],
  ["l", "key_like"],
  ["Enter", "key_open"],
  ["n", "key_new"],
  ["w", "key_write"],
  ["/", "key_search"],
  ["g t", "key_timeline"],
  ["g n", "key_notices"],
  ["g m", "key_moderation"],
  ["g c", "key_changes"],
  ["g d", "key_dashboard"],
  ["g b", "key_backups"],
  ["g s", "key_settings"],
  ["?", "key_help"],
];

export function Help() {
  if (!useBox(open)) return null;
  return html`<${Dialog} title=${t("keys")} close=${() => open.set(false)}>
    <dl class="keys">
      ${KEYS.map(([key, text]) => html`<div key=${key}><dt>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${t(text)}</dd></div>`)}
    </dl>
  <//>`;
}
Help.open = () => open.set(true);

const covered = () => document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0;

// The next or the previous item: from the focused one, or else from the top of the window.
function step(by) {
  const items = [...document.querySelectorAll("main [data-id]")];
  const here = items.indexOf(document.activeElement?.closest("[data-id]"));
  const first = items.findIndex((item) => item.getBoundingClientRect().bottom > covered() + 20);
  const next = items[here >= 0 ? here + by : first];
  if (!next) return;
  (next.matches("[tabindex]") ? next : next.querySelector("a")).focus({ preventScroll: true });
  const { top, bottom } = next.getBoundingClientRect();
  const margin = covered() + 12;
  if (top < margin) scrollBy({ top: top - margin, behavior: "instant" });
  else if (bottom > innerHeight - 12) scrollBy({ top: Math.min(bottom - innerHeight + 90, top - margin), behavior: "instant" });
}

const isLooking = () => acting.value === null;

const actions = {
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => document.activeElement?.matches("[data-id]") && (step(1), true),
  ArrowUp: () => document.activeElement?.matches("[data-id]") && (step(-1), true),
  l: () => isLooking() ? refuseKey() : document.activeElement?.closest("[data-id]")?.querySelector("button.like")?.click(),
  Enter: () => {
    if (!document.activeElement?.matches("[data-id]")) return false;
    document.activeElement.querySelector(".when a")?.click();
    return true;
  },
  n: () => document.querySelector(".pill")?.click(),
  w: () => isLooking() ? refuseKey() : document.querySelector(".writer textarea")?.focus(),
  "/": () => document.querySelector("#look-up")?.focus(),
  "?": () => Help.open(),
  "g t": () => watched.value !== null && go("timeline", watched.value),
  "g n": () => watched.value !== null && go("user", watched.value, "notices"),
  "g d": () => mayRead() && go("dashboard"),
  "g m": () => mayRead() && go("moderation"),
  "g c": () => mayRead() && go("changes"),
  "g b": () => mayRead() && go("backups"),
  "g s": () => mayRead() && go("settings"),
};

// `g` waits for the key that follows it.
let leader = 0;

export function listenToKeys() {
  addEventListener("keydown", (event) => {
    const { target, key } = event;
    const isWriting = target.matches?.("input, textarea, select, [contenteditable]");
    if (isWriting && key === "Escape") target.blur();
    if (isWriting || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (session.value.kind === "none") return;
    const isSecond = Date.now() - leader < 1500;
    leader = key === "g" ? Date.now() : 0;
    const action = actions[isSecond ? `g ${key}` : key];
    // `false` leaves the key to the browser.
    if (action && action() !== false) event.preventDefault();
  });
}
