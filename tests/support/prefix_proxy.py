"""A small reverse proxy that serves a server below a path, as one in front of it would."""

import http.client
import http.server
import threading
from pathlib import Path

# Headers that belong to one connection.
OWN = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "proxy-connection"}
TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


class Proxy:
    """Passes what is below `prefix` on to `server`, bytes as they come. With `files`, the parts of the console come from
    this directory instead of the server, for work on them."""

    def __init__(self, server: tuple[str, int], prefix: str = "/tideline", files: Path | None = None, port: int = 0):
        self.server = server
        self.prefix = prefix
        self.files = files
        self.listener = http.server.ThreadingHTTPServer(("127.0.0.1", port), self.handler())
        self.listener.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.listener.server_port}{prefix}/"
        # Paths outside of the prefix that somebody asked for.
        self.strays: list[str] = []
        # Paths whose next answer is lost, at its beginning or inside of it.
        self.refused: set[str] = set()
        self.cut: set[str] = set()
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def handler(proxy) -> type:
        class Handler(http.server.BaseHTTPRequestHandler):
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
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
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
                    connection = http.client.HTTPConnection(*proxy.server, timeout=10)
                    connection.request("GET", "/v1/admin/stats")
                    access = b"open" if connection.getresponse().status == 200 else b"keys"
                    connection.close()
                    body = body.replace(b"{version}", b"now").replace(b"{access}", access).replace(b"{avatars}", b"")
                    body = body.replace(b"{docs}", b"https://example.org/")
                    body = body.replace(b"{reactions}", b"[&quot;like&quot;,&quot;favorite&quot;]")
                self.send_response(200)
                self.send_header("Content-Type", TYPES.get(Path(name).suffix, "text/html") + "; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Cache-Control", "no-store")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_) -> None:
                pass

        return Handler

    def close(self) -> None:
        self.listener.shutdown()
        self.listener.server_close()
