// A user token for a test. It is shown once: the page forgets it when it is left.

import { Whom } from "./about.js";
import { post } from "./api.js";
import { meant } from "./found.js";
import { Act, Problem, Time, copy } from "./parts.js";
import { fullTime, t } from "./texts.js";
import { DidYouMean, UserField } from "./userbox.js";
import { html, useState } from "./view.js";

// How long a token may last, hours.
const LASTS = [1, 8, 24];

function Made({ made: { user, token, expires_at } }) {
  return html`<div class="made">
    <p role="status">${t("token_of")} <${Whom} id=${user} /></p>
    <p class="faint">${t("token_ends")} ${fullTime(expires_at)} · <${Time} at=${expires_at} /></p>
    <p class="faint">${t("token_once")}</p>
    <div class="line"><pre tabindex="0" aria-label=${t("user_token")}>${token}</pre><${Act} class="strong" run=${() => copy(token)}>${t("copy")}<//></div>
  </div>`;
}

export function TestToken() {
  const [text, setText] = useState("");
  const [hours, setHours] = useState(LASTS[0]);
  const [{ made, problem, unknown }, setState] = useState({});
  const [isBusy, setBusy] = useState(false);
  // What becomes of a press; a second one waits.
  const show = async (work) => {
    if (isBusy) return;
    setBusy(true);
    try {
      setState(await work());
    } catch (problem) {
      setState({ problem });
    } finally {
      setBusy(false);
    }
  };
  const make = async (user) => ({ made: { user, ...(await post("v1/admin/tokens", { user_id: user, expires_in: hours * 3600 })) } });
  const find = async () => {
    const { user, users } = await meant(text);
    return user === undefined ? { unknown: { text, users } } : make(user);
  };
  return html`<h2>${t("test_token")}</h2><p class="faint">${t("test_token_about")}</p>
    <section class="card token">
      <form class="line" onSubmit=${(event) => (event.preventDefault(), show(find))}>
        <${UserField} id="token-user" label=${t("token_user")} placeholder=${t("token_user")} text=${text} setText=${setText} />
        <label class="lasts"><span class="sr">${t("token_lasts")}</span>
          <select class="quiet" value=${String(hours)} onChange=${({ target }) => setHours(Number(target.value))}>
            ${LASTS.map((n) => html`<option key=${n} value=${String(n)}>${t("n_hours", { n })}</option>`)}</select></label>
        <button class="strong" aria-busy=${isBusy ? "true" : undefined}>${t("make_token")}</button>
      </form>
      ${problem && html`<${Problem} problem=${problem} />`}
      ${unknown && html`<${DidYouMean} ...${unknown} choose=${(user) => show(() => make(user))} otherwise="take_as_id" />`}
      ${made && html`<${Made} key=${made.token} made=${made} />`}
    </section>`;
}
