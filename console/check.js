// The two checks of a timeline: why it shows an item or does not, and whether it equals its sources.

import { Whom } from "./about.js";
import { at, get } from "./api.js";
import { Icon } from "./icons.js";
import { Dialog, Fact, Problem, Time, useRequest } from "./parts.js";
import { Id, nameOf, useProfile } from "./people.js";
import { sentences, t } from "./texts.js";
import { html, useState } from "./view.js";

// The explanation of an item. Where no item has the id, it may be an author's: then of the author's newest item.
async function explain(user, id, signal) {
  const of = (item) => get(at`v1/admin/users/${user}/timeline/explain`, { content_id: item }, signal);
  const found = await of(id);
  if (found.reason !== "no_content") return found;
  const { items } = await get(at`v1/users/${id}/content`, { limit: 1 }, signal);
  return items.length ? { ...(await of(items[0].content_id)), newestOf: id } : found;
}

function Explanation({ user, id }) {
  const [found, problem, again] = useRequest((signal) => explain(user, id, signal), [user, id]);
  if (problem) return html`<${Problem} problem=${problem} retry=${again} />`;
  if (!found) return html`<p role="status">${t("loading")}</p>`;
  return html`${found.newestOf && html`<p class="faint">${t("newest_of")} <${Whom} id=${found.newestOf} /></p>`}
    <div role="status">
      <p class=${found.listed ? "verdict good" : "verdict bad"}>
        <${Icon} name=${found.listed ? "check" : "cross"} />
        <span>${sentences(t(found.listed ? "is_listed" : "is_not_listed"), t(`reason_${found.reason}`))}</span>
      </p>
    </div>
    ${found.reason !== "no_content" && html`<${Facts} found=${found} />`}`;
}

function Facts({ found }) {
  const author = useProfile(found.author_id ?? "");
  // A cursor is a time and an id.
  const floor = found.floor && Number(found.floor.split("-")[0]);
  return html`<dl class="facts">
      ${found.author_id && html`<${Fact} name="author" value=${html`${nameOf(author)} ${author.nickname && html`<${Id} id=${found.author_id} />`}`} />`}
      ${found.published_at && html`<${Fact} name="published" value=${html`<${Time} at=${found.published_at} />`} />`}
      <${Fact} name="fact_muted" value=${found.muted} />
      <${Fact} name="fact_hidden" value=${found.hidden} />
      <${Fact} name="fact_blocked" value=${found.blocked} />
      <${Fact} name="fact_suspended" value=${found.suspended} />
      ${found.paths.map((path) => html`<${Path} key=${path.source_id} path=${path} isAuthor=${path.source_id === found.author_id} />`)}
      <${Fact} name="fact_floor" value=${floor ? html`<${Time} at=${floor} />` : t("no_floor")} />
    </dl>`;
}

// Facts about a source that is not the author, by their fields.
const OF_SOURCE = { muted: "fact_source_muted", hidden: "fact_source_hidden", blocked: "fact_source_blocked", suspended: "fact_source_suspended" };

// The facts of one path. Those of the author as such are shown already.
function Path({ path, isAuthor }) {
  return html`<${Fact} name="fact_path" value=${html`<${Whom} id=${path.source_id} />`} />
      <${Fact} name="fact_following" value=${path.following} />
      ${path.requested && html`<${Fact} name="fact_requested" value=${true} />`}
      ${!isAuthor && Object.entries(OF_SOURCE).map(([field, name]) => html`<${Fact} key=${field} name=${name} value=${path[field]} />`)}
      <${Fact} name="fact_source_in_exclusive_list" value=${path.in_exclusive_list} />
      <${Fact} name="fact_source_ruled_out" value=${path.ruled_out} />
      <${Fact} name="fact_in_inbox" value=${path.in_inbox} />
      <${Fact} name="fact_pulled" value=${path.pulled} />
      <${Fact} name="fact_pending" value=${path.pending} />
      <${Fact} name="fact_unsettled" value=${path.unsettled} />`;
}

// One field of the question. The first empty one has the focus.
const Field = ({ name, label, value, set, focus }) => html`<label><span class="faint">${label}</span>
  <input name=${name} required autofocus=${focus} autocomplete="off" autocapitalize="off" spellcheck=${false} value=${value} onInput=${({ target }) => set(target.value)} /></label>`;

// Whose timeline is asked about can be chosen: an item may be looked at on any page.
export function Explain({ user, id = "", close }) {
  const [asked, setAsked] = useState({ reader: user ?? "", text: id });
  const [reader, setReader] = useState(asked.reader);
  const [text, setText] = useState(id);
  const submit = (event) => (event.preventDefault(), setAsked({ reader, text }));
  return html`<${Dialog} title=${t("why_title")} close=${close}>
    <form class="line fields" onSubmit=${submit}>
      <${Field} name="reader" label=${t("why_reader")} value=${reader} set=${setReader} focus=${!asked.reader} />
      <${Field} name="item" label=${t("why_item")} value=${text} set=${setText} focus=${asked.reader && !id} />
      <button class="strong">${t("explain")}</button>
    </form>
    ${asked.reader && asked.text && html`<p class="faint">${t("why_about")} <${Whom} id=${asked.reader} /></p>
      <${Explanation} key=${JSON.stringify(asked)} user=${asked.reader} id=${asked.text} />`}
  <//>`;
}

export function Verify({ user, close }) {
  const [depth, setDepth] = useState(1000);
  const [found, problem, again] = useRequest(
    (signal) => get(at`v1/admin/users/${user}/timeline/verify`, { depth }, signal),
    [user, depth],
  );
  return html`<${Dialog} title=${t("verify_title")} close=${close}>
    <p class="faint">${t("verify_about")}</p>
    <div role="status">
      ${problem && html`<${Problem} problem=${problem} retry=${again} />`}
      ${!found && !problem && t("loading")}
      ${found &&
      html`<p class=${found.exact ? "verdict good" : "verdict bad"}>
        <${Icon} name=${found.exact ? "shield" : "cross"} />
        <span>${sentences(t(found.exact ? "exact" : "not_exact", { n: found.compared }), found.complete && t("to_its_end"))}</span>
      </p>`}
    </div>
    ${found && !found.exact &&
    html`<dl class="facts">
      <${Fact} name="missing" value=${found.missing.map((item) => item.content_id).join(", ") || "–"} />
      <${Fact} name="extra" value=${found.extra.map((item) => item.content_id).join(", ") || "–"} />
    </dl>`}
    <div class="actions">
      <button class="quiet" onClick=${again}>${t("check_again")}</button>
      ${found && !found.complete && depth < 100_000 &&
      html`<button class="quiet" onClick=${() => setDepth(100_000)}>${t("verify_deeper", { n: 100_000 })}</button>`}
    </div>
  <//>`;
}
