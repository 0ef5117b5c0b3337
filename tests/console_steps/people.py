"""Users, timelines and items: the main flows, with the mouse, on a phone, and with keys only."""

from urllib.parse import quote

from support.expect import until

from .proof import DESKTOP, PHONE, POSTS, Page, Proof, Town, item, step

TIMELINE = ["post-0", "post-1", "post-2", "repost-0", *(f"post-{place}" for place in range(3, len(POSTS)))]


def flows(proof: Proof, page: Page, town: Town) -> None:
    """Everything that the user `ada` does, from the first page on."""
    page.look_up("ada", shows="Ada Lindqvist")
    page.shows("Two seals on the far rocks")
    seen = page.ids()
    proof.same("the items", sorted(seen), sorted(TIMELINE))
    proof.same("newest first", seen[:3], TIMELINE[:3])
    counts = "texts('.counts b').join()"
    page.wait(f"{counts} === '0,4,1,1'", "the counts")
    proof.holds("the repost shows its original", page.run("has('[data-id=repost-0] .original')"))

    # Reactions, as the API has them, by whom the console acts for.
    page.act()
    button = item("post-1", "button.like")
    page.click(button)
    until("the like", lambda: town.likes("post-1") == 1)
    page.wait("$(args[0]).ariaPressed === 'true'", "the like is shown", button)
    page.click(button)
    until("the like is taken back", lambda: town.likes("post-1") == 0)
    proof.same("a favorite of before", page.run("$(args[0]).ariaPressed", item("post-1", "button.favorite")), "true")

    # Publish.
    page.click(".writer textarea")
    page.write("A ship on the horizon #sea")
    page.click(".writer button", "Publish", shows="in every follower's timeline")
    newest = town.told("GET", "/v1/users/ada/content")["items"][0]
    proof.same("the published item", (newest["text"], newest["topics"]), ("A ship on the horizon #sea", ["sea"]))
    page.wait(f"{counts} === '1,4,1,1'", "the item is counted")

    # Live.
    before = page.ids()
    for n in range(3):
        town.publish("mei", f"live-{n}", f"Live {n}")
    page.wait("text('.pill').trim() === '3 new'", "three new items")
    proof.same("the list does not move by itself", page.ids(), before)
    town.told("DELETE", "/v1/content/live-2")
    page.wait("text('.pill').trim() === '2 new'", "two new items")
    page.click(".pill", then="first() === 'live-1'")
    proof.same("after the press", page.ids(), ["live-1", "live-0", *before])
    town.told("PATCH", "/v1/content/live-0", {"text": "Edited while you look"})
    page.shows("Edited while you look")
    town.told("PATCH", "/v1/content/live-0", {"text": None})
    page.wait("!text('[data-id=live-0]').includes('Edited while you look')", "the text goes that an edit has cleared")
    town.told("DELETE", "/v1/content/live-1")
    page.wait("!has('[data-id=live-1]')", "the deleted item goes")

    # Why, and verify.
    page.more("live-0", "Why is this here?", shows="The timeline shows it.")
    page.click("dialog [aria-label=Close]")
    page.click("main button", "Why?", then="document.activeElement.name === 'item'")
    page.enter("live-1", shows="It was deleted.")
    page.enter("live-9", shows="There is no such item.")
    proof.same("facts of no item", page.run("count('dialog dd')"), 0)
    page.dismiss()
    page.click("main button", "Verify", shows="no difference.")
    page.press("Escape")

    # A user's page: follow, mute.
    page.click(item("post-4", ".names"), shows="Dot Harper")
    for label, field, value, after in (
        ("Following", "relation", "none", "Follow"), ("Follow", "relation", "following", "Following"),
        ("Mute", "muted", True, "Unmute"), ("Unmute", "muted", False, "Mute"),
        ("Hide my items", "hidden", True, "Show my items"), ("Show my items", "hidden", False, "Hide my items"),
    ):
        page.click(".profile button", label)
        until(f"{label} at the server", lambda: town.relation("ada", "dot")[field] == value)
        # The buttons move when their texts change.
        page.wait("$$('.profile button').some((button) => button.innerText.trim() === args[0])", after, after)
    page.click(".tabs a[href$='/followers']", shows="Ada Lindqvist")

    # An item: comment, repost, topic, delete.
    page.go("item/post-0", shows="Seals never are.")
    page.click("main .writer textarea")
    page.write("They looked at me")
    page.press("Control+Enter", then="$$('.feed article').some((item) => item.innerText.includes('They looked at me'))")
    page.click(".alone button", "1 repost")
    until("the repost", lambda: town.told("GET", "/v1/content/post-0")["counts"]["reposts"] == 2)
    page.click(".alone .topics a", "#sea", then="text('h1') === '#sea'")
    page.wait("args[0].every((id) => document.querySelector(`article[data-id='${id}']`))", "the topic's items", ["post-0", "post-3"])
    page.go("user/ada", then="text('article').includes('ship') || $$('article')[1]?.innerText.includes('ship')")
    own = page.run("$$('article').find((item) => item.innerText.includes('A ship')).dataset.id")
    page.more(own, "Delete", shows="Delete this item?")
    proof.holds("it says whose", "Ada Lindqvist" in page.run("text('dialog')"))
    page.click("dialog .strong", "Delete")
    page.wait("!document.querySelector(`article[data-id='${args[0]}']`)", "the deleted item goes", own)
    proof.same("deleted at the server", town.client.call("GET", f"/v1/content/{own}").status, 404)


@step(look=DESKTOP)
def desktop(proof: Proof, page: Page, town: Town) -> None:
    flows(proof, page, town)


@step(look=PHONE)
def phone(proof: Proof, page: Page, town: Town) -> None:
    """The same in a window of 360 pixels, and no page is wider than it."""
    flows(proof, page, town)
    for place in ("", "timeline/ada", "user/mei/followers", "user/mei/notices", "user/mei/content/select", "item/post-0", "moderation", "changes", "dashboard", "backups", "settings", "timeline/nobody"):
        page.go(place)
        page.settled()
        proof.same(f"{place}: in the window", page.run("document.documentElement.scrollWidth"), 360)
        small = page.run(
            """[...document.querySelectorAll("button, .tabbar a, footer a")].filter((button) => button.checkVisibility())
              .map((button) => button.getBoundingClientRect()).filter(({ width, height }) => Math.min(width, height) < 24).length"""
        )
        proof.same(f"{place}: targets that are too small for a finger", small, 0)


@step()
def keyboard(proof: Proof, page: Page, town: Town) -> None:
    """Everything with keys only."""
    page.press("Tab")
    proof.same("the first stop", page.run("document.activeElement.className"), "skip")
    page.press("Enter")
    proof.same("the skip link leads to the content", page.run("document.activeElement.id"), "main")
    page.press("/")
    page.enter("ada", then="count('article') > 8")
    focused = "document.activeElement.dataset.id"
    page.press("j", "j")
    proof.same("two down", page.run(focused), TIMELINE[1])
    page.press("k")
    proof.same("one up", page.run(focused), TIMELINE[0])
    page.press("ArrowDown", "ArrowDown")
    proof.same("by arrows", page.run(focused), TIMELINE[2])
    ring = page.run("getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth")
    proof.same("the focus is seen", ring, "solid3px")
    proof.holds("the focused item is in the window", page.run(
        "(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.activeElement.getBoundingClientRect())"))
    page.press("l", shows="View only: this key changes something.")
    page.press("w")
    proof.same("no writer", page.run("has('.writer')"), False)
    # The switch is a stop of its own.
    page.run("$('.mode [role=switch]').focus()")
    page.press(" ", then="has('.mode.acts')")
    page.run("document.activeElement.blur()")
    page.press("j", "j", "j")
    page.press("l")
    until("the like", lambda: town.likes(TIMELINE[2]) == 1)
    page.press("w")
    page.write("Written without a mouse")
    page.press("Control+Enter")
    until("published", lambda: any(i["text"] == "Written without a mouse" for i in town.told("GET", "/v1/users/ada/content")["items"]))
    page.press("Escape")
    town.publish("bob", "fresh")
    page.wait("has('.pill')", "a new item")
    page.press("n", then="document.activeElement?.dataset.id === 'fresh'")

    # A window keeps the focus, and gives it back.
    page.press("?", then="has('dialog[open]')")
    for _ in range(6):
        page.press("Tab")
        inside = page.run("!!document.activeElement.closest('dialog') || document.activeElement === document.body")
        proof.holds("the focus stays in the window", inside)
    page.dismiss()
    proof.same("the focus is where it was", page.run(focused), "fresh")

    # Every button can be reached, in the order in which it is seen.
    page.press("Tab")
    reached = page.run("document.activeElement.closest('[data-id]')?.dataset.id")
    proof.same("the next stop is in the item", reached, "fresh")
    page.press("Enter", then="location.hash === '#/user/bob'")
    page.press("g d", then="text('h1') === 'Dashboard'")
    page.press("g b", then="text('h1') === 'Backups'")
    page.press("g s", then="text('h1') === 'Settings'")
    page.press("g t", then="count('article') > 8")
    page.press("j", "j", "j", "Enter", then="location.hash.startsWith('#/item/')")
    opened = page.run("location.hash.split('/').pop()")
    page.back(then=f"document.activeElement.dataset.id === '{opened}'")


# Ids that need escapes, in paths and in selectors.
NAMES = ["ann/é", "雪 and #?%", 'quote"\\', "a,b", "\\,", "9223372036854775808"]


@step(None, fill=None)
def any_ids(proof: Proof, town: Town) -> None:
    """Ids are any text."""
    for name in NAMES:
        town.follow("reader", name)
        town.publish(name, f"by {name}")
        town.publish("reader", f"for {name}", kind="post")
    page = proof.page(town.address, "has('.hero')")
    page.look_up("reader", then=f"count('article') === {len(NAMES)}")
    proof.same("the items", sorted(page.ids()), sorted(f"by {name}" for name in NAMES))
    for name in NAMES:
        page.go(f"user/{quote(name, safe='')}/followers", then="$('.person')?.dataset.id === 'reader'")
        proof.same(f"the head of {name}", page.run("text('h1')"), name)
        page.go(f"timeline/{quote(name, safe='')}")
        page.wait("text('h1') === args[0]", f"the timeline of {name}", name)
        page.act()
        page.go(f"item/{quote(f'by {name}', safe='')}")
        page.click(".alone button.like")
        likes = f"/v1/content/{quote(f'by {name}', safe='')}/reactions/like"
        until(f"the like of {name}", lambda: [i["user_id"] for i in town.told("GET", likes)["items"]] == [name])

    # Each can be followed and unfollowed, on its page and in a list.
    page.go("timeline/reader", then=f"count('article') === {len(NAMES)}")
    page.act()
    follows = lambda: {i["user_id"] for i in town.told("GET", "/v1/users/reader/following")["items"]}
    for name in NAMES:
        page.go(f"user/{quote(name, safe='')}")
        page.wait("text('h1') === args[0]", name, name)
        page.click(".profile .actions button:first-child")
        until(f"{name} is unfollowed", lambda: name not in follows())
        page.click(".profile .actions button:first-child", "Follow")
        until(f"{name} is followed", lambda: name in follows())
    page.go("user/reader/following", then=f"count('.person .actions button') === {len(NAMES)}")


@step(None, refused={502}, is_cut=True)
def resume(proof: Proof, town: Town) -> None:
    """The stream comes back after the server was away, and tells what was missed."""
    proxy = proof.proxy(town.tideline)
    page = proof.page(proxy.address + "#/timeline/ada")
    page.act()
    town.publish("mei", "seen")
    page.wait("text('.pill').trim() === '1 new'", "an item")
    town.tideline.stop()
    page.wait("!text('.live-state').includes('Live')", "the stream is lost")
    # For the page it is away until all of that has happened.
    proxy.server = ("127.0.0.1", 1)
    town.tideline.start()
    for n in range(5):
        town.publish("bob", f"missed-{n}")
    town.told("DELETE", "/v1/content/post-0")
    proxy.server = town.tideline.address
    page.wait("text('.live-state').includes('Live')", "the stream is back")
    page.wait("text('.pill').trim() === '6 new'", "the missed items")
    page.wait("!has('[data-id=post-0]')", "the missed delete")
    page.click(".pill", then="first() === 'missed-4'")
    proof.same("the items", sorted(page.ids()), sorted([*(i for i in TIMELINE if i != "post-0"), "seen", *(f"missed-{n}" for n in range(5))]))
    proof.same("paths outside of the prefix", proxy.strays, [])
