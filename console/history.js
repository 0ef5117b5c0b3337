// The figures of the last hour: those that the server has kept, and then each new one.

import { get } from "./api.js";

// Milliseconds between two samples of the server, and between the oldest and the newest that is shown.
const EVERY = 5000;
export const HOUR = 3_600_000;

// Reads at intervals while the page is seen. `show({samples, problem})` gets the samples, oldest first.
export function watch(show) {
  let [samples, timer, ended] = [[], 0, false];
  const gone = new AbortController();
  const read = async () => {
    if (!document.hidden) {
      try {
        const { items } = await get("v1/admin/history", { after: samples.at(-1)?.at }, gone.signal);
        const all = [...samples, ...items];
        samples = all.filter(({ at }) => at > all.at(-1).at - HOUR);
        if (!ended) show({ samples, problem: undefined });
      } catch (problem) {
        if (!ended) show({ samples, problem });
      }
    }
    // A server has its first sample after two readings.
    if (!ended) timer = setTimeout(read, samples.length ? EVERY : EVERY / 5);
  };
  read();
  return () => {
    ended = true;
    gone.abort();
    clearTimeout(timer);
  };
}
