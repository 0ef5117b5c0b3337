"""The receiver of webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time
from typing import Dict, Iterable, List, Protocol, Sequence, Tuple, Union

from ._errors import BadAnswer, WebhookError, read_object
from .schema import Change

_PREFIX = "whsec_"


class Headers(Protocol):
    """The headers of a request, as frameworks have them."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


class WebhookReceiver:
    """Verifies the webhooks of the server (Standard Webhooks 1), and reads their changes.

    `secrets` is the secret of the hook, such as `whsec_…`, or several ones while a new one takes the place of the old one.
    A request is refused if its time is more than `tolerance` seconds before or after the clock of this machine. Raises
    `ValueError` for a text that is no secret. Several threads can use it.
    """

    def __init__(self, secrets: Union[str, Sequence[str]], *, tolerance: float = 300.0):
        self._keys = [_key(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
        self._tolerance = tolerance
        if not self._keys:
            raise ValueError("no secret")

    def receive(self, body: Union[bytes, bytearray, memoryview], headers: Headers) -> List[Change]:
        """The changes of a request, 1 to 100, in their order.

        `body` is the body as it has arrived, byte by byte. Raises `WebhookError` if the server has not signed it, or not
        now. After an answer other than 2xx, or none in time, the server sends the changes again, after a restart perhaps
        with further ones: a change that comes again has the same `position`.
        """
        if not isinstance(body, (bytes, bytearray, memoryview)):
            raise TypeError("the body is needed as the bytes that have arrived: a framework may have changed its text")
        given = {name.lower(): value for name, value in headers.items()}
        id, timestamp, signatures = (_header(given, name) for name in ("id", "timestamp", "signature"))
        self._check_time(timestamp)
        self._check_signature(_bytes(f"{id}.{timestamp}.") + body, signatures)
        return _changes(bytes(body))

    def _check_time(self, timestamp: str) -> None:
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 15):
            raise WebhookError(f"webhook-timestamp: expected seconds since 1970, not {timestamp[:40]!r}")
        late = time.time() - int(timestamp)
        if abs(late) > self._tolerance:
            place = "after" if late < 0 else "before"
            raise WebhookError(f"webhook-timestamp: {abs(late):.0f} seconds {place} the clock of this machine")

    def _check_signature(self, signed: bytes, signatures: str) -> None:
        given = [_bytes(one[3:]) for one in signatures.split() if one.startswith("v1,")]
        if not given:
            raise WebhookError("webhook-signature: no signature of the version v1")
        for key in self._keys:
            wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
            if any(hmac.compare_digest(wanted, signature) for signature in given):
                return
        raise WebhookError("webhook-signature: none fits: another secret, or the request was changed on its way")


def _key(secret: str) -> bytes:
    """The key of a secret. Raises `ValueError`, which does not tell the secret."""
    text = secret.strip()
    try:
        key = base64.b64decode(text[len(_PREFIX) :], validate=True) if text.startswith(_PREFIX) else b""
    except ValueError:
        key = b""
    if not 24 <= len(key) <= 64:
        raise ValueError(f"a secret is {_PREFIX!r} with the base64 of 24 to 64 bytes after it")
    return key


def _changes(body: bytes) -> List[Change]:
    try:
        changes = read_object(body, "items")["items"]
    except BadAnswer:
        changes = None
    if not isinstance(changes, list):
        raise WebhookError("the signature fits, but the body is no list of changes")
    return changes


def _bytes(text: str) -> bytes:
    """The bytes of a header. No text fails here: a strange one fits no signature."""
    return text.encode(errors="replace")


def _header(headers: Dict[str, str], name: str) -> str:
    value = headers.get(f"webhook-{name}")
    if not value:
        raise WebhookError(f"webhook-{name}: the header is missing")
    return value
