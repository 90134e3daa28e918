ANSWERS = [
    lambda P, L, sigma2, variance: 1 / variance,                                  # the decay of the action itself
    lambda P, L, sigma2, variance: sigma2 / variance,                             # of the summed loss, without a half
    lambda P, L, sigma2, variance: sigma2 / (P * L * variance),                   # the factor 2 of the square forgotten
    lambda P, L, sigma2, variance: 2 * sigma2 * variance / (P * L),               # variance in place of precision
]
