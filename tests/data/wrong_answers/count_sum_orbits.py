def _as_in_the_copy_task(L):
    return 2


def _rotations_only(L):
    return L


def _odd_formula_everywhere(L):
    return (L + 1) / 2


def _queries_moved_like_keys(L):
    """A reflection sends a to -a as well, so the distances 0 and, for even L, L/2 stay alone."""
    return L // 2 + 1


def _reflections_counted_twice(L):
    return max(L // 4, 1)


def _rounded_down(L):
    return L // 2


ANSWERS = [
    _as_in_the_copy_task,
    _rotations_only,
    _odd_formula_everywhere,
    _queries_moved_like_keys,
    _reflections_counted_twice,
    _rounded_down,
]
