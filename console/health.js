// Whether all is well, in one sentence, or the alerts that hold, each with the place in the documentation that has the cure.

import { get } from "./api.js";
import { useBox } from "./box.js";
import { Icon } from "./icons.js";
import { Problem, minute, useRequest } from "./parts.js";
import { to } from "./route.js";
import { has, t } from "./texts.js";
import { html } from "./view.js";

// Pages of the console that help, too.
const PAGES = { TidelineBackupOld: "backups", TidelineBackupFailed: "backups" };

const Alert = ({ alert: { name, severity, runbook } }) => html`<li>
  <span class=${severity === "page" ? "tag failed" : "tag warn"}>${t(`severity_${severity}`)}</span>
  <div><p><b>${has(`alert_${name}`) ? t(`alert_${name}`) : name}</b>${PAGES[name] && html` <a href=${to(PAGES[name])}>${t(PAGES[name])}</a>`}</p>
    <p class="faint"><code>${name}</code> · ${t("runbook")} <code class="runbook">${runbook}</code></p></div></li>`;

export function Health() {
  const [alerts, problem, again] = useRequest((signal) => get("v1/admin/alerts", {}, signal), [useBox(minute)]);
  if (problem) return html`<${Problem} problem=${problem} retry=${again} />`;
  if (!alerts) return html`<p class="verdict" role="status">${t("loading")}</p>`;
  const { items } = alerts;
  const isUrgent = items.some(({ severity }) => severity === "page");
  return html`<section class="health" aria-label=${t("health")}>
    <p class=${`verdict ${items.length === 0 ? "good" : isUrgent ? "bad" : "warn"}`} role="status">
      <${Icon} name=${items.length === 0 ? "check" : "bell"} /> <span>${items.length === 0 ? t("healthy") : t("alerts_hold", { n: items.length })}</span></p>
    ${items.length > 0 && html`<ul class="card alerts">${items.map((alert) => html`<${Alert} key=${alert.name} alert=${alert} />`)}</ul>`}
  </section>`;
}
