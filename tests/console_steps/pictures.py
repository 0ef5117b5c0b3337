"""The pictures of docs/use/console.md, made from the community of `tideline demo`."""

import time
from pathlib import Path

from support.devtools import Page
from support.expect import Unexpected, until
from support.server import Tideline

from .proof import DESKTOP, PHONE, Proof, Town, act, shows

# The user of the demo who follows most people, and the largest author.
READER, AUTHOR = "1", "2"
PEOPLE, POSTS = 500, 5000


def community(proof: Proof) -> Tideline:
    """A server with the data of the demo."""
    tideline = Tideline(proof.args.binary, proof.workspace / "pictures", {})
    proof.servers.append(tideline)
    tideline.import_demo(PEOPLE, POSTS)
    tideline.start()
    return tideline


def pictures(proof: Proof, folder: Path) -> None:
    """The same in light and dark, on a desktop and on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    tideline = community(proof)
    town = Town(tideline.address)
    address = proof.address(tideline)

    def take(page: Page, name: str) -> None:
        time.sleep(0.5)
        (folder / f"console-{name}.png").write_bytes(page.picture())
        if page.errors:
            raise Unexpected(str(page.errors))

    def opened(place: str, sign: str, **look: object) -> Page:
        page = proof.page(f"{address}#/{place}", **DESKTOP | {"width": 1180, "height": 800} | look)
        page.wait("document.querySelectorAll(args[0]).length > 3", place, sign)
        return page

    page = opened(f"timeline/{READER}", "article", dark=True)
    page.click("article button", "More")
    page.click("dialog button", "Why is this here?")
    shows(page, "The timeline shows it.")
    take(page, "dark")
    page.close()

    page = opened(f"timeline/{READER}", "article", **PHONE | {"width": 390, "height": 844}, dark=True)
    take(page, "phone")
    page.close()

    page = opened(f"timeline/{READER}", "article")
    act(page)
    for n in range(3):
        town.publish(AUTHOR, f"picture-{n}", "The ferry runs every hour from today.")
    page.wait("!!document.querySelector('.pill')", "new items")
    take(page, "desktop")
    page.close()

    page = opened(f"user/{AUTHOR}/content/select", ".pick")
    page.run("scrollTo(0, 240)")
    for n in (1, 3):
        page.click(f".page > article:nth-child({n}) .pick input")
    take(page, "moderation")
    page.close()

    town.told("POST", "/v1/admin/backups", {})
    until("a verified backup", lambda: town.told("GET", "/v1/admin/backups")["items"][0]["state"] == "verified")
    page = opened("dashboard", ".chart")
    for n in range(200):
        for wave in range(1 + n % 7):
            town.publish(AUTHOR, f"wave-{n}-{wave}", "wave")
            town.client.get(f"/v1/users/{READER}/timeline")
        time.sleep(0.9)
    take(page, "dashboard")
    page.close()
