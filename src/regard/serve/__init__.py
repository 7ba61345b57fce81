"""The HTTP server: the page and a JSON API over trained runs. `regard serve` starts it."""
