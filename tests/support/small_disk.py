"""A file system in memory of some megabytes, which can be filled."""

import os
import subprocess
from pathlib import Path

from .expect import Impossible

# Left free, so that the file system has its own room again at once when the filler is gone.
PART = 1 << 20


class SmallDisk:
    """Mounted in a namespace of its own, over an empty directory; seen through `path`."""

    def __init__(self, directory: Path, megabytes: int):
        directory.mkdir(parents=True, exist_ok=True)
        script = f'mount -t tmpfs -o size={megabytes}m tmpfs "$0" && echo mounted && exec cat'
        command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, directory]
        try:
            self.holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise Impossible(f"unshare: {error}") from error
        assert self.holder.stdout is not None and self.holder.stderr is not None
        if self.holder.stdout.readline() != b"mounted\n":
            why = self.holder.stderr.read().decode(errors="replace").strip()
            self.close()
            raise Impossible(why)
        self.path = Path(f"/proc/{self.holder.pid}/root{directory.resolve()}")
        self.filler = self.path / "filler"

    def fill(self) -> int:
        """Takes all room; returns how many bytes that were."""
        taken = 0
        with open(self.filler, "wb", buffering=0) as file:
            try:
                while True:
                    taken += file.write(bytes(PART))
            except OSError:
                return taken

    def empty(self) -> None:
        """Gives the room back."""
        if self.filler.exists():
            os.unlink(self.filler)

    def close(self) -> None:
        """Gives the file system up, with all that is in it."""
        if self.holder.stdin is not None:
            self.holder.stdin.close()
        self.holder.kill()
        self.holder.wait()
