#!/usr/bin/env python3
"""Installs a made-up release with packaging/install.sh from a server on the loopback, and checks that a release with another
archive, an incomplete or a doubtful one is refused and leaves nothing behind."""

import functools
import hashlib
import http.server
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "packaging" / "install.sh"
ARCH = platform.machine()
INSTALLED = ["bin/tideline", "share/man/man1/tideline.1", "share/bash-completion/completions/tideline",
             "share/zsh/site-functions/_tideline", "share/fish/vendor_completions.d/tideline.fish"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def release(folder: Path, version: str, program: str = 'echo "tideline $0"') -> Path:
    """A folder with the files of a release, whose program is a script. Returns the archive."""
    name = f"tideline-{version}-{ARCH}-linux"
    inside = folder / name
    for path in ("man", "completions"):
        (inside / path).mkdir(parents=True)
    (inside / "tideline").write_text(f"#!/bin/sh\n{program}\n")
    (inside / "tideline").chmod(0o755)
    for path in ("man/tideline.1", "completions/tideline.bash", "completions/_tideline", "completions/tideline.fish"):
        (inside / path).write_text(version)
    archive = folder / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(inside, arcname=name)
    shutil.rmtree(inside)
    sums = folder / "SHA256SUMS"
    line = f"{hashlib.sha256(archive.read_bytes()).hexdigest()}  {archive.name}\n"
    other = f"{'0' * 64}  tideline-{version}-other-linux.tar.gz\n"
    sums.write_text((sums.read_text() if sums.exists() else other) + line)
    return archive


def install(prefix: Path, *arguments: str) -> tuple[int, str]:
    """The exit code and the message. Files of the work are in a folder of their own, which must be empty afterwards."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(["sh", SCRIPT, "--prefix", prefix, *arguments], env=os.environ | {"TMPDIR": scratch},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        assert not os.listdir(scratch), f"left behind: {os.listdir(scratch)}"
    return done.returncode, done.stdout


def main() -> int:
    with tempfile.TemporaryDirectory() as top:
        root = Path(top)
        served = root / "served"
        served.mkdir()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(served)))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"

        def folder(name: str) -> Path:
            (served / name).mkdir()
            return served / name

        # Good ones: the newest, then another version in its place.
        prefix = root / "prefix"
        release(folder("good"), "1.2.3")
        release(folder("next"), "1.3.0-rc.1")
        for name, version in (("good", "1.2.3"), ("next", "1.3.0-rc.1")):
            code, text = install(prefix, "--from", f"{address}/{name}/", "--version", f"v{version}")
            assert code == 0 and f"in {prefix}/bin" in text, text
            found = sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file())
            assert found == sorted(INSTALLED), found
            assert os.access(prefix / INSTALLED[0], os.X_OK)
            assert all((prefix / path).read_text() == version for path in INSTALLED[1:]), version

        # One more byte at the end, which gzip and tar would not mind.
        with release(folder("tampered"), "1.4.0").open("ab") as file:
            file.write(b"\0")
        release(folder("absent"), "1.4.0").unlink()
        release(folder("broken"), "1.4.0", "exit 1")
        release(folder("two"), "1.4.0")
        release(served / "two", "1.5.0")
        (folder("foreign") / "SHA256SUMS").write_text(f"{'0' * 64}  tideline-1.4.0-other-linux.tar.gz\n")
        (folder("outside") / "SHA256SUMS").write_text(f"{'0' * 64}  ../tideline-1.4.0-{ARCH}-linux.tar.gz\n")
        for name, message in (
                ("tampered", "does not have the checksum"), ("absent", "could not download"),
                ("broken", "does not run on this system"), ("two", "several archives"), ("foreign", "has no archive"),
                ("outside", "has no archive"), ("nothing", "could not download")):
            code, text = install(prefix, "--from", f"{address}/{name}")
            assert code == 1 and message in text, f"{name}: {code} {text}"
            assert (prefix / INSTALLED[1]).read_text() == "1.3.0-rc.1", f"{name} changed what was installed"
            code, text = install(root / "empty", "--from", f"{address}/{name}")
            assert code == 1 and not (root / "empty").exists(), f"{name} installed something"
        code, text = install(prefix, "--from", f"{address}/good", "--version", "1.2.4")
        assert code == 1 and "not version 1.2.4" in text, text
        code, text = install(prefix)
        assert code == 1 and "--from" in text, text
        server.shutdown()
    print("install: good releases installed, doubtful ones refused")
    return 0


if __name__ == "__main__":
    sys.exit(main())
