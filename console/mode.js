// Whether the console looks or acts, on every page: in words and in colour.

import { useBox } from "./box.js";
import { Icon } from "./icons.js";
import { tell } from "./parts.js";
import { Name, useKnown, useProfile } from "./people.js";
import { route, to } from "./route.js";
import { acting, mayChange, session, watch, watched } from "./session.js";
import { t } from "./texts.js";
import { html } from "./view.js";

// Begins and ends acting for a user.
export function ActSwitch({ user }) {
  const isOn = useBox(acting) === user;
  const turn = () => {
    if (!isOn) watch(user);
    acting.set(isOn ? null : user);
  };
  return mayChange() && html`<button class="switch" role="switch" aria-checked=${String(isOn)} aria-label=${t("act_as_user")} data-switch="mode" onClick=${turn}>
    <i aria-hidden="true"></i> <span class="long">${t("act_as_user")}</span><span class="short">${t("act_short")}</span></button>`;
}

// The user whose timeline the address names, while nothing is known of the user yet.
function useOpening(watchedUser) {
  const [page, user] = useBox(route);
  const named = ["timeline", "list"].includes(page) && user && user !== watchedUser ? user : "";
  return useKnown(named) ? null : named || null;
}

export function Mode() {
  const { kind } = useBox(session);
  const known = useBox(watched);
  const user = useOpening(known) ?? known;
  const isActing = useBox(acting) !== null;
  const profile = useProfile(user ?? "");
  // A token is its user's own.
  if (kind === "user" || (user === null && kind !== "read")) return null;
  return html`<section class=${isActing ? "mode acts" : "mode"} aria-label=${t("mode")}>
    <${Icon} name=${isActing ? "pen" : "eye"} />
    <p>${user !== null && html`<b>${t(isActing ? "mode_acts" : "mode_looks")}</b> <a href=${to("timeline", user)}><${Name} user=${profile} /></a>`}
      ${kind === "read" ? html` <span class="faint">${t("read_only")}</span>` : html` <span class="faint about">${t(isActing ? "mode_acts_about" : "mode_looks_about")}</span>`}</p>
    ${user !== null && html`<${ActSwitch} user=${user} />`}
  </section>`;
}

// The answer to a key that would change something while the console only looks.
export function refuseKey() {
  const reason = session.value.kind === "read" ? "read_only" : watched.value === null ? "key_needs_user" : "key_needs_acting";
  tell(t(reason));
}
