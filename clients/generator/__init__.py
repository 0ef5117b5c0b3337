"""What `generate.py` makes of the OpenAPI document."""
