"""stream-framework-plus, with feeds, a manager and pages as its documentation has them, and Redis as its storage."""

from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any

from celery import Celery
from stream_framework import settings
from stream_framework.activity import Activity
from stream_framework.feed_managers.base import FanoutPriority, Manager
from stream_framework.feeds.redis import RedisFeed
from stream_framework.storage.redis import connection
from stream_framework.verbs import register
from stream_framework.verbs.base import Verb
from support.client import Item
from support.redis_server import RedisServer

from .contestant import LIMIT, Contestant, Page


class Post(Verb):
    """The verb of all activities."""

    id = 5
    infinitive = "post"
    past_tense = "posted"


register(Post)


class PostFeed(RedisFeed):
    """Of the followers."""

    key_format = "feed:normal:%(user_id)s"


class UserPostFeed(PostFeed):
    """Of the author."""

    key_format = "feed:user:%(user_id)s"


class PostManager(Manager):
    """The table of follows, which it asks for, is in sets of the same Redis."""

    feed_classes = {"normal": PostFeed}
    user_feed_class = UserPostFeed

    def get_user_follower_ids(self, user_id: int) -> dict[str, list[int]]:
        followers = connection.get_redis_connection().smembers(f"followers:{user_id}")
        return {FanoutPriority.HIGH: sorted(map(int, followers))}


class StreamFramework(Contestant):
    """With the default length of feeds."""

    longest: int | None = None

    def start(self) -> None:
        self.server = RedisServer(self.directory / "redis")
        self.server.start()
        # Tasks are given managers and classes, which only pickle takes.
        celery = Celery("comparison")
        celery.conf.update(task_always_eager=True, task_eager_propagates=True, task_serializer="pickle", accept_content=["pickle"])
        celery.set_default()
        settings.STREAM_REDIS_CONFIG = {"default": {"host": "127.0.0.1", "port": self.server.port, "db": 0, "password": None}}
        if self.longest is not None:
            PostFeed.max_length = UserPostFeed.max_length = self.longest
        self.manager = PostManager()
        self.connect()
        self.empty = self.memory()

    def connect(self) -> None:
        connection.connection_pool = None
        self.redis = connection.get_redis_connection()

    def restart(self) -> None:
        self.server.settle()
        super().restart()

    def activity(self, item: Item) -> Any:
        return Activity(item[2], Post, item[1], time=datetime(1970, 1, 1) + timedelta(milliseconds=item[0]))

    def publish(self, item: Item) -> None:
        self.manager.add_user_activity(item[2], self.activity(item))

    def delete(self, item: Item) -> None:
        self.manager.remove_user_activity(item[2], self.activity(item))

    def follow(self, user: int, author: int) -> None:
        self.redis.sadd(f"followers:{author}", user)
        self.manager.follow_user(user, author)

    def unfollow(self, user: int, author: int) -> None:
        self.redis.srem(f"followers:{author}", user)
        self.manager.unfollow_user(user, author)

    def mute(self, user: int, author: int) -> None:
        self.redis.sadd(f"muted:{user}", author)

    def unmute(self, user: int, author: int) -> None:
        self.redis.srem(f"muted:{user}", author)

    def page(self, user: int, at: Any) -> Page:
        feed = self.manager.get_feeds(user)["normal"]
        found = (feed if at is None else feed.filter(activity_id__lt=at))[:LIMIT]
        muted = set(map(int, self.redis.smembers(f"muted:{user}")))
        shown = [activity.object_id for activity in found if activity.actor_id not in muted]
        return Page(shown, found[-1].serialization_id if len(found) == LIMIT else None)

    def memory(self) -> int:
        return int(self.redis.info("memory")["used_memory"])

    def stored(self) -> str:
        return f"{(self.memory() - self.empty) / 2**20:.1f} MiB of memory"

    def versions(self) -> dict[str, str]:
        names = ("stream-framework-plus", "celery")
        own = {"Redis": self.redis.info("server")["redis_version"], "redis (Python)": version("redis")}
        return own | {name: version(name) for name in names}


class LongStreamFramework(StreamFramework):
    """With feeds that nobody fills."""

    longest = 1_000_000
