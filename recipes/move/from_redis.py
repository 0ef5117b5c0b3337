"""Writes the files of `tideline import` from sorted sets in Redis. Needs the package redis.

The keys hold the user: `following:*` are sorted sets of followed users, `posts:*` those of the ids of a user's posts,
`feed:*` the inboxes. Scores are times. The text of a post is a field of the hash `post:<id>`; without `--text` the posts
have none. Redis goes on serving meanwhile: the keys are read by SCAN, and each set in parts.
"""

import argparse
import csv
import json

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
    database = redis.Redis.from_url(args.url, decode_responses=True)
    unit = 1000 if args.unit == "s" else 1

    def entries(pattern, newest_first=False):
        """The user of each key, with a part of its set: members and scores."""
        before, _, after = pattern.partition("*")
        for key in sorted(set(database.scan_iter(pattern, count=PART))):
            user = key[len(before) : len(key) - len(after)]
            for start in range(0, database.zcard(key), PART):
                part = database.zrange(key, start, start + PART - 1, desc=newest_first, withscores=True)
                yield user, [(member, round(score * unit)) for member, score in part]

    with open("follows.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["user_id", "target_id", "since"])
        for user, part in entries(args.following):
            rows.writerows((user, followee, since) for followee, since in part)
    with open("content.ndjson", "w") as file:
        for author, part in entries(args.posts):
            pipe = database.pipeline(transaction=False)
            for post, _ in part:
                pipe.hget(args.hash.replace("*", post), args.text or "")
            texts = pipe.execute() if args.text else [None] * len(part)
            for (post, published_at), text in zip(part, texts):
                item = {"content_id": post, "author_id": author, "published_at": published_at}
                file.write(json.dumps(item if text is None else item | {"text": text}) + "\n")
    with open("inboxes.csv", "w", newline="") as file:
        rows = csv.writer(file)
        for user, part in entries(args.inboxes, newest_first=True):
            rows.writerows((user, post) for post, _ in part)


if __name__ == "__main__":
    main()
