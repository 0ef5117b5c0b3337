// The field in which people are found, at the top of each page: without a text it offers those of late.

import { Icon } from "./icons.js";
import { go } from "./route.js";
import { t } from "./texts.js";
import { useUserBox } from "./userbox.js";
import { html, useState } from "./view.js";

// `large` is the field of the first page, which shows the users of late itself.
export function LookUp({ id = "look-up", large }) {
  const [text, setText] = useState("");
  const choose = (user) => {
    // Browsers take these out of an address.
    if ([".", ".."].includes(user)) {
      const input = document.getElementById(id);
      return input.setCustomValidity(t("dots_about")), input.reportValidity();
    }
    go("timeline", user);
    setText("");
    document.activeElement?.blur();
    return undefined;
  };
  const { input, list, close } = useUserBox({ id, text, setText, choose, late: !large });
  const submit = (event) => {
    event.preventDefault();
    if (text !== "") choose(text);
    close();
  };
  const typed = (event) => {
    input.onInput(event);
    // A phone has room for the users below the field only.
    if (large && innerWidth <= 640) event.target.form.scrollIntoView({ block: "start" });
  };
  return html`<form class=${large ? "search large" : "search"} role=${large ? undefined : "search"} onSubmit=${submit}>
    <${Icon} name="search" />
    <label class="sr" for=${id}>${t("look_up")}</label>
    <input type="text" inputmode="search" enterkeyhint="go" placeholder=${t(large || innerWidth > 640 ? "look_up_hint" : "look_up_short")}
      ...${input} onInput=${typed} />
    ${large ? html`<button class="strong">${t("open")}</button>` : html`<kbd aria-hidden="true">/</kbd>`}
    ${list}
  </form>`;
}
