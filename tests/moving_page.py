"""Pages that show a timeline, in a real browser, on another origin than the server: that of examples/page and that of
docs/use/streams.md. Each must come to show the timeline after each change, and after a restart of the server."""

import json
import re
from pathlib import Path

from support.client import Client
from support.devtools import Browser
from support.expect import Unexpected, until
from support.prefix_proxy import Handler, serve
from support.server import Tideline, free_port
from support.tokens import token

ROOT = Path(__file__).resolve().parent.parent
KEY, SECRET, READER = "k" * 40, "s" * 40, "ana/ö"
TOKEN_SECONDS = 4
PATIENCE = 40.0  # seconds; after a break a page waits five, and the browser some more
LINES = "[...document.querySelectorAll('li')].map((line) => line.textContent)"


class Application:
    """Serves a page, and the tokens of one signed-in user."""

    def __init__(self) -> None:
        self.html = self.timeline = ""
        self.tokens = 0
        self.server = serve(self.handler())
        self.origin = f"http://localhost:{self.server.server_port}"

    def handler(application) -> type[Handler]:
        class Answers(Handler):
            def do_GET(self) -> None:
                if self.path == "/":
                    self.answer("text/html; charset=utf-8", application.html.encode())
                elif self.path == "/timeline-token":
                    application.tokens += 1
                    body = {"timeline": application.timeline, "token": token(SECRET, READER, TOKEN_SECONDS)}
                    self.answer("application/json", json.dumps(body).encode())
                else:
                    self.send_error(404)

        return Answers


class Seen:
    """The page in a browser, beside the timeline that it should show; `named` if it shows who has published."""

    def __init__(self, browser: Browser, application: Application, server: Tideline, user: str, named: bool, key: str | None = None):
        self.server, self.key, self.timeline, self.named = server, key, f"/v1/users/{user}/timeline", named
        self.page = browser.page()
        self.page.open(application.origin + "/")

    def call(self, method: str, path: str, body: object = None) -> dict:
        client = Client(self.server.address, key=self.key)
        answer = client.call(method, path, body)
        client.close()
        if answer.status >= 300:
            raise Unexpected(f"{method} {path}: {answer}")
        return answer.body

    def publish(self, name: str, **more: object) -> None:
        self.call("POST", "/v1/content", {"author_id": "3", "content_id": name, "text": name, **more})

    def lines(self) -> list[str]:
        if self.page.errors:
            raise Unexpected(f"the browser has errors: {self.page.errors}")
        return self.page.run(LINES)

    def line(self, item: dict) -> str:
        text = item.get("text", item["kind"])
        return f"{item['author']['nickname']}: {text}" if self.named else text

    def shows(self, what: str, *, has: str = "", lacks: str = "", at_least: int = 20) -> list[str]:
        """Waits until the lines are the newest items of the timeline, and have one text, and lack the other."""
        def are_right() -> list[str] | None:
            lines = self.lines()
            items = self.call("GET", f"{self.timeline}?limit=100")["items"][: len(lines)]
            texts = [item.get("text") for item in items]
            is_right = lines == list(map(self.line, items)) and len(lines) >= at_least
            return lines if is_right and (not has or has in texts) and (not lacks or lacks not in texts) else None

        return until(lambda: f"{what}: the page shows {self.lines()}", are_right, PATIENCE, pause=0.1)


class Demo(Tideline):
    """`tideline demo`."""

    def serving(self) -> list[object]:
        return ["demo", "--dir", self.data, "--users", 200, "--posts", 2000]


def example(program: str, binary: Path, workspace: Path) -> None:
    """The page of examples/page with the demo: every kind of change, and a restart."""
    browser, application, server = Browser(program), Application(), Demo(binary, workspace, {}, free_port())
    server.configure({"server.allowed_origins": application.origin})
    source = (ROOT / "examples" / "page" / "index.html").read_text()
    if source.count("localhost:8080") != 1 or len(source.splitlines()) > 20:
        raise Unexpected("the page must name localhost:8080 once, and have 20 lines at most")
    application.html = source.replace("localhost:8080", f"127.0.0.1:{server.port}")
    try:
        with server:
            seen = Seen(browser, application, server, "1", named=True)
            first = seen.shows("at first")
            until("the demo moves", lambda: seen.lines() != first, PATIENCE, pause=0.2)
            seen.publish("one")
            seen.shows("a publish", has="one")
            seen.call("PATCH", "/v1/content/one", {"text": "another"})
            seen.shows("an edit", has="another", lacks="one")
            seen.call("DELETE", "/v1/content/one")
            seen.shows("a delete", lacks="another")
            seen.call("POST", "/v1/content/one/restore")
            seen.shows("a restore", has="another")
            items = seen.call("GET", "/v1/users/1/timeline?limit=100")["items"]
            seen.publish("between", published_at=items[7]["published_at"] + 1)
            seen.shows("an item with an earlier time", has="between")
            seen.publish("below", published_at=items[-1]["published_at"])
            seen.shows("an item below the page", lacks="below")
            seen.publish("<b>bold</b>")
            seen.shows("text with HTML", has="<b>bold</b>")
            server.stop()
            server.start()
            seen.publish("after a restart")
            seen.shows("a restart of the server", has="after a restart")
            for number in range(110):
                seen.publish(f"many-{number}")
            if len(seen.shows("many items", has="many-109", lacks="after a restart", at_least=100)) > 100:
                raise Unexpected("the page keeps more than 100 lines")
    finally:
        browser.close()


def moving(program: str, binary: Path, workspace: Path) -> None:
    """The page that moves of the documentation, with tokens of a few seconds, and a restart."""
    [source] = re.findall(r"## A page that moves.*?```html\n(.*?)```", (ROOT / "docs" / "use" / "streams.md").read_text(), re.S)
    browser, application = Browser(program), Application()
    settings = {"auth.keys": KEY, "auth.jwt_secrets": SECRET, "auth.leeway": "0s", "auth.users_act": "marker,presence"}
    settings |= {"presence.heartbeat": "1s", "server.allowed_origins": application.origin}
    server = Tideline(binary, workspace, settings, free_port())
    user = "ana%2F%C3%B6"
    application.timeline = f"{server.url}/v1/users/{user}"
    application.html = '<!doctype html><meta charset="utf-8">' + source
    try:
        with server:
            seen = Seen(browser, application, server, user, named=False, key=KEY)
            seen.call("PUT", f"/v1/users/{user}/following/3")
            seen.publish("one")
            seen.shows("a publish", has="one", at_least=1)
            for _ in range(3):
                before = application.tokens
                until("the page asks for another token", lambda: application.tokens > before, PATIENCE)
                seen.call("POST", "/v1/content", {"author_id": "3", "content_id": "two", "text": "two"})
                seen.shows("with another token", has="two", at_least=2)
                seen.call("DELETE", "/v1/content/two")
                seen.shows("a delete", has="one", lacks="two", at_least=1)
                seen.call("POST", "/v1/content/two/restore")
            server.stop()
            server.start()
            seen.call("PATCH", "/v1/content/two", {"text": "after a restart"})
            seen.shows("a restart of the server", has="after a restart", at_least=2)
    finally:
        browser.close()
