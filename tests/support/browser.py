"""A page of an origin of its own, in a real browser without a window, that does tasks one after another."""

import contextlib
import http.server
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
# How long a task may take, seconds. The first one waits for the browser's start.
PATIENCE = 60


def browser() -> str | None:
    """The path of a browser, if one is installed."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def flags() -> list[str]:
    """The options of a browser without a window, which makes no connections of its own."""
    options = [
        "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-extensions",
        # A page behind others draws too, and its timers keep their time.
        "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
    ]
    # Root of a container cannot have a sandbox.
    return options + (["--no-sandbox"] if os.geteuid() == 0 else [])


def end(process: subprocess.Popen, profile: str) -> None:
    """Ends a browser with all its helpers, and removes its profile."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    # Helpers in sessions of their own still write for a moment.
    until = time.monotonic() + 10
    while os.path.exists(profile) and time.monotonic() < until:
        shutil.rmtree(profile, ignore_errors=True)
        time.sleep(0.1)


class Page:
    """One page and its browser. The origin is fixed before the browser starts, so that settings can name it."""

    def __init__(self, html: Path):
        self.tasks: queue.Queue[dict] = queue.Queue()
        self.results: queue.Queue[Any] = queue.Queue()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler(html.read_bytes()))
        self.server.daemon_threads = True
        self.origin = f"http://localhost:{self.server.server_port}"
        self.profile = tempfile.mkdtemp(prefix="tideline-browser-")
        self.browser: subprocess.Popen | None = None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def handler(page, html: bytes) -> type:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path == "/":
                    self.answer("text/html; charset=utf-8", html)
                elif self.path == "/task":
                    self.answer("application/json", json.dumps(page.tasks.get()).encode())
                else:
                    self.send_error(404)

            def do_POST(self) -> None:
                page.results.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.answer("text/plain", b"")

            def answer(self, kind: str, body: bytes) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_) -> None:
                pass

        return Handler

    def open(self, program: str) -> None:
        """Starts the browser with a new profile."""
        options = [*flags(), f"--user-data-dir={self.profile}"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.browser = subprocess.Popen([program, *options, self.origin + "/"], start_new_session=True, **quiet)

    def do(self, task: str, **arguments: object) -> Any:
        """What the page saw of a task; `error` if its browser refused it."""
        self.tasks.put({"do": task, **arguments})
        try:
            return self.results.get(timeout=PATIENCE)
        except queue.Empty:
            raise SystemExit(f"the browser did not finish {task} {arguments} within {PATIENCE} s") from None

    def close(self) -> None:
        """Ends the browser, and removes all that it wrote."""
        self.server.shutdown()
        self.server.server_close()
        if self.browser:
            end(self.browser, self.profile)
        else:
            shutil.rmtree(self.profile, ignore_errors=True)
