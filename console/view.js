// The library for views, in one place: templates in HTML, components, hooks.

import htm from "./vendor/htm.js";
import { h } from "./vendor/preact.js";

export { Component, Fragment, createRef, render } from "./vendor/preact.js";
export { useEffect, useMemo, useRef, useState } from "./vendor/hooks.js";

export const html = htm.bind(h);
