"""Plausible wrong answers to check.jump_at_depth."""


def at(q, depth):
    return q, q ** (2 / depth - 1) / (1 - q)


ANSWERS = [
    lambda D: at((D - 2) / (2 * (D - 1)), D),  # the lower spinodal
    lambda D: ((D - 2) / (D - 1), 1.0),  # the critical point of depth 2
    lambda D: (((D - 2) / (D - 1)) ** (1 / D), at((D - 2) / (D - 1), D)[1]),  # the weight instead of the product
    lambda D: at((D - 1) / D, D),  # one layer too many
    lambda D: (1 - 1 / D, D / 2 * 2.0),
]
