// Two people with the app: ana follows ben, sees his posts arrive, and answers.

import { App } from "./app.js";

const backend = `http://localhost:${process.env.PORT ?? 3000}`;
const suffix = Date.now();
const [ana, ben] = [new App(backend), new App(backend)];
await ana.signUp(`ana ${suffix}`, "a long password");
await ben.signUp(`ben ${suffix}`, "another password");
await ana.follow(ben.user);
await ben.post("Low tide at noon");

const end = new AbortController();
await ana
  .watch(async (event) => {
    console.log(
      `${event}:`,
      ana.items.map(({ author, text }) => `${author.nickname.split(" ")[0]}: ${text}`),
    );
    if (event === "open") await ben.post("High tide at six");
    if (event === "content") end.abort();
  }, end.signal)
  .catch((error) => end.signal.aborted || Promise.reject(error));

console.log("unread:", await ana.unread());
await ana.markAsRead(ana.items[0]);
await ana.like(ana.items[0]);
console.log("unread:", await ana.unread(), "likes:", (await ana.timeline().page()).items[0].counts.reactions.like ?? 0);
await ana.comment(ana.items[0], "See you there");
console.log(
  "comments:",
  (await ben.comments(ana.items[0]).page()).items.map(({ text }) => text),
);
console.log("followers of ben:", (await ana.profile(ben.user)).counts.followers);
await ana.tideline
  .timeline(ben.user)
  .page()
  .catch((error) => console.log("the timeline of ben:", error.code));
await ben.block(ana.user);
await ana.profile(ben.user).catch((error) => console.log("ben has blocked ana:", error.code));
