"""The worker's part: sends the calls of the outbox."""

import logging

from . import tideline
from .models import Call

logger = logging.getLogger(__name__)


def send_calls() -> None:
    """Sends all calls, in the order of their ids. Raises `Unavailable`; the call that failed stays the first one.

    A call is removed after its answer. So a crash may send it twice, which changes nothing more."""
    while call := Call.objects.filter(refusal="").order_by("id").first():
        try:
            tideline.call(call.method, call.path, body=call.body)
        except tideline.Refused as refused:
            if not (call.method == "DELETE" and refused.status == 404):  # 404: done by an earlier attempt
                logger.error("call %s is refused: %s", call.id, refused)
                call.refusal = str(refused)
                call.save(update_fields=["refusal"])
                continue
        call.delete()
