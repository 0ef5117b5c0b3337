#!/usr/bin/env python3
"""The container image: the last stage of the Dockerfile around a program that is there, on a minimal Debian from its own
packages. Needs no Docker, no registry and no systemd. The image runs by itself, then as compose.yaml has it, with a night of
some seconds and the commands of docs/operate, and as compose.cluster.yaml has it. Exits with 1 at the first difference, and with 0 where containers cannot be had, unless `--required`."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from image_steps import alone, cluster, composed
from support.containers import Engine
from support.documents import ROOT
from support.expect import Impossible
from support.rehearsal import main

NAME = "localhost/tideline"


def lay_out(binary: Path, notices: Path | None, directory: Path) -> None:
    """What the build stage of the Dockerfile leaves: the files of the image."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    if notices is None:
        notices = directory / "THIRD-PARTY"
        with open(notices, "wb") as out:
            subprocess.run([sys.executable, ROOT / "packaging" / "notices.py"], cwd=ROOT, stdout=out, check=True)
    subprocess.run([ROOT / "packaging" / "image-files", binary, notices, directory / "files" / "image"], check=True)


def packages(binary: Path) -> list[str]:
    """Packages that this program needs in the base, but not that of a release: OpenSSL of the system."""
    linked = subprocess.run(["ldd", binary], stdout=subprocess.PIPE, text=True, check=True).stdout
    return ["libssl3"] if "libssl.so.3" in linked else []


def rehearse(binary: Path, notices: Path | None, home: Path, required: bool) -> None:
    engine = Engine(home)
    begin = time.monotonic()
    engine.clean()
    try:
        extra = packages(binary)
        got = engine.base(extra)
        print(f"base: Debian bookworm{' with ' + ', '.join(extra) if extra else ''}, {got}", flush=True)
        lay_out(binary, notices, home / "layout")
        files = home / "layout" / "files"
        engine.build(NAME, ROOT / "Dockerfile", files, ROOT)
        version = engine.try_run("podman", "run", "--rm", "--pull", "never", "--network", "none", NAME, "--version")
        if "GLIBC" in version.stderr:
            raise Impossible(f"the program was built for a newer system than the image: {version.stderr.strip()}")
        megabytes = int(engine.run("podman", "image", "inspect", "--format", "{{.Size}}", NAME)) / 1e6
        print(f"image: {version.stdout.strip()}, {megabytes:.0f} MB with its base, after {time.monotonic() - begin:.0f} s", flush=True)
        key = home / "key"
        key.unlink(missing_ok=True)
        key.touch(mode=0o400)
        shutil.chown(key, int(alone.OWNER))
        key.write_text("a-key-for-the-rehearsal-of-the-image-which-is-long-enough\n")
        archive = alone.all_steps(alone.Image(engine, NAME, key))
        engine.remove()
        composed.all_steps(engine, home)
        engine.remove()
        try:
            cluster.all_steps(engine, home, archive)
        except Impossible as why:
            if required:
                raise
            print(f"left out: {cluster.FILE}: {why}")
    finally:
        engine.clean()


if __name__ == "__main__":
    notices = ("--notices", "the licences of others, as an archive has them [default: made anew, with cargo]")
    sys.exit(main(__doc__, "the rehearsal of the container image", "image-test", notices, rehearse))
