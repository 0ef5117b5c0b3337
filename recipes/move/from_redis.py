"""Writes the files of `tideline import` from sorted sets in Redis. Needs the package redis.

The keys hold the user: `following:*` are sorted sets of followed users, `posts:*` those of the ids of a user's posts,
`feed:*` the inboxes. Scores are times. The text of a post is a field of the hash `post:<id>`; without `--text` the posts
have none. Redis goes on serving and trimming meanwhile: keys are read by SCAN, and each set by ZSCAN, which misses
no member that is there all the time. What cannot be exported is named and left out; then the exit code is 1.
"""

import argparse
import csv
import json
import math
import sys

import redis

PART = 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", default="redis://localhost:6379")
    parser.add_argument("--following", default="following:*", help="keys of followed users")
    parser.add_argument("--posts", default="posts:*", help="keys of posts of an author")
    parser.add_argument("--inboxes", default="feed:*", help="keys of inboxes, for compare.py")
    parser.add_argument("--hash", default="post:*", help="keys of the hashes of posts; * stands for the id")
    parser.add_argument("--text", help="the field of the hash with the text")
    parser.add_argument("--unit", choices=["ms", "s"], default="ms", help="the unit of the scores")
    args = parser.parse_args()
    for pattern in (args.following, args.posts, args.inboxes, args.hash):
        if pattern.count("*") != 1:
            parser.error(f"{pattern}: one * stands for the user or the id")
    database = redis.Redis.from_url(args.url)
    unit = 1000 if args.unit == "s" else 1
    faults = 0

    def left_out(*what):
        nonlocal faults
        faults += 1
        print("left out:", *what, file=sys.stderr)

    def entries(pattern):
        """The user of each key, and the members and scores of its set, oldest first."""
        before, after = pattern.encode().split(b"*")
        for key in sorted(set(database.scan_iter(pattern, count=PART))):
            try:
                user = key[len(before) : len(key) - len(after)].decode()
                scores = dict(database.zscan_iter(key, count=PART))  # ZSCAN may give a member twice
            except (redis.ResponseError, UnicodeDecodeError) as error:
                left_out(key, error)
                continue
            members = []
            for member, score in sorted(scores.items(), key=lambda entry: (entry[1], entry[0])):
                try:
                    if not math.isfinite(score):
                        raise ValueError(f"the score is {score}")
                    members.append((member.decode(), round(score * unit)))
                except ValueError as error:  # also for bytes that are not UTF-8
                    left_out(key, member, error)
            yield user, members

    def texts(posts):
        """The texts of posts; None where there is none."""
        keys = [args.hash.replace("*", post) for post, _ in posts]
        pipe = database.pipeline(transaction=False)
        for key in keys:
            pipe.hget(key, args.text)
        for key, text in zip(keys, pipe.execute(raise_on_error=False)):
            try:
                if isinstance(text, Exception):
                    raise text
                yield None if text is None else text.decode()
            except (redis.ResponseError, UnicodeDecodeError) as error:
                left_out("the text of", key, error)
                yield None

    with open("follows.ndjson", "w") as file:
        for user, follows in entries(args.following):
            for followee, since in follows:
                file.write(json.dumps({"user_id": user, "target_id": followee, "since": since}) + "\n")
    with open("content.ndjson", "w") as file:
        for author, posts in entries(args.posts):
            for start in range(0, len(posts), PART):
                part = posts[start : start + PART]
                for (post, time), text in zip(part, texts(part) if args.text else [None] * len(part)):
                    item = {"content_id": post, "author_id": author, "published_at": time}
                    file.write(json.dumps(item if text is None else item | {"text": text}) + "\n")
    with open("inboxes.csv", "w", newline="") as file:
        rows = csv.writer(file)
        for user, posts in entries(args.inboxes):
            rows.writerows((user, post) for post, _ in reversed(posts))
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
