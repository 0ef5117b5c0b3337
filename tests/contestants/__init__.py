"""The systems that `tests/compare.py` compares, its trace, its judge and its page."""
