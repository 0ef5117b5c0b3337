// Calls of the API. Every address is relative to the page, so a proxy may serve the console below any path.

import { Box } from "./box.js";
import { t } from "./texts.js";

const base = new URL("./", document.baseURI);

// How often a read that the server is too busy for is sent again, and the longest pause before that, seconds.
const ATTEMPTS = 4;
const LONGEST_PAUSE = 5;

// What the calls are signed with, and what is told when the server no longer takes it.
export const credential = new Box(null);
export const refusedCredential = new Box(null);
// Whether the last call reached the server.
export const reached = new Box(true);

// An answer that is no success, with the text of its problem document.
export class Problem extends Error {
  constructor({ status = 0, code = "", title = "", detail = "", requestId = "", retryAfter = 0 }) {
    super(detail || title || code);
    Object.assign(this, { status, code, title, detail, requestId, retryAfter });
  }
}

// Whether a call may succeed later as it is: the server was away, or a proxy found none.
export const isAway = ({ code, status }) => code === "unreachable" || [502, 503, 504].includes(status);

// A path with ids in it: at`v1/users/${id}/timeline`. Ids may be any text.
export function at(parts, ...ids) {
  return parts.reduce((path, part, i) => path + encodeURIComponent(ids[i - 1]) + part);
}

// Ids as a list in a query. A comma in an id is no end of it.
export const listed = (ids) => ids.map((id) => id.replace(/[\\,]/g, "\\$&")).join(",");

export function address(path, query = {}) {
  // Browsers take these out of an address, and would make another call.
  if (/(^|\/)\.\.?(\/|$)/.test(path)) throw new Problem({ title: t("dots_about") });
  const url = new URL(path, base);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) url.searchParams.set(name, value);
  }
  return url;
}

export const signed = () => (credential.value ? { Authorization: `Bearer ${credential.value}` } : {});

const pause = (seconds, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });

async function problemOf(answer) {
  const text = await answer.text().catch(() => "");
  let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    body.detail = text.slice(0, 300);
  }
  return new Problem({
    ...body,
    status: answer.status,
    title: body.title ?? answer.statusText,
    requestId: answer.headers.get("x-request-id") ?? "",
    retryAfter: Number(answer.headers.get("retry-after")) || 0,
  });
}

// What `read` makes of the answer to a request, if it is a success; otherwise throws a `Problem`.
export async function request(method, path, { query, body, signal, headers, read = (answer) => answer } = {}) {
  const options = { method, signal, headers: { ...signed(), ...headers }, cache: "no-store" };
  if (body !== undefined) {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body);
  }
  for (let attempt = 1; ; attempt++) {
    let answer;
    try {
      answer = await fetch(address(path, query), options);
      if (answer.ok) {
        const value = await read(answer);
        reached.set(true);
        return value;
      }
    } catch (error) {
      if (signal?.aborted || !(error instanceof TypeError)) throw error;
      // The connection was lost, perhaps inside an answer. A browser ends all of them when the machine changes its
      // network, so a read is sent again at once.
      if (method === "GET" && attempt === 1) continue;
      reached.set(false);
      throw new Problem({ code: "unreachable" });
    }
    const problem = await problemOf(answer);
    reached.set(!isAway(problem));
    const isBusy = problem.status === 503 || problem.status === 429;
    if (method === "GET" && isBusy && attempt < ATTEMPTS) {
      await pause(Math.min(problem.retryAfter || 1, LONGEST_PAUSE), signal);
      continue;
    }
    if (problem.status === 401 || problem.code === "bad_credentials") refusedCredential.set(problem);
    throw problem;
  }
}

const json = (method, path, options) =>
  request(method, path, { ...options, read: (answer) => (answer.status === 204 ? null : answer.json()) });

export const get = (path, query, signal) => json("GET", path, { query, signal });
export const put = (path, body) => json("PUT", path, { body });
export const post = (path, body) => json("POST", path, { body });
export const remove = (path) => json("DELETE", path);
