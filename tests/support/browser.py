"""A real browser without a window."""

import contextlib
import os
import shutil
import signal
import subprocess
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


def browser() -> str | None:
    """The path of a browser, if one is installed."""
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def flags() -> list[str]:
    """The options of a browser without a window, which makes no connections of its own."""
    options = [
        "--headless", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--no-proxy-server", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--disable-extensions",
        # A page that is left gives up its stream at once, not after a minute.
        "--disable-features=BackForwardCache",
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
