// The page of a user, with the lists that belong to it.

import { AccountButton, AccountMarks, SuspendButton, useAccount } from "./account.js";
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
import { RESTRICTIONS, RelationButtons, RelationNote, UserRow, useProfile, useRelation } from "./people.js";
import { to } from "./route.js";
import { acting, mayAct, mayChange, mayRead, session } from "./session.js";
import { Items } from "./sweep.js";
import { Tabs } from "./tabs.js";
import { t } from "./texts.js";
import { html, useState } from "./view.js";

function Edit({ user }) {
  const [isOpen, setOpen] = useState(false);
  return mayChange() && html`<button class="quiet" onClick=${() => setOpen(true)}><${Icon} name="pen" /> ${t("edit_profile")}</button>
    ${isOpen && html`<${EditProfile} user=${user} close=${() => setOpen(false)} />`}`;
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
  ...Object.fromEntries(RESTRICTIONS.map(({ list }) => [list, {}])),
  "follow-requests": {},
  "sent-requests": {},
};

const titleOf = (tab) => (TABS[tab].kind === undefined ? t(`tab_${tab}`) : title(TABS[tab].kind));

export function User({ user, tab = "content", mode }) {
  const shown = Object.hasOwn(TABS, tab) ? tab : "content";
  const [relation, setRelation] = useRelation(user);
  const [account] = useAccount(user);
  const self = useBox(acting);
  const mayList = mayRead() || session.value.user === user;
  const { counts } = useProfile(user);
  return html`<${Head} user=${user} tags=${html`<${RelationNote} relation=${relation} /><${AccountMarks} account=${account} />`}>
      <div class="actions">
        <${RelationButtons} target=${user} relation=${relation} set=${setRelation} />
        ${self === user && html`<${Edit} user=${user} /><${AccountButton} user=${user} />`}
        ${mayList && html`<a class="button quiet" href=${to("timeline", user)}>${t(self === user ? "timeline" : "see_timeline")}</a>`}
        <${SuspendButton} user=${user} account=${account} />
      </div>
    <//>
    ${mayList
      ? html`<${Tabs} label=${t("lists")} shown=${shown} tabs=${Object.keys(TABS).map((name) => [name, to("user", user, name), titleOf(name), counts?.[name]])} /><${Listed} key=${shown} user=${user} tab=${shown} isSuspended=${account?.suspended} isSweeping=${mode === "select"} />`
      : html`<${Empty} icon="key" title=${t("not_yours")}>${t("not_yours_about")}<//>`}`;
}

// The list of a tab.
function Listed({ user, tab, isSuspended, isSweeping }) {
  const self = useBox(acting);
  if (tab === "lists") return html`<${Lists} user=${user} />`;
  if (tab === "notices") return html`<${Notices} user=${user} />`;
  const { items, path = tab } = TABS[tab];
  const list = `v1/users/${encodeURIComponent(user)}/${path}`;
  const empty = items && isSuspended
    ? html`<${Empty} icon="shield" title=${t("suspended")}>${t("suspended_items")}<//>`
    : html`<${Empty} icon=${items ? "comment" : "user"} title=${t("empty_list")}>${t("empty_list_about")}<//>`;
  if (items) {
    const place = ["content", "comments"].includes(tab) ? ["user", user, tab] : undefined;
    return html`<${Items} path=${list} label=${titleOf(tab)} empty=${empty} place=${place} isSweeping=${isSweeping} source=${tab === "content" ? user : undefined} />`;
  }
  const asks = tab === "follow-requests";
  return html`${asks && self !== user && mayChange() && html`<div class="note line"><span>${t("answer_needs_acting")}</span> <${ActSwitch} user=${user} /></div>`}
    <${FeedList} feed=${usersAt(list)} label=${titleOf(tab)} role="list" empty=${empty}
      item=${(entry) => html`<${UserRow} key=${entry.user_id} entry=${entry} since=${t(`since_${tab}`)} asks=${asks && self === user && mayAct()} />`} />`;
}
