#!/usr/bin/env python3
"""Tests the recipes, with real servers of the other systems. Names the recipes that are left out, unless `--strict`."""

import shutil
import subprocess
import sys
from pathlib import Path

from support.postgres import programs
from support.program import TARGET, arguments, environment

TESTS = Path(__file__).resolve().parent
PACKAGES = ["psycopg[binary]>=3.2,<4", "redis>=5,<8", "httpx"]


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("--dir", type=Path, default=TARGET / "recipes", help="where the packages of Python go")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the host that moves")
    parser.add_argument("--strict", action="store_true", help="fail where something is missing")
    args = parser.parse_args()

    def left_out(why: str) -> int:
        print(f"recipes: left out, because {why}")
        return 1 if args.strict else 0

    if programs() is None:
        return left_out("PostgreSQL is not installed (Debian: postgresql)")
    found = environment(args.dir, *PACKAGES)
    if isinstance(found, str):
        return left_out(found)
    python, client = found / "python", args.dir / "client"
    shutil.rmtree(client, ignore_errors=True)
    shutil.copytree(TESTS.parent / "clients" / "python", client)
    # The client may have changed.
    subprocess.run([found / "pip", "install", "--quiet", "--disable-pip-version-check", client], check=True)
    recipes = {"postgresql": ["--seed", "20260101"], "move": ["--rows", str(args.rows)]}
    missing = 0
    for name, options in recipes.items():
        if name == "move" and not shutil.which("redis-server"):
            missing = left_out(f"{name} needs redis-server, which is not installed (Debian: redis-server)")
            continue
        if subprocess.run([python, TESTS / f"recipe_{name}.py", "--binary", args.binary, *options]).returncode != 0:
            return 1
        print(f"recipe {name}: good", flush=True)
    return missing


if __name__ == "__main__":
    sys.exit(main())
