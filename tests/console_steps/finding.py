"""Finding people: as one types, with the mouse, with keys, on a phone; and those of late."""

import json

from support.devtools import Page

from .proof import PHONE, Proof, Town, go, shows

OPTIONS = "[...document.querySelectorAll('.found [role=option]')].map((one) => one.innerText.split(/\\s*\\n\\s*/).join(' | '))"
NAMES = "[...document.querySelectorAll('.found [role=option] .names b')].map((one) => one.innerText)"
FIELD = "document.querySelector(args[0])"


def many(town: Town) -> None:
    """Users with ids like those of a host, of whom one is the largest and one the newest."""
    for n in range(12):
        town.told("PUT", f"/v1/users/0190a1b2-0000-7000-8000-{n:012}", {"nickname": f"Marta Number{n}"})
    town.follow("ada", "mei")
    town.follow("eve", "mei")
    town.told("PUT", "/v1/users/mei", {"nickname": "Mei Tanaka"})
    town.told("PUT", "/v1/users/strasse", {"nickname": "Anna Straße"})


def asked(page: Page) -> list[str]:
    """What the page asked the search for."""
    return page.run("""performance.getEntriesByType('resource').map(({ name }) => new URL(name))
      .filter(({ pathname }) => pathname.endsWith('/v1/admin/users')).map(({ searchParams }) => searchParams.get('search') ?? searchParams.get('order'))""")


def finding(proof: Proof) -> None:
    """With the mouse: those of late on the first page, and by a part of the name or the id."""
    tideline, town = proof.open_server("finding")
    many(town)
    page = proof.page(proof.address(tideline))
    page.wait("document.querySelectorAll('.late .people').length === 3", "three lists")
    lists = page.run("Object.fromEntries([...document.querySelectorAll('.late .people')].map((one) => [one.querySelector('h2').innerText, one.querySelector('.names b').innerText]))")
    proof.same("the first of each", lists, {"Lately active": "Anna Straße", "Most followers": "Mei Tanaka", "Newest": "Anna Straße"})
    page.click("[data-switch=language]")
    page.wait("document.querySelector('.late h2').innerText === '最近活跃'", "the titles in Chinese")
    page.click("[data-switch=language]")
    page.click("#look-up-large")
    proof.same("nothing over the lists", page.run("!!document.querySelector('.found')"), False)
    page.write("STRASSE")
    page.wait(f"({OPTIONS}).length === 1", "the found user")
    proof.holds("name, id and followers", all(part in page.run(OPTIONS)[0] for part in ("Anna Straße", "strasse", "0 followers")))
    proof.holds("a picture", page.run("!!document.querySelector('.found [role=option] .avatar')"))
    page.click(".found [role=option]")
    page.wait("location.hash === '#/timeline/strasse' && document.querySelector('h1')?.innerText === 'Anna Straße'", "the timeline")
    proof.same("the field is empty", page.run(f"{FIELD}.value", "#look-up"), "")

    # In the head of each page: first those of late, and then by the beginning of an id.
    page.click("#look-up")
    page.wait("document.querySelectorAll('.found [role=group]').length === 3", "those of late")
    for text in ("0", "1", "90", "a1b2"):
        page.write(text)
    page.wait(f"({NAMES}).length === 8 && ({NAMES}).every((name) => name.startsWith('Marta'))", "as many as fit")
    answered = [text for text in asked(page) if text.startswith("0")]
    proof.same("letters that follow each other are asked once", answered, ["0190a1b2"])
    page.click("main .empty h2")
    page.wait("!document.querySelector('.found')", "a press beside it closes it")
    # A nickname that is no id is told as such, with the user.
    page.click("#look-up")
    page.run("document.activeElement.select()")
    page.write("Mei Tanaka")
    page.press("Enter")
    shows(page, "Nobody has this id")
    page.click(".people a")
    page.wait("location.hash === '#/timeline/mei'", "the user of this name")
    page.settled()
    proof.same("looked up", json.loads(page.run("sessionStorage['tideline.recent']")), ["mei", "strasse"])
    proof.clean(page)


def finding_keys(proof: Proof) -> None:
    """With keys: arrows go through the users and back to the field, Enter opens, Esc closes."""
    tideline, town = proof.open_server("finding-keys")
    many(town)
    page = proof.page(proof.address(tideline))
    page.wait("!!document.querySelector('.late')", "the first page")
    active = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('.names b').innerText ?? null"
    state = "['aria-expanded', 'aria-controls'].map((name) => document.activeElement.getAttribute(name))"
    page.press("/")
    page.wait(f"({NAMES}).length > 3", "those of late")
    page.press("ArrowDown")
    proof.same("the first of late", page.run(active), "Anna Straße")
    page.write("me")
    page.wait(f"({NAMES}).join() === 'Mei Tanaka'", "the found user")
    proof.same("what is told to readers of the screen", page.run("document.querySelector('.topbar [role=status]').innerText"), "1 user found")
    proof.same("nothing is chosen yet", page.run(active), None)
    proof.same("open", page.run(state), ["true", "look-up-list"])
    page.press("Escape")
    proof.same("closed, with the text", page.run(f"[{state}, document.activeElement.value, !!document.querySelector('.found')]"), [["false", None], "me", False])
    page.press("ArrowDown")
    page.wait(f"({NAMES}).join() === 'Mei Tanaka'", "open again")
    page.press("ArrowDown")
    proof.same("down", page.run(active), "Mei Tanaka")
    page.press("ArrowDown")
    proof.same("after the last one the field", page.run(active), None)
    page.press("ArrowUp")
    proof.same("up to the last one", page.run(active), "Mei Tanaka")
    page.press("Enter")
    page.wait("location.hash === '#/timeline/mei' && document.querySelector('h1')?.innerText === 'Mei Tanaka'", "the timeline")
    proof.same("the field has let go", page.run("document.activeElement.id === 'look-up'"), False)
    page.press("/")
    page.write("zzz")
    shows(page, "No id and no name begins so.")
    page.press("Enter")
    page.wait("document.activeElement === document.querySelector('h1') && document.activeElement.innerText === 'Nobody has this id'", "nobody, and the title has the focus")
    # The field loses the focus by the second Esc, and the keys of the page work.
    page.press("/")
    page.wait("!!document.querySelector('.found')", "those of late")
    page.press("Escape", "Escape", "?")
    page.wait("!!document.querySelector('dialog[open]')", "the help")
    proof.clean(page)


VERDICT = "document.querySelector('dialog .verdict')?.innerText.trim() ?? ''"


def names(proof: Proof) -> None:
    """Every field for a user takes a name, offers users as one types, and asks whom a part of a name means."""
    tideline, town = proof.open_server("names")
    town.fill()
    page = proof.page(proof.address(tideline) + "#/timeline/bob")
    page.wait("!!document.querySelector('main .feed')", "a timeline")
    page.click("main button", "Why?")
    page.click("dialog input[name=reader]")
    page.run("document.activeElement.select()")
    page.write("ada lindqvist")
    page.click("dialog input[name=item]")
    page.write("Mei")
    page.wait(f"({NAMES}).join() === 'Mei Tanaka'", "the offered user")
    page.press("ArrowDown", "Enter")
    proof.same("the chosen user", page.run("document.querySelector('dialog input[name=item]').value"), "mei")
    page.press("Enter")
    page.wait(f"({VERDICT}).startsWith('The timeline shows it.')", "the answer")
    asked_about = page.run("[...document.querySelectorAll('dialog p.faint')].map((one) => one.innerText.replace(/\\s+/g, ' '))")
    proof.same("about whom", asked_about, ["Timeline of Ada Lindqvist ada", "Newest item of Mei Tanaka mei"])
    town.told("PUT", "/v1/users/mei/suspension")
    for text, said in (("Tanaka", "Did you mean one of these?"), ("eve", "This user has published nothing."), ("mei", "is suspended."), ("no-such", "There is no such item.")):
        page.click("dialog input[name=item]")
        page.run("document.activeElement.select()")
        page.write(text)
        page.press("Enter")
        shows(page, said)
        if text == "Tanaka":
            page.click("dialog .meant b", "Mei Tanaka")
            page.wait(f"({VERDICT}).includes('is suspended.')", "the user that was meant, of whom no list has an item")
    town.told("DELETE", "/v1/users/mei/suspension")
    page.press("Escape")
    page.wait("!document.querySelector('dialog')", "the window closes")

    go(page, "moderation")
    page.click("#sweep-of")
    page.write("lindqvist")
    page.press("Enter")
    page.click("main .meant b", "Ada Lindqvist")
    page.wait("location.hash === '#/user/ada/content/select'", "the author of the sweep")
    go(page, "moderation")
    page.click("#sweep-of")
    page.write("MEI TANAKA")
    page.press("Enter")
    page.wait("location.hash === '#/user/mei/content/select'", "the author by the whole name")
    town.told("PUT", "/v1/users/bob/lists/close", {})
    go(page, "list/bob/close/members")
    page.click(".mode [role=switch]")
    page.click("#member")
    page.write("nobody yet")
    page.press("Enter")
    page.click("main .note button", "Take it as the id of a new user")
    page.wait("document.querySelector('.person')?.dataset.id === 'nobody yet'", "a new user is a member")
    proof.clean(page)


def finding_phone(proof: Proof) -> None:
    """On a phone: the users fill the window's width, and no more."""
    tideline, town = proof.open_server("finding-phone")
    many(town)
    town.told("PUT", "/v1/users/long", {"nickname": "Marta " + "Wolfeschlegelsteinhausenbergerdorff" * 3})
    page = proof.page(proof.address(tideline), **PHONE)
    page.wait("!!document.querySelector('.late .people')", "the first page")
    for field in ("#look-up-large", "#look-up"):
        go(page, "")
        page.wait("!!document.querySelector(args[0])", field, field)
        page.click(field)
        page.write("marta")
        page.wait(f"({NAMES}).length === 8", "the found users")
        place = page.run("(({ left, right, bottom }) => [left, right, innerWidth])(document.querySelector('.found').getBoundingClientRect())")
        proof.holds(f"{field}: in the window: {place}", place[0] >= 0 and place[1] <= place[2] and place[2] == PHONE["width"])
        first = page.run("document.querySelector('.found [role=option]').getBoundingClientRect().bottom")
        proof.holds(f"{field}: the users are in the upper half: {first}", first < PHONE["height"] / 2)
        low = page.run("Math.min(...[...document.querySelectorAll('.found [role=option]')].map((one) => one.getBoundingClientRect().height))")
        proof.holds(f"{field}: large enough for a finger: {low}", low >= 24)
        page.click(".found [role=option]:first-of-type")
        page.wait("location.hash.startsWith('#/timeline/')", "a timeline")
    proof.clean(page)
