#!/usr/bin/env python3
"""Sends requests that `/openapi.json` allows, and others, to a running server, and checks every answer by it.

schemathesis does this with all of its checks but two, and in all phases. This script installs it into a separate
environment, starts the server, repeats with other seeds until there were enough requests, and reads the server's own
figures at the end. Exits non-zero on any 5xx, undocumented status or answer that is not as described.
"""

import argparse
import json
import os
import re
import secrets
import subprocess
import sys
import venv
from pathlib import Path

from support.client import Client, Unexpected
from support.server import Tideline, Workspace

SCHEMATHESIS = "schemathesis==4.32.5"
CONFIG = Path(__file__).resolve().with_suffix(".toml")
HOOKS = Path(__file__).resolve().with_name("fuzz_api_hooks.py")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    parser.add_argument("--binary", type=Path, default=target / "release" / "tideline")
    parser.add_argument("--venv", type=Path, default=target / "fuzz-api", help="where schemathesis is installed")
    parser.add_argument("--requests", type=int, default=20_000, help="least number of requests")
    parser.add_argument("--examples", type=int, default=100, help="examples for each call and phase in each round")
    parser.add_argument("--seed", type=int, default=20260101, help="seed of the first round; each further round has the next seed")
    parser.add_argument("--walk", type=int, default=60, help="seconds of each round for walks along links")
    parser.add_argument("--only", action="append", default=[], metavar="ID", help="only the call with this operationId")
    parser.add_argument("--keep", action="store_true", help="keep the server's directory")
    return parser.parse_args()


def install(directory: Path) -> Path:
    """Installs the program in an environment with only this version of it. Returns its path."""
    program = directory / "bin" / "schemathesis"
    stamp = directory / SCHEMATHESIS
    if program.exists() and stamp.exists():
        return program
    print(f"installing {SCHEMATHESIS} into {directory}", flush=True)
    try:
        venv.create(directory, with_pip=True, clear=True)
        subprocess.run([directory / "bin" / "pip", "install", "--quiet", SCHEMATHESIS], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(
            f"cannot install {SCHEMATHESIS}: {error}\n"
            "It needs Python 3.10 or newer with venv and pip (Debian: python3-venv), and a package index that pip reaches."
        )
    stamp.touch()
    return program


def expect(client: Client, method: str, path: str, body: object) -> None:
    answer = client.call(method, path, body)
    if answer.status >= 300:
        raise Unexpected(f"{method} {path}: {answer}")


def seed(client: Client) -> None:
    """Makes the users and items that the examples of the document name."""
    for target in (200, 211, 222):
        expect(client, "PUT", f"/v1/users/111/following/{target}", {"since": 1689000000000})
    expect(client, "PUT", "/v1/users/200/following/111", {})
    items = [
        {"author_id": author, "content_id": 32850 + n, "published_at": 1689089522000 + n, "text": f"Tide {n}"}
        for n, author in enumerate([200, 211, 222] * 50)
    ]
    # A cursor may have these names, because changes mention them.
    names = [{"author_id": name, "content_id": name, "published_at": 1689089522000} for name in NAMES]
    expect(client, "POST", "/v1/content/batch", {"items": items + names})


def answered(client: Client) -> dict[str, int]:
    """The number of requests that the server has answered, by class of status."""
    counts: dict[str, int] = {}
    for name, value in client.figures().items():
        if found := re.match(r'tideline_http_requests_total\{.*status="(\w+)"\}', name):
            counts[found[1]] = counts.get(found[1], 0) + int(value)
    client.close()  # a round lasts longer than the server keeps an idle connection
    return counts


# The fields of each item of a list, unless only ids were requested.
IN_FULL = ["content_id", "author_id", "published_at", "kind", "media", "topics", "broadcast", "to", "audience", "counts"]
LARGEST_ID = 2**63 - 1
# Names of users and items. They must mean nothing in a pattern.
NAMES = ["tide/é", "f47ac10b-58cc-4372-a567-0e02b2c3d479", "7e"]


def strict(client: Client, file: Path) -> None:
    """Writes the document with its descriptions in words as schemas, too. Without these schemas generated clients are
    smaller, but the server must obey all descriptions."""
    document = client.get("/openapi.json")
    schemas = document["components"]["schemas"]
    # A field of an answer that is not in the document must be found, and the server must refuse one of a request.
    for name, schema in schemas.items():
        if schema.get("properties") and name != "MediaItem":
            schema["additionalProperties"] = False
    items_as_asked(schemas)
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    id_pattern = next(
        parameter["schema"]["pattern"]
        for operation in operations
        for parameter in operation.get("parameters", [])
        if parameter["name"] == "uid"
    )
    for name in sent(schemas, operations):
        widen(schemas[name], id_pattern)
        known_cursors(schemas[name])
    for operation in operations:
        known_cursors(operation.get("parameters", []))
    problem = document["components"]["responses"]["Problem"]
    for operation in operations:
        problems_by_status(operation, problem)
        # schemathesis would make up a token for the address, which is refused beside the key in the header, too.
        operation["security"] = [scheme for scheme in operation["security"] if "userTokenInQuery" not in scheme]
    file.write_text(json.dumps(document))


def known_cursors(schema: object) -> None:
    """Has cursors with numbers and with names that the server has seen: all others are refused, as the document says in
    words."""
    if isinstance(schema, list):
        for value in schema:
            known_cursors(value)
    elif isinstance(schema, dict):
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and ")-[^" in pattern:
            times = pattern[: pattern.index(")-[^") + 1]
            schema["pattern"] = f"{times}-([1-9][0-9]{{0,17}}|{'|'.join(NAMES)})$"
        for value in schema.values():
            known_cursors(value)


def items_as_asked(schemas: dict) -> None:
    """An item has all fields, or with `view=ids` three."""
    schemas["Content"]["required"] = IN_FULL
    either = {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("Content", "ContentRef")]}
    for name in ("ContentPage", "ContentList"):
        schemas[name]["properties"]["items"]["items"] = either


def sent(schemas: dict, operations: list[dict]) -> set[str]:
    """The names of the schemas in request bodies."""
    names: set[str] = set()
    waiting = [json.dumps(operation.get("requestBody", {})) for operation in operations]
    while waiting:
        for name in re.findall(r'"#/components/schemas/(\w+)"', waiting.pop()):
            if name not in names:
                names.add(name)
                waiting.append(json.dumps(schemas[name]))
    return names


def widen(schema: dict, id_pattern: str) -> None:
    """Allows numbers for ids."""
    number = {"type": "integer", "minimum": 1, "maximum": LARGEST_ID}

    def wider(value: dict) -> dict:
        if value.get("pattern") == id_pattern:
            return {"anyOf": [value, number]}
        if "items" in value:
            return value | {"items": wider(value["items"])}
        return value

    for name, value in schema.get("properties", {}).items():
        schema["properties"][name] = wider(value)


# What each call that needs credentials may answer, too.
CREDENTIALS = {"401": ["no_credentials"], "403": ["bad_credentials"]}


def problems_by_status(operation: dict, problem: dict) -> None:
    """Replaces the default response by one for each status in its description, with only the codes named there."""
    responses = operation["responses"]
    words = responses.pop("default")["description"]
    named = {part[:3]: re.findall(r"`(\w+)`", part) for part in words.split("; ")}
    refused = CREDENTIALS if operation["security"] else {}
    for status in named.keys() | refused.keys():
        codes = named.get(status, []) + refused.get(status, [])
        content = problem["content"]["application/problem+json"]
        narrowed = {"properties": {"status": {"enum": [int(status)]}, "code": {"enum": codes}}}
        narrow = {"allOf": [content["schema"], narrowed]}
        responses[status] = {
            "description": ", ".join(codes),
            "content": {"application/problem+json": {"schema": narrow}},
        }
        if status in ("429", "503"):
            seconds = {"type": "integer", "minimum": 1}
            responses[status]["headers"] = {"Retry-After": {"required": True, "schema": seconds}}


def run(args: argparse.Namespace, program: Path, base: str, key: str, directory: Path, seed_of_round: int) -> bool:
    """Runs one round. Returns whether nothing was found."""
    # One worker: with more, schemathesis 4.32 sometimes fails over its own caches.
    command = [
        program, "--config-file", CONFIG, "run", directory / "openapi.json", "--url", base, "--workers", "1",
        # A deleted item may rightly exist again after restoreContent. `batch` is also an id, so its paths allow the
        # methods of two templates; the contract suite compares the header of every path.
        "--checks", "all", "--exclude-checks", "use_after_free,allow_header_conformance", "--mode", "all",
        "--header", f"Authorization: Bearer {key}",
        "--seed", str(seed_of_round), "--continue-on-failure", "--warnings", "off",
        "--report", "ndjson", "--report-dir", directory, "--max-examples", str(args.examples),
    ]
    for name in args.only:
        command += ["--include-operation-id", name]
    # A walk along links ends at an answer that differs from the one before, because the server keeps its state.
    # schemathesis begins again only if it has a time to fill.
    parts = (
        ["--phases", "examples,coverage,fuzzing,stateful"],
        ["--phases", "examples,stateful", "--max-time", str(args.walk)],
    )
    environment = os.environ | {"NO_COLOR": "1", "SCHEMATHESIS_HOOKS": HOOKS.stem, "PYTHONPATH": str(HOOKS.parent)}
    runs = [subprocess.run([*command, *part], cwd=directory, env=environment) for part in parts]
    return all(run.returncode == 0 for run in runs)


def main() -> int:
    args = options()
    program = install(args.venv.resolve())
    with Workspace(None, args.keep) as directory:
        key = "tlk_" + secrets.token_hex(32)
        tideline = Tideline(args.binary, directory, {"timeline.inbox_limit": "300", "auth.keys": key})
        tideline.start()
        base = "http://{}:{}".format(*tideline.address)
        client = Client(tideline.address, key=key)
        try:
            seed(client)
            strict(client, directory / "openapi.json")
            rounds, good = 0, True
            while good and sum(answered(client).values()) < args.requests:
                print(f"round {rounds + 1}, seed {args.seed + rounds}", flush=True)
                good = run(args, program, base, key, directory, args.seed + rounds)
                rounds += 1
            counts = answered(client)
            tideline.stop()
        finally:
            tideline.kill()
        print(f"{sum(counts.values()):,} requests in {rounds} rounds: {counts}")
        if counts.get("5xx", 0):
            print(f"the server failed; its log ends:\n{tideline.tail()}")
        if not good or counts.get("5xx", 0):
            raise SystemExit(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
