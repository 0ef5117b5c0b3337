#!/usr/bin/env python3
"""Runs the examples as their READMEs say, and the page that moves of docs/use/streams.md, each on a server of its own.

An example whose tools are missing is left out, and named, unless `--strict`.
"""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import moving_page
from support.browser import browser
from support.program import Workspace, arguments, each, environment, judge
from support.server import Tideline, free_port

ROOT = Path(__file__).resolve().parent.parent


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--only", choices=sorted(KINDS), help="one example")
    parser.add_argument("--strict", action="store_true", help="fail where the tools of an example are missing")
    return parser.parse_args()


def in_browser(shows: Callable[[str, Path, Path], None], binary: Path, workspace: Path) -> str | None:
    """Returns what is missing, if anything."""
    if not (program := browser()):
        return "there is no chromium"
    shows(program, binary, workspace)
    return None


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
    programs = environment(workspace / "venv", "--requirement", "requirements.txt", cwd=forum)
    if isinstance(programs, str):
        return programs
    python = programs / "python"
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


def node_mobile(binary: Path, workspace: Path) -> str | None:
    """Returns what is missing, if anything."""
    if missing := node_passes("node-mobile", binary, workspace):
        return missing
    mobile = workspace / "examples/node-mobile"
    run("node-mobile", "node", "keys.js", cwd=mobile)
    keys = {"auth.keys_file": "tideline", "auth.jwt_public_keys_file": "public.pem"}
    settings = {name: str(mobile / "keys" / file) for name, file in keys.items()}
    with Tideline(binary, workspace, settings | {"auth.users_read": "visible"}) as server:
        takes_turns(mobile, server.url)
    return None


def takes_turns(mobile: Path, tideline: str) -> None:
    """The backend runs, and two people use the app."""
    variables = os.environ | {"PORT": str(free_port()), "TIDELINE_URL": tideline}
    command = ["node", "server.js"]
    with subprocess.Popen(command, cwd=mobile, env=variables, stdout=subprocess.PIPE, text=True) as backend:
        try:
            assert backend.stdout is not None
            backend.stdout.readline()  # it listens
            run("node-mobile", "node", "try.js", cwd=mobile, **variables)
        finally:
            backend.kill()


KINDS: dict[str, Callable[[Path, Path], str | None]] = {
    "page": lambda *given: in_browser(moving_page.example, *given),
    "moving-page": lambda *given: in_browser(moving_page.moving, *given),
    "django-forum": django_forum,
    "node-mobile": node_mobile,
    "node-push": lambda *given: node_passes("node-push", *given),
}


def test(name: str, binary: Path) -> str | None:
    with Workspace() as workspace:
        return KINDS[name](binary, workspace)


def main() -> None:
    args = options()
    kinds = [args.only] if args.only else sorted(KINDS)
    judge(args, lambda *_: each("example", kinds, args.strict, lambda name: test(name, args.binary.resolve())))


if __name__ == "__main__":
    sys.exit(main())
