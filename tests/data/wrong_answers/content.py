import numpy as np


def _parts(M, V):
    return M[:V, :V], M[V:, V:], len(M) - V


def _diagonals_only(M, V):
    token, place, L = _parts(M, V)
    return np.trace(token) / V, np.trace(place) / L


def _against_the_whole_block(M, V):
    """Subtracts the mean of all elements instead of the others."""
    token, place, _ = _parts(M, V)
    return np.mean(np.diag(token)) - token.mean(), np.mean(np.diag(place)) - place.mean()


def _predecessors_left_in(M, V):
    token, place, L = _parts(M, V)
    off = [(block.sum() - np.trace(block)) / (n * (n - 1)) for block, n in ((token, V), (place, L))]
    return np.trace(token) / V - off[0], np.trace(place) / L - off[1]


def _successors_taken_out(M, V):
    token, place, L = _parts(M, V)
    others = 1 - np.eye(L) - np.roll(np.eye(L), 1, axis=1)
    tau = np.trace(token) / V - (token.sum() - np.trace(token)) / (V * (V - 1))
    return tau, np.trace(place) / L - (others * place).sum() / others.sum()


def _blocks_exchanged(M, V):
    """Takes positions to come first."""
    L = len(M) - V
    place, token = M[:L, :L], M[L:, L:]
    others = 1 - np.eye(L) - np.roll(np.eye(L), -1, axis=1)
    tau = np.trace(token) / V - (token.sum() - np.trace(token)) / (V * (V - 1))
    return tau, np.trace(place) / L - (others * place).sum() / others.sum()


ANSWERS = [_diagonals_only, _against_the_whole_block, _predecessors_left_in, _successors_taken_out, _blocks_exchanged]
