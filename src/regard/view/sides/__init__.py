"""Two records side by side: the words that both have, and the difference of their weights."""
