ANSWERS = [
    lambda P, L, noise, variance: (noise, noise / variance),                            # as for the summed loss
    lambda P, L, noise, variance: (noise / (P * L), noise / (P * L * variance)),        # the half forgotten
    lambda P, L, noise, variance: (2 * noise / (P * L), noise / variance),              # the decay left as it was
    lambda P, L, noise, variance: (2 * noise / P, 2 * noise / (P * variance)),          # the mean over sequences only
    lambda P, L, noise, variance: (2 * noise / (P * L), 2 * noise * variance / (P * L)),
]
