// Times between attempts, and their ends.

import { TimeoutError } from "./errors.js";

/**
 * Milliseconds to wait after the failed attempt number `tries` (from 0): at random, so that clients do not come back all
 * at once, but never before the server's `Retry-After`.
 */
export function backOff(tries: number, maxDelay: number, retryAfter = 0): number {
  const spread = Math.min(250 * 2 ** tries, maxDelay);
  return retryAfter + Math.random() * Math.min(spread, Math.max(250, maxDelay - retryAfter));
}

// `setTimeout` takes a longer time for 1 ms.
const LONGEST = 2 ** 31 - 1;

/** Waits, or throws the reason of the signal. */
export function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener("abort", aborted);
        resolve();
      },
      Math.min(milliseconds, LONGEST),
    );
    signal?.addEventListener("abort", aborted, { once: true });
  });
}

/** Runs `work` with a signal that ends it after some time, or with the signal of the caller. */
export async function withTimeout<T>(
  milliseconds: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  what = "answer",
): Promise<T> {
  if (outer?.aborted) throw outer.reason;
  const inner = new AbortController();
  const late = new TimeoutError(`no ${what} within ${milliseconds} ms`);
  const timer = setTimeout(() => inner.abort(late), Math.min(milliseconds, LONGEST));
  const aborted = () => inner.abort(outer?.reason);
  outer?.addEventListener("abort", aborted, { once: true });
  try {
    return await work(inner.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", aborted);
  }
}

/** A controller that is aborted with the signal of the caller. */
export function linked(outer: AbortSignal | undefined): AbortController {
  const inner = new AbortController();
  if (outer?.aborted) inner.abort(outer.reason);
  else outer?.addEventListener("abort", () => inner.abort(outer.reason), { once: true, signal: inner.signal });
  return inner;
}

/** The promise, without waiting longer than the signal, whose reason it then throws. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", aborted));
  });
}
