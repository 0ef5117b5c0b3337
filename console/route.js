// The place in the console: the part of the address behind `#`, so that the server needs to know no other page.

import { Box } from "./box.js";

const read = () => {
  try {
    return location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  } catch {
    return ["?"]; // no page has this name
  }
};

export const route = new Box(read());
addEventListener("hashchange", () => route.set(read()));

// The address of a page: `to("user", id, "followers")`. Ids may be any text.
export const to = (...parts) => `#/${parts.map(encodeURIComponent).join("/")}`;

export const go = (...parts) => {
  location.hash = to(...parts);
};
