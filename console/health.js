// Whether all is well, in one sentence, or the alerts that hold, each with the place in the documentation that has the cure.

import { get } from "./api.js";
import { useBox } from "./box.js";
import { Docs } from "./docs.js";
import { Icon } from "./icons.js";
import { Problem, minute, useRequest } from "./parts.js";
import { to } from "./route.js";
import { has, sentences, t } from "./texts.js";
import { newestGood, told } from "./tiles.js";
import { html } from "./view.js";

// Pages of the console that help, too.
const PAGES = { TidelineBackupOld: "backups", TidelineBackupFailed: "backups" };

const Alert = ({ alert: { name, severity, runbook } }) => html`<li>
  <span class=${severity === "page" ? "tag failed" : "tag warn"}>${t(`severity_${severity}`)}</span>
  <div><p><b>${has(`alert_${name}`) ? t(`alert_${name}`) : name}</b>${PAGES[name] && html` <a href=${to(PAGES[name])}>${t(PAGES[name])}</a>`}</p>
    <p class="faint"><code>${name}</code> · ${t("runbook")} <${Docs} place=${runbook} /></p></div></li>`;

// The alerts, and whether there is a backup to restore: a new server without one has no alert yet.
async function load(signal) {
  const [{ items }, backups] = await Promise.all([get("v1/admin/alerts", {}, signal), told("v1/admin/backups", signal)]);
  return { items, isUnsaved: backups !== undefined && !newestGood(backups) };
}

export function Health() {
  const [found, problem, again] = useRequest(load, [useBox(minute)]);
  if (problem) return html`<${Problem} problem=${problem} retry=${again} />`;
  if (!found) return html`<p class="verdict" role="status">${t("loading")}</p>`;
  const { items, isUnsaved } = found;
  const isUrgent = items.some(({ severity }) => severity === "page");
  const isGood = items.length === 0 && !isUnsaved;
  return html`<section class="health" aria-label=${t("health")}>
    <p class=${`verdict ${isGood ? "good" : isUrgent ? "bad" : "warn"}`} role="status">
      <${Icon} name=${isGood ? "check" : "bell"} /> <span>${sentences(
        items.length > 0 ? t("alerts_hold", { n: items.length }) : t(isUnsaved ? "no_alerts" : "healthy"), isUnsaved && t("unsaved"))}
        ${isUnsaved && html` <a href=${to("backups")}>${t("backups")}</a>`}</span></p>
    ${items.length > 0 && html`<ul class="card alerts">${items.map((alert) => html`<${Alert} key=${alert.name} alert=${alert} />`)}</ul>`}
  </section>`;
}
