// Links into the documentation of this release.

import { html } from "./view.js";

const base = document.querySelector('meta[name="tideline-docs"]').content;

// The address of a place such as "docs/use/api.md#publish".
export const docs = (place) => base + place;

export const Docs = ({ place, children }) => html`<a class="doc" href=${docs(place)} target="_blank" rel="noreferrer">${children ?? html`<code>${place}</code>`}</a>`;
