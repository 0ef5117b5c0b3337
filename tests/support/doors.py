"""A proxy between each node of a cluster and each broker, which can be told to fail. It runs in a process of its own."""

import asyncio
import contextlib
import multiprocessing
from multiprocessing.connection import Connection

# The states of a pair of a node and a broker.
OPEN = "open"
DEAF = "deaf"  # requests go through, answers are dropped: acknowledgements are lost
HUNG = "hung"  # nothing goes through, and connections stay open
CUT = "cut"  # connections are closed, and new ones too
HELD = "held"  # nothing goes through until the pair opens, and then all of it
SLOW = "slow"  # 2 MB/s in each direction
STATES = (OPEN, DEAF, HUNG, CUT, HELD, SLOW)

Pair = tuple[str, int]  # a node by its name, and a broker by its id
Ports = tuple[int, int]  # where nodes connect, and the listener of the broker


class Doors:
    """The pairs of one cluster. All are open at first."""

    def __init__(self, ports: dict[Pair, Ports]):
        self.pairs = list(ports)
        here, there = multiprocessing.Pipe()
        self.told = here
        self.process = multiprocessing.get_context("spawn").Process(target=serve, args=(ports, there), daemon=True)
        self.process.start()
        there.close()
        assert here.recv() == "listens"

    def set(self, state: str, *pairs: Pair) -> None:
        """Puts pairs, or all of them, into a state. A pair that opens loses its connections: their streams of bytes have
        a gap."""
        self.told.send([(pair, state) for pair in pairs or self.pairs])
        assert self.told.recv() == "done"

    def close(self) -> None:
        self.told.close()
        self.process.join(10)
        self.process.kill()


def serve(ports: dict[Pair, Ports], told: Connection) -> None:
    """The process: until the other end of `told` is closed."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(ports, told))


async def _serve(ports: dict[Pair, Ports], told: Connection) -> None:
    doors = {pair: _Door(inner) for pair, (_, inner) in ports.items()}
    for pair, (outer, _) in ports.items():
        await asyncio.start_server(doors[pair].pass_on, "127.0.0.1", outer, backlog=64)
    told.send("listens")
    over = asyncio.Event()

    def take() -> None:
        try:
            for pair, state in told.recv():
                doors[pair].change(state)
            told.send("done")
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(told.fileno())
            over.set()

    asyncio.get_running_loop().add_reader(told.fileno(), take)
    await over.wait()


class _Door:
    """One pair."""

    def __init__(self, inner: int):
        self.inner = inner
        self.state = OPEN
        self.passes = asyncio.Event()
        self.passes.set()
        self.connections: set[asyncio.StreamWriter] = set()

    def change(self, state: str) -> None:
        if state == self.state:
            return
        if state == CUT or self.state in (DEAF, HUNG):
            for each in list(self.connections):
                each.transport.abort()
        self.state = state
        (self.passes.clear if state == HELD else self.passes.set)()

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.state == CUT:
            writer.transport.abort()
            return
        try:
            inner, outwards = await asyncio.open_connection("127.0.0.1", self.inner)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, outwards}
        self.connections |= both
        try:
            ways = [asyncio.create_task(self.copy(*way)) for way in ((reader, outwards, (OPEN, DEAF, SLOW)), (inner, writer, (OPEN, SLOW)))]
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            await self.passes.wait()
            for way in ways:
                way.cancel()
        except asyncio.CancelledError:
            pass  # the proxy ends
        finally:
            self.connections -= both
            for each in both:
                each.transport.abort()

    async def copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, states: tuple[str, ...]) -> None:
        """Bytes of one direction; those that come in other states are dropped."""
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 18):
                await self.passes.wait()
                if self.state == SLOW:
                    await asyncio.sleep(len(data) / 2e6)
                if self.state in states:
                    writer.write(data)
                    await writer.drain()
