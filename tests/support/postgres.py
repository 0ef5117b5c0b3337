"""A PostgreSQL server of its own, on a Unix socket in a directory of its own."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from .expect import until


def programs() -> Path | None:
    """The directory with `initdb` and `postgres`, also where Debian hides it; `None` if they are not installed."""
    found = shutil.which("initdb")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(found).resolve().parent if found and not debian else debian[-1].parent if debian else None


class Postgres:
    """One cluster. Its programs do not run as root: they run as the user `postgres` then."""

    def __init__(self, directory: Path):
        bin_directory = programs()
        assert bin_directory is not None
        self.bin = bin_directory
        self.directory = directory
        self.process: subprocess.Popen | None = None
        self.as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []
        self.address = f"host={directory} dbname=postgres user=host"
        directory.mkdir()
        if self.as_user:
            shutil.chown(directory, "postgres", "postgres")
            for parent in directory.parents[: len(directory.parents) - 2]:
                parent.chmod(parent.stat().st_mode | 0o011)  # the way to it
        command = [self.bin / "initdb", "--auth=trust", "--username=host", "--encoding=UTF8", "--locale=C.UTF-8", directory / "data"]
        subprocess.run([*self.as_user, *command], check=True, capture_output=True, cwd=directory)

    def begin(self) -> None:
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={self.directory}", "-c", "max_connections=50"]
        with open(self.directory / "log", "ab") as log:
            command = [*self.as_user, self.bin / "postgres", "-D", self.directory / "data", *options]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory)

    def start(self) -> None:
        """Starts the server, and waits until it takes connections."""
        self.begin()
        ready = [self.bin / "pg_isready", "--quiet", "--host", self.directory, "--username", "host", "--dbname", "postgres"]

        def is_ready() -> bool:
            # After a kill the children of the old server may hold the data for an instant.
            if self.process.poll() is not None:
                self.begin()
            return subprocess.run(ready).returncode == 0

        until(lambda: "PostgreSQL answers:\n" + (self.directory / "log").read_text()[-3000:], is_ready)

    def kill(self, with_signal: int = signal.SIGKILL) -> None:
        """kill -9 of the server; its children end by themselves."""
        if self.process is not None:
            self.process.send_signal(with_signal)
            self.process.wait()
            self.process = None

    def stop(self) -> None:
        """Stops in order."""
        self.kill(signal.SIGINT)
