"""Scrolling while others write."""

import random
import threading
from collections.abc import Sequence

from .change import Shared
from .client import Client, Lost, Unexpected


class Reader:
    """Scrolls while others write."""

    def __init__(self, shared: Shared, viewers: Sequence[int], rng: random.Random):
        self.shared = shared
        self.viewers = viewers
        self.rng = rng
        self.scrolls = 0

    def run(self, address: tuple[str, int], stop: threading.Event) -> None:
        """Scrolls the timelines of viewers whose follows nobody changes."""
        client = Client(address)
        try:
            while not stop.is_set():
                self.shared.scroll(client, self.rng.choice(self.viewers), self.rng.choice((3, 10, 37)))
                self.scrolls += 1
        except Unexpected as error:
            self.shared.fail(str(error))
        except Lost:
            pass
        finally:
            client.close()
