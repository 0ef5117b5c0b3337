"""Lists, page by page and entry by entry."""

from __future__ import annotations

from typing import Iterator, Callable, Generic, Optional, TypeVar

from .._page import Page

T = TypeVar("T")


class Listing(Generic[T]):
    """A list of the server.

    It sends no request until it is read: by `page()`, by a loop over its entries, or by a loop over `pages()`. Without
    `after` it goes down, from the newest entry (or from `before`) to the oldest (or to `after`). With `after` alone it
    goes up, from the oldest entry above the cursor to the newest.
    """

    def __init__(
        self,
        read: Callable[[Optional[str], Optional[str]], Page[T]],
        before: Optional[str],
        after: Optional[str],
    ):
        self._read = read
        self._before = before
        self._after = after

    def page(self) -> Page[T]:
        """The first page."""
        return self._read(self._before, self._after)

    def pages(self) -> Iterator[Page[T]]:
        """All pages, to the end of the list; none for an empty list. Within each page the newest entry is first."""
        before, after = self._before, self._after
        while True:
            page = self._read(before, after)
            if page.items:
                yield page
            if self._goes_up:
                # An empty page may lead on, too.
                if page.prev is None or page.prev == after:
                    return
                after = page.prev
            else:
                if page.next is None:
                    return
                before = page.next

    def __iter__(self) -> Iterator[T]:
        """All entries, to the end of the list: newest first on the way down, oldest first on the way up."""
        for page in self.pages():
            for item in reversed(page.items) if self._goes_up else page.items:
                yield item

    @property
    def _goes_up(self) -> bool:
        return self._after is not None and self._before is None
