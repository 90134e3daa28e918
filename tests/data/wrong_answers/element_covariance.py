def _shared(tokens, a, c):
    return int(tokens[a] == tokens[c]) + int(a == c)


def length_forgotten(tokens, first, second):
    return _shared(tokens, first[0], second[0]) * _shared(tokens, first[1], second[1])


def query_against_key(tokens, first, second):
    """Compares within each element instead of between the two."""
    return _shared(tokens, *first) * _shared(tokens, *second) / len(tokens) ** 2


def counts_added(tokens, first, second):
    added = _shared(tokens, first[0], second[0]) + _shared(tokens, first[1], second[1])
    return added / len(tokens) ** 2


def positions_forgotten(tokens, first, second):
    same = [int(tokens[i] == tokens[j]) for i, j in zip(first, second, strict=True)]
    return same[0] * same[1] / len(tokens) ** 2


ANSWERS = [length_forgotten, query_against_key, counts_added, positions_forgotten]
