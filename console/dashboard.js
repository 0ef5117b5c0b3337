// The figures of the server, as they change.

import { get } from "./api.js";
import { Chart } from "./chart.js";
import { EVERY, KEPT, watch } from "./metrics.js";
import { Problem, Title, useRequest } from "./parts.js";
import { bytes, number, percent, seconds, short, t } from "./texts.js";
import { html, useEffect, useState } from "./view.js";

const rate = (n) => t("per_second", { value: n < 10 ? number(Math.round(n * 10) / 10) : short(Math.round(n)) });
const whole = (n) => short(Math.round(n));

const charts = () => [
  ["requests", rate, [["ok", true], ["refused"], ["failed"]]],
  ["published", rate, [["published", true], ["deliveries"]]],
  ["lag", seconds, [["lag50"], ["lag99"]]],
  ["answers", seconds, [["answer50"], ["answer99"]]],
  ["queue", whole, [["jobs", true], ["pending"]]],
  ["age", seconds, [["oldest", true]]],
  ["streams", whole, [["streams", true], ["online"], ["connections"]]],
  ["events", rate, [["events", true]]],
  ["storage", bytes, [["tables", true], ["log"], ["memtables"]]],
  ["compaction", bytes, [["rewriting", true]]],
  ["engine", whole, [["fresh"], ["compactions"], ["stalls"]]],
  ["caches", percent, [["hits", true]]],
  ["memory", bytes, [["memory", true]]],
  ["processor", percent, [["processor", true]]],
];

function Tiles({ stats, last }) {
  const requests = last && last.ok !== null ? last.ok + last.refused + last.failed : null;
  const tiles = [
    ["tile_items", short, stats?.tables.content.rows_estimate],
    ["tile_follows", short, stats?.tables.following.rows_estimate],
    ["tile_storage", bytes, last?.tables],
    ["tile_requests", rate, requests],
    ["tile_streams", whole, last?.streams],
    ["tile_jobs", whole, last?.jobs],
  ];
  return html`<dl class="tiles">${tiles.map(
    ([name, format, value]) => html`<div class="card" key=${name}><dt>${t(name)}</dt><dd>${Number.isFinite(value) ? format(value) : "–"}</dd></div>`,
  )}</dl>`;
}

// The tables with most bytes.
function Tables({ tables, rows }) {
  const largest = Object.entries(tables).sort(([, a], [, b]) => b - a).slice(0, 10);
  return html`<section class="card">
    <h2>${t("tables")}</h2>
    <table>
      <thead><tr><th scope="col">${t("table")}</th><th scope="col" class="number">${t("rows")}</th><th scope="col" class="number">${t("size")}</th></tr></thead>
      <tbody>
        ${largest.map(
          ([name, size]) => html`<tr key=${name}><th scope="row"><code>${name}</code></th><td class="number">${short(rows[name] ?? 0)}</td>
            <td class="number">${bytes(size)}<meter aria-hidden="true" max=${largest[0][1]} value=${size}></meter></td></tr>`,
        )}
      </tbody>
    </table>
  </section>`;
}

// The time that the charts show, milliseconds: it grows with what there is to show.
const spanOf = (samples) =>
  Math.min(Math.max(60_000, samples.length ? samples.at(-1).time - samples[0].time : 0), EVERY * KEPT);

export function Dashboard() {
  const [{ samples, problem, tables, rows }, setState] = useState({ samples: [] });
  const [stats] = useRequest((signal) => get("v1/admin/stats", {}, signal), [Math.floor(samples.length / 10)]);
  useEffect(() => watch((state) => setState((before) => ({ ...before, problem: undefined, ...state }))), []);
  return html`<div class="bar"><${Title} text=${t("dashboard")} />
      <span class="faint">${t("last_minutes", { n: Math.round(spanOf(samples) / 60_000) })} ${stats && html`· ${t("release", { version: stats.version })}`}</span></div>
    ${problem && html`<${Problem} problem=${problem} />`}
    <${Tiles} stats=${stats} last=${samples.at(-1)} />
    <div class="charts">
      ${charts().map(
        ([name, format, series]) => html`<${Chart} key=${name} title=${t(`chart_${name}`)}
          samples=${samples} format=${format} span=${spanOf(samples)}
          series=${series.map(([name, area]) => ({ name, area, label: t(`figure_${name}`) }))} />`,
      )}
    </div>
    ${tables && html`<${Tables} tables=${tables} rows=${rows} />`}`;
}
