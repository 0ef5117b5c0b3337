import type { Id } from "./ids.js";
import type { Range } from "./pages.js";
import type * as api from "./schema.js";
import type { CallOptions } from "./transport.js";

/** Settings of a list. */
export interface ListOptions extends Range, CallOptions {
  /** Entries on one page; 20 by default. */
  limit?: number | undefined;
}

/** The kinds of items to show, or to leave out: up to 16, not both. */
export interface KindOptions {
  kinds?: readonly string[] | undefined;
  exceptKinds?: readonly string[] | undefined;
}

/** Settings of calls that show items or users. */
export interface ViewerOptions extends CallOptions {
  /** Only what this user may see, with the user's reactions to items, or the user's relation to each user. */
  viewer?: Id | undefined;
}

/** Settings of a list of items, whole. */
export interface ItemOptions extends ListOptions, KindOptions, ViewerOptions {
  view?: "full" | undefined;
}

/** Settings of a list of items with their ids, authors and times only. */
export interface IdOptions extends ListOptions, KindOptions, ViewerOptions {
  view: "ids";
}

/** Settings of a list of items, whole or not. */
export interface ViewOptions extends ListOptions, KindOptions, ViewerOptions {
  view?: api.View | undefined;
}

/** Settings of a list of users. */
export interface UserOptions extends ListOptions, ViewerOptions {}

/** Settings of a reaction. */
export interface SinceOptions extends CallOptions, api.NewSince {}

/** Settings of a follow. */
export interface FollowOptions extends CallOptions, api.NewFollow {}
