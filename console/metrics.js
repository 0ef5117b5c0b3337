// The figures of `/metrics`: the newest and those of the last minutes.

import { request } from "./api.js";

// Milliseconds between two readings, and how many are kept.
export const EVERY = 2000;
export const KEPT = 150;

// `name{labels} value`, with the labels as they stand there.
const LINE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g;

// Families that no chart shows and that have most of the lines.
const LEFT_OUT = ["tideline_http_request_duration_seconds_sum", "tideline_http_request_duration_seconds_count"];

// One reading: sums of families, by name and by one of their labels.
class Reading {
  constructor(text, time) {
    this.time = time;
    this.families = new Map();
    for (const line of text.split("\n")) {
      if (line.startsWith("#") || LEFT_OUT.some((name) => line.startsWith(name))) continue;
      const [, name, labels, value] = LINE.exec(line) ?? [];
      if (!name) continue;
      if (!this.families.has(name)) this.families.set(name, []);
      this.families.get(name).push([labels ?? "", Number(value)]);
    }
  }

  // The sum of a family, or of those of its figures with these labels.
  sum(name, wanted = {}) {
    let sum = 0;
    for (const [text, value] of this.families.get(name) ?? []) {
      if (Object.entries(wanted).every(([key, value]) => text.includes(`${key}="${value}"`))) sum += value;
    }
    return sum;
  }

  // Sums by the values of a label.
  by(name, label) {
    const sums = {};
    for (const [text, value] of this.families.get(name) ?? []) {
      const key = [...text.matchAll(LABEL)].find(([, name]) => name === label)?.[2] ?? "";
      sums[key] = (sums[key] ?? 0) + value;
    }
    return sums;
  }
}

// What the charts show of a reading: a few numbers, so that old readings take little memory. The first reading has no
// rates, because nothing is before it.
function sample(now, before) {
  const took = (now.time - before?.time) / 1000;
  const rate = (name, labels) => (before ? Math.max(0, (now.sum(name, labels) - before.sum(name, labels)) / took) : null);
  // The value below which a part of the new entries of a histogram lies.
  const quantile = (name, part) => {
    if (!before) return null;
    const [buckets, old] = [now.by(`${name}_bucket`, "le"), before.by(`${name}_bucket`, "le")];
    const bounds = Object.keys(buckets).map((text) => [text === "+Inf" ? Infinity : Number(text), buckets[text] - (old[text] ?? 0)]);
    bounds.sort(([a], [b]) => a - b);
    const all = bounds.at(-1)?.[1] ?? 0;
    if (all <= 0) return null;
    let [lower, below] = [0, 0];
    for (const [bound, count] of bounds) {
      if (count >= part * all) {
        if (bound === Infinity) return lower;
        return lower + ((bound - lower) * (part * all - below)) / Math.max(count - below, 1);
      }
      [lower, below] = [bound, count];
    }
    return lower;
  };
  const hits = rate("tideline_cache_hits_total");
  const looked = hits + rate("tideline_cache_misses_total");
  return {
    time: now.time,
    ok: rate("tideline_http_requests_total", { status: "2xx" }),
    refused: rate("tideline_http_requests_total", { status: "4xx" }),
    failed: rate("tideline_http_requests_total", { status: "5xx" }),
    published: rate("tideline_published_items_total"),
    deliveries: rate("tideline_deliveries_total"),
    lag50: quantile("tideline_delivery_lag_seconds", 0.5),
    lag99: quantile("tideline_delivery_lag_seconds", 0.99),
    answer50: quantile("tideline_http_request_duration_seconds", 0.5),
    answer99: quantile("tideline_http_request_duration_seconds", 0.99),
    jobs: now.sum("tideline_job_places"),
    oldest: now.sum("tideline_job_oldest_age_seconds"),
    pending: now.sum("tideline_pending_items"),
    tables: now.sum("tideline_table_bytes"),
    log: now.sum("tideline_log_bytes"),
    memtables: now.sum("tideline_memtable_bytes"),
    compactions: now.sum("tideline_storage_compactions_running"),
    rewriting: now.sum("tideline_storage_compaction_pending_bytes"),
    fresh: now.sum("tideline_storage_fresh_files"),
    stalls: now.sum("tideline_storage_slowdowns_total") + now.sum("tideline_storage_stops_total"),
    streams: now.sum("tideline_streams"),
    online: now.sum("tideline_users_online"),
    events: rate("tideline_stream_events_total"),
    connections: now.sum("tideline_http_connections"),
    memory: now.sum("process_resident_memory_bytes"),
    processor: rate("process_cpu_seconds_total"),
    hits: looked > 0 ? hits / looked : null,
  };
}

// Reads at intervals while the page is seen. `show({samples, problem})` gets the samples, oldest first.
export function watch(show) {
  let [before, samples, timer, ended] = [null, [], 0, false];
  const gone = new AbortController();
  const read = async () => {
    if (!document.hidden) {
      try {
        const begin = Date.now();
        const text = await request("GET", "metrics", { signal: gone.signal, read: (answer) => answer.text() });
        // The server read them between both.
        const now = new Reading(text, (begin + Date.now()) / 2);
        samples = [...samples, sample(now, before)].slice(-KEPT);
        before = now;
        if (!ended) show({ samples, tables: now.by("tideline_table_bytes", "table"), rows: now.by("tideline_table_rows", "table") });
      } catch (problem) {
        if (!ended) show({ samples, problem });
      }
    }
    if (!ended) timer = setTimeout(read, samples.length > 1 ? EVERY : EVERY / 2);
  };
  read();
  return () => {
    ended = true;
    gone.abort();
    clearTimeout(timer);
  };
}
