#!/usr/bin/env python3
"""nginx and Caddy in front of the real binary, with the configurations of docs/use/access.md: calls, relative addresses below
a prefix, the address of the client, streams that are not buffered and that end with their client, and streams without
keys for their own user only, and ids with `/`, `..` and the like as they were sent. Exits with 1 at the first difference."""

import http.client
import itertools
import json
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator
from urllib.parse import quote, urljoin

from support.client import Client
from support.expect import until
from support.prefix_proxy import Handler, serve
from support.program import arguments, judge, tool
from support.server import Tideline, free_port

PAGE = Path(__file__).resolve().parent.parent / "docs" / "use" / "access.md"
KEY = "a-key-for-the-test-of-proxies-which-is-long-enough"
PATIENCE = 60.0
# A proxy that decodes or normalises a path makes other ids of these.
IDS = [
    "a/b", "a/../b", "..%2f", "../../victim/following/evil", "x//y", "//x", "./x", "x/.", "x/..", "%2e%2e", "%2F", "%", "é", "a?b#c",
    "a b", " a ", "a+b", "a&b=c", "a;b", "a\\b", "a:b@c", "\"'<>", "~", "...", "🌊",
]
# nginx refuses it, whatever its configuration.
ABOVE_ROOT = "../" * 20 + "evil"


def block(language: str, begin: str) -> str:
    """The block of the page that begins so."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    found = [text for text in blocks if text.startswith(begin)]
    assert len(found) == 1, f"docs/use/access.md has {len(found)} blocks of {language} that begin with {begin}"
    return found[0]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running(command: list[str], port: int, log: Path) -> Iterator[None]:
    """A proxy, from the time at which it listens."""
    with open(log, "wb") as out, subprocess.Popen(command, stdout=out, stderr=out) as process:
        try:
            until(lambda: f"{command[0]} listens:\n{log.read_text()}", lambda: listens(port), PATIENCE)
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE)


def nginx(directory: Path, port: int, locations: str) -> list[str]:
    """The command of an nginx that needs no rights and no files outside of the directory."""
    paths = "".join(f"{name}_temp_path {directory}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    configuration = directory / "nginx.conf"
    configuration.write_text(
        f"daemon off; pid {directory}/nginx.pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {paths} server {{ listen 127.0.0.1:{port};\n{locations}\n}} }}\n"
    )
    return [str(tool("nginx")), "-e", "stderr", "-c", str(configuration)]


def caddy(directory: Path, port: int, routes: str) -> list[str]:
    configuration = directory / "Caddyfile"
    configuration.write_text(f"{{\nadmin off\n}}\nhttp://127.0.0.1:{port} {{\n{routes}\n}}\n")
    return [str(tool("caddy")), "run", "--adapter", "caddyfile", "--config", str(configuration)]


def ask(port: int, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request(method, path, body, headers or {})
    return connection.getresponse()


def calls_pass(name: str, port: int, prefix: str, direct: Client) -> None:
    """Calls, relative addresses and a stream through a proxy."""
    key = {"Authorization": f"Bearer {KEY}"}
    assert ask(port, "GET", f"{prefix}/v1/users/2/timeline").status == 401, name
    assert ask(port, "PUT", f"{prefix}/v1/users/2/following/1", headers=key).status == 200, name
    for n in range(2):
        answer = ask(port, "POST", f"{prefix}/v1/content", f'{{"author_id": 1, "text": "{n}"}}', key)
        assert answer.status == 201, (name, answer.read())
        location = answer.getheader("Location")
        assert location and not location.startswith(("/", "http")), (name, location)
        answer = ask(port, "GET", f"{prefix}/v1/{location}", headers=key)
        assert answer.status == 200, (name, location)
    answer = ask(port, "GET", f"{prefix}/v1/users/2/timeline?limit=1", headers=key)
    link = answer.getheader("Link")
    target = re.match("<([^>]*)>", link or "")
    assert target and not target[1].startswith(("/", "http")), (name, link)
    answer = ask(port, "GET", urljoin(f"{prefix}/v1/users/2/timeline", target[1]), headers=key)
    assert answer.status == 200 and b'"text":"0"' in answer.read(), (name, link)

    stream = ask(port, "GET", f"{prefix}/v1/users/2/stream", headers=key)
    assert stream.status == 200 and stream.readline().startswith(b"id:"), name
    until(f"{name}: a stream is open", lambda: direct.figures()["tideline_streams"] == 1, PATIENCE)
    begin = time.monotonic()
    assert ask(port, "POST", f"{prefix}/v1/content", '{"author_id": 1, "text": "now"}', key).status == 201, name
    while not (line := stream.readline()).startswith(b"data:"):
        assert line, f"{name}: the stream has ended"
    took = time.monotonic() - begin
    assert b'"now"' in line and took < PATIENCE / 2, f"{name}: the event came after {took:.1f} s"
    stream.close()
    until(f"{name}: the stream ends with its client", lambda: direct.figures()["tideline_streams"] == 0, PATIENCE)
    ids_pass(name, port, prefix, key)
    print(f"{name}: calls, ids, addresses and a stream pass; the event came after {1000 * took:.0f} ms", flush=True)


def ids_pass(name: str, port: int, prefix: str, key: dict[str, str]) -> None:
    """Each id arrives as it was sent, as a target, as a user, as an item, in a query, and as the user of a stream."""

    def call(method: str, path: str, body: object = None) -> object:
        answer = ask(port, method, f"{prefix}/v1/{path}", body and json.dumps(body), key)
        text = answer.read()
        assert answer.status in (200, 201), (name, method, path, answer.status, text[:300])
        return json.loads(text)

    me = f"me of {name}".replace("/", " at ")
    for id in IDS:
        sent = quote(id, safe="")
        assert call("PUT", f"users/{quote(me)}/following/{sent}")["target_id"] == id, (name, id)
        assert call("PUT", f"users/{sent}/following/1")["user_id"] == id, (name, id)
        item = f"{id} {name}"
        call("POST", "content", {"author_id": id, "content_id": item, "text": "a text"})
        assert call("GET", f"content/{quote(item, safe='')}")["content_id"] == item, (name, id)
        before = call("GET", f"users/{sent}/content?before={quote('9999999999999-1')}&limit=1")["items"]
        assert [entry["content_id"] for entry in before] == [item], (name, id, before)
        stream = ask(port, "GET", f"{prefix}/v1/users/{sent}/stream", headers=key)
        assert stream.status == 200 and stream.readline().startswith(b"id:"), (name, id)
        assert call("GET", f"users/{sent}/presence")["online"], (name, id)
        stream.close()
    following = [entry["user_id"] for entry in call("GET", f"users/{quote(me)}/following?limit=100")["items"]]
    assert sorted(following) == sorted(IDS), (name, following)
    # This one leads out of the prefix.
    out = "../" * (4 + bool(prefix)) + "v1/users/victim/following/evil"
    assert call("PUT", f"users/{quote(me)}/following/{quote(out, safe='')}")["target_id"] == out, name
    answer = ask(port, "PUT", f"{prefix}/v1/users/{quote(me)}/following/{quote(ABOVE_ROOT, safe='')}", headers=key)
    assert answer.status == (400 if name.startswith("nginx") else 200), (name, answer.status)
    assert call("GET", "users/victim/following")["items"] == [], name
    # What only leads to the prefix does not reach Tideline by it.
    if prefix:
        for path in ("/app/..%2ftideline/v1/users/1", "/%74ideline/v1/users/1", "/tideline-as-sent", "/tidelinev1/users/1"):
            assert ask(port, "GET", path, headers=key).getheader("X-Request-Id") is None, (name, path)


def addresses_count(name: str, port: int) -> None:
    """The limit of requests of an address is that of the client behind the proxy."""
    key = {"Authorization": f"Bearer {KEY}"}
    statuses = {}
    for client in ("192.0.2.1", "192.0.2.2"):
        # Sent by a proxy before this one, which is trusted, too.
        told = key | {"X-Forwarded-For": client}
        seen = statuses[client] = [ask(port, "GET", "/v1/users/2", headers=told).status]
        # One comes back each second: a busy machine needs more of them.
        begin = time.monotonic()
        while 429 not in seen and len(seen) < 4 + time.monotonic() - begin:
            seen.append(ask(port, "GET", "/v1/users/2", headers=told).status)
    # Caddy replaces the header of a client that it does not trust, so there all requests come from one address.
    assert statuses["192.0.2.1"][0] == 200 and 429 in statuses["192.0.2.1"], (name, statuses)
    if name == "nginx":
        assert statuses["192.0.2.2"][0] == 200, (name, statuses)
    print(f"{name}: addresses of clients are counted: {statuses}", flush=True)


class Application(Handler):
    """An application whose visitor is user 2."""

    def do_GET(self) -> None:
        self.answer("text/plain", b"", 200 if self.headers["X-User-Id"] == "2" else 403)


def own_streams_only(directory: Path, binary: Path) -> None:
    """Without keys, only the stream of the visitor passes."""
    application, port = serve(Application), free_port()
    # The proxy passes its own name and port on.
    with Tideline(binary, directory, {"server.allowed_hosts": "example.org"}) as server:
        locations = block("nginx", "location ~").replace("http://127.0.0.1:8080", server.url)
        locations = locations.replace("127.0.0.1:3000", f"127.0.0.1:{application.server_port}")
        with running(nginx(directory, port, locations), port, directory / "nginx.log"):
            host = {"Host": "example.org"}
            assert ask(port, "GET", "/v1/users/2/stream", headers=host).status == 200
            assert ask(port, "GET", "/v1/users/3/stream", headers=host).status == 403
            assert ask(port, "POST", "/v1/users/2/stream", "", host).status == 403
            for path in ("/v1/users/2/timeline", "/v1/admin/stats", "/v1/content/1", "/v1/users/2/stream/../timeline"):
                assert ask(port, "GET", path, headers=host).status == 404, path
        print("nginx without keys: only the stream of the visitor passes", flush=True)


def work(binary: Path, work: Path) -> bool:
    # By the prefix.
    proxies = {
        "nginx": (nginx, {"": block("nginx", "location /"), "/tideline": block("nginx", "if ($request_uri")}),
        "caddy": (caddy, {"": block("caddy", "reverse_proxy"), "/tideline": block("caddy", "@tideline")}),
    }
    for limits in ({}, {"rate_limits.per_address": "1", "rate_limits.per_address_burst": "2"}):
        directory = work / ("limited" if limits else "free")
        settings = {"auth.keys": KEY, "server.trusted_proxies": "127.0.0.1", **limits}
        with Tideline(binary, directory, settings) as server:
            direct = Client(server.address, key=KEY)
            prefixes = ("",) if limits else ("", "/tideline")
            for (name, (command, texts)), prefix in itertools.product(proxies.items(), prefixes):
                text = texts[prefix].replace("127.0.0.1:8080", server.url.removeprefix("http://"))
                port = free_port()
                with running(command(directory, port, text), port, directory / f"{name}.log"):
                    if limits:
                        addresses_count(name, port)
                    else:
                        calls_pass(name + prefix, port, prefix, direct)
    own_streams_only(work / "open", binary)
    return True


def main() -> None:
    given = arguments(__doc__).parse_args()
    missing = [program for program in ("nginx", "caddy") if tool(program) is None]
    if missing:
        print(f"proxies: there is no {' and no '.join(missing)} (.ci/tools fetches them), so this test is left out", flush=True)
        return
    judge(given, lambda directory, _: work(given.binary, directory))


if __name__ == "__main__":
    sys.exit(main())
