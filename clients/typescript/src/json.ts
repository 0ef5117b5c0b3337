/**
 * A JSON value. A whole number that a JavaScript number cannot hold is a `bigint` in answers, and may be one in requests,
 * so that `extra` and `media` keep all their digits.
 */
export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;

/** A JSON object. */
export type JsonObject = { [field: string]: Json };

// Marks a text that stands for a large number between the two steps of reading or writing. No text of others begins
// with it, because it is made anew in each process.
const MARK = `bigint:${Math.random()}${Math.random()}:`;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MARKED = new RegExp(`"${MARK.replaceAll(".", "\\.")}(-?\\d+)"`, "g");

/** Reads JSON. Whole numbers beyond 2^53 become `bigint`. */
export function parseJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  let found = false;
  const marked = text.replace(TOKENS, (token) => {
    if (!/^-?\d{16,}$/.test(token) || Number.isSafeInteger(Number(token))) return token;
    found = true;
    return `"${MARK}${token}"`;
  });
  if (!found) return JSON.parse(text);
  return JSON.parse(marked, (_, value: unknown) =>
    typeof value === "string" && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  );
}

/** Writes JSON, a `bigint` as a plain number. */
export function writeJson(value: unknown): string {
  let found = false;
  const text = JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== "bigint") return part;
    found = true;
    return `${MARK}${part}`;
  });
  return found ? text.replace(MARKED, "$1") : text;
}
