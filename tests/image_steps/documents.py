"""The commands of docs/operate/install.md and docs/operate/backup.md, for podman in the place of Docker."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TEXT = "\n".join((ROOT / "docs" / "operate" / name).read_text() for name in ("install.md", "backup.md"))


def block(line: str) -> str:
    """The block of commands with a line that begins so."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    found = [text for language, text in blocks if not language and re.search(rf"^{re.escape(line)}", text, re.MULTILINE)]
    assert len(found) == 1, f"docs/operate has {len(found)} blocks with a line that begins with {line}"
    return found[0]


def command(part: str) -> str:
    """The command within a line of text that has this part."""
    found = [text for text in re.findall(r"`(docker [^`]+)`", TEXT) if part in text]
    assert len(found) == 1, f"docs/operate has {len(found)} commands with {part}"
    return found[0]


def local(text: str) -> str:
    """Commands for podman, by root and without a registry."""
    text = text.replace("docker compose ", "podman-compose ").replace("sudo ", "")
    return text.replace("docker run ", "podman run --pull never --network none ")
