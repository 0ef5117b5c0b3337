// The requests of the last hour that were refused or failed, by the code of their problem.

import { Time } from "./parts.js";
import { has, number, t } from "./texts.js";
import { html } from "./view.js";

// `[code, count, time of the last one]`, the most frequent first.
function sums(samples) {
  const found = new Map();
  for (const { at, problems } of samples) {
    for (const [code, count] of Object.entries(problems)) found.set(code, [(found.get(code)?.[0] ?? 0) + count, at]);
  }
  return [...found].map(([code, [count, at]]) => [code, count, at]).sort(([, a], [, b]) => b - a);
}

export function Refusals({ samples }) {
  const rows = sums(samples);
  return html`<section class="card refusals">
    <h2>${t("refusals")}</h2>
    ${rows.length === 0
      ? html`<p class="faint">${t("no_refusals")}</p>`
      : html`<table>
      <thead><tr><th scope="col">${t("code")}</th><th scope="col" class="number">${t("requests_many")}</th><th scope="col" class="number">${t("last_one")}</th></tr></thead>
      <tbody>${rows.map(([code, count, at]) => html`<tr key=${code}>
        <th scope="row"><code>${code}</code>${has(`problem_${code}`) && html`<div class="faint">${t(`problem_${code}`)}</div>`}</th>
        <td class="number">${number(count)}</td><td class="number"><${Time} at=${at} /></td></tr>`)}</tbody></table>`}
  </section>`;
}
