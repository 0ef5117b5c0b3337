// A user token for a test. It is shown once: the page forgets it when it is left.

import { Whom } from "./about.js";
import { post } from "./api.js";
import { Act, Problem, Time, copy } from "./parts.js";
import { fullTime, t } from "./texts.js";
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
  const [user, setUser] = useState("");
  const [hours, setHours] = useState(LASTS[0]);
  const [{ made, problem }, setState] = useState({});
  const [isBusy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    try {
      setState({ made: { user, ...(await post("v1/admin/tokens", { user_id: user, expires_in: hours * 3600 })) } });
    } catch (problem) {
      setState({ problem });
    } finally {
      setBusy(false);
    }
  };
  return html`<h2>${t("test_token")}</h2><p class="faint">${t("test_token_about")}</p>
    <section class="card token">
      <form class="line" onSubmit=${submit}>
        <label><span class="sr">${t("token_user")}</span>
          <input name="token-user" required autocomplete="off" autocapitalize="off" spellcheck=${false} placeholder=${t("token_user")} value=${user} onInput=${({ target }) => setUser(target.value)} /></label>
        <label class="lasts"><span class="sr">${t("token_lasts")}</span>
          <select class="quiet" value=${String(hours)} onChange=${({ target }) => setHours(Number(target.value))}>
            ${LASTS.map((n) => html`<option key=${n} value=${String(n)}>${t("n_hours", { n })}</option>`)}</select></label>
        <button class="strong" aria-busy=${isBusy ? "true" : undefined}>${t("make_token")}</button>
      </form>
      ${problem && html`<${Problem} problem=${problem} />`}
      ${made && html`<${Made} key=${made.token} made=${made} />`}
    </section>`;
}
