def _attention_only(M, W, t):
    M = M.copy()
    M[:, t] *= -1
    return M, W.copy()


def _query(M, W, t):
    M, W = M.copy(), W.copy()
    M[t] *= -1
    W[:, t] *= -1
    return M, W


def _output(M, W, t):
    M, W = M.copy(), W.copy()
    M[:, t] *= -1
    W[t] *= -1
    return M, W


def _in_place(M, W, t):
    M[:, t] *= -1
    W[:, t] *= -1
    return M, W


def _all_tokens(M, W, t):
    M, W = M.copy(), W.copy()
    M[:, : len(W)] *= -1
    W[:, : len(W)] *= -1
    return M, W


ANSWERS = [_attention_only, _query, _output, _in_place, _all_tokens]
