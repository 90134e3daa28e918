def _both_waves(L, V, P):
    # counts the null vector of each wave block as well
    return 1, 2 * (V - 1), L - 1, L * P - L - 2 * V + 2


def _complement_of_the_log(L, V, P):
    return 1, V - 1, L - 1, L * P - L


def _positions_all(L, V, P):
    return 1, V - 1, L, L * P - L - V


def _one_sequence(L, V, P):
    return 1, V - 1, L - 1, L - (V + L - 1)


def _swapped(L, V, P):
    return 1, L - 1, V - 1, L * P - L - V + 1


ANSWERS = [_both_waves, _complement_of_the_log, _positions_all, _one_sequence, _swapped]
