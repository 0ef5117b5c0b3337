#!/usr/bin/env python3
"""Proves `recipes/postgresql`: a host changes its tables while its worker, Tideline and PostgreSQL are killed with -9.

At the end, follows, posts, likes and timelines of Tideline must be those of the tables: nothing missing, nothing twice.
Before, changes that Tideline cannot take, wrong addresses, and a worker that is stopped while another takes over.
`tests/recipes.py` runs it where psycopg and the client are installed.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psycopg
from support.expect import Unexpected, until
from support.postgres import Postgres
from support.prefix_proxy import Handler, serve
from support.program import arguments, judge
from support.server import Tideline, free_port
from tideline import Tideline as Client

RECIPE = Path(__file__).resolve().parent.parent / "recipes" / "postgresql"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "use" / "recipe-postgresql.md"
MEMBERS = [f"member {n}" if n % 2 else f"{n + 1}" for n in range(12)] + ["a/b é 🌊"]


class Worker:
    """The worker of the recipe."""

    def __init__(self, postgres: Postgres, log: Path):
        self.postgres = postgres
        self.log = log
        self.process: subprocess.Popen | None = None

    def start(self, url: str) -> None:
        # No transaction may be open while Tideline works.
        address = f"{self.postgres.address} options='-c idle_in_transaction_session_timeout=1'"
        environment = os.environ | {"DATABASE": address, "TIDELINE_URL": url}
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([sys.executable, RECIPE / "worker.py"], env=environment, stdout=log, stderr=log)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def drained(database: psycopg.Connection, worker: Worker) -> None:
    """Waits until the outbox is empty."""
    count = "SELECT count(*) FROM tideline_outbox"
    until(lambda: f"the outbox is empty; the worker wrote:\n{worker.log.read_text()[-2000:]}",
          lambda: database.execute(count).fetchone() == (0,), 300)


def expect(what: str, found: object, wanted: object) -> None:
    if found != wanted:
        raise Unexpected(f"{what}: {found}, not {wanted}")


def hard_cases(database: psycopg.Connection, worker: Worker, client: Client) -> None:
    """Changes that Tideline cannot take hold up no others and are kept; what it can take is done."""

    def refused() -> list[tuple[str, str]]:
        """What was refused since the last call: kinds of change, and problems."""
        drained(database, worker)
        rows = database.execute("WITH gone AS (DELETE FROM tideline_refused RETURNING *) SELECT * FROM gone ORDER BY id").fetchall()
        return [(change["do"] if isinstance(change, dict) else "?", problem) for _, change, problem, _ in rows]

    def kinds() -> list[str]:
        return [kind for kind, _ in refused()]

    def post(id: str) -> tuple[str, str] | None:
        items = client.items([id])
        return (items[0]["author_id"], items[0]["text"]) if items else None

    # A row that no client can send.
    database.execute("INSERT INTO follows VALUES ('1', '..'), ('1', ''), ('1', '1'), ('1', repeat('x', 100000)), ('1', '2')")
    database.execute("""INSERT INTO tideline_outbox (change) VALUES ('7'), ('{"do": "fly"}'), ('{"do": "follow", "user": {}}')""")
    database.execute("INSERT INTO follows VALUES ('1', '3')")
    expect("refused", kinds(), ["follow", "follow", "follow", "follow", "?", "fly", "follow"])
    expect("after them", sorted(f["user_id"] for f in client.following("1")), ["2", "3"])

    # A follow over a block that a user has made.
    client.block("6", "1")
    database.execute("INSERT INTO follows VALUES ('1', '6')")
    expect("over a block", kinds(), ["follow"])
    database.execute("DELETE FROM follows WHERE followee = '6'")

    # A post that comes again under its id, as it was, and with another time.
    database.execute("INSERT INTO posts VALUES ('again', '2', 'first', '2024-01-01'), ('later', '2', 'first', '2024-01-01')")
    drained(database, worker)
    database.execute("DELETE FROM posts WHERE id IN ('again', 'later')")
    drained(database, worker)
    expect("deleted", (post("again"), post("later")), (None, None))
    database.execute("INSERT INTO posts VALUES ('again', '2', 'second', '2024-01-01'), ('later', '2', 'second', '2024-01-02')")
    expect("with another time", kinds(), ["publish"])
    expect("again", (post("again"), post("later")), (("2", "second"), None))
    # All in one batch.
    for _ in range(2):
        database.execute("DELETE FROM posts WHERE id = 'again'")
        database.execute("INSERT INTO posts VALUES ('again', '2', 'third', '2024-01-01')")
    database.execute("INSERT INTO posts VALUES ('brief', '2', 'brief')")
    database.execute("INSERT INTO likes VALUES ('brief', '1')")
    database.execute("DELETE FROM posts WHERE id = 'brief'")
    expect("in one batch", (refused(), post("again"), post("brief")), ([], ("2", "third"), None))

    # Keys that change, an author that changes, and all rows at once.
    database.execute("UPDATE posts SET id = 'renamed' WHERE id = 'again'")
    database.execute("UPDATE posts SET author = '3', body = 'of another' WHERE id = 'renamed'")
    expect("another author", kinds(), ["publish"])
    expect("renamed", (post("again"), post("renamed")), (None, ("2", "third")))
    database.execute("INSERT INTO likes VALUES ('renamed', '1')")
    database.execute("UPDATE likes SET member = '4'")
    database.execute("UPDATE follows SET followee = '5' WHERE followee = '3'")
    expect("moved", (refused(), [f["user_id"] for f in client.following("1")]), ([], ["5", "2"]))
    expect("moved like", [like["user_id"] for like in client.reactions("renamed", "like")], ["4"])
    database.execute("DELETE FROM follows WHERE followee IN ('', '..', '1', repeat('x', 100000))")
    expect("end of what was refused", kinds(), ["unfollow"] * 3)
    database.execute("TRUNCATE follows; TRUNCATE posts, likes")
    expect("truncated", (refused(), list(client.following("1")), post("renamed")), ([], [], None))

    # Times that are none, and a post that is too large until it is shorter.
    database.execute("INSERT INTO posts VALUES ('end', '2', 'x', 'infinity'), ('start', '2', 'x', '-infinity'), ('bc', '2', 'x', '0044-03-15 BC')")
    expect("times", kinds(), ["publish"] * 3)
    database.execute("INSERT INTO posts VALUES ('large', '2', repeat('x', 70000))")
    database.execute("INSERT INTO likes VALUES ('large', '1')")
    database.execute("INSERT INTO follows VALUES ('1', '1')")
    drained(database, worker)
    database.execute("UPDATE posts SET body = 'short' WHERE id = 'large'")
    drained(database, worker)
    expect("shorter", post("large"), ("2", "short"))
    # What was refused is sent again as the page says.
    database.execute(re.findall(r"^```sql\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)[0])
    expect("refused again", kinds(), ["follow"])
    expect("sent again", (refused(), [like["user_id"] for like in client.reactions("large", "like")]), ([], ["1"]))
    database.execute("TRUNCATE posts, likes, follows")
    drained(database, worker)
    print("changes that cannot be sent are kept, and hold up no others", flush=True)


class NotTideline(Handler):
    """Answers as a proxy that does not know Tideline. The path tells the answer."""

    def refuse(self) -> None:
        self.body()
        self.answer("text/html", b"<html>No</html>", int(self.path.split("/")[1]), Location="/elsewhere")

    do_PUT = do_DELETE = do_POST = refuse


def wrong_addresses(database: psycopg.Connection, worker: Worker, url: str) -> None:
    """Answers that are not about a change remove nothing."""
    other = serve(NotTideline)
    database.execute("INSERT INTO follows VALUES ('1', '2')")
    counts = "SELECT (SELECT count(*) FROM tideline_outbox), (SELECT count(*) FROM tideline_refused)"
    for path in (f"{url}/wrong", *(f"http://127.0.0.1:{other.server_port}/{status}" for status in (404, 405, 301, 302, 400, 200))):
        worker.log.write_text("")
        worker.start(path)
        assert worker.process is not None
        try:
            expect(path, worker.process.wait(20), 1)
            expect(path, "TIDELINE_URL" in worker.log.read_text(), True)
        except subprocess.TimeoutExpired:  # it tries again, and says so
            expect(path, "again in a second" in worker.log.read_text(), True)
        worker.kill()
        expect(path, database.execute(counts).fetchone(), (1, 0))
    other.shutdown()
    worker.start(url)
    drained(database, worker)
    database.execute("TRUNCATE follows")
    drained(database, worker)
    print("with a wrong address no row is removed", flush=True)


def stopped_worker(postgres: Postgres, worker: Worker, url: str, client: Client) -> None:
    """A worker that is stopped in a batch while another takes over does not go on with its batch."""
    worker.kill()
    with psycopg.connect(postgres.address, autocommit=True) as database:
        database.execute("INSERT INTO follows SELECT 'me', 'target ' || n FROM generate_series(1, 200) n")
    worker.start(url)
    while len(list(client.following("me", limit=100))) < 5:
        time.sleep(0.01)
    assert worker.process is not None
    worker.process.send_signal(signal.SIGSTOP)
    postgres.kill()
    postgres.start()
    other = Worker(postgres, worker.log.with_name("other.log"))
    other.start(url)
    try:
        with psycopg.connect(postgres.address, autocommit=True) as database:
            drained(database, other)
            database.execute("DELETE FROM follows")
            drained(database, other)
            worker.log.write_text("")
            worker.process.send_signal(signal.SIGCONT)
            until("the stopped worker goes on", lambda: "again in a second" in worker.log.read_text())
            # The call that was under way may come late: the worker that sent it has it made good.
            late = [follow["user_id"] for follow in client.following("me", limit=100)]
            expect(f"late changes: {late}", len(late) <= 1, True)
            until("no late change stays", lambda: not list(client.following("me", limit=100)))
    finally:
        other.kill()
    print(f"a stopped worker sent {len(late)} of its changes late, and had it made good", flush=True)


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
                        for turn in range(dice.choice([1, 1, 1, 3])):
                            # Each id once: one that comes again with another time is refused.
                            self.change(database, dice, f"{thread}{number:07}{turn}" if number % 2 else f"post {thread}/{number}/{turn}")
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
        counts = [item["counts"]["reactions"].get("like", 0) for item in client.items([post])]
        same(f"counts of likes of {post}", counts, [len(likes.get(post, []))])
    refused = database.execute("SELECT change, problem FROM tideline_refused").fetchall()
    same("refused changes", refused, [])
    return faults


def keeps_up(args: argparse.Namespace, workspace: Path, seed: int) -> bool:
    dice = random.Random(seed)
    # Tideline comes back at its address.
    postgres, tideline = Postgres(workspace / "postgres"), Tideline(args.binary, workspace, {}, free_port())
    worker, url = Worker(postgres, workspace / "worker.log"), tideline.url
    try:
        postgres.start()
        tideline.start()
        with psycopg.connect(postgres.address) as database:
            for name in ("host.sql", "outbox.sql"):
                database.execute((RECIPE / name).read_text())
        worker.start(url)
        with psycopg.connect(postgres.address, autocommit=True) as database, Client(url) as client:
            hard_cases(database, worker, client)
            worker.kill()
            wrong_addresses(database, worker, url)
        with Client(url) as client:
            stopped_worker(postgres, worker, url, client)
        host = Host(postgres, 4, seed)
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
            drained(database, worker)
            with Client(url) as client:
                faults = compare(database, client)
            sizes = [database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("follows", "posts", "likes")]
            last = database.execute("SELECT last_value FROM tideline_outbox_id_seq").fetchone()[0]
        if faults:
            raise Unexpected("\n".join([f"{len(faults)} differences:", *faults[:10]]))
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
    return True


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--kills", type=int, default=15, help="how many times a process is killed")
    parser.add_argument("--seed", type=int)
    args = parser.parse_args()
    judge(args, lambda workspace, seed: keeps_up(args, workspace, seed))


if __name__ == "__main__":
    sys.exit(main())
