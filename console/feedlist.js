// Shows a `Feed`: its loaded run between two spaces, and keeps the item that is being read in its place.

import { Problem as ProblemBox } from "./parts.js";
import { t } from "./texts.js";
import { Component, createRef, html } from "./view.js";

// Pages are loaded when the run ends less than so many heights of the window away.
const AHEAD = 1.5;

// The height of what covers the top of the window.
const covered = () => document.querySelector(".top")?.getBoundingClientRect().bottom ?? 0;

export class FeedList extends Component {
  list = createRef();
  run = createRef();
  #anchor = null;
  #frame = 0;

  componentDidMount() {
    this.#attach(this.props.feed);
    addEventListener("scroll", this.#soon, { passive: true });
    addEventListener("resize", this.#soon);
  }

  componentDidUpdate(before) {
    if (before.feed !== this.props.feed) {
      this.#detach(before.feed);
      this.#attach(this.props.feed);
    }
    this.#restore();
    this.#soon();
  }

  componentWillUnmount() {
    this.#detach(this.props.feed);
    removeEventListener("scroll", this.#soon);
    removeEventListener("resize", this.#soon);
    cancelAnimationFrame(this.#frame);
  }

  #attach(feed) {
    feed.view = { before: this.#hold, after: () => this.setState({}), height: this.#height };
    if (feed.pages.length) {
      // Shown before: the heights are as they were, so the place is, too.
      this.forceUpdate(() => {
        scrollTo({ top: feed.scroll, behavior: "instant" });
        const item = feed.focused !== null && this.run.current?.querySelector(`[data-id="${CSS.escape(feed.focused)}"]`);
        if (item) (item.matches("[tabindex]") ? item : item.querySelector("a")).focus({ preventScroll: true });
      });
    } else if (!feed.busy) feed.start();
  }

  #detach(feed) {
    // Heights are needed when the run is shown again and folded.
    for (const page of feed.pages.slice(feed.from, feed.to)) page.height = this.#height(page) ?? page.height;
    feed.view = null;
    const item = document.activeElement?.closest("[data-id]");
    feed.focused = item && this.run.current?.contains(item) ? item.dataset.id : null;
  }

  // Remembers the place of the item that is being read: the first that is not above the window.
  #hold = () => {
    if (this.#anchor || !this.run.current) return;
    const top = covered();
    const items = [...this.run.current.querySelectorAll("[data-id]")];
    const seen = items.findIndex((item) => item.getBoundingClientRect().bottom > top);
    // Further ones, because the first may be deleted.
    const places = items.slice(seen < 0 ? items.length : seen, seen + 10);
    this.#anchor = places.map((item) => [item.dataset.id, item.getBoundingClientRect().top]);
  };

  #restore() {
    const anchor = this.#anchor;
    this.#anchor = null;
    if (!anchor || !this.run.current) return;
    for (const [id, place] of anchor) {
      const item = this.run.current.querySelector(`[data-id="${CSS.escape(id)}"]`);
      if (!item) continue;
      const moved = item.getBoundingClientRect().top - place;
      if (Math.abs(moved) >= 0.5) scrollBy({ top: moved, behavior: "instant" });
      return;
    }
  }

  #height = (page) =>
    this.run.current?.querySelector(`[data-page="${page.key}"]`)?.getBoundingClientRect().height ?? null;

  #soon = () => {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(this.#check);
  };

  // Loads what is needed at this place.
  #check = () => {
    const { feed } = this.props;
    if (!this.run.current || !feed.pages.length) return;
    feed.scroll = scrollY;
    if (feed.busy || feed.problem) return;
    const { top, bottom } = this.run.current.getBoundingClientRect();
    const most = AHEAD * innerHeight;
    if (bottom < -most || top > innerHeight + most) this.#seek();
    else if (bottom < innerHeight + most && (feed.to < feed.pages.length || !feed.ended)) feed.older();
    else if (top > -most && feed.from > 0) feed.up();
  };

  #seek() {
    const { feed } = this.props;
    let place = this.list.current.getBoundingClientRect().top;
    const index = feed.pages.findIndex((page) => {
      place += page.items ? this.#height(page) : page.height;
      return place > 0;
    });
    feed.seek(index < 0 ? feed.pages.length - 1 : index);
  }

  render({ feed, item, empty, label, end = t("the_end"), role = "feed" }) {
    const run = feed.pages.slice(feed.from, feed.to);
    const before = feed.pages.slice(0, feed.from).reduce((sum, page) => sum + page.count, 0);
    let place = before;
    const first = feed.busy === "first" && !feed.pages.length;
    return html`
      <div class="feed" ref=${this.list}>
        <div class="space" aria-hidden="true" style=${{ height: `${feed.above}px` }}></div>
        <div ref=${this.run} role=${run.length ? role : undefined} aria-label=${run.length ? label : undefined}
          aria-busy=${role === "feed" && run.length ? String(feed.busy !== null) : undefined}>
          ${run.map(
            (page) => html`<div key=${page.key} data-page=${page.key} role="presentation" class="page">
              ${page.items.map((entry) => item(entry, ++place))}
            </div>`,
          )}
        </div>
        <div class="space" aria-hidden="true" style=${{ height: `${feed.below}px` }}></div>
        ${first && html`<${Skeleton} />`}
        ${feed.problem && html`<${ProblemBox} problem=${feed.problem} retry=${() => this.#retry()} />`}
        ${!feed.busy && !feed.problem && feed.ended && !feed.pages.some((page) => page.count) && empty}
        ${feed.ended && feed.to === feed.pages.length && run.length > 0 && html`<p class="end last">${end}</p>`}
        ${feed.busy === "older" && feed.to === feed.pages.length && html`<p class="end">${t("loading")}</p>`}
      </div>`;
  }

  #retry() {
    const { feed } = this.props;
    feed.problem = null;
    if (feed.pages.length) this.setState({});
    else feed.start();
  }
}

function Skeleton() {
  return html`<div class="skeleton" role="status" aria-label=${t("loading")}>
    ${[1, 2, 3, 4].map((n) => html`<div key=${n} class="bone"><i></i><b></b><b></b><b></b></div>`)}
  </div>`;
}
