// Links to the parts of a page, of which one is shown.

import { short } from "./texts.js";
import { html, useEffect, useRef } from "./view.js";

// `tabs` are `[name, address, text, count]`; a count may be missing. In a narrow window the row goes on beyond its edge, so the present one is brought into
// view.
export function Tabs({ label, shown, tabs, kind = "" }) {
  const row = useRef(null);
  useEffect(() => {
    const here = row.current.querySelector("[aria-current]");
    row.current.scrollLeft = here.offsetLeft - (row.current.clientWidth - here.offsetWidth) / 2;
  }, [shown]);
  return html`<nav class=${`tabs ${kind}`} ref=${row} aria-label=${label}>
    ${tabs.map(([name, address, text, count]) => html`<a key=${name} href=${address} aria-current=${name === shown ? "page" : undefined}>${text}${count !== undefined && html` <small>${short(count)}</small>`}</a>`)}
  </nav>`;
}
