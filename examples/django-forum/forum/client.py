"""The client of Tideline, and its errors."""

from functools import cache

from django.conf import settings
from tideline import ProblemError, Tideline, TidelineError

# The key or the host is wrong, or there are too many calls: the same call can succeed later.
MAY_PASS = {401, 403, 421, 429}


def client() -> Tideline:
    """The client of this process; all threads share it."""
    return client_of(settings.TIDELINE_URL, settings.TIDELINE_KEY)


@cache
def client_of(url: str, key: str) -> Tideline:
    return Tideline(url, key=key or None, timeout=10, retries=1, max_retry_delay=1)


def is_final(error: TidelineError) -> bool:
    """Whether Tideline refuses this call now and later."""
    return isinstance(error, ProblemError) and error.status < 500 and error.status not in MAY_PASS
