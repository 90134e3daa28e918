def _wrong_way(P, gap, loss_uniform, loss_copy, L, sigma2):
    return P - 2 * sigma2 * gap / (L * (loss_uniform - loss_copy))


def _half(P, gap, loss_uniform, loss_copy, L, sigma2):
    return P + sigma2 * gap / (L * (loss_uniform - loss_copy))


def _not_per_token(P, gap, loss_uniform, loss_copy, L, sigma2):
    return P + 2 * sigma2 * gap / (loss_uniform - loss_copy)


def _times_the_slope(P, gap, loss_uniform, loss_copy, L, sigma2):
    return P + gap * L * (loss_uniform - loss_copy) / (2 * sigma2)


ANSWERS = [_wrong_way, _half, _not_per_token, _times_the_slope]
