// A new item, a comment, a profile.

import { tellMade } from "./about.js";
import { at, get, post, put } from "./api.js";
import { useBox } from "./box.js";
import { reload } from "./feeds.js";
import { Act, Avatar, Dialog, Problem, tell } from "./parts.js";
import { known, nameOf, readAgain, useProfile } from "./people.js";
import { acting, drafts, mayChange } from "./session.js";
import { t } from "./texts.js";
import { html, useRef, useState } from "./view.js";

// Topics are the words with `#` in the text.
const topicsOf = (text) =>
  [...new Set([...text.matchAll(/(?:^|\s)#([\p{L}\p{N}_-]{1,64})/gu)].map(([, topic]) => topic))].slice(0, 10);

// A form for the text of an item. `send(text)` publishes it. The text is kept by the name of its draft until then.
function Writer({ draft, author, label, button, send }) {
  const text = useBox(drafts)[draft] ?? "";
  const setText = (text) => {
    const { [draft]: _, ...others } = drafts.value;
    drafts.set(text ? { ...others, [draft]: text } : others);
  };
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const profile = useProfile(author);
  const area = useRef(null);
  const submit = async (event) => {
    event?.preventDefault();
    if (busy || !text.trim()) return;
    setBusy(true);
    try {
      await send(text.trim());
      setText("");
      setProblem(null);
    } catch (problem) {
      setProblem(problem);
    } finally {
      setBusy(false);
      // The button that was pressed cannot keep the focus, because it is disabled without a text.
      if (event) area.current?.focus();
    }
  };
  const key = (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit();
  return html`<form class="writer" onSubmit=${submit}>
    <${Avatar} id=${author} nickname=${profile.nickname} avatar=${profile.avatar} />
    <div>
      <label class="sr" for="writer">${label}</label>
      <textarea id="writer" ref=${area} dir="auto" rows=${Math.min(8, Math.max(2, text.split("\n").length))} placeholder=${label}
        value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${key}></textarea>
      ${problem && html`<${Problem} problem=${problem} />`}
      <div class="line end">
        <span class="faint hint">${t("send_key")}</span>
        <button class="strong" disabled=${!text.trim()} aria-busy=${busy ? "true" : undefined}>${button}</button>
      </div>
    </div>
  </form>`;
}

export function Publish() {
  const author = useBox(acting);
  const profile = useProfile(author ?? "");
  if (author === null || !mayChange()) return null;
  const send = async (text) => {
    const item = await post("v1/content", { author_id: author, text, topics: topicsOf(text) });
    reload(at`v1/users/${author}/content`);
    readAgain(author);
    tellMade(item, t(item.suspended ? "published_hidden" : "published_as", { name: nameOf(profile) }));
  };
  return html`<${Writer} draft=${`publish ${author}`} author=${author} label=${t("publish_as", { name: nameOf(profile) })} button=${t("publish")} send=${send} />`;
}

export function Comment({ id, done }) {
  const author = useBox(acting);
  if (author === null || !mayChange()) return null;
  // A comment for followers has no path, so its author alone would see it.
  const send = async (text) => {
    const item = await post(at`v1/content/${id}/comments`, { author_id: author, text, audience: "public" });
    done();
    // Below many others it is not seen at once.
    tellMade(item, t("commented"));
  };
  return html`<${Writer} draft=${`comment ${author} ${id}`} author=${author} label=${t("write_comment")} button=${t("send")} send=${send} />`;
}

export function EditProfile({ user, close }) {
  const profile = useProfile(user);
  const [values, setValues] = useState({ nickname: profile.nickname ?? "", avatar: profile.avatar ?? "" });
  const field = (name, hint) => html`<label class="field"><span>${t(name)}</span>
    <input name=${name} autocomplete="off" autofocus=${name === "nickname"} value=${values[name]} onInput=${(e) => setValues({ ...values, [name]: e.target.value })} />
    ${hint && html`<small class="faint">${hint}</small>`}</label>`;
  const save = async () => {
    // A profile is replaced as a whole, so what the form does not show is sent back.
    const { extra } = await get(at`v1/users/${user}`);
    known(await put(at`v1/users/${user}`, { nickname: values.nickname || null, avatar: values.avatar || null, extra }));
    close();
    tell(t("saved"));
  };
  return html`<${Dialog} title=${t("edit_profile")} close=${close}>
    <form onSubmit=${(event) => event.preventDefault()}>
      ${field("nickname")} ${field("avatar", t("avatar_about"))}
      <div class="line end"><${Act} class="strong" run=${save}>${t("save")}<//></div>
    </form>
  <//>`;
}
