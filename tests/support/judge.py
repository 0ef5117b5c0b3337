"""The frame of a machine that proves a promise: its seed, its directory, and its verdict."""

import argparse
import random
from collections.abc import Callable
from pathlib import Path

from .client import Unexpected
from .server import Workspace


def judge(given: argparse.Namespace, work: Callable[[Path, int], bool]) -> None:
    """Lets `work` run in a directory of its own, with the seed of the arguments or a new one; the exit code tells
    whether all was right."""
    seed = random.randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    with Workspace(given.tmp, given.keep) as directory:
        try:
            right = work(directory, seed)
        except Unexpected as error:
            raise SystemExit(f"WRONG {error}") from error
        if not right:
            raise SystemExit("FAIL: see WRONG above")
    print("PASS")
