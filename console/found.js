// Users as the server finds them: by the beginning of an id or of a word of a nickname, and those of late.

import { at, get } from "./api.js";
import { Avatar, useRequest } from "./parts.js";
import { Id, Name, isSomebody, known } from "./people.js";
import { t } from "./texts.js";
import { html, useEffect, useState } from "./view.js";

// The most users of an answer, and letters of a question.
const MOST = 8;
export const LONGEST = 200;
// Milliseconds without another letter, after which the server is asked.
const PAUSE = 150;
// The orders of users of late, with the names of their titles.
const ORDERS = { recent: "lately_active", followers: "most_followers", new: "newest_users" };

async function ask(query, signal) {
  const { items } = await get("v1/admin/users", query, signal);
  for (const user of items) known(user);
  return items;
}

// `{text, users, problem}` of the last answer. While somebody types it is that of before.
export function useSearch(text) {
  const [found, setFound] = useState({});
  useEffect(() => {
    if (text === "") return setFound({});
    const gone = new AbortController();
    const timer = setTimeout(() => {
      ask({ search: text, limit: MOST }, gone.signal).then(
        (users) => setFound({ text, users }),
        (problem) => gone.signal.aborted || setFound({ text, problem }),
      );
    }, PAUSE);
    return () => (clearTimeout(timer), gone.abort());
  }, [text]);
  return text === "" ? {} : found;
}

// The user whom a text means: by the id, or by the nickname if it is that of one user; else those whom it may mean.
export async function meant(text, signal) {
  const profile = await get(at`v1/users/${text}`, {}, signal);
  known(profile);
  if (isSomebody(profile)) return { user: text };
  const name = [...text.replace(/^[\s@]+|\s+$/gu, "")].slice(0, LONGEST).join("");
  const users = name === "" ? [] : await ask({ search: name, limit: MOST }, signal);
  const named = users.filter(({ nickname }) => nickname?.toLowerCase() === name.toLowerCase());
  return named.length === 1 ? { user: named[0].user_id } : { users };
}

// A server whose ids are numbers does not know which are new, and tells others.
const isNumber = ({ user_id }) => /^\d+$/.test(user_id);

// `[groups, problem, again]` of users of late: those that changed something, the largest, the newest. `limit` of each.
export function useLate(limit, isWanted = true) {
  const load = async (signal) => {
    if (!isWanted) return [];
    const lists = await Promise.all(Object.keys(ORDERS).map((order) => ask({ order, limit }, signal)));
    return Object.entries(ORDERS)
      .map(([order, title], i) => ({ order, title, users: lists[i] }))
      .filter(({ order, users }) => users.length > 0 && !(order === "new" && users.every(isNumber)));
  };
  return useRequest(load, [limit, isWanted]);
}

// A user in one line.
export const Brief = ({ user }) => html`<${Avatar} id=${user.user_id} nickname=${user.nickname} avatar=${user.avatar} size="small" />
  <span class="names"><${Name} user=${user} />${user.nickname && html` <${Id} id=${user.user_id} />`}</span>
  <span class="faint number">${t("n_followers", { n: user.counts.followers })}</span>`;
