"""One page of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, List, Optional, TypeVar

T = TypeVar("T")


@dataclass
class Page(Generic[T]):
    """One page of a list, newest entry first."""

    items: List[T]
    next: Optional[str]
    """The cursor to pass as `before` for older entries; `None` on the last page."""
    prev: Optional[str]
    """The cursor to pass as `after` for newer entries; `None` only in an empty list that was read without a cursor."""
