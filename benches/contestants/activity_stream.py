"""django-activity-stream in a small application of Django, with its calls as its documentation has them, on PostgreSQL."""

from datetime import datetime, timedelta, timezone
from importlib.metadata import version
from typing import Any

from support.client import Item
from support.postgres import Postgres

from .contestant import LIMIT, Contestant, Page


class ActivityStream(Contestant):
    def start(self) -> None:
        self.server = Postgres(self.directory / "postgres")
        self.server.start()
        self.set_up()
        from django.contrib.auth.models import User

        User.objects.bulk_create([User(pk=user, username=f"user{user}") for user in range(1, self.users + 1)])
        self.empty = self.size()

    def set_up(self) -> None:
        """Django can be configured once in a process."""
        import django
        from django.conf import settings
        from django.core.management import call_command

        place = {"ENGINE": "django.db.backends.postgresql", "NAME": "postgres", "USER": "host", "HOST": str(self.server.directory)}
        settings.configure(
            SECRET_KEY="none",
            USE_TZ=True,
            DATABASES={"default": place},
            DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
            INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "contestants.posts", "actstream"],
        )
        django.setup()
        from actstream import registry
        from django.contrib.auth.models import User

        from .posts.models import Post

        registry.register(User, Post)
        call_command("migrate", verbosity=0)
        call_command("migrate", run_syncdb=True, verbosity=0)  # the tables of posts, which refer to users

    def restart(self) -> None:
        from django.db import connections

        connections.close_all()
        super().restart()

    def connect(self) -> None:
        """Each thread is connected with its first query."""

    def user(self, id: int) -> Any:
        from django.contrib.auth.models import User

        return User.objects.get(pk=id)

    def publish(self, item: Item) -> None:
        from actstream import action
        from django.db import transaction

        from .posts.models import Post

        at = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=item[0])
        with transaction.atomic():
            author = self.user(item[2])
            post = Post.objects.create(pk=item[1], author=author, created_at=at)
            action.send(author, verb="posted", action_object=post, timestamp=at)

    def delete(self, item: Item) -> None:
        from .posts.models import Post

        Post.objects.get(pk=item[1]).delete()

    def follow(self, user: int, author: int) -> None:
        from actstream.actions import follow

        follow(self.user(user), self.user(author), send_action=False)

    def unfollow(self, user: int, author: int) -> None:
        from actstream.actions import unfollow

        unfollow(self.user(user), self.user(author))

    def mute(self, user: int, author: int) -> None:
        from .posts.models import Mute

        Mute.objects.get_or_create(owner_id=user, author_id=author)

    def unmute(self, user: int, author: int) -> None:
        from .posts.models import Mute

        Mute.objects.filter(owner_id=user, author_id=author).delete()

    def page(self, user: int, at: Any) -> Page:
        from actstream.models import user_stream
        from django.core.paginator import EmptyPage, Paginator

        from .posts.models import Mute

        muted = [str(author) for author in Mute.objects.filter(owner_id=user).values_list("author_id", flat=True)]
        try:
            page = Paginator(user_stream(self.user(user)).exclude(actor_object_id__in=muted), LIMIT).page(at or 1)
        except EmptyPage:  # there are fewer pages than there were
            return Page([], None)
        ids = [int(action.action_object_object_id) for action in page.object_list]
        return Page(ids, page.next_page_number() if page.has_next() else None)

    def size(self) -> int:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return cursor.fetchone()[0]

    def stored(self) -> str:
        return f"{(self.size() - self.empty) / 2**20:.1f} MiB of disk"

    def versions(self) -> dict[str, str]:
        from django.db import connection

        connection.ensure_connection()
        number = connection.pg_version
        own = {"PostgreSQL": f"{number // 10000}.{number % 10000}"}
        return own | {name: version(name) for name in ("django-activity-stream", "Django", "psycopg")}
