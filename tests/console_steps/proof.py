"""What the steps share: servers, a browser, and comparisons."""

import json
import secrets
import subprocess
import tarfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

from support.client import Client
from support.devtools import Browser, Page
from support.expect import Unexpected
from support.prefix_proxy import Proxy
from support.server import Tideline

SOURCE = Path(__file__).parents[2] / "console"
AXE = "axe-core@4.14.1"
DESKTOP = {"width": 1280, "height": 860}
PHONE = {"width": 360, "height": 740, "phone": True}
HOUR = 3_600_000

# Sentences of a small place by the sea, for pages that people look at.
PEOPLE = {
    "ada": "Ada Lindqvist", "mei": "Mei Tanaka", "bob": "Bob Okafor", "cem": "Cem Yıldız", "dot": "Dot Harper", "eve": "Eve Marlow",
}
POSTS = [
    ("mei", "Low tide at six this morning. The whole bay smelled of salt and kelp.\n\nTwo seals on the far rocks, not at all interested in me.", ["sea", "morning"]),
    ("bob", "The bakery on Pier Street has rye again. You did not hear it from me.", ["bread"]),
    ("cem", "Rebuilt the little outboard from the shed. It starts on the second pull, which I call a success.", ["boats"]),
    ("mei", "Wind is turning. Whoever left the blue kayak by the slipway: it will not be there tomorrow.", ["sea", "boats"]),
    ("dot", "Choir tonight at seven. We need two more altos, or one very loud one.", []),
    ("bob", "Saw the harbour master laugh today. Third time since 2019.", []),
    ("cem", "Does anybody have a 13 mm socket that they can part with until Sunday?", ["boats", "help"]),
    ("dot", "The library keeps the reading room open until nine this week. Bring a jumper.", ["library"]),
]

# Scrolls on, and waits until the window is full of items again, as far as the list goes. Tells how many are loaded, and
# null if they do not come.
SCROLL = """(async (by) => {
  scrollBy(0, by);
  for (const until = performance.now() + 30_000; performance.now() < until; ) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    const [run, list] = [".feed > [role=feed]", ".feed"].map((part) => document.querySelector(part).getBoundingClientRect());
    if (run.top <= Math.max(0, list.top) + 1 && run.bottom >= Math.min(innerHeight, list.bottom - 60)) {
      return document.querySelectorAll("article").length;
    }
  }
  return null;
})(args[0])"""


class Proof:
    """One run. Steps compare with `same`, and go on after a fault."""

    def __init__(self, args: Any, workspace: Path, browser: Browser):
        self.args = args
        self.workspace = workspace
        self.browser = browser
        self.checks = 0
        self.faults: list[str] = []
        self.key, self.read_key, self.secret = ("tlk_" + secrets.token_hex(32) for _ in range(3))
        self.servers: list[Tideline] = []
        self.proxies: list[Proxy] = []
        self.step = ""
        self.axe: str | None = None

    # Servers and data.

    def server(self, name: str, settings: dict[str, str]) -> Tideline:
        tideline = Tideline(self.args.binary, self.workspace / name, settings | {"presence.heartbeat": "1s"})
        self.servers.append(tideline)
        tideline.start()
        return tideline

    def open_server(self, name: str) -> tuple[Tideline, "Town"]:
        tideline = self.server(name, {})
        return tideline, Town(tideline.address)

    def guarded(self, name: str, **settings: str) -> tuple[Tideline, "Town"]:
        keys = {"auth.keys": self.key, "auth.read_keys": self.read_key, "auth.jwt_secret": self.secret, "auth.leeway": "0s"}
        tideline = self.server(name, keys | settings)
        return tideline, Town(tideline.address, self.key)

    def address(self, tideline: Tideline) -> str:
        """The address of the console: of the server itself, or below a path if its files come from a directory."""
        if self.args.files:
            known = (proxy for proxy in self.proxies if proxy.server == tideline.address)
            return (next(known, None) or self.proxy(tideline)).address
        return tideline.url + "/"

    def proxy(self, tideline: Tideline, files: Path | None = None) -> Proxy:
        self.proxies.append(Proxy(tideline.address, files=files or self.args.files))
        return self.proxies[-1]

    def texts(self, tideline: Tideline, language: str) -> dict:
        """The texts of a language, by their keys. A server has all modules in one script, so they come from the source."""
        page = self.page(self.proxy(tideline, SOURCE).address)
        texts = page.run(f"import(new URL('texts/{language}.js', document.querySelector('script[type=module]').src)).then((texts) => texts.default)")
        page.close()
        return texts

    def page(self, address: str, **look: object) -> Page:
        page = self.browser.page(**DESKTOP | look)
        page.open(address)
        return page

    # Comparisons.

    def same(self, what: str, seen: object, wanted: object) -> None:
        self.checks += 1
        if seen != wanted:
            self.faults.append(f"{self.step}: {what}: {str(seen)[:1000]!r}, not {str(wanted)[:300]!r}")

    def holds(self, what: str, seen: object) -> None:
        self.same(what, bool(seen), True)

    def clean(self, page: Page, expected: set[int] = frozenset(), is_cut: bool = False) -> None:
        """At the end of a page: no errors, no other server, no refusals but those of these statuses, and no request
        without an answer unless the step cut them off."""
        self.same("errors of the console", page.errors, [])
        self.same("other servers", {host for host in page.hosts if not host.startswith("127.0.0.1")}, set())
        self.same("refused requests", [refused for refused in page.refused if refused[0] not in expected], [])
        self.same("requests without an answer", [] if is_cut else page.failed, [])
        self.same("wider than the window", wide(page), [])
        page.close()

    def accessible(self, page: Page, what: str) -> None:
        """No findings of axe, of any level."""
        if self.axe is None:
            return
        page.settled()
        if not page.run("!!window.axe"):
            page.run(f"(0, eval)({json.dumps(self.axe)})")
        found = page.run(
            """axe.run(document, { resultTypes: ["violations", "incomplete"] }).then(({ violations }) => violations.flatMap(
              ({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(" ")}: ${node.failureSummary}`)))"""
        )
        self.same(f"accessibility of {what}", found, [])

    def fetch_axe(self) -> str | None:
        """The text of axe-core, by npm; the reason why it is missing goes to the output."""
        folder = self.workspace / "axe"
        folder.mkdir(exist_ok=True)
        try:
            subprocess.run(["npm", "pack", "--silent", AXE], cwd=folder, check=True, timeout=120, capture_output=True, text=True)
            archive = next(folder.glob("*.tgz"))
            with tarfile.open(archive) as tar:
                return tar.extractfile("package/axe.min.js").read().decode()
        except (OSError, subprocess.SubprocessError, StopIteration) as error:
            detail = getattr(error, "stderr", "") or error
            print(f"console: the accessibility check is left out, because npm did not give {AXE}: {detail}")
            return None

    def close(self) -> None:
        for proxy in self.proxies:
            proxy.close()
        for server in self.servers:
            server.kill()


class Town:
    """The data of a server, changed by the application."""

    def __init__(self, address: tuple[str, int], key: str | None = None):
        self.client = Client(address, key=key)

    def told(self, method: str, path: str, body: object = None) -> Any:
        answer = self.client.call(method, path, body)
        # The server ends a connection that waits for long, perhaps just before the next call.
        self.client.close()
        if answer.status >= 300:
            raise Unexpected(f"{method} {path}: {answer}")
        return answer.body

    def publish(self, author: str, content_id: str, text: str | None = None, **fields: object) -> dict:
        return self.told("POST", "/v1/content", {"author_id": author, "content_id": content_id, "text": text or content_id} | fields)

    def follow(self, user: str, *targets: str) -> None:
        self.told("POST", f"/v1/users/{quote(user, safe='')}/following/batch", {"follow": targets})

    def relation(self, user: str, target: str) -> dict:
        return self.told("GET", f"/v1/users/{user}/relations?targets={target}")["items"][0]

    def fill(self) -> None:
        """A few people, who follow each other and have published."""
        for user, nickname in PEOPLE.items():
            self.told("PUT", f"/v1/users/{user}", {"nickname": nickname})
        self.follow("ada", "mei", "bob", "cem", "dot")
        self.follow("mei", "ada", "bob")
        self.follow("eve", "mei")
        now = int(time.time() * 1000)
        for place, (author, text, topics) in enumerate(POSTS):
            at = now - HOUR // 12 - place * place * HOUR // 3
            self.publish(author, f"post-{place}", text, topics=topics, published_at=at)
        for user in ("ada", "bob", "dot", "eve"):
            self.told("PUT", f"/v1/content/post-0/reactions/like/{user}")
        self.told("PUT", "/v1/content/post-1/reactions/favorite/ada")
        self.told("POST", "/v1/content/post-0/comments", {"author_id": "bob", "content_id": "comment-0", "text": "Seals never are."})
        self.publish("dot", "repost-0", " ", kind="repost", ref_id="post-0", published_at=now - 3 * HOUR)


def wide(page: Page) -> list[str]:
    """Elements that make the page wider than its window."""
    return page.run(
        """document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll("body *")]
          .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => `${element.tagName}.${element.className}`).slice(0, 5)"""
    )


def look_up(page: Page, user: str) -> None:
    """Types an id into the field of the first page, and waits for the timeline."""
    page.click("#look-up-large" if page.run("!!document.querySelector('#look-up-large')") else "#look-up")
    page.write(user)
    page.press("Enter")
    page.wait("!!document.querySelector('main .feed')", f"the timeline of {user}")


def go(page: Page, place: str) -> None:
    """Leads to a page of the console, and waits until nothing of the one before it is drawn."""
    page.run(
        """new Promise((done) => {
          const before = location.href;
          addEventListener("hashchange", () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))), { once: true });
          location.hash = args[0];
          if (location.href === before) done();
        })""",
        f"#/{place}",
    )


def stride(page: Page, by: int) -> int:
    """One step of a reader: scroll, and wait until there is something to read. Returns the number of loaded items."""
    items = page.run(SCROLL, by)
    if items is None:
        raise Unexpected(f"no items after {by}; the page says:\n{page.text()[:1500]}")
    return items


def ids(page: Page) -> list[str]:
    """The items that are loaded, in the order of the page."""
    return page.run("[...document.querySelectorAll('article[data-id]')].map((item) => item.dataset.id)")


def shows(page: Page, text: str, seconds: float = 60) -> None:
    """Waits for a text."""
    page.wait("document.body.innerText.includes(args[0])", f"the text {text!r}", text, seconds=seconds)


def act(page: Page) -> None:
    """Acts for the user of the timeline that is open, and waits for an open stream and a list that is loaded: an item of
    now is counted as a new one."""
    page.wait("!!document.querySelector('.mode [role=switch]')", "the switch")
    if not page.run("!!document.querySelector('.mode.acts')"):
        page.click(".mode [role=switch]")
        page.wait("!!document.querySelector('.mode.acts')", "acting")
    is_live(page)


def is_live(page: Page) -> None:
    """Waits for an open stream and a list that is loaded."""
    page.wait("document.querySelector('.live-state')?.innerText.includes('Live') && !!document.querySelector('.feed [aria-busy=false] article, .feed .empty')", "an open stream")


def item(page: Page, name: str, inner: str) -> str:
    """A selector of something in an item."""
    return f'article[data-id="{name}"] {inner}'


def sign_in(page: Page, credential: str) -> None:
    page.wait("!!document.querySelector('input[name=credential]')", "the sheet")
    page.click("input[name=credential]")
    page.write(credential)
    page.press("Enter")
