"""The pictures of docs/use/console.md, made from the community of `tideline demo`."""

import argparse
import time
from pathlib import Path

from support.devtools import Browser
from support.expect import Unexpected, until

from .proof import DESKTOP, PHONE, Page, Proof

# The user of the demo who follows most people, and the largest author.
READER, AUTHOR = "1", "2"
PEOPLE, POSTS = 500, 5000


def all_pictures(args: argparse.Namespace, workspace: Path, browser: Browser) -> str:
    args.screenshots.mkdir(parents=True, exist_ok=True)
    proof = Proof(args, workspace, browser, "pictures")
    try:
        pictures(proof, args.screenshots)
    finally:
        proof.close()
    return f"the pictures are in {args.screenshots}"


def pictures(proof: Proof, folder: Path) -> None:
    """The same in light and dark, on a desktop and on a phone."""
    town = proof.town("pictures")
    town.tideline.stop()
    town.tideline.import_demo(PEOPLE, POSTS)
    town.tideline.start()

    def take(page: Page, name: str) -> None:
        time.sleep(0.5)
        (folder / f"console-{name}.png").write_bytes(page.picture())
        if page.errors:
            raise Unexpected(str(page.errors))

    def opened(place: str, sign: str, **look: object) -> Page:
        return proof.page(f"{town.address}#/{place}", f"count('{sign}') > 3", **DESKTOP | {"width": 1180, "height": 800} | look)

    page = opened(f"timeline/{READER}", "article", dark=True)
    page.click("article button", "More")
    page.click("dialog button", "Why is this here?", shows="The timeline shows it.")
    take(page, "dark")
    page.close()

    page = opened(f"timeline/{READER}", "article", **PHONE | {"width": 390, "height": 844}, dark=True)
    take(page, "phone")
    page.close()

    page = opened(f"timeline/{READER}", "article")
    page.act()
    for n in range(3):
        town.publish(AUTHOR, f"picture-{n}", "The ferry runs every hour from today.")
    page.wait("has('.pill')", "new items")
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
