"""Deleted items, sweeps, suspensions, notices and the feed of changes."""

import re

from .proof import PHONE, SOURCE, Page, Proof, Town, item, step

ROWS = "$$('.taken').map((row) => row.innerText.split(/\\s+/).filter(Boolean).join(' '))"
CHOSEN = "text('.sweep [role=status]')"


@step("user/mei", refused={404})
def gone(proof: Proof, page: Page, town: Town) -> None:
    """A delete asks, says whom it concerns, and is taken back: at once, on the page of the item, and by moderation."""
    page.click(item("post-0", "button"), "More")
    proof.same("no raw data beside it", page.run("count('dialog pre')"), 0)
    page.click("dialog button", "Delete", shows="Delete this item?")
    asked = page.run("text('dialog')")
    proof.holds(f"whose, and which: {asked}", "Mei Tanaka" in asked and "Low tide at six" in asked)
    page.press("Enter", then="!has('dialog')")
    proof.same("nothing is deleted", town.client.call("GET", "/v1/content/post-0").status, 200)
    page.more("post-0", "Delete")
    page.click("dialog .strong", "Delete", then="!has('[data-id=post-0]')")
    page.click(".message button", "Undo", then="has('[data-id=post-0]')")
    for name in ("post-0", "post-1"):
        town.told("DELETE", f"/v1/content/{name}")
    town.told("PUT", "/v1/users/cem/suspension")
    page.go("user/cem", shows="No user sees the items of a suspended user.")
    page.go("item/post-1")
    page.click("main .empty button", "Restore", then="alone() === 'post-1'")
    page.go("moderation", then=f"{ROWS}.length === 2")
    page.wait(f"{ROWS}[0].startsWith('Suspended Cem Yıldız cem')", "the newest first, with the name of the user")
    proof.holds("the deleted item", page.run(ROWS)[1].startswith("Deleted post post-0 By Mei Tanaka mei"))
    town.told("DELETE", "/v1/content/post-2")
    page.wait(f"{ROWS}[0]?.startsWith('Deleted post post-2')", "a delete that comes")
    page.click(".taken:nth-child(3) button", "Restore", then=f"{ROWS}.length === 2")
    proof.same("restored", town.client.call("GET", "/v1/content/post-0").status, 200)
    page.click(".taken button", "Take the suspension back", then=f"{ROWS}.length === 1")
    page.enter("post-2", "main form:nth-of-type(2) input")
    page.click("main .empty button", "Restore", then="alone() === 'post-2'")

    # An item of a suspended author is there for an appeal, and says why no user sees it; so does its restore.
    hidden = "Its author is suspended, so no user sees this item until the suspension is taken back."
    town.told("DELETE", "/v1/content/post-2")
    town.told("PUT", "/v1/users/cem/suspension")
    page.go("item/post-6", then="text('.alone article').includes('socket')")
    proof.same("the reason", page.run("text('main .note')"), f"{hidden} Open the author")
    page.go("item/post-2")
    page.click("main .empty button", "Restore", shows=f"Restored. {hidden}")
    page.wait("alone() === 'post-2'", "it is there")
    town.told("DELETE", "/v1/users/cem/suspension")
    page.go("moderation", shows="Nothing was taken away.")


@step(None, fill=None)
def sweep(proof: Proof, town: Town) -> None:
    """Many items of an author, of a topic and of a group are chosen, by the mouse and by keys, and deleted or taken off."""
    town.told("PUT", "/v1/users/spam", {"nickname": "Cheap Watches"})
    many = [{"author_id": "spam", "content_id": f"spam-{n}", "text": f"Buy {n}", "topics": ["sea"], "to": ["club"]} for n in range(230)]
    town.told("POST", "/v1/content/batch", {"items": many})
    town.publish("ann", "kept", "Low tide", topics=["sea"], to=["club"])
    live = lambda path: len(town.told("GET", f"{path}?limit=100&view=ids")["items"])
    page = proof.page(town.address + "#/moderation")
    page.enter("#sea", "main form input", then="count('.pick') > 20")
    page.click(".page > article:nth-child(2) .pick input")
    page.click(".page > article:nth-child(3) .pick input", then=f"{CHOSEN} === '2 items chosen'")
    page.click(".sweep button", "Delete", shows="Delete 2 items?")
    # The card of the author comes after the dialog.
    page.wait("text('dialog').includes('Cheap Watches')", "the name of the author")
    asked = page.run("text('dialog').replace(/\\s+/g, ' ')")
    proof.holds(f"whose: {asked}", "Cheap Watches spam 2 items" in asked)
    page.click("dialog .strong", "Delete", shows="2 items are deleted.")
    page.wait(f"{CHOSEN} === '0 items chosen'", "none is chosen")
    page.click(".message button", "Undo", shows="2 items are restored.")
    proof.same("restored", live("/v1/users/spam/content"), 100)

    # By keys.
    page.go("user/spam", then="count('article') > 20")
    page.run("$('.choose a').focus()")
    page.press("Enter", then="count('.pick') > 20")
    page.press("j", "Tab", " ", then=f"{CHOSEN} === '1 item chosen'")
    page.click(".sweep button", "Choose all", then=f"{CHOSEN} === '230 items chosen'")
    page.click(".sweep button", "Delete", then="document.activeElement?.innerText === 'Cancel'")
    page.press("Tab", "Enter", then="$('.sweep progress')?.value > 0 || document.body.innerText.includes('230 items are deleted.')")
    page.shows("230 items are deleted.")
    proof.same("all of them, and no other", (live("/v1/users/spam/content"), live("/v1/topics/sea/content")), (0, 1))
    proof.same("the page of the author", page.ids(), [])

    # A stop leaves the rest; a moderator of a group takes items off its page only.
    town.told("POST", "/v1/content/batch", {"items": [one | {"content_id": f"more-{n}"} for n, one in enumerate(many)]})
    page.go("user/club/content/select", then="count('.pick') > 20")
    page.click(".sweep button", "Choose all", then=f"{CHOSEN} === '231 items chosen'")
    page.click(".sweep button", "Take off club")
    page.click("dialog .strong", "Take off", then="$('.sweep progress')?.value > 3")
    page.click(".sweep button", "Stop", then="!has('.sweep progress')")
    left = int(page.run(CHOSEN).split()[0])
    proof.holds(f"{left} are left", 0 < left < 231)
    page.click(".sweep button", "Take off club")
    page.click("dialog .strong", "Take off", then=f"{CHOSEN} === '0 items chosen'")
    proof.same("the page of the group", live("/v1/users/club/content"), 0)
    proof.same("the authors keep them", town.client.call("GET", "/v1/content/kept").status, 200)
    page.click(".sweep a", "Done", then="!has('.sweep')")


def chatter(town: Town) -> None:
    """What others did that concerns ada."""
    town.publish("ada", "mine", "A question about seals")
    for user in ("bob", "cem", "dot"):
        town.told("PUT", f"/v1/content/mine/reactions/like/{user}")
    town.told("PUT", "/v1/content/mine/reactions/favorite/bob")
    town.told("POST", "/v1/content/mine/comments", {"author_id": "eve", "content_id": "answer", "text": "They sing at night"})
    town.publish("cem", "echo", kind="repost", ref_id="mine")
    town.publish("dot", "calls", "Ask @ada", mentions=["ada"])


NOTICES = "$$('.notice header p').map((one) => one.innerText.replace(/\\s+/g, ' ').trim())"


@step(None)
def notices(proof: Proof, town: Town) -> None:
    """The notices of a user: together and one by one, with what is unread; only who acts marks them as read."""
    chatter(town)
    for look in ({}, PHONE):
        # The marker comes by a request of its own.
        page = proof.page(town.address + "#/user/ada/notices", "count('.notice.unread') > 4", **look)
        told = page.run(NOTICES)
        proof.same("the newest ones", told[:5], [
            "New Dot Harper dot mentioned the user", "New Cem Yıldız cem reposted", "New Eve Marlow eve commented", "New Bob Okafor bob favorited",
            "New Dot Harper dot and 2 others liked"])
        proof.holds("the item", page.run("$$('.notice')[2].innerText.includes('A question about seals')"))
        page.click("main button", "Neighbours together", then=f"{NOTICES}.filter((one) => one.endsWith('liked')).length === 3")
        proof.holds("the comment", page.run("$$('.notice')[2].innerText.includes('They sing at night')"))
        page.click("main button", "Neighbours together")
        unread = town.told("GET", "/v1/users/ada/notices/unread")["count"]
        page.shows(f"{unread} unread")
        proof.holds("no marker moves", "Mark all as read" not in page.text())
        proof.clean(page)
    page = proof.page(town.address + "#/timeline/ada")
    page.act()
    page.press("g n", then="count('.notice') > 4")
    page.press("j")
    proof.holds("a notice has the focus", page.run("document.activeElement.classList.contains('notice')"))
    town.told("PUT", "/v1/content/mine/reactions/favorite/eve")
    page.wait(f"{NOTICES}[0] === 'New Eve Marlow eve favorited'", "a notice that comes")
    page.click("main button", "Mark all as read", then="text('main .bar [role=status]') === '0 unread'")
    proof.same("at the server", town.told("GET", "/v1/users/ada/notices/unread")["count"], 0)
    page.wait("!has('.notice.unread')", "none is marked as new")


TOLD = "$$('.changes li').map((one) => one.querySelector('code').innerText)"


@step(None)
def records(proof: Proof, town: Town) -> None:
    """The feed of changes: newest first, on to the oldest, of one kind, and as they come."""
    for n in range(300):
        town.told("PUT" if n % 2 == 0 else "DELETE", "/v1/content/post-3/reactions/like/eve")
    town.told("DELETE", "/v1/content/post-4")
    everything = [one["type"] for one in town.told("GET", "/v1/changes")["items"]][::-1]
    page = proof.page(town.address + "#/changes", "count('.changes li') >= 40")
    seen = page.run(TOLD)
    proof.same("newest first", seen, everything[:len(seen)])
    while "Show older changes" in page.text():
        page.click("main button", "Show older changes")
        page.wait("count('.changes li') > args[0] || document.body.innerText.includes('Nothing older is kept')", "older ones", len(seen))
        seen = page.run(TOLD)
    proof.same("all, each once", seen, everything)
    page.run("($('select').value = 'content', $('select').dispatchEvent(new Event('change', { bubbles: true })), true)")
    page.wait("location.hash === '#/changes/content' && text('.changes code') === 'content.deleted'", "one kind")
    proof.same("of one kind", set(page.run(TOLD)), {one for one in everything if one.startswith("content.")})
    page.click("main button", "Follow", then="has('main [aria-pressed=true]')")
    town.told("PUT", "/v1/content/post-3/reactions/like/eve")
    town.publish("bob", "just-now")
    page.wait(f"{TOLD}[0] === 'content.published' && text('.changes li').includes('just-now')", "a change that comes")
    town.told("DELETE", "/v1/content/post-5?purge=true")
    page.wait(f"{TOLD}[0] === 'content.purged'", "a purge")
    page.click(".changes li a", "Bob Okafor", then="location.hash === '#/user/bob'")
    page.press("g c", then="location.hash === '#/changes'")
    town.told("DELETE", "/v1/users/eve")
    page.go("changes/users", then=f"{TOLD}[0] === 'user.erased'")
    # Of one user by name, and of one item, with the time of day.
    page.go("changes/content")
    page.enter("mei tanaka", "#changes-of", then="location.hash === '#/changes/content/mei' && count('.changes li') > 0")
    told = [one["type"] for one in town.told("GET", "/v1/changes")["items"] if one.get("user_id") == "mei" and one["type"].startswith("content.")]
    page.wait(f"{TOLD}.length === args[0]", "all of this user", len(told))
    proof.same("newest first", page.run(TOLD), told[::-1])
    proof.holds("the time of day", page.run("$$('.changes time').every((one) => /\\d\\d:\\d\\d:\\d\\d$/.test(one.innerText))"))
    page.click("main .note a", "All")
    page.enter("post-4", "#changes-of")
    page.click("main .note button", "Take it as the id of an item", then=f"{TOLD}.join() === 'content.deleted,content.published'")
    # The page knows all types, and the server knows all of them.
    source = (SOURCE / "changes.js").read_text()
    kinds = re.findall(r'"([a-z_]+\.[a-z_]+)"', source.split("TYPES = {")[1].split("};")[0])
    rows = (SOURCE.parent / "docs" / "use" / "api.md").read_text().split("| type | what was done |")[1].split("\n\n")[0]
    proof.same("types of the documentation", sorted(kinds), sorted(set(re.findall(r"`([a-z_]+\.[a-z_]+)`", rows))))
    proof.same("types of the server", town.client.call("GET", f"/v1/changes?types={','.join(kinds)}").status, 200)
