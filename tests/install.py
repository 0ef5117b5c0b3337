#!/usr/bin/env python3
"""Installs a made-up release with packaging/install.sh from a server on the loopback, and checks that a release with another
archive, an incomplete or a doubtful one is refused and leaves nothing behind, as is a place that cannot take it. No redirect
leads away from TLS, neither with curl nor with wget. .ci/release-check finds what a commit lacks for a release."""

import functools
import hashlib
import http.server
import os
import platform
import re
import shutil
import ssl
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "packaging" / "install.sh"
# For localhost, self-signed.
CERTIFICATE = ROOT / "tests" / "tls" / "first.pem"
ARCH = platform.machine()
INSTALLED = ["bin/tideline", "share/man/man1/tideline.1", "share/bash-completion/completions/tideline",
             "share/zsh/site-functions/_tideline", "share/fish/vendor_completions.d/tideline.fish"]
# What the script calls, besides curl or wget.
TOOLS = ["cat", "chmod", "cp", "grep", "gzip", "mkdir", "mktemp", "mv", "rm", "sed", "sha256sum", "tail", "tar", "uname", "wc"]


class Server(http.server.SimpleHTTPRequestHandler):
    """Files, and redirects: `/to/ADDRESS/PATH` leads to the path there."""

    def do_GET(self) -> None:
        if not self.path.startswith("/to/"):
            return super().do_GET()
        scheme, port, path = self.path.removeprefix("/to/").split("/", 2)
        self.send_response(302)
        self.send_header("Location", f"{scheme}://localhost:{port}/{path}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def serve(folder: Path, tls: bool) -> http.server.ThreadingHTTPServer:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Server, directory=str(folder)))
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE, CERTIFICATE.with_suffix(".key"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def release(folder: Path, version: str, program: str = 'echo "tideline $0"', mode: int = 0o755) -> Path:
    """A folder with the files of a release, whose program is a script. Returns the archive."""
    name = f"tideline-{version}-{ARCH}-linux"
    inside = folder / name
    for path in ("man", "completions"):
        (inside / path).mkdir(parents=True)
    (inside / "tideline").write_text(f"#!/bin/sh\n{program}\n")
    (inside / "tideline").chmod(mode)
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


def install(prefix: Path | str, *arguments: str, umask: int = 0o077, **variables: str) -> tuple[int, str]:
    """The exit code and the message. Files of the work are in a folder of their own, which must be empty afterwards."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(["/bin/sh", SCRIPT, "--prefix", prefix, *arguments], env=os.environ | variables | {"TMPDIR": scratch},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, umask=umask)
        assert not os.listdir(scratch), f"left behind: {os.listdir(scratch)}"
    return done.returncode, done.stdout


def only(folder: Path, *programs: str, **replaced: str) -> str:
    """A PATH with these programs alone. The text of a replaced one is that of a script."""
    folder.mkdir()
    for name in programs:
        if (found := shutil.which(name)) and name not in replaced:
            (folder / name).symlink_to(found)
    for name, text in replaced.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    return str(folder)


def places(root: Path, good: str) -> None:
    """Places that cannot take the program are refused, and nothing unfinished stays."""
    occupied = root / "occupied"
    (occupied / INSTALLED[0]).mkdir(parents=True)
    code, text = install(occupied, "--from", good)
    assert code == 1 and "is a directory" in text and not os.listdir(occupied / INSTALLED[0]), text
    # Not with a good release: without the refusal it would be installed in the root of this system.
    code, text = install("", "--from", f"{good}/nothing")
    assert code == 1 and "--prefix needs a value" in text, text
    for name, script in (("cp", 'echo part >"$2"; exit 1'), ("mv", "exit 1")):
        path = only(root / f"no-{name}", "curl", "wget", *TOOLS, **{name: script})
        code, text = install(root / f"failed-{name}", "--from", good, PATH=path)
        assert code == 1 and "could not write" in text, text
        assert not os.listdir(root / f"failed-{name}" / "bin"), f"{name}: {os.listdir(root / f'failed-{name}' / 'bin')}"


def redirects(root: Path, plain: int, secure: int) -> None:
    """A redirect to another address with TLS is followed, one to an address without is not."""
    (root / "wgetrc").write_text(f"ca_certificate = {CERTIFICATE}\n")
    trust = {"CURL_CA_BUNDLE": str(CERTIFICATE), "WGETRC": str(root / "wgetrc")}
    for tool in filter(shutil.which, ("curl", "wget")):
        path = only(root / f"only-{tool}", tool, *TOOLS)
        for way, good in ((f"/to/https/{secure}", True), (f"/to/http/{plain}", False)):
            prefix = root / f"redirected-{tool}-{good}"
            code, text = install(prefix, "--from", f"https://localhost:{secure}{way}/good", PATH=path, **trust)
            assert (code == 0) == good and prefix.exists() == good, f"{tool} with {way}: {code} {text}"
            assert good or "could not download" in text, f"{tool} with {way}: {text}"


def release_check(root: Path) -> None:
    """A tree that is ready for a release passes, and one that lacks something does not."""
    checked = (".ci/release-check", "Cargo.toml", "README.md", "CHANGELOG.md", "docs", "packaging", "clients/python", "clients/typescript")
    for name in checked:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, root / name)
    version = re.search(r'^version = "(.*)"$', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
    talk = r"still to come|no release yet|before the first release|No version has been released"
    for path in [root / "Cargo.toml", *root.rglob("*.md")]:
        path.write_text(re.sub(talk, "", path.read_text()).replace("OWNER/tideline", "tide/tideline"))
    changelog = root / "CHANGELOG.md"
    changelog.write_text(re.sub(rf"(?m)^## \[{version}\].*$", f"## [{version}] - 2026-01-02", changelog.read_text()))

    def told(tag: str) -> tuple[int, str]:
        done = subprocess.run([root / ".ci" / "release-check", tag], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        return done.returncode, done.stdout

    assert told(f"v{version}") == (0, f"release-check: v{version} can be released\n"), told(f"v{version}")
    assert told("v99.0.0")[0] == 1 and "the tag v99.0.0" in told("v99.0.0")[1], told("v99.0.0")
    for name, text, other in (
            ("clients/python/pyproject.toml", f'version = "{version}"', 'version = "99.0.0"'),
            ("clients/python/src/tideline/schema.py", f'"{version}"', '"99.0.0"'),
            ("clients/typescript/package.json", f'"{version}"', '"99.0.0"'),
            ("clients/typescript/src/schema.ts", f'"{version}"', '"99.0.0"'),
            ("CHANGELOG.md", "2026-01-02", "unreleased"), ("README.md", "\n", "\nThe first one is still to come.\n"),
            ("Cargo.toml", "tide/tideline", "OWNER/tideline")):
        good = (root / name).read_text()
        (root / name).write_text(good.replace(text, other, 1))
        code, output = told(f"v{version}")
        assert code == 1 and name in output and output.count("release-check: ") == 1, f"{name}: {output}"
        (root / name).write_text(good)


def main() -> int:
    # The files of a release are everybody's to read.
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as top:
        root = Path(top)
        served = root / "served"
        served.mkdir()
        server, secure = serve(served, tls=False), serve(served, tls=True)
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
            # Also for a caller whose files are his own only.
            modes = {path: stat.S_IMODE(path.stat().st_mode) for path in prefix.rglob("*")}
            assert all(mode == (0o755 if path.is_dir() or path.name == "tideline" and path.parent.name == "bin" else 0o644)
                       for path, mode in modes.items()), modes
            assert all((prefix / path).read_text() == version for path in INSTALLED[1:]), version

        # One more byte at the end, which gzip and tar would not mind.
        with release(folder("tampered"), "1.4.0").open("ab") as file:
            file.write(b"\0")
        release(folder("absent"), "1.4.0").unlink()
        release(folder("broken"), "1.4.0", "exit 1")
        # As in a directory that is mounted noexec.
        release(folder("forbidden"), "1.4.0", mode=0o644)
        release(folder("two"), "1.4.0")
        release(served / "two", "1.5.0")
        (folder("foreign") / "SHA256SUMS").write_text(f"{'0' * 64}  tideline-1.4.0-other-linux.tar.gz\n")
        (folder("outside") / "SHA256SUMS").write_text(f"{'0' * 64}  ../tideline-1.4.0-{ARCH}-linux.tar.gz\n")
        for name, message in (
                ("tampered", "does not have the checksum"), ("absent", "could not download"),
                ("broken", "does not run on this system"), ("forbidden", "another directory in TMPDIR"), ("two", "several archives"), ("foreign", "has no archive"),
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
        release_check(root / "checked")
        places(root, f"{address}/good")
        redirects(root, server.server_address[1], secure.server_address[1])
        server.shutdown()
        secure.shutdown()
    print("install: good releases installed, doubtful ones refused; a commit that lacks something is not released")
    return 0


if __name__ == "__main__":
    sys.exit(main())
