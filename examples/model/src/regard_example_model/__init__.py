"""A classifier of one's own: `regard train mr-windows`."""
