"""User tokens, made with nothing but Python."""

import base64
import hashlib
import hmac
import json
import time


def token(secret: str, user: str, seconds: float = 600, algorithm: str = "HS256") -> str:
    """A user token that is valid for so long."""

    def part(raw: bytes) -> str:
        return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()

    claims = {"sub": user, "exp": int(time.time() + seconds)}
    signed = ".".join(part(json.dumps(value).encode()) for value in ({"alg": algorithm, "typ": "JWT"}, claims))
    signature = hmac.new(secret.encode(), signed.encode(), hashlib.sha256).digest() if algorithm == "HS256" else b""
    return f"{signed}.{part(signature)}"
