#!/usr/bin/env python3
"""Proves `recipes/move`: a host with a million rows moves from PostgreSQL, and the same host from Redis.

Old inboxes are the newest items of each timeline, by SQL. After the import Tideline must show just these, and
`tideline check` must find nothing. `tests/recipes.py` runs it where the packages are installed.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import redis
from support.expect import Unexpected
from support.postgres import Postgres
from support.program import arguments, judge
from support.redis_server import RedisServer
from support.server import Tideline

RECIPE = Path(__file__).resolve().parent.parent / "recipes" / "move"
# Follows of a reader, posts of an author, items of an inbox.
FOLLOWS, POSTS, INBOX = 20, 10, 20


def host(readers: int, authors: int) -> str:
    """The tables of a host.

    Readers follow authors that lie far apart. Every other post has a UUID; each has a time of its own.
    """
    return f"""
CREATE TABLE follows (follower text, followee text, created_at timestamptz, PRIMARY KEY (follower, followee));
CREATE TABLE posts (id text PRIMARY KEY, author text NOT NULL, created_at timestamptz NOT NULL, body text NOT NULL);
INSERT INTO follows SELECT r::text, 'author ' || (r * 37 + n * 2999) % {authors}, to_timestamp(1600000000 + r + n / 1000.0)
    FROM generate_series(1, {readers}) r, generate_series(1, {FOLLOWS}) n;
INSERT INTO posts SELECT CASE WHEN n % 2 = 0 THEN md5(n::text)::uuid::text ELSE (100000000000000000 + n)::text END,
        'author ' || n % {authors}, to_timestamp((1650000000000 + (n * 7919::bigint) % 10000019 * 1000 + n % 1000) / 1000.0),
        'Text "' || n || '", ö' || CASE WHEN n % 5 = 0 THEN chr(10) || 'and a second line' ELSE '' END
    FROM generate_series(0, {authors * POSTS} - 1) n;
CREATE INDEX ON posts (author);
ANALYZE;
CREATE TABLE inbox AS SELECT reader, post, created_at FROM (
    SELECT follower AS reader, id AS post, p.created_at, row_number() OVER (PARTITION BY follower ORDER BY p.created_at DESC) AS place
    FROM follows JOIN posts p ON author = followee) ranked WHERE place <= {INBOX};
"""


def fill(database: redis.Redis, source: psycopg.Connection) -> None:
    """The same host in Redis: sorted sets, with milliseconds as scores."""
    milliseconds = "floor(extract(epoch FROM created_at) * 1000)::bigint"
    queries = {
        "following:{}": f"SELECT follower, followee, {milliseconds}, NULL FROM follows",
        "posts:{}": f"SELECT author, id, {milliseconds}, body FROM posts",
        "feed:{}": f"SELECT reader, post, {milliseconds}, NULL FROM inbox",
    }
    pipe = database.pipeline(transaction=False)
    for key, query in queries.items():
        for user, member, time_of, body in source.execute(query):
            pipe.zadd(key.format(user), {member: time_of})
            if body is not None:
                pipe.hset(f"post:{member}", "body", body)
            if len(pipe) >= 10_000:
                pipe.execute()
    pipe.execute()


def hostile(address: str, directory: Path) -> None:
    """What cannot be exported is named and left out, and members are trimmed while their set is read."""
    export = [sys.executable, RECIPE / "from_redis.py", "--url", address, "--text", "body"]
    directory.mkdir()
    refused = subprocess.run([*export, "--posts", "posts"], cwd=directory, stderr=subprocess.PIPE, text=True)
    assert refused.returncode == 2 and "posts: one *" in refused.stderr, refused
    with redis.Redis.from_url(address) as database:
        database.set("posts:count", 7)
        database.sadd(b"following:\xff", "1")
        database.zadd(b"following:\xfe", {"1": 1})
        database.zadd("following: me ", {" you ": 5, b"\xff\xfe": 6, "never": float("inf")})
        database.zadd("posts: you ", {"good": 10, "list": 11, "bytes": 12})
        database.hset("post:good", "body", "a text")
        database.rpush("post:list", "x")
        database.hset("post:bytes", "body", b"\xff")
        database.zadd("posts:many", {f"{n}": n for n in range(20000)})
        database.zadd("feed:many", {f"{n}": n for n in range(20000)})
        process = subprocess.Popen(export, cwd=directory, stderr=subprocess.PIPE, text=True)
        trimmed = 0
        while process.poll() is None and trimmed < 10000:
            for key in ("posts:many", "feed:many"):
                database.zremrangebyrank(key, 0, 49)
            trimmed += 50
            time.sleep(0.005)
        assert process.stderr is not None
        told = process.stderr.read()
        assert process.wait() == 1, "the faults are no fault"
        database.flushall()
    for name in ("posts:count", r"following:\xff", r"following:\xfe", "'never'", r"b'\xff\xfe'", "post:list", "post:bytes"):
        assert name in told, f"{name} is not named:\n{told}"
    assert told.count("left out") == 7 and "Traceback" not in told, told
    follows = (directory / "follows.ndjson").read_text().splitlines()
    assert [json.loads(line) for line in follows] == [{"user_id": " me ", "target_id": " you ", "since": 5}], follows
    items = [json.loads(line) for line in (directory / "content.ndjson").read_text().splitlines()]
    texts = {item["content_id"]: item.get("text") for item in items}
    assert [texts[name] for name in ("good", "list", "bytes")] == ["a text", None, None]
    with open(directory / "inboxes.csv", newline="") as file:
        inbox = [row[1] for row in csv.reader(file)]
    # Newest first, each once, and all that no trim has touched.
    assert inbox == sorted(set(inbox), key=int, reverse=True), "the inbox is not in order, or has an item twice"
    assert {f"{n}" for n in range(trimmed, 20000)} <= set(inbox), "the inbox lacks an item that no trim has touched"
    posts = {f"{n}" for n in range(trimmed, 20000)}
    assert posts <= texts.keys() and len(texts) == len(items), (trimmed, len(items))
    print(f"from Redis: hostile data is named; {trimmed} members were trimmed meanwhile", flush=True)


def move(binary: Path, directory: Path, kind: str, name: str, lines: int) -> None:
    """Imports the files of a directory, compares the pages with the old inboxes, and checks the data."""
    tideline = Tideline(binary, directory, {})
    begin = time.monotonic()
    told = tideline.run("import", "--follows", directory / f"follows.{kind}", "--content", directory / f"content.{kind}")
    took = time.monotonic() - begin
    new = [int(count) for count in re.findall(r": (\d+) new,", told)]
    if sum(new) != lines:
        raise Unexpected(f"{name}: the import took {new} lines:\n{told[-3000:]}")
    with tideline:
        compare = [sys.executable, RECIPE / "compare.py", directory / "inboxes.csv", "--url", tideline.url]
        done = subprocess.run(compare, stdout=subprocess.PIPE, text=True)
        # The inboxes are exact here, so Tideline has nothing in between.
        if done.returncode != 0 or " items agree, 0 more " not in done.stdout:
            raise Unexpected(f"{name}: {done.stdout[-3000:]}")
    tideline.check()
    print(f"{name}: {sum(new)} lines imported in {took:.0f} s; {done.stdout.strip()}", flush=True)


def moves(binary: Path, workspace: Path, rows: int) -> bool:
    readers, authors = rows // 100, rows * 6 // 100
    lines = readers * FOLLOWS + authors * POSTS
    postgres, server = Postgres(workspace / "postgres"), RedisServer(workspace / "redis-data")
    try:
        postgres.start()
        server.start()
        hostile(server.url, workspace / "hostile")
        with psycopg.connect(postgres.address, autocommit=True) as database:
            database.execute(host(readers, authors))
            tables = ("follows", "posts", "inbox")
            sizes = [database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]
            print(f"the host has {sum(sizes)} rows in {len(tables)} tables", flush=True)
            for name in ("sql", "redis"):
                (workspace / name).mkdir()
            environment = os.environ | {"PGHOST": str(postgres.directory), "PGUSER": "host", "PGDATABASE": "postgres"}
            psql = [postgres.bin / "psql", "--quiet", "--file", RECIPE / "from_sql.sql"]
            subprocess.run(psql, check=True, cwd=workspace / "sql", env=environment)
            lacking = environment | {"PGDATABASE": "template1"}
            failed = subprocess.run(psql, cwd=workspace / "hostile", env=lacking, stderr=subprocess.DEVNULL)
            assert failed.returncode == 3, "an error of psql is no error"
            move(binary, workspace / "sql", "csv", "from SQL", lines)
            shutil.rmtree(workspace / "sql" / "data")
            with redis.Redis.from_url(server.url) as target:
                fill(target, database)
        export = [sys.executable, RECIPE / "from_redis.py", "--url", server.url, "--text", "body"]
        subprocess.run(export, check=True, cwd=workspace / "redis")
        move(binary, workspace / "redis", "ndjson", "from Redis", lines)
    finally:
        postgres.kill()
        server.kill()
    return True


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the three tables")
    args = parser.parse_args()
    judge(args, lambda workspace, _: moves(args.binary, workspace, args.rows))


if __name__ == "__main__":
    sys.exit(main())
