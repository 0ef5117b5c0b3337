"""Users, timelines and items: the main flows, with the mouse, on a phone, and with keys only."""

from urllib.parse import quote

from support.devtools import Page
from support.expect import until

from .proof import DESKTOP, PHONE, POSTS, Proof, Town, act, go, ids, item, look_up, shows

TIMELINE = ["post-0", "post-1", "post-2", "repost-0", *(f"post-{place}" for place in range(3, len(POSTS)))]


def flows(proof: Proof, page: Page, town: Town) -> None:
    """Everything that the user `ada` does, from the first page on."""
    page.wait("!!document.querySelector('.hero')", "the first page")
    look_up(page, "ada")
    shows(page, "Ada Lindqvist")
    shows(page, "Two seals on the far rocks")
    seen = ids(page)
    proof.same("the items", sorted(seen), sorted(TIMELINE))
    proof.same("newest first", seen[:3], TIMELINE[:3])
    counts = "[...document.querySelectorAll('.counts b')].map((count) => count.innerText).join()"
    page.wait(f"{counts} === '0,4,1,1'", "the counts")
    proof.holds("the repost shows its original", page.run("!!document.querySelector('[data-id=repost-0] .original')"))

    # Reactions, as the API has them, by whom the console acts for.
    act(page)
    likes = lambda: town.told("GET", "/v1/content/post-1")["counts"]["reactions"].get("like", 0)
    button = item(page, "post-1", "button.like")
    page.click(button)
    until("the like", lambda: likes() == 1)
    page.wait("document.querySelector(args[0]).ariaPressed === 'true'", "the like is shown", button)
    page.click(button)
    until("the like is taken back", lambda: likes() == 0)
    proof.same("a favorite of before", page.run(f"document.querySelector('{item(page, 'post-1', 'button.favorite')}').ariaPressed"), "true")

    # Publish.
    page.click(".writer textarea")
    page.write("A ship on the horizon #sea")
    page.click(".writer button", "Publish")
    shows(page, "in every follower's timeline")
    newest = town.told("GET", "/v1/users/ada/content")["items"][0]
    proof.same("the published item", (newest["text"], newest["topics"]), ("A ship on the horizon #sea", ["sea"]))
    page.wait(f"{counts} === '1,4,1,1'", "the item is counted")

    # Live.
    before = ids(page)
    for n in range(3):
        town.publish("mei", f"live-{n}", f"Live {n}")
    page.wait("document.querySelector('.pill')?.innerText.trim() === '3 new'", "three new items")
    proof.same("the list does not move by itself", ids(page), before)
    town.told("DELETE", "/v1/content/live-2")
    page.wait("document.querySelector('.pill')?.innerText.trim() === '2 new'", "two new items")
    page.click(".pill")
    page.wait("document.querySelector('article')?.dataset.id === 'live-1'", "the new items")
    proof.same("after the press", ids(page), ["live-1", "live-0", *before])
    town.told("PATCH", "/v1/content/live-0", {"text": "Edited while you look"})
    shows(page, "Edited while you look")
    town.told("DELETE", "/v1/content/live-1")
    page.wait("!document.querySelector('[data-id=live-1]')", "the deleted item goes")

    # Why, and verify.
    page.click(item(page, "live-0", "button"), "More")
    page.click("dialog button", "Why is this here?")
    shows(page, "The timeline shows it.")
    page.click("dialog [aria-label=Close]")
    page.click("main button", "Why?")
    page.wait("document.activeElement.name === 'item'", "the field has the focus")
    page.write("live-1")
    page.press("Enter")
    shows(page, "It was deleted.")
    page.run("document.activeElement.select()")
    page.write("live-9")
    page.press("Enter")
    shows(page, "There is no such item.")
    proof.same("facts of no item", page.run("document.querySelectorAll('dialog dd').length"), 0)
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the window closes")
    page.click("main button", "Verify")
    shows(page, "no difference.")
    page.press("Escape")

    # A user's page: follow, mute.
    page.click(item(page, "post-4", ".names"))
    shows(page, "Dot Harper")
    for label, field, value, after in (
        ("Following", "relation", "none", "Follow"), ("Follow", "relation", "following", "Following"),
        ("Mute", "muted", True, "Unmute"), ("Unmute", "muted", False, "Mute"),
        ("Hide my items", "hidden", True, "Show my items"), ("Show my items", "hidden", False, "Hide my items"),
    ):
        page.click(".profile button", label)
        until(f"{label} at the server", lambda: town.relation("ada", "dot")[field] == value)
        # The buttons move when their texts change.
        page.wait("[...document.querySelectorAll('.profile button')].some((button) => button.innerText.trim() === args[0])", after, after)
    page.click(".tabs a[href$='/followers']")
    shows(page, "Ada Lindqvist")

    # An item: comment, repost, topic, delete.
    go(page, "item/post-0")
    shows(page, "Seals never are.")
    page.click("main .writer textarea")
    page.write("They looked at me")
    page.press("Control+Enter")
    page.wait("[...document.querySelectorAll('.feed article')].some((item) => item.innerText.includes('They looked at me'))", "the comment")
    page.click(".alone button", "1 repost")
    until("the repost", lambda: town.told("GET", "/v1/content/post-0")["counts"]["reposts"] == 2)
    page.click(".alone .topics a", "#sea")
    page.wait("document.querySelector('h1').innerText === '#sea'", "the topic")
    page.wait("args[0].every((id) => document.querySelector(`article[data-id='${id}']`))", "the topic's items", ["post-0", "post-3"])
    go(page, "user/ada")
    page.wait("document.querySelector('article')?.innerText.includes('ship') || document.querySelectorAll('article')[1]?.innerText.includes('ship')", "the own items")
    own = page.run("[...document.querySelectorAll('article')].find((item) => item.innerText.includes('A ship')).dataset.id")
    page.click(item(page, own, "button"), "More")
    page.click("dialog button", "Delete")
    shows(page, "Delete this item?")
    proof.holds("it says whose", "Ada Lindqvist" in page.run("document.querySelector('dialog').innerText"))
    page.click("dialog .strong", "Delete")
    page.wait("!document.querySelector(`article[data-id='${args[0]}']`)", "the deleted item goes", own)
    proof.same("deleted at the server", town.client.call("GET", f"/v1/content/{own}").status, 404)


def desktop(proof: Proof) -> None:
    tideline, town = proof.open_server("desktop")
    town.fill()
    page = proof.page(proof.address(tideline), **DESKTOP)
    flows(proof, page, town)
    proof.clean(page)


def phone(proof: Proof) -> None:
    """The same in a window of 360 pixels, and no page is wider than it."""
    tideline, town = proof.open_server("phone")
    town.fill()
    page = proof.page(proof.address(tideline), **PHONE)
    flows(proof, page, town)
    for place in ("", "timeline/ada", "user/mei/followers", "user/mei/notices", "user/mei/content/select", "item/post-0", "moderation", "changes", "dashboard", "backups", "settings", "timeline/nobody"):
        go(page, place)
        page.settled()
        proof.same(f"{place}: in the window", page.run("document.documentElement.scrollWidth"), 360)
        small = page.run(
            """[...document.querySelectorAll("button, .tabbar a, footer a")].filter((button) => button.checkVisibility())
              .map((button) => button.getBoundingClientRect()).filter(({ width, height }) => Math.min(width, height) < 24).length"""
        )
        proof.same(f"{place}: targets that are too small for a finger", small, 0)
    proof.clean(page)


def keyboard(proof: Proof) -> None:
    """Everything with keys only."""
    tideline, town = proof.open_server("keyboard")
    town.fill()
    page = proof.page(proof.address(tideline))
    page.wait("!!document.querySelector('.hero')", "the first page")
    page.press("Tab")
    proof.same("the first stop", page.run("document.activeElement.className"), "skip")
    page.press("Enter")
    proof.same("the skip link leads to the content", page.run("document.activeElement.id"), "main")
    page.press("/")
    page.write("ada")
    page.press("Enter")
    page.wait("document.querySelectorAll('article').length > 8", "the timeline")
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
    page.press("l")
    shows(page, "View only: this key changes something.")
    page.press("w")
    proof.same("no writer", page.run("!!document.querySelector('.writer')"), False)
    # The switch is a stop of its own.
    page.run("document.querySelector('.mode [role=switch]').focus()")
    page.press(" ")
    page.wait("!!document.querySelector('.mode.acts')", "acting")
    page.run("document.activeElement.blur()")
    page.press("j", "j", "j")
    page.press("l")
    until("the like", lambda: town.told("GET", f"/v1/content/{TIMELINE[2]}")["counts"]["reactions"].get("like", 0) == 1)
    page.press("w")
    page.write("Written without a mouse")
    page.press("Control+Enter")
    until("published", lambda: any(i["text"] == "Written without a mouse" for i in town.told("GET", "/v1/users/ada/content")["items"]))
    page.press("Escape")
    town.publish("bob", "fresh")
    page.wait("!!document.querySelector('.pill')", "a new item")
    page.press("n")
    page.wait("document.activeElement?.dataset.id === 'fresh'", "the new item has the focus")

    # A window keeps the focus, and gives it back.
    page.press("?")
    page.wait("!!document.querySelector('dialog[open]')", "the help")
    for _ in range(6):
        page.press("Tab")
        inside = page.run("!!document.activeElement.closest('dialog') || document.activeElement === document.body")
        proof.holds("the focus stays in the window", inside)
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the help closes")
    proof.same("the focus is where it was", page.run(focused), "fresh")

    # Every button can be reached, in the order in which it is seen.
    page.press("Tab")
    reached = page.run("document.activeElement.closest('[data-id]')?.dataset.id")
    proof.same("the next stop is in the item", reached, "fresh")
    page.press("Enter")
    page.wait("location.hash === '#/user/bob'", "the author's page")
    page.press("g d")
    page.wait("document.querySelector('h1')?.innerText === 'Dashboard'", "the dashboard")
    page.press("g b")
    page.wait("document.querySelector('h1')?.innerText === 'Backups'", "the backups")
    page.press("g s")
    page.wait("document.querySelector('h1')?.innerText === 'Settings'", "the settings")
    page.press("g t")
    page.wait("document.querySelectorAll('article').length > 8", "the timeline again")
    page.press("j", "j", "j", "Enter")
    page.wait("location.hash.startsWith('#/item/')", "the item")
    opened = page.run("location.hash.split('/').pop()")
    page.run("history.back()")
    page.wait("document.activeElement.dataset.id === args[0]", "the opened item has the focus again", opened)
    proof.clean(page)


# Ids that need escapes, in paths and in selectors.
NAMES = ["ann/é", "雪 and #?%", 'quote"\\', "a,b", "\\,", "9223372036854775808"]


def any_ids(proof: Proof) -> None:
    """Ids are any text."""
    tideline, town = proof.open_server("ids")
    for name in NAMES:
        town.follow("reader", name)
        town.publish(name, f"by {name}")
        town.publish("reader", f"for {name}", kind="post")
    page = proof.page(proof.address(tideline))
    page.wait("!!document.querySelector('.hero')", "the first page")
    look_up(page, "reader")
    page.wait("document.querySelectorAll('article').length === args[0]", "all items", len(NAMES))
    proof.same("the items", sorted(ids(page)), sorted(f"by {name}" for name in NAMES))
    for name in NAMES:
        go(page, f"user/{quote(name, safe='')}/followers")
        page.wait("document.querySelector('.person')?.dataset.id === 'reader'", f"the followers of {name}")
        proof.same(f"the head of {name}", page.run("document.querySelector('h1').innerText"), name)
        go(page, f"timeline/{quote(name, safe='')}")
        page.wait("document.querySelector('h1')?.innerText === args[0]", f"the timeline of {name}", name)
        act(page)
        go(page, f"item/{quote(f'by {name}', safe='')}")
        page.click(".alone button.like")
        likes = f"/v1/content/{quote(f'by {name}', safe='')}/reactions/like"
        until(f"the like of {name}", lambda: [i["user_id"] for i in town.told("GET", likes)["items"]] == [name])

    # Each can be followed and unfollowed, on its page and in a list.
    go(page, "timeline/reader")
    page.wait("document.querySelectorAll('article').length === args[0]", "the timeline of before", len(NAMES))
    act(page)
    follows = lambda: {i["user_id"] for i in town.told("GET", "/v1/users/reader/following")["items"]}
    for name in NAMES:
        go(page, f"user/{quote(name, safe='')}")
        page.wait("document.querySelector('h1')?.innerText === args[0]", name, name)
        page.click(".profile .actions button:first-child")
        until(f"{name} is unfollowed", lambda: name not in follows())
        page.click(".profile .actions button:first-child", "Follow")
        until(f"{name} is followed", lambda: name in follows())
    go(page, "user/reader/following")
    page.wait("document.querySelectorAll('.person .actions button').length === args[0]", "a button for each", len(NAMES))
    proof.clean(page)


def resume(proof: Proof) -> None:
    """The stream comes back after the server was away, and tells what was missed."""
    tideline, town = proof.open_server("resume")
    town.fill()
    proxy = proof.proxy(tideline)
    page = proof.page(proxy.address + "#/timeline/ada")
    act(page)
    town.publish("mei", "seen")
    page.wait("document.querySelector('.pill')?.innerText.trim() === '1 new'", "an item")
    tideline.stop()
    page.wait("!document.querySelector('.live-state').innerText.includes('Live')", "the stream is lost")
    tideline.start()
    town = Town(tideline.address)
    for n in range(5):
        town.publish("bob", f"missed-{n}")
    town.told("DELETE", "/v1/content/post-0")
    proxy.server = tideline.address
    page.wait("document.querySelector('.live-state').innerText.includes('Live')", "the stream is back")
    page.wait("document.querySelector('.pill')?.innerText.trim() === '6 new'", "the missed items")
    page.wait("!document.querySelector('[data-id=post-0]')", "the missed delete")
    page.click(".pill")
    page.wait("document.querySelector('article')?.dataset.id === 'missed-4'", "the new items")
    proof.same("the items", sorted(ids(page)), sorted([*(i for i in TIMELINE if i != "post-0"), "seen", *(f"missed-{n}" for n in range(5))]))
    proof.same("paths outside of the prefix", proxy.strays, [])
    proof.clean(page, {502}, is_cut=True)
