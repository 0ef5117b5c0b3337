"""Finding people: as one types, with the mouse, with keys, on a phone; and those of late."""

import json


from .proof import PHONE, Page, Proof, Town, step

OPTIONS = "$$('.found [role=option]').map((one) => one.innerText.split(/\\s*\\n\\s*/).join(' | '))"
NAMES = "texts('.found [role=option] .names b')"


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


@step(fill=many)
def finding(proof: Proof, page: Page, town: Town) -> None:
    """With the mouse: those of late on the first page, and by a part of the name or the id."""
    page.wait("count('.late .people') === 3", "three lists")
    lists = page.run("Object.fromEntries($$('.late .people').map((one) => [one.querySelector('h2').innerText, one.querySelector('.names b').innerText]))")
    proof.same("the first of each", lists, {"Lately active": "Anna Straße", "Most followers": "Mei Tanaka", "Newest": "Anna Straße"})
    page.click("[data-switch=language]", then="text('.late h2') === '最近活跃'")
    page.click("[data-switch=language]")
    page.click("#look-up-large")
    proof.same("nothing over the lists", page.run("has('.found')"), False)
    page.write("STRASSE", then=f"({OPTIONS}).length === 1")
    proof.holds("name, id and followers", all(part in page.run(OPTIONS)[0] for part in ("Anna Straße", "strasse", "0 followers")))
    proof.holds("a picture", page.run("has('.found [role=option] .avatar')"))
    page.click(".found [role=option]", then="location.hash === '#/timeline/strasse' && text('h1') === 'Anna Straße'")
    proof.same("the field is empty", page.run("$('#look-up').value"), "")

    # In the head of each page: first those of late, and then by the beginning of an id.
    page.click("#look-up", then="count('.found [role=group]') === 3")
    # In one turn of the page: on a busy machine more than the pause before a question may pass between two commands to the browser.
    page.run("['0', '1', '90', 'a1b2'].forEach((text) => document.execCommand('insertText', false, text))")
    page.wait(f"({NAMES}).length === 8 && ({NAMES}).every((name) => name.startsWith('Marta'))", "as many as fit")
    answered = [text for text in asked(page) if text.startswith("0")]
    proof.same("letters that follow each other are asked once", answered, ["0190a1b2"])
    page.click("main .empty h2", then="!has('.found')")
    # A nickname that is no id is told as such, with the user.
    page.enter("Mei Tanaka", "#look-up", shows="Nobody has this id")
    page.click(".people a", then="location.hash === '#/timeline/mei'")
    page.settled()
    proof.same("looked up", json.loads(page.run("sessionStorage['tideline.recent']")), ["mei", "strasse"])


@step(fill=many)
def finding_keys(proof: Proof, page: Page, town: Town) -> None:
    """With keys: arrows go through the users and back to the field, Enter opens, Esc closes."""
    page.wait("has('.late')", "the first page")
    active = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.querySelector('.names b').innerText ?? null"
    state = "['aria-expanded', 'aria-controls'].map((name) => document.activeElement.getAttribute(name))"
    page.press("/", then=f"({NAMES}).length > 3")
    page.press("ArrowDown")
    proof.same("the first of late", page.run(active), "Anna Straße")
    page.write("me", then=f"({NAMES}).join() === 'Mei Tanaka'")
    proof.same("what is told to readers of the screen", page.run("text('.topbar [role=status]')"), "1 user found")
    proof.same("nothing is chosen yet", page.run(active), None)
    proof.same("open", page.run(state), ["true", "look-up-list"])
    page.press("Escape")
    proof.same("closed, with the text", page.run(f"[{state}, document.activeElement.value, has('.found')]"), [["false", None], "me", False])
    page.press("ArrowDown", then=f"({NAMES}).join() === 'Mei Tanaka'")
    page.press("ArrowDown")
    proof.same("down", page.run(active), "Mei Tanaka")
    page.press("ArrowDown")
    proof.same("after the last one the field", page.run(active), None)
    page.press("ArrowUp")
    proof.same("up to the last one", page.run(active), "Mei Tanaka")
    page.press("Enter", then="location.hash === '#/timeline/mei' && text('h1') === 'Mei Tanaka'")
    proof.same("the field has let go", page.run("document.activeElement.id === 'look-up'"), False)
    page.press("/")
    page.write("zzz", shows="No id and no name begins so.")
    page.press("Enter", then="document.activeElement === $('h1') && document.activeElement.innerText === 'Nobody has this id'")
    # The field loses the focus by the second Esc, and the keys of the page work.
    page.press("/", then="has('.found')")
    page.press("Escape", "Escape", "?", then="has('dialog[open]')")


VERDICT = "text('dialog .verdict').trim()"


@step("timeline/bob")
def names(proof: Proof, page: Page, town: Town) -> None:
    """Every field for a user takes a name, offers users as one types, and asks whom a part of a name means."""
    page.wait("has('main .feed')", "a timeline")
    page.click("main button", "Why?")
    page.fill("ada lindqvist", "dialog input[name=reader]")
    page.fill("Mei", "dialog input[name=item]", then=f"({NAMES}).join() === 'Mei Tanaka'")
    page.press("ArrowDown", "Enter")
    proof.same("the chosen user", page.run("$('dialog input[name=item]').value"), "mei")
    page.press("Enter", then=f"({VERDICT}).startsWith('The timeline shows it.')")
    asked_about = page.run("$$('dialog p.faint').map((one) => one.innerText.replace(/\\s+/g, ' '))")
    proof.same("about whom", asked_about, ["Timeline of Ada Lindqvist ada", "Newest item of Mei Tanaka mei"])
    town.told("PUT", "/v1/users/mei/suspension")
    for text, said in (("Tanaka", "Did you mean one of these?"), ("eve", "This user has published nothing."), ("mei", "is suspended."), ("no-such", "There is no such item.")):
        page.enter(text, "dialog input[name=item]", shows=said)
        if text == "Tanaka":
            page.click("dialog .meant b", "Mei Tanaka", then=f"({VERDICT}).includes('is suspended.')")
    town.told("DELETE", "/v1/users/mei/suspension")
    page.dismiss()

    page.go("moderation")
    page.enter("lindqvist", "#sweep-of")
    page.click("main .meant b", "Ada Lindqvist", then="location.hash === '#/user/ada/content/select'")
    page.go("moderation")
    page.enter("MEI TANAKA", "#sweep-of", then="location.hash === '#/user/mei/content/select'")
    town.told("PUT", "/v1/users/bob/lists/close", {})
    page.go("list/bob/close/members")
    page.click(".mode [role=switch]")
    page.enter("nobody yet", "#member")
    page.click("main .note button", "Take it as the id of a new user", then="$('.person')?.dataset.id === 'nobody yet'")


@step(fill=many, look=PHONE)
def finding_phone(proof: Proof, page: Page, town: Town) -> None:
    """On a phone: the users fill the window's width, and no more."""
    town.told("PUT", "/v1/users/long", {"nickname": "Marta " + "Wolfeschlegelsteinhausenbergerdorff" * 3})
    for field in ("#look-up-large", "#look-up"):
        page.go("", then=f"has('{field}')")
        page.fill("marta", field, then=f"({NAMES}).length === 8")
        place = page.run("(({ left, right, bottom }) => [left, right, innerWidth])($('.found').getBoundingClientRect())")
        proof.holds(f"{field}: in the window: {place}", place[0] >= 0 and place[1] <= place[2] and place[2] == PHONE["width"])
        first = page.run("$('.found [role=option]').getBoundingClientRect().bottom")
        proof.holds(f"{field}: the users are in the upper half: {first}", first < PHONE["height"] / 2)
        low = page.run("Math.min(...$$('.found [role=option]').map((one) => one.getBoundingClientRect().height))")
        proof.holds(f"{field}: large enough for a finger: {low}", low >= 24)
        page.click(".found [role=option]:first-of-type", then="location.hash.startsWith('#/timeline/')")
