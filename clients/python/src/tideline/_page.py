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
    """The cursor to pass as `before` for older entries; `None` on the last page. A page with a cursor may be empty."""
    prev: Optional[str]
    """The cursor to pass as `after` for newer entries; `None` only on an empty page that was read without one."""
