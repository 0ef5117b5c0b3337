"""The blocking client, made by clients/generate.py from `_async`. Do not edit."""
