"""The frame of the programs that use it: their arguments, their seed, their directory, and their verdict."""

import argparse
import os
import random
import shutil
import subprocess
import tempfile
import threading
import venv
from collections.abc import Callable, Iterable
from pathlib import Path

from .expect import Unexpected

TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or "target")


class Workspace:
    """A temporary directory that is removed when all went well and named when not."""

    def __init__(self, parent: str | None = None, keep: bool = False):
        self.path = Path(tempfile.mkdtemp(prefix="tideline-", dir=parent))
        self.keep = keep

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, kind, *_) -> None:
        if self.keep or kind is not None:
            print(f"data and logs are kept in {self.path}", flush=True)
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def arguments(about: str) -> argparse.ArgumentParser:
    """The options of every program."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=TARGET / "release" / "tideline")
    parser.add_argument("--tmp", help="where to put the temporary directory")
    parser.add_argument("--keep", action="store_true", help="keep the temporary directory")
    return parser


def tool(name: str) -> str | None:
    """The path of a program of the system, or of `.ci/tools`."""
    return shutil.which(name) or shutil.which(TARGET.resolve() / "tools" / name)


def environment(directory: Path, *packages: object, cwd: Path | None = None) -> Path | str:
    """The directory of programs of an environment of Python with these packages, or why there is none. One that is whole is kept.
    Paths of packages are relative to `cwd`."""
    wanted = " ".join(map(str, packages))
    programs, done = directory.resolve() / "bin", directory / "done"
    if done.exists() and done.read_text() == wanted:
        return programs
    try:
        venv.create(directory, with_pip=True, clear=True)
    except (subprocess.CalledProcessError, OSError):
        return "Python has no venv (Debian: python3-venv)"
    # Python compiles what is imported; to compile all that is installed takes longer.
    options = ("--quiet", "--disable-pip-version-check", "--retries", "1", "--no-compile")
    install = [programs / "pip", "install", *options, *packages]
    ended = subprocess.run(install, cwd=cwd, capture_output=True, text=True)
    if ended.returncode != 0:
        return f"pip cannot install {wanted}: {ended.stderr.strip().splitlines()[-1:]}"
    done.write_text(wanted)
    return programs


def judge(given: argparse.Namespace, work: Callable[[Path, int], object]) -> None:
    """Lets `work` run in a directory of its own, with the seed of the arguments or a new one. It returns whether all was right, or
    a verdict of its own; the exit code tells so, too."""
    seed = getattr(given, "seed", None)
    seed = random.randrange(10**6) if seed is None else seed
    if hasattr(given, "seed"):
        print(f"seed {seed}", flush=True)
    crashed: list[threading.ExceptHookArgs] = []
    threading.excepthook = lambda fault: (crashed.append(fault), threading.__excepthook__(fault))
    with Workspace(given.tmp, given.keep) as directory:
        try:
            right = work(directory, seed)
        except Unexpected as error:
            raise SystemExit(f"WRONG {error}") from error
        if not right or crashed:
            raise SystemExit("FAIL: a thread has crashed" if crashed else "FAIL: see WRONG above")
    print(right if isinstance(right, str) else "PASS")


def each(what: str, kinds: Iterable[str], strict: bool, test: Callable[[str], str | None]) -> bool:
    """Tests some kinds of something; `test` fails, or returns why a kind is left out. That is right unless it is `strict`."""
    left_out = 0
    for kind in kinds:
        missing = test(kind)
        print(f"{what} {kind}: " + (f"left out, because {missing}" if missing else "good"), flush=True)
        left_out += missing is not None
    return not (left_out and strict)
