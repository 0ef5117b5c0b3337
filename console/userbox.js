// A field in which a user is named: by id or nickname, with those whom the text may mean below it.

import { useBox } from "./box.js";
import { Brief, LONGEST, meant, useLate, useSearch } from "./found.js";
import { Line, Problem, tellProblem } from "./parts.js";
import { Id } from "./people.js";
import { mayRead } from "./session.js";
import { chosen, t } from "./texts.js";
import { html, useEffect, useRef, useState } from "./view.js";

// Users of each group while nothing is typed.
const FEW = 3;

// What is offered: groups of users, or why there are none.
function useOffers(text, isOpen) {
  const { users, problem, text: answered } = useSearch(isOpen ? text : "");
  const [late, lateProblem] = useLate(FEW, isOpen && text === "");
  if (!isOpen) return { groups: [] };
  if (text === "") return { groups: late ?? [], problem: lateProblem };
  const groups = users?.length ? [{ order: "found", title: "found", users }] : [];
  return { groups, problem, isNobody: answered === text && users?.length === 0, count: answered === text ? users?.length : undefined };
}

function Option({ id, user, isActive, choose }) {
  const row = useRef(null);
  useEffect(() => {
    if (isActive) row.current.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  // The field keeps the focus.
  return html`<div role="option" id=${id} ref=${row} aria-selected=${String(isActive)}
    onMouseDown=${(event) => event.preventDefault()} onClick=${() => choose(user.user_id)}><${Brief} user=${user} /></div>`;
}

// Groups of options. `optionId` names each by its place in all of them.
function Options({ id, groups, active, optionId, choose }) {
  let place = 0;
  return html`<div role="listbox" id=${id} aria-label=${t("users")}>
    ${groups.map(({ order, title, users }) => html`<div role="group" key=${order} aria-label=${t(title)}>
      ${order !== "found" && html`<div class="faint" role="presentation" aria-hidden="true">${t(title)}</div>`}
      ${users.map((user) => {
        const here = place++;
        return html`<${Option} key=${user.user_id} id=${optionId(here)} user=${user} isActive=${here === active} choose=${choose} />`;
      })}</div>`)}
  </div>`;
}

// The input and the list below it: `{ input, list, close }`. `choose` takes the id of the user who is chosen. With `late`
// the list offers users before anything is typed. A text that is none of a user, by `isOther`, finds nobody.
export function useUserBox({ id, text, setText, choose, late = false, isOther = () => false }) {
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  useBox(chosen);
  const opens = (text) => (late || text !== "") && !isOther(text);
  const { groups, problem, isNobody, count } = useOffers(text, isOpen && opens(text));
  const users = groups.flatMap(({ users }) => users);
  const [listId, optionId] = [`${id}-list`, (place) => `${id}-${place}`];
  const isShown = isOpen && users.length > 0;
  const close = () => (setOpen(false), setActive(-1));
  const take = (user) => (close(), choose(user));
  const typed = ({ target }) => {
    target.setCustomValidity("");
    setText(target.value);
    setActive(-1);
    setOpen(true);
  };
  const key = (event) => {
    // Keys that put letters together, as for Chinese, are not for the list.
    if (event.isComposing) return;
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) {
      event.preventDefault();
      if (!isOpen) return setOpen(true);
      // One place is that of the field itself.
      const places = users.length + 1;
      setActive(((active + 1 + by + places) % places) - 1);
    } else if (event.key === "Enter" && isShown && users[active]) {
      event.preventDefault();
      take(users[active].user_id);
    } else if (event.key === "Enter") {
      close();
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  const input = {
    id, value: text, autocomplete: "off", autocapitalize: "off", spellcheck: false, maxlength: LONGEST, role: "combobox",
    "aria-autocomplete": "list", "aria-expanded": String(isShown), "aria-controls": isShown ? listId : undefined,
    "aria-activedescendant": isShown && users[active] ? optionId(active) : undefined,
    onInput: typed, onKeyDown: key, onFocus: () => late && setOpen(true), onClick: () => setOpen(true), onBlur: close,
  };
  const list = html`<span class="sr" role="status">${count === undefined ? "" : t("n_found", { n: count })}</span>
    ${(isShown || problem || isNobody) && html`<div class="found">
      ${problem ? html`<${Problem} problem=${problem} />` : isNobody ? html`<p class="faint">${t("nobody_begins_so")}</p>`
        : html`<${Options} id=${listId} groups=${groups} active=${active} optionId=${optionId} choose=${take} />`}</div>`}`;
  return { input, list, close };
}

// Such a field with its label, inside a form.
export function UserField({ id, label, placeholder, text, setText, choose = setText, focus, isOther }) {
  const { input, list } = useUserBox({ id, text, setText, choose, isOther });
  return html`<div class="user-field"><label for=${id} class=${placeholder ? "sr" : "faint"}>${label}</label>
    <input name=${id} required autofocus=${focus} placeholder=${placeholder} ...${input} />${list}</div>`;
}

// Those whom a text may mean that is nobody's id. `choose` takes an id; with `otherwise`, the key of a text, also the text itself.
export function DidYouMean({ text, users, choose, otherwise }) {
  return html`<div class="note" role="status"><p><b>${t("nobody")}</b> <${Id} id=${text} whole=${true} /></p>
    ${users.length > 0 && html`<p>${t("did_you_mean")}</p>
      <ul class="meant">${users.map((user) => html`<li key=${user.user_id}><button type="button" class="quiet" onClick=${() => choose(user.user_id)}><${Brief} user=${user} /></button></li>`)}</ul>`}
    ${otherwise && html`<p><button type="button" class="link" onClick=${() => choose(text)}>${t(otherwise)}</button></p>`}</div>`;
}

// A form of one line for a user; `run` takes the id. A text that is none of a user, by `isOther`, is taken as it is. Only keys
// may look for users.
export const UserLine = (props) => (mayRead() ? html`<${Named} ...${props} />` : html`<${Line} ...${props} />`);

function Named({ id, label, button, run, isOther = () => false, otherwise }) {
  const [text, setText] = useState("");
  const [unknown, setUnknown] = useState(null);
  const take = async (user) => {
    try {
      await run(user);
      setText("");
      setUnknown(null);
    } catch (problem) {
      tellProblem(problem);
    }
  };
  const submit = async (event) => {
    event.preventDefault();
    // Browsers take these out of an address.
    if ([".", ".."].includes(text)) {
      const input = document.getElementById(id);
      return input.setCustomValidity(t("dots_about")), input.reportValidity();
    }
    if (isOther(text)) return take(text);
    try {
      const { user, users } = await meant(text);
      if (user !== undefined) return take(user);
      setUnknown({ text, users });
    } catch (problem) {
      tellProblem(problem);
    }
    return undefined;
  };
  return html`<form class="line card" onSubmit=${submit}>
      <${UserField} id=${id} label=${label} placeholder=${label} text=${text} setText=${(text) => (setText(text), setUnknown(null))} choose=${take} isOther=${isOther} />
      <button class="strong">${button}</button>
    </form>
    ${unknown && html`<${DidYouMean} ...${unknown} choose=${take} otherwise=${otherwise} />`}`;
}
