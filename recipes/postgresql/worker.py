"""Sends the rows of tideline_outbox to Tideline, in their order, and removes them. Needs psycopg and tideline-client.

DATABASE is the address of the database, TIDELINE_URL and TIDELINE_KEY are those of Tideline. A second worker waits until
the first one has ended.
"""

import os
import time

import psycopg
from tideline import ProblemError, Tideline, TidelineError

BATCH = 200


def send(tideline, change):
    """Sends a change. It may be a repetition: then it changes nothing."""
    kind, item = change["do"], change.get("id")
    if kind == "publish":
        tideline.publish(change["item"])
    elif kind == "edit":
        tideline.edit(item, {"text": change["text"]})
    elif kind == "delete":
        tideline.delete(item)
    elif kind == "like":
        tideline.react(item, "like", change["user"], since=change["since"])
    elif kind == "unlike":
        tideline.unreact(item, "like", change["user"])
    elif kind == "follow":
        tideline.follow(change["user"], change["target"], since=change["since"])
    else:
        tideline.unfollow(change["user"], change["target"])


def is_done(tideline, change, problem):
    """Whether a change was refused only because its item was deleted, by this change or by a later one."""
    if change["do"] == "publish" and problem.code == "content_exists":
        return not tideline.items([change["item"]["content_id"]])
    return problem.code == "content_not_found"


def work(database, tideline):
    """Sends a batch of rows, and removes them; returns whether there were any."""
    rows = database.execute("SELECT id, change FROM tideline_outbox ORDER BY id LIMIT %s", [BATCH]).fetchall()
    for row, change in rows:
        try:
            send(tideline, change)
        except ProblemError as problem:
            if problem.status >= 500 or problem.status in (401, 403, 421, 429):
                raise
            if not is_done(tideline, change, problem):
                refused = "INSERT INTO tideline_refused SELECT id, change, %s FROM tideline_outbox WHERE id = %s"
                database.execute(refused, [str(problem), row])
    database.execute("DELETE FROM tideline_outbox WHERE id = ANY(%s)", [[row for row, _ in rows]])
    database.commit()
    return bool(rows)


def main():
    tideline = Tideline(os.environ["TIDELINE_URL"], key=os.environ.get("TIDELINE_KEY"))
    while True:
        try:
            with psycopg.connect(os.environ["DATABASE"]) as database:
                database.execute("SELECT pg_advisory_lock(hashtext('tideline_outbox'))")
                database.execute("LISTEN tideline")
                database.commit()
                while True:
                    while work(database, tideline):
                        pass
                    next(database.notifies(timeout=5, stop_after=1), None)
        except (psycopg.OperationalError, psycopg.InterfaceError, TidelineError) as error:
            print(f"again in a second: {error}", flush=True)
            time.sleep(1)


if __name__ == "__main__":
    main()
