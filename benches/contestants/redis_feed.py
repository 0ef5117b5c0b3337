"""A feed in sorted sets of Redis, as most write it: two ways to read pages."""

from importlib.metadata import version
from typing import Any

import redis
from support.client import Item
from support.redis_server import RedisServer

from .about import CAP
from .contestant import LIMIT, Contestant, Page


class RedisFeed(Contestant):
    """One sorted set a user with the times as scores, one an author, a hash a post, sets of the relations."""

    merged = CAP  # posts of an author that a follow brings

    def start(self) -> None:
        self.server = RedisServer(self.directory / "redis")
        self.server.start()
        self.connect()
        self.empty = self.memory()

    def connect(self) -> None:
        # Its pool gives each thread a connection.
        self.redis = redis.Redis(port=self.server.port, decode_responses=True)

    def restart(self) -> None:
        self.server.settle()
        super().restart()

    def publish(self, item: Item) -> None:
        at, post, author = item
        with self.redis.pipeline() as pipe:
            pipe.hset(f"post:{post}", "author", author)
            pipe.zadd(f"posts:{author}", {post: at})
            pipe.execute()
        with self.redis.pipeline(transaction=False) as pipe:
            for follower in self.redis.smembers(f"followers:{author}"):
                pipe.zadd(f"feed:{follower}", {post: at})
                pipe.zremrangebyrank(f"feed:{follower}", 0, -CAP - 1)
            pipe.execute()

    def delete(self, item: Item) -> None:
        with self.redis.pipeline() as pipe:
            pipe.delete(f"post:{item[1]}")
            pipe.zrem(f"posts:{item[2]}", item[1])
            pipe.execute()

    def follow(self, user: int, author: int) -> None:
        with self.redis.pipeline() as pipe:
            pipe.sadd(f"following:{user}", author)
            pipe.sadd(f"followers:{author}", user)
            pipe.execute()
        newest = self.redis.zrevrange(f"posts:{author}", 0, self.merged - 1, withscores=True)
        if newest:
            with self.redis.pipeline() as pipe:
                pipe.zadd(f"feed:{user}", dict(newest))
                pipe.zremrangebyrank(f"feed:{user}", 0, -CAP - 1)
                pipe.execute()

    def unfollow(self, user: int, author: int) -> None:
        with self.redis.pipeline() as pipe:
            pipe.srem(f"following:{user}", author)
            pipe.srem(f"followers:{author}", user)
            pipe.execute()
        posts = self.redis.zrange(f"feed:{user}", 0, -1)
        theirs = [post for post, by in zip(posts, self.authors(posts)) if by == str(author)]
        if theirs:
            self.redis.zrem(f"feed:{user}", *theirs)

    def mute(self, user: int, author: int) -> None:
        self.redis.sadd(f"muted:{user}", author)

    def unmute(self, user: int, author: int) -> None:
        self.redis.srem(f"muted:{user}", author)

    def authors(self, posts: list[str]) -> list[str | None]:
        """The authors of posts; `None` for deleted ones."""
        with self.redis.pipeline(transaction=False) as pipe:
            for post in posts:
                pipe.hget(f"post:{post}", "author")
            return pipe.execute()

    def shown(self, user: int, posts: list[str]) -> list[int]:
        """Posts that are there still, and whose authors are not muted."""
        muted = self.redis.smembers(f"muted:{user}")
        return [int(post) for post, author in zip(posts, self.authors(posts)) if author is not None and author not in muted]

    def memory(self) -> int:
        return int(self.redis.info("memory")["used_memory"])

    def stored(self) -> str:
        return f"{(self.memory() - self.empty) / 2**20:.1f} MiB of memory"

    def versions(self) -> dict[str, str]:
        return {"Redis": self.redis.info("server")["redis_version"], "redis (Python)": version("redis")}


class ByRank(RedisFeed):
    """The next page begins at the rank below this one."""

    def page(self, user: int, at: Any) -> Page:
        start = at or 0
        posts = self.redis.zrevrange(f"feed:{user}", start, start + LIMIT - 1)
        return Page(self.shown(user, posts), start + LIMIT if len(posts) == LIMIT else None)


class ByScore(RedisFeed):
    """The next page begins below the score of this one."""

    merged = CAP // 4

    def page(self, user: int, at: Any) -> Page:
        below = "+inf" if at is None else f"({at}"
        found = self.redis.zrevrangebyscore(f"feed:{user}", below, "-inf", 0, LIMIT, withscores=True)
        after = int(found[-1][1]) if len(found) == LIMIT else None
        return Page(self.shown(user, [post for post, _ in found]), after)
