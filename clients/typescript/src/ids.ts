/**
 * An id as the application has it. A number must be a safe integer: a larger one has lost digits before it gets here, so
 * it is refused. Larger ids are given as `bigint` or as text. In answers every id is a `string`.
 */
export type Id = string | number | bigint;

const DIGITS = /^[1-9][0-9]{0,18}$/;
const ABOVE = 2n ** 63n;

/** The id as text. Throws `TypeError` for a number that is no id, or that is not a safe integer. */
export function idText(id: Id): string {
  if (typeof id === "string") return id;
  if (typeof id === "number" && !Number.isSafeInteger(id)) {
    throw new TypeError(`${id} is not a safe integer: give such an id as text or as bigint`);
  }
  if (id < 1 || id >= ABOVE) throw new TypeError(`${id}: an id that is a number is from 1 to 2^63-1`);
  return String(id);
}

/**
 * The id, or another text, as one segment of a path. Throws `TypeError` for `.` and `..`, which `fetch` would remove
 * from the path, so that the request would be another one.
 */
export function segment(id: Id): string {
  const text = idText(id);
  if (text === "." || text === "..") {
    throw new TypeError(`"${text}" cannot be sent in a path; items(["${text}"]) can read an item with this id`);
  }
  if (text === "") {
    throw new TypeError("an id must not be empty");
  }
  return encodeURIComponent(text);
}

/** Ids in one query parameter. */
export function idList(ids: readonly Id[]): string {
  return ids.map((id) => idText(id).replace(/[\\,]/g, "\\$&")).join(",");
}

/** The cursor at an item: `before` it are the older items, `after` it the newer ones. */
export function cursorOf(item: { published_at: number; content_id: string }): string {
  return `${item.published_at}-${item.content_id}`;
}

/**
 * Compares items in the order of timelines, for `sort` and to find the place of an item of a stream. It answers 0 for two
 * names of the same time, whose order only the server knows: put the one that arrived later first, but a restored item
 * at its old place.
 */
export function newestFirst(a: ItemPlace, b: ItemPlace): number {
  if (a.published_at !== b.published_at) return b.published_at - a.published_at;
  const [left, right] = [number(a.content_id), number(b.content_id)];
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined);
  return left === right ? 0 : left < right ? 1 : -1;
}

type ItemPlace = { published_at: number; content_id: string };

function number(id: string): bigint | undefined {
  const value = DIGITS.test(id) ? BigInt(id) : undefined;
  return value !== undefined && value < ABOVE ? value : undefined;
}
