"""A Redis server of its own, on a port of the loopback, with a directory of its own."""

import shutil
import socket
import subprocess
from pathlib import Path

from .expect import until
from .server import free_port

# A kill, or a power cut, may take the changes of the last second or two.
OPTIONS = ("--appendonly", "yes", "--appendfsync", "everysec", "--save", "")


def program() -> str | None:
    """`redis-server`, or `None` if it is not installed."""
    return shutil.which("redis-server")


class RedisServer:
    """One server with one append-only file."""

    def __init__(self, directory: Path):
        self.directory = directory
        directory.mkdir(exist_ok=True)
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Starts the server on the data that is there, and waits until it answers."""
        options = ["--port", self.port, "--bind", "127.0.0.1", "--dir", self.directory, *OPTIONS]
        with open(self.directory / "log", "ab") as log:
            command = [program() or "redis-server", *map(str, options)]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: "Redis answers:\n" + (self.directory / "log").read_text()[-3000:], self.answers)

    def ask(self, command: bytes) -> bytes:
        """The answer to a short command; empty while the server is not there."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
                connection.sendall(command + b"\r\n")
                return connection.recv(65536)
        except OSError:
            return b""

    def answers(self) -> bool:
        """Whether the data is loaded."""
        return self.ask(b"PING").startswith(b"+PONG")

    def settle(self) -> None:
        """Waits until all acknowledged changes are in the file."""
        until("Redis has written its file", lambda: b"aof_buffer_length:0\r" in self.ask(b"INFO persistence"))

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
