#!/usr/bin/env python3
"""Plays one trace through Tideline and through other ways to serve a feed, and compares each page with the plain function.

Each contestant plays in a process of its own, with packages of Python in an environment beside the build. What cannot be
installed is left out, and that is said. The page goes to `--output`, or to stdout. Fails if a page of Tideline is wrong."""

import argparse
import hashlib
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

# Servers, clients and the model are those of the tests.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from contestants import judge, page, trace
from contestants.about import ABOUT, About
from support.postgres import programs
from support.redis_server import program
from support.program import Workspace, environment

HERE = Path(__file__).resolve().parent
# Each environment has the packages of some contestants. Old setuptools have `distutils`, which redis 3 needs in new Python.
PACKAGES = {
    "feeds": ("redis==3.5.3", "stream-framework-plus==1.4.0.3", "celery==5.4.0", "setuptools==75.8.0", "psycopg[binary]==3.2.10"),
    "django": ("Django==4.2.25", "django-activity-stream==2.0.0", "psycopg[binary]==3.2.10"),
}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    parser.add_argument("--binary", type=Path, default=target / "release" / "tideline")
    parser.add_argument("--environments", type=Path, default=target / "compare", help="where the packages of Python go")
    parser.add_argument("--seed", type=int, default=20260101)
    parser.add_argument("--quick", action="store_true", help="a small trace, to try the comparison itself")
    parser.add_argument("--users", type=int, help="users of the trace")
    parser.add_argument("--steps", type=int, help="steps of the running part of the trace")
    parser.add_argument("--only", action="append", choices=ABOUT, help="one contestant; may be given again")
    parser.add_argument("--examples", action="store_true", help="print some faults of each kind")
    parser.add_argument("--output", type=Path, help="write the page to this file")
    parser.add_argument("--figures", type=Path, help="keep the figures in this directory, and play only contestants that have none there")
    parser.add_argument("--dir", default="/var/tmp", help="the device of all data")
    parser.add_argument("--play", choices=ABOUT, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def size(given: argparse.Namespace) -> trace.Size:
    of = trace.QUICK if given.quick else trace.FULL
    return trace.Size(given.users or of.users, of.history, given.steps or of.steps)


def play(given: argparse.Namespace) -> None:
    """In a process of its own: one contestant; the result goes to a file beside its data."""
    from contestants.player import Player

    module, name = ABOUT[given.play].adapter
    adapter = getattr(importlib.import_module(f"contestants.{module}"), name)
    contestant = adapter(given.data, size(given).users, given.binary)
    player = Player(given.play, contestant, trace.steps(size(given), given.seed))
    try:
        contestant.start()
        player.run()
        (given.data / "result.json").write_text(json.dumps(player.result()))
    finally:
        contestant.stop()


class Left(Exception):
    """Why a contestant is left out."""


def python_for(about: About, given: argparse.Namespace) -> Path:
    """The Python of a contestant, if all that it needs is there."""
    if "redis-server" in about.needs and program() is None:
        raise Left("redis-server is not installed (Debian: redis-server)")
    if "postgresql" in about.needs and programs() is None:
        raise Left("PostgreSQL is not installed (Debian: postgresql)")
    if about.packages is None:
        return Path(sys.executable)
    packages = PACKAGES[about.packages]
    found = environment(given.environments / hashlib.sha256(" ".join(packages).encode()).hexdigest()[:8], *packages)
    if isinstance(found, str):
        raise Left(found)
    return found / "python"


def named(given: argparse.Namespace) -> list[int]:
    """What tells one trace from another."""
    return [*vars(size(given)).values(), given.seed]


def earlier(key: str, given: argparse.Namespace) -> dict[str, Any] | None:
    """The figures of an earlier run of the same trace."""
    kept = given.figures / f"{key}.json" if given.figures else None
    found = json.loads(kept.read_text()) if kept and kept.exists() else {}
    return found["result"] if found.get("trace") == named(given) else None


def run(key: str, given: argparse.Namespace, workspace: Path) -> dict[str, Any] | str:
    """Plays one contestant; what was measured, or why it is left out."""
    if before := earlier(key, given):
        return before
    try:
        python = python_for(ABOUT[key], given)
    except Left as left:
        return str(left)
    data = workspace / key
    data.mkdir()
    passed = [f"--{name}={value}" for name in ("binary", "seed", "users", "steps") if (value := getattr(given, name)) is not None]
    command = [python, HERE / "compare.py", *passed, *(["--quick"] if given.quick else []), "--play", key, "--data", data]
    begin = time.monotonic()
    if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode != 0:
        raise SystemExit(f"{key} failed")
    result = json.loads((data / "result.json").read_text())
    if given.figures:
        given.figures.mkdir(parents=True, exist_ok=True)
        (given.figures / f"{key}.json").write_text(json.dumps({"trace": named(given), "result": result}))
    counts = ", ".join(f"{count} {kind}" for kind, count in result["faults"].items())
    took = f"{time.monotonic() - begin:.0f} s, {result['changes']:.1f} s of changes and {result['reads']:.1f} s of reads"
    print(f"{key}: {result['wrong']} of {result['pages']} pages wrong ({counts or 'none'}); {took}", file=sys.stderr, flush=True)
    if given.examples:
        for kind, examples in result["examples"].items():
            print("".join(f"  {kind}: {example}\n" for example in examples), end="", file=sys.stderr)
    shutil.rmtree(data, ignore_errors=True)
    return result


def loads() -> str:
    return " ".join(f"{load:.2f}" for load in os.getloadavg())


def machine(begin: float, before: str, old: list[str]) -> str:
    """When and on which machine, for the page. `old` have figures of an earlier run."""
    commit = subprocess.run(["git", "rev-parse", "--short=10", "HEAD"], cwd=HERE, capture_output=True, text=True).stdout.strip()
    told = f"`make compare` wrote the page on {time.strftime('%Y-%m-%d', time.gmtime())} at commit {commit or '?'}"
    told += f" on {os.cpu_count()} cores ({platform.machine()})"
    if len(old) < len(ABOUT):
        minutes = (time.monotonic() - begin) / 60
        told += f", in {minutes:.0f} minutes. Load average before: {before}; at the end: {loads()}"
    return told + (f". Figures of an earlier run of the same trace: {', '.join(old)}." if old else ".")


def main() -> None:
    given = options()
    if given.play:
        return play(given)
    print(f"the judge finds what it should in {judge.prove()} cases", file=sys.stderr, flush=True)
    begin, before = time.monotonic(), loads()
    with Workspace(given.dir, keep=False) as workspace:
        results: dict[str, dict[str, Any] | str] = {}
        old = [ABOUT[key].title for key in given.only or ABOUT if earlier(key, given)]
        for key in given.only or ABOUT:
            results[key] = run(key, given, workspace)
            if isinstance(results[key], str):
                print(f"compare: {key} is left out, because {results[key]}", file=sys.stderr, flush=True)
    if all(isinstance(result, str) for result in results.values()):
        raise SystemExit("compare: all contestants are left out")
    text = page.written(results, size(given), given.seed, machine(begin, before, old))
    if given.output:
        given.output.write_text(text)
    else:
        print(text)
    own = results.get("tideline")
    if isinstance(own, dict) and own["wrong"]:
        raise SystemExit(f"FAIL: {own['wrong']} pages of Tideline are wrong: {json.dumps(own['examples'], indent=1)}")


if __name__ == "__main__":
    main()
