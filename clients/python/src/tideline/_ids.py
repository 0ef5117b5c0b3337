"""Ids in requests, cursors, and the order of timelines."""

from __future__ import annotations

import re
from typing import Iterable, List, Optional, Tuple, Union
from urllib.parse import quote

from .schema import Content, ContentRef, Id

_LARGEST = 2**63 - 1


def id_text(id: Id) -> str:
    """The id as text. Raises `TypeError` and `ValueError` for a value that is no id."""
    if isinstance(id, bool) or not isinstance(id, (str, int)):
        raise TypeError(f"an id is a str or an int, not {id!r}")
    if isinstance(id, int) and not 1 <= id <= _LARGEST:
        raise ValueError(f"{id}: an id that is a number is from 1 to 2**63-1")
    return str(id)


def optional_id(id: Optional[Id]) -> Optional[str]:
    """The id as text, if there is one."""
    return None if id is None else id_text(id)


def id_texts(ids: Optional[Iterable[Id]]) -> Optional[List[str]]:
    """Ids in a body."""
    return None if ids is None else [id_text(id) for id in ids]


def segment(id: Id) -> str:
    """The id, or another text, as one segment of a path.

    Raises `ValueError` for `.` and `..`, which HTTP clients remove from a path, so that the request would be another one.
    """
    text = id_text(id)
    if text in (".", ".."):
        raise ValueError(f"{text!r} cannot be sent in a path; items([{text!r}]) can read an item with this id")
    if not text:
        raise ValueError("an id must not be empty")
    return quote(text, safe="")


def id_list(ids: Iterable[Id]) -> str:
    """Ids in one query parameter."""
    return ",".join(re.sub(r"([\\,])", r"\\\1", id_text(id)) for id in ids)


def cursor_of(item: Union[Content, ContentRef]) -> str:
    """The cursor at an item: `before` it are the older items, `after` it the newer ones."""
    return f"{item['published_at']}-{item['content_id']}"


def newest_first(item: Union[Content, ContentRef]) -> Tuple[int, bool, int]:
    """The key by which `sorted` puts items into the order of timelines.

    Names of the same time have the same key, because only the server knows their order: put the one that arrived later
    first, but a restored item at its old place.
    """
    text = item["content_id"]
    is_number = bool(re.fullmatch(r"[1-9][0-9]{0,18}", text)) and int(text) <= _LARGEST
    return -item["published_at"], is_number, -int(text) if is_number else 0
