import numpy as np


def _grid(model, P, chi):
    L = model.setup.L
    gap = np.linspace(-2, 7, 20_001)
    a_G = np.sqrt(L) * (L / (1 + (L - 1) * np.exp(-gap)) - 1) / (L - 1)
    S = model.action(a_G, P)
    uniform, copy = sorted(state.ell for state in model.minima(P))
    barrier = gap[np.argmax(np.where((gap > uniform) & (gap < copy), S, -np.inf))]
    return gap, a_G, np.exp(-chi * (S - S.min())), gap > barrier


def _without_jacobian(model, P, chi):
    _, a_G, density, copying = _grid(model, P, chi)
    return np.trapezoid(np.where(copying, density, 0), a_G) / np.trapezoid(density, a_G)


def _depth_only(model, P, chi):
    uniform, copy = sorted(model.minima(P), key=lambda state: state.ell)
    return 1 / (1 + np.exp(chi * (copy.action - uniform.action)))


def _without_chi(model, P, chi):
    _, _, density, copying = _grid(model, P, 1.0)
    return density[copying].sum() / density.sum()


def _odds(model, P, chi):
    _, _, density, copying = _grid(model, P, chi)
    return density[copying].sum() / density[~copying].sum()


def _the_uniform_side(model, P, chi):
    _, _, density, copying = _grid(model, P, chi)
    return density[~copying].sum() / density.sum()


def _split_in_the_middle(model, P, chi):
    gap, _, density, _ = _grid(model, P, chi)
    uniform, copy = sorted(state.ell for state in model.minima(P))
    return density[gap > (uniform + copy) / 2].sum() / density.sum()


ANSWERS = [_without_jacobian, _depth_only, _without_chi, _odds, _the_uniform_side, _split_in_the_middle]
