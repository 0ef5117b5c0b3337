// The field in which people are found: by id or nickname as one types, and without a text those of late.

import { useBox } from "./box.js";
import { Brief, LONGEST, useLate, useSearch } from "./found.js";
import { Icon } from "./icons.js";
import { Problem } from "./parts.js";
import { go } from "./route.js";
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

// `large` is the field of the first page, which shows the users of late itself.
export function LookUp({ id = "look-up", large }) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  useBox(chosen);
  const { groups, problem, isNobody, count } = useOffers(text, isOpen);
  const users = groups.flatMap(({ users }) => users);
  const [listId, optionId] = [`${id}-list`, (place) => `${id}-${place}`];
  const isShown = isOpen && users.length > 0;
  const close = () => (setOpen(false), setActive(-1));
  const choose = (user) => {
    // Browsers take these out of an address.
    if ([".", ".."].includes(user)) {
      const input = document.getElementById(id);
      return input.setCustomValidity(t("dots_about")), input.reportValidity();
    }
    go("timeline", user);
    setText("");
    close();
    document.activeElement?.blur();
  };
  const submit = (event) => {
    event.preventDefault();
    if (isShown && active >= 0 && users[active]) choose(users[active].user_id);
    else if (text !== "") choose(text);
  };
  const typed = ({ target }) => {
    target.setCustomValidity("");
    setText(target.value);
    setActive(-1);
    setOpen(!large || target.value !== "");
    // A phone has room for the users below the field only.
    if (large && innerWidth <= 640) target.form.scrollIntoView({ block: "start" });
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
    } else if (event.key === "Escape" && isOpen) {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  return html`<form class=${large ? "search large" : "search"} role=${large ? undefined : "search"} onSubmit=${submit}>
    <${Icon} name="search" />
    <label class="sr" for=${id}>${t("look_up")}</label>
    <input id=${id} type="text" inputmode="search" enterkeyhint="go" autocomplete="off" autocapitalize="off" spellcheck=${false} maxlength=${LONGEST}
      role="combobox" aria-autocomplete="list" aria-expanded=${String(isShown)} aria-controls=${isShown ? listId : undefined}
      aria-activedescendant=${isShown && users[active] ? optionId(active) : undefined}
      placeholder=${t(large || innerWidth > 640 ? "look_up_hint" : "look_up_short")} value=${text}
      onInput=${typed} onKeyDown=${key} onFocus=${() => !large && setOpen(true)} onClick=${() => (!large || text !== "") && setOpen(true)} onBlur=${close} />
    ${large ? html`<button class="strong">${t("open")}</button>` : html`<kbd aria-hidden="true">/</kbd>`}
    <span class="sr" role="status">${count === undefined ? "" : t("n_found", { n: count })}</span>
    ${(isShown || problem || isNobody) && html`<div class="found">
      ${problem ? html`<${Problem} problem=${problem} />` : isNobody ? html`<p class="faint">${t("nobody_begins_so")}</p>`
        : html`<${Options} id=${listId} groups=${groups} active=${active} optionId=${optionId} choose=${choose} />`}</div>`}
  </form>`;
}
