// The sheet on which a credential is typed.

import { Logo } from "./icons.js";
import { Problem, Title } from "./parts.js";
import { signIn } from "./session.js";
import { t } from "./texts.js";
import { html, useState } from "./view.js";

export function SignIn({ problem: first }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(first);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      await signIn(text.trim());
    } catch (problem) {
      setProblem(problem);
      setBusy(false);
    }
  };
  return html`<main class="signin" id="main">
    <form class="card" onSubmit=${submit}>
      <${Logo} />
      <${Title} text=${t("sign_in")} />
      <p>${t("sign_in_about")}</p>
      <label class="field"><span>${t("credential")}</span>
        <input type="password" name="credential" required autofocus autocomplete="off" spellcheck=${false} value=${text}
          onInput=${(e) => setText(e.target.value)} /></label>
      ${problem && html`<${Problem} problem=${problem} />`}
      <button class="strong" aria-busy=${busy ? "true" : undefined}>${t("sign_in")}</button>
      <p class="faint">${t("sign_in_kept")}</p>
    </form>
  </main>`;
}
