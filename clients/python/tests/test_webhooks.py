"""Webhooks that are verified, and requests that are none."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import http.server
import json
import math
import random
import threading
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import httpx
import pytest
from support import running, until
from tideline import Tideline, TidelineError, WebhookError, WebhookReceiver
from tideline.schema import Change

# The example of https://github.com/standard-webhooks/standard-webhooks, which each of its libraries tests.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
EXAMPLE = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}

OTHER = "whsec_" + base64.b64encode(bytes(range(32))).decode()
CHANGES = [
    {
        "position": "9f3c6a1e5b7d2048-8",
        "type": "content.published",
        "at": 5,
        "user_id": "å",
        "content_id": "7",
        "kind": "post",
    },
    {"position": "9f3c6a1e5b7d2048-9", "type": "follow.created", "at": 6, "user_id": "a", "target_id": "b"},
]
BODY = json.dumps({"items": CHANGES}, ensure_ascii=False).encode()


def signature(secret: str, signed: bytes) -> str:
    key = base64.b64decode(secret.partition("_")[2])
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


def sign(body: bytes, *secrets: str, late: float = 0, id: str = "changes_8") -> Dict[str, str]:
    """The headers of a webhook that is so many seconds old."""
    timestamp = str(int(time.time() - late))
    signatures = [signature(secret, f"{id}.{timestamp}.".encode() + body) for secret in secrets or [SECRET]]
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": " ".join(signatures)}


def refusal(receiver: WebhookReceiver, body: Any, headers: Dict[str, str]) -> str:
    with pytest.raises(WebhookError) as error:
        receiver.receive(body, headers)
    assert isinstance(error.value, TidelineError)
    return str(error.value)


def test_the_example_of_the_specification() -> None:
    receiver = WebhookReceiver(SECRET, tolerance=math.inf)
    # Its body is no list of changes, and this is found after the signature.
    assert (
        refusal(receiver, b'{"test": 2432232314}', EXAMPLE) == "the signature fits, but the body is no list of changes"
    )
    assert "none fits" in refusal(receiver, b'{"test":2432232314}', EXAMPLE)
    assert "before the clock" in refusal(WebhookReceiver(SECRET), b'{"test": 2432232314}', EXAMPLE)


def test_changes_are_read_whatever_the_form_of_the_headers() -> None:
    receiver = WebhookReceiver(SECRET + "\n")
    changes: List[Change] = receiver.receive(BODY, sign(BODY))
    assert changes == CHANGES
    headers = sign(BODY)
    assert receiver.receive(bytearray(BODY), {name.title(): value for name, value in headers.items()}) == CHANGES
    assert receiver.receive(memoryview(BODY), httpx.Headers({**headers, "accept": "*/*"})) == CHANGES


def test_a_new_secret_takes_the_place_of_the_old_one() -> None:
    both = WebhookReceiver([SECRET, OTHER])
    for secrets in ([SECRET], [OTHER], [SECRET, OTHER], [OTHER, SECRET]):
        assert both.receive(BODY, sign(BODY, *secrets)) == CHANGES
        for alone in (SECRET, OTHER):
            if alone in secrets:
                assert WebhookReceiver(alone).receive(BODY, sign(BODY, *secrets)) == CHANGES
            else:
                assert "none fits" in refusal(WebhookReceiver(alone), BODY, sign(BODY, *secrets))
    mixed = sign(BODY)
    mixed["webhook-signature"] = f"v1a,abc v2,{'A' * 44} v1, v1,é {mixed['webhook-signature']} x"
    assert both.receive(BODY, mixed) == CHANGES


def test_each_altered_byte_is_found() -> None:
    receiver = WebhookReceiver(SECRET)
    headers = sign(BODY)
    for place in range(len(BODY)):
        altered = bytearray(BODY)
        altered[place] ^= 1 << random.randrange(8)
        assert "none fits" in refusal(receiver, bytes(altered), headers)
    assert "none fits" in refusal(receiver, BODY + b" ", headers)
    assert "none fits" in refusal(receiver, b"", headers)
    for name, value in (("webhook-id", "changes_9"), ("webhook-timestamp", str(int(headers["webhook-timestamp"]) - 1))):
        assert "none fits" in refusal(receiver, BODY, {**headers, name: value})
    # What is signed is one text: a dot cannot move from one part to the next.
    moved = {**sign(BODY, id="a.b"), "webhook-id": "a"}
    assert "none fits" in refusal(receiver, b"b." + BODY, moved)


def test_the_time_of_a_request() -> None:
    receiver = WebhookReceiver(SECRET)
    for late in (-290, 0, 290):
        assert receiver.receive(BODY, sign(BODY, late=late)) == CHANGES
    assert "seconds before the clock of this machine" in refusal(receiver, BODY, sign(BODY, late=302))
    assert "seconds after the clock of this machine" in refusal(receiver, BODY, sign(BODY, late=-302))
    strict = WebhookReceiver(SECRET, tolerance=10)
    assert "webhook-timestamp" in refusal(strict, BODY, sign(BODY, late=12))
    for wrong in ("now", "-5", "1e9", "1614265330.5", " 1614265330", "٣٣٣", "9" * 400, "nan", "0x10"):
        headers = {**sign(BODY), "webhook-timestamp": wrong}
        assert refusal(receiver, BODY, headers).startswith("webhook-timestamp: expected seconds since 1970")


def test_headers_that_are_missing_or_wrong() -> None:
    receiver = WebhookReceiver(SECRET)
    for name in sign(BODY):
        headers = sign(BODY)
        assert refusal(receiver, BODY, {**headers, name: ""}) == f"{name}: the header is missing"
        del headers[name]
        assert refusal(receiver, BODY, headers) == f"{name}: the header is missing"
    bare = sign(BODY)["webhook-signature"].partition(",")[2]
    for wrong in ("v1", bare, f"v2,{bare}", f"v1a,{bare}", f"v1:{bare}", " ", f"V1,{bare}"):
        headers = {**sign(BODY), "webhook-signature": wrong}
        assert refusal(receiver, BODY, headers) == "webhook-signature: no signature of the version v1"
    for wrong in ("v1,", "v1,,", "v1,\udc80\ud800", f"v1,{bare[:-1]}", f"v1,{bare}=", f"v1,{bare},v1", "v1," * 9999):
        assert "none fits" in refusal(receiver, BODY, {**sign(BODY), "webhook-signature": wrong})
    assert "none fits" in refusal(receiver, BODY, {**sign(BODY), "webhook-id": "\ud800"})


def test_a_signed_body_that_is_no_list_of_changes() -> None:
    receiver = WebhookReceiver(SECRET)
    for body in (b"", b"[]", b"{}", b"\xff\xfe", b'{"items": [', b"[" * 100_000, b"null", b'{"items": {}}'):
        assert refusal(receiver, body, sign(body)) == "the signature fits, but the body is no list of changes"
    with pytest.raises(TypeError, match="bytes"):
        receiver.receive(BODY.decode(), sign(BODY))  # type: ignore[arg-type]


def test_a_text_that_is_no_secret() -> None:
    short = "whsec_" + base64.b64encode(bytes(23)).decode()
    long = "whsec_" + base64.b64encode(bytes(65)).decode()
    for wrong in (
        "",
        SECRET[6:],
        "whsk_" + SECRET[6:],
        "whsec_",
        "whsec_ä",
        SECRET[:-1],
        short,
        long,
        "whsec_!" + SECRET[6:],
    ):
        with pytest.raises(ValueError) as error:
            WebhookReceiver(wrong)
        assert len(wrong) < 9 or wrong[6:] not in str(error.value)
    with pytest.raises(ValueError):
        WebhookReceiver([])


@contextlib.contextmanager
def hook(receiver: WebhookReceiver, received: List[Change]) -> Iterator[str]:
    """The URL of a server of the standard library."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            try:
                received.extend(receiver.receive(body, self.headers))
                self.send_response(204)
            except WebhookError:
                self.send_response(400)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_in_a_server_of_the_standard_library() -> None:
    received: List[Change] = []
    with hook(WebhookReceiver(SECRET), received) as url:
        assert httpx.post(url, content=BODY, headers=sign(BODY)).status_code == 204
        assert httpx.post(url, content=BODY, headers=sign(BODY, OTHER)).status_code == 400
    assert received == CHANGES


def test_the_webhooks_of_the_server_while_a_secret_is_replaced(tmp_path: Path) -> None:
    old: List[Change] = []
    new: List[Change] = []
    with hook(WebhookReceiver(SECRET), old) as one, hook(WebhookReceiver(OTHER), new) as two:
        secrets = tmp_path / "secrets"
        secrets.write_text(f"{OTHER}\n{SECRET}\n")
        text = "".join(
            f'[[webhooks]]\nname = "{url[-5:-1]}"\nurl = "{url}"\nsecret_file = "{secrets}"\n' for url in (one, two)
        )
        with running(text=text) as server, Tideline(server.url) as client:
            for n in range(250):
                client.follow(f"Å {n}", "1")
            for received in (old, new):
                until(lambda: len(received) >= 250, "the changes")
                assert received == list(client.changes())
            # From now on without the old one.
            secrets.write_text(f"{OTHER}\n")
            client.mute("a", "b")
            until(lambda: len(new) > 250, "the change")
            until(lambda: any(hook["failures"] > 0 for hook in client.webhooks()), "the refusal")
            assert (len(old), len(new)) == (250, 251)
