"""What tests do to a topic behind the back of its nodes."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from .brokers import Brokers
from .expect import Unexpected
from .kafka_jars import PATIENCE, run


def delete_topic(brokers: Brokers, topic: str) -> None:
    brokers.topic_command("--delete", "--topic", topic)
    brokers.until(f"{topic} gone", lambda: brokers.partition(topic) is None)


def delete_records(brokers: Brokers, topic: str, before: int) -> None:
    """Takes all records before an offset away, as retention does."""
    partitions = [{"topic": topic, "partition": 0, "offset": before}]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"partitions": partitions, "version": 1}, file)
        file.flush()
        brokers._tool("org.apache.kafka.tools.DeleteRecordsCommand", ["--offset-json-file", file.name])


def record(brokers: Brokers, topic: str, offset: int) -> str:
    """One record, as text."""
    options = ["--topic", topic, "--partition", 0, "--offset", offset, "--max-messages", 1, "--timeout-ms", 20000]
    return brokers._tool("org.apache.kafka.tools.consumer.ConsoleConsumer", options).strip()


def append(brokers: Brokers, topic: str, text: str, compression: str = "none") -> None:
    """A record of somebody else."""
    command = [*brokers._java("error"), "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", brokers.bootstrap, "--topic", topic]
    command += ["--compression-codec", compression]
    done = subprocess.run([*map(str, command)], input=text + "\n", capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise Unexpected(f"no record was appended: {done.stdout}{done.stderr}")


def transact(brokers: Brokers, topic: str, records: int) -> None:
    """Records of somebody else, in some transactions."""
    options = ["--topic", topic, "--num-records", records, "--record-size", 50, "--throughput", 100]
    options += ["--transactional-id", "stranger", "--transaction-duration-ms", 50]
    servers = f"bootstrap.servers={brokers.bootstrap}"
    run([*brokers._java("error"), "org.apache.kafka.tools.ProducerPerformance", *options, "--producer-props", servers], PATIENCE)


def copy_logs(brokers: Brokers, to: Path) -> None:
    """Stops all brokers, keeps what they have, and starts them again."""
    for id in brokers.brokers:
        brokers.stop(id) if id == 1 else brokers.kill(id)
    for id, broker in brokers.brokers.items():
        shutil.copytree(broker.directory / "data", to / str(id))
    brokers.start(*brokers.brokers)


def set_back(brokers: Brokers, to: Path) -> None:
    """Kills all brokers, and starts them with what they had before: as disks do that lie, or snapshots of machines."""
    for id in brokers.brokers:
        brokers.kill(id)
    for id, broker in brokers.brokers.items():
        shutil.rmtree(broker.directory / "data")
        shutil.copytree(to / str(id), broker.directory / "data")
    brokers.start(*brokers.brokers)
