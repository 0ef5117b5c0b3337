"""The commands of docs/operate, for podman in the place of Docker."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def text(page: str) -> str:
    return (ROOT / "docs" / "operate" / f"{page}.md").read_text()


def block(page: str, line: str) -> str:
    """The block of commands of a page with a line that begins so. In a list, blocks are indented."""
    blocks = re.findall(r"^( *)```(\w*)\n(.*?)^\1```$", text(page), re.MULTILINE | re.DOTALL)
    plain = [re.sub(rf"^{indent}", "", lines, flags=re.MULTILINE) for indent, language, lines in blocks if not language]
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
