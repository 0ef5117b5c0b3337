// The two checks of a timeline: why it shows an item or does not, and whether it equals its sources.

import { Whom } from "./about.js";
import { at, get } from "./api.js";
import { meant } from "./found.js";
import { Icon } from "./icons.js";
import { Dialog, Fact, Problem, Time, useRequest } from "./parts.js";
import { Id, nameOf, useProfile } from "./people.js";
import { sentences, t } from "./texts.js";
import { DidYouMean, UserField } from "./userbox.js";
import { html, useState } from "./view.js";

// The explanation of an item for a reader: `{ user, found }`, or `{ unknown }` with those whom a text may mean. Where no item
// has the id, the text may name an author: then it is about the author's newest item.
async function explain(reader, text, signal) {
  const { user, users } = await meant(reader, signal);
  if (user === undefined) return { unknown: { text: reader, users, field: "reader" } };
  const of = (item) => get(at`v1/admin/users/${user}/timeline/explain`, { content_id: item }, signal);
  const found = await of(text);
  if (found.reason !== "no_content") return { user, found };
  const author = await meant(text, signal);
  if (author.user === undefined) return author.users.length ? { user, unknown: { text, users: author.users, field: "text" } } : { user, found };
  const { items } = await get(at`v1/users/${author.user}/content`, { limit: 1 }, signal);
  if (items.length) return { user, found: { ...(await of(items[0].content_id)), newestOf: author.user } };
  const { suspended } = await get(at`v1/users/${author.user}/suspension`, {}, signal);
  return { user, found: { ...found, reason: suspended ? "suspended" : "no_items", newestOf: author.user } };
}

function Explanation({ reader, text, choose }) {
  const [answer, problem, again] = useRequest((signal) => explain(reader, text, signal), [reader, text]);
  if (problem) return html`<${Problem} problem=${problem} retry=${again} />`;
  if (!answer) return html`<p role="status">${t("loading")}</p>`;
  const { user, found, unknown } = answer;
  return html`${user !== undefined && html`<p class="faint">${t("why_about")} <${Whom} id=${user} /></p>`}
    ${unknown ? html`<${DidYouMean} ...${unknown} choose=${(id) => choose(unknown.field, id)} />` : html`<${Verdict} found=${found} />`}`;
}

function Verdict({ found }) {
  return html`${found.newestOf && html`<p class="faint">${t("newest_of")} <${Whom} id=${found.newestOf} /></p>`}
    <div role="status">
      <p class=${found.listed ? "verdict good" : "verdict bad"}>
        <${Icon} name=${found.listed ? "check" : "cross"} />
        <span>${sentences(t(found.listed ? "is_listed" : "is_not_listed"), t(`reason_${found.reason}`))}</span>
      </p>
    </div>
    ${found.author_id !== undefined && html`<${Facts} found=${found} />`}`;
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

// Whose timeline is asked about can be chosen: an item may be looked at on any page. The first empty field has the focus.
export function Explain({ user, id = "", close }) {
  const [asked, setAsked] = useState({ reader: user ?? "", text: id });
  const [fields, setFields] = useState(asked);
  const set = (field) => (value) => setFields({ ...fields, [field]: value });
  const ask = (fields) => (setFields(fields), setAsked(fields));
  const submit = (event) => (event.preventDefault(), setAsked(fields));
  return html`<${Dialog} title=${t("why_title")} close=${close}>
    <form class="line fields" onSubmit=${submit}>
      <${UserField} id="reader" label=${t("why_reader")} text=${fields.reader} setText=${set("reader")} focus=${!asked.reader} />
      <${UserField} id="item" label=${t("why_item")} text=${fields.text} setText=${set("text")} focus=${asked.reader && !id} />
      <button class="strong">${t("explain")}</button>
    </form>
    ${asked.reader && asked.text && html`<${Explanation} key=${JSON.stringify(asked)} ...${asked} choose=${(field, id) => ask({ ...fields, [field]: id })} />`}
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
