// The frame around the pages: navigation, switches, keys.

import { Backups } from "./backups.js";
import { useBox } from "./box.js";
import { Changes } from "./changes.js";
import { Content } from "./content.js";
import { Dashboard } from "./dashboard.js";
import { docs } from "./docs.js";
import { unseen } from "./feeds.js";
import { Icon, Logo } from "./icons.js";
import { Help, listenToKeys } from "./keys.js";
import { List } from "./lists.js";
import { LookUp } from "./lookup.js";
import { Mode } from "./mode.js";
import { Moderation } from "./moderation.js";
import { Somebody } from "./nobody.js";
import { Messages, tell, untitled } from "./parts.js";
import { isSomebodyById, nameById } from "./people.js";
import { go, route, to } from "./route.js";
import { acting, mayRead, session, signOut, start, watch, watched } from "./session.js";
import { Settings } from "./settings.js";
import { SignIn } from "./signin.js";
import { Missing, Start } from "./start.js";
import { Topic } from "./sweep.js";
import { Tabs } from "./tabs.js";
import { chosen, language, locale, names, t } from "./texts.js";
import { theme, themes } from "./theme.js";
import { Timeline } from "./timeline.js";
import { User } from "./user.js";
import { Fragment, html, render, useEffect, useRef } from "./view.js";

const pages = {
  timeline: (user) => user && html`<${Somebody} key=${user} user=${user} looks=${true}><${Timeline} user=${user} /><//>`,
  user: (user, tab, mode) => user && html`<${Somebody} key=${user} user=${user}><${User} user=${user} tab=${tab} mode=${mode} /><//>`,
  list: (user, name, tab) => user && name && html`<${Somebody} key=${`${user}/${name}`} user=${user} looks=${true}>
    <${List} user=${user} name=${name} tab=${tab} /><//>`,
  item: (id) => id && html`<${Content} key=${id} id=${id} />`,
  topic: (topic, mode) => topic && html`<${Topic} key=${topic} topic=${topic} mode=${mode} />`,
  moderation: () => html`<${Moderation} />`,
  changes: (kind, about) => html`<${Changes} kind=${kind} about=${about} />`,
  dashboard: () => html`<${Dashboard} />`,
  backups: () => html`<${Backups} />`,
  settings: () => html`<${Settings} />`,
};

// The pages about the server as a whole, with their icons.
const OF_SERVER = { moderation: "shield", changes: "list", dashboard: "chart", backups: "store", settings: "sliders" };

// A token shows the timeline and the lists of its own user, and of other users the page with the buttons.
const isPermitted = (name, part) => mayRead() || name === "user" || (["timeline", "list"].includes(name) && part === session.value.user);

function Page() {
  const [name, ...parts] = useBox(route);
  const { kind, user } = useBox(session);
  if (name === "") return kind === "user" ? html`<${Timeline} key=${user} user=${user} />` : html`<${Start} />`;
  const isDot = [".", ".."].includes(parts[0]);
  const page = Object.hasOwn(pages, name) && !isDot && pages[name](...parts);
  if (!page) return html`<${Missing} kind=${isDot ? "dots" : "no_page"} />`;
  if (Object.hasOwn(OF_SERVER, name) && mayRead()) return html`<${ServerTabs} name=${name} />${page}`;
  return isPermitted(name, parts[0]) ? page : html`<${Missing} kind="not_yours" />`;
}

// The pages of the server, in narrow windows, where the navigation has one link to them.
const ServerTabs = ({ name }) => html`<${Tabs} kind="of-server" label=${t("server")} shown=${name} tabs=${Object.keys(OF_SERVER).map((page) => [page, to(page), t(page)])} />`;

function Links({ narrow }) {
  const [name, shown] = useBox(route);
  const user = useBox(watched);
  // The pages of other users are none of these.
  const isHere = (page) => name === page && (page !== "user" || shown === user);
  const count = useBox(unseen);
  useBox(session);
  const link = (page, href, icon, text, { badge = 0, isCurrent = isHere(page) } = {}) => html`<a key=${page} href=${href} aria-current=${isCurrent ? "page" : undefined} title=${narrow ? text : undefined}>
    <${Icon} name=${icon} /><span>${text}</span>${badge > 0 && html`<i class="count" aria-label=${t("new_items", { n: badge })} role="img">${badge > 99 ? "99+" : badge}</i>`}</a>`;
  return html`<${Fragment}>
    ${mayRead() && link("", "#/", "search", t("users"))}
    ${user !== null && link("timeline", to("timeline", user), "home", t("timeline"), { badge: count })}
    ${user !== null && link("user", to("user", user), "user", t("profile"))}
    ${mayRead() && (narrow
      ? link("dashboard", "#/dashboard", "chart", t("server"), { isCurrent: Object.hasOwn(OF_SERVER, name) })
      : Object.entries(OF_SERVER).map(([page, icon]) => link(page, to(page), icon, t(page))))}
  <//>`;
}

function Switches() {
  const shown = useBox(theme);
  const { kind } = useBox(session);
  useBox(chosen);
  const next = themes[(themes.indexOf(shown) + 1) % themes.length];
  const other = language() === "en" ? "zh" : "en";
  return html`<div class="switches">
    <button class="round" title=${t(`theme_${shown}`)} aria-label=${t(`theme_${shown}`)} data-switch="theme" onClick=${() => theme.set(next)}>
      <${Icon} name=${{ auto: "auto", light: "sun", dark: "moon" }[shown]} /></button>
    <button class="round text" lang=${other} title=${names[other]} aria-label=${other === "en" ? "En: English" : names[other]} data-switch="language" onClick=${() => chosen.set(other)}>
      ${other === "zh" ? html`<${Icon} name="zhong" />` : "En"}</button>
    ${kind !== "none" && html`<button class="round wide-only" title=${t("keys")} aria-label=${t("keys")} onClick=${() => Help.open()}><${Icon} name="question" /></button>`}
    ${["full", "read", "user"].includes(kind) &&
    html`<button class="round" title=${t("sign_out")} aria-label=${t("sign_out")} onClick=${() => (go(), signOut())}><${Icon} name="left" /></button>`}
  </div>`;
}

// The name of the server is that by which it is reached.
const Brand = () => html`<${Logo} /> <span>Tideline <small title=${location.host}>${location.host}</small></span>`;

function App() {
  useBox(chosen);
  const { kind, problem } = useBox(session);
  const place = useBox(route);
  useEffect(() => {
    document.documentElement.lang = locale();
  });
  // A new page is announced by its title, but for the first one, which the browser announces.
  const page = place.slice(0, 2).join("/");
  const first = useRef(true);
  useEffect(() => {
    if (!first.current && document.activeElement === document.body) {
      const title = document.querySelector("main h1");
      title?.focus({ preventScroll: true });
      untitled.set(!title);
    }
    if (kind !== "starting") first.current = false;
  }, [page, kind]);
  if (kind === "starting") return html`<main id="main" aria-busy="true"></main>`;
  if (kind === "none") {
    return html`<header class="top"><div class="topbar"><span class="brand"><${Brand} /></span><${Switches} /></div></header>
      <${SignIn} key=${problem?.requestId} problem=${problem} /><${Messages} />`;
  }
  return html`<a class="skip" href="#main" onClick=${skip}>${t("skip")}</a>
    <header class="top">
      <div class="topbar">
        <a class="brand" href="#/" aria-label=${`Tideline ${location.host}`}><${Brand} /></a>
        ${mayRead() && html`<${LookUp} />`}
        <${Switches} />
      </div>
      <${Mode} />
    </header>
    <nav class="rail" aria-label=${t("navigation")}><${Links} />
      ${mayRead() && html`<a class="docs" href=${docs("docs/README.md")} target="_blank" rel="noreferrer" title=${t("documentation")}><${Icon} name="question" /><span>${t("documentation")}</span></a>`}
      <a class="docs" href="docs" target="_blank" title=${t("api_docs")}><${Icon} name="globe" /><span>${t("api_docs")}</span></a></nav>
    <main id="main" tabindex="-1"><${Page} /></main>
    <nav class="tabbar" aria-label=${t("navigation")}><${Links} narrow=${true} /></nav>
    <${Help} /><${Messages} />`;
}

// The address behind `#` is the page, so the link cannot lead there by itself.
function skip(event) {
  event.preventDefault();
  document.querySelector("main").focus();
}

// Who opens a timeline, also that of a list, looks at what its user sees. Nobody acts for one user on the timeline of another.
function look() {
  const [name, user] = route.value;
  if (!["timeline", "list"].includes(name) || !user || [".", ".."].includes(user) || !mayRead()) return;
  if (acting.value !== null && acting.value !== user) {
    tell(t("acts_no_longer", { name: nameById(acting.value) }));
    acting.set(null);
  }
  // Of another user it must be asked first whether there is one.
  if (watched.value !== user && isSomebodyById(user)) watch(user);
}

// Before the pages hear of it.
route.listen(look);
session.listen(look);
// Each page restores its own place.
history.scrollRestoration = "manual";
route.listen(() => scrollTo({ top: 0, behavior: "instant" }));
listenToKeys();
render(html`<${App} />`, document.getElementById("app"));
start();
