"""The page that moves of docs/use/streams.md, in a real browser: on another origin than the server, with tokens of a few
seconds, and over a restart of the server. It must come to show the timeline after each change."""

import json
import re
import time
from pathlib import Path

from support.browser import Page
from support.client import Client
from support.server import Tideline
from support.tokens import token

TEXT = Path(__file__).resolve().parent.parent / "docs" / "use" / "streams.md"
KEY, SECRET, READER = "k" * 40, "s" * 40, "ana/ö"
TOKEN_SECONDS = 4
PATIENCE = 40.0  # seconds; after a break the page waits five, and the browser some more


class Application(Page):
    """Serves the page, and the tokens of one signed-in user."""

    timeline = ""
    tokens = 0

    def handler(page, html: bytes) -> type:
        class Handler(super().handler(html)):
            def do_GET(self) -> None:
                if self.path != "/timeline-token":
                    return super().do_GET()
                page.tokens += 1
                body = {"timeline": page.timeline, "token": token(SECRET, READER, TOKEN_SECONDS)}
                self.answer("application/json", json.dumps(body).encode())

        return Handler


def run(program: str, binary: Path, workspace: Path, observer: str) -> None:
    """Runs the page in this browser; the observer tells its lines and errors."""
    [source] = re.findall(r"## A page that moves.*?```html\n(.*?)```", TEXT.read_text(), re.S)
    html = workspace / "page.html"
    html.write_text('<!doctype html><meta charset="utf-8">' + observer + source)
    application = Application(html)
    settings = {"auth.keys": KEY, "auth.jwt_secrets": SECRET, "auth.leeway": "0s", "auth.users_act": "marker,presence"}
    settings |= {"presence.heartbeat": "1s", "server.allowed_origins": application.origin}
    server = Tideline(binary, workspace, settings)
    try:
        server.start()
        server.listen = "{}:{}".format(*server.address)
        application.timeline = f"http://{server.listen}/v1/users/ana%2F%C3%B6"
        client = Client(server.address, key=KEY)
        application.open(program)
        changes(application, client)
        server.stop()
        server.start()
        client = Client(server.address, key=KEY)
        call(client, "PATCH", "/v1/content/two", {"text": "after a restart"})
        shows(application, client, ["after a restart", "one"])
        server.stop()
    finally:
        application.close()
        server.kill()


def changes(application: Application, client: Client) -> None:
    call(client, "PUT", "/v1/users/ana%2F%C3%B6/following/ben")
    call(client, "POST", "/v1/content", {"author_id": "ben", "content_id": "one", "text": "one"})
    shows(application, client, ["one"])
    for turn in range(3):
        before, until = application.tokens, time.monotonic() + PATIENCE
        while application.tokens == before:  # the page needs a new token
            if time.monotonic() > until:
                raise SystemExit(f"moving page: after {turn} tokens it asks for no other")
            time.sleep(0.1)
        call(client, "POST", "/v1/content", {"author_id": "ben", "content_id": "two", "text": "two"})
        shows(application, client, ["two", "one"])
        call(client, "DELETE", "/v1/content/two")
        shows(application, client, ["one"])
        call(client, "POST", "/v1/content/two/restore")


def call(client: Client, method: str, path: str, body: object = None) -> dict:
    answer = client.call(method, path, body)
    if answer.status >= 300:
        raise SystemExit(f"moving page: {method} {path}: {answer}")
    return answer.body


def shows(application: Application, client: Client, wanted: list[str]) -> None:
    """Waits until the page shows these texts, which must be those of the timeline."""
    items = call(client, "GET", "/v1/users/ana%2F%C3%B6/timeline")["items"]
    if [item["text"] for item in items] != wanted:
        raise SystemExit(f"moving page: the timeline is {items}, not {wanted}")
    until = time.monotonic() + PATIENCE
    while (seen := application.do("look")) != {"lines": wanted, "errors": []}:
        if seen["errors"] or time.monotonic() > until:
            raise SystemExit(f"moving page: it shows {seen}, not {wanted}")
        time.sleep(0.1)
