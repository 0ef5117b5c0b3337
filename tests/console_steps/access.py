"""Each kind of credential sees what it permits, and loses it when it ends."""

from support.devtools import Page
from support.expect import Unexpected, until
from support.tokens import token

from .proof import Proof, act, go, ids, item, look_up, shows, sign_in


NO_BACKUPS = "document.querySelector('main')?.innerText.includes('No backups yet')"


def full_key(proof: Proof) -> None:
    """A wrong key is refused with the id of the request; a full key may do everything, also after a reload."""
    tideline, town = proof.guarded("full")
    town.fill()
    page = proof.page(proof.address(tideline))
    # A header cannot have these letters.
    sign_in(page, "错误的密钥")
    shows(page, "The key or the token is not valid.")
    page.run("document.querySelector('input[name=credential]').select()")
    page.write("x" * 40)
    page.press("Enter")
    page.wait("!!document.querySelector('.problem code')", "the refusal with its request")
    shows(page, "The key or the token is not valid.")
    page.click("[data-switch=language]")
    shows(page, "密钥或令牌无效。")
    page.click("[data-switch=language]")
    page.run("document.querySelector('input[name=credential]').select()")
    page.write(proof.key)
    page.press("Enter")
    page.wait("!!document.querySelector('.hero')", "the first page")
    proof.same("where the key is kept", page.run(
        "[Object.values(localStorage).join().includes(args[0]), document.cookie, location.href.includes(args[0]),"
        " Object.values(sessionStorage).join().includes(args[0])]", proof.key), [False, "", False, True])
    page.open(proof.address(tideline) + "#/timeline/ada")
    act(page)
    page.wait("document.querySelector('.writer textarea')?.placeholder === 'Publish as Ada Lindqvist'", "the writer")
    page.click(item(page, "post-1", "button.like"))
    until("the like", lambda: town.told("GET", "/v1/content/post-1")["counts"]["reactions"].get("like", 0) == 1)
    page.click("[aria-label='Sign out']")
    page.wait("!!document.querySelector('input[name=credential]')", "the sheet")
    proof.same("nothing is kept", page.run("Object.values(sessionStorage).join().includes(args[0])", proof.key), False)
    proof.clean(page, {401, 403, 404})


def read_key(proof: Proof) -> None:
    """A read key sees everything, and is offered no change."""
    tideline, town = proof.guarded("read")
    town.fill()
    page = proof.page(proof.address(tideline))
    sign_in(page, proof.read_key)
    page.wait("!!document.querySelector('.hero')", "the first page")
    shows(page, "A read key")
    look_up(page, "ada")
    page.wait("document.querySelectorAll('article').length > 8", "the timeline")
    changes = "[...document.querySelectorAll('main textarea, main button')].map((b) => (b.ariaLabel ?? b.innerText).trim())"
    offered = set(page.run(changes))
    proof.same("what is offered on the timeline", offered, {"Why?", "Verify", "More", "Every 10 s"})
    page.click(item(page, "post-0", "button"), "More")
    proof.same("what is offered of an item", set(page.run(
        "[...document.querySelectorAll('dialog .actions button')].map((b) => b.innerText.trim())")), {"Why is this here?", "Copy the id"})
    page.press("Escape")
    for place, shown, wanted in (("user/mei", "!!document.querySelector('main article')", {"More"}), ("backups", NO_BACKUPS, set()), ("user/mei/notices", "!!document.querySelector('.notice')", {"Neighbours together"}),
                                 ("moderation", "document.querySelector('h1')?.innerText === 'Moderation'", set()),
                                 ("settings", "document.querySelector('main')?.innerText.includes('This page needs a full key')", set()),
                                 ("timeline/nobody", "!!document.querySelector('.nobody')", set())):
        go(page, place)
        page.wait(shown, place)
        proof.same(f"what is offered on {place}", set(page.run(changes)), wanted)
    go(page, "dashboard")
    page.wait("document.querySelectorAll('.chart').length > 10 && !!document.querySelector('.verdict.warn')", "the dashboard")
    # One question finds out that the key may not change anything.
    proof.same("refusals", [status for status, _ in page.refused], [403])
    proof.clean(page, {403})


def brief_page(proof: Proof, address: str) -> Page:
    """A page with the timeline of a token that soon expires; of a longer one where signing in takes so long."""
    for seconds in (8, 30, 120):
        page = proof.page(address)
        sign_in(page, token(proof.secret, "ada", seconds))
        if page.wait("document.querySelectorAll('article').length > 3 ? 'timeline' : !!document.querySelector('.problem') && 'expired'", "the own timeline") == "timeline":
            return page
        page.close()
    raise Unexpected("no timeline of a user token within 2 minutes")


def user_token(proof: Proof) -> None:
    """A user token shows the own pages only. When it has expired, the sheet says so."""
    tideline, town = proof.guarded("user")
    town.fill()
    brief = brief_page(proof, proof.address(tideline))
    page = proof.page(proof.address(tideline))
    sign_in(page, token(proof.secret, "ada", 3600))
    page.wait("document.querySelectorAll('article').length > 8", "the own timeline")
    proof.same("the navigation", page.run("[...document.querySelectorAll('.rail a span')].map((a) => a.innerText)"), ["Timeline", "Profile", "API"])
    page.wait("document.querySelector('.live-state').innerText.includes('Live')", "the own stream")
    offered = set(page.run("[...document.querySelectorAll('main textarea, main button')].map((b) => (b.ariaLabel ?? b.innerText).trim())"))
    proof.same("what is offered", {label.lstrip("0123456789 ").rstrip("s") for label in offered}, {"Live", "More", "like", "favorite"})
    page.click(item(page, "post-1", "button.like"))
    until("the like", lambda: town.told("GET", "/v1/content/post-1")["counts"]["reactions"].get("like", 0) == 1)
    page.click(item(page, "post-1", ".names"))
    shows(page, "A user token shows the pages of its own user only.")
    page.click(".profile button", "Following")
    until("unfollowed", lambda: town.relation("ada", "bob")["relation"] == "followed_by" or town.relation("ada", "bob")["relation"] == "none")
    page.click(".rail a", "Timeline")
    page.wait("!document.querySelector('[data-id=post-1]') && document.querySelectorAll('article').length > 3", "the timeline without bob")
    for tab in ("following", "followers", "friends", "like", "favorite", "comments", "lists", "mutes", "hidden-from", "blocks", "follow-requests"):
        go(page, f"user/ada/{tab}")
        page.wait("document.querySelector('[aria-current=page][href$=\"/' + args[0] + '\"]') && !!document.querySelector('.person, article, .empty')", tab, tab)
    for foreign in ("timeline/mei", "list/mei/close", "dashboard", "backups", "item/post-0", "topic/sea"):
        go(page, foreign)
        page.wait("document.querySelector('h1')?.innerText === 'Not with this token'", f"{foreign} is not offered")
        proof.same(f"items at {foreign}", ids(page), [])
    page.click("main a", "To your timeline")
    page.wait("document.querySelector('h1')?.innerText === 'Ada Lindqvist'", "the own timeline again")
    proof.clean(page)

    page = brief
    page.wait("!!document.querySelector('input[name=credential]')", "the sheet after the end of the token")
    shows(page, "expired")
    proof.same("nothing of the user is left", ids(page), [])
    proof.clean(page, {403})
