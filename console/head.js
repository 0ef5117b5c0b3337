// The head of the pages of a user.

import { at, get, reached } from "./api.js";
import { useBox } from "./box.js";
import { live } from "./feeds.js";
import { Avatar, Title, minute } from "./parts.js";
import { Id, Name, nameOf, useProfile } from "./people.js";
import { to } from "./route.js";
import { acting, mayRead, session } from "./session.js";
import { short, t } from "./texts.js";
import { html, useEffect, useState } from "./view.js";

const Counts = ({ user, counts }) => html`<nav class="counts" aria-label=${t("counts")}>
  ${[["content", "items"], ["following", "followees"], ["followers", "followers"], ["friends", "friends"]].map(
    ([tab, label]) => html`<a key=${tab} href=${to("user", user, tab)}><b>${counts ? short(counts[tab]) : "–"}</b> ${t(label, { n: counts?.[tab] ?? 0 })}</a>`,
  )}
</nav>`;

// `compact` above a timeline, which needs the room, and has no tabs with the counts.
export function Head({ user, children, tags, compact }) {
  const profile = useProfile(user);
  const [presence, setPresence] = useState({});
  const [isReached, stream] = [useBox(reached), useBox(live)];
  const now = useBox(minute);
  const mayAsk = mayRead() || session.value.user === user;
  useEffect(() => {
    if (mayAsk) get(at`v1/users/${user}/presence`).then(setPresence, () => {});
  }, [user, isReached, now]);
  // The stream of this page would make everybody online for whom it acts.
  const online = presence.online && (!stream || user !== acting.value || presence.expires_at > Date.now());
  const bio = !compact && profile.extra?.bio;
  return html`<section class=${compact ? "card profile compact" : "card profile"}>
    ${!compact && html`<div class="banner" aria-hidden="true"></div>`}
    <div class="who">
      <${Avatar} id=${user} nickname=${profile.nickname} avatar=${profile.avatar} size=${compact ? "" : "big"} />
      <div class="title">
        <${Title} text=${nameOf(profile)}><${Name} user=${profile} whole=${!compact} /><//>
        <p class="marks">${profile.nickname && html`<${Id} id=${user} whole=${!compact} />`}${online && html`<span class="tag live">${t("online")}</span>`}${tags}</p>
      </div>
      ${children}
    </div>
    ${typeof bio === "string" && bio && html`<p class="bio" dir="auto">${bio}</p>`}
    ${compact && mayAsk && html`<${Counts} user=${user} counts=${profile.counts} />`}
  </section>`;
}
