// What holds for a user as a whole: the settings, which are the user's own, and the suspension, which is the operator's.

import { Whom } from "./about.js";
import { at, get, put, remove } from "./api.js";
import { Box, useBox } from "./box.js";
import { reload, under } from "./feeds.js";
import { Icon } from "./icons.js";
import { Act, Confirm, Dialog, Problem, tell, useRequest } from "./parts.js";
import { nameById } from "./people.js";
import { mayChange, mayRead, session } from "./session.js";
import { t } from "./texts.js";
import { html, useState } from "./view.js";

const changes = new Box(0);

// `[account, problem, again]`. Only keys are told of suspensions.
export function useAccount(user) {
  const isOwn = useBox(session).user === user;
  const read = async (signal) => {
    const settings = (mayRead() || isOwn) && (await get(at`v1/users/${user}/settings`, {}, signal));
    const suspension = mayRead() && (await get(at`v1/users/${user}/suspension`, {}, signal));
    return { ...settings, ...suspension };
  };
  return useRequest(read, [user, isOwn, useBox(changes)]);
}

// Marks of a user whose account is not as accounts are at first.
export function AccountMarks({ account }) {
  return html`${account?.suspended && html`<span class="tag failed">${t("suspended")}</span>`}
    ${account?.approve_followers && html`<span class="tag">${t("approves_followers")}</span>`}
    ${account?.default_audience === "followers" && html`<span class="tag">${t("publishes_for_followers")}</span>`}`;
}

export function AccountButton({ user }) {
  const [isOpen, setOpen] = useState(false);
  return mayChange() && html`<button class="quiet" onClick=${() => setOpen(true)}><${Icon} name="key" /> ${t("settings")}</button>
    ${isOpen && html`<${Account} user=${user} close=${() => setOpen(false)} />`}`;
}

// Suspends a user, or takes that back; asks before.
export function SuspendButton({ user, account }) {
  const [isOpen, setOpen] = useState(false);
  if (!mayChange() || !account) return null;
  const word = account.suspended ? "unsuspend" : "suspend";
  const run = async () => {
    await (account.suspended ? remove : put)(at`v1/users/${user}/suspension`);
    // Items of the user come and go everywhere.
    reload(...under(""));
    changes.set(changes.value + 1);
    tell(t(account.suspended ? "unsuspended_now" : "suspended_now", { name: nameById(user) }));
  };
  return html`<button class=${account.suspended ? "quiet" : "quiet danger"} onClick=${() => setOpen(true)}>${t(word)}</button>
    ${isOpen && html`<${Confirm} title=${t(word)} button=${t(word)} run=${run} close=${() => setOpen(false)}>
      <p><${Whom} id=${user} /></p><p class="faint">${t("suspend_about")}</p><//>`}`;
}

function Account({ user, close }) {
  const [account, problem, again] = useAccount(user);
  const done = () => {
    changes.set(changes.value + 1);
    close();
    tell(t("saved"));
  };
  return html`<${Dialog} title=${t("settings")} close=${close}>
    ${problem && html`<${Problem} problem=${problem} retry=${again} />`}
    ${account && html`<${Settings} user=${user} account=${account} done=${done} />`}
  <//>`;
}

function Settings({ user, account, done }) {
  const [values, setValues] = useState({ approve_followers: account.approve_followers, default_audience: account.default_audience });
  const check = (name, value, text) => html`<label class="check"><input type="checkbox" name=${name} checked=${values[name] !== value(false)}
    onChange=${({ target }) => setValues({ ...values, [name]: value(target.checked) })} /> <span>${text}</span></label>`;
  const save = async () => {
    await put(at`v1/users/${user}/settings`, values);
    done();
  };
  return html`<form onSubmit=${(event) => event.preventDefault()}>
    ${check("approve_followers", (isOn) => isOn, t("approve_followers"))}
    ${check("default_audience", (isOn) => (isOn ? "followers" : "public"), t("default_audience"))}
    <div class="line end"><${Act} class="strong" run=${save}>${t("save")}<//></div>
  </form>`;
}
