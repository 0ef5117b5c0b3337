// The figures of the server: how it is, an hour of history, and what grows.

import { get } from "./api.js";
import { useBox } from "./box.js";
import { Chart } from "./chart.js";
import { Health } from "./health.js";
import { HOUR, watch } from "./history.js";
import { Problem, Title, minute, useRequest } from "./parts.js";
import { Refusals } from "./refusals.js";
import { bytes, percent, rate, seconds, short, t } from "./texts.js";
import { Tiles } from "./tiles.js";
import { html, useEffect, useState } from "./view.js";

const whole = (n) => short(Math.round(n));

// Each with its series, by their names in a sample; the first one of some has an area.
const charts = () => [
  ["requests", rate, [["requests_ok", true], ["requests_refused"], ["requests_failed"]]],
  ["published", rate, [["published", true], ["deliveries"]]],
  ["lag", seconds, [["delivery_lag_p50"], ["delivery_lag_p99"]]],
  ["answers", seconds, [["answer_p50"], ["answer_p99"]]],
  ["queue", whole, [["jobs", true], ["pending_items"]]],
  ["age", seconds, [["oldest_job", true]]],
  ["streams", whole, [["streams", true], ["users_online"], ["connections"]]],
  ["events", rate, [["stream_events", true]]],
  ["storage", bytes, [["table_bytes", true], ["log_bytes"], ["memtable_bytes"]]],
  ["compaction", bytes, [["compaction_pending_bytes", true]]],
  ["engine", whole, [["fresh_files"], ["compactions"], ["stalls"]]],
  ["caches", percent, [["cache_hit_ratio", true]]],
  ["memory", bytes, [["memory_bytes", true]]],
  ["processor", percent, [["processor", true]]],
];

// The tables with most bytes.
function Tables({ tables }) {
  const largest = Object.entries(tables).sort(([, a], [, b]) => b.bytes - a.bytes).slice(0, 10);
  return html`<section class="card">
    <h2>${t("tables")}</h2>
    <table>
      <thead><tr><th scope="col">${t("table")}</th><th scope="col" class="number">${t("rows")}</th><th scope="col" class="number">${t("size")}</th></tr></thead>
      <tbody>
        ${largest.map(
          ([name, { rows_estimate, bytes: size }]) => html`<tr key=${name}><th scope="row"><code>${name}</code></th><td class="number">${short(rows_estimate)}</td>
            <td class="number">${bytes(size)}<meter aria-hidden="true" max=${largest[0][1].bytes} value=${size}></meter></td></tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

// The time that the charts show, milliseconds: it grows with what there is to show.
const spanOf = (samples) => Math.min(Math.max(60_000, samples.length ? samples.at(-1).at - samples[0].at : 0), HOUR);

export function Dashboard() {
  const [{ samples, problem }, setState] = useState({ samples: [] });
  const [stats] = useRequest((signal) => get("v1/admin/stats", {}, signal), [useBox(minute)]);
  useEffect(() => watch(setState), []);
  const span = spanOf(samples);
  return html`<div class="bar"><${Title} text=${t("dashboard")} />
      <span class="faint">${t("last_minutes", { n: Math.round(span / 60_000) })} ${stats && html`· ${t("release", { version: stats.version })}`}</span></div>
    ${problem ? html`<${Problem} problem=${problem} />` : html`<${Health} />`}
    <${Tiles} stats=${stats} last=${samples.at(-1)} />
    <div class="charts">
      ${charts().map(
        ([name, format, series]) => html`<${Chart} key=${name} title=${t(`chart_${name}`)} samples=${samples} format=${format} span=${span}
          series=${series.map(([name, area]) => ({ name, area, label: t(`figure_${name}`) }))} />`,
      )}
    </div>
    <${Refusals} samples=${samples} />
    ${stats && html`<${Tables} tables=${stats.tables} />`}`;
}
