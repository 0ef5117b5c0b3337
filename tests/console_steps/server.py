"""The page of settings, keys and tokens: with the mouse, with keys, on a phone."""

from support.client import Client
from support.devtools import Page

from .proof import PHONE, Proof, Town, go, shows, sign_in

MADE = "document.querySelector('.made pre')?.innerText"
ROWS = "[...document.querySelectorAll('.keyring tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText.trim()))"


def opened(proof: Proof, name: str, **look: object) -> tuple[Page, Town]:
    """A server whose first key has a name, and the page of its settings."""
    tideline, town = proof.guarded(name, **{"auth.keys": f"{proof.key} shop backend", "auth.metrics_keys": "m" * 40})
    town.fill()
    page = proof.page(proof.address(tideline), **look)
    sign_in(page, proof.key)
    page.wait("!!document.querySelector('.hero')", "the first page")
    return page, town


def works(proof: Proof, town: Town, token: str) -> None:
    """The token is one of its user, and of nobody else."""
    client = Client(town.client.address, key=token)
    proof.same("the own timeline", client.call("GET", "/v1/users/ada/timeline").status, 200)
    proof.same("that of another user", client.call("GET", "/v1/users/mei/timeline").status, 403)


def settings(proof: Proof) -> None:
    """The settings in force without secrets, the keys by name and role, and a token that is shown once."""
    page, town = opened(proof, "settings")
    page.click(".rail a", "Settings")
    page.wait("document.querySelectorAll('.sections section').length > 10", "the settings")
    rows = page.run(ROWS)
    proof.same("names and roles", sorted(row[:2] for row in rows), [["no name", "/metrics only"], ["no name", "reads"], ["shop backend", "everything"]])
    proof.holds(f"the beginning of each hash: {rows}", all(row[2].startswith("sha256:") and len(row[2]) == 20 for row in rows))
    shown = page.text()
    proof.same("secrets in the page", [one in shown for one in (proof.key, proof.read_key, proof.secret, "m" * 40)], [False] * 4)
    page.click(".filter input")
    page.write("timeline.inbox")
    page.wait("[...document.querySelectorAll('.sections dt')].map((one) => one.innerText).join() === 'inbox_limit'", "one setting")
    proof.same("its value", page.run("document.querySelector('.sections dd').innerText"), "1000")
    page.write("zzz")
    shows(page, "No setting has this in its name.")

    page.click("input[name=token-user]")
    page.write("ada")
    page.run("(document.querySelector('.lasts select').value = '8', document.querySelector('.lasts select').dispatchEvent(new Event('change', { bubbles: true })))")
    page.click(".token button", "Make a token")
    token = page.wait(MADE, "the token")
    works(proof, town, token)
    proof.holds("when it ends", page.run("document.querySelector('.made time').innerText") == "in 8 hr.")
    page.click(".made button", "Copy")
    shows(page, "Copied")
    page.click(".rail a", "Backups")
    shows(page, "No backups yet")
    page.click(".rail a", "Settings")
    page.wait("document.querySelectorAll('.sections section').length > 10", "the settings again")
    proof.same("the token is gone", page.run(f"{MADE} ?? Object.values(sessionStorage).join().includes(args[0])", token), False)
    proof.clean(page, {404})


def settings_keys(proof: Proof) -> None:
    """With keys only; a server without a secret for tokens, and one without keys, say so."""
    page, town = opened(proof, "settings-keys")
    page.press("g s")
    page.wait("document.activeElement === document.querySelector('h1') && !!document.querySelector('.token')", "the page, whose title has the focus")
    page.press("Tab")
    proof.same("the first field", page.run("document.activeElement.name"), "token-user")
    page.write("ada")
    page.press("Enter")
    token = page.wait(MADE, "the token")
    works(proof, town, token)
    page.press("Tab", "Tab", "Tab", "Tab", "Enter")
    shows(page, "Copied")
    proof.clean(page, {404})

    tideline, town = proof.open_server("settings-open")
    town.fill()
    page = proof.page(proof.address(tideline) + "#/settings")
    shows(page, "This server has no keys")
    page.click("input[name=token-user]")
    page.write("ada")
    page.press("Enter")
    shows(page, "The server has no secret for tokens")
    proof.clean(page, {409})


def settings_phone(proof: Proof) -> None:
    """On a phone the tabs lead there, and nothing is wider than the window."""
    page, town = opened(proof, "settings-phone", **PHONE)
    page.click(".tabbar a", "Server")
    page.click(".tabs.of-server a", "Settings")
    page.wait("!!document.querySelector('.sections')", "the settings")
    seen = page.run("(({ left, right }) => left >= 0 && right <= innerWidth)(document.querySelector('.of-server [aria-current]').getBoundingClientRect())")
    proof.holds("the tab is in sight", seen)
    page.click("input[name=token-user]")
    page.write("ada")
    page.click(".token button", "Make a token")
    works(proof, town, page.wait(MADE, "the token"))
    proof.same("in the window", page.run("document.documentElement.scrollWidth"), PHONE["width"])
    go(page, "")
    proof.clean(page, {404})
