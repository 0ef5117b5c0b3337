// The page of an item: its comments, and the users who reacted.

import { restore } from "./about.js";
import { at, get } from "./api.js";
import { Box, useBox } from "./box.js";
import { Comment } from "./compose.js";
import { FeedList } from "./feedlist.js";
import { commentsOn, patched, reloadComments, withOriginals, withRelations } from "./feeds.js";
import { Icon } from "./icons.js";
import { Item } from "./item.js";
import { KINDS, label, number, since } from "./kinds.js";
import { Act, Empty, Problem, Title, useRequest } from "./parts.js";
import { UserRow } from "./people.js";
import { to } from "./route.js";
import { acting, mayChange, watched } from "./session.js";
import { t } from "./texts.js";
import { html, useEffect, useState } from "./view.js";

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
  const user = useBox(watched);
  const isActing = useBox(acting) !== null;
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
      ? html`<${Empty} icon="comment" title=${t("problem_content_not_found")}>${t("no_item_about")}
          ${mayChange() && html` ${t("restore_about")} <br /><${Act} class="quiet" run=${async () => (await restore(id), again())}>${t("restore")}<//>`}<//>`
      : problem && html`<${Problem} problem=${problem} retry=${again} />`}
    ${item && !problem &&
    html`${item.suspended && html`<p class="note">${t("hidden_by_suspension")} <a href=${to("user", item.author_id)}>${t("open_author")}</a></p>`}
      <div class="alone"><${Item} item=${item} place="alone" alone=${true} /></div>
      <${Reactors} id=${id} counts=${item.counts} />
      ${!item.suspended && html`<${Comment} id=${id} done=${done} />`}
      <${Comments} id=${id} count=${item.counts.comments} isOpen=${mayChange() && isActing && !item.suspended} />`}`;
}

// A conversation reads from its first comment on; the newest ones of a long one are at the other end.
const isNewestFirst = new Box(false);

function Comments({ id, count, isOpen }) {
  const isTurned = useBox(isNewestFirst);
  return html`<div class="bar"><h2>${t("comments_title")}</h2>
      ${count > 1 && html`<button class="quiet" data-switch="order" onClick=${() => isNewestFirst.set(!isTurned)}>${t(isTurned ? "oldest_first" : "newest_first")}</button>`}</div>
    <${FeedList} key=${String(isTurned)} feed=${commentsOn(id, isTurned)} label=${t("comments_title")} end=${t(isTurned ? "the_end" : "the_newest")}
      item=${(entry, place) => html`<${Item} key=${entry.content_id} item=${entry} place=${place} />`}
      empty=${html`<${Empty} icon="comment" title=${t("no_comments")}>${isOpen && t("no_comments_about")}<//>`} />`;
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
