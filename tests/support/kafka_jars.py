"""The jars of Apache Kafka, from Maven Central, kept in the cache of the user."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .expect import Unexpected

VERSION = "4.1.1"
# kafka-tools needs no more than the broker for its commands on topics. The broker has no logger of its own.
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tideline</groupId>
  <artifactId>brokers</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{VERSION}</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.24.3</version>
    </dependency>
  </dependencies>
</project>
"""
OLDEST_JAVA = 17
DOWNLOAD_PATIENCE = 900.0  # seconds
PATIENCE = 180.0


def directory_of_jars() -> Path:
    """The directory of the jars, there or not."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "tideline-kafka" / VERSION


def is_whole(directory: Path) -> bool:
    """Whether the jars of this POM are there. A directory takes its name only with all of them."""
    pom = directory / "pom.xml"
    return pom.is_file() and pom.read_text() == POM


def missing() -> str | None:
    """The reason for which no broker can run here, for the message of a test that is left out. Does not look whether
    Maven Central can be reached."""
    java = shutil.which("java")
    if java is None:
        return f"Kafka needs Java {OLDEST_JAVA} or later (java)"
    answer = subprocess.run([java, "-version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
    version = re.search(r'version "(\d+)', answer.stderr)
    if version is None or int(version[1]) < OLDEST_JAVA:
        return f"Kafka needs Java {OLDEST_JAVA} or later; java -version says {answer.stderr.strip()!r}"
    if not is_whole(directory_of_jars()) and shutil.which("mvn") is None:
        return "Kafka comes from Maven Central, by Maven (mvn)"
    return None


def unavailable() -> str | None:
    """The same, and looks."""
    try:
        return missing() or (jars() and None)
    except Unexpected as why:
        return f"Kafka cannot be had: {str(why)[-300:]}"


def jars() -> Path:
    """The directory of the jars. Brings them at the first call, some 45 MB."""
    directory = directory_of_jars()
    if is_whole(directory):
        return directory
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{VERSION}-", dir=directory.parent) as name:
        (parts := Path(name, "whole")).mkdir()
        (parts / "pom.xml").write_text(POM)
        command = ["mvn", "--batch-mode", "--quiet", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
        run(command, DOWNLOAD_PATIENCE, cwd=parts)
        # Another process may have been faster: then its jars are as good.
        if not is_whole(directory):
            shutil.rmtree(directory, ignore_errors=True)
            try:
                parts.rename(directory)
            except OSError:
                if not is_whole(directory):
                    raise
    return directory


def run(command: Sequence[object], seconds: float, **options) -> str:
    """The output of a command that must succeed in time."""
    words = list(map(str, command))
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, **options)
    except subprocess.TimeoutExpired as late:
        raise Unexpected(f"{' '.join(words)}: not done within {seconds:.0f} s") from late
    if done.returncode != 0:
        raise Unexpected(f"{' '.join(words)}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout
