#!/usr/bin/env python3
"""Prints the licences of all crates and scripts whose code is in the program, with their texts: THIRD-PARTY of an archive."""

import json
import subprocess
import sys
from pathlib import Path

NAMES = ("licen", "copying", "notice", "unlicense")


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked() -> list[dict]:
    """The crates of the program on this platform, without tools of the build and of the tests."""
    host = next(line.split()[1] for line in output("rustc", "-vV").splitlines() if line.startswith("host:"))
    # The metadata also has crates that no feature in use needs; the tree has no paths.
    tree = output("cargo", "tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}")
    used = {tuple(line.replace(" v", " ").split()[:2]) for line in tree.splitlines() if line}
    metadata = output("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host)
    crates = [crate for crate in json.loads(metadata)["packages"] if (crate["name"], crate["version"]) in used]
    return sorted((crate for crate in crates if crate["source"]), key=lambda crate: (crate["name"], crate["version"]))


def texts(crate: dict) -> list[Path]:
    """The files with licences: those of the crate, and those of C and C++ sources one to three levels below."""
    top = Path(crate["manifest_path"]).parent
    found = [path for level in ("*", "*/*", "*/*/*") for path in sorted(top.glob(level))]
    return [path for path in found if path.is_file() and path.name.lower().startswith(NAMES)]


def main() -> int:
    printed: dict[str, str] = {}
    for crate in linked():
        title = f"{crate['name']} {crate['version']}"
        print(f"{'=' * 80}\n{title}: {crate['license'] or 'see the text'}")
        for path in texts(crate):
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            first = printed.setdefault(text, f"{title}, {path.name}")
            print(f"\n--- {path.name}: {'the same as that of ' + first if first != f'{title}, {path.name}' else ''}")
            if first == f"{title}, {path.name}":
                print(text)
    # The libraries of the console.
    for path in sorted(Path("console/vendor").glob("*.LICENSE")):
        print(f"{'=' * 80}\n{path.stem}, in the console\n\n{path.read_text(encoding='utf-8').strip()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
