"""Each kind of credential sees what it permits, and loses it when it ends."""

from support.expect import Unexpected, until
from support.tokens import token

from .proof import Page, Proof, Town, item, step

NO_BACKUPS = "text('main').includes('No backups yet')"


@step(guarded=True, refused={401, 403, 404})
def full_key(proof: Proof, page: Page, town: Town) -> None:
    """A wrong key is refused with the id of the request; a full key may do everything, also after a reload."""
    # A header cannot have these letters.
    page.sign_in("错误的密钥", shows="The key or the token is not valid.")
    page.enter("x" * 40, "input[name=credential]", then="has('.problem code')")
    page.shows("The key or the token is not valid.")
    page.click("[data-switch=language]", shows="密钥或令牌无效。")
    page.click("[data-switch=language]")
    page.enter(proof.key, "input[name=credential]", then="has('.hero')")
    proof.same("where the key is kept", page.run(
        "[Object.values(localStorage).join().includes(args[0]), document.cookie, location.href.includes(args[0]),"
        " Object.values(sessionStorage).join().includes(args[0])]", proof.key), [False, "", False, True])
    page.open(town.address + "#/timeline/ada")
    page.act()
    page.wait("$('.writer textarea')?.placeholder === 'Publish as Ada Lindqvist'", "the writer")
    page.click(item("post-1", "button.like"))
    until("the like", lambda: town.likes("post-1") == 1)
    page.click("[aria-label='Sign out']", then="has('input[name=credential]')")
    proof.same("nothing is kept", page.run("Object.values(sessionStorage).join().includes(args[0])", proof.key), False)


@step(guarded=True, refused={403})
def read_key(proof: Proof, page: Page, town: Town) -> None:
    """A read key sees everything, and is offered no change."""
    page.sign_in(proof.read_key, then="has('.hero')", shows="A read key")
    page.look_up("ada", then="count('article') > 8")
    proof.same("what is offered on the timeline", set(page.offers()), {"Why?", "Verify", "More", "Every 10 s"})
    page.click(item("post-0", "button"), "More")
    proof.same("what is offered of an item", set(page.offers("dialog .actions button")), {"Why is this here?", "Copy the id"})
    page.press("Escape")
    for place, shown, wanted in (("user/mei", "has('main article')", {"More"}), ("backups", NO_BACKUPS, set()), ("user/mei/notices", "has('.notice')", {"Neighbours together"}),
                                 ("moderation", "text('h1') === 'Moderation'", set()),
                                 ("settings", "text('main').includes('This page needs a full key')", set()),
                                 ("timeline/nobody", "has('.nobody')", set())):
        page.go(place, then=shown)
        proof.same(f"what is offered on {place}", set(page.offers()), wanted)
    page.go("dashboard", then="count('.chart') > 10 && has('.verdict.warn')")
    # One question finds out that the key may not change anything.
    proof.same("refusals", [status for status, _ in page.refused], [403])


def brief_page(proof: Proof, address: str) -> Page:
    """A page with the timeline of a token that soon expires; of a longer one where signing in takes so long."""
    for seconds in (8, 30, 120):
        page = proof.page(address)
        page.sign_in(token(proof.secret, "ada", seconds))
        if page.wait("count('article') > 3 ? 'timeline' : has('.problem') && 'expired'", "the own timeline") == "timeline":
            return page
        page.close()
    raise Unexpected("no timeline of a user token within 2 minutes")


@step(guarded=True, refused={403})
def user_token(proof: Proof, page: Page, town: Town) -> None:
    """A user token shows the own pages only. When it has expired, the sheet says so."""
    brief = brief_page(proof, town.address)
    page.sign_in(token(proof.secret, "ada", 3600), then="count('article') > 8")
    proof.same("the navigation", page.run("texts('.rail a span')"), ["Timeline", "Profile", "API"])
    page.wait("text('.live-state').includes('Live')", "the own stream")
    offered = {label.lstrip("0123456789 ").rstrip("s") for label in page.offers()}
    proof.same("what is offered", offered, {"Live", "More", "like", "favorite"})
    page.click(item("post-1", "button.like"))
    until("the like", lambda: town.likes("post-1") == 1)
    page.click(item("post-1", ".names"), shows="A user token shows the pages of its own user only.")
    page.click(".profile button", "Following")
    until("unfollowed", lambda: town.relation("ada", "bob")["relation"] == "followed_by" or town.relation("ada", "bob")["relation"] == "none")
    page.click(".rail a", "Timeline", then="!has('[data-id=post-1]') && count('article') > 3")
    for tab in ("following", "followers", "friends", "like", "favorite", "comments", "lists", "mutes", "hidden-from", "blocks", "follow-requests"):
        page.go(f"user/ada/{tab}")
        page.wait("document.querySelector('[aria-current=page][href$=\"/' + args[0] + '\"]') && has('.person, article, .empty')", tab, tab)
    for foreign in ("timeline/mei", "list/mei/close", "dashboard", "backups", "item/post-0", "topic/sea"):
        page.go(foreign, then="text('h1') === 'Not with this token'")
        proof.same(f"items at {foreign}", page.ids(), [])
    page.click("main a", "To your timeline", then="text('h1') === 'Ada Lindqvist'")
    proof.clean(page)

    brief.wait("has('input[name=credential]')", "the sheet after the end of the token")
    brief.shows("expired")
    proof.same("nothing of the user is left", brief.ids(), [])
