"""A small reverse proxy that serves a server below a path, as one in front of it would, and small servers of its kind."""

import http.client
import http.server
import threading
from pathlib import Path

from .client import ask

# Headers that belong to one connection.
OWN = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "proxy-connection"}
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection; says nothing."""

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, kind: str, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


def serve(handler: type[Handler], port: int = 0) -> http.server.ThreadingHTTPServer:
    """A server on the loopback, in a thread."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Proxy:
    """Passes what is below `prefix` on to `server`, bytes as they come, and keeps what was sent to change something. With `files`, the parts of the console come from
    this directory instead of the server, for work on them."""

    def __init__(self, server: tuple[str, int], prefix: str = "/tideline", files: Path | None = None):
        self.server = server
        self.prefix = prefix
        self.files = files
        self.sent: list[tuple[str, str, bytes]] = []
        self.listener = serve(self.handler())
        self.address = f"http://127.0.0.1:{self.listener.server_port}{prefix}/"
        # Paths outside of the prefix that somebody asked for.
        self.strays: list[str] = []
        # Paths whose next answer is lost, at its beginning or inside of it.
        self.refused: set[str] = set()
        self.cut: set[str] = set()

    def handler(proxy) -> type:
        class Pass(Handler):
            protocol_version = "HTTP/1.1"

            def serve(self) -> None:
                if not self.path.startswith(proxy.prefix + "/"):
                    proxy.strays.append(self.path)
                    return self.send_error(404)
                path = self.path.removeprefix(proxy.prefix)
                if proxy.files and self.command == "GET" and (path == "/" or path.startswith("/console/")):
                    return self.file(path)
                asked = path.split("?")[0]
                if asked in proxy.refused:
                    proxy.refused.remove(asked)
                    self.close_connection = True
                    return None
                body = self.body()
                if self.command != "GET":
                    proxy.sent.append((self.command, path, body))
                connection = http.client.HTTPConnection(*proxy.server, timeout=120)
                headers = {name: value for name, value in self.headers.items() if name.lower() not in OWN}
                try:
                    connection.request(self.command, path, body, headers)
                    answer = connection.getresponse()
                except (OSError, http.client.HTTPException):
                    return self.send_error(502)
                try:
                    self.send_response(answer.status, answer.reason)
                    for name, value in answer.getheaders():
                        if name.lower() not in OWN:
                            self.send_header(name, value)
                    # Streams have no length.
                    self.send_header("Connection", "close")
                    self.end_headers()
                    while part := answer.read1(1 << 16):
                        is_cut = asked in proxy.cut
                        self.wfile.write(part[:10] if is_cut else part)
                        self.wfile.flush()
                        if is_cut:
                            proxy.cut.remove(asked)
                            break
                except (OSError, http.client.HTTPException):
                    pass  # either side has gone
                finally:
                    self.close_connection = True
                    connection.close()

            do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve

            def file(self, path: str) -> None:
                """A part of the console, with its slots filled."""
                name = "index.html" if path == "/" else path.split("/", 3)[3]
                body = (proxy.files / name).read_bytes()
                if path == "/":
                    access = b"open" if ask(proxy.server, "GET", "/v1/admin/stats").status == 200 else b"keys"
                    body = body.replace(b"{version}", b"now").replace(b"{access}", access).replace(b"{avatars}", b"")
                    body = body.replace(b"{docs}", b"https://example.org/")
                    body = body.replace(b"{reactions}", b"[&quot;like&quot;,&quot;favorite&quot;]")
                kind = TYPES.get(Path(name).suffix, "text/html") + "; charset=utf-8"
                self.answer(kind, body, **{"Cache-Control": "no-store"})

        return Pass

    def close(self) -> None:
        self.listener.shutdown()
        self.listener.server_close()
