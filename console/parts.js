// Small parts that many pages use.

import { Problem as Refusal, isAway } from "./api.js";
import { Box, useBox } from "./box.js";
import { docs } from "./docs.js";
import { Icon } from "./icons.js";
import { ago, clock, fullTime, has, t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./view.js";

// Pictures of users: inline ones, and those of the origins in the settings. Other servers are not asked. An address of this
// server is none, whatever the settings say: users choose it, and it could be a call of the API. Nor does the server of a
// picture learn from which page it is asked.
const origins = document.querySelector('meta[name="tideline-avatars"]').content.split(" ");
const isShown = (avatar) => {
  if (/^data:image\//i.test(avatar)) return true;
  const origin = URL.canParse(avatar) && new URL(avatar).origin;
  return origins.includes(origin) && origin !== location.origin;
};

// A number that is the same for the same text.
function hash(text) {
  let sum = 2166136261;
  for (const c of text) sum = Math.imul(sum ^ c.codePointAt(0), 16777619);
  return (sum ^ (sum >>> 15)) >>> 0;
}

// A user's picture, or one that is drawn from the id.
export function Avatar({ id, avatar, nickname, size = "" }) {
  const [failed, setFailed] = useState(null);
  const shown = avatar && avatar !== failed && isShown(avatar);
  if (shown) return html`<img class="avatar ${size}" src=${avatar} alt="" referrerpolicy="no-referrer" onError=${() => setFailed(avatar)} />`;
  const seed = hash(id);
  const [hue, turn, lift] = [seed % 360, (seed >>> 9) % 60, (seed >>> 16) % 10];
  const letter = /[\p{L}\p{N}\p{P}\p{S}]/u.exec(nickname || id)?.[0].toUpperCase() ?? "·";
  const wave = (y) => `M-2 ${y}q6-6 12 0t12 0 12 0 12 0V42H-2z`;
  return html`<svg class="avatar ${size}" viewBox="0 0 40 40" aria-hidden="true" focusable="false">
    <rect width="40" height="40" fill=${`hsl(${hue} 48% 46%)`} />
    <path d=${wave(22 + lift)} fill=${`hsl(${(hue + 20 + turn) % 360} 52% 38%)`} />
    <path d=${wave(30 + (lift % 5))} fill=${`hsl(${(hue + 40 + turn) % 360} 55% 30%)`} />
    <text x="20" y="26" text-anchor="middle">${letter}</text>
  </svg>`;
}

// Milliseconds until a page asks a server again that was away.
const AGAIN = 3000;

// The places of the documentation that cure a problem, by its code.
const CURES = {
  no_token_secret: "docs/use/access.md#user-tokens",
  storage_unavailable: "docs/operate/faults.md",
  storage_stopped: "docs/operate/faults.md",
  no_room: "docs/operate/backup.md",
  backup_dir_unusable: "docs/operate/backup.md",
  misdirected_request: "docs/use/access.md#a-host-that-is-not-the-servers-421-misdirected_request",
};

// A problem in the language of the reader. Below it stands the detail as the server has it, with the id of the request.
export function Problem({ problem, retry }) {
  useEffect(() => {
    if (!retry || !isAway(problem)) return undefined;
    const timer = setTimeout(retry, AGAIN);
    return () => clearTimeout(timer);
  }, [problem]);
  const text = has(`problem_${problem.code}`) ? t(`problem_${problem.code}`) : problem.title || t("problem_internal");
  const detail = problem.detail || (problem instanceof Refusal ? "" : problem.message);
  return html`<div class="problem" role="alert">
    <p>${text}</p>
    ${detail && html`<p class="faint" lang="en">${detail}</p>`}
    ${problem.code in CURES && html`<p><a href=${docs(CURES[problem.code])} target="_blank" rel="noreferrer">${t("documentation")}</a></p>`}
    ${problem.requestId && html`<p class="faint">${t("request_id")} <code>${problem.requestId}</code></p>`}
    ${retry && problem.status !== 404 && html`<button class="quiet" onClick=${retry}>${t("try_again")}</button>`}
  </div>`;
}

export const minute = new Box(Date.now());
setInterval(() => minute.set(Date.now()), 30_000);

export function Time({ at }) {
  const now = useBox(minute);
  return html`<time datetime=${new Date(at).toISOString()} title=${fullTime(at)}>${ago(at, Math.max(now, Date.now()))}</time>`;
}

// The time of day, for lists in the order of time.
export function Clock({ at }) {
  const now = useBox(minute);
  return html`<time datetime=${new Date(at).toISOString()} title=${fullTime(at)}>${clock(at, now)}</time>`;
}

// Windows that are open. The messages are in the window then, because what is behind it is dim.
const windows = new Box(0);

// A window above the page, which keeps the focus until it is closed.
export function Dialog({ title, close, children, wide }) {
  const dialog = useRef(null);
  useEffect(() => {
    const opener = document.activeElement;
    dialog.current.showModal();
    windows.set(windows.value + 1);
    return () => {
      windows.set(windows.value - 1);
      if (opener?.isConnected) opener.focus({ preventScroll: true });
    };
  }, []);
  // A press on what is behind it closes it, too.
  const pressed = (event) => event.target === dialog.current && close();
  return html`<dialog ref=${dialog} class=${wide ? "wide" : ""} aria-label=${title} onClose=${close} onMouseDown=${pressed}>
    <div class="sheet">
      <header>
        <h2>${title}</h2>
        <button class="round" aria-label=${t("close")} onClick=${close}><${Icon} name="cross" /></button>
      </header>
      ${children}
    </div>
    <${Notes} />
  </dialog>`;
}

// Asks before something is done that concerns others. `children` say whom.
export function Confirm({ title, button, run, close, children }) {
  const press = async () => (await run(), close());
  return html`<${Dialog} title=${title} close=${close}>
    ${children}
    <div class="line end"><button class="quiet" autofocus onClick=${close}>${t("cancel")}</button> <${Act} class="strong danger" run=${press}>${button}<//></div>
  <//>`;
}

// A fact with its name, in a list of facts.
export const Fact = ({ name, value }) => html`<div><dt>${has(name) ? t(name) : name}</dt><dd>${typeof value === "boolean" ? t(value ? "yes" : "no") : value}</dd></div>`;

// A form of one line; `run` takes its text.
export function Line({ label, button, run }) {
  const [text, setText] = useState("");
  const submit = async (event) => {
    event.preventDefault();
    const [input] = event.target.elements;
    // Browsers take these out of an address.
    if ([".", ".."].includes(text)) return input.setCustomValidity(t("dots_about")), input.reportValidity();
    try {
      await run(text);
      return setText("");
    } catch (problem) {
      return tellProblem(problem);
    }
  };
  return html`<form class="line card" onSubmit=${submit}>
    <label><span class="sr">${label}</span>
      <input required autocomplete="off" autocapitalize="off" spellcheck=${false} placeholder=${label} value=${text} onInput=${({ target }) => (target.setCustomValidity(""), setText(target.value))} /></label>
    <button class="strong">${button}</button>
  </form>`;
}

// Copies a text; where a page has no clipboard, as over plain HTTP, in the way of old.
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = Object.assign(document.createElement("textarea"), { value: text, className: "sr" });
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    if (!isCopied) throw new Refusal({ code: "no_clipboard" });
  }
  tell(t("copied"));
}

// A button that runs a request. It cannot be pressed twice, and shows the problem as a message.
export function Act({ run, children, ...rest }) {
  const [busy, setBusy] = useState(false);
  const press = async () => {
    if (busy) return;
    setBusy(true);
    try {
      await run();
    } catch (problem) {
      tellProblem(problem);
    } finally {
      setBusy(false);
    }
  };
  return html`<button aria-busy=${busy ? "true" : undefined} ...${rest} onClick=${press}>${children}</button>`;
}

// Messages at the edge of the page.
const messages = new Box([]);
let count = 0;

// `link` leads to a page, `undo` takes back what is told.
export function tell(text, { isProblem = false, link, problem, undo } = {}) {
  const message = { key: ++count, text, isProblem, link, problem, undo };
  messages.set([...messages.value.slice(-2), message]);
  setTimeout(() => dismiss(message), isProblem ? 12_000 : 6000);
}

export const tellProblem = (problem) => tell("", { isProblem: true, problem });

const dismiss = (message) => messages.set(messages.value.filter((other) => other !== message));

export function Messages() {
  return useBox(windows) === 0 && html`<${Notes} />`;
}

function Notes() {
  return html`<div class="messages" role="status" aria-live="polite">
    ${useBox(messages).map(
      (message) => html`<div key=${message.key} class=${message.isProblem ? "message bad" : "message"}>
        ${message.problem ? html`<${Problem} problem=${message.problem} />` : html`<span>${message.text}</span>`}
        ${message.link && html`<a href=${message.link.href} target=${message.link.href.startsWith("#") ? undefined : "_blank"}>${message.link.text}</a>`}
        ${message.undo && html`<${Act} class="quiet" run=${async () => (dismiss(message), await message.undo())}>${t("undo")}<//>`}
        <button class="round small" aria-label=${t("close")} onClick=${() => dismiss(message)}><${Icon} name="cross" /></button>
      </div>`,
    )}
  </div>`;
}

// Whether a page was opened whose title is not there yet, because the page waits for an answer.
export const untitled = new Box(false);

// The title of the window, with the name of the server: several may be open.
export const useWindowTitle = (text) =>
  useEffect(() => {
    document.title = `${text} · Tideline · ${location.host}`;
  }, [text]);

// The title of a page, and of the window.
export function Title({ text, children }) {
  const title = useRef(null);
  useWindowTitle(text);
  useEffect(() => {
    if (untitled.value && document.activeElement === document.body) title.current.focus({ preventScroll: true });
    untitled.set(false);
  }, []);
  return html`<h1 tabindex="-1" ref=${title} class=${children ? "whole" : undefined}>${children || text}</h1>`;
}

export function Empty({ icon, title, children }) {
  return html`<div class="empty">
    <span class="badge"><${Icon} name=${icon} /></span>
    <h2>${title}</h2>
    <p>${children}</p>
  </div>`;
}

// The state of a request that is made when the page is shown: `[value, problem, again]`.
export function useRequest(load, inputs) {
  const [state, setState] = useState({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    const gone = new AbortController();
    // What the server being away has told stays until there is an answer.
    setState((state) => (state.problem && isAway(state.problem) ? state : { ...state, problem: undefined }));
    load(gone.signal).then(
      (value) => gone.signal.aborted || setState({ value }),
      (problem) => gone.signal.aborted || setState({ problem }),
    );
    return () => gone.abort();
  }, [...inputs, round]);
  return [state.value, state.problem, () => setRound((n) => n + 1)];
}
