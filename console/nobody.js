// Pages of a user are there for ids of which the server knows something. Others are told as such: a typing error would
// look like a user who is quiet.

import { at, get, reached } from "./api.js";
import { useBox } from "./box.js";
import { Brief, LONGEST, useSearch } from "./found.js";
import { Icon } from "./icons.js";
import { Problem, Title, useRequest, useWindowTitle } from "./parts.js";
import { Id, isSomebody, known, nameById, useKnown } from "./people.js";
import { to } from "./route.js";
import { acting, mayChange, mayRead, session, unwatch, watch, watched } from "./session.js";
import { t } from "./texts.js";
import { html, useEffect } from "./view.js";

// Shows a page of a user if the server knows this user, or if the console acts for this id, such as for the first item of a
// new user. With `looks` the page shows what the user sees.
export function Somebody({ user, looks, children }) {
  const profile = useKnown(user);
  const isActing = useBox(acting) === user;
  const isWatched = useBox(watched) === user;
  const mayAsk = mayRead() || session.value.user === user;
  const [, problem, again] = useRequest(
    async (signal) => mayAsk && known(await get(at`v1/users/${user}`, {}, signal)),
    [user, useBox(reached)],
  );
  const isThere = !mayRead() || isActing || isSomebody(profile);
  const looksNow = Boolean(looks) && isThere && mayRead();
  useEffect(() => {
    if (looksNow && watched.value !== user) watch(user);
  }, [user, looksNow]);
  // The lists of a page are those of who is watched.
  if (isThere) return looksNow && !isWatched ? null : children;
  if (profile) return html`<${Nobody} user=${user} />`;
  if (problem) return html`<${Title} text=${t("users")} /><${Problem} problem=${problem} retry=${again} />`;
  return html`<${Opening} user=${user} />`;
}

// The window no longer has the title of the page before.
function Opening({ user }) {
  useWindowTitle(nameById(user));
  return html`<p class="end" role="status">${t("loading")}</p>`;
}

function Nobody({ user }) {
  const { users } = useSearch([...user.replace(/^[\s@]+|\s+$/gu, "")].slice(0, LONGEST).join(""));
  useEffect(() => unwatch(user), [user]);
  const open = () => {
    watch(user);
    acting.set(user);
  };
  return html`<div class="empty nobody">
      <span class="badge"><${Icon} name="search" /></span>
      <${Title} text=${t("nobody")} />
      <p><${Id} id=${user} whole=${true} /></p>
      <p>${t("nobody_about")}</p>
      ${mayChange() && html`<p><button class="quiet" onClick=${open}><${Icon} name="pen" /> ${t("act_as_user")}</button></p><p class="faint">${t("nobody_act_about")}</p>`}
    </div>
    ${users?.length > 0 && html`<section class="card people"><h2>${t("did_you_mean")}</h2><${People} users=${users} /></section>`}`;
}

// Users as links to what they see.
export const People = ({ users }) =>
  html`<ul>${users.map((user) => html`<li key=${user.user_id}><a href=${to("timeline", user.user_id)}><${Brief} user=${user} /></a></li>`)}</ul>`;
