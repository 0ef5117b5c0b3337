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
from pathlib import Path

from console_steps import access, finding, frame, items, looking, moderation, odd, operations, people, pictures, scroll, server, sources
from console_steps.proof import Proof
from support.browser import PROGRAMS, browser
from support.devtools import Browser
from support.expect import Unexpected
from support.program import Workspace, arguments


def options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--strict", action="store_true", help="fail where no browser or no accessibility check can be had")
    parser.add_argument("--only", help="run only the steps whose names contain this text")
    parser.add_argument("--items", type=int, default=10_000, help="items of the long timeline")
    parser.add_argument("--arrivals", type=int, default=1_000, help="items that arrive while it is read")
    parser.add_argument("--files", type=Path, help="serve the console from this directory, for work on it")
    parser.add_argument("--screenshots", type=Path, help="only write the pictures of the documentation into this directory")
    return parser.parse_args()


STEPS = [
    frame.languages, looking.looking, looking.acting, looking.first_window, looking.first_visit, people.desktop, people.phone, people.keyboard, people.any_ids, people.resume, frame.chinese, frame.prefix,
    frame.colours, access.full_key, access.read_key, access.user_token, operations.dashboard, operations.history, operations.backups, frame.accessibility,
    finding.finding, finding.finding_keys, finding.finding_phone, finding.names, server.settings, server.settings_keys, server.settings_phone,
    odd.odd_items, odd.avatars, odd.typing_errors, odd.empty_lists, odd.away, items.conversation, items.references,
    moderation.gone, moderation.sweep, moderation.notices, moderation.records, sources.groups, sources.lists, sources.account, scroll.far,
]


def run(proof: Proof, step: Callable[[Proof], None]) -> None:
    """Carries out a step, and tells its faults. What it leaves after a failure does not slow down the others."""
    proof.step = step.__name__
    begin, before = time.monotonic(), len(proof.faults)
    try:
        step(proof)
    except Unexpected as failed:
        proof.faults.append(f"{proof.step}: {failed}")
        for page in list(proof.browser.pages.values()):
            page.close()
    print(f"{proof.step}: {time.monotonic() - begin:.1f} s", *proof.faults[before:], sep="\nFAULT: ", flush=True)


def main() -> int:
    args = options()
    program = browser()
    if program is None:
        print(f"console: left out, because no browser is installed ({', '.join(PROGRAMS)}); `.ci/setup chromium` installs one")
        return 1 if args.strict else 0
    chromium = Browser(program)
    with Workspace(None, args.keep) as workspace:
        proof = Proof(args, workspace, chromium)
        try:
            if args.screenshots:
                pictures.pictures(proof, args.screenshots)
                return 0
            if not args.only or args.only in "accessibility":
                proof.axe = proof.fetch_axe()
                if proof.axe is None and args.strict:
                    raise SystemExit("--strict: the accessibility check is missing")
            for step in STEPS:
                if not args.only or args.only in step.__name__:
                    run(proof, step)
        finally:
            chromium.close()
            proof.close()
        print(f"{proof.checks} comparisons in a browser, {len(proof.faults)} faults")
        if proof.faults:
            raise SystemExit(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
