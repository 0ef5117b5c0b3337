"""The real binary as a child process."""

import fcntl
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

from .expect import Unexpected

READY = "listening on http://"


def environment(settings: dict[str, str]) -> dict[str, str]:
    """The process environment with settings such as `timeline.inbox_limit` as overrides, and no other variable of ours."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TIDELINE_")}
    overrides = {"TIDELINE__" + name.replace(".", "__").upper(): value for name, value in settings.items()}
    return inherited | overrides


# Locks of the ports that this process has chosen: no other one takes a port whose server is down, or not up yet.
CHOSEN: list[IO[str]] = []


def free_ports(count: int) -> list[int]:
    """Ports that nobody has now, and no other script has chosen. They lie below the range of outgoing connections: otherwise a client that tries the
    port of a server that is down could get this very port for its own end, and the server could not start again."""
    try:
        first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        first = 32768
    chance, found = random.SystemRandom(), set[int]()
    locks = Path(tempfile.gettempdir()) / f"tideline-ports-{os.getuid()}"
    locks.mkdir(exist_ok=True)
    for _ in range(100 * count):
        port = chance.randrange(10000, first if first > 12000 else 65536)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        lock = (locks / str(port)).open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            continue
        CHOSEN.append(lock)
        found.add(port)
        if len(found) == count:
            return list(found)
    raise Unexpected(f"no {count} free ports")


def free_port() -> int:
    return free_ports(1)[0]


class Tideline:
    """One data directory and the commands run on it. With `port` the server has the same address after each start. In a `with`
    it serves: at the end it is stopped in order, or killed after a failure."""

    def __init__(self, binary: Path, directory: Path, settings: dict[str, str], port: int = 0):
        self.binary = binary.resolve()
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.data = directory / "data"
        self.log = directory / "server.log"
        self.configure(settings)
        self.preload: dict[str, str] = {}  # what the environment of the server alone has besides
        self.process: subprocess.Popen | None = None
        self.address = ("127.0.0.1", port)
        self.port = port

    def __enter__(self) -> "Tideline":
        self.start()
        return self

    def __exit__(self, kind, *_) -> None:
        try:
            if kind is None and self.process is not None:
                self.stop()
        finally:
            self.kill()

    @property
    def url(self) -> str:
        return "http://{}:{}".format(*self.address)

    def configure(self, settings: dict[str, str]) -> None:
        """Settings from the next start on."""
        self.settings = settings
        self.environment = environment(settings)

    def command(self, name: str, *options: object) -> subprocess.Popen:
        """Starts a command on the data directory; its output goes to a log beside it."""
        with open(self.directory / f"{name}.log", "wb") as log:
            return subprocess.Popen(
                [self.binary, *name.split(), "--data-dir", self.data, *map(str, options)],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def output(self, name: str) -> str:
        """All that the last run of a command has written so far."""
        return (self.directory / f"{name}.log").read_text(errors="replace")

    def run(self, name: str, *options: object) -> str:
        """Runs a command that must succeed; returns what it printed."""
        code = self.command(name, *options).wait()
        if code != 0:
            raise Unexpected(f"tideline {name}: exit code {code}:\n{self.output(name)[-3000:]}")
        return self.output(name).strip()

    def import_demo(self, users: int, posts: int) -> None:
        """Imports the files of the demo."""
        made = self.directory / "demo"
        size = ("--users", str(users), "--posts", str(posts))
        subprocess.run([self.binary, "demo", *size, "--out", made], check=True, stdout=subprocess.DEVNULL)
        files = ["--follows", made / "follows.csv", "--content", made / "content.ndjson"]
        self.run("import", *files, "--reactions", made / "reactions.csv", "--profiles", made / "profiles.ndjson")

    def serving(self) -> list[object]:
        """The command that serves, but for its address."""
        return ["serve", "--data-dir", self.data]

    def serve(self) -> subprocess.Popen:
        """Starts the server, and does not wait for it."""
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [self.binary, *map(str, self.serving()), "--listen", f"127.0.0.1:{self.port}"],
                env=self.environment | self.preload, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            )

    def start_and_kill(self, seconds: float) -> None:
        """Kills a server so long after its start, up or not."""
        with self.serve() as process:
            time.sleep(seconds)
            process.kill()

    def start(self, patience: float = 120.0) -> float:
        """Serves; returns the seconds from exec to the line that says it is ready."""
        begin = time.monotonic()
        self.process = self.serve()
        watchdog = threading.Timer(patience, self.process.kill)
        watchdog.start()
        assert self.process.stdout is not None
        line = self.process.stdout.readline().decode()
        watchdog.cancel()
        if not line.startswith(READY):
            self.process.kill()
            self.process.wait()
            raise Unexpected(f"the server did not start; it printed {line!r}, and its log ends:\n{self.tail()}")
        host, port = line.strip().removeprefix(READY).rsplit(":", 1)
        self.address = (host, int(port))
        return time.monotonic() - begin

    def tail(self, lines: int = 15) -> str:
        """The end of the server's log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self) -> float:
        """Stops in order and returns how many seconds that took; exit code 0 or it fails."""
        assert self.process is not None
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=60)
        self.process = None
        if code != 0:
            raise Unexpected(f"SIGTERM: exit code {code}; the log ends:\n{self.tail()}")
        return time.monotonic() - begin

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def memory_mb(self, name: str = "VmRSS") -> float:
        """The resident memory of the server, MiB: now, or with `VmHWM` at its peak; 0 where the system does not tell."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text() if self.process else ""
        except OSError:
            return 0.0
        found = re.search(rf"^{name}:\s+(\d+) kB", status, re.M)
        return int(found[1]) / 1024 if found else 0.0

    def cpu_seconds(self) -> float:
        """The processor time of the server so far."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def disk_mb(self) -> float:
        """Bytes of the data directory, MiB."""
        return sum(path.stat().st_size for path in self.data.rglob("*") if path.is_file()) / 2**20

    def check(self) -> str:
        """Runs `tideline check` on the stopped data directory; returns what it printed."""
        return self.run("check")

    def wipe(self) -> None:
        """Starts over with an empty data directory."""
        shutil.rmtree(self.data, ignore_errors=True)
