from copyhead.probes import copy_spectrum, effective_rank, participation_ratio


def _answer(measure, m):
    def leads(alpha, beta, L, V):
        grown = measure(copy_spectrum(m(beta, L), L, V)) / measure(copy_spectrum(1 / L, L, V)) - 1
        return bool(grown > alpha)

    return leads


_m = lambda beta, L: (1 + beta) / (L + beta)  # noqa: E731

ANSWERS = [
    _answer(effective_rank, lambda beta, L: (1 + beta) / L),                  # selectivity taken for m L
    _answer(effective_rank, lambda beta, L: beta / (L - 1 + beta)),           # growth taken for the value
    lambda *arguments: not _answer(effective_rank, _m)(*arguments),           # the other way round
    _answer(participation_ratio, _m),                                         # the other measure
]
