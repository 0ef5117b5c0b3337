"""compose.yaml with podman-compose: the commands of the documentation, nights of some seconds, backups and copies that fail,
the restore, also with a wrong name, back again, and over a damaged data directory, the upgrade, and compose.standby.yaml: a
switch to a standby, which then takes backups, one back, and a server that was lost."""

import re
import shutil
import time
from pathlib import Path

from image_steps.alone import OWNER, healthy, output, reached
from support.client import Client
from support.containers import Engine
from support.documents import ROOT, block, command, composed
from support.rehearsal import until
from support.server import free_port

PROJECT = "tideline"
NIGHT = 4
# What is other than in compose.yaml: the length of a night and of the wait after a failure, in seconds, and the port. And a
# limit that podman, asked for another one, would set higher than some sessions may.
OTHER = [("86400", str(NIGHT), 3), ("sleep 600", "sleep 1", 1), ("127.0.0.1:8080:", "127.0.0.1:{port}:", 1),
         ("nofile: 16384\n", "nofile: 16384\n      nproc: 4096\n", 1)]
OLD = [f"tideline-202601{day:02}T030000.000Z.tar.zst" for day in range(1, 10)]
UNFINISHED = "tideline-20260101T040000.000Z.tar.zst.part"
# Files of others in the volume, which stay.
FOREIGN = ["before-the-move.tar.zst", "tideline-keep.tar.zst", "upload.part"]


def lay_out(directory: Path, port: int, project: str) -> None:
    """The files of an archive, without what an image is built of."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(ROOT / "compose.standby.yaml", directory)
    text = (ROOT / "compose.yaml").read_text()
    for before, after, times in OTHER:
        assert text.count(before) == times, f"compose.yaml has {before} {text.count(before)} times"
        text = text.replace(before, after.format(port=port))
    text = text.replace(f"name: {PROJECT}", f"name: {project}")
    (directory / "compose.yaml").write_text(text)


def agrees() -> None:
    """The job of the cluster is the one that is tried here."""
    begin, end = "    volumes: [\"backups:/backups\"]\n", "    init: true\n"
    one, other = ((ROOT / name).read_text().partition(begin)[2].partition(end)[0] for name in ("compose.yaml", "compose.cluster.yaml"))
    one = one.replace("http://tideline:", "http://tideline-3:").replace(" A standby takes none (compose.standby.yaml).", "")
    one = re.sub(r"\n *test ! -e /server/STANDBY \|\| continue;", "", one)
    assert one and one == other, "the jobs of the two compose files differ"


class Composed:
    """The services of compose.yaml in a directory with the name of the project."""

    def __init__(self, engine: Engine, directory: Path):
        self.engine = engine
        self.directory = directory
        self.port = free_port()
        self.server, self.job = f"{directory.name}_tideline_1", f"{directory.name}_backup_1"
        lay_out(directory, self.port, directory.name)

    def shell(self, commands: str, good: bool = True) -> str:
        """What commands of the documentation print."""
        return composed(self.engine, self.directory, commands, good)

    def reached(self) -> Client:
        return reached(self.engine, self.server, self.client())

    def client(self) -> Client:
        return Client(("127.0.0.1", self.port), key=(self.directory / "tideline.key").read_text().strip())

    def answers(self) -> bool:
        try:
            return self.client().exchange("GET", "/healthz")[0] == 200
        except OSError:
            return False

    def files(self) -> list[str]:
        """All files of the volume with the copies, sorted."""
        return self.engine.run("podman", "exec", self.job, "ls", "/backups").split()

    def copies(self) -> list[str]:
        """Whole copies of backups, oldest first."""
        return [name for name in self.files() if re.fullmatch(r"tideline-\d.*\.zst", name)]

    def next_copy(self) -> str:
        """The copy of a backup that begins after this call."""
        begin = time.strftime("tideline-%Y%m%dT%H%M%S", time.gmtime())
        # One of this second may have begun before.
        later = until("a night makes a copy", lambda: [name for name in self.copies() if name.partition(".")[0] > begin])
        return later[0]

    def backups(self) -> set[str]:
        """The backups in the data directory."""
        answer = self.reached().call("GET", "/v1/admin/backups")
        assert answer.status == 200, answer
        return {item["name"] for item in answer.body["items"]}

    def texts(self) -> list[str]:
        page = self.reached().call("GET", "/v1/users/2/timeline")
        assert page.status == 200, page
        return [item["text"] for item in page.body["items"]]


def nights(services: Composed) -> None:
    """A copy each night, of which seven stay, in a volume of its own."""
    engine = services.engine
    engine.run("podman", "exec", services.job, "sh", "-c", f"cd /backups && touch {' '.join(OLD)} {UNFINISHED} {' '.join(FOREIGN)}")
    services.next_copy()
    until("old copies go", lambda: len(services.copies()) == 7 and UNFINISHED not in services.files())
    names = set(services.files())
    assert not names & set(OLD[:3]) and names.issuperset(FOREIGN), names
    assert healthy(engine, services.job), output(engine, services.job)
    volumes = engine.run("podman", "volume", "ls", "--quiet").split()
    assert sorted(volumes) == ["tideline_backups", "tideline_data"], f"volumes: {volumes}"
    print("compose: a copy each night, seven of them stay, and no volume without a name")


def failed_night(services: Composed) -> None:
    """A backup that fails shows in the health, also after a restart, is tried again, and a good one ends it."""
    engine = services.engine
    engine.run("podman", "stop", "--time", "30", services.server)
    until("a failed night shows", lambda: not healthy(engine, services.job))
    engine.run("podman", "restart", "--time", "2", services.job)
    assert not healthy(engine, services.job), "after a restart of the job a failed night does not show"
    engine.run("podman", "start", services.server)
    services.reached()
    until("after a failed night all is tried again", lambda: healthy(engine, services.job))
    print("compose: a failed night shows in the health of the job until the next try is good")


def failed_copies(services: Composed) -> None:
    """A copy that fails is tried again, but no further backup is taken in the same night."""
    engine = services.engine
    engine.run("podman", "exec", services.job, "chmod", "500", "/backups")
    assert not healthy(engine, services.job), "a volume that cannot be written to does not show"
    until("a copy fails there", lambda: engine.try_run("podman", "exec", services.job, "test", "-e", "/tmp/failed").returncode == 0)
    begin, before = time.monotonic(), services.backups()
    time.sleep(2 * NIGHT)
    taken = services.backups() - before
    most = (time.monotonic() - begin) / NIGHT + 1
    assert len(taken) <= most, f"{len(taken)} backups while copies failed, not at most {most:.1f}"
    engine.run("podman", "exec", services.job, "chmod", "700", "/backups")
    until("a copy that failed is tried again", lambda: healthy(engine, services.job))
    print("compose: while copies fail, each night still takes one backup only")


def restored(services: Composed) -> None:
    """The restore of the documentation, word by word."""
    engine, client = services.engine, services.reached()
    assert client.call("POST", "/v1/content", {"author_id": 1, "text": "before"}).status == 201
    name = services.next_copy()
    assert client.call("POST", "/v1/content", {"author_id": 1, "text": "after"}).status == 201
    assert services.texts() == ["after", "before"]
    commands = block("backup", "docker compose run --rm --no-deps tideline restore")
    assert commands.count("NAME") == 1, commands
    services.shell(commands.replace("NAME", "tideline-of-no-night.tar.zst"), good=False)
    assert services.texts() == ["after", "before"], f"after the restore of nothing: {services.texts()}"
    listed = services.shell(commands.replace("NAME", name))
    assert name in listed, listed
    assert services.texts() == ["before"], f"after the restore: {services.texts()}"
    old = re.search(r"the data before is in (/data/old-[\dTZ-]+)", listed)
    assert old, listed
    # The way back, in the place of the third line.
    lines = commands.splitlines()
    lines[2] = re.sub(r"old-20[\dTZ-]+", Path(old[1]).name, command("backup", "new=old-restored-"))
    services.shell("\n".join(lines))
    assert services.texts() == ["after", "before"], f"after the way back: {services.texts()}"
    engine.run("podman", "exec", services.server, "sh", "-c", "echo damaged >/data/FORMAT")
    services.shell(commands.replace("NAME", name))
    assert services.texts() == ["before"], f"after the restore over a damaged directory: {services.texts()}"
    aside = engine.run("podman", "exec", services.server, "sh", "-c", "ls -d /data/old-restored-*").split()
    assert len(aside) == 1, aside
    services.shell(re.sub(r"old-20[\dTZ-]+", Path(aside[0]).name, command("backup", "--entrypoint rm")))
    print("compose: the restore of the documentation brings the data of the backup back, and the way back that before it; "
          "without a backup it changes nothing")


def upgraded(services: Composed) -> None:
    """The upgrade of the documentation and its way back: nothing follows a step that fails, and the backup is whole."""
    engine, other = services.engine, services.directory / "mnt"
    (services.directory / "Dockerfile.next").write_text("FROM localhost/tideline\nLABEL next=yes\n")
    engine.build("localhost/tideline:next", services.directory / "Dockerfile.next", services.directory, services.directory)
    image = lambda tag: engine.run("podman", "image", "inspect", "--format", "{{.Id}}", f"localhost/tideline:{tag}").strip()
    first, second = image("latest"), image("next")
    assert first != second
    # Here the image is there.
    commands, built = block("upgrade", "docker tag tideline:latest tideline:before"), "git pull && docker build --tag tideline:next . &&\n"
    assert commands.count(built) == 1 and commands.count(" tideline backup ") == 1, commands
    commands = commands.replace(built, "").replace("/mnt/other", str(other))
    stopped = lambda: engine.try_run("podman", "container", "inspect", "--format", "{{.State.Running}}", services.server).stdout.strip() != "true"
    # Without a backup nothing follows.
    services.shell(commands.replace(" tideline backup ", " tideline backup --data-dir /data/none "), good=False)
    assert stopped() and image("latest") == first and not list((other / "upgrade").iterdir())
    # Nor is what a backup that was killed has left in the way.
    left = other / "upgrade" / time.strftime("%Y-%m-%d.tar.zst.part")
    left.touch(mode=0o600)
    shutil.chown(left, int(OWNER))
    services.shell(commands)
    assert services.texts() == ["before"]
    assert (image("before"), image("latest")) == (first, second)
    assert services.reached().call("POST", "/v1/content", {"author_id": 1, "text": "after the upgrade"}).status == 201
    copies = list((other / "upgrade").iterdir())
    assert len(copies) == 1, copies
    kept = (copy := copies[0]).read_bytes()
    assert copy.suffix == ".zst" and copy.stat().st_mode & 0o777 == 0o600
    # The copy of the same day is there. The way back stays.
    services.shell(commands, good=False)
    assert stopped() and copy.read_bytes() == kept
    assert (image("before"), image("latest")) == (first, second)
    back = block("upgrade", "docker tag tideline:before tideline").replace("/mnt/other", str(other))
    services.shell(re.sub(r"/upgrade/[\d-]+\.tar\.zst", f"/upgrade/{copy.name}", back))
    assert services.texts() == ["before"] and image("latest") == first
    print("compose: the upgrade of the documentation ends at the first step that fails; the way back restores its backup")


def stands_by(standby: Composed, server: Composed, commands: str) -> None:
    """The standby follows the server, after the commands that begin it."""
    standby.shell(commands.replace("https://other.example.org:8080", f"http://{server.server}:8080"))
    # As a network between two machines.
    standby.engine.run("podman", "network", "connect", f"{server.directory.name}_default", standby.server)
    # A start anew has the same name.
    standby.engine.run("podman", "restart", "--time", "10", standby.server)
    known = lambda: server.client().call("GET", "/v1/admin/stats").body["standbys"]
    until("the standby follows", lambda: any("following_since" in one and one["behind_rows"] == 0 for one in known()))
    assert [one["name"] for one in known()] == ["standby"], known()


def switched(first: Composed, second: Composed) -> None:
    """A standby takes over, takes backups and is restored; the server before follows it on its own volume, and takes over again."""
    engine = first.engine
    shutil.copy(first.directory / "tideline.key", second.directory)
    for server, standby in ((first, second), (second, first)):
        if standby is first:
            # Not `stop`: podman-compose starts a container again whose command is another one.
            standby.shell("docker compose down")
        stands_by(standby, server, block("standby", "echo 'COMPOSE_FILE"))
        before = standby.files()
        time.sleep(2 * NIGHT)
        assert healthy(engine, standby.server) and healthy(engine, standby.job), output(engine, standby.job)
        assert standby.files() == before, f"the standby takes backups: {standby.files()}"
        standby.shell(command("standby", "exec tideline tideline promote").replace(" promote ", " promote --switch "))
        assert standby.texts() == ["before"]
        name = standby.next_copy()
    # It is restored as the server that it is.
    assert first.reached().call("POST", "/v1/content", {"author_id": 1, "text": "after"}).status == 201
    first.shell(block("backup", "docker compose run --rm --no-deps tideline restore").replace("NAME", name))
    assert first.texts() == ["before"]
    volumes = engine.run("podman", "volume", "ls", "--quiet").split()
    assert sorted(volumes) == ["other_backups", "other_data", "tideline_backups", "tideline_data"], f"volumes: {volumes}"
    print("compose: a standby takes over and takes backups of its own, and the server before does so again on its volume")


def lost(server: Composed, standby: Composed) -> None:
    """A standby takes over from a server that was killed, and that server follows it. What only its volumes have stays there: a
    change, backups and copies of them."""
    engine = server.engine
    standby.shell("docker compose down")
    stands_by(standby, server, block("standby", "echo 'COMPOSE_FILE"))
    engine.run("podman", "stop", "--time", "10", standby.server)
    assert server.reached().call("POST", "/v1/content", {"author_id": 1, "text": "only here"}).status == 201
    engine.run("podman", "stop", "--time", "0", server.job, server.server)
    engine.run("podman", "start", standby.server)
    until("the standby answers", standby.answers)
    standby.shell(command("standby", "exec tideline tideline promote"))
    assert standby.texts() == ["before"]
    # Its machine is there again, and it runs as compose.yaml has it.
    (server.directory / ".env").unlink()
    server.shell("docker compose down && docker compose up -d")
    # The newest ones: nights go on until it is stopped.
    copy, backup = server.next_copy(), max(server.backups())
    server.shell(block("standby", "docker compose run --rm --no-deps --entrypoint bash"))
    server.shell("docker compose down")
    stands_by(server, standby, block("standby", "echo 'COMPOSE_FILE"))
    inside = lambda words: engine.run("podman", "exec", server.server, "bash", "-ec", words)
    assert {copy, *FOREIGN} <= set(server.files()), server.files()
    assert backup in inside("ls /data/backups").split(), inside("ls /data/backups")
    assert "only here" in inside("tideline export --data-dir $(ls -d /data/old-* | tail -1) --content -"), inside("ls /data")
    print("compose: the server that was lost follows the new one, with its backups and the changes that only it had")


def all_steps(engine: Engine, home: Path) -> None:
    agrees()
    services = Composed(engine, home / PROJECT)
    begin = block("install", "docker compose build")
    # Here the image is there.
    services.shell(begin.removeprefix("docker compose build\n"))
    assert services.reached().call("PUT", "/v1/users/2/following/1").status == 200
    nights(services)
    failed_night(services)
    failed_copies(services)
    restored(services)
    upgraded(services)
    other = Composed(engine, home / "other")
    switched(services, other)
    lost(services, other)
    for directory in ("other", PROJECT):
        engine.try_run("podman-compose", "down", "--volumes", cwd=home / directory)
