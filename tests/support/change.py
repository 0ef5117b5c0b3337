"""One change of a host, and what many threads know together."""

from collections.abc import Callable
from typing import NamedTuple

from .client import Answer, Client, Item, Unexpected
from .model import Model


class Change(NamedTuple):
    """One request that changes something, and what it means for the model."""

    method: str
    path: str
    body: object
    statuses: tuple[int, ...]
    apply: Callable[[Answer], object]  # with its answer
    resolve: Callable[[Client], None]  # after a crash, when no answer had come: carried out or not, never in part


class Shared:
    """What writers and readers know together. No two threads write about the same user or item."""

    def __init__(self, model: Model):
        self.model = model
        self.begun: dict[int, int] = {}  # every publish that was ever sent with an id: its author
        self.deleting: set[int] = set()  # every delete that was ever sent
        self.deleted: list[int] = []  # the last ones of which that was acknowledged
        self.restoring: set[int] = set()  # every restore that was ever sent
        self.quiet: set[int] = set()  # all that is in no timeline
        self.texts: dict[int, str] = {}
        self.wrong: list[str] = []

    def scroll(self, client: Client, user: int, limit: int) -> None:
        """From the top to the end by `next` while others write, by somebody whose follows and mutes nobody
        changes meanwhile: nothing twice, nothing left out that was there all the time, nothing of somebody else."""
        authors = self.model.authors(user)
        there = {item for author in authors for item in self.model.posts.get(author, [])[:]}
        gone = self.deleted[:]
        seen: list[Item] = []
        before = None
        while True:
            page = client.page(f"/v1/users/{user}/timeline", limit=limit, before=before)
            seen += page.items
            if page.next is None:
                break
            before = page.next
        if any(older >= newer for newer, older in zip(seen, seen[1:])):
            raise Unexpected(f"timeline of {user}: repeated or out of order while others write")
        strange = lambda item: self.begun.get(item[1], item[2]) != item[2] or item[2] not in authors or item[1] in self.quiet
        unknown = [item for item in seen if strange(item)]
        lost = [item for item in there - set(seen) if item[1] not in self.deleting]
        back = set(gone) & {item[1] for item in seen} - self.restoring
        if unknown or lost or back:
            what = f"{lost[:5]} left out, {unknown[:5]} not to be there, {list(back)[:5]} deleted before"
            raise Unexpected(f"timeline of {user} while others write: {what}")

    def fail(self, text: str) -> None:
        """Notes something that must not be."""
        self.wrong.append(text)
        print(f"WRONG {text}", flush=True)
