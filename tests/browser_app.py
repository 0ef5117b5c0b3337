#!/usr/bin/env python3
"""An app's page in a real browser, with nothing but a user token, on another origin than the server.

If `server.allowed_origins` has its origin, the page can use its own timeline, stream, marker, likes and follows, and
everything else of the OpenAPI document answers 403. A page of an origin that is not in the list, with the same token, can
read nothing, change nothing and open no stream. Needs chromium; without it the script says so and succeeds, unless
`--strict`.
"""

import argparse
import json
import os
import re
import secrets
import sys
import time
from pathlib import Path
from urllib.parse import quote, urljoin

from support.browser import PROGRAMS, Page, browser
from support.client import Client
from support.server import Tideline, Workspace
from support.tokens import token

HTML = Path(__file__).with_suffix("") / "page.html"
# The user of the page, with an id that needs escapes in a path; authors; users whose pages are not the page's.
USER, BOB, CEM, DAN, EVE = "ann/é", "bob", "cem", "dan", "eve"
ITEMS = 25
BURST = 5000
# What a browser sees of a request that it refuses to show.
REFUSED = {"error": "TypeError"}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target"))
    parser.add_argument("--binary", type=Path, default=target / "release" / "tideline")
    parser.add_argument("--keep", action="store_true", help="keep the server's directory")
    parser.add_argument("--strict", action="store_true", help="fail where no browser is installed")
    return parser.parse_args()


def of(user: str, path: str = "") -> str:
    """The path of a user's page."""
    return f"/v1/users/{quote(user, safe='')}{path}"


class Proof:
    """What a page sees, beside what it should see."""

    def __init__(self, page: Page, address: tuple[str, int], secret: str, application: Client):
        self.page = page
        self.base = "http://{}:{}".format(*address)
        self.secret = secret
        self.application = application
        self.checks = 0
        self.faults: list[str] = []

    def same(self, what: str, seen: object, wanted: object) -> None:
        """Compares, and goes on after a fault."""
        self.checks += 1
        if seen != wanted:
            self.faults.append(f"{what}: {seen!r}, not {wanted!r}")

    def call(self, method: str, path: str, body: object = None, credential: str | None = "", **more: object) -> dict:
        """A request of the page, with the token of its user unless told otherwise; JSON comes as `body`."""
        credential = token(self.secret, USER) if credential == "" else credential
        headers = more.pop("headers", {}) | ({"Authorization": f"Bearer {credential}"} if credential else {})
        if body is not None:
            headers["Content-Type"] = "application/json"
            more["body"] = json.dumps(body)
        seen = self.page.do("call", address=urljoin(self.base, path), method=method, headers=headers, **more)
        if "json" in seen.get("headers", {}).get("content-type", "") and seen["text"]:
            seen["body"] = json.loads(seen["text"])
        return seen

    def succeeds(self, method: str, path: str, body: object = None, **more: object) -> dict:
        """The body of an answer that must be 200."""
        seen = self.call(method, path, body, **more)
        self.same(f"{method} {path}", seen.get("status", seen), 200)
        return seen.get("body", {})

    def refused(self, method: str, path: str, status: int, code: str, body: object = None, **more: object) -> None:
        """A refusal that the page can read. HEAD has no body to tell the code."""
        seen = self.call(method, path, body, **more)
        told = (seen.get("status", seen), seen.get("body", {}).get("code"))
        self.same(f"{method} {path}", told, (status, None if method == "HEAD" else code))

    def told(self, method: str, path: str, body: object = None) -> dict:
        """A call of the application, which has a key."""
        answer = self.application.call(method, path, body)
        if answer.status >= 300:
            raise SystemExit(f"the application: {method} {path}: {answer}")
        return answer.body

    def publish(self, author: str, name: str) -> dict:
        return self.told("POST", "/v1/content", {"author_id": author, "content_id": name, "text": name})

    # What the page of an allowed origin can do.

    def follows(self) -> None:
        own = of(USER, "/following")
        self.same("follow", self.succeeds("PUT", f"{own}/{BOB}").get("relation"), "following")
        self.same("follow", self.succeeds("PUT", f"{own}/{DAN}").get("relation"), "following")
        self.same("unfollow", self.succeeds("DELETE", f"{own}/{DAN}").get("relation"), "none")
        self.succeeds("POST", f"{own}/batch", {"follow": [CEM], "unfollow": []})
        listed = self.succeeds("GET", own).get("items", [])
        self.same("the followed users", {item["user_id"] for item in listed}, {BOB, CEM})
        relations = self.succeeds("GET", of(USER, f"/relations?targets={BOB},{DAN}")).get("items", [])
        self.same("the relations", [item["relation"] for item in relations], ["following", "none"])

    def timeline(self) -> None:
        """All pages along the header `Link`, in full and as ids."""
        wanted = [f"{BOB}-{n}" for n in reversed(range(ITEMS))]
        for view in ("", "&view=ids"):
            items, path = [], of(USER, f"/timeline?limit=10{view}")
            while path and len(items) < 2 * ITEMS:
                seen = self.call("GET", path)
                if seen.get("status") != 200:
                    raise SystemExit(f"GET {path}: {seen}")
                items += seen["body"]["items"]
                older = re.search(r'<([^>]*)>; rel="next"', seen["headers"].get("link", ""))
                path = urljoin(urljoin(self.base, path), older[1]) if older else ""
            self.same(f"the timeline{view}", [item["content_id"] for item in items], wanted)
            fields = {"content_id", "author_id", "published_at"}
            self.same(f"fields{view}", all((set(item) == fields) == bool(view) for item in items), True)
            limits = {name: seen["headers"].get(f"x-ratelimit-{name}") for name in ("limit", "remaining", "reset")}
            self.same("the limits", (limits["limit"], all(limits.values())), (str(BURST), True))
            self.same("the id of the request", bool(seen["headers"].get("x-request-id")), True)

    def marker(self) -> None:
        place = self.succeeds("GET", of(USER, "/timeline?limit=1"))["prev"]
        self.same("unread", self.succeeds("GET", of(USER, "/timeline/unread")).get("count"), ITEMS)
        self.same("the moved marker", self.succeeds("PUT", of(USER, "/marker"), {"cursor": place}).get("cursor"), place)
        self.same("the marker", self.succeeds("GET", of(USER, "/marker")).get("cursor"), place)
        self.same("unread", self.succeeds("GET", of(USER, "/timeline/unread")).get("count"), 0)

    def likes(self) -> None:
        item = f"{BOB}-0"
        like = f"/v1/content/{item}/reactions/like/{quote(USER, safe='')}"
        for method, liked in (("PUT", True), ("DELETE", False)):
            self.succeeds(method, like)
            shown = self.succeeds("GET", of(USER, "/timeline?limit=100"))["items"][-1]
            told = (shown["content_id"], "like" in shown["viewer"]["reactions"], shown["counts"]["reactions"].get("like", 0))
            self.same(f"{method} a like", told, (item, liked, int(liked)))
            own = self.succeeds("GET", of(USER, "/reactions/like")).get("items", [])
            self.same("the own likes", [entry["content_id"] for entry in own], [item] if liked else [])
        # An item that its author hides from the user is no other than one that does not exist.
        self.told("PUT", of(EVE, f"/hidden-from/{quote(USER, safe='')}"))
        self.publish(EVE, "hidden")
        for unseen in ("hidden", "missing"):
            self.refused("PUT", like.replace(item, unseen), 404, "content_not_found")

    def streams(self) -> None:
        """Both kinds hear everything, and a stream goes on after the last place that the page has heard of."""
        credential = token(self.secret, USER)
        path, bearer = urljoin(self.base, of(USER, "/stream")), {"Authorization": f"Bearer {credential}"}
        self.same("EventSource", self.page.do("listen", name="source", address=f"{path}?access_token={credential}"), {"open": True})
        self.same("fetch of a stream", self.page.do("read", name="fetch", address=path, headers=bearer), {"open": True, "status": 200})
        self.same("online", self.succeeds("GET", of(USER, "/presence")).get("online"), True)
        self.publish(BOB, "now")
        self.told("PATCH", "/v1/content/now", {"text": "edited"})
        self.told("DELETE", "/v1/content/now")
        for name in ("source", "fetch"):
            heard = self.page.do("heard", name=name, count=3, seconds=20)
            events = [(event["event"], event["data"]["content_id"]) for event in heard["events"]]
            self.same(f"events by {name}", events, [(event, "now") for event in ("content", "edit", "delete")])
            place = heard["events"][0]["id"] if heard["events"] else ""
            self.page.do("close", name=name)
        self.publish(BOB, "missed")
        resumed = self.page.do("read", name="again", address=path, headers=bearer | {"Last-Event-ID": place})
        self.same("a stream with Last-Event-ID", resumed, {"open": True, "status": 200})
        heard = self.page.do("heard", name="again", count=1, seconds=20)
        missed = [(event["event"], event["data"]["content_id"]) for event in heard["events"] if event["event"] == "content"]
        self.same("the missed event", missed, [("content", "missed")])
        self.page.do("close", name="again")

    def end_of_a_stream(self) -> None:
        """A stream tells nothing after the end of its token, and `EventSource` then gives up."""
        ends = time.time() + 3
        address = f"{urljoin(self.base, of(USER, '/stream'))}?access_token={token(self.secret, USER, 3)}"
        self.same("a short stream", self.page.do("listen", name="short", address=address), {"open": True})
        time.sleep(max(0.0, ends - time.time()) + 0.5)
        self.publish(BOB, "late")
        until = time.monotonic() + 20
        while (heard := self.page.do("heard", name="short", count=1, seconds=0))["ended"] != "given up" and time.monotonic() < until:
            time.sleep(0.1)
        self.same("after the end of the token", heard, {"events": [], "ended": "given up"})

    def everything_else(self) -> None:
        """Each call of the document, as the page's own and as that of another user."""
        document = json.loads(self.call("GET", "/openapi.json", credential=None)["text"])
        calls = [(m.upper(), path, call) for path, methods in document["paths"].items() for m, call in methods.items()]
        reads = [("HEAD", path, call) for method, path, call in calls if method == "GET"]
        allowed = 0
        for method, path, call in calls + reads:
            body = {} if method in ("POST", "PUT", "PATCH") else None
            others = {"{uid}": EVE, "{content_id}": f"{BOB}-0", "{target}": BOB, "{kind}": "like", "{topic}": "t", "{name}": "n"}
            foreign = own = path
            for name, value in others.items():
                foreign = foreign.replace(name, value)
                own = own.replace(name, quote(USER, safe="") if name == "{uid}" else value)
            if not call["security"]:
                self.same(f"{method} {path} without a token", self.call(method, path, credential=None).get("status"), 200)
            elif not any("userToken" in scheme for scheme in call["security"]):
                self.refused(method, own, 403, "not_permitted", body)
            else:
                allowed += 1
                self.refused(method, foreign, 403, "not_permitted", body)
                if not path.endswith("/stream"):  # has no end
                    seen = self.call(method, own, body)
                    self.same(f"{method} {own} is permitted", seen.get("status", seen) not in (401, 403), True)
        self.same("the document has calls for tokens, and others", 20 < allowed < len(calls + reads) - 20, True)
        for method, path in (("GET", "/v1/unknown"), ("DELETE", of(USER)), ("PATCH", of(USER, "/timeline"))):
            self.refused(method, path, 403, "not_permitted")
        self.refused("GET", of(USER, f"/following?viewer={EVE}"), 403, "not_permitted")
        self.same("a stream of another user", self.stream_of(EVE, token(self.secret, USER)), "given up")

    def stream_of(self, user: str, credential: str) -> str | None:
        """How an `EventSource` that should not open ended."""
        address = f"{urljoin(self.base, of(user, '/stream'))}?access_token={credential}"
        seen = self.page.do("listen", name="refused", address=address)
        self.page.do("close", name="refused")
        return seen.get("ended")

    def bad_tokens(self) -> None:
        own = of(USER, "/timeline")
        expired = token(self.secret, USER, -5)
        self.refused("GET", own, 401, "no_credentials", credential=None)
        self.refused("GET", f"{own}?access_token={token(self.secret, USER)}", 401, "no_credentials", credential=None)
        bad = (expired, token("x" * 32, USER), token(self.secret, USER, algorithm="none"), token(self.secret, USER)[:-2], "x")
        for credential in bad:
            self.refused("GET", own, 403, "bad_credentials", credential=credential)
            self.refused("PUT", of(USER, f"/following/{DAN}"), 403, "bad_credentials", credential=credential)
        detail = self.call("GET", own, credential=expired)["body"]["detail"]
        self.same(f"the detail of an expired token says so: {detail}", "expired" in detail, True)
        self.same("a stream with an expired token", self.stream_of(USER, expired), "given up")

    def unknown_header(self) -> None:
        self.same("a header that is not permitted", self.call("GET", of(USER), headers={"X-Other": "1"}), REFUSED)

    # What the page of another origin can do: nothing.

    def stranger(self) -> None:
        good = token(self.secret, DAN)
        before = [self.told("GET", of(DAN, path)) for path in ("", "/following", "/presence", "/content")]
        for method, path in (
            ("GET", "/timeline"), ("GET", ""), ("PUT", f"/following/{BOB}"), ("DELETE", f"/following/{BOB}"), ("PUT", "/presence"),
        ):
            body = {"online": True} if path == "/presence" else None
            self.same(f"a stranger: {method} {path}", self.call(method, of(DAN, path), body, credential=good), REFUSED)
        for path in ("/healthz", "/openapi.json", of(DAN)):
            self.same(f"a stranger: GET {path}", self.call("GET", path, credential=None), REFUSED)
            blind = self.call("GET", path, credential=None, mode="no-cors")
            self.same(f"a stranger: blind GET {path}", (blind.get("type"), blind.get("text"), blind.get("headers")), ("opaque", "", {}))
        plain = {"Content-Type": "text/plain"}
        item = json.dumps({"author_id": DAN, "text": "forged"})
        self.page.do("call", address=f"{self.base}/v1/content", method="POST", mode="no-cors", headers=plain, body=item)
        self.same("a stranger: EventSource", self.stream_of(DAN, good), "given up")
        address = f"{urljoin(self.base, of(DAN, '/stream'))}?access_token={good}"
        self.same("a stranger: a stream as an image", self.page.do("image", address=address), {"type": "error"})
        after = [self.told("GET", of(DAN, path)) for path in ("", "/following", "/presence", "/content")]
        self.same("a stranger changed nothing", after, before)


def main() -> int:
    args = options()
    program = browser()
    if program is None:
        print(f"browser app: left out, because no browser is installed ({', '.join(PROGRAMS)}); `.ci/setup chromium` installs one")
        return 1 if args.strict else 0
    key, secret = "tlk_" + secrets.token_hex(32), secrets.token_hex(32)
    app, stranger = Page(HTML), Page(HTML)
    with Workspace(None, args.keep) as workspace:
        settings = {
            "auth.keys": key, "auth.jwt_secret": secret, "auth.leeway": "0s", "server.allowed_origins": app.origin,
            "rate_limits.per_user": str(BURST), "rate_limits.per_user_burst": str(BURST), "presence.heartbeat": "1s",
        }
        tideline = Tideline(args.binary, workspace, settings)
        tideline.start()
        try:
            application = Client(tideline.address, key=key)
            first = int(time.time() * 1000) - 60_000
            items = [{"author_id": BOB, "content_id": f"{BOB}-{n}", "published_at": first + n, "text": "…"} for n in range(ITEMS)]
            proofs = [Proof(page, tideline.address, secret, application) for page in (app, stranger)]
            proofs[0].told("POST", "/v1/content/batch", {"items": items})
            app.open(program)
            for step in (
                "follows", "timeline", "marker", "likes", "streams", "end_of_a_stream", "everything_else", "bad_tokens", "unknown_header",
            ):
                getattr(proofs[0], step)()
            app.close()
            stranger.open(program)
            proofs[1].stranger()
            tideline.stop()
        finally:
            for page in (app, stranger):
                page.close()
            tideline.kill()
        faults = [fault for proof in proofs for fault in proof.faults]
        for fault in faults:
            print(f"FAULT: {fault}")
        print(f"{sum(proof.checks for proof in proofs)} comparisons in a browser, {len(faults)} faults")
        if faults:
            raise SystemExit(1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
