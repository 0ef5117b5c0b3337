"""Compares old inboxes with the timelines of Tideline. Needs tideline-client.

`inboxes.csv` has lines of a user and a content id, each user's newest item first. An old inbox may be too short, so
Tideline may have items that it lacks; they are counted. Items that Tideline lacks are an error, and so is another order.
"""

import argparse
import csv
import itertools
import os
import random

from tideline import Tideline


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("inboxes", help="inboxes.csv")
    parser.add_argument("--url", default="http://localhost:8080", help="the address of Tideline; its key is in TIDELINE_KEY")
    parser.add_argument("--users", type=int, default=1000, help="how many users to compare, chosen at random")
    args = parser.parse_args()
    with open(args.inboxes, newline="") as file:
        inboxes = {user: [row[1] for row in rows] for user, rows in itertools.groupby(csv.reader(file), lambda row: row[0])}
    wrong = more = items = 0
    with Tideline(args.url, key=os.environ.get("TIDELINE_KEY")) as tideline:
        for user in random.sample(sorted(inboxes), min(args.users, len(inboxes))):
            old, place, newer = inboxes[user], 0, 0
            # Each item of the inbox must come in the timeline, in this order.
            for item in tideline.timeline(user, limit=100, view="ids"):
                if place == len(old):
                    break
                if item["content_id"] == old[place]:
                    place += 1
                else:
                    newer += 1
            items += place
            more += newer
            if place < len(old):
                wrong += 1
                print(f"{user}: item {old[place]} is missing in the timeline, or at another place")
    print(f"{min(args.users, len(inboxes))} users, {items} items agree, {more} more in Tideline, {wrong} users differ")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
