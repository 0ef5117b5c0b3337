// The first page, and pages that are not there.

import { at, get } from "./api.js";
import { useBox } from "./box.js";
import { isKnown } from "./head.js";
import { Icon, Logo } from "./icons.js";
import { Avatar, Title, useRequest } from "./parts.js";
import { Id, Name, useProfile } from "./people.js";
import { go, to } from "./route.js";
import { mayRead, recent, session } from "./session.js";
import { t } from "./texts.js";
import { html, useState } from "./view.js";

export function LookUp({ id = "look-up", large }) {
  const [text, setText] = useState("");
  const submit = (event) => {
    event.preventDefault();
    if (text === "") return;
    const [input] = event.target.elements;
    // Browsers take these out of an address.
    if ([".", ".."].includes(text)) return input.setCustomValidity(t("dots_about")), input.reportValidity();
    go("timeline", text);
    setText("");
    document.activeElement?.blur();
  };
  return html`<form class=${large ? "search large" : "search"} role=${large ? undefined : "search"} onSubmit=${submit}>
    <${Icon} name="search" />
    <label class="sr" for=${id}>${t("look_up")}</label>
    <input id=${id} type="search" enterkeyhint="go" autocomplete="off" autocapitalize="off" spellcheck=${false}
      placeholder=${t(large || innerWidth > 640 ? "look_up_hint" : "look_up_short")} value=${text} onInput=${({ target }) => (target.setCustomValidity(""), setText(target.value))} />
    ${large ? html`<button class="strong">${t("open")}</button>` : html`<kbd aria-hidden="true">/</kbd>`}
  </form>`;
}

export function Start() {
  const users = useBox(recent);
  return html`<section class="hero">
      <${Logo} />
      <${Title} text=${t("welcome")} />
      <p>${t("what_is_it")}</p>
      <p>${t("welcome_about")}</p>
      <${LookUp} id="look-up-large" large=${true} />
    </section>
    ${users.length > 0 ? html`<${Chips} title=${t("recent")} users=${users} />` : html`<${Trial} />`}
    <section class="cards">
      ${[["home", "tip_timeline"], ["up", "tip_live"], ["question", "tip_why"], ["chart", "tip_dashboard"]].map(
        ([icon, tip]) => html`<div class="card tip" key=${tip}><span class="badge"><${Icon} name=${icon} /></span>
          <h2>${t(tip)}</h2><p>${t(`${tip}_about`)}</p></div>`,
      )}
    </section>`;
}

const Chips = ({ title, users }) => html`<section class="card">
  <h2>${title}</h2>
  <div class="chips">${users.map((user) => html`<${Chip} key=${user} user=${user} />`)}</div>
</section>`;

// Numbers often begin at 1, as those of the demo do. Users of whom the server knows nothing are not offered.
const TRIAL = ["1", "2"];

function Trial() {
  const [found] = useRequest((signal) => Promise.all(TRIAL.map((user) => get(at`v1/users/${user}`, {}, signal))), []);
  const users = (found ?? []).filter(isKnown).map(({ user_id }) => user_id);
  return users.length > 0 && html`<${Chips} title=${t("trial")} users=${users} />`;
}

function Chip({ user }) {
  const profile = useProfile(user);
  return html`<a class="chip" href=${to("timeline", user)}>
    <${Avatar} id=${user} nickname=${profile.nickname} avatar=${profile.avatar} size="small" /> <span><${Name} user=${profile} /></span>${profile.nickname && html` <${Id} id=${user} />`}</a>`;
}

// A page that is not there, or not for this token.
export function Missing({ kind }) {
  const own = session.value.user;
  return html`<div class="empty">
    <span class="badge"><${Icon} name=${kind === "not_yours" ? "key" : "search"} /></span>
    <${Title} text=${t(kind)} />
    <p>${t(`${kind}_about`)}</p>
    <p><a class="button quiet" href=${own === undefined || own === null ? "#/" : to("timeline", own)}>${t(mayRead() ? "to_start" : "to_own_timeline")}</a></p>
  </div>`;
}
