"""A connection between two servers that can be cut and held up."""

import select
import socket
import threading


class Relay:
    """Passes bytes between its own address and `target`, both ways."""

    def __init__(self, target: tuple[str, int]):
        self.target = target
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = self.listener.getsockname()[:2]
        self.open: set[socket.socket] = set()
        self.lock = threading.Lock()
        self.flows = threading.Event()
        self.flows.set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(self.target, 5)
        except OSError:
            client.close()
            return
        server.settimeout(None)
        pair = {client: server, server: client}
        with self.lock:
            self.open |= pair.keys()
        try:
            while True:
                for ready in select.select(list(pair), [], [], 1.0)[0]:
                    self.flows.wait()
                    part = ready.recv(1 << 16)
                    if not part:
                        return
                    pair[ready].sendall(part)
        except (OSError, ValueError):
            pass  # either side has gone
        finally:
            with self.lock:
                self.open -= pair.keys()
            client.close()
            server.close()

    def cut(self) -> None:
        """Ends all connections, within what they say."""
        with self.lock:
            ends = list(self.open)
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def hold(self) -> None:
        """Nothing passes any more, and no connection ends."""
        self.flows.clear()

    def release(self) -> None:
        self.flows.set()

    def close(self) -> None:
        self.listener.close()
        self.release()
        self.cut()
