"""The systems that `benches/compare.py` compares, its trace, its judge and its page."""
