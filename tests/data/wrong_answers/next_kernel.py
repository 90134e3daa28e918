def _no_residual(C, heads, g_O):
    return g_O * sum(G @ C @ H.T for G, H in heads)


def _same_sequence(C, heads, g_O):
    return C + g_O * sum(G @ C @ G.T for G, H in heads)


def _not_transposed(C, heads, g_O):
    return C + g_O * sum(G @ C @ H for G, H in heads)


def _first_head_only(C, heads, g_O):
    G, H = heads[0]
    return C + g_O * G @ C @ H.T


ANSWERS = [_no_residual, _same_sequence, _not_transposed, _first_head_only]
