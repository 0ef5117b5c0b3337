"""The page of an item: its comments, and the item to which it refers."""

import time


from .proof import HOUR, PHONE, Page, Proof, Town, step

# More than the page has in memory at once.
COMMENTS = 330
# The loaded items, and whether the list ends here, below or (-1) above; null while it is as it was.
LOADED = """(() => {
  const [sign, before] = args;
  const ids = [...document.querySelectorAll(".feed article[data-id]")].map((one) => one.dataset.id);
  const isEnd = sign > 0 ? !!document.querySelector(".feed > .last") && document.documentElement.scrollHeight - innerHeight - scrollY < 2
    : scrollY === 0 && document.querySelector(".feed > .space").offsetHeight === 0;
  const place = [scrollY, ids[0], ids.at(-1)].join();
  return isEnd || place !== before ? { ids, isEnd, place } : null;
})()"""


def gather(page: Page, sign: int) -> list[str]:
    """Goes on through a list to its end, or back to its beginning: the items in the order in which they are loaded."""
    order: dict[str, None] = {}
    place = None
    while True:
        loaded = page.wait(LOADED, f"the list goes on after {len(order)} items, or ends", sign, place)
        order |= dict.fromkeys(loaded["ids"][::sign])
        if loaded["isEnd"]:
            return list(order)
        place = loaded["place"]
        page.stride(sign * 600)


@step(None, fill=None)
def conversation(proof: Proof, town: Town) -> None:
    """The comments on an item stand in the order in which they were made, or the newest first: each once."""
    begin = int(time.time() * 1000) - HOUR
    town.publish("ann", "start", "Who has seen the tide table?")
    names = [f"answer-{n}" for n in range(COMMENTS)]
    # Some have the same time.
    comment = lambda n, name: {
        "author_id": f"guest-{n % 7}", "content_id": name, "text": f"Answer {n}", "kind": "comment", "ref_id": "start",
        "broadcast": False, "published_at": begin + n // 3 * 1000,
    }
    town.told("POST", "/v1/content/batch", {"items": [comment(n, name) for n, name in enumerate(names)]})
    page = proof.page(town.address + "#/timeline/ann")
    page.act()
    page.go("item/start", then="count('.feed article') > 20")
    proof.same("from the first on", gather(page, 1), names)
    page.shows("nothing is newer")
    proof.holds("few of them are loaded", len(page.ids()) < 150)
    # Those that come meanwhile have their places, also between two that were read, and more than fit into one answer.
    late = [f"late-{n}" for n in range(120)]
    town.told("POST", "/v1/content/batch", {"items": [comment(40, name) | {"published_at": begin + 13_500 + n} for n, name in enumerate(late)]})
    town.told("DELETE", "/v1/content/answer-7")
    wanted = [name for name in [*names[:42], *late, *names[42:]] if name != "answer-7"]
    proof.same("back to the first", gather(page, -1)[::-1], wanted)

    page.run("scrollTo(0, 0)")
    page.click("main .writer textarea")
    page.write("Here it is")
    page.press("Control+Enter", shows="Your comment is published.")
    own = town.told("GET", "/v1/content/start/comments?limit=1")["items"][0]["content_id"]
    page.click(".message a", "Show", then=f"alone() === '{own}'")
    page.shows("Who has seen the tide table?")
    page.back()
    page.click("[data-switch=order]", "Show the newest first", then=f"first('.feed article') === '{own}'")
    proof.same("from the newest on", gather(page, 1), [own, *reversed(wanted)])
    page.shows("nothing is older")
    page.run("scrollTo(0, 0)")
    page.click("[data-switch=order]", "Show the oldest first", then="first('.feed article') === 'answer-0'")


@step(None, fill=None)
def references(proof: Proof, town: Town) -> None:
    """A repost and a comment show in short to which item they refer, and tell if it is gone."""
    town.told("PUT", "/v1/users/mei", {"nickname": "Mei Tanaka"})
    name = "a,b\\c"
    town.publish("mei", name, "\n".join(f"Line {n} of the log" for n in range(40)))
    town.publish("bob", "shared", kind="repost", ref_id=name)
    town.told("POST", "/v1/content/a%2Cb%5Cc/comments", {"author_id": "eve", "content_id": "said", "text": "So long"})
    town.publish("bob", "pointer", "See there", kind="note", ref_id=name)
    town.follow("ada", "bob")
    for look in ({}, PHONE):
        page = proof.page(town.address + "#/timeline/ada", "count('article .original') === 2", **look)
        for place in ("shared", "said", "pointer"):
            page.go(f"item/{place}", then=f"alone() === '{place}' && has('.alone .original .text')")
            text = page.run("text('.alone .original')")
            proof.holds(f"{place}: the author", "Mei Tanaka" in text or page.wait("text('.alone .original').includes('Mei Tanaka')", "the name"))
            proof.holds(f"{place}: the first lines", "Line 0 of the log" in text)
            lines = page.run(
                "((text) => text.getBoundingClientRect().height / parseFloat(getComputedStyle(text).lineHeight))"
                "($('.original .text'))"
            )
            proof.same(f"{place}: lines that are shown", round(lines), 4)
            page.click(".original a", "Open the original")
            page.wait("alone() === args[0]", "the original", name)
        proof.clean(page)
    page = proof.page(town.address + "#/item/shared", "has('.alone .original .text')")
    town.told("DELETE", "/v1/content/a%2Cb%5Cc")
    for place in ("said", "pointer", "shared"):
        page.go(f"item/{place}", then=f"alone() === '{place}' && text('.alone .original').includes('not there any more')")
        proof.holds(f"{place}: nothing of it is left", "Line 0" not in page.text())
    page.go("timeline/ada", then="count('article .original') === 2")
    proof.same("nor in lists", page.run("$$('.original').filter((one) => one.innerText.includes('not there any more')).length"), 2)
    page.click("[data-switch=language]", shows="原内容已不存在")
