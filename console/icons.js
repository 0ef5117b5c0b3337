// Icons, drawn in lines on a grid of 24.

import { html } from "./view.js";

const paths = {
  back: "M15 5l-7 7 7 7",
  bell: "M6 16v-5a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4",
  chart: "M4 20h16M7 16v-5M12 16V5M17 16v-8",
  check: "M5 13l4 4L19 7",
  comment: "M20 12a7 7 0 0 1-7 7H5l1.8-2.6A7 7 0 1 1 20 12z",
  cross: "M6 6l12 12M18 6L6 18",
  down: "M12 4v11m0 0l-4.5-4.5M12 15l4.5-4.5M5 20h14",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  globe: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM3.5 9.5h17M3.5 14.5h17M12 3c-5 5-5 13 0 18M12 3c5 5 5 13 0 18",
  heart: "M12 20S4 15 4 9.3A4.3 4.3 0 0 1 12 7a4.3 4.3 0 0 1 8 2.3C20 15 12 20 12 20z",
  home: "M4 11l8-7 8 7v9h-5.5v-6h-5v6H4z",
  key: "M14.5 3.5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM10 13.5L3.5 20v.5H7v-2.5h2.5V15.5M16 8v.1",
  left: "M14 4h5v16h-5M4 12h11M8 8l-4 4 4 4",
  moon: "M19.5 14.5A8 8 0 1 1 9.5 4.5a6.5 6.5 0 0 0 10 10z",
  more: "M5 11.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2zM12 11.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2zM19 11.4a.6.6 0 1 0 0 1.2.6.6 0 0 0 0-1.2z",
  list: "M9 6h11M9 12h11M9 18h11M4.5 6v.1M4.5 12v.1M4.5 18v.1",
  mute: "M4 9.5v5h3.5L12 18V6L7.5 9.5zM16 9.5l4.5 5M20.5 9.5l-4.5 5",
  pen: "M4 20l1-4.5L16 4.5l3.5 3.5L8.5 19zM14 6.5l3.5 3.5",
  question: "M9 9.2a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.8v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18z",
  repost: "M5 13V9a3 3 0 0 1 3-3h10m0 0l-3-3m3 3l-3 3M19 11v4a3 3 0 0 1-3 3H6m0 0l3-3m-3 3l3 3",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5",
  shield: "M12 3l7.5 3v5.5c0 4.5-3.2 8-7.5 9.5-4.3-1.5-7.5-5-7.5-9.5V6zM8.5 12l2.5 2.5 4.5-5",
  sliders: "M4 7h8M17 7h3M4 17h3M12 17h8M14.5 4.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM9.5 14.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z",
  star: "M12 4l2.5 5.3 5.7.8-4.1 4.1 1 5.8-5.1-2.8L6.9 20l1-5.8-4.1-4.1 5.7-.8z",
  store: "M4 7c0-2 3.6-3 8-3s8 1 8 3-3.6 3-8 3-8-1-8-3zM4 7v10c0 2 3.6 3 8 3s8-1 8-3V7M4 12c0 2 3.6 3 8 3s8-1 8-3",
  sun: "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13M10.5 11v5.5M13.5 11v5.5",
  up: "M12 19V6m0 0l-5.5 5.5M12 6l5.5 5.5",
  user: "M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4.5 20.5c.5-4 3.5-6 7.5-6s7 2 7.5 6",
  // The first character of the name of the Chinese language.
  zhong: "M5.5 8.5h13v6.5h-13zM12 4v16.5",
  auto: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 3v18M12 7l5.5-1M12 12h9M12 17l5.5 1",
};

export function Icon({ name, filled }) {
  return html`<svg class=${filled ? "icon filled" : "icon"} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d=${paths[name]} />
  </svg>`;
}

// The waves of the name.
export function Logo() {
  return html`<svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="9" class="logo-ground" />
    <path class="logo-wave" d="M5 12.5c3.7-4 7.3-4 11 0s7.3 4 11 0" />
    <path class="logo-wave two" d="M5 18.5c3.7-4 7.3-4 11 0s7.3 4 11 0" />
    <path class="logo-wave three" d="M5 24.5c3.7-4 7.3-4 11 0s7.3 4 11 0" />
  </svg>`;
}
