export { ChangeFeed, type ChangeOptions } from "./changes.js";
export { Tideline } from "./client.js";
export type { ConnectionOptions } from "./connection.js";
export type { TokenSource } from "./credentials.js";
export {
  AnswerError,
  ChangesGoneError,
  ConnectionError,
  LoggedOutError,
  ProblemError,
  TidelineError,
  TimeoutError,
  WebhookError,
} from "./errors.js";
export { cursorOf, type Id, newestFirst } from "./ids.js";
export type { Json, JsonObject } from "./json.js";
export type {
  FollowOptions,
  IdOptions,
  ItemOptions,
  ListOptions,
  SinceOptions,
  UserOptions,
  ViewerOptions,
  ViewOptions,
} from "./options.js";
export { List, type Page, type Range } from "./pages.js";
export type * from "./schema.js";
export { VERSION } from "./schema.js";
export { Stream, type StreamEvent, type StreamOptions } from "./stream.js";
export type { CallOptions, Options } from "./transport.js";
export { type WebhookHeaders, type WebhookOptions, WebhookReceiver } from "./webhooks.js";
