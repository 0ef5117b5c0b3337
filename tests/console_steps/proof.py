"""What the steps share: servers, a browser, and comparisons."""

import functools
import json
import secrets
import subprocess
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from support import devtools
from support.client import Client
from support.expect import Unexpected
from support.prefix_proxy import Proxy
from support.server import Tideline, free_port

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

# Messages stay longer than for people, 6 and 12 seconds: a busy machine looks at them later.
MESSAGES_STAY = """{
  const { setTimeout } = window;
  window.setTimeout = (run, time, ...rest) => setTimeout(run, time === 6000 || time === 12000 ? 60000 : time, ...rest);
}"""


class Proof:
    """The servers and pages of one step, and what it has found. Steps compare with `same`, and go on after a fault."""

    def __init__(self, args: Any, workspace: Path, browser: devtools.Browser, step: str, axe: str | None = None):
        self.args = args
        self.workspace = workspace
        self.browser = browser
        self.step = step
        self.axe = axe
        self.checks = 0
        self.faults: list[str] = []
        self.key, self.read_key, self.secret = ("tlk_" + secrets.token_hex(32) for _ in range(3))
        self.servers: list[Tideline] = []
        self.proxies: list[Proxy] = []
        self.pages: list[Page] = []

    # Servers and data.

    def town(self, name: str, guarded: bool = False, **settings: str) -> "Town":
        """A server of its own, with keys if it is `guarded`."""
        if guarded:
            keys = {"auth.keys": f"{self.key} console tests", "auth.read_keys": self.read_key, "auth.jwt_secret": self.secret, "auth.leeway": "0s"}
            settings = keys | settings
        tideline = Tideline(self.args.binary, self.workspace / name, settings | {"presence.heartbeat": "1s"}, free_port())
        self.servers.append(tideline)
        tideline.start()
        return Town(tideline, self.address(tideline), self.key if guarded else None)

    def address(self, tideline: Tideline) -> str:
        """The address of the console: of the server itself, or below a path if its files come from a directory."""
        return self.proxy(tideline).address if self.args.files else tideline.url + "/"

    def proxy(self, tideline: Tideline, files: Path | None = None) -> Proxy:
        self.proxies.append(Proxy(tideline.address, files=files or self.args.files))
        return self.proxies[-1]

    def texts(self, tideline: Tideline, language: str) -> dict:
        """The texts of a language, by their keys. A server has all modules in one script, so they come from the source."""
        page = self.page(self.proxy(tideline, SOURCE).address)
        texts = page.run(f"import(new URL('texts/{language}.js', document.querySelector('script[type=module]').src)).then((texts) => texts.default)")
        page.close()
        return texts

    def page(self, address: str, then: str | None = None, **look: object) -> "Page":
        page = self.browser.page(Page, **DESKTOP | look)
        self.pages.append(page)
        page.send("Page.addScriptToEvaluateOnNewDocument", source=MESSAGES_STAY)
        page.open(address, then=then)
        return page

    # Comparisons.

    def same(self, what: str, seen: object, wanted: object) -> None:
        self.checks += 1
        if seen != wanted:
            self.faults.append(f"{self.step}: {what}: {str(seen)[:1000]!r}, not {str(wanted)[:300]!r}")

    def holds(self, what: str, seen: object) -> None:
        self.same(what, bool(seen), True)

    def clean(self, page: "Page", expected: set[int] = frozenset(), is_cut: bool = False) -> None:
        """At the end of a page: no errors, no other server, no refusals but those of these statuses, and no request
        without an answer unless the step cut them off."""
        self.same("errors of the console", page.errors, [])
        self.same("other servers", {host for host in page.hosts if not host.startswith("127.0.0.1")}, set())
        self.same("refused requests", [refused for refused in page.refused if refused[0] not in expected], [])
        self.same("requests without an answer", [] if is_cut else page.failed, [])
        self.same("wider than the window", page.wide(), [])
        page.close()

    def accessible(self, page: "Page", what: str) -> None:
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

    def close(self) -> None:
        for page in self.pages:
            page.close()
        for proxy in self.proxies:
            proxy.close()
        for server in self.servers:
            server.kill()


def fetch_axe(folder: Path) -> str | None:
    """The text of axe-core, by npm; the reason why it is missing goes to the output."""
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


class Town:
    """The data of a server, changed by the application."""

    def __init__(self, tideline: Tideline, address: str, key: str | None = None):
        self.tideline, self.address = tideline, address
        self.client = Client(tideline.address, key=key)

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

    def likes(self, content_id: str) -> int:
        return self.told("GET", f"/v1/content/{content_id}")["counts"]["reactions"].get("like", 0)

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


def and_then(act: Callable[..., object]) -> Callable[..., None]:
    """The same, and then waits for an expression that comes true, and for a text that is shown."""
    @functools.wraps(act)
    def made(page: "Page", *args: object, then: str | None = None, shows: str | None = None, **options: object) -> None:
        act(page, *args, **options)
        if then is not None:
            page.wait(then, then)
        if shows is not None:
            page.shows(shows)

    return made


class Page(devtools.Page):
    """A page of the console. What is done may say what must follow: see `and_then`."""

    open, click, press, write = map(and_then, (devtools.Page.open, devtools.Page.click, devtools.Page.press, devtools.Page.write))

    def shows(self, text: str) -> None:
        """Waits for a text."""
        self.wait("document.body.innerText.includes(args[0])", f"the text {text!r}", text)

    @and_then
    def fill(self, text: str, field: str | None = None) -> None:
        """Writes over what a field has, the focused one by default."""
        if field:
            self.click(field)
        self.run("document.activeElement.select()")
        self.write(text)

    @and_then
    def enter(self, text: str, field: str | None = None) -> None:
        """The same, and presses Enter."""
        self.fill(text, field)
        self.press("Enter")

    def dismiss(self) -> None:
        """Closes a window."""
        self.press("Escape", then="!has('dialog')")

    @and_then
    def back(self) -> None:
        self.run("history.back()")

    @and_then
    def go(self, place: str) -> None:
        """Leads to a page of the console, and waits until nothing of the one before it is drawn."""
        self.run(
            """new Promise((done) => {
              const before = location.href;
              addEventListener("hashchange", () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))), { once: true });
              location.hash = args[0];
              if (location.href === before) done();
            })""",
            f"#/{place}",
        )

    @and_then
    def look_up(self, user: str) -> None:
        """Looks for an id in the field of the first page, and waits for the timeline."""
        self.enter(user, "#look-up-large" if self.run("has('#look-up-large')") else "#look-up", then="has('main .feed')")

    @and_then
    def sign_in(self, credential: str) -> None:
        self.wait("has('input[name=credential]')", "the sheet")
        self.enter(credential, "input[name=credential]")

    def act(self) -> None:
        """Acts for the user of the timeline that is open, and waits for an open stream and a list that is loaded: an item of
        now is counted as a new one."""
        self.wait("has('.mode [role=switch]')", "the switch")
        if not self.run("has('.mode.acts')"):
            self.click(".mode [role=switch]", then="has('.mode.acts')")
        self.is_live()

    def is_live(self) -> None:
        """Waits for an open stream and a list that is loaded."""
        self.wait("text('.live-state').includes('Live') && has('.feed [aria-busy=false] article, .feed .empty')", "an open stream")

    @and_then
    def more(self, content_id: str, entry: str) -> None:
        """Takes an entry of the window of an item."""
        self.click(item(content_id, "button"), "More")
        self.click("dialog button", entry)

    def stride(self, by: int) -> int:
        """One step of a reader: scrolls, and waits until there is something to read. Returns the number of loaded items."""
        items = self.run(SCROLL, by)
        if items is None:
            raise Unexpected(f"no items after {by}; the page says:\n{self.text()[:1500]}")
        return items

    def ids(self) -> list[str]:
        """The items that are loaded, in the order of the page."""
        return self.run("$$('article[data-id]').map((item) => item.dataset.id)")

    def offers(self, what: str = "main textarea, main button") -> list[str]:
        """The labels of what can be pressed or written to."""
        return self.run("$$(args[0]).map((one) => (one.ariaLabel ?? one.innerText).trim())", what)

    def wide(self) -> list[str]:
        """Elements that make the page wider than its window."""
        return self.run(
            """document.documentElement.scrollWidth <= innerWidth ? [] : $$("body *")
              .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
              .map((element) => `${element.tagName}.${element.className}`).slice(0, 5)"""
        )


def item(name: str, inner: str) -> str:
    """A selector of something in an item."""
    return f'article[data-id="{name}"] {inner}'


def step(
    place: str | None = "", *, fill: Callable[[Town], None] | None = Town.fill, look: dict[str, Any] = {}, guarded: bool = False,
    refused: set[int] = frozenset(), is_cut: bool = False, settings: dict[str, str] = {},
) -> Callable[[Callable[..., None]], Callable[[Proof], None]]:
    """A step has a server of its own, with the data that `fill` makes, and a page at a place; with `None` it opens its pages itself.
    At its end all pages that are open must be clean: see `Proof.clean`."""
    def made(body: Callable[..., None]) -> Callable[[Proof], None]:
        @functools.wraps(body)
        def run(proof: Proof) -> None:
            town = proof.town(body.__name__, guarded, **settings)
            if fill:
                fill(town)
            if place is None:
                body(proof, town)
            else:
                first = None if place or guarded else "has('.hero')"
                body(proof, proof.page(town.address + (f"#/{place}" if place else ""), first, **look), town)
            for page in (page for page in proof.pages if page.is_open()):
                proof.clean(page, refused, is_cut)

        return run

    return made
