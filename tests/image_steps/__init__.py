"""The steps of the rehearsal of the container image."""
