#!/usr/bin/env python3
"""Compares the documentation with the project. Links, files, make targets, commands, settings and calls must exist, and
links in the archive of a release too, and pages that sources name. No cell of a table is a paragraph. In `X` in `file.rs`
the file must have X. Defaults and ranges of settings must be right. Examples of Rust must be in the source. Pages install
what their scripts import. The examples of README.md, docs/use/api.md, docs/use/integrate.md and docs/use/streams.md must
work on the real binary.

In an `sh` block each curl must answer 2xx, or the status in a comment at its end (`# 404`). A `json` block after it must
have the fields of the last answer; the same calls in other languages may stand between. The events that a block shows must
be in that answer. Blocks of `python` and `js` are programs that must succeed."""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Iterator, NamedTuple

from support.program import Workspace
from support.server import Tideline, environment

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")),
         *sorted((ROOT / "examples").glob("*/README.md"))]
ADDRESS = "localhost:8080"  # the address in examples
PLACES = [ROOT / name for name in ("", "src", "tests", "docs", "docs/use", "docs/operate", "docs/contribute")]  # where a path in the text may begin, or beside the page
FILE = re.compile(r"[\w./-]+\.(?:rs|py|md|toml|html|js|sh)|(?:src|crates|tests|docs|benches|data|\.ci)/[\w./-]*")
PLACED = re.compile(r"`([^`]+)`\s+(?:in|of)\s+`([\w./-]+\.(?:rs|py))`")
BOUND = r"(\d[\d,]*(?:ms|[smhd])?)"
STATED = re.compile(rf"(?<![\w.,])(?:{BOUND}|up) to {BOUND}(?![\w,]*\w)")
TOO_LARGE = {"number": ("99999999999999", "-1"), "duration": ("36501d",)}  # one of them is in no range
MOST_WORDS = 25  # of the cell of a table: a longer one is a paragraph
METHODS = "GET|HEAD|POST|PUT|PATCH|DELETE"
LANGUAGES = {"sh": ["bash", "-euo", "pipefail"], "python": [sys.executable], "js": ["node"]}
PACKAGES = {"tideline": "./clients/python", "httpx": "./clients/python"}  # by their modules; the client brings httpx
SUFFIXES = {"sh": "sh", "python": "py", "js": "mjs"}
# Writes the status of each answer to a file. A stream is ended after twelve seconds.
CURL = """#!/bin/bash
status() { [ -z "$2" ] || echo "$2" >> "$STATUSES"; exit "$1"; }
limit=(); code=0
[[ "$*" != *[/-]stream* ]] || limit=(--max-time 12)
out=$(mktemp); trap 'rm -f "$out"' EXIT
answer=$(%s "${limit[@]}" -o "$out" -w '%%{http_code}' "$@") || code=$?
cat "$out"; echo
[ $code -ne 28 ] || [ ${#limit[@]} -eq 0 ] || code=0
status $code "$answer"
"""


def found_at(path: str) -> list[Path]:
    """Where a path in the text may be. One of a crate begins with its name: `feed/lib.rs` is crates/feed/src/lib.rs."""
    crate, _, rest = path.partition("/")
    return [*(place / path for place in PLACES), ROOT / "crates" / crate / "src" / rest]


class Block(NamedTuple):
    """A fenced block of a page."""

    line: int
    language: str
    code: str


class Page:
    """One page: its text, with empty lines in place of blocks, and its blocks."""

    def __init__(self, path: Path, root: Path = ROOT):
        self.name = str(path.relative_to(root))
        self.path = path
        self.directory = path.parent
        self.blocks: list[Block] = []
        self.lines: list[str] = []
        block: Block | None = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            fence = line.lstrip()
            if block is None and not fence.startswith("```"):
                self.lines.append(line)
                continue
            self.lines.append("")
            if block is None:
                block = Block(number, fence[3:].strip(), "")
            elif fence.startswith("```"):
                self.blocks.append(block)
                block = None
            else:
                block = block._replace(code=block.code + line + "\n")

    def spans(self) -> Iterator[tuple[int, str]]:
        """All text between backticks, with its line."""
        for number, line in enumerate(self.lines, 1):
            yield from ((number, span) for span in re.findall(r"`([^`]+)`", line))

    def commands(self) -> Iterator[tuple[int, str]]:
        """Spans, and the lines of shell blocks."""
        yield from self.spans()
        for block in self.blocks:
            if block.language in ("sh", ""):
                joined = block.code.replace("\\\n", " ")
                yield from ((block.line, line) for line in joined.splitlines())


def anchor_of(heading: str) -> str:
    """The anchor that a forge makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def anchors(path: Path) -> set[str]:
    return {anchor_of(found[1]) for line in Page(path, path.parent).lines if (found := re.match(r"#+ (.*)", line))}


def stated_ranges(text: str) -> list[str]:
    """The ranges that a text states. `up to B` is a range from 0."""
    return [f"{low or 0} to {high}".replace(",", "") for low, high in STATED.findall(text)]


class Project:
    """The commands, options, settings and calls of the binary, and the make targets."""

    def __init__(self, binary: Path):
        self.binary = binary
        self.faults: list[str] = []
        self.targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.M))
        self.help = self.ask("--help")
        self.commands = set(re.findall(r"^  ([a-z]+)  ", self.help, re.M))
        commands = self.commands - {"help"}
        self.options = {name: self.options_of(name) for name in commands}
        self.settings: dict[str, str] = {}  # with their defaults
        section = ""
        for line in self.ask("config").splitlines():
            if header := re.fullmatch(r"\[(\w+)\]", line):
                section = header[1]
            elif setting := re.match(r'(\w+) = "?([^"]*)', line):
                self.settings[f"{section}.{setting[1]}"] = setting[2].replace("[]", "none") or "none"
        self.ranges = {name: self.range(name, default) for name, default in self.settings.items()}
        self.types = set(re.findall(r' = \d+ => "([a-z_.]+)"', (ROOT / "crates/model/src/effect.rs").read_text()))  # of changes
        self.sections = {name.split(".")[0] for name in self.settings}
        paths = json.loads(self.ask("openapi"))["paths"]
        self.calls = {(method.upper(), re.sub(r"\{\w+\}", "{}", path)) for path, methods in paths.items() for method in methods}
        # Served, but no calls of the API.
        self.calls |= {("GET", "/"), ("GET", "/docs/")}
        # Between a server and its standby.
        copies, seal, of = "/v1/admin/standby/copies", "/v1/admin/standby/seal", "/v1/admin/standby"
        self.calls |= {("POST", copies), ("POST", seal)}
        self.calls |= {("DELETE", seal), ("GET", f"{of}/log"), ("PUT", f"{of}/progress"), ("POST", f"{of}/handover")}
        self.calls |= {("POST", "/v1/admin/promote"), ("GET", "/standbyz")}

    def call(self, *arguments: str, settings: dict[str, str] = {}) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.binary, *arguments], env=environment(settings), capture_output=True, text=True)

    def ask(self, *arguments: str) -> str:
        answer = self.call(*arguments)
        answer.check_returncode()
        return answer.stdout

    def options_of(self, name: str) -> set[str]:
        """The options of a command, and of the commands below it."""
        text = self.ask(name, "--help")
        below = re.findall(r"^  ([a-z]+)  ", text.partition("Commands:")[2].partition("Options:")[0], re.M)
        texts = [text, *(self.ask(name, word, "--help") for word in below if word != "help")]
        return {option for text in texts for option in re.findall(r"--[a-z-]+", text)}

    def range(self, name: str, default: str) -> str:
        """The range of a setting, such as `0 to 1024`: the binary names it when it refuses a value."""
        kind = "number" if default.isdigit() else "duration" if re.fullmatch(r"\d+[a-z]+", default) else ""
        for value in TOO_LARGE.get(kind, ()):
            refusal = self.call("config", settings={name: value}).stderr
            if found := re.search(r"from (\w+) to (\w+)", refusal):
                low = "0" if found[1] == "0s" else found[1]
                # The highest whole number is no bound worth telling.
                return "" if found[2] == str((1 << 63) - 1) else f"{low} to {found[2]}"
        return ""

    def fault(self, page: Page, line: int, what: str) -> None:
        self.faults.append(f"{page.name}:{line}: {what}")

    def links(self, page: Page) -> None:
        for number, line in enumerate(page.lines, 1):
            for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", link):
                    continue
                target, _, anchor = link.partition("#")
                path = (page.directory / target) if target else page.path
                if not path.exists():
                    self.fault(page, number, f"the link leads to no file: {link}")
                elif anchor and anchor not in anchors(path):
                    self.fault(page, number, f"the link leads to no heading: {link}")

    def archive(self, directory: Path) -> None:
        """The links of the documentation in the archive of a release, which is in this directory."""
        for path in sorted(directory.rglob("*.md")):
            page = Page(path, directory)
            page.name = f"{page.name} in the archive"
            self.links(page)

    def mentions(self) -> None:
        """Pages that sources, settings and scripts name, with their headings."""
        names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        for name in (name for name in names if not name.endswith((".md", ".png", ".lock")) and (ROOT / name).is_file()):
            for number, line in enumerate((ROOT / name).read_text(errors="replace").splitlines(), 1):
                for target, anchor in re.findall(r"(?<![\w-])(docs/[\w/-]+\.\w+)(?:#([\w-]+))?", line):
                    path = ROOT / target
                    if target.endswith((".md", ".json", ".yaml")) and not path.exists():
                        self.faults.append(f"{name}:{number}: there is no {target}")
                    elif anchor and anchor not in anchors(path):
                        self.faults.append(f"{name}:{number}: {target} has no heading {anchor}")

    def cells(self, page: Page) -> None:
        for number, line in enumerate(page.lines, 1):
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")) if line.lstrip().startswith("|") else ():
                words = len(re.sub(r"\]\([^)]*\)", "]", cell).split())
                if words > MOST_WORDS:
                    self.fault(page, number, f"a cell of {words} words, more than {MOST_WORDS}: {cell.strip()[:40]}…")

    def files(self, page: Page) -> None:
        for number, span in page.spans():
            if FILE.fullmatch(span) and not any(path.exists() for path in (*found_at(span), page.directory / span)):
                self.fault(page, number, f"there is no file {span}")

    def places(self, page: Page) -> None:
        """`X` in `file.rs`: the file has X, or the last part of it."""
        text = "\n".join(page.lines)
        for found in PLACED.finditer(text):
            paths = [path for path in found_at(found[2]) if path.is_file()]
            name = re.escape(found[1].rpartition("::")[2].removesuffix("()"))
            if paths and not re.search(rf"(?<!\w){name}(?!\w)", paths[0].read_text()):
                self.fault(page, text[:found.start()].count("\n") + 1, f"{found[2]} has no {found[1]}")

    def words(self, page: Page) -> None:
        """make targets, commands with their options, settings, calls."""
        for number, text in page.commands():
            for target in re.findall(r"(?:^|[\s;|&(])make ([a-z][a-z-]*)", text):
                if target not in self.targets:
                    self.fault(page, number, f"there is no target {target}")
            for command in re.finditer(r"(?:^|[\s/])tideline (?!format \d|tideline )([a-z]+)\b([^|]*)", text):
                name, rest = command.groups()
                if name not in self.commands:
                    self.fault(page, number, f"there is no command {name}")
                for option in re.findall(r"(?<![\w-])--[a-z-]+", rest):
                    if option not in self.options.get(name, ()):
                        self.fault(page, number, f"tideline {name} has no option {option}")
            for variable in re.findall(r"TIDELINE__(\w+?)__(\w+)", text):
                self.setting(page, number, ".".join(variable).lower())
        for number, line in enumerate(page.lines, 1):
            row = re.match(r"\| `(\w+\.\w+)` \| `?([^|`]*?)`? \|(.*)", line)
            if not row or row[1] not in self.settings:
                continue
            if self.settings[row[1]] != row[2]:
                self.fault(page, number, f"the default of {row[1]} is {self.settings[row[1]]}")
            self.same_range(page, number, row[1], row[3])
        for number, span in page.spans():
            name = re.fullmatch(r"([a-z]+)\.[a-z][a-z_]+", span)
            if name and name[1] in self.sections and span not in self.types and not FILE.fullmatch(span):
                self.setting(page, number, span)
            if call := re.fullmatch(rf"(?:{METHODS})(?:, (?:{METHODS}))* (/\S*)", span):
                path = re.sub(r"\{\w+\}", "{}", call[1].split("?")[0])
                for method in re.findall(METHODS, span.split(" /")[0]):
                    if (method.replace("HEAD", "GET"), path) not in self.calls:
                        self.fault(page, number, f"there is no call {method} {path}")

    def installs(self, page: Page) -> None:
        """A page that runs a script of a recipe installs what the script imports."""
        commands = list(page.commands())
        installed = {name for _, text in commands for line in re.findall(r"pip install (.*)", text) for name in line.split()}
        for number, text in commands:
            for script in re.findall(r"\bpython (?:recipes/\w+/)?(\w+\.py)", text):
                for path in (ROOT / "recipes").rglob(script):
                    imported = set(re.findall(r"^(?:import|from) (\w+)", path.read_text(), re.M)) - sys.stdlib_module_names
                    for name in {PACKAGES.get(name, name) for name in imported} - installed:
                        self.fault(page, number, f"{script} needs {name}, which the page does not install")

    def same_range(self, page: Page, number: int, name: str, text: str) -> None:
        """Every range that a text about a setting states must be its range."""
        for stated in stated_ranges(text):
            if stated != self.ranges.get(name):
                found = self.ranges.get(name) or "every value"
                self.fault(page, number, f"the range of {name} is {found}, not {stated}")

    def setting(self, page: Page, number: int, name: str) -> None:
        if name not in self.settings:
            self.fault(page, number, f"there is no setting {name}")

    def tables(self, pages: dict[str, Page]) -> None:
        """All calls must be described."""
        api = pages["docs/use/api.md"]
        text = "\n".join(api.lines)
        found = re.findall(rf"`((?:{METHODS})(?:, (?:{METHODS}))*) (/[^`?\s]*)", text)
        described = {
            (method, re.sub(r"\{\w+\}", "{}", path)) for methods, path in found for method in methods.split(", ")
        }
        for method, path in sorted(self.calls - described - {("GET", "/"), ("GET", "/docs/")}):
            self.fault(api, 1, f"the call {method} {path} is not described")

    def code(self, page: Page) -> None:
        """Blocks of Rust must be parts of the source. A line with … is not compared."""
        source = "\n".join(path.read_text() for path in (top for name in ("src", "crates") for top in (ROOT / name).rglob("*.rs")))
        for block in (block for block in page.blocks if block.language == "rust"):
            for line in filter(None, map(str.strip, block.code.splitlines())):
                if "…" not in line and line.rstrip(",") not in source:
                    self.fault(page, block.line, f"the source has no line {line}")

    def run(self, page: Page, server: Tideline, directory: Path) -> int:
        """Runs the examples of a page, one after the other. Returns their number."""
        programs = directory / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "curl").write_text(CURL % shutil.which("curl"))
        (programs / "curl").chmod(0o755)
        statuses = directory / "statuses"
        environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "STATUSES": str(statuses)}
        address = server.url.removeprefix("http://")
        done, answer = 0, ""
        for block in page.blocks:
            if block.language == "json":
                self.compare(page, block, answer)
            for event in re.findall(r"^event: .*", block.code, re.M):
                if event not in answer.splitlines():
                    self.fault(page, block.line, f"the stream has no {event}: {answer}")
            runs = block.language in ("python", "js") or (block.language == "sh" and "curl" in block.code)
            if not runs or (block.language == "js" and not shutil.which("node")):
                continue
            program = directory / f"example.{SUFFIXES[block.language]}"
            # A busy machine needs longer to open a stream.
            program.write_text(block.code.replace(ADDRESS, address).replace("sleep 0.5", "sleep 4"))
            statuses.write_text("")
            try:
                ended = subprocess.run([*LANGUAGES[block.language], program], env=environment, cwd=directory,
                                       capture_output=True, text=True, timeout=60)
            except subprocess.TimeoutExpired:
                self.fault(page, block.line, "the example does not end")
                continue
            done, output = done + 1, ended.stdout + ended.stderr
            # The same call in other languages may stand between a call and its answer.
            answer = ended.stdout if block.language == "sh" else answer
            if ended.returncode != 0:
                self.fault(page, block.line, f"the example fails with {ended.returncode}:\n{output}")
            if block.language == "sh":
                calls = [line for line in block.code.replace("\\\n", " ").splitlines() if "curl " in line]
                expected = [(re.search(r"# (\d{3})", line) or [0, "2.."])[1] for line in calls]
                found = statuses.read_text().split()
                if len(found) != len(expected) or not all(map(re.fullmatch, expected, found)):
                    self.fault(page, block.line, f"the calls answer {found}, not {expected}:\n{output}")
        return done

    def compare(self, page: Page, block: Block, answer: str) -> None:
        """The answer in a page must have the fields of the real one. A shortened answer is not compared."""
        if "…" in block.code:
            return
        try:
            found, told = shape(json.loads(answer.strip().rpartition("\n")[2])), shape(json.loads(block.code))
        except ValueError as error:
            self.fault(page, block.line, f"no JSON: {error}: {answer[:200]}")
            return
        if found != told:
            self.fault(page, block.line, f"the answer has {json.dumps(found)}, not {json.dumps(told)}")


def shape(value: object) -> object:
    """The fields of a JSON value and their types, without the values. Of a list only the first element."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in sorted(value.items())}
    if isinstance(value, list):
        return [shape(inner) for inner in value[:1]]
    return type(value).__name__


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", type=Path, required=True)
    binary = parser.parse_args().binary.resolve()
    if not shutil.which("curl"):
        raise SystemExit("docs: the examples need curl")
    if not shutil.which("node"):
        print("docs: there is no node, so the examples in JavaScript are not run")
    project = Project(binary)
    pages = {page.name: page for page in map(Page, filter(Path.exists, PAGES))}
    for page in pages.values():
        project.links(page)
        project.cells(page)
        project.files(page)
        project.places(page)
        project.words(page)
        project.installs(page)
        project.code(page)
    project.mentions()
    project.tables(pages)
    examples = 0
    with Workspace(None, keep=False) as work:
        subprocess.run([ROOT / "packaging" / "documents", work / "archive"], check=True)
        project.archive(work / "archive")
        for name in ("README.md", "docs/use/api.md", "docs/use/integrate.md", "docs/use/streams.md"):
            directory = work / name.replace("/", "-")
            server = Tideline(binary, directory, {})
            if name == "README.md":
                server.import_demo(2000, 20_000)
            with server:
                examples += project.run(pages[name], server, directory)
    if project.faults:
        print("\n".join(project.faults))
        raise SystemExit(f"docs: {len(project.faults)} faults in {len(pages)} pages, {examples} examples")
    print(f"docs: {len(pages)} pages agree with the project, {examples} examples work")


if __name__ == "__main__":
    main()
