"""Wrong slopes of the lowest action in the metric."""

ANSWERS = [
    lambda M, W, g_W, g_O: (M @ M.T + M.T @ M) / (2 * g_W) + W @ W.T / (2 * g_O),          # the sign
    lambda M, W, g_W, g_O: -(M @ M.T) / g_W - W @ W.T / (2 * g_O),                         # queries twice
    lambda M, W, g_W, g_O: -(M @ M.T + M.T @ M) / (2 * g_W),                               # without the readout
    lambda M, W, g_W, g_O: -(M @ M.T + M.T @ M) / g_W - W @ W.T / g_O,                     # a root has half the slope
    lambda M, W, g_W, g_O: -(M @ M + M.T @ M.T) / (2 * g_W) - W @ W.T / (2 * g_O),         # a transpose lost
]
