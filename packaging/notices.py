#!/usr/bin/env python3
"""Prints the licences of all crates, C libraries and scripts whose code is in the program, with their texts: THIRD-PARTY
of an archive. Fails if a text is missing."""

import json
import re
import subprocess
import sys
from pathlib import Path

TEXT = re.compile(r"(un)?licen[cs]e|copying|notice", re.IGNORECASE)
# Folders below a crate whose code does not go into the program.
APART = {"benches", "builder", "contrib", "doc", "docs", "examples", "external", "fuzz", "packaging", "programs", "test", "tests"}
SOURCES = {".c", ".cc", ".cpp"}
# For crates that come without a text, by name. One that may be used under the Apache licence needs no entry.
SUPPLIED = Path("packaging/licences")
HEAD = """The program tideline contains the libraries below. A library that may be used under the Apache licence or under another
one is used under the Apache licence. A library that may be used under the GPL or under another one is used under the
other one."""


def output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def tree(edges: str) -> set[tuple[str, ...]]:
    """Names and versions of the crates that the program needs on this platform."""
    lines = output("cargo", "tree", "--locked", "--edges", edges, "--prefix", "none", "--format", "{p}").splitlines()
    return {tuple(line.replace(" v", " ").split()[:2]) for line in lines if line}


def linked() -> list[dict]:
    """The crates whose code is in the program, without tools of the build and of the tests."""
    host = next(line.split()[1] for line in output("rustc", "-vV").splitlines() if line.startswith("host:"))
    # The metadata also has crates that no feature in use needs; the tree has no paths. A crate such as openssl-src has
    # sources of C for the build script of another one.
    used = tree("normal") | {crate for crate in tree("normal,build") if crate[0].endswith("-src")}
    metadata = output("cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host)
    crates = [crate for crate in json.loads(metadata)["packages"] if (crate["name"], crate["version"]) in used]
    return sorted((crate for crate in crates if crate["source"]), key=lambda crate: (crate["name"], crate["version"]))


def below(top: Path) -> list[Path]:
    """The files of a crate that may be in the program, relative to it."""
    files = (path.relative_to(top) for path in sorted(top.rglob("*")) if path.is_file())
    return [path for path in files if not APART.intersection(part.lower() for part in path.parts[:-1])]


def texts(crate: dict) -> tuple[list[Path], list[str]]:
    """The files with licences: those of the crate, and those of its C and C++ libraries; and what lacks one."""
    title = f"{crate['name']} {crate['version']}"
    top = Path(crate["manifest_path"]).parent
    files = below(top)
    found = [path for path in files if TEXT.match(path.name) and path.suffix not in SOURCES | {".h", ".rs"}]
    # Folders beside `src` that have sources are libraries of others.
    libraries = {path.parts[0] for path in files if len(path.parts) > 1 and path.suffix in SOURCES} - {"src", "build"}
    lacking = [f"{title}: {name}" for name in sorted(libraries) if not any(path.parts[0] == name for path in found)]
    if found:
        return [top / path for path in found], lacking
    supplied = SUPPLIED / crate["name"]
    if supplied.is_file():
        return [supplied], lacking
    if "Apache-2.0" in (crate["license"] or ""):
        return [Path("LICENSE")], lacking
    return [], [title, *lacking]


def scripts() -> list[Path]:
    """The licences of the scripts of others that the server serves: the console's, and those of the page of the API."""
    # Not by git, which the build of the container image does not have.
    files = sorted(path for top in ("console", "src", "crates") for path in Path(top).rglob("*") if path.is_file())
    return [path for path in files if path.suffix not in {".rs", ".js"} and any(map(TEXT.match, path.name.split(".")))]


def main() -> int:
    printed: dict[str, str] = {}
    missing: list[str] = []

    def show(title: str, paths: list[Path]) -> None:
        for path in paths:
            text = path.read_text(encoding="utf-8", errors="replace").strip()
            here = f"{title}, {path.name}"
            first = printed.setdefault(text, here)
            print(f"\n--- {path.name}:" + (f" the same as that of {first}" if first != here else f"\n{text}"))

    print(HEAD)
    for crate in linked():
        paths, lacking = texts(crate)
        missing += lacking
        title = f"{crate['name']} {crate['version']}"
        print(f"{'=' * 80}\n{title}: {crate['license'] or 'see the text'}")
        show(title, paths)
    for path in scripts():
        print(f"{'=' * 80}\n{path}")
        show(str(path.parent), [path])
    for name in missing:
        print(f"notices: no text of a licence for {name}; put it into {SUPPLIED}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
