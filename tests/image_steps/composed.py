"""compose.yaml with podman-compose: the commands of the documentation, nights of some seconds, a backup that fails, and the
restore, over a damaged data directory."""

import re
import shutil
import time
from pathlib import Path

from image_steps.alone import free_port, healthy, output, reached
from image_steps.documents import ROOT, block, local
from support.client import Client
from support.containers import Engine

SERVER, JOB = "tideline_tideline_1", "tideline_backup_1"
PATIENCE = 60.0
# What is other than in compose.yaml: the length of a night and of the wait after a failure, in seconds, and the port. And a
# limit that podman, asked for another one, would set higher than some sessions may.
OTHER = [("86400", "4", 2), ("again=600", "again=1", 1), ("127.0.0.1:8080:", "127.0.0.1:{port}:", 1),
         ("nofile: 16384\n", "nofile: 16384\n      nproc: 4096\n", 1)]
# Of a container that was not to fail. With 125 podman refuses to make one that is there; it is then started.
FAILED = re.compile(r"^exit code: (?!0$|125$)", re.MULTILINE)
OLD = [f"tideline-2026-01-{day:02}T030000.tar.zst" for day in range(1, 10)]


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

    def shell(self, commands: str) -> str:
        """What commands of the documentation print. podman-compose hides the exit codes of those that it runs."""
        answer = self.engine.try_run("bash", "-euo", "pipefail", "-c", local(commands), cwd=self.directory)
        said = answer.stdout + answer.stderr
        assert answer.returncode == 0 and not FAILED.search(said), f"{commands}\n{said[-3000:]}"
        return said

    def reached(self) -> Client:
        key = (self.directory / "tideline.key").read_text().strip()
        return reached(self.engine, SERVER, Client(("127.0.0.1", self.port), key=key))

    def copies(self) -> list[str]:
        """Whole copies of backups, oldest first."""
        names = self.engine.run("podman", "exec", JOB, "ls", "/backups").split()
        return [name for name in names if not name.endswith(".part")]

    def next_copy(self) -> str:
        """The copy of a backup that begins after this call."""
        begin = time.strftime("tideline-%Y-%m-%dT%H%M%S", time.gmtime())
        # One of this second may have begun before.
        later = until("no night makes a copy", lambda: [name for name in self.copies() if name.partition(".")[0] > begin])
        return later[0]

    def texts(self) -> list[str]:
        page = self.reached().call("GET", "/v1/users/2/timeline")
        assert page.status == 200, page
        return [item["text"] for item in page.body["items"]]


def nights(services: Composed) -> None:
    """A copy each night, of which seven stay, in a volume of its own."""
    engine = services.engine
    engine.run("podman", "exec", JOB, "sh", "-c", f"cd /backups && touch {' '.join(OLD)} tideline-2026-01-01T040000.tar.zst.part")
    services.next_copy()
    until("old copies stay", lambda: len(services.copies()) == 7)
    names = engine.run("podman", "exec", JOB, "ls", "/backups").split()
    assert not set(OLD[:3]) & set(names) and len(names) <= 8, names
    assert healthy(engine, JOB), output(engine, JOB)
    volumes = engine.run("podman", "volume", "ls", "--quiet").split()
    assert sorted(volumes) == ["tideline_backups", "tideline_data"], f"volumes: {volumes}"
    print("compose: a copy each night, seven of them stay, and no volume without a name")


def failed_night(services: Composed) -> None:
    """A backup that fails shows in the health, is tried again, and a good one ends it."""
    engine = services.engine
    engine.run("podman", "stop", "--time", "30", SERVER)
    until("a failed night does not show", lambda: not healthy(engine, JOB))
    engine.run("podman", "start", SERVER)
    services.reached()
    until("after a failed night nothing is tried again", lambda: healthy(engine, JOB))
    print("compose: a failed night shows in the health of the job until the next try is good")


def restored(services: Composed) -> None:
    """The restore of the documentation, word by word, over a damaged data directory."""
    engine, client = services.engine, services.reached()
    assert client.call("POST", "/v1/content", {"author_id": 1, "text": "before"}).status == 201
    name = services.next_copy()
    assert client.call("POST", "/v1/content", {"author_id": 1, "text": "after"}).status == 201
    assert services.texts() == ["after", "before"]
    engine.run("podman", "exec", SERVER, "sh", "-c", "echo damaged >/data/FORMAT")
    commands = block("docker compose stop")
    assert commands.count("NAME") == 1, commands
    listed = services.shell(commands.replace("NAME", name))
    assert name in listed, listed
    assert services.texts() == ["before"], f"after the restore: {services.texts()}"
    print("compose: the restore of the documentation brings the data of the backup back, over a damaged directory")


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
    restored(services)
    services.shell("docker compose down --volumes")
