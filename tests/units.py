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

from support.containers import Engine
from support.documents import ROOT, block, text
from support.expect import Impossible
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
        raise Impossible(f"the program was built for a newer system: {tried.strip()}")
    machine.shell(re.sub(r"tideline-[\d.]+-x86_64-linux", directory, block("install", "sha256sum --check")))
    machine.shell(block("install", "sudo install -D -m 644 systemd/tideline.sysusers"), where=f"{HOME}/{directory}")
    until(lambda: f"{machine.name} is ready\n{machine.log()}", lambda: "ready" in machine.asks("tideline health"))
    machine.shell(block("install", "(umask 077; tideline key new > key)"))
    machine.engine.run("podman", "exec", "--interactive", machine.name, "tee", "-a", "/etc/tideline/config.toml", input=SETTINGS)
    machine.shell("sudo systemctl restart tideline")
    machine.serves()


def backup(machine: Machine, to: str) -> None:
    machine.shell(f"tideline backup --url http://127.0.0.1:8080 --key-file key --to {to}")


def upgrade(begin: str = "sudo systemctl stop tideline", install: str = "touch replaced") -> str:
    """The block of the upgrade with a line that begins so; the program stays the same."""
    commands, package = block("upgrade", begin), "sudo apt install ./tideline_0.2.0_amd64.deb"
    assert commands.count(package) == 1, commands
    return commands.replace(package, install)


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
    commands = upgrade()
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
    # A copy of the directory, and back. The backup of the upgrade is there still.
    copies = [block("upgrade", f"sudo rsync -aH --delete --exclude=/{part}") for part in ("RUN", "backups")]
    backups = machine.root(f"ls {DATA}/backups")
    machine.shell(copies[0])
    machine.shell("sudo systemctl start tideline")
    machine.serves()
    machine.publishes("after the copy")
    machine.shell("sudo systemctl stop tideline")
    machine.shell(copies[1])
    machine.shell("sudo systemctl start tideline")
    machine.serves()
    assert machine.texts() == ["before the upgrade"] and machine.root(f"ls {DATA}/backups") == backups, machine.texts()
    assert machine.root("ls /mnt/other/upgrade").split() == left, "the copy removes backups"
    print("units: an upgrade ends at the first step that fails; a copy of the directory leads back")


def restored(machine: Machine, unit: str = "tideline") -> None:
    """In the place of the data of a mount point, and back again."""
    of_unit = lambda commands: re.sub(r"^(sudo systemctl \w+) tideline$", rf"\1 {unit}", commands, flags=re.MULTILINE)
    before = machine.texts()
    backup(machine, "tideline.tar.zst")
    machine.publishes("after the backup")
    after = machine.texts()
    commands = of_unit(block("backup", "sudo --user=tideline tideline restore --replace"))
    said = machine.shell(commands)
    machine.serves()
    assert machine.texts() == before, machine.texts()
    old = re.search(rf"the data before is in {DATA}/(old-[\dTZ-]+)", said)
    assert old, said
    back = of_unit(block("backup", "sudo --user=tideline bash -O extglob"))
    machine.shell(re.sub(r"old-20[\dTZ-]+", old[1], back))
    machine.serves()
    assert machine.texts() == after, machine.texts()
    # A restore that fails changes nothing.
    machine.shell("echo no backup >tideline.tar.zst")
    machine.asks(commands)
    machine.serves()
    assert machine.texts() == after, machine.texts()
    machine.root(f"rm -r {DATA}/old-* && rm {HOME}/tideline.tar.zst")
    print(f"units: a restore in place with the unit {unit}, and the way back; one that fails changes nothing")


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
    until("the standby listens", lambda: standby.call("GET", "/healthz")[0] == 200)
    standby.shell("tideline promote --url http://127.0.0.1:8080 --key-file key")
    standby.serves()
    assert standby.texts() == ["after the backup", "before the upgrade"], standby.texts()
    standby.shell("sudo systemctl restart tideline-standby")
    standby.serves()
    restored(standby, "tideline-standby")
    # Then by the unit of the other pages.
    standby.shell(block("standby", "sudo systemctl disable --now tideline-standby && "))
    standby.serves()
    restored(standby)
    before = standby.texts()
    standby.root("mkdir /mnt/other")
    standby.shell(upgrade())
    standby.serves()
    assert standby.texts() == before, standby.texts()
    print("units: a standby takes over, and is restored and upgraded as the server that it is")
    backups = server.root(f"ls {DATA}/backups")
    server.shell(block("standby", "sudo systemctl disable --now tideline &&\nsudo --user=tideline bash"))
    followed(standby, server)
    assert server.root(f"ls {DATA}/backups") == backups
    # The change that only it has, and a backup.
    old = server.root(f"ls -d {DATA}/old-*").strip()
    server.shell(f"sudo --user=tideline tideline export --data-dir {old} --content /tmp/content.ndjson")
    assert "only here" in server.root("cat /tmp/content.ndjson")
    name = backups.split()[0]
    server.shell(f"sudo --user=tideline tideline restore --from {DATA}/backups/{name} --data-dir /tmp/restored")
    print("units: the server before follows it, with its backups and the changes that only it had")


def switched(server: Machine, standby: Machine) -> None:
    """An upgrade with a standby: it takes over, and the server follows it without a copy."""
    server.publishes("before the switch")
    server.shell(block("upgrade", "sudo tideline backup --url"))
    restart = "sudo systemctl restart tideline-standby"
    assert f"&& {restart}`" in text("upgrade")
    standby.shell(upgrade("timeout 60 ", restart))
    standby.serves()
    standby.publishes("after the switch")
    server.shell(upgrade("sudo systemctl disable --now tideline && sudo apt"))
    followed(standby, server)
    assert "\ntideline_standby_copies_total 0\n" in server.call("GET", "/metrics")[1], "a copy was made"
    assert standby.texts()[:2] == ["after the switch", "before the switch"], standby.texts()
    print("units: an upgrade with a standby loses nothing and makes no copy")


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
        switched(standby, server)
        first_day(engine, base, debian or package(made))
    finally:
        engine.clean()


if __name__ == "__main__":
    debian = ("--package", "the Debian package of the first day [default: one of the program, without documentation]")
    sys.exit(main(__doc__, "the units under systemd", "units-test", debian, rehearse))
