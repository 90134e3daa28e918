def _other_way(x, gap, pooled, copy, L):
    return x - gap / (L * (pooled - copy) / 2)


def _without_half(x, gap, pooled, copy, L):
    return x + gap / (L * (pooled - copy))


def _without_length(x, gap, pooled, copy, L):
    return x + gap / ((pooled - copy) / 2)


def _mean_loss(x, gap, pooled, copy, L):
    return x + gap / (L * (pooled + copy) / 2)


ANSWERS = [_other_way, _without_half, _without_length, _mean_loss]
