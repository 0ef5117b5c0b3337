// The feed of changes: what the server acknowledged, newest first, back to the oldest that is kept.

import { get } from "./api.js";
import { Icon } from "./icons.js";
import { Act, Clock, Empty, Problem, Title } from "./parts.js";
import { Id, Name, isSomebody, useProfile } from "./people.js";
import { go, to } from "./route.js";
import { Stream } from "./stream.js";
import { isolated, t } from "./texts.js";
import { UserLine } from "./userbox.js";
import { html, useEffect, useMemo, useState } from "./view.js";

// The types of changes, by what they concern.
export const TYPES = {
  content: ["content.published", "content.edited", "content.deleted", "content.restored", "content.purged", "content.taken_off"],
  follows: ["follow.requested", "follow.request_removed", "follow.created", "follow.changed", "follow.removed"],
  restrictions: ["mute.created", "mute.removed", "hide.created", "hide.removed", "block.created", "block.removed"],
  reactions: ["reaction.created", "reaction.removed"],
  users: ["profile.changed", "settings.changed", "user.suspended", "user.unsuspended", "user.erased"],
  lists: ["list.changed", "list.deleted", "list_member.created", "list_member.changed", "list_member.removed"],
  markers: ["marker.moved", "notice_marker.moved"],
};

// Changes that a read should find, and the most answers that it takes.
const ENOUGH = 40;
const ANSWERS = 20;
// The window of a read in positions: it grows where little is found.
const NARROWEST = 128n;
const WIDEST = 1n << 16n;
// The same while the page itself chooses among the changes that it reads.
const WIDEST_OF_ONE = 1n << 10n;
// The most changes that a page keeps.
const KEPT = 2000;

const numberOf = (position) => BigInt(position.split("-")[1]);

// Reads backwards. The API reads forwards only; but the number in a position grows with each change, so what lies before a
// place is read from a place before it.
class Backwards {
  // The end of the feed when the reader began.
  end = null;
  #types;
  #about;
  #place = null;
  #width = NARROWEST;

  constructor(types, about) {
    this.#types = types.join(",") || undefined;
    this.#about = about;
  }

  // Whether a change names the user or the item in question.
  fits({ user_id, target_id, content_id }) {
    return this.#about === undefined || [user_id, target_id, content_id].includes(this.#about);
  }

  get isAtBegin() {
    return this.#place === 0n;
  }

  // The next changes, newest first; none at the begin.
  async read(signal) {
    if (this.end === null) {
      this.end = (await get("v1/changes", { after: "newest", limit: 1 }, signal)).position;
      this.#place = numberOf(this.end);
    }
    const found = [];
    for (let answers = 0; found.length < ENOUGH && answers < ANSWERS && !this.isAtBegin; answers++) {
      found.push(...(await this.#window(signal)).reverse());
      if (this.#width < (this.#about === undefined ? WIDEST : WIDEST_OF_ONE)) this.#width *= 2n;
    }
    return found;
  }

  async #window(signal) {
    let from = this.#place > this.#width ? this.#place - this.#width : 0n;
    let after = `${this.end.split("-")[0]}-${from}`;
    const found = [];
    for (;;) {
      let page;
      try {
        page = await get("v1/changes", { after, types: this.#types }, signal);
      } catch (problem) {
        // Behind the oldest that is kept.
        if (problem.code !== "changes_gone" || after === "oldest") throw problem;
        [from, after] = [0n, "oldest"];
        continue;
      }
      found.push(...page.items.filter((change) => numberOf(change.position) <= this.#place && this.fits(change)));
      if (numberOf(page.position) >= this.#place || page.position === after) break;
      after = page.position;
    }
    this.#place = from;
    return found;
  }
}

// `{changes, problem, isAtBegin, older, stream}`: the changes of some types, and with `follows` those that come. `about` is
// the id of a user or of an item that they name.
export function useChanges(types, follows, about) {
  const reader = useMemo(() => new Backwards(types, about), [types, about]);
  const [{ of, changes, problem, isRead }, setState] = useState({ changes: [] });
  const [stream, setStream] = useState(null);
  const add = (more, isNewer) =>
    setState((state) => {
      const before = state.of === reader ? state.changes : [];
      return { of: reader, isRead: true, changes: isNewer ? [...more, ...before].slice(0, KEPT) : [...before, ...more] };
    });
  const older = async (signal) => {
    try {
      add(await reader.read(signal), false);
    } catch (problem) {
      if (!signal?.aborted) setState((state) => ({ ...state, of: reader, problem }));
    }
  };
  useEffect(() => {
    const gone = new AbortController();
    older(gone.signal);
    return () => gone.abort();
  }, [reader]);
  const isReady = of === reader && isRead;
  useEffect(() => {
    if (!follows || !isReady) return undefined;
    const heard = (name, change) => name === "change" && reader.fits(change) && add([change], true);
    const opened = new Stream("v1/changes", heard, { after: reader.end, types: types.join(",") || undefined });
    setStream(opened);
    return () => (opened.close(), setStream(null));
  }, [reader, follows, isReady]);
  return { changes: of === reader ? changes : [], problem, isRead: isReady, isAtBegin: reader.isAtBegin, older, stream };
}

const User = ({ id }) => html`<a href=${to("user", id)}><${Name} user=${useProfile(id)} /></a>`;

// The ids of a change as links. The user of an erasure is soon known by a hash only.
function Ids({ change: { user_id, target_id, content_id, kind, list, hash } }) {
  return html`${user_id === undefined ? html`<${Id} id=${hash ?? ""} />` : html`<${User} id=${user_id} />`}${target_id !== undefined && html` → <${User} id=${target_id} />`}
    ${content_id !== undefined && html` <a href=${to("item", content_id)}><${Id} id=${content_id} /></a>`}
    ${list && html` <a href=${to("list", user_id, list)}>${isolated(list)}</a>`} ${kind && html`<span class="tag">${isolated(kind)}</span>`}`;
}

export function Older({ isAtBegin, isRead, changes, older }) {
  if (!isRead) return html`<p class="end" role="status">${t("loading")}</p>`;
  if (!isAtBegin) return html`<p class="end"><${Act} class="quiet" run=${() => older()}>${t("older_changes")}<//></p>`;
  return changes.length > 0 && html`<p class="end">${t("oldest_change")}</p>`;
}

// The user or the item of whom the changes are, and the way back to all.
function Only({ kind, about }) {
  const profile = useProfile(about);
  return html`<p class="note line"><span>${t("changes_of")} ${isSomebody(profile) ? html`<${User} id=${about} />` : html`<a href=${to("item", about)}><${Id} id=${about} whole=${true} /></a>`}</span>
    <a class="button quiet" href=${to("changes", kind)}><${Icon} name="cross" /> ${t("changes_of_all")}</a></p>`;
}

export function Changes({ kind, about }) {
  const shown = Object.hasOwn(TYPES, kind) ? kind : "all";
  const types = useMemo(() => (shown === "all" ? [] : TYPES[shown]), [shown]);
  const [follows, setFollows] = useState(false);
  const feed = useChanges(types, follows, about);
  const { changes, problem, isRead, isAtBegin, older } = feed;
  return html`<div class="bar"><${Title} text=${t("changes")} />
      <div class="actions">
        <label><span class="sr">${t("kinds_of_changes")}</span>
          <select class="quiet" value=${shown} onChange=${({ target }) => go("changes", target.value, ...(about === undefined ? [] : [about]))}>
            ${["all", ...Object.keys(TYPES)].map((name) => html`<option key=${name} value=${name}>${t(`changes_${name}`)}</option>`)}
          </select></label>
        <button class="quiet" aria-pressed=${String(follows)} onClick=${() => setFollows(!follows)}><i class=${follows ? "dot open" : "dot"}></i> ${t("follow_changes")}</button>
      </div>
    </div>
    <p class="faint">${t("changes_about")}</p>
    ${about === undefined
      ? html`<${UserLine} id="changes-of" label=${t("filter_changes")} button=${t("filter")} run=${(id) => go("changes", shown, id)} otherwise="take_as_item" />`
      : html`<${Only} kind=${shown} about=${about} />`}
    ${problem && html`<${Problem} problem=${problem} retry=${() => older()} />`}
    ${isRead && isAtBegin && !changes.length && html`<${Empty} icon="list" title=${t("empty_list")}>${t("no_changes_about")}<//>`}
    <ol class="plain changes">${changes.map((change) => html`<li key=${change.position}>
      <span class="faint when"><${Clock} at=${change.at} /></span> <code>${change.type}</code> <span><${Ids} change=${change} /></span></li>`)}</ol>
    ${!problem && html`<${Older} ...${feed} />`}`;
}
