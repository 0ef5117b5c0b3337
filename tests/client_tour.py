#!/usr/bin/env python3
"""Generates a TypeScript client from the description of the API, type-checks it, and takes the README's tour with it.

Needs Node.js with npm, which fetches the generator and the compiler. Without them it says so and succeeds, unless
`--strict`.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from support.server import Tideline, Workspace

SOURCE = Path(__file__).with_suffix("")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    parser.add_argument("--binary", type=Path, default=target / "release" / "tideline")
    parser.add_argument("--dir", type=Path, default=target / "client-tour", help="where the tools and the client go")
    parser.add_argument("--url", help="a server that runs, with new demo data, in place of one of its own; its key is in TIDELINE_KEY")
    parser.add_argument("--strict", action="store_true", help="fail where Node.js or its packages are missing")
    return parser.parse_args()


def tools(directory: Path) -> str | None:
    """Installs the tools of the tour. Returns the problem, if any."""
    if not shutil.which("npm") or not shutil.which("node"):
        return "Node.js with npm is not installed"
    for name in ("package.json", "tsconfig.json", "tour.ts"):
        directory.mkdir(parents=True, exist_ok=True)
        shutil.copy(SOURCE / name, directory / name)
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]
    if subprocess.run(install, cwd=directory).returncode != 0:
        return "npm cannot install openapi-typescript, openapi-fetch and typescript"
    return None


def main() -> int:
    args = options()
    directory = args.dir.resolve()
    if missing := tools(directory):
        print(f"client tour: left out, because {missing}")
        return 1 if args.strict else 0
    description = directory / "openapi.json"
    with open(description, "wb") as out:
        subprocess.run([args.binary.resolve(), "openapi"], stdout=out, check=True)

    def program(name: str, *arguments: object) -> None:
        subprocess.run([directory / "node_modules" / ".bin" / name, *map(str, arguments)], cwd=directory, check=True)

    program("openapi-typescript", description, "--output", "api.ts")
    program("tsc", "--project", "tsconfig.json")
    tour = directory / "built" / "tour.js"
    if args.url:
        return subprocess.run(["node", tour, args.url]).returncode
    environment = {name: value for name, value in os.environ.items() if name != "TIDELINE_KEY"}
    with Workspace(None, False) as workspace:
        tideline = Tideline(args.binary, workspace, {})
        made = workspace / "demo"
        subprocess.run([tideline.binary, "demo", "--users", "500", "--posts", "5000", "--out", made], check=True)
        files = ("--follows", made / "follows.csv", "--content", made / "content.ndjson")
        if tideline.command("import", *files).wait() != 0:
            raise SystemExit(f"the demo data cannot be imported: {tideline.output('import')}")
        tideline.start()
        try:
            base = "http://{}:{}".format(*tideline.address)
            code = subprocess.run(["node", tour, base], env=environment).returncode
            tideline.stop()
        finally:
            tideline.kill()
    return code


if __name__ == "__main__":
    sys.exit(main())
