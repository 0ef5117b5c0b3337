#!/usr/bin/env python3
"""Writes the parts of the clients that follow from the OpenAPI document of the server.

These are the types of bodies and answers, the method and path of each call, the codes of problems, and the version; the
methods of all calls without behaviour of their own, with their tests; the blocking client for Python; and the table of
methods in docs/use/clients.md. `generator/document.py` names the methods that do not follow their operations.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from generator import python, typescript
from generator.document import Api

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs" / "use" / "clients.md"
# No cell of a table in the documentation has more words.
IN_A_CELL = 25


def table(api: Api) -> str:
    """The rows of the methods, by the groups of the document."""
    rows = ""
    for tag in api.tags:
        names = [f"`{call.name}`" for call in api.calls if call.tag == tag]
        for first in range(0, len(names), IN_A_CELL):
            rows += f"| {tag} | {', '.join(names[first : first + IN_A_CELL])} |\n"
    return rows


def with_table(page: str, rows: str) -> str:
    return re.sub(r"(?m)(?<=^\| subject \| methods \|\n\|---\|---\|\n)(?:\|.*\n)+", lambda _: rows, page)


def made(api: Api) -> dict[Path, str]:
    """What each made file should be."""
    script, package = HERE / "typescript", HERE / "python" / "src" / "tideline"
    asynchronous = {path.name: path.read_text() for path in (package / "_async").glob("*.py")}
    asynchronous["calls.py"] = python.calls_text(api)
    files = {
        script / "src" / "schema.ts": typescript.schema_text(api),
        script / "src" / "calls.ts": typescript.calls_text(api),
        script / "test" / "made.ts": typescript.tests_text(api),
        package / "schema.py": python.schema_text(api),
        package / "_async" / "calls.py": asynchronous["calls.py"],
        HERE / "python" / "tests" / "made.py": python.tests_text(api),
        DOCS: with_table(DOCS.read_text(), table(api)),
    }
    return files | {package / "_sync" / name: python.blocking(text) for name, text in asynchronous.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True, help="the server, which has the document")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not current")
    args = parser.parse_args()
    printed = subprocess.run([args.binary.resolve(), "openapi"], check=True, capture_output=True).stdout
    old = []
    for path, text in made(Api(json.loads(printed))).items():
        if args.check and (not path.exists() or path.read_text() != text):
            old.append(str(path.relative_to(HERE.parent)))
        elif not args.check:
            path.write_text(text)
    if old:
        print(f"not current: {', '.join(old)}. Run `make clients`", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
