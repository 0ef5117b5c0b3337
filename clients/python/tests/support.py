"""A server of its own for each test, and servers in front of it or in its place."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import os
import random
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple, Union

BINARY = os.environ.get("TIDELINE_BINARY", "../../target/release/tideline")


def free_port() -> int:
    """A port below those of outgoing connections, one of which could have it while a server is away."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(10_000, 32_000)))
            return int(probe.getsockname()[1])


class Server:
    """A server with settings such as `{"timeline.inbox_limit": "50"}`, and with the text of a file of settings."""

    def __init__(self, settings: Dict[str, str], text: str):
        self.directory = tempfile.TemporaryDirectory(prefix="tideline-client-")
        self.config = Path(self.directory.name) / "config.toml"
        self.config.write_text(text)
        self.settings = settings
        self.port = free_port()
        self.process: Optional[subprocess.Popen[str]] = None

    def serve(self) -> None:
        """Starts the process, on the same port each time."""
        environment = {"TIDELINE__" + name.replace(".", "__").upper(): value for name, value in self.settings.items()}
        data = Path(self.directory.name) / "data"
        self.process = subprocess.Popen(
            [
                BINARY,
                "serve",
                "--config",
                str(self.config),
                "--data-dir",
                str(data),
                "--listen",
                f"127.0.0.1:{self.port}",
            ],
            env={"PATH": os.environ["PATH"], **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self.process.stdout
        for line in self.process.stdout:
            if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                self.port = int(found[1])
                return
        raise AssertionError("the server did not start")

    def kill(self) -> None:
        if self.process:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            assert self.process.stdout
            self.process.stdout.close()
            self.process = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextlib.contextmanager
def running(settings: Optional[Dict[str, str]] = None, text: str = "") -> Iterator[Server]:
    """A server that runs."""
    server = Server(settings or {}, text)
    try:
        server.serve()
        yield server
    finally:
        server.kill()
        server.directory.cleanup()


def document() -> Dict[str, Any]:
    """The OpenAPI document of the binary."""
    printed: Dict[str, Any] = json.loads(subprocess.run([BINARY, "openapi"], check=True, capture_output=True).stdout)
    return printed


class CuttingProxy:
    """A proxy that can cut its connections in the middle of an event, or stop passing bytes on."""

    def __init__(self, target: int):
        self.target = target
        self.cut_after: Callable[[], float] = lambda: float("inf")
        self.frozen = False
        self.cuts = 0
        self.connections = 0
        self._open: Set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = socket.create_connection(("127.0.0.1", self.target))
                self._open |= {client, server}
                for work in (self._up, self._down):
                    threading.Thread(target=work, args=(client, server), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(65536):
                server.sendall(data)
        self._end(client, server)

    def _down(self, client: socket.socket, server: socket.socket) -> None:
        left = self.cut_after()
        with contextlib.suppress(OSError):
            while data := server.recv(65536):
                if self.frozen:
                    continue
                if len(data) >= left:
                    self.cuts += 1
                    client.sendall(data[: int(left)])
                    break
                left -= len(data)
                client.sendall(data)
        self._end(client, server)

    def _end(self, *sockets: socket.socket) -> None:
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
            self._open.discard(one)

    def stop(self) -> None:
        self._listener.close()
        self._end(*self._open)


@contextlib.contextmanager
def proxied(server: Server) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(server.port)
    try:
        yield proxy
    finally:
        proxy.stop()


class Prepared(NamedTuple):
    """An answer of a stub."""

    status: int
    body: bytes = b'{"items": [], "next": null, "prev": null}'
    headers: Tuple[Tuple[str, str], ...] = ()


# "drop" closes the connection, "hang" never answers.
Answer = Union[Prepared, str]


class Received(NamedTuple):
    method: str
    path: str
    headers: Dict[str, str]
    body: bytes
    at: float


class Stub:
    """A server that gives prepared answers, the last one again and again, and keeps the requests."""

    def __init__(self, *answers: Answer):
        self.requests: List[Received] = []
        stub = self
        self.ended = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                stub.requests.append(Received(self.command, self.path, headers, body, time.monotonic()))
                answer = answers[min(len(stub.requests), len(answers)) - 1]
                self.close_connection = True
                if answer == "hang":
                    stub.ended.wait(5)
                if isinstance(answer, str):
                    return
                self.send_response(answer.status)
                for name, value in (*answer.headers, ("content-length", str(len(answer.body)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


@contextlib.contextmanager
def stub(*answers: Answer) -> Iterator[Stub]:
    one = Stub(*answers)
    try:
        yield one
    finally:
        one.stop()


def problem(status: int, code: str, retry_after: Optional[int] = None) -> Prepared:
    """A problem document as an answer."""
    headers = [("content-type", "application/problem+json"), ("x-request-id", "7")]
    if retry_after is not None:
        headers.append(("retry-after", str(retry_after)))
    body = {"type": f"urn:tideline:problem:{code}", "title": code, "status": status, "detail": "no", "code": code}
    return Prepared(status, json.dumps(body).encode(), tuple(headers))


def user_token(secret: str, user: str, seconds: int) -> str:
    """A user token (HS256) that ends after some seconds."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    claims = {"sub": user, "exp": int(time.time()) + seconds}
    signed = f"{part(json.dumps({'alg': 'HS256', 'typ': 'JWT'}).encode())}.{part(json.dumps(claims).encode())}"
    return f"{signed}.{part(hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest())}"


def until(holds: Callable[[], bool], what: str, seconds: float = 60) -> None:
    """Waits until something holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        time.sleep(0.01)


def some_bytes() -> float:
    """After how many bytes a connection is cut."""
    return 300 + random.randrange(6000)
