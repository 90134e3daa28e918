"""Wrong noise floors of uniform softmax attention."""

ANSWERS = [
    lambda L, V, g_W, chi: 4 * g_W / chi,                                              # linear attention's
    lambda L, V, g_W, chi: 2 * g_W / chi * (1 - 1 / L + 1 - 1 / V),                    # tokens as if sequences were endless
    lambda L, V, g_W, chi: g_W / chi * (1 - 1 / L) * (2 - 1 / V),                      # a query with one 1
    lambda L, V, g_W, chi: 2 * g_W / chi * (1 - 1 / L) * (1 - 1 / V),                  # tokens alone
    lambda L, V, g_W, chi: 2 * g_W * (1 - 1 / L) * (2 - 1 / V),                        # chi forgotten
]
