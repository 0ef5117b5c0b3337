// The backups: take, load down, remove.

import { address, at, credential, get, post, remove, request } from "./api.js";
import { useBox } from "./box.js";
import { Docs, docs } from "./docs.js";
import { Icon } from "./icons.js";
import { Act, Confirm, Empty, Problem, Time, Title, tell, useRequest } from "./parts.js";
import { mayChange, session } from "./session.js";
import { bytes, seconds, t } from "./texts.js";
import { html, useEffect, useState } from "./view.js";

// Milliseconds between two readings of the list while a backup is verified.
const AGAIN = 1500;
// Larger archives do not fit into the memory of a page, bytes.
const LARGEST = 512 << 20;

// Saves an archive. With a credential the page must read it itself: into a file if the browser can, else into memory.
async function download({ name }) {
  const path = at`v1/admin/backups/${name}`;
  const file = `tideline-${name}.tar`;
  const link = (href) => Object.assign(document.createElement("a"), { href, download: file }).click();
  if (!credential.value) return link(address(path));
  if (window.showSaveFilePicker) {
    let handle;
    try {
      handle = await showSaveFilePicker({ suggestedName: file });
    } catch {
      return undefined; // the reader thought better of it
    }
    const answer = await request("GET", path);
    await answer.body.pipeTo(await handle.createWritable());
    return tell(t("downloaded", { name: file }));
  }
  const answer = await request("GET", path);
  if (Number(answer.headers.get("content-length")) > LARGEST) {
    await answer.body.cancel();
    return tell(t("too_large"), { isProblem: true, link: { href: docs("docs/operate/backup.md"), text: t("documentation") } });
  }
  const url = URL.createObjectURL(await answer.blob());
  link(url);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return undefined;
}

function Remove({ backup, close, done }) {
  const run = async () => {
    await remove(at`v1/admin/backups/${backup.name}`);
    done();
  };
  return html`<${Confirm} title=${t("remove_backup")} button=${t("remove")} run=${run} close=${close}>
    <p>${t("remove_sure", { name: backup.name })}</p><//>`;
}

function Row({ backup, again }) {
  const [removing, setRemoving] = useState(false);
  return html`<li class="card backup">
    <div>
      <h2><code>${backup.name}</code> <span class=${`tag ${backup.state}`}>${t(`backup_${backup.state}`)}</span></h2>
      <p class="faint"><${Time} at=${backup.begun_at} /> · ${bytes(backup.bytes)} · ${t("took", { time: seconds(backup.took_ms / 1000) })} · ${t("release", { version: backup.release })}</p>
      ${backup.findings.length > 0 && html`<ul class="findings">${backup.findings.map((finding) => html`<li>${finding}</li>`)}</ul>`}
    </div>
    ${mayChange() &&
    html`<div class="actions">
      <${Act} class="quiet" aria-label=${`${t("download")} ${backup.name}`} run=${() => download(backup)}><${Icon} name="down" /> ${t("download")}<//>
      <button class="quiet danger" aria-label=${`${t("remove")} ${backup.name}`} onClick=${() => setRemoving(true)}><${Icon} name="trash" /> ${t("remove")}</button>
    </div>`}
    ${removing && html`<${Remove} backup=${backup} close=${() => setRemoving(false)} done=${again} />`}
  </li>`;
}

export function Backups() {
  useBox(session);
  const [list, problem, again] = useRequest((signal) => get("v1/admin/backups", {}, signal), []);
  const isWorking = list?.items.some(({ state }) => ["unverified", "verifying"].includes(state)) ?? false;
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setTimeout(again, AGAIN);
    return () => clearTimeout(timer);
  }, [list]);
  const take = async () => {
    await post("v1/admin/backups");
    again();
    tell(t("backup_taken"));
  };
  return html`<div class="bar"><${Title} text=${t("backups")} />
      ${mayChange() && html`<${Act} class="strong" run=${take}><${Icon} name="store" /> ${t("take_backup")}<//>`}</div>
    <p class="faint">${t("backups_about")} <${Docs} place="docs/operate/backup.md">${t("documentation")}<//></p>
    ${problem && html`<${Problem} problem=${problem} retry=${again} />`}
    ${list?.items.length === 0 && html`<${Empty} icon="store" title=${t("no_backups")}>${t("no_backups_about")}<//>`}
    <ul class="plain">${list?.items.map((backup) => html`<${Row} key=${backup.name} backup=${backup} again=${again} />`)}</ul>`;
}
