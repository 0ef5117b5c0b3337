"""The page of settings, keys and tokens: with the mouse, with keys, on a phone."""

from support.client import Client

from .proof import PHONE, Page, Proof, Town, step

MADE = "text('.made pre')"
ROWS = "$$('.keyring tbody tr').map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"


# Further keys than those of each guarded server.
OTHERS = {"auth.metrics_keys": "m" * 40}


def works(proof: Proof, town: Town, token: str) -> None:
    """The token is one of its user, and of nobody else."""
    client = Client(town.client.address, key=token)
    proof.same("the own timeline", client.call("GET", "/v1/users/ada/timeline").status, 200)
    proof.same("that of another user", client.call("GET", "/v1/users/mei/timeline").status, 403)


@step(guarded=True, refused={404}, settings=OTHERS)
def settings(proof: Proof, page: Page, town: Town) -> None:
    """The settings in force without secrets, the keys by name and role, and a token that is shown once."""
    page.sign_in(proof.key, then="has('.hero')")
    page.click(".rail a", "Settings", then="count('.sections section') > 10")
    rows = page.run(ROWS)
    proof.same("names and roles", sorted(row[:2] for row in rows), [["console tests", "everything"], ["no name", "/metrics only"], ["no name", "reads"]])
    proof.holds(f"the beginning of each hash: {rows}", all(row[2].startswith("sha256:") and len(row[2]) == 20 for row in rows))
    shown = page.text()
    proof.same("secrets in the page", [one in shown for one in (proof.key, proof.read_key, proof.secret, "m" * 40)], [False] * 4)
    page.fill("timeline.inbox", ".filter input", then="texts('.sections dt').join() === 'inbox_limit'")
    proof.same("its value", page.run("text('.sections dd')"), "1000")
    page.write("zzz", shows="No setting has this in its name.")

    page.fill("ada", "input[name=token-user]")
    page.run("($('.lasts select').value = '8', $('.lasts select').dispatchEvent(new Event('change', { bubbles: true })))")
    page.click(".token button", "Make a token")
    token = page.wait(MADE, "the token")
    works(proof, town, token)
    proof.holds("when it ends", page.run("text('.made time')") == "in 8 hr.")
    page.click(".made button", "Copy", shows="Copied")
    page.click(".rail a", "Backups", shows="No backups yet")
    page.click(".rail a", "Settings", then="count('.sections section') > 10")
    proof.same("the token is gone", page.run(f"{MADE} || Object.values(sessionStorage).join().includes(args[0])", token), False)


@step(guarded=True, refused={409}, settings=OTHERS)
def settings_keys(proof: Proof, page: Page, town: Town) -> None:
    """With keys only; a server without a secret for tokens, and one without keys, say so."""
    page.sign_in(proof.key, then="has('.hero')")
    page.press("g s", then="document.activeElement === $('h1') && has('.token')")
    page.press("Tab")
    proof.same("the first field", page.run("document.activeElement.name"), "token-user")
    page.enter("ada")
    token = page.wait(MADE, "the token")
    works(proof, town, token)
    page.press("Tab", "Tab", "Tab", "Tab", "Enter", shows="Copied")
    proof.clean(page, {404})

    town = proof.town("settings-open")
    town.fill()
    page = proof.page(town.address + "#/settings")
    page.shows("This server has no keys")
    page.enter("ada", "input[name=token-user]", shows="The server has no secret for tokens")


@step(guarded=True, refused={404}, settings=OTHERS, look=PHONE)
def settings_phone(proof: Proof, page: Page, town: Town) -> None:
    """On a phone the tabs lead there, and nothing is wider than the window."""
    page.sign_in(proof.key, then="has('.hero')")
    page.click(".tabbar a", "Server")
    page.click(".tabs.of-server a", "Settings", then="has('.sections')")
    seen = page.run("(({ left, right }) => left >= 0 && right <= innerWidth)($('.of-server [aria-current]').getBoundingClientRect())")
    proof.holds("the tab is in sight", seen)
    # The list of users lies over the button until one of them is taken.
    page.fill("ada", "input[name=token-user]")
    page.click(".token [role=option]", then="!has('.token .found')")
    page.click(".token button", "Make a token")
    works(proof, town, page.wait(MADE, "the token"))
    proof.same("in the window", page.run("document.documentElement.scrollWidth"), PHONE["width"])
    page.go("")
