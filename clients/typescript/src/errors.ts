import { parseJson } from "./json.js";
import type { Code, Problem } from "./schema.js";

/**
 * Every error of this client, except `TypeError` for a wrong argument, the reason of an aborted `signal`, and the errors
 * of a token function.
 */
export class TidelineError extends Error {
  override name = "TidelineError";
}

/** The request was not answered: no connection, or a connection that ended too early. A change may have been made. */
export class ConnectionError extends TidelineError {
  override name = "ConnectionError";
}

/**
 * A good status with an answer that is not Tideline's, such as the page of a captive portal or of another server at this
 * address. A change may have been made.
 */
export class AnswerError extends TidelineError {
  override name = "AnswerError";
}

/** The answer did not come within `timeout`. A change may have been made. */
export class TimeoutError extends TidelineError {
  override name = "TimeoutError";
}

/**
 * For a token function that will give no token any more, such as after a log-out. A stream ends with it; after any other
 * error of the function it tries again.
 */
export class LoggedOutError extends TidelineError {
  override name = "LoggedOutError";
}

/** The server refused the request, or failed. */
export class ProblemError extends TidelineError {
  override name = "ProblemError";
  /** For people; may change between versions. */
  readonly detail: string;

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** For programs. `"unknown"` if the answer is not of Tideline, but of a proxy. */
    readonly code: Code | "unknown" | (string & {}),
    /** The problem document, if the answer has one. */
    readonly problem: Problem | undefined,
    /** The id of the request in the server log. */
    readonly requestId: string | undefined,
    /** Milliseconds to wait before the next attempt, if the server said so. */
    readonly retryAfter: number | undefined,
  ) {
    super(`${status} ${code}${problem ? `: ${problem.detail}` : ""}`);
    this.detail = problem?.detail ?? "";
  }

  /** Reads an answer other than 2xx. */
  static async from(response: Response): Promise<ProblemError> {
    const problem = readProblem(await response.text());
    const kind = problem?.code === "changes_gone" ? ChangesGoneError : ProblemError;
    return new kind(
      response.status,
      problem?.code ?? "unknown",
      problem,
      response.headers.get("x-request-id") ?? undefined,
      waitTime(response.headers.get("retry-after")),
    );
  }

  /** Whether the server has changed nothing, so that every request can be sent again. */
  get changedNothing(): boolean {
    return this.status === 429 || this.code === "overloaded";
  }

  /** Whether the credentials are wrong or have expired. */
  get refusedCredentials(): boolean {
    return this.code === "bad_credentials";
  }
}

/**
 * The server does not keep the changes after this position any more, or a restore or a power cut has ended their history.
 * Begin anew: ask for the position of `changes({ after: "newest" }).page()`, read everything, and go on from that position.
 */
export class ChangesGoneError extends ProblemError {
  override name = "ChangesGoneError";
}

/** The request is not a webhook of the server, or it is too old. Answer it with 400. */
export class WebhookError extends TidelineError {
  override name = "WebhookError";
}

/** Reads a JSON object that Tideline sent, with the fields `needed`. */
export function readObject(text: string, needed: readonly string[] = []): object {
  try {
    const value = parseJson(text);
    if (typeof value === "object" && value !== null && needed.every((name) => name in value)) return value;
  } catch {
    // Not JSON.
  }
  throw new AnswerError(`not an answer of Tideline: ${JSON.stringify(text.slice(0, 100))}`);
}

function readProblem(text: string): Problem | undefined {
  try {
    const value: Partial<Problem> = readObject(text);
    return typeof value.code === "string" && typeof value.detail === "string" ? (value as Problem) : undefined;
  } catch {
    return undefined;
  }
}

function waitTime(header: string | null): number | undefined {
  if (!header) return undefined;
  const milliseconds = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}
