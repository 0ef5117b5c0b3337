"""Groups, lists, settings and suspensions: where an item goes, who may see it, and why a timeline shows it or does not."""

import re

from support.devtools import Page
from support.expect import until

from .proof import Proof, Town, go, ids, item, shows

TAGS = "[...document.querySelectorAll('.profile .tag')].map((tag) => tag.innerText).join()"


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
    page.click("main button", "Why?")
    page.wait("document.activeElement.name === 'item'", "the field has the focus")
    page.write(name)
    page.press("Enter")
    shows(page, reason)
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the window closes")


def groups(proof: Proof) -> None:
    """An item tells where it was published and for whom; it is taken off one path; each reason has its text."""
    tideline, town = proof.open_server("groups")
    village(town)
    page = proof.page(proof.address(tideline) + "#/timeline/reader")
    page.wait("document.querySelectorAll('article').length === 4", "the timeline")
    page.wait("document.querySelector('[data-id=both] .sources').innerText.includes('The swimmers')", "the name of the group")
    proof.same("the sources", page.run("[...document.querySelectorAll('[data-id=both] .sources a')].map((a) => a.hash)"), ["#/user/swimmers", "#/user/tag%3Asea"])
    proof.same("for followers", page.run("[...document.querySelectorAll('article')].filter((one) => one.innerText.includes('for followers')).map((one) => one.dataset.id)"), ["inside"])
    proof.same("items without sources", page.run("document.querySelectorAll('[data-id=plain] .sources').length"), 0)
    page.click(item(page, "both", "button"), "More")
    page.click("dialog button", "Why is this here?")
    shows(page, "The timeline shows it.")
    page.wait("[...document.querySelectorAll('dialog dt')].filter((name) => name.innerText === 'Comes from').length === 3", "three paths")
    proof.holds("names of sources", "The swimmers" in page.run("document.querySelector('dialog .facts').innerText"))
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the window closes")

    go(page, "item/plain")
    page.click(item(page, "plain", "button"), "More")
    page.click("dialog button", "Why is this here?")
    page.wait("document.querySelector('dialog input[name=reader]').value === 'reader'", "whose timeline")
    page.click("dialog input[name=reader]")
    page.run("document.activeElement.select()")
    page.write("ann")
    page.press("Enter")
    shows(page, "The user follows none of its sources.")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the window closes")

    go(page, "user/swimmers")
    page.wait("document.querySelectorAll('article').length === 2", "the page of the group")
    page.click(item(page, "both", "button"), "More")
    page.click("dialog button", "Take off The swimmers")
    page.click("dialog .strong", "Take off")
    page.wait("!document.querySelector('[data-id=both]')", "the page no longer shows it")
    proof.same("the paths that stay", (lambda told: (told["broadcast"], told["to"]))(town.told("GET", "/v1/content/both")), (True, ["tag:sea"]))
    go(page, "timeline/reader")
    page.wait("!document.querySelector('[data-id=both]') && document.querySelectorAll('article').length === 3", "nor the timeline")
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
    page.click("main button", "Verify")
    shows(page, "Exact: 3 items compared, no difference. That is the whole timeline.")
    page.press("Escape")

    # The words of the API, as it describes them, have texts.
    schemas = town.told("GET", "/openapi.json")["components"]["schemas"]
    explanation = schemas["Explanation"]["properties"]
    reasons = re.findall(r"`([a-z_]+)`", explanation["reason"]["description"])
    proof.holds("reasons are described", len(reasons) > 10)
    texts = set(proof.texts(tideline, "en"))
    proof.same("reasons without a text", {f"reason_{reason}" for reason in reasons} - texts, set())
    proof.clean(page)


def lists(proof: Proof) -> None:
    """Lists are made, filled, read and deleted."""
    tideline, town = proof.open_server("lists")
    village(town)
    page = proof.page(proof.address(tideline) + "#/timeline/reader")
    page.wait("document.querySelectorAll('article').length === 4", "the timeline")
    go(page, "user/reader/lists")
    page.wait("!!document.querySelector('main .empty')", "no lists")
    proof.same("nothing is made by who looks", page.run("document.querySelectorAll('main form').length"), 0)
    page.click(".mode [role=switch]")
    page.click("main form input")
    page.write("a/b é")
    page.click("main form button", "Make a list")
    page.wait("document.querySelector('h1')?.innerText === 'a/b é'", "the page of the list")
    shows(page, "This list is empty.")
    path = "/v1/users/reader/lists/a%2Fb%20%C3%A9"
    town.told("PUT", f"{path}/members/ben", {"except": ["repost"]})
    page.click("main form input")
    page.write("ann")
    page.click("main form button", "Add")
    page.wait("document.querySelectorAll('.person').length === 2 && document.querySelector('main form input').value === ''", "the members")
    proof.holds("the rule", "Without repost" in page.run("document.querySelector('.person[data-id=ben]').innerText"))
    page.click(".tabs a", "Timeline")
    page.wait("document.querySelectorAll('article').length === 2", "the timeline of the list")
    proof.same("the items of the list", ids(page), ["plain", "both"])
    page.click(".bar button", "Make it exclusive")
    page.wait("document.querySelector('.bar .tag')?.innerText === 'Exclusive'", "the mark")
    proof.same("at the server", town.told("GET", path), {"list": "a/b é", "title": None, "exclusive": True})
    go(page, "timeline/reader")
    page.wait("document.querySelectorAll('article').length === 2", "the home timeline without the member")
    go(page, "user/reader/lists")
    page.click("main .card a", "a/b é")
    page.click(".tabs a", "Members")
    page.wait("document.querySelectorAll('.person').length === 2", "the members again")
    page.click(".person[data-id=ben] button", "Remove")
    page.wait("document.querySelectorAll('.person').length === 1", "one member")
    go(page, "timeline/reader")
    page.wait("document.querySelectorAll('article').length === 4", "the home timeline again")
    page.run("history.back()")
    page.click(".bar button", "Delete the list")
    shows(page, "Delete the list a/b é of reader?")
    page.click("dialog .strong", "Delete")
    page.wait("location.hash === '#/user/reader/lists' && !!document.querySelector('main .empty')", "no lists are left")
    go(page, "list/reader/gone")
    shows(page, "There is no such list.")
    proof.clean(page, {404})


def account(proof: Proof) -> None:
    """The settings of a user, and the suspension."""
    tideline, town = proof.open_server("account")
    village(town)
    page = proof.page(proof.address(tideline) + "#/timeline/reader")
    page.wait("document.querySelectorAll('article').length === 4", "the timeline")
    go(page, "user/ben")
    page.wait("!!document.querySelector('.profile .quiet.danger')", "the page of an operator")
    proof.same("no settings for who looks", page.run("[...document.querySelectorAll('.profile button')].map((one) => one.innerText)"), ["Suspend"])
    go(page, "timeline/ben")
    page.click(".mode [role=switch]")
    go(page, "user/ben")
    page.click(".profile button", "Settings")
    page.click("dialog [name=approve_followers]")
    page.click("dialog [name=default_audience]")
    page.click("dialog button", "Save")
    page.wait(f"{TAGS} === 'Approves followers,Publishes for followers'", "the marks")
    proof.same("at the server", town.told("GET", "/v1/users/ben/settings"), {"approve_followers": True, "default_audience": "followers"})
    page.click(".profile button", "Settings")
    page.wait("document.querySelectorAll('dialog :checked').length === 2", "the settings are shown")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the window closes")
    page.click(".profile button", "Suspend")
    shows(page, "No user sees anything of a suspended user.")
    proof.holds("it says whom", "Ben" in page.run("document.querySelector('dialog').innerText"))
    page.click("dialog .strong", "Suspend")
    page.wait(f"{TAGS}.startsWith('Suspended')", "the mark")
    shows(page, "Ben is suspended.")
    page.wait("!document.querySelector('article')", "nothing of the user is shown here")
    go(page, "timeline/reader")
    page.wait("document.querySelectorAll('article').length === 2", "nor elsewhere")
    go(page, "user/ben")
    page.click(".profile button", "Take the suspension back")
    page.click("dialog .strong", "Take the suspension back")
    page.wait("document.querySelectorAll('article').length === 2", "the items are back")
    until("the end at the server", lambda: not town.told("GET", "/v1/users/ben/suspension")["suspended"])
    page.wait(f"{TAGS} === 'Approves followers,Publishes for followers'", "the marks that stay")

    # A user asks, and is answered.
    go(page, "timeline/ann")
    page.click(".mode [role=switch]")
    go(page, "user/ben")
    page.click(".profile button", "Follow")
    page.wait(f"{TAGS}.includes('Asked to follow')", "the request")
    go(page, "user/ben/follow-requests")
    shows(page, "Requests are answered in the name of this user.")
    proof.same("no answer by who acts for another", page.run("document.querySelectorAll('.person button').length"), 0)
    page.click("main [role=switch]")
    page.click(".person button", "Approve")
    until("the follow", lambda: town.relation("ann", "ben")["relation"] == "following")
    proof.clean(page)
