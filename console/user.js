// The page of a user, with the lists that belong to it.

import { AccountButton, AccountMarks, SuspendButton } from "./account.js";
import { at } from "./api.js";
import { useBox } from "./box.js";
import { EditProfile } from "./compose.js";
import { FeedList } from "./feedlist.js";
import { usersAt } from "./feeds.js";
import { Head } from "./head.js";
import { Icon } from "./icons.js";
import { KINDS, iconOf, title } from "./kinds.js";
import { Lists } from "./lists.js";
import { ActSwitch } from "./mode.js";
import { Notices } from "./notices.js";
import { Empty } from "./parts.js";
import { BARRIERS, RelationButtons, RelationNote, UserRow, useRelation } from "./people.js";
import { to } from "./route.js";
import { acting, mayAct, mayChange, mayRead, session } from "./session.js";
import { Items } from "./sweep.js";
import { t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./view.js";

function Edit({ user }) {
  const [isOpen, setOpen] = useState(false);
  return mayChange() && html`<button class="quiet" onClick=${() => setOpen(true)}><${Icon} name="pen" /> ${t("edit_profile")}</button>
    ${isOpen && html`<${EditProfile} user=${user} close=${() => setOpen(false)} />`}`;
}

// The lists of a user; in a narrow window they go on beyond its edge, so the present one is brought into sight.
function Tabs({ user, shown }) {
  const row = useRef(null);
  useEffect(() => {
    const here = row.current.querySelector("[aria-current]");
    row.current.scrollLeft = here.offsetLeft - (row.current.clientWidth - here.offsetWidth) / 2;
  }, [shown]);
  return html`<nav class="tabs" ref=${row} aria-label=${t("lists")}>
    ${Object.keys(TABS).map(
      (name) => html`<a key=${name} href=${to("user", user, name)} aria-current=${name === shown ? "page" : undefined}>${titleOf(name)}</a>`,
    )}
  </nav>`;
}

// The lists of a user's page: of items or of users, and the lists that the user keeps.
const TABS = {
  content: { items: true },
  following: {},
  followers: {},
  friends: {},
  comments: { items: true },
  notices: {},
  ...Object.fromEntries(KINDS.map((kind) => [iconOf(kind) ? kind : `reactions-${kind}`, { items: true, path: at`reactions/${kind}`, kind }])),
  lists: {},
  ...Object.fromEntries(BARRIERS.map(({ list }) => [list, {}])),
  "follow-requests": {},
  "sent-requests": {},
};

const titleOf = (tab) => (TABS[tab].kind === undefined ? t(`tab_${tab}`) : title(TABS[tab].kind));

export function User({ user, tab = "content", mode }) {
  const shown = Object.hasOwn(TABS, tab) ? tab : "content";
  const [relation, setRelation] = useRelation(user);
  const self = useBox(acting);
  const mayList = mayRead() || session.value.user === user;
  return html`<${Head} user=${user} relation=${relation} tags=${html`<${RelationNote} relation=${relation} /><${AccountMarks} user=${user} />`}>
      <div class="actions">
        <${RelationButtons} target=${user} relation=${relation} set=${setRelation} />
        ${self === user && html`<${Edit} user=${user} /><${AccountButton} user=${user} />`}
        ${mayList && html`<a class="button quiet" href=${to("timeline", user)}>${t(self === user ? "timeline" : "see_timeline")}</a>`}
        <${SuspendButton} user=${user} />
      </div>
    <//>
    ${mayList
      ? html`<${Tabs} user=${user} shown=${shown} /><${Listed} key=${shown} user=${user} tab=${shown} isSweeping=${mode === "select"} />`
      : html`<${Empty} icon="key" title=${t("not_yours")}>${t("not_yours_about")}<//>`}`;
}

// The list of a tab.
function Listed({ user, tab, isSweeping }) {
  const self = useBox(acting);
  if (tab === "lists") return html`<${Lists} user=${user} />`;
  if (tab === "notices") return html`<${Notices} user=${user} />`;
  const { items, path = tab } = TABS[tab];
  const list = `v1/users/${encodeURIComponent(user)}/${path}`;
  const empty = html`<${Empty} icon=${items ? "comment" : "user"} title=${t("empty_list")}>${t("empty_list_about")}<//>`;
  if (items) {
    const place = ["content", "comments"].includes(tab) ? ["user", user, tab] : undefined;
    return html`<${Items} path=${list} label=${titleOf(tab)} empty=${empty} place=${place} isSweeping=${isSweeping} source=${tab === "content" ? user : undefined} />`;
  }
  const asks = tab === "follow-requests";
  return html`${asks && self !== user && mayChange() && html`<div class="note line"><span>${t("answer_needs_acting")}</span> <${ActSwitch} user=${user} /></div>`}
    <${FeedList} feed=${usersAt(list)} label=${titleOf(tab)} role="list" empty=${empty}
      item=${(entry) => html`<${UserRow} key=${entry.user_id} entry=${entry} since=${t(`since_${tab}`)} asks=${asks && self === user && mayAct()} />`} />`;
}
