"""What the page shows in its tabs, as still pictures and as tables of numbers."""
