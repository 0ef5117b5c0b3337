"""Steps of the rehearsal of the units."""
