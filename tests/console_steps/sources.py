"""Groups, lists, settings and suspensions: where an item goes, who may see it, and why a timeline shows it or does not."""

import re

from support.expect import until

from .proof import Page, Proof, Town, step

TAGS = "texts('.profile .tag').join()"


def village(town: Town) -> None:
    """Ann writes, also for a group; ben and the group are followed by the reader."""
    for user, nickname in (("ann", "Ann"), ("ben", "Ben"), ("swimmers", "The swimmers")):
        town.told("PUT", f"/v1/users/{user}", {"nickname": nickname})
    town.follow("reader", "ben", "swimmers")
    town.publish("ann", "both", "Swim at six?", to=["swimmers", "tag:sea"])
    town.publish("ann", "inside", "Only for members", to=["swimmers"], broadcast=False, audience="followers")
    town.publish("ben", "plain", "Hello")
    town.publish("ben", "echo", " ", kind="repost", ref_id="plain")


def why(page: Page, name: str, reason: str) -> None:
    """Asks on the timeline that is open."""
    page.click("main button", "Why?", then="document.activeElement.name === 'item'")
    page.enter(name, shows=reason)
    page.dismiss()


@step("timeline/reader", fill=village)
def groups(proof: Proof, page: Page, town: Town) -> None:
    """An item tells where it was published and for whom; it is taken off one path; each reason has its text."""
    page.wait("count('article') === 4", "the timeline")
    page.wait("text('[data-id=both] .sources').includes('The swimmers')", "the name of the group")
    proof.same("the sources", page.run("$$('[data-id=both] .sources a').map((a) => a.hash)"), ["#/user/swimmers", "#/user/tag%3Asea"])
    proof.same("for followers", page.run("$$('article').filter((one) => one.innerText.includes('for followers')).map((one) => one.dataset.id)"), ["inside"])
    proof.same("items without sources", page.run("count('[data-id=plain] .sources')"), 0)
    page.more("both", "Why is this here?", shows="The timeline shows it.")
    page.wait("$$('dialog dt').filter((name) => name.innerText === 'Comes from').length === 3", "three paths")
    proof.holds("names of sources", "The swimmers" in page.run("text('dialog .facts')"))
    page.dismiss()

    page.go("item/plain")
    page.more("plain", "Why is this here?", then="$('dialog input[name=reader]').value === 'reader'")
    page.enter("ann", "dialog input[name=reader]", shows="The user follows none of its sources.")
    page.dismiss()

    page.go("user/swimmers", then="count('article') === 2")
    page.more("both", "Take off The swimmers")
    page.click("dialog .strong", "Take off", then="!has('[data-id=both]')")
    proof.same("the paths that stay", (lambda told: (told["broadcast"], told["to"]))(town.told("GET", "/v1/content/both")), (True, ["tag:sea"]))
    page.go("timeline/reader", then="!has('[data-id=both]') && count('article') === 3")
    why(page, "both", "The user follows none of its sources.")
    why(page, "ben", "Newest item of")
    town.told("PUT", "/v1/users/ann/settings", {"approve_followers": True, "default_audience": "public"})
    town.told("PUT", "/v1/users/reader/following/ann")
    why(page, "both", "waits for an answer")
    town.told("DELETE", "/v1/users/reader/following/ann")

    # Each reason, and its end.
    town.told("PUT", "/v1/users/reader/lists/wet", {"exclusive": True})
    for begin, end, name, reason in (
        (("PUT", "/v1/users/reader/following/ben", {"except": ["repost"]}), ("PUT", "/v1/users/reader/following/ben", None), "echo", "does not show items of this kind"),
        (("PUT", "/v1/users/reader/lists/wet/members/swimmers", None), ("DELETE", "/v1/users/reader/lists/wet/members/swimmers", None), "inside", "in an exclusive list"),
        (("PUT", "/v1/users/ann/blocks/reader", None), ("DELETE", "/v1/users/ann/blocks/reader", None), "inside", "There is a block"),
        (("PUT", "/v1/users/swimmers/suspension", None), ("DELETE", "/v1/users/swimmers/suspension", None), "inside", "is suspended."),
        (("PUT", "/v1/users/reader/mutes/ann", None), ("DELETE", "/v1/users/reader/mutes/ann", None), "inside", "has muted"),
    ):
        town.told(*begin)
        why(page, name, reason)
        town.told(*end)
        why(page, name, "The timeline shows it.")
    page.click("main button", "Verify", shows="Exact: 3 items compared, no difference. That is the whole timeline.")
    page.press("Escape")

    # The words of the API, as it describes them, have texts.
    schemas = town.told("GET", "/openapi.json")["components"]["schemas"]
    explanation = schemas["Explanation"]["properties"]
    reasons = re.findall(r"`([a-z_]+)`", explanation["reason"]["description"])
    proof.holds("reasons are described", len(reasons) > 10)
    texts = set(proof.texts(town.tideline, "en"))
    proof.same("reasons without a text", {f"reason_{reason}" for reason in reasons} - texts, set())


@step("timeline/reader", fill=village, refused={404})
def lists(proof: Proof, page: Page, town: Town) -> None:
    """Lists are made, filled, read and deleted."""
    page.wait("count('article') === 4", "the timeline")
    page.go("user/reader/lists", then="has('main .empty')")
    proof.same("nothing is made by who looks", page.run("count('main form')"), 0)
    page.click(".mode [role=switch]")
    page.fill("a/b é", "main form input")
    page.click("main form button", "Make a list", then="text('h1') === 'a/b é'")
    page.shows("This list is empty.")
    path = "/v1/users/reader/lists/a%2Fb%20%C3%A9"
    town.told("PUT", f"{path}/members/ben", {"except": ["repost"]})
    page.fill("ann", "main form input")
    page.click("main form button", "Add", then="count('.person') === 2 && $('main form input').value === ''")
    proof.holds("the rule", "Without repost" in page.run("text('.person[data-id=ben]')"))
    page.click(".tabs a", "Timeline", then="count('article') === 2")
    proof.same("the items of the list", page.ids(), ["plain", "both"])
    page.click(".bar button", "Make it exclusive", then="text('.bar .tag') === 'Exclusive'")
    proof.same("at the server", town.told("GET", path), {"list": "a/b é", "title": None, "exclusive": True})
    page.go("timeline/reader", then="count('article') === 2")
    page.go("user/reader/lists")
    page.click("main .card a", "a/b é")
    page.click(".tabs a", "Members", then="count('.person') === 2")
    page.click(".person[data-id=ben] button", "Remove", then="count('.person') === 1")
    page.go("timeline/reader", then="count('article') === 4")
    page.back()
    page.click(".bar button", "Delete the list", shows="Delete the list a/b é of reader?")
    page.click("dialog .strong", "Delete", then="location.hash === '#/user/reader/lists' && has('main .empty')")
    page.go("list/reader/gone", shows="There is no such list.")


@step("timeline/reader", fill=village)
def account(proof: Proof, page: Page, town: Town) -> None:
    """The settings of a user, and the suspension."""
    page.wait("count('article') === 4", "the timeline")
    page.go("user/ben", then="has('.profile .quiet.danger')")
    proof.same("no settings for who looks", page.run("texts('.profile button')"), ["Suspend"])
    page.go("timeline/ben")
    page.click(".mode [role=switch]")
    page.go("user/ben")
    page.click(".profile button", "Settings")
    page.click("dialog [name=approve_followers]")
    page.click("dialog [name=default_audience]")
    page.click("dialog button", "Save", then=f"{TAGS} === 'Approves followers,Publishes for followers'")
    proof.same("at the server", town.told("GET", "/v1/users/ben/settings"), {"approve_followers": True, "default_audience": "followers"})
    page.click(".profile button", "Settings", then="count('dialog :checked') === 2")
    page.dismiss()
    page.click(".profile button", "Suspend", shows="No user sees anything of a suspended user.")
    proof.holds("it says whom", "Ben" in page.run("text('dialog')"))
    page.click("dialog .strong", "Suspend", then=f"{TAGS}.startsWith('Suspended')")
    page.shows("Ben is suspended.")
    page.wait("!has('article')", "nothing of the user is shown here")
    page.go("timeline/reader", then="count('article') === 2")
    page.go("user/ben")
    page.click(".profile button", "Take the suspension back")
    page.click("dialog .strong", "Take the suspension back", then="count('article') === 2")
    until("the end at the server", lambda: not town.told("GET", "/v1/users/ben/suspension")["suspended"])
    page.wait(f"{TAGS} === 'Approves followers,Publishes for followers'", "the marks that stay")

    # A user asks, and is answered.
    page.go("timeline/ann")
    page.click(".mode [role=switch]")
    page.go("user/ben")
    page.click(".profile button", "Follow", then=f"{TAGS}.includes('Asked to follow')")
    page.go("user/ben/follow-requests", shows="Requests are answered in the name of this user.")
    proof.same("no answer by who acts for another", page.run("count('.person button')"), 0)
    page.click("main [role=switch]")
    page.click(".person button", "Approve")
    until("the follow", lambda: town.relation("ann", "ben")["relation"] == "following")
