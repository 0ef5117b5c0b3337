#!/usr/bin/env python3
"""The console in a real browser, with the mouse, the keyboard only, on a phone, in both languages and both schemes of colours.

Each kind of credential sees what it permits. The page works below a path behind a proxy, asks no other server, and has
no errors and no findings of an accessibility check (axe-core, from npm). A timeline is scrolled through 10,000 items
while 1,000 arrive: memory stays flat, no item comes twice or is missing, and what is read does not move. Needs chromium;
without it the script says so and succeeds, unless `--strict`.
"""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from console_steps import access, finding, frame, items, looking, moderation, odd, operations, people, pictures, scroll, server, sources
from console_steps.proof import Proof, fetch_axe
from support.browser import PROGRAMS, browser
from support.devtools import Browser
from support.expect import Unexpected
from support.program import arguments, judge


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--strict", action="store_true", help="fail where no browser or no accessibility check can be had")
    parser.add_argument("--only", help="run only the steps whose names contain this text")
    parser.add_argument("--jobs", type=int, default=2, help="steps at a time")
    parser.add_argument("--items", type=int, default=10_000, help="items of the long timeline")
    parser.add_argument("--arrivals", type=int, default=1_000, help="items that arrive while it is read")
    parser.add_argument("--files", type=Path, help="serve the console from this directory, for work on it")
    parser.add_argument("--screenshots", type=Path, help="only write the pictures of the documentation into this directory")
    return parser.parse_args()


STEPS = [
    # The longest come first.
    frame.accessibility, operations.dashboard, scroll.far, people.phone, people.desktop, operations.history,
    frame.languages, looking.looking, looking.acting, looking.first_window, looking.first_visit, people.keyboard, people.any_ids, people.resume,
    frame.chinese, frame.prefix,
    frame.colours, access.full_key, access.read_key, access.user_token, operations.backups,
    finding.finding, finding.finding_keys, finding.finding_phone, finding.names, server.settings, server.settings_keys, server.settings_phone,
    odd.odd_items, odd.avatars, odd.typing_errors, odd.empty_lists, odd.away, items.conversation, items.references,
    moderation.gone, moderation.sweep, moderation.notices, moderation.records, sources.groups, sources.lists, sources.account,
]


def run(step: Callable[[Proof], None], args: argparse.Namespace, workspace: Path, chromium: Browser, axe: str | None) -> Proof:
    """Carries out a step, and tells its faults."""
    proof = Proof(args, workspace, chromium, step.__name__, axe)
    begin = time.monotonic()
    try:
        step(proof)
    except Unexpected as failed:
        proof.faults.append(f"{proof.step}: {failed}")
    finally:
        proof.close()
    print(f"{proof.step}: {time.monotonic() - begin:.1f} s", *proof.faults, sep="\nFAULT: ", flush=True)
    return proof


def all_steps(args: argparse.Namespace, workspace: Path, chromium: Browser) -> str:
    axe = None
    if not args.only or args.only in "accessibility":
        axe = fetch_axe(workspace / "axe")
        if axe is None and args.strict:
            raise Unexpected("--strict: the accessibility check is missing")
    chosen = [step for step in STEPS if not args.only or args.only in step.__name__]
    # Most of a step is waiting.
    with ThreadPoolExecutor(args.jobs) as pool:
        proofs = list(pool.map(lambda step: run(step, args, workspace, chromium, axe), chosen))
    faults = sum(len(proof.faults) for proof in proofs)
    told = f"{sum(proof.checks for proof in proofs)} comparisons in a browser, {faults} faults"
    if faults:
        raise Unexpected(told)
    return told


def main() -> None:
    args = options()
    program = browser()
    if program is None:
        print(f"console: left out, because no browser is installed ({', '.join(PROGRAMS)}); `.ci/setup chromium` installs one")
        sys.exit(1 if args.strict else 0)

    def work(workspace: Path, _: int) -> str:
        chromium = Browser(program)
        try:
            return pictures.all_pictures(args, workspace, chromium) if args.screenshots else all_steps(args, workspace, chromium)
        finally:
            chromium.close()

    judge(args, work)


if __name__ == "__main__":
    sys.exit(main())
