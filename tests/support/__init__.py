"""What the scripts beside it share: the server process, HTTP, and the plain model."""
