def _noise(blocks, k, g_W, chi, factor=2):
    return sum(number * share * g_W / chi / (1 + factor * k * share * g_W) for number, share in blocks)


def _one_mixed_block(L, V, k, g_W, chi):
    return _noise([(V**2, 1 / V**2), (V * L, 1 / (V * L)), (L**2, 1 / L**2)], k, g_W, chi)


def _factor_two_forgotten(L, V, k, g_W, chi):
    return _noise([(V**2, 1 / V**2), (2 * V * L, 1 / (V * L)), (L**2, 1 / L**2)], k, g_W, chi, factor=1)


def _prior_noise_at_any_k(L, V, k, g_W, chi):
    return 4 * g_W / chi


def _every_entry_alike(L, V, k, g_W, chi):
    return _noise([(4 * L**2, 1 / L**2)], k, g_W, chi)


def _chi_in_the_stiffness(L, V, k, g_W, chi):
    return _noise([(V**2, 1 / V**2), (2 * V * L, 1 / (V * L)), (L**2, 1 / L**2)], chi * k, g_W, chi)


ANSWERS = [_one_mixed_block, _factor_two_forgotten, _prior_noise_at_any_k, _every_entry_alike, _chi_in_the_stiffness]
