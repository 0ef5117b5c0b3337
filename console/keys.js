// Keys for those who use no pointer.

import { Box, useBox } from "./box.js";
import { Dialog } from "./parts.js";
import { go } from "./route.js";
import { acting, mayRead, session } from "./session.js";
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
  ["g d", "key_dashboard"],
  ["g b", "key_backups"],
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

const covered = () => document.querySelector(".topbar")?.getBoundingClientRect().bottom ?? 0;

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

const actions = {
  j: () => step(1),
  k: () => step(-1),
  ArrowDown: () => document.activeElement?.matches("[data-id]") && (step(1), true),
  ArrowUp: () => document.activeElement?.matches("[data-id]") && (step(-1), true),
  l: () => document.activeElement?.closest("[data-id]")?.querySelector("button.like")?.click(),
  Enter: () => {
    if (!document.activeElement?.matches("[data-id]")) return false;
    document.activeElement.querySelector(".when a")?.click();
    return true;
  },
  n: () => document.querySelector(".pill")?.click(),
  w: () => document.querySelector(".writer textarea")?.focus(),
  "/": () => document.querySelector("#look-up")?.focus(),
  "?": () => Help.open(),
  "g t": () => acting.value !== null && go("timeline", acting.value),
  "g d": () => mayRead() && go("dashboard"),
  "g b": () => mayRead() && go("backups"),
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
