"""Wrong single copies that stand for a sparse pattern."""

ANSWERS = [
    lambda L, s, c, g_W: (L / s, g_W, (c * s) ** 2),                     # the scale left out of the prior
    lambda L, s, c, g_W: (L / s, g_W / c**2, (c * s) ** 2),
    lambda L, s, c, g_W: (L / s, c**2 * g_W, s**2),                      # the scale left out of the factor
    lambda L, s, c, g_W: (L / s, c**2 * g_W, c**2 * s),                  # power of the data term's constant
    lambda L, s, c, g_W: (L - s + 1, c**2 * g_W, (c * s) ** 2),
]
