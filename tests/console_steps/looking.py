"""Looking changes nothing; acting is a switch that is seen on every page."""

import time

from support.expect import until

from .proof import PHONE, Page, Proof, Town, item, step

SWITCH = ".mode [role=switch]"
MODE = "text('.mode')"
# A phone whose first window the issue measures.
TALL = PHONE | {"width": 390, "height": 844}
# The part of the window in which items are seen: between what covers its top and the navigation at its foot.
SHARE = """(() => {
  const items = document.querySelector(".feed").getBoundingClientRect();
  const foot = document.querySelector(".tabbar").getBoundingClientRect().top;
  return (foot - items.top) / innerHeight;
})()"""


def copied(town: Town, user: str, content_id: str) -> bool:
    """Whether an item of a large author was copied into the inbox of a user: only those of active users get it."""
    found = town.told("GET", f"/v1/admin/users/{user}/timeline/explain?content_id={content_id}")
    return found["paths"][0]["in_inbox"]


# Whether a place lies over any of the places that follow: of an element, and of others.
OVER = """(([upper, lower]) => {
  const { left, right, top, bottom } = document.querySelector(upper).getBoundingClientRect();
  return [...document.querySelectorAll(lower)].filter((one) => {
    const place = one.getBoundingClientRect();
    return place.left < right && place.right > left && place.top < bottom && place.bottom > top;
  }).map((one) => one.innerText);
})(args)"""


@step(settings={"fanout.push_threshold": "0", "fanout.chunk": "1"})
def looking(proof: Proof, page: Page, town: Town) -> None:
    """A timeline that is opened marks nothing, and offers nothing in the name of its user."""
    page.look_up("ada", then="count('article') > 8")
    proof.same("the words of the mode", page.run(MODE).startswith("View only: Ada Lindqvist"), True)
    proof.same("what is offered", set(page.offers()), {"Why?", "Verify", "Every 10 s", "More"})
    counts = town.told("GET", "/v1/content/post-0")["counts"]
    for key in ("j", "l", "w", "l"):
        page.press(key)
    page.shows("View only: this key changes something.")
    # New items are counted without a stream.
    town.publish("mei", "counted")
    page.wait("text('.pill').trim() === '1 new'", "a new item")
    proof.same("what the button is over", page.run(OVER, ".pill", "h1, .marks, .counts, article header"), [])
    page.click(".pill", then="first() === 'counted'")
    # Nobody who only looks is asked for a comment.
    page.go("item/counted", shows="No comments yet")
    proof.same("what it says", page.run("text('main .empty p')"), "")
    for place in ("user/ada/notices", "user/mei", "item/post-0", "moderation", "changes", "dashboard", "backups", "settings", "nonsense", ""):
        page.go(place, then=f"{MODE}.startsWith('View only: Ada Lindqvist')")
    page.go("user/mei", then="count('.profile button') > 0")
    proof.same("counts on tabs", page.run("$$('.tabs a').filter((tab) => tab.querySelector('small')).map((tab) => tab.innerText)"), ["Items 3", "Following 2", "Followers 2", "Friends 1"])
    proof.same("buttons for an operator only", page.offers(".profile button"), ["Suspend"])
    # While the next timeline loads, nothing has the name of the one before.
    town.told("PUT", "/v1/users/zoe", {"nickname": "Zoe Winter"})
    page.run("""(window.fetch = ((ask) => async (url, options) => {
      if (new URL(url).pathname.endsWith("/users/zoe")) await new Promise((go) => (window.answer = go));
      return ask(url, options);
    })(fetch), true)""")
    page.go("timeline/zoe", then="!!window.answer")
    loading = page.run(f"[{MODE}, document.title]")
    proof.same("names while it loads", [text.split(" the user")[0] for text in loading], ["View only: zoe", f"zoe · Tideline · {page.run('location.host')}"])
    page.run("(window.answer(), true)")
    page.wait(f"{MODE}.startsWith('View only: Zoe Winter')", "the name")
    proof.same("online", town.told("GET", "/v1/users/ada/presence")["online"], False)
    proof.same("reactions", town.told("GET", "/v1/content/post-0")["counts"], counts)
    proof.same("the markers", [town.told("GET", f"/v1/users/ada/{one}")["cursor"] for one in ("marker", "notices/marker")], [None, None])
    time.sleep(1)
    town.publish("mei", "after-a-look")
    until("the item", lambda: town.told("GET", "/v1/users/ada/timeline?peek=true&limit=1")["items"][0]["content_id"] == "after-a-look")
    time.sleep(1)
    proof.same("the user is as dormant as before", copied(town, "ada", "after-a-look"), False)
    asked = page.run("performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/users/ada/timeline') && !name.includes('peek=true') || name.includes('/users/ada/stream'))")
    proof.same("reads that mark the user", asked, [])


@step("timeline/ada")
def acting(proof: Proof, page: Page, town: Town) -> None:
    """The switch shows in colour and words, holds for the tab, and ends on the timeline of another user."""
    colour = "getComputedStyle($('.mode')).backgroundColor"
    page.wait("count('article') > 8", "the timeline")
    before = page.run(colour)
    page.run("scrollTo(0, 300)")
    top = page.run("$('article:nth-of-type(3)').getBoundingClientRect().top")
    page.click(SWITCH, then=f"{MODE}.startsWith('Acting as Ada Lindqvist')")
    proof.holds("another colour", page.run(colour) != before)
    until("online by the stream", lambda: town.told("GET", "/v1/users/ada/presence")["online"])
    # The writer comes above what is read, in a place of its own.
    proof.holds("the list is the same", page.run("count('article')") > 8 and top)
    for place in ("user/mei", "item/post-0", "moderation", "changes", "dashboard", "backups", "settings", "nonsense", ""):
        page.go(place, then=f"{MODE}.startsWith('Acting as Ada Lindqvist') && {colour} !== '{before}'")
    page.open(town.address + "#/user/mei", then=f"{MODE}.startsWith('Acting as Ada Lindqvist')")
    page.click(".profile button", "Following")
    until("unfollowed by the acting user", lambda: town.relation("ada", "mei")["relation"] == "followed_by")
    other = proof.page(town.address + "#/user/mei", "has('.profile button')")
    proof.same("another tab acts for nobody", other.run("has('.mode')"), False)
    proof.clean(other)
    page.go("timeline/mei", shows="You no longer act as Ada Lindqvist.")
    page.wait(f"{MODE}.startsWith('View only: Mei Tanaka')", "the mode on another timeline")
    until("offline again", lambda: not town.told("GET", "/v1/users/ada/presence")["online"])
    proof.same("the other user", town.told("GET", "/v1/users/mei/presence")["online"], False)
    page.act()
    page.click(item("post-1", "button.like"))
    until("the like of who acts", lambda: town.likes("post-1") == 1)
    page.click(SWITCH, then=f"{MODE}.startsWith('View only: Mei Tanaka')")
    page.wait("!has('article button.like, .writer')", "nothing is offered")
    until("offline by the switch", lambda: not town.told("GET", "/v1/users/mei/presence")["online"])


@step(None)
def first_window(proof: Proof, town: Town) -> None:
    """On a phone two thirds of the first window are items, also for who acts; ids and names cannot turn a line."""
    turned, whole = "\u202edlrow", "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
    town.told("PUT", "/v1/users/zero", {"nickname": "a\u200bb\u2066c"})
    for author in (turned, "zero"):
        town.publish(author, f"of-{author}", "An item")
    town.follow("ada", turned, "zero")
    page = proof.page(town.address + "#/timeline/ada", "count('article') > 10", **TALL)
    share = page.run(SHARE)
    proof.holds(f"items in the window of who looks: {share:.0%}", share >= 2 / 3)
    page.act()
    share = page.run(SHARE)
    proof.holds(f"items in the window of who acts: {share:.0%}", share >= 2 / 3)
    names = "$$('article').map((one) => one.querySelector('.names').innerText.replace(/\\s+/g, ' ').trim())"
    seen = page.run(names)
    proof.holds(f"the id: {seen}", "U+202Edlrow" in seen)
    proof.holds(f"the name: {seen}", "aU+200BbU+2066c zero" in seen)
    # An id is whole, or has no middle, on the page of the user and above the timeline.
    town.told("PUT", f"/v1/users/{whole}", {"nickname": "Marta Wolfeschlegel"})
    town.publish(whole, "hers")
    cut = """[...document.querySelectorAll(".mode p, .marks, .marks .id")].filter((one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 2)
      .map((one) => one.innerText)"""
    for place in ("user", "timeline"):
        page.go(f"{place}/{whole}", then="text('.marks').includes('0190')")
        proof.same(f"cut on the page {place}", page.run(cut), [])
    page.go(f"user/{turned}", then="text('h1') === 'U+202Edlrow'")
    page.wait("document.title === `⟨U+202E⟩dlrow · Tideline · ${location.host}`", "the title")


@step(None)
def first_visit(proof: Proof, town: Town) -> None:
    """A first visit takes three files, compressed."""
    page = proof.page(town.tideline.url + "/", "has('.hero')")
    page.settled()
    entries = """performance.getEntriesByType("resource").concat(performance.getEntriesByType("navigation"))
      .map(({ name, encodedBodySize, decodedBodySize }) => [name, encodedBodySize, decodedBodySize])"""
    asked = page.run(entries)
    loaded = [one for one in asked if "/v1/" not in one[0]]
    proof.same("files of a first visit", len(loaded), 3)
    proof.holds(f"they are compressed: {loaded}", all(packed < plain for _, packed, plain in loaded))
    print(f"  {sum(packed for _, packed, _ in loaded):,} bytes, {sum(plain for _, _, plain in loaded):,} uncompressed; "
          f"{len(asked)} requests with those of the API")
