#!/usr/bin/env python3
"""The units under a real systemd: two machines, each a container that boots, on a minimal Debian from its own packages. The
commands of docs/operate are run as they are there, by a user who may call sudo: the installation from an archive, keys, an
upgrade, a restore in place, a standby, what becomes of a server that was lost, and the first day. The data directory is a mount
point with a folder `lost+found`, as a device of its own is. Exits with 1 at the first difference, and with 0 where containers
cannot be had, unless `--required`."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from support.containers import Engine, Unavailable
from support.documents import ROOT, block
from support.machine import DATA, HOME, NETWORK, Machine
from support.rehearsal import main, until
from units_steps.first_day import first_day, package

PACKAGES = ["systemd", "sudo", "curl", "rsync", "zstd", "libssl3", "cron", "ca-certificates"]
SETTINGS = '\n[server]\nlisten = "0.0.0.0:8080"\n\n[auth]\nkeys_file = "/etc/tideline/keys"\n'


def archive(binary: Path, directory: Path) -> Path:
    """The archive of a release, with its checksum beside it. Returns it."""
    version = subprocess.run([binary, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()[1]
    top = directory / f"tideline-{version}-{os.uname().machine}-linux"
    shutil.rmtree(directory, ignore_errors=True)
    (top / "systemd").mkdir(parents=True)
    (top / "completions").mkdir()
    subprocess.run(["install", "-s", binary, top / "tideline"], check=True)
    subprocess.run([binary, "man", top / "man"], check=True)
    with (top / "completions" / "tideline.bash").open("w") as out:
        subprocess.run([binary, "completions", "bash"], stdout=out, check=True)
    for name in ("tideline.service", "tideline-standby.service", "tideline.sysusers"):
        shutil.copy(ROOT / "packaging" / name, top / "systemd")
    subprocess.run([ROOT / "packaging" / "documents", top], check=True)
    made = directory / f"{top.name}.tar.gz"
    subprocess.run(["tar", "czf", made, "--directory", directory, top.name], check=True)
    with (directory / "SHA256SUMS").open("w") as out:
        subprocess.run(["sha256sum", made.name], cwd=directory, stdout=out, check=True)
    return made


def installed(machine: Machine, made: Path) -> None:
    """From the archive, with a key."""
    for path in (made, made.parent / "SHA256SUMS"):
        machine.engine.run("podman", "cp", path, f"{machine.name}:{HOME}/{path.name}")
    directory = made.name.removesuffix(".tar.gz")
    tried = machine.asks(f"tar xzf {made.name} && {directory}/tideline --version")
    if "GLIBC" in tried:
        raise Unavailable(f"the program was built for a newer system: {tried.strip()}")
    machine.shell(re.sub(r"tideline-[\d.]+-x86_64-linux", directory, block("install", "sha256sum --check")))
    machine.shell(block("install", "sudo install -D -m 644 systemd/tideline.sysusers"), where=f"{HOME}/{directory}")
    until(lambda: f"{machine.name} is not ready\n{machine.log()}", lambda: "ready" in machine.asks("tideline health"))
    machine.shell(block("install", "(umask 077; tideline key new > key)"))
    machine.engine.run("podman", "exec", "--interactive", machine.name, "tee", "-a", "/etc/tideline/config.toml", input=SETTINGS)
    machine.shell("sudo systemctl restart tideline")
    machine.serves()


def backup(machine: Machine, to: str) -> None:
    machine.shell(f"tideline backup --url http://127.0.0.1:8080 --key-file key --to {to}")


def upgraded(machine: Machine) -> None:
    """The upgrade ends at the first step that fails, and its backup and its copy lead back. Its backup is in the directory of
    backups that the owner has chosen, too."""
    for commands in ("install -d -o tideline -m 700 /mnt/own", "cp /etc/tideline/config.toml settings",
                     "printf '\\n[backup]\\ndir = \"/mnt/own\"\\n' >>/etc/tideline/config.toml",
                     "mkdir /etc/systemd/system/tideline.service.d",
                     "printf '[Service]\\nReadWritePaths=/mnt/own\\n' >/etc/systemd/system/tideline.service.d/own.conf",
                     "systemctl daemon-reload && systemctl restart tideline"):
        machine.root(commands)
    machine.serves()
    commands = block("upgrade", "sudo systemctl stop tideline").replace("sudo apt install ./tideline_0.2.0_amd64.deb", "touch replaced")
    assert commands.count("touch replaced") == 1, commands
    machine.root("mkdir /mnt/other")
    machine.publishes("before the upgrade")
    machine.shell(commands)
    machine.serves()
    assert machine.root("stat -c '%U %a %F' /mnt/other/upgrade/*.zst").strip() == "tideline 600 regular file"
    # The backup, and the note of the newest copy.
    assert len(machine.root("ls /mnt/own").split()) == 2, "backup.dir does not count"
    machine.root("cp settings /etc/tideline/config.toml && systemctl restart tideline")
    machine.serves()
    machine.shell("tideline backup --url http://127.0.0.1:8080 --key-file key")
    # The backup of this day is there, so this one fails.
    machine.shell("rm replaced")
    machine.asks(commands)
    left = machine.root("ls /mnt/other/upgrade").split()
    assert machine.root("systemctl is-active tideline || true").strip() == "inactive", "the server runs after a backup that failed"
    assert len(left) == 1 and "replaced" not in machine.shell("ls"), f"after a backup that failed: {left}"
    path = f"/mnt/other/upgrade/{left[0]}"
    back = block("backup", "sudo --user=tideline tideline restore --replace").replace(" < tideline.tar.zst", "")
    machine.shell(back.replace("--from -", f"--from {path}"))
    machine.serves()
    assert machine.texts() == ["before the upgrade"], machine.texts()
    machine.root(f"systemctl stop tideline && rm -r {DATA}/old-*")
    # A copy of the directory, and back.
    copies = re.findall(r"sudo rsync .*/mnt/other/upgrade/.*", "\n".join(block("upgrade", f"sudo rsync -aH --delete --exclude=/{part}")
                                                                         for part in ("RUN", "backups")))
    assert len(copies) == 2, copies
    backups = machine.root(f"ls {DATA}/backups")
    machine.shell(copies[0].replace("/mnt/other/upgrade", "/mnt/other/copy"))
    machine.shell("sudo systemctl start tideline")
    machine.serves()
    machine.publishes("after the copy")
    machine.shell("sudo systemctl stop tideline")
    machine.shell(copies[1].replace("/mnt/other/upgrade", "/mnt/other/copy"))
    machine.shell("sudo systemctl start tideline")
    machine.serves()
    assert machine.texts() == ["before the upgrade"] and machine.root(f"ls {DATA}/backups") == backups, machine.texts()
    print("units: an upgrade ends at the first step that fails; a copy of the directory leads back")


def restored(machine: Machine) -> None:
    """In the place of the data of a mount point, and back again."""
    backup(machine, "tideline.tar.zst")
    machine.publishes("after the backup")
    commands = block("backup", "sudo --user=tideline tideline restore --replace")
    said = machine.shell(commands)
    machine.serves()
    assert machine.texts() == ["before the upgrade"], machine.texts()
    old = re.search(rf"the data before is in {DATA}/(old-[\dTZ-]+)", said)
    assert old, said
    machine.shell(re.sub(r"old-20[\dTZ-]+", old[1], block("backup", "sudo --user=tideline bash -O extglob")))
    machine.serves()
    assert machine.texts() == ["after the backup", "before the upgrade"], machine.texts()
    # A restore that fails changes nothing.
    machine.shell("echo no backup >tideline.tar.zst")
    machine.asks(commands)
    machine.serves()
    assert machine.texts() == ["after the backup", "before the upgrade"], machine.texts()
    machine.root(f"rm -r {DATA}/old-*")
    print("units: a restore in place on a mount point, and the way back; one that fails changes nothing")


def followed(server: Machine, standby: Machine) -> None:
    """The standby unit, as its page has it."""
    # "With the same keys."
    for name in (f"{HOME}/key", "/etc/tideline/keys"):
        standby.engine.run("podman", "exec", "--interactive", standby.name, "tee", name, input=server.root(f"cat {name}"))
    begin = block("standby", "sudo install -m 644 systemd/tideline-standby.service")
    assert begin.count("https://other.example.org:8080") == 1, begin
    directory = standby.shell("ls -d tideline-*-linux").strip()
    standby.shell("cp key " + directory)
    standby.shell(begin.replace("https://other.example.org:8080", f"http://{server.name}:8080"), where=f"{HOME}/{directory}")
    standby.follows()


def lost(server: Machine, standby: Machine) -> None:
    """The standby takes over, and the server before becomes its standby. Nothing of its data is lost."""
    standby.shell("sudo systemctl stop tideline-standby")
    server.publishes("only here")
    server.root("systemctl kill --signal KILL tideline; systemctl disable --now tideline")
    standby.shell("sudo systemctl start tideline-standby")
    until("the standby does not listen", lambda: standby.call("GET", "/healthz")[0] == 200)
    standby.shell("tideline promote --url http://127.0.0.1:8080 --key-file key")
    standby.serves()
    assert standby.texts() == ["after the backup", "before the upgrade"], standby.texts()
    standby.shell("sudo systemctl restart tideline-standby")
    standby.serves()
    backups = server.root(f"ls {DATA}/backups")
    server.shell(block("standby", "sudo systemctl disable --now tideline\nsudo --user=tideline bash"))
    followed(standby, server)
    assert server.root(f"ls {DATA}/backups") == backups
    # The change that only it has, and a backup.
    old = server.root(f"ls -d {DATA}/old-*").strip()
    server.shell(f"sudo --user=tideline tideline export --data-dir {old} --content /tmp/content.ndjson")
    assert "only here" in server.root("cat /tmp/content.ndjson")
    name = backups.split()[0]
    server.shell(f"sudo --user=tideline tideline restore --from {DATA}/backups/{name} --data-dir /tmp/restored")
    print("units: the standby takes over; the server before follows it, with its backups and the changes that only it had")


def rehearse(binary: Path, debian: Path | None, home: Path, _required: bool) -> None:
    engine = Engine(home)
    engine.clean()
    try:
        got = engine.base(PACKAGES)
        print(f"base: Debian bookworm with systemd, {got}", flush=True)
        made = archive(binary, home / "archive")
        engine.run("podman", "network", "create", NETWORK)
        base = f"localhost/base:{'-'.join(['bookworm', *PACKAGES])}"
        server = Machine(engine, base, "first")
        installed(server, made)
        assert server.call("PUT", "/v1/users/2/following/1")[0] == 200
        print("units: the server is installed as the page has it, and serves with a key")
        upgraded(server)
        restored(server)
        standby = Machine(engine, base, "second")
        installed(standby, made)
        standby.root(f"systemctl stop tideline && find {DATA} -mindepth 1 -not -name lost+found -delete")
        followed(server, standby)
        print("units: the standby unit follows")
        lost(server, standby)
        first_day(engine, base, debian or package(made))
    finally:
        engine.clean()


if __name__ == "__main__":
    debian = ("--package", "the Debian package of the first day [default: one of the program, without documentation]")
    sys.exit(main(__doc__, "the units under systemd", "units-test", debian, rehearse))
