"""compose.yaml with podman-compose: the commands of the documentation, nights of some seconds, backups and copies that fail,
and the restore, also with a wrong name, back again, and over a damaged data directory."""

import re
import shutil
import time
from pathlib import Path

from image_steps.alone import free_port, healthy, output, reached
from image_steps.documents import ROOT, block, command, local
from support.client import Client
from support.containers import Engine

SERVER, JOB = "tideline_tideline_1", "tideline_backup_1"
PATIENCE = 60.0
NIGHT = 4
# What is other than in compose.yaml: the length of a night and of the wait after a failure, in seconds, and the port. And a
# limit that podman, asked for another one, would set higher than some sessions may.
OTHER = [("86400", str(NIGHT), 3), ("sleep 600", "sleep 1", 1), ("127.0.0.1:8080:", "127.0.0.1:{port}:", 1),
         ("nofile: 16384\n", "nofile: 16384\n      nproc: 4096\n", 1)]
# Of a container that was not to fail. With 125 podman refuses to make one that is there; it is then started.
FAILED = re.compile(r"^exit code: (?!0$|125$)", re.MULTILINE)
OLD = [f"tideline-202601{day:02}T030000.000Z.tar.zst" for day in range(1, 10)]
UNFINISHED = "tideline-20260101T040000.000Z.tar.zst.part"
# Files of others in the volume, which stay.
FOREIGN = ["before-the-move.tar.zst", "tideline-keep.tar.zst", "upload.part"]


def until(what: str, holds):
    """What `holds` returns, when it is something."""
    begin = time.monotonic()
    while not (found := holds()):
        assert time.monotonic() - begin < PATIENCE, what
        time.sleep(0.2)
    return found


def lay_out(directory: Path, port: int) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    text = (ROOT / "compose.yaml").read_text()
    for before, after, times in OTHER:
        assert text.count(before) == times, f"compose.yaml has {before} {text.count(before)} times"
        text = text.replace(before, after.format(port=port))
    (directory / "compose.yaml").write_text(text)


def agrees() -> None:
    """The job of the cluster is the one that is tried here."""
    begin, end = "    volumes: [\"backups:/backups\"]\n", "    init: true\n"
    one, other = ((ROOT / name).read_text().partition(begin)[2].partition(end)[0] for name in ("compose.yaml", "compose.cluster.yaml"))
    assert one and one.replace("http://tideline:", "http://tideline-3:") == other, "the jobs of the two compose files differ"


class Composed:
    """The services of compose.yaml in a directory."""

    def __init__(self, engine: Engine, directory: Path, port: int):
        self.engine = engine
        self.directory = directory
        self.port = port

    def shell(self, commands: str, good: bool = True) -> str:
        """What commands of the documentation print. podman-compose hides the exit codes of those that it runs."""
        answer = self.engine.try_run("bash", "-euo", "pipefail", "-c", local(commands), cwd=self.directory)
        said = answer.stdout + answer.stderr
        succeeded = answer.returncode == 0 and not FAILED.search(said)
        assert succeeded == good, f"{commands}\n{said[-3000:]}"
        return said

    def reached(self) -> Client:
        key = (self.directory / "tideline.key").read_text().strip()
        return reached(self.engine, SERVER, Client(("127.0.0.1", self.port), key=key))

    def files(self) -> list[str]:
        """All files of the volume with the copies, sorted."""
        return self.engine.run("podman", "exec", JOB, "ls", "/backups").split()

    def copies(self) -> list[str]:
        """Whole copies of backups, oldest first."""
        return [name for name in self.files() if re.fullmatch(r"tideline-\d.*\.zst", name)]

    def next_copy(self) -> str:
        """The copy of a backup that begins after this call."""
        begin = time.strftime("tideline-%Y%m%dT%H%M%S", time.gmtime())
        # One of this second may have begun before.
        later = until("no night makes a copy", lambda: [name for name in self.copies() if name.partition(".")[0] > begin])
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
    engine.run("podman", "exec", JOB, "sh", "-c", f"cd /backups && touch {' '.join(OLD)} {UNFINISHED} {' '.join(FOREIGN)}")
    services.next_copy()
    until("old copies stay", lambda: len(services.copies()) == 7 and UNFINISHED not in services.files())
    names = set(services.files())
    assert not names & set(OLD[:3]) and names.issuperset(FOREIGN), names
    assert healthy(engine, JOB), output(engine, JOB)
    volumes = engine.run("podman", "volume", "ls", "--quiet").split()
    assert sorted(volumes) == ["tideline_backups", "tideline_data"], f"volumes: {volumes}"
    print("compose: a copy each night, seven of them stay, and no volume without a name")


def failed_night(services: Composed) -> None:
    """A backup that fails shows in the health, also after a restart, is tried again, and a good one ends it."""
    engine = services.engine
    engine.run("podman", "stop", "--time", "30", SERVER)
    until("a failed night does not show", lambda: not healthy(engine, JOB))
    engine.run("podman", "restart", "--time", "2", JOB)
    assert not healthy(engine, JOB), "after a restart of the job a failed night does not show"
    engine.run("podman", "start", SERVER)
    services.reached()
    until("after a failed night nothing is tried again", lambda: healthy(engine, JOB))
    print("compose: a failed night shows in the health of the job until the next try is good")


def failed_copies(services: Composed) -> None:
    """A copy that fails is tried again, but no further backup is taken in the same night."""
    engine = services.engine
    engine.run("podman", "exec", JOB, "chmod", "500", "/backups")
    assert not healthy(engine, JOB), "a volume that cannot be written to does not show"
    until("no copy fails there", lambda: engine.try_run("podman", "exec", JOB, "test", "-e", "/tmp/failed").returncode == 0)
    begin, before = time.monotonic(), services.backups()
    time.sleep(2 * NIGHT)
    taken = services.backups() - before
    most = (time.monotonic() - begin) / NIGHT + 1
    assert len(taken) <= most, f"{len(taken)} backups while copies failed, not at most {most:.1f}"
    engine.run("podman", "exec", JOB, "chmod", "700", "/backups")
    until("a copy that failed is not tried again", lambda: healthy(engine, JOB))
    print("compose: while copies fail, each night still takes one backup only")


def restored(services: Composed) -> None:
    """The restore of the documentation, word by word."""
    engine, client = services.engine, services.reached()
    assert client.call("POST", "/v1/content", {"author_id": 1, "text": "before"}).status == 201
    name = services.next_copy()
    assert client.call("POST", "/v1/content", {"author_id": 1, "text": "after"}).status == 201
    assert services.texts() == ["after", "before"]
    commands = block("docker compose stop")
    assert commands.count("NAME") == 1, commands
    services.shell(commands.replace("NAME", "tideline-of-no-night.tar.zst"), good=False)
    assert services.texts() == ["after", "before"], f"after the restore of nothing: {services.texts()}"
    listed = services.shell(commands.replace("NAME", name))
    assert name in listed, listed
    assert services.texts() == ["before"], f"after the restore: {services.texts()}"
    old = re.search(r"the old data is in (/data/old-[\dT-]+)", listed)
    assert old, listed
    # The way back, in the place of the third line.
    lines = commands.splitlines()
    lines[2] = re.sub(r"/data/old-\S+", old[1], command("--entrypoint mv"))
    services.shell("\n".join(lines))
    assert services.texts() == ["after", "before"], f"after the way back: {services.texts()}"
    engine.run("podman", "exec", SERVER, "sh", "-c", "echo damaged >/data/FORMAT")
    services.shell(commands.replace("NAME", name))
    assert services.texts() == ["before"], f"after the restore over a damaged directory: {services.texts()}"
    print("compose: the restore of the documentation brings the data of the backup back, and the way back that before it; "
          "without a backup it changes nothing")


def all_steps(engine: Engine, directory: Path) -> None:
    agrees()
    port = free_port()
    lay_out(directory, port)
    services = Composed(engine, directory, port)
    begin = block("docker compose build")
    # Here the image is there.
    services.shell(begin.removeprefix("docker compose build\n"))
    assert services.reached().call("PUT", "/v1/users/2/following/1").status == 200
    nights(services)
    failed_night(services)
    failed_copies(services)
    restored(services)
    services.shell("docker compose down --volumes")
