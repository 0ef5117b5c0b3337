// The lists that a user keeps: all of them, and the page of one with its timeline and its members.

import { at, get, post, put, remove } from "./api.js";
import { useBox } from "./box.js";
import { FeedList } from "./feedlist.js";
import { itemsAt, reload, under, usersAt } from "./feeds.js";
import { Icon } from "./icons.js";
import { Item } from "./item.js";
import { Act, Confirm, Empty, Line, Problem, Title, useRequest } from "./parts.js";
import { Id, Name, UserRow, nameOf, useProfile } from "./people.js";
import { go, to } from "./route.js";
import { acting, mayAct } from "./session.js";
import { Tabs } from "./tabs.js";
import { isolated, t } from "./texts.js";
import { UserLine } from "./userbox.js";
import { html, useState } from "./view.js";

// The home timeline shows nothing of the members of exclusive lists.
const reloadHome = (user) => reload(at`v1/users/${user}/timeline`);

const Exclusive = ({ list }) => list.exclusive && html`<span class="tag" title=${t("exclusive_about")}>${t("exclusive")}</span>`;

export function Lists({ user }) {
  const path = at`v1/users/${user}/lists`;
  const mayKeep = useBox(acting) === user && mayAct();
  const [lists, problem, again] = useRequest((signal) => get(path, {}, signal), [path]);
  const make = async (name) => {
    // A second PUT would replace the settings of the list.
    const { items } = await get(path);
    if (!items.some(({ list }) => list === name)) await put(`${path}/${encodeURIComponent(name)}`);
    go("list", user, name, "members");
  };
  return html`${mayKeep && html`<${Line} label=${t("list_name")} button=${t("make_list")} run=${make} />`}
    ${problem && html`<${Problem} problem=${problem} retry=${again} />`}
    ${lists?.items.length === 0 && html`<${Empty} icon="user" title=${t("empty_list")}>${t("lists_about")}<//>`}
    <ul class="plain">${lists?.items.map((list) => html`<li key=${list.list} class="card">
      <a href=${to("list", user, list.list)}><b><bdi>${list.title ?? list.list}</bdi></b></a> ${list.title && html`<${Id} id=${list.list} />`} <${Exclusive} list=${list} /></li>`)}</ul>`;
}

// Whose list it is, with a way back to all lists of this user.
function Owner({ user }) {
  return html`<p class="faint">${t("list_of")} <a href=${to("user", user, "lists")}><${Name} user=${useProfile(user)} /></a></p>`;
}

export function List({ user, name, tab }) {
  const path = at`v1/users/${user}/lists/${name}`;
  const [list, problem, again] = useRequest((signal) => get(path, {}, signal), [path]);
  const shown = tab === "members" ? "members" : "timeline";
  const mayKeep = useBox(acting) === user && mayAct();
  const profile = useProfile(user);
  const [isAsking, setAsking] = useState(false);
  const change = async (body) => {
    await post(`${path}/members/batch`, body);
    reload(...under(`${path}/`));
    reloadHome(user);
  };
  const turn = async () => {
    await put(path, { title: list.title, exclusive: !list.exclusive });
    again();
    reloadHome(user);
  };
  const drop = async () => {
    await remove(path);
    reloadHome(user);
    go("user", user, "lists");
  };
  const takeOut = (id) => html`<div class="actions"><${Act} class="quiet" run=${() => change({ remove: [id] })}>${t("remove")}<//></div>`;
  return html`<div class="bar">
      <button class="round" aria-label=${t("back")} onClick=${() => history.back()}><${Icon} name="back" /></button>
      <${Title} text=${list?.title ?? name} />
      ${list && html`<${Exclusive} list=${list} />`}
      ${list && mayKeep && html`<div class="actions">
        <${Act} class="quiet" title=${t("exclusive_about")} run=${turn}>${t(list.exclusive ? "make_inclusive" : "make_exclusive")}<//>
        <button class="quiet danger" onClick=${() => setAsking(true)}><${Icon} name="trash" /> ${t("delete_list")}</button>
      </div>`}
    </div>
    ${isAsking && html`<${Confirm} title=${t("delete_list")} button=${t("delete")} run=${drop} close=${() => setAsking(false)}>
      <p>${t("delete_list_sure", { name: isolated(list.title ?? name), user: nameOf(profile) })}</p><//>`}
    <${Owner} user=${user} />
    <${Tabs} label=${t("list")} shown=${shown} tabs=${["timeline", "members"].map((part) => [part, to("list", user, name, part), t(part)])} />
    ${problem
      ? html`<${Problem} problem=${problem} retry=${again} />`
      : html`${shown === "members" && mayKeep && html`<${UserLine} id="member" label=${t("look_up_short")} button=${t("add_member")} run=${(id) => change({ add: [id] })} otherwise="take_as_id" />`}
        <${FeedList} key=${`${path}/${shown}`} feed=${shown === "members" ? usersAt(`${path}/members`) : itemsAt(`${path}/timeline`)}
          label=${t(shown)} role=${shown === "members" ? "list" : "feed"}
          item=${shown === "members"
            ? (entry) => html`<${UserRow} key=${entry.user_id} entry=${entry} since=${t("since_members")} actions=${mayKeep && takeOut(entry.user_id)} />`
            : (item, place) => html`<${Item} key=${item.content_id} item=${item} place=${place} />`}
          empty=${html`<${Empty} icon=${shown === "members" ? "user" : "comment"} title=${t("empty_list")}>${t("empty_list_about")}<//>`} />`}`;
}
