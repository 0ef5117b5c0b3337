"""The two requests of the Kafka protocol that tell the state of a cluster. They take milliseconds; a tool of Kafka's own
takes a second, because it starts a Java machine."""

import socket
import struct
from typing import NamedTuple

METADATA, DESCRIBE_QUORUM = 3, 55
# The topic of the controllers, in which they keep the state of the cluster.
CLUSTER_METADATA = "__cluster_metadata"
MOST_BYTES = 16 << 20


class Malformed(OSError):
    """An answer that is no answer to the request. An OSError, because callers treat it like a broken connection."""


class Partition(NamedTuple):
    """A partition, as one broker knows it."""

    leader: int  # -1: none
    epoch: int  # rises with each change of the leader
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


class Metadata(NamedTuple):
    """The cluster, as one broker knows it."""

    brokers: dict[int, int]  # those that are not fenced, and their ports as clients of this listener are told
    partitions: dict[int, Partition]  # of the topic that was asked for; empty if it is unknown


class Reader:
    """The fields of an answer, in order."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        taken = self.data[self.at : self.at + count]
        if count < 0 or len(taken) != count:
            raise Malformed(f"an answer of {len(self.data)} bytes ends early")
        self.at += count
        return taken

    def number(self, kind: str) -> int:
        """A number of a kind of `struct`: `h` for 16 bits, `i` for 32, `?` for a truth."""
        return struct.unpack(">" + kind, self.take(struct.calcsize(">" + kind)))[0]

    def text(self) -> str | None:
        length = self.number("h")
        return None if length == -1 else self.take(length).decode()

    def numbers(self) -> tuple[int, ...]:
        return tuple(self.number("i") for _ in range(self.number("i")))

    def length(self) -> int:
        """The length of a compact text or list."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - 1


def ask(port: int, key: int, version: int, body: bytes, compact: bool, seconds: float) -> Reader:
    """Sends one request on a connection of its own. `compact` requests and answers may have tagged fields."""
    head = struct.pack(">hhih", key, version, 1, -1) + (b"\0" if compact else b"")
    with socket.create_connection(("127.0.0.1", port), seconds) as connection:
        connection.settimeout(seconds)
        connection.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
        with connection.makefile("rb") as stream:
            size = Reader(stream.read(4)).number("i")
            if not 4 <= size <= MOST_BYTES:
                raise Malformed(f"an answer of {size} bytes")
            answer = Reader(stream.read(size))
    if answer.number("i") != 1 or (compact and answer.take(1) != b"\0"):
        raise Malformed("the answer to another request")
    return answer


def metadata(port: int, topic: str | None = None, seconds: float = 2.0) -> Metadata:
    """The cluster and a topic, from a listener for clients."""
    names = [] if topic is None else [topic.encode()]
    body = struct.pack(">i", len(names)) + b"".join(struct.pack(">h", len(name)) + name for name in names) + b"\0"
    answer = ask(port, METADATA, 7, body, False, seconds)
    answer.number("i")  # how long the broker throttled the request
    brokers = {}
    for _ in range(answer.number("i")):
        id, _, brokers[id], _ = answer.number("i"), answer.text(), answer.number("i"), answer.text()  # host, rack
    # In KRaft mode the "controller" of this answer is any broker.
    answer.text(), answer.number("i")
    partitions = {}
    for _ in range(answer.number("i")):
        answer.number("h"), answer.text(), answer.number("?")  # error, name, internal
        for _ in range(answer.number("i")):
            answer.number("h")
            index, leader, epoch = answer.number("i"), answer.number("i"), answer.number("i")
            partitions[index] = Partition(leader, epoch, answer.numbers(), answer.numbers())
            answer.numbers()  # offline replicas
    return Metadata(brokers, partitions)


def quorum(port: int, seconds: float = 2.0) -> tuple[int, int] | None:
    """The epoch and the id of the active controller, from the listener of a controller; only the active one tells them."""
    name = CLUSTER_METADATA.encode()
    body = b"\2" + bytes([len(name) + 1]) + name + b"\2" + struct.pack(">i", 0) + b"\0\0\0"
    answer = ask(port, DESCRIBE_QUORUM, 0, body, True, seconds)
    if answer.number("h") != 0 or answer.length() != 1:
        return None
    answer.take(answer.length())  # the name of the topic
    if answer.length() != 1:
        return None
    answer.number("i")  # the number of the partition
    error, leader, epoch = answer.number("h"), answer.number("i"), answer.number("i")
    return None if error or leader < 0 else (epoch, leader)
