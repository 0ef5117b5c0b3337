// Users: their profiles, as far as they may be read, and rows of lists.

import { at, get, listed, put, reached, remove } from "./api.js";
import { Box, useBox } from "./box.js";
import { reload, under } from "./feeds.js";
import { Icon } from "./icons.js";
import { Act, Avatar, Time, tell } from "./parts.js";
import { to } from "./route.js";
import { acting, mayAct, mayRead, session } from "./session.js";
import { HIDDEN, codes, isolated, middle, seen, t } from "./texts.js";
import { html, useEffect, useState } from "./view.js";

// Profiles that were read, the latest last; and how many are read at once.
const MOST = 500;
const AT_ONCE = 4;
const profiles = new Map();
const waiting = [];
let running = 0;
const changes = new Box(0);

const mayReadUser = (id) => mayRead() || session.value.user === id;

async function work() {
  while (running < AT_ONCE && waiting.length) {
    const id = waiting.pop();
    running++;
    get(at`v1/users/${id}`)
      .then((profile) => known(profile), () => {})
      .finally(() => (running--, work()));
  }
}

// Keeps what was read of a user.
export function known(profile) {
  profiles.delete(profile.user_id);
  profiles.set(profile.user_id, profile);
  if (profiles.size > MOST) profiles.delete(profiles.keys().next().value);
  changes.set(changes.value + 1);
}

// The profile of a user; only the id until it is known.
export function useProfile(id) {
  useBox(changes);
  const isReached = useBox(reached);
  useEffect(() => {
    if (!id || !isReached || profiles.has(id) || !mayReadUser(id) || waiting.includes(id)) return;
    waiting.push(id);
    work();
  }, [id, isReached]);
  return profiles.get(id) ?? { user_id: id };
}

// What is kept of a user, without asking.
export function useKnown(id) {
  useBox(changes);
  return profiles.get(id);
}

// Whether the server knows anything of the user of a profile: every id has one.
export const isSomebody = (profile) =>
  Boolean(profile && (profile.nickname || profile.avatar || profile.extra || Object.values(profile.counts).some(Boolean)));

// The same of an id, as far as it was read.
export const isSomebodyById = (id) => isSomebody(profiles.get(id));

// Reads a profile again after a change of its counts.
export const readAgain = (id) => mayReadUser(id) && get(at`v1/users/${id}`).then(known, () => {});

export const nameOf = (user) => isolated(user.nickname || user.user_id);

// The same of an id, as far as the name is known.
export const nameById = (id) => nameOf(profiles.get(id) ?? { user_id: id });

// What is not seen in an id: spaces but single ones in its midst, and letters without a shape.
const UNSEEN = /(^ +| +$| {2,}|[^\P{Z} ]+|\p{Cf}+)/u;

// A text to look at letter by letter. A letter that is not seen, or that turns the others, is shown as its code.
export const Letters = ({ text, hidden = UNSEEN }) =>
  text.split(hidden).map((part, i) => (i % 2 ? html`<mark class="unseen" title=${codes(part)}>${/^ +$/.test(part) ? part : codes(part)}</mark>` : part));

// The name of a user, or else the id, in full where there is room.
export const Name = ({ user, whole }) => html`<b title=${nameOf(user)}><bdi>
  ${user.nickname ? html`<${Letters} text=${user.nickname} hidden=${HIDDEN} />` : html`<${Letters} text=${whole ? user.user_id : middle(user.user_id)} />`}</bdi></b>`;

// An id beside a name.
export const Id = ({ id, whole }) =>
  html`<span class="id chip-id" title=${seen(id)}><bdi><${Letters} text=${whole ? id : middle(id)} /></bdi></span>`;

// The relation of the user for whom the console acts to another; `set` takes the answer to a change.
export function useRelation(target) {
  const user = useBox(acting);
  const isReached = useBox(reached);
  const [relation, set] = useState(null);
  useEffect(() => {
    if (user === null || user === target) return set(null);
    const gone = new AbortController();
    get(at`v1/users/${user}/relations`, { targets: listed([target]) }, gone.signal).then(
      ({ items }) => set(items[0]),
      () => {},
    );
    return () => gone.abort();
  }, [user, target, isReached]);
  return [relation, set];
}

// The restrictions, each with the name of its list, its field in a relation, and the texts of its button.
export const RESTRICTIONS = [
  { list: "mutes", field: "muted", raise: "mute", lift: "unmute", icon: "mute" },
  { list: "hidden-from", field: "hidden", raise: "hide", lift: "unhide", about: "hide_about" },
  { list: "blocks", field: "blocked", raise: "block", lift: "unblock", about: "block_about" },
];

// Follow, and raise and lift restrictions, for the user for whom the console acts.
export function RelationButtons({ target, relation, set, compact }) {
  const user = useBox(acting);
  // Whether the button tells that a press unfollows: under the pointer or with the focus, but not just after a press.
  const [isReady, setReady] = useState(false);
  useBox(session);
  if (!relation || user === null || user === target || !mayAct()) return null;
  const follows = ["following", "mutual"].includes(relation.relation);
  const isOn = follows || relation.requested;
  const change = (list, isOn) => async () => {
    const path = `v1/users/${encodeURIComponent(user)}/${list}/${encodeURIComponent(target)}`;
    setReady(false);
    set(await (isOn ? remove(path) : put(path)));
    if (list === "following" && isOn && follows) {
      tell(t("unfollowed", { name: nameById(target) }), { undo: change(list, false) });
    }
    const own = ["timeline", "following", "followers", "friends", "sent-requests", "follow-requests", ...RESTRICTIONS.map(({ list }) => list)];
    reload(at`v1/users/${target}/followers`, ...own.map((list) => at`v1/users/${user}/${list}`), ...under(at`v1/users/${user}/lists/`));
    for (const id of [user, target]) readAgain(id);
  };
  const ready = (isIt) => () => setReady(isIt);
  return html`<div class="actions">
    <${Act} class=${isOn ? "quiet on" : "strong"} run=${change("following", isOn)}
      onMouseEnter=${ready(true)} onMouseLeave=${ready(false)} onFocus=${ready(true)} onBlur=${ready(false)}>
      ${follows
        ? html`<span class="either"><span class=${isReady ? "off" : ""}><${Icon} name="check" /> ${t("following_now")}</span>
            <span class=${isReady ? "" : "off"}>${t("unfollow")}</span></span>`
        : relation.requested ? t("take_back") : t("follow")}
    <//>
    ${!compact &&
    RESTRICTIONS.map(({ list, field, raise, lift, icon, about }) => html`<${Act} key=${list} class="quiet"
        aria-pressed=${String(relation[field])} title=${about && t(about)} run=${change(list, relation[field])}>
        ${icon && html`<${Icon} name=${icon} /> `}${t(relation[field] ? lift : raise)}
      <//>`)}
  </div>`;
}

export function RelationNote({ relation }) {
  const notes = {
    mutual: "friends_of_each_other",
    followed_by: "follows_you",
  };
  const note = relation && notes[relation.relation];
  return html`${note && html`<span class="tag">${t(note)}</span>`}
    ${[...RESTRICTIONS.map(({ field }) => field), "requested"].map((field) => relation?.[field] && html`<span key=${field} class="tag">${t(field)}</span>`)}
    ${relation && html`<${Rule} of=${relation} />`}`;
}

// The kinds of items that a follow, or a list of its member, shows or leaves out.
function Rule({ of: { only, except } }) {
  const kinds = only ?? except;
  return kinds && html`<span class="tag">${t(only ? "rule_only" : "rule_except", { kinds: kinds.join(", ") })}</span>`;
}

// Approves or rejects the request of a user to follow the one for whom the console acts.
function AnswerButtons({ from }) {
  const user = useBox(acting);
  const answer = (change) => async () => {
    await change(at`v1/users/${user}/follow-requests/${from}`);
    reload(at`v1/users/${user}/follow-requests`, at`v1/users/${user}/followers`, at`v1/users/${user}/friends`);
    for (const id of [user, from]) readAgain(id);
  };
  return html`<div class="actions">
    <${Act} class="strong" run=${answer(put)}>${t("approve")}<//>
    <${Act} class="quiet" run=${answer(remove)}>${t("reject")}<//>
  </div>`;
}

// A user in a list. `since` says what happened at the time of the entry, `asks` whether it is a request to answer.
// `actions` are shown instead of the buttons for its relation.
export function UserRow({ entry, since, asks, actions }) {
  const id = entry.user_id;
  const profile = useProfile(id);
  const [relation, set] = useState(entry.relation);
  return html`<div role="listitem" class="row person" data-id=${id}>
    <${Avatar} id=${id} nickname=${profile.nickname} avatar=${profile.avatar} />
    <a class="names" href=${to("user", id)}>
      <${Name} user=${profile} />
      ${profile.nickname && html`<${Id} id=${id} />`}
    </a>
    <span class="faint since"><${Rule} of=${entry} /> ${since} <${Time} at=${entry.since} /></span>
    ${actions ??
    (asks
      ? html`<${AnswerButtons} from=${id} />`
      : html`<${RelationButtons} target=${id} relation=${relation} set=${set} compact=${true} />`)}
  </div>`;
}
