#!/usr/bin/env python3
"""Checks the clients: their generated parts are current, types and lints, their tests, their packages, their READMEs.

Each client is copied to a directory beside the build. There the commands of its README are run word by word: they fetch
its tools from the registry of its language, make the package, install it in another directory, and run the tests. The
tour of the README runs with this package, against a server with demo data, and must print what it says; the examples of
docs/use/clients.md are compiled with it. A client whose tools are missing is left out, and named, unless `--strict`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from support.program import TARGET, arguments, each, judge
from support.server import Tideline

CLIENTS = Path(__file__).resolve().parent.parent / "clients"
DOCS = CLIENTS.parent / "docs" / "use" / "clients.md"


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--dir", type=Path, default=TARGET / "clients", help="where the tools and the packages go")
    parser.add_argument("--only", choices=sorted(KINDS), help="one client")
    parser.add_argument("--strict", action="store_true", help="fail where the tools of a client are missing")
    return parser.parse_args()


class Client:
    """A fresh copy of a client, in which its tools run, and in it a directory of a user of its package."""

    def __init__(self, name: str, args: argparse.Namespace):
        self.source = CLIENTS / name
        self.copy = args.dir.resolve() / name
        self.user = self.copy / "build" / "user"
        self.binary = args.binary.resolve()
        quiet = {"npm_config_loglevel": "error", "npm_config_audit": "false", "npm_config_fund": "false"}
        # Python compiles what is imported; to compile all that is installed takes longer.
        quiet |= {"PIP_QUIET": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1"}
        # Outside of the copy, which is fresh each time.
        self.environment = os.environ | quiet | {"MYPY_CACHE_DIR": str(args.dir.resolve() / "mypy")}
        self.environment.pop("TIDELINE_BINARY", None)
        shutil.rmtree(self.copy, ignore_errors=True)
        made = ("node_modules", "build", "dist", "__pycache__", ".*_cache", "*.egg-info", ".venv", "*.tgz", "*.whl")
        shutil.copytree(self.source, self.copy, ignore=shutil.ignore_patterns(*made, "package-lock.json"))
        self.user.mkdir(parents=True)

    def run(self, *command: object, cwd: Path | None = None, **more: str) -> None:
        """Runs a command in the copy; ends this program if it fails."""
        words = [str(word) for word in command]
        done = subprocess.run(words, cwd=cwd or self.copy, env=self.environment | more)
        if done.returncode != 0:
            raise SystemExit(f"{self.source.name}: {' '.join(words)}: exit code {done.returncode}")

    def obeys(self, heading: str, cwd: Path | None = None, **more: str) -> str | None:
        """Runs the commands below a heading of the README. Returns one that fails, if it asks a registry."""
        _, _, below = (self.source / "README.md").read_text().partition(f"\n## {heading}\n")
        blocks = re.findall(r"^```sh\n(.*?)^```", below.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
        if not blocks:
            raise SystemExit(f"{self.source.name}: the README has no commands below {heading}")
        for line in "".join(blocks).splitlines():
            command = line.replace("/usr/local/bin/tideline", str(self.binary)).replace("/path/to", str(self.copy))
            done = subprocess.run(["bash", "-c", command], cwd=cwd or self.copy, env=self.environment | more)
            if done.returncode != 0:
                if re.search(r" install |-m venv|pip wheel", line + " "):
                    return f"this fails: {line}"
                raise SystemExit(f"{self.source.name}: {line}: exit code {done.returncode}")
        return None

    def tour(self, language: str, url: str) -> tuple[str, str]:
        """The program of the README, for a server, and what it prints."""
        readme = (self.source / "README.md").read_text()
        blocks = re.findall(r"^```(\w+)\n(.*?)^```", readme, re.MULTILINE | re.DOTALL)
        program = "\n".join(text for kind, text in blocks if kind == language).replace("http://localhost:8080", url)
        (printed,) = (text for kind, text in blocks if kind == "text")
        return program, printed

    def examples(self, language: str) -> Iterator[tuple[str, str]]:
        """The blocks of docs/use/clients.md in a language, each with the name of a file for it."""
        blocks = re.findall(rf"^```{language}\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
        if not blocks:
            raise SystemExit(f"docs/use/clients.md has no example in {language}")
        for number, text in enumerate(blocks):
            yield f"example{number}", text

    def takes_the_tour(self, *command: object, cwd: Path, printed: str) -> None:
        done = subprocess.run([str(word) for word in command], cwd=cwd, env=self.environment, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0 or done.stdout != printed:
            raise SystemExit(f"{self.source.name}: the tour of the README printed {done.stdout!r}, exit code {done.returncode}")


def typescript(client: Client, url: str) -> str | None:
    """Returns the problem if the tools are missing."""
    if not shutil.which("npm") or not shutil.which("node"):
        return "Node.js with npm is not installed"
    if problem := client.obeys("Make the package"):
        return problem
    client.run("npm", "run", "--silent", "check")
    client.obeys("Tests")
    (client.user / "package.json").write_text('{"private": true, "type": "module"}')
    # It has no dependency.
    if problem := client.obeys("Install it", client.user, npm_config_offline="true"):
        raise SystemExit(f"typescript: {problem}")
    program, printed = client.tour("ts", url)
    (client.user / "tour.ts").write_text(program)
    names = ["tour.ts"]
    for name, text in client.examples("ts"):
        (client.user / f"{name}.ts").write_text(text)
        names.append(f"{name}.ts")
    strict = ("--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes", "--types", "node")
    compiler = client.copy / "node_modules/.bin/tsc"
    client.run(compiler, *strict, "--target", "es2022", "--module", "nodenext", *names, cwd=client.user)
    client.takes_the_tour("node", "tour.js", cwd=client.user, printed=printed)
    return None


def python(client: Client, url: str) -> str | None:
    """Returns the problem if the tools are missing."""
    if problem := client.obeys("Make the package") or client.obeys("Tests"):
        return problem
    programs = client.copy / ".venv" / "bin"
    client.run(programs / "ruff", "check")
    client.run(programs / "ruff", "format", "--check")
    client.run(programs / "mypy")
    if problem := client.obeys("Install it", client.user):
        return problem
    program, printed = client.tour("python", url)
    (client.user / "tour.py").write_text(program)
    names = ["tour.py"]
    for name, text in client.examples("python"):
        (client.user / f"{name}.py").write_text(text)
        names.append(f"{name}.py")
    interpreter = client.user / ".venv" / "bin" / "python"
    client.run(programs / "mypy", "--strict", "--python-executable", interpreter, *names, cwd=client.user)
    client.takes_the_tour(interpreter, "tour.py", cwd=client.user, printed=printed)
    return None


KINDS: dict[str, Callable[[Client, str], str | None]] = {"python": python, "typescript": typescript}


def test(args: argparse.Namespace, workspace: Path) -> bool:
    generate = [sys.executable, CLIENTS / "generate.py", "--binary", args.binary, "--check"]
    if subprocess.run(generate).returncode != 0:
        return False
    tideline = Tideline(args.binary, workspace, {})
    tideline.import_demo(500, 5000)
    with tideline:
        kinds = [args.only] if args.only else sorted(KINDS)
        return each("client in", kinds, args.strict, lambda name: KINDS[name](Client(name, args), tideline.url))


def main() -> None:
    args = options()
    judge(args, lambda workspace, _: test(args, workspace))


if __name__ == "__main__":
    sys.exit(main())
