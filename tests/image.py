#!/usr/bin/env python3
"""The container image: the last stage of the Dockerfile around a program that is there, on a minimal Debian from its own
packages. Needs no Docker, no registry and no systemd. The image runs by itself, then as compose.yaml has it, with a night of
some seconds and the commands of docs/operate, and as compose.cluster.yaml has it. Images with one fault each must be refused.
Exits with 1 at the first difference, and with 0 where containers cannot be had, unless `--required`."""

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from image_steps import alone, cluster, composed
from support.containers import Engine, Unavailable
from support.documents import ROOT
from support.rehearsal import main

NAME = "localhost/tideline"
# A fault, the place in the Dockerfile with what is there instead, and the words by which it must be found.
FAULTS = [
    ("without USER", r"^USER .*\n", "", "the image has the user root"),
    ("without HEALTHCHECK", r"^HEALTHCHECK .*\n", "", "the image has no check of health"),
    ("with /data of root", r"install -d -o tideline -g tideline", "install -d", "the server does not start on its volume"),
    ("that listens on loopback", r"LISTEN=0\.0\.0\.0:", "LISTEN=127.0.0.1:", "nobody outside reaches it"),
]


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


def must_refuse(engine: Engine, files: Path, key: Path) -> None:
    """The steps find each fault."""
    text = (ROOT / "Dockerfile").read_text()
    for number, (fault, place, instead, words) in enumerate(FAULTS):
        changed, places = re.subn(place, instead, text, flags=re.MULTILINE)
        assert places == 1, f"an image {fault}: {places} places in the Dockerfile"
        dockerfile = engine.home / "Dockerfile"
        dockerfile.write_text(changed)
        engine.build(f"localhost/fault-{number}", dockerfile, files, ROOT)
        engine.remove()
        try:
            alone.all_steps(alone.Image(engine, f"localhost/fault-{number}", key, say=lambda _: None))
        except AssertionError as found:
            assert words in str(found), f"an image {fault} is refused for another reason: {found}"
            print(f"FOUND: an image {fault}: {str(found).splitlines()[0]}", flush=True)
        else:
            raise AssertionError(f"an image {fault} passes")


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
            raise Unavailable(f"the program was built for a newer system than the image: {version.stderr.strip()}")
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
        except Unavailable as why:
            if required:
                raise
            print(f"left out: {cluster.FILE}: {why}")
        must_refuse(engine, files, key)
    finally:
        engine.clean()


if __name__ == "__main__":
    notices = ("--notices", "the licences of others, as an archive has them [default: made anew, with cargo]")
    sys.exit(main(__doc__, "the rehearsal of the container image", "image-test", notices, rehearse))
