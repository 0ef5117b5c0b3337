"""A long timeline, read to its end and back while items arrive."""

import threading
import time

from support.expect import until

from .proof import HOUR, Proof, Town, step

AUTHORS = 20
# More memory or nodes than this after the middle of the way would be a leak: bytes, nodes.
MOST_BYTES = 6 << 20
MOST_NODES = 12_000

# What the page watches: each item at each frame in which it is loaded, and the place of the one that is being read.
WATCH = """(() => {
  const seen = new Set(), order = [], faults = [];
  window.watched = { seen, order, faults, frames: 0, reading: null };
  const look = () => {
    const items = [...document.querySelectorAll("article[data-id]")];
    const ids = items.map((item) => item.dataset.id);
    if (new Set(ids).size !== ids.length) faults.push(`twice at once: ${ids.filter((id, i) => ids.indexOf(id) !== i)}`);
    for (const id of ids) if (!seen.has(id)) { seen.add(id); order.push(id); }
    const { reading } = watched;
    if (reading) {
      const item = document.querySelector(`[data-id="${reading.id}"]`);
      const moved = item ? item.getBoundingClientRect().top - reading.top : "gone";
      if (moved === "gone" || Math.abs(moved) > 1) { faults.push(`${reading.id} moved: ${moved}`); watched.reading = null; }
    }
    watched.frames++;
    requestAnimationFrame(look);
  };
  look();
})()"""

# Holds the first item in the window, and tells one that is loaded and stands above the window; lets it go again.
READ = """(() => {
  const items = [...document.querySelectorAll("article[data-id]")];
  const place = items.findIndex((item) => item.getBoundingClientRect().top > 110);
  watched.reading = { id: items[place].dataset.id, top: items[place].getBoundingClientRect().top };
  return items.slice(0, Math.max(0, place - 4)).map((item) => item.dataset.id).findLast((id) => id.startsWith("item-"));
})()"""
REST = "(watched.reading = null, watched.faults)"


class Arrivals(threading.Thread):
    """Publishes at a steady rate; some with an old time, so that they have a place far below."""

    def __init__(self, town: Town, count: int, oldest: int):
        super().__init__(daemon=True)
        self.town = Town(town.tideline, town.address)
        self.count = count
        self.oldest = oldest
        self.newest: list[str] = []
        self.old: list[str] = []
        self.ended = False

    def run(self) -> None:
        for n in range(self.count):
            if n % 10 == 9:
                name = f"old-{n}"
                self.old.append(name)
                self.town.publish(f"author-{n % AUTHORS}", name, "An old one", published_at=self.oldest + n * 997)
            else:
                name = f"arrival-{n}"
                self.newest.append(name)
                self.town.publish(f"author-{n % AUTHORS}", name, f"Arrival {n}")
            time.sleep(0.02)
        self.ended = True


@step(None, fill=None)
def far(proof: Proof, town: Town) -> None:
    count, arrivals = proof.args.items, proof.args.arrivals
    town.follow("reader", *(f"author-{n}" for n in range(AUTHORS)))
    newest = int(time.time() * 1000) - HOUR
    oldest = newest - count * 1000
    names = [f"item-{n}" for n in range(count)]
    for begin in range(0, count, 500):
        batch = [
            {
                "author_id": f"author-{n * 7 % AUTHORS}", "content_id": names[n], "published_at": newest - n * 1000,
                "text": f"Item {n}. " + "Some words that need more than one line in a narrow window. " * (n * 5 % 4), "topics": ["long"] * (n % 3 == 0),
            }
            for n in range(begin, min(begin + 500, count))
        ]
        town.told("POST", "/v1/content/batch", {"items": batch})
    page = proof.page(town.address + "#/timeline/reader", "count('article') >= 20", width=1000, height=900)
    page.act()
    page.run(WATCH)
    stream = Arrivals(town, arrivals, oldest)
    stream.start()

    figures: list[dict[str, float]] = []
    most_items = 0

    def rest() -> None:
        """Reads for a while. What is read stays where it is, also when an item comes in above it."""
        above = page.run(READ)
        if above:
            town.publish("author-0", f"above-{down}", "Late", published_at=newest - int(above.removeprefix("item-")) * 1000 - 500)
            page.wait("!!document.querySelector(`[data-id='${args[0]}']`)", "an item above the window", f"above-{down}")
        page.drawn()
        proof.same("what is read does not move", page.run(REST), [])

    down = 0
    ended = "has('.feed > .last') && document.documentElement.scrollHeight - innerHeight - scrollY < 300"
    while not page.run(ended):
        most_items = max(most_items, page.stride(2200))
        down += 1
        if down % 60 == 0:
            figures.append(page.memory())
        if down % 25 == 0:
            rest()
        if down > count:
            proof.same("an end", down, f"at most {count} steps")
            break
    stream.join(timeout=120)
    until("all arrivals", lambda: stream.ended)
    counted = f"{len(stream.newest):,} new" if len(stream.newest) < 1000 else "1,000 new or more"
    page.wait(f"text('.pill').trim() === '{counted}'", "the new items are counted, and none is shown")
    order = page.run("watched.order")
    proof.same("missing items", [name for name in names if name not in set(order)][:5], [])
    proof.holds("the order", [name for name in order if name.startswith("item-")] == names)
    proof.same("arrivals in the list", [name for name in order if name.startswith("arrival-")], [])
    proof.same("faults on the way", page.run("watched.faults.slice(0, 5)"), [])
    figures.append(page.memory())

    # Back to the top, by steps, and then by the scrollbar to the middle.
    while page.run("scrollY > 1500"):
        most_items = max(most_items, page.stride(-2600))
        down += 1
        if down % 60 == 0:
            figures.append(page.memory())
        if down % 50 == 0:
            rest()
    page.run("scrollTo(0, 0)")
    page.wait("first() === 'item-0'", "the top again")
    figures.append(page.memory())
    page.run("scrollTo(0, document.documentElement.scrollHeight / 2)")
    page.stride(0)
    middle = page.run("$$('article[data-id^=item-]').map((item) => Number(item.dataset.id.slice(5)))")
    proof.holds(f"about the middle: {middle[:3]}", middle and count * 0.3 < middle[0] < count * 0.7)
    proof.same("in order there", middle, sorted(middle))
    page.click(".pill", then=f"first() === '{stream.newest[-1]}'")
    proof.same("the pill goes", page.run("has('.pill')"), False)
    proof.same("faults on the way", page.run("watched.faults.slice(0, 5)"), [])

    half = figures[len(figures) // 3]
    last = figures[-1]
    print(f"  {down} steps, at most {most_items} items loaded; memory in MiB: "
          + ", ".join(f"{figure['bytes'] / 2**20:.1f}" for figure in figures)
          + f"; nodes: {half['nodes']:.0f} to {last['nodes']:.0f}")
    # The watcher above keeps the ids of all items that it has seen; they are few bytes each.
    proof.holds(f"memory stays flat: {half} to {last}", last["bytes"] - half["bytes"] < MOST_BYTES)
    proof.holds(f"nodes are bounded: {max(figure['nodes'] for figure in figures)}", max(figure["nodes"] for figure in figures) < MOST_NODES)
    proof.holds(f"few items are loaded: {most_items}", most_items <= 160)
