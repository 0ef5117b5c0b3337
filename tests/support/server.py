"""The real binary as a child process."""

import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

READY = "listening on http://"


def environment(settings: dict[str, str]) -> dict[str, str]:
    """The process environment with settings such as `timeline.inbox_limit` as overrides, and no other variable of ours."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TIDELINE_")}
    overrides = {"TIDELINE__" + name.replace(".", "__").upper(): value for name, value in settings.items()}
    return inherited | overrides


class Tideline:
    """One data directory and the commands run on it."""

    def __init__(self, binary: Path, directory: Path, settings: dict[str, str]):
        self.binary = binary.resolve()
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "server.log"
        self.configure(settings)
        self.preload: dict[str, str] = {}  # what the environment of the server alone has besides
        self.process: subprocess.Popen | None = None
        self.address = ("", 0)
        self.listen = "127.0.0.1:0"

    def configure(self, settings: dict[str, str]) -> None:
        """Settings from the next start on."""
        self.settings = settings
        self.environment = environment(settings)

    def command(self, name: str, *options: object) -> subprocess.Popen:
        """Starts a command on the data directory; its output goes to a log beside it."""
        with open(self.directory / f"{name}.log", "wb") as log:
            return subprocess.Popen(
                [self.binary, name, "--data-dir", self.data, *map(str, options)],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )

    def output(self, name: str) -> str:
        """All that the last run of a command has written so far."""
        return (self.directory / f"{name}.log").read_text(errors="replace")

    def serve(self) -> subprocess.Popen:
        """Starts the server on `listen`, at first a free port, and does not wait for it."""
        with open(self.log, "ab") as log:
            return subprocess.Popen(
                [self.binary, "serve", "--data-dir", self.data, "--listen", self.listen],
                env=self.environment | self.preload, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
            )

    def start_and_kill(self, seconds: float) -> None:
        """Kills a server so long after its start, up or not."""
        with self.serve() as process:
            time.sleep(seconds)
            process.kill()

    def start(self, patience: float = 120.0) -> float:
        """Serves on a free port; returns the seconds from exec to the line that says it is ready."""
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
            raise SystemExit(f"the server did not start; it printed {line!r}, and its log ends:\n{self.tail()}")
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
            raise SystemExit(f"SIGTERM: exit code {code}; the log ends:\n{self.tail()}")
        return time.monotonic() - begin

    def kill(self) -> None:
        """kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def peak_memory_mb(self) -> int:
        """The largest resident set so far, MiB; 0 where the system does not tell."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text() if self.process else ""
        except OSError:
            return 0
        kilobytes = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
        return int(kilobytes[0]) // 1024 if kilobytes else 0

    def disk_mb(self) -> float:
        """Bytes of the data directory, MiB."""
        return sum(path.stat().st_size for path in self.data.rglob("*") if path.is_file()) / 2**20

    def check(self) -> str:
        """Runs `tideline check` on the stopped data directory; returns what it printed."""
        code = self.command("check").wait()
        if code != 0:
            raise SystemExit(f"tideline check: exit code {code}:\n{self.output('check')}")
        return self.output("check").strip()

    def wipe(self) -> None:
        """Starts over with an empty data directory."""
        shutil.rmtree(self.data, ignore_errors=True)


class Workspace:
    """A temporary directory that is removed when all went well and named when not."""

    def __init__(self, parent: str | None, keep: bool):
        self.path = Path(tempfile.mkdtemp(prefix="tideline-", dir=parent))
        self.keep = keep

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, kind, *_) -> None:
        if self.keep or kind is not None:
            print(f"data and logs are kept in {self.path}", flush=True)
        else:
            shutil.rmtree(self.path, ignore_errors=True)
