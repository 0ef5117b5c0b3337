// The first page, and pages that are not there.

import { useBox } from "./box.js";
import { useLate } from "./found.js";
import { Icon, Logo } from "./icons.js";
import { LookUp } from "./lookup.js";
import { People } from "./nobody.js";
import { Avatar, Empty, Problem, Title } from "./parts.js";
import { Id, Name, useProfile } from "./people.js";
import { to } from "./route.js";
import { mayRead, recent, session } from "./session.js";
import { t } from "./texts.js";
import { html } from "./view.js";

// Users of each list of those of late.
const FEW = 6;

export function Start() {
  const users = useBox(recent);
  return html`<section class="hero">
      <${Logo} />
      <${Title} text=${t("welcome")} />
      <p>${t("what_is_it")}</p>
      <p>${t("welcome_about")}</p>
      <${LookUp} id="look-up-large" large=${true} />
    </section>
    ${users.length > 0 && html`<section class="card"><h2>${t("recent")}</h2>
      <div class="chips">${users.map((user) => html`<${Chip} key=${user} user=${user} />`)}</div></section>`}
    <${Late} />
    <section class="cards">
      ${[["home", "tip_timeline"], ["up", "tip_live"], ["question", "tip_why"], ["chart", "tip_dashboard"]].map(
        ([icon, tip]) => html`<div class="card tip" key=${tip}><span class="badge"><${Icon} name=${icon} /></span>
          <h2>${t(tip)}</h2><p>${t(`${tip}_about`)}</p></div>`,
      )}
    </section>`;
}

// Users to begin with.
function Late() {
  const [groups, problem, again] = useLate(FEW);
  if (problem) return html`<${Problem} problem=${problem} retry=${again} />`;
  if (groups?.length === 0) return html`<${Empty} icon="user" title=${t("no_users")}>${t("no_users_about")}<//>`;
  return html`<div class="late">${groups?.map(({ order, title, users }) => html`<section class="card people" key=${order}>
    <h2>${t(title)}</h2><${People} users=${users} /></section>`)}</div>`;
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
