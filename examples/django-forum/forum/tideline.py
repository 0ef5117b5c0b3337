"""Calls to Tideline."""

import urllib3
from django.conf import settings

# The process may be at fault (a wrong key, a wrong host), not the request: sending it again helps when that is mended.
SEND_AGAIN = {401, 403, 421, 429}
pool = urllib3.PoolManager(maxsize=10, retries=False, timeout=10)


class Unavailable(Exception):
    """Tideline did not answer, or asks to be called again after `retry_after` seconds."""

    def __init__(self, reason: str, retry_after: float = 0):
        super().__init__(reason)
        self.retry_after = retry_after


class Refused(Exception):
    """Tideline refuses this call, now and later."""

    def __init__(self, status: int, reason: str):
        super().__init__(reason)
        self.status = status


def call(method: str, path: str, *, body: dict | None = None, query: dict | None = None) -> dict:
    """The body of the answer. A change can be sent again after `Unavailable`."""
    headers = {"Authorization": f"Bearer {settings.TIDELINE_KEY}"} if settings.TIDELINE_KEY else {}
    url = settings.TIDELINE_URL + path
    try:
        if body is None:
            answer = pool.request(method, url, fields=query, headers=headers)
        else:
            answer = pool.request(method, url, json=body, headers=headers)
    except urllib3.exceptions.HTTPError as error:
        raise Unavailable(f"{method} {path}: {error}") from error
    if answer.status < 300:
        return answer.json() if answer.data else {}
    reason = f"{method} {path}: {answer.status} {answer.data[:1000].decode(errors='replace')}"
    if answer.status in SEND_AGAIN or answer.status >= 500:
        seconds = answer.headers.get("Retry-After", "")
        raise Unavailable(reason, float(seconds) if seconds.isdigit() else 0)
    raise Refused(answer.status, reason)
