"""A Tideline server for the tests."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

KEY = "a-key-of-the-tests-with-32-characters"


def free_port() -> int:
    """A port below those of outgoing connections, one of which could have it while the server is away."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(10_000, 32_000)))
            return probe.getsockname()[1]


class Server:
    """The binary that TIDELINE_BINARY names, with an empty data directory. It keeps its port over restarts."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="tideline-forum-"))
        self.process = None
        self.port = free_port()
        self.start()

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TIDELINE_")}
        with open(self.directory / "server.log", "ab") as log:
            self.process = subprocess.Popen(
                [
                    os.environ["TIDELINE_BINARY"],
                    "serve",
                    "--data-dir",
                    self.directory / "data",
                    "--listen",
                    f"127.0.0.1:{self.port}",
                ],
                env=environment | {"TIDELINE__AUTH__KEYS": KEY},
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise RuntimeError(f"Tideline did not start: {(self.directory / 'server.log').read_text()}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.directory)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"
