"""Plausible wrong answers to check.soft_variance."""

ANSWERS = [
    lambda p: 1 / abs(1 - p),  # the same on both sides
    lambda p: 1 / (1 - p) if p < 1 else 1 / (4 * (p - 1)),
    lambda p: 1 / (1 + p),  # the stiff mode
    lambda p: 1 / (1 - p) if p < 1 else p / (2 * (p - 1)),
    lambda p: 1 - p if p < 1 else 2 * (p - 1),  # the curvature
]
