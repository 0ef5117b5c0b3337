"""Hooks of schemathesis, besides its configuration."""

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
