"""The asynchronous client. `clients/generate.py` makes the client in `_sync` from these files."""
