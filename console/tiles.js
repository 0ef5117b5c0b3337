// The figures of now, each in a tile.

import { get } from "./api.js";
import { useBox } from "./box.js";
import { minute, useRequest } from "./parts.js";
import { ago, bytes, number, rate, seconds, short, t } from "./texts.js";
import { html } from "./view.js";

// A figure that the server cannot tell is missing, and the others are there.
export const told = (path, signal) => get(path, {}, signal).catch((problem) => (signal.aborted ? Promise.reject(problem) : undefined));

// What changes slowly: backups, nodes, receivers.
function useSlow() {
  const paths = ["v1/admin/backups", "v1/admin/cluster", "v1/admin/webhooks"];
  const [found] = useRequest((signal) => Promise.all(paths.map((path) => told(path, signal))), [useBox(minute)]);
  return found ?? [];
}

const greatest = (items, field) => Math.max(0, ...items.map((item) => item[field] ?? 0));

export const newestGood = ({ items }) => items.find(({ state }) => state === "verified");

function backupTile(backups) {
  const newest = backups && newestGood(backups);
  if (!newest) return ["tile_backup", backups && t("none"), backups && t("none_verified")];
  return ["tile_backup", ago(newest.begun_at), t("n_kept", { n: backups.items.length })];
}

// Of a cluster its nodes, and else the standbys.
function othersTile(cluster, standbys) {
  if (cluster?.node) {
    const about = cluster.reachable === false ? t("log_unreachable") : t("behind_records", { n: cluster.lag ?? 0 });
    return ["tile_nodes", number(cluster.members.length), about];
  }
  if (!standbys) return ["tile_standbys"];
  const behind = greatest(standbys, "behind_ms");
  return ["tile_standbys", standbys.length ? number(standbys.length) : t("none"), standbys.length > 0 && (behind ? t("behind_by", { time: seconds(behind / 1000) }) : t("up_to_date"))];
}

function webhooksTile(webhooks) {
  const { items } = webhooks ?? {};
  if (!items?.length) return ["tile_webhooks", items && t("none")];
  const failing = items.filter(({ last_error, next_at }) => last_error && next_at).length;
  return ["tile_webhooks", seconds(greatest(items, "lag_seconds")), failing ? t("n_failing", { n: failing }) : t("n_receivers", { n: items.length })];
}

// `stats` may still be missing, and `last`, the newest sample of the history.
export function Tiles({ stats, last }) {
  const [backups, cluster, webhooks] = useSlow();
  const requests = last && last.requests_ok + last.requests_refused + last.requests_failed;
  const free = last?.device_limit_bytes ? last.device_limit_bytes - last.device_bytes : undefined;
  const figure = (format, value) => (Number.isFinite(value) ? format(value) : undefined);
  const tiles = [
    ["tile_online", figure(number, last?.users_online), last && t("n_streams", { n: last.streams })],
    ["tile_requests", figure(rate, requests)],
    ["tile_jobs", figure(short, last?.jobs)],
    ["tile_items", figure(short, stats?.tables.content.rows_estimate)],
    ["tile_follows", figure(short, stats?.tables.following.rows_estimate)],
    ["tile_storage", figure(bytes, last?.table_bytes)],
    ["tile_free", figure(bytes, free), free !== undefined && t("of_all", { all: bytes(last.device_limit_bytes) })],
    backupTile(backups),
    othersTile(cluster, stats?.standbys),
    webhooksTile(webhooks),
  ];
  return html`<dl class="tiles">${tiles.map(
    ([name, value, about]) => html`<div class="card" key=${name} data-tile=${name}><dt>${t(name)}</dt><dd>${value ?? "–"}${about && html` <small class="faint">${about}</small>`}</dd></div>`,
  )}</dl>`;
}
