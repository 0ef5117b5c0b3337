#!/usr/bin/env python3
"""Proves `recipes/postgresql`: a host changes its tables while its worker, Tideline and PostgreSQL are killed with -9.

At the end, follows, posts, likes and timelines of Tideline must be those of the tables: nothing missing, nothing twice.
`tests/recipes.py` runs it where psycopg and the client are installed.
"""

import argparse
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
from support.postgres import Postgres
from support.server import Tideline, Workspace
from tideline import Tideline as Client

RECIPE = Path(__file__).resolve().parent.parent / "recipes" / "postgresql"
MEMBERS = [f"member {n}" if n % 2 else f"{n + 1}" for n in range(12)] + ["a/b é 🌊"]


class Worker:
    """The worker of the recipe."""

    def __init__(self, postgres: Postgres, log: Path):
        self.postgres = postgres
        self.log = log
        self.process: subprocess.Popen | None = None

    def start(self, url: str) -> None:
        environment = os.environ | {"DATABASE": self.postgres.address, "TIDELINE_URL": url}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([sys.executable, RECIPE / "worker.py"], env=environment, stdout=log, stderr=log)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Host:
    """Threads that make random transactions, some of them rolled back, and do not mind lost connections."""

    def __init__(self, postgres: Postgres, threads: int, seed: int):
        self.address = postgres.address
        self.ended = threading.Event()
        self.committed = 0
        self.lost = 0
        self.posts: list[str] = []
        self.faults: list[BaseException] = []
        self.threads = [threading.Thread(target=self.work, args=(n, random.Random(f"{seed} {n}")), daemon=True) for n in range(threads)]
        for thread in self.threads:
            thread.start()

    def work(self, thread: int, dice: random.Random) -> None:
        number = 0
        while not self.ended.is_set():
            try:
                with psycopg.connect(self.address) as database:
                    while not self.ended.is_set():
                        number += 1
                        for _ in range(dice.choice([1, 1, 1, 3])):
                            self.change(database, dice, f"{thread}{number:07}" if number % 2 else f"post {thread}/{number}")
                        if dice.random() < 0.1:
                            database.rollback()
                        else:
                            database.commit()
                            self.committed += 1
                        time.sleep(0.02)
            except (psycopg.OperationalError, psycopg.InterfaceError):
                self.lost += 1  # whether the last transaction was committed, only the tables know
                time.sleep(0.05)
            except BaseException as fault:
                self.faults.append(fault)
                return

    def change(self, database: psycopg.Connection, dice: random.Random, post: str) -> None:
        one, other = dice.sample(MEMBERS, 2)
        known = dice.choice(self.posts[-300:]) if self.posts else post
        match dice.choices(range(7), [3, 2, 4, 2, 1, 3, 2])[0]:
            case 0:
                database.execute("INSERT INTO follows VALUES (%s, %s) ON CONFLICT DO NOTHING", [one, other])
            case 1:
                database.execute("DELETE FROM follows WHERE follower = %s AND followee = %s", [one, other])
            case 2:
                database.execute("INSERT INTO posts VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", [post, one, f"Text of {post}"])
                self.posts.append(post)
            case 3:
                database.execute("UPDATE posts SET body = body || '!' WHERE id = %s", [known])
            case 4:
                database.execute("DELETE FROM posts WHERE id = %s", [known])
            case 5:
                like = "INSERT INTO likes SELECT id, %s FROM posts WHERE id = %s FOR KEY SHARE ON CONFLICT DO NOTHING"
                database.execute(like, [one, known])
            case 6:
                database.execute("DELETE FROM likes WHERE post = %s AND member = %s", [known, one])

    def end(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join()
        if self.faults:
            raise self.faults[0]


def compare(database: psycopg.Connection, client: Client) -> list[str]:
    """The differences between the tables and Tideline."""
    faults = []

    def same(name: str, tideline: object, tables: object) -> None:
        if tideline != tables:
            faults.append(f"{name}: Tideline has {str(tideline)[:300]}, the tables have {str(tables)[:300]}")

    milliseconds = "floor(extract(epoch FROM created_at) * 1000)::bigint"
    for member in MEMBERS:
        rows = database.execute(f"SELECT followee, {milliseconds} FROM follows WHERE follower = %s", [member]).fetchall()
        same(f"follows of {member}", sorted((f["user_id"], f["since"]) for f in client.following(member, limit=100)), sorted(rows))
        rows = database.execute(f"SELECT id, body, {milliseconds} FROM posts WHERE author = %s", [member]).fetchall()
        shown = [(item["content_id"], item["text"], item["published_at"]) for item in client.user_content(member, limit=100)]
        same(f"posts of {member}", sorted(shown), sorted(rows))
        query = "SELECT id FROM posts JOIN follows ON author = followee WHERE follower = %s"
        rows = database.execute(query, [member]).fetchall()
        shown = [item["content_id"] for item in client.timeline(member, limit=100, view="ids")]
        same(f"timeline of {member}", sorted(shown), sorted(row[0] for row in rows))
        if not client.verify(member, depth=100_000)["exact"]:
            faults.append(f"the timeline of {member} is not exact")
    likes: dict[str, list[str]] = {}
    for post, member in database.execute("SELECT post, member FROM likes").fetchall():
        likes.setdefault(post, []).append(member)
    for (post,) in database.execute("SELECT id FROM posts").fetchall():
        shown = sorted(like["user_id"] for like in client.reactions(post, "like", limit=100))
        same(f"likes of {post}", shown, sorted(likes.get(post, [])))
        counts = [item["counts"]["likes"] for item in client.items([post])]
        same(f"counts of likes of {post}", counts, [len(likes.get(post, []))])
    refused = database.execute("SELECT change, problem FROM tideline_refused").fetchall()
    same("refused changes", refused, [])
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, required=True)
    parser.add_argument("--kills", type=int, default=15, help="how many times a process is killed")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    args = parser.parse_args()
    print(f"seed {args.seed}")
    dice = random.Random(args.seed)
    with Workspace(None, False) as workspace:
        postgres = Postgres(workspace / "postgres")
        tideline = Tideline(args.binary, workspace, {})
        worker = Worker(postgres, workspace / "worker.log")
        try:
            postgres.start()
            tideline.start()
            # Tideline comes back at its address.
            tideline.listen = "{}:{}".format(*tideline.address)
            url = f"http://{tideline.listen}"
            with psycopg.connect(postgres.address) as database:
                for name in ("host.sql", "outbox.sql"):
                    database.execute((RECIPE / name).read_text())
            worker.start(url)
            host = Host(postgres, 4, args.seed)
            killed = {"worker": 0, "Tideline": 0, "PostgreSQL": 0}
            for _ in range(args.kills):
                time.sleep(dice.uniform(0.2, 1.2))
                victim = dice.choice(sorted(killed))
                killed[victim] += 1
                if victim == "worker":
                    worker.kill()
                    worker.start(url)
                elif victim == "Tideline":
                    tideline.kill()
                    time.sleep(dice.uniform(0, 0.5))
                    tideline.start()
                else:
                    postgres.kill()
                    postgres.start()
            host.end()
            with psycopg.connect(postgres.address, autocommit=True) as database:
                end = time.monotonic() + 300
                while (left := database.execute("SELECT count(*) FROM tideline_outbox").fetchone()) != (0,):
                    if time.monotonic() > end:
                        raise SystemExit(f"{left} rows are left in the outbox; the worker wrote:\n{worker.log.read_text()[-2000:]}")
                    time.sleep(0.1)
                with Client(url) as client:
                    faults = compare(database, client)
                sizes = [database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("follows", "posts", "likes")]
                last = database.execute("SELECT last_value FROM tideline_outbox_id_seq").fetchone()[0]
            if faults:
                raise SystemExit("\n".join([f"{len(faults)} differences:", *faults[:10]]))
            tideline.stop()
            tideline.check()
            follows, posts, likes = sizes
            print(
                f"{host.committed} transactions with {last} changes, {host.lost} lost connections; killed: {killed}; at the "
                f"end {follows} follows, {posts} posts and {likes} likes in the tables, and the same in Tideline"
            )
        finally:
            worker.kill()
            tideline.kill()
            postgres.kill()
    return 0


if __name__ == "__main__":
    sys.exit(main())
