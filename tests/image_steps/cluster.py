"""compose.cluster.yaml with podman-compose, by the commands of its head: a cluster that begins with the data of a single server,
the balancer, a node that is lost, and the command log that is lost. The images of others are made here under the names that the
file has: Kafka of its jars from Maven Central, and Caddy, on Debian."""

import re
import shutil
from pathlib import Path

from image_steps.alone import ITEM, healthy, output, shows
from support.client import Client, ask
from support.containers import Engine
from support.documents import ROOT, composed
from support.expect import Impossible
from support.kafka_jars import jars, unavailable
from support.rehearsal import until
from support.server import free_port

FILE = "compose.cluster.yaml"
# The name is that of the directory, by which podman-compose names containers.
PROJECT = "tideline-cluster"
NODES = ["tideline-1", "tideline-2", "tideline-3"]
BROKERS = ["kafka-1", "kafka-2", "kafka-3"]
PACKAGES = ["openjdk-17-jre-headless", "caddy", "wget", "libcap2-bin"]
# As the image of Kafka: each variable KAFKA_A_B is the setting a.b, and a new data directory is formatted.
RUN_KAFKA = """
set -euo pipefail
env | sed -n '/^KAFKA_HEAP_OPTS/d;s/^KAFKA_//p' | while IFS='=' read -r name value; do
  echo "$(echo "$name" | tr A-Z_ a-z.)=$value"
done >/tmp/settings
java -cp '/jars/*' kafka.tools.StorageTool format --ignore-formatted -t "$CLUSTER_ID" -c /tmp/settings
exec java $KAFKA_HEAP_OPTS -cp '/jars/*' kafka.Kafka /tmp/settings
"""
KAFKA = """FROM {base}
RUN useradd --uid 1000 appuser && install -d -o appuser -g appuser /var/lib/kafka/data
COPY lib /jars
COPY run /run-kafka
USER appuser
CMD ["bash", "/run-kafka"]
"""
CADDY = """FROM {base}
RUN setcap cap_net_bind_service=+ep /usr/bin/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
"""


def stand_ins(engine: Engine, text: str, context: Path) -> None:
    """The images of others."""
    if reason := unavailable():
        raise Impossible(reason)
    base, _ = engine.debian(PACKAGES)
    shutil.rmtree(context, ignore_errors=True)
    shutil.copytree(jars() / "lib", context / "lib")
    (context / "run").write_text(RUN_KAFKA)
    for name, lines in (("apache/kafka", KAFKA), ("caddy", CADDY)):
        tags = re.findall(rf"image: ({name}:\S+)$", text, re.MULTILINE)
        assert len(tags) == 1, f"{FILE} has {len(tags)} images {name}"
        dockerfile = context / f"Dockerfile.{name.rpartition('/')[2]}"
        dockerfile.write_text(lines.format(base=base))
        engine.build(f"localhost/{tags[0]}", dockerfile, context, context)


class Cluster:
    """The services of the file, in a directory with the name of the project."""

    def __init__(self, engine: Engine, directory: Path, archive: bytes):
        self.engine, self.directory, self.port = engine, directory, free_port()
        shutil.rmtree(directory, ignore_errors=True)
        (directory / "packaging").mkdir(parents=True)
        shutil.copy(ROOT / "packaging" / "balancer.Caddyfile", directory / "packaging")
        (directory / "tideline.tar").write_bytes(archive)
        self.text = (ROOT / FILE).read_text()
        text = self.text
        for before, after in (("127.0.0.1:8080:8080", f"127.0.0.1:{self.port}:8080"),
                              # podman, asked for another one, would set a higher limit than some sessions may have.
                              ("nofile: 16384\n", "nofile: 16384\n    nproc: 4096\n")):
            assert text.count(before) == 1, f"{FILE} has {before} {text.count(before)} times"
            text = text.replace(before, after)
        (directory / FILE).write_text(text)
        # podman-compose knows no profiles: `up` would start `init`.
        self.services = re.findall(r"^  ([\w-]+):\n", text.partition("\nservices:\n")[2].partition("\nnetworks:\n")[0], re.MULTILINE)
        self.services.remove("init")

    def shell(self, commands: str) -> str:
        return composed(self.engine, self.directory, f"export COMPOSE_FILE={FILE}\n" + commands)

    def container(self, service: str) -> str:
        return f"{PROJECT}_{service}_1"

    def command(self, part: str) -> str:
        """The command in the head of the file with this part."""
        found = [line for line in re.findall(r"^#(?:  | and:) (docker .*|\(.*|sudo .*)", self.text, re.MULTILINE) if part in line]
        assert len(found) == 1, f"{FILE} has {len(found)} commands with {part}"
        return found[0]

    def client(self) -> Client:
        return Client(("127.0.0.1", self.port), key=(self.directory / "tideline.key").read_text().strip())

    def status(self, path: str) -> int:
        """The status of the balancer; 0 without an answer. The client would wait at 503."""
        try:
            return ask(("127.0.0.1", self.port), "GET", path, headers=self.client().always, timeout=60).status
        except (OSError, ValueError):
            return 0


def begins(cluster: Cluster) -> None:
    """With the data of a single server."""
    cluster.shell(cluster.command("key new") + "\n" + cluster.command("chown"))
    restore = cluster.command("restore --from -")
    cluster.shell(restore)
    # podman-compose does not wait until they are healthy.
    cluster.shell(f"docker compose up -d {' '.join(BROKERS)}")
    for broker in BROKERS:
        until(lambda: f"{broker} is healthy: {output(cluster.engine, cluster.container(broker))[-2000:]}",
              lambda: healthy(cluster.engine, cluster.container(broker)))
    cluster.shell(cluster.command("run --rm init").replace("run --rm", "run --rm --no-deps"))
    one = cluster.container(NODES[0])
    cluster.shell("docker compose up -d tideline-1")
    until(lambda: f"tideline-1 is ready: {output(cluster.engine, one)[-2000:]}",
          lambda: cluster.engine.try_run("podman", "exec", one, "tideline", "health").returncode == 0)
    backup = "tideline backup --url http://127.0.0.1:8080 --key-file /run/secrets/key --to -"
    cluster.shell(f"podman exec {one} {backup} >tideline.tar")
    for node in NODES[1:]:
        cluster.shell(restore.replace(NODES[0], node))
    cluster.shell(f"{cluster.command('compose up -d')} {' '.join(cluster.services)}")
    until(lambda: f"the balancer is ready: {output(cluster.engine, cluster.container('balancer'))[-2000:]}",
          lambda: cluster.status("/readyz") == 200)
    shows(cluster.client())


def holds(cluster: Cluster) -> None:
    """A change is on all nodes; without a node the balancer takes the others, and without the log local reads go on."""
    engine = cluster.engine
    until("all nodes are ready", lambda: all(engine.try_run("podman", "exec", cluster.container(node), "tideline", "health").returncode == 0
                                                 for node in NODES))
    # At a prompt: on a busy machine nodes answer late at first.
    status = lambda: composed(engine, cluster.directory, f"export COMPOSE_FILE={FILE}\n" + cluster.command("cluster status"), good=False)
    until("the nodes tell their status", lambda: re.search(r"^exit code: 0\s*$", told := status(), re.MULTILINE)
          and all(node in told for node in NODES))
    assert healthy(engine, cluster.container("balancer")), "the check of the balancer fails"
    assert cluster.client().call("POST", "/v1/content", {"author_id": 1, "text": "to all"}).status == 201
    engine.run("podman", "kill", cluster.container("tideline-2"))
    for _ in range(6):
        page = cluster.client().call("GET", "/v1/users/2/timeline")
        assert [item["text"] for item in page.body["items"]] == ["to all", ITEM["text"]], page
    engine.run("podman", "kill", *map(cluster.container, BROKERS))
    until("without the log no strict read is answered", lambda: cluster.status("/v1/users/2/timeline") == 503)
    until("without the log a local read is answered", lambda: cluster.status("/v1/users/2/timeline?consistency=local") == 200)


def all_steps(engine: Engine, home: Path, archive: bytes) -> None:
    """Raises `Impossible` where the images of others cannot be had."""
    stand_ins(engine, (ROOT / FILE).read_text(), home / "stand-ins")
    cluster = Cluster(engine, home / PROJECT, archive)
    begins(cluster)
    print("cluster: begins with the data of a single server, behind its balancer")
    holds(cluster)
    print("cluster: goes on without a node, and answers local reads without the command log")
