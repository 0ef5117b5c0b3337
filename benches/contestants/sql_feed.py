"""Feeds in PostgreSQL: an inbox for each user, and a join without one."""

import threading
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import psycopg
from support.client import Item
from support.postgres import Postgres

from .contestant import LIMIT, Contestant, Page

TABLES = """
CREATE TABLE items (id bigint PRIMARY KEY, author bigint NOT NULL, created_at bigint NOT NULL);
CREATE INDEX ON items (author, created_at DESC, id DESC);
CREATE TABLE follows (follower bigint, followee bigint, PRIMARY KEY (follower, followee));
CREATE INDEX ON follows (followee);
CREATE TABLE mutes (owner bigint, author bigint, PRIMARY KEY (owner, author));
"""
INBOX = """
CREATE TABLE inbox (owner bigint, item bigint REFERENCES items ON DELETE CASCADE, created_at bigint NOT NULL,
    PRIMARY KEY (owner, item));
CREATE INDEX ON inbox (owner, created_at DESC, item DESC);
CREATE INDEX ON inbox (item);
"""
HIGHEST = 2**63 - 1
TRIES = 5


class SqlPull(Contestant):
    tables = TABLES
    query = """
        SELECT i.id, i.created_at FROM items i JOIN follows f ON f.followee = i.author
        WHERE f.follower = %(user)s AND (i.created_at, i.id) < (%(at)s, %(id)s)
            AND NOT EXISTS (SELECT FROM mutes m WHERE m.owner = %(user)s AND m.author = i.author)
        ORDER BY i.created_at DESC, i.id DESC LIMIT %(limit)s"""

    def start(self) -> None:
        self.server = Postgres(self.directory / "postgres")
        self.server.start()
        self.connect()
        self.empty = self.size()
        self.database.execute(self.tables)

    def connect(self) -> None:
        self.local = threading.local()

    @property
    def database(self) -> psycopg.Connection:
        """One connection for each thread."""
        if not hasattr(self.local, "database"):
            self.local.database = psycopg.connect(self.server.address, autocommit=True)
        return self.local.database

    def transaction(self, work: Callable[[psycopg.Connection], None], author: int) -> None:
        """One transaction about an author, again if the database has ended it because of another one."""
        for left in reversed(range(TRIES)):
            try:
                with self.database.transaction():
                    return work(self.database)
            except (psycopg.errors.DeadlockDetected, psycopg.errors.ForeignKeyViolation):
                if not left:
                    raise

    def publish(self, item: Item) -> None:
        self.database.execute("INSERT INTO items (created_at, id, author) VALUES (%s, %s, %s)", item)

    def delete(self, item: Item) -> None:
        self.database.execute("DELETE FROM items WHERE id = %s", [item[1]])

    def follow(self, user: int, author: int) -> None:
        self.database.execute("INSERT INTO follows VALUES (%s, %s) ON CONFLICT DO NOTHING", [user, author])

    def unfollow(self, user: int, author: int) -> None:
        self.database.execute("DELETE FROM follows WHERE follower = %s AND followee = %s", [user, author])

    def mute(self, user: int, author: int) -> None:
        self.database.execute("INSERT INTO mutes VALUES (%s, %s) ON CONFLICT DO NOTHING", [user, author])

    def unmute(self, user: int, author: int) -> None:
        self.database.execute("DELETE FROM mutes WHERE owner = %s AND author = %s", [user, author])

    def page(self, user: int, at: Any) -> Page:
        created, id = at or (HIGHEST, HIGHEST)
        rows = self.database.execute(self.query, {"user": user, "at": created, "id": id, "limit": LIMIT}).fetchall()
        last = (rows[-1][1], rows[-1][0]) if len(rows) == LIMIT else None
        return Page([row[0] for row in rows], last)

    def size(self) -> int:
        row = self.database.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None
        return row[0]

    def stored(self) -> str:
        return f"{(self.size() - self.empty) / 2**20:.1f} MiB of disk"

    def versions(self) -> dict[str, str]:
        row = self.database.execute("SHOW server_version").fetchone()
        assert row is not None
        return {"PostgreSQL": row[0].split()[0], "psycopg": version("psycopg")}


class SqlInbox(SqlPull):
    tables = TABLES + INBOX
    query = """
        SELECT b.item, b.created_at FROM inbox b JOIN items i ON i.id = b.item
        WHERE b.owner = %(user)s AND (b.created_at, b.item) < (%(at)s, %(id)s)
            AND NOT EXISTS (SELECT FROM mutes m WHERE m.owner = %(user)s AND m.author = i.author)
        ORDER BY b.created_at DESC, b.item DESC LIMIT %(limit)s"""

    def publish(self, item: Item) -> None:
        def work(database: psycopg.Connection) -> None:
            super(SqlInbox, self).publish(item)
            query = "INSERT INTO inbox SELECT follower, %s, %s FROM follows WHERE followee = %s"
            database.execute(query, [item[1], item[0], item[2]])

        self.transaction(work, item[2])

    def follow(self, user: int, author: int) -> None:
        def work(database: psycopg.Connection) -> None:
            super(SqlInbox, self).follow(user, author)
            query = "INSERT INTO inbox SELECT %s, id, created_at FROM items WHERE author = %s ON CONFLICT DO NOTHING"
            database.execute(query, [user, author])

        self.transaction(work, author)

    def unfollow(self, user: int, author: int) -> None:
        def work(database: psycopg.Connection) -> None:
            super(SqlInbox, self).unfollow(user, author)
            query = "DELETE FROM inbox b USING items i WHERE b.item = i.id AND b.owner = %s AND i.author = %s"
            database.execute(query, [user, author])

        self.transaction(work, author)


class SqlLockedInbox(SqlInbox):
    """A publish of an author and the follows of this author wait for each other."""

    def transaction(self, work: Callable[[psycopg.Connection], None], author: int) -> None:
        def locked(database: psycopg.Connection) -> None:
            database.execute("SELECT pg_advisory_xact_lock(%s)", [author])
            work(database)

        super().transaction(locked, author)
