"""The image by itself: what it promises, under a read-only root file system and without capabilities."""

import json
import re
import time
from pathlib import Path
from typing import NamedTuple

from support.client import Client
from support.containers import Engine
from support.documents import command, local
from support.rehearsal import until
from support.server import free_port

OWNER = "10001"
NETWORK = "rehearsal"
ITEM = {"author_id": 1, "content_id": 7, "text": "kept"}


class Image(NamedTuple):
    """An image under test, and a key for its servers."""

    engine: Engine
    name: str
    key_file: Path

    def podman(self, *words: object, **options) -> str:
        return self.engine.run("podman", *words, **options)

    @property
    def key(self) -> str:
        return self.key_file.read_text().strip()

    def options(self, volume: str) -> list[str]:
        """Options of `podman run` for a container with these rights only: to write to its volume."""
        return ["--pull", "never", "--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges",
                "--network", NETWORK, "--volume", f"{volume}:/data"]

    def tideline(self, volume: str, *words: str, **options):
        """A command in a container of its own: the completed process."""
        interactive = ["--interactive"] if "input" in options else []
        return self.engine.try_run("podman", "run", "--rm", *interactive, *self.options(volume), self.name, *words, **options)

    def serve(self, name: str, volume: str) -> Client:
        """A server in a container, from the time at which others reach it at its published port."""
        key = ["--volume", f"{self.key_file}:/run/key:ro", "--env", "TIDELINE__AUTH__KEYS_FILE=/run/key"]
        port = free_port()
        self.podman("run", "--detach", "--name", name, *self.options(volume), *key, "--publish", f"127.0.0.1:{port}:8080", self.name)
        return reached(self.engine, name, Client(("127.0.0.1", port), key=self.key))

    def stop(self, name: str) -> tuple[int, float]:
        """Stops a server as `docker stop` does, and removes its container. Returns exit code and seconds."""
        begin = time.monotonic()
        self.podman("stop", "--time", "30", name)
        took = time.monotonic() - begin
        code = int(self.podman("container", "inspect", "--format", "{{.State.ExitCode}}", name))
        self.podman("rm", name)
        return code, took


def output(engine: Engine, name: str) -> str:
    answer = engine.try_run("podman", "logs", name)
    return answer.stdout + answer.stderr


def reached(engine: Engine, name: str, client: Client, patience: float = 120.0) -> Client:
    """The client of a server in a container, when it is ready. On a busy machine a container runs only some seconds after the
    command that starts it has ended."""
    begin, listens, ran = time.monotonic(), None, time.monotonic()
    while True:
        try:
            if client.exchange("GET", "/readyz")[0] == 200:
                return client
        except OSError:
            pass
        said = output(engine, name)
        if listens is None and "listening on" in said:
            listens = time.monotonic()
        state = json.loads(engine.run("podman", "container", "inspect", "--format", "{{json .State}}", name))
        if state["Running"]:
            ran = time.monotonic()
        assert time.monotonic() - ran < 30, f"the server does not start on its volume:\n{said[-2000:]}\n{state}"
        assert listens is None or time.monotonic() - listens < 30, f"the server listens, but nobody outside reaches it:\n{said[-500:]}"
        assert time.monotonic() - begin < patience, f"the server does not start:\n{said[-2000:]}"
        time.sleep(0.2)


def healthy(engine: Engine, name: str) -> bool:
    """Runs the check of health once."""
    return engine.try_run("podman", "healthcheck", "run", name).returncode == 0


def describes(image: Image) -> None:
    """User, check of health and place of the data, as the image tells them to Docker and Kubernetes."""
    told = json.loads(image.podman("image", "inspect", image.name))[0]
    config = told["Config"]
    user = config.get("User", "")
    assert user == f"{OWNER}:{OWNER}", f"the image has the user {user or 'root'}"
    assert told.get("Healthcheck", {}).get("Test") == ["CMD", "tideline", "health"], "the image has no check of health"
    assert list(config["Volumes"]) == ["/data"], config["Volumes"]
    print("image: its user is no root, and it asks for its health")


def brings(image: Image) -> None:
    """Authorities for https, licences, and directories with the rights that they have in Debian."""
    script = ("grep -c BEGIN /etc/ssl/certs/ca-certificates.crt; stat -c %a /etc /etc/ssl /usr /usr/local/bin /usr/share/doc/tideline; "
              "cd /usr/share/doc/tideline; wc -c <LICENSE; wc -c <THIRD-PARTY")
    said = image.podman("run", "--rm", *image.options("plain"), "--entrypoint", "sh", image.name, "-ec", script).split()
    authorities, modes, licences = int(said[0]), said[1:6], list(map(int, said[6:]))
    assert authorities > 50, f"the image knows {authorities} authorities of certificates"
    assert modes == ["755"] * 5, f"modes of directories: {modes}"
    assert licences[0] > 10_000 and licences[1] > 100_000, f"bytes of the licences: {licences}"
    asked = image.tideline("plain", "backup", "--url", "https://localhost:9", "--list").stderr
    assert "refused" in asked, f"the program does not find the authorities: {asked}"
    print(f"image: {authorities} authorities of certificates, and the licences")


def refuses_to_be_open(image: Image) -> None:
    """Without a key it does not start, because it listens to all."""
    answer = image.tideline("plain")
    assert answer.returncode != 0 and "--insecure" in answer.stderr, f"without a key: {answer}"
    print("image: without a key it refuses to start")


def serves(image: Image) -> bytes:
    """A server with a key from a file. Returns the archive of a backup of it."""
    client = image.serve("first", "first")
    status = image.podman("exec", "first", "cat", "/proc/1/status")
    ids = re.search(r"^Uid:\s+(\d+)\s+(\d+)", status, re.M)
    assert ids and set(ids.groups()) == {OWNER}, status
    assert re.search(r"^CapEff:\s+0+$", status, re.M) and re.search(r"^NoNewPrivs:\s+1$", status, re.M), status
    assert healthy(image.engine, "first"), "the check of health fails"
    stranger = Client(client.address)
    assert stranger.call("GET", "/v1/users/2/timeline").status == 401, "a caller without the key is let in"
    assert client.call("PUT", "/v1/users/2/following/1").status == 200
    assert client.call("POST", "/v1/content", ITEM).status == 201
    taken = client.call("POST", "/v1/admin/backups")
    assert taken.status == 201, taken
    until("the backup is verified", lambda: client.call("GET", "/v1/admin/backups").body["items"][0]["state"] == "verified")
    status, archive = client.exchange("GET", f"/v1/admin/backups/{taken.body['name']}")
    assert status == 200 and archive, status
    code, took = image.stop("first")
    assert code == 0 and took < 15, f"SIGTERM: exit code {code} after {took:.1f} s"
    print(f"image: serves as {OWNER} without capabilities, is healthy, takes a backup, ends with 0 after {took:.1f} s")
    return archive


def shows(client: Client) -> None:
    page = client.call("GET", "/v1/users/2/timeline")
    assert page.status == 200 and [item["text"] for item in page.body["items"]] == [ITEM["text"]], page


def keeps(image: Image, archive: bytes) -> None:
    """The volume outlives its container; a backup makes another one."""
    shows(image.serve("second", "first"))
    assert image.stop("second")[0] == 0
    answer = image.tideline("other", "restore", "--from", "-", input=archive, text=False)
    assert answer.returncode == 0, answer.stderr.decode()
    shows(image.serve("third", "other"))
    assert image.stop("third")[0] == 0
    print("image: its volume is kept, and a backup is restored into another volume")


def names_a_foreign_owner(image: Image) -> None:
    """A volume of root is refused with both users in the message, and the command of the documentation gives it away."""
    chown = command("install", "--entrypoint chown -v tideline_data:/data")
    assert f"{OWNER}:{OWNER}" in chown
    image.engine.run("bash", "-euc", local(chown.replace(f"{OWNER}:{OWNER}", "0:0")))
    answer = image.tideline("tideline_data", "serve", "--insecure")
    both = re.search(r"\b10001\b", answer.stderr) and re.search(r"\b(0|root)\b", answer.stderr)
    assert answer.returncode != 0 and both, f"a volume of root: {answer}"
    image.engine.run("bash", "-euc", local(chown))
    image.serve("fourth", "tideline_data")
    assert image.stop("fourth")[0] == 0
    print("image: a volume of root is refused by name, and the command of the documentation gives it to the server")


def all_steps(image: Image) -> bytes:
    """Everything, in an order in which a fault of the image shows as itself. The engine has nothing but images. Returns the archive
    of a backup with `ITEM`, which a user follows."""
    image.engine.run("podman", "network", "create", NETWORK)
    describes(image)
    archive = serves(image)
    brings(image)
    refuses_to_be_open(image)
    keeps(image, archive)
    names_a_foreign_owner(image)
    return archive
