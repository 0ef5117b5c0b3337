#!/usr/bin/env python3
"""Makes the site of the documentation with Zensical, with a search and with tabs for languages: `make site`. A broken link
or anchor fails. The pages in docs/ stay plain Markdown: this script gives Zensical copies in its dialect.

llms.txt must be that of the lists in docs/*/README.md, each of which must name every page of its shelf; `--write` writes it.

Zensical goes into an environment of its own, by the versions of packaging/site/requirements.txt. Where that cannot be
made, the site is left out, and that is said; with `--required` that is an error."""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from docs import anchor_of
from support.program import TARGET, environment

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SHELVES = ("use", "operate", "contribute")
PARTS = ROOT / "packaging" / "site"
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([^)]+)\): (.+)$")
LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
ITEM = re.compile(r"( *)([-*]|\d+\.) +")
TABS = {"js": "JavaScript", "ts": "TypeScript", "python": "Python"}
SUMMARY = (
    "Tideline is a self-hosted server for the \"following\" page of an application: one binary, one data directory, an HTTP API. "
    "It answers the newest items from the people a user follows, before any point, exactly."
)
REPOSITORY = re.search(r'^repository = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def entries(shelf: str) -> list[tuple[str, Path, str]]:
    """The pages of a shelf by its list: title, path, what it is about."""
    lines = re.sub(r"\n  +", " ", (DOCS / shelf / "README.md").read_text()).splitlines()
    return [(found[1], (DOCS / shelf / found[2]).resolve(), found[3]) for found in map(ENTRY.match, lines) if found]


def llms() -> str:
    """llms.txt, by the convention of llmstxt.org: title, summary, lists of links with a line each."""
    text = f"# Tideline\n\n> {SUMMARY}\n\n"
    text += "A program of the server prints its OpenAPI document, with an example of each call: `tideline openapi`; a running\n"
    text += "server has it at `/openapi.json`. Ids of users and items are those of the application; bodies are JSON.\n"
    for shelf in SHELVES:
        text += f"\n## {shelf.capitalize()}\n\n"
        for title, path, about in entries(shelf):
            plain = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", about)
            text += f"- [{title}]({path.relative_to(ROOT)}): {plain}\n"
    examples = [(path, re.search(r"^# (.*)", path.read_text())[1]) for path in sorted(ROOT.glob("examples/*/README.md"))]
    text += "\n## Optional\n\n- [README](README.md): a tour in two commands, and the ten settings to know.\n"
    text += "- [config.toml](config.toml): every setting with its range and default.\n"
    return text + "".join(f"- [{title}]({path.relative_to(ROOT)}): an example to read and to run.\n" for path, title in examples)


def faults(write: bool) -> list[str]:
    found = []
    listed = {path for shelf in SHELVES for _, path, _ in entries(shelf)}
    pages = {path for path in DOCS.rglob("*.md") if path.name != "README.md"}
    found += [f"no list of docs/*/README.md names {path.relative_to(ROOT)}" for path in sorted(pages - listed)]
    found += [f"a list names {path}, which is no page" for path in sorted(listed - pages)]
    if write:
        (ROOT / "llms.txt").write_text(llms())
    elif not (ROOT / "llms.txt").exists() or (ROOT / "llms.txt").read_text() != llms():
        found.append("llms.txt is not that of the lists in docs/*/README.md: `make site ARGS=--write` writes it")
    return found


def place(path: Path) -> str:
    """Where a page or a file of docs/ is in the site's pages."""
    return str(path.relative_to(DOCS)).replace("README.md", "index.md")


def linked(link: str, page: Path) -> str:
    """A link of a page in the site: to another page, or for a file elsewhere to the repository."""
    target, mark, anchor = link.partition("#")
    if not target or re.match(r"[a-z]+:", target):
        return link
    path = Path(os.path.normpath(page.parent / target))
    if not path.is_relative_to(DOCS):
        return f"{REPOSITORY}/{'tree' if path.is_dir() else 'blob'}/HEAD/{path.relative_to(ROOT)}{mark}{anchor}"
    return os.path.relpath(place(path), Path(place(page)).parent) + mark + anchor


def tabs(blocks: list[list[str]], languages: list[str]) -> list[str]:
    """Blocks of one example in several languages as tabs."""
    lines: list[str] = []
    for block, language in zip(blocks, languages):
        name = TABS.get(language) or ("curl" if any("curl " in line for line in block) else "Shell")
        lines += [f'=== "{name}"', "", *(f"    {line}".rstrip() for line in block), ""]
    return lines


def dialect(page: Path) -> str:
    """A page in the dialect of Zensical: four spaces for what is in a list, an empty line before a list, anchors as those of
    a forge, and neighbouring blocks of several languages as tabs."""
    lines = page.read_text().splitlines()
    made: list[str] = []
    offsets: list[int] = []  # of the texts of the lists around
    seen: set[str] = set()
    at = 0
    while at < len(lines):
        line = lines[at]
        indent = len(line) - len(line.lstrip())
        item = ITEM.match(line)
        if line and not (made and made[-1] and not item and indent == 0 and offsets):
            while offsets and indent < offsets[-1]:
                offsets.pop()
        depth = len(offsets)
        before = "    " * depth + " " * max(0, indent - (offsets[-1] if offsets else 0))
        if line.lstrip().startswith("```"):
            blocks, languages, after = [], [], at
            while after < len(lines) and lines[after].lstrip().startswith("```"):
                end = next(end for end in range(after + 1, len(lines)) if lines[end].strip() == "```")
                blocks.append([before + part[indent:] if part else "" for part in lines[after:end + 1]])
                languages.append(lines[after].strip()[3:])
                after = next((next_ for next_ in range(end + 1, len(lines)) if lines[next_].strip()), len(lines))
                at = end + 1
                if languages[-1] not in ("sh", *TABS) or after == len(lines) or lines[after].strip()[3:] not in TABS \
                        or lines[after].strip()[3:] in languages:
                    break
            if made and made[-1]:
                made.append("")
            made += tabs(blocks, languages) if len(blocks) > 1 else blocks[0]
            continue
        if item:
            if made and made[-1] and not offsets and not ITEM.match(lines[at - 1]) and depth == 0:
                made.append("")
            offsets.append(len(item[0]))
        text = line.lstrip() if offsets or indent else line
        outside = re.split(r"(`[^`]*`)", text)
        text = "".join(part if part.startswith("`") else LINK.sub(lambda found: linked(found[1], page), part) for part in outside)
        if heading := re.match(r"(#+) (.*)", line):
            anchor = anchor_of(heading[2])
            text = f"{text} {{#{anchor}}}" if anchor not in seen else text
            seen.add(anchor)
        made.append(before + text if text else "")
        at += 1
    return "\n".join(made) + "\n"


def nav() -> str:
    def quoted(text: str) -> str:
        return '"' + text.replace('"', "'") + '"'
    shelves = ['{ "Tideline" = "index.md" }']
    for shelf in SHELVES:
        pages = [f'"{shelf}/index.md"', *(f"{{ {quoted(title)} = {quoted(place(path))} }}" for title, path, _ in entries(shelf))]
        shelves.append(f"{{ {quoted(shelf.capitalize())} = [{', '.join(pages)}] }}")
    return "[" + ", ".join(shelves) + "]"


def lay(directory: Path) -> None:
    """The pages and the settings for Zensical."""
    shutil.rmtree(directory, ignore_errors=True)
    for path in sorted(DOCS.rglob("*")):
        if path.is_file():
            target = directory / "pages" / place(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                target.write_text(dialect(path))
            else:
                shutil.copy(path, target)
    settings = (PARTS / "zensical.toml").read_text()
    (directory / "zensical.toml").write_text(settings.replace("@NAV@", nav()).replace("@REPOSITORY@", REPOSITORY))


def build(program: Path, directory: Path) -> None:
    lay(directory)
    ended = subprocess.run([program, "build", "--clean", "--strict"], cwd=directory, capture_output=True, text=True)
    told = re.sub(r"\x1b\[[\d;]*m", "", ended.stdout + ended.stderr).partition("Traceback")[0]
    if ended.returncode != 0 or "Warning" in told:
        raise SystemExit(f"{told}site: the pages have faults; they are in {directory / 'pages'}")
    # The pages as they are, for models, at the places that llms.txt names.
    for path in DOCS.rglob("*.md"):
        (directory / "site" / path.relative_to(DOCS)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, directory / "site" / path.relative_to(DOCS))
    away = re.sub(r"\]\((?!docs/)([^)]+)\)", rf"]({REPOSITORY}/blob/HEAD/\1)", (ROOT / "llms.txt").read_text())
    (directory / "site" / "llms.txt").write_text(away.replace("](docs/", "]("))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write llms.txt")
    parser.add_argument("--required", action="store_true", help="fail where Zensical cannot be installed")
    args = parser.parse_args()
    if found := faults(args.write):
        raise SystemExit("\n".join(found) + f"\nsite: {len(found)} faults")
    target, wanted = TARGET.resolve(), PARTS / "requirements.txt"
    # Another list is another environment.
    directory = target / f"site-env-{hashlib.sha256(wanted.read_bytes()).hexdigest()[:8]}"
    programs = environment(directory, "--no-deps", "--only-binary", ":all:", "--requirement", wanted)
    if isinstance(programs, str):
        if args.required:
            raise SystemExit(f"site: {programs}")
        print(f"site: {programs}, so the site is left out")
        return
    build(programs / "zensical", target / "site")
    print(f"site: {len(list((target / 'site' / 'pages').rglob('*.md')))} pages without a broken link: {target / 'site' / 'site'}")


if __name__ == "__main__":
    main()
