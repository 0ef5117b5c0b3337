"""The end of a user token."""

from __future__ import annotations

import base64
import json

# Seconds before its end in which a token is renewed; for short tokens a quarter of the time that is left.
_EARLY = 30.0


def end_of(token: str) -> float:
    """The `exp` of a user token in seconds since 1970. A token in which none can be read has no end."""
    try:
        payload = token.split(".")[1]
        end = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["exp"]
        return float(end) if isinstance(end, (int, float)) else float("inf")
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
        return float("inf")  # not a JSON Web Token


def renewal_of(end: float, now: float) -> float:
    """When a new token with this end is renewed.

    A token that seems to have ended already shows that the clocks differ: it is used until it is refused.
    """
    left = end - now
    return end - min(_EARLY, left / 4) if left > 0 else float("inf")
