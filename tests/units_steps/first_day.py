"""docs/operate/first-day.md, block by block in one shell of root, without TLS and with that of the server.

What another machine or the Internet would give is replaced: /mnt/other is a volume; the packages of Debian are there already, and
that of Tideline has the program of the archive; apt does not
ask; openssl makes the authority and the certificate; curl scrapes in the place of
Prometheus; cron waits a minute, not until three."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.containers import Engine
from support.documents import ROOT, blocks, text
from support.machine import Machine
from support.rehearsal import until

SECTION = "### For other machines\n"
PLAIN, TLS = "http://127.0.0.1:8080", "https://NAME:8080"
CERTIFICATE = """
openssl req -x509 -newkey rsa:2048 -noenc -days 30 -subj /CN=authority -keyout ca.key -out authority.pem
openssl req -newkey rsa:2048 -noenc -subj /CN=NAME -addext subjectAltName=DNS:NAME -keyout key.pem -out request.pem
openssl x509 -req -in request.pem -copy_extensions copy -CA authority.pem -CAkey ca.key -days 30 -out cert.pem
"""


def package(archive: Path) -> Path:
    """A package as `make deb` makes it, without documentation, of the files of an archive that is unpacked beside it."""
    unpacked = archive.parent / archive.name.removesuffix(".tar.gz")
    root = archive.parent / "package"
    shutil.copytree(ROOT / "packaging" / "debian", root / "DEBIAN")
    version = unpacked.name.split("-")[1]
    processor = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    (root / "DEBIAN" / "control").write_text(f"Package: tideline\nVersion: {version}\nArchitecture: {processor}\n"
                                             "Maintainer: tests/units.py\nDepends: systemd\nDescription: Tideline, for a test\n")
    for file, place, name in (("tideline", "usr/bin", "tideline"), ("systemd/tideline.sysusers", "usr/lib/sysusers.d", "tideline.conf")):
        (root / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(unpacked / file, root / place / name)
    units = root / "usr/lib/systemd/system"
    units.mkdir(parents=True)
    for unit in ("tideline.service", "tideline-standby.service"):
        (units / unit).write_text((unpacked / "systemd" / unit).read_text().replace("/usr/local/bin/", "/usr/bin/"))
    made = archive.parent / f"tideline_{version}_{processor}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", root, made], stdout=subprocess.DEVNULL, check=True)
    return made


def script(machine: Machine, debian: Path, tls: bool) -> str:
    """The blocks of the page as one script, which names each, and ends at the first that fails."""
    page = text("first-day")
    before, found, rest = page.partition(SECTION)
    section, _, after = rest.partition("\n## ")
    assert found and after.count(PLAIN) == 3, "first-day.md is built otherwise"
    if tls:
        assert f"`{TLS}`" in section and f"`{PLAIN}`" in section
        page = before + section + after.replace(PLAIN, TLS)
    else:
        page = before + after
    for written, here in ((r"tideline_[\d.]+_amd64\.deb", debian.name), (r"^0 3 \* \* \*", "* * * * *")):
        page, times = re.subn(written, here, page, flags=re.MULTILINE)
        assert times == 1, f"first-day.md has {written} {times} times"
    lines = []
    for number, (language, block) in enumerate(blocks(page)):
        assert language in ("", "toml"), f"first-day.md has a block of {language}"
        lines += [f"echo block {number}", f"cat >>/etc/tideline/config.toml <<'END'\n{block}END" if language else block]
    return "\n".join(lines).replace("NAME", machine.name)


def on_machine(engine: Engine, base: str, debian: Path, tls: bool) -> tuple[Machine, str]:
    """A machine on which the page was followed, and the address of its server."""
    machine = Machine(engine, base, "with-tls" if tls else "plain", mount="/mnt/other")
    engine.run("podman", "cp", debian, f"{machine.name}:/root/{debian.name}")
    machine.root("echo 'APT::Get::Assume-Yes yes;' >/etc/apt/apt.conf.d/yes")
    machine.root("touch --date '40 days ago' /mnt/other/tideline-2026-01-01.tar.zst")
    if tls:
        machine.root(CERTIFICATE.replace("NAME", machine.name))
    said = machine.root(script(machine, debian, tls))
    assert '"version"' in said, f"no figures of the server:\n{said}"
    return machine, f"https://{machine.name}:8080" if tls else PLAIN


def first_day(engine: Engine, base: str, debian: Path) -> None:
    with ThreadPoolExecutor() as pool:
        machines = list(pool.map(lambda tls: on_machine(engine, base, debian, tls), (False, True)))
    for machine, url in machines:
        assert machine.root("stat -c '%U %a' key metrics-key").split() == ["root", "600"] * 2
        assert "tideline-first.tar.zst" in machine.root("ls /mnt/other") and machine.root("ls /var/tmp/try || true").startswith("ls:")
        until(lambda: f"{machine.name}: cron takes a backup\n{machine.root('ls -l /mnt/other; journalctl --no-pager --unit cron')}",
              lambda: re.search(r"tideline-2\S+zst\n", machine.root("ls --ignore '*2026-01-01*' /mnt/other")))
        until("the old copy goes", lambda: "2026-01-01" not in machine.root("ls /mnt/other"))
        scraped = machine.root(f'curl -fsS -H "Authorization: Bearer $(head -1 metrics-key)" {url}/metrics')
        copied = re.search(r"^tideline_backup_newest_copied_timestamp_seconds (\S+)", scraped, re.MULTILINE)
        assert copied and float(copied[1]) > 0, "the server knows of no copy"
        reached = engine.try_run("podman", "exec", machine.name, "curl", "-sS", f"{url.replace('127.0.0.1', machine.name)}/healthz")
        assert (reached.returncode == 0) == url.startswith("https"), f"{machine.name}: {reached}"
    print("units: each block of the first day, without TLS and with that of the server; cron copies a backup and removes an old copy")
