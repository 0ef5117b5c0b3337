import fcntl
import logging
import time

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import close_old_connections
from tideline import TidelineError

from forum.outbox import send_calls

logger = logging.getLogger("forum.outbox")
PAUSE = 0.3  # seconds between two looks at the outbox
LONGEST_PAUSE = 30.0  # while Tideline is not available


class Command(BaseCommand):
    help = "Sends the changes of the forum to Tideline, in order, until it is stopped. A second one does not start."

    def add_arguments(self, parser):
        parser.add_argument("--once", action="store_true", help="send what is there, and end")

    def handle(self, *, once, **options):
        # Two workers would mix the order. The system frees the lock when the process ends, however it ends.
        with open(f"{settings.DATABASES['default']['NAME']}.worker", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise CommandError("Another worker runs.") from error
            self.work(once)

    def work(self, once):
        pause = PAUSE
        while True:
            close_old_connections()
            try:
                send_calls()
                pause = PAUSE
            except TidelineError as error:
                if once:
                    raise CommandError(str(error)) from error
                pause = max(getattr(error, "retry_after", None) or 0, min(2 * pause, LONGEST_PAUSE))
                logger.warning("Tideline is not available; the next attempt is in %.1f s: %s", pause, error)
            if once:
                return
            time.sleep(pause)
