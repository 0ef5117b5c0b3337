// What holds for a user as a whole: the settings, and the suspension.

import { at, get, put, remove } from "./api.js";
import { Box, useBox } from "./box.js";
import { reload, under } from "./feeds.js";
import { Icon } from "./icons.js";
import { Act, Dialog, Problem, tell, useRequest } from "./parts.js";
import { nameOf, useProfile } from "./people.js";
import { mayChange, mayRead, session } from "./session.js";
import { t } from "./texts.js";
import { html, useState } from "./view.js";

const changes = new Box(0);

// `[account, problem, again]`. Only keys are told of suspensions.
function useAccount(user) {
  const isOwn = useBox(session).user === user;
  const read = async (signal) => {
    const settings = (mayRead() || isOwn) && (await get(at`v1/users/${user}/settings`, {}, signal));
    const suspension = mayRead() && (await get(at`v1/users/${user}/suspension`, {}, signal));
    return { ...settings, ...suspension };
  };
  return useRequest(read, [user, isOwn, useBox(changes)]);
}

// Marks of a user whose account is not as accounts are at first.
export function AccountMarks({ user }) {
  const [account] = useAccount(user);
  return html`${account?.suspended && html`<span class="tag failed">${t("suspended")}</span>`}
    ${account?.approve_followers && html`<span class="tag">${t("approves_followers")}</span>`}
    ${account?.default_audience === "followers" && html`<span class="tag">${t("publishes_for_followers")}</span>`}`;
}

export function AccountButton({ user }) {
  const [isOpen, setOpen] = useState(false);
  return mayChange() && html`<button class="quiet" onClick=${() => setOpen(true)}><${Icon} name="key" /> ${t("settings")}</button>
    ${isOpen && html`<${Account} user=${user} close=${() => setOpen(false)} />`}`;
}

function Account({ user, close }) {
  const [account, problem, again] = useAccount(user);
  const profile = useProfile(user);
  const done = (text) => {
    changes.set(changes.value + 1);
    close();
    tell(text);
  };
  const suspend = async () => {
    await (account.suspended ? remove : put)(at`v1/users/${user}/suspension`);
    // Items of the user come and go everywhere.
    reload(...under(""));
    done(t(account.suspended ? "unsuspended_now" : "suspended_now", { name: nameOf(profile) }));
  };
  return html`<${Dialog} title=${t("settings")} close=${close}>
    ${problem && html`<${Problem} problem=${problem} retry=${again} />`}
    ${account && html`<${Settings} user=${user} account=${account} done=${done} />
      <p class="faint">${t("suspend_about")}</p>
      <div class="line end"><${Act} class=${account.suspended ? "quiet" : "quiet danger"} run=${suspend}>${t(account.suspended ? "unsuspend" : "suspend")}<//></div>`}
  <//>`;
}

function Settings({ user, account, done }) {
  const [values, setValues] = useState({ approve_followers: account.approve_followers, default_audience: account.default_audience });
  const check = (name, value, text) => html`<label class="check"><input type="checkbox" name=${name} checked=${values[name] !== value(false)}
    onChange=${({ target }) => setValues({ ...values, [name]: value(target.checked) })} /> <span>${text}</span></label>`;
  const save = async () => {
    await put(at`v1/users/${user}/settings`, values);
    done(t("saved"));
  };
  return html`<form onSubmit=${(event) => event.preventDefault()}>
    ${check("approve_followers", (isOn) => isOn, t("approve_followers"))}
    ${check("default_audience", (isOn) => (isOn ? "followers" : "public"), t("default_audience"))}
    <div class="line end"><${Act} class="strong" run=${save}>${t("save")}<//></div>
  </form>`;
}
