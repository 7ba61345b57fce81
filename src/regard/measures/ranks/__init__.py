"""How high the one item stands that was wanted, among all that could be."""
