"""Libraries that are loaded into a server before all others, to stand between it and the system."""

import shutil
import subprocess
import sys
from pathlib import Path

from .expect import Impossible


def build(name: str, directory: Path) -> Path:
    """Compiles `name.c`, which lies beside this file, into a directory."""
    if not sys.platform.startswith("linux"):
        raise Impossible("needs Linux, where a library can be preloaded")
    compiler = shutil.which("cc")
    if compiler is None:
        raise Impossible("needs a C compiler (cc)")
    library = directory / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    command = [compiler, "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O2", "-o", library, source, "-lpthread"]
    subprocess.run(command, check=True)
    return library


class Dial:
    """A number that a test gives to the library `name`, which looks at it each time."""

    def __init__(self, name: str, variable: str, directory: Path):
        self.file = directory / name
        self.set(0)
        self.environment = {"LD_PRELOAD": str(build(name, directory)), variable: str(self.file)}

    def set(self, number: int) -> None:
        """From now on. In one step: the file is never there half."""
        following = self.file.with_suffix(".next")
        following.write_text(str(number))
        following.rename(self.file)


class Clock(Dial):
    """The time of day of a server, set by a test."""

    def __init__(self, directory: Path):
        super().__init__("clock", "CLOCK_SHIFT", directory)

    def shift(self, seconds: int) -> None:
        """So far off it is from now on."""
        self.set(seconds)


class SlowWrites(Dial):
    """Each write of a server to its log takes so many milliseconds longer."""

    def __init__(self, directory: Path):
        super().__init__("slow", "SLOW_WRITES", directory)
