"""The worker's part: sends the calls of the outbox."""

import logging

from tideline import ProblemError

from .client import client, is_final
from .models import Call

logger = logging.getLogger(__name__)


def send_calls() -> None:
    """Sends all calls, in the order of their ids. Raises a `TidelineError`; the call that failed stays the first one.

    A call is removed after its answer. So a crash may send it twice, which changes nothing more."""
    while call := Call.objects.filter(refusal="").order_by("id").first():
        try:
            getattr(client(), call.method)(**call.arguments)
        except ProblemError as problem:
            if not is_final(problem):
                raise
            if problem.code != "content_not_found":  # the code of a delete that an earlier attempt has done
                logger.error("call %s is refused: %s %s: %s", call.id, call.method, call.arguments, problem)
                call.refusal = str(problem)
                call.save(update_fields=["refusal"])
                continue
        call.delete()
