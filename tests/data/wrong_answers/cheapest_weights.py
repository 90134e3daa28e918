import numpy as np


def _project(n, M0):
    Pi = np.eye(len(n)) - np.outer(n, n) / (n @ n)
    return Pi @ M0 @ Pi


def _naive(G, V, scale):
    M0 = np.zeros((V + len(G), V + len(G)))
    M0[V:, V:] = scale * G
    return M0


def not_projected(G, V, g_emb, g_p):
    return _naive(G, V, len(G) / g_p)


def unit_variances(G, V, g_emb, g_p):
    n = np.r_[np.ones(V), -np.ones(len(G))]
    return _project(n, _naive(G, V, len(G)))


def variances_upside_down(G, V, g_emb, g_p):
    n = np.r_[np.full(V, np.sqrt(g_emb)), np.full(len(G), -np.sqrt(g_p))]
    return _project(n, _naive(G, V, len(G) / g_p))


def one_side_only(G, V, g_emb, g_p):
    n = np.r_[np.full(V, g_emb**-0.5), np.full(len(G), -(g_p**-0.5))]
    return (np.eye(len(n)) - np.outer(n, n) / (n @ n)) @ _naive(G, V, len(G) / g_p)


ANSWERS = [not_projected, unit_variances, variances_upside_down, one_side_only]
