// The settings in force, the keys by name and role, and tokens for tests. Each needs a full key.

import { get } from "./api.js";
import { useBox } from "./box.js";
import { Docs } from "./docs.js";
import { Empty, Problem, Title, useRequest } from "./parts.js";
import { session } from "./session.js";
import { isolated, t } from "./texts.js";
import { TestToken } from "./token.js";
import { html, useState } from "./view.js";

// A value as a configuration file has it, without quotes.
function written(value) {
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return html`<span class="faint">–</span>`;
  if (Array.isArray(value)) return value.map((one) => html`<code>${typeof one === "object" ? JSON.stringify(one) : isolated(String(one))}</code> `);
  return html`<code>${typeof value === "object" ? JSON.stringify(value) : isolated(String(value))}</code>`;
}

// The settings whose whole names have a text in them, by sections.
function chosen(sections, text) {
  const wanted = text.trim().toLowerCase();
  const rows = Object.entries(sections).map(([section, values]) => [section, Object.entries(values).filter(([name]) => `${section}.${name}`.includes(wanted))]);
  return rows.filter(([, values]) => values.length > 0);
}

function InForce({ sections }) {
  const [text, setText] = useState("");
  const rows = chosen(sections, text);
  return html`<h2>${t("settings_in_force")}</h2>
    <p class="faint">${t("settings_about")} <${Docs} place="docs/operate/settings.md" /></p>
    <label class="filter"><span class="sr">${t("filter_settings")}</span>
      <input autocomplete="off" autocapitalize="off" spellcheck=${false} placeholder=${t("filter_settings")} value=${text} onInput=${({ target }) => setText(target.value)} /></label>
    <p class="sr" role="status">${t("n_settings", { n: rows.reduce((sum, [, values]) => sum + values.length, 0) })}</p>
    ${rows.length === 0 && html`<${Empty} icon="search" title=${t("empty_list")}>${t("no_such_setting")}<//>`}
    <div class="sections">${rows.map(([section, values]) => html`<section class="card" key=${section} aria-label=${section}>
      <h3><code>[${section}]</code></h3>
      <dl class="facts">${values.map(([name, value]) => html`<div key=${name}><dt><code>${name}</code></dt><dd>${written(value)}</dd></div>`)}</dl></section>`)}</div>`;
}

const KeyList = ({ keys }) => html`<h2>${t("api_keys")}</h2><p class="faint">${t("api_keys_about")}</p>
  ${keys.length === 0
    ? html`<p class="note">${t("no_keys")}</p>`
    : html`<section class="card"><table class="keyring">
    <thead><tr><th scope="col">${t("key_name")}</th><th scope="col">${t("key_role")}</th><th scope="col">${t("key_hash")}</th></tr></thead>
    <tbody>${keys.map(({ role, hash, name }) => html`<tr key=${role + hash}>
      <th scope="row">${name ? html`<b><bdi>${isolated(name)}</bdi></b>` : html`<span class="faint">${t("no_name")}</span>`}</th>
      <td><span class="tag">${t(`role_${role}`)}</span></td><td><code>${hash}…</code></td></tr>`)}</tbody></table></section>`}`;

function Full() {
  const load = (signal) => Promise.all([get("v1/admin/settings", {}, signal), get("v1/admin/keys", {}, signal)]);
  const [found, problem, again] = useRequest(load, []);
  if (problem?.code === "not_permitted") return html`<${NeedsFullKey} />`;
  if (problem) return html`<${Problem} problem=${problem} retry=${again} />`;
  if (!found) return html`<p class="end" role="status">${t("loading")}</p>`;
  const [sections, { items: keys }] = found;
  return html`<${TestToken} /><${KeyList} keys=${keys} /><${InForce} sections=${sections} />`;
}

const NeedsFullKey = () => html`<${Empty} icon="key" title=${t("needs_full_key")}>${t("needs_full_key_about")}<//>`;

export function Settings() {
  const { kind } = useBox(session);
  return html`<div class="bar"><${Title} text=${t("settings")} /></div>
    ${kind === "read" ? html`<${NeedsFullKey} />` : html`<${Full} />`}`;
}
