"""Deleted items, sweeps, suspensions, notices and the feed of changes."""

import re

from .proof import PHONE, SOURCE, Proof, Town, act, go, ids, item, shows

ROWS = "[...document.querySelectorAll('.taken')].map((row) => row.innerText.split(/\\s+/).filter(Boolean).join(' '))"
CHOSEN = "document.querySelector('.sweep [role=status]')?.innerText ?? ''"


def gone(proof: Proof) -> None:
    """A delete asks, says whom it concerns, and is taken back: at once, on the page of the item, and by moderation."""
    tideline, town = proof.open_server("gone")
    town.fill()
    page = proof.page(proof.address(tideline) + "#/user/mei")
    page.click(item(page, "post-0", "button"), "More")
    proof.same("no raw data beside it", page.run("document.querySelectorAll('dialog pre').length"), 0)
    page.click("dialog button", "Delete")
    shows(page, "Delete this item?")
    asked = page.run("document.querySelector('dialog').innerText")
    proof.holds(f"whose, and which: {asked}", "Mei Tanaka" in asked and "Low tide at six" in asked)
    page.press("Enter")
    page.wait("!document.querySelector('dialog')", "Enter is no")
    proof.same("nothing is deleted", town.client.call("GET", "/v1/content/post-0").status, 200)
    page.click(item(page, "post-0", "button"), "More")
    page.click("dialog button", "Delete")
    page.click("dialog .strong", "Delete")
    page.wait("!document.querySelector('[data-id=post-0]')", "it is gone")
    page.click(".message button", "Undo")
    page.wait("!!document.querySelector('[data-id=post-0]')", "it is back")
    for name in ("post-0", "post-1"):
        town.told("DELETE", f"/v1/content/{name}")
    town.told("PUT", "/v1/users/cem/suspension")
    go(page, "user/cem")
    shows(page, "No user sees the items of a suspended user.")
    go(page, "item/post-1")
    page.click("main .empty button", "Restore")
    page.wait("document.querySelector('.alone article')?.dataset.id === 'post-1'", "restored on its page")
    go(page, "moderation")
    page.wait(f"({ROWS}).length === 2", "what was taken away, and not given back")
    page.wait(f"({ROWS})[0].startsWith('Suspended Cem Yıldız cem')", "the newest first, with the name of the user")
    proof.holds("the deleted item", page.run(ROWS)[1].startswith("Deleted post post-0 By Mei Tanaka mei"))
    town.told("DELETE", "/v1/content/post-2")
    page.wait(f"({ROWS})[0]?.startsWith('Deleted post post-2')", "a delete that comes")
    page.click(".taken:nth-child(3) button", "Restore")
    page.wait(f"({ROWS}).length === 2", "it leaves the list")
    proof.same("restored", town.client.call("GET", "/v1/content/post-0").status, 200)
    page.click(".taken button", "Take the suspension back")
    page.wait(f"({ROWS}).length === 1", "the suspension leaves the list")
    page.click("main form:nth-of-type(2) input")
    page.write("post-2")
    page.press("Enter")
    page.click("main .empty button", "Restore")
    page.wait("document.querySelector('.alone article')?.dataset.id === 'post-2'", "restored by its id")

    # An item of a suspended author is there for an appeal, and says why no user sees it; so does its restore.
    hidden = "Its author is suspended, so no user sees this item until the suspension is taken back."
    town.told("DELETE", "/v1/content/post-2")
    town.told("PUT", "/v1/users/cem/suspension")
    go(page, "item/post-6")
    page.wait("document.querySelector('.alone article')?.innerText.includes('socket')", "the item of a suspended author")
    proof.same("the reason", page.run("document.querySelector('main .note').innerText"), f"{hidden} Open the author")
    go(page, "item/post-2")
    page.click("main .empty button", "Restore")
    shows(page, f"Restored. {hidden}")
    page.wait("document.querySelector('.alone article')?.dataset.id === 'post-2'", "it is there")
    town.told("DELETE", "/v1/users/cem/suspension")
    go(page, "moderation")
    shows(page, "Nothing was taken away.")
    proof.clean(page, {404})


def sweep(proof: Proof) -> None:
    """Many items of an author, of a topic and of a group are chosen, by the mouse and by keys, and deleted or taken off."""
    tideline, town = proof.open_server("sweep")
    town.told("PUT", "/v1/users/spam", {"nickname": "Cheap Watches"})
    many = [{"author_id": "spam", "content_id": f"spam-{n}", "text": f"Buy {n}", "topics": ["sea"], "to": ["club"]} for n in range(230)]
    town.told("POST", "/v1/content/batch", {"items": many})
    town.publish("ann", "kept", "Low tide", topics=["sea"], to=["club"])
    live = lambda path: len(town.told("GET", f"{path}?limit=100&view=ids")["items"])
    page = proof.page(proof.address(tideline) + "#/moderation")
    page.click("main form input")
    page.write("#sea")
    page.press("Enter")
    page.wait("document.querySelectorAll('.pick').length > 20", "the items of the topic")
    page.click(".page > article:nth-child(2) .pick input")
    page.click(".page > article:nth-child(3) .pick input")
    page.wait(f"({CHOSEN}) === '2 items chosen'", "two are chosen")
    page.click(".sweep button", "Delete")
    shows(page, "Delete 2 items?")
    # The card of the author comes after the dialog.
    page.wait("document.querySelector('dialog').innerText.includes('Cheap Watches')", "the name of the author")
    asked = page.run("document.querySelector('dialog').innerText.replace(/\\s+/g, ' ')")
    proof.holds(f"whose: {asked}", "Cheap Watches spam 2 items" in asked)
    page.click("dialog .strong", "Delete")
    shows(page, "2 items are deleted.")
    page.wait(f"({CHOSEN}) === '0 items chosen'", "none is chosen")
    page.click(".message button", "Undo")
    shows(page, "2 items are restored.")
    proof.same("restored", live("/v1/users/spam/content"), 100)

    # By keys.
    go(page, "user/spam")
    page.wait("document.querySelectorAll('article').length > 20", "the items of the author")
    page.run("document.querySelector('.choose a').focus()")
    page.press("Enter")
    page.wait("document.querySelectorAll('.pick').length > 20", "the choice")
    page.press("j", "Tab", " ")
    page.wait(f"({CHOSEN}) === '1 item chosen'", "one is chosen")
    page.click(".sweep button", "Choose all")
    page.wait(f"({CHOSEN}) === '230 items chosen'", "all are chosen")
    page.click(".sweep button", "Delete")
    page.wait("document.activeElement?.innerText === 'Cancel'", "the safe button has the focus")
    page.press("Tab", "Enter")
    page.wait("document.querySelector('.sweep progress')?.value > 0 || document.body.innerText.includes('230 items are deleted.')", "the progress")
    shows(page, "230 items are deleted.")
    proof.same("all of them, and no other", (live("/v1/users/spam/content"), live("/v1/topics/sea/content")), (0, 1))
    proof.same("the page of the author", ids(page), [])

    # A stop leaves the rest; a moderator of a group takes items off its page only.
    town.told("POST", "/v1/content/batch", {"items": [one | {"content_id": f"more-{n}"} for n, one in enumerate(many)]})
    go(page, "user/club/content/select")
    page.wait("document.querySelectorAll('.pick').length > 20", "the page of the group")
    page.click(".sweep button", "Choose all")
    page.wait(f"({CHOSEN}) === '231 items chosen'", "all are chosen")
    page.click(".sweep button", "Take off club")
    page.click("dialog .strong", "Take off")
    page.wait("document.querySelector('.sweep progress')?.value > 3", "the work")
    page.click(".sweep button", "Stop")
    page.wait("!document.querySelector('.sweep progress')", "the stop")
    left = int(page.run(CHOSEN).split()[0])
    proof.holds(f"{left} are left", 0 < left < 231)
    page.click(".sweep button", "Take off club")
    page.click("dialog .strong", "Take off")
    page.wait(f"({CHOSEN}) === '0 items chosen'", "all are taken off")
    proof.same("the page of the group", live("/v1/users/club/content"), 0)
    proof.same("the authors keep them", town.client.call("GET", "/v1/content/kept").status, 200)
    page.click(".sweep a", "Done")
    page.wait("!document.querySelector('.sweep')", "the end")
    proof.clean(page)


def chatter(town: Town) -> None:
    """What others did that concerns ada."""
    town.publish("ada", "mine", "A question about seals")
    for user in ("bob", "cem", "dot"):
        town.told("PUT", f"/v1/content/mine/reactions/like/{user}")
    town.told("PUT", "/v1/content/mine/reactions/favorite/bob")
    town.told("POST", "/v1/content/mine/comments", {"author_id": "eve", "content_id": "answer", "text": "They sing at night"})
    town.publish("cem", "echo", kind="repost", ref_id="mine")
    town.publish("dot", "calls", "Ask @ada", mentions=["ada"])


NOTICES = "[...document.querySelectorAll('.notice header p')].map((one) => one.innerText.replace(/\\s+/g, ' ').trim())"


def notices(proof: Proof) -> None:
    """The notices of a user: together and one by one, with what is unread; only who acts marks them as read."""
    tideline, town = proof.open_server("notices")
    town.fill()
    chatter(town)
    for look in ({}, PHONE):
        page = proof.page(proof.address(tideline) + "#/user/ada/notices", **look)
        # The marker comes by a request of its own.
        page.wait("document.querySelectorAll('.notice.unread').length > 4", "the notices")
        told = page.run(NOTICES)
        proof.same("the newest ones", told[:5], [
            "New Dot Harper dot mentioned the user", "New Cem Yıldız cem reposted", "New Eve Marlow eve commented", "New Bob Okafor bob favorited",
            "New Dot Harper dot and 2 others liked"])
        proof.holds("the item", page.run("document.querySelectorAll('.notice')[2].innerText.includes('A question about seals')"))
        page.click("main button", "Neighbours together")
        page.wait(f"({NOTICES}).filter((one) => one.endsWith('liked')).length === 3", "one by one")
        proof.holds("the comment", page.run("document.querySelectorAll('.notice')[2].innerText.includes('They sing at night')"))
        page.click("main button", "Neighbours together")
        unread = town.told("GET", "/v1/users/ada/notices/unread")["count"]
        shows(page, f"{unread} unread")
        proof.holds("no marker moves", "Mark all as read" not in page.text())
        proof.clean(page)
    page = proof.page(proof.address(tideline) + "#/timeline/ada")
    act(page)
    page.press("g n")
    page.wait("document.querySelectorAll('.notice').length > 4", "the notices by keys")
    page.press("j")
    proof.holds("a notice has the focus", page.run("document.activeElement.classList.contains('notice')"))
    town.told("PUT", "/v1/content/mine/reactions/favorite/eve")
    page.wait(f"({NOTICES})[0] === 'New Eve Marlow eve favorited'", "a notice that comes")
    page.click("main button", "Mark all as read")
    page.wait("document.querySelector('main .bar [role=status]').innerText === '0 unread'", "all are read")
    proof.same("at the server", town.told("GET", "/v1/users/ada/notices/unread")["count"], 0)
    page.wait("!document.querySelector('.notice.unread')", "none is marked as new")
    proof.clean(page)


TOLD = "[...document.querySelectorAll('.changes li')].map((one) => one.querySelector('code').innerText)"


def records(proof: Proof) -> None:
    """The feed of changes: newest first, on to the oldest, of one kind, and as they come."""
    tideline, town = proof.open_server("records")
    town.fill()
    for n in range(300):
        town.told("PUT" if n % 2 == 0 else "DELETE", "/v1/content/post-3/reactions/like/eve")
    town.told("DELETE", "/v1/content/post-4")
    everything = [one["type"] for one in town.told("GET", "/v1/changes")["items"]][::-1]
    page = proof.page(proof.address(tideline) + "#/changes")
    page.wait("document.querySelectorAll('.changes li').length >= 40", "the newest")
    seen = page.run(TOLD)
    proof.same("newest first", seen, everything[:len(seen)])
    while "Show older changes" in page.text():
        page.click("main button", "Show older changes")
        page.wait("document.querySelectorAll('.changes li').length > args[0] || document.body.innerText.includes('Nothing older is kept')", "older ones", len(seen))
        seen = page.run(TOLD)
    proof.same("all, each once", seen, everything)
    page.run("(document.querySelector('select').value = 'content', document.querySelector('select').dispatchEvent(new Event('change', { bubbles: true })), true)")
    page.wait("location.hash === '#/changes/content' && document.querySelector('.changes code')?.innerText === 'content.deleted'", "one kind")
    proof.same("of one kind", set(page.run(TOLD)), {one for one in everything if one.startswith("content.")})
    page.click("main button", "Follow")
    page.wait("!!document.querySelector('main [aria-pressed=true]')", "following")
    town.told("PUT", "/v1/content/post-3/reactions/like/eve")
    town.publish("bob", "just-now")
    page.wait(f"({TOLD})[0] === 'content.published' && document.querySelector('.changes li').innerText.includes('just-now')", "a change that comes")
    town.told("DELETE", "/v1/content/post-5?purge=true")
    page.wait(f"({TOLD})[0] === 'content.purged'", "a purge")
    page.click(".changes li a", "Bob Okafor")
    page.wait("location.hash === '#/user/bob'", "the user of the change")
    page.press("g c")
    page.wait("location.hash === '#/changes'", "by keys")
    town.told("DELETE", "/v1/users/eve")
    go(page, "changes/users")
    page.wait(f"({TOLD})[0] === 'user.erased'", "an erasure")
    # Of one user by name, and of one item, with the time of day.
    go(page, "changes/content")
    page.click("#changes-of")
    page.write("mei tanaka")
    page.press("Enter")
    page.wait("location.hash === '#/changes/content/mei' && document.querySelectorAll('.changes li').length > 0", "of one user")
    told = [one["type"] for one in town.told("GET", "/v1/changes")["items"] if one.get("user_id") == "mei" and one["type"].startswith("content.")]
    page.wait(f"({TOLD}).length === args[0]", "all of this user", len(told))
    proof.same("newest first", page.run(TOLD), told[::-1])
    proof.holds("the time of day", page.run("[...document.querySelectorAll('.changes time')].every((one) => /\\d\\d:\\d\\d:\\d\\d$/.test(one.innerText))"))
    page.click("main .note a", "All")
    page.click("#changes-of")
    page.write("post-4")
    page.press("Enter")
    page.click("main .note button", "Take it as the id of an item")
    page.wait(f"({TOLD}).join() === 'content.deleted,content.published'", "of one item")
    # The page knows all types, and the server knows all of them.
    source = (SOURCE / "changes.js").read_text()
    kinds = re.findall(r'"([a-z_]+\.[a-z_]+)"', source.split("TYPES = {")[1].split("};")[0])
    rows = (SOURCE.parent / "docs" / "use" / "api.md").read_text().split("| type | `user_id` |")[1].split("\n\n")[0]
    proof.same("types of the documentation", sorted(kinds), sorted(set(re.findall(r"`([a-z_]+\.[a-z_]+)`", rows))))
    proof.same("types of the server", town.client.call("GET", f"/v1/changes?types={','.join(kinds)}").status, 200)
    proof.clean(page)
