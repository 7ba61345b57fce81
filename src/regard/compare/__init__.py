"""Which variant of a model is better on one's own data: trained by several seeds, judged item by item.

compare(plan("mr", vary=["model.attention.score=dot,additive"]), out="runs/compare-mr", seeds=3)
compare_runs(["runs/a", "runs/b"], out="runs/compare")
"""
