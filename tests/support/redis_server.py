"""A Redis server of its own, on a port of the loopback, with a directory of its own."""

import shutil
import socket
import subprocess
import time
from pathlib import Path

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
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        """Starts the server on the data that is there, and waits until it answers."""
        options = ["--port", self.port, "--bind", "127.0.0.1", "--dir", self.directory, *OPTIONS]
        with open(self.directory / "log", "ab") as log:
            command = [program() or "redis-server", *map(str, options)]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        end = time.monotonic() + 60
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("Redis did not start:\n" + (self.directory / "log").read_text()[-3000:])
            time.sleep(0.02)

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
        end = time.monotonic() + 60
        while b"aof_buffer_length:0\r" not in self.ask(b"INFO persistence"):
            if time.monotonic() > end:
                raise SystemExit("Redis does not write its file")
            time.sleep(0.02)

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None
