"""Tideline itself, over HTTP, with the defaults."""

import subprocess
import threading
from typing import Any

from support.client import Client, Item
from support.server import Tideline

from .contestant import LIMIT, Contestant, Page


class TidelineServer(Contestant):
    def start(self) -> None:
        self.server = Tideline(self.binary, self.directory, {})
        self.server.start()
        self.connect()

    def connect(self) -> None:
        self.local = threading.local()

    @property
    def client(self) -> Client:
        """One connection for each thread."""
        if not hasattr(self.local, "client"):
            self.local.client = Client(self.server.address)
        return self.local.client

    def call(self, method: str, path: str, body: object = None) -> None:
        answer = self.client.call(method, path, body)
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer}")

    def publish(self, item: Item) -> None:
        body = {"content_id": item[1], "author_id": item[2], "published_at": item[0], "text": f"Text of {item[1]}"}
        self.call("POST", "/v1/content", body)

    def delete(self, item: Item) -> None:
        self.call("DELETE", f"/v1/content/{item[1]}")

    def follow(self, user: int, author: int) -> None:
        self.call("PUT", f"/v1/users/{user}/following/{author}", {})

    def unfollow(self, user: int, author: int) -> None:
        self.call("DELETE", f"/v1/users/{user}/following/{author}")

    def mute(self, user: int, author: int) -> None:
        self.call("PUT", f"/v1/users/{user}/mutes/{author}")

    def unmute(self, user: int, author: int) -> None:
        self.call("DELETE", f"/v1/users/{user}/mutes/{author}")

    def page(self, user: int, at: Any) -> Page:
        page = self.client.page(f"/v1/users/{user}/timeline", limit=LIMIT, before=at)
        return Page([item[1] for item in page.items], page.next)

    def stored(self) -> str:
        self.server.stop()
        return f"{self.server.disk_mb():.1f} MiB of disk"

    def versions(self) -> dict[str, str]:
        told = subprocess.run([self.binary, "--version"], capture_output=True, text=True, check=True).stdout.split()
        return {"Tideline": told[-1] if told else "?"}
