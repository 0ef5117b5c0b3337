"""The client of Tideline, and its errors."""

from functools import cache

from django.conf import settings
from tideline import ProblemError, Tideline, TidelineError

# The key, the host or the address is wrong, or there are too many calls: the same call can succeed later.
MAY_PASS = {401, 403, 404, 405, 408, 421, 429}
# But these are about the call.
FINAL = {"blocked", "content_not_found", "request_not_found"}
TOO_LARGE = {413, 414}  # also when a proxy says so


def client() -> Tideline:
    """The client of this process; all threads share it."""
    return client_of(settings.TIDELINE_URL, settings.TIDELINE_KEY)


@cache
def client_of(url: str, key: str) -> Tideline:
    return Tideline(url, key=key or None, timeout=10, retries=1, max_retry_delay=1)


def is_final(error: TidelineError) -> bool:
    """Whether Tideline refuses this call now and later."""
    if not isinstance(error, ProblemError) or error.status >= 500:
        return False
    if error.problem is None:  # not Tideline has answered: the address or a proxy is wrong
        return error.status in TOO_LARGE
    return error.code in FINAL or error.status not in MAY_PASS
