// What the methods of calls share.

import { type Id, idText } from "./ids.js";
import type { ListOptions } from "./options.js";
import { List, type Page } from "./pages.js";
import type { Answers } from "./schema.js";
import type { Request, Transport } from "./transport.js";

/** The calls that answer a page. */
type Paged = { [O in keyof Answers]: Answers[O] extends Page<unknown> ? O : never }[keyof Answers];

/** A list, whose pages are read with the parameters `more` of the query. */
export function listOf<T>(
  transport: Transport,
  operation: Paged,
  path: Request["path"] & object,
  options: ListOptions,
  more: Request["query"],
): List<T> {
  const { before, after, limit } = options;
  return new List<T>({ before, after }, (range) =>
    transport
      .json(operation, { path, query: { limit, ...range, ...more } }, options, "items", "next", "prev")
      .then((page) => page as Page<unknown> as Page<T>),
  );
}

/** The body with its ids as text. */
export function withIds<T extends object>(body: T, fields: readonly (keyof T)[]): T {
  const text = (ids: unknown) => (Array.isArray(ids) ? ids.map(idText) : ids === null ? null : idText(ids as Id));
  const given = fields.filter((field) => body[field] !== undefined);
  return { ...body, ...Object.fromEntries(given.map((field) => [field, text(body[field])])) };
}

/** A body that may be left out: nothing if no field of it has a value. */
export function given<T extends object>(body: T): T | undefined {
  return Object.values(body).some((value) => value !== undefined) ? body : undefined;
}

export function optionalId(id: Id | undefined): string | undefined {
  return id === undefined ? undefined : idText(id);
}
