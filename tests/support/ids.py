"""Ids of the host: numbers are `int`, names are `Name`."""

import math
import random
import uuid
from collections.abc import Callable, Iterable
from urllib.parse import quote

KINDS = ("numbers", "names", "mixed")


class Name(str):
    """An id that is not a number. Names are above all numbers. Of two names, that is above which the server saw later;
    `rank` says so, and a name without a rank is above all that have one. Made by `host_id` alone, once for each text."""

    __slots__ = ("rank",)

    def __lt__(self, other: "Id") -> bool:
        return isinstance(other, Name) and self.rank < other.rank

    def __gt__(self, other: "Id") -> bool:
        return not isinstance(other, Name) or self.rank > other.rank

    def __le__(self, other: "Id") -> bool:
        return not self > other

    def __ge__(self, other: "Id") -> bool:
        return not self < other

    def __deepcopy__(self, _: dict) -> "Name":
        return self


Id = int | Name

_names: dict[str, Name] = {}


def host_id(text: str) -> Id:
    """The id that a text is.

    >>> [host_id(text) for text in ("1", "9223372036854775807", "9223372036854775808", "042", "+1", "１")]
    [1, 9223372036854775807, '9223372036854775808', '042', '+1', '１']
    """
    if text.isascii() and text.isdigit() and text[0] != "0" and (number := int(text)) < 2**63:
        return number
    name = _names.get(text)
    if name is None:
        name = _names[text] = Name(text)
        name.rank = math.inf
    return name


def in_order(names: Iterable[Id]) -> None:
    """Ranks the names without a rank above all that have one, in this order: that in which the server saw them."""
    for name in names:
        if isinstance(name, Name) and name.rank == math.inf:
            in_order.last += 1
            name.rank = in_order.last


in_order.last = 0


def fall(places: list) -> bool:
    """Whether the places of a list fall, as far as the ranks of names are known, and none comes twice."""
    return len(set(places)) == len(places) and not any(newer < older for newer, older in zip(places, places[1:]))


def quoted(id: Id) -> str:
    """An id in a path."""
    return quote(str(id), safe="")


def listed(ids: Iterable[Id]) -> str:
    """Several ids in one query parameter."""
    return quote(",".join(str(id).replace("\\", "\\\\").replace(",", "\\,") for id in ids), safe="")


def new_uuid(rng: random.Random) -> str:
    """A UUID v4."""
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


# From an own number of the id. No two of these texts are equal for different numbers, and none is a number.
SHAPES: tuple[Callable[[int, random.Random], str], ...] = (
    lambda _, rng: new_uuid(rng),
    lambda _, rng: new_uuid(rng),
    lambda _, rng: f"{rng.getrandbits(96):024x}z",
    lambda n, _: f"0{n}",
    lambda n, _: f"+{n}",
    lambda n, _: f"{n}.0",
    lambda n, _: f"{n}, \\{n}/%2F",
    lambda n, _: f"did:plc:{n}?a=b&c#d",
    lambda n, _: f"-{n}-1",
    lambda n, _: f"שלום {n} 🌊",
    lambda n, _: f"e\u0301{n}",
    lambda n, _: f"é{n}",
    lambda n, _: f"{n:x>128}",
)


def make(kind: str, number: int, rng: random.Random) -> Id:
    """An id of one of KINDS, from a number that no other id is made from."""
    if kind == "numbers" or (kind == "mixed" and rng.random() < 0.5):
        return number
    return host_id(rng.choice(SHAPES)(number, rng))
