"""Wrong numbers of coordinates of the short chain."""

ANSWERS = [
    lambda n, d: d * d + d * n,                                            # of the full network without readout
    lambda n, d: n * n + n * (n + 1) // 2,                                 # fewer rows than embeddings forgotten
    lambda n, d: min(n, d) ** 2 + min(n, d) * n,                           # zeros below the diagonal counted
    lambda n, d: min(n, d) ** 2 + min(n, d) * (min(n, d) + 1) // 2,        # columns to the right of the triangle forgotten
]
