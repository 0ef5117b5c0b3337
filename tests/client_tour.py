#!/usr/bin/env python3
"""Generates clients from the description of the API, compiles them, calls the server with each, and compares the bodies.

Each client has a directory in `client_tour` with a program that calls the server through a proxy, which keeps what the
client sends. A client whose tools are missing is left out, unless `--strict`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from support.prefix_proxy import Proxy
from support.program import TARGET, arguments, each, judge
from support.server import Tideline

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


def given(method: str, body: bytes) -> object:
    """The JSON of a body without the optional fields that have no value, which are as missing; in an edit they clear."""
    value = json.loads(body or b"null")
    if method != "PATCH" and isinstance(value, dict):
        value = {name: field for name, field in value.items() if field not in (None, [], {})}
    return value or None


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--dir", type=Path, default=TARGET / "client-tour", help="where the tools and the clients go")
    parser.add_argument("--only", action="append", choices=TOURS, default=[], help="this client; may be repeated")
    parser.add_argument("--strict", action="store_true", help="fail where the tools of a client are missing")
    return parser.parse_args()


def go(name: str, directory: Path, proxy: Proxy) -> str | None:
    """Takes a tour. Returns which tools are missing, if any."""
    tour, url = TOURS[name], proxy.address.rstrip("/")
    if missing := [tool for tool in tour.tools if not shutil.which(tool)]:
        return f"{' and '.join(missing)} is missing"
    proxy.sent.clear()
    # Checksums of modules that are not in `go.sum` are those of the checksum database.
    environment = os.environ | {"GOFLAGS": "-mod=mod"}
    for step in tour.steps:
        command = [word.format(url=url, name=name) for word in step.split()]
        subprocess.run(command, cwd=directory / name, env=environment, timeout=PATIENCE, check=True)
    sent = [(method, path, given(method, body)) for method, path, body in proxy.sent]
    wanted = changes(name, tour.streams)
    assert sent == wanted, f"{name} sent {sent}, not {wanted}"
    return None


def tours(args: argparse.Namespace, workspace: Path) -> bool:
    directory = args.dir.resolve()
    shutil.copytree(SOURCE, directory, dirs_exist_ok=True)
    with Tideline(args.binary, workspace, {}) as tideline:
        description = subprocess.run([tideline.binary, "openapi"], capture_output=True, check=True).stdout
        (directory / "openapi.json").write_bytes(description)
        proxy = Proxy(tideline.address, "")
        return each("client tour", args.only or TOURS, args.strict, lambda name: go(name, directory, proxy))


def main() -> None:
    args = options()
    judge(args, lambda workspace, _: tours(args, workspace))


if __name__ == "__main__":
    sys.exit(main())
