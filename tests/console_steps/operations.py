"""The pages of operators: the dashboard and the backups."""

import tarfile
import time
from pathlib import Path

from support.expect import until

from .proof import PHONE, Page, Proof, Town, step

# The figures in tiles, by their names.
TILES = "Object.fromEntries($$('.tiles > div').map((one) => [one.querySelector('dt').innerText, one.querySelector('dd').innerText.replace(/\\s+/g, ' ')]))"


@step("dashboard")
def dashboard(proof: Proof, page: Page, town: Town) -> None:
    """The charts move with the load, and their figures are those of the server."""
    page.wait("count('.chart') > 10", "the charts")
    figure = """(([chart, series]) => [...document.querySelectorAll(`.chart[aria-label="${chart}"] .series`)]
      .find((one) => one.innerText.startsWith(series)).querySelector("dd").innerText)(args)"""
    moving = [
        ("Publishing", "items"), ("Publishing", "inbox"), ("From publish to inbox", "P50"), ("Requests", "answered"),
        ("Time to answer", "P50"), ("Storage", "tables"), ("Memory", "resident"),
    ]
    still, seen, n = set(moving), {}, 0
    end = time.monotonic() + 60
    # A figure of one moment may be 0 under any load, so each has to move once.
    while still and time.monotonic() < end:
        for n in range(n + 1, n + 20):
            town.publish("mei", f"load-{n}", "load")
        seen = {one: page.run(figure, *one) for one in still}
        still = {one for one, text in seen.items() if text == "–" or text.startswith("0")}
    proof.same("figures that do not move under load", {one: seen[one] for one in still}, {})
    rows = town.client.figures()['tideline_table_rows{table="outbox"}']
    # From a thousand on the figure is short, such as 1.6K.
    page.wait(
        """$$('tr').some((row) => row.cells[0]?.innerText === 'outbox'
          && parseFloat(row.cells[1].innerText) * (row.cells[1].innerText.endsWith('K') ? 1000 : 1) >= 0.95 * args[0])""",
        "the rows of the table", rows,
    )
    page.wait("$('.chart[aria-label=\"Requests\"] .line').getAttribute('d').split('L').length > 3", "a line")
    proof.same("the tiles", page.run(f"Object.keys({TILES})"), ["Users online", "Requests", "Jobs waiting", "Items", "Follows", "On disk", "Free disk", "Last backup", "Standbys", "Webhook lag"])
    proof.same("a chart per figure", page.run("$$('.chart').filter((chart) => !chart.querySelector('.line')).length"), 0)


@step(None)
def history(proof: Proof, town: Town) -> None:
    """The charts begin with what the server has kept, and the codes of refusals with it. A sentence tells how it is."""
    for n in range(3):
        town.client.call("GET", f"/v1/content/none-{n}")
    kept = lambda: town.told("GET", "/v1/admin/history")["items"]
    until("the history", lambda: len(kept()) >= 3 and any("content_not_found" in one["problems"] for one in kept()))
    page = proof.page(town.address + "#/dashboard", **PHONE)
    path = "$('.chart[aria-label=\"Memory\"] .line')?.getAttribute('d')"
    proof.holds("the first line has the history", len(page.wait(path, "a line").split("L")) >= 3)
    page.wait("$$('.refusals tbody tr').map((row) => [...row.cells].slice(0, 2).map((cell) => cell.innerText).join()).some((row) => row.startsWith('content_not_found') && row.endsWith(',3'))", "refusals by code")
    free = page.run(TILES)["Free disk"]
    proof.holds(f"the free disk: {free}", "iB" in free and "of" in free)

    page.shows("No alert holds. There is no verified backup.")
    page.press("g b")
    page.click("main button", "Take a backup", then="text('.backup .tag') === 'verified'")
    page.press("g d", then=f"/^(just now|\\d+ (sec|min)[.] ago) 1 kept$/.test({TILES}['Last backup'])")
    page.shows("Healthy: no alert holds.")
    proof.same("in the window", page.run("document.documentElement.scrollWidth"), PHONE["width"])

    # A node of a cluster, with a receiver that fails, and an alert that this console does not know.
    page.run(
        """(window.fetch = ((ask) => async (url, options) => {
          const answer = Object.entries(args[0]).find(([path]) => String(url).includes(path))?.[1];
          return answer ? new Response(JSON.stringify(answer)) : ask(url, options);
        })(fetch), true)""",
        {
            "v1/admin/cluster": {"node": "a", "reachable": True, "lag": 12, "members": [{"name": "a"}, {"name": "b"}, {"name": "c"}]},
            "v1/admin/webhooks": {"items": [{"name": "push", "lag_seconds": 90, "last_error": "it answered 503", "next_at": 1}, {"name": "mail", "lag_seconds": 0}]},
            "v1/admin/alerts": {"items": [{"name": "TidelineDiskFull", "severity": "page", "runbook": "docs/operate/faults.md#the-disk-is-full"}, {"name": "TidelineBackupOld", "severity": "ticket", "runbook": "docs/operate/faults.md#backups"},
                                          {"name": "TidelineNew", "severity": "ticket", "runbook": "docs/operate/alerts.md"}]},
        },
    )
    page.press("g b", shows="Take a backup")
    page.press("g d", then=f"{TILES}.Nodes === '3 12 records behind' && {TILES}['Webhook lag'] === '90 s 1 receiver fails'")
    page.wait("count('.alerts li') === 3", "the alerts")
    proof.same("the alerts", page.run("$$('.alerts li').map((one) => [one.querySelector('.tag').innerText, one.querySelector('b').innerText])"),
               [["Act now", "The disk is full or broken: changes are refused."], ["Today", "There is no good backup of the last two days."], ["Today", "TidelineNew"]])
    page.shows("To look at: 3 alerts hold.")
    cure = page.run("(({ innerText, href }) => [innerText, href])($$('.alerts .doc')[1])")
    proof.holds(f"the cure is a link: {cure}", cure[0] == "docs/operate/faults.md#backups" and cure[1].startswith("https://") and cure[1].endswith(cure[0]))
    page.click(".alerts a", "Backups", shows="Take a backup")


def keep_downloads(page: Page, folder: Path) -> None:
    """What the page loads down goes into a folder, and the browser tells when it is there."""
    folder.mkdir()
    page.browser.send(
        "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True, browserContextId=page.context)


def downloaded(page: Page, path: Path) -> list[str]:
    """The names in an archive that the page loads down, once it is whole."""
    states = page.browser.downloads
    until(f"the archive {path}: {states}", lambda: path.exists() and set(states.values()) == {"completed"})
    with tarfile.open(path) as tar:
        return tar.getnames()


@step("backups", refused={404})
def backups(proof: Proof, page: Page, town: Town) -> None:
    """Take, see it verified, load down, remove."""
    folder = proof.workspace / "downloads"
    keep_downloads(page, folder)
    page.shows("No backups yet")
    page.click("main button", "Take a backup", then="text('.backup .tag') === 'verified'")
    taken = town.told("GET", "/v1/admin/backups")["items"]
    proof.same("the list", [backup["name"] for backup in taken], page.run("texts('.backup code')"))
    page.click(".backup button", f"Download {taken[0]['name']}")
    proof.holds("files in the archive", len(downloaded(page, folder / f"tideline-{taken[0]['name']}.tar")) > 3)
    page.click(".backup button", f"Remove {taken[0]['name']}")
    page.click("dialog button", "Cancel", then="!has('dialog')")
    proof.same("nothing is removed", len(town.told("GET", "/v1/admin/backups")["items"]), 1)
    page.click(".backup button", f"Remove {taken[0]['name']}")
    page.click("dialog button", "Remove", shows="No backups yet")
    proof.same("it is removed", town.told("GET", "/v1/admin/backups")["items"], [])
    proof.clean(page)

    # With a key the page reads the archive itself, because a link cannot have a header.
    town = proof.town("backups-key", guarded=True)
    town.fill()
    name = town.told("POST", "/v1/admin/backups", {})["name"]
    page = proof.page(town.address)
    folder = proof.workspace / "downloads-key"
    keep_downloads(page, folder)
    page.sign_in(proof.key, then="has('.hero')")
    # The browser's own window for files cannot be driven; other browsers do not have it.
    page.run("delete window.showSaveFilePicker")
    page.go("backups")
    page.click(".backup button", f"Download {name}")
    proof.holds("files in the archive", len(downloaded(page, folder / f"tideline-{name}.tar")) > 3)
