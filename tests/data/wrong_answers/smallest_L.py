from copyhead import LinearAction, Setup, SoftmaxAction


def _jumps(L, V):
    return SoftmaxAction(Setup(L, V)).first_order_transition() is not None


def _last_smooth(V):
    return next(L for L in range(50, 3, -1) if not _jumps(L, V))


def _largest_tried(V):
    return max(L for L in range(6, 26) if _jumps(L, V))


def _vocabulary_forgotten(V):
    return min(L for L in range(6, 26) if _jumps(L, 20))


def _linear_attention(V):
    return next((L for L in range(6, 26) if LinearAction(Setup(L, V)).first_order_transition()), 0)


def _steps_of_two(V):
    return next(L for L in range(6, 60, 2) if _jumps(L, V))


ANSWERS = [_last_smooth, _largest_tried, _vocabulary_forgotten, _linear_attention, _steps_of_two]
