// A value that tells its listeners when it changes.

import { useEffect, useState } from "./view.js";

export class Box {
  #listeners = new Set();

  constructor(value) {
    this.value = value;
  }

  set(value) {
    if (Object.is(value, this.value)) return;
    this.value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  // Calls a function at each change; returns a function that ends this.
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

// The value of a box; the component is drawn again when it changes.
export function useBox(box) {
  const [, redraw] = useState(0);
  const { value } = box;
  useEffect(() => {
    // It may have changed between drawing and listening.
    if (!Object.is(value, box.value)) redraw((n) => n + 1);
    return box.listen(() => redraw((n) => n + 1));
  }, [box]);
  return value;
}

// A box whose value outlives the page, unless the browser keeps nothing.
export function kept(name, fallback, store = localStorage) {
  const read = () => {
    try {
      return JSON.parse(store.getItem(name)) ?? fallback;
    } catch {
      return fallback;
    }
  };
  const box = new Box(read());
  box.listen((value) => {
    try {
      store.setItem(name, JSON.stringify(value));
    } catch {
      // Full, or forbidden: the value lasts as long as the page.
    }
  });
  return box;
}
