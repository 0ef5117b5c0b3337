#!/usr/bin/env python3
"""Runs the examples as their READMEs say, and the page that moves of docs/use/streams.md, each on a server of its own.

An example whose tools are missing is left out, and named, unless `--strict`.
"""

import argparse
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import moving_page
from support.browser import Page, browser
from support.client import Client
from support.server import Tideline, Workspace

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 30.0  # seconds until a page in a browser must show a change
# Tells the lines that the page shows, and its errors, as often as it is asked.
OBSERVER = """<script>
const errors = [];
for (const type of ["error", "unhandledrejection"]) {
  addEventListener(type, (event) => errors.push(String(event.reason ?? event.message)));
}
(async () => {
  for (;;) {
    await (await fetch("/task")).json();
    const lines = [...document.querySelectorAll("li")].map((line) => line.textContent);
    await fetch("/result", { method: "POST", body: JSON.stringify({ lines, errors }) });
  }
})();
</script>
"""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    parser.add_argument("--binary", type=Path, default=target / "release" / "tideline")
    parser.add_argument("--only", choices=sorted(KINDS), help="one example")
    parser.add_argument("--strict", action="store_true", help="fail where the tools of an example are missing")
    return parser.parse_args()


class Demo(Tideline):
    """`tideline demo`, which keeps its port over restarts."""

    def serve(self) -> subprocess.Popen:
        size = ("--users", "200", "--posts", "2000")
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [self.binary, "demo", "--dir", self.data, "--listen", f"127.0.0.1:{self.address[1]}", *size],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            )


class MovingPage:
    """The page in a browser, beside the timeline that it should show."""

    def __init__(self, page: Page, client: Client):
        self.page = page
        self.client = client

    def call(self, method: str, path: str, body: object = None) -> dict:
        answer = self.client.call(method, path, body)
        if answer.status >= 300:
            raise SystemExit(f"page: {method} {path}: {answer}")
        return answer.body

    def lines(self) -> list[str]:
        seen = self.page.do("look")
        if seen["errors"]:
            raise SystemExit(f"page: the browser has errors: {seen['errors']}")
        return seen["lines"]

    def shows(self, what: str, *, has: str = "", lacks: str = "", at_least: int = 20) -> list[str]:
        """Waits until the lines are the newest items of the timeline, and have one text, and lack the other."""
        until = time.monotonic() + PATIENCE
        while True:
            lines = self.lines()
            items = self.call("GET", "/v1/users/1/timeline?limit=100")["items"]
            wanted = [f"{item['author']['nickname']}: {item.get('text', item['kind'])}" for item in items][: len(lines)]
            texts = [line.partition(": ")[2] for line in lines]
            if lines == wanted and len(lines) >= at_least and (not has or has in texts) and lacks not in texts:
                return lines
            if time.monotonic() > until:
                raise SystemExit(f"page: {what}: it shows {lines}, not {wanted}")
            time.sleep(0.1)

    def publish(self, name: str, **more: object) -> None:
        self.call("POST", "/v1/content", {"author_id": "3", "content_id": name, "text": name, **more})


def page(binary: Path, workspace: Path) -> str | None:
    """Returns what is missing, if anything."""
    if not (program := browser()):
        return "there is no chromium"
    server = Demo(binary, workspace, {})
    html = workspace / "index.html"
    html.write_text("")
    opened = Page(html)
    server.configure({"server.allowed_origins": opened.origin})
    try:
        server.start()
        source = (ROOT / "examples" / "page" / "index.html").read_text()
        address = "{}:{}".format(*server.address)
        if source.count("localhost:8080") != 1 or len(source.splitlines()) > 20:
            raise SystemExit("page: it must name localhost:8080 once, and have 20 lines at most")
        watched = OBSERVER + source.replace("localhost:8080", address)
        opened.server.RequestHandlerClass = opened.handler(watched.encode())
        opened.open(program)
        moves(MovingPage(opened, Client(server.address)), server)
        server.stop()
    finally:
        opened.close()
        server.kill()
    return None


def moving(binary: Path, workspace: Path) -> str | None:
    """Returns what is missing, if anything."""
    if not (program := browser()):
        return "there is no chromium"
    moving_page.run(program, binary, workspace, OBSERVER)
    return None


def moves(seen: MovingPage, server: Tideline) -> None:
    """Every kind of change, and a restart."""
    first = seen.shows("at first")
    until = time.monotonic() + PATIENCE
    while seen.lines() == first:
        if time.monotonic() > until:
            raise SystemExit(f"page: the demo does not move; it shows {first}")
        time.sleep(0.2)
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
    seen.client = Client(server.address)
    seen.publish("after a restart")
    seen.shows("a restart of the server", has="after a restart")
    for number in range(110):
        seen.publish(f"many-{number}")
    if len(seen.shows("many items", has="many-109", lacks="after a restart", at_least=100)) > 100:
        raise SystemExit("page: it keeps more than 100 lines")


def run(name: str, *command: object, cwd: Path, **more: str) -> None:
    """Runs a command of an example; ends this program if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=os.environ | more)
    if done.returncode != 0:
        raise SystemExit(f"{name}: {' '.join(words)}: exit code {done.returncode}")


def copied(name: str, workspace: Path) -> Path:
    """A copy of a directory of the project, in which tools may write."""
    made = ("__pycache__", "node_modules", "*.sqlite3*", "*.tgz", "build", "data", "dist", "keys")
    unwanted = shutil.ignore_patterns(*made)
    return shutil.copytree(ROOT / name, workspace / name, ignore=unwanted)


def django_forum(binary: Path, workspace: Path) -> str | None:
    """Returns what is missing, if anything."""
    forum = copied("examples/django-forum", workspace)
    copied("clients/python", workspace)
    python = workspace / "venv" / "bin" / "python"
    if subprocess.run([sys.executable, "-m", "venv", workspace / "venv"]).returncode != 0:
        return "Python has no module venv"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"]
    if subprocess.run(install, cwd=forum).returncode != 0:
        return "pip cannot install Django"
    checks = ("check --fail-level WARNING", "makemigrations --check --dry-run")
    for command in (*checks, "migrate --verbosity 0", "seed_forum"):
        run("django-forum", python, "manage.py", *command.split(), cwd=forum)
    run("django-forum", python, "manage.py", "test", "--noinput", cwd=forum, TIDELINE_BINARY=str(binary))
    return None


def node_passes(name: str, binary: Path, workspace: Path) -> str | None:
    """Tests a copy of an example for Node.js. Returns what is missing, if anything."""
    if not shutil.which("npm") or not shutil.which("node"):
        return "Node.js with npm is not installed"
    copy = copied(f"examples/{name}", workspace)
    copied("clients/typescript", workspace)
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")
    client = ("--prefix", "../../clients/typescript")
    if subprocess.run(["npm", "install", *quiet, *client], cwd=copy).returncode != 0:
        return "npm cannot install the compiler of the client"
    run(name, "npm", "pack", "--silent", "../../clients/typescript", cwd=copy)
    if subprocess.run(["npm", "install", *quiet], cwd=copy).returncode != 0:
        return "npm cannot install the packages of the example"
    run(name, "npm", "test", "--silent", cwd=copy, TIDELINE_BINARY=str(binary))
    return None


def node_push(binary: Path, workspace: Path) -> str | None:
    """Returns what is missing, if anything."""
    return node_passes("node-push", binary, workspace)


def node_mobile(binary: Path, workspace: Path) -> str | None:
    """Returns what is missing, if anything."""
    if missing := node_passes("node-mobile", binary, workspace):
        return missing
    mobile = workspace / "examples/node-mobile"
    run("node-mobile", "node", "keys.js", cwd=mobile)
    keys = {"auth.keys_file": "tideline", "auth.jwt_public_keys_file": "public.pem"}
    settings = {name: str(mobile / "keys" / file) for name, file in keys.items()}
    server = Tideline(binary, workspace, settings | {"auth.users_read": "visible"})
    try:
        server.start()
        takes_turns(mobile, "http://{}:{}".format(*server.address))
        server.stop()
    finally:
        server.kill()
    return None


def takes_turns(mobile: Path, tideline: str) -> None:
    """The backend runs, and two people use the app."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        environment = os.environ | {"PORT": str(free.getsockname()[1]), "TIDELINE_URL": tideline}
    command = ["node", "server.js"]
    with subprocess.Popen(command, cwd=mobile, env=environment, stdout=subprocess.PIPE, text=True) as backend:
        try:
            assert backend.stdout is not None
            backend.stdout.readline()  # it listens
            run("node-mobile", "node", "try.js", cwd=mobile, **environment)
        finally:
            backend.kill()


KINDS: dict[str, Callable[[Path, Path], str | None]] = {
    "page": page, "moving-page": moving, "django-forum": django_forum, "node-mobile": node_mobile,
    "node-push": node_push,
}


def main() -> int:
    args = options()
    left_out = 0
    for name in [args.only] if args.only else sorted(KINDS):
        with Workspace(None, False) as workspace:
            missing = KINDS[name](args.binary.resolve(), workspace)
        print(f"example {name}: " + (f"left out, because {missing}" if missing else "good"), flush=True)
        left_out += missing is not None
    return 1 if left_out and args.strict else 0


if __name__ == "__main__":
    sys.exit(main())
