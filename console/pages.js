// The pages about users and items.

import { AccountButton, AccountMarks } from "./account.js";
import { at, get, reached } from "./api.js";
import { Box, useBox } from "./box.js";
import { Explain, Verify } from "./check.js";
import { Comment, EditProfile, Publish } from "./compose.js";
import { FeedList } from "./feedlist.js";
import { commentsOn, itemsAt, live, patched, paused, reloadComments, timelineOf, unseen, usersAt, withOriginals, withRelations } from "./feeds.js";
import { Icon, Logo } from "./icons.js";
import { Item } from "./item.js";
import { KINDS, iconOf, label, number, since, title } from "./kinds.js";
import { Lists } from "./lists.js";
import { Avatar, Empty, Problem, Title, minute, useRequest } from "./parts.js";
import { BARRIERS, Id, Letters, RelationButtons, RelationNote, UserRow, known, nameOf, useProfile, useRelation } from "./people.js";
import { go, to } from "./route.js";
import { acting, mayAct, mayChange, mayRead, recent, session } from "./session.js";
import { short, t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./view.js";

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

const isKnown = ({ nickname, avatar, extra, counts }) => Boolean(nickname || avatar || extra || Object.values(counts).some(Boolean));

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
    <${Avatar} id=${user} nickname=${profile.nickname} avatar=${profile.avatar} size="small" /> <span>${nameOf(profile)}</span>${profile.nickname && html` <${Id} id=${user} />`}</a>`;
}

const Counts = ({ user, counts }) => html`<nav class="counts" aria-label=${t("counts")}>
  ${[["content", "items"], ["following", "followees"], ["followers", "followers"], ["friends", "friends"]].map(
    ([tab, label]) => html`<a key=${tab} href=${to("user", user, tab)}><b>${counts ? short(counts[tab]) : "–"}</b> ${t(label, { n: counts?.[tab] ?? 0 })}</a>`,
  )}
</nav>`;

// The head of the pages of a user.
function Head({ user, children, tags, relation }) {
  const profile = useProfile(user);
  const [presence, setPresence] = useState({});
  const [isReached, stream] = [useBox(reached), useBox(live)];
  const now = useBox(minute);
  const mayAsk = mayRead() || session.value.user === user;
  useEffect(() => {
    if (mayAsk) get(at`v1/users/${user}`).then(known, () => {});
  }, [user, isReached]);
  useEffect(() => {
    if (mayAsk) get(at`v1/users/${user}/presence`).then(setPresence, () => {});
  }, [user, isReached, now]);
  // The stream of this page would make everybody online for whom it acts.
  const online = presence.online && (!stream || user !== acting.value || presence.expires_at > Date.now());
  const isUnknown = profile.counts && !isKnown(profile) && ["none", undefined].includes(relation?.relation);
  const bio = profile.extra?.bio;
  return html`<section class="card profile">
    <div class="banner" aria-hidden="true"></div>
    <div class="who">
      <${Avatar} id=${user} nickname=${profile.nickname} avatar=${profile.avatar} size="big" />
      <div class="title">
        <${Title} text=${nameOf(profile)}>${!profile.nickname && html`<${Letters} id=${user} />`}<//>
        <p class="marks">${profile.nickname && html`<${Id} id=${user} whole=${true} />`}${online && html`<span class="tag live">${t("online")}</span>`}${tags}</p>
      </div>
      ${children}
    </div>
    ${typeof bio === "string" && bio && html`<p class="bio" dir="auto">${bio}</p>`}
    ${mayAsk && html`<${Counts} user=${user} counts=${profile.counts} />`}
  </section>
  ${isUnknown && html`<${Unknown} user=${user} />`}`;
}

// Told of an id without a trace, because a typing error looks like a user who is quiet.
function Unknown({ user }) {
  const other = user.replace(/^[\s@]+|\s+$/gu, "");
  return html`<div class="note unknown" role="status"><b>${t("unknown_user")}</b> ${t("unknown_user_about")}
    ${other && other !== user && html`<a class="button quiet" href=${to("timeline", other)}>${t("did_you_mean")} <b>${other}</b></a>`}</div>`;
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

function LiveState() {
  const stream = useBox(live);
  const isPaused = useBox(paused);
  return html`<button class="quiet live-state" aria-pressed=${String(!isPaused)} title=${t("live_about")} onClick=${() => paused.set(!isPaused)}>
    ${stream ? html`<${StreamState} stream=${stream} />` : html`<i class="dot"></i> ${t("live_paused")}`}
  </button>`;
}

function StreamState({ stream }) {
  const state = useBox(stream.state);
  return html`<i class=${`dot ${state}`}></i> ${t(`live_${state}`)}`;
}

// New items, of which the list shows nothing until this is pressed.
function NewItems({ feed }) {
  const count = useBox(unseen);
  // Told to those who do not see it, but not each time.
  return html`<div class="pill-place" role="status">
    ${count > 0 && html`<button class="pill" onClick=${() => showNew(feed)}>
      <${Icon} name="up" /> ${feed.isCapped ? t("many_new", { n: count }) : t("new_items", { n: count })}</button>`}
  </div>`;
}

export async function showNew(feed) {
  await feed.start();
  scrollTo({ top: 0, behavior: "instant" });
  requestAnimationFrame(() => document.querySelector("article[data-id]")?.focus({ preventScroll: true }));
}

export function Timeline({ user }) {
  const [check, setCheck] = useState(null);
  const feed = timelineOf(user);
  return html`<${Head} user=${user}>
      <div class="actions">
        <a class="button quiet" href=${to("user", user)}>${t("own_page")}</a>
        <${Edit} user=${user} />
      </div>
    <//>
    <${Publish} key=${user} />
    <div class="bar">
      <h2>${t("timeline")}</h2>
      <div class="actions">
        ${mayRead() &&
        html`<button class="quiet" onClick=${() => setCheck("explain")}><${Icon} name="question" /> ${t("why_short")}</button>
          <button class="quiet" onClick=${() => setCheck("verify")}><${Icon} name="shield" /> ${t("verify")}</button>`}
        ${mayAct() && html`<${LiveState} />`}
      </div>
    </div>
    <${NewItems} feed=${feed} />
    <${FeedList} key=${user} feed=${feed} label=${t("timeline")} item=${(item, place) => html`<${Item} key=${item.content_id} item=${item} place=${place} />`}
      empty=${html`<${Quiet} user=${user} />`} />
    ${check === "explain" && html`<${Explain} user=${user} close=${() => setCheck(null)} />`}
    ${check === "verify" && html`<${Verify} user=${user} close=${() => setCheck(null)} />`}`;
}

// An empty timeline, with the reason.
function Quiet({ user }) {
  const { counts } = useProfile(user);
  return html`<${Empty} icon="home" title=${t("empty_timeline")}>${t(counts?.following ? "empty_timeline_quiet" : "empty_timeline_about")}<//>`;
}

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
  ...Object.fromEntries(KINDS.map((kind) => [iconOf(kind) ? kind : `reactions-${kind}`, { items: true, path: at`reactions/${kind}`, kind }])),
  lists: {},
  ...Object.fromEntries(BARRIERS.map(({ list }) => [list, {}])),
  "follow-requests": {},
  "sent-requests": {},
};

const titleOf = (tab) => (TABS[tab].kind === undefined ? t(`tab_${tab}`) : title(TABS[tab].kind));

export function User({ user, tab = "content" }) {
  const shown = Object.hasOwn(TABS, tab) ? tab : "content";
  const [relation, setRelation] = useRelation(user);
  const self = useBox(acting);
  const mayList = mayRead() || session.value.user === user;
  const { items, path = shown } = TABS[shown];
  const list = `v1/users/${encodeURIComponent(user)}/${path}`;
  return html`<${Head} user=${user} relation=${relation} tags=${html`<${RelationNote} relation=${relation} /><${AccountMarks} user=${user} />`}>
      <div class="actions">
        <${RelationButtons} target=${user} relation=${relation} set=${setRelation} />
        ${self === user && html`<${Edit} user=${user} />`}
        <${AccountButton} user=${user} />
        ${mayList && html`<a class="button quiet" href=${to("timeline", user)}>${t(self === user ? "timeline" : "act_as")}</a>`}
      </div>
    <//>
    ${self === null && html`<p class="note">${t("act_first")}</p>`}
    ${mayList
      ? html`<${Tabs} user=${user} shown=${shown} />
        ${shown === "lists"
          ? html`<${Lists} user=${user} />`
          : html`<${FeedList} key=${list} feed=${items ? itemsAt(list) : usersAt(list)} label=${titleOf(shown)} role=${items ? "feed" : "list"}
              item=${items
                ? (item, place) => html`<${Item} key=${item.content_id} item=${item} place=${place} />`
                : (entry) => html`<${UserRow} key=${entry.user_id} entry=${entry} since=${t(`since_${shown}`)}
                    asks=${shown === "follow-requests" && self === user && mayAct()} />`}
              empty=${html`<${Empty} icon=${items ? "comment" : "user"} title=${t("empty_list")}>${t("empty_list_about")}<//>`} />`}`
      : html`<${Empty} icon="key" title=${t("not_yours")}>${t("not_yours_about")}<//>`}`;
}

// How a user has reacted to an item. Only timelines tell it, so the user's own reactions are asked.
async function reactionsOf(user, { content_id, published_at }) {
  const has = async (kind) => {
    const query = { before: `${published_at + 1}-1`, limit: 10, view: "ids" };
    const { items } = await get(at`v1/users/${user}/reactions/${kind}`, query);
    return items.some((item) => item.content_id === content_id);
  };
  const found = await Promise.all(KINDS.map(has));
  return { reactions: KINDS.filter((_, place) => found[place]) };
}

async function itemWithViewer(id, user, signal) {
  const [item] = await withOriginals([await get(at`v1/content/${id}`, {}, signal)], signal);
  return user === null ? item : { ...item, viewer: await reactionsOf(user, item) };
}

export function Content({ id }) {
  const user = useBox(acting);
  const [loaded, problem, again] = useRequest((signal) => itemWithViewer(id, user, signal), [id, user]);
  const [changes, setChanges] = useState({});
  const item = loaded && { ...loaded, ...changes };
  useEffect(() => setChanges({}), [loaded]);
  useEffect(() => patched.listen((patch) => patch.id === id && item && setChanges((old) => ({ ...old, ...patch.change({ ...item, ...old }) }))));
  const done = () => (reloadComments(id), again());
  return html`<div class="bar">
      <button class="round" aria-label=${t("back")} onClick=${() => history.back()}><${Icon} name="back" /></button>
      <${Title} text=${t("item")} />
    </div>
    ${problem?.code === "content_not_found"
      ? html`<${Empty} icon="comment" title=${t("problem_content_not_found")}>${t("no_item_about")}<//>`
      : problem && html`<${Problem} problem=${problem} retry=${again} />`}
    ${item && !problem &&
    html`<div class="alone"><${Item} item=${item} place="alone" alone=${true} /></div>
      <${Reactors} id=${id} counts=${item.counts} />
      <${Comment} id=${id} done=${done} />
      <${Comments} id=${id} count=${item.counts.comments} />`}`;
}

// A conversation reads from its first comment on; the newest ones of a long one are at the other end.
const isNewestFirst = new Box(false);

function Comments({ id, count }) {
  const isTurned = useBox(isNewestFirst);
  return html`<div class="bar"><h2>${t("comments_title")}</h2>
      ${count > 1 && html`<button class="quiet" data-switch="order" onClick=${() => isNewestFirst.set(!isTurned)}>${t(isTurned ? "oldest_first" : "newest_first")}</button>`}</div>
    <${FeedList} key=${String(isTurned)} feed=${commentsOn(id, isTurned)} label=${t("comments_title")} end=${t(isTurned ? "the_end" : "the_newest")}
      item=${(entry, place) => html`<${Item} key=${entry.content_id} item=${entry} place=${place} />`}
      empty=${html`<${Empty} icon="comment" title=${t("no_comments")}>${t("no_comments_about")}<//>`} />`;
}

// Who reacted to an item; read when it is opened.
function Reactors({ id, counts }) {
  const [kind, setKind] = useState(null);
  const tab = (name, count) => html`<button class="quiet" aria-expanded=${String(kind === name)} disabled=${!count}
    onClick=${() => setKind(kind === name ? null : name)}>${label(name, count)}</button>`;
  return html`<div class="actions reactors">${KINDS.map((name) => tab(name, number(counts, name)))}</div>
    ${kind && html`<${Users} key=${kind} path=${at`v1/content/${id}/reactions/${kind}`} kind=${kind} />`}`;
}

function Users({ path, kind }) {
  const [users, problem] = useRequest(async (signal) => withRelations((await get(path, { limit: 100 }, signal)).items), [path]);
  if (problem) return html`<${Problem} problem=${problem} />`;
  return html`<div role="list">${users?.map((entry) => html`<${UserRow} key=${entry.user_id} entry=${entry} since=${since(kind)} />`)}</div>`;
}

export function Topic({ topic }) {
  const path = at`v1/topics/${topic}/content`;
  return html`<div class="bar"><${Title} text=${`#${topic}`} /></div>
    <${FeedList} key=${path} feed=${itemsAt(path)} label=${topic} item=${(item, place) => html`<${Item} key=${item.content_id} item=${item} place=${place} />`}
      empty=${html`<${Empty} icon="comment" title=${t("empty_list")}>${t("empty_list_about")}<//>`} />`;
}
