"""The commands of docs/operate, for podman in the place of Docker."""

import re
from pathlib import Path

from .containers import Engine

ROOT = Path(__file__).resolve().parent.parent.parent
# The Python of podman-compose, which need not be this one.
PODMAN_COMPOSE = f"$(sed -n '1s/^#!//p' \"$(type -P podman-compose)\") {ROOT}/tests/support/compose.py"


def text(page: str) -> str:
    return (ROOT / "docs" / "operate" / f"{page}.md").read_text()


def blocks(markdown: str) -> list[tuple[str, str]]:
    """Language and lines of each block, in order. In a list, blocks are indented."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^\1```$", markdown, re.MULTILINE | re.DOTALL)
    return [(language, re.sub(rf"^{indent}", "", lines, flags=re.MULTILINE)) for indent, language, lines in found]


def block(page: str, line: str) -> str:
    """The block of commands of a page with a line that begins so."""
    plain = [lines for language, lines in blocks(text(page)) if not language]
    found = [lines for lines in plain if re.search(rf"^{re.escape(line)}", lines, re.MULTILINE)]
    assert len(found) == 1, f"{page}.md has {len(found)} blocks with a line that begins with {line}"
    return found[0]


def command(page: str, part: str) -> str:
    """The command within a line of the text of a page that has this part."""
    found = [words for words in re.findall(r"`(docker [^`]+)`", text(page)) if part in words]
    assert len(found) == 1, f"{page}.md has {len(found)} commands with {part}"
    return found[0]


def local(commands: str) -> str:
    """Commands for podman, by root and without a registry."""
    commands = commands.replace("docker compose ", "podman-compose ").replace("sudo ", "").replace("docker tag ", "podman tag ")
    return commands.replace("docker run ", "podman run --pull never --network none ")


def composed(engine: Engine, directory: Path, commands: str, good: bool = True) -> str:
    """What commands of the documentation print in a directory with files of compose. If they are not `good`, those after a failure
    are run too, as at a prompt."""
    # podman-compose does not look into .env for the names of its files.
    known = "podman-compose() { set -a; test ! -e .env || . ./.env; set +a; " + PODMAN_COMPOSE + ' "$@"; }\n'
    answer = engine.try_run("bash", "-euo" if good else "-uo", "pipefail", "-c", known + local(commands), cwd=directory)
    said = answer.stdout + answer.stderr
    assert not good or answer.returncode == 0, f"{commands}\n{said[-3000:]}"
    return said
