#!/usr/bin/env python3
"""Generates clients from the description of the API, compiles them, calls the server with each, and compares the bodies.

Each client has a directory in `client_tour` with a program that calls the server through a proxy, which keeps what the
client sends. A client whose tools are missing is left out, unless `--strict`.
"""

import argparse
import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

from support.server import Tideline, Workspace

SOURCE = Path(__file__).with_suffix("")
# A client that waits for the end of a stream would wait for ever.
PATIENCE = 900


@dataclass
class Tour:
    """One client: the tools that it needs, and what makes and runs it in its directory."""

    tools: tuple[str, ...]
    steps: tuple[str, ...]
    # Whether the generator knows streams.
    streams: bool = True


MAVEN = "mvn --quiet --batch-mode --file .. --projects {name} compile exec:java -Dexec.mainClass={main} -Dexec.arguments={url},{name}"
GO = "go run . {url} {name}"
TOURS = {
    "openapi-typescript": Tour(
        ("node", "npm"),
        (
            "npm install --silent --no-audit --no-fund --ignore-scripts",
            "npx openapi-typescript ../openapi.json --output api.ts",
            "npx tsc",
            "node built/tour.js {url} {name}",
        ),
    ),
    "java-native": Tour(("java", "mvn"), (MAVEN.replace("{main}", "Tour"),), streams=False),
    "java-restclient": Tour(("java", "mvn"), (MAVEN.replace("{main}", "Tour"),), streams=False),
    "kotlin": Tour(("java", "mvn"), (MAVEN.replace("{main}", "TourKt"),), streams=False),
    "oapi-codegen": Tour(("go",), ("go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen -config oapi-codegen.yaml ../openapi.json", GO)),
    "ogen": Tour(("go",), ("go run github.com/ogen-go/ogen/cmd/ogen --config ogen.yml --target api --package api --clean ../openapi.json", GO)),
}


def changes(name: str, streams: bool) -> list[tuple[str, str, object]]:
    """What the program of a client sends, in order: method, path, and the JSON of the body."""
    author, reader = f"{name} author/é", f"{name} reader/é"
    item = f"{name} item"
    of = lambda *segments: "/v1/" + "/".join(quote(segment, safe="") for segment in segments)  # noqa: E731
    content = {
        "author_id": author,
        "content_id": item,
        "kind": "note",
        "text": "Hello, tide",
        "topics": ["sea"],
        "media": [{"type": "image", "url": "https://example.org/tide.jpg"}],
        "extra": {"mood": "calm"},
        "audience": "followers",
    }
    sent: list[tuple[str, str, object]] = [
        ("PUT", of("users", author, "settings"), {"approve_followers": True}),
        ("PUT", of("users", reader, "following", author), None),
        ("PUT", of("users", author, "follow-requests", reader), None),
        ("PUT", of("users", reader, "following", author), {"only": ["note"]}),
        ("POST", of("content"), content),
        ("PUT", of("content", item, "reactions", "like", reader), None),
        ("PATCH", of("content", item), {"text": "Hello, sea"}),
        ("PUT", of("users", reader, "following", reader), None),
    ]
    if streams:
        sent.append(("POST", of("content"), {"author_id": author, "kind": "note", "text": "told"}))
    return sent


class Proxy(ThreadingHTTPServer):
    """Passes requests on to the server, and keeps those that change something."""

    daemon_threads = True

    def __init__(self, server: tuple[str, int]):
        super().__init__(("127.0.0.1", 0), Pass)
        self.target = server
        self.sent: list[tuple[str, str, bytes]] = []


class Pass(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    server: Proxy

    def pass_on(self) -> None:
        body = self.body()
        if self.command != "GET":
            self.server.sent.append((self.command, self.path, body))
        connection = http.client.HTTPConnection(*self.server.target, timeout=60)
        kept = {name: value for name, value in self.headers.items() if name.lower() in ("accept", "content-type", "last-event-id")}
        connection.request(self.command, self.path, body or None, kept)
        answer = connection.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()
        # A stream arrives piece by piece, until the client has seen enough.
        try:
            while piece := answer.read1(65536):
                self.wfile.write(piece)
        except OSError:
            pass
        finally:
            connection.close()

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, *_: object) -> None:
        pass

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = pass_on


def given(method: str, body: bytes) -> object:
    """The JSON of a body without the optional fields that have no value, which are as missing; in an edit they clear."""
    value = json.loads(body or b"null")
    if method != "PATCH" and isinstance(value, dict):
        value = {name: field for name, field in value.items() if field not in (None, [], {})}
    return value or None


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    parser.add_argument("--binary", type=Path, default=target / "release" / "tideline")
    parser.add_argument("--dir", type=Path, default=target / "client-tour", help="where the tools and the clients go")
    parser.add_argument("--only", action="append", choices=TOURS, default=[], help="this client; may be repeated")
    parser.add_argument("--strict", action="store_true", help="fail where the tools of a client are missing")
    return parser.parse_args()


def go(name: str, tour: Tour, directory: Path, proxy: Proxy) -> str | None:
    """Takes a tour. Returns what is wrong."""
    proxy.sent.clear()
    url = f"http://127.0.0.1:{proxy.server_address[1]}"
    # Checksums of modules that are not in `go.sum` are those of the checksum database.
    environment = os.environ | {"GOFLAGS": "-mod=mod"}
    for step in tour.steps:
        command = [word.format(url=url, name=name) for word in step.split()]
        try:
            if subprocess.run(command, cwd=directory / name, env=environment, timeout=PATIENCE).returncode != 0:
                return f"`{' '.join(command)}` failed"
        except subprocess.TimeoutExpired:
            return f"`{' '.join(command)}` did not end"
    for number, (expected, (method, path, body)) in enumerate(zip(changes(name, tour.streams), proxy.sent), 1):
        if expected != (method, path, given(method, body)):
            return f"change {number} was not {expected} but {method} {path} {body!r}"
    if len(proxy.sent) != len(changes(name, tour.streams)):
        return f"it sent {len(proxy.sent)} changes"
    return None


def main() -> int:
    args = options()
    directory = args.dir.resolve()
    failed = []
    shutil.copytree(SOURCE, directory, dirs_exist_ok=True)
    with Workspace(None, False) as workspace:
        tideline = Tideline(args.binary, workspace, {})
        description = subprocess.run([tideline.binary, "openapi"], capture_output=True, check=True).stdout
        (directory / "openapi.json").write_bytes(description)
        tideline.start()
        proxy = Proxy(tideline.address)
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            for name in args.only or TOURS:
                tour = TOURS[name]
                if missing := [tool for tool in tour.tools if not shutil.which(tool)]:
                    print(f"client tour: {name} is left out, because {' and '.join(missing)} is missing", flush=True)
                    failed += [name] * args.strict
                    continue
                fault = go(name, tour, directory, proxy)
                print(f"client tour: {name}: {fault or 'all bodies are right'}", flush=True)
                failed += [name] * bool(fault)
            tideline.stop()
        finally:
            tideline.kill()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
