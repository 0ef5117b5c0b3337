"""What the rehearsals with containers share: patience, and a program around them."""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import expect
from .program import TARGET

PATIENCE = 120.0


def until(what: str | Callable[[], str], holds: Callable[[], expect.T | None]) -> expect.T:
    return expect.until(what, holds, PATIENCE, pause=0.2)


def main(about: str, subject: str, folder: str, file: tuple[str, str], rehearse: Callable[[Path, Path | None, Path, bool], None]) -> int:
    """The program of a rehearsal: `rehearse` gets the program, the file that an option names, a directory, and whether nothing may
    be left out. Returns the exit code."""
    option, meaning = file
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=Path, default=TARGET / "release" / "tideline")
    parser.add_argument(option, dest="file", metavar="FILE", type=Path, help=meaning)
    parser.add_argument("--home", type=Path, help=f"images and volumes, kept for the next run [default: {folder} in the target directory]")
    parser.add_argument("--required", action="store_true", help="fail if anything is left out, as where containers cannot be had")
    arguments = parser.parse_args()
    binary, named = arguments.binary.resolve(), arguments.file and arguments.file.resolve()
    # So that a run that is ended from outside cleans up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.stdout.reconfigure(line_buffering=True)
    begin = time.monotonic()
    try:
        rehearse(binary, named, (arguments.home or binary.parent.parent / folder).resolve(), arguments.required)
    except expect.Impossible as why:
        print(f"left out: {subject}: {why}")
        return 1 if arguments.required else 0
    except (AssertionError, subprocess.TimeoutExpired) as why:
        print(f"FAIL: {why}")
        return 1
    print(f"PASS, after {time.monotonic() - begin:.0f} s")
    return 0
