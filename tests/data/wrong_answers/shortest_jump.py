from copyhead import Setup, SoftmaxAction


def _first(V, g_O, g_W, shift=0, prior="exact"):
    for length in range(7, 24):
        if SoftmaxAction(Setup(length, V, 1.0, g_O, g_W), prior).first_order_transition():
            return length + shift
    return None


def _ignores_variances(V, g_O, g_W):
    return _first(V, 1.0, 1.0)


def _longest_smooth(V, g_O, g_W):
    return _first(V, g_O, g_W, shift=-1)


def _always_bound(V, g_O, g_W):
    return 23


def _variances_swapped(V, g_O, g_W):
    return _first(V, g_W, g_O)


ANSWERS = [_ignores_variances, _longest_smooth, _always_bound, _variances_swapped]
