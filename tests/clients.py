#!/usr/bin/env python3
"""Checks the clients: their generated parts are current, types and lints, their tests, their packages, their READMEs.

Each client is copied to a directory beside the build, where its tools are installed from the registry of its language.
The tour of each README runs with the packed package, against a server with demo data, and must print what it says. A
client whose tools are missing is left out, and named, unless `--strict`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from support.server import Tideline, Workspace

CLIENTS = Path(__file__).resolve().parent.parent / "clients"


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    parser.add_argument("--binary", type=Path, default=target / "release" / "tideline")
    parser.add_argument("--dir", type=Path, default=target / "clients", help="where the tools and the packages go")
    parser.add_argument("--only", choices=sorted(KINDS), help="one client")
    parser.add_argument("--strict", action="store_true", help="fail where the tools of a client are missing")
    return parser.parse_args()


class Client:
    """A copy of a client, in which its tools run."""

    def __init__(self, name: str, args: argparse.Namespace):
        self.source = CLIENTS / name
        self.copy = args.dir.resolve() / name
        self.environment = os.environ | {"TIDELINE_BINARY": str(args.binary.resolve())}
        self.copy.mkdir(parents=True, exist_ok=True)
        for old in ("src", "test", "tests", "build", "dist"):
            shutil.rmtree(self.copy / old, ignore_errors=True)
        tracked = shutil.ignore_patterns("node_modules", "build", "dist", "__pycache__", ".*_cache", "*.egg-info", ".venv")
        shutil.copytree(self.source, self.copy, dirs_exist_ok=True, ignore=tracked)

    def run(self, *command: object, cwd: Path | None = None, **more: str) -> None:
        """Runs a command in the copy; ends this program if it fails."""
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=cwd or self.copy, env=self.environment | more)
        if done.returncode != 0:
            raise SystemExit(f"{self.source.name}: {' '.join(words)}: exit code {done.returncode}")

    def installs(self, *command: object) -> bool:
        """Whether a command that asks a registry succeeds."""
        return subprocess.run([str(word) for word in command], cwd=self.copy, env=self.environment).returncode == 0

    def tour(self, language: str, url: str) -> tuple[str, str]:
        """The program of the README, for a server, and what it prints."""
        readme = (self.source / "README.md").read_text()
        blocks = re.findall(r"^```(\w+)\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
        program = "\n".join(text for kind, text in blocks if kind == language).replace("http://localhost:8080", url)
        (printed,) = (text for kind, text in blocks if kind == "text")
        return program, printed

    def takes_the_tour(self, *command: object, cwd: Path, printed: str) -> None:
        done = subprocess.run([str(word) for word in command], cwd=cwd, env=self.environment, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0 or done.stdout != printed:
            raise SystemExit(f"{self.source.name}: the tour of the README printed {done.stdout!r}, exit code {done.returncode}")


def typescript(client: Client, url: str) -> str | None:
    """Returns the problem if the tools are missing."""
    if not shutil.which("npm") or not shutil.which("node"):
        return "Node.js with npm is not installed"
    quiet = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--no-package-lock")
    if not client.installs("npm", "install", *quiet):
        return "npm cannot install the compiler and the linter"
    client.run("npm", "run", "--silent", "check")
    client.run("npm", "test", "--silent")
    user = client.copy / "build" / "user"
    user.mkdir(parents=True)
    client.run("npm", "pack", "--silent", "--pack-destination", user)
    (package,) = user.glob("*.tgz")
    (user / "package.json").write_text('{"private": true, "type": "module"}')
    client.run("npm", "install", *quiet, "--offline", package, cwd=user)
    program, printed = client.tour("ts", url)
    (user / "tour.ts").write_text(program)
    strict = ("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--types", "node")
    client.run(client.copy / "node_modules/.bin/tsc", *strict, "--target", "es2022", "--module", "nodenext", "tour.ts", cwd=user)
    client.takes_the_tour("node", "tour.js", cwd=user, printed=printed)
    return None


def python(client: Client, url: str) -> str | None:
    """Returns the problem if the tools are missing."""
    programs = client.copy.parent / "python-tools" / "bin"
    user = client.copy.parent / "python-user"
    for directory in (programs.parent, user):
        shutil.rmtree(directory, ignore_errors=True)
        if not client.installs(sys.executable, "-m", "venv", directory):
            return "Python has no venv (Debian: python3-venv)"
    quiet = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if not client.installs(programs / "python", *quiet, "--editable", f"{client.copy}[test]"):
        return "pip cannot install httpx, mypy, pytest and ruff"
    client.run(programs / "ruff", "check")
    client.run(programs / "ruff", "format", "--check")
    client.run(programs / "mypy")
    client.run(programs / "pytest", "--quiet")
    client.run(programs / "python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", user, client.copy)
    (package,) = user.glob("*.whl")
    client.run(user / "bin" / "python", *quiet, package)
    program, printed = client.tour("python", url)
    (user / "tour.py").write_text(program)
    client.run(programs / "mypy", "--strict", "--python-executable", user / "bin" / "python", "tour.py", cwd=user)
    client.takes_the_tour(user / "bin" / "python", "tour.py", cwd=user, printed=printed)
    return None


KINDS: dict[str, Callable[[Client, str], str | None]] = {"python": python, "typescript": typescript}


def main() -> int:
    args = options()
    generate = [sys.executable, CLIENTS / "generate.py", "--binary", args.binary, "--check"]
    if subprocess.run(generate).returncode != 0:
        return 1
    left_out = 0
    with Workspace(None, False) as workspace:
        tideline = Tideline(args.binary, workspace, {})
        made = workspace / "demo"
        subprocess.run([tideline.binary, "demo", "--users", "500", "--posts", "5000", "--out", made], check=True)
        files = ("--follows", made / "follows.csv", "--content", made / "content.ndjson")
        if tideline.command("import", *files).wait() != 0:
            raise SystemExit(f"the demo data cannot be imported: {tideline.output('import')}")
        tideline.start()
        try:
            for name in [args.only] if args.only else sorted(KINDS):
                missing = KINDS[name](Client(name, args), "http://{}:{}".format(*tideline.address))
                print(f"client in {name}: " + (f"left out, because {missing}" if missing else "good"), flush=True)
                left_out += missing is not None
            tideline.stop()
        finally:
            tideline.kill()
    return 1 if left_out and args.strict else 0


if __name__ == "__main__":
    sys.exit(main())
