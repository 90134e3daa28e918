def pairs_without_equals(L, V, P):
    """Counts only pairs of different tokens."""
    one = (1 - 1 / V) ** L
    return V * (V - 1) * (2 * one - (1 - 2 / V) ** L) ** P


def union_bound(L, V, P):
    """Adds the probabilities that either token is missing."""
    one = (1 - 1 / V) ** L
    return V * (V - 1) * (2 * one) ** P + V * one**P


def independent_tokens(L, V, P):
    """Treats the presence of two tokens as independent."""
    one = (1 - 1 / V) ** L
    return V * (V - 1) * (1 - (1 - one) ** 2) ** P + V * one**P


def neither(L, V, P):
    """Asks that both tokens are missing."""
    return V * (V - 1) * (1 - 2 / V) ** (L * P) + V * (1 - 1 / V) ** (L * P)


ANSWERS = [pairs_without_equals, union_bound, independent_tokens, neither]
