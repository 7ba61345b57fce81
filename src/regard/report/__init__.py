"""How good a run is, and the page that says so."""
