// The backend: it knows who a user is, signs user tokens, and tells Tideline of posts and names with its key.

import http from "node:http";
import { ConnectionError, ProblemError, TimeoutError } from "tideline-client";
import { userToken } from "./tokens.js";

const BODY_LIMIT = 16 * 1024;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

class Refusal extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/**
 * A server of HTTP that does not listen yet. `tideline` is a client with a key, `address` the address of Tideline for the
 * app, `tokenSeconds` the life of a user token.
 */
export function createBackend({ database, tideline, address, privateKey, tokenSeconds = 300 }) {
  const signedIn = (session) => database.userOf(session) ?? refuse(401, "Sign in first.");
  /** A key may answer to every post. So the backend first reads it as its user. */
  const mustSee = async (user, post) => {
    const [item] = isId(post) ? await tideline.items([post], { viewer: user, view: "ids" }) : [];
    if (!item) refuse(404, "There is no such post.");
  };

  /** Each with the body and the session. */
  const calls = {
    "POST /accounts": async ({ body }) => {
      const { name, password } = body;
      if (!isText(name, 50) || !isText(password, 200) || password.length < 8)
        refuse(400, "A name and 8 characters, please.");
      const user = (await database.signUp(name, password)) ?? refuse(409, "This name is taken.");
      return { user };
    },
    "POST /sign-in": async ({ body: { name, password } }) => {
      if (!isText(name, 50) || !isText(password, 200)) refuse(400, "A name and a password, please.");
      const signed = (await database.signIn(name, password)) ?? refuse(403, "Name or password are wrong.");
      await tideline.setProfile(signed.user, { nickname: name });
      return { ...signed, tideline: address };
    },
    "POST /sign-out": ({ session }) => database.signOut(session),
    // The app asks for a token when it begins, and before the last one ends.
    "POST /token": async ({ session }) => ({ token: await userToken(privateKey, signedIn(session), tokenSeconds) }),
    // The app makes the id. So it can send a post again after a lost answer, until it gets one: nothing is there twice.
    "POST /posts": async ({ session, body }) => {
      const { id, text, audience = "public", kind = "post", subject } = body;
      const author = signedIn(session);
      if (!isId(id) || !isText(text, 5000)) refuse(400, "An id (a UUID in lower case) and a text, please.");
      if (!["public", "followers"].includes(audience)) refuse(400, "The audience is public or followers.");
      if (!["post", "comment", "repost"].includes(kind)) refuse(400, "A post, a comment or a repost, please.");
      if (kind !== "post") await mustSee(author, subject);
      const wanted = { id, author, text, audience, kind, subject };
      const post = database.post(wanted);
      if (Object.keys(wanted).some((name) => post[name] !== wanted[name])) refuse(409, "Another post has this id.");
      const item = { content_id: id, author_id: author, text, audience, published_at: post.at };
      if (kind === "comment") await tideline.comment(subject, item);
      else await tideline.publish(kind === "repost" ? { ...item, kind, ref_id: subject } : item);
      return { id };
    },
  };

  return http.createServer(async (request, response) => {
    const answer = (status, body, headers = {}) => {
      response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
      response.end(JSON.stringify(body ?? {}));
    };
    try {
      const call = calls[`${request.method} ${request.url}`] ?? refuse(404, "There is no such call.");
      const session = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
      answer(200, await call({ body: await bodyOf(request), session }));
    } catch (error) {
      if (error instanceof Refusal) return answer(error.status, { reason: error.message });
      if (error instanceof ConnectionError || error instanceof TimeoutError || error instanceof ProblemError) {
        console.error("Tideline:", error.message);
        const passes = !(error instanceof ProblemError) || error.status === 429 || error.status >= 500;
        if (passes) return answer(503, { reason: "Try again in a moment." }, { "retry-after": "2" });
      } else console.error(error);
      answer(500, { reason: "The server made a mistake." });
    }
  });
}

function refuse(status, reason) {
  throw new Refusal(status, reason);
}

/** Half of a surrogate pair is no text: no UTF-8 has it. */
function isText(value, longest) {
  return typeof value === "string" && value.length > 0 && value.length <= longest && value.isWellFormed();
}

function isId(value) {
  return isText(value, 36) && UUID.test(value);
}

/** The JSON object in a body; an empty one without a body. */
async function bodyOf(request) {
  const parts = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > BODY_LIMIT) refuse(413, "The body is too large.");
    parts.push(part);
  }
  if (length === 0) return {};
  try {
    const body = JSON.parse(Buffer.concat(parts).toString());
    if (body !== null && typeof body === "object") return body;
  } catch {}
  return refuse(400, "The body is no JSON object.");
}
