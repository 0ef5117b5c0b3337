"""Sends the rows of tideline_outbox to Tideline, in their order, and removes them. Needs psycopg and tideline-client.

DATABASE is the address of the database, TIDELINE_URL and TIDELINE_KEY are those of Tideline. A second worker waits until
the first one has ended, or has lost its connection to the database.
"""

import json
import os
import time

import httpx
import psycopg
from tideline import BadAnswer, ProblemError, Tideline, TidelineError

BATCH = 200


def send(tideline, change):
    """Sends a change. It may be a repetition: then it changes nothing."""
    match change:
        case {"do": "publish", "item": item}:
            tideline.publish(item)
        case {"do": "edit", "item": item}:
            tideline.edit(item["content_id"], {"text": item["text"]})
        case {"do": "delete", "id": item}:
            tideline.delete(item)
        case {"do": "like", "id": item, "user": user, "since": since}:
            tideline.react(item, "like", user, since=since)
        case {"do": "unlike", "id": item, "user": user}:
            tideline.unreact(item, "like", user)
        case {"do": "follow", "user": user, "target": target, "since": since}:
            tideline.follow(user, target, since=since)
        case {"do": "unfollow", "user": user, "target": target}:
            tideline.unfollow(user, target)
        case _:
            raise ValueError("there is no such change")


def refusal(database, tideline, row, change):
    """Sends a change, and returns why it can never succeed, or None. Raises an error whose cause may pass."""
    try:
        try:
            send(tideline, change)
        except ProblemError as problem:
            if problem.code not in ("content_exists", "content_not_found"):
                raise
            return settle(database, tideline, row, change, problem)
    except ProblemError as problem:
        if problem.code == "blocked":  # a follow over a block
            return str(problem)
        too_large = problem.status in (413, 414)  # perhaps for a proxy
        if problem.status >= 500 or problem.status in (401, 403, 408, 421, 429):
            raise
        if not too_large and (problem.problem is None or problem.code in ("route_not_found", "method_not_allowed")):
            raise SystemExit(f"TIDELINE_URL is not the address of Tideline, or a proxy changes paths: {problem}") from problem
        return str(problem)
    except BadAnswer as error:
        raise SystemExit(f"TIDELINE_URL is not the address of Tideline: {error}") from error
    except (ValueError, TypeError, KeyError, httpx.InvalidURL) as error:  # such as an id that cannot be sent
        return repr(error)


def settle(database, tideline, row, change, problem):
    """After a change of an item that is there already, or not there: makes it so, or returns why it cannot be."""
    item = change.get("item", {})
    gone = json.dumps({"do": "delete", "id": item.get("content_id", change.get("id"))})
    later = "SELECT FROM tideline_outbox WHERE id > %s AND change @> %s::jsonb"
    if change["do"] in ("delete", "unlike") or database.execute(later, [row, gone]).fetchone() is not None:
        return None  # this change, or a later one that is sent again, has deleted the item
    if change["do"] == "edit":  # its publish was refused, perhaps because it was too large
        tideline.publish(item)
        return None
    if change["do"] != "publish":
        return str(problem)
    there = tideline.items([item["content_id"]])
    old = there[0] if there else tideline.restore(item["content_id"])  # a post that was deleted and inserted again
    if (old["author_id"], old["published_at"]) == (str(item["author_id"]), item["published_at"]):
        tideline.edit(item["content_id"], {"text": item["text"]})
        return None
    if not there:
        tideline.delete(item["content_id"])
    return f"{problem}; the author and the time of an item cannot change"


def work(database, tideline, late):
    """Sends a batch of rows, and removes them; returns whether there were any. `late` gets the change that is under way."""
    rows = database.execute("SELECT id, change FROM tideline_outbox ORDER BY id LIMIT %s", [BATCH]).fetchall()
    sent = []
    for row, change in rows:
        database.execute("SELECT")  # fails if the connection is lost, and with it the lock
        late[:] = [json.dumps(change)]
        if (problem := refusal(database, tideline, row, change)) is None:
            sent.append(row)
        else:
            print(f"refused: {change}: {problem}", flush=True)
            moved = "WITH gone AS (DELETE FROM tideline_outbox WHERE id = %s RETURNING id, change)"
            database.execute(f"{moved} INSERT INTO tideline_refused SELECT id, change, %s FROM gone", [row, problem])
    database.execute("DELETE FROM tideline_outbox WHERE id = ANY(%s)", [sent])
    late.clear()
    return bool(rows)


def main():
    # No retries: the lock is looked at before each attempt.
    tideline = Tideline(os.environ["TIDELINE_URL"], key=os.environ.get("TIDELINE_KEY"), retries=0)
    late = []
    while True:
        try:
            # No transaction is open while Tideline works.
            with psycopg.connect(os.environ["DATABASE"], autocommit=True) as database:
                if late:  # the connection was lost while it was under way, so another worker may have sent later ones
                    database.execute("SELECT tideline_again(%s)", late)
                    late.clear()
                database.execute("SELECT pg_advisory_lock(hashtext('tideline_outbox'))")
                database.execute("LISTEN tideline")
                while True:
                    try:
                        while work(database, tideline, late):
                            pass
                    except TidelineError as error:
                        print(f"again in a second: {error}", flush=True)
                        time.sleep(1)
                    else:
                        next(database.notifies(timeout=5, stop_after=1), None)
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            print(f"again in a second: {error}", flush=True)
            time.sleep(1)


if __name__ == "__main__":
    main()
