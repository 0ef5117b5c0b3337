#!/usr/bin/env python3
"""Makes small data directories with everything in them, and the answers to all pages, by a released binary.

    python3 tests/formats/make.py --binary OLD/tideline --out tests/formats/2

Two directories are made: `stopped`, after a compaction and an orderly stop, and `killed`, whose newest changes are only
in the write-ahead log. A test opens copies of them with the present version and compares all pages.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

SETTINGS = {
    "TIDELINE__TIMELINE__INBOX_LIMIT": "10",
    "TIDELINE__TIMELINE__OUTBOX_LIMIT": "12",
    "TIDELINE__TOPICS__LIMIT": "10",
    "TIDELINE__FANOUT__PUSH_THRESHOLD": "2",
    "TIDELINE__FANOUT__PULL_THRESHOLD": "5",
    "TIDELINE__STORAGE__WRITE_BUFFER_MB": "8",
    "TIDELINE__STORAGE__MIN_FREE_MB": "0",
    "TIDELINE__CONTENT__DELETED_RETENTION": "36500d",
    "TIDELINE__TIMELINE__EVICT_AFTER": "36500d",
    "TIDELINE__TIMELINE__ACTIVE_FOR": "36500d",
}
USERS = range(1, 13)
# Files that belong to a running server or to the device, not to the data.
LEFT_OUT = ("RESERVE", "LOCK", "RUN", "LOG*", "OPTIONS-*")


class Server:
    def __init__(self, binary, data):
        command = [binary, "serve", "--data-dir", data, "--listen", "127.0.0.1:0"]
        env = {**SETTINGS, "PATH": os.environ["PATH"]}
        self.child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env)
        self.url = self.child.stdout.readline().split()[-1]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        request.add_header("content-type", "application/json")
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
            return json.loads(text) if text else None

    def drain(self):
        while self.call("GET", "/v1/admin/stats")["jobs"]["waiting"] > 0:
            time.sleep(0.02)

    def end(self, how):
        self.child.send_signal(how)
        self.child.wait()


def fill(server, first, count):
    """Publishes items of all kinds, and makes every other change."""
    for user in USERS:
        for step in (1, 2, 5):
            target = (user + step - 1) % len(USERS) + 1
            if target != user:
                server.call("PUT", f"/v1/users/{user}/following/{target}", {"since": 1000 * first + user})
        server.call("PUT", f"/v1/users/{user}", {"nickname": f"user {user} of {first}", "extra": {"n": user}})
    for follower in range(2, 10):
        server.call("PUT", f"/v1/users/{follower}/following/1", {"since": 1000 * first})
    for id in range(first, first + count):
        item = {
            "content_id": id, "author_id": id % len(USERS) + 1, "published_at": 1_000_000 + id * 7 % 1000,
            "text": f"item {id}", "topics": [f"t{id % 3}"], "extra": {"id": id},
        }
        if id % 10 == 0:
            item["media"] = [{"type": "image", "url": f"https://example.org/{id}"}]
        if id % 9 == 0:
            item.update(kind="repost", ref_id=first)
        server.call("POST", "/v1/content", item)
        for user in range(1, 1 + id % 5):
            for kind in ("like", "favorite")[: 1 + id % 2]:
                server.call("PUT", f"/v1/content/{id}/reactions/{kind}/{user}", {"since": 2_000_000 + id * 10 + user})
    for n in range(4):
        comment = {"author_id": n + 2, "content_id": 5000 + 10 * first + n, "published_at": 1_500_000 + n, "text": "c"}
        server.call("POST", f"/v1/content/{first}/comments", {**comment, "broadcast": n == 3})
    server.call("PATCH", f"/v1/content/{first + 1}", {"text": "edited"})
    for id in (first + 2, first + 3, first + 8):
        server.call("DELETE", f"/v1/content/{id}")
    server.call("POST", f"/v1/content/{first + 3}/restore")
    server.call("DELETE", f"/v1/content/{first + 4}/reactions/like/1")
    server.call("DELETE", "/v1/users/3/following/8")
    server.call("PUT", "/v1/users/2/mutes/3")
    server.call("PUT", "/v1/users/4/hidden-from/5")
    server.call("PUT", "/v1/users/2/marker", {"cursor": f"{1_000_300 + first}-{first}"})
    for user in (1, 2, 3):
        server.call("GET", f"/v1/users/{user}/timeline")


def pages(server):
    """The answer to every page."""
    paths = [f"/v1/topics/t{n}/content?limit=100" for n in range(3)]
    ids = []
    for user in USERS:
        of = f"/v1/users/{user}"
        paths += [of, f"{of}/marker", f"{of}/timeline/unread"]
        lists = ["timeline", "content", "comments", "following", "followers", "friends", "mutes", "hidden-from"]
        paths += [f"{of}/{name}?limit=100" for name in lists + ["reactions/like", "reactions/favorite"]]
        ids += [int(item["content_id"]) for item in server.call("GET", f"{of}/content?limit=100")["items"]]
    for id in sorted(set(ids)):
        of = f"/v1/content/{id}"
        paths += [of, f"{of}/comments?limit=100"]
        paths += [f"{of}/reactions/{kind}?limit=100" for kind in ("like", "favorite")]
    return {path: server.call("GET", path) for path in paths}


def keep(data, out, answers):
    shutil.copytree(data, out / "data", ignore=shutil.ignore_patterns(*LEFT_OUT))
    lines = ",\n".join(f"{json.dumps(path)}: {json.dumps(answer)}" for path, answer in answers.items())
    (out / "pages.json").write_text("{\n" + lines + "\n}\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--binary", required=True, help="a binary that writes the format")
    arguments.add_argument("--out", required=True, type=pathlib.Path, help="the directory to make")
    given = arguments.parse_args()
    given.out.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        data = pathlib.Path(scratch) / "data"
        server = Server(given.binary, data)
        fill(server, 100, 30)
        server.drain()
        server.end(signal.SIGTERM)
        env = {**SETTINGS, "PATH": os.environ["PATH"]}
        subprocess.run([given.binary, "compact", "--data-dir", data], env=env, check=True, stdout=subprocess.DEVNULL)
        server = Server(given.binary, data)
        answers = pages(server)
        server.drain()
        server.end(signal.SIGTERM)
        keep(data, given.out / "stopped", answers)
        server = Server(given.binary, data)
        fill(server, 300, 15)
        server.drain()
        answers = pages(server)
        server.end(signal.SIGKILL)
        keep(data, given.out / "killed", answers)


main()
