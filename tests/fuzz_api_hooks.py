"""Hooks of schemathesis, besides its configuration."""

import re

import schemathesis


def whole(value: object) -> object:
    """The same JSON value with 33 for 33.0. To a schema both are integers, to the server only the first is."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {name: whole(item) for name, item in value.items()}
    return value


@schemathesis.hook
def map_body(context, body):
    return whole(body)


@schemathesis.hook
def filter_case(context, case):
    """`session` needs a position, which no schema can say."""
    asks = (case.query or {}).get("consistency") == "session"
    return not asks or "Tideline-Position" in (case.headers or {})


def texts(value: object) -> list[str]:
    """All texts in a JSON value."""
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    return [value] if isinstance(value, str) else []


def is_told(value: object) -> bool:
    """Whether the schemas tell what the server does with a value. They count an id in characters, not in bytes, and a
    name in a cursor is known if another request mentioned it."""
    values = texts(dict(value) if hasattr(value, "items") else value)
    lengths = all(len(text) > 128 or len(text.encode(errors="replace")) <= 128 for text in values if len(text) > 32)
    return lengths and not any(re.match(r"^[0-9]+-(?![1-9][0-9]{0,17}$).", text) for text in values)


for part in ("path_parameters", "query", "headers", "body"):
    schemathesis.hook(f"filter_{part}")(lambda context, value: is_told(value))
